//! Removes copies that allocation made redundant: of a value to where it already is.
//!
//! When a parameter that lives across a call is moved to the stack and then passed on in the
//! register that it came in, the second copy does nothing. Within each block, components of machine
//! registers with one value are known by one number; a copy between two of a number goes. It works
//! on allocated code and knows nothing of virtual registers.

use super::vcode::{MFunc, MInst, MOp, MSrc, RegisterOperand};
use shadewright_rpu::isa::{Component, Mask, Reg};
use std::collections::HashMap;

/// A component of a register or a literal, and what has its value.
#[derive(Default)]
struct Values {
    numbers: HashMap<(Reg, Component), u32>,
    literals: HashMap<u32, u32>,
    next: u32,
}

impl Values {
    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn number(&mut self, reg: Reg, c: Component) -> u32 {
        if let Some(&n) = self.numbers.get(&(reg, c)) {
            return n;
        }
        let n = self.fresh();
        self.numbers.insert((reg, c), n);
        n
    }

    /// The number of what a copy puts into a component.
    fn copied(&mut self, source: MSrc, c: Component) -> Option<u32> {
        match source {
            MSrc::Reg { place: RegisterOperand::P(reg), swizzle, .. } => Some(self.number(reg, swizzle.0[c.index()])),
            MSrc::Reg { place: RegisterOperand::V(_), .. } => None,
            MSrc::Lit(bits) => Some(match self.literals.get(&bits) {
                Some(&n) => n,
                None => {
                    let n = self.fresh();
                    self.literals.insert(bits, n);
                    n
                }
            }),
        }
    }

    /// Notes what an instruction writes.
    fn write(&mut self, inst: &MInst) {
        let copy = inst.arith().filter(|a| a.is_copy());
        let mut changed: Vec<(Reg, Component, u32)> = Vec::new();
        inst.for_each_def(|place, mask| {
            let RegisterOperand::P(reg) = place else { return };
            for c in mask.components() {
                let number = copy.and_then(|a| self.copied(a.src[0], c));
                let number = number.unwrap_or_else(|| self.fresh());
                changed.push((reg, c, number));
                if reg == Reg::Hit {
                    // The hit's registers change together.
                    let fresh = [Reg::HitTri, Reg::HitObj].map(|r| (r, c, self.fresh()));
                    changed.extend(fresh);
                }
            }
        });
        self.numbers.extend(changed.into_iter().map(|(reg, c, n)| ((reg, c), n)));
        if let MOp::Call { push, .. } = inst.op {
            // The called function's part of the stack begins there.
            self.numbers.retain(|(reg, _), _| !matches!(reg, Reg::Stack(n) if *n >= push));
        }
    }
}

/// Removes copies of values to where they already are.
pub fn drop_needless_copies(f: &mut MFunc) {
    for block in &mut f.blocks {
        let mut values = Values::default();
        let tested = if block.term.tested().is_empty() { None } else { block.insts.len().checked_sub(1) };
        let mut i = 0;
        block.insts.retain_mut(|inst| {
            i += 1;
            if let Some(a) = inst.arith_mut()
                && a.is_copy()
                && let RegisterOperand::P(reg) = a.dst
                && reg != Reg::R(15)
                && tested != Some(i - 1)
            {
                let is_new = |c: &Component| values.copied(a.src[0], *c) != Some(values.number(reg, *c));
                a.mask = a.mask.components().filter(is_new).fold(Mask::NONE, |m, c| m.union(c.into()));
                if a.mask.is_empty() {
                    return false;
                }
            }
            values.write(inst);
            true
        });
    }
}
