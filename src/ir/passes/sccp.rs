//! Sparse conditional constant propagation (Wegman, Zadeck: "Constant Propagation with Conditional
//! Branches", 1991).
//!
//! It starts from the assumption that no block is reached and every value is a constant, and lowers
//! what the program contradicts. So it finds constants that depend on each other around a loop, or
//! on branches that they decide themselves; `fold`, which assumes nothing, does not. Constant
//! instructions, block parameters and branches are replaced. Each value is lowered at most twice,
//! so the work is linear.

use super::block_params::retain_params;
use super::replace::Replacements;
use crate::fold::eval_op;
use crate::{BlockId, Const, Function, Inst, Loc, Op, Terminator, Type, Value};
use std::collections::VecDeque;

/// Runs the pass; returns the number of instructions, parameters and branches whose value was
/// found.
pub fn run(func: &mut Function) -> usize {
    let mut solver = Solver::new(func);
    solver.solve();
    let Solver { states, reached, .. } = solver;
    apply(func, states, &reached)
}

/// The belief about a value; it only ever moves downwards.
#[derive(Clone, Debug, PartialEq)]
enum LatticeValue {
    /// Nothing contradicts any belief yet.
    Unseen,
    /// It is this constant wherever it is defined.
    Known(Const),
    /// It may differ.
    Varies,
}

/// Who uses a value.
#[derive(Clone, Copy)]
enum User {
    Inst(BlockId, u32),
    End(BlockId),
}

struct Solver<'a> {
    func: &'a Function,
    states: Vec<LatticeValue>,
    reached: Vec<bool>,
    /// For each block, which of its two ways are taken.
    taken: Vec<[bool; 2]>,
    users: Vec<Vec<User>>,
    /// Values that moved and whose users have not seen it.
    moved: VecDeque<Value>,
    /// Blocks reached and not looked at.
    entered: VecDeque<BlockId>,
}

impl<'a> Solver<'a> {
    fn new(func: &'a Function) -> Self {
        let mut users = vec![Vec::new(); func.values.len()];
        for id in func.block_ids() {
            let block = func.block(id);
            for (i, inst) in block.insts.iter().enumerate() {
                inst.args.iter().for_each(|a| users[a.0 as usize].push(User::Inst(id, i as u32)));
            }
            block.term.for_each_arg(|a| users[a.0 as usize].push(User::End(id)));
        }
        Self {
            func,
            states: vec![LatticeValue::Unseen; func.values.len()],
            reached: vec![false; func.blocks.len()],
            taken: vec![[false; 2]; func.blocks.len()],
            users,
            moved: VecDeque::new(),
            entered: VecDeque::new(),
        }
    }

    fn solve(&mut self) {
        for &param in self.func.param_values() {
            self.lower(param, LatticeValue::Varies);
        }
        self.enter(BlockId(0));
        loop {
            if let Some(block) = self.entered.pop_front() {
                for i in 0..self.func.block(block).insts.len() {
                    self.inst(block, i);
                }
                self.end(block);
            } else if let Some(value) = self.moved.pop_front() {
                for i in 0..self.users[value.0 as usize].len() {
                    match self.users[value.0 as usize][i] {
                        User::Inst(block, i) if self.reached[block.0 as usize] => self.inst(block, i as usize),
                        User::End(block) if self.reached[block.0 as usize] => self.end(block),
                        // The block is looked at as a whole when it is reached.
                        User::Inst(..) | User::End(_) => {}
                    }
                }
            } else {
                break;
            }
        }
    }

    fn enter(&mut self, block: BlockId) {
        if !std::mem::replace(&mut self.reached[block.0 as usize], true) {
            self.entered.push_back(block);
        }
    }

    fn state(&self, value: Value) -> &LatticeValue {
        &self.states[value.0 as usize]
    }

    /// Takes a value down to `state`, if that is further down.
    fn lower(&mut self, value: Value, state: LatticeValue) {
        let old = &mut self.states[value.0 as usize];
        let new = match (&*old, state) {
            (LatticeValue::Varies, _) | (_, LatticeValue::Unseen) => return,
            (LatticeValue::Known(a), LatticeValue::Known(b)) if *a == b => return,
            (LatticeValue::Known(_), _) => LatticeValue::Varies,
            (LatticeValue::Unseen, new) => new,
        };
        *old = new;
        self.moved.push_back(value);
    }

    fn inst(&mut self, block: BlockId, i: usize) {
        let inst = &self.func.block(block).insts[i];
        match inst.results[..] {
            [result] if inst.op.is_pure() => {
                let state = self.evaluate(&inst.op, &inst.args, self.func.ty(result));
                self.lower(result, state);
            }
            _ => inst.results.iter().for_each(|&r| self.lower(r, LatticeValue::Varies)),
        }
    }

    /// The state of a pure operation's result, from those of its operands.
    fn evaluate(&self, op: &Op, args: &[Value], ty: Type) -> LatticeValue {
        let truth = |v: Value| match self.state(v) {
            LatticeValue::Known(Const::Bool(b)) => Some(*b),
            _ => None,
        };
        match (op, args) {
            (Op::And, _) if args.iter().any(|&a| truth(a) == Some(false)) => {
                return LatticeValue::Known(Const::Bool(false));
            }
            (Op::Or, _) if args.iter().any(|&a| truth(a) == Some(true)) => {
                return LatticeValue::Known(Const::Bool(true));
            }
            (Op::Select, &[c, a, b]) => {
                return match (truth(c), self.state(c)) {
                    (Some(c), _) => self.state(if c { a } else { b }).clone(),
                    (None, LatticeValue::Unseen) => LatticeValue::Unseen,
                    _ => meet(self.state(a), self.state(b)),
                };
            }
            _ => {}
        }
        let mut constants = Vec::with_capacity(args.len());
        let mut unseen = false;
        for &a in args {
            match self.state(a) {
                LatticeValue::Varies => return LatticeValue::Varies,
                LatticeValue::Unseen => unseen = true,
                LatticeValue::Known(c) => constants.push(c),
            }
        }
        if unseen {
            return LatticeValue::Unseen;
        }
        eval_op(op, &constants, ty).map_or(LatticeValue::Varies, LatticeValue::Known)
    }

    /// Takes the ways out of a block that its condition leaves open, and passes their arguments on.
    fn end(&mut self, block: BlockId) {
        let term = &self.func.block(block).term;
        let open = match term {
            Terminator::Branch(c, ..) => match self.state(*c) {
                LatticeValue::Unseen => [false, false],
                LatticeValue::Known(Const::Bool(true)) => [true, false],
                LatticeValue::Known(_) => [false, true],
                LatticeValue::Varies => [true, true],
            },
            _ => [true, false],
        };
        for (way, target) in term.targets().enumerate() {
            self.taken[block.0 as usize][way] |= open[way];
            if self.taken[block.0 as usize][way] {
                for (&p, &a) in self.func.block(target.block).params.iter().zip(&target.args) {
                    let state = self.state(a).clone();
                    self.lower(p, state);
                }
                self.enter(target.block);
            }
        }
    }
}

/// The state of a value that is one of two.
fn meet(a: &LatticeValue, b: &LatticeValue) -> LatticeValue {
    match (a, b) {
        (LatticeValue::Unseen, x) | (x, LatticeValue::Unseen) => x.clone(),
        (a, b) if a == b => a.clone(),
        _ => LatticeValue::Varies,
    }
}

/// Puts what is known into the function.
fn apply(func: &mut Function, states: Vec<LatticeValue>, reached: &[bool]) -> usize {
    let known = |v: Value| match states.get(v.0 as usize) {
        Some(LatticeValue::Known(c)) => Some(c),
        _ => None,
    };
    let mut changes = 0;
    let mut replaced = Replacements::new(func);
    let mut constants = Vec::new();
    for id in func.block_ids().filter(|b| reached[b.0 as usize]) {
        for param in func.block(id).params.clone() {
            if let Some(c) = known(param) {
                let result = func.new_value(c.ty());
                constants.push(Inst { op: Op::Const(c.clone()), args: vec![], results: vec![result], loc: Loc::NONE });
                replaced.set(param, result);
            }
        }
        let block = func.block_mut(id);
        for inst in block.insts.iter_mut().filter(|i| i.op.is_pure() && !matches!(i.op, Op::Const(_))) {
            if let [result] = inst.results[..]
                && let Some(c) = known(result)
            {
                (inst.op, inst.args) = (Op::Const(c.clone()), Vec::new());
                changes += 1;
            }
        }
        if let Terminator::Branch(c, then, otherwise) = &block.term
            && let Some(Const::Bool(truth)) = known(*c)
        {
            block.term = Terminator::Jump(if *truth { then.clone() } else { otherwise.clone() });
            changes += 1;
        }
    }
    retain_params(func, |v| known(*v).is_none());
    func.block_mut(BlockId(0)).insts.splice(0..0, constants);
    changes + replaced.apply(func)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, module};
    use crate::passes::Pipeline;

    /// A variable that a loop would change only if it were not what it is at the start.
    const RING: &str = "fn f(v0 c: bool) -> (return: f32) {
b0:
  v1: i32 = const 1
  v2: f32 = const 3.0
  jump b1(v1)
b1(v3: i32):
  v4: bool = ieq v3, v1
  br v4, b3(v3), b2
b2:
  v5: i32 = iadd v3, v1
  jump b3(v5)
b3(v6: i32):
  br v0, b1(v6), b4
b4:
  v7: f32 = to_float v6
  v8: f32 = mul v7, v2
  ret v8
}";

    #[test]
    fn constants_that_depend_on_the_branches_they_decide_are_found() {
        check(
            super::run,
            RING,
            "fn f(v0 c: bool) -> (return: f32) {
b0:
  v9: i32 = const 1
  v10: i32 = const 1
  v1: i32 = const 1
  v2: f32 = const 3.0
  jump b1
b1:
  v4: bool = const true
  jump b3
b2:
  v5: i32 = iadd v9, v1
  jump b3
b3:
  br v0, b1, b4
b4:
  v7: f32 = const 1.0
  v8: f32 = const 3.0
  ret v8
}",
        );
    }

    #[test]
    fn folding_alone_does_not_find_them() {
        let without = Pipeline::parse("-sccp").expect("a pass");
        let mut m = module(RING);
        without.run(&mut m, &mut ()).expect("the passes keep the rules");
        assert!(m.to_string().contains("mul"), "{m}");
        let mut m = module(RING);
        Pipeline::default().run(&mut m, &mut ()).expect("the passes keep the rules");
        assert!(!m.to_string().contains("mul"), "{m}");
    }

    #[test]
    fn parameters_with_equal_constants_are_constants() {
        // Węgrzanowski 2006, §6.2: `if (x > 0) y = 2; else y = 2; z = 1/y;`
        check(
            super::run,
            "fn f(v0 x: f32) -> (return: f32) {
b0:
  v1: f32 = const 0.0
  v2: bool = lt v1, v0
  br v2, b1, b2
b1:
  v3: f32 = const 2.0
  jump b3(v3)
b2:
  v4: f32 = const 2.0
  jump b3(v4)
b3(v5: f32):
  v6: f32 = rcp v5
  ret v6
}",
            "fn f(v0 x: f32) -> (return: f32) {
b0:
  v7: f32 = const 2.0
  v1: f32 = const 0.0
  v2: bool = lt v1, v0
  br v2, b1, b2
b1:
  v3: f32 = const 2.0
  jump b3
b2:
  v4: f32 = const 2.0
  jump b3
b3:
  v6: f32 = const 0.5
  ret v6
}",
        );
    }

    #[test]
    fn zeros_of_different_sign_are_different_constants() {
        let text = "fn f(v0 c: bool) -> (return: f32) {
b0:
  v1: f32 = const 0.0
  v2: f32 = const -0.0
  br v0, b1(v1), b1(v2)
b1(v3: f32):
  v4: f32 = rcp v3
  ret v4
}";
        check(super::run, text, text);
    }

    #[test]
    fn a_block_reached_late_learns_of_what_varies_later_still() {
        let text = "fn f() -> (return: i32) {
b0:
  v1: i32 = const 0
  v2: i32 = const 1
  v3: i32 = const 2
  v4: i32 = const 5
  jump b1(v1, v1)
b1(v5: i32, v6: i32):
  v7: bool = ilt v5, v3
  v8: bool = ieq v5, v1
  br v7, b2, b4
b2:
  br v8, b3(v6), b3(v4)
b3(v9: i32):
  v10: i32 = iadd v5, v2
  jump b1(v10, v9)
b4:
  v11: i32 = iadd v6, v2
  ret v11
}";
        check(super::run, text, text);
    }

    #[test]
    fn a_loop_that_is_known_to_turn_for_ever_stays() {
        check(
            super::run,
            "fn f() -> (return: i32) {
b0:
  v0: i32 = const 1
  jump b1(v0)
b1(v1: i32):
  v2: bool = ieq v1, v0
  br v2, b1(v0), b2
b2:
  ret v1
}",
            "fn f() -> (return: i32) {
b0:
  v3: i32 = const 1
  v0: i32 = const 1
  jump b1
b1:
  v2: bool = const true
  jump b1
b2:
  ret v3
}",
        );
    }
}
