//! Standard output that may be closed early: whoever pipes results into `head` gets what `head` asks for, and no panic.
//!
//! The macros `print!` and `println!` of this folder stand in for the standard library's, which panic when nobody reads any more.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write as _, stdout};

/// Exit status of a process whose reader went away: what a shell reports of one that the signal `SIGPIPE` ended.
const READER_GONE: i32 = 128 + 13;

/// Writes to standard output. Ends the process when its reader has gone or it cannot be written to.
pub fn write(text: Arguments) {
    if let Err(error) = stdout().lock().write_fmt(text) {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(READER_GONE);
        }
        eprintln!("error: cannot write to standard output: {error}");
        std::process::exit(super::exit::USAGE.into());
    }
}

/// Prints to standard output.
macro_rules! print {
    ($($text:tt)*) => { $crate::cli::output::write(format_args!($($text)*)) };
}

/// Prints a line to standard output.
macro_rules! println {
    () => { $crate::cli::output::write(format_args!("\n")) };
    ($($text:tt)*) => { $crate::cli::output::write(format_args!("{}\n", format_args!($($text)*))) };
}
