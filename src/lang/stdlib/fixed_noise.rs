//! Gradient noise of fixed-point numbers, by integer arithmetic alone (Olano 1998, figure 4.14).
//!
//! `std.__fixed_noise.D` takes D coordinates, one to four, as `i32` with 15 digits after the point,
//! and gives 16 digits after the point as `u32`: what [`super::noise`] gives of floats, on the same
//! lattice, with gradients of eight bits an axis. Coordinates have 17 bits before the point: the
//! lattice repeats after 2¹⁷ cells.

use super::noise::{AMPLITUDES, AXIS_KEYS, OUTPUT_KEYS, keyed, round};
use shadewright_ir::abi::library;
use shadewright_ir::{Function, FunctionBuilder, Type, Value};

/// Digits after the point of a coordinate.
pub const COORDINATE_DIGITS: i32 = 15;
/// Digits after the point of the noise.
pub const RESULT_DIGITS: i32 = 16;
/// Most coordinates.
pub const MAX_AXES: u32 = 4;

/// Digits of a component of a gradient, which is −1 to 127/128.
const GRADIENT_DIGITS: i32 = 7;
/// Digits of an amplitude.
const AMPLITUDE_DIGITS: i32 = 14;

/// The function of so many coordinates, by its name in the IR.
pub fn name(axes: u32) -> String {
    library::name(&format!("__fixed_noise.{axes}"))
}

/// All of them.
pub fn functions() -> Vec<Function> {
    (1..=MAX_AXES).map(function).collect()
}

/// The digits that corners' values are blended with: as many as let the product of a difference, which
/// is below twice the number of axes, and of the blend be an `i32`.
fn value_digits(axes: u32) -> i32 {
    if axes < 3 { 14 } else { 13 }
}

/// A coordinate on its lattice.
struct Axis {
    /// The lattice coordinates on either side.
    cells: [Value; 2],
    /// The ways from these.
    offsets: [Value; 2],
    /// The blend from one side to the other.
    fade: Value,
}

fn function(axes: u32) -> Function {
    let mut b = FunctionBuilder::library(name(axes));
    b.result("return", Type::U32);
    let place: Vec<Value> = ["x", "y", "z", "w"][..axes as usize].iter().map(|n| b.param(*n, Type::I32)).collect();
    let place: Vec<Axis> = place.into_iter().map(|x| axis(&mut b, x)).collect();
    let digits = value_digits(axes);
    let mut values: Vec<Value> = corners(&mut b, &place)
        .into_iter()
        .enumerate()
        .map(|(corner, hash)| gradient_dot(&mut b, &place, corner, hash, digits))
        .collect();
    for axis in place.iter().rev() {
        let (low, high) = values.split_at(values.len() / 2);
        values = low.iter().zip(high).map(|(&low, &high)| blended(&mut b, low, high, axis.fade)).collect();
    }
    let amplitude = (AMPLITUDES[axes as usize - 1] * 2f32.powi(AMPLITUDE_DIGITS)).round() as i32;
    let amplitude = b.i32(amplitude);
    let scaled = b.imul(values[0], amplitude);
    let scaled = down(&mut b, scaled, digits + AMPLITUDE_DIGITS - RESULT_DIGITS);
    let middle = b.i32(1 << (RESULT_DIGITS - 1));
    let noise = b.iadd(scaled, middle);
    let noise = clamped(&mut b, noise);
    let noise = b.bitcast(noise, Type::U32);
    b.ret(vec![noise]);
    b.finish()
}

/// Drops digits: towards minus infinity.
fn down(b: &mut FunctionBuilder, x: Value, digits: i32) -> Value {
    let digits = b.i32(digits);
    b.ishr(x, digits)
}

/// The product of numbers of which the second has a coordinate's digits, with those of the first.
fn product(b: &mut FunctionBuilder, x: Value, y: Value) -> Value {
    let product = b.imul(x, y);
    down(b, product, COORDINATE_DIGITS)
}

fn axis(b: &mut FunctionBuilder, x: Value) -> Axis {
    let cell = down(b, x, COORDINATE_DIGITS);
    let cell = b.bitcast(cell, Type::U32);
    let next = b.u32(1);
    let next = b.iadd(cell, next);
    let [mask, one] = [(1 << COORDINATE_DIGITS) - 1, 1 << COORDINATE_DIGITS].map(|c| b.i32(c));
    let t = b.iand(x, mask);
    let back = b.isub(t, one);
    // 6t⁵ − 15t⁴ + 10t³, which is at most 1, so that no product has more than 30 digits.
    let square = product(b, t, t);
    let cube = product(b, square, t);
    let [six, fifteen, ten] = [6, 15, 10 << COORDINATE_DIGITS].map(|c| b.i32(c));
    let inner = b.imul(square, six);
    let linear = b.imul(t, fifteen);
    let inner = b.isub(inner, linear);
    let inner = b.iadd(inner, ten);
    let fade = product(b, cube, inner);
    Axis { cells: [cell, next], offsets: [t, back], fade }
}

/// The hashes of all corners; bit `i` of a corner's number chooses the side of axis `i`.
fn corners(b: &mut FunctionBuilder, place: &[Axis]) -> Vec<Value> {
    let mut hashes = vec![b.u32(0)];
    for (axis, key) in place.iter().zip(AXIS_KEYS) {
        let sides = axis.cells.map(|cell| keyed(b, cell, key));
        let mut next = Vec::with_capacity(2 * hashes.len());
        for side in sides {
            for &hash in &hashes {
                let mixed = b.ixor(hash, side);
                next.push(round(b, mixed));
            }
        }
        hashes = next;
    }
    hashes
}

/// The product of a corner's gradient and the way from the corner, with so many digits.
fn gradient_dot(b: &mut FunctionBuilder, place: &[Axis], corner: usize, hash: Value, digits: i32) -> Value {
    let key = b.u32(OUTPUT_KEYS[0]);
    let hash = b.ixor(hash, key);
    let hash = round(b, hash);
    let hash = b.bitcast(hash, Type::I32);
    let mut sum: Option<Value> = None;
    for (n, axis) in place.iter().enumerate() {
        // Eight bits with their sign, the highest first.
        let left = b.i32(8 * n as i32);
        let part = if n == 0 { hash } else { b.ishl(hash, left) };
        let part = down(b, part, 32 - 8);
        let term = b.imul(part, axis.offsets[corner >> n & 1]);
        sum = Some(sum.map_or(term, |sum| b.iadd(sum, term)));
    }
    let sum = sum.unwrap_or(hash);
    down(b, sum, GRADIENT_DIGITS + COORDINATE_DIGITS - digits)
}

fn blended(b: &mut FunctionBuilder, low: Value, high: Value, fade: Value) -> Value {
    let difference = b.isub(high, low);
    let part = product(b, difference, fade);
    b.iadd(low, part)
}

/// The number, or the nearest from 0 to the largest result, without a branch.
fn clamped(b: &mut FunctionBuilder, x: Value) -> Value {
    let most = b.i32((1 << RESULT_DIGITS) - 1);
    let x = not_negative(b, x);
    let room = b.isub(most, x);
    let room = not_negative(b, room);
    b.isub(most, room)
}

fn not_negative(b: &mut FunctionBuilder, x: Value) -> Value {
    let sign = down(b, x, 31);
    let all = b.i32(-1);
    let mask = b.ixor(sign, all);
    b.iand(x, mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shadewright_ir::{Const, EmptyWorld, Limits, Module, eval};

    /// The noise at a place, coordinates as they are stored.
    fn noise(place: &[i32]) -> u32 {
        let module = Module { functions: functions(), ..Module::new() };
        let arguments: Vec<Const> = place.iter().map(|&x| Const::I32(x)).collect();
        let results = eval(&module, &name(place.len() as u32), &arguments, &mut EmptyWorld, Limits::default());
        let Const::U32(noise) = results.expect("it runs").remove(0) else { panic!("no unsigned number") };
        noise
    }

    const ONE: i32 = 1 << COORDINATE_DIGITS;

    #[test]
    fn lattice_points_are_in_the_middle() {
        for place in [vec![0], vec![-7 * ONE], vec![3 * ONE, -ONE], vec![ONE; 3], vec![-5 * ONE, 0, ONE, 9 * ONE]] {
            assert_eq!(noise(&place), 1 << (RESULT_DIGITS - 1), "{place:?}");
        }
    }

    #[test]
    fn it_deviates_as_far_in_all_dimensions() {
        // Steps of irrational numbers fill cells evenly.
        let steps = [1_371_561i32, 974_323, 706_109, 511_773];
        for axes in 1..=4 {
            let at = |i: i32| noise(&steps.map(|s| s.wrapping_mul(i))[..axes]);
            let values: Vec<f64> = (0..6000).map(|i| f64::from(at(i)) / 65_536.0).collect();
            let mean = values.iter().sum::<f64>() / 6000.0;
            let square = values.iter().map(|v| (v - 0.5) * (v - 0.5)).sum::<f64>() / 6000.0;
            assert!((mean - 0.5).abs() < 0.006, "{axes}: a mean of {mean}");
            assert!((square.sqrt() - 0.12).abs() < 0.004, "{axes}: a deviation of {}", square.sqrt());
        }
    }

    proptest! {
        #[test]
        fn neighbors_are_close(place in proptest::array::uniform4(any::<i32>()), axes in 1usize..=4, axis in 0usize..4) {
            let mut beside = place;
            let axis = axis % axes;
            beside[axis] = place[axis].wrapping_add(16);
            let (here, there) = (noise(&place[..axes]), noise(&beside[..axes]));
            // No slope is above 4, and each of up to 15 blends and 16 corners drops less than a digit.
            let digit = 1 << (RESULT_DIGITS - value_digits(axes as u32));
            let most = 4 * 16 * (1 << (RESULT_DIGITS - COORDINATE_DIGITS)) + 8 * digit;
            prop_assert!(here.abs_diff(there) <= most, "{} {}", here, there);
            prop_assert!(here < 1 << RESULT_DIGITS);
        }
    }
}
