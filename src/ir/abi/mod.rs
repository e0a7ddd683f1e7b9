//! The names on which the stages of the compiler agree.
//!
//! Front ends, passes, the linker, back ends and renderers refer to each other's functions by name:
//! entry points ([`EntryPoint`]), functions that the linker makes for each scene ([`Intrinsic`]),
//! operations between the lanes of a vector ([`LaneIntrinsic`]) and functions of the standard
//! library ([`library`]). A shader's core takes named inputs
//! ([`Input`]). Each such name has a type here, one function that gives its spelling and one that
//! reads it. Nothing else builds or takes apart such a name.

mod bake;
pub mod frame;
mod inputs;
mod intrinsics;
mod lanes;
pub mod library;

pub use bake::{BakeCall, BakeKind};
pub use inputs::{Axis, Input, Query, QuerySource, ShaderSpace, input};
pub use intrinsics::{DERIVED, DataType, Intrinsic, generic_name, specialization_suffix, underived_name};
pub use lanes::{LaneIntrinsic, Reduction};

/// A parameter name of an RTSL object as the reference and the parameter of the object that it
/// refers to: `bricks.mortar`, or `list.0.mortar` of a list. `None` for a parameter of the object
/// itself.
pub fn referred_parameter(name: &str) -> Option<(&str, &str)> {
    name.split_once('.')
}

/// The kinds of shaders of the RenderMan Shading Language (RISpec 3.2, chapter 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShaderKind {
    /// Gives the color of light that leaves a point of a surface.
    Surface,
    /// Gives the light that falls on a point.
    Light,
    /// Changes the light on its way through a stretch of space.
    Volume,
    /// Moves points of a surface and turns its normals.
    Displacement,
    /// Changes a finished pixel.
    Imager,
}

impl ShaderKind {
    /// All of them.
    pub const ALL: [ShaderKind; 5] =
        [ShaderKind::Surface, ShaderKind::Light, ShaderKind::Volume, ShaderKind::Displacement, ShaderKind::Imager];

    /// The keyword that starts the shader in RSL.
    pub fn name(self) -> &'static str {
        match self {
            ShaderKind::Surface => "surface",
            ShaderKind::Light => "light",
            ShaderKind::Volume => "volume",
            ShaderKind::Displacement => "displacement",
            ShaderKind::Imager => "imager",
        }
    }
}

/// Name of the entry point that renders one sample.
pub const CAMERA_ENTRY: &str = "@camera";
/// Name of the entry point that runs once a pixel on the finished film.
pub const IMAGER_ENTRY: &str = "@imager";

/// Name of surface entry point `n`; `n` is what a hit carries in its fourth component.
pub fn surface_entry(n: usize) -> String {
    format!("@surface.{n}")
}

/// Name of the entry point that displaces points of objects whose surface entry point is `n`.
pub fn displacement_entry(n: usize) -> String {
    format!("@displace.{n}")
}

/// Name of the entry point that gives all predefined variables where surface entry point `n` would
/// run; programs linked for a debugger have it.
pub fn globals_entry(n: usize) -> String {
    format!("@globals.{n}")
}

/// Name of the entry point that intersects rays with procedural primitives of kind `n`: `(orig,
/// dir, t_min, t_max, block) -> t`. The ray is in the primitive's space, `block` is the address of
/// its parameters, and `t` is negative for a miss.
pub fn intersect_entry(n: usize) -> String {
    format!("@intersect.{n}")
}

/// Names of the two entry points of kind `n` for rays with a common origin. The first computes what
/// depends on the origin alone, `(orig, dir, t_min, t_max, block) -> (…)`, and reads only `orig`
/// and `block`. The second takes these results after the parameters of [`intersect_entry`] and
/// gives the same bits as that. Not all kinds have them.
pub fn common_origin_entries(n: usize) -> [String; 2] {
    [format!("@intersect.{n}.origin"), format!("@intersect.{n}.rest")]
}

/// The purpose for which an entry point is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryPoint {
    /// Renders one sample.
    Camera,
    /// Shades hits of the surface of this number.
    Surface(u32),
    /// Displaces points of the surface of this number.
    Displacement(u32),
    /// Gives the predefined variables at hits of the surface of this number.
    Globals(u32),
    /// Runs once a pixel on the finished film.
    Imager,
    /// Intersects rays with procedural primitives of this kind.
    Intersection(u32),
    /// The part of an intersection that depends on the ray's origin alone.
    IntersectionOrigin(u32),
    /// The rest of an intersection, for rays with a common origin.
    IntersectionRest(u32),
    /// Any other function that is called from outside, such as one that a test or a command names.
    Other,
}

impl EntryPoint {
    /// The name of the function; `None` for [`EntryPoint::Other`], which may have any.
    pub fn name(self) -> Option<String> {
        Some(match self {
            EntryPoint::Camera => CAMERA_ENTRY.to_string(),
            EntryPoint::Surface(n) => surface_entry(n as usize),
            EntryPoint::Displacement(n) => displacement_entry(n as usize),
            EntryPoint::Globals(n) => globals_entry(n as usize),
            EntryPoint::Imager => IMAGER_ENTRY.to_string(),
            EntryPoint::Intersection(n) => intersect_entry(n as usize),
            EntryPoint::IntersectionOrigin(n) => {
                let [origin, _] = common_origin_entries(n as usize);
                origin
            }
            EntryPoint::IntersectionRest(n) => {
                let [_, rest] = common_origin_entries(n as usize);
                rest
            }
            EntryPoint::Other => return None,
        })
    }

    /// The entry point with the word and the number that the IR's text form has for it.
    pub fn from_word(word: &str, n: Option<u32>) -> Option<Self> {
        let roles = match n {
            None => vec![EntryPoint::Camera, EntryPoint::Imager],
            Some(n) => vec![
                EntryPoint::Surface(n),
                EntryPoint::Displacement(n),
                EntryPoint::Globals(n),
                EntryPoint::Intersection(n),
                EntryPoint::IntersectionOrigin(n),
                EntryPoint::IntersectionRest(n),
            ],
        };
        roles.into_iter().find(|role| role.word().0 == word)
    }

    /// The word and the number that the IR's text form has for it; an empty word for
    /// [`EntryPoint::Other`].
    pub fn word(self) -> (&'static str, Option<u32>) {
        match self {
            EntryPoint::Camera => ("camera", None),
            EntryPoint::Surface(n) => ("surface", Some(n)),
            EntryPoint::Displacement(n) => ("displacement", Some(n)),
            EntryPoint::Globals(n) => ("globals", Some(n)),
            EntryPoint::Imager => ("imager", None),
            EntryPoint::Intersection(n) => ("intersection", Some(n)),
            EntryPoint::IntersectionOrigin(n) => ("intersection_origin", Some(n)),
            EntryPoint::IntersectionRest(n) => ("intersection_rest", Some(n)),
            EntryPoint::Other => ("", None),
        }
    }
}
