//! Masked moves of patterns to columns, for memory accesses and new threads, compiled for each
//! instruction set (see [`super::arith`]): a baseline CPU takes about 20 instructions for a masked
//! write to a group.

use crate::arith::{Mode, lanes_where};
use crate::lanes::{BLOCK, Column, GROUP, Lanes, groups_of};
use crate::simd::{self, InstructionSet, Portable, Simd};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use std::ops::Range;

/// A method of [`Mode`] that calls a function compiled for the mode's instruction set.
macro_rules! compiled {
    ($(#[$doc:meta])* $name:ident, $body:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        impl Mode {
            $(#[$doc])*
            #[inline]
            pub fn $name(self, $($argument: $type),*) $(-> $result)? {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2")]
                fn avx2(simd: Avx2, $($argument: $type),*) $(-> $result)? {
                    $body(simd, $($argument),*)
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f,avx512dq")]
                fn avx512(simd: Avx512, $($argument: $type),*) $(-> $result)? {
                    $body(simd, $($argument),*)
                }
                match self {
                    Mode::F32(InstructionSet::Portable) | Mode::F24 => $body(Portable, $($argument),*),
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: an `Avx2` exists only where the CPU has AVX2.
                    Mode::F32(InstructionSet::Avx2(simd)) => unsafe { avx2(simd, $($argument),*) },
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: an `Avx512` exists only where the CPU has AVX-512 F and DQ.
                    Mode::F32(InstructionSet::Avx512(simd)) => unsafe { avx512(simd, $($argument),*) },
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
    /// Copies the lanes in `mask` of some columns to others.
    copy, copy_lanes(from: &[Column], to: &[Column], mask: u64)
}

compiled! {
    /// Sets the lanes in `mask` of some columns to words.
    write, write_lanes(from: &[&[u32; BLOCK]], to: &[Column], mask: u64)
}

compiled! {
    /// Copies some lanes of columns, multiples of 8, to words. Outside of such a function it took a
    /// twentieth of a scene with one ray a sample.
    read, read_lanes(from: &[&Column], to: &mut [&mut [u32; BLOCK]], lanes: &Range<usize>)
}

compiled! {
    /// Sets the lanes in `mask` of columns to words of vectors, the same for all lanes: four
    /// columns a vector.
    broadcast, broadcast_lanes(vectors: &[[u32; 4]], to: &[Column], mask: u64)
}

compiled! {
    /// The pattern that all lanes in `mask` of a column share, if they do.
    uniform, uniform_lanes(column: &Column, mask: u64) -> Option<u32>
}

compiled! {
    /// Loads for each lane in `mask` the vectors from the address in `bases` plus `offset` on: four
    /// columns a vector. Returns the lanes of groups that were skipped because one of them
    /// addresses memory outside the image. With four lanes at a time written to their columns in
    /// memory, the textures of `cargo bench --bench rpu -- shading` took twice as long.
    gather, gather_lanes(memory: &[[u32; 4]], bases: &Column, offset: u32, to: &[Column], mask: u64) -> u64
}

compiled! {
    /// The lanes in `mask` of a column that are floats other than 0.
    not_zero, lanes_not_zero(column: &Column, mask: u64) -> u64
}

#[inline(always)]
fn write_some(simd: impl Simd, to: &Column, k: usize, lanes: Lanes, bits: u16) {
    to.set_group(k, if bits == u16::MAX { lanes } else { simd.select(bits, lanes, to.group(k)) });
}

#[inline(always)]
fn fill_lanes(simd: impl Simd, columns: &[Column], bits: u32, mask: u64) {
    for (k, group) in groups_of(mask) {
        columns.iter().for_each(|to| write_some(simd, to, k, Lanes::splat(bits), group));
    }
}

#[inline(always)]
fn copy_lanes(simd: impl Simd, from: &[Column], to: &[Column], mask: u64) {
    for (from, to) in from.iter().zip(to) {
        groups_of(mask).for_each(|(k, group)| write_some(simd, to, k, from.group(k), group));
    }
}

#[inline(always)]
fn write_lanes(simd: impl Simd, from: &[&[u32; BLOCK]], to: &[Column], mask: u64) {
    for (from, to) in from.iter().zip(to) {
        let (groups, _) = from.as_chunks::<GROUP>();
        groups_of(mask).for_each(|(k, group)| write_some(simd, to, k, Lanes(groups[k]), group));
    }
}

#[inline(always)]
fn read_lanes(_: impl Simd, from: &[&Column], to: &mut [&mut [u32; BLOCK]], lanes: &Range<usize>) {
    for (from, to) in from.iter().zip(to) {
        let (parts, _) = to.as_chunks_mut::<8>();
        for part in lanes.start / 8..lanes.end / 8 {
            let group = from.group(part / 2);
            let (halves, _) = group.0.as_chunks::<8>();
            parts[part] = halves[part % 2];
        }
    }
}

#[inline(always)]
fn broadcast_lanes(simd: impl Simd, vectors: &[[u32; 4]], to: &[Column], mask: u64) {
    for (word, to) in vectors.as_flattened().iter().zip(to) {
        groups_of(mask).for_each(|(k, group)| write_some(simd, to, k, Lanes::splat(*word), group));
    }
}

#[inline(always)]
fn uniform_lanes(simd: impl Simd, column: &Column, mask: u64) -> Option<u32> {
    let first = column.get(mask.trailing_zeros() as usize % BLOCK);
    let others = lanes_where(simd, column, mask, |bits| bits != first);
    (others == 0).then_some(first)
}

#[inline(always)]
fn lanes_not_zero(simd: impl Simd, column: &Column, mask: u64) -> u64 {
    lanes_where(simd, column, mask, |bits| f32::from_bits(bits) != 0.0)
}

#[inline(always)]
fn gather_lanes(simd: impl Simd, memory: &[[u32; 4]], bases: &Column, offset: u32, to: &[Column], mask: u64) -> u64 {
    let (vectors, _) = to.as_chunks::<4>();
    // First addresses from which all vectors lie inside.
    let inside = (memory.len() + 1).saturating_sub(vectors.len());
    let mut left = 0;
    for (k, bits) in groups_of(mask) {
        let bases = bases.group(k);
        // Lanes that are not active load what an active one does.
        let other = bases.0[bits.trailing_zeros() as usize % GROUP];
        let addresses = simd.select(bits, bases, Lanes::splat(other)).map(|base| base.wrapping_add(offset));
        if addresses.0.iter().any(|&address| address as usize >= inside) {
            left |= u64::from(bits) << (GROUP * k);
            continue;
        }
        for (i, columns) in vectors.iter().enumerate() {
            let mut rows = [[0; 4]; GROUP];
            for (row, address) in rows.iter_mut().zip(addresses.0) {
                *row = memory[address as usize + i];
            }
            for (column, lanes) in columns.iter().zip(simd::transposed(&rows)) {
                write_some(simd, column, k, lanes, bits);
            }
        }
    }
    left
}
