//! The names by which pfman's shaders know what the renderer gives them and what they give it: the
//! seed's (`px_…`), and RenderMan's.
//!
//! A shader may declare them as parameters, with a type of its own, or name them alone: what is not
//! declared is found by looking at what the shader names (Olano 1998, §4.4.3).

use super::ast::ShaderKind;
use super::types::Type;
use crate::globals::{GLOBALS, letter};
use crate::types::SourceType;
use shadewright_ir::abi::{Input, input};

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A predefined variable of RenderMan, of the same name.
    Predefined,
    /// Another name of such a variable.
    Alias,
    /// Texture coordinates: `s` and `t`.
    TextureCoordinates,
    /// The area of a pixel on the surface.
    PixelArea,
    /// The light that reaches the surface: what `diffuse` gives.
    Diffuse,
    /// The light that it reflects as a highlight: what `specular` gives.
    Specular,
}

/// A name.
#[derive(Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub name: &'static str,
    /// The meaning.
    pub meaning: Meaning,
    /// The predefined variables that it is made of, by the names that cores have for them.
    pub reads: &'static [&'static str],
    /// Number of floats.
    pub count: u32,
    /// The kinds of shaders that have it, by the letters of [`letter`].
    kinds: &'static str,
    /// True if shaders write it.
    pub is_output: bool,
    /// A line for editors.
    pub about: &'static str,
}

const fn name(
    name: &'static str,
    meaning: Meaning,
    reads: &'static [&'static str],
    count: u32,
    kinds: &'static str,
    about: &'static str,
) -> Name {
    Name { name, meaning, reads, count, kinds, is_output: false, about }
}

const fn output(name: &'static str, reads: &'static [&'static str], kinds: &'static str, about: &'static str) -> Name {
    Name { name, meaning: Meaning::Alias, reads, count: 3, kinds, is_output: true, about }
}

use Meaning::{Alias, Diffuse, PixelArea, Specular, TextureCoordinates};

/// The names of the PixelFlow system (§4.1.2, §4.1.4, §4.1.5, §4.2.1, §4.5.4).
pub const SYSTEM: [Name; 17] = [
    output("px_rc_co", &["Ci"], "s", "the color of the surface, which is multiplied by its opacity"),
    output("px_rc_cl", &["Cl"], "l", "the light's color"),
    output("px_rc_l", &["L"], "l", "the direction towards the light"),
    name("px_rc_l", Alias, &["L"], 3, "s", "the direction towards the light, within illuminance"),
    name("px_rc_cl", Alias, &["Cl"], 3, "s", "the light's color, within illuminance"),
    name("px_rc_phong_co", Diffuse, &["P", "N"], 3, "s", "the diffuse light that reaches the surface"),
    name("px_rc_spec_co", Specular, &["P", "N", "I"], 3, "s", "the light of highlights"),
    name("px_shader_texcoord", TextureCoordinates, &["s", "t"], 2, "sl", "texture coordinates"),
    name("px_material_texcoord", TextureCoordinates, &["s", "t"], 2, "sl", "texture coordinates"),
    name("px_shader_normal", Alias, &["N"], 3, "s", "the surface's normal"),
    name("px_material_normal", Alias, &["N"], 3, "s", "the surface's normal"),
    name("px_shader_position", Alias, &["P"], 3, "s", "the point of the surface"),
    name("px_shader_position", Alias, &["Ps"], 3, "l", "the point that is lit"),
    name("px_shader_eye", Alias, &["E"], 3, "sl", "the position of the camera"),
    name("px_shader_f_sqr", PixelArea, &[input::RAY_FOOTPRINT], 1, "sl", "the area of a pixel on the surface"),
    name("px_material_diffuse", Alias, &["Cs"], 3, "s", "the surface's color"),
    name("px_material_ambient", Alias, &["Cs"], 3, "s", "the surface's color"),
];

/// RenderMan's names as [`Name`]s, in the order of [`GLOBALS`].
static PREDEFINED: std::sync::LazyLock<Vec<Name>> = std::sync::LazyLock::new(|| {
    let visible = GLOBALS.iter().filter(|g| Input::parse(g.name).is_predefined() && !input::INTERNAL.contains(&g.name));
    visible
        .map(|g| Name {
            name: g.name,
            meaning: Meaning::Predefined,
            reads: std::slice::from_ref(&g.name),
            count: if g.ty == SourceType::Float { 1 } else { 3 },
            kinds: if g.in_kind(ShaderKind::Surface) && g.in_kind(ShaderKind::Light) {
                "sl"
            } else if g.in_kind(ShaderKind::Surface) {
                "s"
            } else if g.in_kind(ShaderKind::Light) {
                "l"
            } else {
                ""
            },
            is_output: matches!(g.name, "Ci" | "Oi" | "L" | "Cl" | "Ol"),
            about: "a predefined variable of RenderMan",
        })
        .collect()
});

impl Name {
    /// The type of its value, where no shader declares another.
    pub fn ty(&self) -> Type {
        if self.count == 1 { Type::FLOAT } else { Type::floats(self.count) }
    }

    /// True if shaders of a kind have it.
    pub fn in_kind(&self, kind: ShaderKind) -> bool {
        self.kinds.contains(letter(kind))
    }
}

/// All names.
pub fn all() -> impl Iterator<Item = &'static Name> {
    SYSTEM.iter().chain(PREDEFINED.iter())
}

/// Finds what a name stands for in shaders of a kind; in a function, where there is none, in any.
pub fn find(text: &str, kind: Option<ShaderKind>) -> Option<&'static Name> {
    all().find(|name| name.name == text && kind.is_none_or(|kind| name.in_kind(kind)))
}

/// The name of a light within the body of `illuminance`: its direction or its color.
pub fn light_name(text: &str) -> Option<&'static Name> {
    match text {
        "L" => find("px_rc_l", Some(ShaderKind::Surface)),
        "Cl" => find("px_rc_cl", Some(ShaderKind::Surface)),
        _ => find(text, Some(ShaderKind::Surface)).filter(|n| matches!(n.reads, ["L"] | ["Cl"])),
    }
}
