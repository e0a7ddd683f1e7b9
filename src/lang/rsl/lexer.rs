//! Turns preprocessed raw tokens into RSL's: numbers get values, words that are reserved become keywords.
//!
//! Words that start a shader (`surface`, `light`, …) are plain names: inside a shader they may name functions.

use crate::lang::scan::{RawKind, RawToken};
use crate::lang::source::{FileId, Span};
use std::sync::Arc;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    /// A name.
    Name(Arc<str>),
    /// A reserved word.
    Keyword(&'static str),
    /// A number.
    Number(f32),
    /// A string's content.
    String(Arc<str>),
    /// An operator or bracket.
    Punct(&'static str),
    /// Something the language has no use for, such as `@`.
    Stray(Arc<str>),
    /// The end of the text.
    End,
}

impl Tok {
    /// How a message calls it.
    pub fn describe(&self) -> String {
        match self {
            Tok::Name(n) | Tok::Stray(n) => format!("`{n}`"),
            Tok::Keyword(k) | Tok::Punct(k) => format!("`{k}`"),
            Tok::Number(x) => format!("the number {x}"),
            Tok::String(s) => format!("the string \"{s}\""),
            Tok::End => "the end of the file".to_string(),
        }
    }
}

/// A token with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The token.
    pub tok: Tok,
    /// Its place.
    pub span: Span,
}

/// Words that name nothing else.
pub const KEYWORDS: [&str; 22] = [
    "float",
    "color",
    "point",
    "vector",
    "normal",
    "string",
    "matrix",
    "void",
    "uniform",
    "varying",
    "output",
    "extern",
    "if",
    "else",
    "while",
    "for",
    "break",
    "continue",
    "return",
    "illuminate",
    "illuminance",
    "solar",
];

/// Operators and brackets of the language.
const PUNCT: [&str; 31] = [
    "+", "-", "*", "/", "^", ".", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", "?", ":", "=", "+=", "-=", "*=",
    "/=", "->", "(", ")", "{", "}", "[", "]", ",", ";",
];

/// Converts the tokens of `file`; the last one is [`Tok::End`], placed at the end of the last token.
pub fn lex(file: FileId, raw: &[RawToken]) -> Vec<Token> {
    let end = raw.last().map_or(Span::new(file, 0, 0), |t| Span { start: t.span.end.max(1) - 1, ..t.span });
    let tokens = raw.iter().filter(|t| t.kind != RawKind::Newline).map(|t| Token { tok: convert(t), span: t.span });
    tokens.chain(std::iter::once(Token { tok: Tok::End, span: end })).collect()
}

fn convert(raw: &RawToken) -> Tok {
    let find = |list: &[&'static str]| list.iter().find(|k| raw.text[..] == ***k).copied();
    match raw.kind {
        RawKind::Word => find(&KEYWORDS).map_or_else(|| Tok::Name(raw.text.clone()), Tok::Keyword),
        RawKind::Number => {
            raw.text.trim_end_matches(['f', 'F']).parse().map_or_else(|_| Tok::Stray(raw.text.clone()), Tok::Number)
        }
        RawKind::String => Tok::String(raw.text.clone()),
        RawKind::Punct | RawKind::Newline => find(&PUNCT).map_or_else(|| Tok::Stray(raw.text.clone()), Tok::Punct),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::diag::Diagnostics;
    use crate::lang::scan::scan;

    #[test]
    fn keywords_names_numbers_and_strings_are_told_apart() {
        let raw = scan(FileId(0), "float x = 1.5; \"a\" %", &mut Diagnostics::new());
        let toks: Vec<Tok> = lex(FileId(0), &raw).into_iter().map(|t| t.tok).collect();
        let expected = [
            Tok::Keyword("float"),
            Tok::Name("x".into()),
            Tok::Punct("="),
            Tok::Number(1.5),
            Tok::Punct(";"),
            Tok::String("a".into()),
            Tok::Stray("%".into()),
            Tok::End,
        ];
        assert_eq!(toks, expected);
    }
}
