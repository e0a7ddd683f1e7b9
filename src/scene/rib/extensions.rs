//! `Attribute "shadewright"`: what the RIB of an export says beyond the specification, so that it is
//! read back to the same scene.

use super::args::Args;
use super::groups::{for_each_param, one_float, one_string};
use super::params::{Param, Type};
use super::reader::Reader;
use glam::Mat4;
use shadewright_base::text::diagnostics::Diagnostic;
use std::sync::Arc;

/// The group's name.
pub const GROUP: &str = "shadewright";

/// The values that the group sets for objects and shaders that follow.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// `"matrix space"`: the coordinate system of objects and shaders to the current space, where it
    /// is not the transform.
    pub space: Option<Mat4>,
    /// `"int unitnormals"`: normals have length 1, and are taken as they are.
    pub unit_normals: bool,
    /// `"int ribbons"`: meshes are tubes around ribbons that face whoever looks at them.
    pub ribbons: bool,
}

/// `Attribute "shadewright" parameters`
pub fn attribute(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    for_each_param(r, args, &[], GROUP, |r, p| {
        match p.name.as_str() {
            "space" => {
                let matrix = one_matrix(p)?;
                // The identity gives the transform its meaning back.
                r.state.attributes.extensions.space = (matrix != Mat4::IDENTITY).then_some(matrix);
            }
            "unitnormals" => r.state.attributes.extensions.unit_normals = one_float(p)? != 0.0,
            "ribbons" => r.state.attributes.extensions.ribbons = one_float(p)? != 0.0,
            "emits" => {
                let handle = one_string(p)?;
                let light = r.lights.handles.get(handle).copied().filter(|&light| r.scene.lights[light as usize].area);
                let light = light.ok_or_else(|| {
                    let d = Diagnostic::error(format!("no area light has the handle {handle}"));
                    d.at(p.value_span, "this").hint("declare it before, with AreaLightSource")
                })?;
                Arc::make_mut(&mut r.state.attributes.own).emits = Some(light);
            }
            _ => return Ok(false),
        }
        Ok(true)
    })
}

/// A parameter that must be one matrix that can be inverted.
fn one_matrix(p: &Param) -> Result<Mat4, Diagnostic> {
    p.expect(1, "one matrix")?;
    let matrix = p.matrices().first().copied().filter(|_| p.declaration.ty == Type::Matrix);
    matrix.filter(|m| m.is_finite() && m.inverse().is_finite()).ok_or_else(|| {
        Diagnostic::error(format!("`{}` must be a matrix that can be inverted", p.name))
            .at(p.value_span, "not a coordinate system")
    })
}
