//! The wide traversal in AVX2, for the x86-64 processors that have it.
//!
//! It is the one place here with `unsafe` code, and this is what that buys over the portable lanes (which the compiler
//! vectorises for the baseline's 4 lanes): 1.4 to 1.5 times the rays. Millions of rays a second by
//! [`bench::traversal`](super::bench::traversal) with 512 × 512 rays, in a release build, one thread of a Sapphire Rapids Xeon:
//!
//! | | binary tree, scalar | 8-wide, portable | 8-wide, AVX2 |
//! |---|---|---|---|
//! | bunny, primary | 4.9 | 11.5 | 17.5 |
//! | bunny, diffuse | 1.2 | 3.0 | 4.6 |
//! | dragon, primary | 3.7 | 8.1 | 11.4 |
//! | dragon, diffuse | 0.62 | 1.44 | 2.05 |

use super::lanes::Lanes;
use super::ray::{HitBatch, RayBatch};
use super::wide::{WideBvh, any_hits_in, closest_hits_in};
use std::arch::x86_64::*;

/// Proof that this processor has AVX2.
#[derive(Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    /// The proof, if this processor has AVX2.
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// [`closest_hits_in`] for AVX2 lanes.
    #[inline]
    pub fn closest_hits(self, bvh: &WideBvh, rays: &RayBatch, hits: &mut HitBatch) {
        #[target_feature(enable = "avx2")]
        fn compiled(bvh: &WideBvh, rays: &RayBatch, hits: &mut HitBatch) {
            closest_hits_in::<Lanes8>(bvh, rays, hits);
        }
        // SAFETY: `self` exists only where AVX2 was detected.
        unsafe { compiled(bvh, rays, hits) }
    }

    /// [`any_hits_in`] for AVX2 lanes.
    #[inline]
    pub fn any_hits(self, bvh: &WideBvh, rays: &RayBatch) -> u64 {
        #[target_feature(enable = "avx2")]
        fn compiled(bvh: &WideBvh, rays: &RayBatch) -> u64 {
            any_hits_in::<Lanes8>(bvh, rays)
        }
        // SAFETY: `self` exists only where AVX2 was detected.
        unsafe { compiled(bvh, rays) }
    }
}

/// Eight lanes in a register. Only the functions above use the type, inlined into code compiled for AVX2.
#[derive(Clone, Copy)]
struct Lanes8(__m256);

/// Calls an intrinsic that wants AVX.
macro_rules! avx {
    ($call:expr) => {{
        // SAFETY: `Lanes8` is used only by code that `Avx2` guards, and AVX2 includes AVX; loads and stores go through
        // references to arrays of eight floats, and need no alignment.
        unsafe { $call }
    }};
}

impl Lanes for Lanes8 {
    type Mask = __m256;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(avx!(_mm256_set1_ps(value)))
    }
    #[inline(always)]
    fn load(values: &[f32; 8]) -> Self {
        Self(avx!(_mm256_loadu_ps(values.as_ptr())))
    }
    #[inline(always)]
    fn store(self) -> [f32; 8] {
        let mut values = [0.0; 8];
        avx!(_mm256_storeu_ps(values.as_mut_ptr(), self.0));
        values
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(avx!(_mm256_add_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(avx!(_mm256_sub_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(avx!(_mm256_mul_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(avx!(_mm256_div_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(avx!(_mm256_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(avx!(_mm256_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> __m256 {
        avx!(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> __m256 {
        avx!(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0))
    }
    #[inline(always)]
    fn ne(self, other: Self) -> __m256 {
        avx!(_mm256_cmp_ps::<_CMP_NEQ_UQ>(self.0, other.0))
    }
    #[inline(always)]
    fn and(a: __m256, b: __m256) -> __m256 {
        avx!(_mm256_and_ps(a, b))
    }
    #[inline(always)]
    fn bits(mask: __m256) -> u32 {
        avx!(_mm256_movemask_ps(mask)) as u32
    }
}
