//! Progress: a bar on a terminal, nothing elsewhere but a line for long work.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// Steps of the bar.
const STEPS: u64 = 1000;

/// Runs `work` with a progress callback, which draws a bar when standard error is a terminal.
pub fn with_bar<T>(what: &str, work: impl FnOnce(&(dyn Fn(f32) + Sync)) -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work(&|_| {});
    }
    let bar = ProgressBar::new(STEPS);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent:>3}% {eta}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(what.to_string());
    let result = work(&|share| bar.set_position((share * STEPS as f32) as u64));
    bar.finish_and_clear();
    result
}
