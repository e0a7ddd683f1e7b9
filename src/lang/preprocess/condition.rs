//! The integer expressions of `#if` and `#elif`.

use shadewright_base::scan::{RawKind, RawToken};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;

/// Deepest nesting of an expression.
const MAX_DEPTH: usize = 64;

/// Replaces `defined NAME` and `defined (NAME)` by 1 or 0.
pub fn replace_defined(tokens: &[RawToken], known: impl Fn(&str) -> bool) -> Vec<RawToken> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(t) = tokens.get(at) {
        at += 1;
        if t.kind != RawKind::Word || &*t.text != "defined" {
            out.push(t.clone());
            continue;
        }
        let parenthesized = tokens.get(at).is_some_and(|t| t.is_punct("("));
        let name = tokens.get(at + parenthesized as usize).filter(|t| t.kind == RawKind::Word);
        let value = name.is_some_and(|n| known(&n.text));
        at += if parenthesized { 3 } else { 1 };
        out.push(RawToken { kind: RawKind::Number, text: if value { "1".into() } else { "0".into() }, ..t.clone() });
    }
    out
}

/// The value of an expression; names that are left count as 0. Integers are 64 bits wide and wrap.
pub fn evaluate(tokens: &[RawToken], place: Span) -> Result<i64, Diagnostic> {
    let mut parser = Parser { tokens, at: 0, place, depth: 0 };
    let value = parser.ternary()?;
    match parser.tokens.get(parser.at) {
        Some(t) => Err(Diagnostic::error("unexpected token after the condition").at(t.span, "unexpected")),
        None => Ok(value),
    }
}

struct Parser<'a> {
    tokens: &'a [RawToken],
    at: usize,
    place: Span,
    depth: usize,
}

/// Binary operators, weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Parser<'_> {
    fn accept(&mut self, text: &str) -> bool {
        let yes = self.tokens.get(self.at).is_some_and(|t| t.is_punct(text));
        self.at += yes as usize;
        yes
    }

    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.place, |t| t.span)
    }

    fn ternary(&mut self) -> Result<i64, Diagnostic> {
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error("the condition is nested too deeply").at(self.place, "in this directive"));
        }
        self.depth += 1;
        let condition = self.binary(0)?;
        let value = if self.accept("?") {
            let yes = self.ternary()?;
            self.expect(":")?;
            let no = self.ternary()?;
            if condition != 0 { yes } else { no }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        match self.accept(text) {
            true => Ok(()),
            false => Err(Diagnostic::error(format!("expected `{text}` in the condition")).at(self.here(), "here")),
        }
    }

    fn binary(&mut self, level: usize) -> Result<i64, Diagnostic> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(op) = operators.iter().find(|op| self.accept(op)) {
            let place = self.here();
            let right = self.binary(level + 1)?;
            left = apply(op, left, right)
                .ok_or_else(|| Diagnostic::error("division by zero in a condition").at(place, "this is zero"))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64, Diagnostic> {
        let mut operators = Vec::new();
        while let Some(op) = ["!", "-", "+", "~"].into_iter().find(|op| self.accept(op)) {
            operators.push(op);
        }
        let mut value = self.primary()?;
        while let Some(op) = operators.pop() {
            value = match op {
                "!" => (value == 0) as i64,
                "-" => value.wrapping_neg(),
                "~" => !value,
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<i64, Diagnostic> {
        if self.accept("(") {
            let value = self.ternary()?;
            self.expect(")")?;
            return Ok(value);
        }
        let place = self.here();
        let token = self.tokens.get(self.at);
        self.at += 1;
        match token.map(|t| (t.kind, &*t.text)) {
            Some((RawKind::Word, _)) => Ok(0),
            Some((RawKind::Number, text)) => match text.trim_end_matches(['f', 'F']).parse::<f64>() {
                Ok(x) => Ok(x as i64),
                Err(_) => Err(Diagnostic::error("invalid integer in a condition").at(place, "here")),
            },
            _ => Err(Diagnostic::error("expected a value in the condition").at(place, "expected here")),
        }
    }
}

fn apply(op: &str, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        "||" => (a != 0 || b != 0) as i64,
        "&&" => (a != 0 && b != 0) as i64,
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => (a == b) as i64,
        "!=" => (a != b) as i64,
        "<" => (a < b) as i64,
        ">" => (a > b) as i64,
        "<=" => (a <= b) as i64,
        ">=" => (a >= b) as i64,
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => (b != 0).then(|| a.wrapping_div(b))?,
        _ => (b != 0).then(|| a.wrapping_rem(b))?,
    })
}
