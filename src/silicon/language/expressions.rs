//! Reads expressions.
//!
//! From the loosest operator to the tightest: `EQV`; `OR`; `AND`; `NOT`; comparisons; `+ -`; `*`;
//! `'`; `-` before a value; `#`; `.attribute`, `[bits]`. Operators of one level associate to the
//! left. `IF` and `CASE` reach as far to the right as they can.

use super::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use super::cursor::Parser;
use crate::circuit::graph::Comparison;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_base::tokens::{Parse, Tok};

/// Operators between two values, from the loosest level to the tightest.
const LEVELS: [&[(&str, BinaryOp)]; 7] = [
    &[("EQV", BinaryOp::Eqv)],
    &[("OR", BinaryOp::Or)],
    &[("AND", BinaryOp::And)],
    &[
        ("=", BinaryOp::Compare(Comparison::Equal)),
        ("~=", BinaryOp::Compare(Comparison::NotEqual)),
        ("<", BinaryOp::Compare(Comparison::Less)),
        ("<=", BinaryOp::Compare(Comparison::LessEqual)),
        (">", BinaryOp::Compare(Comparison::Greater)),
        (">=", BinaryOp::Compare(Comparison::GreaterEqual)),
    ],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Sub)],
    &[("*", BinaryOp::Mul)],
    &[("'", BinaryOp::Concat)],
];

/// The level of comparisons, before which `NOT` may stand.
const COMPARISONS: usize = 3;

impl Parser<'_> {
    /// Reads an expression.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.nested(|cursor| cursor.level(0))
    }

    /// Reads operators of `loosest` and tighter levels.
    fn level(&mut self, loosest: usize) -> Parse<Expr> {
        let mut left = match self.is("NOT") {
            true => self.complement(loosest)?,
            false => self.prefixed()?,
        };
        let depth = self.depth;
        while let Some((level, op)) = self.operator().filter(|(level, _)| *level >= loosest) {
            // The tree to the left of an operator lies one level deeper.
            self.nested(|_| Ok(()))?;
            self.depth += 1;
            self.bump();
            let right = self.level(level + 1)?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        self.depth = depth;
        Ok(left)
    }

    /// The operator that follows, with its level.
    fn operator(&self) -> Option<(usize, BinaryOp)> {
        let find = |(level, operators): (usize, &&[(&str, BinaryOp)])| {
            operators.iter().find(|(text, _)| self.is(text)).map(|(_, op)| (level, *op))
        };
        LEVELS.iter().enumerate().find_map(find)
    }

    /// `NOT` with the comparison after it.
    fn complement(&mut self, loosest: usize) -> Parse<Expr> {
        let start = self.bump();
        if loosest > COMPARISONS {
            let d = Diagnostic::error("`NOT` stands after an operator that binds tighter");
            return self.fail(d.at(start, "not here").hint("put `NOT` and its value in parentheses"));
        }
        let value = self.nested(|cursor| cursor.level(COMPARISONS))?;
        let span = start.to(value.span);
        Ok(Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(value)), span })
    }

    /// A value with `-` or `+` before it.
    fn prefixed(&mut self) -> Parse<Expr> {
        let op = match self.tok() {
            Tok::Punct("-") => UnaryOp::Negate,
            Tok::Punct("+") => UnaryOp::Plus,
            _ => return self.sized(),
        };
        let start = self.bump();
        let value = self.nested(Self::prefixed)?;
        let span = start.to(value.span);
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(value)), span })
    }

    /// A value with `#size` after it.
    fn sized(&mut self) -> Parse<Expr> {
        let value = self.postfix()?;
        if !self.accept("#") {
            return Ok(value);
        }
        let size = self.postfix()?;
        let span = value.span.to(size.span);
        Ok(Expr { kind: ExprKind::Sized(Box::new(value), Box::new(size)), span })
    }

    /// A value with attributes and bits after it.
    fn postfix(&mut self) -> Parse<Expr> {
        let mut value = self.primary()?;
        let depth = self.depth;
        while self.is(".") || self.is("[") {
            self.nested(|_| Ok(()))?;
            self.depth += 1;
            let (start, inner) = (value.span, Box::new(value));
            let kind = if self.accept(".") {
                let name = self.ident("the name of an operation on a port")?;
                let arguments = if self.is("(") { self.arguments()? } else { Vec::new() };
                ExprKind::Attribute(inner, name, arguments)
            } else {
                self.bump();
                let high = Box::new(self.expression()?);
                let low = if self.accept(":") { Some(Box::new(self.expression()?)) } else { None };
                self.expect("]", "after the number of a bit")?;
                ExprKind::Slice(inner, high, low)
            };
            value = Expr { kind, span: start.to(self.previous()) };
        }
        self.depth = depth;
        Ok(value)
    }

    fn arguments(&mut self) -> Parse<Vec<Expr>> {
        self.expect("(", "before the arguments")?;
        if self.accept(")") {
            return Ok(Vec::new());
        }
        let arguments = self.expressions()?;
        self.expect(")", "after the arguments")?;
        Ok(arguments)
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.span();
        let kind = match self.tok() {
            Tok::Bits(bits, width) => {
                self.bump();
                ExprKind::Number(bits.clone(), *width)
            }
            Tok::Name(_) => {
                let name = self.ident("a name")?;
                if self.is("(") { ExprKind::Call(name, self.arguments()?) } else { ExprKind::Name(name.name) }
            }
            Tok::Punct("(") => {
                self.bump();
                let inner = self.expression()?;
                self.expect(")", "after the expression")?;
                return Ok(Expr { span: start.to(self.previous()), ..inner });
            }
            Tok::Keyword("IF") => self.if_expression()?,
            Tok::Keyword("CASE") => ExprKind::Case(Box::new(self.cases(Self::expression)?)),
            other => {
                let d = Diagnostic::error(format!("expected a value, found {}", other.describe()));
                return self.fail(d.at(start, "expected a value"));
            }
        };
        Ok(Expr { kind, span: start.to(self.previous()) })
    }

    fn if_expression(&mut self) -> Parse<ExprKind> {
        self.bump();
        let condition = Box::new(self.expression()?);
        self.expect("THEN", "after the condition")?;
        let then = Box::new(self.expression()?);
        let start: Span = self.span();
        let otherwise = if self.is("EF") {
            let kind = self.nested(Self::if_expression)?;
            Expr { kind, span: start.to(self.previous()) }
        } else {
            self.expect("ELSE", "after the value of `THEN`")?;
            self.expression()?
        };
        Ok(ExprKind::If(condition, then, Box::new(otherwise)))
    }
}
