//! Noise: gradient noise on the integer lattice (Perlin 2002), periodic or not, and cell noise,
//! with the lattice hashed by integer arithmetic so that every back end draws the same bits.
//!
//! Each function is named `std.KIND.D.O` for `D` dimensions (1: a float, 2: two floats, 3: a point,
//! 4: a point and a float) and `O` outputs (1: a float, 3: a color, point or vector). Periods
//! follow the coordinates, as many and of the same types; what counts is the nearest whole number,
//! at least 1.
//!
//! Values of `noise` and `pnoise` lie in [0, 1] with mean 0.5 and a standard deviation of 0.12, and
//! are exactly 0.5 at lattice points; first and second derivatives are continuous. `cellnoise` is
//! constant between lattice points, uniform in [0, 1).

use shadewright_ir::abi::library;
use shadewright_ir::{Const, Function, FunctionBuilder, Op, Type, Value};

/// Multiplies the sum of gradients before it is moved to [0, 1], for one to four dimensions: the
/// standard deviation of noise is 0.12 with each. A gradient's components are uniform in [−1, 1],
/// so the variance of the sum is D/3 · 2A · (2B)^(D−1), where A and B are the integrals over a cell
/// of (1−f)²t² and (1−f)², f the blend. Values outside of [0, 1] are four deviations away and
/// clamped.
pub(super) const AMPLITUDES: [f32; 4] = [0.852, 0.681, 0.628, 0.612];
/// Odd constants that distinguish the axes and the outputs.
pub(super) const AXIS_KEYS: [u32; 4] = [0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2d];
pub(super) const OUTPUT_KEYS: [u32; 3] = [0x27d4_eb2f, 0x1656_67b1, 0x5851_f42d];
/// Multiplier of a hash round ("lowbias32", Wellons 2018).
const ROUND: u32 = 0x7feb_352d;

/// The use that a noise function makes of the lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoiseKind {
    /// Gradients at lattice points, blended.
    Gradient,
    /// The same on a lattice that repeats.
    Periodic,
    /// A value for each cell.
    Cell,
}

impl NoiseKind {
    const ALL: [NoiseKind; 3] = [NoiseKind::Gradient, NoiseKind::Periodic, NoiseKind::Cell];

    /// The function's name in the language.
    fn name(self) -> &'static str {
        match self {
            NoiseKind::Gradient => "noise",
            NoiseKind::Periodic => "pnoise",
            NoiseKind::Cell => "cellnoise",
        }
    }
}

/// All noise functions.
pub fn functions() -> Vec<Function> {
    let of_kind = |kind| (1..=4).flat_map(move |d| [1, 3].map(|o| function(kind, d, o)));
    NoiseKind::ALL.into_iter().flat_map(of_kind).collect()
}

fn function(kind: NoiseKind, dimensions: u32, outputs: u32) -> Function {
    let name = library::name(&format!("{}.{dimensions}.{outputs}", kind.name()));
    let mut b = FunctionBuilder::library(name);
    b.result("return", if outputs == 1 { Type::F32 } else { Type::Vec3 });
    let position = coordinates(&mut b, dimensions, ["x", "y", "p", "t"]);
    let period = (kind == NoiseKind::Periodic).then(|| coordinates(&mut b, dimensions, ["px", "py", "pp", "pt"]));
    let [position, period] = [Some(position), period].map(|c| c.map(|parts| join(&mut b, &parts)));
    let position = position.unwrap_or_else(|| b.f32(0.0));
    let keys = &OUTPUT_KEYS[..outputs as usize];
    let values: Vec<Value> = match kind {
        NoiseKind::Cell => {
            let hash = cell_hash(&mut b, position);
            keys.iter().map(|&key| uniform(&mut b, hash, key)).collect()
        }
        NoiseKind::Gradient | NoiseKind::Periodic => {
            let place = place(&mut b, position, period);
            let corners = corners(&mut b, &place);
            keys.iter().map(|&key| blended(&mut b, &place, &corners, key)).collect()
        }
    };
    let result = compose(&mut b, &values);
    b.ret(vec![result]);
    b.finish()
}

/// Parameters for a position or its periods, by the names of a first and second float, a point, and
/// a float after it.
fn coordinates(b: &mut FunctionBuilder, dimensions: u32, [x, y, p, t]: [&'static str; 4]) -> Vec<Value> {
    let (float, triple) = (Type::F32, Type::Vec3);
    let parts: &[(&str, Type)] = match dimensions {
        1 => &[(x, float)],
        2 => &[(x, float), (y, float)],
        3 => &[(p, triple)],
        _ => &[(p, triple), (t, float)],
    };
    parts.iter().map(|&(name, ty)| b.param(name, ty)).collect()
}

/// One vector of the components of several.
fn join(b: &mut FunctionBuilder, parts: &[Value]) -> Value {
    if let [one] = parts {
        return *one;
    }
    let all: Vec<Value> = parts.iter().flat_map(|p| b.components(*p)).collect();
    compose(b, &all)
}

/// Gradient noise of one output at a place.
fn blended(b: &mut FunctionBuilder, place: &LatticePosition, corners: &[Corner], key: u32) -> Value {
    let dots = corners.iter().map(|c| gradient_dot(b, c, key)).collect();
    let sum = interpolate(b, place, dots);
    let amplitude = b.f32(AMPLITUDES[place.cells.len() - 1]);
    let middle = b.f32(0.5);
    let scaled = b.mul(sum, amplitude);
    let moved = b.add(scaled, middle);
    b.sat(moved)
}

/// The hash of the cell that a position lies in.
fn cell_hash(b: &mut FunctionBuilder, position: Value) -> Value {
    let floor = b.floor(position);
    let zero = b.u32(0);
    b.components(floor).into_iter().zip(AXIS_KEYS).fold(zero, |hash, (cell, key)| {
        let cell = lattice(b, cell);
        let side = keyed(b, cell, key);
        let mixed = b.ixor(hash, side);
        round(b, mixed)
    })
}

/// A uniform number in [0, 1) from a hash: its upper 24 bits after one more round.
fn uniform(b: &mut FunctionBuilder, hash: Value, key: u32) -> Value {
    let key = b.u32(key);
    let mixed = b.ixor(hash, key);
    let mixed = round(b, mixed);
    let shift = b.u32(8);
    let high = b.ishr(mixed, shift);
    let float = b.to_float(high);
    let scale = b.f32(1.0 / (1u32 << 24) as f32);
    b.mul(float, scale)
}

/// A vector of floats; a single float is itself.
fn compose(b: &mut FunctionBuilder, parts: &[Value]) -> Value {
    if let [one] = parts { *one } else { b.compose(parts) }
}

/// A position, all axes together: vectors with a component an axis, so that one instruction works
/// on all of them.
struct LatticePosition {
    /// The lattice coordinates on either side, for each axis.
    cells: Vec<[Value; 2]>,
    /// The way from the lower side.
    offset: Value,
    /// The blend across the cell.
    fade: Value,
}

/// A constant in all components of vectors like `like`.
fn all(b: &mut FunctionBuilder, c: f32, like: Value) -> Value {
    let lanes = b.ty(like).lanes().unwrap_or(1) as usize;
    b.constant(Const::from_floats(&[c; 4][..lanes]).unwrap_or(Const::F32(c)))
}

/// A whole number as the lattice counts it.
fn lattice(b: &mut FunctionBuilder, whole: Value) -> Value {
    let whole = b.to_int(whole, Type::I32);
    b.bitcast(whole, Type::U32)
}

/// Lattice coordinates within one period: 0 to below the period. Half a unit keeps the quotient off
/// whole numbers, so that its rounding is harmless for coordinates up to 2²².
fn wrapped(b: &mut FunctionBuilder, cell: Value, period: Value) -> Value {
    let half = all(b, 0.5, cell);
    let inverse = b.rcp(period);
    let middle = b.add(cell, half);
    let turns = b.mul(middle, inverse);
    let turns = b.floor(turns);
    let whole = b.mul(turns, period);
    b.sub(cell, whole)
}

fn place(b: &mut FunctionBuilder, x: Value, period: Option<Value>) -> LatticePosition {
    let floor = b.floor(x);
    let cells = match period {
        None => b
            .components(floor)
            .into_iter()
            .map(|low| {
                let low = lattice(b, low);
                let one = b.u32(1);
                [low, b.iadd(low, one)]
            })
            .collect(),
        Some(period) => {
            let [half, one] = [0.5, 1.0].map(|c| all(b, c, x));
            let nearest = b.add(period, half);
            let nearest = b.floor(nearest);
            let period = b.max(nearest, one);
            let next = b.add(floor, one);
            let [low, high] = [floor, next].map(|side| {
                let side = wrapped(b, side, period);
                b.components(side)
            });
            low.into_iter().zip(high).map(|(low, high)| [low, high].map(|side| lattice(b, side))).collect()
        }
    };
    let t = b.sub(x, floor);
    // 6t⁵ − 15t⁴ + 10t³, whose first and second derivatives vanish at both ends.
    let [six, fifteen, ten] = [6.0, 15.0, 10.0].map(|c| all(b, c, x));
    let inner = b.mul(t, six);
    let inner = b.sub(inner, fifteen);
    let inner = b.mul(inner, t);
    let inner = b.add(inner, ten);
    let square = b.mul(t, t);
    let cube = b.mul(square, t);
    let fade = b.mul(cube, inner);
    LatticePosition { cells, offset: t, fade }
}

/// A lattice point around the position: its hash, and the way from it to the position.
struct Corner {
    hash: Value,
    offset: Value,
}

/// All corners; bit `i` of a corner's index chooses the side of axis `i`. Hashes are shared between
/// corners that agree in the first axes.
fn corners(b: &mut FunctionBuilder, place: &LatticePosition) -> Vec<Corner> {
    let mut hashes = vec![b.u32(0)];
    for (cell, key) in place.cells.iter().zip(AXIS_KEYS) {
        let sides = cell.map(|cell| keyed(b, cell, key));
        let mut next = Vec::with_capacity(2 * hashes.len());
        for side in sides {
            for &hash in &hashes {
                let mixed = b.ixor(hash, side);
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
                b.sub(place.offset, sides)
            }
            _ => place.offset,
        };
        Corner { hash, offset }
    };
    hashes.into_iter().enumerate().map(corner).collect()
}

/// A lattice coordinate as a hash takes it in: multiplied by the key of its axis.
pub(super) fn keyed(b: &mut FunctionBuilder, cell: Value, key: u32) -> Value {
    let key = b.u32(key);
    b.imul(cell, key)
}

/// One round of mixing.
pub(super) fn round(b: &mut FunctionBuilder, x: Value) -> Value {
    let factor = b.u32(ROUND);
    let x = b.imul(x, factor);
    let shift = b.u32(15);
    let high = b.ishr(x, shift);
    b.ixor(x, high)
}

/// The product of a corner's gradient, with components in [−1, 1] from ten bits each (eight in four
/// dimensions), and the way from the corner.
///
/// The bits stay where they are in the hash: what that multiplies them by is a power of two, and
/// their scale takes it back without rounding.
fn gradient_dot(b: &mut FunctionBuilder, corner: &Corner, output_key: u32) -> Value {
    let key = b.u32(output_key);
    let hash = b.ixor(corner.hash, key);
    let hash = round(b, hash);
    let one = b.f32(1.0);
    let axes = b.ty(corner.offset).lanes().unwrap_or(1);
    let (bits, lowest) = if axes > 3 { (8, 0) } else { (10, 2) };
    let gradient: Vec<Value> = (0..axes)
        .map(|axis| {
            let shift = lowest + bits * axis;
            let most = (1u32 << bits) - 1;
            let mask = b.u32(most << shift);
            let scale = b.f32(2.0 / most as f32 / (1u32 << shift) as f32);
            let part = b.iand(hash, mask);
            let float = b.to_float(part);
            let scaled = b.mul(float, scale);
            b.sub(scaled, one)
        })
        .collect();
    let gradient = compose(b, &gradient);
    let product = if axes > 1 { Op::Dot } else { Op::Mul };
    b.op(product, &[gradient, corner.offset])
}

/// Blends the corners' values along the last axis, then the one before, to a single value: as
/// vectors, whose halves are the two sides.
fn interpolate(b: &mut FunctionBuilder, place: &LatticePosition, mut values: Vec<Value>) -> Value {
    for fade in b.components(place.fade).into_iter().rev() {
        let (low, high) = values.split_at(values.len() / 2);
        // Vectors have up to four components.
        let pairs: Vec<(Value, Value)> =
            low.chunks(4).zip(high.chunks(4)).map(|(low, high)| (compose(b, low), compose(b, high))).collect();
        values = pairs
            .into_iter()
            .flat_map(|(low, high)| {
                let ty = b.ty(low);
                let fade = b.widen(fade, ty);
                let difference = b.sub(high, low);
                let part = b.mul(difference, fade);
                let blended = b.add(low, part);
                b.components(blended)
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
        assert_eq!(names.len(), 24);
        for kind in ["noise", "pnoise", "cellnoise"] {
            for (dimensions, outputs) in (1..=4).flat_map(|d| [(d, 1), (d, 3)]) {
                let name = library::name(&format!("{kind}.{dimensions}.{outputs}"));
                assert!(names.contains(&name), "{name}");
            }
        }
    }
}
