//! Lanes with AVX-512's mask registers, for the x86-64 processors that have it.

use super::x86::{lanes_in_register, prefetch};
use super::{Lanes, Rows, Simd, Work};
use std::arch::x86_64::*;

/// True if this processor has AVX-512 as the server processors since Skylake have it, and all of
/// AVX2.
#[inline]
pub fn is_supported() -> bool {
    super::avx2::is_supported()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// Does `work`, compiled for AVX-512; panics where the processor lacks it.
#[inline]
pub fn run<T: Work>(work: T) -> T::Output {
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    fn compiled<T: Work>(work: T) -> T::Output {
        work.run::<Avx512>()
    }
    assert!(is_supported());
    // SAFETY: the processor has the features.
    unsafe { compiled(work) }
}

/// The instruction set, which only [`run`] names.
struct Avx512;

impl Simd for Avx512 {
    type Four = Four;
    type Eight = Eight;
    type Sixteen = Sixteen;

    #[inline(always)]
    fn prefetch<T>(value: *const T) {
        prefetch(value);
    }

    #[inline(always)]
    fn columns(rows: &[u8; 64]) -> [u64; 8] {
        // SAFETY: see below; the load is of all rows.
        unsafe {
            let rows = _mm512_loadu_si512(rows.as_ptr().cast());
            let mut columns = [0; 8];
            let mut column = 0;
            while column < 8 {
                columns[column] = _mm512_test_epi8_mask(rows, _mm512_set1_epi8(1i8.wrapping_shl(column as u32)));
                column += 1;
            }
            columns
        }
    }
}

lanes_in_register! {
    /// Four lanes.
    Four: 4 in __m128, mask __mmask8;
    _mm_set1_ps _mm_loadu_ps _mm_storeu_ps _mm_add_ps _mm_sub_ps _mm_mul_ps _mm_div_ps _mm_fmadd_ps _mm_min_ps _mm_max_ps;
    #[inline(always)]
    fn le(self, other: Self) -> __mmask8 {
        // SAFETY: see above.
        unsafe { _mm_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> __mmask8 {
        // SAFETY: see above.
        unsafe { _mm_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn ne(self, other: Self) -> __mmask8 {
        // SAFETY: see above.
        unsafe { _mm_cmp_ps_mask::<_CMP_NEQ_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn and(a: __mmask8, b: __mmask8) -> __mmask8 {
        a & b
    }
    #[inline(always)]
    fn or(a: __mmask8, b: __mmask8) -> __mmask8 {
        a | b
    }
    #[inline(always)]
    fn bits(mask: __mmask8) -> u32 {
        mask.into()
    }
    #[inline(always)]
    fn mask(bits: u32) -> __mmask8 {
        bits as __mmask8
    }
    #[inline(always)]
    fn select(mask: __mmask8, yes: Self, no: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm_mask_blend_ps(mask, no.0, yes.0) })
    }
}

lanes_in_register! {
    /// Eight lanes.
    Eight: 8 in __m256, mask __mmask8;
    _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_fmadd_ps
    _mm256_min_ps _mm256_max_ps;
    #[inline(always)]
    fn le(self, other: Self) -> __mmask8 {
        // SAFETY: see above.
        unsafe { _mm256_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> __mmask8 {
        // SAFETY: see above.
        unsafe { _mm256_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn ne(self, other: Self) -> __mmask8 {
        // SAFETY: see above.
        unsafe { _mm256_cmp_ps_mask::<_CMP_NEQ_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn and(a: __mmask8, b: __mmask8) -> __mmask8 {
        a & b
    }
    #[inline(always)]
    fn or(a: __mmask8, b: __mmask8) -> __mmask8 {
        a | b
    }
    #[inline(always)]
    fn bits(mask: __mmask8) -> u32 {
        mask.into()
    }
    #[inline(always)]
    fn mask(bits: u32) -> __mmask8 {
        bits as __mmask8
    }
    #[inline(always)]
    fn select(mask: __mmask8, yes: Self, no: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_mask_blend_ps(mask, no.0, yes.0) })
    }
    #[inline(always)]
    fn sort(self, mask: __mmask8, items: &[u32; 8], values: &mut [f32; 8], sorted: &mut [u32; 8]) {
        // SAFETY: see above; the arrays have the size of the registers.
        unsafe {
            // The bits of floats that are not negative order as the floats do. The lane's number
            // takes the place of the lowest three, so it moves with the value; absent lanes become
            // zero and sort last.
            let numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let bits = _mm256_castps_si256(self.0);
            let keys = _mm256_maskz_ternarylogic_epi32::<0xF8>(mask, numbers, bits, _mm256_set1_epi32(!7));
            let keys = sort_descending(keys);
            let items = _mm256_loadu_si256(items.as_ptr().cast());
            _mm256_storeu_ps(values.as_mut_ptr(), _mm256_castsi256_ps(keys));
            // Only the lowest three bits of an index count.
            _mm256_storeu_si256(sorted.as_mut_ptr().cast(), _mm256_permutevar8x32_epi32(items, keys));
        }
    }
    #[inline(always)]
    fn pack(mask: __mmask8, items: &[u32; 8], packed: &mut [u32; 8]) {
        // SAFETY: see above; the arrays have the size of the registers.
        unsafe {
            let items = _mm256_maskz_compress_epi32(mask, _mm256_loadu_si256(items.as_ptr().cast()));
            _mm256_storeu_si256(packed.as_mut_ptr().cast(), items);
        }
    }
}

lanes_in_register! {
    /// Sixteen lanes.
    Sixteen: 16 in __m512, mask __mmask16;
    _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_fmadd_ps
    _mm512_min_ps _mm512_max_ps;
    #[inline(always)]
    fn le(self, other: Self) -> __mmask16 {
        // SAFETY: see above.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> __mmask16 {
        // SAFETY: see above.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn ne(self, other: Self) -> __mmask16 {
        // SAFETY: see above.
        unsafe { _mm512_cmp_ps_mask::<_CMP_NEQ_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn and(a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }
    #[inline(always)]
    fn or(a: __mmask16, b: __mmask16) -> __mmask16 {
        a | b
    }
    #[inline(always)]
    fn bits(mask: __mmask16) -> u32 {
        mask.into()
    }
    #[inline(always)]
    fn mask(bits: u32) -> __mmask16 {
        bits as __mmask16
    }
    #[inline(always)]
    fn select(mask: __mmask16, yes: Self, no: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_mask_blend_ps(mask, no.0, yes.0) })
    }
}

impl Rows for Sixteen {
    #[inline(always)]
    fn repeat<const W: usize>(values: &[f32; W]) -> Self {
        // SAFETY: see above; the loads are of four and eight values where there are as many.
        unsafe {
            match W {
                8 => Self(_mm512_broadcast_f32x8(_mm256_loadu_ps(values.as_ptr()))),
                _ => Self(_mm512_broadcast_f32x4(_mm_loadu_ps(values[..4].as_ptr()))),
            }
        }
    }
    #[inline(always)]
    fn rows<const W: usize>(values: &[f32; 4], part: usize) -> Self {
        // SAFETY: see above.
        unsafe {
            let lanes = match (W, part) {
                (8, 0) => _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1),
                (8, _) => _mm512_setr_epi32(2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3),
                _ => _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3),
            };
            Self(_mm512_permutexvar_ps(lanes, _mm512_castps128_ps512(_mm_loadu_ps(values.as_ptr()))))
        }
    }
    #[inline(always)]
    fn greatest(of: [Self; 4]) -> [f32; 4] {
        let mut greatest = [0.0; 4];
        // SAFETY: see above.
        unsafe {
            let [a, b, c, d] = [quarter(of[0]), quarter(of[1]), quarter(of[2]), quarter(of[3])];
            let ab = _mm_max_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
            let cd = _mm_max_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
            let all = _mm_max_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
            _mm_storeu_ps(greatest.as_mut_ptr(), all);
        }
        greatest
    }
}

/// The greater ones of the four quarters of sixteen lanes.
#[inline(always)]
fn quarter(of: Sixteen) -> __m128 {
    // SAFETY: see above.
    unsafe {
        let eight = _mm256_max_ps(_mm512_castps512_ps256(of.0), _mm512_extractf32x8_ps::<1>(of.0));
        _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight))
    }
}

/// Sorts the eight unsigned integers of a register, the largest first: Batcher's bitonic network
/// (1968), six steps that compare each lane with one other.
#[inline(always)]
unsafe fn sort_descending(keys: __m256i) -> __m256i {
    /// One step: each lane and its partner, where the lanes of the mask keep the smaller of both.
    macro_rules! step {
        ($keys:expr, $partners:expr, $smaller:literal) => {{
            let (keys, partners) = ($keys, $partners);
            _mm256_mask_min_epu32(_mm256_max_epu32(keys, partners), $smaller, keys, partners)
        }};
    }
    // SAFETY: the caller is compiled for AVX-512.
    unsafe {
        let reverse = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        let keys = step!(keys, _mm256_shuffle_epi32::<0b10_11_00_01>(keys), 0b1010_1010);
        let keys = step!(keys, _mm256_shuffle_epi32::<0b00_01_10_11>(keys), 0b1100_1100);
        let keys = step!(keys, _mm256_shuffle_epi32::<0b10_11_00_01>(keys), 0b1010_1010);
        let keys = step!(keys, _mm256_permutevar8x32_epi32(keys, reverse), 0b1111_0000);
        let keys = step!(keys, _mm256_shuffle_epi32::<0b01_00_11_10>(keys), 0b1100_1100);
        step!(keys, _mm256_shuffle_epi32::<0b10_11_00_01>(keys), 0b1010_1010)
    }
}
