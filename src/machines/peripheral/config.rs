//! The numbers of the peripheral and its host: `default.toml` has each with its source.

use crate::rays::arithmetic::{Adder, StageCounts, Unit};
use crate::rays::capacity::Capacity;
use crate::rays::graph::{Flow, Graph};
use crate::rays::host::config::{Host, Lighting};
use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::{self, SettingsError};

/// The text of the default configuration, comments included.
pub const DEFAULT_TEXT: &str = include_str!("default.toml");

/// Most cells of a grid on an axis.
pub const MOST_CELLS: u32 = 128;

/// The numbers of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The pipeline.
    pub intersector: Intersector,
    /// The grid.
    pub grid: Grid,
    /// Bounding boxes.
    pub boxes: Boxes,
    /// The octree.
    pub octree: Octree,
    /// Memory and disk.
    pub memory: Capacity,
    /// The lighting processor.
    pub lighting: Lighting,
    /// The host.
    pub host: Host,
}

/// The pipeline that intersects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Intersector {
    /// The arithmetic of the pipeline.
    pub arithmetic: Unit,
    /// How additions shift.
    pub adder: Adder,
    /// Intersections started in a microsecond.
    pub rate: f64,
    /// When it empties.
    pub waits: Waits,
}

/// When the pipeline empties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// After each ray.
    Ray,
    /// After each cell that has polygons, and after each ray.
    Cell,
    /// Not at all.
    Never,
}

/// The grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Grid {
    /// Cells on an axis; 0 for the estimate's best.
    pub cells: u32,
    /// Moving to the next cell, in microseconds.
    pub step: f64,
}

/// Bounding boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Boxes {
    /// Intersections that the test of a box takes.
    pub intersections: u32,
    /// Polygons in a leaf.
    pub leaf: u32,
}

/// The octree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Octree {
    /// A cell with more polygons is divided.
    pub polygons: u32,
    /// Most levels below the root.
    pub levels: u32,
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
    /// Text that is no TOML, unknown keys, and numbers out of range.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let config: Self = settings::parse(DEFAULT_TEXT, text, &[])?;
        let check = SettingsError::check::<f64>;
        check("intersector.rate", config.intersector.rate, 1e-6, 1e6)?;
        check("grid.step", config.grid.step, 0.0, 1e6)?;
        config.memory.check()?;
        config.host.check()?;
        config.lighting.check()?;
        let check = SettingsError::check::<u32>;
        check("grid.cells", config.grid.cells, 0, MOST_CELLS)?;
        check("boxes.intersections", config.boxes.intersections, 1, 1000)?;
        check("boxes.leaf", config.boxes.leaf, 1, 1 << 20)?;
        check("octree.polygons", config.octree.polygons, 1, 1 << 20)?;
        check("octree.levels", config.octree.levels, 1, 10)?;
        Ok(config)
    }

    /// Stages of the pipeline.
    pub fn stages(&self) -> u32 {
        Graph::intersector().stages(&StageCounts::commercial(self.intersector.adder))
    }

    /// From the start of an intersection to its result, in microseconds.
    pub fn latency(&self) -> f64 {
        f64::from(self.stages()) / self.intersector.rate
    }

    /// The same for primitives that are no polygons: for the longest of their pipelines.
    pub fn surface_latency(&self) -> f64 {
        let stages = StageCounts::commercial(self.intersector.adder);
        let stages = Flow::surfaces().map(|flow| flow.stages(&stages)).into_iter().max();
        f64::from(stages.unwrap_or(0)) / self.intersector.rate
    }

    /// Arithmetic operations in a second when the pipeline is full, in millions.
    pub fn megaflops(&self) -> f64 {
        Graph::intersector().operations() as f64 * self.intersector.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::arithmetic::OPERATIONS_PER_MICROSECOND;

    #[test]
    fn the_default_has_the_published_stages_latency_and_operations() {
        let config = Config::default();
        assert_eq!((config.stages(), config.intersector.rate), (17, OPERATIONS_PER_MICROSECOND));
        assert!((config.latency() - 5.6).abs() < 0.1 && (config.megaflops() - 162.0).abs() < 1e-9);
        let slow = Config::parse("[intersector]\nadder = \"multiplier\"").expect("settings");
        assert_eq!((slow.stages(), slow.latency()), (33, 11.0));
    }

    #[test]
    fn numbers_out_of_range_are_refused_by_name() {
        for (text, part) in [("[grid]\ncells = 1000", "grid.cells"), ("[intersector]\nrate = 0", "intersector.rate")] {
            assert!(Config::parse(text).expect_err(text).to_string().contains(part));
        }
        assert!(Config::parse("[intersector]\nadder = \"abacus\"").is_err());
    }
}
