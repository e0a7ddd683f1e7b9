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
    let position = match dimensions {
        1 => b.param("x", Type::F32, Class::Varying),
        2 => {
            let parts = ["x", "y"].map(|n| b.param(n, Type::F32, Class::Varying));
            b.op(Op::Compose, &parts)
        }
        _ => b.param("p", Type::Vec3, Class::Varying),
    };
    let place = place(&mut b, position, dimensions as usize);
    let corners = corners(&mut b, &place);
    let values: Vec<Value> = OUTPUT_KEYS[..outputs as usize]
        .iter()
        .map(|&key| {
            let dots = corners.iter().map(|c| gradient_dot(&mut b, c, key)).collect();
            let sum = interpolate(&mut b, &place, dots);
            let amplitude = b.f32(AMPLITUDE);
            let middle = b.f32(0.5);
            let scaled = b.op(Op::Mul, &[sum, amplitude]);
            let moved = b.op(Op::Add, &[scaled, middle]);
            b.op(Op::Sat, &[moved])
        })
        .collect();
    let result = compose(&mut b, &values);
    b.ret(vec![result]);
    b.finish()
}

/// A vector of floats; a single float is itself.
fn compose(b: &mut FunctionBuilder, parts: &[Value]) -> Value {
    if let [one] = parts { *one } else { b.op(Op::Compose, parts) }
}

/// The components of a vector; a float is its own.
fn components(b: &mut FunctionBuilder, v: Value) -> Vec<Value> {
    match b.ty(v).lanes() {
        Some(n) if n > 1 => (0..n as u8).map(|k| b.op(Op::Extract(k), &[v])).collect(),
        _ => vec![v],
    }
}

/// A position, all axes together: vectors with a component an axis, so that one instruction works on all of them.
struct Place {
    /// The lattice coordinates on either side, for each axis.
    cells: Vec<[Value; 2]>,
    /// The way from the lower side.
    offset: Value,
    /// The blend across the cell.
    fade: Value,
}

fn place(b: &mut FunctionBuilder, x: Value, dimensions: usize) -> Place {
    let all = |b: &mut FunctionBuilder, c: f32| {
        let parts = [c; 3];
        b.constant(Const::from_floats(&parts[..dimensions]).unwrap_or(Const::F32(c)))
    };
    let floor = b.op(Op::Floor, &[x]);
    let cells = components(b, floor).into_iter().map(|low| {
        let low = b.op_as(Op::ToInt, &[low], Type::I32);
        let low = b.op_as(Op::Bitcast, &[low], Type::U32);
        let one = b.u32(1);
        [low, b.op(Op::IAdd, &[low, one])]
    });
    let cells = cells.collect();
    let t = b.op(Op::Sub, &[x, floor]);
    // 6t⁵ − 15t⁴ + 10t³, whose first and second derivatives vanish at both ends.
    let [six, fifteen, ten] = [6.0, 15.0, 10.0].map(|c| all(b, c));
    let inner = b.op(Op::Mul, &[t, six]);
    let inner = b.op(Op::Sub, &[inner, fifteen]);
    let inner = b.op(Op::Mul, &[inner, t]);
    let inner = b.op(Op::Add, &[inner, ten]);
    let square = b.op(Op::Mul, &[t, t]);
    let cube = b.op(Op::Mul, &[square, t]);
    let fade = b.op(Op::Mul, &[cube, inner]);
    Place { cells, offset: t, fade }
}

/// A lattice point around the position: its hash, and the way from it to the position.
struct Corner {
    hash: Value,
    offset: Value,
}

/// All corners; bit `i` of a corner's index chooses the side of axis `i`. Hashes are shared between corners that agree in the first axes.
fn corners(b: &mut FunctionBuilder, place: &Place) -> Vec<Corner> {
    let mut hashes = vec![b.u32(0)];
    for (cell, key) in place.cells.iter().zip(AXIS_KEYS) {
        let sides = cell.map(|cell| {
            let key = b.u32(key);
            b.op(Op::IMul, &[cell, key])
        });
        let mut next = Vec::with_capacity(2 * hashes.len());
        for side in sides {
            for &hash in &hashes {
                let mixed = b.op(Op::IXor, &[hash, side]);
                next.push(round(b, mixed));
            }
        }
        hashes = next;
    }
    let axes = place.cells.len();
    let corner = |(n, hash): (usize, Value)| {
        let sides: Vec<f32> = (0..axes).map(|axis| (n >> axis & 1) as f32).collect();
        let offset = match Const::from_floats(&sides) {
            Some(sides) if n > 0 => {
                let sides = b.constant(sides);
                b.op(Op::Sub, &[place.offset, sides])
            }
            _ => place.offset,
        };
        Corner { hash, offset }
    };
    hashes.into_iter().enumerate().map(corner).collect()
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
///
/// The ten bits stay where they are in the hash: what that multiplies them by is a power of two, and their scale takes it back without rounding.
fn gradient_dot(b: &mut FunctionBuilder, corner: &Corner, output_key: u32) -> Value {
    let key = b.u32(output_key);
    let hash = b.op(Op::IXor, &[corner.hash, key]);
    let hash = round(b, hash);
    let one = b.f32(1.0);
    let axes = b.ty(corner.offset).lanes().unwrap_or(1);
    let gradient: Vec<Value> = (0..axes)
        .map(|axis| {
            let shift = 2 + 10 * axis;
            let mask = b.u32(1023 << shift);
            let scale = b.f32(2.0 / 1023.0 / (1u32 << shift) as f32);
            let bits = b.op(Op::IAnd, &[hash, mask]);
            let float = b.op(Op::ToFloat, &[bits]);
            let scaled = b.op(Op::Mul, &[float, scale]);
            b.op(Op::Sub, &[scaled, one])
        })
        .collect();
    let gradient = compose(b, &gradient);
    let product = if axes > 1 { Op::Dot } else { Op::Mul };
    b.op(product, &[gradient, corner.offset])
}

/// Blends the corners' values along the last axis, then the one before, to a single value: as vectors, whose halves are the two sides.
fn interpolate(b: &mut FunctionBuilder, place: &Place, mut values: Vec<Value>) -> Value {
    for fade in components(b, place.fade).into_iter().rev() {
        let (low, high) = values.split_at(values.len() / 2);
        let (low, high) = (compose(b, low), compose(b, high));
        let ty = b.ty(low);
        let fade = if ty == Type::F32 { fade } else { b.op_as(Op::Splat, &[fade], ty) };
        let difference = b.op(Op::Sub, &[high, low]);
        let part = b.op(Op::Mul, &[difference, fade]);
        let blended = b.op(Op::Add, &[low, part]);
        values = components(b, blended);
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
