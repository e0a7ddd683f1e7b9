//! A language server for RSL, and in part for RTSL: what an editor asks about a shader, answered by the compiler.
//!
//! Takes messages of the Language Server Protocol 3.17 over any [`lsp_server::Connection`], gives diagnostics, hover, completion, signature help, definitions and an
//! outline. `server` holds the conversation and the open documents; the modules beside it are plain functions from a [`snapshot`] of
//! a document and a place in it to what the protocol wants. What a shader means is asked of [`crate::lang::rsl::analysis`] alone, and of classes of RTSL `classes` tells what their compiler knows. It must
//! not know how messages travel, and prints nothing: on standard output an editor hears only the protocol.

mod classes;
mod client;
mod completion;
mod cursor;
mod definition;
mod diagnostics;
mod documents;
mod hover;
mod outline;
mod server;
mod signature;
mod snapshot;
mod symbol;
mod text;
mod uri;

pub use server::{Ended, ServeError, Settings, serve};

#[cfg(test)]
mod tests;
