//! The array's numbers: `default.toml` has each with its source.

use super::mapping::{Layout, Mapping};
use super::message::Results;
use super::ranks::Admission;
use super::unit::{Kill, UnitTimes};
use crate::rays::arithmetic::Unit;
use crate::rays::events::picoseconds;
use crate::rays::graph::Flow;
use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::{self, SettingsError};

/// The text of the default configuration, comments included.
pub const DEFAULT_TEXT: &str = include_str!("default.toml");

/// The most nodes.
const MOST_NODES: u32 = 1024;

/// The most cells on an axis.
const MOST_CELLS: u16 = 256;

/// The longest time, in microseconds.
const LONGEST: f64 = 1e9;

/// All numbers of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Nodes and cells.
    pub array: Array,
    /// A node's processor and memory.
    pub node: NodeTimes,
    /// A node's intersection unit.
    pub unit: UnitConfig,
    /// Links.
    pub link: Link,
    /// How the image is made.
    pub image: ImageConfig,
    /// Protection against faults.
    pub reliability: Reliability,
    /// Faults.
    pub faults: Faults,
    /// The events that are kept for animations.
    pub trace: TraceConfig,
}

/// Nodes and cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// Nodes in a row.
    pub columns: u16,
    /// Nodes in a column.
    pub rows: u16,
    /// Cells on each axis; 0 for as many as nodes.
    pub cells: [u16; 3],
    /// Which cell is where.
    pub mapping: Mapping,
    /// The axis that lies within the nodes.
    pub depth: Axis,
}

/// An axis of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    /// The axes of space that are the array's columns, rows and layers.
    pub fn order(self) -> [usize; 3] {
        match self {
            Self::X => [2, 1, 0],
            Self::Y => [0, 2, 1],
            Self::Z => [0, 1, 2],
        }
    }
}

/// A node, times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeTimes {
    /// Bytes of memory.
    pub memory_bytes: u32,
    /// Buffers for messages; 0 for as many as there are ranks and 256 more.
    pub buffers: u16,
    /// Who gets a buffer.
    pub admission: Admission,
    /// Looking at a message.
    pub route: f64,
    /// A cell on a ray's way.
    pub cell: f64,
    /// A pixel's ray.
    pub emit: f64,
    /// A hit's lighting.
    pub shade: f64,
    /// A message made.
    pub make: f64,
    /// A result added.
    pub deliver: f64,
    /// A map's value.
    pub look_up: f64,
    /// Part of the memory's cycles that the processor takes while it works.
    pub memory_share: f64,
    /// A polygon tested while the scene is loaded.
    pub store_test: f64,
    /// A polygon put into a list.
    pub sort: f64,
}

/// The intersection unit, times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitConfig {
    /// An access of 16 bits.
    pub cycle: f64,
    /// Words of a pointer.
    pub pointer_words: u32,
    /// The arithmetic that results are computed in.
    pub arithmetic: Unit,
    /// An arithmetic operation.
    pub operation: f64,
    /// Between two polygons in a stage.
    pub interval: f64,
    /// Operations behind one another in stages 3, 4, 6 and 8.
    pub depths: [u32; 4],
    /// Polygons between stages 2 and 5.
    pub slots: u32,
    /// True if polygons are dropped early.
    pub kill: Kill,
    /// The best distance at the start.
    pub bound: Bound,
    /// When the next ray may enter.
    pub next_ray: NextRay,
}

/// The best distance at the start of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Of the ray's end.
    Ray,
    /// Of its exit from the cell.
    Cell,
}

/// When the unit takes another ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextRay {
    /// When the one before has its result.
    Drained,
    /// When the port has fetched all that the one before needs.
    Behind,
}

/// Links between nodes, times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// From an offer to the start of the transfer.
    pub handshake: f64,
    /// The fields of results.
    pub results: Results,
    /// Between rounds of termination detection.
    pub pause: f64,
}

/// How the image is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageConfig {
    /// Rays below this color are not made.
    pub threshold: f32,
    /// Samples that a node has in work at once where rays return to their pixel.
    pub samples: u32,
}

/// Protection against faults, times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reliability {
    /// True if links repeat what is lost.
    pub links: Links,
    /// Until a message is sent again.
    pub timeout: f64,
    /// True if the array survives the death of a node.
    pub recovery: Recovery,
    /// Until a death is known.
    pub detect: f64,
}

/// Links with or without acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Links {
    /// As in the thesis.
    Bare,
    /// With sequence numbers, acknowledgements and repetition.
    Acknowledged,
}

/// True if what a dead node had is done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// As in the thesis.
    Off,
    /// By copies in neighbors, and shares that show when a pixel is complete.
    On,
}

/// Faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// For the hash that chooses messages.
    pub seed: u32,
    /// Part of the transfers that are lost.
    pub drop: f64,
    /// Part of the transfers that come twice.
    pub repeat: f64,
    /// Column, row and microsecond of each death.
    pub deaths: Vec<[f64; 3]>,
}

/// The events that are kept for animations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// Most events.
    pub events: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self::parse("").expect("default.toml is part of the program, and a test reads it")
    }
}

impl Config {
    /// The configuration of a text, with the default values for keys that it does not have.
    ///
    /// # Errors
    /// When the text is not of the form of `default.toml`, or a number is out of range.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let config: Self = settings::parse(DEFAULT_TEXT, text, &[])?;
        config.check()?;
        Ok(config)
    }

    /// The same array with so many nodes in a row and in a column. It may have fewer cells than nodes.
    ///
    /// # Errors
    /// When it has no node or too many, or a node that dies is outside of it.
    pub fn with_sides(mut self, [columns, rows]: [u32; 2]) -> Result<Self, SettingsError> {
        let nodes = u64::from(columns) * u64::from(rows);
        SettingsError::check("array.columns * array.rows", nodes, 1, u64::from(MOST_NODES))?;
        // Neither is more than their product.
        (self.array.columns, self.array.rows) = (columns as u16, rows as u16);
        self.check_deaths()?;
        Ok(self)
    }

    fn check_deaths(&self) -> Result<(), SettingsError> {
        let [last_column, last_row] = [self.array.columns, self.array.rows].map(|side| f64::from(side - 1));
        let node = |key: &'static str, number: f64, last: f64| {
            SettingsError::check(key, number, 0.0, last)?;
            match number.fract() == 0.0 {
                true => Ok(()),
                false => Err(SettingsError::Kind { key: key.into(), found: "a fraction", wanted: "a whole number" }),
            }
        };
        for &[column, row, time] in &self.faults.deaths {
            node("faults.deaths (column)", column, last_column)?;
            node("faults.deaths (row)", row, last_row)?;
            SettingsError::check("faults.deaths (time)", time, 0.0, LONGEST)?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), SettingsError> {
        let Self { array, node, unit, link, image, reliability, faults, .. } = self;
        let nodes = u32::from(array.columns) * u32::from(array.rows);
        SettingsError::check("array.columns * array.rows", nodes, 1, MOST_NODES)?;
        for (axis, side) in [array.columns, array.rows, 0].into_iter().enumerate() {
            let cells = array.cells[axis];
            let least = if cells == 0 { 0 } else { side.max(1) };
            SettingsError::check("array.cells", cells, least, MOST_CELLS.max(side))?;
        }
        let times = [
            ("node.route", node.route),
            ("node.cell", node.cell),
            ("node.emit", node.emit),
            ("node.shade", node.shade),
            ("node.make", node.make),
            ("node.deliver", node.deliver),
            ("node.look_up", node.look_up),
            ("node.store_test", node.store_test),
            ("node.sort", node.sort),
            ("unit.operation", unit.operation),
            ("unit.interval", unit.interval),
            ("link.handshake", link.handshake),
            ("reliability.detect", reliability.detect),
        ];
        for (key, value) in times {
            SettingsError::check(key, value, 0.0, LONGEST)?;
        }
        SettingsError::check("unit.cycle", unit.cycle, 1e-6, LONGEST)?;
        // Rounds without a pause would never let the simulated time go on.
        SettingsError::check("link.pause", link.pause, 1.0, LONGEST)?;
        SettingsError::check("reliability.timeout", reliability.timeout, 1.0, LONGEST)?;
        SettingsError::check("node.memory_share", node.memory_share, 0.0, 1.0)?;
        SettingsError::check("unit.pointer_words", unit.pointer_words, 0, 64)?;
        SettingsError::check("unit.slots", unit.slots, 1, 1024)?;
        for depth in unit.depths {
            SettingsError::check("unit.depths", depth, 1, 1000)?;
        }
        SettingsError::check("image.threshold", image.threshold, 0.0, f32::MAX)?;
        SettingsError::check("image.samples", image.samples, 1, 1 << 20)?;
        SettingsError::check("faults.drop", faults.drop, 0.0, 0.9)?;
        SettingsError::check("faults.repeat", faults.repeat, 0.0, 0.9)?;
        self.check_deaths()
    }

    /// Nodes and cells.
    pub fn layout(&self) -> Layout {
        let Array { columns, rows, cells, mapping, .. } = self.array;
        let or = |cells: u16, default: u16| if cells == 0 { default } else { cells };
        let cells = [or(cells[0], columns), or(cells[1], rows), or(cells[2], columns.max(rows))];
        Layout { mapping, sides: [columns, rows], cells }
    }

    /// The intersection unit's times.
    pub fn unit_times(&self) -> UnitTimes {
        let unit = &self.unit;
        // Two accesses of 16 bits for a word; 4, 8 and 8 words for t, u and v.
        let accesses = [2 * unit.pointer_words, 8, 16, 16];
        let latency = unit.depths.map(|depth| picoseconds(f64::from(depth) * unit.operation));
        let deepest = Flow::surfaces().iter().map(Flow::depth).max().unwrap_or(0);
        UnitTimes {
            cycle: picoseconds(unit.cycle).max(1),
            accesses,
            latency,
            surface_latency: picoseconds(f64::from(deepest) * unit.operation),
            interval: picoseconds(unit.interval),
            slots: unit.slots as usize,
            kill: unit.kill,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_thesis() {
        let config = Config::parse("").expect("the defaults");
        assert_eq!(config.layout(), Layout { mapping: Mapping::Plain, sides: [8, 8], cells: [8, 8, 8] });
        let times = config.unit_times();
        assert_eq!((times.accesses, times.cycle), ([2, 8, 16, 16], 333_333));
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        for (text, key) in [
            ("array.columns = 0", "array.columns"),
            ("array.columns = 2000", "array.columns"),
            ("array.cells = [4, 0, 0]", "array.cells"),
            ("unit.slots = 0", "unit.slots"),
            ("faults.drop = 1.0", "faults.drop"),
            ("faults.deaths = [[8, 0, 10]]", "faults.deaths (column)"),
            ("faults.deaths = [[-1, 0, 10]]", "faults.deaths (column)"),
            ("faults.deaths = [[1.5, 0, 10]]", "`faults.deaths (column)` is a fraction"),
            ("faults.deaths = [[1, 0.5, 10]]", "`faults.deaths (row)` is a fraction"),
            ("faults.deaths = [[1, nan, 10]]", "faults.deaths (row)"),
            ("node.route = -1.0", "node.route"),
        ] {
            let error = Config::parse(text).expect_err(text).to_string();
            assert!(error.contains(key), "{text}: {error}");
        }
        assert!(Config::parse("faults.deaths = [[7, 0, 10]]\narray.cells = [8, 16, 3]").is_ok());
    }
}
