//! Intrinsics for rays and lights: what the integrator and the shading functions are written with.

use super::{NamedOption, Row, library, number, row, text};
use shadewright_ir::abi::{Intrinsic, library};
use shadewright_ir::{FunctionBuilder, Op, ShaderCall, Type, Value};

/// Options of functions that look into a hemisphere; the last four steer how PRMan saves samples,
/// and have no effect.
const HEMISPHERE: &[NamedOption] = &[
    number("maxdist", f32::MAX),
    number("coneangle", std::f32::consts::FRAC_PI_2),
    number("bias", -1.0),
    text("distribution", "cosine"),
    number("minsamples", 1.0),
    number("maxvariation", 0.0),
    number("maxerror", 0.0),
    number("maxpixeldist", 0.0),
];

/// Options of `trace`. There is one ray, whatever the number of samples.
const TRACE: &[NamedOption] = &[number("bias", -1.0), number("maxdist", f32::MAX), number("samples", 1.0)];

/// Options of what reads photon maps.
const PHOTONS: &[NamedOption] =
    &[number("estimator", 50.0), text("lookuptype", "irradiance"), number("maxdist", f32::MAX)];

/// Options of light that scatters below a surface.
const SCATTERING: &[NamedOption] = &[text("filename", ""), text("type", ""), number("scale", 1.0), number("ior", 1.3)];

/// Options of what reads and writes point clouds.
const POINTS: &[NamedOption] = &[
    text("coordsystem", "world"),
    number("radius", 0.0),
    number("radiusscale", 1.0),
    number("filterradius", 0.0),
    number("interpolate", 0.0),
];

/// The rows of the functions for rays and lights.
pub(super) const ROWS: &[Row] = &[
    library("trace", "c:pv", "__trace_color").with(TRACE),
    library("trace", "f:pv", "__trace_float").with(TRACE),
    row("caustic", "c:pn", |b, _| black(b)),
    row("photonmap", "c:spn", |b, _| black(b)).with(PHOTONS),
    row("photonmap", "c:sp", |b, _| black(b)).with(PHOTONS),
    row("subsurface", "c:p", |b, _| black(b)).with(SCATTERING),
    row("subsurface", "c:pn", |b, _| black(b)).with(SCATTERING),
    row("subsurface", "c:sp", |b, _| black(b)),
    row("subsurface", "c:spn", |b, _| black(b)),
    row("texture3d", "f:spn", |b, _| vec![b.f32(0.0)]).with(POINTS),
    row("bake3d", "f:sspn", |b, _| vec![b.f32(0.0)]).with(POINTS),
    row("__trace", "f:pvff", trace),
    row("__hit_transmission", "f:", |b, _| hit_object(b, 1)),
    row("__hit_occlusion", "f:", |b, _| hit_object(b, 3)),
    row("__hit_is_hidden", "f:f", hit_is_hidden),
    row("__is_selective", "f:", |b, _| b.call(Intrinsic::RaySelective, Vec::new(), &[Type::F32])),
    row("__ray_depth", "f:f", |b, a| b.call(Intrinsic::RayDepth, a.to_vec(), &[Type::F32])),
    row("__occluded", "f:pvff", occluded),
    row("__shade", "x:pvffff&c&c", shade),
    row("__radiance", "c:pvfffffffff&c&f", radiance),
    row("__seed", "f:p", |b, a| b.call(library::SEED, a.to_vec(), &[Type::F32])),
    row("__random", "v:p", |b, a| b.call(library::RANDOM, a.to_vec(), &[Type::Vec3])),
    row("__has_volumes", "f:", |b, _| b.call(Intrinsic::VolumeAny, Vec::new(), &[Type::F32])),
    row("__volumes", "x:fpvf&c&c", |b, a| b.call(Intrinsic::VolumePass, a.to_vec(), &[Type::Vec3; 2])),
    library("transmission", "c:pp", "__transmission").with(&[
        number("samples", 1.0),
        number("minsamples", 1.0),
        number("samplecone", 0.0),
        number("bias", -1.0),
    ]),
    library("occlusion", "f:pvf", "__occlusion").with(HEMISPHERE),
    library("occlusion", "f:spvf", "__occlusion_without_map").with(HEMISPHERE),
    library("indirectdiffuse", "c:pvf", "__indirectdiffuse").with(HEMISPHERE),
    library("indirectdiffuse", "c:spvf", "__indirectdiffuse_without_map").with(HEMISPHERE),
    row("__lights_ambient", "c:pn", |b, a| b.call(Intrinsic::LightAmbient, a.to_vec(), &[Type::Vec3])),
];

/// The value of photon maps where there are none: black.
fn black(b: &mut FunctionBuilder) -> Vec<Value> {
    vec![b.vec3([0.0; 3])]
}

/// Composes the argument `(t_min, t_max, 0, 0)` of a ray operation.
fn ray_argument(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let zero = b.f32(0.0);
    let arg = b.compose(&[args[2], args[3], zero, zero]);
    vec![args[0], args[1], arg]
}

/// Shoots a ray; the distance of the hit, −1 on a miss.
fn trace(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let args = ray_argument(b, args);
    b.trace(args[0], args[1], args[2]);
    let hit = b.hit();
    let t = b.extract(hit, 2);
    let (zero, minus_one) = (b.f32(0.0), b.f32(-1.0));
    let missed = b.lt(t, zero);
    vec![b.select(missed, minus_one, t)]
}

/// A word of the first vector of the record of the object that was hit.
fn hit_object(b: &mut FunctionBuilder, lane: u8) -> Vec<Value> {
    let object = b.hit_obj();
    let first = b.load(object, 0);
    vec![b.extract(first, lane)]
}

/// True if rays of a kind do not see the object that was hit: 1 or 0.
fn hit_is_hidden(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let [specular, diffuse] = [2, 3].map(|lane| hit_object(b, lane)[0]);
    let (diffuse_ray, one, zero) = (b.f32(2.0), b.f32(1.0), b.f32(0.0));
    let is_diffuse = b.eq(args[0], diffuse_ray);
    let word = b.select(is_diffuse, diffuse, specular);
    let is_hidden = b.eq(word, one);
    vec![b.select(is_hidden, one, zero)]
}

fn occluded(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let args = ray_argument(b, args);
    let blocked = b.occluded(args[0], args[1], args[2]);
    let (one, zero) = (b.f32(1.0), b.f32(0.0));
    vec![b.select(blocked, one, zero)]
}

/// Calls the shader of the current hit: origin, direction and depth of the ray, then its width,
/// spread and kind.
fn shade(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    let nothing = b.f32(0.0);
    let ray = b.compose(&[args[3], args[4], nothing, args[5]]);
    b.inst(Op::CallShader(ShaderCall::Ray), vec![args[0], args[1], args[2], ray], ShaderCall::Ray.results())
}

/// Calls the integrator: origin and direction, depth, width, spread and kind of the ray, where
/// surfaces begin and end to count, whether matte ones do, the pixel and the sample.
fn radiance(b: &mut FunctionBuilder, args: &[Value]) -> Vec<Value> {
    b.call(library::RADIANCE, args[..11].to_vec(), &[Type::Vec3, Type::Vec3, Type::F32])
}
