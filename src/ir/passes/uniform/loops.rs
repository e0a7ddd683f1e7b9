//! Removes loops that compute nothing.

use crate::dominators::Dominators;
use crate::passes::natural_loops::{MAX_BLOCKS, NaturalLoop, natural_loops};
use crate::{BlockId, Function, Target, Terminator, Value};
use std::collections::HashSet;

/// Removes the loops that have no effect, whose values nothing uses outside, and that `ends` says
/// come to an end, given a header. Blocks keep their numbers; those of the loops become
/// unreachable. Returns how many there were.
///
/// Other passes keep such loops, as one may be endless. Here it is known that it is not, as another
/// function runs it before.
pub(super) fn remove_empty(func: &mut Function, ends: impl Fn(BlockId) -> bool) -> usize {
    let mut removed = 0;
    loop {
        let tree = Dominators::new(func);
        let preds = func.predecessors();
        let loops = natural_loops(func, &tree, &preds, MAX_BLOCKS);
        // Inner ones first: an outer one may be empty without them.
        let ended = loops.iter().rev().filter(|l| ends(l.header()));
        let Some((found, exit)) = ended.filter_map(|l| Some((l, exit(func, &tree, l)?))).next() else { break };
        let header = found.header();
        for from in preds[header.0 as usize].iter().filter(|p| !found.latches.contains(p)) {
            for target in func.block_mut(*from).term.targets_mut().filter(|t| t.block == header) {
                *target = exit.clone();
            }
        }
        removed += 1;
    }
    removed
}

/// Where a loop without effects leads to, if that is one place whatever happens in it.
fn exit(func: &Function, tree: &Dominators, found: &NaturalLoop) -> Option<Target> {
    let inside: HashSet<BlockId> = found.blocks.iter().copied().collect();
    let mut defined: HashSet<Value> = HashSet::new();
    for &id in &found.blocks {
        let block = func.block(id);
        if !block.insts.iter().all(|i| i.op.is_removable()) || matches!(block.term, Terminator::Return(_)) {
            return None;
        }
        defined.extend(block.params.iter().chain(block.insts.iter().flat_map(|i| &i.results)));
    }
    let targets = found.blocks.iter().flat_map(|id| func.block(*id).term.targets());
    let mut exits = targets.filter(|t| !inside.contains(&t.block));
    let exit = exits.next()?;
    if exits.any(|other| other != exit) {
        return None;
    }
    let mut is_used = exit.args.iter().any(|a| defined.contains(a));
    for id in tree.order().iter().filter(|id| !inside.contains(id)) {
        let block = func.block(*id);
        is_used |= block.insts.iter().flat_map(|i| &i.args).any(|a| defined.contains(a));
        block.term.for_each_arg(|a| is_used |= defined.contains(&a));
    }
    (!is_used).then(|| exit.clone())
}
