//! Silicon, a language for circuits (Ullner 1983, appendix C): numbers of any size, ports, and no
//! notion of time. Every operation happens as soon as its operands are there.
//!
//! A file passes [`lexer`] → [`parser`] → [`ast`] → [`execute`], which executes the program
//! symbolically and builds the graph of [`crate::circuit`].

pub mod ast;
mod cursor;
mod expressions;
pub mod lexer;
pub mod parser;

#[cfg(test)]
mod parse_tests;
