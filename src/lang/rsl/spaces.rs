//! Coordinate systems as operations: points, vectors, normals and matrices that are taken from a
//! system to the current one and back.
//!
//! A system is three axes and an origin, given in the current one (RenderMan Interface 3.2.1, §4.5
//! and §15.6). Which names a program may use is said by [`space`]; those of the
//! scene are the linker's, which [`named`] asks.

use super::matrices;
use crate::types::SourceType;
use shadewright_ir::abi::{Intrinsic, ShaderSpace};
use shadewright_ir::{FunctionBuilder, Type, Value};

/// The meaning of a coordinate system's name to the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The space that shaders compute in.
    Current,
    /// A space whose axes and origin arrive as the named inputs `space.NAME.x`, `.y`, `.z`, `.o`.
    Input([&'static str; 4]),
    /// The camera's space: its axes and origin are program constants 2 to 5.
    Camera,
    /// A space of the image that the library's functions `__point_to_NAME`, `__point_from_NAME` and
    /// their like for vectors and normals know.
    Image(&'static str),
    /// A coordinate system of the scene, which the linker knows.
    Named,
}

/// The name of world space, which is the current one unless the scene says otherwise.
pub const WORLD: &str = "world";

/// The meaning of a coordinate system's name, where world space is the current one.
pub fn space(name: &str) -> Space {
    match name {
        "current" | WORLD => Space::Current,
        "shader" => Space::Input(ShaderSpace::Shader.inputs()),
        "object" => Space::Input(ShaderSpace::Object.inputs()),
        "camera" => Space::Camera,
        "NDC" => Space::Image("NDC"),
        "raster" => Space::Image("raster"),
        "screen" => Space::Image("screen"),
        _ => Space::Named,
    }
}

/// The functions that change coordinate systems, whose names may be known only when the shader
/// runs.
pub const TRANSFORMS: [&str; 3] = ["transform", "vtransform", "ntransform"];

/// The images of the axes x, y and z in the current system, and of the origin.
pub type Axes = [Value; 4];

/// The system of the scene that the string `name` names; that of the world where there is none.
pub fn named(b: &mut FunctionBuilder, name: Value) -> Axes {
    let parts = b.call(Intrinsic::SpaceNamed, vec![name], &[Type::Vec3; 4]);
    [parts[0], parts[1], parts[2], parts[3]]
}

/// Converts a value that is given in a system to the current one.
pub fn out_of(b: &mut FunctionBuilder, [x, y, z, origin]: Axes, v: Value, ty: SourceType) -> Value {
    if ty == SourceType::Normal {
        return matrices::normal(b, [x, y, z], v);
    }
    let [x, y, z] = [(0, x), (1, y), (2, z)].map(|(lane, axis)| {
        let part = b.extract(v, lane);
        let part = b.splat(part, Type::Vec3);
        b.mul(part, axis)
    });
    let sum = b.add(x, y);
    let sum = b.add(sum, z);
    if ty == SourceType::Point { b.add(sum, origin) } else { sum }
}

/// Converts a value that is given in the current system to another: the inverse of [`out_of`].
pub fn into(b: &mut FunctionBuilder, [x, y, z, origin]: Axes, v: Value, ty: SourceType) -> Value {
    if ty == SourceType::Normal {
        let parts = [x, y, z].map(|axis| b.dot(v, axis));
        return b.compose(&parts);
    }
    let v = if ty == SourceType::Point { b.sub(v, origin) } else { v };
    // Cramer's rule.
    let cofactors = [(y, z), (z, x), (x, y)].map(|(a, c)| b.cross(a, c));
    let determinant = b.dot(x, cofactors[0]);
    let inverse = b.rcp(determinant);
    let parts = cofactors.map(|c| {
        let part = b.dot(v, c);
        b.mul(part, inverse)
    });
    b.compose(&parts)
}

/// The matrix that takes row vectors from a system to the current one.
pub fn matrix(b: &mut FunctionBuilder, axes: Axes) -> Value {
    let [zero, one] = [0.0, 1.0].map(|x| b.f32(x));
    let rows: Vec<Value> = axes
        .iter()
        .zip([zero, zero, zero, one])
        .map(|(&axis, last)| {
            let [x, y, z] = [0, 1, 2].map(|lane| b.extract(axis, lane));
            b.compose(&[x, y, z, last])
        })
        .collect();
    b.compose(&rows)
}
