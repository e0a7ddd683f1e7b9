//! The interference graph of registers (Węgrzanowski 2006, ch. 8), by component, and the affinities
//! of copies.
//!
//! Two registers interfere (are neighbors) in a pair of components when one is written while the
//! other is live. A scalar that may go to any component, and a vector of which only two components
//! matter, are thus as free as they can be. The two sides of a copy have an affinity. Port
//! neighbors are read by one instruction: the stack has one read port, so they cannot both be on
//! it, unless in one register.

use super::liveness::{LiveSet, Liveness, step};
use super::vcode::{ALLOCATABLE, MBlock, MFunc, MInst, MOp, MSrc, PHYSICAL_NODES, RegisterClass, RegisterOperand};
use shadewright_rpu::isa::{Component, Mask};
use std::collections::BTreeMap;

/// Sixteen bits: bit `4·a + b` says that component `a` of one side meets component `b` of the
/// other.
pub type Pairs = u16;

/// A wish that a component of one node be where a component of another is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affinity {
    /// The other node.
    pub other: usize,
    /// Component pairs: `(mine, theirs)`.
    pub pairs: Pairs,
    /// How much a fulfilled wish saves.
    pub weight: u32,
    /// How many copies make it.
    pub copies: u32,
}

/// The graph of a function; nodes are numbered as by [`RegisterOperand::node`].
#[derive(Debug)]
pub struct Interference {
    /// For each virtual register's node, the nodes that it interferes with and in which components
    /// (mine, theirs).
    pub neighbors: Vec<Neighbors>,
    /// For each node, the nodes that it has an affinity to.
    pub affinities: Vec<Vec<Affinity>>,
    /// For each node, nodes that are read together with it, and how often, loops counted eightfold.
    pub ports: Vec<BTreeMap<usize, u64>>,
    /// For each node, scalars that are copied into the same vector as it: from one register that
    /// takes one instruction.
    pub mates: Vec<BTreeMap<usize, u64>>,
    /// For each node, whether it lives across a call.
    pub across_call: Vec<bool>,
    /// For each node, the components that it may be in: one, where its instruction also writes that
    /// of `S`.
    pub allowed: Vec<Mask>,
    /// For each node, how often it is read and written, loops counted eightfold.
    pub accesses: Vec<u64>,
}

/// The nodes that a virtual register interferes with, each once in [`Neighbors::iter`].
///
/// A list that is sorted and merged when it has doubled: nodes meet again and again, and a tree of
/// them took a quarter of the time to compile a scene of 50 shaders.
#[derive(Clone, Debug, Default)]
pub struct Neighbors {
    /// The pairs with each general register. Each call writes all of them: in the list, they took half of
    /// the time to compile a shader of a thousand calls.
    general: [Pairs; ALLOCATABLE as usize],
    /// The virtual registers.
    list: Vec<(u32, Pairs)>,
    /// How many of the list are sorted and different.
    merged: usize,
}

impl Neighbors {
    /// Shorter lists are not merged on the way.
    const SHORT: usize = 64;

    fn add(&mut self, node: usize, pairs: Pairs) {
        if let Some(known) = self.general.get_mut(node) {
            *known |= pairs;
            return;
        }
        self.list.push((node as u32, pairs));
        if self.list.len() >= 2 * self.merged.max(Self::SHORT) {
            self.merge();
        }
    }

    fn merge(&mut self) {
        self.list.sort_unstable_by_key(|(node, _)| *node);
        self.list.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 |= next.1;
            }
            is_same
        });
        self.merged = self.list.len();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.general().count() + self.list.len()
    }

    fn general(&self) -> impl Iterator<Item = (usize, Pairs)> + '_ {
        self.general.iter().copied().enumerate().filter(|&(_, pairs)| pairs != 0)
    }

    /// The nodes, in their order.
    pub fn keys(&self) -> impl Iterator<Item = usize> + '_ {
        self.iter().map(|(node, _)| node)
    }

    /// The nodes with the components, in the order of the nodes.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Pairs)> + '_ {
        self.general().chain(self.list.iter().map(|&(node, pairs)| (node as usize, pairs)))
    }
}

fn pair(a: Component, b: Component) -> Pairs {
    1 << (4 * a.index() + b.index())
}

fn flipped(p: Pairs) -> Pairs {
    (0..16).filter(|i| p >> i & 1 != 0).fold(0, |q, i| q | 1 << (i % 4 * 4 + i / 4))
}

/// All components of one side with all of the other.
fn product(a: Mask, b: Mask) -> Pairs {
    a.components().fold(0, |pairs, c| pairs | Pairs::from(b.bits()) << (4 * c.index()))
}

/// True if a node takes part in allocation: a virtual register or `R0`–`R14`.
fn takes_part(node: usize) -> bool {
    node < ALLOCATABLE as usize || node >= PHYSICAL_NODES
}

/// How often a block is taken to run, with `depth` loops around it.
pub fn block_weight(depth: u32) -> u64 {
    8u64.pow(depth.min(6))
}

impl Interference {
    /// Looks through a function.
    pub fn new(f: &MFunc) -> Interference {
        let n = f.nodes();
        let mut g = Interference {
            neighbors: vec![Neighbors::default(); n],
            affinities: vec![Vec::new(); n],
            ports: vec![BTreeMap::new(); n],
            mates: vec![BTreeMap::new(); n],
            across_call: vec![false; n],
            allowed: vec![Mask::XYZW; n],
            accesses: vec![0; n],
        };
        let liveness = Liveness::new(f);
        let mut live = LiveSet::new(n);
        for block in &f.blocks {
            liveness.load_out(&block.term, &mut live);
            let weight = block_weight(block.depth);
            for i in (0..block.insts.len()).rev() {
                let inst = &block.insts[i];
                if matches!(inst.op, MOp::Call { .. }) {
                    g.call(inst, &live);
                }
                g.instruction(inst, &live);
                if let MOp::Arith(a) = &inst.op {
                    if a.is_copy() {
                        g.add_affinity(a, weight as u32);
                    }
                    if let (Some(s), Some(d)) = (a.special, a.dst.node()) {
                        g.allowed[d] = s.mask;
                    }
                }
                let mut read: Vec<usize> = Vec::new();
                inst.for_each_use(block.tested(i), |p, _| {
                    if let Some(node) = p.node().filter(|&n| n >= PHYSICAL_NODES) {
                        g.accesses[node] += weight;
                        read.push(node);
                    }
                });
                inst.for_each_def(|p, _| {
                    if let Some(node) = p.node().filter(|&n| n >= PHYSICAL_NODES) {
                        g.accesses[node] += weight;
                    }
                });
                for &a in &read {
                    for &b in read.iter().filter(|&&b| b != a) {
                        *g.ports[a].entry(b).or_default() += weight;
                    }
                }
                step(block, i, &mut live);
            }
            g.mate(block, weight);
        }
        g.neighbors.iter_mut().for_each(Neighbors::merge);
        g.affinities.iter_mut().for_each(merge_affinities);
        g
    }

    /// How many copies a node takes part in.
    pub fn copies(&self, node: usize) -> u32 {
        self.affinities[node].iter().map(|affinity| affinity.copies).sum()
    }

    /// Brings together scalars that are copied into components of one vector, one after the other.
    fn mate(&mut self, block: &MBlock, weight: u64) {
        let part = |inst: &MInst| {
            let a = inst.arith().filter(|a| a.is_copy())?;
            Some((
                a.dst.node().filter(|&n| takes_part(n))?,
                a.src[0].as_place()?.node().filter(|&n| n >= PHYSICAL_NODES)?,
            ))
        };
        for pair in block.insts.windows(2) {
            if let (Some((d, a)), Some((e, b))) = (part(&pair[0]), part(&pair[1]))
                && d == e
                && a != b
            {
                *self.mates[a].entry(b).or_default() += weight;
                *self.mates[b].entry(a).or_default() += weight;
            }
        }
    }

    fn call(&mut self, call: &MInst, live: &LiveSet) {
        for (node, _) in live.iter().filter(|&(node, mask)| lives_across(call, node, mask)) {
            self.across_call[node] = true;
        }
    }

    fn instruction(&mut self, inst: &MInst, live: &LiveSet) {
        let copy = inst.arith().filter(|a| a.is_copy());
        inst.for_each_def(|place, mask| {
            let Some(d) = place.node().filter(|&d| takes_part(d)) else { return };
            for (node, components) in live.iter().filter(|&(node, _)| node != d && takes_part(node)) {
                let mut pairs = product(mask, components);
                // Both sides of a copy may share a place: they hold the same value.
                if let Some(MSrc::Reg { place, swizzle, .. }) = copy.map(|a| a.src[0])
                    && place.node() == Some(node)
                {
                    mask.components().for_each(|c| pairs &= !pair(c, swizzle.0[c.index()]));
                }
                for (of, other, pairs) in [(d, node, pairs), (node, d, flipped(pairs))] {
                    if pairs != 0 && of >= PHYSICAL_NODES {
                        self.neighbors[of].add(other, pairs);
                    }
                }
            }
        });
    }

    fn add_affinity(&mut self, copy: &super::vcode::MArith, weight: u32) {
        let MSrc::Reg { place, swizzle, .. } = copy.src[0] else { return };
        let nodes = (copy.dst.node().filter(|&n| takes_part(n)), place.node().filter(|&n| takes_part(n)));
        let (Some(d), Some(s)) = nodes else { return };
        if d != s {
            let pairs = copy.mask.components().fold(0, |p, c| p | pair(c, swizzle.0[c.index()]));
            self.affinities[d].push(Affinity { other: s, pairs, weight, copies: 1 });
            self.affinities[s].push(Affinity { other: d, pairs: flipped(pairs), weight, copies: 1 });
        }
    }
}

/// Makes equal affinities one: a value that is passed to a thousand calls has a thousand.
fn merge_affinities(affinities: &mut Vec<Affinity>) {
    affinities.sort_unstable_by_key(|affinity| (affinity.other, affinity.pairs));
    affinities.dedup_by(|next, kept| {
        let is_same = (next.other, next.pairs) == (kept.other, kept.pairs);
        if is_same {
            kept.weight = kept.weight.saturating_add(next.weight);
            kept.copies += next.copies;
        }
        is_same
    });
}

/// True if what is live of a node after a call lives across it: the call does not write all of it.
fn lives_across(call: &MInst, node: usize, live: Mask) -> bool {
    let mut left = live.bits();
    call.for_each_def(|p, m| left &= if p.node() == Some(node) { !m.bits() } else { Mask::XYZW.bits() });
    left & Mask::XYZW.bits() != 0
}

/// Where components of a register of a class are when it is at `component` of a machine register
/// (which matters for scalars only).
pub fn position(class: RegisterClass, c: Component, component: Component) -> Component {
    match class {
        RegisterClass::Wide => c,
        RegisterClass::Scalar | RegisterClass::ScalarW | RegisterClass::Special => component,
    }
}

/// The pairs as lists of components.
pub fn components_of(pairs: Pairs) -> impl Iterator<Item = (Component, Component)> {
    (0..16u8).filter(move |i| pairs >> i & 1 != 0).map(|i| (Component::from_index(i / 4), Component::from_index(i % 4)))
}

/// Calls `found` with each call of a function, by block and instruction, and each node that lives
/// across it.
pub fn for_each_across_call(f: &MFunc, mut found: impl FnMut(usize, usize, usize)) {
    let liveness = Liveness::new(f);
    let mut live = LiveSet::new(f.nodes());
    for (b, block) in f.blocks.iter().enumerate() {
        liveness.load_out(&block.term, &mut live);
        for i in (0..block.insts.len()).rev() {
            if matches!(block.insts[i].op, MOp::Call { .. }) {
                let across = live.iter().filter(|&(node, mask)| lives_across(&block.insts[i], node, mask));
                across.for_each(|(node, _)| found(b, i, node));
            }
            step(block, i, &mut live);
        }
    }
}

/// The node of a virtual register, the other way round.
pub fn vreg_of(node: usize) -> Option<super::vcode::VReg> {
    node.checked_sub(PHYSICAL_NODES).map(|n| super::vcode::VReg(n as u32))
}

/// The place of a virtual register's node.
pub fn node_of(v: super::vcode::VReg) -> usize {
    RegisterOperand::V(v).node().unwrap_or(PHYSICAL_NODES)
}
