//! Source text: files with spans, diagnostics that point into them, the log of the files that were
//! read, words for a shell, text that a terminal can show, and names of files that every system has.
//!
//! This layer stands at the bottom beside `image`: everything that reads text a person
//! wrote (shaders, scenes, assembly, IR) uses it, and it knows none of them.

pub mod diagnostics;
pub mod file_names;
pub mod log;
pub mod settings;
pub mod shell;
pub mod source;
pub mod string_id;
pub mod visible;
