//! The outline of a definition: where its statements and variables stand in the text, for people
//! who look at a program as it runs.
//!
//! A front end takes it from the syntax tree alone. A debugger joins it with the IR by places: an
//! instruction belongs to the innermost statement around the start of its span, and a `debug`
//! instruction names the variable of that name whose scope holds it.

use crate::types::SourceType;
use crate::unit::LightKind;
use shadewright_base::text::source::Span;
use shadewright_ir::abi::ShaderKind;
use std::sync::Arc;

/// A function or a shader as its text shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The name in the source.
    pub name: Arc<str>,
    /// The place of that name, which is also that of the IR function.
    pub place: Span,
    /// From its name to the brace that ends it.
    pub extent: Span,
    /// For a shader, which kind.
    pub shader: Option<ShaderKind>,
    /// For a light, how it shines.
    pub light: Option<LightKind>,
    /// The type of a function's value; `Void` for shaders.
    pub result: SourceType,
    /// True if it belongs to the standard library.
    pub library: bool,
    /// Number of declared parameters, which are the first variables.
    pub params: usize,
    /// Declared parameters, then the variables of its statements.
    pub variables: Vec<Declared>,
    /// Statements, and conditions and steps of those that hold others.
    pub statements: Vec<Statement>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The name in the source.
    pub name: Arc<str>,
    /// The type.
    pub ty: SourceType,
    /// Where it is declared.
    pub place: Span,
    /// Where it can be named, unless another one hides it.
    pub scope: Span,
}

/// A place at which a program can be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The text, without the statements inside.
    pub span: Span,
    /// The kind of statement.
    pub kind: StatementKind,
}

/// The kind of a [`Statement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// Computes something.
    Plain,
    /// Chooses the way: the condition of `if`, `while` or `for`.
    Condition,
    /// `illuminance`, `illuminate` or `solar` with its arguments, which runs its body for lights,
    /// or where light falls.
    Lights,
    /// The closing brace.
    End,
}

impl Outline {
    /// The kind and the name, for people: `surface marble`.
    pub fn title(&self) -> String {
        let kind = self.shader.map_or("function", ShaderKind::name);
        format!("{kind} {}", self.name)
    }

    /// The number of the statement that text at `at` belongs to.
    pub fn statement_at(&self, at: Span) -> Option<usize> {
        let all = self.statements.iter().enumerate();
        let around = all.filter(|(_, s)| s.kind != StatementKind::End && holds(s.span, at));
        around.min_by_key(|(_, s)| s.span.end - s.span.start).map(|(i, _)| i)
    }

    /// The number of the variable that `name` means at a place; `None` where it is not one that the
    /// text declares.
    pub fn variable_at(&self, name: &str, at: Span) -> Option<usize> {
        let named = self.variables.iter().enumerate().filter(|(_, v)| *v.name == *name && holds(v.scope, at));
        named.min_by_key(|(_, v)| v.scope.end - v.scope.start).map(|(i, _)| i)
    }
}

/// True if `at` starts within `span`.
pub fn holds(span: Span, at: Span) -> bool {
    span.file == at.file && (span.start..span.end).contains(&at.start)
}
