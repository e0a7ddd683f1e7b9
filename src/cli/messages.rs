//! Messages about files: as JSON, and their number.

use serde_json::{Map, Value, json};
use shadewright::text::diagnostics::{Diagnostic, Diagnostics, Severity};
use shadewright::text::source::{SourceMap, Span};
use std::fmt;

/// How many errors and warnings there are.
pub struct Problems {
    errors: usize,
    warnings: usize,
}

impl Problems {
    /// Counts them.
    pub fn from_diagnostics(diagnostics: &Diagnostics) -> Self {
        Self { errors: diagnostics.error_count(), warnings: diagnostics.warning_count() }
    }

    /// `errors` and `warnings`.
    pub fn json(&self) -> Map<String, Value> {
        [("errors", self.errors), ("warnings", self.warnings)]
            .map(|(k, n)| (k.to_string(), n.into()))
            .into_iter()
            .collect()
    }
}

/// One line, or nothing where there is nothing to count.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let (errors, warnings) = (count(self.errors, "error"), count(self.warnings, "warning"));
        match (self.errors, self.warnings) {
            (0, 0) => Ok(()),
            (0, _) => writeln!(f, "{warnings}"),
            (_, 0) => writeln!(f, "{errors}: what has them is left out (--strict refuses the scene)"),
            _ => writeln!(f, "{errors} and {warnings}: what has errors is left out (--strict refuses the scene)"),
        }
    }
}

/// Diagnostics as JSON: lines and columns count from 1, columns in characters.
pub fn messages(diagnostics: &Diagnostics, sources: &SourceMap) -> Value {
    diagnostics.iter().map(|d| message(d, sources)).collect()
}

fn message(d: &Diagnostic, sources: &SourceMap) -> Value {
    let severity = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut message = json!({ "severity": severity, "message": d.message, "hints": d.hints });
    let own = d.labels.iter().position(|label| label.primary);
    let mut related = Vec::new();
    for (number, label) in d.labels.iter().enumerate() {
        let mut fields = place(label.span, sources);
        fields.insert("note".to_string(), label.message.clone().into());
        if Some(number) == own {
            fields.into_iter().for_each(|(name, value)| message[name] = value);
        } else {
            related.push(Value::from(fields));
        }
    }
    message["related"] = related.into();
    message
}

/// The location of a span.
fn place(span: Span, sources: &SourceMap) -> Map<String, Value> {
    let Some(file) = sources.get(span.file) else { return Map::new() };
    let (start, end) = (file.position(span.start), file.position(span.end));
    let name = file.path.as_ref().map_or_else(|| file.name.clone(), |path| path.display().to_string());
    let fields = [
        ("file", Value::from(name)),
        ("line", start.line.into()),
        ("column", start.column.into()),
        ("end_line", end.line.into()),
        ("end_column", end.column.into()),
    ];
    fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}
