//! Ctrl-C and its like ask a render to stop; a second one ends the process at once.

use super::exit::INTERRUPTED;
use anyhow::Context;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set from the first interruption on.
static STOP: AtomicBool = AtomicBool::new(false);

/// From now on interruptions (SIGINT, SIGTERM and SIGHUP, and Ctrl-C on other systems) set what this returns.
pub fn watched() -> anyhow::Result<&'static AtomicBool> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    };
    match ctrlc::set_handler(handler) {
        // A render of several frames asks for each.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(&STOP),
        Err(error) => Err(error).context("waiting for interruptions"),
    }
}
