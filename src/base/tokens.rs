//! Tokens with values, and the cursor that parsers of C-like languages share.
//!
//! Each language's lexer makes the tokens and has its keywords and operators; the cursor looks
//! ahead, reports what was expected, limits nesting, and finds where to continue after an error. It
//! knows no grammar.

use crate::bits::Bits;
use crate::scan::{RawKind, RawToken};
use crate::text::diagnostics::{Diagnostic, Diagnostics};
use crate::text::source::{FileId, Span};
use std::sync::Arc;

/// How deep expressions and statements may nest.
pub const MAX_NESTING: usize = 256;

/// The most errors that are reported of a file.
const MAX_ERRORS: usize = 100;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    /// A name.
    Name(Arc<str>),
    /// A reserved word.
    Keyword(&'static str),
    /// A number, or, in a language that distinguishes them, a floating-point one.
    Number(f32),
    /// A number with a point or an exponent, in a language that has more than single precision.
    Decimal(f64),
    /// A whole number, as 32 bits.
    Int(u32),
    /// A whole number of any size, and the bits that it needs without a sign, at least one; in a
    /// language of such numbers.
    Bits(Bits, u32),
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
            Tok::Decimal(x) => format!("the number {x}"),
            Tok::Int(x) => format!("the number {x}"),
            Tok::Bits(bits, _) => format!("the number {}", bits.unsigned()),
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
    /// The place in the source.
    pub span: Span,
}

/// Converts preprocessed raw tokens of `file`. The last token is [`Tok::End`], placed at the end of
/// the last one. `joined` has operators that are written as two that follow each other at once.
pub fn convert(
    file: FileId,
    raw: &[RawToken],
    joined: &[(&str, &str, &'static str)],
    one: impl Fn(&RawToken) -> Tok,
) -> Vec<Token> {
    let end = raw.last().map_or(Span::new(file, 0, 0), |t| Span { start: t.span.end.max(1) - 1, ..t.span });
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = raw.iter().filter(|t| t.kind != RawKind::Newline).peekable();
    while let Some(t) = rest.next() {
        let both = rest.peek().filter(|next| !next.spaced && next.span.start == t.span.end).and_then(|next| {
            let is = |j: &&(&str, &str, &'static str)| t.is_punct(j.0) && next.is_punct(j.1);
            joined.iter().find(is).map(|j| (j.2, t.span.to(next.span)))
        });
        let (tok, span) = match both {
            Some((op, span)) => (Tok::Punct(op), span),
            None => (one(t), t.span),
        };
        if both.is_some() {
            rest.next();
        }
        tokens.push(Token { tok, span });
    }
    tokens.push(Token { tok: Tok::End, span: end });
    tokens
}

/// A name with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: Arc<str>,
    /// The place in the source.
    pub span: Span,
}

/// An error was reported; the caller looks for a place to continue.
#[derive(Clone, Copy, Debug)]
pub struct Stop;

/// The result of a parser.
pub type Parse<T> = Result<T, Stop>;

/// Where a statement begins.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: usize,
    depth: usize,
}

/// A place among tokens, the last of which is [`Tok::End`].
pub struct Cursor<'a> {
    /// All tokens.
    pub tokens: &'a [Token],
    /// The number of the current one.
    pub at: usize,
    /// How deep the current one lies.
    pub depth: usize,
    /// True if nesting was too deep: continuing would only repeat that.
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
        self.tok_ahead(0)
    }

    /// The token `n` places further on.
    pub fn tok_ahead(&self, n: usize) -> &'a Tok {
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

    /// True if the current token is this operator, bracket or reserved word.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.tok(), Tok::Punct(p) | Tok::Keyword(p) if *p == text)
    }

    /// True if the text is over.
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
    ///
    /// # Errors
    /// When it is not, which is reported.
    pub fn expect(&mut self, text: &str, after: &str) -> Parse<Span> {
        if self.is(text) {
            return Ok(self.bump());
        }
        let d = Diagnostic::error(format!("expected `{text}` {after}, found {}", self.tok().describe()));
        // A forgotten `;` belongs to the end of the line before.
        let previous = self.previous();
        let d = match text {
            ";" => d.at(Span { start: previous.end, ..previous }, "`;` is missing here"),
            _ => d.at(self.span(), format!("expected `{text}`")),
        };
        self.fail(d)
    }

    /// Goes past a name.
    ///
    /// # Errors
    /// When there is none, which is reported.
    pub fn ident(&mut self, what: &str) -> Parse<Ident> {
        if let Tok::Name(name) = self.tok() {
            return Ok(Ident { name: name.clone(), span: self.bump() });
        }
        let d = Diagnostic::error(format!("expected {what}, found {}", self.tok().describe()));
        let d = d.at(self.span(), format!("expected {what}"));
        let d = match self.tok() {
            Tok::Keyword(k) => d.hint(format!("`{k}` is a reserved word")),
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
    ///
    /// # Errors
    /// Always.
    pub fn fail<T>(&mut self, d: Diagnostic) -> Parse<T> {
        self.report(d);
        Err(Stop)
    }

    /// Goes one level deeper; [`Cursor::leave`] comes back.
    ///
    /// # Errors
    /// Beyond [`MAX_NESTING`], which is reported, and nothing else is from then on.
    pub fn enter(&mut self) -> Parse<()> {
        self.depth += 1;
        if self.depth <= MAX_NESTING {
            return Ok(());
        }
        let d = Diagnostic::error(format!("nested more than {MAX_NESTING} levels deep"))
            .at(self.span(), "one level too many")
            .hint("move inner parts to variables, functions or macros");
        self.report(d);
        self.fatal = true;
        self.at = self.tokens.len() - 1;
        Err(Stop)
    }

    /// Comes back one level.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Where a statement begins, for [`Cursor::resume`].
    pub fn mark(&self) -> Mark {
        Mark { at: self.at, depth: self.depth }
    }

    /// Continues after the statement that began at a mark and has an error: at least a token
    /// further.
    pub fn resume(&mut self, mark: Mark) {
        self.depth = mark.depth;
        self.recover();
        if self.at == mark.at {
            self.bump();
        }
    }

    /// Skips past the next `;` or to the next `}` of this block; blocks in between are skipped
    /// whole.
    pub fn recover(&mut self) {
        let mut open = 0usize;
        while !self.at_end() {
            match self.tok() {
                Tok::Punct(";") if open == 0 => {
                    self.bump();
                    return;
                }
                Tok::Punct("{") => open += 1,
                Tok::Punct("}") if open == 0 => return,
                Tok::Punct("}") => {
                    open -= 1;
                    if open == 0 {
                        self.bump();
                        return;
                    }
                }
                _ => {}
            }
            self.bump();
        }
    }
}
