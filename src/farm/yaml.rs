//! YAML documents, in the order in which they are made.

use std::fmt::Write as _;

/// A node of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Yaml {
    /// A number.
    Int(i64),
    /// A string, in quotes.
    String(String),
    /// A text, as a literal block: it begins with no space, ends with a line break, and its lines hold
    /// printable characters.
    Text(String),
    /// A sequence, a line for each item.
    List(Vec<Yaml>),
    /// A mapping, in this order.
    Map(Vec<(&'static str, Yaml)>),
}

impl From<&str> for Yaml {
    fn from(text: &str) -> Self {
        Yaml::String(text.to_string())
    }
}

impl From<String> for Yaml {
    fn from(text: String) -> Self {
        Yaml::String(text)
    }
}

impl From<u32> for Yaml {
    fn from(number: u32) -> Self {
        Yaml::Int(number.into())
    }
}

impl<T: Into<Yaml>> From<Vec<T>> for Yaml {
    fn from(items: Vec<T>) -> Self {
        Yaml::List(items.into_iter().map(Into::into).collect())
    }
}

impl<const N: usize> From<[(&'static str, Yaml); N]> for Yaml {
    fn from(entries: [(&'static str, Yaml); N]) -> Self {
        Yaml::Map(entries.into())
    }
}

impl Yaml {
    /// The document. Its mappings and sequences are not empty.
    pub fn document(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        out.trim_start_matches('\n').to_string()
    }

    /// Writes what follows a key or a dash: the rest of the line, and lines that are indented.
    fn write(&self, out: &mut String, indent: usize) {
        match self {
            Yaml::Int(number) => _ = writeln!(out, " {number}"),
            Yaml::Text(text) => {
                out.push_str(" |\n");
                for line in text.lines() {
                    _ = writeln!(out, "{:indent$}{line}", "", indent = if line.is_empty() { 0 } else { indent });
                }
            }
            Yaml::String(text) => _ = writeln!(out, " {}", quoted(text)),
            Yaml::List(items) => {
                out.push('\n');
                for item in items {
                    _ = write!(out, "{:indent$}-", "");
                    item.write_in_list(out, indent);
                }
            }
            Yaml::Map(entries) => {
                out.push('\n');
                for (key, value) in entries {
                    _ = write!(out, "{:indent$}{key}:", "");
                    value.write(out, indent + 2);
                }
            }
        }
    }

    /// Writes what follows a dash. The first entry of a mapping stands beside it.
    fn write_in_list(&self, out: &mut String, indent: usize) {
        let Yaml::Map(entries) = self else { return self.write(out, indent + 2) };
        for (n, (key, value)) in entries.iter().enumerate() {
            if n == 0 {
                _ = write!(out, " {key}:");
            } else {
                _ = write!(out, "{:width$}{key}:", "", width = indent + 2);
            }
            value.write(out, indent + 4);
        }
    }
}

/// A double-quoted scalar (YAML 1.2, §7.3.1). Characters that YAML calls not printable, and its line
/// separators, are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..
                if !matches!(c, '\u{2028}' | '\u{2029}') =>
            {
                out.push(c);
            }
            _ => _ = write!(out, "\\u{:04x}", u32::from(c)),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_the_order_and_is_indented() {
        let document = Yaml::from([
            ("name", "it's \"so\"".into()),
            ("count", 3.into()),
            ("steps", vec![Yaml::from([("b", "x".into()), ("a", vec!["1", "2"].into())]), "plain".into()].into()),
            ("data", Yaml::Text("first\n\n  second\n".to_string())),
        ]);
        let expected = r#"name: "it's \"so\""
count: 3
steps:
  - b: "x"
    a:
      - "1"
      - "2"
  - "plain"
data: |
  first

    second
"#;
        assert_eq!(document.document(), expected);
    }

    #[test]
    fn characters_that_are_not_printable_are_escaped() {
        assert_eq!(
            quoted("a\\\u{7}\u{7f}\u{85}\u{2028}\u{feff}\u{ffff}ä😀"),
            r#""a\\\u0007\u007f\u0085\u2028\ufeff\uffffä😀""#
        );
    }
}
