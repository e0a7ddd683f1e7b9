//! Forwarding (Węgrzanowski 2006, §7.6): uses of a copy read what was copied.
//!
//! An assertion says that a component of a virtual register, or of `A`, equals a component of
//! another place times a sign. Assertions hold on edges of the graph: a copy makes them, a write to
//! either side kills them, and where edges meet those on all of them survive. Mostly this lets
//! instructions read `S`, `I`, `HIT` and `C` directly while these still hold the value, and loads
//! take `HIT_TRI` and `HIT_OBJ` as their base; dead code elimination then removes the copies.

use super::liveness::live_outs;
use super::vcode::{MBlock, MFunc, MInst, MOp, MSrc, Place};
use crate::rpu::isa::{Base, Component, Mask, Multiplier, Op, Reg, Scale, Swizzle};
use std::collections::HashMap;

/// What a component equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fact {
    place: Place,
    component: Component,
    mult: Multiplier,
}

type Facts = HashMap<(Place, Component), Fact>;

/// Forwards copies in a function.
pub fn forward(f: &mut MFunc) {
    let mut at_entry: Vec<Option<Facts>> = vec![None; f.blocks.len()];
    at_entry[0] = Some(Facts::new());
    // What is not read any more needs no facts: a long function would carry thousands from block to
    // block. Without this the 2,000-line shader of `bench compile` takes 305 ms on its way to the
    // RPU, with it 77.
    let live = live_outs(f);
    let mut work = vec![0];
    while let Some(b) = work.pop() {
        let Some(mut facts) = at_entry[b].clone() else { continue };
        for inst in &f.blocks[b].insts {
            update(inst, &mut facts);
        }
        facts.retain(|&(place, c), _| place.node().is_none_or(|node| live[b].get(node).contains(c)));
        for s in f.blocks[b].term.successors() {
            let changed = match &mut at_entry[s] {
                None => {
                    at_entry[s] = Some(facts.clone());
                    true
                }
                Some(known) => {
                    let before = known.len();
                    known.retain(|k, v| facts.get(k) == Some(v));
                    known.len() != before
                }
            };
            if changed && !work.contains(&s) {
                work.push(s);
            }
        }
    }
    for (block, facts) in f.blocks.iter_mut().zip(at_entry) {
        rewrite(block, facts.unwrap_or_default());
    }
}

fn rewrite(block: &mut MBlock, mut facts: Facts) {
    for i in 0..block.insts.len() {
        let tested = block.tested(i);
        let inst = &mut block.insts[i];
        match &mut inst.op {
            MOp::Arith(a) => {
                let integer = a.op.reads_integers();
                for k in 0..a.src.len() {
                    let positions = a.positions(k, tested);
                    a.src[k] = replaced(a.src[k], positions, &facts, integer);
                }
            }
            MOp::Trace { src } => {
                for (s, positions) in src.iter_mut().zip([Mask::XYZ, Mask::XYZ, Mask::XYZW]) {
                    *s = replaced(*s, positions, &facts, false);
                }
            }
            MOp::Load { base, .. } => {
                if let Base::A(c) = *base
                    && let Some(fact) = facts.get(&(Place::P(Reg::A), c))
                {
                    match fact.place {
                        Place::P(Reg::HitTri) => *base = Base::HitTri,
                        Place::P(Reg::HitObj) => *base = Base::HitObj,
                        _ => {}
                    }
                }
            }
            MOp::Store { src, mask, .. } | MOp::Record { src, mask } => *src = replaced(*src, *mask, &facts, false),
            // Splits are made later.
            MOp::Call { .. } | MOp::Split(_) => {}
        }
        update(inst, &mut facts);
    }
}

/// The source with what its components equal, if that is one place with one factor.
fn replaced(s: MSrc, positions: Mask, facts: &Facts, integer: bool) -> MSrc {
    let MSrc::Reg { place, swizzle, mult } = s else { return s };
    let mut found: Option<Fact> = None;
    let mut new = swizzle;
    for p in positions.components() {
        let Some(fact) = facts.get(&(place, swizzle.0[p.index()])) else { return s };
        match found {
            Some(f) if f.place != fact.place || f.mult != fact.mult => return s,
            _ => found = Some(*fact),
        }
        new.0[p.index()] = fact.component;
    }
    let Some(fact) = found else { return s };
    if integer && fact.mult != Multiplier::ONE {
        return s;
    }
    // Positions that do not matter are left alone if that makes no rearrangement, and else repeat
    // one that does, so that a scalar stays the same in all.
    let first = positions.components().next().map_or(Component::X, |p| new.0[p.index()]);
    let straight = positions.len() > 1 && positions.components().all(|p| new.0[p.index()] == p);
    let free = |p: Component| if straight { p } else { first };
    let swizzle = Swizzle(Component::ALL.map(|p| if positions.contains(p) { new.0[p.index()] } else { free(p) }));
    let mult = Multiplier { negate: mult.negate != fact.mult.negate, scale: mult.scale };
    MSrc::Reg { place: fact.place, swizzle, mult }
}

fn update(inst: &MInst, facts: &mut Facts) {
    // What a copy says is read off before its own write kills anything.
    let made = copies(inst);
    inst.for_each_def(|place, mask| {
        if place.node().is_some() {
            let hit = |p: Place, c: Component| p.node() == place.node() && mask.contains(c);
            facts.retain(|&(p, c), fact| !hit(p, c) && !hit_any(fact, place, mask));
        }
    });
    for (key, fact) in made {
        // A copy of a register to itself says nothing.
        if fact.place != key.0 {
            facts.insert(key, fact);
        }
    }
}

/// Whether writing `mask` of `place` changes what a fact refers to. `HIT` registers change all
/// together.
fn hit_any(fact: &Fact, place: Place, mask: Mask) -> bool {
    fact.place.node() == place.node()
        && (mask.contains(fact.component) || matches!(place, Place::P(Reg::Hit | Reg::HitTri | Reg::HitObj)))
}

fn copies(inst: &MInst) -> Vec<((Place, Component), Fact)> {
    let Some(a) = inst.arith() else { return Vec::new() };
    let MSrc::Reg { place, swizzle, mult } = a.src[0] else { return Vec::new() };
    let target = matches!(a.dst, Place::V(_) | Place::P(Reg::A));
    // General registers are kept free: reading them longer would make new conflicts (§7.6).
    let general = matches!(place, Place::P(Reg::R(_)));
    if a.op != Op::Mov || a.sat || a.special.is_some() || mult.scale != Scale::One || !target || general {
        return Vec::new();
    }
    a.mask.components().map(|c| ((a.dst, c), Fact { place, component: swizzle.0[c.index()], mult })).collect()
}
