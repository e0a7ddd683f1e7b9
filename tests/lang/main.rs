//! The languages and the compiler: programs give one result on every back end.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "gpu")]
mod agreement;
mod lsp;
mod math;
mod passes;
mod pfman;
mod rtsl;
#[cfg(feature = "gpu")]
mod snippets;
mod specialize;
mod stdlib;
mod uniform;
