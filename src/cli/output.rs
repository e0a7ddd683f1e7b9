//! Standard output and standard error that may be closed early: whoever pipes them into `head` gets what `head` asks for, and no panic.
//!
//! The macros `print!`, `println!`, `eprint!` and `eprintln!` of this folder stand in for the standard library's, which panic when nobody reads any more. A process whose results nobody reads ends, as other tools do. One whose
//! messages nobody reads goes on without them: the files that it writes and its exit status say the rest.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write as _, stderr, stdout};

/// Exit status of a process whose reader went away: what a shell reports of one that the signal `SIGPIPE` ended.
const READER_GONE: i32 = 128 + 13;

/// Writes to standard output. Ends the process when its reader has gone or it cannot be written to.
pub fn write(text: Arguments) {
    if let Err(error) = stdout().lock().write_fmt(text) {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(READER_GONE);
        }
        write_message(format_args!("error: cannot write to standard output: {error}\n"));
        std::process::exit(super::exit::USAGE.into());
    }
}

/// Writes to standard error, as far as that takes it.
pub fn write_message(text: Arguments) {
    let _ = stderr().lock().write_fmt(text);
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

/// Prints to standard error.
macro_rules! eprint {
    ($($text:tt)*) => { $crate::cli::output::write_message(format_args!($($text)*)) };
}

/// Prints a line to standard error.
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::cli::output::write_message(format_args!("{}\n", format_args!($($text)*))) };
}
