//! Converts preprocessed raw tokens to those of RTSL: numbers get values, reserved words become
//! keywords, and operators that only GLSL has are joined.

use shadewright_base::scan::{RawKind, RawToken};
use shadewright_base::text::source::FileId;
use shadewright_base::tokens::{self, Tok, Token};
use std::sync::Arc;

/// Words that name nothing else; types beside them ([`super::types::NAMES`]).
pub const KEYWORDS: [&str; 27] = [
    "class",
    "struct",
    "public",
    "private",
    "scratch",
    "const",
    "unit",
    "in",
    "out",
    "inout",
    "if",
    "else",
    "for",
    "while",
    "do",
    "break",
    "continue",
    "return",
    "true",
    "false",
    "illuminance",
    "ambient",
    "this",
    "null",
    "attribute",
    "varying",
    "discard",
];

/// Operators and brackets.
const PUNCT: [&str; 48] = [
    "+", "-", "*", "/", "%", ".", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "^^", "!", "~", "&", "|", "^", "<<",
    ">>", "?", ":", "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "++", "--", "->", "(", ")", "{",
    "}", "[", "]", ",", ";", "::", "@",
];

/// Operators that are written as two that follow each other at once.
const JOINED: [(&str, &str, &str); 7] = [
    ("+", "+", "++"),
    ("-", "-", "--"),
    ("^", "^", "^^"),
    ("%", "=", "%="),
    ("&", "=", "&="),
    ("|", "=", "|="),
    ("^", "=", "^="),
];

/// Converts the tokens of `file`; the last one is [`Tok::End`].
pub fn lex(file: FileId, raw: &[RawToken]) -> Vec<Token> {
    tokens::convert(file, raw, &JOINED, convert)
}

fn number(text: &Arc<str>) -> Tok {
    if text.contains(['.', 'e', 'E', 'f', 'F']) {
        let digits = text.trim_end_matches(['f', 'F']);
        return digits.parse().map_or_else(|_| Tok::Stray(text.clone()), Tok::Number);
    }
    let radix = if text.len() > 1 && text.starts_with('0') { 8 } else { 10 };
    u32::from_str_radix(text, radix).map_or_else(|_| Tok::Stray(text.clone()), Tok::Int)
}

fn convert(raw: &RawToken) -> Tok {
    let find = |list: &[&'static str]| list.iter().find(|k| raw.text[..] == ***k).copied();
    match raw.kind {
        RawKind::Word => find(&KEYWORDS).map_or_else(|| Tok::Name(raw.text.clone()), Tok::Keyword),
        RawKind::Number => number(&raw.text),
        RawKind::Punct => find(&PUNCT).map_or_else(|| Tok::Stray(raw.text.clone()), Tok::Punct),
        RawKind::String => Tok::String(raw.text.clone()),
        RawKind::Newline => Tok::Stray(raw.text.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::scan::scan;
    use shadewright_base::text::diagnostics::Diagnostics;

    fn toks(text: &str) -> Vec<Tok> {
        let mut diags = Diagnostics::new();
        let raw = scan(FileId(0), text, &mut diags);
        assert!(diags.is_empty(), "{text}");
        lex(FileId(0), &raw).into_iter().map(|t| t.tok).collect()
    }

    #[test]
    fn whole_numbers_and_others_are_told_apart() {
        let expected = [
            Tok::Int(10),
            Tok::Int(8),
            Tok::Number(1.0),
            Tok::Number(0.0),
            Tok::Number(25.0),
            Tok::Number(2.0),
            Tok::End,
        ];
        assert_eq!(toks("10 010 1. 0.f 2.5e1 2f"), expected);
    }

    #[test]
    fn operators_of_two_signs_are_one_where_nothing_stands_between() {
        let expected = ["++", "-", "-", "^^", "%=", "<<=", "+"].map(Tok::Punct);
        assert_eq!(toks("++ - - ^^ %= <<= +"), [&expected[..], &[Tok::End]].concat());
    }
}
