//! RSL for [`crate::registry`].

use super::{compile, dump, editor, parse};
use crate::editor::Document;
use crate::language::{Form, FrontEndOptions, Language, Naming};
use crate::stdlib;
use crate::unit::Unit;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap};
use std::sync::Arc;

/// The RenderMan Shading Language.
#[derive(Clone, Copy, Debug)]
pub struct Rsl;

impl Language for Rsl {
    fn name(&self) -> &'static str {
        "RSL"
    }

    fn id(&self) -> &'static str {
        "rsl"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["sl"]
    }

    fn naming(&self) -> Naming {
        Naming::Bare
    }

    fn form(&self) -> Form {
        Form::Shaders
    }

    fn built_in(&self, file: &str) -> Option<&'static str> {
        stdlib::shader_source(file.strip_suffix(".sl")?)
    }

    fn dump(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<String, Diagnostics> {
        let (ast, diags) = parse(sources, file, options);
        if diags.has_errors() { Err(diags) } else { Ok(dump::dump(&ast)) }
    }

    fn compile(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<Unit, Diagnostics> {
        compile(sources, file, options).map(Unit::Shaders)
    }

    fn analyze(&self, sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Arc<dyn Document> {
        Arc::new(editor::analyze(sources, file, options))
    }
}
