//! Allocation of the four components of `S`, where reciprocals and roots arrive (Węgrzanowski 2006,
//! §9.2 and §13.5).
//!
//! Selection gives each result a register of [`Class::Special`]. They are colored with the
//! components of `S` before the general registers are allocated, because what finds no component,
//! or lives across a call that changes it, is copied to a scalar register as soon as it is there.
//! It takes and gives a function on virtual registers, without special ones in the end.

use super::interference::{block_weight, vreg_of};
use super::liveness::{LiveSet, Liveness, step};
use super::vcode::{JUNK, MArith, MFunc, MInst, MOp, MSrc, RegisterClass, RegisterOperand, Special, VReg};
use shadewright_rpu::isa::{Component, Mask, Op, Reg, Swizzle};
use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

/// Puts every special register into a component of `S`, copying those to scalar registers that find
/// none.
pub fn allocate(f: &mut MFunc) {
    part_shared_results(f);
    // A register whose value is copied away lives for one instruction, so the second try for it
    // cannot be in vain.
    let mut short: HashSet<VReg> = HashSet::new();
    for round in 0.. {
        let graph = Graph::new(f);
        let at_once = if round < SINGLE_ROUNDS { 1 } else { usize::MAX };
        let failed = match graph.color(at_once) {
            Ok(components) => return rewrite(f, &components),
            Err(failed) => failed,
        };
        let mut victims = BTreeMap::new();
        for v in failed {
            let victim = graph.victim(v, &short);
            // Another one may have lost the same register.
            if let Entry::Vacant(free) = victims.entry(victim) {
                free.insert(f.new_vreg(RegisterClass::Scalar));
            }
        }
        victims.retain(|&victim, _| short.insert(victim));
        if victims.is_empty() {
            debug_assert!(false, "five reciprocals in one instruction");
            return;
        }
        copy_away(f, &victims);
    }
}

/// Rounds in which one register is copied away; after them all that find no component are, so that a
/// long function takes few rounds.
const SINGLE_ROUNDS: usize = 16;

/// An instruction that writes a scalar register and `S` fixes the component of both. A scalar that
/// others write too is left free: the instruction becomes two.
fn part_shared_results(f: &mut MFunc) {
    let mut writes = vec![0u32; f.vregs.len()];
    for inst in f.blocks.iter().flat_map(|b| &b.insts) {
        inst.for_each_def(|place, _| {
            if let RegisterOperand::V(v) = place {
                writes[v.0 as usize] += 1;
            }
        });
    }
    for block in &mut f.blocks {
        for mut inst in std::mem::take(&mut block.insts) {
            let loc = inst.loc;
            if let Some(a) = inst.arith_mut()
                && let RegisterOperand::V(v) = a.dst
                && a.special.is_some()
                && f.vregs[v.0 as usize] != RegisterClass::Wide
                && writes[v.0 as usize] > 1
            {
                let root = MArith { dst: JUNK, mask: Mask::W, ..a.clone() };
                a.special = None;
                block.insts.push(MInst { op: MOp::Arith(root), loc });
            }
            block.insts.push(inst);
        }
    }
}

/// The interference graph of special registers.
#[derive(Default)]
struct Graph {
    neighbors: BTreeMap<VReg, BTreeSet<VReg>>,
    /// Components that a register cannot be in.
    blocked: HashMap<VReg, Mask>,
    /// How often a register is written, loops counted eightfold.
    writes: HashMap<VReg, u64>,
}

impl Graph {
    fn new(f: &MFunc) -> Graph {
        let mut g = Graph::default();
        let special = |node: usize| vreg_of(node).filter(|v| f.vregs[v.0 as usize] == RegisterClass::Special);
        let liveness = Liveness::new(f);
        let mut live = LiveSet::new(f.nodes());
        for block in &f.blocks {
            liveness.load_out(&block.term, &mut live);
            for i in (0..block.insts.len()).rev() {
                let inst = &block.insts[i];
                let alive = || -> Vec<VReg> { live.iter().filter_map(|(node, _)| special(node)).collect() };
                match &inst.op {
                    MOp::Arith(MArith {
                        special: Some(Special { dst: RegisterOperand::V(v), .. }), dst, mask, ..
                    }) => {
                        let alive = alive();
                        let others = || alive.iter().filter(|o| *o != v);
                        g.neighbors.entry(*v).or_default().extend(others());
                        others().for_each(|o| g.neighbors.entry(*o).or_default().extend([*v]));
                        *g.writes.entry(*v).or_default() += block_weight(block.depth);
                        // The write mask is that of the register too: a wide one fixes it.
                        if is_fixed(f, *dst) {
                            g.block(*v, Mask::from_bits(Mask::XYZW.bits() & !mask.bits()));
                            others().for_each(|o| g.block(*o, *mask));
                        }
                    }
                    MOp::Call { .. } => {
                        let alive = alive();
                        inst.for_each_def(|place, mask| {
                            if place == RegisterOperand::P(Reg::Special) {
                                alive.iter().for_each(|v| g.block(*v, mask));
                            }
                        });
                    }
                    _ => {}
                }
                step(block, i, &mut live);
            }
        }
        g
    }

    fn block(&mut self, v: VReg, mask: Mask) {
        let blocked = self.blocked.entry(v).or_insert(Mask::NONE);
        *blocked = blocked.union(mask);
    }

    fn blocked(&self, v: VReg) -> Mask {
        self.blocked.get(&v).copied().unwrap_or(Mask::NONE)
    }

    /// Components for all, the most difficult first; or the first `at_most` registers without one.
    fn color(&self, at_most: usize) -> Result<HashMap<VReg, Component>, Vec<VReg>> {
        // The difficulty of each register that is left; the heap has old ones too.
        let difficulty = |(&v, e): (&VReg, &BTreeSet<VReg>)| (v, e.len() + self.blocked(v).len());
        let mut left: HashMap<VReg, usize> = self.neighbors.iter().map(difficulty).collect();
        let mut easiest: BinaryHeap<Reverse<(usize, VReg)>> = left.iter().map(|(&v, &d)| Reverse((d, v))).collect();
        let mut order = Vec::with_capacity(left.len());
        while let Some(Reverse((d, v))) = easiest.pop() {
            if left.get(&v) != Some(&d) {
                continue;
            }
            left.remove(&v);
            order.push(v);
            for e in &self.neighbors[&v] {
                if let Some(d) = left.get_mut(e) {
                    *d = d.saturating_sub(1);
                    easiest.push(Reverse((*d, *e)));
                }
            }
        }
        let mut failed = Vec::new();
        let mut components: HashMap<VReg, Component> = HashMap::new();
        for v in order.into_iter().rev() {
            let neighbors = &self.neighbors[&v];
            let taken =
                neighbors.iter().filter_map(|e| components.get(e)).fold(self.blocked(v), |m, &c| m.union(c.into()));
            // From w on: there a scalar is written beside a vector operation.
            let free =
                [Component::W, Component::X, Component::Y, Component::Z].into_iter().find(|&c| !taken.contains(c));
            match free {
                Some(free) => drop(components.insert(v, free)),
                None => failed.push(v),
            }
            if failed.len() == at_most {
                break;
            }
        }
        if failed.is_empty() { Ok(components) } else { Err(failed) }
    }

    /// Whom to copy away when `v` finds no component: the one that is written least, then the one
    /// with most neighbors.
    fn victim(&self, v: VReg, short: &HashSet<VReg>) -> VReg {
        if self.blocked(v) == Mask::XYZW {
            return v;
        }
        let cost = |v: &VReg| {
            let writes = self.writes.get(v).copied().unwrap_or(0);
            (writes, std::cmp::Reverse(self.neighbors.get(v).map_or(0, BTreeSet::len)), *v)
        };
        let candidates = self.neighbors[&v].iter().copied().chain([v]).filter(|c| !short.contains(c));
        candidates.min_by_key(cost).unwrap_or(v)
    }
}

/// True if a destination's components cannot be chosen.
fn is_fixed(f: &MFunc, dst: RegisterOperand) -> bool {
    match dst {
        RegisterOperand::V(v) => f.vregs[v.0 as usize] == RegisterClass::Wide,
        JUNK => false,
        RegisterOperand::P(_) => true,
    }
}

/// Copies special registers to the scalar ones beside them after each instruction that writes them,
/// and lets all others read those.
fn copy_away(f: &mut MFunc, victims: &BTreeMap<VReg, VReg>) {
    for block in &mut f.blocks {
        let has_test = !block.term.tested().is_empty();
        let insts = std::mem::take(&mut block.insts);
        let count = insts.len();
        for (i, mut inst) in insts.into_iter().enumerate() {
            inst.for_each_source_mut(|s| {
                if let MSrc::Reg { place, .. } = s
                    && let RegisterOperand::V(v) = *place
                    && let Some(&t) = victims.get(&v)
                {
                    *place = RegisterOperand::V(t);
                }
            });
            let loc = inst.loc;
            let written = |a: &MArith| match a.special?.dst {
                RegisterOperand::V(v) => victims.get(&v).map(|&t| (v, t)),
                RegisterOperand::P(_) => None,
            };
            let found = inst.arith_mut().and_then(|a| written(a).map(|copied| (a, copied)));
            let Some((a, (v, t))) = found else {
                block.insts.push(inst);
                continue;
            };
            let copy = MArith::new(
                Op::Mov,
                RegisterOperand::V(t),
                Mask::W,
                &[MSrc::component(RegisterOperand::V(v), Component::W)],
            );
            let copy = MInst { op: MOp::Arith(copy), loc };
            if has_test && i + 1 == count {
                // The test stays last: it is computed once more.
                let root = MArith { dst: JUNK, mask: Mask::W, ..a.clone() };
                a.special = None;
                block.insts.extend([MInst { op: MOp::Arith(root), loc }, copy, inst]);
            } else {
                block.insts.extend([inst, copy]);
            }
        }
    }
}

/// Replaces special registers by components of `S`.
fn rewrite(f: &mut MFunc, components: &HashMap<VReg, Component>) {
    for inst in f.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        inst.for_each_source_mut(|s| {
            if let MSrc::Reg { place, swizzle, .. } = s
                && let RegisterOperand::V(v) = *place
                && let Some(&c) = components.get(&v)
            {
                *place = RegisterOperand::P(Reg::Special);
                *swizzle = Swizzle::splat(c);
            }
        });
        let Some(a) = inst.arith_mut() else { continue };
        if let Some(Special { dst: dst @ RegisterOperand::V(_), mask, .. }) = &mut a.special
            && let RegisterOperand::V(v) = *dst
            && let Some(&c) = components.get(&v)
        {
            *dst = RegisterOperand::P(Reg::Special);
            match a.dst {
                JUNK => (a.mask, *mask) = (c.into(), c.into()),
                // One component, which allocation will put where `S` has it.
                RegisterOperand::V(v) if f.vregs[v.0 as usize] != RegisterClass::Wide => *mask = c.into(),
                _ => *mask = a.mask,
            }
        }
    }
}
