//! Statements, and the variables that they declare.

use super::*;

impl Parser<'_> {
    /// Statements up to and including `}`.
    pub(super) fn block_rest(&mut self) -> Parse<Vec<Stmt>> {
        let open = self.cursor.previous();
        let mut list = Vec::new();
        loop {
            if self.cursor.accept("}") {
                return Ok(list);
            }
            if self.cursor.at_end() {
                // Its content is still checked.
                self.cursor.report(Diagnostic::error("unclosed block").at(open, "no matching `}`"));
                self.unclosed = true;
                return Ok(list);
            }
            let start = self.cursor.mark();
            match self.statement() {
                Ok(Some(s)) => list.push(s),
                Ok(None) => {}
                Err(Stop) => self.cursor.resume(start),
            }
        }
    }

    /// A statement where one must stand; an empty one is an empty block.
    fn inner_statement(&mut self) -> Parse<Stmt> {
        let span = self.cursor.span();
        let s = self.statement()?;
        Ok(s.unwrap_or(Stmt { kind: StmtKind::Block(Vec::new()), span }))
    }

    /// A statement; `None` for `;` alone.
    fn statement(&mut self) -> Parse<Option<Stmt>> {
        self.cursor.enter()?;
        let start = self.cursor.span();
        let kind = match self.cursor.tok() {
            Tok::Punct(";") => {
                self.cursor.bump();
                self.cursor.leave();
                return Ok(None);
            }
            Tok::Punct("{") => {
                self.cursor.bump();
                StmtKind::Block(self.block_rest()?)
            }
            Tok::Keyword(word) if !self.is_type_ahead(0) => self.keyword_statement(word)?,
            _ if self.is_type_ahead(0) => self.declaration()?,
            Tok::Name(name) if matches!(self.cursor.tok_ahead(1), Tok::Name(_)) => {
                let d = Diagnostic::error(format!("unknown type `{name}`")).at(start, "not a type");
                let types = self.types.keys().map(|name| &**name).chain(["float", "fixed", "Color", "Point"]);
                let guess = closest(name, types.collect::<Vec<_>>());
                let d = match guess {
                    Some(guess) => d.hint(format!("did you mean `{guess}`?")),
                    None => d.hint("`typedef` outside of functions names a type"),
                };
                return self.cursor.fail(d);
            }
            _ => {
                let e = self.expr()?;
                self.cursor.expect(";", "after the statement")?;
                StmtKind::Expr(e)
            }
        };
        self.cursor.leave();
        Ok(Some(Stmt { kind, span: start.to(self.end()) }))
    }

    fn keyword_statement(&mut self, word: &'static str) -> Parse<StmtKind> {
        let start = self.cursor.span();
        match word {
            "if" => self.if_statement(),
            "while" => {
                self.cursor.bump();
                let condition = self.parenthesized("after `while`")?;
                Ok(StmtKind::While(condition, Box::new(self.inner_statement()?)))
            }
            "do" => {
                self.cursor.bump();
                let body = Box::new(self.inner_statement()?);
                let until = self.cursor.is("until");
                if !until && !self.cursor.is("while") {
                    self.cursor.expect("until", "after the body of `do`")?;
                }
                self.cursor.bump();
                let condition = self.parenthesized("after `until`")?;
                self.cursor.expect(";", "after the condition")?;
                Ok(StmtKind::Do { body, condition, until })
            }
            "for" => self.for_statement(),
            "break" | "continue" => {
                self.cursor.bump();
                self.cursor.expect(";", &format!("after `{word}`"))?;
                Ok(if word == "break" { StmtKind::Break } else { StmtKind::Continue })
            }
            "return" => {
                self.cursor.bump();
                let value = if self.cursor.is(";") { None } else { Some(self.expr()?) };
                self.cursor.expect(";", "after `return`")?;
                Ok(StmtKind::Return(value))
            }
            "illuminance" => {
                self.cursor.bump();
                self.cursor.expect("(", "before the arguments")?;
                let args = self.list(")")?;
                Ok(StmtKind::Illuminance(args, Box::new(self.inner_statement()?)))
            }
            "typedef" => {
                let d = Diagnostic::error("`typedef` stands outside of functions").at(start, "within a function");
                self.cursor.fail(d)
            }
            "else" => {
                let d = Diagnostic::error("`else` without `if`").at(start, "no `if` ends before this");
                self.cursor.fail(d)
            }
            _ => {
                let d = Diagnostic::error(format!("`{word}` does not start a statement")).at(start, "not here");
                self.cursor.fail(d)
            }
        }
    }

    fn if_statement(&mut self) -> Parse<StmtKind> {
        let mut arms = Vec::new();
        loop {
            self.cursor.bump();
            let condition = self.parenthesized("after `if`")?;
            arms.push((condition, self.inner_statement()?));
            if !self.cursor.accept("else") {
                return Ok(StmtKind::If(arms, None));
            }
            if !self.cursor.is("if") {
                return Ok(StmtKind::If(arms, Some(Box::new(self.inner_statement()?))));
            }
        }
    }

    fn for_statement(&mut self) -> Parse<StmtKind> {
        self.cursor.bump();
        self.cursor.expect("(", "after `for`")?;
        let init = self.statement()?;
        if let Some(s) = init.as_ref().filter(|s| !matches!(s.kind, StmtKind::Declare(_) | StmtKind::Expr(_))) {
            let d = Diagnostic::error("the first part of `for` must be an expression or a declaration")
                .at(s.span, "not allowed here");
            return self.cursor.fail(d);
        }
        let condition = if self.cursor.is(";") { None } else { Some(self.expr()?) };
        self.cursor.expect(";", "after the condition of `for`")?;
        let step = if self.cursor.is(")") { None } else { Some(self.expr()?) };
        self.cursor.expect(")", "after the parts of `for`")?;
        let body = Box::new(self.inner_statement()?);
        Ok(StmtKind::For { init: init.map(Box::new), condition, step, body })
    }

    fn parenthesized(&mut self, after: &str) -> Parse<ExprId> {
        self.cursor.expect("(", after)?;
        let e = self.expr()?;
        self.cursor.expect(")", "after the condition")?;
        Ok(e)
    }

    /// Variables of a type, up to and including `;`.
    fn declaration(&mut self) -> Parse<StmtKind> {
        let start = self.cursor.span();
        let spec = self.specification()?;
        let ty = match spec.ty {
            Some(Type::Void) | None => {
                let found = self.cursor.tok().describe();
                let d = Diagnostic::error(format!("expected the type of a variable, found {found}"));
                return self.cursor.fail(d.at(self.cursor.span(), "expected a type"));
            }
            Some(ty) => ty,
        };
        let wrong = spec.modifiers.first().map(|m| m.word()).or(spec.output.then_some("output"));
        if let Some(word) = wrong {
            let d = Diagnostic::error(format!("`{word}` is for parameters")).at(start, "a variable");
            return self.cursor.fail(d);
        }
        let mut list = Vec::new();
        loop {
            let name = self.cursor.ident("the variable's name")?;
            self.refuse_type_name(&name, "variable")?;
            let ty = self.lengths(ty.clone())?;
            let init = match self.cursor.accept("=") {
                true => Some(self.assignment()?),
                false => None,
            };
            list.push(Variable { name, ty, class: spec.class, modifiers: Vec::new(), output: false, init });
            if !self.cursor.accept(",") {
                break;
            }
        }
        self.cursor.expect(";", "after the variable")?;
        Ok(StmtKind::Declare(list))
    }
}
