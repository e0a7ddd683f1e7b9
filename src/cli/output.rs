//! Standard output and standard error: every text of the program passes here.
//!
//! Names, values and source lines of files are in messages, so that characters which a terminal
//! obeys are written as escapes ([`visible`]).
//! The reader may close both early, as `head` does.
//!
//! The macros `print!`, `println!`, `eprint!` and `eprintln!` of this module replace the standard
//! library's, which panic on a closed pipe. A closed standard output ends the process. A closed
//! standard error does not: the files and the exit status remain.

use super::failure::Failure;
use anyhow::Context;
use shadewright::text::visible::{visible, visible_json};
use std::fmt::Arguments;
use std::io::{ErrorKind, Write as _, stderr, stdout};

/// Exit status of a process with a closed standard output: 128 + `SIGPIPE`, as shells report it.
const CLOSED_PIPE: i32 = 128 + 13;

/// Writes to standard output. Ends the process if that fails.
pub fn write(text: Arguments) {
    write_shown(&visible(&text.to_string()));
}

fn write_shown(text: &str) {
    if let Err(error) = stdout().lock().write_all(text.as_bytes()) {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(CLOSED_PIPE);
        }
        write_message(format_args!("error: cannot write to standard output: {error}\n"));
        std::process::exit(super::failure::USAGE.into());
    }
}

/// Writes to standard error, and ignores failures.
pub fn write_message(text: Arguments) {
    let _ = stderr().lock().write_all(visible(&text.to_string()).as_bytes());
}

/// Prints a document of JSON to standard output.
pub fn print_json(json: &serde_json::Value) -> Result<(), Failure> {
    print_json_text(&serde_json::to_string_pretty(json).context("writing JSON")?);
    Ok(())
}

/// Prints a text of JSON to standard output, a document or a line of documents.
pub fn print_json_text(text: &str) {
    write_shown(&visible_json(text));
    write_shown("\n");
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
