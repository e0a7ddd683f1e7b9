//! Dead code elimination: removes instructions, block parameters, array slots and blocks that no
//! result or effect depends on.
//!
//! `debug` keeps no value alive: it stays as long as its value does, so that debugging information
//! does not change the program.

use super::block_params::retain_params;
use super::unreachable::remove_unreachable;
use super::value_def::{ValueDef, value_defs};
use crate::{BlockId, Function, Inst, Op, SlotId, Value};

/// Runs the pass; returns the number of things removed.
pub fn run(func: &mut Function) -> usize {
    let mut removed = remove_unreachable(func);
    let live = Liveness::new(func);
    for id in func.block_ids() {
        let block = func.block_mut(id);
        let before = block.insts.len();
        block.insts.retain(|i| live.keeps(i));
        removed += before - block.insts.len();
    }
    removed + retain_params(func, |v| live.values[v.0 as usize]) + remove_slots(func)
}

/// The used values and slots, found from the effects backwards (so that a ring of values that only
/// feed each other is not).
struct Liveness {
    values: Vec<bool>,
    /// Slots that something reads: writes to others are dead.
    slots: Vec<bool>,
}

impl Liveness {
    fn new(func: &Function) -> Self {
        let origin = value_defs(func);
        let mut stores: Vec<Vec<(BlockId, u32)>> = vec![Vec::new(); func.slots.len()];
        let mut live = Liveness { values: vec![false; func.values.len()], slots: vec![false; func.slots.len()] };
        let mut work: Vec<Value> = Vec::new();
        for id in func.block_ids() {
            let block = func.block(id);
            for (i, inst) in block.insts.iter().enumerate() {
                match &inst.op {
                    Op::SlotStore(s) => stores[s.0 as usize].push((id, i as u32)),
                    op if op.is_printed() => work.extend(&inst.args),
                    Op::Debug(_) => {}
                    op if op.is_removable() => {}
                    _ => work.extend(&inst.args),
                }
            }
            match &block.term {
                crate::Terminator::Branch(c, ..) => work.push(*c),
                crate::Terminator::Return(values) => work.extend(values),
                crate::Terminator::Jump(_) => {}
            }
        }
        let preds = func.predecessors();
        while let Some(value) = work.pop() {
            if std::mem::replace(&mut live.values[value.0 as usize], true) {
                continue;
            }
            match origin[value.0 as usize] {
                ValueDef::Undefined | ValueDef::Param(BlockId(0), _) => {}
                ValueDef::Param(block, i) => {
                    for &p in &preds[block.0 as usize] {
                        let targets = func.block(p).term.targets().filter(|t| t.block == block);
                        work.extend(targets.map(|t| t.args[i as usize]));
                    }
                }
                ValueDef::Inst(block, i) => {
                    let inst = &func.block(block).insts[i as usize];
                    work.extend(&inst.args);
                    if let Op::SlotLoad(s) | Op::Visible(s) = inst.op
                        && !std::mem::replace(&mut live.slots[s.0 as usize], true)
                    {
                        for &(b, i) in &stores[s.0 as usize] {
                            work.extend(&func.block(b).insts[i as usize].args);
                        }
                    }
                }
            }
        }
        live
    }

    fn keeps(&self, inst: &Inst) -> bool {
        match &inst.op {
            Op::SlotStore(s) => self.slots[s.0 as usize],
            Op::Debug(_) => inst.args.iter().all(|a| self.values[a.0 as usize]),
            op if op.is_removable() => inst.results.iter().any(|r| self.values[r.0 as usize]),
            _ => true,
        }
    }
}

/// Removes array slots that no instruction names. Returns how many.
fn remove_slots(func: &mut Function) -> usize {
    let mut number: Vec<Option<u32>> = vec![None; func.slots.len()];
    for inst in func.blocks.iter().flat_map(|b| &b.insts) {
        if let Op::SlotLoad(s) | Op::SlotStore(s) | Op::Visible(s) = inst.op {
            number[s.0 as usize] = Some(0);
        }
    }
    let before = func.slots.len();
    number.iter_mut().flatten().enumerate().for_each(|(i, n)| *n = i as u32);
    let mut used = number.iter().map(Option::is_some);
    func.slots.retain(|_| used.next().is_some_and(|u| u));
    if func.slots.len() < before {
        let new = |s: &mut SlotId| s.0 = number[s.0 as usize].unwrap_or(0);
        for inst in func.blocks.iter_mut().flat_map(|b| &mut b.insts) {
            if let Op::SlotLoad(s) | Op::SlotStore(s) | Op::Visible(s) = &mut inst.op {
                new(s);
            }
        }
    }
    before - func.slots.len()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn what_no_result_or_effect_needs_goes() {
        check(
            super::run,
            "fn f(v0 x: vec3, v1 a: vec4) -> (return: vec3) {
b0:
  v2: vec3 = mul v0, v0
  v3: bool = occluded v0, v2, v1
  trace v0, v0, v1
  v4: vec4 = hit
  v5: vec3 = add v0, v0
  debug sum, v5
  debug square, v2
  ret v5
}",
            "fn f(v0 x: vec3, v1 a: vec4) -> (return: vec3) {
b0:
  trace v0, v0, v1
  v5: vec3 = add v0, v0
  debug sum, v5
  ret v5
}",
        );
    }

    #[test]
    fn a_loop_variable_that_only_feeds_itself_goes() {
        check(
            super::run,
            "fn f(v0 n: i32) -> (return: i32) {
b0:
  v1: i32 = const 0
  v2: i32 = const 1
  jump b1(v1, v1)
b1(v3: i32, v4: i32):
  v5: bool = ilt v3, v0
  br v5, b2, b3
b2:
  v6: i32 = iadd v3, v2
  v7: i32 = imul v4, v6
  jump b1(v6, v7)
b3:
  ret v3
}",
            "fn f(v0 n: i32) -> (return: i32) {
b0:
  v1: i32 = const 0
  v2: i32 = const 1
  jump b1(v1)
b1(v3: i32):
  v5: bool = ilt v3, v0
  br v5, b2, b3
b2:
  v6: i32 = iadd v3, v2
  jump b1(v6)
b3:
  ret v3
}",
        );
    }

    #[test]
    fn an_array_that_nobody_reads_goes_with_its_writes() {
        check(
            super::run,
            "fn f(v0 x: f32) -> (return: f32) {
  slot s0 dead: f32[2]
  slot s1 live: f32[2]
b0:
  v1: u32 = const 1
  v2: f32 = neg v0
  slot_store s0, v1, v2
  slot_store s1, v1, v0
  v3: f32 = slot_load s0, v1
  v4: f32 = slot_load s1, v1
  ret v4
}",
            "fn f(v0 x: f32) -> (return: f32) {
  slot s0 live: f32[2]
b0:
  v1: u32 = const 1
  slot_store s0, v1, v0
  v4: f32 = slot_load s0, v1
  ret v4
}",
        );
    }

    #[test]
    fn a_call_stays_even_when_its_result_is_unused() {
        let text = "fn f(v0 x: f32) {\nb0:\n  v1: f32 = call g(v0)\n  ret\n}";
        check(super::run, text, text);
    }
}
