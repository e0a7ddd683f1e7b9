//! Lanes in plain arrays, which the compiler vectorizes for the processor it compiles for.

use super::Lanes;

/// `W` lanes in an array.
#[derive(Clone, Copy)]
pub struct Array<const W: usize>([f32; W]);

impl<const W: usize> Array<W> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn compare(self, other: Self, f: impl Fn(f32, f32) -> bool) -> u32 {
        (0..W).fold(0, |bits, i| bits | u32::from(f(self.0[i], other.0[i])) << i)
    }
}

impl<const W: usize> Lanes<W> for Array<W> {
    type Mask = u32;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; W])
    }
    #[inline(always)]
    fn load(values: &[f32; W]) -> Self {
        Self(*values)
    }
    #[inline(always)]
    fn store(self) -> [f32; W] {
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
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self.mul(factor).add(term)
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
        self.lt(other) | other.lt(self)
    }
    #[inline(always)]
    fn and(a: u32, b: u32) -> u32 {
        a & b
    }
    #[inline(always)]
    fn or(a: u32, b: u32) -> u32 {
        a | b
    }
    #[inline(always)]
    fn bits(mask: u32) -> u32 {
        mask
    }
    #[inline(always)]
    fn mask(bits: u32) -> u32 {
        if W < 32 { bits & ((1 << W) - 1) } else { bits }
    }
    #[inline(always)]
    fn select(mask: u32, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|i| if mask >> i & 1 != 0 { yes.0[i] } else { no.0[i] }))
    }
}
