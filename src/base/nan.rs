//! Floats whose NaNs have defined bits.
//!
//! IEEE 754 leaves open which NaN an operation on NaNs gives, and so does Rust: compilers exchange
//! the operands of sums and products as they like, in one place and not in another. [`Ruled`] keeps
//! one rule, that of x86's vector instructions: a result that is NaN is the first operand that is
//! one, made quiet; where none is, it is [`FROM_NUMBERS`].

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The pattern of a NaN that an operation makes of numbers, such as ∞ − ∞.
pub const FROM_NUMBERS: u32 = 0xffc0_0000;

/// The bit that makes a NaN quiet.
const QUIET: u32 = 1 << 22;

/// A single that keeps the rule. Copies and changes of sign keep all other bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ruled(pub f32);

/// The result of an operation on two floats.
#[inline(always)]
fn ruled(result: f32, first: f32, second: f32) -> Ruled {
    if !result.is_nan() {
        return Ruled(result);
    }
    Ruled(f32::from_bits(match (first.is_nan(), second.is_nan()) {
        (true, _) => first.to_bits() | QUIET,
        (false, true) => second.to_bits() | QUIET,
        (false, false) => FROM_NUMBERS,
    }))
}

impl Ruled {
    /// The largest integer that is not above it.
    pub fn floor(self) -> Ruled {
        ruled(self.0.floor(), self.0, self.0)
    }

    /// The square root.
    pub fn sqrt(self) -> Ruled {
        ruled(self.0.sqrt(), self.0, self.0)
    }
}

impl Add for Ruled {
    type Output = Ruled;

    fn add(self, other: Ruled) -> Ruled {
        ruled(self.0 + other.0, self.0, other.0)
    }
}

/// The sum with the negated number: the sign of a NaN that is subtracted flips.
impl Sub for Ruled {
    type Output = Ruled;

    fn sub(self, other: Ruled) -> Ruled {
        self + -other
    }
}

impl Mul for Ruled {
    type Output = Ruled;

    fn mul(self, other: Ruled) -> Ruled {
        ruled(self.0 * other.0, self.0, other.0)
    }
}

impl Div for Ruled {
    type Output = Ruled;

    fn div(self, other: Ruled) -> Ruled {
        ruled(self.0 / other.0, self.0, other.0)
    }
}

/// Flips the sign bit.
impl Neg for Ruled {
    type Output = Ruled;

    fn neg(self) -> Ruled {
        Ruled(f32::from_bits(self.0.to_bits() ^ 1 << 31))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_the_first_operands_made_quiet_and_else_the_one_of_numbers() {
        let number = |bits: u32| Ruled(f32::from_bits(bits));
        let (one, signaling, quiet) = (number(0x3f80_0000), number(0xff80_1234), number(0x7fc0_0001));
        let bits = |x: Ruled| x.0.to_bits();
        assert_eq!(bits(signaling + quiet), 0xffc0_1234);
        assert_eq!(bits(quiet * signaling), 0x7fc0_0001);
        assert_eq!(bits(one + signaling), 0xffc0_1234);
        assert_eq!(bits(one - signaling), 0x7fc0_1234, "the sum with the negated one");
        assert_eq!(bits(one / quiet), 0x7fc0_0001);
        assert_eq!([signaling.sqrt(), signaling.floor()].map(bits), [0xffc0_1234; 2]);
        let infinite = number(0x7f80_0000);
        let made = [infinite - infinite, infinite * number(0), number(0) / number(0), number(0xbf80_0000).sqrt()];
        assert_eq!(made.map(bits), [FROM_NUMBERS; 4]);
        assert_eq!(bits(one + one), 0x4000_0000);
    }
}
