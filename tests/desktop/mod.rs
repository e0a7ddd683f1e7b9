//! A desktop for tests: a display without a screen, somebody at its pointer and keyboard, and the
//! program's window on it.
//!
//! [`Display`] is an X server of its own (Xvfb) and whoever sits before it; [`Program`] is
//! `shadewright` with its window there; [`Screenshot`] is what can be seen. The program gets real
//! input events, from the server's XTEST extension, and is known by its pixels, its files, its
//! messages and its exit status alone: nothing here looks into it. There is no window manager: the
//! test places the window and gives it the keyboard.
#![allow(dead_code, reason = "every test compiles this module for itself and uses part of it")]

mod display;
mod drop;
mod input;
mod program;
mod screenshot;

pub use display::Display;
pub use input::{Button, keys};
pub use program::Program;
pub use screenshot::{Region, Screenshot};

use std::path::PathBuf;
use std::time::Duration;

/// How long a test waits for what must come, on a machine that does much else.
pub const LONG: Duration = Duration::from_secs(120);

/// Time between two looks at the screen.
pub const GLANCE: Duration = Duration::from_millis(40);

/// Where screenshots of what was wrong are kept; git does not.
pub fn kept_screenshots() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/current")
}
