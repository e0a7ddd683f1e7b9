//! Converts preprocessed raw tokens to those of RSL: numbers get values, reserved words become
//! keywords.
//!
//! Words that start a shader (`surface`, `light`, …) are plain names: inside a shader they may name
//! functions.

use shadewright_base::scan::{RawKind, RawToken};
use shadewright_base::text::source::FileId;
use shadewright_base::tokens::{self, Tok, Token};

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

/// Converts the tokens of `file`; the last one is [`Tok::End`].
pub fn lex(file: FileId, raw: &[RawToken]) -> Vec<Token> {
    tokens::convert(file, raw, &[], convert)
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
    use shadewright_base::scan::scan;
    use shadewright_base::text::diagnostics::Diagnostics;

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
