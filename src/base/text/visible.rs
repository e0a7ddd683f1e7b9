//! Characters that a terminal obeys, or that change the order in which text is read, written as
//! escapes: text of files reaches people in messages.

use std::borrow::Cow;
use std::fmt::Write;

/// True if a character does something in place of being seen: a control character but the end of a
/// line and the tab, a separator of lines, or a control of the direction of text.
pub fn is_hidden(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let is_line = matches!(c, '\u{2028}' | '\u{2029}');
    is_direction || is_line || c.is_control() && c != '\n' && c != '\t'
}

/// A text whose hidden characters are escapes such as `\u{1b}`. A carriage return before the end of a
/// line is left out.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let text = if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) };
    Cow::Owned(escaped(&text, is_hidden))
}

/// [`visible`] of a text that is a part of a line: the ends of lines are escapes, too.
pub fn visible_in_line(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| c == '\n' || is_hidden(c);
    if text.contains(is_escaped) { Cow::Owned(escaped(text, is_escaped)) } else { Cow::Borrowed(text) }
}

/// [`visible`] of a document of JSON, whose hidden characters are all in strings: they are JSON's own
/// escapes.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // All are in the first plane.
        let _ = if is_hidden(c) { write!(out, "\\u{:04x}", u32::from(c)) } else { out.write_char(c) };
    }
    Cow::Owned(out)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_an_escape() {
        assert_eq!(visible("a\tb\r\nc é ½ 文"), "a\tb\nc é ½ 文");
        assert_eq!(visible("\u{1b}]0;x\u{7}\r\u{9b}2J\u{7f}\0"), r"\u{1b}]0;x\u{7}\u{d}\u{9b}2J\u{7f}\u{0}");
        assert_eq!(
            visible("a\u{202e}b\u{2066}c\u{200f}\u{61c}\u{2028}"),
            r"a\u{202e}b\u{2066}c\u{200f}\u{61c}\u{2028}"
        );
        assert_eq!(visible_in_line("a\nerror: b"), r"a\u{a}error: b");
    }

    #[test]
    fn json_stays_json() {
        let text = "\u{7f}\u{85}\u{202e}\u{1b}\n";
        let json = serde_json::to_string(&serde_json::json!({ "a": text })).expect("JSON");
        let shown = visible_json(&json);
        assert!(!shown.contains(is_hidden), "{shown:?}");
        let read: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(read["a"], text);
    }
}
