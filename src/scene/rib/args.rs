//! The arguments of one request: typed reading from the lexer, with messages that say what was
//! wanted.

use super::lexer::{Lexer, Token, is_not_finite, not_finite, unescape};
use super::params::Values;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;

/// Most numbers in one array.
const MAX_ARRAY: usize = 1 << 28;

/// Most strings in one array: each takes some 50 bytes.
const MAX_STRINGS: usize = 1 << 23;

/// Most parameters of one request.
const MAX_PARAMETERS: usize = 1 << 16;

/// Most names that a hint lists.
const MAX_NAMES: usize = 20;

/// The hint that lists the first of the names that there are, in their order; `otherwise` where
/// there is none.
pub fn there_are<'n>(names: impl ExactSizeIterator<Item = &'n String>, otherwise: &str) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let known: Vec<&str> = names.take(MAX_NAMES).map(String::as_str).collect();
    match (known.as_slice(), more) {
        ([], _) => otherwise.to_string(),
        (known, 0) => format!("there are: {}", known.join(", ")),
        (known, more) => format!("there are: {}, and {more} more", known.join(", ")),
    }
}

/// Reads the arguments of a request. Every error names the request and says how it is written.
pub struct Args<'l, 'a> {
    lexer: &'l mut Lexer<'a>,
    /// The request.
    pub request: &'a str,
    /// Where its name stands.
    pub span: Span,
    usage: &'static str,
    /// Parameters so far.
    parameters: usize,
    /// True if the last values read end within an array, which a wrong value broke off.
    is_in_array: bool,
}

impl<'l, 'a> Args<'l, 'a> {
    /// The arguments that follow a request's name.
    pub fn new(lexer: &'l mut Lexer<'a>, request: &'a str, span: Span, usage: &'static str) -> Self {
        Self { lexer, request, span, usage, parameters: 0, is_in_array: false }
    }

    /// From the request's name to the last token taken.
    pub fn whole_span(&self) -> Span {
        self.span.to(self.lexer.last_span())
    }

    /// An error about the request as a whole.
    pub fn error(&self, message: impl AsRef<str>) -> Diagnostic {
        Diagnostic::error(format!("{}: {}", self.request, message.as_ref())).at(self.whole_span(), "in this request")
    }

    /// Names the request in an error that came from below.
    fn name(&self, mut d: Diagnostic) -> Diagnostic {
        d.message = format!("{}: {}", self.request, d.message);
        d
    }

    fn wanted(&self, what: &str, found: Token<'_>, at: Span) -> Diagnostic {
        if let Token::Request(word) = found
            && is_not_finite(word)
        {
            return self.name(not_finite(word, at));
        }
        let name = self.request;
        Diagnostic::error(format!("{name}: expected {what}, found {}", found.describe()))
            .at(at, format!("expected {what}"))
            .also(self.span, "in this request")
            .hint(format!("usage: {}", self.usage))
    }

    fn peek(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        self.lexer.peek().map_err(|d| self.name(d))
    }

    fn take(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        self.lexer.next_token().map_err(|d| self.name(d))
    }

    /// A number; `what` names it in messages.
    pub fn number(&mut self, what: &str) -> Result<f32, Diagnostic> {
        self.single(|args| match args.peek()? {
            (Token::Number(n), _) => {
                args.take()?;
                Ok(n as f32)
            }
            (found, at) => Err(args.wanted(what, found, at)),
        })
    }

    /// A whole number.
    pub fn integer(&mut self, what: &str) -> Result<i32, Diagnostic> {
        self.single(|args| match args.peek()? {
            (Token::Number(n), at) => {
                args.take()?;
                args.whole(n, at)
            }
            (found, at) => Err(args.wanted(what, found, at)),
        })
    }

    /// A value, which may stand in brackets of its own, as exporters write it.
    fn single<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
        let (first, start) = self.peek()?;
        if first != Token::Open {
            return read(self);
        }
        self.take()?;
        let value = read(self)?;
        match self.peek()? {
            (Token::Close, _) => {
                self.take()?;
                Ok(value)
            }
            (found, at) => Err(self.wanted("`]`", found, at).also(start, "the array starts here")),
        }
    }

    fn whole(&self, n: f64, at: Span) -> Result<i32, Diagnostic> {
        if n.fract() == 0.0 && n.abs() <= f64::from(i32::MAX) {
            return Ok(n as i32);
        }
        let why = if n.fract() == 0.0 { "too large for an integer" } else { "not an integer" };
        Err(Diagnostic::error(format!("{}: {n} is {why}", self.request)).at(at, "expected an integer"))
    }

    /// A string.
    pub fn string(&mut self, what: &str) -> Result<String, Diagnostic> {
        self.single(|args| match args.peek()? {
            (Token::Str(s), _) => {
                args.take()?;
                Ok(unescape(s).into_owned())
            }
            (found, at) => Err(args.wanted(what, found, at)),
        })
    }

    /// True if a string comes next.
    pub fn next_is_string(&mut self) -> Result<bool, Diagnostic> {
        Ok(matches!(self.peek()?.0, Token::Str(_)))
    }

    /// True if an array in brackets comes next.
    pub fn next_is_array(&mut self) -> Result<bool, Diagnostic> {
        Ok(self.peek()?.0 == Token::Open)
    }

    /// A number or a string, as light handles are.
    pub fn handle(&mut self, what: &str) -> Result<String, Diagnostic> {
        self.single(|args| match args.peek()? {
            (Token::Str(_), _) => args.string(what),
            (Token::Number(_), _) => Ok(args.integer(what)?.to_string()),
            (found, at) => Err(args.wanted(what, found, at)),
        })
    }

    /// `N` numbers, in brackets or not.
    pub fn numbers<const N: usize>(&mut self, what: &str) -> Result<[f32; N], Diagnostic> {
        let mut out = [0.0; N];
        if self.peek()?.0 == Token::Open {
            let (values, at) = self.float_values()?;
            out = values.as_slice().try_into().map_err(|_| {
                Diagnostic::error(format!("{}: expected {what}, found {} numbers", self.request, values.len()))
                    .at(at, format!("expected {N} numbers"))
                    .hint(format!("usage: {}", self.usage))
            })?;
        } else {
            for slot in &mut out {
                *slot = self.number(what)?;
            }
        }
        Ok(out)
    }

    /// `count` numbers, in brackets or not.
    pub fn counted_numbers(&mut self, count: usize, what: &str) -> Result<Vec<f32>, Diagnostic> {
        if self.peek()?.0 != Token::Open {
            return (0..count).map(|_| self.number(what)).collect();
        }
        let (values, at) = self.float_values()?;
        if values.len() == count {
            return Ok(values);
        }
        Err(Diagnostic::error(format!("{}: expected {what} of {count} numbers, found {}", self.request, values.len()))
            .at(at, format!("expected {count} numbers")))
    }

    /// True if a number comes next, in brackets or not.
    pub fn has_number(&mut self) -> bool {
        matches!(self.peek(), Ok((Token::Number(_) | Token::Open, _)))
    }

    /// Takes the next token, whatever it is.
    pub fn token(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        self.take()
    }

    /// Looks at the next token, whatever it is.
    pub fn next_token(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        self.peek()
    }

    /// Gives tokens to whoever reads on, before the rest of the text.
    pub fn replay(&mut self, tokens: Vec<(Token<'a>, Span)>) {
        self.lexer.replay(tokens);
    }

    /// The name of the next parameter; `None` when the next request or the end follows.
    pub fn parameter_name(&mut self) -> Result<Option<(String, Span)>, Diagnostic> {
        match self.peek()? {
            (Token::Str(_), _) if self.parameters >= MAX_PARAMETERS => {
                Err(self.error(format!("more than {MAX_PARAMETERS} parameters")))
            }
            (Token::Str(s), at) => {
                self.take()?;
                self.parameters += 1;
                Ok(Some((unescape(s).into_owned(), at)))
            }
            (Token::Request(word), at) if is_not_finite(word) => Err(self.name(not_finite(word, at))),
            (Token::Request(_) | Token::End, _) => Ok(None),
            (found, at) => Err(self.wanted("a parameter name or the next request", found, at)),
        }
    }

    /// Numbers in brackets, or a single one.
    pub fn float_values(&mut self) -> Result<(Vec<f32>, Span), Diagnostic> {
        self.values("a number", MAX_ARRAY, |args, token, at| match token {
            Token::Number(n) => Ok(n as f32),
            found => Err(args.wanted("a number", found, at)),
        })
    }

    /// Whole numbers in brackets, or a single one.
    pub fn integer_values(&mut self) -> Result<(Vec<i32>, Span), Diagnostic> {
        self.values("an integer", MAX_ARRAY, |args, token, at| match token {
            Token::Number(n) => args.whole(n, at),
            found => Err(args.wanted("an integer", found, at)),
        })
    }

    /// Strings in brackets, or a single one.
    pub fn string_values(&mut self) -> Result<(Vec<String>, Span), Diagnostic> {
        self.values("a string", MAX_STRINGS, |args, token, at| match token {
            Token::Str(s) => Ok(unescape(s).into_owned()),
            found => Err(args.wanted("a string", found, at)),
        })
    }

    /// Words and numbers in brackets, or a single one, as texts.
    pub fn word_values(&mut self) -> Result<(Vec<String>, Span), Diagnostic> {
        self.values("a number or a string", MAX_STRINGS, |args, token, at| match token {
            Token::Number(n) => Ok(n.to_string()),
            Token::Str(s) => Ok(unescape(s).into_owned()),
            found => Err(args.wanted("a number or a string", found, at)),
        })
    }

    /// Numbers or strings in brackets, or a single one. Numbers among strings become strings.
    pub fn untyped_values(&mut self) -> Result<(Values, Span), Diagnostic> {
        let (is_array, span) = (self.next_is_array()?, self.span);
        let (mut numbers, mut strings) = (Vec::new(), Vec::new());
        let (_, span) = if is_array || !matches!(self.peek()?.0, Token::Request(_) | Token::End) {
            self.values("a number or a string", MAX_ARRAY, |args, token, at| match token {
                Token::Number(n) if strings.is_empty() => {
                    numbers.push(n);
                    Ok(())
                }
                Token::Number(_) | Token::Str(_) if numbers.len() + strings.len() >= MAX_STRINGS => {
                    Err(args.error(format!("an array of more than {MAX_STRINGS} strings")))
                }
                Token::Number(n) => {
                    strings.push(n.to_string());
                    Ok(())
                }
                Token::Str(s) => {
                    strings.extend(numbers.drain(..).map(|n| n.to_string()));
                    strings.push(unescape(s).into_owned());
                    Ok(())
                }
                found => Err(args.wanted("a number or a string", found, at)),
            })?
        } else {
            (Vec::new(), span)
        };
        Ok(match strings.is_empty() {
            true => (Values::Floats(numbers.into_iter().map(|n: f64| n as f32).collect()), span),
            false => (Values::Strings(strings), span),
        })
    }

    /// Takes the rest of the values of a parameter one of which was wrong. Gives whether the end of
    /// the values could be found.
    pub fn skip_values(&mut self) -> Result<bool, Diagnostic> {
        // A string where a number is expected is the next parameter's name, unless an array is open.
        let mut depth = usize::from(self.is_in_array);
        loop {
            match self.peek()?.0 {
                Token::Request(_) | Token::End => return Ok(depth == 0),
                Token::Close if depth <= 1 => {
                    self.take()?;
                    self.is_in_array = false;
                    return Ok(depth == 1);
                }
                Token::Close => depth -= 1,
                Token::Open => depth += 1,
                Token::Str(_) if depth == 0 => return Ok(true),
                Token::Number(_) | Token::Str(_) => {}
            }
            self.take()?;
        }
    }

    fn values<T>(
        &mut self,
        what: &str,
        most: usize,
        mut convert: impl FnMut(&Self, Token<'a>, Span) -> Result<T, Diagnostic>,
    ) -> Result<(Vec<T>, Span), Diagnostic> {
        let (first, start) = self.peek()?;
        if first != Token::Open {
            let value = convert(self, first, start)?;
            self.take()?;
            return Ok((vec![value], start));
        }
        self.take()?;
        self.is_in_array = true;
        let mut out = Vec::new();
        loop {
            match self.peek()? {
                (Token::Close, end) => {
                    self.take()?;
                    self.is_in_array = false;
                    return Ok((out, start.to(end)));
                }
                (found @ (Token::Request(_) | Token::End), at) => {
                    let mut d = self.wanted(&format!("{what} or `]`"), found, at);
                    d = d.also(start, "the array starts here");
                    return Err(d);
                }
                (token, at) => {
                    if out.len() >= most {
                        return Err(self.error(format!("an array of more than {most} values")));
                    }
                    out.push(convert(self, token, at)?);
                    self.take()?;
                }
            }
        }
    }

    /// Takes everything up to the next request.
    pub fn skip(&mut self) -> Result<(), Diagnostic> {
        while !matches!(self.peek()?.0, Token::Request(_) | Token::End) {
            self.take()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;

    /// The error of reading values in some way.
    fn error<T>(text: &str, read: impl FnOnce(&mut Args<'_, '_>) -> Result<T, Diagnostic>) -> String {
        let mut lexer = Lexer::new(FileId(0), text, 0..text.len());
        let mut args = Args::new(&mut lexer, "Option", Span::default(), "Option name parameters");
        read(&mut args).err().map_or_else(String::new, |d| d.message)
    }

    #[test]
    fn an_array_has_at_most_8388608_strings() {
        let mixed = format!("[{}\"x\"]", "0 ".repeat(8_388_608));
        let found = error(&mixed, |args| args.untyped_values());
        assert_eq!(found, "Option: an array of more than 8388608 strings");
    }

    #[test]
    fn an_array_has_at_most_as_many_values_as_it_may() {
        let read = |text| error(text, |args| args.values("a number", 3, |_, _, _| Ok(())));
        assert_eq!(read("[1 2 3]"), "");
        assert_eq!(read("[1 2 3 4]"), "Option: an array of more than 3 values");
    }
}
