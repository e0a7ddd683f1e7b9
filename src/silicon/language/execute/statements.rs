//! Executes statements: where the flow of control divides, joins and repeats.

use super::Executor;
use super::assigned::Assigned;
use super::blocks::{BlockKind, Datum, Head, Key, Poison};
use super::numbers::Number;
use crate::circuit::graph::{Constant, Op, ValueId};
use crate::language::ast::{Cases, Expr, ExprKind, Ident, Statement, StatementKind, Test};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_base::tokens::{Parse, Stop};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// A branch of a statement or an expression: how its block begins.
struct Branch {
    condition: ValueId,
    yes: bool,
}

impl<'a> Executor<'a> {
    /// Executes a statement. What it assigns is not used further if it has an error.
    pub(super) fn statement(&mut self, statement: &'a Statement) {
        if !self.reachable || self.stopped {
            return;
        }
        let result = self.nested(statement.span, |executor| executor.execute(statement));
        if let (Err(Stop), StatementKind::Assign(names, _)) = (result, &statement.kind) {
            for name in names {
                let key = self.key(&name.name);
                self.define(key, Datum::Poison(Rc::new(Poison::Reported)));
            }
        }
    }

    fn execute(&mut self, statement: &'a Statement) -> Parse<()> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Empty => Ok(()),
            StatementKind::Assign(names, values) => self.assignment(names, values, span),
            StatementKind::Block(statements) => {
                statements.iter().for_each(|inner| self.statement(inner));
                Ok(())
            }
            StatementKind::If(condition, then, otherwise) => {
                self.if_statement(condition, then, otherwise.as_deref(), span)
            }
            StatementKind::Case(cases) => self.case_statement(cases, span),
            StatementKind::Loop(test, body) => self.loop_statement(test, body, span),
            StatementKind::Break => {
                let here = self.here;
                let Some(exits) = self.exits.last_mut() else {
                    let d = Diagnostic::error("`BREAK` outside of a loop").at(span, "there is no loop to leave");
                    return self.fail(d.hint("a macro cannot leave a loop around its call"));
                };
                exits.push(here);
                self.reachable = false;
                Ok(())
            }
            StatementKind::Print(text, value) => {
                let word = self.word(value)?;
                let Some(Datum::Token(token)) = self.lookup(Key::Print, self.here) else { return Ok(()) };
                let token = self.circuit.add_value(Op::Print(text.clone()), &[token, word], span);
                self.define(Key::Print, Datum::Token(token));
                Ok(())
            }
            StatementKind::Expr(value) => self.effect(value),
        }
    }

    fn assignment(&mut self, names: &'a [Ident], values: &'a [Expr], span: Span) -> Parse<()> {
        if let Some(name) = names.iter().find(|name| self.macros.contains_key(&name.name)) {
            return self.error(name.span, format!("`{}` is a macro", name.name), "a variable needs another name");
        }
        let data = self.expressions(values)?;
        if data.len() != names.len() {
            let message = format!("{} values for {} variables", data.len(), names.len());
            return self.error(span, message, "the numbers differ");
        }
        for (name, datum) in names.iter().zip(data) {
            self.assign(&name.name, datum);
        }
        Ok(())
    }

    /// Executes an expression for what it does to ports.
    fn effect(&mut self, value: &'a Expr) -> Parse<()> {
        let acts = match &value.kind {
            ExprKind::Call(..) | ExprKind::Attribute(..) => true,
            ExprKind::Name(name) => self.macros.contains_key(name),
            _ => false,
        };
        if !acts {
            return self.error(value.span, "this statement has no effect", "its value is not used");
        }
        self.values(value).map(|_| ())
    }

    fn if_statement(
        &mut self,
        condition: &'a Expr,
        then: &'a Statement,
        otherwise: Option<&'a Statement>,
        span: Span,
    ) -> Parse<()> {
        match self.condition(condition)? {
            Ok(true) => self.statement(then),
            Ok(false) => otherwise.into_iter().for_each(|inner| self.statement(inner)),
            Err(condition) => {
                let branches = [true, false].map(|yes| Branch { condition, yes }).into_iter();
                let bodies = [Some(then), otherwise].into_iter();
                self.branch(branches.zip(bodies).collect(), span, |executor, body| {
                    body.into_iter().for_each(|inner| executor.statement(inner));
                });
            }
        }
        Ok(())
    }

    /// Executes branches of which one is taken, and joins them.
    fn branch<T>(&mut self, branches: Vec<(Branch, T)>, span: Span, execute: impl Fn(&mut Self, T)) {
        let (parent, since) = (self.here, self.journal.len());
        let exits = self.exits.last().map_or(0, Vec::len);
        let mut ends = Vec::new();
        for (Branch { condition, yes }, body) in branches {
            self.here = self.block(BlockKind::Branch { parent, condition, yes });
            execute(self, body);
            if std::mem::replace(&mut self.reachable, true) {
                ends.push(self.here);
            }
        }
        let all_meet = self.exits.last().map_or(0, Vec::len) == exits;
        let assigned = self.assigned_since(since);
        match ends[..] {
            [] => self.reachable = false,
            [one] => self.here = one,
            _ => {
                let dominator = all_meet.then_some(parent);
                self.here = self.block(BlockKind::Join { dominator, parents: ends.into(), assigned, span });
            }
        }
    }

    /// The keys that have been assigned since a point of the journal, which keeps each of these
    /// once.
    fn assigned_since(&mut self, since: usize) -> Rc<BTreeSet<Key>> {
        let assigned: BTreeSet<Key> = self.journal.drain(since..).collect();
        self.journal.extend(&assigned);
        Rc::new(assigned)
    }

    pub(super) fn if_expression(
        &mut self,
        condition: &'a Expr,
        then: &'a Expr,
        otherwise: &'a Expr,
        span: Span,
    ) -> Parse<Vec<Datum>> {
        match self.condition(condition)? {
            Ok(true) => self.values(then),
            Ok(false) => self.values(otherwise),
            Err(condition) => {
                let branches = [true, false].map(|yes| Branch { condition, yes }).into_iter();
                self.branch_values(branches.zip([then, otherwise]).collect(), span)
            }
        }
    }

    /// Executes expressions of which one is taken; their values, joined.
    fn branch_values(&mut self, branches: Vec<(Branch, &'a Expr)>, span: Span) -> Parse<Vec<Datum>> {
        let keys: std::cell::RefCell<Vec<Key>> = Default::default();
        let counts: std::cell::RefCell<Vec<Option<usize>>> = Default::default();
        self.branch(branches, span, |executor, value| {
            let data = executor.values(value).ok();
            counts.borrow_mut().push(data.as_ref().map(Vec::len));
            for (i, datum) in data.into_iter().flatten().enumerate() {
                if keys.borrow().len() <= i {
                    let key = executor.temporary();
                    keys.borrow_mut().push(key);
                }
                let key = keys.borrow()[i];
                executor.define(key, datum);
            }
        });
        let counts: Option<Vec<usize>> = counts.into_inner().into_iter().collect();
        let counts = counts.ok_or(Stop)?;
        if counts.iter().any(|count| *count != counts[0]) {
            return self.error(span, "the branches give different numbers of values", "this expression");
        }
        let mut data = Vec::new();
        for key in keys.into_inner() {
            match self.lookup(key, self.here) {
                Some(Datum::Poison(poison)) => return self.poisoned("the value", span, &poison),
                Some(datum) => data.push(datum),
                None => return Err(Stop),
            }
        }
        Ok(data)
    }

    fn case_statement(&mut self, cases: &'a Cases<Statement>, span: Span) -> Parse<()> {
        let (branches, taken) = self.cases(cases, span)?;
        if let Some(taken) = taken {
            taken.into_iter().for_each(|body| self.statement(body));
            return Ok(());
        }
        self.branch(branches, span, |executor, body| {
            body.into_iter().for_each(|inner| executor.statement(inner));
        });
        Ok(())
    }

    pub(super) fn case_expression(&mut self, cases: &'a Cases<Expr>, span: Span) -> Parse<Vec<Datum>> {
        let (branches, taken) = self.cases(cases, span)?;
        let missing = "a value for the other cases";
        if let Some(taken) = taken {
            return match taken {
                Some(value) => self.values(value),
                None => self.error(span, "`CASE` has no value here", missing),
            };
        }
        let branches: Option<Vec<(Branch, &Expr)>> =
            branches.into_iter().map(|(branch, value)| value.map(|value| (branch, value))).collect();
        match branches {
            Some(branches) => self.branch_values(branches, span),
            None => {
                let d = Diagnostic::error("`CASE` does not give a value for each number").at(span, missing);
                self.fail(d.hint("add `ELSE` and a value"))
            }
        }
    }

    /// The branches of a `CASE`, with what is done in each; or, if the selector is known, what is
    /// done.
    #[allow(clippy::type_complexity, reason = "a list of branches, or the one that is taken")]
    fn cases<T>(
        &mut self,
        cases: &'a Cases<T>,
        span: Span,
    ) -> Parse<(Vec<(Branch, Option<&'a T>)>, Option<Option<&'a T>>)> {
        let selector = self.expression(&cases.selector)?;
        let mut labels: Vec<(Number, Span)> = Vec::new();
        let mut arms = Vec::new();
        for (values, arm) in &cases.arms {
            for value in values {
                labels.push((self.label(value)?, value.span));
                arms.push(arm);
            }
        }
        let size = match &selector {
            Datum::Number(Number::Sized(_, size)) => Some(*size),
            Datum::Word(value) => self.circuit.value(*value).size,
            _ => None,
        };
        let constants = self.labels(&labels, size)?;
        if let Datum::Number(number) = &selector {
            let selected =
                size.map_or_else(|| Ok(Self::constant(number)), |size| number.sized(size).map(Constant::Word));
            let taken = selected.ok().and_then(|selected| constants.iter().position(|label| *label == selected));
            return Ok((Vec::new(), Some(taken.map(|i| arms[i]).or(cases.otherwise.as_ref()))));
        }
        let selector = self.as_word(selector, cases.selector.span)?;
        let covers = size.is_some_and(|size| size < 32 && constants.len() == 1 << size);
        let node = self.circuit.add(Op::Case(constants), &[selector], span);
        let bodies = arms.into_iter().map(Some).chain((!covers).then_some(cases.otherwise.as_ref()));
        let outputs = self.circuit.node(node).outputs.clone();
        let branches = outputs.into_iter().zip(bodies).map(|(condition, body)| (Branch { condition, yes: true }, body));
        Ok((branches.collect(), None))
    }

    /// The labels of a `CASE` in the size of its selector, if that is known. They differ.
    fn labels(&mut self, labels: &[(Number, Span)], size: Option<u32>) -> Parse<Vec<Constant>> {
        let size = size.or_else(|| {
            labels.iter().find_map(|(label, _)| if let Number::Sized(_, size) = label { Some(*size) } else { None })
        });
        let mut seen: std::collections::HashMap<Constant, Span> = Default::default();
        let mut constants = Vec::new();
        for (label, span) in labels {
            let constant = match size.map(|size| label.sized(size)) {
                None => Self::constant(label),
                Some(Ok(bits)) => Constant::Word(bits),
                Some(Err(problem)) => return self.error(*span, problem, "this case never happens"),
            };
            if let Some(first) = seen.insert(constant.clone(), *span) {
                let d = Diagnostic::error("two cases have the same number").at(*span, "again").also(first, "first");
                return self.fail(d);
            }
            constants.push(constant);
        }
        Ok(constants)
    }

    fn loop_statement(&mut self, test: &'a Test, body: &'a Statement, span: Span) -> Parse<()> {
        let (before, since) = (self.here, self.journal.len());
        let id = self.circuit.add_loop(span, self.around);
        self.loops.push(Default::default());
        let outer = self.around.replace(id);
        let head = Rc::new(Head { before, id, assigned: self.loop_assigns(test, body), scope: self.scope, span });
        let first = self.block(BlockKind::Head(head.clone()));
        self.here = first;
        self.exits.push(Vec::new());
        let result = self.loop_body(test, body);
        let end = std::mem::replace(&mut self.reachable, true).then_some(self.here);
        self.seal(&head, first, end);
        self.around = outer;
        let exits = self.exits.pop().unwrap_or_default();
        let assigned = self.assigned_since(since);
        self.here = match exits.is_empty() {
            true => self.block(BlockKind::Endless { before, assigned, span }),
            false => self.block(BlockKind::Join { dominator: Some(before), parents: exits.into(), assigned, span }),
        };
        result
    }

    fn loop_body(&mut self, test: &'a Test, body: &'a Statement) -> Parse<()> {
        match test {
            Test::Endless => {
                self.statement(body);
                Ok(())
            }
            Test::While(condition) => {
                let condition = self.condition(condition)?;
                self.leave(condition, false);
                self.statement(body);
                Ok(())
            }
            Test::Until(condition) => {
                self.statement(body);
                if self.reachable {
                    let condition = self.condition(condition)?;
                    self.leave(condition, true);
                }
                Ok(())
            }
        }
    }

    /// Leaves the loop if the condition is as given, and goes on otherwise.
    fn leave(&mut self, condition: Result<bool, ValueId>, when: bool) {
        let parent = self.here;
        let exit = match condition {
            Ok(known) => {
                self.reachable = known != when;
                (known == when).then_some(parent)
            }
            Err(condition) => {
                self.here = self.block(BlockKind::Branch { parent, condition, yes: !when });
                Some(self.block(BlockKind::Branch { parent, condition, yes: when }))
            }
        };
        if let (Some(exit), Some(exits)) = (exit, self.exits.last_mut()) {
            exits.push(exit);
        }
    }

    /// Variables of this scope that a loop may assign.
    fn loop_assigns(&mut self, test: &Test, body: &Statement) -> BTreeSet<super::blocks::Symbol> {
        let mut assigned = Assigned { program: self.program, macros: &self.macros, names: BTreeSet::new(), steps: 0 };
        assigned.loop_body(test, body);
        let names: Vec<Arc<str>> = assigned.names.into_iter().collect();
        self.steps += assigned.steps;
        names.iter().map(|name| self.symbol(name)).collect()
    }
}
