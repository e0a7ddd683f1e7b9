//! Number formats: what the RPU's floats are.
//!
//! A float is held as an IEEE single in either format. [`F24`] is the narrower one: a number of 24
//! bits, of which 32-bit patterns hold those that it has. This module takes and gives patterns and
//! floats, and knows neither instructions nor registers.
//!
//! # The 24-bit float
//!
//! The hardware's numbers have "very low precision (24 bit)" and no IEEE 754 compatibility
//! (Węgrzanowski 2006, chapter 13); the thesis gives no layout. This is the one of graphics
//! processors of its time: 1 sign bit, 7 exponent bits with bias 63, 16 bits of fraction. Exponent
//! 127 stands for infinity (fraction 0) and NaN; exponent 0 is zero: there are no denormals. So a
//! finite number is 0 or between 2⁻⁶² and (2 − 2⁻¹⁶)·2⁶³ ≈ 1.8·10¹⁹ in size, with 17 significant
//! bits; integers are exact up to 2¹⁷ = 131072.
//!
//! Rounding is to nearest, ties to the even fraction, as if the exponent had no bounds; then what
//! is below 2⁻⁶² becomes a zero of its sign, and what is above the largest number becomes an
//! infinity. There is one NaN, the quiet one of pattern `7fc00000`. An operation is done in double
//! precision and rounded once. That gives the rounded exact result: products of 17-bit significands
//! are exact in double precision; a sum that is not has a term so small that the other, a number of
//! the format, is the nearest; quotients and square roots rounded to 53 bits round on to 17 as the
//! exact ones do (Figueroa 1995: 2·17 + 2 bits suffice).
//!
//! # Equality
//!
//! The hardware has no "fully reliable way to compare floating point numbers for equality", and a
//! number less itself is not always 0 (Węgrzanowski 2006, 2.6 and 13.1). The thesis does not say
//! when. In this model the adder leaves a unit in the last place where a sum cancels and the last
//! bit of its terms is 1. So numbers with a bit to spare, such as small integers and their halves,
//! compare as expected, and half of all results of arithmetic are not equal to themselves. What is
//! left is positive: both `a <= b` and `b <= a` hold for equal numbers, and neither `a < b` nor
//! `b < a`.

use shadewright_base::named::{Named, Row};
use shadewright_base::nan::{self, Ruled};
use std::ops::{Add, Div, Mul, Sub};

/// A number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// IEEE 754 single precision.
    #[default]
    F32,
    /// The hardware's 24-bit float.
    F24,
}

impl Named for Format {
    const TABLE: &'static [Row<Self>] = &[
        ("f32", "IEEE single precision", Self::F32),
        ("f24", "The hardware's 24-bit float: 7 exponent bits, 16 fraction bits", Self::F24),
    ];
}

impl Format {
    /// The number of the format nearest to the float with this pattern, as a pattern.
    pub fn round(self, bits: u32) -> u32 {
        match self {
            Format::F32 => bits,
            Format::F24 => F24::read(bits).bits(),
        }
    }

    /// The NaN of results whose operands are none.
    pub(super) fn nan(self) -> f32 {
        f32::from_bits(match self {
            Format::F32 => nan::FROM_NUMBERS,
            Format::F24 => 0x7fc0_0000,
        })
    }

    /// The pattern of a float source with a sign and a factor applied.
    pub(super) fn scaled(self, bits: u32, negate: bool, factor: f32) -> u32 {
        let bits = bits ^ u32::from(negate) << 31;
        match self {
            Format::F32 if factor == 1.0 => bits,
            Format::F32 => Ruled::read(bits).scale(factor).bits(),
            Format::F24 => F24::read(bits).scale(factor).bits(),
        }
    }
}

/// A float of the RPU, as its arithmetic sees it. Every operation rounds once.
pub(super) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// True if CPUs have instructions for the format.
    const IN_HARDWARE: bool;
    /// 1.
    const ONE: Self;

    /// The number nearest to the float with this pattern.
    fn read(bits: u32) -> Self;

    /// The pattern as an IEEE single.
    fn bits(self) -> u32;

    /// The nearest number of a signed integer.
    fn from_signed(value: i32) -> Self;

    /// The nearest number of an unsigned integer.
    fn from_unsigned(value: u32) -> Self;

    /// Times a power of two.
    fn scale(self, factor: f32) -> Self;

    /// The largest integer that is not above it.
    fn floor(self) -> Self;

    /// The square root.
    fn sqrt(self) -> Self;
}

impl Number for f32 {
    const IN_HARDWARE: bool = true;
    const ONE: f32 = 1.0;

    #[inline(always)]
    fn read(bits: u32) -> f32 {
        f32::from_bits(bits)
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        self.to_bits()
    }

    #[inline(always)]
    fn from_signed(value: i32) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn from_unsigned(value: u32) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn scale(self, factor: f32) -> f32 {
        self * factor
    }

    #[inline(always)]
    fn floor(self) -> f32 {
        f32::floor(self)
    }

    #[inline(always)]
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }
}

/// Singles whose NaNs have the bits that instructions define.
impl Number for Ruled {
    const IN_HARDWARE: bool = false;
    const ONE: Ruled = Ruled(1.0);

    fn read(bits: u32) -> Ruled {
        Ruled(f32::from_bits(bits))
    }

    fn bits(self) -> u32 {
        self.0.to_bits()
    }

    fn from_signed(value: i32) -> Ruled {
        Ruled(value as f32)
    }

    fn from_unsigned(value: u32) -> Ruled {
        Ruled(value as f32)
    }

    fn scale(self, factor: f32) -> Ruled {
        self * Ruled(factor)
    }

    fn floor(self) -> Ruled {
        Ruled::floor(self)
    }

    fn sqrt(self) -> Ruled {
        Ruled::sqrt(self)
    }
}

/// A 24-bit float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct F24(f32);

impl F24 {
    /// Bits of a double's fraction that the format does not have.
    const DROPPED: u32 = 52 - 16;
    /// The smallest number above 0: 2⁻⁶².
    const SMALLEST: f64 = 1.0 / (1u64 << 62) as f64;
    /// The first number that is too large: 2⁶⁴.
    const TOO_LARGE: f64 = 2.0 * (1u64 << 63) as f64;

    /// The number nearest to `x`.
    fn nearest(x: f64) -> F24 {
        if x.is_nan() {
            return F24(Format::F24.nan());
        }
        if x.is_infinite() {
            return F24(x as f32);
        }
        let bits = x.to_bits();
        let half = (1 << (Self::DROPPED - 1)) - 1;
        let even = bits >> Self::DROPPED & 1;
        let rounded = f64::from_bits((bits + half + even) >> Self::DROPPED << Self::DROPPED);
        let magnitude = rounded.abs();
        if magnitude < Self::SMALLEST {
            F24(0.0f32.copysign(x as f32))
        } else if magnitude >= Self::TOO_LARGE {
            F24(f32::INFINITY.copysign(x as f32))
        } else {
            F24(rounded as f32)
        }
    }

    /// The last bit of the fraction of a number of the format, in the pattern of an IEEE single.
    const LAST_BIT: u32 = 1 << (23 - 16);

    fn wide(self) -> f64 {
        f64::from(self.0)
    }

    /// The result of the adder where a number is subtracted from itself: see the module's remarks
    /// on equality.
    fn less_itself(self) -> F24 {
        let bits = self.0.to_bits();
        if !self.0.is_finite() {
            return F24(Format::F24.nan());
        }
        if bits & Self::LAST_BIT == 0 {
            return F24(0.0);
        }
        let without = f32::from_bits(bits ^ Self::LAST_BIT);
        F24::nearest(f64::from((self.0 - without).abs()))
    }
}

impl Number for F24 {
    const IN_HARDWARE: bool = false;
    const ONE: F24 = F24(1.0);

    fn read(bits: u32) -> F24 {
        F24::nearest(f64::from(f32::from_bits(bits)))
    }

    fn bits(self) -> u32 {
        self.0.to_bits()
    }

    fn from_signed(value: i32) -> F24 {
        F24::nearest(f64::from(value))
    }

    fn from_unsigned(value: u32) -> F24 {
        F24::nearest(f64::from(value))
    }

    fn scale(self, factor: f32) -> F24 {
        F24::nearest(self.wide() * f64::from(factor))
    }

    fn floor(self) -> F24 {
        F24(self.0.floor())
    }

    fn sqrt(self) -> F24 {
        F24::nearest(self.wide().sqrt())
    }
}

impl Add for F24 {
    type Output = F24;

    fn add(self, other: F24) -> F24 {
        if self.0 == -other.0 {
            return self.less_itself();
        }
        F24::nearest(self.wide() + other.wide())
    }
}

/// The exact difference, rounded once: of a number and its floor, for its fraction.
impl Sub for F24 {
    type Output = F24;

    fn sub(self, other: F24) -> F24 {
        F24::nearest(self.wide() - other.wide())
    }
}

impl Mul for F24 {
    type Output = F24;

    fn mul(self, other: F24) -> F24 {
        F24::nearest(self.wide() * other.wide())
    }
}

impl Div for F24 {
    type Output = F24;

    fn div(self, other: F24) -> F24 {
        F24::nearest(self.wide() / other.wide())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All positive numbers of the format with these exponent fields, from the layout, in order.
    fn positive(exponents: std::ops::Range<i32>) -> impl Iterator<Item = f64> {
        exponents.flat_map(|exponent| {
            (0..1u32 << 16).map(move |fraction| (1.0 + f64::from(fraction) / 65536.0) * 2f64.powi(exponent - 63))
        })
    }

    fn round(x: f32) -> f32 {
        f32::from_bits(Format::F24.round(x.to_bits()))
    }

    #[test]
    fn every_number_of_the_layout_is_its_own_nearest_and_midpoints_go_to_the_even_one() {
        for exponents in [1..3, 62..65, 125..127] {
            let mut before: Option<(f64, usize)> = None;
            for (index, x) in positive(exponents).enumerate() {
                assert_eq!(f64::from(F24::nearest(x).0), x);
                assert_eq!(f64::from(F24::nearest(-x).0), -x);
                if let Some((low, low_index)) = before {
                    let middle = low + (x - low) / 2.0;
                    let even = if low_index.is_multiple_of(2) { low } else { x };
                    assert_eq!(f64::from(F24::nearest(middle).0), even, "between {low} and {x}");
                    assert_eq!(f64::from(F24::nearest(middle.next_down()).0), low);
                    assert_eq!(f64::from(F24::nearest(middle.next_up()).0), x);
                }
                before = Some((x, index));
            }
        }
    }

    #[test]
    fn what_is_too_small_becomes_a_zero_of_its_sign_and_what_is_too_large_an_infinity() {
        let smallest = 2f64.powi(-62);
        assert_eq!(F24::nearest(smallest.next_down()).0, 2f32.powi(-62), "rounds up to the smallest first");
        assert_eq!(F24::nearest(-smallest * (1.0 - 1.0 / 262_144.0)).bits(), 0x8000_0000 | 2f32.powi(-62).to_bits());
        assert_eq!(F24::nearest(smallest * 0.9999).bits(), 0);
        assert_eq!(F24::nearest(-smallest * 0.5).bits(), 0x8000_0000);
        assert_eq!(round(f32::from_bits(1)), 0.0);
        let largest = (2.0 - 1.0 / 65536.0) * 2f64.powi(63);
        let limit = (2.0 - 1.0 / 131_072.0) * 2f64.powi(63);
        assert_eq!(f64::from(F24::nearest(limit.next_down()).0), largest);
        assert_eq!(F24::nearest(limit).0, f32::INFINITY);
        assert_eq!(round(-f32::MAX), f32::NEG_INFINITY);
        assert_eq!(round(f32::INFINITY), f32::INFINITY);
        assert_eq!(Format::F24.round(0xffff_ffff), 0x7fc0_0000);
    }

    /// The exact sum or product of two numbers of the format, in units of 2⁻²⁰⁰, rounded by integer
    /// arithmetic.
    fn reference(exact: i128, unit: i32) -> f64 {
        let magnitude = exact.unsigned_abs();
        let drop = (128 - magnitude.leading_zeros()).saturating_sub(17);
        let (kept, rest) = (magnitude >> drop, magnitude & ((1 << drop) - 1));
        let half = if drop == 0 { 1 } else { 1u128 << (drop - 1) };
        let up = rest > half || (rest == half && kept % 2 == 1);
        let value = (kept + u128::from(up)) as f64 * 2f64.powi(drop as i32 + unit);
        if exact < 0 { -value } else { value }
    }

    #[test]
    fn sums_and_products_round_once() {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let significand = i128::from(0x1_0000 | state >> 16);
            let exponent = (state >> 4 & 63) as i32 % 40;
            (if state & 8 == 0 { significand } else { -significand }, exponent)
        };
        for _ in 0..200_000 {
            let ((a, i), (b, j)) = (next(), next());
            let number = |s: i128, e: i32| F24::nearest(s as f64 * 2f64.powi(e - 30));
            let (x, y) = (number(a, i), number(b, j));
            let sum = (a << i) + (b << j);
            if sum != 0 {
                assert_eq!(f64::from((x + y).0), reference(sum, -30), "{x:?} + {y:?}");
            }
            assert_eq!(f64::from((x - y).0), reference((a << i) - (b << j), -30), "{x:?} - {y:?}");
            let product = reference(a * b, i + j - 60);
            assert_eq!(f64::from((x * y).0), product, "{x:?} * {y:?}");
        }
    }

    #[test]
    fn a_number_less_itself_leaves_its_last_bit() {
        for x in [0.0, -0.0, 1.0, 65535.0, 1.0 + 1.0 / 32768.0] {
            assert_eq!((F24(x) + F24(-x)).0, 0.0, "{x}");
        }
        let last = 1.0 / 65536.0;
        for (x, rest) in [(1.0 + last, last), (-1.0 - last, last), (3.0 + 2.0 * last, 2.0 * last), (65537.0, 1.0)] {
            assert_eq!((F24(x) + F24(-x)).0, rest, "{x}");
        }
        // The last place of a small number is below the smallest one.
        let small = F24::nearest(2f64.powi(-62) * (1.0 + f64::from(last)));
        assert_eq!((small + F24(-small.0)).0, 0.0);
        assert!((F24(f32::INFINITY) + F24(f32::NEG_INFINITY)).0.is_nan());
        assert_eq!((F24(65537.0) - F24(65537.0).floor()).0, 0.0, "`frac` subtracts exactly");
    }

    /// True if `r` is nearest to an exact value that compares with `t` as `below(t)` says: true for
    /// those that it is not below.
    fn is_nearest(r: F24, reached: impl Fn(i128, i32) -> std::cmp::Ordering) -> bool {
        let bits = r.bits();
        let significand = i128::from(1 << 16 | bits >> 7 & 0xffff);
        let exponent = (bits >> 23 & 255) as i32 - 127 - 16;
        let even = significand % 2 == 0;
        // The midpoints below and above are 2s − 1 and 2s + 1 in halves of the last place.
        let low = reached(2 * significand - 1, exponent - 1);
        let high = reached(2 * significand + 1, exponent - 1);
        (low.is_gt() || (low.is_eq() && even)) && (high.is_lt() || (high.is_eq() && even))
    }

    #[test]
    fn quotients_and_roots_round_once() {
        // Significands between 1 and 2 in steps of 2⁻¹⁶; a midpoint m·2^e is below a / b exactly
        // where m·2^e·b is below a.
        for a in (65_536i128..131_072).step_by(97) {
            for b in (65_536i128..131_072).step_by(89) {
                let number = |s: i128| F24::nearest(s as f64 / 65_536.0);
                let quotient = number(a) / number(b);
                assert!(is_nearest(quotient, |m, e| (a << 40).cmp(&((b * m) << (40 + e)))), "{a} / {b}");
            }
            for shift in [0, 1] {
                let root = F24::nearest((a << shift) as f64 / 65_536.0).sqrt();
                assert!(is_nearest(root, |m, e| (a << shift << 44).cmp(&((m * m) << (60 + 2 * e)))), "root of {a}");
            }
        }
    }

    #[test]
    fn integers_round_from_all_their_bits() {
        assert_eq!(F24::from_signed(131_073).0, 131_072.0);
        assert_eq!(F24::from_signed(-131_075).0, -131_076.0);
        // To 24 bits first, this would become a tie, and round down.
        assert_eq!(F24::from_signed(0x0100_0081).0, 16_777_472.0);
        assert_eq!(F24::from_unsigned(u32::MAX).0, 4_294_967_296.0);
        assert_eq!(F24::from_signed(i32::MIN).0, -2_147_483_648.0);
    }
}
