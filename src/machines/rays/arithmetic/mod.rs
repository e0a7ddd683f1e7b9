//! The arithmetic of the ray-tracing hardware: 24-bit fractions and 8-bit exponents (Ullner 1983,
//! §2.3.3, appendix A), in a form fast enough to trace images with.
//!
//! A number is `±f·2^e` with a fraction `1/2 ≤ f < 1` of 24 bits and an exponent from −125 to 128:
//! what a normal [`f32`] holds. The thesis gives no sign and no rule for results out of range.
//! Here:
//!
//! - fractions are sign and magnitude, so that truncation goes towards zero;
//! - there is one zero, positive; a result too small for the exponent becomes zero;
//! - NaN stands for a value whose validity bit is cleared (§2.3.2): by a division by zero, the root
//!   of a negative number or a result too large, and in everything computed from such a value.
//!
//! Operands are zero, normal or NaN: hosts load subnormal constants as zero ([`flushed`]).
//! [`registers`] holds the register programs of appendix A.2 bit by bit, to which [`Custom`] is
//! held.

pub mod registers;

use serde::{Deserialize, Serialize};

/// The rate of every pipelined device, in operations a microsecond: 335 ns a stage, rounded to a
/// third of a microsecond (Ullner 1983, §2.3.3, appendix A.1).
pub const OPERATIONS_PER_MICROSECOND: f64 = 3.0;

/// Names the arithmetic that hardware is built from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// [`Commercial`].
    #[default]
    Commercial,
    /// [`Custom`].
    Custom,
    /// [`Ieee`].
    Ieee,
}

/// The operations of an arithmetic unit. The intersector is generic over them, and so is compiled
/// once for each unit.
pub trait Operations: Copy + Sync {
    /// `a·b`.
    fn mul(self, a: f32, b: f32) -> f32;

    /// `a + b`.
    fn add(self, a: f32, b: f32) -> f32;

    /// `a − b`, in an adder.
    fn sub(self, a: f32, b: f32) -> f32;

    /// `−a`: a sign bit inverted on a wire, not an operation.
    fn neg(self, a: f32) -> f32;

    /// `a/b` with all the bits that the unit can give.
    fn divide(self, a: f32, b: f32) -> f32;

    /// `a/b` as the coordinates on a polygon need it: 12 bits.
    fn divide_short(self, a: f32, b: f32) -> f32;

    /// `√a`, 12 bits or better.
    fn sqrt(self, a: f32) -> f32;

    /// `a/2`: an exponent less one, not an operation.
    fn half(self, a: f32) -> f32 {
        if a.abs() < 2.0 * f32::MIN_POSITIVE { 0.0 } else { 0.5 * a }
    }
}

/// Commercial components (Ullner 1983, appendix A.1): the TRW 24-bit multiplier, barrel shifters
/// and tables.
///
/// | operation | how | relative error |
/// |---|---|---|
/// | product | the high half of the 48-bit product, after normalization | < 2^−23 |
/// | sum | the smaller addend shifted right, the sum normalized | < 2^−22, of like signs |
/// | long division | table of reciprocals, one Newton step `(2 − b·x₀)·(x₀·a)` | < 2^−21 |
/// | short division | the table's reciprocal times the numerator | < 2^−12 |
/// | root | a table of exponents times a table of fractions | < 2^−12 |
///
/// The thesis expects "the full twenty-four bits" of a Newton step. In 24-bit arithmetic without
/// guard bits it gives 22: aligning `b·x₀ < 1` to the exponent of 2 drops two bits of it.
///
/// The multiplier as a shifter takes `2^(24−n)` to shift by `n`, which for `n = 0` does not fit in
/// 24 bits: an addend that is not shifted goes around it.
#[derive(Clone, Copy, Debug)]
pub struct Commercial;

impl Operations for Commercial {
    #[inline(always)]
    fn mul(self, a: f32, b: f32) -> f32 {
        truncated(f64::from(a) * f64::from(b))
    }

    #[inline(always)]
    fn add(self, a: f32, b: f32) -> f32 {
        add_truncating(a, b)
    }

    #[inline(always)]
    fn sub(self, a: f32, b: f32) -> f32 {
        add_truncating(a, -b)
    }

    #[inline(always)]
    fn neg(self, a: f32) -> f32 {
        0.0 - a
    }

    #[inline(always)]
    fn divide(self, a: f32, b: f32) -> f32 {
        let guess = reciprocal_guess(b);
        self.mul(self.sub(2.0, self.mul(b, guess)), self.mul(guess, a))
    }

    #[inline(always)]
    fn divide_short(self, a: f32, b: f32) -> f32 {
        self.mul(reciprocal_guess(b), a)
    }

    #[inline(always)]
    fn sqrt(self, a: f32) -> f32 {
        let bits = a.to_bits();
        let fraction = f32::from_bits(126 << 23 | u32::from(ROOTS[(bits >> 11) as usize & 0xfff]) << 11);
        let root = truncated(ROOTS_OF_POWERS[(bits >> 23) as usize & 0xff] * f64::from(fraction));
        if a >= f32::MIN_POSITIVE { root } else { root_without_fraction(a) }
    }
}

/// Custom components (Ullner 1983, appendix A.2): shift-and-add arithmetic in registers. The same
/// bits as [`registers`], computed in double precision.
///
/// A product or quotient whose fraction has to be normalized has 23 good bits, since the bit that
/// is shifted in was discarded before. Roots have 24. There is one divider, so short divisions are
/// long.
#[derive(Clone, Copy, Debug)]
pub struct Custom;

impl Operations for Custom {
    #[inline(always)]
    fn mul(self, a: f32, b: f32) -> f32 {
        let (a, b) = (f64::from(a), f64::from(b));
        let product = a * b;
        // The exponents of factors add up to that of the product, or to one less if it is 2 or more
        // (in terms of significands from 1 to 2): then nothing is shifted.
        truncated_unless_shifted(product, a.to_bits() ^ b.to_bits() ^ product.to_bits() ^ EXPONENT_LSB)
    }

    #[inline(always)]
    fn add(self, a: f32, b: f32) -> f32 {
        add_truncating(a, b)
    }

    #[inline(always)]
    fn sub(self, a: f32, b: f32) -> f32 {
        add_truncating(a, -b)
    }

    #[inline(always)]
    fn neg(self, a: f32) -> f32 {
        0.0 - a
    }

    #[inline(always)]
    fn divide(self, a: f32, b: f32) -> f32 {
        let (a, b) = (f64::from(a), f64::from(b));
        // Rounding cannot carry: a quotient of 24-bit fractions that is not one of 24 bits is at
        // least 2^−48 away from the next one.
        let quotient = a / b;
        // The difference of the exponents is that of the quotient, or one more if that is shifted.
        truncated_unless_shifted(quotient, a.to_bits() ^ b.to_bits() ^ quotient.to_bits())
    }

    #[inline(always)]
    fn divide_short(self, a: f32, b: f32) -> f32 {
        self.divide(a, b)
    }

    #[inline(always)]
    fn sqrt(self, a: f32) -> f32 {
        // Nor can it here: such a root is at least 2^−50 away.
        truncated(f64::from(a).sqrt())
    }
}

/// Today's arithmetic: rounded to nearest, with subnormal numbers.
#[derive(Clone, Copy, Debug)]
pub struct Ieee;

impl Operations for Ieee {
    #[inline(always)]
    fn mul(self, a: f32, b: f32) -> f32 {
        valid(a * b)
    }

    #[inline(always)]
    fn add(self, a: f32, b: f32) -> f32 {
        valid(a + b)
    }

    #[inline(always)]
    fn sub(self, a: f32, b: f32) -> f32 {
        valid(a - b)
    }

    #[inline(always)]
    fn neg(self, a: f32) -> f32 {
        -a
    }

    #[inline(always)]
    fn divide(self, a: f32, b: f32) -> f32 {
        valid(a / b)
    }

    #[inline(always)]
    fn divide_short(self, a: f32, b: f32) -> f32 {
        valid(a / b)
    }

    #[inline(always)]
    fn sqrt(self, a: f32) -> f32 {
        a.sqrt()
    }
}

/// A constant as the hardware's memory holds it: subnormal numbers and −0 are zero, infinity is
/// NaN.
#[inline]
pub fn flushed(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0 } else { valid(x) }
}

/// NaN for a result too large.
#[inline(always)]
fn valid(x: f32) -> f32 {
    if x.abs() < f32::INFINITY { x } else { f32::NAN }
}

/// The lowest bit of the exponent of an `f64`.
const EXPONENT_LSB: u64 = 1 << 52;

/// `x` with its fraction truncated to 24 bits.
#[inline(always)]
fn truncated(x: f64) -> f32 {
    const DISCARDED: u64 = (1 << 29) - 1;
    stored(f64::from_bits(x.to_bits() & !DISCARDED))
}

/// `x` with its fraction truncated to 24 bits, or to 23 if the lowest bit of the exponent in
/// `unshifted` is clear.
#[inline(always)]
fn truncated_unless_shifted(x: f64, unshifted: u64) -> f32 {
    let discarded = ((1 << 30) - 1) >> ((unshifted >> 52) & 1);
    stored(f64::from_bits(x.to_bits() & !discarded))
}

/// A fraction of 24 bits as the hardware stores it: zero or NaN if its exponent is out of range.
/// The exponent is tested before the conversion, which would round the number below the smallest
/// one up to it.
#[inline(always)]
fn stored(x: f64) -> f32 {
    if x.abs() < f64::from(f32::MIN_POSITIVE) { 0.0 } else { valid(x as f32) }
}

/// `a + b`: the fraction of the smaller addend is shifted right, the sum is normalized, and both
/// times the bits beyond the 24th are dropped.
#[inline(always)]
fn add_truncating(a: f32, b: f32) -> f32 {
    let magnitude = |x: f32| x.to_bits() & 0x7fff_ffff;
    let (large, small) = if magnitude(a) < magnitude(b) { (b, a) } else { (a, b) };
    let shift = (magnitude(large) >> 23) - (magnitude(small) >> 23);
    let kept = if shift < 24 { u32::MAX << shift } else { 0 };
    let small = f32::from_bits(small.to_bits() & kept);
    truncated(f64::from(large) + f64::from(small))
}

/// The reciprocal of `b` from a table of 4096 words of 12 bits: the first guess of a division. Its
/// relative error is less than `3/4·2^−12`.
///
/// The index is the twelve bits of the fraction after the first, which is always set.
/// A reciprocal less than 2^−126 is zero.
#[inline(always)]
fn reciprocal_guess(b: f32) -> f32 {
    let exponent = (b.to_bits() >> 23) & 0xff;
    let fraction = u32::from(RECIPROCALS[(b.to_bits() >> 11) as usize & 0xfff]) << 11;
    let sign = b.to_bits() & 0x8000_0000;
    match exponent {
        1..=252 => f32::from_bits(sign | (253 - exponent) << 23 | fraction),
        253 | 254 => 0.0,
        _ => f32::NAN,
    }
}

/// The roots of numbers without a fraction in the table: zero and invalid ones.
#[cold]
fn root_without_fraction(a: f32) -> f32 {
    if a.abs() < f32::MIN_POSITIVE { 0.0 } else { f32::NAN }
}

/// The twelve bits after the first of `1/(2f)`, for the fractions `f` that begin with a one and the
/// index.
static RECIPROCALS: [u16; 4096] = {
    let mut table = [0; 4096];
    let mut index = 0;
    while index < 4096 {
        // The middle of the interval is 2f = middle/2^13; words count units of 2^−13.
        let middle = 2 * (4096 + index as u32) + 1;
        let word = ((1 << 26) + middle / 2) / middle;
        table[index] = (word - 4096) as u16;
        index += 1;
    }
    table
};

/// The twelve bits after the first of `√f`, for the fractions `f` that begin with a one and the
/// index.
///
/// The relative error is less than `5/8·2^−12`. Of the thesis's "twelve high-order bits of the
/// mantissa" the first is again always set, so the next twelve are the index.
static ROOTS: [u16; 4096] = {
    let mut table = [0; 4096];
    let mut index = 0;
    while index < 4096 {
        // The middle of the interval is middle/2^14; words count units of 2^−13.
        let middle = 2 * (4096 + index as u64) + 1;
        // √(middle·2^12), rounded.
        let word = (middle << 14).isqrt().div_ceil(2);
        table[index] = if word < 8192 { word as u16 - 4096 } else { 4095 };
        index += 1;
    }
    table
};

/// `√2^e` for a biased exponent `e + 126`, truncated to 24 bits.
static ROOTS_OF_POWERS: [f64; 256] = {
    // Of √2: its 23 bits after the first.
    let fraction = (1u64 << 47).isqrt() - (1 << 23);
    let mut table = [0.0; 256];
    let mut biased = 0;
    while biased < 256 {
        let half = (biased as i64 - 126).div_euclid(2);
        let odd = biased as u64 % 2;
        table[biased] = f64::from_bits((1023 + half) as u64 * EXPONENT_LSB + odd * (fraction << 29));
        biased += 1;
    }
    table
};

/// How additions are made from commercial components (Ullner 1983, appendix A.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adder {
    /// Barrel shifters: the whole addition in one stage.
    #[default]
    BarrelShifter,
    /// Multipliers that shift: one stage each to denormalize, to add and to normalize.
    Multiplier,
}

/// Pipeline stages of an operation (Ullner 1983, fig. 2-17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageCounts {
    /// Of a multiplication.
    pub mul: u32,
    /// Of an addition or subtraction.
    pub add: u32,
    /// Of a division with a Newton step: table, two products at once, difference, product.
    pub long_division: u32,
    /// Of a division to 12 bits: table, product.
    pub short_division: u32,
    /// Of a square root to 12 bits: two tables at once, product.
    pub root: u32,
}

impl StageCounts {
    /// The counts of fig. 2-17.
    pub fn commercial(adder: Adder) -> StageCounts {
        let add = match adder {
            Adder::BarrelShifter => 1,
            Adder::Multiplier => 3,
        };
        StageCounts { mul: 1, add, long_division: 3 + add, short_division: 2, root: 2 }
    }
}

/// The steps of an operation of [`Custom`] (Ullner 1983, appendix A.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Integer additions, 100 to 200 ns each.
    pub additions: u32,
    /// Shifts by one bit, each half as long as an addition.
    pub shifts: u32,
}

impl Steps {
    /// Of a multiplication, a division or a root.
    pub const PRODUCT: Steps = Steps { additions: 24, shifts: 25 };

    /// Of an addition.
    pub const SUM: Steps = Steps { additions: 1, shifts: 48 };

    /// Microseconds if the steps follow one another, for an addition of that many nanoseconds.
    pub fn serial_microseconds(self, addition: f64) -> f64 {
        (f64::from(self.additions) + f64::from(self.shifts) / 2.0) * addition / 1000.0
    }

    /// Microseconds if each addition includes one of the shifts: 24½ additions for every operation,
    /// so 5 µs at 200 ns.
    pub fn microseconds(self, addition: f64) -> f64 {
        let alone = self.shifts - self.additions;
        (f64::from(self.additions) + f64::from(alone) / 2.0) * addition / 1000.0
    }
}

#[cfg(test)]
mod tests;
