//! Control-flow simplification: threads jumps through empty blocks, and merges straight-line
//! blocks.
//!
//! A jump to an empty block that branches on one of its parameters, where the jump passes a
//! constant, is threaded to that side: short-circuit operators and loops with a flag give such
//! blocks. Loop headers stay, so a reducible function stays reducible.

use super::replace::Replacements;
use super::unreachable::remove_unreachable;
use crate::dominators::Dominators;
use crate::{BlockId, Const, Function, Op, Target, Terminator, Value};
use std::collections::{HashMap, HashSet};

/// Runs the pass; returns the number of changes.
pub fn run(func: &mut Function) -> usize {
    let removed = remove_unreachable(func);
    let changes = removed + thread(func);
    let merged = merge(func);
    if changes + merged > removed {
        remove_unreachable(func);
    }
    changes + merged
}

/// A chain of empty blocks is followed at most this far at a time.
const MAX_HOPS: usize = 16;

/// Leads jumps around empty blocks. Returns how many jumps changed.
fn thread(func: &mut Function) -> usize {
    let tree = Dominators::new(func);
    let heads: HashSet<BlockId> = tree.back_edges(func).into_iter().map(|(_, to)| to).collect();
    let passable = passable_blocks(func, &heads);
    let mut truths: HashMap<Value, bool> = HashMap::new();
    for inst in func.blocks.iter().flat_map(|b| &b.insts) {
        if let (Op::Const(Const::Bool(b)), [r]) = (&inst.op, &inst.results[..]) {
            truths.insert(*r, *b);
        }
    }
    let mut changes = 0;
    for id in func.block_ids() {
        let mut term = func.block(id).term.clone();
        let mut changed = 0;
        for target in term.targets_mut() {
            for _ in 0..MAX_HOPS {
                let Some(next) = beyond(func, &passable, &truths, target) else { break };
                *target = next;
                changed += 1;
            }
        }
        if changed > 0 {
            func.block_mut(id).term = term;
            changes += changed;
        }
    }
    changes
}

/// Blocks without instructions that are no loop heads and whose parameters only their own
/// terminators use.
fn passable_blocks(func: &Function, heads: &HashSet<BlockId>) -> Vec<bool> {
    let mut passable: Vec<bool> =
        func.block_ids().map(|b| b != BlockId(0) && func.block(b).insts.is_empty() && !heads.contains(&b)).collect();
    let mut home: Vec<Option<BlockId>> = vec![None; func.values.len()];
    for id in func.block_ids() {
        func.block(id).params.iter().for_each(|p| home[p.0 as usize] = Some(id));
    }
    for id in func.block_ids() {
        let block = func.block(id);
        let mut foreign = |v: Value| {
            if let Some(b) = home[v.0 as usize].filter(|&b| b != id) {
                passable[b.0 as usize] = false;
            }
        };
        block.insts.iter().flat_map(|i| &i.args).for_each(|&a| foreign(a));
        block.term.for_each_arg(foreign);
    }
    passable
}

/// Where a jump ends up when it passes through its empty target.
fn beyond(func: &Function, passable: &[bool], truths: &HashMap<Value, bool>, target: &Target) -> Option<Target> {
    if !passable[target.block.0 as usize] {
        return None;
    }
    let block = func.block(target.block);
    let passed = |v: Value| block.params.iter().position(|&p| p == v).map_or(v, |i| target.args[i]);
    let next = match &block.term {
        Terminator::Jump(next) => next,
        Terminator::Branch(condition, then, otherwise) => {
            if *truths.get(&passed(*condition))? {
                then
            } else {
                otherwise
            }
        }
        Terminator::Return(_) => return None,
    };
    Some(Target { block: next.block, args: next.args.iter().map(|&a| passed(a)).collect() })
}

/// Appends blocks to the only block that leads to them, when that leads nowhere else. Returns how
/// many were appended.
fn merge(func: &mut Function) -> usize {
    let reachable = func.reverse_postorder();
    let mut entries = vec![0u32; func.blocks.len()];
    for &b in &reachable {
        func.block(b).term.targets().for_each(|t| entries[t.block.0 as usize] += 1);
    }
    let mut replaced = Replacements::new(func);
    let mut gone = vec![false; func.blocks.len()];
    let mut merged = 0;
    for &id in &reachable {
        if gone[id.0 as usize] {
            continue;
        }
        while let Terminator::Jump(target) = &func.block(id).term {
            let (next, args) = (target.block, target.args.clone());
            if next == id || entries[next.0 as usize] != 1 {
                break;
            }
            let empty = Terminator::Jump(Target { block: next, args: Vec::new() });
            let block = func.block_mut(next);
            let (params, insts) = (std::mem::take(&mut block.params), std::mem::take(&mut block.insts));
            let (term, term_loc) = (std::mem::replace(&mut block.term, empty), block.term_loc);
            for (p, a) in params.into_iter().zip(args) {
                replaced.set(p, a);
            }
            let block = func.block_mut(id);
            block.insts.extend(insts);
            (block.term, block.term_loc) = (term, term_loc);
            gone[next.0 as usize] = true;
            merged += 1;
        }
    }
    replaced.apply(func);
    merged
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn blocks_in_a_straight_line_become_one() {
        check(
            super::run,
            "fn f(v0 x: f32) -> (return: f32) {
b0:
  v1: f32 = neg v0
  jump b2(v1)
b1(v2: f32):
  ret v2
b2(v3: f32):
  v4: f32 = abs v3
  jump b1(v4)
}",
            "fn f(v0 x: f32) -> (return: f32) {
b0:
  v1: f32 = neg v0
  v4: f32 = abs v1
  ret v4
}",
        );
    }

    #[test]
    fn jumps_pass_through_empty_blocks_with_their_arguments() {
        check(
            super::run,
            "fn f(v0 x: f32, v1 c: bool) -> (return: f32) {
b0:
  br v1, b1, b2(v0)
b1:
  jump b3(v0, v0)
b2(v2: f32):
  jump b3(v2, v0)
b3(v3: f32, v4: f32):
  v5: f32 = sub v3, v4
  ret v5
}",
            "fn f(v0 x: f32, v1 c: bool) -> (return: f32) {
b0:
  br v1, b1(v0, v0), b1(v0, v0)
b1(v3: f32, v4: f32):
  v5: f32 = sub v3, v4
  ret v5
}",
        );
    }

    #[test]
    fn a_constant_condition_passed_to_an_empty_branch_picks_its_side() {
        check(
            super::run,
            "fn f(v0 x: f32, v1 c: bool, v2 d: bool) -> (return: f32) {
b0:
  v3: bool = const false
  br v1, b1, b2(v3)
b1:
  v4: f32 = neg v0
  jump b2(v2)
b2(v5: bool):
  br v5, b3, b4
b3:
  v6: f32 = abs v0
  ret v6
b4:
  ret v0
}",
            "fn f(v0 x: f32, v1 c: bool, v2 d: bool) -> (return: f32) {
b0:
  v3: bool = const false
  br v1, b1, b3
b1:
  v4: f32 = neg v0
  br v2, b2, b3
b2:
  v6: f32 = abs v0
  ret v6
b3:
  ret v0
}",
        );
    }

    #[test]
    fn an_empty_block_whose_parameter_others_use_stays() {
        let text = "fn f(v0 x: f32, v1 c: bool) -> (return: f32) {
b0:
  v2: f32 = neg v0
  br v1, b1(v0), b1(v2)
b1(v3: f32):
  br v1, b2, b3
b2:
  ret v3
b3:
  v4: f32 = abs v3
  ret v4
}";
        check(super::run, text, text);
    }

    #[test]
    fn a_loop_without_a_body_stays_a_loop() {
        let text = "fn f() {\nb0:\n  jump b1\nb1:\n  jump b1\n}";
        check(super::run, text, text);
    }
}
