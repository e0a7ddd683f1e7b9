//! Converts preprocessed raw tokens to those of pfman.

use shadewright_base::scan::{RawKind, RawToken};
use shadewright_base::text::source::FileId;
use shadewright_base::tokens::{self, Tok, Token};

/// Words that name nothing else.
pub const KEYWORDS: [&str; 28] = [
    "void",
    "float",
    "fixed",
    "signed",
    "unsigned",
    "uniform",
    "varying",
    "output",
    "unit",
    "transform_as_point",
    "transform_as_plane",
    "transform_as_vector",
    "transform_as_normal",
    "transform_as_texture",
    "typedef",
    "extern",
    "surface",
    "light",
    "if",
    "else",
    "while",
    "do",
    "until",
    "for",
    "break",
    "continue",
    "return",
    "illuminance",
];

/// Operators and brackets of the language.
const PUNCT: [&str; 42] = [
    "++", "--", "+=", "-=", "*=", "/=", "^=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%",
    "^", "&", "|", "<", ">", "!", "?", ":", "=", "(", ")", "{", "}", "[", "]", ",", ";", "~", ".", "->", "#", "@",
];

/// Operators that are written as two that follow each other at once.
const JOINED: [(&str, &str, &str); 3] = [("+", "+", "++"), ("-", "-", "--"), ("^", "=", "^=")];

/// Converts the tokens of `file`; the last one is [`Tok::End`].
pub fn lex(file: FileId, raw: &[RawToken]) -> Vec<Token> {
    tokens::convert(file, raw, &JOINED, convert)
}

fn convert(raw: &RawToken) -> Tok {
    let find = |list: &[&'static str]| list.iter().find(|k| raw.text[..] == ***k).copied();
    let stray = || Tok::Stray(raw.text.clone());
    match raw.kind {
        RawKind::Word => find(&KEYWORDS).map_or_else(|| Tok::Name(raw.text.clone()), Tok::Keyword),
        RawKind::Number => match raw.text.parse() {
            Ok(whole) => Tok::Int(whole),
            Err(_) => raw.text.trim_end_matches(['f', 'F']).parse().map_or_else(|_| stray(), Tok::Decimal),
        },
        RawKind::String => Tok::String(raw.text.clone()),
        RawKind::Punct | RawKind::Newline => find(&PUNCT).map_or_else(stray, Tok::Punct),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::scan::scan;
    use shadewright_base::text::diagnostics::Diagnostics;

    #[test]
    fn operators_of_two_characters_are_one_token() {
        let raw = scan(FileId(0), "x++ ^= 0.1 + +7 >> 2", &mut Diagnostics::new());
        let toks: Vec<Tok> = lex(FileId(0), &raw).into_iter().map(|t| t.tok).collect();
        let expected = [
            Tok::Name("x".into()),
            Tok::Punct("++"),
            Tok::Punct("^="),
            Tok::Decimal(0.1),
            Tok::Punct("+"),
            Tok::Punct("+"),
            Tok::Int(7),
            Tok::Punct(">>"),
            Tok::Int(2),
            Tok::End,
        ];
        assert_eq!(toks, expected);
    }
}
