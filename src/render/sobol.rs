//! The first two dimensions of the Sobol sequence (Sobol 1967), shuffled and scrambled by
//! hash-based Owen scrambling (Owen 1995; Burley 2020, "Practical Hash-based Owen Scrambling") in
//! integer arithmetic. The first 2ᵏ points are a (0, k, 2)-net: each box of the unit square whose
//! sides are powers of two and whose area is 2⁻ᵏ holds one of them.

use glam::Vec2;
use shadewright_base::random::{hash, unit};

/// Point `index` of the sequence that belongs to `key`.
#[inline]
pub(super) fn point(index: u32, key: u32) -> Vec2 {
    let index = scrambled(index, key);
    Vec2::new(unit(scrambled(index.reverse_bits(), hash(key))), unit(scrambled(second(index), hash(!key))))
}

/// The second coordinate of the sequence; the first is the index with its bits reversed.
///
/// Bit k from the top is the sum of the index's bits j for which C(j, k) is odd, which are those
/// with all of k's bits (Lucas): a sum over supersets, a bit of the positions at a time.
#[inline]
fn second(index: u32) -> u32 {
    let masks = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0x0000_ffff];
    (0..).zip(masks).fold(index, |sums, (bit, lower)| sums ^ (sums >> (1 << bit) & lower)).reverse_bits()
}

/// Flips every bit or not by a hash of the higher ones: the hash of Laine and Karras (2011), with
/// Burley's constants, on reversed bits.
#[inline]
fn scrambled(x: u32, seed: u32) -> u32 {
    let mut x = x.reverse_bits().wrapping_add(seed);
    for factor in [0x6c50_b47c, 0xb82f_1e52, 0xc7af_e638, 0x8d22_f6e6] {
        x ^= x.wrapping_mul(factor);
    }
    x.reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_first_points_are_those_of_the_sequence() {
        let points: Vec<_> = (0..4u32).map(|i| (i.reverse_bits() >> 29, second(i) >> 29)).collect();
        assert_eq!(points, [(0, 0), (4, 4), (2, 6), (6, 2)]);
    }

    #[test]
    fn the_second_coordinate_is_the_sum_of_the_directions_of_the_bits() {
        // The directions of the polynomial x + 1: each is the one before with its bits added to
        // those above them.
        let directions: Vec<u32> = std::iter::successors(Some(1 << 31), |d| Some(d ^ (d >> 1))).take(32).collect();
        let summed = |index: u32| (0..32).filter(|j| index >> j & 1 != 0).fold(0, |sum, j| sum ^ directions[j]);
        for index in [0, 1, 2, 3, 0x5555_5555, 0x8000_0000, 0xdead_beef, u32::MAX] {
            assert_eq!(second(index), summed(index), "{index:#x}");
        }
    }

    #[test]
    fn points_that_begin_the_sequence_are_nets() {
        for key in [0, 1, 0xdead_beef] {
            for k in 0..=8 {
                // One in each box, whichever its shape.
                for wide in 0..=k {
                    let [nx, ny] = [wide, k - wide].map(|bits| (1u32 << bits) as f32);
                    let boxes: HashSet<_> =
                        (0..1 << k).map(|i| point(i, key)).map(|p| ((p.x * nx) as u32, (p.y * ny) as u32)).collect();
                    assert_eq!(boxes.len(), 1 << k, "{nx} × {ny} boxes, key {key}");
                }
            }
        }
    }

    #[test]
    fn sequences_of_other_keys_are_others() {
        let first = |key| (0..4).map(|i| point(i, key).to_array().map(f32::to_bits)).collect::<Vec<_>>();
        assert_ne!(first(1), first(2));
    }
}
