//! The predefined variables of shaders, which the linker supplies by name: those of the RenderMan
//! Interface 3.2.1, tables 11.1 to 11.4, and the named inputs for coordinate spaces and the ray.
//!
//! A core takes those that it reads after its declared parameters, with these names and types, and
//! returns [`outputs`] first. A language may give them other names in its source.

use crate::types::SourceType;
use shadewright_ir::abi::{Input, ShaderKind, ShaderSpace, input};

/// A predefined variable.
#[derive(Debug, PartialEq, Eq)]
pub struct Global {
    /// The name.
    pub name: &'static str,
    /// The type.
    pub ty: SourceType,
    /// The kinds of shaders that have it, by the letters of [`letter`].
    kinds: &'static str,
}

const fn global(name: &'static str, ty: SourceType, kinds: &'static str) -> Global {
    Global { name, ty, kinds }
}

/// The letter of a kind of shader in tables: **s**urface, **l**ight, **v**olume, **d**isplacement,
/// **i**mager.
pub fn letter(kind: ShaderKind) -> char {
    match kind {
        ShaderKind::Surface => 's',
        ShaderKind::Light => 'l',
        ShaderKind::Volume => 'v',
        ShaderKind::Displacement => 'd',
        ShaderKind::Imager => 'i',
    }
}

use SourceType::{Color, Float, Normal, Point, Vector};

/// All of them. The last argument has the kinds of shaders, see [`letter`].
pub const GLOBALS: [Global; 44] = [
    global("Cs", Color, "s"),
    global("Os", Color, "s"),
    global("P", Point, "slvdi"),
    global("dPdu", Vector, "sld"),
    global("dPdv", Vector, "sld"),
    global("N", Normal, "sld"),
    global("Ng", Normal, "sld"),
    global("u", Float, "sld"),
    global("v", Float, "sld"),
    global("du", Float, "sld"),
    global("dv", Float, "sld"),
    global("s", Float, "sldi"),
    global("t", Float, "sldi"),
    global("I", Vector, "slvd"),
    global("E", Point, "slvd"),
    global("ncomps", Float, "slvdi"),
    global("time", Float, "slvdi"),
    global("raydepth", Float, "slvd"),
    global("Ci", Color, "svi"),
    global("Oi", Color, "svi"),
    global("alpha", Float, "i"),
    global("L", Vector, "l"),
    global("Cl", Color, "l"),
    global("Ol", Color, "l"),
    global("Ps", Point, "l"),
    global("Ns", Normal, "l"),
    global(input::RAY_FOOTPRINT, Float, "slvd"),
    global(input::RAY_SPREAD, Float, "slvd"),
    global(input::RAY_KIND, Float, "slvd"),
    global(ShaderSpace::Shader.inputs()[0], Vector, "slvd"),
    global(ShaderSpace::Shader.inputs()[1], Vector, "slvd"),
    global(ShaderSpace::Shader.inputs()[2], Vector, "slvd"),
    global(ShaderSpace::Shader.inputs()[3], Point, "slvd"),
    global(ShaderSpace::Object.inputs()[0], Vector, "slvd"),
    global(ShaderSpace::Object.inputs()[1], Vector, "slvd"),
    global(ShaderSpace::Object.inputs()[2], Vector, "slvd"),
    global(ShaderSpace::Object.inputs()[3], Point, "slvd"),
    global(input::RAY_ORIGIN, Point, "sd"),
    global(input::RAY_DIRECTION, Vector, "sd"),
    global("dtime", Float, "slvdi"),
    global("dPdtime", Vector, "sd"),
    global(input::RANDOM_STATE, Float, "slvdi"),
    global(input::DISPLACED, Float, "s"),
    global(input::BAKED, Color, "s"),
];

/// The position that a kind of shader is run for.
pub fn position(kind: ShaderKind) -> &'static str {
    if kind == ShaderKind::Light { "Ps" } else { "P" }
}

impl Global {
    /// True if it is the same for all points that are shaded together (tables 11.1 to 11.4).
    pub fn is_uniform(&self) -> bool {
        matches!(self.name, "E" | "ncomps" | "time" | "dtime" | "raydepth")
    }

    /// True if it is one of those that text can name in surface shaders.
    pub fn is_of_surfaces(&self) -> bool {
        let is_internal = input::INTERNAL.contains(&self.name);
        self.in_kind(ShaderKind::Surface) && Input::parse(self.name).is_predefined() && !is_internal
    }

    /// True if shaders of that kind have it.
    pub fn in_kind(&self, kind: ShaderKind) -> bool {
        self.kinds.contains(letter(kind))
    }
}

/// The variable of that name.
pub fn find(name: &str) -> Option<&'static Global> {
    GLOBALS.iter().find(|g| g.name == name)
}

/// The outputs of a kind of shader, in the order of a core's results.
pub fn outputs(kind: ShaderKind) -> &'static [&'static str] {
    match kind {
        ShaderKind::Surface => &["Ci", "Oi"],
        ShaderKind::Light => &["L", "Cl", "Ol"],
        ShaderKind::Volume => &["Ci", "Oi"],
        ShaderKind::Displacement => &["P", "N"],
        ShaderKind::Imager => &["Ci", "Oi", "alpha"],
    }
}
