//! Source text: files with spans, diagnostics that point into them, and the log of the files that
//! were read.
//!
//! This layer stands at the bottom beside [`crate::image`]: everything that reads text a person
//! wrote (shaders, scenes, assembly, IR) uses it, and it knows none of them.

pub mod diagnostics;
pub mod log;
pub mod settings;
pub mod source;
