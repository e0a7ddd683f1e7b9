//! Scalar replacement of arrays: a slot with constant indices becomes one variable in SSA form for
//! each element.
//!
//! A slot of one element is replaced as well when only its loads have unknown indices (a load out
//! of range sees the last element). Slots that `visible` reads stay.

use super::block_params::remove_redundant_block_params;
use super::replace::Replacements;
use super::unreachable::remove_unreachable;
use crate::dominators::Dominators;
use crate::{BlockId, Const, Function, Inst, Loc, Op, TargetInfo, Type, Value};
use std::collections::HashMap;

/// Elements times blocks: bounds the work on one function.
const MAX_WORK: usize = 8_000_000;

/// Runs the pass on arrays of at most [`TargetInfo::promoted_elements`]; returns the number of
/// reads and writes removed, and of unreachable blocks, which go first.
pub fn run(func: &mut Function, target: &TargetInfo) -> usize {
    remove_unreachable(func) + promote_all(func, target.promoted_elements)
}

/// Promotes what can be; every block is reachable. Returns the number of reads and writes removed.
fn promote_all(func: &mut Function, max_len: u32) -> usize {
    let indices = constant_indices(func);
    let Some(first) = promotable(func, &indices, max_len) else { return 0 };
    let tree = Dominators::new(func);
    let variables: Vec<Type> = func
        .slots
        .iter()
        .zip(&first)
        .filter(|(_, f)| f.is_some())
        .flat_map(|(s, _)| vec![s.ty; s.len as usize])
        .collect();
    if variables.len().saturating_mul(func.blocks.len()) > MAX_WORK {
        return 0;
    }
    let accesses = accesses(func, &indices, &first);
    let preds = func.predecessors();
    let mut by_variable: Vec<HashMap<BlockId, Vec<Access>>> = vec![HashMap::new(); variables.len()];
    let removed = accesses.len();
    let mut dead: HashMap<BlockId, Vec<bool>> = HashMap::new();
    for access in accesses {
        let flags = dead.entry(access.block).or_insert_with(|| vec![false; func.block(access.block).insts.len()]);
        flags[access.inst] = true;
        if let Some(variable) = access.variable {
            by_variable[variable as usize].entry(access.block).or_default().push(access);
        }
    }
    let mut replaced = Replacements::new(func);
    let mut zeros: HashMap<Type, Value> = HashMap::new();
    for (ty, accesses) in variables.into_iter().zip(by_variable) {
        if !accesses.is_empty() {
            promote(func, &tree, &preds, ty, &accesses, &mut replaced, &mut zeros);
        }
    }
    for (block, dead) in dead {
        let mut dead = dead.into_iter();
        func.block_mut(block).insts.retain(|_| !dead.next().unwrap_or(false));
    }
    let mut zeros: Vec<_> = zeros.into_iter().collect();
    zeros.sort_by_key(|&(_, v)| v);
    for (at, (ty, value)) in zeros.into_iter().enumerate() {
        let inst = Inst { op: Op::Const(Const::zero(ty)), args: vec![], results: vec![value], loc: Loc::NONE };
        func.block_mut(BlockId(0)).insts.insert(at, inst);
    }
    replaced.apply(func);
    remove_redundant_block_params(func);
    removed
}

/// Values of `u32` constants.
fn constant_indices(func: &Function) -> HashMap<Value, u32> {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    let index = |i: &Inst| match (&i.op, &i.results[..]) {
        (Op::Const(Const::U32(u)), [r]) => Some((*r, *u)),
        _ => None,
    };
    insts.filter_map(index).collect()
}

/// For each slot that can be promoted, the number of its first element's variable; `None` when no
/// slot can and is used.
fn promotable(func: &Function, indices: &HashMap<Value, u32>, max_len: u32) -> Option<Vec<Option<u32>>> {
    let mut can: Vec<bool> = func.slots.iter().map(|s| s.len <= max_len).collect();
    let mut used = vec![false; func.slots.len()];
    for inst in func.blocks.iter().flat_map(|b| &b.insts) {
        let is_known = || indices.contains_key(&inst.args[0]);
        match inst.op {
            Op::Visible(s) => can[s.0 as usize] = false,
            Op::SlotLoad(s) => {
                used[s.0 as usize] = true;
                can[s.0 as usize] &= is_known() || func.slots[s.0 as usize].len == 1;
            }
            Op::SlotStore(s) => {
                used[s.0 as usize] = true;
                can[s.0 as usize] &= is_known();
            }
            _ => {}
        }
    }
    let mut next = 0;
    let mut first = Vec::with_capacity(can.len());
    for (slot, (&can, &used)) in func.slots.iter().zip(can.iter().zip(&used)) {
        first.push((can && used).then_some(next));
        next += if can && used { slot.len } else { 0 };
    }
    (next > 0).then_some(first)
}

/// A read or write of a promoted slot.
#[derive(Clone, Debug)]
struct Access {
    block: BlockId,
    inst: usize,
    /// The element's variable; `None` for a write out of range, which does nothing.
    variable: Option<u32>,
    /// The value that is written, or the result of the read.
    value: Value,
    is_write: bool,
}

/// All reads and writes of promoted slots, in order.
fn accesses(func: &Function, indices: &HashMap<Value, u32>, first: &[Option<u32>]) -> Vec<Access> {
    let mut list = Vec::new();
    for block in func.block_ids() {
        for (i, inst) in func.block(block).insts.iter().enumerate() {
            let (slot, value, is_write) = match inst.op {
                Op::SlotLoad(s) => (s, inst.results[0], false),
                Op::SlotStore(s) => (s, inst.args[1], true),
                _ => continue,
            };
            let Some(base) = first[slot.0 as usize] else { continue };
            let last = func.slots[slot.0 as usize].len - 1;
            let index = indices.get(&inst.args[0]).copied().unwrap_or(last);
            let variable = (index <= last || !is_write).then_some(base + index.min(last));
            list.push(Access { block, inst: i, variable, value, is_write });
        }
    }
    list
}

/// Brings one element into SSA form: parameters at the joins where it is live, and its value in
/// place of each read.
fn promote(
    func: &mut Function,
    tree: &Dominators,
    preds: &[Vec<BlockId>],
    ty: Type,
    accesses: &HashMap<BlockId, Vec<Access>>,
    replaced: &mut Replacements,
    zeros: &mut HashMap<Type, Value>,
) {
    let live_in = live_in(preds, accesses);
    let mut end: Vec<Option<Value>> = vec![None; preds.len()];
    let mut joins = Vec::new();
    for &block in tree.order() {
        let at = block.0 as usize;
        let mut now = match tree.immediate(block) {
            None if live_in[at] => Some(*zeros.entry(ty).or_insert_with(|| func.new_value(ty))),
            None => None,
            Some(_) if live_in[at] && preds[at].len() > 1 => {
                let param = func.new_value(ty);
                func.block_mut(block).params.push(param);
                joins.push(block);
                Some(param)
            }
            Some(parent) => end[parent.0 as usize],
        };
        for access in accesses.get(&block).into_iter().flatten() {
            match now {
                _ if access.is_write => now = Some(access.value),
                Some(value) => replaced.set(access.value, value),
                None => {}
            }
        }
        end[at] = now;
    }
    for block in joins {
        let mut from = preds[block.0 as usize].clone();
        from.sort();
        from.dedup();
        for p in from {
            let value = end[p.0 as usize];
            for target in func.block_mut(p).term.targets_mut().filter(|t| t.block == block) {
                target.args.extend(value);
            }
        }
    }
}

/// The blocks at whose start the element's value may be read later.
fn live_in(preds: &[Vec<BlockId>], accesses: &HashMap<BlockId, Vec<Access>>) -> Vec<bool> {
    let mut live = vec![false; preds.len()];
    let reads_first = |b: &&BlockId| accesses[b].first().is_some_and(|a| !a.is_write);
    let mut work: Vec<BlockId> = accesses.keys().filter(reads_first).copied().collect();
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut live[block.0 as usize], true) {
            let from = preds[block.0 as usize].iter();
            work.extend(from.filter(|p| !accesses.get(p).is_some_and(|a| a.iter().any(|a| a.is_write))));
        }
    }
    live
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use crate::TargetInfo;

    #[test]
    fn elements_with_known_indices_become_values_across_a_loop() {
        check(
            |f| super::run(f, &TargetInfo::DEFAULT),
            "fn f(v0 x: f32, v1 n: i32) -> (p: f32, q: f32) {
  slot s0 a: f32[2]
b0:
  v2: u32 = const 0
  v3: u32 = const 1
  v4: i32 = const 0
  v5: i32 = const 1
  slot_store s0, v2, v0
  jump b1(v4)
b1(v6: i32):
  v7: bool = ilt v6, v1
  br v7, b2, b3
b2:
  v8: f32 = slot_load s0, v3
  v9: f32 = add v8, v0
  slot_store s0, v3, v9
  v10: i32 = iadd v6, v5
  jump b1(v10)
b3:
  v11: f32 = slot_load s0, v2
  v12: f32 = slot_load s0, v3
  ret v11, v12
}",
            "fn f(v0 x: f32, v1 n: i32) -> (p: f32, q: f32) {
  slot s0 a: f32[2]
b0:
  v14: f32 = const 0.0
  v2: u32 = const 0
  v3: u32 = const 1
  v4: i32 = const 0
  v5: i32 = const 1
  jump b1(v4, v14)
b1(v6: i32, v15: f32):
  v7: bool = ilt v6, v1
  br v7, b2, b3
b2:
  v9: f32 = add v15, v0
  v10: i32 = iadd v6, v5
  jump b1(v10, v9)
b3:
  ret v0, v15
}",
        );
    }

    #[test]
    fn a_read_in_an_unreachable_block_does_not_leave_its_value_undefined() {
        check(
            |f| super::run(f, &TargetInfo::DEFAULT),
            "fn f(v0 x: f32) -> (p: f32) {
  slot s0 a: f32[2]
b0:
  v1: u32 = const 1
  jump b2
b1:
  v2: f32 = slot_load s0, v1
  v3: f32 = neg v2
  ret v3
b2:
  ret v0
}",
            "fn f(v0 x: f32) -> (p: f32) {
  slot s0 a: f32[2]
b0:
  v1: u32 = const 1
  jump b1
b1:
  ret v0
}",
        );
    }

    #[test]
    fn a_write_out_of_range_does_nothing_and_a_read_sees_the_last_element() {
        check(
            |f| super::run(f, &TargetInfo::DEFAULT),
            "fn f(v0 x: f32) -> (p: f32) {
  slot s0 a: f32[2]
b0:
  v1: u32 = const 1
  v2: u32 = const 2
  v3: f32 = neg v0
  slot_store s0, v1, v0
  slot_store s0, v2, v3
  v4: f32 = slot_load s0, v2
  ret v4
}",
            "fn f(v0 x: f32) -> (p: f32) {
  slot s0 a: f32[2]
b0:
  v1: u32 = const 1
  v2: u32 = const 2
  v3: f32 = neg v0
  ret v0
}",
        );
    }

    #[test]
    fn a_slot_with_an_unknown_index_or_rays_stays() {
        let text = "fn f(v0 i: u32, v1 r: vec4, v2 o: vec3) -> (p: vec4, q: u32) {
  slot s0 a: vec4[2]
  slot s1 rays: vec4[1]
b0:
  v3: u32 = const 0
  slot_store s0, v3, v1
  slot_store s1, v3, v1
  v4: vec4 = slot_load s0, v0
  v5: u32 = visible s1, v2, v3
  ret v4, v5
}";
        check(|f| super::run(f, &TargetInfo::DEFAULT), text, text);
    }
}
