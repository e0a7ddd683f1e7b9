//! Splits source text into raw tokens: words, numbers, strings, punctuation, line ends.
//!
//! Takes one file's text and gives tokens with their spans. Comments and `\` at a line's end are
//! removed. It knows the spelling that C-like shading languages share and no keyword of any of
//! them.

use crate::text::diagnostics::{Diagnostic, Diagnostics};
use crate::text::source::{FileId, Span};
use std::sync::Arc;

/// The kind of a raw token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawKind {
    /// A name or keyword: letters, digits, `_`, not starting with a digit.
    Word,
    /// A number; the text is a valid floating-point literal, after which `f` or `F` may stand.
    Number,
    /// A string; the text is its content with escapes replaced.
    String,
    /// An operator or bracket.
    Punct,
    /// The end of a line.
    Newline,
}

/// A raw token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawToken {
    /// The kind of token.
    pub kind: RawKind,
    /// The text.
    pub text: Arc<str>,
    /// The span in the source file.
    pub span: Span,
    /// True if white space precedes it (`#define f(x)` differs from `#define f (x)`).
    pub spaced: bool,
    /// True if it is the name of a macro that must not be expanded again.
    pub painted: bool,
}

impl RawToken {
    /// True if it is this operator or bracket.
    pub fn is_punct(&self, text: &str) -> bool {
        self.kind == RawKind::Punct && &*self.text == text
    }
}

/// Operators of more than one character, longest first.
const LONG_PUNCT: [&str; 17] =
    ["<<=", ">>=", "##", "+=", "-=", "->", "*=", "/=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "::"];

/// Operators of one character.
const PUNCT: &str = "+-*/%=<>!&|^~?:.,;(){}[]#@";

/// Cuts a file's text into tokens. A [`RawKind::Newline`] ends every line, the last one included.
pub fn scan(file: FileId, text: &str, diags: &mut Diagnostics) -> Vec<RawToken> {
    scan_within(MAX_TOKENS, file, text, diags)
}

fn scan_within(most: usize, file: FileId, text: &str, diags: &mut Diagnostics) -> Vec<RawToken> {
    Scanner { file, text, pos: 0, spaced: false, tokens: Vec::new(), most, diags }.run()
}

/// Most tokens of a text, ends of lines counted. One takes some 180 bytes until it is part of a syntax
/// tree.
pub const MAX_TOKENS: usize = 1 << 22;

struct Scanner<'a> {
    file: FileId,
    text: &'a str,
    pos: usize,
    spaced: bool,
    tokens: Vec<RawToken>,
    /// Most tokens.
    most: usize,
    diags: &'a mut Diagnostics,
}

/// The message where there are more than [`MAX_TOKENS`].
pub fn too_many_tokens() -> String {
    format!("the text has more than {MAX_TOKENS} tokens")
}

impl Scanner<'_> {
    fn run(mut self) -> Vec<RawToken> {
        while let Some(c) = self.peek(0) {
            let start = self.pos;
            if self.tokens.len() >= self.most {
                self.error(start, &too_many_tokens(), "the rest is left out");
                break;
            }
            match c {
                b'\n' => {
                    self.pos += 1;
                    self.push(RawKind::Newline, start, "\n".into());
                }
                b'\\' if self.continuation() => self.spaced = true,
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                    self.pos += 1;
                    self.spaced = true;
                }
                b'/' if self.peek(1) == Some(b'/') => self.line_comment(),
                b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
                b'"' => self.string(),
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_some_and(|d| d.is_ascii_digit()) => self.number(),
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                    self.skip_while(|c| c == b'_' || c.is_ascii_alphanumeric());
                    self.push(RawKind::Word, start, self.text[start..self.pos].into());
                }
                _ => self.punct(),
            }
        }
        if self.tokens.last().is_none_or(|t| t.kind != RawKind::Newline) {
            self.push(RawKind::Newline, self.pos, "\n".into());
        }
        self.tokens
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.pos + ahead).copied()
    }

    fn skip_while(&mut self, f: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&f) {
            self.pos += 1;
        }
    }

    fn push(&mut self, kind: RawKind, start: usize, text: Arc<str>) {
        let span = Span::new(self.file, start, self.pos);
        let spaced = std::mem::take(&mut self.spaced);
        self.tokens.push(RawToken { kind, text, span, spaced, painted: false });
    }

    fn error(&mut self, start: usize, message: &str, label: &str) {
        let d = Diagnostic::error(message).at(Span::new(self.file, start, self.pos), label);
        if self.diags.error_count() < 100 {
            self.diags.push(d);
        }
    }

    /// Skips a `\` with the line end after it (and blanks between, as many editors leave them).
    fn continuation(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.pos + 1..];
        let blanks = rest.iter().take_while(|c| matches!(c, b' ' | b'\t' | b'\r')).count();
        let ends = rest.get(blanks) == Some(&b'\n');
        if ends {
            self.pos += blanks + 2;
        }
        ends
    }

    fn line_comment(&mut self) {
        while let Some(c) = self.peek(0) {
            if c == b'\n' {
                break;
            }
            if !(c == b'\\' && self.continuation()) {
                self.pos += 1;
            }
        }
        self.spaced = true;
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        match self.text[start + 2..].find("*/") {
            Some(n) => self.pos = start + 2 + n + 2,
            None => {
                self.pos = start + 2;
                self.error(start, "unterminated comment", "`*/` is missing");
                self.pos = self.text.len();
            }
        }
        self.spaced = true;
    }

    fn string(&mut self) {
        let start = self.pos;
        self.pos += 1;
        let mut content = String::new();
        loop {
            let Some(c) = self.text[self.pos..].chars().next() else {
                self.error(start, "unterminated string", "`\"` is missing");
                break;
            };
            match c {
                '"' => {
                    self.pos += 1;
                    break;
                }
                '\n' => {
                    self.error(start, "unterminated string", "`\"` is missing on this line");
                    break;
                }
                '\\' if self.continuation() => {}
                '\\' => {
                    self.pos += 1;
                    self.escape(&mut content);
                }
                c => {
                    self.pos += c.len_utf8();
                    content.push(c);
                }
            }
        }
        self.push(RawKind::String, start, content.into());
    }

    /// Reads what follows a `\` in a string: the escapes of C.
    fn escape(&mut self, content: &mut String) {
        let digits = self.text.as_bytes()[self.pos..].iter().take(3).take_while(|c| matches!(c, b'0'..=b'7')).count();
        if digits > 0 {
            let code = u32::from_str_radix(&self.text[self.pos..self.pos + digits], 8).unwrap_or(0);
            self.pos += digits;
            content.extend(char::from_u32(code));
            return;
        }
        let Some(c) = self.text[self.pos..].chars().next() else { return };
        self.pos += c.len_utf8();
        content.push(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\x08',
            'f' => '\x0c',
            other => other,
        });
    }

    fn number(&mut self) {
        let start = self.pos;
        if self.peek(0) == Some(b'0')
            && matches!(self.peek(1), Some(b'x' | b'X'))
            && self.peek(2).is_some_and(|c| c.is_ascii_hexdigit())
        {
            self.pos += 2;
            self.skip_while(|c| c.is_ascii_hexdigit());
            let value = self.text[start + 2..self.pos].chars().filter_map(|c| c.to_digit(16));
            let value = value.fold(0.0, |value: f64, digit| value * 16.0 + f64::from(digit));
            self.push(RawKind::Number, start, value.to_string().into());
            return;
        }
        self.skip_while(|c| c.is_ascii_digit());
        if self.peek(0) == Some(b'.') {
            self.pos += 1;
            self.skip_while(|c| c.is_ascii_digit());
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = matches!(self.peek(1), Some(b'+' | b'-')) as usize;
            if self.peek(1 + sign).is_some_and(|c| c.is_ascii_digit()) {
                self.pos += 1 + sign;
                self.skip_while(|c| c.is_ascii_digit());
            }
        }
        // The suffix that C programmers write belongs to it: where whole numbers are of another
        // type, it means that this one is not.
        if matches!(self.peek(0), Some(b'f' | b'F'))
            && !self.peek(1).is_some_and(|c| c == b'_' || c.is_ascii_alphanumeric())
        {
            self.pos += 1;
        }
        self.push(RawKind::Number, start, self.text[start..self.pos].into());
    }

    fn punct(&mut self) {
        let start = self.pos;
        let rest = &self.text[start..];
        if let Some(p) = LONG_PUNCT.iter().find(|p| rest.starts_with(**p)) {
            self.pos += p.len();
            self.push(RawKind::Punct, start, (*p).into());
            return;
        }
        let Some(c) = rest.chars().next() else { return };
        self.pos += c.len_utf8();
        if PUNCT.contains(c) {
            self.push(RawKind::Punct, start, c.to_string().into());
        } else {
            self.error(start, "invalid character", &format!("`{}`", c.escape_default()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let mut diags = Diagnostics::new();
        let tokens = scan(FileId(0), source, &mut diags);
        assert!(diags.is_empty());
        tokens.iter().map(|t| t.text.to_string()).collect()
    }

    #[test]
    fn words_numbers_and_operators_are_cut_apart() {
        assert_eq!(texts("a+=.5e-3.x"), ["a", "+=", ".5e-3", ".", "x", "\n"]);
        assert_eq!(texts("1.8f 2F"), ["1.8f", "2F", "\n"]);
        assert_eq!(texts("0x1F 0XaB 0x"), ["31", "171", "0", "x", "\n"]);
        assert_eq!(texts("N.I"), ["N", ".", "I", "\n"]);
    }

    #[test]
    fn what_follows_the_most_tokens_of_a_text_is_left_out_with_an_error() {
        let scanned = |most: usize| {
            let mut diags = Diagnostics::new();
            let tokens = scan_within(most, FileId(0), "a b\nc", &mut diags);
            (tokens.iter().map(|t| t.text.to_string()).collect::<Vec<_>>().concat(), diags.error_count())
        };
        assert_eq!(scanned(4), ("ab\nc\n".to_string(), 0));
        assert_eq!(scanned(2), ("ab\n".to_string(), 1));
        assert_eq!(MAX_TOKENS, 4_194_304);
    }

    #[test]
    fn comments_and_continued_lines_disappear() {
        assert_eq!(texts("a/* x\n */b // c \\\n d\ne\\\r\nf"), ["a", "b", "\n", "e", "f", "\n"]);
    }

    #[test]
    fn strings_know_the_escapes_of_c() {
        assert_eq!(texts(r#""a\n\"\101""#), ["a\n\"A", "\n"]);
    }

    #[test]
    fn an_endless_comment_and_an_endless_string_are_errors() {
        for source in ["/* x", "\"abc\nd", "a \u{7f} b", "\"abc"] {
            let mut diags = Diagnostics::new();
            scan(FileId(0), source, &mut diags);
            assert_eq!(diags.error_count(), 1, "{source}");
        }
    }
}
