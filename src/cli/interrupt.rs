//! Interruptions: the first one requests a render to stop, a second one ends the process.

use super::failure::INTERRUPTED;
use anyhow::Context;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first interruption.
static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the handler of interruptions (SIGINT, SIGTERM and SIGHUP, and Ctrl-C on other systems),
/// and returns the flag that it sets.
pub fn watched() -> anyhow::Result<&'static AtomicBool> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    };
    match ctrlc::set_handler(handler) {
        // A render of several frames installs it for each.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(&STOP),
        Err(error) => Err(error).context("installing the handler of interruptions"),
    }
}
