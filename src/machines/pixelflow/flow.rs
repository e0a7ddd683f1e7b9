//! The order in which a SIMD array runs the blocks of a function, and what diverges.
//!
//! All pixels of a region share one stream of instructions. A block runs once for all pixels that
//! are to run it: of the blocks that wait, the first in [`Flow::order`]. Loops are contiguous in
//! that order, so pixels that leave a loop wait for the others.

use shadewright_ir::dominators::{Dominators, post_dominators};
use shadewright_ir::{BlockId, Function, Op, Terminator, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// Which results of a call vary, by the callee and by which arguments vary.
pub type ResultsOfCalls<'a> = &'a mut dyn FnMut(&Arc<str>, &[bool]) -> Vec<bool>;

/// The shape of a function.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Reachable blocks, loops contiguous.
    pub order: Vec<BlockId>,
    /// Position of each block in `order`.
    pub position: Vec<usize>,
    /// In how many loops each block is.
    pub depth: Vec<u32>,
    /// The blocks of each loop.
    loops: Vec<HashSet<BlockId>>,
    /// The closest block that every path from a block to the end passes.
    post_dominator: Vec<Option<BlockId>>,
}

impl Flow {
    /// That of a function.
    pub fn new(f: &Function) -> Self {
        let tree = Dominators::new(f);
        let preds = f.predecessors();
        let mut loops: Vec<(BlockId, HashSet<BlockId>)> = Vec::new();
        for (latch, header) in tree.back_edges(f) {
            let mut blocks = HashSet::from([header]);
            let mut work = vec![latch];
            while let Some(block) = work.pop() {
                if blocks.insert(block) {
                    work.extend(preds[block.0 as usize].iter().filter(|p| tree.is_reachable(**p)));
                }
            }
            match loops.iter_mut().find(|(h, _)| *h == header) {
                Some((_, known)) => known.extend(blocks),
                None => loops.push((header, blocks)),
            }
        }
        let loops: Vec<HashSet<BlockId>> = loops.into_iter().map(|(_, blocks)| blocks).collect();
        let mut depth = vec![0; f.blocks.len()];
        loops.iter().flatten().for_each(|b| depth[b.0 as usize] += 1);
        let order = order(f, &depth);
        let mut position = vec![usize::MAX; f.blocks.len()];
        order.iter().enumerate().for_each(|(i, b)| position[b.0 as usize] = i);
        let post_dominator = post_dominators(f);
        Self { order, position, depth, loops, post_dominator }
    }

    /// True if an edge leads backwards.
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.position[to.0 as usize] <= self.position[from.0 as usize]
    }

    /// True if a branch at the end of `from` decides if a loop goes on: `stays` is in one with it,
    /// and `leaves` is not.
    pub fn ends_loop(&self, from: BlockId, stays: BlockId, leaves: BlockId) -> bool {
        self.loops.iter().any(|l| l.contains(&from) && l.contains(&stays) && !l.contains(&leaves))
    }

    /// The blocks that control reaches from `start` before it comes to the block that follows
    /// `branch` on every path, that one included.
    fn influence(&self, f: &Function, branch: BlockId, start: BlockId) -> HashSet<BlockId> {
        let end = self.post_dominator[branch.0 as usize];
        let mut seen = HashSet::from([start]);
        let mut work = vec![start];
        while let Some(block) = work.pop() {
            if Some(block) == end {
                continue;
            }
            for t in f.block(block).term.targets() {
                if seen.insert(t.block) {
                    work.push(t.block);
                }
            }
        }
        seen
    }

    /// Which values may differ from pixel to pixel, where the parameters that `varying` names do.
    /// `results` says it of the results of calls, given which arguments vary.
    pub fn varying(&self, f: &Function, varying: &[bool], results: ResultsOfCalls<'_>) -> Vec<bool> {
        let mut is = vec![false; f.values.len()];
        for (p, v) in f.param_values().iter().zip(varying) {
            is[p.0 as usize] = *v;
        }
        let mut diverged: HashSet<BlockId> = HashSet::new();
        loop {
            let mut changed = false;
            let mut set = |is: &mut Vec<bool>, v: Value, to: bool| {
                if to && !is[v.0 as usize] {
                    is[v.0 as usize] = true;
                    changed = true;
                }
            };
            for &id in &self.order {
                let block = f.block(id);
                for inst in &block.insts {
                    let args: Vec<bool> = inst.args.iter().map(|a| is[a.0 as usize]).collect();
                    let of_inst = match &inst.op {
                        Op::Call(name) => results(name, &args),
                        // Arrays lie in pixel memory.
                        Op::SlotLoad(_) | Op::Hit | Op::HitTri | Op::CallShader(_) => vec![true; inst.results.len()],
                        _ => vec![args.contains(&true); inst.results.len()],
                    };
                    for (&r, to) in inst.results.iter().zip(of_inst) {
                        set(&mut is, r, to);
                    }
                }
                for t in block.term.targets() {
                    for (&p, &a) in f.block(t.block).params.iter().zip(&t.args) {
                        let to = is[a.0 as usize];
                        set(&mut is, p, to);
                    }
                }
                let Terminator::Branch(c, a, b) = &block.term else { continue };
                if !is[c.0 as usize] || a.block == b.block && a.args == b.args || !diverged.insert(id) {
                    continue;
                }
                // Where both ways lead, a parameter depends on the way.
                let ways = [a.block, b.block].map(|start| self.influence(f, id, start));
                for both in ways[0].intersection(&ways[1]) {
                    for &p in &f.block(*both).params {
                        set(&mut is, p, true);
                    }
                }
                // Pixels leave a loop in different iterations.
                for inside in self.loops.iter().filter(|l| l.contains(&id)) {
                    if inside.contains(&a.block) && inside.contains(&b.block) {
                        continue;
                    }
                    for v in leaving(f, inside) {
                        set(&mut is, v, true);
                    }
                }
            }
            if !changed {
                return is;
            }
        }
    }
}

/// Values of a loop that are used outside of it, and the parameters by which they leave.
fn leaving(f: &Function, inside: &HashSet<BlockId>) -> Vec<Value> {
    let mut defined = HashSet::new();
    for id in inside {
        let block = f.block(*id);
        defined.extend(block.params.iter().chain(block.insts.iter().flat_map(|i| &i.results)).copied());
    }
    let mut found = Vec::new();
    for id in f.block_ids() {
        let block = f.block(id);
        if inside.contains(&id) {
            for t in block.term.targets().filter(|t| !inside.contains(&t.block)) {
                found.extend(f.block(t.block).params.iter().copied());
            }
            continue;
        }
        found.extend(block.insts.iter().flat_map(|i| &i.args).filter(|v| defined.contains(v)));
        block.term.for_each_arg(|v| {
            if defined.contains(&v) {
                found.push(v);
            }
        });
    }
    found
}

/// Reverse postorder in which a branch that leaves a loop is walked before one that stays: its
/// target then comes after the loop.
fn order(f: &Function, depth: &[u32]) -> Vec<BlockId> {
    let targets = |id: BlockId| {
        let mut targets: Vec<BlockId> = f.block(id).term.targets().map(|t| t.block).collect();
        // Of two at one depth, the first comes first in the order: it is walked last.
        targets.reverse();
        targets.sort_by_key(|t| depth[t.0 as usize]);
        targets
    };
    let mut seen = vec![false; f.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(BlockId(0), targets(BlockId(0)), 0)];
    seen[0] = true;
    while let Some((block, next, at)) = stack.last_mut() {
        match next.get(*at).copied() {
            Some(t) => {
                *at += 1;
                if !std::mem::replace(&mut seen[t.0 as usize], true) {
                    stack.push((t, targets(t), 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;
    use shadewright_ir::parse;

    fn varying(text: &str, params: &[bool]) -> (Function, Vec<bool>) {
        let f = parse(text, FileId(0)).expect("IR").functions.remove(0);
        let is = Flow::new(&f).varying(&f, params, &mut |_, args| vec![args.contains(&true)]);
        (f, is)
    }

    #[test]
    fn what_joins_after_a_varying_branch_varies_and_a_uniform_loop_in_it_does_not() {
        let (_, is) = varying(
            "fn f(v0 c: bool, v1 n: u32) -> (r: u32) {
b0:
  v2: u32 = const 0
  v3: u32 = const 1
  br v0, b1(v2), b4(v2)
b1(v4: u32):
  v5: bool = ilt v4, v1
  br v5, b2, b3
b2:
  v6: u32 = iadd v4, v3
  jump b1(v6)
b3:
  jump b4(v3)
b4(v7: u32):
  ret v7
}",
            &[true, false],
        );
        assert!(is[7], "the join varies");
        assert!(!is[4] && !is[5] && !is[6], "the counter does not");
    }

    #[test]
    fn the_counter_of_a_loop_that_pixels_leave_at_different_times_varies_outside() {
        let (f, is) = varying(
            "fn f(v0 x: u32, v1 n: u32) -> (r: u32) {
b0:
  v2: u32 = const 0
  v3: u32 = const 1
  jump b1(v2)
b1(v4: u32):
  v5: bool = ilt v4, v0
  br v5, b2, b3
b2:
  v6: u32 = iadd v4, v3
  jump b1(v6)
b3:
  ret v4
}",
            &[true, false],
        );
        assert!(is[4] && is[6]);
        let flow = Flow::new(&f);
        assert_eq!(flow.order.iter().map(|b| b.0).collect::<Vec<_>>(), [0, 1, 2, 3], "the exit comes after the loop");
    }
}
