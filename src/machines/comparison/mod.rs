//! The designs beside each other: what a ray costs on each design, how fast the designs were, and
//! how fast the same designs would be with today's clocks and memories.
//!
//! A design is reduced to what a ray takes of it on average: arithmetic operations, bytes, and the
//! share of time in which its units have work, all from simulations of the same image. Today's speed is
//! a bound of the roofline kind (Williams, Waterman & Patterson 2009, "Roofline"): every design gets
//! the arithmetic and the memories of one large chip ([`Assumptions`]), and the scarcest limits it.

mod design;
pub mod designs;
mod report;

pub use design::{Bound, Design, Limit, Units, bound};
pub use report::report;

use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::{self, SettingsError};

/// The text of the assumptions, with their sources.
pub const DEFAULT_TEXT: &str = include_str!("today.toml");

/// The assumptions about today's chip.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumptions {
    /// The chip.
    pub chip: Chip,
    /// Programmable processors.
    pub processor: Processor,
    /// Figures of others.
    pub published: Published,
}

/// A chip. Rates are for a microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Chip {
    /// Cycles.
    pub clock: f64,
    /// Single-precision operations.
    pub operations: f64,
    /// Bytes from the memory beside the chip.
    pub memory: f64,
    /// Bytes that the chip holds.
    pub on_chip: f64,
    /// Bytes from memory on the chip.
    pub on_chip_rate: f64,
    /// Bytes to another chip.
    pub link: f64,
    /// Bytes to a neighbor on the chip.
    pub neighbor: f64,
}

/// Programmable processors. Rates are for a microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Processor {
    /// Nodes of an array on one chip.
    pub nodes: f64,
    /// Instructions of a node's processor.
    pub instructions: f64,
    /// Cycles of the RPU then.
    pub rpu_then: f64,
}

/// Figures of others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Published {
    /// Rays in a microsecond of a GPU with ray tracing units.
    pub ray_tracing_units: f64,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self::parse("").expect("today.toml is part of the program, and a test reads it")
    }
}

impl Assumptions {
    /// Reads assumptions; keys that the text does not have keep their defaults.
    ///
    /// # Errors
    /// Text that is no TOML, unknown keys, and numbers out of range.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let read: Self = settings::parse(DEFAULT_TEXT, text, &[])?;
        let Chip { clock, operations, memory, on_chip, on_chip_rate, link, neighbor } = read.chip;
        let numbers = [
            ("chip.clock", clock),
            ("chip.operations", operations),
            ("chip.memory", memory),
            ("chip.on-chip", on_chip),
            ("chip.on-chip-rate", on_chip_rate),
            ("chip.link", link),
            ("chip.neighbor", neighbor),
            ("processor.nodes", read.processor.nodes),
            ("processor.instructions", read.processor.instructions),
            ("processor.rpu-then", read.processor.rpu_then),
            ("published.ray-tracing-units", read.published.ray_tracing_units),
        ];
        numbers.into_iter().try_for_each(|(key, value)| SettingsError::check(key, value, 1e-6, 1e15))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
