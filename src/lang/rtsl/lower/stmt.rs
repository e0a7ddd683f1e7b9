//! Statements.

use super::super::ast::{self, Stmt, StmtKind};
use super::*;

impl<'a> Body<'a> {
    /// Statements with names of their own. After an error the next one is checked.
    pub(super) fn statements(&mut self, list: &'a [Stmt]) {
        for s in list {
            if self.b.is_terminated() {
                self.b.continue_unreachable();
            }
            let _ = self.deeper(s.span, |body| body.statement(s));
        }
    }

    /// A statement with names of its own.
    pub(super) fn inner(&mut self, s: &'a Stmt) {
        self.scoped(|body| body.statements(std::slice::from_ref(s)));
    }

    fn scoped(&mut self, f: impl FnOnce(&mut Self)) {
        if let Some(frame) = self.frames.last_mut() {
            frame.scopes.push(HashMap::new());
        }
        f(self);
        if let Some(frame) = self.frames.last_mut() {
            frame.scopes.pop();
        }
    }

    /// The body of a loop with these exits.
    pub(super) fn looped(&mut self, exits: LoopExits, body: &'a Stmt) {
        if let Some(frame) = self.frames.last_mut() {
            frame.loops.push(exits);
        }
        self.inner(body);
        if let Some(frame) = self.frames.last_mut() {
            frame.loops.pop();
        }
    }

    fn statement(&mut self, s: &'a Stmt) -> Lower<()> {
        self.at(s.span);
        match &s.kind {
            StmtKind::Declare(list) => {
                list.iter().for_each(|v| {
                    let _ = self.declare(v);
                });
                Ok(())
            }
            StmtKind::Expr(e) => self.value(*e).map(drop),
            StmtKind::Block(list) => {
                self.scoped(|body| body.statements(list));
                Ok(())
            }
            StmtKind::If(arms, last) => self.choice(arms, last.as_deref()),
            StmtKind::While(condition, body) => self.repeated(Some(*condition), None, body),
            StmtKind::DoWhile(body, condition) => self.repeated_after(body, *condition),
            StmtKind::For { init, condition, step, body } => {
                let mut done = Ok(());
                self.scoped(|b| {
                    if let Some(init) = init {
                        b.statements(std::slice::from_ref(init));
                    }
                    done = b.repeated(*condition, *step, body);
                });
                done
            }
            StmtKind::Break | StmtKind::Continue => {
                let is_break = s.kind == StmtKind::Break;
                let Some(around) = self.top().loops.last().copied() else {
                    let word = if is_break { "break" } else { "continue" };
                    return self
                        .error(Diagnostic::error(format!("`{word}` outside of a loop")).at(s.span, "not in a loop"));
                };
                self.b.jump(if is_break { around.break_to } else { around.continue_to }, Vec::new());
                Ok(())
            }
            StmtKind::Return(e) => self.leave(*e, s.span),
            StmtKind::Illuminance(args, body) => self.illuminance(args, body, s.span),
            StmtKind::Ambient(args, body, other) => self.ambient(args, body, other.as_deref(), s.span),
        }
    }

    fn declare(&mut self, v: &'a ast::Variable) -> Lower<()> {
        let ty = self.type_of_name(&v.ty);
        let value = match (&ty, v.init) {
            (Ok(ty), Some(e)) => Some(self.value_as(e, ty)),
            (Err(_), Some(e)) => Some(self.value(e)),
            (_, None) => None,
        };
        let ty = ty?;
        if ty == Type::VOID {
            let d = Diagnostic::error(format!("the variable `{}` cannot be `void`", v.name.name));
            return self.error(d.at(v.ty.span, "not a type of values"));
        }
        let mut local = self.new_local(ty, v.name.span);
        self.set_unit(&mut local, v.unit);
        let mut result = Ok(());
        match value {
            Some(Ok(value)) => {
                if v.qualifier == Qualifier::Const {
                    local.known = value.known;
                }
                self.write_local(&local, value);
            }
            // The variable is there all the same: its uses are no further errors.
            Some(Err(poison)) => result = Err(poison),
            None if v.qualifier == Qualifier::Const => {
                let d = Diagnostic::error(format!("the constant `{}` has no initial value", v.name.name));
                self.diags.push(d.at(v.name.span, "a `const` variable is initialized where it is declared"));
            }
            None => {}
        }
        local.qualifier = v.qualifier;
        let scope = self.frames.last_mut().and_then(|f| f.scopes.last_mut());
        if let Some(old) = scope.and_then(|s| s.insert(v.name.name.clone(), local)) {
            let d = Diagnostic::error(format!("`{}` is declared twice", v.name.name));
            self.diags.push(d.at(v.name.span, "declared again").also(old.declared, "declared first"));
        }
        result
    }

    fn choice(&mut self, arms: &'a [(ExprId, Stmt)], last: Option<&'a Stmt>) -> Lower<()> {
        let end = self.b.block();
        let mut result = Ok(());
        for (condition, body) in arms {
            let condition = match self.condition(*condition) {
                Ok(condition) => condition,
                Err(poison) => {
                    // The statement is checked for errors.
                    result = Err(poison);
                    self.b.bool(true)
                }
            };
            self.leave_if(condition, |b| {
                b.inner(body);
                b.b.jump_unless_terminated(end);
            });
        }
        if let Some(last) = last {
            self.inner(last);
        }
        self.b.join(end);
        result
    }

    fn repeated(&mut self, condition: Option<ExprId>, step: Option<ExprId>, body: &'a Stmt) -> Lower<()> {
        let (mut tested, mut stepped) = (Ok(()), Ok(()));
        let test = |b: &mut Self| match condition.map(|c| b.condition(c)) {
            Some(Ok(condition)) => Condition::Holds(condition),
            Some(Err(poison)) => {
                tested = Err(poison);
                Condition::Holds(b.b.bool(false))
            }
            None => Condition::Known(true),
        };
        let step = |b: &mut Self| {
            if let Some(step) = step {
                stepped = b.value(step).map(drop);
            }
        };
        self.loop_with_step(test, |b, exits| b.looped(exits, body), step);
        tested.and(stepped)
    }

    fn repeated_after(&mut self, body: &'a Stmt, condition: ExprId) -> Lower<()> {
        let (run, next, end) = (self.b.block(), self.b.block(), self.b.block());
        self.b.jump(run, Vec::new());
        self.b.switch_to(run);
        self.looped(LoopExits { break_to: end, continue_to: next }, body);
        self.b.join(next);
        let condition = self.condition(condition);
        let again = condition.unwrap_or_else(|_| self.b.bool(false));
        self.b.branch(again, run, end);
        self.b.seal(run);
        self.b.enter(end);
        condition.map(drop)
    }

    /// `return e;`
    fn leave(&mut self, e: Option<ExprId>, span: Span) -> Lower<()> {
        let frame = self.top();
        let wanted = frame.result.clone();
        let Some((local, end)) = frame.returned.clone() else { return Err(Poison) };
        match e {
            Some(e) => {
                let value = self.value_as(e, &wanted)?;
                if wanted != Type::VOID {
                    self.write_local(&local, value);
                }
            }
            None if wanted != Type::VOID => {
                let d = Diagnostic::error(format!("the function gives a `{}`", self.describe(&wanted)));
                return self.error(d.at(span, "no value here"));
            }
            None => {}
        }
        self.b.jump(end, Vec::new());
        Ok(())
    }
}
