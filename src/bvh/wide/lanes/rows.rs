//! Sixteen lanes as rows: the lanes in which four groups of sixteen rays meet the children of a
//! node.

use super::Lanes;

/// Sixteen lanes that are also `16 / W` rows of `W` lanes.
pub trait Rows: Lanes<16> {
    /// `values` in every row; `W` is 4 or 8.
    fn repeat<const W: usize>(values: &[f32; W]) -> Self;
    /// Of `values`, `16 / W` from number `part * 16 / W` on, each filling a row; `W` is 4 or 8,
    /// `part` below `W / 4`.
    fn rows<const W: usize>(values: &[f32; 4], part: usize) -> Self;
    /// The greatest lane of each of four, none of which has a lane that is NaN.
    fn greatest(of: [Self; 4]) -> [f32; 4];
}

/// Sixteen lanes of a longer array: those of one of its groups of sixteen.
#[inline(always)]
pub fn load_group<const N: usize, L: Lanes<16>>(values: &[f32; N], group: usize) -> L {
    L::load(&values.as_chunks().0[group])
}

/// Stores sixteen lanes in a longer array.
#[inline(always)]
pub fn store_group<const N: usize, L: Lanes<16>>(values: &mut [f32; N], group: usize, lanes: L) {
    values.as_chunks_mut().0[group] = lanes.store();
}

/// Sixteen lanes in two registers of eight.
#[derive(Clone, Copy)]
pub struct Pair<L>(L, L);

/// One half of sixteen values.
#[inline(always)]
fn half(values: &[f32; 16], upper: usize) -> &[f32; 8] {
    &values.as_chunks().0[upper]
}

/// Four values twice.
#[inline(always)]
fn twice<const W: usize>(values: &[f32; W]) -> [f32; 8] {
    let mut all = [0.0; 8];
    let mut i = 0;
    while i < 8 {
        all[i] = values[i % W];
        i += 1;
    }
    all
}

impl<L: Lanes<8>> Lanes<16> for Pair<L> {
    type Mask = (L::Mask, L::Mask);

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(L::splat(value), L::splat(value))
    }
    #[inline(always)]
    fn load(values: &[f32; 16]) -> Self {
        Self(L::load(half(values, 0)), L::load(half(values, 1)))
    }
    #[inline(always)]
    fn store(self) -> [f32; 16] {
        let mut values = [0.0; 16];
        let [low, high] = values.as_chunks_mut().0 else { return values };
        (*low, *high) = (self.0.store(), self.1.store());
        values
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(other.0), self.1.sub(other.1))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0.mul(other.0), self.1.mul(other.1))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(self.0.div(other.0), self.1.div(other.1))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(self.0.mul_add(factor.0, term.0), self.1.mul_add(factor.1, term.1))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0), self.1.min(other.1))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0), self.1.max(other.1))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        (self.0.le(other.0), self.1.le(other.1))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        (self.0.lt(other.0), self.1.lt(other.1))
    }
    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        (self.0.ne(other.0), self.1.ne(other.1))
    }
    #[inline(always)]
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        (L::and(a.0, b.0), L::and(a.1, b.1))
    }
    #[inline(always)]
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        (L::or(a.0, b.0), L::or(a.1, b.1))
    }
    #[inline(always)]
    fn bits(mask: Self::Mask) -> u32 {
        L::bits(mask.0) | L::bits(mask.1) << 8
    }
    #[inline(always)]
    fn mask(bits: u32) -> Self::Mask {
        (L::mask(bits), L::mask(bits >> 8))
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self(L::select(mask.0, yes.0, no.0), L::select(mask.1, yes.1, no.1))
    }
}

impl<L: Lanes<8>> Rows for Pair<L> {
    #[inline(always)]
    fn repeat<const W: usize>(values: &[f32; W]) -> Self {
        let eight = L::load(&twice(values));
        Self(eight, eight)
    }
    #[inline(always)]
    fn rows<const W: usize>(values: &[f32; 4], part: usize) -> Self {
        if W == 4 {
            let mut all = [0.0; 16];
            let mut i = 0;
            while i < 16 {
                all[i] = values[i / 4];
                i += 1;
            }
            return Self::load(&all);
        }
        Self(L::splat(values[2 * part % 4]), L::splat(values[(2 * part + 1) % 4]))
    }
    #[inline(always)]
    fn greatest(of: [Self; 4]) -> [f32; 4] {
        let eight = [of[0].0.max(of[0].1), of[1].0.max(of[1].1), of[2].0.max(of[2].1), of[3].0.max(of[3].1)];
        let eight = [eight[0].store(), eight[1].store(), eight[2].store(), eight[3].store()];
        let mut greatest = [f32::NEG_INFINITY; 4];
        let mut i = 0;
        while i < 32 {
            greatest[i % 4] = greatest[i % 4].max(eight[i % 4][i / 4]);
            i += 1;
        }
        greatest
    }
}
