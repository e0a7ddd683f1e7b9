//! The command line: messages, files in and out, interruptions, and what harms.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod cli;
mod convert;
mod examples;
#[cfg(target_os = "linux")]
mod farm;
mod faults;
mod field;
mod formats;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod hostile_files;
#[cfg(unix)]
mod interrupt;
mod limits;
#[cfg(unix)]
mod memory;
mod pack;
mod parts;
#[cfg(feature = "gpu")]
mod preview;
mod stats;
mod watch;
