//! The numbers of the designs: `default.toml` has each with its source or reason.

use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::{self, SettingsError};

/// The text of the default configuration, comments included.
pub const DEFAULT_TEXT: &str = include_str!("default.toml");

/// Most processors of a design with depth buffers.
pub const MOST_PROCESSORS: u32 = 1 << 16;

/// The numbers of the designs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Buses and pipelines.
    pub link: Link,
    /// Processors with depth buffers.
    pub processor: Processor,
    /// Depths.
    pub depth: Depth,
    /// Fuchs's design.
    pub fuchs: Fuchs,
    /// Parke's design, and the hybrid.
    pub parke: Parke,
    /// Pixel-planes.
    pub pixel_planes: PixelPlanes,
    /// Demetrescu's design.
    pub demetrescu: Demetrescu,
}

/// The buses that carry polygons and pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Sending a bit over a wire, in microseconds.
    pub bit: f64,
    /// Wires of a bus.
    pub wires: u32,
    /// Bits of a coordinate or a component of a color.
    pub bits: u32,
}

/// Times of a processor with a depth buffer, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// For a polygon.
    pub setup: f64,
    /// For a row of it with pixels of the processor.
    pub row: f64,
    /// For a pixel within it.
    pub pixel: f64,
    /// For a pixel where it is visible so far.
    pub shade: f64,
}

/// Depths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Depth {
    /// Bits of a depth, 1 to 32.
    pub bits: u32,
}

impl Depth {
    /// A depth from 0 to 1 in bits.
    pub fn quantize(self, depth: f64) -> u32 {
        let most = ((1u64 << self.bits) - 1) as f64;
        (depth.clamp(0.0, 1.0) * most).round() as u32
    }
}

/// Fuchs's design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fuchs {
    /// Processors, a power of two.
    pub processors: u32,
    /// Which pixels a processor has.
    pub pattern: Pattern,
}

/// Which pixels the processors of Fuchs's design have. The thesis shows patterns for four and eight
/// processors in a figure (3-2) that is lost; these are ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Every few columns and rows; columns are at least as many as rows.
    Grid,
    /// The same with columns and rows exchanged.
    Transposed,
    /// One after the other along a row, and shifted from row to row.
    Lattice,
}

/// Parke's design, and the hybrid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Parke {
    /// Processors, a power of two.
    pub processors: u32,
    /// Levels of the hybrid's tree; no more than there are processors for.
    pub levels: u32,
    /// Cutting a polygon in two, in microseconds.
    pub split: f64,
    /// The same for each of its vertices.
    pub split_vertex: f64,
}

/// Pixel-planes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PixelPlanes {
    /// Bits of coefficients after the point.
    pub fraction: u32,
    /// Bits of a distance from an edge before the point, its sign included.
    pub edge: u32,
    /// Bits of a depth.
    pub depth: u32,
    /// Bits of a component of a color.
    pub color: u32,
    /// Cycles from the last bit that is sent until it has arrived at the pixels.
    pub latency: u32,
    /// A cycle, in microseconds.
    pub cycle: f64,
    /// Columns and rows of pixels on a chip.
    pub chip: [u32; 2],
}

/// Demetrescu's design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demetrescu {
    /// Processors; 0 for one per polygon.
    pub processors: u32,
    /// Values of a pixel's description.
    pub values: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self::parse("").expect("default.toml is part of the program, and a test reads it")
    }
}

impl Config {
    /// Bytes of a polygon with so many vertices: x, y, a color and a depth for each.
    pub fn bytes(&self, vertices: usize) -> u64 {
        (vertices as u64 * u64::from(5 * self.link.bits + self.depth.bits)).div_ceil(8)
    }

    /// Sending a polygon over a bus, in microseconds.
    pub fn sending(&self, vertices: usize) -> f64 {
        (8 * self.bytes(vertices)) as f64 / f64::from(self.link.wires) * self.link.bit
    }

    /// Reads a configuration; keys that it does not have keep their defaults.
    ///
    /// # Errors
    /// Text that is no TOML, unknown keys, and numbers out of range.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let config: Self = settings::parse(DEFAULT_TEXT, text, &[])?;
        let check = SettingsError::check;
        let whole = SettingsError::check::<u32>;
        check("link.bit", config.link.bit, 1e-6, 1e6)?;
        whole("link.wires", config.link.wires, 1, 1 << 10)?;
        whole("link.bits", config.link.bits, 1, 64)?;
        for (key, time) in [
            ("processor.setup", config.processor.setup),
            ("processor.row", config.processor.row),
            ("processor.pixel", config.processor.pixel),
            ("processor.shade", config.processor.shade),
            ("parke.split", config.parke.split),
            ("parke.split-vertex", config.parke.split_vertex),
        ] {
            check(key, time, 0.0, 1e6)?;
        }
        whole("depth.bits", config.depth.bits, 1, 32)?;
        for (key, count) in
            [("fuchs.processors", config.fuchs.processors), ("parke.processors", config.parke.processors)]
        {
            whole(key, count, 1, MOST_PROCESSORS)?;
            if !count.is_power_of_two() {
                return Err(SettingsError::Value(format!("`{key}` is {count}, and must be a power of two")));
            }
        }
        whole("parke.levels", config.parke.levels, 0, MOST_PROCESSORS.ilog2())?;
        let planes = config.pixel_planes;
        whole("pixel-planes.fraction", planes.fraction, 0, 24)?;
        whole("pixel-planes.edge", planes.edge, 2, 32)?;
        whole("pixel-planes.depth", planes.depth, 1, 32)?;
        whole("pixel-planes.color", planes.color, 1, 16)?;
        whole("pixel-planes.latency", planes.latency, 0, 1 << 10)?;
        check("pixel-planes.cycle", planes.cycle, 1e-6, 1e6)?;
        for side in planes.chip {
            whole("pixel-planes.chip", side, 1, 1 << 16)?;
        }
        whole("demetrescu.processors", config.demetrescu.processors, 0, 1 << 24)?;
        whole("demetrescu.values", config.demetrescu.values, 1, 64)?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_read_and_numbers_out_of_range_are_refused() {
        assert_eq!(Config::parse("").ok(), Some(Config::default()));
        for wrong in [
            "[fuchs]\nprocessors = 3",
            "[parke]\nlevels = 17",
            "[depth]\nbits = 33",
            "[link]\nbit = -1.0",
            "[pixel-planes]\nchip = [0, 32]",
        ] {
            assert!(Config::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Config::parse("[fuchs]\nprocessors = 4\n[parke]\nlevels = 2").is_ok());
    }
}
