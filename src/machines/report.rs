//! The report of a hardware model: sections of values and tables, beside published numbers where
//! there are any, and charts.
//!
//! A report is data. Whoever shows it lays it out as text or JSON.

use serde_json::{Map, Value, json};

/// A report, in the order in which it is read.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The sections, in the order in which they are read.
    pub sections: Vec<Section>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Sentences: what is left out, what limits the hardware.
    pub notes: Vec<String>,
}

/// A section.
#[derive(Clone, Debug)]
pub struct Section {
    /// The name in JSON.
    pub key: &'static str,
    /// The heading above the section.
    pub title: String,
    /// The contents: values, or a table.
    pub body: Body,
}

/// The contents of a section.
#[derive(Clone, Debug)]
pub enum Body {
    /// Values with names.
    Entries(Vec<Entry>),
    /// Rows of a table.
    Table {
        /// The columns: name in JSON, and heading.
        columns: Vec<(&'static str, String)>,
        /// The rows, as long as the columns.
        rows: Vec<Vec<Cell>>,
    },
}

/// A value with a name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name in JSON.
    pub key: &'static str,
    /// The label in the text report.
    pub label: &'static str,
    /// The value.
    pub value: Cell,
    /// The number that a publication gives for it.
    pub published: Option<Cell>,
    /// The unit, and the meaning of the value.
    pub note: String,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A word.
    Text(String),
    /// A number of things.
    Count(u64),
    /// A number with so many decimals.
    Number(f64, usize),
    /// There is no value.
    None,
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Name of its file, without an extension.
    pub name: String,
    /// An SVG image.
    pub svg: String,
}

/// An entry without a published number.
pub fn entry(key: &'static str, label: &'static str, value: impl Into<Cell>, note: impl Into<String>) -> Entry {
    Entry { key, label, value: value.into(), published: None, note: note.into() }
}

impl Entry {
    /// The same beside a published number.
    #[must_use]
    pub fn published(self, number: impl Into<Cell>) -> Self {
        Self { published: Some(number.into()), ..self }
    }
}

impl Section {
    /// A section of values.
    pub fn entries(key: &'static str, title: impl Into<String>, entries: Vec<Entry>) -> Self {
        Self { key, title: title.into(), body: Body::Entries(entries) }
    }

    /// A table.
    pub fn table(
        key: &'static str,
        title: impl Into<String>,
        columns: &[(&'static str, &str)],
        rows: Vec<Vec<Cell>>,
    ) -> Self {
        let columns = columns.iter().map(|&(key, heading)| (key, heading.to_string())).collect();
        Self { key, title: title.into(), body: Body::Table { columns, rows } }
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_string())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Four significant digits, as far as the decimals go.
impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        let digits = value.abs().max(1e-9).log10().floor() as i64;
        Self::Number(value, (3 - digits).clamp(0, 4) as usize)
    }
}

impl Cell {
    /// The value as text.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(value, decimals) => format!("{value:.decimals$}"),
            Self::None => "-".to_string(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Count(count) => json!(count),
            Self::Number(value, _) => json!(value),
            Self::None => Value::Null,
        }
    }
}

impl Report {
    /// Appends the sections, charts and notes of another.
    pub fn append(&mut self, other: Report) {
        self.sections.extend(other.sections);
        self.charts.extend(other.charts);
        self.notes.extend(other.notes);
    }

    /// The sections as objects, and the notes. Published numbers are in an object `published`.
    pub fn json(&self) -> Value {
        let mut all = Map::new();
        let mut published = Map::new();
        for section in &self.sections {
            let value = match &section.body {
                Body::Entries(entries) => {
                    for entry in entries {
                        if let Some(number) = &entry.published {
                            published.insert(format!("{}.{}", section.key, entry.key), number.json());
                        }
                    }
                    entries.iter().map(|e| (e.key.to_string(), e.value.json())).collect::<Map<_, _>>().into()
                }
                Body::Table { columns, rows } => {
                    let object = |row: &Vec<Cell>| -> Value {
                        let pairs = columns.iter().zip(row);
                        pairs.map(|((key, _), cell)| (key.to_string(), cell.json())).collect::<Map<_, _>>().into()
                    };
                    rows.iter().map(object).collect()
                }
            };
            all.insert(section.key.to_string(), value);
        }
        if !published.is_empty() {
            all.insert("published".to_string(), published.into());
        }
        all.insert("notes".to_string(), json!(self.notes));
        Value::Object(all)
    }

    /// The report as lines of text.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for section in &self.sections {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            match &section.body {
                Body::Entries(entries) => entries_text(&section.title, entries, &mut lines),
                Body::Table { columns, rows } => table_text(&section.title, columns, rows, &mut lines),
            }
        }
        if !self.notes.is_empty() {
            lines.push(String::new());
            lines.extend(self.notes.iter().cloned());
        }
        lines.join("\n")
    }
}

fn entries_text(title: &str, entries: &[Entry], lines: &mut Vec<String>) {
    let width = entries.iter().map(|e| e.label.len()).max().unwrap_or(0).max(title.len()) + 2;
    let has_published = entries.iter().any(|e| e.published.is_some());
    match has_published {
        true => lines.push(format!("{title:<width$} {:>14} {:>12}", "", "published")),
        false => lines.push(title.to_string()),
    }
    for entry in entries {
        let published = entry.published.as_ref().map(Cell::text).unwrap_or_default();
        let published = if has_published { format!(" {published:>12}") } else { String::new() };
        let note = if entry.note.is_empty() { String::new() } else { format!("   {}", entry.note) };
        let line = format!("  {:<w$} {:>14}{published}{note}", entry.label, entry.value.text(), w = width - 2);
        lines.push(line.trim_end().to_string());
    }
}

fn table_text(title: &str, columns: &[(&'static str, String)], rows: &[Vec<Cell>], lines: &mut Vec<String>) {
    lines.push(title.to_string());
    let texts: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
    let width = |k: usize| texts.iter().filter_map(|row| row.get(k)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().enumerate().map(|(k, (_, h))| width(k).max(h.chars().count())).collect();
    // Words are set to the left, numbers to the right.
    let is_text = |k: usize| rows.iter().any(|row| matches!(row.get(k), Some(Cell::Text(_))));
    let line = |cells: Vec<&str>| {
        let set = |(k, text): (usize, &&str)| match is_text(k) {
            true => format!("{text:<w$}", w = widths[k]),
            false => format!("{text:>w$}", w = widths[k]),
        };
        format!("  {}", cells.iter().enumerate().map(set).collect::<Vec<_>>().join("  ")).trim_end().to_string()
    };
    lines.push(line(columns.iter().map(|(_, heading)| heading.as_str()).collect()));
    lines.extend(texts.iter().map(|row| line(row.iter().map(String::as_str).collect())));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let entries =
            vec![entry("time", "time of a test", 0.333_333, "us").published(0.33), entry("rays", "rays", 12u64, "")];
        let columns = [("name", "design"), ("rate", "rays/s")];
        let rows = vec![vec!["array".into(), 1234.5.into()], vec!["peripheral".into(), Cell::None]];
        let sections =
            vec![Section::entries("host", "host", entries), Section::table("all", "designs", &columns, rows)];
        Report { sections, notes: vec!["Nothing is left out.".into()], ..Report::default() }
    }

    #[test]
    fn text_aligns_values_and_shows_published_numbers_beside_them() {
        let expected = "\
host                               published
  time of a test         0.3333       0.3300   us
  rays                       12

designs
  design      rays/s
  array         1234
  peripheral       -

Nothing is left out.";
        assert_eq!(report().text(), expected);
    }

    #[test]
    fn json_has_the_keys_of_sections_and_columns() {
        let expected = json!({
            "host": { "time": 0.333_333, "rays": 12 },
            "all": [{ "name": "array", "rate": 1234.5 }, { "name": "peripheral", "rate": null }],
            "published": { "host.time": 0.33 },
            "notes": ["Nothing is left out."],
        });
        assert_eq!(report().json(), expected);
    }
}
