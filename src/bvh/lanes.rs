//! Eight floats at a time: the operations the wide traversal is written in, and their portable form.
//!
//! The traversal is generic over [`Lanes`] and compiled once for plain arrays, here, and once for AVX2
//! ([`avx2`](super::avx2)). Both do the same IEEE operations lane by lane, so both give the same bits; no operation fuses.

/// Eight `f32` lanes.
pub trait Lanes: Copy {
    /// A truth value a lane.
    type Mask: Copy;

    /// The same value in all lanes.
    fn splat(value: f32) -> Self;
    /// The lanes of an array, lane 0 first.
    fn load(values: &[f32; 8]) -> Self;
    /// The lanes as an array, lane 0 first.
    fn store(self) -> [f32; 8];
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self / other`.
    fn div(self, other: Self) -> Self;
    /// `self` where it is smaller, else `other`.
    fn min(self, other: Self) -> Self;
    /// `self` where it is larger, else `other`.
    fn max(self, other: Self) -> Self;
    /// `self <= other`, false for NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// `self < other`, false for NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self != other`, true for NaN.
    fn ne(self, other: Self) -> Self::Mask;
    /// Both.
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Lane `i`'s truth in bit `i`.
    fn bits(mask: Self::Mask) -> u32;
}

/// Lanes in an array, for any processor.
#[derive(Clone, Copy)]
pub struct Portable([f32; 8]);

impl Portable {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn compare(self, other: Self, f: impl Fn(f32, f32) -> bool) -> u32 {
        (0..8).fold(0, |bits, i| bits | u32::from(f(self.0[i], other.0[i])) << i)
    }
}

impl Lanes for Portable {
    type Mask = u32;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; 8])
    }
    #[inline(always)]
    fn load(values: &[f32; 8]) -> Self {
        Self(*values)
    }
    #[inline(always)]
    fn store(self) -> [f32; 8] {
        self.0
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn le(self, other: Self) -> u32 {
        self.compare(other, |a, b| a <= b)
    }
    #[inline(always)]
    fn lt(self, other: Self) -> u32 {
        self.compare(other, |a, b| a < b)
    }
    #[inline(always)]
    fn ne(self, other: Self) -> u32 {
        self.compare(other, |a, b| a != b)
    }
    #[inline(always)]
    fn and(a: u32, b: u32) -> u32 {
        a & b
    }
    #[inline(always)]
    fn bits(mask: u32) -> u32 {
        mask
    }
}
