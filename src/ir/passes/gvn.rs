//! Global value numbering: a value is replaced by a congruent one that dominates it (see
//! [`super::value_numbering`]), and a branch is folded where a dominating branch has decided a
//! congruent condition.
//!
//! Constants are hoisted to the entry, one for each value: that empties blocks which only chose
//! between constants. Other pure instructions (`uniform` and `load` among them) and block
//! parameters are merged along the dominator tree. `hit`, `hit_tri`, `hit_obj` and slot loads are
//! congruent only within a block, up to the next operation that clobbers what they read; in a
//! function without such an operation `hit*` count as pure.

use super::block_params::retain_params;
use super::replace::Replacements;
use super::value_numbering::{Number, Numbering, jumps};
use crate::dominators::Dominators;
use crate::{BlockId, Const, Function, Inst, Op, Terminator, Value};
use std::collections::HashMap;

/// Runs the pass; returns the number of changes.
pub fn run(func: &mut Function) -> usize {
    let gathered = gather_constants(func);
    let tree = Dominators::new(func);
    let entries: Vec<usize> = jumps(func, &tree).iter().map(Vec::len).collect();
    let mut pass = Pass {
        numbering: Numbering::new(func, &tree),
        replaced: Replacements::new(func),
        leaders: vec![None; func.values.len()],
        decided: HashMap::new(),
        undo: Vec::new(),
        gone: vec![false; func.values.len()],
        jumps: 0,
    };
    // A walk of the dominator tree; leaving a block undoes what it made available.
    let mut stack = vec![(BlockId(0), 0usize, 0usize)];
    while let Some((block, next, mark)) = stack.last_mut() {
        let block = *block;
        if *next == 0 {
            *mark = pass.undo.len();
            pass.decide(func, tree.immediate(block), block, entries[block.0 as usize]);
            pass.block(func, block);
        }
        match tree.children(block).get(*next) {
            Some(&child) => {
                *next += 1;
                stack.push((child, 0, 0));
            }
            None => {
                let mark = *mark;
                pass.leave(mark);
                stack.pop();
            }
        }
    }
    let Pass { replaced, gone, jumps, .. } = pass;
    retain_params(func, |p| !gone[p.0 as usize]);
    gathered + jumps + replaced.apply(func)
}

/// Moves constants to the entry and merges equal ones. (No back end keeps a constant in a register
/// because it is defined early.) Returns the number of changes.
fn gather_constants(func: &mut Function) -> usize {
    let mut known: HashMap<Const, Value> = HashMap::new();
    let mut replaced = Replacements::new(func);
    let mut moved: Vec<Inst> = Vec::new();
    for id in func.reverse_postorder() {
        let mut insts = std::mem::take(&mut func.block_mut(id).insts);
        insts.retain(|inst| {
            let (Op::Const(c), &[result]) = (&inst.op, &inst.results[..]) else { return true };
            match known.get(c) {
                Some(&first) => replaced.set(result, first),
                None => {
                    known.insert(c.clone(), result);
                    if id == BlockId(0) {
                        return true;
                    }
                    moved.push(inst.clone());
                }
            }
            false
        });
        func.block_mut(id).insts = insts;
    }
    let changes = moved.len() + replaced.apply(func);
    func.block_mut(BlockId(0)).insts.splice(0..0, moved);
    changes
}

/// Something to take back when the walk leaves a block.
enum Undo {
    Leader(Number),
    Decided(Number, Option<bool>),
}

struct Pass {
    numbering: Numbering,
    replaced: Replacements,
    /// The value that stands for each number, where the walk is.
    leaders: Vec<Option<Value>>,
    /// Conditions that a dominating branch has decided.
    decided: HashMap<Number, bool>,
    undo: Vec<Undo>,
    /// Block parameters that were replaced.
    gone: Vec<bool>,
    jumps: usize,
}

impl Pass {
    /// When one branch alone leads here, its condition is known.
    fn decide(&mut self, func: &Function, parent: Option<BlockId>, block: BlockId, entries: usize) {
        let Some(parent) = parent.filter(|_| entries == 1) else { return };
        if let Terminator::Branch(condition, then, otherwise) = &func.block(parent).term
            && then.block != otherwise.block
            && (then.block == block || otherwise.block == block)
        {
            let condition = self.numbering.number(*condition);
            let before = self.decided.insert(condition, then.block == block);
            self.undo.push(Undo::Decided(condition, before));
        }
    }

    fn leave(&mut self, mark: usize) {
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Leader(number) => self.leaders[number.index()] = None,
                Undo::Decided(number, Some(before)) => drop(self.decided.insert(number, before)),
                Undo::Decided(number, None) => drop(self.decided.remove(&number)),
            }
        }
    }

    fn block(&mut self, func: &mut Function, id: BlockId) {
        for &param in &func.block(id).params {
            self.gone[param.0 as usize] = !self.is_new(param);
        }
        let block = func.block_mut(id);
        block.insts.retain(|inst| match (&inst.op, &inst.results[..]) {
            (Op::SlotLoad(_) | Op::Hit | Op::HitTri | Op::HitObj, &[result]) => self.is_new(result),
            (op, &[result]) if op.is_pure() => self.is_new(result),
            _ => true,
        });
        if let Terminator::Branch(condition, then, otherwise) = &block.term
            && let Some(&truth) = self.decided.get(&self.numbering.number(*condition))
        {
            block.term = Terminator::Jump(if truth { then.clone() } else { otherwise.clone() });
            self.jumps += 1;
        }
    }

    /// True if no dominating value is congruent to this one, which then stands for its number from
    /// here on; else it is replaced.
    fn is_new(&mut self, value: Value) -> bool {
        let number = self.numbering.number(value);
        match self.leaders[number.index()] {
            Some(leader) => {
                self.replaced.set(value, leader);
                false
            }
            None => {
                self.leaders[number.index()] = Some(value);
                self.undo.push(Undo::Leader(number));
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn equal_pure_instructions_merge_where_one_dominates_the_other() {
        check(
            super::run,
            "fn f(v0 x: f32, v1 y: f32, v2 c: bool) -> (return: f32) {
b0:
  v3: f32 = mul v0, v1
  br v2, b1, b2
b1:
  v4: f32 = mul v1, v0
  v5: f32 = sub v0, v1
  jump b3(v4, v5)
b2:
  v6: f32 = sub v0, v1
  jump b3(v3, v6)
b3(v7: f32, v8: f32):
  v9: f32 = sub v1, v0
  v10: f32 = add v7, v9
  ret v10
}",
            "fn f(v0 x: f32, v1 y: f32, v2 c: bool) -> (return: f32) {
b0:
  v3: f32 = mul v0, v1
  br v2, b1, b2
b1:
  v5: f32 = sub v0, v1
  jump b3(v5)
b2:
  v6: f32 = sub v0, v1
  jump b3(v6)
b3(v8: f32):
  v9: f32 = sub v1, v0
  v10: f32 = add v3, v9
  ret v10
}",
        );
    }

    #[test]
    fn constants_of_sibling_blocks_become_one_in_the_entry() {
        check(
            super::run,
            "fn f(v0 c: bool) -> (p: f32, q: i32) {
b0:
  br v0, b1, b2
b1:
  v1: f32 = const 0.0
  v2: i32 = const 0
  jump b3(v1, v2)
b2:
  v3: f32 = const -0.0
  v4: i32 = const 0
  jump b3(v3, v4)
b3(v5: f32, v6: i32):
  ret v5, v6
}",
            "fn f(v0 c: bool) -> (p: f32, q: i32) {
b0:
  v3: f32 = const -0.0
  v4: i32 = const 0
  v1: f32 = const 0.0
  br v0, b1, b2
b1:
  jump b3(v1)
b2:
  jump b3(v3)
b3(v5: f32):
  ret v5, v4
}",
        );
    }

    #[test]
    fn minimum_does_not_commute_and_types_tell_casts_apart() {
        let text = "fn f(v0 x: f32, v1 y: f32) -> (p: f32, q: f32, r: i32, s: u32) {
b0:
  v2: f32 = min v0, v1
  v3: f32 = min v1, v0
  v4: i32 = to_int v0
  v5: u32 = to_int v0
  ret v2, v3, v4, v5
}";
        check(super::run, text, text);
    }

    #[test]
    fn the_hit_is_read_once_between_rays() {
        check(
            super::run,
            "fn f(v0 o: vec3, v1 a: vec4) -> (p: vec4, q: vec4, r: vec4) {
b0:
  trace v0, v0, v1
  v2: vec4 = hit
  v3: vec4 = hit
  trace v0, v0, v1
  v4: vec4 = hit
  ret v2, v3, v4
}",
            "fn f(v0 o: vec3, v1 a: vec4) -> (p: vec4, q: vec4, r: vec4) {
b0:
  trace v0, v0, v1
  v2: vec4 = hit
  trace v0, v0, v1
  v4: vec4 = hit
  ret v2, v2, v4
}",
        );
    }

    #[test]
    fn an_array_element_is_known_until_another_write_may_change_it() {
        check(
            super::run,
            "fn f(v0 x: f32, v1 i: u32) -> (p: f32, q: f32, r: f32, s: f32) {
  slot s0 a: f32[4]
b0:
  v2: u32 = const 1
  v3: u32 = const 2
  slot_store s0, v2, v0
  slot_store s0, v3, v0
  v4: f32 = slot_load s0, v2
  v5: f32 = slot_load s0, v1
  v6: f32 = slot_load s0, v1
  slot_store s0, v1, v5
  v7: f32 = slot_load s0, v2
  ret v4, v5, v6, v7
}",
            "fn f(v0 x: f32, v1 i: u32) -> (p: f32, q: f32, r: f32, s: f32) {
  slot s0 a: f32[4]
b0:
  v2: u32 = const 1
  v3: u32 = const 2
  slot_store s0, v2, v0
  slot_store s0, v3, v0
  v5: f32 = slot_load s0, v1
  slot_store s0, v1, v5
  v7: f32 = slot_load s0, v2
  ret v0, v5, v5, v7
}",
        );
    }

    #[test]
    fn a_condition_that_a_dominating_branch_decided_is_not_tested_again() {
        check(
            super::run,
            "fn f(v0 c: bool) -> (return: f32) {
b0:
  v1: f32 = const 1.0
  br v0, b1, b2
b1:
  br v0, b3(v1), b2
b2:
  v2: f32 = const 2.0
  br v0, b3(v1), b3(v2)
b3(v3: f32):
  ret v3
}",
            "fn f(v0 c: bool) -> (return: f32) {
b0:
  v2: f32 = const 2.0
  v1: f32 = const 1.0
  br v0, b1, b2
b1:
  jump b3(v1)
b2:
  br v0, b3(v1), b3(v2)
b3(v3: f32):
  ret v3
}",
        );
    }

    #[test]
    fn variables_that_run_alike_around_a_loop_are_one() {
        check(
            super::run,
            "fn f(v0 n: i32, v1 s: i32) -> (p: i32, q: i32) {
b0:
  v2: i32 = const 0
  jump b1(v2, v2)
b1(v3: i32, v4: i32):
  v5: bool = ilt v3, v0
  br v5, b2, b3
b2:
  v6: i32 = iadd v3, v1
  v7: i32 = iadd v1, v4
  jump b1(v6, v7)
b3:
  v8: i32 = imul v3, v3
  v9: i32 = imul v3, v4
  ret v8, v9
}",
            "fn f(v0 n: i32, v1 s: i32) -> (p: i32, q: i32) {
b0:
  v2: i32 = const 0
  jump b1(v2)
b1(v3: i32):
  v5: bool = ilt v3, v0
  br v5, b2, b3
b2:
  v6: i32 = iadd v3, v1
  jump b1(v6)
b3:
  v8: i32 = imul v3, v3
  ret v8, v8
}",
        );
    }

    #[test]
    fn variables_that_start_or_step_differently_stay_apart() {
        let text = "fn f(v0 n: i32, v1 s: i32) -> (p: i32, q: i32, r: i32) {
b0:
  v2: i32 = const 0
  jump b1(v2, v2, v0)
b1(v3: i32, v4: i32, v5: i32):
  v6: bool = ilt v3, v0
  br v6, b2, b3
b2:
  v7: i32 = iadd v3, v1
  v8: i32 = iadd v4, v0
  v9: i32 = iadd v5, v1
  jump b1(v7, v8, v9)
b3:
  ret v3, v4, v5
}";
        check(super::run, text, text);
    }

    #[test]
    fn a_value_from_the_turn_before_is_not_this_turns() {
        let text = "fn f(v0 n: i32, v1 s: i32) -> (p: i32) {
b0:
  v2: i32 = const 0
  jump b1(v2, v2)
b1(v3: i32, v4: i32):
  v5: i32 = iadd v3, v1
  v6: bool = ilt v4, v0
  br v6, b1(v5, v3), b2
b2:
  ret v4
}";
        check(super::run, text, text);
    }

    #[test]
    fn a_parameter_that_carries_a_computation_stands_for_it_afterwards() {
        check(
            super::run,
            "fn f(v0 x: f32, v1 y: f32, v2 c: bool) -> (p: f32, q: f32) {
b0:
  br v2, b1, b2
b1:
  v3: f32 = mul v0, v1
  jump b3(v3)
b2:
  v4: f32 = mul v1, v0
  jump b3(v4)
b3(v5: f32):
  v6: f32 = mul v0, v1
  ret v5, v6
}",
            "fn f(v0 x: f32, v1 y: f32, v2 c: bool) -> (p: f32, q: f32) {
b0:
  br v2, b1, b2
b1:
  v3: f32 = mul v0, v1
  jump b3(v3)
b2:
  v4: f32 = mul v1, v0
  jump b3(v4)
b3(v5: f32):
  ret v5, v5
}",
        );
    }

    #[test]
    fn many_loops_that_feed_each_other_are_numbered_in_bounded_time() {
        // Each pair takes over the next one, so that what sets the last apart reaches the first
        // after as many walks as there are pairs.
        let count = 60u32;
        let pair = |i: u32| format!("v{}, v{}", 10 + 2 * i, 11 + 2 * i);
        let list = |items: Vec<String>| items.join(", ");
        let params = list((0..2 * count).map(|i| format!("v{}: i32", 10 + i)).collect());
        let start = list((0..count).map(|_| "v0, v0".to_string()).collect());
        let next = list((1..count).map(pair).collect());
        let text = format!(
            "fn f(v0 x: i32, v1 c: bool) -> (p: i32, q: i32) {{
b0:
  v2: i32 = const 1
  jump b1({start})
b1({params}):
  v3: i32 = iadd v0, v2
  br v1, b1({next}, v0, v3), b2
b2:
  ret v10, v11
}}"
        );
        let mut m = super::super::testing::module(&text);
        super::run(&mut m.functions[0]);
        crate::verify(&m).expect("the pass keeps the rules");
        assert!(m.to_string().contains("ret v10, v11"), "{m}");
    }
}
