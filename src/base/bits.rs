//! Words of any width: the values of a circuit.
//!
//! A word is a string of bits; nothing in it says whether it is signed. Its width is not part of
//! it: every value of a circuit has one, and operations take it. Bits above the width are zero.
//! Words of up to 128 bits are one machine integer; wider ones are on the heap.

use std::cmp::Ordering;
use std::fmt::Write;

/// The widest word, in bits.
pub const MAX_WIDTH: u32 = 4096;

/// Bits that a word counts for in bounds on memory: a narrow one takes as much as one of this width.
const LEAST_STORAGE: u32 = 256;

/// The bits that a word of some width counts for where the memory of words is bounded.
pub fn storage(width: u32) -> u64 {
    u64::from(width.max(LEAST_STORAGE))
}

/// Bits of a limb of a wide word.
const LIMB: u32 = 64;

/// A word. Two words of the same width are equal if their bits are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Bits {
    /// Up to 128 bits.
    Small(u128),
    /// More than 128 bits, the lowest limb first; as many limbs as the width needs.
    Wide(Box<[u64]>),
}

impl Bits {
    /// The low `width` bits of the two's complement of `value`.
    pub fn from_i128(value: i128, width: u32) -> Self {
        let fill = if value < 0 { u64::MAX } else { 0 };
        Self::build(width, |i| match i {
            0 => value as u64,
            1 => (value >> 64) as u64,
            _ => fill,
        })
    }

    /// The low `width` bits of `value`.
    pub fn from_u128(value: u128, width: u32) -> Self {
        Self::build(width, |i| match i {
            0 => value as u64,
            1 => (value >> 64) as u64,
            _ => 0,
        })
    }

    /// A word of one bit.
    pub fn bit(value: bool) -> Self {
        Self::Small(value as u128)
    }

    /// All bits zero.
    pub fn zero(width: u32) -> Self {
        Self::build(width, |_| 0)
    }

    /// A word whose limb `i` is `limb(i)`, cut to the width.
    fn build(width: u32, limb: impl Fn(usize) -> u64) -> Self {
        if width <= 128 {
            let all = limb(0) as u128 | if width > LIMB { (limb(1) as u128) << 64 } else { 0 };
            return Self::Small(all & mask(width));
        }
        let mut limbs: Box<[u64]> = (0..width.div_ceil(LIMB) as usize).map(limb).collect();
        if let (Some(top), used @ 1..) = (limbs.last_mut(), width % LIMB) {
            *top &= u64::MAX >> (LIMB - used);
        }
        Self::Wide(limbs)
    }

    /// Limb `i`; zero beyond the word.
    fn limb(&self, i: usize) -> u64 {
        match (self, i) {
            (Self::Small(x), 0) => *x as u64,
            (Self::Small(x), 1) => (x >> 64) as u64,
            (Self::Small(_), _) => 0,
            (Self::Wide(limbs), _) => limbs.get(i).copied().unwrap_or(0),
        }
    }

    /// The 64 bits from bit `at` upwards.
    fn limb_at(&self, at: u32) -> u64 {
        let (i, shift) = ((at / LIMB) as usize, at % LIMB);
        let low = self.limb(i) >> shift;
        if shift == 0 { low } else { low | self.limb(i + 1) << (LIMB - shift) }
    }

    /// Bit `i`, from the lowest; zero beyond the word.
    pub fn get(&self, i: u32) -> bool {
        self.limb((i / LIMB) as usize) >> (i % LIMB) & 1 == 1
    }

    /// True if any bit is one.
    pub fn any(&self) -> bool {
        match self {
            Self::Small(x) => *x != 0,
            Self::Wide(limbs) => limbs.iter().any(|limb| *limb != 0),
        }
    }

    /// The number of bits that the unsigned value needs: 0 for zero.
    pub fn length(&self) -> u32 {
        match self {
            Self::Small(x) => 128 - x.leading_zeros(),
            Self::Wide(limbs) => limbs.iter().rposition(|limb| *limb != 0).map_or(0, |i| {
                let used = LIMB - limbs[i].leading_zeros();
                i as u32 * LIMB + used
            }),
        }
    }

    /// The unsigned value, if it has at most 128 bits.
    pub fn to_u128(&self) -> Option<u128> {
        (self.length() <= 128).then(|| self.limb(0) as u128 | (self.limb(1) as u128) << 64)
    }

    /// The value as a two's complement number of `width` bits, if an `i128` holds it.
    pub fn to_i128(&self, width: u32) -> Option<i128> {
        if width <= 128 {
            let shift = 128 - width.max(1);
            return self.to_u128().map(|x| ((x << shift) as i128) >> shift);
        }
        let low = (self.limb(0) as u128 | (self.limb(1) as u128) << 64) as i128;
        (*self == Self::from_i128(low, width)).then_some(low)
    }

    /// The low bits of the sum with `carry`, and the carry out of bit `width - 1`.
    fn add_with(&self, other: &Self, carry: bool, width: u32) -> (Self, bool) {
        if let (Self::Small(a), Self::Small(b)) = (self, other) {
            let (sum, over) = a.overflowing_add(*b);
            let (sum, over_again) = sum.overflowing_add(carry as u128);
            let out = if width == 128 { over | over_again } else { sum >> width & 1 == 1 };
            return (Self::Small(sum & mask(width)), out);
        }
        let mut carry = carry as u128;
        let limbs: Vec<u64> = (0..width.div_ceil(LIMB) as usize)
            .map(|i| {
                let sum = self.limb(i) as u128 + other.limb(i) as u128 + carry;
                carry = sum >> LIMB;
                sum as u64
            })
            .collect();
        let out = match width % LIMB {
            0 => carry == 1,
            used => limbs.last().is_some_and(|top| top >> used & 1 == 1),
        };
        (Self::build(width, |i| limbs[i]), out)
    }

    /// The sum, and the carry out of the highest bit.
    pub fn add(&self, other: &Self, width: u32) -> (Self, bool) {
        self.add_with(other, false, width)
    }

    /// The difference, and the carry out of `self + NOT other + 1`: one if nothing is borrowed,
    /// that is, if `self >= other` as unsigned numbers.
    pub fn sub(&self, other: &Self, width: u32) -> (Self, bool) {
        self.add_with(&other.not(width), true, width)
    }

    /// The low `width` bits of the product.
    pub fn mul(&self, other: &Self, width: u32) -> Self {
        if let (Self::Small(a), Self::Small(b)) = (self, other) {
            return Self::Small(a.wrapping_mul(*b) & mask(width));
        }
        let n = width.div_ceil(LIMB) as usize;
        let mut product = vec![0; n];
        for i in 0..n {
            let mut carry = 0;
            for j in 0..n - i {
                let sum = self.limb(i) as u128 * other.limb(j) as u128 + product[i + j] as u128 + carry;
                product[i + j] = sum as u64;
                carry = sum >> LIMB;
            }
        }
        Self::build(width, |i| product[i])
    }

    /// Bitwise and.
    pub fn and(&self, other: &Self, width: u32) -> Self {
        self.zip(other, width, |a, b| a & b)
    }

    /// Bitwise or.
    pub fn or(&self, other: &Self, width: u32) -> Self {
        self.zip(other, width, |a, b| a | b)
    }

    /// Bitwise equivalence: one where both have the same bit.
    pub fn eqv(&self, other: &Self, width: u32) -> Self {
        self.zip(other, width, |a, b| !(a ^ b))
    }

    /// Bitwise complement.
    pub fn not(&self, width: u32) -> Self {
        self.zip(self, width, |a, _| !a)
    }

    fn zip(&self, other: &Self, width: u32, f: impl Fn(u64, u64) -> u64) -> Self {
        Self::build(width, |i| f(self.limb(i), other.limb(i)))
    }

    /// The order of the two words as two's complement numbers of `width` bits.
    pub fn compare(&self, other: &Self, width: u32) -> Ordering {
        if let (Self::Small(a), Self::Small(b)) = (self, other) {
            let shift = 128 - width.max(1);
            return ((a << shift) as i128).cmp(&((b << shift) as i128));
        }
        let sign = width.max(1) - 1;
        let limbs = || (0..width.div_ceil(LIMB) as usize).rev();
        let magnitudes = || limbs().map(|i| self.limb(i)).cmp(limbs().map(|i| other.limb(i)));
        other.get(sign).cmp(&self.get(sign)).then_with(magnitudes)
    }

    /// Bits `low + width - 1` to `low`; zero beyond the word.
    pub fn extract(&self, low: u32, width: u32) -> Self {
        if let Self::Small(x) = self {
            return Self::build_small(x.checked_shr(low).unwrap_or(0), width);
        }
        Self::build(width, |i| self.limb_at(low.saturating_add(i as u32 * LIMB)))
    }

    fn build_small(x: u128, width: u32) -> Self {
        if width <= 128 { Self::Small(x & mask(width)) } else { Self::from_u128(x, width) }
    }

    /// The word of `to` bits whose low bits are these `from` bits; the sign bit fills the rest.
    pub fn resize(&self, from: u32, to: u32) -> Self {
        let fill = if from > 0 && self.get(from - 1) { u64::MAX } else { 0 };
        Self::build(to, |i| {
            let start = i as u32 * LIMB;
            match from.saturating_sub(start) {
                0 => fill,
                kept @ 1..LIMB => self.limb(i) | fill << kept,
                _ => self.limb(i),
            }
        })
    }

    /// These bits above the `low_width` bits of `low`; the result has `width` bits.
    pub fn concat(&self, low: &Self, low_width: u32, width: u32) -> Self {
        if let (Self::Small(a), Self::Small(b), ..=128) = (self, low, width) {
            return Self::Small((a.checked_shl(low_width).unwrap_or(0) | b) & mask(width));
        }
        let (limbs, shift) = ((low_width / LIMB) as usize, low_width % LIMB);
        Self::build(width, |i| {
            let moved = |j: usize| i.checked_sub(j).map_or(0, |i| self.limb(i));
            let mut high = moved(limbs) << shift;
            if shift > 0 {
                high |= moved(limbs + 1) >> (LIMB - shift);
            }
            high | low.limb(i)
        })
    }

    /// The word that digits of this radix write, with the least width (at least 1); none if a digit
    /// is not of the radix, there is none, or the word has more than [`MAX_WIDTH`] bits.
    pub fn parse(digits: &str, radix: u32) -> Option<(Self, u32)> {
        // A digit of any radix from 2 has at least one bit: longer texts of zeros are refused too.
        if digits.is_empty() || digits.len() > MAX_WIDTH as usize + 1 {
            return None;
        }
        let wide = MAX_WIDTH + LIMB;
        let mut value = Self::zero(wide);
        let factor = Self::from_u128(radix as u128, wide);
        for c in digits.chars() {
            let digit = Self::from_u128(c.to_digit(radix)? as u128, wide);
            value = value.mul(&factor, wide).add(&digit, wide).0;
            if value.length() > MAX_WIDTH {
                return None;
            }
        }
        let width = value.length().max(1);
        Some((value.extract(0, width), width))
    }

    /// The value as an unsigned decimal number.
    pub fn unsigned(&self) -> String {
        if let Some(x) = self.to_u128() {
            return x.to_string();
        }
        const CHUNK: u128 = 10_000_000_000_000_000_000;
        let mut limbs: Vec<u64> = (0..self.length().div_ceil(LIMB) as usize).map(|i| self.limb(i)).collect();
        let mut chunks = Vec::new();
        while limbs.iter().any(|limb| *limb != 0) {
            let mut rest = 0;
            for limb in limbs.iter_mut().rev() {
                let all = rest << LIMB | *limb as u128;
                *limb = (all / CHUNK) as u64;
                rest = all % CHUNK;
            }
            chunks.push(rest);
        }
        let mut text = chunks.pop().unwrap_or(0).to_string();
        for chunk in chunks.iter().rev() {
            write!(text, "{chunk:019}").expect("writing to a string");
        }
        text
    }

    /// The value as a decimal number in two's complement; of one bit, 0 or 1.
    pub fn signed(&self, width: u32) -> String {
        if width > 1 && self.get(width - 1) {
            return format!("-{}", Self::zero(width).sub(self, width).0.unsigned());
        }
        self.unsigned()
    }

    /// The value in hexadecimal, without a prefix.
    pub fn hexadecimal(&self) -> String {
        let digits = self.length().div_ceil(4).max(1);
        let digit = |i: u32| char::from_digit((self.limb_at(i * 4) & 15) as u32, 16).unwrap_or('?');
        (0..digits).rev().map(digit).collect()
    }
}

/// The lowest `width` bits.
fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same word with more limbs than it needs: takes the way of wide words.
    fn widened(word: u128) -> Bits {
        Bits::from_u128(word, 256)
    }

    proptest! {
        #[test]
        fn operations_agree_with_machine_integers(a: u128, b: u128, width in 1_u32..=127) {
            let [x, y] = [a, b].map(|n| n & mask(width));
            let [p, q] = [x, y].map(|n| Bits::from_u128(n, width));
            prop_assert_eq!(p.add(&q, width), (Bits::Small((x + y) & mask(width)), (x + y) >> width == 1));
            prop_assert_eq!(p.sub(&q, width), (Bits::Small(x.wrapping_sub(y) & mask(width)), x >= y));
            prop_assert_eq!(p.mul(&q, width), Bits::Small(x.wrapping_mul(y) & mask(width)));
            let signed = |n: u128| ((n << (128 - width)) as i128) >> (128 - width);
            prop_assert_eq!(p.compare(&q, width), signed(x).cmp(&signed(y)));
            prop_assert_eq!(p.to_i128(width), Some(signed(x)));
            prop_assert_eq!(p.signed(width), if width == 1 { x.to_string() } else { signed(x).to_string() });
            prop_assert_eq!(p.resize(width, 128), Bits::Small(signed(x) as u128));
            prop_assert_eq!(p.eqv(&q, width), p.and(&q, width).or(&p.not(width).and(&q.not(width), width), width));
        }

        #[test]
        fn wide_words_compute_as_narrow_ones(a: u128, b: u128, low in 0_u32..200, width in 1_u32..=128) {
            let (x, y) = (a >> 1, b >> 1);
            let (p, q) = (widened(x), widened(y));
            prop_assert_eq!(p.add(&q, 256).0, widened(x + y));
            prop_assert_eq!(p.sub(&q, 256).1, x >= y);
            prop_assert_eq!(p.mul(&q, 256).extract(0, 128), Bits::Small(x.wrapping_mul(y)));
            prop_assert_eq!(p.compare(&q, 256), x.cmp(&y));
            prop_assert_eq!(p.extract(low, width), Bits::from_u128(x, 128).extract(low, width));
            let both = Bits::from_u128(a, 128).concat(&Bits::from_u128(b, 128), 128, 256);
            prop_assert_eq!((both.extract(128, 128), both.extract(0, 128)), (Bits::Small(a), Bits::Small(b)));
            prop_assert_eq!(both.extract(low, 256 - low).concat(&both.extract(0, low.max(1)), low, 256).and(&both, 256), both.clone());
            prop_assert_eq!(Bits::from_i128(-(x as i128), 256).signed(256), (-(x as i128)).to_string());
        }

        #[test]
        fn numbers_are_written_as_they_are_read(limbs: [u128; 3]) {
            let word = limbs.iter().fold(Bits::zero(384), |word, limb| {
                Bits::from_u128(*limb, 128).concat(&word.extract(0, 256), 256, 384)
            });
            let (again, width) = Bits::parse(&word.unsigned(), 10).expect("a number");
            prop_assert_eq!((again.concat(&Bits::zero(1), 0, 384), width), (word.clone(), word.length().max(1)));
            prop_assert_eq!(Bits::parse(&word.hexadecimal(), 16).expect("a number").0, again);
        }
    }

    #[test]
    fn carries_leave_words_of_whole_limbs() {
        for width in [64, 128, 192, 1024] {
            let ones = Bits::zero(width).not(width);
            let one = Bits::from_u128(1, width);
            assert_eq!(ones.add(&one, width), (Bits::zero(width), true), "{width}");
            assert_eq!(Bits::zero(width).sub(&one, width), (ones, false), "{width}");
        }
    }
}
