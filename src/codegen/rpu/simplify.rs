//! Replaces an instruction by a simpler one that computes the same bits, and folds signs and
//! factors into sources (Węgrzanowski 2006, §7.5). Unlike the thesis's, no rule here changes what
//! happens to NaN, infinities or −0.

use super::vcode::{MArith, MSrc};
use shadewright_rpu::isa::{Multiplier, Op, Scale};

/// The simplest equivalent that is known.
pub fn simplify(mut a: MArith) -> MArith {
    loop {
        let next = step(&a);
        match next {
            Some(next) => a = next,
            None => return a,
        }
    }
}

fn step(a: &MArith) -> Option<MArith> {
    let with = |op: Op, src: &[MSrc]| Some(MArith { op, src: src.to_vec(), ..a.clone() });
    match (a.op, &a.src[..]) {
        (Op::Add, &[x, y]) if is_negative_zero(y) => with(Op::Mov, &[x]),
        (Op::Add, &[x, y]) if is_negative_zero(x) => with(Op::Mov, &[y]),
        (Op::Mul, &[x, y]) => match (scaled(x, y), scaled(y, x)) {
            (Some(s), _) | (None, Some(s)) => with(Op::Mov, &[s]),
            (None, None) => None,
        },
        (Op::Mad, &[x, y, z]) => match (scaled(x, y), scaled(y, x)) {
            (Some(s), _) | (None, Some(s)) => with(Op::Add, &[s, z]),
            (None, None) if is_negative_zero(z) => with(Op::Mul, &[x, y]),
            (None, None) => None,
        },
        _ => None,
    }
}

/// x + −0 is x for every x.
fn is_negative_zero(s: MSrc) -> bool {
    s == MSrc::float(-0.0)
}

/// `value · factor` as a source, when the factor is a literal that sources can have.
fn scaled(value: MSrc, factor: MSrc) -> Option<MSrc> {
    let (MSrc::Reg { place, swizzle, mult }, MSrc::Lit(bits)) = (value, factor) else { return None };
    let by = Multiplier::from_factor(f32::from_bits(bits))?;
    // Two factors in one would round once where the operations round twice.
    if mult.scale != Scale::One && by.scale != Scale::One {
        return None;
    }
    let scale = if by.scale == Scale::One { mult.scale } else { by.scale };
    Some(MSrc::Reg { place, swizzle, mult: Multiplier { negate: mult.negate != by.negate, scale } })
}

#[cfg(test)]
mod tests {
    use super::super::vcode::{JUNK, RegisterOperand, VReg};
    use super::*;
    use shadewright_rpu::isa::Mask;

    fn x() -> MSrc {
        MSrc::place(RegisterOperand::V(VReg(0)))
    }

    #[test]
    fn a_product_with_minus_four_plus_minus_zero_is_a_copy_with_a_factor() {
        let a = MArith::new(Op::Mad, JUNK, Mask::XYZ, &[x(), MSrc::float(-4.0), MSrc::float(-0.0)]);
        let s = simplify(a);
        assert_eq!(s.op, Op::Mov);
        assert!(matches!(s.src[0], MSrc::Reg { mult: Multiplier { negate: true, scale: Scale::Four }, .. }));
    }

    #[test]
    fn adding_plus_zero_stays_because_it_changes_minus_zero() {
        let a = MArith::new(Op::Add, JUNK, Mask::W, &[x(), MSrc::float(0.0)]);
        assert_eq!(simplify(a.clone()), a);
    }
}
