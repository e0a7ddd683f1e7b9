//! Comparisons as the RPU makes them: an instruction that computes the difference, and a
//! condition on its result.
//!
//! With NaN every comparison is false, and no condition holds; so a float comparison always jumps
//! where it is true, and falls through where it is false. Integers have no such value, and their
//! conditions can be turned round.

use super::select::{Comparands, integer_negated};
use super::vcode::{JUNK, MArith, MSrc};
use shadewright_ir::{Op, Type};
use shadewright_rpu::isa::{self, Condition, Mask, Ranges};

/// How to decide a branch.
#[derive(Clone, Debug)]
pub struct Test {
    /// The instruction whose result decides.
    pub arith: MArith,
    /// When it decides for the first target.
    pub cond: Condition,
    /// The opposite, where the RPU has it.
    pub inverse: Option<Condition>,
    /// True if the two targets change places.
    pub swap: bool,
}

/// A question for one bit of an integer.
#[derive(Clone, Copy, Debug)]
pub struct Bit {
    /// The integer.
    pub of: MSrc,
    /// The bit, a power of two.
    pub mask: u32,
    /// True if the answer is yes when it is set.
    pub is_set: bool,
}

/// Every integer but 0.
fn not_zero() -> Ranges {
    Ranges::NEGATIVE.or(Ranges::NOT_BELOW_ONE)
}

/// The test for a branch.
pub fn test(operands: &Comparands) -> Test {
    if let Some(bit) = operands.bit() {
        let arith = w(isa::Op::Iand, &[bit.of, MSrc::Lit(bit.mask)]);
        return match bit.is_set {
            true => integer(arith, not_zero(), Ranges::ZERO),
            false => integer(arith, Ranges::ZERO, not_zero()),
        };
    }
    let Some((op, ty, a, b)) = operands.comparison() else {
        let arith = w(isa::Op::Iadd, &[operands.value(), MSrc::Lit(0)]);
        return integer(arith, not_zero(), Ranges::ZERO);
    };
    match op {
        Op::Lt if is_one(b) => float(w(isa::Op::Mov, &[a]), Ranges::BELOW_ONE),
        Op::Lt => float(difference(a, b), Ranges::NEGATIVE),
        Op::Le if is_one(a) => float(w(isa::Op::Mov, &[b]), Ranges::NOT_BELOW_ONE),
        Op::Le => float(difference(b, a), Ranges::NOT_NEGATIVE),
        Op::Eq => float(difference(a, b), Ranges::ZERO),
        Op::Ne => Test { swap: true, ..float(difference(a, b), Ranges::ZERO) },
        Op::IEq if b == MSrc::Lit(0) => integer(w(isa::Op::Iadd, &[a, b]), Ranges::ZERO, not_zero()),
        Op::IEq => integer(w(isa::Op::Iadd, &[a, integer_negated(b)]), Ranges::ZERO, not_zero()),
        // What is left is `ilt`.
        _ => {
            let compare = if ty == Type::I32 { isa::Op::Icmp } else { isa::Op::Ucmp };
            integer(w(compare, &[a, b]), Ranges::NEGATIVE, Ranges::NOT_NEGATIVE)
        }
    }
}

fn w(op: isa::Op, src: &[MSrc]) -> MArith {
    MArith::new(op, JUNK, Mask::W, src)
}

fn is_zero(s: MSrc) -> bool {
    matches!(s, MSrc::Lit(bits) if bits << 1 == 0)
}

/// `x < 1` and `x − 1 < 0` agree for every x, as do `x >= 1` and `x − 1 >= 0`: a difference of
/// floats is 0 only when they are equal.
fn is_one(s: MSrc) -> bool {
    s == MSrc::float(1.0)
}

/// An instruction whose result has the sign of `a − b` and is NaN where that is; the sign of a zero
/// does not matter.
fn difference(a: MSrc, b: MSrc) -> MArith {
    if is_zero(b) {
        w(isa::Op::Mov, &[a])
    } else if is_zero(a) {
        w(isa::Op::Mov, &[b.negated()])
    } else {
        w(isa::Op::Add, &[a, b.negated()])
    }
}

fn float(arith: MArith, ranges: Ranges) -> Test {
    Test { arith, cond: Condition::Any(Mask::W, ranges), inverse: None, swap: false }
}

fn integer(arith: MArith, ranges: Ranges, others: Ranges) -> Test {
    let on = |r| Condition::Any(Mask::W, r);
    Test { arith, cond: on(ranges), inverse: Some(on(others)), swap: false }
}
