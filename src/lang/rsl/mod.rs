//! The RenderMan Shading Language (RenderMan Interface 3.2.1, part II).

pub mod ast;
pub mod dump;
pub mod lexer;
pub mod parser;
pub mod types;
