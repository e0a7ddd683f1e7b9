//! The command line: one file a subcommand. Nothing outside this module and `main.rs` prints or exits.

use std::process::ExitCode;

/// Runs the command named by the process arguments and returns its exit status.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
