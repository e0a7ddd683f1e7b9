//! Cuts Silicon source text into tokens.
//!
//! Comments are `(* … *)`, which nest, and `--` to the end of the line. Words are case-sensitive;
//! keywords are upper case.

use shadewright_base::bits::{Bits, MAX_WIDTH};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, Span};
use shadewright_base::tokens::{Tok, Token};
use std::sync::Arc;

/// Words that name nothing else.
pub const KEYWORDS: [&str; 18] = [
    "DO", "WHILE", "REPEAT", "UNTIL", "BREAK", "IF", "THEN", "EF", "ELSE", "CASE", "OF", "MACRO", "BEGIN", "END",
    "AND", "OR", "NOT", "EQV",
];

/// Operators and brackets, longer ones first.
const PUNCT: [&str; 24] = [
    ":=", "=>", "~=", "<=", ">=", ":", ";", ",", ".", "(", ")", "{", "}", "[", "]", "|", "'", "#", "+", "-", "*", "=",
    "<", ">",
];

/// The most errors of one text that are reported.
const MAX_ERRORS: usize = 100;

/// The tokens of a text. The last one is [`Tok::End`]. Errors go to `diags`.
pub fn lex(file: FileId, text: &str, diags: &mut Diagnostics) -> Vec<Token> {
    let mut lexer = Lexer { file, text, at: 0, tokens: Vec::new(), diags };
    while lexer.step() {}
    lexer.tokens
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    diags: &'a mut Diagnostics,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn push(&mut self, start: usize, tok: Tok) {
        self.tokens.push(Token { tok, span: Span::new(self.file, start, self.at) });
    }

    fn error(&mut self, start: usize, message: impl Into<String>, label: &str) {
        if self.diags.error_count() < MAX_ERRORS {
            self.diags.push(Diagnostic::error(message).at(Span::new(self.file, start, self.at), label));
        }
    }

    /// Goes past the characters for which `is` holds.
    fn skip(&mut self, is: impl Fn(char) -> bool) {
        self.at += self.rest().find(|c| !is(c)).unwrap_or(self.rest().len());
    }

    /// Reads one token or one stretch of blanks; false at the end.
    fn step(&mut self) -> bool {
        let start = self.at;
        let Some(c) = self.rest().chars().next() else {
            self.push(start, Tok::End);
            return false;
        };
        match c {
            _ if c.is_whitespace() => self.skip(char::is_whitespace),
            _ if self.rest().starts_with("--") => self.skip(|c| c != '\n'),
            _ if self.rest().starts_with("(*") => self.comment(),
            '"' => self.string(),
            '0'..='9' => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => {
                self.skip(|c| c == '_' || c.is_ascii_alphanumeric());
                let word = &self.text[start..self.at];
                let keyword = KEYWORDS.iter().find(|k| **k == word);
                self.push(start, keyword.map_or_else(|| Tok::Name(word.into()), |k| Tok::Keyword(k)));
            }
            _ => match PUNCT.iter().find(|p| self.rest().starts_with(**p)) {
                Some(p) => {
                    self.at += p.len();
                    self.push(start, Tok::Punct(p));
                }
                _ => {
                    self.at += c.len_utf8();
                    self.error(start, format!("unexpected character `{c}`"), "no part of the language");
                }
            },
        }
        true
    }

    fn comment(&mut self) {
        let start = self.at;
        let mut open = 0usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("(*") {
                open += 1;
                self.at += 2;
            } else if rest.starts_with("*)") {
                open -= 1;
                self.at += 2;
            } else {
                match rest.chars().next() {
                    Some(c) => self.at += c.len_utf8(),
                    None => {
                        self.at = start + 2;
                        self.error(start, "this comment has no end", "`*)` is missing");
                        self.at = self.text.len();
                        return;
                    }
                }
            }
            if open == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip(|c| c != '"' && c != '\n');
        let content: Arc<str> = self.text[start + 1..self.at].into();
        if self.rest().starts_with('"') {
            self.at += 1;
        } else {
            self.error(start, "this string has no end on its line", "`\"` is missing");
        }
        self.push(start, Tok::String(content));
    }

    fn number(&mut self) {
        let start = self.at;
        self.skip(|c| c == '_' || c.is_ascii_alphanumeric());
        let text = &self.text[start..self.at];
        let (digits, radix) = match text.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&text[2..], 16),
            [b'0', b'o' | b'O', ..] => (&text[2..], 8),
            [b'0', b'b' | b'B', ..] => (&text[2..], 2),
            _ => (text, 10),
        };
        let digits = digits.replace('_', "");
        let (bits, width) = Bits::parse(&digits, radix).unwrap_or_else(|| {
            let message = match digits.chars().all(|c| c.is_digit(radix)) && !digits.is_empty() {
                true => format!("a number has at most {MAX_WIDTH} bits"),
                false => "this is no number".to_string(),
            };
            self.error(start, message, "");
            (Bits::zero(1), 1)
        });
        self.push(start, Tok::Bits(bits, width));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toks(text: &str) -> (Vec<String>, usize) {
        let mut diags = Diagnostics::new();
        let tokens = lex(FileId(0), text, &mut diags);
        (tokens.iter().map(|t| t.tok.describe()).collect(), diags.error_count())
    }

    #[test]
    fn comments_nest_and_operators_are_long() {
        let (tokens, errors) = toks("a:=b~=0x1F(* x (* y *) *)=>-- rest\n\"t\" DO 12");
        let expected = [
            "`a`",
            "`:=`",
            "`b`",
            "`~=`",
            "the number 31",
            "`=>`",
            "the string \"t\"",
            "`DO`",
            "the number 12",
            "the end of the file",
        ];
        assert_eq!((tokens, errors), (expected.map(String::from).to_vec(), 0));
    }

    #[test]
    fn what_is_no_token_is_an_error() {
        assert_eq!(toks("a $ b").1, 1);
        assert_eq!(toks("12z").1, 1);
        assert_eq!(toks("\"a").1, 1);
        assert_eq!(toks("(* (* *)").1, 1);
        assert_eq!(toks("é").1, 1);
        assert_eq!(toks(&"9".repeat(5000)).1, 1);
    }
}
