//! The variables that every shader of a kind has without declaring them (RenderMan Interface 3.2.1, tables 11.1 to 11.4), and the named inputs for coordinate
//! spaces.

use super::ast::ShaderKind;
use super::types::RslType;

/// A predefined variable.
#[derive(Debug, PartialEq, Eq)]
pub struct Global {
    /// The name.
    pub name: &'static str,
    /// The type.
    pub ty: RslType,
    /// Whether surface shaders have it.
    surface: bool,
    /// Whether light shaders have it.
    light: bool,
    /// Whether imager shaders have it.
    imager: bool,
}

const fn global(name: &'static str, ty: RslType, kinds: &str) -> Global {
    let kinds = kinds.as_bytes();
    let (mut surface, mut light, mut imager) = (false, false, false);
    let mut i = 0;
    while i < kinds.len() {
        match kinds[i] {
            b's' => surface = true,
            b'l' => light = true,
            _ => imager = true,
        }
        i += 1;
    }
    Global { name, ty, surface, light, imager }
}

use RslType::{Color, Float, Normal, Point, Vector};

/// All of them. The last argument tells the kinds of shaders: **s**urface, **l**ight, **i**mager.
pub const GLOBALS: [Global; 35] = [
    global("Cs", Color, "s"),
    global("Os", Color, "s"),
    global("P", Point, "sli"),
    global("dPdu", Vector, "sl"),
    global("dPdv", Vector, "sl"),
    global("N", Normal, "sl"),
    global("Ng", Normal, "sl"),
    global("u", Float, "sl"),
    global("v", Float, "sl"),
    global("du", Float, "sl"),
    global("dv", Float, "sl"),
    global("s", Float, "sl"),
    global("t", Float, "sl"),
    global("I", Vector, "s"),
    global("E", Point, "sl"),
    global("ncomps", Float, "sli"),
    global("time", Float, "sli"),
    global("raydepth", Float, "sl"),
    global("Ci", Color, "si"),
    global("Oi", Color, "si"),
    global("alpha", Float, "i"),
    global("L", Vector, "l"),
    global("Cl", Color, "l"),
    global("Ol", Color, "l"),
    global("Ps", Point, "l"),
    global("Ns", Normal, "l"),
    global("space.shader.x", Vector, "sl"),
    global("space.shader.y", Vector, "sl"),
    global("space.shader.z", Vector, "sl"),
    global("space.shader.o", Point, "sl"),
    global("space.object.x", Vector, "sl"),
    global("space.object.y", Vector, "sl"),
    global("space.object.z", Vector, "sl"),
    global("space.object.o", Point, "sl"),
    global("dtime", Float, "sli"),
];

impl Global {
    /// Whether shaders of that kind have it.
    pub fn in_kind(&self, kind: ShaderKind) -> bool {
        match kind {
            ShaderKind::Surface => self.surface,
            ShaderKind::Light => self.light,
            ShaderKind::Imager => self.imager,
        }
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
        ShaderKind::Light => &["L", "Cl"],
        ShaderKind::Imager => &["Ci", "Oi", "alpha"],
    }
}

/// What a name of a coordinate system means to the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The space that shaders compute in.
    Current,
    /// A space whose axes and origin arrive as the named inputs `space.NAME.x`, `.y`, `.z`, `.o`.
    Input([&'static str; 4]),
    /// The camera's space: its axes and origin are program constants 2 to 5.
    Camera,
}

/// The coordinate system of that name; `None` when it is not known.
pub fn space(name: &str) -> Option<Space> {
    Some(match name {
        "current" | "world" => Space::Current,
        "shader" => Space::Input(["space.shader.x", "space.shader.y", "space.shader.z", "space.shader.o"]),
        "object" => Space::Input(["space.object.x", "space.object.y", "space.object.z", "space.object.o"]),
        "camera" => Space::Camera,
        _ => return None,
    })
}
