//! Which components of which registers are still needed where, and removal of instructions that
//! compute nothing needed (Węgrzanowski 2006, §7.7).
//!
//! Liveness is tracked by component, so that writing a vector component by component kills what it
//! replaces, and a store of half a vector is seen as dead. Code and values start dead and become
//! live from what has effects.

use super::vcode::{MBlock, MFunc, MOp, MTerm, RegisterOperand, Special};
use shadewright_rpu::isa::{Mask, OpClass, Reg};
use std::collections::BTreeSet;

/// The components of places that live at one point, for a walk through the code. Adding, removing and
/// looking up take constant time, and going through the set the time of what is in it: a long
/// function has hundreds of thousands of places, of which some dozens live at once.
#[derive(Clone, Debug)]
pub struct LiveSet {
    /// For each node, its index in `members`; [`ABSENT`] where it is not live.
    index: Vec<u32>,
    members: Vec<(u32, Mask)>,
}

/// The index of a node that is not live.
const ABSENT: u32 = u32::MAX;

impl LiveSet {
    /// The empty set over `nodes` places.
    pub fn new(nodes: usize) -> LiveSet {
        LiveSet { index: vec![ABSENT; nodes], members: Vec::new() }
    }

    /// The live components of a node.
    pub fn get(&self, node: usize) -> Mask {
        self.members.get(self.index[node] as usize).map_or(Mask::NONE, |&(_, mask)| mask)
    }

    /// Makes components of a node live.
    pub fn insert(&mut self, node: usize, mask: Mask) {
        match self.members.get_mut(self.index[node] as usize) {
            Some((_, live)) => *live = live.union(mask),
            None if mask.is_empty() => {}
            None => {
                self.index[node] = self.members.len() as u32;
                self.members.push((node as u32, mask));
            }
        }
    }

    /// Makes components of a node dead.
    pub fn remove(&mut self, node: usize, mask: Mask) {
        let at = self.index[node] as usize;
        let Some((_, live)) = self.members.get_mut(at) else { return };
        *live = Mask::from_bits(live.bits() & !mask.bits());
        if live.is_empty() {
            self.members.swap_remove(at);
            self.index[node] = ABSENT;
            if let Some(&(moved, _)) = self.members.get(at) {
                self.index[moved as usize] = at as u32;
            }
        }
    }

    /// Makes everything dead.
    fn clear(&mut self) {
        self.members.drain(..).for_each(|(node, _)| self.index[node as usize] = ABSENT);
    }

    /// The nodes with live components, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Mask)> + '_ {
        self.members.iter().map(|&(node, mask)| (node as usize, mask))
    }

    /// How many nodes have live components.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// How many components are live.
    fn components(&self) -> usize {
        self.members.iter().map(|(_, mask)| mask.len()).sum()
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

/// The components that are live before each block of a function.
#[derive(Debug)]
pub struct Liveness(Vec<Box<[(u32, Mask)]>>);

impl Liveness {
    /// Solves the equations of a function.
    pub fn new(f: &MFunc) -> Liveness {
        solve(f, false)
    }

    /// Makes `live` what is live after the last instruction of a block with this end.
    pub fn load_out(&self, term: &MTerm, live: &mut LiveSet) {
        live.clear();
        if let MTerm::Return(results) = term {
            for &(r, mask) in results {
                live.insert(r as usize, mask);
            }
            // The caller's frame pointer must be as it was.
            if let Some(a) = RegisterOperand::P(Reg::A).node() {
                live.insert(a, Mask::W);
            }
        }
        for s in term.successors() {
            self.0[s].iter().for_each(|&(node, mask)| live.insert(node as usize, mask));
        }
    }
}

/// True if an instruction's results are all dead; registers outside general and virtual ones are
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

/// The components that are live before each block. Dead instructions use nothing when `ignore_dead`
/// holds.
///
/// Blocks are looked at from the end of the function to its start, and again where what is live after
/// them has grown. Sets only grow, so one with as many components as before is the same.
fn solve(f: &MFunc, ignore_dead: bool) -> Liveness {
    let mut liveness = Liveness(vec![Box::default(); f.blocks.len()]);
    let mut sizes = vec![0; f.blocks.len()];
    let preds = f.predecessors();
    let mut order = f.reverse_postorder();
    order.reverse();
    let mut position = vec![usize::MAX; f.blocks.len()];
    order.iter().enumerate().for_each(|(at, &b)| position[b] = at);
    let mut work: BTreeSet<usize> = (0..order.len()).collect();
    let mut live = LiveSet::new(f.nodes());
    while let Some(at) = work.pop_first() {
        let b = order[at];
        liveness.load_out(&f.blocks[b].term, &mut live);
        for i in (0..f.blocks[b].insts.len()).rev() {
            if !(ignore_dead && is_dead(&f.blocks[b], i, &live)) {
                step(&f.blocks[b], i, &mut live);
            }
        }
        let size = live.components();
        if size > std::mem::replace(&mut sizes[b], size) {
            liveness.0[b] = live.members.as_slice().into();
            work.extend(preds[b].iter().map(|&p| position[p]).filter(|&p| p != usize::MAX));
        }
    }
    liveness
}

/// Removes instructions whose results nobody needs, and narrows write masks to the components that
/// somebody needs.
pub fn eliminate_dead_code(f: &mut MFunc) {
    let liveness = solve(f, true);
    let mut live = LiveSet::new(f.nodes());
    let mut kept = Vec::new();
    for block in &mut f.blocks {
        liveness.load_out(&block.term, &mut live);
        kept.clear();
        for i in (0..block.insts.len()).rev() {
            let is_needed = !is_dead(block, i, &live);
            if is_needed {
                narrow(block, i, &live);
                step(block, i, &mut live);
            }
            kept.push(is_needed);
        }
        block.insts.retain(|_| kept.pop().unwrap_or(true));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_forgets_nodes_without_live_components() {
        let mut live = LiveSet::new(8);
        live.insert(3, Mask::XYZ);
        live.insert(5, Mask::W);
        live.insert(3, Mask::W);
        live.remove(3, Mask::XYZ);
        assert_eq!((live.get(3), live.get(5), live.get(7), live.len()), (Mask::W, Mask::W, Mask::NONE, 2));
        live.remove(3, Mask::XYZW);
        assert_eq!(live.iter().collect::<Vec<_>>(), [(5, Mask::W)]);
        live.clear();
        assert_eq!((live.get(5), live.len()), (Mask::NONE, 0));
    }
}
