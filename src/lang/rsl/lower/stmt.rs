//! Statements.

use super::*;
use shadewright_ir::BlockId;

impl Body<'_, '_> {
    pub(super) fn statements(&mut self, list: &[Stmt]) {
        for s in list {
            if self.b.is_terminated() {
                self.b.continue_unreachable();
            }
            // The error was reported; the next statement may have another.
            let _: Lower<()> = self.statement(s);
        }
    }

    fn scoped(&mut self, list: &[Stmt], place: Span) {
        self.cx.note(|notes| notes.enter(place));
        self.scopes.declared.push(HashMap::new());
        self.statements(list);
        self.scopes.declared.pop();
        self.cx.note(Symbols::leave);
    }

    /// A statement in a scope of its own.
    pub(super) fn inner(&mut self, s: &Stmt) {
        self.scoped(std::slice::from_ref(s), s.span);
    }

    fn statement(&mut self, s: &Stmt) -> Lower<()> {
        self.at(s.span);
        match &s.kind {
            StmtKind::Declare(decls) => {
                for d in decls {
                    let _: Lower<()> = self.declare(d);
                }
                Ok(())
            }
            StmtKind::Expr(e) => self.effect(*e),
            StmtKind::Block(list) => {
                self.scoped(list, s.span);
                Ok(())
            }
            StmtKind::If(arms, last) => {
                self.conditional(arms, last.as_deref());
                Ok(())
            }
            StmtKind::While(condition, body) => {
                self.repeat(Some(*condition), None, body);
                Ok(())
            }
            StmtKind::For { init, condition, step, body } => {
                self.scopes.declared.push(HashMap::new());
                self.cx.note(|notes| notes.enter(s.span));
                if let Some(init) = init {
                    let _: Lower<()> = self.statement(init);
                }
                self.repeat(*condition, *step, body);
                self.cx.note(Symbols::leave);
                self.scopes.declared.pop();
                Ok(())
            }
            StmtKind::Break(n) => self.leave_loop(*n, "break", s.span, |l| l.break_to),
            StmtKind::Continue(n) => self.leave_loop(*n, "continue", s.span, |l| l.continue_to),
            StmtKind::Return(value) => self.return_statement(*value, s.span),
            StmtKind::Illuminance(args, body) => self.illuminance(args, body, s.span),
            StmtKind::Gather(args, hit, miss) => self.gather(args, hit, miss.as_deref(), s.span),
            StmtKind::Illuminate(args, body) => self.illuminate(args, body, s.span),
            StmtKind::Solar(args, body) => self.solar(args, body, s.span),
        }
    }

    fn declare(&mut self, d: &Decl) -> Lower<()> {
        if d.external {
            let found = self.scopes.globals.contains_key(&*d.name.name);
            let known = globals::find(&d.name.name);
            return match known {
                Some(g) if g.ty == d.ty => Ok(()),
                // Before there were vectors and normals, all of them were points.
                Some(g) if g.ty.is_spatial() && d.ty.is_spatial() => {
                    let var = self.scopes.globals.get(&*d.name.name).cloned();
                    let alias = var.map(|var| Var { ty: d.ty, declared: Some(d.name.span), ..var });
                    if let (Some(alias), Some(scope)) = (alias, self.scopes.declared.last_mut()) {
                        scope.insert(d.name.name.clone(), alias);
                    }
                    Ok(())
                }
                Some(g) if found => {
                    let message = format!("`{}` is of type {}, not {}", d.name.name, g.ty, d.ty);
                    self.error(Diagnostic::error(message).at(d.name.span, "declared `extern` here"))
                }
                _ => self.unknown_name(&d.name.name, d.name.span),
            };
        }
        let class = d.class.unwrap_or(StorageClass::Varying);
        self.cx.note_variable(d, class, Role::Local);
        let init = match d.init {
            Some(e) => self.values_as(e, d.ty),
            None if d.ty.is_resizable() => Ok((vec![self.b.f32(0.0)], StorageClass::Constant)),
            // An array that nobody wrote has zeros from the start of the function.
            None if d.ty.is_array() => Ok((Vec::new(), StorageClass::Constant)),
            None => Ok((self.zeros(d.ty), StorageClass::Constant)),
        };
        self.warn_of_hidden_parameter(d);
        let is_known = matches!(d.ty, SourceType::String | SourceType::Float) && !self.changed.contains(&d.name.name);
        let text = d.init.filter(|_| is_known).and_then(|e| self.known_string(e));
        let again = self.same_variable(d);
        let is_first = again.is_none();
        let mut var = again.unwrap_or_else(|| self.declared_var(d.ty, class, &d.name));
        var.text = text;
        var.strict = d.class == Some(StorageClass::Uniform);
        if let Some(scope) = self.scopes.declared.last_mut() {
            scope.insert(d.name.name.clone(), var.clone());
        }
        let (values, class) = init?;
        self.widen_class(&d.name.name, &var, class, d.name.span);
        self.at(d.name.span);
        // A variable that is declared again without a value keeps the one that it has.
        if is_first || d.init.is_some() {
            self.assign_all(&d.name.name, &var, &values);
        }
        Ok(())
    }

    /// The variable of this scope that a declaration names again, with the same type: other
    /// compilers accept that. One of another type is a new variable, which hides the first.
    fn same_variable(&mut self, d: &Decl) -> Option<Var> {
        let known = self.scopes.declared.last()?.get(&d.name.name)?.clone();
        let first = known.declared?;
        let is_same = known.ty == d.ty;
        let which = if is_same { "it is the same variable" } else { "the later one hides the first" };
        let message = format!("`{}` is declared twice: {which}", d.name.name);
        self.cx.report(Diagnostic::warning(message).at(d.name.span, "declared again").also(first, "declared first"));
        is_same.then_some(known)
    }

    /// Remarks on a variable of the body itself that has a parameter's name: who reads or sets it
    /// further down may well mean the parameter. Blocks within the body may do so.
    fn warn_of_hidden_parameter(&mut self, d: &Decl) {
        let [parameters, _] = &self.scopes.declared[..] else { return };
        let name = &d.name.name;
        let Some(parameter) = parameters.get(name).and_then(|p| p.declared) else { return };
        let diagnostic = Diagnostic::warning(format!("`{name}` shadows a parameter"))
            .at(d.name.span, "a new variable")
            .also(parameter, "the parameter");
        self.cx.report(diagnostic.hint(match d.init {
            Some(_) => {
                format!("remove the type to assign to the parameter, as in `{name} = …`, or rename the variable")
            }
            None => "remove the declaration to use the parameter, or rename the variable".to_string(),
        }));
    }

    fn conditional(&mut self, arms: &[(ExprId, Stmt)], last: Option<&Stmt>) {
        let end = self.b.block();
        for (condition, s) in arms {
            let Ok(condition) = self.condition(*condition) else {
                self.inner(s);
                if self.b.is_terminated() {
                    self.b.continue_unreachable();
                }
                continue;
            };
            self.leave_if(condition, |l| {
                l.inner(s);
                l.b.jump_unless_terminated(end);
            });
        }
        if let Some(s) = last {
            self.inner(s);
        }
        self.b.join(end);
    }

    fn repeat(&mut self, condition: Option<ExprId>, step: Option<ExprId>, body: &Stmt) {
        let test = |l: &mut Self| match condition.map(|e| l.condition(e)) {
            Some(Ok(test)) => Condition::Holds(test),
            Some(Err(Poison)) => Condition::Known(true),
            None => {
                l.at(body.span);
                Condition::Holds(l.b.bool(true))
            }
        };
        let step = |l: &mut Self| {
            if let Some(e) = step {
                let _: Lower<()> = l.effect(e);
            }
        };
        self.loop_with_step(test, |l, exits| l.looped(exits, body), step);
    }

    /// The body of a loop with these exits.
    pub(super) fn looped(&mut self, exits: LoopExits, body: &Stmt) {
        self.loops.push(exits);
        self.inner(body);
        self.loops.pop();
    }

    fn leave_loop(&mut self, levels: u32, word: &str, span: Span, to: fn(&LoopExits) -> BlockId) -> Lower<()> {
        let count = self.loops.len();
        let Some(target) = count.checked_sub(levels as usize).and_then(|i| self.loops.get(i)).map(to) else {
            let message = match count {
                0 => format!("`{word}` outside of a loop"),
                _ => format!("`{word} {levels}` inside {count} loops"),
            };
            return self.error(Diagnostic::error(message).at(span, "no such loop"));
        };
        self.b.jump(target, Vec::new());
        Ok(())
    }

    fn return_statement(&mut self, value: Option<ExprId>, span: Span) -> Lower<()> {
        let inlined = self.inlined.last().copied();
        let is_shader = self.shader.is_some() && inlined.is_none();
        if is_shader || self.result == SourceType::Void {
            if let Some(e) = value {
                let what = if is_shader { "a shader" } else { "a `void` function" };
                let d = Diagnostic::error(format!("{what} returns no value"));
                let place = self.cx.program.ast.expr(e).span;
                return self.error(d.at(place, "unexpected value"));
            }
            match inlined {
                Some(inlined) => self.b.jump(inlined.end, Vec::new()),
                None => self.return_value(None),
            }
            return Ok(());
        }
        let Some(e) = value else {
            let d = Diagnostic::error(format!("`return` needs a value of type {}", self.result));
            return self.error(d.at(span, "no value"));
        };
        let value = self.value_as(e, self.result)?;
        self.at(span);
        match inlined {
            Some(inlined) => {
                inlined.result.into_iter().for_each(|result| self.b.write(result, value.value));
                self.b.jump(inlined.end, Vec::new());
            }
            None => self.return_value(Some(value.value)),
        }
        Ok(())
    }
}
