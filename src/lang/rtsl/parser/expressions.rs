//! Expressions, as in GLSL 1.20, §5.

use super::*;

/// The signs of assignments, each with its operator.
const ASSIGNMENTS: [(&str, Option<BinaryOp>); 11] = [
    ("=", None),
    ("+=", Some(BinaryOp::Add)),
    ("-=", Some(BinaryOp::Sub)),
    ("*=", Some(BinaryOp::Mul)),
    ("/=", Some(BinaryOp::Div)),
    ("%=", Some(BinaryOp::Rem)),
    ("<<=", Some(BinaryOp::Shl)),
    (">>=", Some(BinaryOp::Shr)),
    ("&=", Some(BinaryOp::BitAnd)),
    ("|=", Some(BinaryOp::BitOr)),
    ("^=", Some(BinaryOp::BitXor)),
];

impl Parser<'_> {
    fn add(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.ast.exprs.push(Expr { kind, span });
        ExprId(self.ast.exprs.len() as u32 - 1)
    }

    /// Any expression, with commas between several.
    pub(super) fn expr(&mut self) -> Parse<ExprId> {
        let start = self.cursor.span();
        let mut e = self.assignment()?;
        while self.cursor.accept(",") {
            let next = self.assignment()?;
            e = self.add(ExprKind::Sequence(e, next), start.to(self.cursor.previous()));
        }
        Ok(e)
    }

    /// An expression without commas.
    pub(super) fn assignment(&mut self) -> Parse<ExprId> {
        self.cursor.enter()?;
        let start = self.cursor.span();
        let mut e = self.binary(1)?;
        if self.cursor.accept("?") {
            let yes = self.expr()?;
            self.cursor.expect(":", "in `?:`")?;
            let no = self.assignment()?;
            e = self.add(ExprKind::Ternary(e, yes, no), start.to(self.cursor.previous()));
        } else if let Tok::Punct(sign) = *self.cursor.tok()
            && let Some(&(_, op)) = ASSIGNMENTS.iter().find(|a| a.0 == sign)
        {
            self.cursor.bump();
            if !self.is_place(e) {
                let d = Diagnostic::error(format!("the left side of `{sign}` must be a variable or a part of one"));
                return self.cursor.fail(d.at(self.ast.expr(e).span, "not assignable"));
            }
            let value = self.assignment()?;
            e = self.add(ExprKind::Assign(op, e, value), start.to(self.cursor.previous()));
        }
        self.cursor.leave();
        Ok(e)
    }

    /// True if an expression is a variable, or an element, a member or components of one.
    fn is_place(&self, mut e: ExprId) -> bool {
        loop {
            match self.ast.expr(e).kind {
                ExprKind::Name(_) => return true,
                ExprKind::Index(of, _) | ExprKind::Member(of, _) => e = of,
                ExprKind::This => return true,
                _ => return false,
            }
        }
    }

    /// Operators that bind at least as tightly as `least`, all of them left-associative.
    fn binary(&mut self, least: u8) -> Parse<ExprId> {
        let mut left = self.unary()?;
        loop {
            let Tok::Punct(sign) = *self.cursor.tok() else { return Ok(left) };
            let Some(&(op, _, tightness)) = BinaryOp::ALL.iter().find(|o| o.1 == sign && o.2 >= least) else {
                return Ok(left);
            };
            self.cursor.bump();
            let right = self.binary(tightness + 1)?;
            let span = self.ast.expr(left).span.to(self.ast.expr(right).span);
            left = self.add(ExprKind::Binary(op, left, right), span);
        }
    }

    fn unary(&mut self) -> Parse<ExprId> {
        let start = self.cursor.span();
        let Tok::Punct(sign @ ("-" | "+" | "!" | "~" | "++" | "--")) = *self.cursor.tok() else {
            return self.postfix();
        };
        self.cursor.bump();
        self.cursor.enter()?;
        let e = self.unary()?;
        self.cursor.leave();
        let op = match sign {
            "+" => return Ok(e),
            "-" => UnaryOp::Neg,
            "!" => UnaryOp::Not,
            "~" => UnaryOp::Complement,
            _ => return self.step(e, sign == "++", true, start),
        };
        Ok(self.add(ExprKind::Unary(op, e), start.to(self.cursor.previous())))
    }

    /// `++` or `--` at a place.
    fn step(&mut self, place: ExprId, up: bool, before: bool, start: Span) -> Parse<ExprId> {
        if self.is_place(place) {
            return Ok(self.add(ExprKind::Step { place, up, before }, start.to(self.cursor.previous())));
        }
        let sign = if up { "++" } else { "--" };
        let d = Diagnostic::error(format!("the operand of `{sign}` must be a variable or a part of one"));
        self.cursor.fail(d.at(self.ast.expr(place).span, "not assignable"))
    }

    /// A value with what follows it: indices, members, calls of methods, `++`.
    fn postfix(&mut self) -> Parse<ExprId> {
        let start = self.cursor.span();
        let mut e = self.primary()?;
        loop {
            if self.cursor.accept("[") {
                let index = self.expr()?;
                self.cursor.expect("]", "after the index")?;
                e = self.add(ExprKind::Index(e, index), start.to(self.cursor.previous()));
            } else if self.cursor.is(".") || self.cursor.is("->") {
                self.cursor.bump();
                let name = self.cursor.ident("a member")?;
                let kind = match self.cursor.accept("(") {
                    true => ExprKind::Method(e, name, self.args()?),
                    false => ExprKind::Member(e, name),
                };
                e = self.add(kind, start.to(self.cursor.previous()));
            } else if self.cursor.is("++") || self.cursor.is("--") {
                let up = self.cursor.is("++");
                self.cursor.bump();
                e = self.step(e, up, false, start)?;
            } else {
                return Ok(e);
            }
        }
    }

    fn primary(&mut self) -> Parse<ExprId> {
        let span = self.cursor.span();
        let kind = match self.cursor.tok().clone() {
            Tok::Int(x) => ExprKind::Int(x),
            Tok::Number(x) => ExprKind::Float(x),
            Tok::Keyword("true") => ExprKind::Bool(true),
            Tok::Keyword("false") => ExprKind::Bool(false),
            Tok::String(text) => ExprKind::String(text),
            Tok::Keyword("null") => ExprKind::Null,
            Tok::Keyword("this") => ExprKind::This,
            Tok::Punct("(") => {
                self.cursor.bump();
                let e = self.expr()?;
                self.cursor.expect(")", "after the expression")?;
                return Ok(e);
            }
            Tok::Name(name) => return self.named(Ident { name, span }),
            other => {
                let d = Diagnostic::error(format!("expected an expression, found {}", other.describe()));
                return self.cursor.fail(d.at(span, "expected an expression"));
            }
        };
        self.cursor.bump();
        Ok(self.add(kind, span))
    }

    /// A variable, a call or a constructor.
    fn named(&mut self, name: Ident) -> Parse<ExprId> {
        let is_array = matches!(
            (self.cursor.tok_ahead(1), self.cursor.tok_ahead(2), self.cursor.tok_ahead(3), self.cursor.tok_ahead(4)),
            (Tok::Punct("["), Tok::Punct("]"), Tok::Punct("("), _)
                | (Tok::Punct("["), Tok::Int(_) | Tok::Name(_), Tok::Punct("]"), Tok::Punct("("))
        );
        if BasicType::named(&name.name).is_some() || is_array {
            let ty = self.type_name("a type")?;
            self.cursor.expect("(", "after the type: its values")?;
            let args = self.args()?;
            return Ok(self.add(ExprKind::Construct(ty, args), name.span.to(self.cursor.previous())));
        }
        self.cursor.bump();
        if self.cursor.accept("(") {
            let args = self.args()?;
            let span = name.span.to(self.cursor.previous());
            return Ok(self.add(ExprKind::Call(name, args), span));
        }
        Ok(self.add(ExprKind::Name(name.name), name.span))
    }

    /// Arguments up to and including `)`.
    pub(super) fn args(&mut self) -> Parse<Vec<ExprId>> {
        let mut args = Vec::new();
        if matches!((self.cursor.tok(), self.cursor.tok_ahead(1)), (Tok::Name(n), Tok::Punct(")")) if **n == *"void") {
            self.cursor.bump();
        }
        while !self.cursor.accept(")") {
            args.push(self.assignment()?);
            if !self.cursor.is(")") {
                self.cursor.expect(",", "between arguments")?;
            }
        }
        Ok(args)
    }
}
