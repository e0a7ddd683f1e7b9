//! Moves of patterns to some lanes of columns, as memory and new threads need them, compiled for each way to do arithmetic (see [`super::arith`]): the baseline processor
//! takes about 20 instructions to write some lanes of a group.

use super::arith::Mode;
use super::lanes::{Column, GROUP, Lanes, groups_of};
use super::simd::{self, Engine, Portable, Simd};
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};

/// A method of [`Mode`] that does what a function does, compiled for the mode's way.
macro_rules! compiled {
    ($(#[$doc:meta])* $name:ident, $body:ident($($argument:ident: $type:ty),*)) => {
        impl Mode {
            $(#[$doc])*
            #[inline]
            pub fn $name(self, $($argument: $type),*) {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2")]
                fn avx2(simd: Avx2, $($argument: $type),*) {
                    $body(simd, $($argument),*);
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f,avx512dq")]
                fn avx512(simd: Avx512, $($argument: $type),*) {
                    $body(simd, $($argument),*);
                }
                match self {
                    Mode::F32(Engine::Portable) | Mode::F24 => $body(Portable, $($argument),*),
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: an `Avx2` exists only where the processor has AVX2.
                    Mode::F32(Engine::Avx2(simd)) => unsafe { avx2(simd, $($argument),*) },
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: an `Avx512` exists only where the processor has these parts of AVX-512.
                    Mode::F32(Engine::Avx512(simd)) => unsafe { avx512(simd, $($argument),*) },
                }
            }
        }
    };
}

compiled! {
    /// Sets the lanes in `mask` of some columns to one pattern.
    fill, fill_lanes(columns: &[Column], bits: u32, mask: u64)
}

compiled! {
    /// Copies the lanes in `mask` of a column to another.
    copy, copy_lanes(from: &Column, to: &Column, mask: u64)
}

compiled! {
    /// Loads a vector of the image, which has all addresses, for each lane of group `k` in `bits`. With four lanes at a time put into their columns
    /// in memory, `bench shading`'s textures took twice as long.
    gather, gather_lanes(memory: &[[u32; 4]], addresses: Lanes, columns: [&Column; 4], k: usize, bits: u16)
}

#[inline(always)]
fn write(simd: impl Simd, to: &Column, k: usize, lanes: Lanes, bits: u16) {
    to.set_group(k, if bits == u16::MAX { lanes } else { simd.select(bits, lanes, to.group(k)) });
}

#[inline(always)]
fn fill_lanes(simd: impl Simd, columns: &[Column], bits: u32, mask: u64) {
    for (k, group) in groups_of(mask) {
        columns.iter().for_each(|to| write(simd, to, k, Lanes::splat(bits), group));
    }
}

#[inline(always)]
fn copy_lanes(simd: impl Simd, from: &Column, to: &Column, mask: u64) {
    for (k, group) in groups_of(mask) {
        write(simd, to, k, from.group(k), group);
    }
}

#[inline(always)]
fn gather_lanes(simd: impl Simd, memory: &[[u32; 4]], addresses: Lanes, columns: [&Column; 4], k: usize, bits: u16) {
    let mut rows = [[0; 4]; GROUP];
    for (row, address) in rows.iter_mut().zip(addresses.0) {
        *row = memory[address as usize];
    }
    for (column, lanes) in columns.into_iter().zip(simd::transposed(&rows)) {
        write(simd, column, k, lanes, bits);
    }
}
