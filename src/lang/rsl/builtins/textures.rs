//! Textures (RISpec 3.2, section 15.7): calls of the library's `texture.sl`, and the intrinsics out
//! of which that is written, which look into the memory image ([`crate::stdlib::texture`]).

use super::{CHANNEL, NamedOption, Row, number, packed, row, text};
use shadewright_ir::abi::{Intrinsic, library};
use shadewright_ir::{FunctionBuilder, Type, Value};
use shadewright_texture::layout::{NDC, VIEWING};

/// The options of `texture`, `environment` and `bump`. `pack` makes two vectors of them.
const LOOKUP: &[NamedOption] = &with_area([text("filter", "box"), number("fill", 0.0), number("samples", 1.0)]);

/// The options of `shadow`.
const SHADOW: &[NamedOption] = &with_area([number("samples", 16.0), number("bias", 0.225), text("filter", "box")]);

/// The options of all that averages an area, with three that follow.
const fn with_area([a, b, c]: [NamedOption; 3]) -> [NamedOption; 10] {
    [
        number(CHANNEL, 0.0),
        number("blur", 0.0),
        number("sblur", 0.0),
        number("tblur", 0.0),
        number("width", 1.0),
        number("swidth", 1.0),
        number("twidth", 1.0),
        a,
        b,
        c,
    ]
}

/// Options of `bake`.
const BAKE: &[NamedOption] = &[number("interpolate", 0.0), number("samples", 1.0)];

/// The rows of the functions for textures.
pub(super) const ROWS: &[Row] = &[
    row("bake", "x:sfff", |_, _| Vec::new()).with(BAKE),
    row("bake", "x:sffc", |_, _| Vec::new()).with(BAKE),
    row("bake", "x:sffp", |_, _| Vec::new()).with(BAKE),
    row("bake", "x:sffv", |_, _| Vec::new()).with(BAKE),
    row("bake", "x:sffn", |_, _| Vec::new()).with(BAKE),
    packed("texture", "c:s", "__texture_here_color", 3, |b, a| pack(b, a, 1)).with(LOOKUP),
    packed("texture", "f:s", "__texture_here_float", 3, |b, a| pack(b, a, 1)).with(LOOKUP),
    packed("texture", "c:sff", "__texture_at_color", 5, |b, a| pack(b, a, 3)).with(LOOKUP),
    packed("texture", "f:sff", "__texture_at_float", 5, |b, a| pack(b, a, 3)).with(LOOKUP),
    packed("texture", "c:sffffffff", "__texture_quad_color", 7, pack_corners).with(LOOKUP),
    packed("texture", "f:sffffffff", "__texture_quad_float", 7, pack_corners).with(LOOKUP),
    packed("environment", "c:sv", "__environment_color", 4, |b, a| pack(b, a, 2)).with(LOOKUP),
    packed("environment", "f:sv", "__environment_float", 4, |b, a| pack(b, a, 2)).with(LOOKUP),
    packed("environment", "c:svvvv", "__environment_quad_color", 7, |b, a| pack(b, a, 5)).with(LOOKUP),
    packed("environment", "f:svvvv", "__environment_quad_float", 7, |b, a| pack(b, a, 5)).with(LOOKUP),
    packed("bump", "v:snvv", "__bump_here", 6, |b, a| pack(b, a, 4)).with(LOOKUP),
    packed("bump", "v:snvvff", "__bump_at", 8, |b, a| pack(b, a, 6)).with(LOOKUP),
    packed("shadow", "f:sp", "__shadow_at", 4, |b, a| pack_shadow(b, a, 2)).with(SHADOW),
    packed("shadow", "f:spppp", "__shadow_quad", 7, |b, a| pack_shadow(b, a, 5)).with(SHADOW),
    row("__lookup_float", "f:sfffffff", |b, a| lookup(b, "texture.float", &a[..1], &a[1..], Type::F32)),
    row("__lookup_color", "c:sfffffff", |b, a| lookup(b, "texture.color", &a[..1], &a[1..], Type::Vec3)),
    row("__lookup_face_float", "f:sffffffff", |b, a| lookup(b, "texture.face.float", &a[..2], &a[2..], Type::F32)),
    row("__lookup_face_color", "c:sffffffff", |b, a| lookup(b, "texture.face.color", &a[..2], &a[2..], Type::Vec3)),
    row("__shadow_project", "p:sp", |b, a| b.call(library::name("texture.project"), a.to_vec(), &[Type::Vec3])),
    row("__shadow_compare", "f:sfff", |b, a| b.call(library::name("texture.compare"), a.to_vec(), &[Type::F32])),
    row("__texture_width", "f:s", |b, a| fact(b, a, 0, 0)),
    row("__texture_height", "f:s", |b, a| fact(b, a, 0, 1)),
    row("__texture_channels", "f:s", |b, a| fact(b, a, 0, 2)),
    row("__texture_kind", "f:s", |b, a| fact(b, a, 0, 3)),
    row("__texture_zoom", "f:s", |b, a| fact(b, a, 1, 0)),
    row("__texture_viewing_matrix", "m:s", |b, a| matrix(b, a, VIEWING)),
    row("__points_triple", "p:sf", points_triple),
    row("__points_number", "f:sf", points_number),
    row("__points_is_named", "f:sfs", points_is_named),
    row("__texture_projection_matrix", "m:s", |b, a| matrix(b, a, NDC)),
];

/// Calls a lookup after `first`: `channel, s, t, ss, st, tt, fill` as vectors.
fn lookup(b: &mut FunctionBuilder, name: &'static str, first: &[Value], rest: &[Value], ty: Type) -> Vec<Value> {
    let place = b.compose(&[rest[1], rest[2], rest[0]]);
    let area = b.compose(&rest[3..6]);
    let args = first.iter().copied().chain([place, area, rest[6]]).collect();
    b.call(library::name(name), args, &[ty])
}

/// The first `count` values, and the options as two vectors: what widths along s and t are
/// multiplied with, and `last`; what is added to them, and `other`.
fn options(b: &mut FunctionBuilder, args: &[Value], count: usize, last: usize, other: usize) -> [Value; 2] {
    let given = &args[count..];
    let widths = [5, 6].map(|i| b.mul(given[4], given[i]));
    let blurs = [2, 3].map(|i| b.add(given[1], given[i]));
    let shape = b.compose(&[widths[0], widths[1], given[last]]);
    [shape, b.compose(&[blurs[0], blurs[1], given[other]])]
}

/// The positional arguments as they are, then `(s width, t width, fill)` and `(s blur, t blur,
/// channel)`.
fn pack(b: &mut FunctionBuilder, args: &[Value], count: usize) -> Vec<Value> {
    let options = options(b, args, count, 8, 0);
    args[..count].iter().copied().chain(options).collect()
}

/// The same with `(s width, t width, samples)` and `(s blur, t blur, bias)`.
fn pack_shadow(b: &mut FunctionBuilder, args: &[Value], count: usize) -> Vec<Value> {
    let options = options(b, args, count, 7, 8);
    args[..count].iter().copied().chain(options).collect()
}

/// The same with corners as vectors `(s, t, 0)`.
fn pack_corners(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let zero = b.f32(0.0);
    let mut packed = vec![args[0]];
    packed.extend(args[1..9].chunks(2).map(|corner| b.compose(&[corner[0], corner[1], zero])));
    packed.extend(options(b, args, 9, 8, 0));
    packed
}

/// A number of a texture's descriptor.
fn fact(b: &mut FunctionBuilder, args: &[Value], vector: u32, lane: u8) -> Vec<Value> {
    let descriptor = b.call(Intrinsic::TextureFind, args.to_vec(), &[Type::Ref])[0];
    let vector = b.load(descriptor, vector);
    vec![b.extract(vector, lane)]
}

/// A matrix of the descriptor of a depth map.
fn matrix(b: &mut FunctionBuilder, args: &[Value], first: u32) -> Vec<Value> {
    let descriptor = b.call(Intrinsic::TextureFind, args.to_vec(), &[Type::Ref])[0];
    let rows: Vec<Value> = (first..first + 4).map(|k| b.load(descriptor, k)).collect();
    vec![b.compose(&rows)]
}

/// A vector of a point cloud: that at a distance, a whole number below 2²⁴, from its descriptor.
fn points_vector(b: &mut FunctionBuilder, args: &[Value]) -> Value {
    let descriptor = b.call(Intrinsic::TextureFind, args[..1].to_vec(), &[Type::Ref])[0];
    let address = b.bitcast(descriptor, Type::U32);
    let distance = b.to_int(args[1], Type::U32);
    let address = b.iadd(address, distance);
    let address = b.bitcast(address, Type::Ref);
    b.load(address, 0)
}

/// The first three components of such a vector.
fn points_triple(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let vector = points_vector(b, args);
    let parts = [0, 1, 2].map(|lane| b.extract(vector, lane));
    vec![b.compose(&parts)]
}

/// The fourth component.
fn points_number(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let vector = points_vector(b, args);
    vec![b.extract(vector, 3)]
}

/// True if such a vector begins with the identifier of a string: 1 or 0.
fn points_is_named(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let vector = points_vector(b, args);
    let word = b.extract(vector, 0);
    let [known, wanted] = [word, args[2]].map(|x| b.bitcast(x, Type::U32));
    let is_it = b.ieq(known, wanted);
    let (one, zero) = (b.f32(1.0), b.f32(0.0));
    vec![b.select(is_it, one, zero)]
}
