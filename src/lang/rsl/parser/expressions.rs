//! Expressions: assignments, choices, operators, calls, and the parts between them.

use super::*;

impl Parser<'_> {
    pub(super) fn add(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.ast.exprs.push(Expr { kind, span });
        ExprId(self.ast.exprs.len() as u32 - 1)
    }

    /// Any expression: an assignment, a choice, or operators.
    pub(super) fn expr(&mut self) -> Parse<ExprId> {
        self.cursor.enter()?;
        let start = self.cursor.span();
        let mut e = self.binary(1)?;
        if self.cursor.accept("?") {
            let yes = self.expr()?;
            self.cursor.expect(":", "in `?:`")?;
            let no = self.expr()?;
            e = self.add(ExprKind::Ternary(e, yes, no), start.to(self.cursor.previous()));
        }
        if let Tok::Punct(op @ ("=" | "+=" | "-=" | "*=" | "/=")) = *self.cursor.tok() {
            if let Some(place) = self.place(e) {
                self.cursor.bump();
                let op = match op {
                    "+=" => Some(BinaryOp::Add),
                    "-=" => Some(BinaryOp::Sub),
                    "*=" => Some(BinaryOp::Mul),
                    "/=" => Some(BinaryOp::Div),
                    _ => None,
                };
                let value = if op.is_none() { self.values()? } else { self.expr()? };
                self.cursor.leave();
                return Ok(self.add(ExprKind::Assign(op, place, value), start.to(self.cursor.previous())));
            }
            let d = Diagnostic::error(format!("the left side of `{op}` must be a variable"))
                .at(self.ast.expr(e).span, "not assignable");
            return self.cursor.fail(match self.ast.expr(e).kind {
                ExprKind::Call(ref f, _) if matches!(&*f.name, "xcomp" | "ycomp" | "zcomp" | "comp") => {
                    d.hint(format!("`set{}` changes a component", f.name))
                }
                _ => d,
            });
        }
        self.cursor.leave();
        Ok(e)
    }

    /// The place that an expression names, when it can stand left of `=`.
    fn place(&self, e: ExprId) -> Option<LValue> {
        let is_product = matches!(self.ast.expr(e).kind, ExprKind::Binary(..));
        self.ast.place(e).filter(|_| !is_product || !self.ast.structs.is_empty())
    }

    fn operator(&self) -> Option<BinaryOp> {
        let Tok::Punct(p) = *self.cursor.tok() else { return None };
        const ALL: [BinaryOp; 14] = [
            BinaryOp::Dot,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Cross,
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Lt,
            BinaryOp::Le,
            BinaryOp::Gt,
            BinaryOp::Ge,
            BinaryOp::Eq,
            BinaryOp::Ne,
            BinaryOp::And,
            BinaryOp::Or,
        ];
        ALL.into_iter().find(|op| op.symbol() == p)
    }

    /// Operators that bind at least as tightly as `least`, all of them left-associative.
    fn binary(&mut self, least: u8) -> Parse<ExprId> {
        let mut left = self.unary()?;
        while let Some(op) = self.operator().filter(|op| op.precedence() >= least) {
            self.cursor.bump();
            let right = self.binary(op.precedence() + 1)?;
            let span = self.ast.expr(left).span.to(self.ast.expr(right).span);
            left = self.add(ExprKind::Binary(op, left, right), span);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parse<ExprId> {
        let start = self.cursor.span();
        let op = match self.cursor.tok() {
            Tok::Punct("-") => Some(UnaryOp::Neg),
            Tok::Punct("!") => Some(UnaryOp::Not),
            Tok::Punct("+") => {
                self.cursor.bump();
                None
            }
            _ => return self.primary(),
        };
        if op.is_some() {
            self.cursor.bump();
        }
        self.cursor.enter()?;
        let e = self.unary()?;
        self.cursor.leave();
        Ok(match op {
            Some(op) => self.add(ExprKind::Unary(op, e), start.to(self.cursor.previous())),
            None => e,
        })
    }

    fn primary(&mut self) -> Parse<ExprId> {
        let span = self.cursor.span();
        match self.cursor.tok().clone() {
            Tok::Number(x) => {
                self.cursor.bump();
                Ok(self.add(ExprKind::Number(x), span))
            }
            Tok::String(s) => {
                self.cursor.bump();
                // Strings that stand side by side are one, as in C.
                let mut text = s.to_string();
                while let Tok::String(more) = self.cursor.tok() {
                    text.push_str(more);
                    self.cursor.bump();
                }
                let text = self.add(ExprKind::String(text.into()), span.to(self.cursor.previous()));
                if !self.cursor.accept("[") {
                    return Ok(text);
                }
                let channel = self.expr()?;
                self.cursor.expect("]", "after the channel")?;
                Ok(self.add(ExprKind::Channel(text, channel), span.to(self.cursor.previous())))
            }
            Tok::Name(name) => {
                self.cursor.bump();
                let name = Ident { name, span };
                if self.cursor.accept("(") { self.call(name) } else { self.name_or_part(name) }
            }
            Tok::Punct("(") => self.parenthesis(),
            Tok::Keyword(k) if SourceType::from_keyword(k).is_some_and(|t| t != SourceType::Void) => self.cast(k),
            other => {
                let d = Diagnostic::error(format!("expected an expression, found {}", other.describe()));
                let d = d.at(span, "expected an expression");
                self.cursor.fail(match other {
                    Tok::Stray(c) if &*c == "%" => d.hint("write `mod(a, b)` for the remainder"),
                    _ => d,
                })
            }
        }
    }

    /// A call, from its arguments on.
    fn call(&mut self, Ident { name, span }: Ident) -> Parse<ExprId> {
        let args = self.args()?;
        if self.cursor.is("->") {
            let d = Diagnostic::error("`->` after a call").at(self.cursor.span(), "expected a variable before this");
            return self.cursor.fail(d.hint("assign the result of the call to a variable first"));
        }
        let name = self.callee(name);
        Ok(self.add(ExprKind::Call(Ident { name, span }, args), span.to(self.cursor.previous())))
    }

    /// A variable, or what is chosen from it by indices, members and methods.
    fn name_or_part(&mut self, name: Ident) -> Parse<ExprId> {
        let start = name.span;
        let mut place = LValue::variable(name);
        loop {
            if self.cursor.accept("[") {
                place.indices.push(self.expr()?);
                self.cursor.expect("]", "after the index")?;
            } else if self.cursor.accept("->") {
                let name = self.cursor.ident("the name of a member")?;
                if self.cursor.accept("(") {
                    let args = self.args()?;
                    return Ok(self.add(ExprKind::Method(place, name, args), start.to(self.cursor.previous())));
                }
                place.choose(name);
            } else if place.members.is_empty() && place.indices.is_empty() {
                return Ok(self.add(ExprKind::Name(place.name.name), start));
            } else {
                return Ok(self.add(ExprKind::Index(place), start.to(self.cursor.previous())));
            }
        }
    }

    fn cast(&mut self, keyword: &str) -> Parse<ExprId> {
        let start = self.cursor.bump();
        let ty = SourceType::from_keyword(keyword).unwrap_or(SourceType::Float);
        let space = match self.cursor.tok().clone() {
            Tok::String(name) if ty != SourceType::String => Some(Ident { name, span: self.cursor.bump() }),
            _ => None,
        };
        self.cast_operand(start, ty, space)
    }

    /// Parses the operand of a cast.
    fn cast_operand(&mut self, start: Span, ty: SourceType, space: Option<Ident>) -> Parse<ExprId> {
        self.cursor.enter()?;
        let e = self.unary()?;
        self.cursor.leave();
        Ok(self.add(ExprKind::Cast(ty, space, e), start.to(self.cursor.previous())))
    }

    /// `( e )`, `( a, b, c )` or a matrix's 16 numbers.
    fn parenthesis(&mut self) -> Parse<ExprId> {
        let start = self.cursor.bump();
        if let (Tok::Keyword(word), next) = (self.cursor.tok().clone(), self.cursor.tok_ahead(1).clone())
            && let Some(ty) = SourceType::from_keyword(word).filter(|ty| *ty != SourceType::Void)
        {
            // A cast as C writes it: `(color) x`, `(point "shader") (1, 2, 3)`.
            let space = match (next, self.cursor.tok_ahead(2)) {
                (Tok::Punct(")"), _) => Some(None),
                (Tok::String(name), Tok::Punct(")")) if ty != SourceType::String => Some(Some(name)),
                _ => None,
            };
            if let Some(space) = space {
                self.cursor.bump();
                let space = space.map(|name| Ident { name, span: self.cursor.bump() });
                self.cursor.bump();
                return self.cast_operand(start, ty, space);
            }
        }
        let mut list = vec![self.expr()?];
        while self.cursor.accept(",") {
            list.push(self.expr()?);
        }
        self.cursor.expect(")", "after the expression")?;
        let span = start.to(self.cursor.previous());
        match list.len() {
            1 => Ok(list[0]),
            3 | 16 => Ok(self.add(ExprKind::Tuple(list), span)),
            n => {
                let d = Diagnostic::error(format!("a tuple of {n} numbers has no type"))
                    .at(span, "3 numbers make a color or a point, 16 a matrix");
                self.cursor.fail(d)
            }
        }
    }

    /// Arguments up to and including `)`.
    pub(super) fn args(&mut self) -> Parse<Vec<ExprId>> {
        let mut args = Vec::new();
        if self.cursor.accept(")") {
            return Ok(args);
        }
        loop {
            args.push(self.expr()?);
            if !self.cursor.accept(",") || self.cursor.is(")") {
                break;
            }
        }
        self.cursor.expect(")", "after the arguments")?;
        Ok(args)
    }
}
