//! Joins instructions: a copy that only feeds `S` or a condition takes over the computation it
//! copies (`dp3` and `mov_rsq` become `dp3_rsq`), a scalar that is only copied into a vector is
//! computed there, and equal operations on different components become one.
//!
//! It works within a block, on virtual registers. A register is looked through only where it has
//! one definition.

use super::vcode::{JUNK, MArith, MBlock, MFunc, MInst, MOp, MSrc, RegisterOperand, VReg};
use shadewright_rpu::isa::{Component, Mask, Multiplier, Op, OpClass, Reg, Swizzle};
use std::collections::HashMap;

/// How far apart two instructions may be to be joined into one on more components.
const WINDOW: usize = 24;

/// Runs the whole of this module.
pub fn merge(f: &mut MFunc) {
    let defs = definition_counts(f);
    let single = |place: RegisterOperand| matches!(place, RegisterOperand::V(v) if defs.get(&v) == Some(&1));
    for block in &mut f.blocks {
        look_through_copies(block, &single);
        share_condition(block);
    }
    super::liveness::eliminate_dead_code(f);
    let uses = use_counts(f);
    for block in &mut f.blocks {
        carry_specials(block);
        compute_in_place(block, &single, &uses);
        widen(block);
        move_test_to_end(block);
    }
}

fn definition_counts(f: &MFunc) -> HashMap<VReg, usize> {
    let mut defs = HashMap::new();
    for inst in f.blocks.iter().flat_map(|b| &b.insts) {
        inst.for_each_def(|place, _| {
            if let RegisterOperand::V(v) = place {
                *defs.entry(v).or_default() += 1;
            }
        });
    }
    defs
}

fn use_counts(f: &MFunc) -> HashMap<VReg, usize> {
    let mut uses = HashMap::new();
    for b in &f.blocks {
        for (i, inst) in b.insts.iter().enumerate() {
            inst.for_each_use(b.tested(i), |place, _| {
                if let RegisterOperand::V(v) = place {
                    *uses.entry(v).or_default() += 1;
                }
            });
        }
    }
    uses
}

/// True if an instruction between two positions (both excluded) writes something that `inst` reads,
/// or, for `dst`, reads or writes it.
fn disturbed(block: &MBlock, from: usize, to: usize, inst: &MInst, dst: Option<(RegisterOperand, Mask)>) -> bool {
    let mut reads: Vec<(RegisterOperand, Mask)> = Vec::new();
    inst.for_each_use(Mask::NONE, |p, m| reads.push((p, m)));
    let overlaps = |a: &[(RegisterOperand, Mask)], p: RegisterOperand, m: Mask| {
        p.node().is_some() && a.iter().any(|&(q, n)| q.node() == p.node() && m.bits() & n.bits() != 0)
    };
    let target: Vec<(RegisterOperand, Mask)> = dst.into_iter().collect();
    (from + 1..to).any(|k| {
        let mut hit = false;
        block.insts[k].for_each_def(|p, m| hit |= overlaps(&reads, p, m) || overlaps(&target, p, m));
        block.insts[k].for_each_use(block.tested(k), |p, m| hit |= overlaps(&target, p, m));
        hit
    })
}

/// The position of the instruction before `i` that alone defines a scalar register.
fn scalar_definition(
    block: &MBlock,
    i: usize,
    place: RegisterOperand,
    single: &impl Fn(RegisterOperand) -> bool,
) -> Option<usize> {
    if !single(place) {
        return None;
    }
    (0..i).rev().find(|&k| block.insts[k].arith().is_some_and(|a| a.dst == place && a.special.is_none()))
}

/// Lets `mov_rcp`, `mov_rsq` and tests of a copy compute what they copy, when it is one instruction
/// away. The copy is then often dead.
fn look_through_copies(block: &mut MBlock, single: &impl Fn(RegisterOperand) -> bool) {
    for i in 0..block.insts.len() {
        let tested = block.tested(i);
        let Some(copy) = block.insts[i].arith() else { continue };
        let MSrc::Reg { place, mult, swizzle } = copy.src[0] else { continue };
        let integer = copy.op == Op::Iadd && copy.src[1] == MSrc::Lit(0);
        let copies = copy.op == Op::Mov || (integer && mult == Multiplier::ONE);
        if copy.dst != JUNK || !copies || copy.sat || (copy.special.is_none() && tested.is_empty()) {
            continue;
        }
        let Some(k) = scalar_definition(block, i, place, single) else { continue };
        let Some(def) = block.insts[k].arith() else { continue };
        let gives_integer = matches!(def.op.class(), OpClass::Integer | OpClass::ToInteger);
        if gives_integer != integer || def.op.class() == OpClass::FromInteger {
            continue;
        }
        if disturbed(block, k, i, &block.insts[k], None) {
            continue;
        }
        let Some(mut merged) = multiplied(def, mult) else { continue };
        // The component that is copied is computed in all.
        if def.op.class() == OpClass::Componentwise {
            let component = Swizzle::splat(swizzle.0[Component::W.index()]);
            merged.src.iter_mut().for_each(|s| *s = s.swizzled(component));
        }
        merged.dst = JUNK;
        merged.mask = copy.mask;
        merged.special = copy.special;
        block.insts[i].op = MOp::Arith(merged);
    }
}

/// An instruction whose result is that of `a` times a factor: only signs can move into the sources,
/// without another rounding.
fn multiplied(a: &MArith, mult: Multiplier) -> Option<MArith> {
    if mult == Multiplier::ONE {
        return Some(a.clone());
    }
    if mult != Multiplier::MINUS_ONE || a.sat {
        return None;
    }
    let flip: &[usize] = match a.op {
        Op::Mov | Op::Mul | Op::Dp3 | Op::Dp4 => &[0],
        Op::Add => &[0, 1],
        Op::Mad => &[0, 2],
        _ => return None,
    };
    let mut a = a.clone();
    flip.iter().for_each(|&i| a.src[i] = a.src[i].negated());
    Some(a)
}

/// When the tested instruction computes what an earlier one puts into `S`, the test does both.
fn share_condition(block: &mut MBlock) {
    let Some(last) = block.insts.len().checked_sub(1) else { return };
    let Some(test) = block.insts[last].arith().cloned() else { return };
    if block.term.tested().is_empty() || test.special.is_some() || test.dst != JUNK {
        return;
    }
    let same = |a: &MArith| a.op == test.op && a.src == test.src && a.sat == test.sat && a.dst == JUNK;
    let Some(k) = (0..last).rev().find(|&k| block.insts[k].arith().is_some_and(|a| a.special.is_some() && same(a)))
    else {
        return;
    };
    let Some(early) = block.insts[k].arith().cloned() else { return };
    let special = early.special.map(|s| (s.dst, s.mask));
    if !disturbed(block, k, last, &block.insts[k], special) {
        block.insts[last].op = MOp::Arith(early);
        block.insts.remove(k);
    }
}

/// When one instruction computes a scalar and another the same for `S`, the first does both
/// (Węgrzanowski 2006, §13.6).
fn carry_specials(block: &mut MBlock) {
    let mut i = 0;
    while i < block.insts.len() {
        let at = i;
        i += 1;
        let Some(special) = block.insts[at].arith().filter(|a| a.dst == JUNK && a.special.is_some()) else { continue };
        let same = |a: &MArith| {
            // A copy may vanish by itself.
            let target =
                matches!(a.dst, RegisterOperand::V(_)) && a.mask == Mask::W && a.special.is_none() && !a.is_copy();
            target && a.op == special.op && a.src == special.src && a.sat == special.sat
        };
        let Some(k) = (0..at).rev().find(|&k| block.insts[k].arith().is_some_and(same)) else { continue };
        let Some(mut both) = block.insts[k].arith().cloned() else { continue };
        both.special = special.special;
        let tested = !block.tested(at).is_empty();
        // A tested instruction stays where it is, if nothing needs the scalar before.
        let target = tested.then_some((both.dst, both.mask));
        if disturbed(block, k, at, &block.insts[k], target) {
            continue;
        }
        let (stays, goes) = if tested { (at, k) } else { (k, at) };
        block.insts[stays].op = MOp::Arith(both);
        block.insts.remove(goes);
        i = at;
    }
}

/// A scalar whose only use is a copy into components of a vector is computed into them.
fn compute_in_place(block: &mut MBlock, single: &impl Fn(RegisterOperand) -> bool, uses: &HashMap<VReg, usize>) {
    let mut i = 0;
    while i < block.insts.len() {
        let at = i;
        i += 1;
        let Some(copy) = block.insts[at].arith() else { continue };
        let MSrc::Reg { place: RegisterOperand::V(v), .. } = copy.src[0] else { continue };
        if !copy.is_copy() || copy.dst == JUNK || uses.get(&v) != Some(&1) || !block.tested(at).is_empty() {
            continue;
        }
        let (dst, mask) = (copy.dst, copy.mask);
        let Some(k) = scalar_definition(block, at, RegisterOperand::V(v), single) else { continue };
        let Some(def) = block.insts[k].arith() else { continue };
        if def.op.is_scalar() || def.mask != Mask::W || matches!(dst, RegisterOperand::P(Reg::A)) {
            continue;
        }
        // Writing early must not be seen; if it would be, the computation moves down instead.
        if !is_uniform(def) {
            continue;
        }
        if !disturbed(block, k, at, &block.insts[k].clone(), Some((dst, mask))) && !reads_target(&block.insts[k], dst) {
            if let Some(def) = block.insts[k].arith_mut() {
                (def.dst, def.mask) = (dst, mask);
            }
            block.insts.remove(at);
            i = at;
        } else if !disturbed(block, k, at, &block.insts[k].clone(), None) {
            let mut moved = block.insts.remove(k);
            if let Some(def) = moved.arith_mut() {
                (def.dst, def.mask) = (dst, mask);
            }
            block.insts[at - 1] = moved;
            i = at;
        }
    }
}

/// True if the result is the same in all components.
fn is_uniform(a: &MArith) -> bool {
    a.op.class() == OpClass::Dot || a.src.iter().all(is_splat)
}

fn is_splat(s: &MSrc) -> bool {
    match s {
        MSrc::Reg { swizzle, .. } => swizzle.0.iter().all(|&c| c == swizzle.0[0]),
        MSrc::Lit(_) => true,
    }
}

fn reads_target(inst: &MInst, dst: RegisterOperand) -> bool {
    let mut reads = false;
    inst.for_each_use(Mask::NONE, |p, _| reads |= p.node() == dst.node());
    reads
}

/// Joins equal operations that write different components of one place, virtual or not.
pub fn widen(block: &mut MBlock) {
    let mut i = 0;
    while i < block.insts.len() {
        let mut k = i + 1;
        while k < block.insts.len().min(i + WINDOW) {
            // Across a call, the stack keeps only what calls push.
            if matches!(block.insts[k].op, MOp::Call { .. }) {
                break;
            }
            if block.tested(k).is_empty()
                && let Some(joined) = joined(&block.insts[i], &block.insts[k])
            {
                let later = block.insts[k].clone();
                let dst = later.arith().map(|a| (a.dst, a.mask));
                let own = own_write_read(&block.insts[i], &later);
                if !own && !disturbed(block, i, k, &later, dst) {
                    block.insts[i].op = MOp::Arith(joined);
                    block.insts.remove(k);
                    continue;
                }
            }
            k += 1;
        }
        i += 1;
    }
}

/// True if the later instruction reads what the earlier one writes.
fn own_write_read(earlier: &MInst, later: &MInst) -> bool {
    let mut hit = false;
    earlier.for_each_def(|p, m| {
        later.for_each_use(Mask::NONE, |q, n| {
            hit |= p.node().is_some() && p.node() == q.node() && m.bits() & n.bits() != 0
        });
    });
    hit
}

fn joined(a: &MInst, b: &MInst) -> Option<MArith> {
    let (a, b) = (a.arith()?, b.arith()?);
    let compatible = a.op == b.op
        && a.op.class() == OpClass::Componentwise
        && a.sat == b.sat
        && a.special.is_none()
        && b.special.is_none()
        && a.dst == b.dst
        && a.dst.node().is_some()
        && a.mask.bits() & b.mask.bits() == 0;
    if !compatible {
        return None;
    }
    let src: Option<Vec<MSrc>> = a
        .src
        .iter()
        .zip(&b.src)
        .map(|(s, t)| match (s, t) {
            (MSrc::Lit(x), MSrc::Lit(y)) => (x == y).then_some(*s),
            (MSrc::Reg { place, swizzle, mult }, MSrc::Reg { place: other, swizzle: theirs, mult: factor }) => {
                (place == other && mult == factor).then(|| {
                    let mut swizzle = *swizzle;
                    b.mask.components().for_each(|c| swizzle.0[c.index()] = theirs.0[c.index()]);
                    MSrc::Reg { place: *place, swizzle: Swizzle(swizzle.0), mult: *mult }
                })
            }
            _ => None,
        })
        .collect();
    Some(MArith { mask: a.mask.union(b.mask), src: src?, ..a.clone() })
}

/// When a block ends with a test of what an earlier instruction computes into a register that is
/// still needed, that instruction moves to the end and is tested itself, if nothing reads it
/// before.
fn move_test_to_end(block: &mut MBlock) {
    let Some(last) = block.insts.len().checked_sub(1) else { return };
    let Some(test) = block.insts[last].arith() else { return };
    if block.term.tested().is_empty() || test.dst != JUNK || test.special.is_some() || test.op.is_scalar() {
        return;
    }
    let same =
        |a: &MArith| a.op == test.op && a.src == test.src && a.sat == test.sat && a.dst != JUNK && a.special.is_none();
    let Some(k) = (0..last).rev().find(|&k| block.insts[k].arith().is_some_and(same)) else { return };
    let Some(a) = block.insts[k].arith() else { return };
    if matches!(a.dst, RegisterOperand::P(Reg::A)) || disturbed(block, k, last, &block.insts[k], Some((a.dst, a.mask)))
    {
        return;
    }
    let inst = block.insts.remove(k);
    block.insts[last - 1] = inst;
}
