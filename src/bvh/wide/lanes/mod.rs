//! Several floats at a time: the operations that the wide traversals are written in, and the choice
//! of the instruction set.
//!
//! A kernel is a [`Work`]: code generic over the [`Simd`] instruction set, whose types implement
//! [`Lanes`]. [`Isa::run`] compiles it once for each instruction set and runs the copy asked for.
//! All do the same IEEE operations lane by lane, so all give the same bits, except for
//! [`Lanes::mul_add`], which only tests of boxes may use. Nothing here knows trees or rays.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod rows;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use portable::Array;
use rows::Pair;
pub use rows::{Rows, load_group, store_group};

/// `W` lanes of `f32`.
pub trait Lanes<const W: usize>: Copy {
    /// A truth value a lane.
    type Mask: Copy;

    /// The same value in all lanes.
    fn splat(value: f32) -> Self;
    /// The lanes of an array, lane 0 first.
    fn load(values: &[f32; W]) -> Self;
    /// The lanes as an array, lane 0 first.
    fn store(self) -> [f32; W];
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self / other`.
    fn div(self, other: Self) -> Self;
    /// `self * factor + term`, rounded once or twice, as the instruction set does faster.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `self` where it is smaller, else `other`.
    fn min(self, other: Self) -> Self;
    /// `self` where it is larger, else `other`.
    fn max(self, other: Self) -> Self;
    /// `self <= other`, false for NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// `self < other`, false for NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self != other`, false for NaN.
    fn ne(self, other: Self) -> Self::Mask;
    /// Both.
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Either.
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Lane `i`'s truth in bit `i`.
    fn bits(mask: Self::Mask) -> u32;
    /// Bit `i` as lane `i`'s truth; bits from `W` on do not count.
    fn mask(bits: u32) -> Self::Mask;
    /// `yes` where the mask is true, else `no`, bit by bit.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// The absolute value.
    #[inline(always)]
    fn abs(self) -> Self {
        self.max(Self::splat(0.0).sub(self))
    }

    /// Writes the lanes of `self` that the mask holds, and what `items` has for them, to the first
    /// places of `values` and `sorted`: the largest first. `self` must not be negative. Up to three
    /// of the lowest bits of a value may be lost, and the order of values that differ in nothing
    /// else is left open, as is what the places after them get.
    #[inline(always)]
    fn sort(self, mask: Self::Mask, items: &[u32; W], values: &mut [f32; W], sorted: &mut [u32; W]) {
        let lanes = self.store();
        let mut left = Self::bits(mask);
        let mut count = 0;
        while left != 0 {
            let lane = left.trailing_zeros() as usize % W;
            left &= left - 1;
            let mut place = count % W;
            while place > 0 && values[place - 1] < lanes[lane] {
                (values[place], sorted[place]) = (values[place - 1], sorted[place - 1]);
                place -= 1;
            }
            (values[place], sorted[place]) = (lanes[lane], items[lane]);
            count += 1;
        }
    }

    /// Writes what `items` has for the lanes that the mask holds to the first places of `packed`;
    /// what the places after them get is left open.
    #[inline(always)]
    fn pack(mask: Self::Mask, items: &[u32; W], packed: &mut [u32; W]) {
        let mut left = Self::bits(mask);
        let mut count = 0;
        while left != 0 {
            packed[count % W] = items[left.trailing_zeros() as usize % W];
            left &= left - 1;
            count += 1;
        }
    }
}

/// An instruction set's lanes.
pub trait Simd {
    /// Four lanes.
    type Four: Lanes<4>;
    /// Eight lanes.
    type Eight: Lanes<8>;
    /// Sixteen lanes.
    type Sixteen: Rows;

    /// Asks for a value to be brought into the cache. There need not be one.
    fn prefetch<T>(value: *const T);

    /// The columns of a table of bits with a byte a row, bit 0 first: bit `i` of column `c` is bit
    /// `c` of byte `i`.
    fn columns(rows: &[u8; 64]) -> [u64; 8];
}

/// A computation that is compiled for every instruction set.
pub trait Work {
    /// The type of the result.
    type Output;

    /// Does the work with the lanes of `S`. It and all that it calls is to be `#[inline(always)]`:
    /// code that is not inlined is compiled for the baseline processor and passes lanes through
    /// memory. That includes closures.
    fn run<S: Simd>(self) -> Self::Output;
}

/// The instruction set of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isa {
    /// The instructions that every processor of the target has.
    Portable,
    /// AVX2 with FMA: 8 lanes in a register (x86-64).
    Avx2,
    /// AVX-512 F and VL: 8 and 16 lanes, mask registers, compression (x86-64).
    Avx512,
}

impl Isa {
    /// The instruction sets of this processor, the best last.
    pub fn all() -> impl Iterator<Item = Isa> {
        [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported())
    }

    /// The best instruction set of this processor.
    pub fn best() -> Isa {
        Isa::all().last().unwrap_or(Isa::Portable)
    }

    /// True if this processor has it.
    pub fn is_supported(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2::is_supported(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512::is_supported(),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => false,
        }
    }

    /// The name in kernels' names: `portable`, `avx2`, `avx512`.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// Does `work` with this instruction set, or where the processor lacks it with the portable
    /// one.
    #[inline]
    pub fn run<T: Work>(self, work: T) -> T::Output {
        #[cfg(target_arch = "x86_64")]
        match self {
            Isa::Avx512 if avx512::is_supported() => return avx512::run(work),
            Isa::Avx2 if avx2::is_supported() => return avx2::run(work),
            _ => {}
        }
        work.run::<Portable>()
    }
}

/// Lanes in arrays, for any processor.
struct Portable;

impl Simd for Portable {
    type Four = Array<4>;
    type Eight = Array<8>;
    type Sixteen = Pair<Array<8>>;

    #[inline(always)]
    fn prefetch<T>(_: *const T) {}

    #[inline(always)]
    fn columns(rows: &[u8; 64]) -> [u64; 8] {
        let mut columns = [0; 8];
        for (i, &row) in rows.iter().enumerate() {
            let mut left = row;
            while left != 0 {
                columns[left.trailing_zeros() as usize % 8] |= 1 << i;
                left &= left - 1;
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some numbers with every sign and kind.
    const VALUES: [f32; 8] = [1.5, -2.25, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 3e38];

    /// Every operation on two arrays of eight, as bits.
    struct Everything([f32; 8], [f32; 8]);

    impl Work for Everything {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run<S: Simd>(self) -> Vec<u32> {
            let mut all = Vec::new();
            each::<8, S::Eight>(&self.0, &self.1, &mut all);
            let twice = |values: &[f32; 8]| std::array::from_fn(|i| values[i % 8]);
            each::<16, S::Sixteen>(&twice(&self.0), &twice(&self.1), &mut all);
            for half in 0..2 {
                let part = |values: &[f32; 8]| std::array::from_fn(|i| values[half * 4 + i]);
                each::<4, S::Four>(&part(&self.0), &part(&self.1), &mut all);
            }
            all
        }
    }

    #[inline(always)]
    fn each<const W: usize, L: Lanes<W>>(a: &[f32; W], b: &[f32; W], all: &mut Vec<u32>) {
        let (x, y) = (L::load(a), L::load(b));
        let selected = L::select(L::mask(0b0110_0101_1001_1010), x, y);
        for result in [x.add(y), x.sub(y), x.mul(y), x.div(y), x.min(y), x.max(y), x.abs(), selected, L::splat(a[0])] {
            all.extend(result.store().map(|v| if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() }));
        }
        for mask in [x.le(y), x.lt(y), x.ne(y), L::and(x.le(y), y.le(x)), L::or(x.lt(y), y.lt(x))] {
            all.push(L::bits(mask));
        }
    }

    #[test]
    fn every_instruction_set_gives_the_portable_lanes_bits() {
        for shift in 0..8 {
            let other: [f32; 8] = std::array::from_fn(|i| VALUES[(i + shift) % 8]);
            let expected = Isa::Portable.run(Everything(VALUES, other));
            for isa in Isa::all() {
                assert_eq!(isa.run(Everything(VALUES, other)), expected, "{isa:?}, shifted by {shift}");
            }
        }
    }

    /// The operations that [`Rows`] adds.
    struct Arrangements;

    impl Work for Arrangements {
        type Output = Vec<[f32; 16]>;

        #[inline(always)]
        fn run<S: Simd>(self) -> Vec<[f32; 16]> {
            let four = [1.0, 2.0, 3.0, 4.0];
            let eight = std::array::from_fn(|i| i as f32);
            let ramps = [1.0, -2.0, 0.5, -0.25].map(|scale| {
                let ramp: [f32; 16] = std::array::from_fn(|i| (i as f32 - 4.0) * scale);
                S::Sixteen::load(&ramp)
            });
            let greatest = S::Sixteen::greatest(ramps);
            let all = [
                S::Sixteen::repeat(&four),
                S::Sixteen::repeat::<8>(&eight),
                S::Sixteen::rows::<4>(&four, 0),
                S::Sixteen::rows::<8>(&four, 0),
                S::Sixteen::rows::<8>(&four, 1),
                S::Sixteen::repeat(&greatest),
            ];
            all.map(Lanes::store).to_vec()
        }
    }

    #[test]
    fn rows_are_repeated_spread_and_reduced_alike() {
        for isa in Isa::all() {
            let all = isa.run(Arrangements);
            assert_eq!(all[0], std::array::from_fn(|i| (i % 4 + 1) as f32), "{isa:?}");
            assert_eq!(all[1], std::array::from_fn(|i| (i % 8) as f32), "{isa:?}");
            assert_eq!(all[2], std::array::from_fn(|i| (i / 4 + 1) as f32), "{isa:?}");
            assert_eq!(all[3], std::array::from_fn(|i| (i / 8 + 1) as f32), "{isa:?}");
            assert_eq!(all[4], std::array::from_fn(|i| (i / 8 + 3) as f32), "{isa:?}");
            assert_eq!(all[5][..4], [11.0, 8.0, 5.5, 1.0], "{isa:?}");
        }
    }

    /// [`Simd::columns`].
    struct Columns([u8; 64]);

    impl Work for Columns {
        type Output = [u64; 8];

        #[inline(always)]
        fn run<S: Simd>(self) -> [u64; 8] {
            S::columns(&self.0)
        }
    }

    #[test]
    fn columns_are_those_of_the_table_of_bits() {
        let rows: [u8; 64] = std::array::from_fn(|i| (i * i * 37 + i * 11) as u8);
        for isa in Isa::all() {
            for (c, column) in isa.run(Columns(rows)).into_iter().enumerate() {
                for (i, row) in rows.iter().enumerate() {
                    assert_eq!(column >> i & 1, u64::from(row >> c & 1), "{isa:?}, row {i}, column {c}");
                }
            }
        }
    }

    /// `a * b + c` in lane 0.
    struct MulAdd([f32; 3]);

    impl Work for MulAdd {
        type Output = [f32; 2];

        #[inline(always)]
        fn run<S: Simd>(self) -> [f32; 2] {
            let [a, b, c] = self.0;
            let eight = S::Eight::splat(a).mul_add(S::Eight::splat(b), S::Eight::splat(c)).store()[0];
            let four = S::Four::splat(a).mul_add(S::Four::splat(b), S::Four::splat(c)).store()[0];
            [eight, four]
        }
    }

    #[test]
    fn multiplying_and_adding_rounds_once_or_twice() {
        let (a, b, c) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON, -1.0f32);
        let (once, twice) = (a.mul_add(b, c), a * b + c);
        assert_ne!(once, twice);
        for isa in Isa::all() {
            for sum in isa.run(MulAdd([a, b, c])) {
                assert!(sum == once || sum == twice, "{isa:?} gives {sum}");
            }
        }
    }

    /// [`Lanes::sort`] and [`Lanes::pack`] of the lanes in a mask, at both widths: values, items,
    /// and items packed.
    struct Order([f32; 8], u32);

    impl Work for Order {
        type Output = [(Vec<f32>, Vec<u32>, Vec<u32>); 2];

        #[inline(always)]
        fn run<S: Simd>(self) -> Self::Output {
            let four = self.0.first_chunk().expect("eight");
            [order::<4, S::Four>(four, self.1 & 15), order::<8, S::Eight>(&self.0, self.1)]
        }
    }

    #[inline(always)]
    fn order<const W: usize, L: Lanes<W>>(values: &[f32; W], bits: u32) -> (Vec<f32>, Vec<u32>, Vec<u32>) {
        let items = std::array::from_fn(|i| 100 + i as u32);
        let (mut near, mut sorted, mut packed) = ([-1.0; W], [0; W], [0; W]);
        L::load(values).sort(L::mask(bits), &items, &mut near, &mut sorted);
        L::pack(L::mask(bits), &items, &mut packed);
        let count = bits.count_ones() as usize;
        (near[..count].to_vec(), sorted[..count].to_vec(), packed[..count].to_vec())
    }

    #[test]
    fn lanes_of_any_mask_are_sorted_with_their_items_and_packed() {
        let shuffled = [3.0, 0.0, 7.5, 1e-30, 1e30, 2.0, f32::MAX, 5.0];
        for isa in Isa::all() {
            for bits in 0..256 {
                for (width, (near, sorted, packed)) in [4, 8].into_iter().zip(isa.run(Order(shuffled, bits))) {
                    let mut present: Vec<usize> = (0..width).filter(|lane| bits >> lane & 1 != 0).collect();
                    let item = |&lane: &usize| 100 + lane as u32;
                    assert_eq!(packed, present.iter().map(item).collect::<Vec<_>>(), "{isa:?}, {bits:b}");
                    present.sort_by(|&a, &b| shuffled[b].total_cmp(&shuffled[a]));
                    assert_eq!(sorted, present.iter().map(item).collect::<Vec<_>>(), "{isa:?}, {bits:b}");
                    for (near, lane) in near.iter().zip(present) {
                        // Entering a box earlier than it is loses nothing, later would.
                        let exact = shuffled[lane].to_bits();
                        assert!((exact & !7..=exact).contains(&(near.to_bits() & !7)), "{isa:?}: {near} for {lane}");
                    }
                }
            }
        }
    }
}
