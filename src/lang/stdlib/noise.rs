//! Noise: gradient noise on the integer lattice (Perlin 2002), with the lattice hashed by integer arithmetic so that every machine draws the
//! same bits.
//!
//! Each function is named `std.noise.D.O` for `D` dimensions (1: a float, 2: two floats, 3: a point) and `O` outputs (1: a float, 3: a colour,
//! point or vector). Values lie in [0, 1] with mean 0.5 and are exactly 0.5 at lattice points; first and second derivatives are continuous.

use crate::ir::{Class, Const, Function, FunctionBuilder, FunctionKind, Op, Type, Value};

/// Multiplies the sum of gradients before it is moved to [0, 1]. The components of a gradient lie in [−1, 1], so the sum rarely leaves ±1; what does is
/// clamped.
const AMPLITUDE: f32 = 0.5;
/// Odd constants that tell the axes and the outputs apart.
const AXIS_KEYS: [u32; 3] = [0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35];
const OUTPUT_KEYS: [u32; 3] = [0x27d4_eb2f, 0x1656_67b1, 0x5851_f42d];
/// Multiplier of a hash round ("lowbias32", Wellons 2018).
const ROUND: u32 = 0x7feb_352d;

/// The name of the function for `dimensions` (1 to 3) and `outputs` (1 or 3).
pub fn name(dimensions: u32, outputs: u32) -> String {
    format!("std.noise.{dimensions}.{outputs}")
}

/// All noise functions.
pub fn functions() -> Vec<Function> {
    (1..=3).flat_map(|d| [1, 3].map(|o| function(d, o))).collect()
}

fn function(dimensions: u32, outputs: u32) -> Function {
    let mut b = FunctionBuilder::new(name(dimensions, outputs), FunctionKind::Function);
    b.result("return", if outputs == 1 { Type::F32 } else { Type::Vec3 });
    let position: Vec<Value> = if dimensions == 3 {
        let p = b.param("p", Type::Vec3, Class::Varying);
        (0..3).map(|i| b.op(Op::Extract(i), &[p])).collect()
    } else {
        ["x", "y"][..dimensions as usize].iter().map(|n| b.param(*n, Type::F32, Class::Varying)).collect()
    };
    let axes: Vec<Axis> = position.iter().map(|&x| axis(&mut b, x)).collect();
    let corners = corners(&mut b, &axes);
    let values: Vec<Value> = OUTPUT_KEYS[..outputs as usize]
        .iter()
        .map(|&key| {
            let dots = corners.iter().map(|c| gradient_dot(&mut b, c, key)).collect();
            let sum = interpolate(&mut b, &axes, dots);
            let amplitude = b.f32(AMPLITUDE);
            let middle = b.f32(0.5);
            let scaled = b.op(Op::Mul, &[sum, amplitude]);
            let moved = b.op(Op::Add, &[scaled, middle]);
            b.op(Op::Sat, &[moved])
        })
        .collect();
    let result = if outputs == 1 { values[0] } else { b.op(Op::Compose, &values) };
    b.ret(vec![result]);
    b.finish()
}

/// One coordinate: its cell, where it lies in it, and the blend across it.
struct Axis {
    cell: [Value; 2],
    offset: [Value; 2],
    fade: Value,
}

fn axis(b: &mut FunctionBuilder, x: Value) -> Axis {
    let floor = b.op(Op::Floor, &[x]);
    let low = b.op_as(Op::ToInt, &[floor], Type::I32);
    let low = b.op_as(Op::Bitcast, &[low], Type::U32);
    let one = b.u32(1);
    let high = b.op(Op::IAdd, &[low, one]);
    let t = b.op(Op::Sub, &[x, floor]);
    let unit = b.f32(1.0);
    let back = b.op(Op::Sub, &[t, unit]);
    // 6t⁵ − 15t⁴ + 10t³, whose first and second derivatives vanish at both ends.
    let [six, fifteen, ten] = [6.0, 15.0, 10.0].map(|c| b.f32(c));
    let inner = b.op(Op::Mul, &[t, six]);
    let inner = b.op(Op::Sub, &[inner, fifteen]);
    let inner = b.op(Op::Mul, &[inner, t]);
    let inner = b.op(Op::Add, &[inner, ten]);
    let square = b.op(Op::Mul, &[t, t]);
    let cube = b.op(Op::Mul, &[square, t]);
    let fade = b.op(Op::Mul, &[cube, inner]);
    Axis { cell: [low, high], offset: [t, back], fade }
}

/// A lattice point around the position: its hash, and the way from it to the position.
struct Corner {
    hash: Value,
    offsets: Vec<Value>,
}

/// All corners; bit `i` of a corner's index chooses the side of axis `i`. Hashes are shared between corners that agree in the first axes.
fn corners(b: &mut FunctionBuilder, axes: &[Axis]) -> Vec<Corner> {
    let start = b.u32(0);
    let mut corners = vec![Corner { hash: start, offsets: Vec::new() }];
    for (axis, key) in axes.iter().zip(AXIS_KEYS) {
        let sides = [0, 1].map(|side| {
            let key = b.u32(key);
            b.op(Op::IMul, &[axis.cell[side], key])
        });
        let mut next = Vec::with_capacity(2 * corners.len());
        for side in [0, 1] {
            for corner in &corners {
                let mixed = b.op(Op::IXor, &[corner.hash, sides[side]]);
                let hash = round(b, mixed);
                let offsets = corner.offsets.iter().copied().chain([axis.offset[side]]).collect();
                next.push(Corner { hash, offsets });
            }
        }
        corners = next;
    }
    corners
}

/// One round of mixing.
fn round(b: &mut FunctionBuilder, x: Value) -> Value {
    let factor = b.u32(ROUND);
    let x = b.op(Op::IMul, &[x, factor]);
    let shift = b.u32(15);
    let high = b.op(Op::IShr, &[x, shift]);
    b.op(Op::IXor, &[x, high])
}

/// The product of a corner's gradient, with components in [−1, 1] from ten bits each, and the way from the corner.
fn gradient_dot(b: &mut FunctionBuilder, corner: &Corner, output_key: u32) -> Value {
    let key = b.u32(output_key);
    let hash = b.op(Op::IXor, &[corner.hash, key]);
    let hash = round(b, hash);
    let mask = b.u32(1023);
    let scale = b.f32(2.0 / 1023.0);
    let one = b.f32(1.0);
    let mut sum = None;
    for (i, &offset) in corner.offsets.iter().enumerate() {
        let shift = b.u32(2 + 10 * i as u32);
        let bits = b.op(Op::IShr, &[hash, shift]);
        let bits = b.op(Op::IAnd, &[bits, mask]);
        let float = b.op(Op::ToFloat, &[bits]);
        let scaled = b.op(Op::Mul, &[float, scale]);
        let component = b.op(Op::Sub, &[scaled, one]);
        let product = b.op(Op::Mul, &[component, offset]);
        sum = Some(sum.map_or(product, |s| b.op(Op::Add, &[s, product])));
    }
    sum.unwrap_or_else(|| b.constant(Const::F32(0.0)))
}

/// Blends the corners' values along the last axis, then the one before, to a single value.
fn interpolate(b: &mut FunctionBuilder, axes: &[Axis], mut values: Vec<Value>) -> Value {
    for axis in axes.iter().rev() {
        let half = values.len() / 2;
        values = (0..half)
            .map(|i| {
                let difference = b.op(Op::Sub, &[values[half + i], values[i]]);
                let part = b.op(Op::Mul, &[difference, axis.fade]);
                b.op(Op::Add, &[values[i], part])
            })
            .collect();
    }
    values[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_function_for_every_signature() {
        let names: Vec<_> = functions().iter().map(|f| f.name.to_string()).collect();
        assert_eq!(
            names,
            ["std.noise.1.1", "std.noise.1.3", "std.noise.2.1", "std.noise.2.3", "std.noise.3.1", "std.noise.3.3"]
        );
    }
}
