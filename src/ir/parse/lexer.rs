//! Tokens of one line of the text form.

use crate::Type;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::{FileId, Span};
use std::sync::Arc;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A word or number: letters, digits, `_`, `.`, and a sign in front of or inside a number. A
    /// name may start with `@`.
    Word(&'a str),
    /// A quoted string, with its escapes resolved.
    String(Arc<str>),
    /// A place: `@file:start..end`, or `@?`.
    Place(Option<Span>),
    /// Punctuation.
    Punct(&'static str),
}

const PUNCTUATION: [&str; 10] = ["->", "(", ")", "[", "]", "{", "}", ":", ",", "="];

/// One line, read from the front; places are taken off its end.
pub(super) struct Line<'a> {
    tokens: Vec<(Token<'a>, Span)>,
    next: usize,
    whole: Span,
}

impl<'a> Line<'a> {
    /// Splits a line that starts at byte `start` of the file.
    pub(super) fn new(text: &'a str, start: usize, file: FileId) -> Result<Self, Diagnostic> {
        let body = text.trim_end();
        let whole = Span::new(file, start + body.len() - body.trim_start().len(), start + body.len());
        let mut line = Line { tokens: Vec::new(), next: 0, whole };
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            if c == ';' {
                break;
            }
            let rest = &text[at..];
            let length = if c.is_whitespace() {
                c.len_utf8()
            } else {
                let (token, length) = token(rest).map_err(|(message, length)| {
                    Diagnostic::error(message).at(Span::new(file, start + at, start + at + length), "")
                })?;
                line.tokens.push((token, Span::new(file, start + at, start + at + length)));
                length
            };
            at += length;
        }
        Ok(line)
    }

    pub(super) fn at_end(&self) -> bool {
        self.next >= self.tokens.len()
    }

    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).map(|t| t.0.clone())
    }

    /// Where the next token is; the end of the line when there is none.
    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.next).map_or(Span { start: self.whole.end, ..self.whole }, |t| t.1)
    }

    /// The whole line.
    pub(super) fn line_span(&self) -> Span {
        self.whole
    }

    pub(super) fn error_at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message).at(span, "")
    }

    fn expected(&self, what: &str) -> Diagnostic {
        self.error_at(self.span(), format!("expected {what}"))
    }

    /// Takes the punctuation if it comes next.
    pub(super) fn eat(&mut self, punct: &str) -> bool {
        let found = matches!(self.tokens.get(self.next), Some((Token::Punct(p), _)) if *p == punct);
        self.next += found as usize;
        found
    }

    pub(super) fn expect(&mut self, punct: &str) -> Result<(), Diagnostic> {
        if self.eat(punct) { Ok(()) } else { Err(self.expected(&format!("`{punct}`"))) }
    }

    /// Takes a comma (true) or the end of the list (false).
    pub(super) fn separator(&mut self, end: &str) -> Result<bool, Diagnostic> {
        match (self.eat(","), self.eat(end)) {
            (true, _) => Ok(true),
            (_, true) => Ok(false),
            _ => Err(self.expected(&format!("`,` or `{end}`"))),
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, Diagnostic> {
        match self.tokens.get(self.next) {
            Some((Token::Word(w), _)) => {
                self.next += 1;
                Ok(w)
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn string(&mut self) -> Result<Arc<str>, Diagnostic> {
        match self.tokens.get(self.next) {
            Some((Token::String(t), _)) => {
                self.next += 1;
                Ok(t.clone())
            }
            _ => Err(self.expected("a quoted string")),
        }
    }

    /// A word or a quoted string.
    pub(super) fn name(&mut self) -> Result<Arc<str>, Diagnostic> {
        match self.peek() {
            Some(Token::String(_)) => self.string(),
            _ => self.word("a name").map(Arc::from),
        }
    }

    pub(super) fn ty(&mut self) -> Result<Type, Diagnostic> {
        let span = self.span();
        let word = self.word("a type")?;
        Type::from_name(word).ok_or_else(|| self.error_at(span, format!("there is no type `{word}`")))
    }

    pub(super) fn integer(&mut self, what: &str) -> Result<u32, Diagnostic> {
        let span = self.span();
        let word = self.word(what)?;
        word.parse().map_err(|_| self.error_at(span, format!("`{word}` is not {what}")))
    }

    pub(super) fn signed(&mut self, what: &str) -> Result<i32, Diagnostic> {
        let span = self.span();
        let word = self.word(what)?;
        word.parse().map_err(|_| self.error_at(span, format!("`{word}` is not {what}")))
    }

    /// A decimal number, `inf`, or the hexadecimal digits of the bits.
    pub(super) fn float(&mut self) -> Result<f32, Diagnostic> {
        let span = self.span();
        let word = self.word("a number")?;
        let value = match word.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok().map(f32::from_bits),
            None => word.parse().ok().filter(|x: &f32| !x.is_nan()),
        };
        value.ok_or_else(|| self.error_at(span, format!("`{word}` is not a number")))
    }

    /// Requires that nothing follows.
    pub(super) fn finish(&self) -> Result<(), Diagnostic> {
        if self.at_end() { Ok(()) } else { Err(self.error_at(self.span(), "nothing more may follow here")) }
    }

    /// Takes the last token off when it is that punctuation.
    pub(super) fn take_last(&mut self, punct: &str) -> Option<(Token<'a>, Span)> {
        let found = matches!(self.tokens.last(), Some((Token::Punct(p), _)) if *p == punct);
        if found { self.tokens.pop() } else { None }
    }

    pub(super) fn put_last(&mut self, token: (Token<'a>, Span)) {
        self.tokens.push(token);
    }

    /// Takes the place and the chain of places it was inlined at off the end of the line, innermost
    /// first.
    pub(super) fn take_places(&mut self) -> Result<Vec<Option<Span>>, Diagnostic> {
        let Some(first) = self.tokens.iter().position(|t| matches!(t.0, Token::Place(_))) else {
            return Ok(Vec::new());
        };
        let mut places = Vec::new();
        for (i, (token, span)) in self.tokens.drain(first..).enumerate() {
            match (i % 2, token) {
                (0, Token::Place(place)) => places.push(place),
                (1, Token::Word("in")) => {}
                _ => {
                    return Err(
                        Diagnostic::error("a place is followed by `in` and a place, or by nothing").at(span, "")
                    );
                }
            }
        }
        Ok(places)
    }
}

type LexResult<T> = Result<T, (String, usize)>;

/// The token at the start of `rest` and its length in bytes.
fn token(rest: &str) -> LexResult<(Token<'_>, usize)> {
    if let Some(p) = PUNCTUATION.iter().find(|p| rest.starts_with(**p)) {
        return Ok((Token::Punct(p), p.len()));
    }
    if rest.starts_with('"') {
        return text(rest);
    }
    if let Some(place) = rest.strip_prefix('@').filter(|r| r.starts_with(|c: char| c.is_ascii_digit() || c == '?')) {
        return match place.strip_prefix('?') {
            Some(_) => Ok((Token::Place(None), 2)),
            None => span(place).map(|(s, length)| (Token::Place(Some(s)), length + 1)),
        };
    }
    let is_number = rest.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
    let mut length = 0;
    for c in rest.chars() {
        let sign_inside = (c == '-' || c == '+') && is_number && (length == 0 || rest[..length].ends_with(['e', 'E']));
        if !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || sign_inside || (c == '@' && length == 0)) {
            break;
        }
        length += c.len_utf8();
    }
    match length {
        0 => Err(("this character has no meaning here".to_string(), rest.chars().next().map_or(0, char::len_utf8))),
        _ => Ok((Token::Word(&rest[..length]), length)),
    }
}

/// `file:start..end`
fn span(rest: &str) -> LexResult<(Span, usize)> {
    let length = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b':' || *b == b'.').count();
    let text = &rest[..length];
    let parts = text
        .split_once(':')
        .and_then(|(f, range)| range.split_once("..").map(|(s, e)| [f, s, e].map(str::parse::<u32>)));
    match parts {
        Some([Ok(f), Ok(start), Ok(end)]) => Ok((Span { file: FileId(f), start, end }, length)),
        _ => Err(("a place is `@file:start..end` with numbers, or `@?`".to_string(), length + 1)),
    }
}

/// A quoted string.
fn text(rest: &str) -> LexResult<(Token<'_>, usize)> {
    let mut out = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::String(out.into()), i + 1)),
            '\n' => break,
            '\\' => match chars.next().map(|e| e.1) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(c @ ('"' | '\\')) => out.push(c),
                Some('u') => {
                    let code: String = chars.by_ref().map(|e| e.1).skip(1).take_while(|&c| c != '}').take(8).collect();
                    let c = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                    out.push(c.ok_or_else(|| ("this is no character".to_string(), i + 1))?);
                }
                _ => return Err(("an escape is \\n \\t \\r \\\" \\\\ or \\u{hex}".to_string(), i + 1)),
            },
            c => out.push(c),
        }
    }
    Err(("this string has no end on its line".to_string(), rest.trim_end().len()))
}
