//! The Ray Tracing Shading Language (Parker et al. 2007, "RTSL: a Ray Tracing Shading Language"):
//! classes of cameras, primitives, textures, materials and lights in the syntax of GLSL.
//!
//! A file passes [`crate::preprocess`] → [`lexer`] → [`parser`] → [`ast`] → [`classes`],
//! which resolves names. [`state`] is the table of the state that the renderer and the methods of
//! classes share. Objects refer to each other, and the objects are known when a scene is: [`build`]
//! makes a core of one method of one object with all that it refers to, and resolves calls through
//! references. [`compile`] checks every class by the same walk, with unknown references.

pub mod ast;
mod builtins;
pub mod classes;
mod defaults;
mod editor;
mod language;
pub mod lexer;
mod lower;
mod matrices;
pub mod parser;
mod primitives;
pub mod state;
pub mod types;

#[cfg(test)]
mod tests;

pub use classes::{ClassInfo, File, FunctionId};
pub use language::Rtsl;
pub use lower::{Built, BuiltParam, Object, Scratch, build};
pub use primitives::AtHit;

use crate::preprocess::{PreprocessOptions, preprocess};
use crate::{FrontEndOptions, stdlib};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, SourceMap, Span};
use shadewright_ir::Module;
use std::sync::Arc;

/// The result of compiling a file.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The classes with their functions.
    pub file: Arc<File>,
    /// The functions of the standard library that classes call.
    pub library: Arc<Module>,
    /// The warnings.
    pub warnings: Diagnostics,
}

thread_local! {
    /// How many files this thread has parsed and how many methods of objects it has lowered: what tests of caches read.
    pub static WORK: std::cell::Cell<[usize; 2]> = const { std::cell::Cell::new([0; 2]) };
}

/// Counts what is done in [`WORK`].
fn count(parsed: usize, lowered: usize) {
    WORK.with(|work| work.set([work.get()[0] + parsed, work.get()[1] + lowered]));
}

/// Reads a file into its syntax tree, as far as it can be read.
pub fn parse(sources: &mut SourceMap, file: FileId, options: &PreprocessOptions) -> (ast::Ast, Diagnostics) {
    count(1, 0);
    let mut diags = Diagnostics::new();
    let preprocessed = preprocess(sources, file, options, &mut diags);
    let tokens = defaults::complete(lexer::lex(file, &preprocessed.tokens), sources);
    let ast = parser::parse(&tokens, &mut diags);
    (ast, diags)
}

/// Compiles a file: all of its classes are checked.
///
/// # Errors
/// All errors of the file, with warnings between them.
pub fn compile(sources: &mut SourceMap, file: FileId, options: &PreprocessOptions) -> Result<Unit, Diagnostics> {
    let (ast, diags) = parse(sources, file, options);
    checked(ast, diags, sources, file)
}

/// Reads a file as [`parse`] does and gives all diagnostics of [`compile`].
pub fn analyze(sources: &mut SourceMap, file: FileId, options: &PreprocessOptions) -> (ast::Ast, Diagnostics) {
    let (ast, diags) = parse(sources, file, options);
    let said = match checked(ast.clone(), diags, sources, file) {
        Ok(unit) => unit.warnings,
        Err(diags) => diags,
    };
    (ast, said)
}

/// The unit of a syntax tree, from which errors and warnings came.
fn checked(ast: ast::Ast, mut diags: Diagnostics, sources: &mut SourceMap, file: FileId) -> Result<Unit, Diagnostics> {
    if ast.classes.is_empty() && !diags.has_errors() {
        let place = Span::new(file, 0, 0);
        let d = Diagnostic::error("this file defines no class").at(place, "nothing here");
        return Err(d.hint("declare one: `class Name : rt_Material;`").into());
    }
    let library = Arc::new(stdlib::compile(sources, &builtins::LIBRARY, &FrontEndOptions::default())?.module);
    let resolved = Arc::new(classes::resolve(ast, &mut diags));
    if !diags.has_errors() {
        lower::check(&resolved, &library, &mut diags);
    }
    match diags.has_errors() {
        true => Err(diags),
        false => Ok(Unit { file: resolved, library, warnings: diags }),
    }
}
