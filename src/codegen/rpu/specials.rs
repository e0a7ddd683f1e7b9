//! Allocation of the four components of `S`, where reciprocals and roots arrive (Węgrzanowski 2006,
//! §9.2 and §13.5).
//!
//! Selection gives each result a register of [`Class::Special`]. They are coloured with the
//! components of `S` before the general registers are allocated, because what finds no component,
//! or lives across a call that changes it, is copied to a scalar register as soon as it is there.
//! It takes and gives a function on virtual registers, without special ones in the end.

use super::interference::{block_weight, vreg_of};
use super::liveness::{live_outs, step};
use super::vcode::{Class, JUNK, MArith, MFunc, MInst, MOp, MSrc, Place, Special, VReg};
use crate::rpu::isa::{Component, Mask, Op, Reg, Swizzle};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Puts every special register into a component of `S`, copying those to scalar registers that find
/// none.
pub fn allocate(f: &mut MFunc) {
    part_shared_results(f);
    // A register whose value is copied away lives for one instruction, so the second try for it
    // cannot be in vain.
    let mut short: HashSet<VReg> = HashSet::new();
    loop {
        let graph = Graph::of(f);
        match graph.colour() {
            Ok(components) => return rewrite(f, &components),
            Err(v) => {
                let victim = graph.victim(v, &short);
                if !short.insert(victim) {
                    debug_assert!(false, "five reciprocals in one instruction");
                    return;
                }
                copy_away(f, victim);
            }
        }
    }
}

/// An instruction that writes a scalar register and `S` fixes the component of both. A scalar that
/// others write too is left free: the instruction becomes two.
fn part_shared_results(f: &mut MFunc) {
    let mut writes = vec![0u32; f.vregs.len()];
    for inst in f.blocks.iter().flat_map(|b| &b.insts) {
        inst.for_each_def(|place, _| {
            if let Place::V(v) = place {
                writes[v.0 as usize] += 1;
            }
        });
    }
    for block in &mut f.blocks {
        for mut inst in std::mem::take(&mut block.insts) {
            let loc = inst.loc;
            if let Some(a) = inst.arith_mut()
                && let Place::V(v) = a.dst
                && a.special.is_some()
                && f.vregs[v.0 as usize] != Class::Wide
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

/// What stands between special registers.
#[derive(Default)]
struct Graph {
    neighbours: BTreeMap<VReg, BTreeSet<VReg>>,
    /// Components that a register cannot be in.
    blocked: HashMap<VReg, Mask>,
    /// How often a register is written, loops counted eightfold.
    writes: HashMap<VReg, u64>,
}

impl Graph {
    fn of(f: &MFunc) -> Graph {
        let mut g = Graph::default();
        let special = |node: usize| vreg_of(node).filter(|v| f.vregs[v.0 as usize] == Class::Special);
        for (block, mut live) in f.blocks.iter().zip(live_outs(f)) {
            for i in (0..block.insts.len()).rev() {
                let inst = &block.insts[i];
                let alive: Vec<VReg> = live.iter().filter_map(|(node, _)| special(node)).collect();
                match &inst.op {
                    MOp::Arith(MArith { special: Some(Special { dst: Place::V(v), .. }), dst, mask, .. }) => {
                        let others = || alive.iter().filter(|o| *o != v);
                        g.neighbours.entry(*v).or_default().extend(others());
                        others().for_each(|o| g.neighbours.entry(*o).or_default().extend([*v]));
                        *g.writes.entry(*v).or_default() += block_weight(block.depth);
                        // The write mask is that of the register too: a wide one fixes it.
                        if is_fixed(f, *dst) {
                            g.block(*v, Mask::from_bits(Mask::XYZW.bits() & !mask.bits()));
                            others().for_each(|o| g.block(*o, *mask));
                        }
                    }
                    MOp::Call { .. } => inst.for_each_def(|place, mask| {
                        if place == Place::P(Reg::Special) {
                            alive.iter().for_each(|v| g.block(*v, mask));
                        }
                    }),
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

    /// Components for all, the most difficult first; or the first register without one.
    fn colour(&self) -> Result<HashMap<VReg, Component>, VReg> {
        let mut rest: Vec<VReg> = self.neighbours.keys().copied().collect();
        let mut degree: HashMap<VReg, usize> = self.neighbours.iter().map(|(&v, e)| (v, e.len())).collect();
        let mut order = Vec::with_capacity(rest.len());
        while let Some(easiest) =
            (0..rest.len()).min_by_key(|&i| (degree[&rest[i]] + self.blocked(rest[i]).len(), rest[i]))
        {
            let v = rest.swap_remove(easiest);
            order.push(v);
            for e in &self.neighbours[&v] {
                degree.entry(*e).and_modify(|d| *d = d.saturating_sub(1));
            }
        }
        let mut components: HashMap<VReg, Component> = HashMap::new();
        for v in order.into_iter().rev() {
            let neighbours = &self.neighbours[&v];
            let taken =
                neighbours.iter().filter_map(|e| components.get(e)).fold(self.blocked(v), |m, &c| m.union(c.into()));
            // From w on: there a scalar is written beside a vector operation.
            let free =
                [Component::W, Component::X, Component::Y, Component::Z].into_iter().find(|&c| !taken.contains(c));
            components.insert(v, free.ok_or(v)?);
        }
        Ok(components)
    }

    /// Whom to copy away when `v` finds no component: the one that is written least, then the one
    /// with most neighbours.
    fn victim(&self, v: VReg, short: &HashSet<VReg>) -> VReg {
        if self.blocked(v) == Mask::XYZW {
            return v;
        }
        let cost = |v: &VReg| {
            let writes = self.writes.get(v).copied().unwrap_or(0);
            (writes, std::cmp::Reverse(self.neighbours.get(v).map_or(0, BTreeSet::len)), *v)
        };
        let candidates = self.neighbours[&v].iter().copied().chain([v]).filter(|c| !short.contains(c));
        candidates.min_by_key(cost).unwrap_or(v)
    }
}

/// Whether a destination's components cannot be chosen.
fn is_fixed(f: &MFunc, dst: Place) -> bool {
    match dst {
        Place::V(v) => f.vregs[v.0 as usize] == Class::Wide,
        JUNK => false,
        Place::P(_) => true,
    }
}

/// Copies a special register to a scalar one after each instruction that writes it, and lets all
/// others read that.
fn copy_away(f: &mut MFunc, v: VReg) {
    let t = f.new_vreg(Class::Scalar);
    for block in &mut f.blocks {
        let has_test = !block.term.tested().is_empty();
        let insts = std::mem::take(&mut block.insts);
        let count = insts.len();
        for (i, mut inst) in insts.into_iter().enumerate() {
            inst.for_each_source_mut(|s| {
                if let MSrc::Reg { place, .. } = s
                    && *place == Place::V(v)
                {
                    *place = Place::V(t);
                }
            });
            let loc = inst.loc;
            let copy = MArith::new(Op::Mov, Place::V(t), Mask::W, &[MSrc::component(Place::V(v), Component::W)]);
            let copy = MInst { op: MOp::Arith(copy), loc };
            let writes = |a: &&mut MArith| a.special.is_some_and(|s| s.dst == Place::V(v));
            let Some(a) = inst.arith_mut().filter(writes) else {
                block.insts.push(inst);
                continue;
            };
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
                && let Place::V(v) = *place
                && let Some(&c) = components.get(&v)
            {
                *place = Place::P(Reg::Special);
                *swizzle = Swizzle::splat(c);
            }
        });
        let Some(a) = inst.arith_mut() else { continue };
        if let Some(Special { dst: dst @ Place::V(_), mask, .. }) = &mut a.special
            && let Place::V(v) = *dst
            && let Some(&c) = components.get(&v)
        {
            *dst = Place::P(Reg::Special);
            match a.dst {
                JUNK => (a.mask, *mask) = (c.into(), c.into()),
                // One component, which allocation will put where `S` has it.
                Place::V(v) if f.vregs[v.0 as usize] != Class::Wide => *mask = c.into(),
                _ => *mask = a.mask,
            }
        }
    }
}
