//! The numbers of the hardware and of its drawing: `default.toml` has each with its source.

use serde::{Deserialize, Serialize};
use shadewright_base::named::{Named, Row};
use shadewright_base::text::settings::{self, SettingsError};

/// The text of the default configuration, comments included.
pub const DEFAULT_TEXT: &str = include_str!("default.toml");

/// The numbers of the hardware and of its drawing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The style of the drawing: what is drawn, and how.
    pub drawing: Style,
    /// How numbers are represented.
    pub numbers: Numbers,
    /// The processors and what connects them.
    #[serde(alias = "machine")]
    pub hardware: Hardware,
    /// The simulation of time.
    pub simulation: Limits,
}

/// The style of a drawing: what is drawn, and how.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Style {
    /// Which edges.
    pub edges: Edges,
    /// The angle above which two polygons meet in a crease, in degrees.
    pub crease: f64,
    /// The angle below which two polygons are in one plane, in degrees.
    pub flat: f64,
    /// True if the host adds the lines in which polygons cross.
    pub intersections: bool,
    /// How hidden parts are drawn.
    pub hidden: Hidden,
    /// The length below which a part of a line is not drawn, in pixels.
    pub shortest: f64,
    /// Width of lines, in pixels.
    pub stroke_width: f64,
    /// Color of lines.
    pub color: Color,
    /// The background behind the lines.
    pub background: Background,
}

/// Which edges are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edges {
    /// Each edge but those between polygons in one plane.
    All,
    /// Edges with one polygon, silhouettes and creases.
    Features,
}

impl Named for Edges {
    const TABLE: &'static [Row<Self>] = &[
        ("all", "All but those between polygons in one plane", Self::All),
        ("features", "Silhouettes, creases, and edges of one polygon alone", Self::Features),
    ];
}

/// How hidden parts of lines are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hidden {
    /// They are left out.
    None,
    /// They are dashed.
    Dashed,
}

impl Named for Hidden {
    const TABLE: &'static [Row<Self>] =
        &[("none", "They are left out", Self::None), ("dashed", "They are dashed", Self::Dashed)];
}

/// Color of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Color {
    /// Black.
    Black,
    /// The mean color of the object's polygons.
    Object,
}

/// The background behind the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Background {
    /// White.
    White,
    /// Nothing: the image is transparent.
    None,
}

/// How numbers are represented.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Numbers {
    /// Bits of coordinates, coefficients and parameters; 0 for double precision.
    pub bits: u32,
    /// The error of a corner's position in pixels that is allowed for, without bits.
    pub guard: f64,
    /// The same with bits, in last places.
    pub guard_units: u32,
    /// The distance within which corners are one, as a part of the object's size.
    pub weld: f64,
}

/// The processors and what connects them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hardware {
    /// Plane processors; 0 for one per plane of the scene.
    pub plane_processors: u32,
    /// Plane processors of a chip, which also has a clean-up processor after them.
    pub plane_processors_per_chip: u32,
    /// Clean-up processors at the end.
    pub tail: u32,
    /// Sending a bit, in microseconds.
    pub bit: f64,
    /// Bits of a message on each wire.
    pub bits_per_wire: u32,
    /// Time of an image, in seconds.
    pub frame: f64,
}

/// Limits of the simulation of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// Messages times processors.
    pub hops: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self::parse("").expect("default.toml is part of the program, and a test reads it")
    }
}

impl Config {
    /// Reads a configuration; keys that it does not have keep their defaults.
    ///
    /// # Errors
    /// Text that is no TOML, unknown keys and words, and numbers out of range.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let config: Self = settings::parse(DEFAULT_TEXT, text, &[])?;
        let Self { drawing, numbers, hardware, simulation } = &config;
        SettingsError::check("drawing.crease", drawing.crease, 0.0, 180.0)?;
        SettingsError::check("drawing.flat", drawing.flat, 0.0, 90.0)?;
        SettingsError::check("drawing.shortest", drawing.shortest, 0.0, 1e3)?;
        SettingsError::check("drawing.stroke-width", drawing.stroke_width, 0.01, 1e3)?;
        if numbers.bits != 0 {
            // Products of 24 bits and their sums are exact in double precision.
            SettingsError::check("numbers.bits", numbers.bits, 8, 24)?;
        }
        SettingsError::check("numbers.guard", numbers.guard, 0.0, 10.0)?;
        SettingsError::check("numbers.guard-units", numbers.guard_units, 0, 1000)?;
        SettingsError::check("numbers.weld", numbers.weld, 0.0, 0.01)?;
        if hardware.plane_processors != 0 {
            // The planes of a polygon are never in two passes: clipped polygons have up to 11.
            SettingsError::check("hardware.plane-processors", hardware.plane_processors, 16, 1 << 24)?;
        }
        // Between clean-up processors, each polygon can add two messages to a line's.
        let per_chip = hardware.plane_processors_per_chip;
        SettingsError::check("hardware.plane-processors-per-chip", per_chip, 1, 256)?;
        SettingsError::check("hardware.tail", hardware.tail, 1, 1 << 16)?;
        SettingsError::check("hardware.bit", hardware.bit, 1e-6, 1e6)?;
        SettingsError::check("hardware.bits-per-wire", hardware.bits_per_wire, 1, 1 << 10)?;
        SettingsError::check("hardware.frame", hardware.frame, 1e-6, 1e6)?;
        SettingsError::check("simulation.hops", simulation.hops, 1, u32::MAX)?;
        Ok(config)
    }

    /// The time of a message in microseconds: each of its values goes over a wire of its own.
    pub fn tick(&self) -> f64 {
        self.hardware.bit * f64::from(self.hardware.bits_per_wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_takes_eight_microseconds() {
        let config = Config::default();
        assert!((config.tick() - 8.0).abs() < 1e-9, "{}", config.tick());
    }

    #[test]
    fn words_and_ranges_are_checked() {
        let style = |text: &str| Config::parse(&format!("[drawing]\n{text}"));
        assert_eq!(style("edges = \"all\"").expect("a word it knows").drawing.edges, Edges::All);
        assert!(style("edges = \"some\"").is_err());
        assert!(style("stroke-width = 0").is_err());
        assert!(Config::parse("[numbers]\nbits = 16").is_ok());
        assert!(Config::parse("[numbers]\nbits = 4").is_err());
        assert!(Config::parse("[hardware]\nplane-processors = 5").is_err());
    }
}
