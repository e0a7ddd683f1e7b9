//! Texture lookups, built as IR because they need addresses: a filtered value of a mip map in the
//! memory image ([`shadewright_texture::layout`]).
//!
//! The area to be averaged comes as the second moments `(ss, st, tt)` of an ellipse in texture
//! coordinates: with sides `a` and `b` of a parallelogram, `aaᵀ + bbᵀ` (Heckbert 1989, §3.5.8). Its
//! major axis is walked in up to [`MAX_PROBES`] steps, each a trilinear lookup (Williams 1983) as
//! wide as the minor axis (Feline: McCormack, Perry, Farkas and Jouppi 1999). Nothing is a hardware
//! sampler, so every back end computes the same bits.
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
use shadewright_ir::{Const, Control, Function, FunctionBuilder, Type, Value};
use shadewright_texture::layout::{FACES, LEVELS, PROJECTION, TextureKind};

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

/// `x` between two bounds; NaN becomes the lower one.
fn clamp(b: &mut FunctionBuilder, x: Value, low: Value, high: Value) -> Value {
    let x = b.max(low, x);
    b.min(high, x)
}

/// Two components of a vector.
fn pair(b: &mut FunctionBuilder, v: Value, lanes: [u8; 2]) -> Value {
    let parts = lanes.map(|lane| b.extract(v, lane));
    b.compose(&parts)
}

/// A component of a vector from memory as bits.
fn word(b: &mut FunctionBuilder, v: Value, lane: u8, ty: Type) -> Value {
    let word = b.extract(v, lane);
    b.bitcast(word, ty)
}

/// The vector at `address + offset`, of two integers, plus the immediate `k`.
fn load(b: &mut FunctionBuilder, address: Value, k: u32) -> Value {
    let address = b.bitcast(address, Type::Ref);
    b.load(address, k)
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
        let face = b.to_int(face, Type::U32);
        let base = b.bitcast(descriptor, Type::U32);
        let place = b.iadd(base, face);
        let entry = load(&mut b, place, FACES);
        descriptor = word(&mut b, entry, 0, Type::Ref);
    }
    let channel = b.extract(place, 2);
    let place = pair(&mut b, place, [0, 1]);
    let texel = b.call(library::name(FILTER), vec![descriptor, place, area], &[Type::Vec4])[0];
    let header = b.load(descriptor, 0);
    let channels = b.extract(header, 2);
    let value = take(&mut b, texel, channels, channel, fill);
    b.ret(vec![value]);
    b.finish()
}

/// A channel by its number, 0 to 3; `fill` for one that the texture has not.
fn pick(b: &mut FunctionBuilder, texel: Value, channels: Value, channel: Value, fill: Value) -> Value {
    let parts = [0, 1, 2, 3].map(|lane| b.extract(texel, lane));
    let mut value = parts[3];
    for lane in (0..3).rev() {
        let next = b.f32(lane as f32 + 1.0);
        let below = b.lt(channel, next);
        value = b.select(below, parts[lane], value);
    }
    let there = b.lt(channel, channels);
    b.select(there, value, fill)
}

fn pick_color(b: &mut FunctionBuilder, texel: Value, channels: Value, channel: Value, fill: Value) -> Value {
    let parts = [0.0, 1.0, 2.0].map(|behind| {
        let behind = b.f32(behind);
        let channel = b.add(channel, behind);
        pick(b, texel, channels, channel, fill)
    });
    b.compose(&parts)
}

/// `std.texture.project(name: string, P: vec3) -> vec3`
fn project() -> Function {
    let mut b = FunctionBuilder::library(library::name("texture.project"));
    b.result("return", Type::Vec3);
    let texture = b.param("name", Type::String);
    let point = b.param("P", Type::Vec3);
    let descriptor = b.call(Intrinsic::TextureFind, vec![texture], &[Type::Ref])[0];
    let header = b.load(descriptor, 0);
    let kind = b.extract(header, 3);
    let depths = b.f32(TextureKind::Depth as u32 as f32);
    let is_map = b.eq(kind, depths);
    let [x, y, z] = [0, 1, 2].map(|lane| b.extract(point, lane));
    let one = b.f32(1.0);
    let point = b.compose(&[x, y, z, one]);
    let [s, t, w, depth] = [0, 1, 2, 3].map(|row| {
        let row = b.load(descriptor, PROJECTION + row);
        b.dot(row, point)
    });
    let inverse = b.rcp(w);
    let [s, t] = [s, t].map(|x| b.mul(x, inverse));
    let (zero, behind) = (b.f32(0.0), b.f32(-1.0));
    let ahead = b.lt(zero, w);
    let seen = b.and(is_map, ahead);
    let depth = b.select(seen, depth, behind);
    let place = b.compose(&[s, t, depth]);
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
    let level = b.load(descriptor, LEVELS);
    let place = b.compose(&[s, t]);
    let Corners { texels, across, down } = corners(&mut b, level, place);
    let (one, zero) = (b.f32(1.0), b.f32(0.0));
    let nearer = texels.map(|texel| {
        let depth = b.extract(texel, 0);
        let nearer = b.lt(depth, z);
        b.select(nearer, one, zero)
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
    let header = b.load(descriptor, 0);
    let wraps = b.load(descriptor, 1);
    let size = pair(&mut b, header, [0, 1]);
    let periodic = pair(&mut b, wraps, [0, 1]);
    let last = word(&mut b, wraps, 2, Type::U32);
    let walk = walk(&mut b, size, area);
    let (fine, coarse, blend) = levels(&mut b, descriptor, walk.width, last);

    // The first place: half of all steps before the middle.
    let (one, half) = (b.f32(1.0), b.f32(0.5));
    let back = b.sub(walk.probes, one);
    let back = b.mul(back, half);
    let back = b.splat(back, Type::Vec2);
    let back = b.mul(back, walk.step);
    let first = b.sub(place, back);
    let zero = b.constant(Const::zero(Type::Vec4));
    let [at, left, sum] = [first, walk.probes, zero].map(|start| b.variable_with(start));
    b.repeat(|b| {
        let here = b.read(at);
        let reduced = reduce(b, here, periodic);
        let [near, far] = [fine, coarse].map(|level| tap(b, level, reduced));
        let value = mix(b, near, far, blend);
        let total = b.read(sum);
        let total = b.add(total, value);
        b.write(sum, total);
        let next = b.add(here, walk.step);
        b.write(at, next);
        let rest = b.read(left);
        let rest = b.sub(rest, one);
        b.write(left, rest);
        let none = b.f32(0.0);
        b.lt(none, rest)
    });
    let share = b.rcp(walk.probes);
    let share = b.splat(share, Type::Vec4);
    let total = b.read(sum);
    let mean = b.mul(total, share);
    b.ret(vec![mean]);
    b.finish()
}

/// The axes of the ellipse with second moments `area` on a texture of `size` texels.
fn walk(b: &mut FunctionBuilder, size: Value, area: Value) -> Walk {
    let [zero, one, half] = [0.0, 1.0, 0.5].map(|x| b.f32(x));
    let [most, least] = [MAX_MOMENT, -MAX_MOMENT].map(|x| b.f32(x));
    let [ss, st, tt] = [0, 1, 2].map(|lane| b.extract(area, lane));
    let [w, h] = [0, 1].map(|lane| b.extract(size, lane));
    // The symmetric matrix (p q; q r), in texels.
    let p = clamp(b, ss, zero, most);
    let p = b.mul(p, w);
    let p = b.mul(p, w);
    let q = clamp(b, st, least, most);
    let q = b.mul(q, w);
    let q = b.mul(q, h);
    let r = clamp(b, tt, zero, most);
    let r = b.mul(r, h);
    let r = b.mul(r, h);
    // Its eigenvalues are the squares of the axes: mean ± root.
    let mean = b.add(p, r);
    let mean = b.mul(mean, half);
    let spread = b.sub(p, r);
    let spread = b.mul(spread, half);
    let (square, other) = (b.mul(spread, spread), b.mul(q, q));
    let root = b.add(square, other);
    let root = b.sqrt(root);
    let major = b.add(mean, root);
    // The smaller one by the determinant: a difference of roots would cancel. Below a texel there
    // is nothing to distinguish.
    let (product, other) = (b.mul(p, r), b.mul(q, q));
    let determinant = b.sub(product, other);
    let major = b.max(one, major);
    let inverse = b.rcp(major);
    let minor = b.mul(determinant, inverse);
    let minor = b.max(one, minor);
    let [long, short] = [major, minor].map(|x| b.sqrt(x));
    let ratio = b.rcp(short);
    let ratio = b.mul(long, ratio);
    // ⌈ratio⌉; a circle may miss 1 by a rounding, which is no reason for a second lookup.
    let almost = b.f32(0.99);
    let ceiling = b.add(ratio, almost);
    let ceiling = b.floor(ceiling);
    let bound = b.f32(MAX_PROBES);
    let probes = clamp(b, ceiling, one, bound);
    let share = b.rcp(probes);
    let length = b.mul(long, share);
    let width = b.max(short, length);
    // The eigenvector of the larger eigenvalue, by the row that does not cancel.
    let wide = b.le(zero, spread);
    let (from_p, from_r) = (b.add(root, spread), b.sub(root, spread));
    let x = b.select(wide, from_p, q);
    let y = b.select(wide, q, from_r);
    let along = b.compose(&[x, y]);
    let square = b.dot(along, along);
    let scale = b.rsq(square);
    let scale = b.mul(scale, length);
    // Of a single lookup the direction may be undefined.
    let several = b.lt(one, probes);
    let scale = b.select(several, scale, zero);
    let along = select_vec2(b, several, along);
    let scale = b.splat(scale, Type::Vec2);
    let step = b.mul(along, scale);
    let texel = b.rcp(size);
    let step = b.mul(step, texel);
    Walk { probes, step, width }
}

/// `v`, or zero.
fn select_vec2(b: &mut FunctionBuilder, condition: Value, v: Value) -> Value {
    let zero = b.constant(Const::zero(Type::Vec2));
    b.select(condition, v, zero)
}

/// The two levels around texels of `width` (at least 1), and how far the second one's share goes:
/// the exponent of the width, and its mantissa, which is a line through the same points as the
/// logarithm.
fn levels(b: &mut FunctionBuilder, descriptor: Value, width: Value, last: Value) -> (Value, Value, Value) {
    let bits = b.bitcast(width, Type::U32);
    let [shift, bias, mask, unit] = [23, 127, 0x007f_ffff, 0x3f80_0000].map(|x| b.u32(x));
    let exponent = b.ishr(bits, shift);
    let exponent = b.isub(exponent, bias);
    let mantissa = b.iand(bits, mask);
    let mantissa = b.ior(mantissa, unit);
    let mantissa = b.bitcast(mantissa, Type::F32);
    let (one, zero) = (b.f32(1.0), b.f32(0.0));
    let rest = b.sub(mantissa, one);
    let below = b.ilt(exponent, last);
    let level = b.select(below, exponent, last);
    let blend = b.select(below, rest, zero);
    let base = b.bitcast(descriptor, Type::U32);
    let record = b.iadd(base, level);
    let [fine, coarse] = [LEVELS, LEVELS + 1].map(|k| load(b, record, k));
    (fine, coarse, blend)
}

/// A place on the axes that repeat, in [0, 1].
fn reduce(b: &mut FunctionBuilder, place: Value, periodic: Value) -> Value {
    let cell = b.floor(place);
    let away = b.mul(periodic, cell);
    b.sub(place, away)
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
    let texels = b.mul(place, size);
    let texels = b.sub(texels, half);
    let texels = clamp(b, texels, minus_one, size);
    let low = b.floor(texels);
    let last = b.sub(size, one);
    let low = b.min(last, low);
    let offset = b.sub(texels, low);
    let [x, y] = [0, 1].map(|lane| b.extract(low, lane));
    // Exact: a level has less than 2²⁴ texels.
    let stride = b.to_float(row);
    let number = b.mul(y, stride);
    let number = b.add(number, x);
    let number = b.to_int(number, Type::I32);
    let number = b.bitcast(number, Type::U32);
    let upper = b.iadd(origin, number);
    let lower = b.iadd(upper, row);
    let [across, down] = [0, 1].map(|lane| b.extract(offset, lane));
    let texels = [(upper, 0), (upper, 1), (lower, 0), (lower, 1)].map(|(address, k)| load(b, address, k));
    Corners { texels, across, down }
}

/// `x + (y − x)·t`
fn mix(b: &mut FunctionBuilder, x: Value, y: Value, t: Value) -> Value {
    let way = b.sub(y, x);
    let part = b.scale(way, t);
    b.add(x, part)
}
