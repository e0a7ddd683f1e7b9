//! The handling of values that no register is free for: they live in the thread's scratch memory
//! and are loaded before each use.
//!
//! Frames are addressed from `A.w`, which calls advance, so every activation has its own. Reloads
//! go through one input register that selection left alone.

use super::vcode::{JUNK, MArith, MFunc, MInst, MOp, MSrc, RegisterClass, RegisterOperand, VReg};
use shadewright_rpu::isa::{Base, Component, Mask, Op, Reg};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Lets instructions of some blocks that read `v` together with a register that `hinders` holds for read a copy of
/// it in a general register, because the stack, where `v` is, has one read port. One copy serves
/// all of them up to the next call or the next write to `v`. The result are the copies that serve
/// several.
pub fn copy_for_reading(
    f: &mut MFunc,
    blocks: &[usize],
    v: VReg,
    hinders: impl Fn(VReg) -> bool,
    temporary: &mut HashSet<VReg>,
) -> Vec<VReg> {
    let class = f.vregs[v.0 as usize];
    let mut shared = Vec::new();
    for &b in blocks {
        // The copies: in front of which instruction, what they copy, and who reads them.
        let mut copies: Vec<(usize, Mask, Vec<usize>)> = Vec::new();
        let mut open = false;
        let block = &f.blocks[b];
        for (i, inst) in block.insts.iter().enumerate() {
            let tested = block.tested(i);
            if reads_with(inst, v, tested, &hinders) {
                let mask = mask_read(inst, v, tested);
                match copies.last_mut().filter(|_| open) {
                    Some((_, copied, readers)) => {
                        *copied = copied.union(mask);
                        readers.push(i);
                    }
                    None => copies.push((i, mask, vec![i])),
                }
                open = true;
            }
            inst.for_each_def(|p, _| open &= p != RegisterOperand::V(v));
            open &= !matches!(inst.op, MOp::Call { .. });
        }
        for (at, mask, readers) in copies.into_iter().rev() {
            let t = f.new_vreg(class);
            if readers.len() > 1 {
                shared.push(t);
            } else {
                temporary.insert(t);
            }
            let insts = &mut f.blocks[b].insts;
            readers.iter().for_each(|&r| replace_reads(&mut insts[r], v, t));
            let copy = copy(t, mask, source(RegisterOperand::V(v), class), &insts[at]);
            insts.insert(at, copy);
        }
    }
    shared
}

/// Gives each instruction of some blocks that reads the copy `t` a copy of its own.
pub fn copy_for_each(f: &mut MFunc, blocks: &[usize], t: VReg, temporary: &mut HashSet<VReg>) {
    let class = f.vregs[t.0 as usize];
    for &b in blocks {
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let count = insts.len();
        let mut from = None;
        let mut out = Vec::with_capacity(count);
        for (i, mut inst) in insts.into_iter().enumerate() {
            if let Some(a) = inst.arith().filter(|a| a.dst == RegisterOperand::V(t)) {
                from = Some(a.src[0]);
                continue;
            }
            let tested = if i + 1 == count { f.blocks[b].term.tested() } else { Mask::NONE };
            let mask = mask_read(&inst, t, tested);
            if let Some(from) = from.filter(|_| !mask.is_empty()) {
                let own = new_temporary(f, class, temporary);
                out.push(copy(own, mask, from, &inst));
                replace_reads(&mut inst, t, own);
            }
            out.push(inst);
        }
        f.blocks[b].insts = out;
    }
}

/// Moves registers to vectors of the frame, a vector each, reloading them through input register
/// `input`.
pub fn to_memory(f: &mut MFunc, victims: &BTreeSet<VReg>, input: u8, temporary: &mut HashSet<VReg>) {
    let homes = homes(f, victims);
    let base = Base::A(Component::W);
    for b in 0..f.blocks.len() {
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let count = insts.len();
        let mut out = Vec::with_capacity(count);
        for (i, mut inst) in insts.into_iter().enumerate() {
            let tested = if i + 1 == count { f.blocks[b].term.tested() } else { Mask::NONE };
            let fetch = |out: &mut Vec<MInst>, home: &Home, t: VReg, mask: Mask, like: &MInst| {
                let load = MOp::Load { to: input, base, offset: home.offset, scratch: true };
                out.push(MInst { op: load, loc: like.loc });
                out.push(copy(t, mask, source(RegisterOperand::P(Reg::I(input)), home.class), like));
            };
            let mut reads: BTreeMap<VReg, Mask> = BTreeMap::new();
            inst.for_each_use(tested, |p, m| {
                if let RegisterOperand::V(v) = p
                    && homes.contains_key(&v)
                {
                    let read = reads.entry(v).or_insert(Mask::NONE);
                    *read = read.union(m);
                }
            });
            for (v, read) in reads {
                let home = &homes[&v];
                let t = new_temporary(f, home.class, temporary);
                fetch(&mut out, home, t, read, &inst);
                replace_reads(&mut inst, v, t);
            }
            let written = inst.arith().and_then(|a| match a.dst {
                RegisterOperand::V(v) => homes.get(&v).map(|home| (home, a.mask)),
                RegisterOperand::P(_) => None,
            });
            let Some((home, written)) = written else {
                out.push(inst);
                continue;
            };
            let t = new_temporary(f, home.class, temporary);
            // A store writes a whole vector: the components that this instruction leaves alone are
            // fetched first.
            let kept = Mask::from_bits(home.whole.bits() & !written.bits());
            if !kept.is_empty() {
                fetch(&mut out, home, t, kept, &inst);
            }
            if let Some(a) = inst.arith_mut() {
                a.dst = RegisterOperand::V(t);
            }
            let loc = inst.loc;
            let test_again = (!tested.is_empty()).then(|| retest(&inst, t, home.class, written));
            out.push(inst);
            let src = source(RegisterOperand::V(t), home.class);
            out.push(MInst { op: MOp::Store { base, offset: home.offset, src, mask: home.whole }, loc });
            out.extend(test_again);
        }
        f.blocks[b].insts = out;
    }
}

/// Where a register is in memory.
struct Home {
    class: RegisterClass,
    /// The vector in the frame.
    offset: i32,
    /// The components that any instruction writes.
    whole: Mask,
}

/// Gives registers vectors of the frame.
fn homes(f: &mut MFunc, victims: &BTreeSet<VReg>) -> HashMap<VReg, Home> {
    let mut homes = HashMap::new();
    for &v in victims {
        homes.insert(v, Home { class: f.vregs[v.0 as usize], offset: f.frame as i32, whole: Mask::NONE });
        f.frame += 1;
    }
    for inst in f.blocks.iter().flat_map(|b| &b.insts) {
        inst.for_each_def(|p, m| {
            if let RegisterOperand::V(v) = p
                && let Some(home) = homes.get_mut(&v)
            {
                home.whole = home.whole.union(m);
            }
        });
    }
    homes
}

/// The last instruction of a block is what its condition tests, so a store after it needs another
/// test after the store.
fn retest(tested: &MInst, t: VReg, class: RegisterClass, written: Mask) -> MInst {
    let component =
        if class == RegisterClass::Wide { written.components().next().unwrap_or(Component::W) } else { Component::W };
    let src = MSrc::component(RegisterOperand::V(t), component);
    let integer = tested.arith().is_some_and(|a| a.op.writes_integer());
    let a = if integer {
        MArith::new(Op::Iadd, JUNK, Mask::W, &[src, MSrc::Lit(0)])
    } else {
        MArith::new(Op::Mov, JUNK, Mask::W, &[src])
    };
    MInst { op: MOp::Arith(a), loc: tested.loc }
}

fn new_temporary(f: &mut MFunc, class: RegisterClass, temporary: &mut HashSet<VReg>) -> VReg {
    let t = f.new_vreg(class);
    temporary.insert(t);
    t
}

fn source(place: RegisterOperand, class: RegisterClass) -> MSrc {
    if class == RegisterClass::Wide { MSrc::place(place) } else { MSrc::component(place, Component::W) }
}

fn copy(to: VReg, mask: Mask, from: MSrc, like: &MInst) -> MInst {
    MInst { op: MOp::Arith(MArith::new(Op::Mov, RegisterOperand::V(to), mask, &[from])), loc: like.loc }
}

fn mask_read(inst: &MInst, v: VReg, tested: Mask) -> Mask {
    let mut mask = Mask::NONE;
    inst.for_each_use(tested, |p, m| mask = if p == RegisterOperand::V(v) { mask.union(m) } else { mask });
    mask
}

fn reads_with(inst: &MInst, v: VReg, tested: Mask, others: impl Fn(VReg) -> bool) -> bool {
    let (mut this, mut other) = (false, false);
    inst.for_each_use(tested, |p, _| match p {
        RegisterOperand::V(u) if u == v => this = true,
        RegisterOperand::V(u) => other |= others(u),
        RegisterOperand::P(_) => {}
    });
    this && other
}

fn replace_reads(inst: &mut MInst, v: VReg, by: VReg) {
    inst.for_each_source_mut(|s| {
        if let MSrc::Reg { place, .. } = s
            && *place == RegisterOperand::V(v)
        {
            *place = RegisterOperand::V(by);
        }
    });
}
