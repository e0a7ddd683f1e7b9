//! The variables that a statement may assign, seen from its text.

use super::CARRY;
use crate::language::ast::{BinaryOp, Cases, Expr, ExprKind, Program, Statement, StatementKind, Test};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Collects names that are assigned.
pub struct Assigned<'a> {
    /// The macros, which assign variables of their callers.
    pub program: &'a Program,
    /// Macros by name.
    pub macros: &'a HashMap<Arc<str>, usize>,
    /// The names.
    pub names: BTreeSet<Arc<str>>,
    /// Statements and expressions that have been looked at.
    pub steps: usize,
}

impl Assigned<'_> {
    /// Adds what a statement may assign.
    pub fn statement(&mut self, statement: &Statement) {
        self.steps += 1;
        match &statement.kind {
            StatementKind::Empty | StatementKind::Break => {}
            StatementKind::Assign(names, values) => {
                self.names.extend(names.iter().map(|name| name.name.clone()));
                self.expressions(values);
            }
            StatementKind::Block(statements) => statements.iter().for_each(|inner| self.statement(inner)),
            StatementKind::If(condition, then, otherwise) => {
                self.expression(condition);
                self.statement(then);
                otherwise.iter().for_each(|inner| self.statement(inner));
            }
            StatementKind::Case(cases) => self.cases(cases, Self::statement),
            StatementKind::Loop(test, body) => self.loop_body(test, body),
            StatementKind::Print(_, value) => self.expression(value),
            StatementKind::Expr(value) => self.expression(value),
        }
    }

    /// Adds what a loop may assign.
    pub fn loop_body(&mut self, test: &Test, body: &Statement) {
        match test {
            Test::Endless => {}
            Test::While(condition) | Test::Until(condition) => self.expression(condition),
        }
        self.statement(body);
    }

    fn cases<T>(&mut self, cases: &Cases<T>, body: impl Fn(&mut Self, &T)) {
        self.expression(&cases.selector);
        for (labels, arm) in &cases.arms {
            self.expressions(labels);
            body(self, arm);
        }
        cases.otherwise.iter().for_each(|arm| body(self, arm));
    }

    fn expressions(&mut self, all: &[Expr]) {
        all.iter().for_each(|value| self.expression(value));
    }

    fn expression(&mut self, value: &Expr) {
        self.steps += 1;
        match &value.kind {
            ExprKind::Number(..) => {}
            ExprKind::Name(name) => self.call(name),
            ExprKind::Call(name, arguments) => {
                self.expressions(arguments);
                self.call(&name.name);
            }
            ExprKind::Attribute(port, _, arguments) => {
                self.expression(port);
                self.expressions(arguments);
            }
            ExprKind::Slice(value, high, low) => {
                self.expression(value);
                self.expression(high);
                low.iter().for_each(|low| self.expression(low));
            }
            ExprKind::Unary(_, value) => self.expression(value),
            ExprKind::Binary(op, left, right) => {
                self.expression(left);
                self.expression(right);
                if matches!(op, BinaryOp::Add | BinaryOp::Sub) {
                    self.names.insert(CARRY.into());
                }
            }
            ExprKind::Sized(left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::If(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|value| self.expression(value));
            }
            ExprKind::Case(cases) => self.cases(cases, Self::expression),
        }
    }

    fn call(&mut self, name: &Arc<str>) {
        if let Some(definition) = self.macros.get(name).and_then(|i| self.program.macros.get(*i)) {
            self.names.extend(definition.changed.iter().map(|name| name.name.clone()));
        }
    }
}
