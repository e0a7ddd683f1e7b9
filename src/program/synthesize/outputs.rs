//! Arbitrary output variables, which an image shows in place of colors: `Display "+normals.exr"
//! "openexr" "N"` (RISpec 3.2, §4.1.2).
//!
//! A program that is linked for an output ([`crate::LinkOptions::output`]) returns its
//! value in place of `Ci` to camera rays; rays that shaders trace see colors. So rendering the
//! program makes the variable's image, filtered and composited as a color is, with the coverage as
//! alpha. Predefined variables run no shader, and every surface is opaque for them.

use crate::options::Output;
use crate::synthesize::surface_state::SurfaceState;
use shadewright_ir::abi::frame::slots;
use shadewright_ir::{FunctionBuilder, Type, Value};

impl Output {
    /// The value at the hit, where that needs no shader.
    pub(crate) fn at_hit(&self, b: &mut FunctionBuilder, state: &mut SurfaceState, number: usize) -> Option<Value> {
        let value = match self {
            Self::Global(name) => state.global(b, name)?,
            Self::Depth => {
                let point = state.global(b, "P")?;
                let [origin, z] = [slots::CAMERA_ORIGIN, slots::CAMERA_Z].map(|slot| b.frame_xyz(slot));
                let offset = b.sub(point, origin);
                // An off-center screen window shears the camera's z: depth is along the normal of
                // the plane of x and y.
                let [x, y] = [slots::CAMERA_X, slots::CAMERA_Y].map(|slot| b.frame_xyz(slot));
                let across = b.cross(x, y);
                let [along, unit] = [offset, z].map(|v| b.dot(across, v));
                let reciprocal = b.rcp(unit);
                b.scale(along, reciprocal)
            }
            Self::ShaderNumber => b.f32(number as f32 + 1.0),
            Self::Parameter(_) | Self::Baked => return None,
        };
        Some(triple(b, value))
    }
}

/// A value as three numbers: a float thrice, a triple as it is, anything else zero.
pub(crate) fn triple(b: &mut FunctionBuilder, value: Value) -> Value {
    match b.ty(value) {
        Type::Vec3 => value,
        Type::F32 => b.splat(value, Type::Vec3),
        _ => {
            let zero = b.f32(0.0);
            b.splat(zero, Type::Vec3)
        }
    }
}
