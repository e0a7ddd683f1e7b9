//! Forwarding (Węgrzanowski 2006, §7.6): uses of a copy read what was copied.
//!
//! An assertion says that a component of a virtual register, or of `A`, equals a component of
//! another place times a sign. Assertions hold on edges of the graph: a copy makes them, a write to
//! either side kills them, and where edges meet those on all of them survive. Mostly this lets
//! instructions read `S`, `I`, `HIT` and `C` directly while these still hold the value, and loads
//! take `HIT_TRI` and `HIT_OBJ` as their base; dead code elimination then removes the copies.

use super::liveness::{LiveSet, Liveness};
use super::vcode::{MBlock, MFunc, MInst, MOp, MSrc, RegisterOperand};
use shadewright_rpu::isa::{Base, Component, Mask, Multiplier, Op, Reg, Scale, Swizzle};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// The source that a component equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fact {
    place: RegisterOperand,
    component: Component,
    mult: Multiplier,
}

/// A component of a place that a fact is about.
type Key = (RegisterOperand, Component);

/// The facts that are known at one point, and which of them refer to each place: a write looks at
/// those alone.
#[derive(Clone, Debug, Default)]
struct Facts {
    known: HashMap<Key, Fact>,
    /// By the node of what facts refer to. Facts that were dropped may be left.
    about: HashMap<usize, Vec<Key>>,
}

impl Facts {
    fn from_known(known: HashMap<Key, Fact>) -> Facts {
        let mut facts = Facts::default();
        known.into_iter().for_each(|(key, fact)| facts.insert(key, fact));
        facts
    }

    fn get(&self, key: &Key) -> Option<&Fact> {
        self.known.get(key)
    }

    fn insert(&mut self, key: Key, fact: Fact) {
        if let Some(node) = fact.place.node() {
            self.about.entry(node).or_default().push(key);
        }
        self.known.insert(key, fact);
    }

    /// Drops what a write makes untrue.
    fn write(&mut self, place: RegisterOperand, mask: Mask) {
        let Some(node) = place.node() else { return };
        for c in mask.components() {
            self.known.remove(&(place, c));
        }
        let Entry::Occupied(mut about) = self.about.entry(node) else { return };
        about.get_mut().retain(|key| match self.known.get(key) {
            Some(fact) if fact.place.node() == Some(node) => {
                let is_hit = hit_any(fact, place, mask);
                if is_hit {
                    self.known.remove(key);
                }
                !is_hit
            }
            _ => false,
        });
        if about.get().is_empty() {
            about.remove();
        }
    }
}

/// Forwards copies in a function.
pub fn forward(f: &mut MFunc) {
    let mut at_entry: Vec<Option<HashMap<Key, Fact>>> = vec![None; f.blocks.len()];
    at_entry[0] = Some(HashMap::new());
    // What is not read any more needs no facts: a long function would carry thousands from block to
    // block. Without this the 2,000-line shader of `bench compile` takes 305 ms on its way to the
    // RPU, with it 77.
    let liveness = Liveness::new(f);
    let mut live = LiveSet::new(f.nodes());
    let order = f.reverse_postorder();
    let mut position = vec![0; f.blocks.len()];
    order.iter().enumerate().for_each(|(at, &b)| position[b] = at);
    // Blocks before those that they lead to, so that most are visited once.
    let mut work = BTreeSet::from([0]);
    while let Some(at) = work.pop_first() {
        let b = order[at];
        let Some(known) = at_entry[b].clone() else { continue };
        let mut facts = Facts::from_known(known);
        for inst in &f.blocks[b].insts {
            update(inst, &mut facts);
        }
        let mut known = facts.known;
        liveness.load_out(&f.blocks[b].term, &mut live);
        known.retain(|&(place, c), _| place.node().is_none_or(|node| live.get(node).contains(c)));
        for s in f.blocks[b].term.successors() {
            let changed = match &mut at_entry[s] {
                None => {
                    at_entry[s] = Some(known.clone());
                    true
                }
                Some(before) => {
                    let count = before.len();
                    before.retain(|k, v| known.get(k) == Some(v));
                    before.len() != count
                }
            };
            if changed {
                work.insert(position[s]);
            }
        }
    }
    for (block, known) in f.blocks.iter_mut().zip(at_entry) {
        rewrite(block, Facts::from_known(known.unwrap_or_default()));
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
                    && let Some(fact) = facts.get(&(RegisterOperand::P(Reg::A), c))
                {
                    match fact.place {
                        RegisterOperand::P(Reg::HitTri) => *base = Base::HitTri,
                        RegisterOperand::P(Reg::HitObj) => *base = Base::HitObj,
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
    inst.for_each_def(|place, mask| facts.write(place, mask));
    for (key, fact) in made {
        // A copy of a register to itself says nothing.
        if fact.place != key.0 {
            facts.insert(key, fact);
        }
    }
}

/// True if writing `mask` of `place` changes what a fact refers to. `HIT` registers change all
/// together.
fn hit_any(fact: &Fact, place: RegisterOperand, mask: Mask) -> bool {
    fact.place.node() == place.node()
        && (mask.contains(fact.component) || matches!(place, RegisterOperand::P(Reg::Hit | Reg::HitTri | Reg::HitObj)))
}

fn copies(inst: &MInst) -> Vec<((RegisterOperand, Component), Fact)> {
    let Some(a) = inst.arith() else { return Vec::new() };
    let MSrc::Reg { place, swizzle, mult } = a.src[0] else { return Vec::new() };
    let target = matches!(a.dst, RegisterOperand::V(_) | RegisterOperand::P(Reg::A));
    // General registers are kept free: reading them longer would make new conflicts (§7.6).
    let general = matches!(place, RegisterOperand::P(Reg::R(_)));
    if a.op != Op::Mov || a.sat || a.special.is_some() || mult.scale != Scale::One || !target || general {
        return Vec::new();
    }
    a.mask.components().map(|c| ((a.dst, c), Fact { place, component: swizzle.0[c.index()], mult })).collect()
}
