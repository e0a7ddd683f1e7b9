//! Golden images: the runner, its page, and the gallery of the documentation.

#[path = "../common/mod.rs"]
mod common;

mod gallery;
#[cfg(target_os = "linux")]
mod golden_page;
#[cfg(unix)]
mod golden_runner;
