//! Statements, and the variables that they declare.

use super::*;
use crate::globals;

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
        let kind = match self.cursor.tok().clone() {
            Tok::Punct(";") => {
                self.cursor.bump();
                self.cursor.leave();
                return Ok(None);
            }
            Tok::Punct("{") => {
                self.cursor.bump();
                StmtKind::Block(self.block_rest()?)
            }
            Tok::Keyword(word) => self.keyword_statement(word)?,
            // It is no keyword: files that know nothing of it may call a variable so.
            Tok::Name(name) if &*name == "gather" && matches!(self.cursor.tok_ahead(1), Tok::Punct("(")) => {
                self.gather()?
            }
            Tok::Name(_) if self.type_here().is_some() || self.is_constant() => self.declaration()?,
            _ => self.expression_statement()?,
        };
        self.cursor.leave();
        Ok(Some(Stmt { kind, span: start.to(self.end()) }))
    }

    fn keyword_statement(&mut self, word: &'static str) -> Parse<StmtKind> {
        match word {
            "if" => self.if_statement(),
            "while" => {
                self.cursor.bump();
                let condition = self.parenthesized("after `while`")?;
                Ok(StmtKind::While(condition, Box::new(self.inner_statement()?)))
            }
            "for" => self.for_statement(),
            "break" | "continue" => {
                self.cursor.bump();
                let levels = self.levels(word)?;
                self.cursor.expect(";", &format!("after `{word}`"))?;
                Ok(if word == "break" { StmtKind::Break(levels) } else { StmtKind::Continue(levels) })
            }
            "return" => {
                self.cursor.bump();
                let value = if self.cursor.is(";") { None } else { Some(self.expr()?) };
                self.cursor.expect(";", "after `return`")?;
                Ok(StmtKind::Return(value))
            }
            "illuminance" => Ok(self.light_statement()?.apply(StmtKind::Illuminance)),
            "illuminate" => Ok(self.light_statement()?.apply(StmtKind::Illuminate)),
            "solar" => Ok(self.light_statement()?.apply(StmtKind::Solar)),
            "else" => {
                let d = Diagnostic::error("`else` without `if`").at(self.cursor.span(), "no `if` ends before this");
                self.cursor.fail(d)
            }
            "extern" | "uniform" | "varying" | "output" => self.declaration(),
            _ if matches!(self.cursor.tok_ahead(1), Tok::Name(_) | Tok::Keyword("uniform" | "varying")) => {
                self.declaration()
            }
            _ => self.expression_statement(),
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

    /// The number after `break` or `continue`, 1 when there is none.
    fn levels(&mut self, word: &str) -> Parse<u32> {
        let Tok::Number(n) = *self.cursor.tok() else { return Ok(1) };
        let span = self.cursor.bump();
        if n.fract() != 0.0 || !(1.0..=MAX_NESTING as f32).contains(&n) {
            let d = Diagnostic::error(format!("`{word}` takes a number of loops, at least 1"))
                .at(span, "not a number of loops");
            return self.cursor.fail(d);
        }
        Ok(n as u32)
    }

    /// `gather (…) s`, with or without `else`.
    fn gather(&mut self) -> Parse<StmtKind> {
        let span = self.cursor.span();
        let LightStatement(args, hit) = self.light_statement()?;
        if args.is_empty() {
            let d =
                Diagnostic::error("`gather` takes a category, a point, a direction, an angle and a number of samples");
            return self.cursor.fail(d.at(span, "there are no arguments"));
        }
        let miss = if self.cursor.accept("else") { Some(Box::new(self.inner_statement()?)) } else { None };
        Ok(StmtKind::Gather(args, Box::new(hit), miss))
    }

    fn light_statement(&mut self) -> Parse<LightStatement> {
        self.cursor.bump();
        self.cursor.expect("(", "before the arguments")?;
        let args = self.args()?;
        Ok(LightStatement(args, self.inner_statement()?))
    }

    fn parenthesized(&mut self, after: &str) -> Parse<ExprId> {
        self.cursor.expect("(", after)?;
        let e = self.expr()?;
        self.cursor.expect(")", "after the condition")?;
        Ok(e)
    }

    fn declaration(&mut self) -> Parse<StmtKind> {
        let (_, external, class) = self.qualifiers(false)?;
        match (self.type_here(), self.cursor.tok_ahead(1), self.cursor.tok_ahead(2)) {
            (Some(ty), Tok::Name(_), Tok::Punct("(")) => {
                let start = self.cursor.bump();
                self.inner_function(start, ty)?;
                Ok(StmtKind::Block(Vec::new()))
            }
            (ty, ..) => self.local_variables(ty, external, class),
        }
    }

    /// Variables of a block, from their type on.
    fn local_variables(
        &mut self,
        ty: Option<TypeName>,
        mut external: bool,
        mut class: Option<StorageClass>,
    ) -> Parse<StmtKind> {
        let ty = self.type_of_variable(ty)?;
        let (_, late_external, late_class) = self.qualifiers(false)?;
        external |= late_external;
        class = class.or(late_class);
        let mut decls = self.variables(&ty, class)?;
        if external {
            decls.iter_mut().for_each(|d| d.external = true);
            if let [.., _, inner] = self.around.as_mut_slice() {
                let outside = |d: &Decl| globals::find(&d.name.name).is_none();
                for decl in decls.extract_if(.., |d| outside(d)) {
                    if !inner.captured.iter().any(|c| c.name.name == decl.name.name) {
                        inner.captured.push(Decl { output: true, external: false, ..decl });
                    }
                }
            }
        }
        Ok(StmtKind::Declare(decls))
    }

    /// Continues after the type of a variable.
    pub(super) fn type_of_variable(&mut self, ty: Option<TypeName>) -> Parse<TypeName> {
        let Some(ty) = ty.filter(|t| t.0 != SourceType::Void) else {
            let found = self.cursor.tok().describe();
            let d = Diagnostic::error(format!("expected the type of a variable, found {found}"));
            return self.cursor.fail(d.at(self.cursor.span(), "expected a type"));
        };
        self.cursor.bump();
        Ok(ty)
    }

    /// Variables of a type, up to and including `;`.
    pub(super) fn variables(&mut self, (ty, structure): &TypeName, class: Option<StorageClass>) -> Parse<Vec<Decl>> {
        let mut decls = Vec::new();
        loop {
            let name = self.cursor.ident("the variable's name")?;
            let (mut ty, init) = self.rest_of_variable(*ty)?;
            if let SourceType::Array(element, OPEN) = ty {
                let listed = match init.map(|e| &self.ast.expr(e).kind) {
                    Some(ExprKind::Array(list)) if !self.resized.contains(&name.name) => list.len() as u32,
                    _ => 0,
                };
                ty = SourceType::Array(element, if listed > 0 { listed } else { RESIZABLE });
                if ty.is_resizable() && structure.is_some() {
                    let d = Diagnostic::error(format!("the array `{}` has no length", name.name));
                    let d = d.at(name.span, "declared here");
                    return self.cursor.fail(d.hint("arrays of structs cannot be resized"));
                }
            }
            decls.push(Decl { structure: structure.clone(), class, init, ..Decl::variable(name, ty) });
            if !self.cursor.accept(",") || self.cursor.is(";") {
                break;
            }
        }
        self.cursor.expect(";", "after the variable")?;
        Ok(decls)
    }

    fn expression_statement(&mut self) -> Parse<StmtKind> {
        let e = self.expr()?;
        self.cursor.expect(";", "after the statement")?;
        if !matches!(self.ast.expr(e).kind, ExprKind::Assign(..) | ExprKind::Call(..) | ExprKind::Method(..)) {
            let d =
                Diagnostic::warning("this statement has no effect").at(self.ast.expr(e).span, "its value is unused");
            self.cursor.report(d);
        }
        Ok(StmtKind::Expr(e))
    }
}

/// Arguments and body of `illuminance`, `illuminate` or `solar`.
struct LightStatement(Vec<ExprId>, Stmt);

impl LightStatement {
    fn apply(self, make: impl Fn(Vec<ExprId>, Box<Stmt>) -> StmtKind) -> StmtKind {
        make(self.0, Box::new(self.1))
    }
}
