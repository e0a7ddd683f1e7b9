//! A language server: what an editor asks about a shader, answered by the compiler of its language.
//!
//! Takes messages of the Language Server Protocol 3.17 over any [`lsp_server::Connection`], gives
//! diagnostics, hover, completion, signature help, definitions and an outline. `server` exchanges
//! messages, which `transport` moves over streams, and `documents` holds the open documents; the modules beside them convert what a
//! [`shadewright_lang::editor::Document`] knows into what the protocol wants. It must not know a
//! language, and prints nothing: standard output carries only the protocol.

mod client;
mod completion;
mod definition;
mod diagnostics;
mod documents;
mod hover;
mod outline;
mod server;
mod signature;
mod snapshot;
mod text;
mod transport;
mod uri;

pub use server::{Ended, ServeError, Settings, serve};
pub use transport::{Threads, connect};

#[cfg(test)]
mod tests;
