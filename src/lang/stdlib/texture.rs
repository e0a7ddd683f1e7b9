//! Texture lookups, built as IR because they need addresses: a filtered value of a mip map in the
//! memory image ([`shadewright_texture::layout`]).
//!
//! The area to be averaged comes as the second moments `(ss, st, tt)` of an ellipse in texture
//! coordinates: with sides `a` and `b` of a parallelogram, `aaᵀ + bbᵀ` (Heckbert 1989, §3.5.8). Its
//! major axis is walked in up to [`MAX_PROBES`] steps, each a trilinear lookup (Williams 1983) as
//! wide as the minor axis (Feline: McCormack, Perry, Farkas and Jouppi 1999). Nothing is a hardware
//! sampler, so every machine computes the same bits.
//!
//! | function | gives |
//! |---|---|
//! | `std.texture.float(name, (s, t, channel), (ss, st, tt), fill)` | one channel, or `fill` where the texture has none of that number |
//! | `std.texture.color(name, (s, t, channel), (ss, st, tt), fill)` | three channels from that number on |
//! | `std.texture.face.float(name, face, (s, t, channel), (ss, st, tt), fill)`, `std.texture.face.color` | the same of a face of a cube |
//! | `std.texture.filter(descriptor, place, area)` | red, green, blue, alpha |
//! | `std.texture.project(name, P)` | a point in a shadow map: s, t, and the depth; a negative depth where there is no map or the point is behind its camera |
//! | `std.texture.compare(name, s, t, z)` | the share of the four texels around a place, weighted by nearness, that are nearer than `z` |

use shadewright_ir::abi::{Intrinsic, library};
use shadewright_ir::{Const, Function, FunctionBuilder, Op, Type, Value};
use shadewright_texture::layout::{FACES, Kind, LEVELS, PROJECTION};

/// Most steps along the major axis. An ellipse longer than so many times its width is blurred
/// across.
pub const MAX_PROBES: f32 = 16.0;

/// Largest second moment that is distinguished, in squares of the texture's side: what is wider
/// sees the average of all.
pub const MAX_MOMENT: f32 = 64.0;

/// The source name of the function that filters an area of a texture.
const FILTER: &str = "texture.filter";

/// All texture functions.
pub fn functions() -> Vec<Function> {
    vec![
        filter(),
        lookup("texture.float", false, Type::F32, pick),
        lookup("texture.color", false, Type::Vec3, pick_color),
        lookup("texture.face.float", true, Type::F32, pick),
        lookup("texture.face.color", true, Type::Vec3, pick_color),
        project(),
        compare(),
    ]
}

fn add(b: &mut FunctionBuilder, x: Value, y: Value) -> Value {
    b.op(Op::Add, &[x, y])
}

fn sub(b: &mut FunctionBuilder, x: Value, y: Value) -> Value {
    b.op(Op::Sub, &[x, y])
}

fn mul(b: &mut FunctionBuilder, x: Value, y: Value) -> Value {
    b.op(Op::Mul, &[x, y])
}

fn select(b: &mut FunctionBuilder, condition: Value, yes: Value, no: Value) -> Value {
    b.op(Op::Select, &[condition, yes, no])
}

/// `x` between two bounds; NaN becomes the lower one.
fn clamp(b: &mut FunctionBuilder, x: Value, low: Value, high: Value) -> Value {
    let x = b.op(Op::Max, &[low, x]);
    b.op(Op::Min, &[high, x])
}

fn splat(b: &mut FunctionBuilder, x: Value, ty: Type) -> Value {
    b.op_as(Op::Splat, &[x], ty)
}

/// Two components of a vector.
fn pair(b: &mut FunctionBuilder, v: Value, lanes: [u8; 2]) -> Value {
    let parts = lanes.map(|lane| b.op(Op::Extract(lane), &[v]));
    b.op(Op::Compose, &parts)
}

/// A component of a vector from memory as bits.
fn word(b: &mut FunctionBuilder, v: Value, lane: u8, ty: Type) -> Value {
    let word = b.op(Op::Extract(lane), &[v]);
    b.op_as(Op::Bitcast, &[word], ty)
}

/// The vector at `address + offset`, of two integers, plus the immediate `k`.
fn load(b: &mut FunctionBuilder, address: Value, k: u32) -> Value {
    let address = b.op_as(Op::Bitcast, &[address], Type::Ref);
    b.op(Op::Load(k), &[address])
}

/// Takes of a texel, given the number of channels, the channels from a given one on, with a fill
/// value for missing ones.
type Take = fn(&mut FunctionBuilder, Value, Value, Value, Value) -> Value;

/// A function that finds a texture, or a face of one, filters it, and takes of its channels what
/// `take` takes.
fn lookup(name: &str, of_a_face: bool, result: Type, take: Take) -> Function {
    let mut b = FunctionBuilder::library(library::name(name));
    b.result("return", result);
    let texture = b.param("name", Type::String);
    let face = of_a_face.then(|| b.param("face", Type::F32));
    let place = b.param("place", Type::Vec3);
    let area = b.param("area", Type::Vec3);
    let fill = b.param("fill", Type::F32);
    let mut descriptor = b.call(Intrinsic::TextureFind, vec![texture], &[Type::Ref])[0];
    if let Some(face) = face {
        let face = b.op_as(Op::ToInt, &[face], Type::U32);
        let base = b.op_as(Op::Bitcast, &[descriptor], Type::U32);
        let place = b.op(Op::IAdd, &[base, face]);
        let entry = load(&mut b, place, FACES);
        descriptor = word(&mut b, entry, 0, Type::Ref);
    }
    let channel = b.op(Op::Extract(2), &[place]);
    let place = pair(&mut b, place, [0, 1]);
    let texel = b.call(library::name(FILTER), vec![descriptor, place, area], &[Type::Vec4])[0];
    let header = b.op(Op::Load(0), &[descriptor]);
    let channels = b.op(Op::Extract(2), &[header]);
    let value = take(&mut b, texel, channels, channel, fill);
    b.ret(vec![value]);
    b.finish()
}

/// A channel by its number, 0 to 3; `fill` for one that the texture has not.
fn pick(b: &mut FunctionBuilder, texel: Value, channels: Value, channel: Value, fill: Value) -> Value {
    let parts = [0, 1, 2, 3].map(|lane| b.op(Op::Extract(lane), &[texel]));
    let mut value = parts[3];
    for lane in (0..3).rev() {
        let next = b.f32(lane as f32 + 1.0);
        let below = b.op(Op::Lt, &[channel, next]);
        value = select(b, below, parts[lane], value);
    }
    let there = b.op(Op::Lt, &[channel, channels]);
    select(b, there, value, fill)
}

fn pick_color(b: &mut FunctionBuilder, texel: Value, channels: Value, channel: Value, fill: Value) -> Value {
    let parts = [0.0, 1.0, 2.0].map(|behind| {
        let behind = b.f32(behind);
        let channel = add(b, channel, behind);
        pick(b, texel, channels, channel, fill)
    });
    b.op(Op::Compose, &parts)
}

/// `std.texture.project(name: string, P: vec3) -> vec3`
fn project() -> Function {
    let mut b = FunctionBuilder::library(library::name("texture.project"));
    b.result("return", Type::Vec3);
    let texture = b.param("name", Type::String);
    let point = b.param("P", Type::Vec3);
    let descriptor = b.call(Intrinsic::TextureFind, vec![texture], &[Type::Ref])[0];
    let header = b.op(Op::Load(0), &[descriptor]);
    let kind = b.op(Op::Extract(3), &[header]);
    let depths = b.f32(Kind::Depth as u32 as f32);
    let is_map = b.op(Op::Eq, &[kind, depths]);
    let [x, y, z] = [0, 1, 2].map(|lane| b.op(Op::Extract(lane), &[point]));
    let one = b.f32(1.0);
    let point = b.op(Op::Compose, &[x, y, z, one]);
    let [s, t, w, depth] = [0, 1, 2, 3].map(|row| {
        let row = b.op(Op::Load(PROJECTION + row), &[descriptor]);
        b.op(Op::Dot, &[row, point])
    });
    let inverse = b.op(Op::Rcp, &[w]);
    let [s, t] = [s, t].map(|x| mul(&mut b, x, inverse));
    let (zero, behind) = (b.f32(0.0), b.f32(-1.0));
    let ahead = b.op(Op::Lt, &[zero, w]);
    let seen = b.op(Op::And, &[is_map, ahead]);
    let depth = select(&mut b, seen, depth, behind);
    let place = b.op(Op::Compose, &[s, t, depth]);
    b.ret(vec![place]);
    b.finish()
}

/// `std.texture.compare(name: string, s, t, z: f32) -> f32`
fn compare() -> Function {
    let mut b = FunctionBuilder::library(library::name("texture.compare"));
    b.result("return", Type::F32);
    let texture = b.param("name", Type::String);
    let [s, t, z] = ["s", "t", "z"].map(|n| b.param(n, Type::F32));
    let descriptor = b.call(Intrinsic::TextureFind, vec![texture], &[Type::Ref])[0];
    let level = b.op(Op::Load(LEVELS), &[descriptor]);
    let place = b.op(Op::Compose, &[s, t]);
    let Corners { texels, across, down } = corners(&mut b, level, place);
    let (one, zero) = (b.f32(1.0), b.f32(0.0));
    let nearer = texels.map(|texel| {
        let depth = b.op(Op::Extract(0), &[texel]);
        let nearer = b.op(Op::Lt, &[depth, z]);
        select(&mut b, nearer, one, zero)
    });
    let shares = blend(&mut b, nearer, across, down);
    b.ret(vec![shares]);
    b.finish()
}

/// The ellipse as a walk along its major axis.
struct Walk {
    /// Number of lookups, a whole number of at least 1.
    probes: Value,
    /// From one to the next, in texture coordinates.
    step: Value,
    /// How wide each is, in texels of the finest level, at least 1.
    width: Value,
}

/// `std.texture.filter(descriptor: ref, place: vec2, area: vec3) -> vec4`
fn filter() -> Function {
    let mut b = FunctionBuilder::library(library::name(FILTER));
    b.result("return", Type::Vec4);
    let descriptor = b.param("descriptor", Type::Ref);
    let place = b.param("place", Type::Vec2);
    let area = b.param("area", Type::Vec3);
    let header = b.op(Op::Load(0), &[descriptor]);
    let wraps = b.op(Op::Load(1), &[descriptor]);
    let size = pair(&mut b, header, [0, 1]);
    let periodic = pair(&mut b, wraps, [0, 1]);
    let last = word(&mut b, wraps, 2, Type::U32);
    let walk = walk(&mut b, size, area);
    let (fine, coarse, blend) = levels(&mut b, descriptor, walk.width, last);

    // The first place: half of all steps before the middle.
    let (one, half) = (b.f32(1.0), b.f32(0.5));
    let back = sub(&mut b, walk.probes, one);
    let back = mul(&mut b, back, half);
    let back = splat(&mut b, back, Type::Vec2);
    let back = mul(&mut b, back, walk.step);
    let first = sub(&mut b, place, back);
    let (at, left, sum) = (b.variable(Type::Vec2), b.variable(Type::F32), b.variable(Type::Vec4));
    b.write(at, first);
    b.write(left, walk.probes);
    let zero = b.constant(Const::zero(Type::Vec4));
    b.write(sum, zero);
    let (body, end) = (b.block(), b.block());
    b.jump(body, Vec::new());
    b.switch_to(body);
    let here = b.read(at);
    let reduced = reduce(&mut b, here, periodic);
    let [near, far] = [fine, coarse].map(|level| tap(&mut b, level, reduced));
    let value = mix(&mut b, near, far, blend);
    let total = b.read(sum);
    let total = add(&mut b, total, value);
    b.write(sum, total);
    let next = add(&mut b, here, walk.step);
    b.write(at, next);
    let rest = b.read(left);
    let rest = sub(&mut b, rest, one);
    b.write(left, rest);
    let none = b.f32(0.0);
    let more = b.op(Op::Lt, &[none, rest]);
    b.branch(more, body, end);
    b.seal(body);
    b.seal(end);
    b.switch_to(end);
    let share = b.op(Op::Rcp, &[walk.probes]);
    let share = splat(&mut b, share, Type::Vec4);
    let total = b.read(sum);
    let mean = mul(&mut b, total, share);
    b.ret(vec![mean]);
    b.finish()
}

/// The axes of the ellipse with second moments `area` on a texture of `size` texels.
fn walk(b: &mut FunctionBuilder, size: Value, area: Value) -> Walk {
    let [zero, one, half] = [0.0, 1.0, 0.5].map(|x| b.f32(x));
    let [most, least] = [MAX_MOMENT, -MAX_MOMENT].map(|x| b.f32(x));
    let [ss, st, tt] = [0, 1, 2].map(|lane| b.op(Op::Extract(lane), &[area]));
    let [w, h] = [0, 1].map(|lane| b.op(Op::Extract(lane), &[size]));
    // The symmetric matrix (p q; q r), in texels.
    let p = clamp(b, ss, zero, most);
    let p = mul(b, p, w);
    let p = mul(b, p, w);
    let q = clamp(b, st, least, most);
    let q = mul(b, q, w);
    let q = mul(b, q, h);
    let r = clamp(b, tt, zero, most);
    let r = mul(b, r, h);
    let r = mul(b, r, h);
    // Its eigenvalues are the squares of the axes: mean ± root.
    let mean = add(b, p, r);
    let mean = mul(b, mean, half);
    let spread = sub(b, p, r);
    let spread = mul(b, spread, half);
    let (square, other) = (mul(b, spread, spread), mul(b, q, q));
    let root = add(b, square, other);
    let root = b.op(Op::Sqrt, &[root]);
    let major = add(b, mean, root);
    // The smaller one by the determinant: a difference of roots would cancel. Below a texel there
    // is nothing to distinguish.
    let (product, other) = (mul(b, p, r), mul(b, q, q));
    let determinant = sub(b, product, other);
    let major = b.op(Op::Max, &[one, major]);
    let inverse = b.op(Op::Rcp, &[major]);
    let minor = mul(b, determinant, inverse);
    let minor = b.op(Op::Max, &[one, minor]);
    let [long, short] = [major, minor].map(|x| b.op(Op::Sqrt, &[x]));
    let ratio = b.op(Op::Rcp, &[short]);
    let ratio = mul(b, long, ratio);
    // ⌈ratio⌉; a circle may miss 1 by a rounding, which is no reason for a second lookup.
    let almost = b.f32(0.99);
    let ceiling = add(b, ratio, almost);
    let ceiling = b.op(Op::Floor, &[ceiling]);
    let bound = b.f32(MAX_PROBES);
    let probes = clamp(b, ceiling, one, bound);
    let share = b.op(Op::Rcp, &[probes]);
    let length = mul(b, long, share);
    let width = b.op(Op::Max, &[short, length]);
    // The eigenvector of the larger eigenvalue, by the row that does not cancel.
    let wide = b.op(Op::Le, &[zero, spread]);
    let (from_p, from_r) = (add(b, root, spread), sub(b, root, spread));
    let x = select(b, wide, from_p, q);
    let y = select(b, wide, q, from_r);
    let along = b.op(Op::Compose, &[x, y]);
    let square = b.op(Op::Dot, &[along, along]);
    let scale = b.op(Op::Rsq, &[square]);
    let scale = mul(b, scale, length);
    // Of a single lookup the direction may be undefined.
    let several = b.op(Op::Lt, &[one, probes]);
    let scale = select(b, several, scale, zero);
    let along = select_vec2(b, several, along);
    let scale = splat(b, scale, Type::Vec2);
    let step = mul(b, along, scale);
    let texel = b.op(Op::Rcp, &[size]);
    let step = mul(b, step, texel);
    Walk { probes, step, width }
}

/// `v`, or zero.
fn select_vec2(b: &mut FunctionBuilder, condition: Value, v: Value) -> Value {
    let zero = b.constant(Const::zero(Type::Vec2));
    select(b, condition, v, zero)
}

/// The two levels around texels of `width` (at least 1), and how far the second one's share goes:
/// the exponent of the width, and its mantissa, which is a line through the same points as the
/// logarithm.
fn levels(b: &mut FunctionBuilder, descriptor: Value, width: Value, last: Value) -> (Value, Value, Value) {
    let bits = b.op_as(Op::Bitcast, &[width], Type::U32);
    let [shift, bias, mask, unit] = [23, 127, 0x007f_ffff, 0x3f80_0000].map(|x| b.u32(x));
    let exponent = b.op(Op::IShr, &[bits, shift]);
    let exponent = b.op(Op::ISub, &[exponent, bias]);
    let mantissa = b.op(Op::IAnd, &[bits, mask]);
    let mantissa = b.op(Op::IOr, &[mantissa, unit]);
    let mantissa = b.op_as(Op::Bitcast, &[mantissa], Type::F32);
    let (one, zero) = (b.f32(1.0), b.f32(0.0));
    let rest = sub(b, mantissa, one);
    let below = b.op(Op::ILt, &[exponent, last]);
    let level = select(b, below, exponent, last);
    let blend = select(b, below, rest, zero);
    let base = b.op_as(Op::Bitcast, &[descriptor], Type::U32);
    let record = b.op(Op::IAdd, &[base, level]);
    let [fine, coarse] = [LEVELS, LEVELS + 1].map(|k| load(b, record, k));
    (fine, coarse, blend)
}

/// A place on the axes that repeat, in [0, 1].
fn reduce(b: &mut FunctionBuilder, place: Value, periodic: Value) -> Value {
    let cell = b.op(Op::Floor, &[place]);
    let away = mul(b, periodic, cell);
    sub(b, place, away)
}

/// The four texels around a place: of the upper row from the left, then of the lower one; and how
/// far the place lies from the first.
struct Corners {
    texels: [Value; 4],
    across: Value,
    down: Value,
}

/// The bilinear value of a level at a place.
fn tap(b: &mut FunctionBuilder, level: Value, place: Value) -> Value {
    let Corners { texels, across, down } = corners(b, level, place);
    blend(b, texels, across, down)
}

fn blend(b: &mut FunctionBuilder, [a, c, d, e]: [Value; 4], across: Value, down: Value) -> Value {
    let (top, bottom) = (mix(b, a, c, across), mix(b, d, e, across));
    mix(b, top, bottom, down)
}

/// Reads the texels around a place.
///
/// Texel (0, 0) has its middle at half a texel. The place is held within half a texel of the border
/// all round, where the level's own border is read.
fn corners(b: &mut FunctionBuilder, level: Value, place: Value) -> Corners {
    let size = pair(b, level, [0, 1]);
    let row = word(b, level, 2, Type::U32);
    let origin = word(b, level, 3, Type::U32);
    let half = b.constant(Const::Vec2([0.5; 2]));
    let (one, minus_one) = (b.constant(Const::Vec2([1.0; 2])), b.constant(Const::Vec2([-1.0; 2])));
    let texels = mul(b, place, size);
    let texels = sub(b, texels, half);
    let texels = clamp(b, texels, minus_one, size);
    let low = b.op(Op::Floor, &[texels]);
    let last = sub(b, size, one);
    let low = b.op(Op::Min, &[last, low]);
    let offset = sub(b, texels, low);
    let [x, y] = [0, 1].map(|lane| b.op(Op::Extract(lane), &[low]));
    // Exact: a level has less than 2²⁴ texels.
    let stride = b.op(Op::ToFloat, &[row]);
    let number = mul(b, y, stride);
    let number = add(b, number, x);
    let number = b.op_as(Op::ToInt, &[number], Type::I32);
    let number = b.op_as(Op::Bitcast, &[number], Type::U32);
    let upper = b.op(Op::IAdd, &[origin, number]);
    let lower = b.op(Op::IAdd, &[upper, row]);
    let [across, down] = [0, 1].map(|lane| b.op(Op::Extract(lane), &[offset]));
    let texels = [(upper, 0), (upper, 1), (lower, 0), (lower, 1)].map(|(address, k)| load(b, address, k));
    Corners { texels, across, down }
}

/// `x + (y − x)·t`
fn mix(b: &mut FunctionBuilder, x: Value, y: Value, t: Value) -> Value {
    let way = sub(b, y, x);
    let ty = b.ty(x);
    let t = if ty == Type::F32 { t } else { splat(b, t, ty) };
    let part = mul(b, way, t);
    add(b, x, part)
}
