//! Which components of which registers are still needed where, and removal of instructions that
//! compute nothing needed (Węgrzanowski 2006, §7.7).
//!
//! Liveness is tracked by component, so that writing a vector component by component kills what it
//! replaces, and a store of half a vector is seen as dead. Code and values start dead and become
//! live from what has effects.

use super::vcode::{MBlock, MFunc, MOp, MTerm, Place, Special};
use crate::rpu::isa::{Mask, OpClass, Reg};

/// A set of components of places: bit `4 · node + component`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSet(Vec<u64>);

impl LiveSet {
    /// The empty set over `nodes` places.
    pub fn new(nodes: usize) -> LiveSet {
        LiveSet(vec![0; nodes.div_ceil(16)])
    }

    /// The live components of a node.
    pub fn get(&self, node: usize) -> Mask {
        Mask::from_bits((self.0[node / 16] >> (node % 16 * 4)) as u8)
    }

    /// Makes components of a node live.
    pub fn insert(&mut self, node: usize, mask: Mask) {
        self.0[node / 16] |= (mask.bits() as u64) << (node % 16 * 4);
    }

    /// Makes components of a node dead.
    pub fn remove(&mut self, node: usize, mask: Mask) {
        self.0[node / 16] &= !((mask.bits() as u64) << (node % 16 * 4));
    }

    /// Adds another set; returns whether anything changed.
    pub fn union(&mut self, other: &LiveSet) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= *b;
        }
        changed
    }

    /// The nodes with live components.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Mask)> + '_ {
        self.0.iter().enumerate().flat_map(|(w, &bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let nibble = rest.trailing_zeros() / 4;
                let mask = (rest >> (nibble * 4)) as u8 & 15;
                rest &= !(15u64 << (nibble * 4));
                Some((w * 16 + nibble as usize, Mask::from_bits(mask)))
            })
        })
    }
}

/// Updates a set from after instruction `i` of a block to before it.
pub fn step(block: &MBlock, i: usize, live: &mut LiveSet) {
    let inst = &block.insts[i];
    inst.for_each_def(|place, mask| {
        if let Some(n) = place.node() {
            live.remove(n, mask);
        }
    });
    inst.for_each_use(block.tested(i), |place, mask| {
        if let Some(n) = place.node() {
            live.insert(n, mask);
        }
    });
}

/// What is live after a block's last instruction, given what is live before its successors.
fn live_out(f: &MFunc, b: usize, live_in: &[LiveSet]) -> LiveSet {
    let mut live = LiveSet::new(f.nodes());
    if let MTerm::Return(results) = &f.blocks[b].term {
        for &(r, mask) in results {
            live.insert(r as usize, mask);
        }
        // The caller's frame pointer must be as it was.
        if let Some(a) = Place::P(Reg::A).node() {
            live.insert(a, Mask::W);
        }
    }
    for s in f.blocks[b].term.successors() {
        live.union(&live_in[s]);
    }
    live
}

/// Whether an instruction's results are all dead; registers outside general and virtual ones are
/// looked at like any.
fn is_dead(block: &MBlock, i: usize, live: &LiveSet) -> bool {
    if block.insts[i].has_effect() || !block.tested(i).is_empty() {
        return false;
    }
    let mut dead = true;
    block.insts[i].for_each_def(|place, mask| {
        if let Some(n) = place.node() {
            dead &= live.get(n).bits() & mask.bits() == 0;
        }
    });
    dead
}

/// For each block, what is live after it. Dead instructions use nothing when `ignore_dead` holds.
fn solve(f: &MFunc, ignore_dead: bool) -> Vec<LiveSet> {
    let mut live_in = vec![LiveSet::new(f.nodes()); f.blocks.len()];
    let preds = f.predecessors();
    let mut work: Vec<usize> = (0..f.blocks.len()).collect();
    let mut queued = vec![true; f.blocks.len()];
    while let Some(b) = work.pop() {
        queued[b] = false;
        let mut live = live_out(f, b, &live_in);
        for i in (0..f.blocks[b].insts.len()).rev() {
            if !(ignore_dead && is_dead(&f.blocks[b], i, &live)) {
                step(&f.blocks[b], i, &mut live);
            }
        }
        if live_in[b].union(&live) {
            for &p in &preds[b] {
                if !std::mem::replace(&mut queued[p], true) {
                    work.push(p);
                }
            }
        }
    }
    (0..f.blocks.len()).map(|b| live_out(f, b, &live_in)).collect()
}

/// For each block, what is live after its last instruction.
pub fn live_outs(f: &MFunc) -> Vec<LiveSet> {
    solve(f, false)
}

/// Removes instructions whose results nobody needs, and narrows write masks to the components that
/// somebody needs.
pub fn eliminate_dead_code(f: &mut MFunc) {
    let outs = solve(f, true);
    for (block, mut live) in f.blocks.iter_mut().zip(outs) {
        let mut i = block.insts.len();
        while i > 0 {
            i -= 1;
            if is_dead(block, i, &live) {
                block.insts.remove(i);
                continue;
            }
            narrow(block, i, &live);
            step(block, i, &mut live);
        }
    }
}

fn narrow(block: &mut MBlock, i: usize, live: &LiveSet) {
    let tested = block.tested(i);
    let MOp::Arith(a) = &mut block.insts[i].op else { return };
    let unread = |s: &Special| s.dst.node().is_some_and(|n| live.get(n).bits() & s.mask.bits() == 0);
    if a.special.as_ref().is_some_and(unread) {
        a.special = None;
    }
    let Some(node) = a.dst.node() else { return };
    let needed = Mask::from_bits(live.get(node).bits() & a.mask.bits());
    if needed.is_empty() {
        // Only `S` or the condition is needed.
        a.dst = super::vcode::JUNK;
    } else if a.special.is_none() && a.op.class() != OpClass::Integer && !a.op.is_scalar() {
        a.mask = needed;
    }
    debug_assert!(a.special.is_some() || !needed.is_empty() || !tested.is_empty());
}
