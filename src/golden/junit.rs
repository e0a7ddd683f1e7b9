//! The outcomes as JUnit XML, which GitHub's actions, GitLab and Jenkins read: a suite for each
//! back end, a test case for each image.

use super::outcome::{Entry, Status};
use std::fmt::Write as _;

/// Most bytes of a message.
const MAX_MESSAGE: usize = 64 << 10;

/// The document. `suite` names the run; `started` is its time in ISO 8601.
pub fn document(suite: &str, started: &str, entries: &[Entry]) -> String {
    let mut backends: Vec<&str> = Vec::new();
    for entry in entries {
        if !backends.contains(&entry.case.backend.as_str()) {
            backends.push(&entry.case.backend);
        }
    }
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&Entry> = entries.iter().collect();
    let _ = writeln!(text, "<testsuites name=\"{}\"{}>", escaped(suite), counts(&all));
    for backend in backends {
        let own: Vec<&Entry> = entries.iter().filter(|entry| entry.case.backend == backend).collect();
        let name = escaped(&format!("{suite} on {backend}"));
        let _ = writeln!(text, "  <testsuite name=\"{name}\" timestamp=\"{started}\"{}>", counts(&own));
        let class = escaped(&format!("{suite}.{backend}"));
        own.iter().for_each(|entry| case(&mut text, &class, entry));
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

/// The attributes with the numbers of some images.
fn counts(entries: &[&Entry]) -> String {
    let of = |is: fn(&Status) -> bool| entries.iter().filter(|entry| is(&entry.outcome.status)).count();
    let failures = of(|status| matches!(status, Status::Failed | Status::New));
    let errors = of(|status| *status == Status::Error);
    let time: f64 = entries.iter().map(|entry| seconds(entry)).sum();
    format!(" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"{time:.3}\"", entries.len())
}

/// The time of an image in this run.
fn seconds(entry: &Entry) -> f64 {
    if entry.unchanged { 0.0 } else { entry.outcome.seconds() }
}

fn case(text: &mut String, class: &str, entry: &Entry) {
    let outcome = &entry.outcome;
    let name = escaped(&entry.case.name);
    let _ = write!(text, "    <testcase name=\"{name}\" classname=\"{class}\" time=\"{:.3}\">", seconds(entry));
    let element = match outcome.status {
        Status::Failed => Some(("failure", "different")),
        Status::New => Some(("failure", "no-reference")),
        Status::Error => Some(("error", "no-image")),
        Status::Blessed | Status::Passed => None,
    };
    if let Some((element, kind)) = element {
        let reason = escaped(&outcome.reason);
        let _ = write!(text, "\n      <{element} type=\"{kind}\" message=\"{reason}\">");
        let mut lines = vec![outcome.reason.clone()];
        for number in &outcome.numbers {
            let limit = number.limit.iter().map(|limit| format!(", must be {limit}")).collect::<String>();
            lines.push(format!("{}: {}{limit}", number.name, number.value));
        }
        lines.extend((!outcome.details.is_empty()).then(|| outcome.details.clone()));
        lines.push(format!("reference: {}", entry.case.reference.display()));
        lines.push(format!("repeat: {}", entry.command));
        let _ = write!(text, "{}</{element}>", escaped(&lines.join("\n")));
    }
    if entry.unchanged {
        text.push_str("\n      <system-out>unchanged since it was last rendered</system-out>");
    }
    if !outcome.messages.is_empty() {
        let messages = &outcome.messages[..outcome.messages.floor_char_boundary(MAX_MESSAGE)];
        let _ = write!(text, "\n      <system-err>{}</system-err>", escaped(messages));
    }
    let has_children = element.is_some() || entry.unchanged || !outcome.messages.is_empty();
    *text += if has_children { "\n    </testcase>\n" } else { "</testcase>\n" };
}

/// A text in XML: five characters as entities, and what XML 1.0 has no place for as U+FFFD.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&apos;",
            '\n' => safe += "&#10;",
            '\t' => safe += "&#9;",
            // XML 1.0, §2.2.
            '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}' => safe.push(c),
            _ => safe.push('\u{fffd}'),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(
            escaped("<a b=\"c\" d='&'>\u{1b}[0m\u{0}\u{ffff}\r\n\té"),
            "&lt;a b=&quot;c&quot; d=&apos;&amp;&apos;&gt;\u{fffd}[0m\u{fffd}\u{fffd}\u{fffd}&#10;&#9;é"
        );
    }
}
