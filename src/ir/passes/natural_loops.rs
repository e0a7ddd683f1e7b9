//! Natural loops: a header and the blocks from which its back edges are reached without passing the
//! header.

use crate::dominators::Dominators;
use crate::{BlockId, Function, Target, Terminator, Value};
use std::collections::{HashMap, HashSet};

/// Passes that hoist code skip loops of more blocks than this.
pub(super) const MAX_BLOCKS: usize = 1024;

/// A loop of the function's reducible part.
pub(super) struct NaturalLoop {
    /// All blocks, the header first, the others in order.
    pub(super) blocks: Vec<BlockId>,
    /// The blocks that jump back to the header.
    pub(super) latches: Vec<BlockId>,
}

impl NaturalLoop {
    /// Where the loop is entered.
    pub(super) fn header(&self) -> BlockId {
        self.blocks[0]
    }
}

/// The loops whose headers dominate their latches, outer ones before inner ones; those of more than
/// `max_blocks` blocks are left out. `preds` are the function's predecessors.
pub(super) fn natural_loops(
    func: &Function,
    tree: &Dominators,
    preds: &[Vec<BlockId>],
    max_blocks: usize,
) -> Vec<NaturalLoop> {
    let mut latches: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
    for (from, to) in tree.back_edges(func) {
        if tree.dominates(to, from) {
            latches.entry(to).or_default().push(from);
        }
    }
    if latches.is_empty() {
        return Vec::new();
    }
    let headers = tree.order().iter().filter_map(|h| Some((*h, latches.remove(h)?)));
    let loops = headers.filter_map(|(header, latches)| {
        let blocks = blocks(preds, header, &latches, max_blocks)?;
        Some(NaturalLoop { blocks, latches })
    });
    loops.collect()
}

/// The blocks from which a latch is reached without the header, which comes first; `None` when
/// there are many.
fn blocks(preds: &[Vec<BlockId>], header: BlockId, latches: &[BlockId], max_blocks: usize) -> Option<Vec<BlockId>> {
    let mut blocks = vec![header];
    let mut seen: HashSet<BlockId> = HashSet::from([header]);
    let mut work = latches.to_vec();
    while let Some(block) = work.pop() {
        if seen.insert(block) {
            blocks.push(block);
            work.extend(&preds[block.0 as usize]);
        }
        if blocks.len() > max_blocks {
            return None;
        }
    }
    blocks[1..].sort();
    Some(blocks)
}

/// The block that leads into the loop and nowhere else, made if there is none, and whether it was
/// made.
pub(super) fn preheader(func: &mut Function, found: &NaturalLoop, preds: &[Vec<BlockId>]) -> (BlockId, bool) {
    let header = found.header();
    let mut outside = preds[header.0 as usize].clone();
    outside.dedup();
    outside.retain(|p| !found.latches.contains(p));
    if let &[from] = &outside[..]
        && matches!(func.block(from).term, Terminator::Jump(_))
    {
        return (from, false);
    }
    let params: Vec<Value> = func.block(header).params.clone();
    let params: Vec<Value> = params.into_iter().map(|p| func.new_value(func.ty(p))).collect();
    let ahead = func.new_block();
    for from in outside {
        let block = func.block_mut(from);
        block.term.targets_mut().filter(|t| t.block == header).for_each(|t| t.block = ahead);
    }
    let block = func.block_mut(ahead);
    block.params = params.clone();
    block.term = Terminator::Jump(Target { block: header, args: params });
    (ahead, true)
}
