//! A place among tokens: what parsers of statements and expressions share.

use super::ast::Ident;
use super::lexer::{Tok, Token};
use crate::text::diagnostics::{Diagnostic, Diagnostics};
use crate::text::source::Span;

/// How deep expressions and statements may nest.
pub const MAX_NESTING: usize = 200;

/// The most errors that are reported of a file.
const MAX_ERRORS: usize = 100;

/// An error was reported; the caller looks for a place to continue.
#[derive(Clone, Copy, Debug)]
pub struct Stop;

/// What a parser gives.
pub type Parse<T> = Result<T, Stop>;

/// A place among tokens, the last of which is [`Tok::End`].
pub struct Cursor<'a> {
    tokens: &'a [Token],
    /// The number of the current one.
    pub at: usize,
    /// How deep the current one lies.
    pub depth: usize,
    /// Whether nesting was too deep: more messages would only repeat that.
    fatal: bool,
    diags: &'a mut Diagnostics,
}

impl<'a> Cursor<'a> {
    /// At the first token. Messages go to `diags`.
    pub fn new(tokens: &'a [Token], diags: &'a mut Diagnostics) -> Self {
        Self { tokens, at: 0, depth: 0, fatal: false, diags }
    }

    fn token(&self, i: usize) -> &'a Token {
        &self.tokens[i.min(self.tokens.len() - 1)]
    }

    /// The current token.
    pub fn tok(&self) -> &'a Tok {
        &self.token(self.at).tok
    }

    /// The token `n` places further on.
    pub fn ahead(&self, n: usize) -> &'a Tok {
        &self.token(self.at + n).tok
    }

    /// The place of the current token.
    pub fn span(&self) -> Span {
        self.token(self.at).span
    }

    /// The place of the token before.
    pub fn previous(&self) -> Span {
        self.token(self.at.saturating_sub(1)).span
    }

    /// Goes to the next token; gives the place of the one that was current.
    pub fn bump(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    /// Whether the current token is this operator, bracket or reserved word.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.tok(), Tok::Punct(p) | Tok::Keyword(p) if *p == text)
    }

    /// Whether the text is over.
    pub fn at_end(&self) -> bool {
        matches!(self.tok(), Tok::End)
    }

    /// Goes past the current token if it is that.
    pub fn accept(&mut self, text: &str) -> bool {
        let yes = self.is(text);
        if yes {
            self.bump();
        }
        yes
    }

    /// Goes past the current token, which must be that; `after` says where.
    pub fn expect(&mut self, text: &str, after: &str) -> Parse<Span> {
        if self.is(text) {
            return Ok(self.bump());
        }
        let d = Diagnostic::error(format!("expected `{text}` {after}, found {}", self.tok().describe()));
        let d = d.at(self.span(), format!("expected `{text}`"));
        self.fail(d)
    }

    /// Goes past a name.
    pub fn ident(&mut self, what: &str) -> Parse<Ident> {
        if let Tok::Name(name) = self.tok() {
            return Ok(Ident { name: name.clone(), span: self.bump() });
        }
        let d = Diagnostic::error(format!("expected {what}, found {}", self.tok().describe()));
        let d = d.at(self.span(), format!("expected {what}"));
        let d = match self.tok() {
            Tok::Keyword(word) => d.hint(format!("`{word}` is a reserved word")),
            _ => d,
        };
        self.fail(d)
    }

    /// Reports something.
    pub fn report(&mut self, d: Diagnostic) {
        if !self.fatal && self.diags.error_count() < MAX_ERRORS {
            self.diags.push(d);
        }
    }

    /// Reports something that ends what is being read.
    pub fn fail<T>(&mut self, d: Diagnostic) -> Parse<T> {
        self.report(d);
        Err(Stop)
    }

    /// Reads something one level deeper.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_NESTING {
            let d = Diagnostic::error(format!("nested more than {MAX_NESTING} levels deep"));
            self.report(d.at(self.span(), "one level too many").hint("move inner parts to variables or macros"));
            self.fatal = true;
            self.at = self.tokens.len() - 1;
            return Err(Stop);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Continues after an error in a statement that began at token `start`: at the next `;` of this
    /// block, or at its end. Blocks in between are skipped whole.
    pub fn recover(&mut self, start: usize) {
        if self.at == start && !self.is("}") && !self.is("END") {
            self.bump();
        }
        let mut open = 0usize;
        while !self.at_end() {
            match self.tok() {
                Tok::Punct(";") if open == 0 => return,
                Tok::Punct("{") | Tok::Keyword("BEGIN") => open += 1,
                Tok::Punct("}") | Tok::Keyword("END") if open == 0 => return,
                Tok::Punct("}") | Tok::Keyword("END") => open -= 1,
                _ => {}
            }
            self.bump();
        }
    }
}
