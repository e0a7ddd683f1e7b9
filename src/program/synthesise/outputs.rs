//! Arbitrary output variables, which an image shows in place of colours: `Display "+normals.exr"
//! "openexr" "N"` (RISpec 3.2, §4.1.2).
//!
//! A program that is linked for an output ([`crate::LinkOptions::output`]) returns its
//! value in place of `Ci` to camera rays; rays that shaders trace see colours. So rendering the
//! program makes the variable's image, filtered and composited as a colour is, with the coverage as
//! alpha. Predefined variables run no shader, and every surface is opaque for them.

use crate::Program;
use crate::synthesise::surface_state::{SURFACE_GLOBALS, SurfaceState, scale, xyz};
use shadewright_ir::{FunctionBuilder, Op, Type, Value};
use std::sync::Arc;

/// A variable that an image can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A predefined variable of surface shaders: its value before the shader runs.
    Global(&'static str),
    /// The distance along the camera's z (`z`, `depth`).
    Depth,
    /// The number of the surface shader among those of the image, from 1; 0 where there is none
    /// (`shaderid`).
    ShaderNumber,
    /// An output parameter of surface shaders.
    Parameter(Arc<str>),
    /// A part of what surface shaders bake ([`crate::Baking`]).
    Baked,
}

impl Output {
    /// The variable of that name.
    pub fn named(name: &str) -> Self {
        match name {
            "z" | "depth" => Self::Depth,
            "shaderid" => Self::ShaderNumber,
            "albedo" => Self::Global("Cs"),
            "normal" => Self::Global("N"),
            _ => match SURFACE_GLOBALS.into_iter().find(|(n, _)| *n == name && !matches!(*n, "Ci" | "Oi")) {
                Some((global, _)) => Self::Global(global),
                None => Self::Parameter(name.into()),
            },
        }
    }

    /// Whether averages of it are meaningless, so that a pixel has one sample, at its centre.
    pub fn is_sampled_once(&self) -> bool {
        matches!(self, Self::Depth | Self::ShaderNumber | Self::Baked)
    }

    /// The names of its channels in a file, one or three; `None` where no surface shader of the
    /// program has such an output parameter, or it is neither a number nor a triple.
    pub fn channels(&self, program: &Program) -> Option<&'static [&'static str]> {
        const NUMBER: &[&str] = &["Y"];
        const POINT: &[&str] = &["X", "Y", "Z"];
        const COLOR: &[&str] = &["R", "G", "B"];
        match self {
            Self::Depth => Some(&["Z"]),
            Self::Baked => None,
            Self::ShaderNumber => Some(NUMBER),
            Self::Global("Cs" | "Os") => Some(COLOR),
            Self::Global(name) => {
                let is_number = SURFACE_GLOBALS.iter().any(|(n, ty)| n == name && *ty == Type::F32);
                Some(if is_number { NUMBER } else { POINT })
            }
            Self::Parameter(name) => {
                let shaders = program.instances.iter().flatten().map(|instance| &instance.shader);
                let is_result = |p: &crate::CompiledParam| *p.name == **name;
                let with_results = shaders.filter(|s| s.core_results.iter().any(|r| r.name == *name));
                let type_name = with_results.flat_map(|s| &s.params).find(|p| is_result(p))?.type_name;
                match type_name {
                    "float" => Some(NUMBER),
                    "color" => Some(COLOR),
                    "point" | "vector" | "normal" => Some(POINT),
                    _ => None,
                }
            }
        }
    }

    /// Its value at the hit, where that needs no shader.
    pub(crate) fn at_hit(&self, b: &mut FunctionBuilder, state: &mut SurfaceState, number: usize) -> Option<Value> {
        let value = match self {
            Self::Global(name) => state.global(b, name)?,
            Self::Depth => {
                let point = state.global(b, "P")?;
                let [origin, z] = [5, 4].map(|k| {
                    let vector = b.op(Op::Uniform(k), &[]);
                    xyz(b, vector)
                });
                let offset = b.op(Op::Sub, &[point, origin]);
                // An off-centre screen window shears the camera's z: depth is along the normal of
                // the plane of x and y.
                let [x, y] = [2, 3].map(|k| {
                    let vector = b.op(Op::Uniform(k), &[]);
                    xyz(b, vector)
                });
                let across = b.op(Op::Cross, &[x, y]);
                let [along, unit] = [offset, z].map(|v| b.op(Op::Dot, &[across, v]));
                let reciprocal = b.op(Op::Rcp, &[unit]);
                scale(b, along, reciprocal)
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
        Type::F32 => b.op_as(Op::Splat, &[value], Type::Vec3),
        _ => {
            let zero = b.f32(0.0);
            b.op_as(Op::Splat, &[zero], Type::Vec3)
        }
    }
}
