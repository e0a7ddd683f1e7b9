//! Parsing commands that texts cite.

use super::cited::is_placeholder;
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The value of a parser for the words of a command line, the program first; `None` for one that lacks
/// arguments, as what a sentence cites may, or that asks for help.
///
/// Placeholders are left out, with their options, where the parser reads their values: a number, or a
/// choice among names.
///
/// # Errors
/// The parser's message for a command that it refuses.
pub fn parsed<P: Parser>(words: &[String], is_whole: bool) -> Result<Option<P>, String> {
    let (mut words, mut is_whole) = (words.to_vec(), is_whole);
    loop {
        let error = match P::try_parse_from(&words) {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        let value = refused_value(&error);
        let is_read = matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation);
        if is_harmless(error.kind(), is_whole, &value) {
            return Ok(None);
        }
        if !is_read || !is_placeholder(&value) || !remove(&mut words, &value) {
            return Err(message(&error));
        }
        is_whole = false;
    }
}

/// True if an error is only that something is missing, or no error.
fn is_harmless(kind: ErrorKind, is_whole: bool, value: &str) -> bool {
    match kind {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => !is_whole,
        // An option that is named without its value.
        ErrorKind::InvalidValue => !is_whole && value.is_empty(),
        ErrorKind::InvalidSubcommand => is_placeholder(value),
        _ => false,
    }
}

/// The value that an error is about; empty where there is none.
fn refused_value(error: &clap::Error) -> String {
    let about = error.get(ContextKind::InvalidValue).or_else(|| error.get(ContextKind::InvalidSubcommand));
    match about {
        Some(ContextValue::String(value)) => value.clone(),
        _ => String::new(),
    }
}

/// Removes an argument with its option; false where there is no such argument.
fn remove(words: &mut Vec<String>, value: &str) -> bool {
    let is_it = |word: &String| word == value || word.split([',', '=']).any(|part| part == value);
    let Some(at) = words.iter().position(is_it) else { return false };
    let has_option = at > 0 && words[at - 1].starts_with('-') && !words[at].starts_with('-');
    words.drain(at - usize::from(has_option)..=at);
    true
}

fn message(error: &clap::Error) -> String {
    error.to_string().lines().take_while(|line| !line.starts_with("Usage")).collect::<Vec<_>>().join(" ")
}
