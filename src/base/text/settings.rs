//! Settings in TOML: a default text with comments, and a text of the user's that changes some of
//! its values.

use super::diagnostics::{Diagnostic, render};
use super::source::{SourceMap, Span};
use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::{Table, Value};

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The text is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// A key that the defaults do not have.
    #[error("there is no key `{key}`; there are {known}")]
    UnknownKey {
        /// The key, with its table.
        key: String,
        /// The keys of that table.
        known: String,
    },
    /// A value of the wrong kind.
    #[error("`{key}` is {found}, and must be {wanted}")]
    Kind {
        /// The key, with its table.
        key: String,
        /// The kind that it has.
        found: &'static str,
        /// The kind that it must have.
        wanted: &'static str,
    },
    /// A number out of range.
    #[error("`{key}` is {value}, and must be from {min} to {max}")]
    OutOfRange {
        /// The key, with its table.
        key: &'static str,
        /// The number.
        value: String,
        /// The least allowed.
        min: String,
        /// The most allowed.
        max: String,
    },
    /// The message of TOML's reader or of the model about the values together.
    #[error("{0}")]
    Value(String),
}

impl SettingsError {
    /// Checks that a number is in a range.
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`] when it is not, which NaN never is.
    pub fn check<N: PartialOrd + ToString>(key: &'static str, value: N, min: N, max: N) -> Result<(), SettingsError> {
        if min <= value && value <= max {
            return Ok(());
        }
        let [value, min, max] = [value, min, max].map(|n| n.to_string());
        Err(SettingsError::OutOfRange { key, value, min, max })
    }
}

/// Reads settings: those of `text`, and the defaults for all others. The tables of `open` may have
/// keys that the defaults do not have.
///
/// # Errors
/// When the text is not TOML, names a key that the defaults do not have, or gives a value of
/// another kind.
pub fn parse<T: DeserializeOwned>(defaults: &str, text: &str, open: &[&str]) -> Result<T, SettingsError> {
    let table = |text: &str| text.parse::<Table>().map_err(|e| SettingsError::Syntax(syntax(text, &e)));
    let mut merged = table(defaults)?;
    merge(&mut merged, table(text)?, "", open)?;
    merged.try_into().map_err(|e| SettingsError::Value(e.to_string()))
}

/// The message of TOML's reader about a text, with the line.
fn syntax(text: &str, error: &toml::de::Error) -> String {
    let message = format!("this is not TOML: {}", error.message());
    let Some(range) = error.span() else { return message };
    let mut sources = SourceMap::new();
    let file = sources.add("settings", None, text);
    let shown = render(&Diagnostic::error(message).at(Span::new(file, range.start, range.end), ""), &sources);
    shown.trim_start_matches("error: ").trim_end().to_string()
}

/// Puts the values of `from` in place of those of `into`; `path` names the table in messages.
fn merge(into: &mut Table, from: Table, path: &str, open: &[&str]) -> Result<(), SettingsError> {
    let is_open = open.iter().any(|table| path.strip_suffix('.') == Some(table));
    for (name, value) in from {
        let key = format!("{path}{name}");
        let known = into.keys().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
        match (into.get_mut(&name), value) {
            (None, value) if is_open => drop(into.insert(name, value)),
            (None, _) => return Err(SettingsError::UnknownKey { key, known }),
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from, &format!("{key}."), open)?,
            (Some(into @ Value::Float(_)), Value::Integer(number)) => *into = Value::Float(number as f64),
            (Some(Value::Integer(_)), Value::Integer(number)) if !(0..=i64::from(u32::MAX)).contains(&number) => {
                return Err(SettingsError::Kind { key, found: "out of range", wanted: "a whole number of 32 bits" });
            }
            (Some(into), value) if into.same_type(&value) => *into = value,
            (Some(into), value) => {
                return Err(SettingsError::Kind { key, found: value.type_str(), wanted: kind(into) });
            }
        }
    }
    Ok(())
}

/// The kind that a value in the place of this one must have.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::String(_) => "a string",
        Value::Boolean(_) => "true or false",
        Value::Array(_) => "a list",
        Value::Datetime(_) => "a time",
        Value::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    const DEFAULTS: &str = "count = 3\n[times]\nadd = 1.5\nname = \"x\"\nlist = [1, 2]";

    #[derive(Debug, Deserialize, PartialEq)]
    struct Settings {
        count: u32,
        times: Times,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Times {
        add: f64,
        name: String,
        list: Vec<u32>,
    }

    #[test]
    fn a_text_changes_what_it_names_and_nothing_else() {
        let read: Settings = parse(DEFAULTS, "[times]\nadd = 2\nlist = [7]", &[]).expect("settings");
        assert_eq!(read, Settings { count: 3, times: Times { add: 2.0, name: "x".into(), list: vec![7] } });
    }

    #[test]
    fn open_tables_take_new_keys() {
        let read =
            |open: &[&str]| parse::<std::collections::BTreeMap<String, Value>>(DEFAULTS, "[times]\nsub = 1", open);
        assert_eq!(read(&["times"]).expect("settings")["times"]["sub"], Value::Integer(1));
        assert!(read(&["time"]).is_err());
    }

    #[test]
    fn messages_name_the_key_and_what_it_must_be() {
        let message = |text: &str| parse::<Settings>(DEFAULTS, text, &[]).expect_err(text).to_string();
        assert_eq!(message("[times]\nsub = 1"), "there is no key `times.sub`; there are `add`, `list`, `name`");
        assert_eq!(message("[times]\nadd = \"x\""), "`times.add` is string, and must be a number");
        assert_eq!(message("times = 3"), "`times` is integer, and must be a table");
        assert_eq!(message("count = -1"), "`count` is out of range, and must be a whole number of 32 bits");
        assert!(message("[times]\nlist = [\"a\"]").contains("list"));
        let syntax = message("count = \"\u{1b}[31mred\" y");
        let lines: Vec<&str> = syntax.lines().collect();
        let source = lines.iter().position(|line| line.contains("\\u{1b}[31mred")).expect("the line is shown");
        assert!(lines[1].contains("settings:1:") && lines[source + 1].contains('^'), "{syntax}");
        let range = SettingsError::check("times.add", f64::NAN, 0.0, 1.0).expect_err("NaN is no time").to_string();
        assert_eq!(range, "`times.add` is NaN, and must be from 0 to 1");
    }
}
