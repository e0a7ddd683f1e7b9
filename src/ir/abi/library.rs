//! Names in the IR of functions of the standard library that stages other than the front ends call
//! or replace.

use std::fmt::Display;

/// The namespace of the standard library in the IR.
const NAMESPACE: &str = "std.";

/// The name in the IR of a library function with the name `source` in the library's RSL text.
/// Overloads append their types.
pub fn name(source: &str) -> String {
    format!("{NAMESPACE}{source}")
}

/// True if a function of a module without [origins](crate::FunctionOrigin), such as an RPU
/// program, is the library's.
pub fn is_library(name: &str) -> bool {
    name.starts_with(NAMESPACE)
}

/// Samples the image at a raster position: `(f32 x, f32 y, f32 lens_x, f32 lens_y, …, f32 alpha) →
/// (vec3 color, f32 alpha)`. The parameter `alpha` is the start value of the output and is not
/// read.
pub const CAMERA: &str = "std.__camera";
/// The color and alpha that a camera ray sees: `(vec3 origin, vec3 direction, f32 width, f32
/// spread, f32 reach, f32 clipped, f32 mattes, f32 pixel, f32 index, f32 alpha) → (vec3 color, f32
/// alpha)`. The parameter `alpha` is not read.
pub const CAMERA_RAY: &str = "std.__camera_radiance";
/// The integrator: the radiance along a ray. Where nothing else defines it, it is the one that
/// composites surfaces.
pub const RADIANCE: &str = "std.__radiance";
/// The transmittance between two points: `(vec3 origin, vec3 direction, f32 t_min, f32 t_max, f32
/// kind) → vec3`; 1 where `t_max` is negative.
pub const TRANSMITTANCE: &str = "std.__transmittance";
/// `trace` of RSL for a point and a vector: `(vec3 origin, vec3 direction, …) → vec3`.
pub const TRACE: &str = "std.trace.pv.c";
/// The exponent of `specular` for a roughness: `(f32) → f32`.
pub const SPECULAR_EXPONENT: &str = "std.__specular_exponent";
/// Start of the names of the functions that return a vector which the program declares to have
/// length 1: `(vecN) → vecN`.
const UNIT: &str = "std.__unit.";

/// Name of the function that returns a vector of this type of the IR, as `vec3`, which the program declares to have
/// length 1.
pub fn unit(ty: impl Display) -> String {
    format!("{UNIT}{ty}")
}

/// True if a function is one of [`unit()`].
pub fn is_unit(name: &str) -> bool {
    name.starts_with(UNIT)
}

/// The transcendental functions, without the namespace: each from one float or two to one.
pub const TRANSCENDENTAL: [&str; 13] =
    ["sin", "cos", "tan", "asin", "acos", "atan.f.f", "atan.ff.f", "exp", "exp2", "log.f.f", "log.ff.f", "log2", "pow"];

/// The prefix of the name of one of [`TRANSCENDENTAL`] in that of its fast version.
pub const FAST: &str = "fast";

/// Start of the names of the functions that apply one of floats component by component.
const TUPLE: &str = "std.__tuple_";

/// True if a function applies one of floats component by component, as a shader asks.
pub fn is_componentwise(name: &str) -> bool {
    name.starts_with(TUPLE)
}

/// The seed of a sequence of random numbers at a position: `(vec3) → f32`, a whole number below
/// 2²⁴.
pub const SEED: &str = "std.__seed";
/// The next number of such a sequence: `(f32) → f32`.
pub const NEXT_RANDOM: &str = "std.__next_random";
/// A number of such a sequence as a random number in `[0, 1)`: `(f32) → f32`.
pub const SCRAMBLED: &str = "std.__scrambled";
/// Three random numbers in `[0, 1)` that depend on a position: `(vec3) → vec3`.
pub const RANDOM: &str = "std.__random";
/// Four numbers of a scrambled Sobol sequence: `(f32 index, f32 pixel, f32 dimension) → vec4`.
pub const SOBOL: &str = "std.__sobol";

/// The prefix of the names of the functions that filter textures.
const TEXTURES: &str = "std.texture.";

/// True if a function of the library looks up a texture.
pub fn is_texture_lookup(name: &str) -> bool {
    name.starts_with(TEXTURES)
}
