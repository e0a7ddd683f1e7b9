//! Statements.

use super::*;
use crate::light_loop::{LightLoop, cosine_of_sight};

impl Lowerer<'_> {
    pub(super) fn statements(&mut self, list: &[Statement]) {
        for s in list {
            if self.b.is_terminated() {
                self.b.continue_unreachable();
            }
            self.statement(s);
        }
    }

    fn at(&mut self, span: Span) {
        self.b.loc = self.places.loc(span);
    }

    fn statement(&mut self, s: &Statement) {
        self.at(s.span);
        match &s.kind {
            StatementKind::Declare(id, init) => {
                let ty = &self.body.variable(*id).ty;
                let values = match init {
                    Some(init) => self.value(*init),
                    None => self.zeros(ty),
                };
                self.at(s.span);
                self.write_variable(*id, &values);
            }
            StatementKind::Expr(e) => {
                self.value(*e);
            }
            StatementKind::Block(list) => self.statements(list),
            StatementKind::If(arms, last) => self.conditional(arms, last.as_deref()),
            StatementKind::Loop { condition, until, runs_once, step, body } => {
                self.repeat(*condition, *until, *runs_once, *step, body);
            }
            StatementKind::Break | StatementKind::Continue => {
                let Some(innermost) = self.loops.last().copied() else { return };
                let is_break = matches!(s.kind, StatementKind::Break);
                self.b.jump(if is_break { innermost.break_to } else { innermost.continue_to }, Vec::new());
            }
            StatementKind::Return(value) => {
                let values = value.map(|v| self.value(v)).unwrap_or_default();
                self.at(s.span);
                self.leave(values);
            }
            StatementKind::Illuminance { position, cone, body } => self.illuminance(*position, *cone, body),
        }
    }

    fn conditional(&mut self, arms: &[(NodeId, Statement)], last: Option<&Statement>) {
        let end = self.b.block();
        for (condition, s) in arms {
            let condition = self.value(*condition)[0];
            self.leave_if(condition, |l| {
                l.statement(s);
                l.b.jump_unless_terminated(end);
            });
        }
        if let Some(s) = last {
            self.statement(s);
        }
        self.b.join(end);
    }

    fn repeat(
        &mut self,
        condition: Option<NodeId>,
        until: bool,
        runs_once: bool,
        step: Option<NodeId>,
        body: &Statement,
    ) {
        let (head, turn, next, end) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
        self.b.jump(if runs_once { turn } else { head }, Vec::new());
        let test = |l: &mut Self| {
            l.b.switch_to(head);
            let test = match condition {
                Some(condition) => l.value(condition)[0],
                None => l.b.bool(true),
            };
            if until {
                l.b.branch(test, end, turn);
            } else {
                l.b.branch(test, turn, end);
            }
            l.b.seal(turn);
        };
        // The condition of a loop whose first turn runs untested follows the body.
        if !runs_once {
            test(self);
        }
        self.b.switch_to(turn);
        self.loops.push(LoopExits { break_to: end, continue_to: next });
        self.statement(body);
        self.loops.pop();
        self.b.join(next);
        if let Some(step) = step {
            self.value(step);
        }
        self.b.jump(head, Vec::new());
        if runs_once {
            self.b.seal(head);
            test(self);
        } else {
            self.b.seal(head);
        }
        self.b.enter(end);
    }

    fn illuminance(&mut self, position: Option<NodeId>, cone: Option<(NodeId, NodeId)>, body: &Statement) {
        let position = match position {
            Some(position) => self.value(position)[0],
            None => self.input("P"),
        };
        let normal = self.input("N");
        let cone = cone.map(|(axis, angle)| (self.value(axis)[0], self.value(angle)[0]));
        let lights = LightLoop::begin(&mut self.b, position, normal, None);
        let cone = cone.map(|(axis, angle)| {
            let cosine = self.library("cos", vec![angle], &[ir::Type::F32])[0];
            (axis, cosine_of_sight(&mut self.b, angle, cosine))
        });
        lights.choose(&mut self.b, cone);
        let named = self.body.variables.iter().enumerate();
        let of_light: Vec<(usize, &'static str)> = named
            .filter_map(|(number, v)| match &v.origin {
                Origin::Renderer(Name { reads: [name @ ("L" | "Cl")], .. }) => Some((number, *name)),
                _ => None,
            })
            .collect();
        for (number, name) in of_light {
            let id = VariableId(number as u32);
            let is_fixed = self.body.variable(id).ty.scalar().fixed().is_some();
            let value = match name {
                // Fixed-point types of directions hold directions alone.
                "L" if is_fixed => self.b.normalize(lights.direction),
                "L" => lights.direction,
                _ => lights.color,
            };
            let values = self.floats_as(&[value], &self.body.variable(id).ty);
            self.write_variable(id, &values);
        }
        self.loops.push(lights.exits());
        self.statement(body);
        self.loops.pop();
        lights.finish(&mut self.b);
    }
}
