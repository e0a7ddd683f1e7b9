//! Common subexpressions: an instruction whose value a dominating instruction has computed already, and a branch whose condition a dominating
//! branch has decided.
//!
//! Constants move to the entry, one for each value: that leaves blocks empty which only chose between constants. Other pure instructions (`uniform` and `load`
//! among them) are merged along the dominator tree. `hit`, `hit_tri`, `hit_obj` and slot reads are merged within
//! a block, up to the next operation that changes what they read; in a function without such an operation `hit*` count as pure.

use super::fold::is_commutative;
use super::replace::Replacements;
use crate::ir::dominators::Dominators;
use crate::ir::{BlockId, Const, Function, Inst, Op, SlotId, Terminator, Type, Value};
use std::collections::HashMap;

/// What makes two instructions equal.
type Key = (Op, Vec<Value>, Type);

/// Runs the pass; returns the number of changes.
pub fn run(func: &mut Function) -> usize {
    let gathered = gather_constants(func);
    let tree = Dominators::new(func);
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    let hit_is_fixed = !insts.clone().any(|i| changes_hit(&i.op));
    let mut indices = HashMap::new();
    for inst in insts {
        if let (Op::Const(Const::U32(i)), [r]) = (&inst.op, &inst.results[..]) {
            indices.insert(*r, *i);
        }
    }
    let mut pass = Pass {
        replaced: Replacements::new(func),
        available: HashMap::new(),
        decided: HashMap::new(),
        undo: Vec::new(),
        indices,
        hit_is_fixed,
        jumps: 0,
    };
    let mut preds = vec![0u32; func.blocks.len()];
    for &b in tree.order() {
        func.block(b).term.targets().for_each(|t| preds[t.block.0 as usize] += 1);
    }
    // A walk of the dominator tree; leaving a block undoes what it made available.
    let mut stack = vec![(BlockId(0), 0usize, 0usize)];
    while let Some((block, next, mark)) = stack.last_mut() {
        let block = *block;
        if *next == 0 {
            *mark = pass.undo.len();
            pass.decide(func, tree.immediate(block), block, preds[block.0 as usize]);
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
    gathered + pass.jumps + pass.replaced.apply(func)
}

/// Moves constants to the entry and merges equal ones. (No machine keeps a constant in a register because it is defined early.) Returns the number of changes.
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

/// Whether the operation leaves another current hit.
fn changes_hit(op: &Op) -> bool {
    op.suspends() || matches!(op, Op::Call(_))
}

/// Something to take back when the walk leaves a block.
enum Undo {
    Available(Key),
    Decided(Value, Option<bool>),
}

/// An element of a slot, as far as it is known.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum Index {
    Known(u32),
    Value(Value),
}

struct Pass {
    replaced: Replacements,
    available: HashMap<Key, Value>,
    /// Conditions that a dominating branch has decided.
    decided: HashMap<Value, bool>,
    undo: Vec<Undo>,
    /// Values of `u32` constants.
    indices: HashMap<Value, u32>,
    hit_is_fixed: bool,
    jumps: usize,
}

impl Pass {
    /// When one branch alone leads here, its condition is known.
    fn decide(&mut self, func: &Function, parent: Option<BlockId>, block: BlockId, preds: u32) {
        let Some(parent) = parent.filter(|_| preds == 1) else { return };
        if let Terminator::Branch(condition, then, otherwise) = &func.block(parent).term
            && then.block != otherwise.block
            && (then.block == block || otherwise.block == block)
        {
            let condition = self.replaced.get(*condition);
            let before = self.decided.insert(condition, then.block == block);
            self.undo.push(Undo::Decided(condition, before));
        }
    }

    fn leave(&mut self, mark: usize) {
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Available(key) => drop(self.available.remove(&key)),
                Undo::Decided(value, Some(before)) => drop(self.decided.insert(value, before)),
                Undo::Decided(value, None) => drop(self.decided.remove(&value)),
            }
        }
    }

    fn block(&mut self, func: &mut Function, id: BlockId) {
        let mut insts = std::mem::take(&mut func.block_mut(id).insts);
        let mut hits: HashMap<&'static str, Value> = HashMap::new();
        let mut slots: HashMap<(SlotId, Index), Value> = HashMap::new();
        insts.retain_mut(|inst| {
            inst.args.iter_mut().for_each(|a| *a = self.replaced.get(*a));
            if changes_hit(&inst.op) {
                hits.clear();
            }
            let known = match (&inst.op, &inst.results[..]) {
                (Op::Hit | Op::HitTri | Op::HitObj, &[r]) if !self.hit_is_fixed => {
                    known_or(&mut hits, inst.op.name(), r)
                }
                (Op::SlotLoad(s), &[r]) => {
                    let index = self.index(func, *s, inst.args[0]);
                    known_or(&mut slots, (*s, index), r)
                }
                (Op::SlotStore(s), []) => {
                    self.store(func, *s, &inst.args, &mut slots);
                    None
                }
                (op, &[r]) if op.is_pure() || matches!(op, Op::Hit | Op::HitTri | Op::HitObj) => {
                    self.pure(func, inst, r)
                }
                _ => None,
            };
            if let (Some(known), &[r]) = (known, &inst.results[..]) {
                self.replaced.set(r, known);
            }
            known.is_none()
        });
        let block = func.block_mut(id);
        block.insts = insts;
        if let Terminator::Branch(condition, then, otherwise) = &block.term
            && let Some(&truth) = self.decided.get(&self.replaced.get(*condition))
        {
            block.term = Terminator::Jump(if truth { then.clone() } else { otherwise.clone() });
            self.jumps += 1;
        }
    }

    /// The value that a pure instruction has already; else it is available from here on.
    fn pure(&mut self, func: &Function, inst: &Inst, result: Value) -> Option<Value> {
        let mut args = inst.args.clone();
        if is_commutative(&inst.op) {
            args.sort();
        }
        let key = (inst.op.clone(), args, func.ty(result));
        if let Some(&known) = self.available.get(&key) {
            return Some(known);
        }
        self.available.insert(key.clone(), result);
        self.undo.push(Undo::Available(key));
        None
    }

    /// Which element a read sees: reads out of range see the last.
    fn index(&self, func: &Function, slot: SlotId, value: Value) -> Index {
        match self.indices.get(&value) {
            Some(&i) => Index::Known(i.min(func.slots[slot.0 as usize].len - 1)),
            None => Index::Value(value),
        }
    }

    /// A write makes its element known, and others unknown unless they are surely other elements.
    fn store(&self, func: &Function, slot: SlotId, args: &[Value], slots: &mut HashMap<(SlotId, Index), Value>) {
        let len = func.slots[slot.0 as usize].len;
        match self.indices.get(&args[0]) {
            Some(&i) if i >= len => {}
            Some(&i) => {
                slots.retain(|&(s, index), _| s != slot || matches!(index, Index::Known(k) if k != i));
                slots.insert((slot, Index::Known(i)), args[1]);
            }
            None => slots.retain(|&(s, _), _| s != slot),
        }
    }
}

/// The value known under `key`; else `result` is known from here on.
fn known_or<K: std::hash::Hash + Eq>(known: &mut HashMap<K, Value>, key: K, result: Value) -> Option<Value> {
    let found = *known.entry(key).or_insert(result);
    Some(found).filter(|&f| f != result)
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn equal_pure_instructions_merge_where_one_dominates_the_other() {
        check(
            super::run,
            "fn f(v0 x: varying f32, v1 y: varying f32, v2 c: varying bool) -> (return: f32) {
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
            "fn f(v0 x: varying f32, v1 y: varying f32, v2 c: varying bool) -> (return: f32) {
b0:
  v3: f32 = mul v0, v1
  br v2, b1, b2
b1:
  v5: f32 = sub v0, v1
  jump b3(v3, v5)
b2:
  v6: f32 = sub v0, v1
  jump b3(v3, v6)
b3(v7: f32, v8: f32):
  v9: f32 = sub v1, v0
  v10: f32 = add v7, v9
  ret v10
}",
        );
    }

    #[test]
    fn constants_of_sibling_blocks_become_one_in_the_entry() {
        check(
            super::run,
            "fn f(v0 c: varying bool) -> (p: f32, q: i32) {
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
            "fn f(v0 c: varying bool) -> (p: f32, q: i32) {
b0:
  v3: f32 = const -0.0
  v4: i32 = const 0
  v1: f32 = const 0.0
  br v0, b1, b2
b1:
  jump b3(v1, v4)
b2:
  jump b3(v3, v4)
b3(v5: f32, v6: i32):
  ret v5, v6
}",
        );
    }

    #[test]
    fn minimum_does_not_commute_and_types_tell_casts_apart() {
        let text = "fn f(v0 x: varying f32, v1 y: varying f32) -> (p: f32, q: f32, r: i32, s: u32) {
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
            "fn f(v0 o: varying vec3, v1 a: varying vec4) -> (p: vec4, q: vec4, r: vec4) {
b0:
  trace v0, v0, v1
  v2: vec4 = hit
  v3: vec4 = hit
  trace v0, v0, v1
  v4: vec4 = hit
  ret v2, v3, v4
}",
            "fn f(v0 o: varying vec3, v1 a: varying vec4) -> (p: vec4, q: vec4, r: vec4) {
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
            "fn f(v0 x: varying f32, v1 i: varying u32) -> (p: f32, q: f32, r: f32, s: f32) {
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
            "fn f(v0 x: varying f32, v1 i: varying u32) -> (p: f32, q: f32, r: f32, s: f32) {
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
            "fn f(v0 c: varying bool) -> (return: f32) {
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
            "fn f(v0 c: varying bool) -> (return: f32) {
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
}
