//! Failures of commands, and their exit statuses.

use shadewright::program::LinkError;
use shadewright::render::{JobError, RenderError};
use shadewright::text::diagnostics::Diagnostics;
use shadewright::text::source::SourceMap;
use std::fmt;
use std::process::ExitCode;

/// Exit status of a failed comparison, and of a language server without an orderly shutdown.
const DIFFERENT: u8 = 1;
/// Exit status of wrong input or usage.
pub const USAGE: u8 = 2;
/// Exit status of a device failure.
const DEVICE: u8 = 3;

/// Exit status of an interrupted process: 128 + `SIGINT`, as shells report it.
pub const INTERRUPTED: u8 = 130;

/// The failure of a command: its exit status and the message to the user.
#[derive(Debug)]
pub struct Failure {
    status: u8,
    text: String,
}

impl Failure {
    /// A comparison that exceeds its tolerance; the report is already printed.
    pub fn different(text: impl Into<String>) -> Self {
        Self { status: DIFFERENT, text: text.into() }
    }

    /// An editor that exits without `shutdown`: the Language Server Protocol requires status 1.
    pub fn no_shutdown() -> Self {
        Self { status: DIFFERENT, text: String::new() }
    }

    /// Wrong input or usage.
    pub fn input(text: impl Into<String>) -> Self {
        Self { status: USAGE, text: text.into() }
    }

    /// Wrong usage, if one of some options is given: the message of the first.
    pub fn for_options(options: &[(bool, &str)], message: impl Fn(&str) -> String) -> Result<(), Self> {
        match options.iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) => Err(Self::input(message(option))),
            None => Ok(()),
        }
    }

    /// A missing device, or one that failed.
    pub fn device(text: impl Into<String>) -> Self {
        Self { status: DEVICE, text: text.into() }
    }

    /// An interruption.
    pub fn interrupted(text: impl Into<String>) -> Self {
        Self { status: INTERRUPTED, text: text.into() }
    }

    /// Diagnostics with their source excerpts.
    pub fn diagnostics(diagnostics: &Diagnostics, sources: &SourceMap) -> Self {
        let count = diagnostics.error_count();
        let mut text = diagnostics.render(sources);
        if count > 1 {
            text.push_str(&format!("{count} errors"));
        }
        Self { status: USAGE, text }
    }

    /// A render error, with its source line if it has one.
    pub fn render(error: &RenderError, sources: &SourceMap) -> Self {
        let status = if matches!(error, RenderError::Device(_)) { DEVICE } else { USAGE };
        Self { status, ..Self::diagnostics(&error.diagnostic().into(), sources) }
    }

    /// Prints the message and returns the exit status.
    pub fn report(&self) -> ExitCode {
        if !self.text.is_empty() {
            eprintln!("{}", self.text.trim_end());
        }
        self.status.into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<LinkError> for Failure {
    fn from(e: LinkError) -> Self {
        Failure::diagnostics(&e.diagnostics, &e.sources)
    }
}

impl From<JobError> for Failure {
    fn from(e: JobError) -> Self {
        Failure::input(format!("error: {e}"))
    }
}

impl From<shadewright::image::file::ImageFileError> for Failure {
    fn from(e: shadewright::image::file::ImageFileError) -> Self {
        Failure::input(format!("error: {e}"))
    }
}

impl From<anyhow::Error> for Failure {
    fn from(e: anyhow::Error) -> Self {
        Failure::input(format!("error: {e:#}"))
    }
}
