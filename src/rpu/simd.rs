//! The CPU's vector instructions, where what the compiler makes of portable code is slow.
//!
//! A [`Simd`] is an instruction set that the RPU's arithmetic is compiled for (see
//! [`super::arith`]). It has the few operations on the lanes of a group that differ: selection by a
//! bit mask, the bit mask of a comparison, and conversions to integers. Nearly everything else is
//! the same code, compiled for each instruction set. All give the same bits.
//!
//! A value of [`Avx2`] or [`Avx512`] proves that the CPU has these instructions: only detection
//! makes them, and kernels that such a value selected. The `unsafe` blocks are worth it: compiled
//! for AVX-512, the portable selection takes about 20 instructions for a group of 16 lanes, the
//! portable comparison and conversion more than 80, the native ones 1 to 5. With groups of eight,
//! AVX2 and portable selections and comparisons, `assets/scenes/noise.rib` took 1.8 times as long
//! (1.18 s against 0.66 s of CPU time at 16 samples a pixel).

use crate::lanes::{GROUP, Lanes};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An instruction set to compile arithmetic for.
pub(super) trait Simd: Copy {
    /// `on` where the lane's bit in `mask` is set, `off` elsewhere.
    #[inline(always)]
    fn select(self, mask: u16, on: Lanes, off: Lanes) -> Lanes {
        on.select(off, mask)
    }

    /// The lanes whose highest bit is set, as bits.
    #[inline(always)]
    fn highest(self, lanes: Lanes) -> u16 {
        lanes.highest()
    }

    /// The lanes that are NaN, as bits.
    #[inline(always)]
    fn nans(self, lanes: Lanes) -> u16 {
        // The difference is negative for NaN alone.
        let found = lanes.map(|bits| 0x7f80_0000u32.wrapping_sub(bits & 0x7fff_ffff));
        if found.0.into_iter().fold(0, |all, bits| all | bits) >> 31 == 0 { 0 } else { found.highest() }
    }

    /// Floats truncated to signed integers; out of range saturates, NaN gives 0.
    #[inline(always)]
    fn to_signed(self, lanes: Lanes) -> Lanes {
        lanes.map(|bits| f32::from_bits(bits) as i32 as u32)
    }

    /// Floats truncated to unsigned integers; out of range saturates, NaN gives 0.
    #[inline(always)]
    fn to_unsigned(self, lanes: Lanes) -> Lanes {
        lanes.map(|bits| f32::from_bits(bits) as u32)
    }
}

/// Any CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable;

impl Simd for Portable {}

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

/// How many of [`InstructionSet::all`] after the first are used.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The instruction set of the CPU that executes arithmetic.
#[derive(Debug, Clone, Copy)]
pub enum InstructionSet {
    /// The baseline of the architecture.
    Portable,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512 F and DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl InstructionSet {
    /// The instruction sets that this CPU has, slowest first.
    pub fn all() -> Vec<InstructionSet> {
        let mut all = vec![InstructionSet::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Avx2::detect().map(InstructionSet::Avx2));
            all.extend(Avx512::detect().map(InstructionSet::Avx512));
        }
        all
    }

    /// The name, for reports.
    pub fn name(self) -> &'static str {
        match self {
            InstructionSet::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512(_) => "AVX-512",
        }
    }

    /// The best that this CPU has, within [`InstructionSet::limit`].
    pub fn detect() -> InstructionSet {
        #[cfg(target_arch = "x86_64")]
        {
            let limit = LIMIT.load(Ordering::Relaxed);
            if limit >= 2
                && let Some(simd) = Avx512::detect()
            {
                return InstructionSet::Avx512(simd);
            }
            if limit >= 1
                && let Some(simd) = Avx2::detect()
            {
                return InstructionSet::Avx2(simd);
            }
        }
        InstructionSet::Portable
    }

    /// Lets this process use none beyond this one from now on, so that what runs on one CPU can be
    /// tested on another. Results have the same bits.
    pub fn limit(self) {
        let rank = InstructionSet::all().iter().position(|set| set.name() == self.name());
        LIMIT.store(rank.unwrap_or_default(), Ordering::Relaxed);
    }
}

/// Transposes a vector of four words a lane to four columns of one word a lane.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn transposed(rows: &[[u32; 4]; GROUP]) -> [Lanes; 4] {
    let mut columns = [Lanes::ZERO; 4];
    for (lane, row) in rows.iter().enumerate() {
        columns.iter_mut().zip(row).for_each(|(column, word)| column.0[lane] = *word);
    }
    columns
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::transposed;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{GROUP, Lanes, Simd};
    use std::arch::is_x86_feature_detected;
    use std::arch::x86_64::*;

    /// Eight lanes an instruction.
    #[derive(Debug, Clone, Copy)]
    pub struct Avx2(());

    impl Avx2 {
        /// A value, where the CPU has AVX2.
        pub fn detect() -> Option<Avx2> {
            is_x86_feature_detected!("avx2").then_some(Avx2(()))
        }

        /// A value, without detection.
        ///
        /// # Safety
        /// The processor must have AVX2.
        #[inline(always)]
        pub(crate) unsafe fn assume() -> Avx2 {
            Avx2(())
        }
    }

    /// 16 lanes an instruction.
    #[derive(Debug, Clone, Copy)]
    pub struct Avx512(());

    impl Avx512 {
        /// A value, where the CPU has AVX-512 F and DQ.
        pub fn detect() -> Option<Avx512> {
            (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")).then_some(Avx512(()))
        }

        /// A value, without detection.
        ///
        /// # Safety
        /// The CPU must have AVX-512 F and DQ.
        #[inline(always)]
        pub(crate) unsafe fn assume() -> Avx512 {
            Avx512(())
        }
    }

    /// Transposes a vector of four words a lane to four columns of one word a lane, in squares of
    /// four by four in registers.
    #[inline(always)]
    pub fn transposed(rows: &[[u32; 4]; GROUP]) -> [Lanes; 4] {
        let square = |first: usize| {
            // SAFETY: both are 16 bytes, and any bytes are valid in either.
            let [a, b, c, d]: [__m128i; 4] = unsafe {
                [
                    std::mem::transmute::<[u32; 4], __m128i>(rows[first]),
                    std::mem::transmute::<[u32; 4], __m128i>(rows[first + 1]),
                    std::mem::transmute::<[u32; 4], __m128i>(rows[first + 2]),
                    std::mem::transmute::<[u32; 4], __m128i>(rows[first + 3]),
                ]
            };
            // SAFETY: every processor of this kind has SSE2.
            unsafe {
                let (low, high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
                let (low_2, high_2) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
                (
                    _mm_unpacklo_epi64(low, low_2),
                    _mm_unpackhi_epi64(low, low_2),
                    _mm_unpacklo_epi64(high, high_2),
                    _mm_unpackhi_epi64(high, high_2),
                )
            }
        };
        let (p, q, r, s) = (square(0), square(4), square(8), square(12));
        [four([p.0, q.0, r.0, s.0]), four([p.1, q.1, r.1, s.1]), four([p.2, q.2, r.2, s.2]), four([p.3, q.3, r.3, s.3])]
    }

    #[inline(always)]
    fn four(quarters: [__m128i; 4]) -> Lanes {
        // SAFETY: both are 64 bytes, and any bytes are valid in either.
        unsafe { std::mem::transmute(quarters) }
    }

    #[inline(always)]
    fn halves(lanes: Lanes) -> [__m256i; 2] {
        // SAFETY: both are 64 bytes, and any bytes are valid in either.
        unsafe { std::mem::transmute(lanes) }
    }

    #[inline(always)]
    fn join(halves: [__m256i; 2]) -> Lanes {
        // SAFETY: both are 64 bytes, and any bytes are valid in either.
        unsafe { std::mem::transmute(halves) }
    }

    #[inline(always)]
    fn whole(lanes: Lanes) -> __m512i {
        // SAFETY: both are 64 bytes, and any bytes are valid in either.
        unsafe { std::mem::transmute(lanes) }
    }

    #[inline(always)]
    fn lanes(whole: __m512i) -> Lanes {
        // SAFETY: both are 64 bytes, and any bytes are valid in either.
        unsafe { std::mem::transmute(whole) }
    }

    impl Simd for Avx2 {
        #[inline(always)]
        fn select(self, mask: u16, on: Lanes, off: Lanes) -> Lanes {
            let ([on_low, on_high], [off_low, off_high]) = (halves(on), halves(off));
            // SAFETY: an `Avx2` exists only where the CPU has AVX2.
            unsafe {
                let all = _mm256_set1_epi32(i32::from(mask));
                let low = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                let high = _mm256_slli_epi32::<8>(low);
                let low = _mm256_cmpeq_epi32(_mm256_and_si256(all, low), low);
                let high = _mm256_cmpeq_epi32(_mm256_and_si256(all, high), high);
                join([_mm256_blendv_epi8(off_low, on_low, low), _mm256_blendv_epi8(off_high, on_high, high)])
            }
        }

        #[inline(always)]
        fn highest(self, lanes: Lanes) -> u16 {
            // SAFETY: an `Avx2` exists only where the CPU has AVX2.
            let [low, high] = halves(lanes).map(|half| unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(half)) });
            (low | high << 8) as u16
        }

        #[inline(always)]
        fn nans(self, lanes: Lanes) -> u16 {
            let [low, high] = halves(lanes);
            // SAFETY: an `Avx2` exists only where the CPU has AVX2.
            unsafe {
                let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
                if _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(low, high)) == 0 {
                    return 0;
                }
                let [low, high] = [low, high].map(|x| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x)));
                (low | high << 8) as u16
            }
        }

        #[inline(always)]
        fn to_signed(self, lanes: Lanes) -> Lanes {
            // The instruction gives i32::MIN where it cannot convert: right below the range, to be
            // replaced above it and for NaN. SAFETY: an `Avx2` exists only where the CPU has AVX2.
            join(halves(lanes).map(|half| unsafe {
                let x = _mm256_castsi256_ps(half);
                let above = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GE_OQ>(x, _mm256_set1_ps(2_147_483_648.0)));
                let number = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_ORD_Q>(x, x));
                let converted = _mm256_and_si256(_mm256_cvttps_epi32(x), number);
                _mm256_blendv_epi8(converted, _mm256_set1_epi32(i32::MAX), above)
            }))
        }
    }

    impl Simd for Avx512 {
        #[inline(always)]
        fn select(self, mask: u16, on: Lanes, off: Lanes) -> Lanes {
            // SAFETY: an `Avx512` exists only where the processor has AVX-512.
            lanes(unsafe { _mm512_mask_blend_epi32(mask, whole(off), whole(on)) })
        }

        #[inline(always)]
        fn highest(self, lanes: Lanes) -> u16 {
            // SAFETY: an `Avx512` exists only where the CPU has AVX-512 F and DQ.
            unsafe { _mm512_movepi32_mask(whole(lanes)) }
        }

        #[inline(always)]
        fn nans(self, lanes: Lanes) -> u16 {
            // SAFETY: an `Avx512` exists only where the CPU has AVX-512 F and DQ.
            unsafe {
                let x = _mm512_castsi512_ps(whole(lanes));
                _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x)
            }
        }

        #[inline(always)]
        fn to_signed(self, from: Lanes) -> Lanes {
            // The instruction gives i32::MIN where it cannot convert: right below the range, to be
            // replaced above it and for NaN. SAFETY: an `Avx512` exists only where the processor
            // has AVX-512.
            lanes(unsafe {
                let x = _mm512_castsi512_ps(whole(from));
                let above = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(x, _mm512_set1_ps(2_147_483_648.0));
                let number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(x, x);
                let converted = _mm512_maskz_cvttps_epi32(number, x);
                _mm512_mask_mov_epi32(converted, above, _mm512_set1_epi32(i32::MAX))
            })
        }

        #[inline(always)]
        fn to_unsigned(self, from: Lanes) -> Lanes {
            // The instruction gives u32::MAX where it cannot convert: right above the range, to be
            // replaced below it and for NaN. SAFETY: an `Avx512` exists only where the processor
            // has AVX-512.
            lanes(unsafe {
                let x = _mm512_castsi512_ps(whole(from));
                let positive = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, _mm512_setzero_ps());
                _mm512_maskz_cvttps_epu32(positive, x)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOATS: [f32; 16] = [
        0.0,
        -0.0,
        -0.99,
        1.5,
        -1.5,
        2_147_483_648.0,
        2_147_483_520.0,
        -2_147_483_648.0,
        -3e9,
        4_294_967_296.0,
        4_294_967_040.0,
        3e9,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MIN_POSITIVE,
    ];

    fn check(simd: impl Simd) {
        let lanes = Lanes(FLOATS.map(f32::to_bits));
        assert_eq!(simd.to_signed(lanes).0, FLOATS.map(|x| x as i32 as u32));
        assert_eq!(simd.to_unsigned(lanes).0, FLOATS.map(|x| x as u32));
        let expected = (0..16).filter(|&i| FLOATS[i].is_sign_negative()).fold(0, |bits, i| bits | 1 << i);
        assert_eq!(simd.highest(Lanes(FLOATS.map(|x| x.to_bits() & 1 << 31))), expected);
        let nans = |bits: [u32; 16]| simd.nans(Lanes(bits));
        assert_eq!(nans(FLOATS.map(f32::to_bits)), 1 << 12);
        assert_eq!(nans(FLOATS.map(|x| x.to_bits() | 1 << 31)), 1 << 12);
        assert_eq!(nans([0; 16]), 0);
        assert!(
            (0..16).all(|i| nans(std::array::from_fn(|k| if k == i { 0x7f80_0001 } else { 0xff80_0000 })) == 1 << i)
        );
        let other = Lanes(std::array::from_fn(|i| i as u32));
        for mask in [0, 1, 0x8000, 0x5aa5, 0xffff] {
            let chosen = simd.select(mask, lanes, other);
            assert!((0..16).all(|i| chosen.0[i] == if mask >> i & 1 != 0 { lanes.0[i] } else { other.0[i] }));
        }
    }

    #[test]
    fn every_way_converts_chooses_and_compares_alike() {
        for engine in InstructionSet::all() {
            match engine {
                InstructionSet::Portable => check(Portable),
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx2(simd) => check(simd),
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx512(simd) => check(simd),
            }
        }
    }
}
