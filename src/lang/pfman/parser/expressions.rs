//! Expressions, with the operators of figure 4.2 as tightly as they bind there.

use super::*;

impl Parser<'_> {
    /// Adds an expression to the tree; one that is too deep is an error.
    fn add(&mut self, kind: ExprKind, span: Span) -> Parse<ExprId> {
        let mut depth = 0;
        kind.for_each_child(|child| depth = depth.max(self.depths[child.0 as usize]));
        if depth >= MAX_NESTING {
            let message = format!("an expression nested more than {MAX_NESTING} levels deep");
            let d = Diagnostic::error(message).at(span, "too deep");
            return self.cursor.fail(d.hint("move inner parts to variables or functions"));
        }
        self.depths.push(depth + 1);
        self.ast.exprs.push(Expr { kind, span });
        Ok(ExprId(self.ast.exprs.len() as u32 - 1))
    }

    fn from(&self, start: Span) -> Span {
        start.to(self.cursor.previous())
    }

    /// Any expression: one or more between commas, of which the last is the value.
    pub(super) fn expr(&mut self) -> Parse<ExprId> {
        let mut first = self.assignment()?;
        while self.cursor.accept(",") {
            let next = self.assignment()?;
            let span = self.ast.expr(first).span.to(self.ast.expr(next).span);
            first = self.add(ExprKind::Sequence(first, next), span)?;
        }
        Ok(first)
    }

    /// An assignment or anything that binds more tightly.
    pub(super) fn assignment(&mut self) -> Parse<ExprId> {
        self.cursor.enter()?;
        let start = self.cursor.span();
        let mut e = self.conditional()?;
        if let Tok::Punct(sign) = *self.cursor.tok()
            && let Some((_, op)) = ASSIGNMENTS.iter().find(|a| a.0 == sign)
        {
            self.check_place(e, sign)?;
            self.cursor.bump();
            let value = self.assignment()?;
            e = self.add(ExprKind::Assign(*op, e, value), self.from(start))?;
        }
        self.cursor.leave();
        Ok(e)
    }

    /// A choice, or operators.
    fn conditional(&mut self) -> Parse<ExprId> {
        self.cursor.enter()?;
        let start = self.cursor.span();
        let mut e = self.binary(1)?;
        if self.cursor.accept("?") {
            let yes = self.expr()?;
            self.cursor.expect(":", "in `?:`")?;
            let no = self.conditional()?;
            e = self.add(ExprKind::Ternary(e, yes, no), self.from(start))?;
        }
        self.cursor.leave();
        Ok(e)
    }

    /// Refuses what cannot be assigned to.
    fn check_place(&mut self, e: ExprId, sign: &str) -> Parse<()> {
        let mut at = e;
        while let ExprKind::Index(array, _) = self.ast.expr(at).kind {
            at = array;
        }
        if matches!(self.ast.expr(at).kind, ExprKind::Name(_)) {
            return Ok(());
        }
        let d = Diagnostic::error(format!("`{sign}` changes a variable or an element of one"));
        self.cursor.fail(d.at(self.ast.expr(e).span, "not assignable"))
    }

    /// Operators that bind more tightly than comparisons and shifts, for places where `>` means
    /// something else.
    pub(super) fn sum(&mut self) -> Parse<ExprId> {
        self.binary(6)
    }

    fn operator(&self) -> Option<(BinaryOp, u8)> {
        let Tok::Punct(p) = *self.cursor.tok() else { return None };
        BinaryOp::ALL.iter().find(|op| op.1 == p).map(|op| (op.0, op.2))
    }

    /// Operators that bind at least as tightly as `least`, all of them left-associative.
    fn binary(&mut self, least: u8) -> Parse<ExprId> {
        let start = self.cursor.span();
        let mut left = self.cast()?;
        while let Some((op, binds)) = self.operator().filter(|(_, binds)| *binds >= least) {
            self.cursor.bump();
            let right = self.binary(binds + 1)?;
            left = self.add(ExprKind::Binary(op, left, right), self.from(start))?;
        }
        Ok(left)
    }

    /// `(type) x`, or a prefix operator, which binds more tightly.
    fn cast(&mut self) -> Parse<ExprId> {
        if !(self.cursor.is("(") && self.is_type_ahead(1)) {
            return self.unary();
        }
        self.cursor.enter()?;
        let start = self.cursor.bump();
        let spec = self.specification()?;
        self.cursor.expect(")", "after the type")?;
        let Some(ty) = spec.ty.filter(|ty| *ty != Type::Void) else {
            let d = Diagnostic::error("a cast names a type of numbers").at(self.from(start), "no such type");
            return self.cursor.fail(d);
        };
        let e = self.cast()?;
        self.cursor.leave();
        self.add(ExprKind::Cast(ty, e), self.from(start))
    }

    fn unary(&mut self) -> Parse<ExprId> {
        let start = self.cursor.span();
        let sign = match self.cursor.tok() {
            Tok::Punct(sign @ ("-" | "!" | "+" | "++" | "--")) => *sign,
            _ => return self.postfix(),
        };
        self.cursor.bump();
        self.cursor.enter()?;
        // C lets a cast stand after a sign.
        let e = self.cast()?;
        self.cursor.leave();
        let kind = match sign {
            "-" => ExprKind::Unary(UnaryOp::Neg, e),
            "!" => ExprKind::Unary(UnaryOp::Not, e),
            "+" => return Ok(e),
            _ => {
                self.check_place(e, sign)?;
                ExprKind::Step { place: e, up: sign == "++", before: true }
            }
        };
        self.add(kind, self.from(start))
    }

    fn postfix(&mut self) -> Parse<ExprId> {
        let start = self.cursor.span();
        let mut e = self.primary()?;
        loop {
            if self.cursor.accept("[") {
                let index = self.expr()?;
                self.cursor.expect("]", "after the index")?;
                e = self.add(ExprKind::Index(e, index), self.from(start))?;
            } else if self.cursor.is("++") || self.cursor.is("--") {
                let up = self.cursor.is("++");
                self.check_place(e, if up { "++" } else { "--" })?;
                self.cursor.bump();
                e = self.add(ExprKind::Step { place: e, up, before: false }, self.from(start))?;
            } else {
                return Ok(e);
            }
        }
    }

    fn primary(&mut self) -> Parse<ExprId> {
        let start = self.cursor.span();
        let kind = match self.cursor.tok().clone() {
            Tok::Int(x) => ExprKind::Int(x),
            Tok::Decimal(x) => ExprKind::Float(x),
            Tok::String(text) => ExprKind::String(text),
            Tok::Name(name) if matches!(self.cursor.tok_ahead(1), Tok::Punct("(")) => {
                self.cursor.bump();
                self.cursor.bump();
                let args = self.list(")")?;
                return self.add(ExprKind::Call(Ident { name, span: start }, args), self.from(start));
            }
            Tok::Name(name) => ExprKind::Name(name),
            Tok::Punct("(") => {
                self.cursor.bump();
                let e = self.expr()?;
                self.cursor.expect(")", "after the expression")?;
                return Ok(e);
            }
            Tok::Punct("{") => {
                self.cursor.bump();
                let list = self.list("}")?;
                let span = self.from(start);
                if list.is_empty() {
                    return self.cursor.fail(Diagnostic::error("an array without elements").at(span, "no elements"));
                }
                return self.add(ExprKind::Array(list), span);
            }
            other => {
                let d = Diagnostic::error(format!("expected an expression, found {}", other.describe()));
                return self.cursor.fail(d.at(start, "expected an expression"));
            }
        };
        self.cursor.bump();
        self.add(kind, start)
    }

    /// Expressions between commas, up to and including the bracket that closes.
    pub(super) fn list(&mut self, close: &str) -> Parse<Vec<ExprId>> {
        let mut list = Vec::new();
        while !self.cursor.accept(close) {
            if list.len() > MAX_ELEMENTS as usize {
                let d = Diagnostic::error(format!("a list of more than {MAX_ELEMENTS} expressions"));
                return self.cursor.fail(d.at(self.cursor.span(), "one too many"));
            }
            list.push(self.assignment()?);
            if !self.cursor.accept(",") && !self.cursor.is(close) {
                self.cursor.expect(close, "after the list")?;
            }
        }
        Ok(list)
    }
}
