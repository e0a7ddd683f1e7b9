//! Silicon, a language for circuits (Ullner 1983, appendix C): numbers of any size, ports, and no
//! notion of time. Every operation happens as soon as its operands are there.
//!
//! A file passes [`lexer`] → [`parser`] → [`ast`] → [`execute`], which executes the program
//! symbolically and builds the graph of [`crate::circuit`].

pub mod ast;
mod cursor;
pub mod execute;
mod expressions;
mod fuzz;
pub mod lexer;
pub mod parser;

#[cfg(test)]
mod tests;

use crate::circuit::graph::Circuit;
use crate::circuit::passes::{dead, sizes};
use ast::Program;
pub use execute::Limits;
pub use fuzz::fuzz;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, SourceMap, Span};

/// The extension of files.
pub const EXTENSION: &str = "si";

/// The stack of a compilation, in bytes: [`Limits::depth`] levels need less.
const STACK: usize = 256 << 20;

/// Reads a file, as far as it can be read.
pub fn parse(sources: &SourceMap, file: FileId) -> (Program, Diagnostics) {
    let mut diags = Diagnostics::new();
    let text = sources.get(file).map_or("", |source| &source.text);
    let tokens = lexer::lex(file, text, &mut diags);
    let program = parser::parse(&tokens, &mut diags);
    (program, diags)
}

/// Compiles a file to a circuit with known sizes, of which ports or debug output depend on every
/// node. [`crate::circuit::passes::run`] makes it smaller.
///
/// # Errors
/// The errors in the program.
pub fn compile(sources: &SourceMap, file: FileId) -> Result<Circuit, Diagnostics> {
    compile_within(sources, file, Limits::default())
}

/// As [`compile`], within limits.
///
/// # Errors
/// The errors in the program.
pub fn compile_within(sources: &SourceMap, file: FileId, limits: Limits) -> Result<Circuit, Diagnostics> {
    let whole = Span::new(file, 0, 0);
    std::thread::scope(|scope| {
        // Programs nest as deep as their macros call each other: that takes a larger stack.
        let thread = std::thread::Builder::new().stack_size(STACK);
        let compilation = thread.spawn_scoped(scope, || build(sources, file, limits));
        let failed = |message: &str| Err(Diagnostics::from(Diagnostic::error(message).at(whole, "")));
        match compilation.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => failed("there is no memory for compiling this file"),
        }
    })
}

fn build(sources: &SourceMap, file: FileId, limits: Limits) -> Result<Circuit, Diagnostics> {
    let (program, mut diags) = parse(sources, file);
    if diags.has_errors() {
        return Err(diags);
    }
    let name = sources.get(file).map_or("circuit", |source| &source.name);
    let mut circuit = execute::execute(name, &program, limits, &mut diags);
    if diags.has_errors() {
        return Err(diags);
    }
    dead::run(&mut circuit);
    if circuit.nodes().len() <= 1 {
        let message = "this program has no effect: it uses no port";
        return Err(Diagnostic::error(message).at(Span::new(file, 0, 0), "nothing here").into());
    }
    sizes::infer(&mut circuit)?;
    Ok(circuit)
}
