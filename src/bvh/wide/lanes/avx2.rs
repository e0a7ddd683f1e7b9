//! Lanes in AVX2's registers, for the x86-64 processors that have it.

use super::x86::{lanes_in_register, prefetch};
use super::{Lanes, Pair, Simd, Work};
use std::arch::x86_64::*;

/// True if this processor has AVX2 and what came with it.
#[inline]
pub fn is_supported() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

/// Does `work`, compiled for AVX2; panics where the processor lacks it.
#[inline]
pub fn run<T: Work>(work: T) -> T::Output {
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
    fn compiled<T: Work>(work: T) -> T::Output {
        work.run::<Avx2>()
    }
    assert!(is_supported());
    // SAFETY: the processor has the features.
    unsafe { compiled(work) }
}

/// The instruction set, which only [`run`] names.
struct Avx2;

impl Simd for Avx2 {
    type Four = Four;
    type Eight = Eight;
    type Sixteen = Pair<Eight>;

    #[inline(always)]
    fn prefetch<T>(value: *const T) {
        prefetch(value);
    }

    #[inline(always)]
    fn columns(rows: &[u8; 64]) -> [u64; 8] {
        // SAFETY: see below; the loads are of the two halves of the rows.
        unsafe {
            let mut low = _mm256_loadu_si256(rows.as_ptr().cast());
            let mut high = _mm256_loadu_si256(rows[32..].as_ptr().cast());
            let mut columns = [0; 8];
            // The top bits of all bytes are the last column; adding a byte to itself moves the one
            // before there.
            for column in columns.iter_mut().rev() {
                let halves = [_mm256_movemask_epi8(low) as u32, _mm256_movemask_epi8(high) as u32];
                *column = u64::from(halves[0]) | u64::from(halves[1]) << 32;
                (low, high) = (_mm256_add_epi8(low, low), _mm256_add_epi8(high, high));
            }
            columns
        }
    }
}

lanes_in_register! {
    /// Four lanes.
    Four: 4 in __m128, mask __m128;
    _mm_set1_ps _mm_loadu_ps _mm_storeu_ps _mm_add_ps _mm_sub_ps _mm_mul_ps _mm_div_ps _mm_fmadd_ps _mm_min_ps _mm_max_ps;
    #[inline(always)]
    fn le(self, other: Self) -> __m128 {
        // SAFETY: see above.
        unsafe { _mm_cmp_ps::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> __m128 {
        // SAFETY: see above.
        unsafe { _mm_cmp_ps::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn ne(self, other: Self) -> __m128 {
        // SAFETY: see above.
        unsafe { _mm_cmp_ps::<_CMP_NEQ_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn and(a: __m128, b: __m128) -> __m128 {
        // SAFETY: see above.
        unsafe { _mm_and_ps(a, b) }
    }
    #[inline(always)]
    fn or(a: __m128, b: __m128) -> __m128 {
        // SAFETY: see above.
        unsafe { _mm_or_ps(a, b) }
    }
    #[inline(always)]
    fn bits(mask: __m128) -> u32 {
        // SAFETY: see above.
        unsafe { _mm_movemask_ps(mask) as u32 }
    }
    #[inline(always)]
    fn mask(bits: u32) -> __m128 {
        // SAFETY: see above.
        unsafe {
            let lane = _mm_setr_epi32(1, 2, 4, 8);
            _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32(bits as i32), lane), lane))
        }
    }
    #[inline(always)]
    fn select(mask: __m128, yes: Self, no: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm_blendv_ps(no.0, yes.0, mask) })
    }
}

lanes_in_register! {
    /// Eight lanes.
    Eight: 8 in __m256, mask __m256;
    _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_fmadd_ps
    _mm256_min_ps _mm256_max_ps;
    #[inline(always)]
    fn le(self, other: Self) -> __m256 {
        // SAFETY: see above.
        unsafe { _mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> __m256 {
        // SAFETY: see above.
        unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn ne(self, other: Self) -> __m256 {
        // SAFETY: see above.
        unsafe { _mm256_cmp_ps::<_CMP_NEQ_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn and(a: __m256, b: __m256) -> __m256 {
        // SAFETY: see above.
        unsafe { _mm256_and_ps(a, b) }
    }
    #[inline(always)]
    fn or(a: __m256, b: __m256) -> __m256 {
        // SAFETY: see above.
        unsafe { _mm256_or_ps(a, b) }
    }
    #[inline(always)]
    fn bits(mask: __m256) -> u32 {
        // SAFETY: see above.
        unsafe { _mm256_movemask_ps(mask) as u32 }
    }
    #[inline(always)]
    fn mask(bits: u32) -> __m256 {
        // SAFETY: see above.
        unsafe {
            let lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits as i32), lane), lane))
        }
    }
    #[inline(always)]
    fn select(mask: __m256, yes: Self, no: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_blendv_ps(no.0, yes.0, mask) })
    }
}
