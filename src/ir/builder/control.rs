//! Structured control: conditionals and loops that make, seal and enter their blocks.
//!
//! [`Control`] is for whatever has a builder, so that the code inside a conditional or a loop gets
//! the state of a front end or a generator, not the builder alone. [`CountedLoop`] is for loops
//! whose body is written between two calls.

use super::{FunctionBuilder, Variable};
use crate::{BlockId, Value};

/// The case in which code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Decided while the function is built: there is no branch.
    Known(bool),
    /// Where a `bool` of the program is true.
    Holds(Value),
    /// Where a `bool` of the program is false.
    Fails(Value),
}

impl From<Value> for Condition {
    fn from(value: Value) -> Self {
        Self::Holds(value)
    }
}

/// The blocks to which the body of a loop may jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopExits {
    /// The block after the loop.
    pub break_to: BlockId,
    /// The block that ends an iteration.
    pub continue_to: BlockId,
}

impl FunctionBuilder {
    /// Declares that no further jump to `block` will be made, and continues there.
    pub fn enter(&mut self, block: BlockId) {
        self.seal(block);
        self.switch_to(block);
    }

    /// Jumps to `block`, unless the current block has ended, and continues there; no other jump
    /// to it follows.
    pub fn join(&mut self, block: BlockId) {
        self.jump_unless_terminated(block);
        self.enter(block);
    }

    /// Continues after a terminator, in unreachable code.
    pub fn continue_unreachable(&mut self) {
        let block = self.block();
        self.enter(block);
    }

    /// Ends the block with a jump, unless it has ended.
    pub fn jump_unless_terminated(&mut self, block: BlockId) {
        if !self.is_terminated() {
            self.jump(block, Vec::new());
        }
    }

    /// Jumps to `otherwise` where a condition does not hold, and continues where it does.
    pub fn jump_unless(&mut self, condition: impl Into<Condition>, otherwise: BlockId) {
        let run = self.block();
        self.branch_on(condition, run, otherwise);
        self.enter(run);
    }

    /// Ends the block with a branch, or with a jump where the condition is known.
    pub fn branch_on(&mut self, condition: impl Into<Condition>, then: BlockId, otherwise: BlockId) {
        match condition.into() {
            Condition::Known(true) => self.jump(then, Vec::new()),
            Condition::Known(false) => self.jump(otherwise, Vec::new()),
            Condition::Holds(value) => self.branch(value, then, otherwise),
            Condition::Fails(value) => self.branch(value, otherwise, then),
        }
    }

    /// Declares a variable that has a value from here on.
    pub fn variable_with(&mut self, value: Value) -> Variable {
        let variable = self.variable(self.ty(value));
        self.write(variable, value);
        variable
    }
}

/// Structured control for whatever has a builder.
pub trait Control: Sized {
    /// The builder of the function.
    fn builder(&mut self) -> &mut FunctionBuilder;

    /// Runs `then` where a condition holds.
    fn if_then(&mut self, condition: impl Into<Condition>, then: impl FnOnce(&mut Self)) {
        let condition = condition.into();
        if let Condition::Known(known) = condition {
            return if known {
                then(self)
            };
        }
        let b = self.builder();
        let (yes, end) = (b.block(), b.block());
        b.branch_on(condition, yes, end);
        b.enter(yes);
        then(self);
        self.builder().join(end);
    }

    /// Runs `then` where a condition holds, else `otherwise`.
    fn if_else(
        &mut self,
        condition: impl Into<Condition>,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let then = |this: &mut Self| {
            then(this);
            Vec::new()
        };
        let otherwise = |this: &mut Self| {
            otherwise(this);
            Vec::new()
        };
        self.if_else_values(condition, then, otherwise);
    }

    /// The values of `then` where a condition holds, else those of `otherwise`: as many, of the
    /// same types.
    fn if_else_values(
        &mut self,
        condition: impl Into<Condition>,
        then: impl FnOnce(&mut Self) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let condition = condition.into();
        if let Condition::Known(known) = condition {
            return if known { then(self) } else { otherwise(self) };
        }
        let b = self.builder();
        let (yes, no, end) = (b.block(), b.block(), b.block());
        b.branch_on(condition, yes, no);
        b.enter(yes);
        let values = then(self);
        let b = self.builder();
        let results: Vec<Variable> = values.into_iter().map(|value| b.variable_with(value)).collect();
        b.jump_unless_terminated(end);
        b.enter(no);
        let values = otherwise(self);
        let b = self.builder();
        results.iter().zip(values).for_each(|(&result, value)| b.write(result, value));
        b.join(end);
        results.into_iter().map(|result| b.read(result)).collect()
    }

    /// Runs `leave` where a condition holds, which returns or jumps elsewhere, and continues where
    /// the condition does not hold.
    fn leave_if(&mut self, condition: impl Into<Condition>, leave: impl FnOnce(&mut Self)) {
        let condition = condition.into();
        if let Condition::Known(false) = condition {
            return;
        }
        let b = self.builder();
        let (yes, no) = (b.block(), b.block());
        b.branch_on(condition, yes, no);
        b.enter(yes);
        leave(self);
        self.builder().enter(no);
    }

    /// Runs `body` once, and again as long as the condition that it gives holds.
    fn repeat<C: Into<Condition>>(&mut self, body: impl FnOnce(&mut Self) -> C) {
        let b = self.builder();
        let (head, end) = (b.block(), b.block());
        b.jump(head, Vec::new());
        b.switch_to(head);
        let again = body(self);
        let b = self.builder();
        b.branch_on(again, head, end);
        b.seal(head);
        b.enter(end);
    }

    /// Runs `body` as long as the condition that `test` gives before each iteration holds.
    fn loop_while<C: Into<Condition>>(&mut self, test: impl FnOnce(&mut Self) -> C, body: impl FnOnce(&mut Self)) {
        let blocks = OpenLoop::begin(self.builder());
        let condition = test(self);
        blocks.enter_body(self.builder(), condition);
        body(self);
        blocks.finish(self.builder());
    }

    /// Runs `body`, then `step`, as long as the condition that `test` gives before each iteration
    /// holds. The body may jump to the exits.
    fn loop_with_step<C: Into<Condition>>(
        &mut self,
        test: impl FnOnce(&mut Self) -> C,
        body: impl FnOnce(&mut Self, LoopExits),
        step: impl FnOnce(&mut Self),
    ) {
        let b = self.builder();
        let (head, run, next, end) = (b.block(), b.block(), b.block(), b.block());
        b.jump(head, Vec::new());
        b.switch_to(head);
        let condition = test(self);
        let b = self.builder();
        b.branch_on(condition, run, end);
        b.enter(run);
        body(self, LoopExits { break_to: end, continue_to: next });
        self.builder().join(next);
        step(self);
        let b = self.builder();
        b.jump_unless_terminated(head);
        b.seal(head);
        b.enter(end);
    }
}

impl Control for FunctionBuilder {
    fn builder(&mut self) -> &mut FunctionBuilder {
        self
    }
}

/// The blocks of a loop that tests before each iteration.
#[derive(Clone, Copy, Debug)]
struct OpenLoop {
    head: BlockId,
    body: BlockId,
    end: BlockId,
}

impl OpenLoop {
    /// Begins a loop; the builder is where its condition is computed.
    fn begin(b: &mut FunctionBuilder) -> Self {
        let (head, body, end) = (b.block(), b.block(), b.block());
        b.jump(head, Vec::new());
        b.switch_to(head);
        Self { head, body, end }
    }

    /// Tests the condition; the builder is in the body.
    fn enter_body(&self, b: &mut FunctionBuilder, condition: impl Into<Condition>) {
        b.branch_on(condition, self.body, self.end);
        b.enter(self.body);
    }

    /// Goes back; the builder is after the loop.
    fn finish(&self, b: &mut FunctionBuilder) {
        b.jump_unless_terminated(self.head);
        b.seal(self.head);
        b.enter(self.end);
    }
}

/// A loop whose index runs from 0 while below a count. The builder is in its body.
#[derive(Clone, Copy, Debug)]
pub struct CountedLoop {
    blocks: OpenLoop,
    index: Variable,
    /// The index in this iteration, a `u32`.
    pub iteration: Value,
}

impl CountedLoop {
    /// Begins a loop of `count`, a `u32`, iterations.
    pub fn begin(b: &mut FunctionBuilder, count: Value) -> Self {
        let zero = b.u32(0);
        let index = b.variable_with(zero);
        let blocks = OpenLoop::begin(b);
        let iteration = b.read(index);
        let more = b.ilt(iteration, count);
        blocks.enter_body(b, more);
        Self { blocks, index, iteration }
    }

    /// The block after the loop: `break` leads there.
    pub fn end(&self) -> BlockId {
        self.blocks.end
    }

    /// Ends the body: raises the index by `step` and goes back. The builder is after the loop.
    pub fn finish(self, b: &mut FunctionBuilder, step: u32) {
        let i = b.read(self.index);
        let step = b.u32(step);
        let next = b.iadd(i, step);
        b.write(self.index, next);
        self.blocks.finish(b);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::body;
    use super::*;
    use crate::Type;

    #[test]
    fn what_is_known_leaves_no_branch() {
        let text = body(&[Type::F32], |b, p| {
            let sum = b.variable_with(p[0]);
            b.if_then(Condition::Known(false), |b| b.write(sum, p[0]));
            b.leave_if(Condition::Known(false), |b| b.ret(vec![p[0]]));
            let twice = |b: &mut FunctionBuilder| {
                let twice = b.add(p[0], p[0]);
                b.write(sum, twice);
            };
            b.if_else(Condition::Known(true), twice, |_| {});
            b.read(sum)
        });
        assert_eq!(text, ["v1: f32 = add v0, v0", "ret v1"]);
    }

    #[test]
    fn a_conditional_joins_what_both_sides_give() {
        let text = body(&[Type::Bool, Type::F32], |b, p| {
            let kept = b.variable_with(p[1]);
            b.if_then(Condition::Fails(p[0]), |b| {
                let opposite = b.neg(p[1]);
                b.write(kept, opposite);
            });
            let kept = b.read(kept);
            b.if_else_values(p[0], |b| vec![b.sqrt(kept)], |b| vec![b.abs(kept)])[0]
        });
        let expected = [
            "br v0, b2(v1), b1",
            "b1:",
            "v2: f32 = neg v1",
            "jump b2(v2)",
            "b2(v3: f32):",
            "br v0, b3, b4",
            "b3:",
            "v4: f32 = sqrt v3",
            "jump b5(v4)",
            "b4:",
            "v5: f32 = abs v3",
            "jump b5(v5)",
            "b5(v6: f32):",
            "ret v6",
        ];
        assert_eq!(text, expected);
    }

    #[test]
    fn code_that_leaves_does_not_come_back() {
        let text = body(&[Type::Bool, Type::F32], |b, p| {
            b.leave_if(p[0], |b| b.ret(vec![p[1]]));
            b.neg(p[1])
        });
        assert_eq!(text, ["br v0, b1, b2", "b1:", "ret v1", "b2:", "v2: f32 = neg v1", "ret v2"]);
    }

    #[test]
    fn a_loop_tests_at_its_foot_or_at_its_head() {
        let at_foot = body(&[Type::F32], |b, p| {
            let x = b.variable_with(p[0]);
            b.repeat(|b| {
                let now = b.read(x);
                let next = b.add(now, now);
                b.write(x, next);
                b.lt(next, p[0])
            });
            b.read(x)
        });
        let expected = [
            "jump b1(v0)",
            "b1(v1: f32):",
            "v2: f32 = add v1, v1",
            "v3: bool = lt v2, v0",
            "br v3, b1(v2), b2",
            "b2:",
            "ret v2",
        ];
        assert_eq!(at_foot, expected);
        let at_head = body(&[Type::F32], |b, p| {
            let x = b.variable_with(p[0]);
            let test = |b: &mut FunctionBuilder| {
                let now = b.read(x);
                b.lt(now, p[0])
            };
            let body = |b: &mut FunctionBuilder| {
                let now = b.read(x);
                let next = b.add(now, now);
                b.write(x, next);
            };
            b.loop_while(test, body);
            b.read(x)
        });
        let expected = [
            "jump b1(v0)",
            "b1(v1: f32):",
            "v2: bool = lt v1, v0",
            "br v2, b2, b3",
            "b2:",
            "v3: f32 = add v1, v1",
            "jump b1(v3)",
            "b3:",
            "ret v1",
        ];
        assert_eq!(at_head, expected);
    }

    #[test]
    fn the_body_of_a_loop_with_a_step_may_leave_early() {
        let text = body(&[Type::Bool], |b, p| {
            let body = |b: &mut FunctionBuilder, exits: LoopExits| b.jump_unless(p[0], exits.break_to);
            b.loop_with_step(|_| Condition::Known(true), body, |_| {});
            p[0]
        });
        let expected =
            ["jump b1", "b1:", "jump b2", "b2:", "br v0, b5, b4", "b3:", "jump b1", "b4:", "ret v0", "b5:", "jump b3"];
        assert_eq!(text, expected);
    }

    #[test]
    fn a_counted_loop_counts_from_0_in_steps() {
        let text = body(&[Type::U32], |b, p| {
            let sum = b.variable_with(p[0]);
            let counted = CountedLoop::begin(b, p[0]);
            b.write(sum, counted.iteration);
            counted.finish(b, 2);
            b.read(sum)
        });
        let expected = [
            "v1: u32 = const 0",
            "jump b1(v1, v0)",
            "b1(v2: u32, v6: u32):",
            "v3: bool = ilt v2, v0",
            "br v3, b2, b3",
            "b2:",
            "v4: u32 = const 2",
            "v5: u32 = iadd v2, v4",
            "jump b1(v5, v2)",
            "b3:",
            "ret v6",
        ];
        assert_eq!(text, expected);
    }
}
