//! Statements.

use super::*;

impl Parser<'_> {
    /// Statements up to and including `}`.
    pub(super) fn block(&mut self, open: Span) -> Vec<Stmt> {
        let mut list = Vec::new();
        while !self.cursor.accept("}") {
            let next = self.beginning();
            if next.is_some() || self.cursor.at_end() {
                let d = Diagnostic::error("unclosed block").at(open, "no matching `}`");
                self.cursor.report(match next {
                    Some(what) => {
                        d.also(self.cursor.span(), format!("{what} begins here, which cannot be inside a block"))
                    }
                    None => d,
                });
                break;
            }
            if self.cursor.accept(";") {
                continue;
            }
            let start = self.cursor.mark();
            match self.statement() {
                Ok(s) => list.push(s),
                Err(Stop) => self.cursor.resume(start),
            }
        }
        list
    }

    /// The name of the construct that begins here, if it cannot be in a block or a struct.
    pub(super) fn beginning(&self) -> Option<&'static str> {
        match (self.cursor.tok(), self.cursor.tok_ahead(1), self.cursor.tok_ahead(2)) {
            (Tok::Keyword("class"), ..) => Some("a class"),
            (Tok::Name(_), Tok::Name(_), Tok::Punct("(")) => Some("a function"),
            _ => None,
        }
    }

    fn statement(&mut self) -> Parse<Stmt> {
        self.cursor.enter()?;
        let start = self.cursor.span();
        let kind = self.kind()?;
        self.cursor.leave();
        Ok(Stmt { kind, span: start.to(self.cursor.previous()) })
    }

    fn boxed(&mut self) -> Parse<Box<Stmt>> {
        if self.cursor.is(";") {
            let span = self.cursor.bump();
            return Ok(Box::new(Stmt { kind: StmtKind::Block(Vec::new()), span }));
        }
        self.statement().map(Box::new)
    }

    fn kind(&mut self) -> Parse<StmtKind> {
        let word = match *self.cursor.tok() {
            Tok::Keyword(word) => word,
            Tok::Punct("{") => "{",
            _ => "",
        };
        if let Some(why) = unsupported(word) {
            let d = Diagnostic::error(format!("`{word}` is not supported: {why}"));
            return self.cursor.fail(d.at(self.cursor.span(), "a keyword of GLSL for rasterization"));
        }
        match word {
            "{" => {
                let open = self.cursor.bump();
                Ok(StmtKind::Block(self.block(open)))
            }
            "if" => self.choice(),
            "for" => self.counted(),
            "while" => {
                self.cursor.bump();
                let condition = self.condition("`while`")?;
                Ok(StmtKind::While(condition, self.boxed()?))
            }
            "do" => {
                self.cursor.bump();
                let body = self.boxed()?;
                self.cursor.expect("while", "after the statement of `do`")?;
                let condition = self.condition("`while`")?;
                self.cursor.expect(";", "after `do … while`")?;
                Ok(StmtKind::DoWhile(body, condition))
            }
            "break" | "continue" => {
                self.cursor.bump();
                self.cursor.expect(";", "after it")?;
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
                self.cursor.expect("(", "after `illuminance`")?;
                let args = self.args()?;
                Ok(StmtKind::Illuminance(args, self.boxed()?))
            }
            "ambient" => {
                self.cursor.bump();
                self.cursor.expect("(", "after `ambient`")?;
                let args = self.args()?;
                let body = self.boxed()?;
                let other = if self.cursor.accept("else") { Some(self.boxed()?) } else { None };
                Ok(StmtKind::Ambient(args, body, other))
            }
            _ if self.declares() => {
                let words = self.words()?;
                if let Some(qualifier) = words.qualifier.filter(|k| *k != Qualifier::Const) {
                    let word = match qualifier {
                        Qualifier::Public => "public",
                        Qualifier::Scratch => "scratch",
                        _ => "private",
                    };
                    let d = Diagnostic::error(format!("`{word}` is allowed on variables of classes only"));
                    return self.cursor.fail(d.at(self.cursor.previous(), "in a function"));
                }
                let ty = self.type_name("a declaration")?;
                let first = self.cursor.ident("the name of a variable")?;
                Ok(StmtKind::Declare(self.variables(words, ty, first, Qualifier::Local)?))
            }
            _ => {
                let e = self.expr()?;
                self.cursor.expect(";", "after the expression")?;
                Ok(StmtKind::Expr(e))
            }
        }
    }

    /// True if a declaration begins here: a qualifier, or a type and a name.
    fn declares(&self) -> bool {
        match (self.cursor.tok(), self.cursor.tok_ahead(1)) {
            (Tok::Keyword("const" | "public" | "private" | "scratch" | "unit"), _) => true,
            (Tok::Name(_), Tok::Name(_)) => true,
            // A word of the language is no name, which the declaration says.
            (Tok::Name(ty), Tok::Keyword(_)) => BasicType::named(ty).is_some(),
            // `float[2] a`
            (Tok::Name(ty), Tok::Punct("[")) => {
                BasicType::named(ty).is_some()
                    && matches!((self.cursor.tok_ahead(3), self.cursor.tok_ahead(4)), (Tok::Punct("]"), Tok::Name(_)))
            }
            _ => false,
        }
    }

    fn condition(&mut self, word: &str) -> Parse<ExprId> {
        self.cursor.expect("(", &format!("after {word}"))?;
        let e = self.expr()?;
        self.cursor.expect(")", "after the condition")?;
        Ok(e)
    }

    fn choice(&mut self) -> Parse<StmtKind> {
        let mut arms = Vec::new();
        loop {
            self.cursor.bump();
            let condition = self.condition("`if`")?;
            arms.push((condition, *self.boxed()?));
            if !self.cursor.accept("else") {
                return Ok(StmtKind::If(arms, None));
            }
            if !self.cursor.is("if") {
                let last = self.boxed()?;
                return Ok(StmtKind::If(arms, Some(last)));
            }
        }
    }

    fn counted(&mut self) -> Parse<StmtKind> {
        self.cursor.bump();
        self.cursor.expect("(", "after `for`")?;
        let init = match self.cursor.accept(";") {
            true => None,
            false => Some(self.boxed()?),
        };
        let condition = if self.cursor.is(";") { None } else { Some(self.expr()?) };
        self.cursor.expect(";", "after the condition")?;
        let step = if self.cursor.is(")") { None } else { Some(self.expr()?) };
        self.cursor.expect(")", "after the step")?;
        Ok(StmtKind::For { init, condition, step, body: self.boxed()? })
    }
}
