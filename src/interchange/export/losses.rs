//! Warnings about parts of a scene that an export cannot keep.

use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_scene::{Object, ShaderInstance};
use std::collections::BTreeSet;

/// The warnings of an export.
#[derive(Debug, Default)]
pub struct Losses {
    /// All of them, in the order they were found.
    pub diagnostics: Diagnostics,
    /// How many say that something is lost; one that many objects have in common counts once.
    pub count: usize,
    reported: BTreeSet<String>,
}

impl Losses {
    /// Adds a loss.
    pub fn lose(&mut self, loss: Diagnostic) {
        if self.reported.insert(loss.message.clone()) {
            self.count += 1;
            self.diagnostics.push(loss);
        }
    }

    /// Adds the loss of something that an object has.
    pub fn report_object(&mut self, object: &Object, what: &str, hint: &str) {
        let warning = Diagnostic::warning(format!("object `{}`: {what}", object.name)).hint(hint);
        self.lose(match object.span {
            Some(span) => warning.at(span, "declared here"),
            None => warning,
        });
    }

    /// Adds the loss of something that a shader does.
    pub fn report_shader(&mut self, shader: &ShaderInstance, what: &str, hint: &str) {
        let kind = shader.kind.keyword();
        let warning = Diagnostic::warning(format!("{kind} `{}`: {what}", shader.shader)).hint(hint);
        self.lose(match shader.span {
            Some(span) => warning.at(span, "named here"),
            None => warning,
        });
    }
}
