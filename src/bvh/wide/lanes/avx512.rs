//! Lanes with AVX-512's mask registers, for the x86-64 processors that have it.

use super::x86::lanes_in_register;
use super::{Lanes, Simd, Work};
use std::arch::x86_64::*;

/// Whether this processor has AVX-512 as the server processors since Skylake have it, and all of AVX2.
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
}
