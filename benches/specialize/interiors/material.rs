//! Materials of the interiors, as the classes of `interiors.rtsl` and their parameters.

use std::fmt::{self, Write};

/// A linear color.
pub type Color = [f32; 3];

/// Patterns that the classes compute from texture coordinates, by their numbers there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Fields of a board.
    Checks = 1,
    /// Bricks in rows.
    Bricks = 2,
    /// Planks with grain.
    Planks = 3,
    /// Stripes along the second coordinate.
    Stripes = 4,
    /// Veins.
    Marble = 5,
    /// Squares with joints.
    Tiles = 6,
    /// Threads over and under each other.
    Weave = 7,
}

/// The class of a material, with the parameters that only this class has.
#[derive(Clone, Debug, PartialEq)]
enum MaterialKind {
    Matte,
    Fabric { sheen: f32, falloff: f32 },
    Glossy { specular: Color, power: f32, shine: Option<&'static str> },
    Polished { roughness: f32 },
    Clear { absorption: Color },
    Lamp,
}

/// A material.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    kind: MaterialKind,
    color: Color,
    second: Color,
    pattern: Option<Pattern>,
    repeat: [f32; 2],
    map: Option<&'static str>,
    nearest: bool,
    clamped: bool,
}

/// A diffuse material.
pub fn matte(color: Color) -> Material {
    Material {
        kind: MaterialKind::Matte,
        color,
        second: [0.0; 3],
        pattern: None,
        repeat: [1.0; 2],
        map: None,
        nearest: false,
        clamped: false,
    }
}

/// Cloth, with a sheen of this albedo at grazing angles.
pub fn fabric(color: Color, sheen: f32) -> Material {
    Material { kind: MaterialKind::Fabric { sheen, falloff: 6.0 }, ..matte(color) }
}

/// A diffuse material under a highlight of this strength and exponent.
pub fn glossy(color: Color, specular: f32, power: f32) -> Material {
    Material { kind: MaterialKind::Glossy { specular: [specular; 3], power, shine: None }, ..matte(color) }
}

/// Metal; a mirror where the roughness is 0.
pub fn polished(color: Color, roughness: f32) -> Material {
    Material { kind: MaterialKind::Polished { roughness }, ..matte(color) }
}

/// Glass that absorbs so much per meter.
pub fn clear(absorption: Color) -> Material {
    Material { kind: MaterialKind::Clear { absorption }, ..matte([1.0; 3]) }
}

/// A lamp that emits this radiance.
pub fn lamp(radiance: Color) -> Material {
    Material { kind: MaterialKind::Lamp, ..matte(radiance) }
}

impl Material {
    /// The same with an image, so many times along both texture coordinates.
    #[must_use]
    pub fn map(self, name: &'static str, s: f32, t: f32) -> Self {
        Self { map: Some(name), repeat: [s, t], ..self }
    }

    /// The same with a pattern that mixes in a second color.
    #[must_use]
    pub fn pattern(self, pattern: Pattern, second: Color, s: f32, t: f32) -> Self {
        Self { pattern: Some(pattern), second, repeat: [s, t], ..self }
    }

    /// The same with the nearest texel of its image.
    #[must_use]
    pub fn nearest(self) -> Self {
        Self { nearest: true, ..self }
    }

    /// The same with its image clamped to the edge.
    #[must_use]
    pub fn clamped(self) -> Self {
        Self { clamped: true, ..self }
    }

    /// The same with an image of its highlight.
    #[must_use]
    pub fn shine(mut self, name: &'static str) -> Self {
        if let MaterialKind::Glossy { shine, .. } = &mut self.kind {
            *shine = Some(name);
        }
        self
    }

    /// The images that it reads.
    pub fn images(&self) -> impl Iterator<Item = &'static str> {
        let shine = match self.kind {
            MaterialKind::Glossy { shine, .. } => shine,
            _ => None,
        };
        self.map.into_iter().chain(shine)
    }
}

/// The `Surface` request of RIB.
impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let color = |[r, g, b]: Color| format!("[{r} {g} {b}]");
        let file = |name: Option<&str>| name.map_or(String::new(), |name| format!("textures/{name}.png"));
        let base = || {
            let mut text = String::new();
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "\"color diffuse\" {} \"color second\" {} \"int kind\" [{}] \"float[2] repeat\" [{} {}] \"string map\" [\"{}\"] \
                 \"int nearest\" [{}] \"int clamped\" [{}] \"float size\" [{}]",
                color(self.color),
                color(self.second),
                self.pattern.map_or(0, |p| p as i32),
                self.repeat[0],
                self.repeat[1],
                file(self.map),
                i32::from(self.nearest),
                i32::from(self.clamped),
                super::textures::SIDE,
            );
            text
        };
        write!(f, "Surface \"interiors.rtsl:")?;
        match &self.kind {
            MaterialKind::Matte => write!(f, "Matte\" {}", base()),
            MaterialKind::Fabric { sheen, falloff } => {
                write!(f, "Fabric\" {} \"color sheen\" {} \"float falloff\" [{falloff}]", base(), color([*sheen; 3]))
            }
            MaterialKind::Glossy { specular, power, shine } => write!(
                f,
                "Glossy\" {} \"color specular\" {} \"float power\" [{power}] \"string shine\" [\"{}\"]",
                base(),
                color(*specular),
                file(*shine)
            ),
            MaterialKind::Polished { roughness } => {
                write!(f, "Polished\" \"color reflectance\" {} \"float roughness\" [{roughness}]", color(self.color))
            }
            MaterialKind::Clear { absorption } => {
                write!(f, "Clear\" \"float ior\" [1.5] \"color absorption\" {}", color(*absorption))
            }
            MaterialKind::Lamp => write!(f, "Lamp\" \"color radiance\" {}", color(self.color)),
        }
    }
}
