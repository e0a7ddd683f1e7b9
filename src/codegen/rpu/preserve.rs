//! Registers that a function must leave as they were (Węgrzanowski 2006, §7.3): what it uses of
//! them, it copies to the stack at its entry and back at each return.
//!
//! It decides nothing but what has to be saved; [`super::regalloc`] tries how many more are worth
//! it.

use super::conventions::Preserved;
use super::vcode::{ALLOCATABLE, MArith, MFunc, MInst, MOp, MSrc, MTerm, RegisterClass, RegisterOperand, VReg};
use shadewright_rpu::isa::{Mask, Op, Reg};
use std::collections::HashSet;

/// The preserved registers that a function's instructions write whatever allocation does: those of
/// arguments that it passes, and what its calls change.
pub fn written(f: &MFunc, preserved: &Preserved) -> HashSet<u8> {
    let mut rows = HashSet::new();
    for inst in f.blocks.iter().flat_map(|b| &b.insts) {
        inst.for_each_def(|place, mask| {
            if let RegisterOperand::P(Reg::R(n)) = place
                && n < ALLOCATABLE
                && preserved[usize::from(n)].bits() & mask.bits() != 0
            {
                rows.insert(n);
            }
        });
    }
    rows
}

/// Saves the preserved components of registers around the function; the result are the virtual
/// registers that hold them, which must go to the stack.
pub fn save(f: &mut MFunc, rows: &[u8], preserved: &Preserved) -> HashSet<VReg> {
    let mut saved = HashSet::new();
    for &n in rows {
        let mask = preserved[usize::from(n)];
        let (place, v) = (RegisterOperand::P(Reg::R(n)), f.new_vreg(RegisterClass::Wide));
        saved.insert(v);
        let start = f.blocks.first().and_then(|b| b.insts.first()).map(|i| i.loc);
        if let Some(entry) = f.blocks.first_mut() {
            let loc = start.unwrap_or(entry.term_loc);
            entry.insts.insert(0, copy(RegisterOperand::V(v), place, mask, loc));
        }
        for block in &mut f.blocks {
            if let MTerm::Return(results) = &mut block.term {
                // The caller reads it, so it lives at the return.
                results.push((n, mask));
                block.insts.push(copy(place, RegisterOperand::V(v), mask, block.term_loc));
            }
        }
    }
    saved
}

fn copy(to: RegisterOperand, from: RegisterOperand, mask: Mask, loc: shadewright_ir::Loc) -> MInst {
    MInst { op: MOp::Arith(MArith::new(Op::Mov, to, mask, &[MSrc::place(from)])), loc }
}
