//! Samples for paths: points of the Sobol sequence's first two dimensions, scrambled as Owen (1995)
//! has it and by integers alone, so that every back end draws the same.
//!
//! A pair of numbers that a path needs is a point of a two-dimensional sequence of its own: the
//! order of the samples is shuffled and both coordinates are scrambled, by hashes of the pixel and
//! of the pair's place along the path (Burley 2020, "Practical Hash-based Owen Scrambling"). The
//! points of any 2ᵏ samples that begin at a multiple of 2ᵏ are a (0, k, 2)-net in every pair.

use shadewright_ir::abi::library;
use shadewright_ir::{Function, FunctionBuilder, Type, Value};

/// The golden ratio as a share of 2³²: multiples of it are far apart.
const GOLDEN: u32 = 0x9e37_79b9;

/// Odd numbers of no structure: the high bits of a hash's products with them do not hang together.
const FACTORS: [u32; 6] = [0x915f_77f5, 0x93d7_65dd, 0xadb4_a92d, 0xa13f_c965, 0x8664_f205, 0xcf01_9d85];

/// [`library::SOBOL`].
pub fn functions() -> Vec<Function> {
    let mut b = FunctionBuilder::library(library::SOBOL);
    b.result("return", Type::Vec4);
    let args = ["index", "pixel", "place"].map(|name| {
        let x = b.param(name, Type::F32);
        b.to_int(x, Type::U32)
    });
    let numbers = numbers(&mut b, args);
    let result = b.compose(&numbers);
    b.ret(vec![result]);
    vec![b.finish()]
}

/// The four numbers of a sample's index at a pixel and a place.
fn numbers(b: &mut FunctionBuilder, [index, pixel, place]: [Value; 3]) -> Vec<Value> {
    let apart = b.u32(GOLDEN);
    let place = b.imul(place, apart);
    let up = b.u32(8);
    let pixel = b.ishl(pixel, up);
    let both = b.iadd(pixel, place);
    let hash = mixed(b, both);
    // The lowest bit of a seed turns a whole half of the numbers, so it is the highest of a
    // product, to which all bits of the hash add.
    let seed = |b: &mut FunctionBuilder, number: usize| {
        let factor = b.u32(FACTORS[number]);
        let product = b.imul(hash, factor);
        b.ireverse(product)
    };
    let index = b.ireverse(index);
    let mut numbers = Vec::new();
    for pair in [0, 3] {
        let [shuffle, first, second] = [0, 1, 2].map(|k| seed(b, pair + k));
        let shuffled = scrambled(b, index, shuffle);
        // The first dimension is the index with its bits reversed, so its own bits reversed are the
        // index.
        let x = b.ireverse(shuffled);
        let y = pascal(b, x);
        for (reversed_bits, seed) in [(x, first), (y, second)] {
            let bits = scrambled(b, reversed_bits, seed);
            let bits = b.ireverse(bits);
            let drop = b.u32(8);
            let bits = b.ishr(bits, drop);
            let whole = b.to_float(bits);
            let scale = b.f32(1.0 / (1u32 << 24) as f32);
            numbers.push(b.mul(whole, scale));
        }
    }
    numbers
}

/// A 32-bit mix with full avalanche ("lowbias32" of Wellons, 2018).
fn mixed(b: &mut FunctionBuilder, mut x: Value) -> Value {
    for (shift, factor) in [(16, Some(0x7feb_352d)), (15, Some(0x846c_a68b)), (16, None)] {
        let shift = b.u32(shift);
        let high = b.ishr(x, shift);
        x = b.ixor(x, high);
        if let Some(factor) = factor {
            let factor = b.u32(factor);
            x = b.imul(x, factor);
        }
    }
    x
}

/// The reversed bits of the second dimension at the index whose bits are `x`: the polynomial over
/// GF(2) with these coefficients, taken at `1 + z`, since direction number `j` is `(1 + z)ʲ` (Sobol
/// 1967). Halves of ever smaller blocks are added, as `(1 + z)^2ᵏ = 1 + z^2ᵏ`.
fn pascal(b: &mut FunctionBuilder, mut x: Value) -> Value {
    for (shift, mask) in [(16, 0x0000_ffff), (8, 0x00ff_00ff), (4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)] {
        let (shift, mask) = (b.u32(shift), b.u32(mask));
        let high = b.ishr(x, shift);
        let high = b.iand(high, mask);
        x = b.ixor(x, high);
    }
    x
}

/// A nested uniform scramble of a number whose bits are reversed: each bit is flipped by a hash of
/// those below it (Laine & Karras 2011, with the constants of Vegdahl 2021, "Building a Better LK
/// Hash").
fn scrambled(b: &mut FunctionBuilder, x: Value, seed: Value) -> Value {
    let times = |b: &mut FunctionBuilder, x: Value, factor: u32| {
        let factor = b.u32(factor);
        let product = b.imul(x, factor);
        b.ixor(x, product)
    };
    let x = times(b, x, 0x3d20_adea);
    let x = b.iadd(x, seed);
    let (half, one) = (b.u32(16), b.u32(1));
    let odd = b.ishr(seed, half);
    let odd = b.ior(odd, one);
    let x = b.imul(x, odd);
    let x = times(b, x, 0x0552_6c56);
    times(b, x, 0x53a2_2864)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_ir::eval::{EmptyWorld, Limits, eval};
    use shadewright_ir::{Const, Module};

    fn points(count: u32, pixel: u32, place: u32) -> Vec<[f32; 4]> {
        let module = Module { functions: functions(), ..Module::default() };
        let point = |i: u32| {
            let args = [i, pixel, place].map(|x| Const::F32(x as f32));
            match eval(&module, library::SOBOL, &args, &mut EmptyWorld, Limits::default()).as_deref() {
                Ok([Const::Vec4(v)]) => *v,
                other => panic!("{other:?}"),
            }
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn every_power_of_two_is_a_net() {
        for (pixel, place) in [(0, 0), (77, 3), (0x00ff_ffff, 200)] {
            for k in 0..=6u32 {
                let points = points(1 << k, pixel, place);
                for split in 0..=k {
                    let (across, down) = (1u32 << split, 1u32 << (k - split));
                    for pair in [[0, 1], [2, 3]] {
                        let mut cells: Vec<(u32, u32)> = points
                            .iter()
                            .map(|p| ((p[pair[0]] * across as f32) as u32, (p[pair[1]] * down as f32) as u32))
                            .collect();
                        cells.sort_unstable();
                        cells.dedup();
                        assert_eq!(cells.len(), 1 << k, "{across} by {down} of pixel {pixel}, place {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_of_different_pixels_do_not_hang_together_with_each_other_or_with_those_of_the_next_place() {
        const COUNT: u32 = 1024;
        let of_pixel = |pixel: u32| {
            let pixel = pixel.wrapping_mul(0x2c1b_3c6d) >> 8;
            [points(2, pixel, 3)[1], points(2, pixel, 4)[1]].concat()
        };
        let all: Vec<Vec<f32>> = (1..=COUNT).map(of_pixel).collect();
        for i in 0..8 {
            let mean = all.iter().map(|v| v[i]).sum::<f32>() / COUNT as f32;
            assert!((mean - 0.5).abs() < 0.04, "number {i} is {mean} in the mean");
            for j in 0..i {
                let together = all.iter().map(|v| (v[i] - 0.5) * (v[j] - 0.5)).sum::<f32>() * 12.0 / COUNT as f32;
                assert!(together.abs() < 0.13, "numbers {i} and {j}: {together}");
                let same_half = all.iter().filter(|v| (v[i] < 0.5) == (v[j] < 0.5)).count() as f32 / COUNT as f32;
                assert!((same_half - 0.5).abs() < 0.065, "halves {i} and {j}: {same_half}");
            }
        }
    }

    #[test]
    fn pairs_places_and_pixels_do_not_hang_together() {
        let correlation = |a: &[f32], b: &[f32]| {
            let n = a.len() as f32;
            a.iter().zip(b).map(|(x, y)| (x - 0.5) * (y - 0.5)).sum::<f32>() * 12.0 / n
        };
        let column = |points: &[[f32; 4]], i: usize| points.iter().map(|p| p[i]).collect::<Vec<_>>();
        let (one, other, place) = (points(256, 1, 0), points(256, 2, 0), points(256, 1, 1));
        for (a, b) in [(0, 2), (0, 3), (1, 2), (1, 3)] {
            assert!(correlation(&column(&one, a), &column(&one, b)).abs() < 0.2);
        }
        for i in 0..4 {
            assert!(correlation(&column(&one, i), &column(&other, i)).abs() < 0.25);
            assert!(correlation(&column(&one, i), &column(&place, i)).abs() < 0.25);
        }
    }
}
