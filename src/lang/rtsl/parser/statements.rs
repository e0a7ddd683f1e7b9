//! Statements.

use super::*;

impl Parser<'_> {
    /// Statements up to and including `}`.
    pub(super) fn block(&mut self, open: Span) -> Vec<Stmt> {
        let mut list = Vec::new();
        while !self.accept("}") {
            if self.at_end() {
                self.report(Diagnostic::error("this block never ends").at(open, "`}` is missing"));
                break;
            }
            if self.accept(";") {
                continue;
            }
            let (start, depth) = (self.at, self.depth);
            match self.statement() {
                Ok(s) => list.push(s),
                Err(Stop) => {
                    self.depth = depth;
                    self.recover();
                    if self.at == start {
                        self.bump();
                    }
                }
            }
        }
        list
    }

    fn statement(&mut self) -> Parse<Stmt> {
        self.enter()?;
        let start = self.span();
        let kind = self.kind()?;
        self.depth -= 1;
        Ok(Stmt { kind, span: start.to(self.previous()) })
    }

    fn boxed(&mut self) -> Parse<Box<Stmt>> {
        if self.is(";") {
            let span = self.bump();
            return Ok(Box::new(Stmt { kind: StmtKind::Block(Vec::new()), span }));
        }
        self.statement().map(Box::new)
    }

    fn kind(&mut self) -> Parse<StmtKind> {
        let word = match *self.tok() {
            Tok::Keyword(word) => word,
            Tok::Punct("{") => "{",
            _ => "",
        };
        if let Some(why) = left_out(word) {
            let d = Diagnostic::error(format!("`{word}` is left out: {why}"));
            return self.fail(d.at(self.span(), "a word of GLSL for rasterisation"));
        }
        match word {
            "{" => {
                let open = self.bump();
                Ok(StmtKind::Block(self.block(open)))
            }
            "if" => self.choice(),
            "for" => self.counted(),
            "while" => {
                self.bump();
                let condition = self.condition("`while`")?;
                Ok(StmtKind::While(condition, self.boxed()?))
            }
            "do" => {
                self.bump();
                let body = self.boxed()?;
                self.expect("while", "behind the statement of `do`")?;
                let condition = self.condition("`while`")?;
                self.expect(";", "behind `do … while`")?;
                Ok(StmtKind::DoWhile(body, condition))
            }
            "break" | "continue" => {
                self.bump();
                self.expect(";", "behind it")?;
                Ok(if word == "break" { StmtKind::Break } else { StmtKind::Continue })
            }
            "return" => {
                self.bump();
                let value = if self.is(";") { None } else { Some(self.expr()?) };
                self.expect(";", "behind `return`")?;
                Ok(StmtKind::Return(value))
            }
            "illuminance" => {
                self.bump();
                self.expect("(", "behind `illuminance`")?;
                let args = self.args()?;
                Ok(StmtKind::Illuminance(args, self.boxed()?))
            }
            "ambient" => {
                self.bump();
                self.expect("(", "behind `ambient`")?;
                let args = self.args()?;
                let body = self.boxed()?;
                let other = if self.accept("else") { Some(self.boxed()?) } else { None };
                Ok(StmtKind::Ambient(args, body, other))
            }
            _ if self.declares() => {
                let words = self.words()?;
                if let Some(keeping) = words.keeping.filter(|k| *k != Keeping::Const) {
                    let word = match keeping {
                        Keeping::Public => "public",
                        Keeping::Scratch => "scratch",
                        _ => "private",
                    };
                    let d = Diagnostic::error(format!("`{word}` is for variables of classes"));
                    return self.fail(d.at(self.previous(), "in a function"));
                }
                let ty = self.type_name("a declaration")?;
                let first = self.ident("the name of a variable")?;
                Ok(StmtKind::Declare(self.variables(words, ty, first, Keeping::Local)?))
            }
            _ => {
                let e = self.expr()?;
                self.expect(";", "behind the expression")?;
                Ok(StmtKind::Expr(e))
            }
        }
    }

    /// Whether a declaration stands here: a word of one, or a type and a name.
    fn declares(&self) -> bool {
        match (self.tok(), self.tok_ahead(1)) {
            (Tok::Keyword("const" | "public" | "private" | "scratch" | "unit"), _) => true,
            (Tok::Name(_), Tok::Name(_)) => true,
            // A word of the language is no name, which the declaration says.
            (Tok::Name(ty), Tok::Keyword(_)) => BasicType::named(ty).is_some(),
            // `float[2] a`
            (Tok::Name(ty), Tok::Punct("[")) => {
                BasicType::named(ty).is_some()
                    && matches!((self.tok_ahead(3), self.tok_ahead(4)), (Tok::Punct("]"), Tok::Name(_)))
            }
            _ => false,
        }
    }

    fn condition(&mut self, word: &str) -> Parse<ExprId> {
        self.expect("(", &format!("behind {word}"))?;
        let e = self.expr()?;
        self.expect(")", "behind the condition")?;
        Ok(e)
    }

    fn choice(&mut self) -> Parse<StmtKind> {
        let mut arms = Vec::new();
        loop {
            self.bump();
            let condition = self.condition("`if`")?;
            arms.push((condition, *self.boxed()?));
            if !self.accept("else") {
                return Ok(StmtKind::If(arms, None));
            }
            if !self.is("if") {
                let last = self.boxed()?;
                return Ok(StmtKind::If(arms, Some(last)));
            }
        }
    }

    fn counted(&mut self) -> Parse<StmtKind> {
        self.bump();
        self.expect("(", "behind `for`")?;
        let init = match self.accept(";") {
            true => None,
            false => Some(self.boxed()?),
        };
        let condition = if self.is(";") { None } else { Some(self.expr()?) };
        self.expect(";", "behind the condition")?;
        let step = if self.is(")") { None } else { Some(self.expr()?) };
        self.expect(")", "behind the step")?;
        Ok(StmtKind::For { init, condition, step, body: self.boxed()? })
    }
}
