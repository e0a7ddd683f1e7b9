//! RIB's tokens, after RISpec 3.2, appendix C: text in, one token after the other out. It knows no
//! requests.

use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::{FileId, Span};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// A request's name.
    Request(&'a str),
    /// A number; whether it was written as an integer decides nothing but messages.
    Number(f64),
    /// A string between its quotes, escapes not yet resolved: see [`unescape`].
    Str(&'a str),
    /// `[`
    Open,
    /// `]`
    Close,
    /// The end of the file.
    End,
}

impl Token<'_> {
    /// The token as messages name it.
    pub fn describe(&self) -> String {
        match self {
            Token::Request(name) => format!("`{name}`"),
            Token::Number(n) => format!("the number {n}"),
            Token::Str(s) => format!("the string \"{s}\""),
            Token::Open => "`[`".to_string(),
            Token::Close => "`]`".to_string(),
            Token::End => "the end of the file".to_string(),
        }
    }
}

/// A string's value: `\n \r \t \b \f \\ \" \ddd` resolved, an escaped line end dropped.
pub fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('\n') | None => {}
            Some(d @ '0'..='7') => {
                let mut code = d as u32 - '0' as u32;
                for _ in 0..2 {
                    match chars.peek() {
                        Some(&d @ '0'..='7') => code = code * 8 + (d as u32 - '0' as u32),
                        _ => break,
                    }
                    chars.next();
                }
                out.push(char::from((code & 0xff) as u8));
            }
            Some(other) => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// Reads tokens from a text.
pub struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    peeked: Option<(Token<'a>, Span)>,
    /// Tokens that come before those of the text.
    replayed: VecDeque<(Token<'a>, Span)>,
    last: Span,
}

impl<'a> Lexer<'a> {
    /// A lexer of a part of `text`, which is `file`; the part begins and ends between tokens.
    pub fn new(file: FileId, text: &'a str, part: Range<usize>) -> Self {
        let text = text.get(..part.end).unwrap_or(text);
        Self { file, text, at: part.start, peeked: None, replayed: VecDeque::new(), last: Span::new(file, 0, 0) }
    }

    /// Gives these tokens before all others.
    pub fn replay(&mut self, tokens: Vec<(Token<'a>, Span)>) {
        let behind = self.peeked.take().into_iter().chain(self.replayed.drain(..)).collect::<Vec<_>>();
        self.replayed = tokens.into_iter().chain(behind).collect();
    }

    /// The place of the token that was taken last.
    pub fn last_span(&self) -> Span {
        self.last
    }

    /// The next token, without taking it.
    ///
    /// # Errors
    ///
    /// Text that is no token. The offending characters are skipped, so asking again continues after
    /// them.
    pub fn peek(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        match self.peeked {
            Some(t) => Ok(t),
            None => {
                let t = match self.replayed.pop_front() {
                    Some(t) => t,
                    None => self.lex()?,
                };
                self.peeked = Some(t);
                Ok(t)
            }
        }
    }

    /// Takes the next token.
    ///
    /// # Errors
    ///
    /// As [`Lexer::peek`].
    pub fn next_token(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        let t = self.peek()?;
        self.peeked = None;
        self.last = t.1;
        Ok(t)
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at)
    }

    fn lex(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b',') => self.at += 1,
                Some(b'#') => {
                    self.at = bytes[self.at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |i| self.at + i)
                }
                _ => break,
            }
        }
        let start = self.at;
        let Some(&first) = bytes.get(start) else {
            return Ok((Token::End, self.span(start)));
        };
        match first {
            b'[' | b']' => {
                self.at += 1;
                Ok((if first == b'[' { Token::Open } else { Token::Close }, self.span(start)))
            }
            b'"' => self.string(),
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let word = self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                Ok((Token::Request(word), self.span(start)))
            }
            _ => {
                let c = self.text[start..].chars().next().unwrap_or('\u{fffd}');
                self.at += c.len_utf8();
                // One message for a run of rubbish.
                self.take_while(|b| !b.is_ascii_alphanumeric() && !b" \t\r\n\"[]#+-._".contains(&b));
                Err(Diagnostic::error(format!("unexpected character {c:?} in a RIB file"))
                    .at(self.span(start), "not part of any RIB token"))
            }
        }
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        self.at += rest.iter().position(|&b| !keep(b)).unwrap_or(rest.len());
        // Both ends lie beside an ASCII byte, the start of a character or the end of the text.
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn string(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut i = start + 1;
        loop {
            match bytes.get(i) {
                None => {
                    self.at = bytes.len();
                    let line_end = self.text[start..].find('\n').map_or(bytes.len(), |n| start + n);
                    return Err(Diagnostic::error("a string is never closed")
                        .at(Span::new(self.file, start, line_end), "it starts here")
                        .hint("close it with `\"`"));
                }
                Some(b'\\') => i += 2,
                Some(b'"') => break,
                Some(_) => i += 1,
            }
        }
        self.at = i + 1;
        Ok((Token::Str(&self.text[start + 1..i]), self.span(start)))
    }

    fn number(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        let start = self.at;
        let mut word = self.take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
        if ["#INF", "#QNAN", "#IND"].iter().any(|w| self.text[self.at..].starts_with(w)) {
            self.take_while(|b| b == b'#' || b.is_ascii_alphanumeric());
            word = &self.text[start..self.at];
        }
        let span = self.span(start);
        // `parse` also takes `inf` and `nan`, which are no RIB numbers.
        let digits = word.trim_start_matches(['+', '-']);
        let value = word.parse::<f64>().ok().filter(|_| !digits.starts_with(|c: char| c.is_ascii_alphabetic()));
        match value {
            Some(v) if v.is_finite() && v.abs() <= f64::from(f32::MAX) => Ok((Token::Number(v), span)),
            Some(_) => Err(Diagnostic::error(format!("the number `{word}` is too large"))
                .at(span, format!("the largest number is {:e}", f32::MAX))),
            None if is_not_finite(digits) => Err(not_finite(word, span)),
            None => Err(Diagnostic::error(format!("`{word}` is not a number")).at(span, "expected a number")),
        }
    }
}

/// True if a word spells an infinity or not-a-number, as some exporters write them.
pub fn is_not_finite(word: &str) -> bool {
    ["nan", "inf", "infinity"].iter().any(|w| word.eq_ignore_ascii_case(w)) || word.starts_with("1.#")
}

/// The error for such a word.
pub fn not_finite(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error(format!("`{word}` is not a finite number"))
        .at(span, "numbers must be finite")
        .hint("the program that wrote this file divided by zero or overflowed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(FileId(0), text, 0..text.len());
        std::iter::from_fn(|| lexer.next_token().ok().map(|t| t.0).filter(|t| *t != Token::End)).collect()
    }

    fn error(text: &str) -> String {
        let mut lexer = Lexer::new(FileId(0), text, 0..text.len());
        loop {
            match lexer.next_token() {
                Ok((Token::End, _)) => panic!("no error in {text:?}"),
                Ok(_) => {}
                Err(d) => return d.message,
            }
        }
    }

    #[test]
    fn requests_numbers_strings_and_brackets_are_told_apart() {
        let tokens = all("Sphere 1 -.5e1 [\"a b\"] # rest\nversion+2.");
        let expected = [
            Token::Request("Sphere"),
            Token::Number(1.0),
            Token::Number(-5.0),
            Token::Open,
            Token::Str("a b"),
            Token::Close,
            Token::Request("version"),
            Token::Number(2.0),
        ];
        assert_eq!(tokens, expected);
    }

    #[test]
    fn escapes_in_strings_are_resolved() {
        assert_eq!(all(r#""a\"b""#), [Token::Str(r#"a\"b"#)]);
        assert_eq!(
            unescape(
                r#"a\"\\\n\101x\
y"#
            ),
            "a\"\\\nAxy"
        );
    }

    #[test]
    fn what_is_no_finite_number_is_an_error() {
        assert_eq!(error("1e999"), "the number `1e999` is too large");
        assert_eq!(error("1e39"), "the number `1e39` is too large");
        assert_eq!(error("-inf"), "`-inf` is not a finite number");
        assert_eq!(error("-1.#INF"), "`-1.#INF` is not a finite number");
        assert_eq!(error("1.2.3"), "`1.2.3` is not a number");
        assert_eq!(error("--2"), "`--2` is not a number");
    }

    #[test]
    fn an_open_string_is_reported_where_it_starts() {
        assert_eq!(error("Sphere \"abc"), "a string is never closed");
        assert_eq!(error("Sphere \"abc\\"), "a string is never closed");
    }

    #[test]
    fn rubbish_is_reported_once_a_run_and_skipped() {
        let text = "\u{1}\u{2}é\u{3}Sphere";
        let mut lexer = Lexer::new(FileId(0), text, 0..text.len());
        assert!(lexer.next_token().is_err());
        assert_eq!(lexer.next_token().unwrap().0, Token::Request("Sphere"));
    }
}
