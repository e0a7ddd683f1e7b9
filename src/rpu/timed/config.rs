//! The timing model's configuration: latencies, functional units, resident chunks, stack and
//! processors, read from TOML.
//!
//! `default.toml` has every key, its value and why. Another file may set some of them; unknown keys
//! and values out of range are errors.

use crate::isa::STACK_WINDOW;
use crate::latencies::Latencies;
use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::{self, SettingsError};
use std::sync::LazyLock;

/// The text of the default configuration, comments included.
pub const DEFAULT_TEXT: &str = include_str!("default.toml");

/// The longest latency or interval, in cycles.
const MAX_CYCLES: u32 = 1_000_000;
/// The most chunks that one processor holds.
const MAX_RESIDENT: u32 = 1024;
/// The most vectors of stack a thread.
const MAX_STACK: u32 = 65536;
/// The most processors.
const MAX_PROCESSORS: u32 = 4096;

/// The timing model's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// When results can be read.
    pub latencies: Latencies,
    /// How often functional units can start an instruction.
    pub intervals: Intervals,
    /// Chunks of threads.
    pub chunks: Chunks,
    /// The data stack.
    pub stack: Stack,
    /// The processors.
    pub processors: Processors,
}

/// Cycles that a unit is busy before it takes the next instruction; at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intervals {
    /// `_rcp` and `_rsq`, an instruction.
    pub special: u32,
    /// Memory, a vector.
    pub memory: u32,
    /// Textures, an instruction.
    pub texture: u32,
    /// Tracing, a ray.
    pub ray: u32,
}

/// Chunks of four threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunks {
    /// Chunks that a processor holds at a time.
    pub resident: u32,
}

/// The data stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Vectors that a processor keeps for each thread.
    pub vectors: u32,
}

/// The processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processors {
    /// How many there are.
    pub count: u32,
}

impl Default for Config {
    /// The configuration of `default.toml`.
    fn default() -> Config {
        static DEFAULT: LazyLock<Config> =
            LazyLock::new(|| Config::parse("").expect("default.toml is part of the program, and a test reads it"));
        *DEFAULT
    }
}

impl Config {
    /// The default configuration with the keys of a TOML text in place of its own.
    ///
    /// # Errors
    /// When the text is not TOML, has an unknown key, or a value out of range.
    pub fn parse(text: &str) -> Result<Config, SettingsError> {
        let config: Config = settings::parse(DEFAULT_TEXT, text, &[])?;
        config.check()?;
        Ok(config)
    }

    /// Checks the range of every number.
    fn check(&self) -> Result<(), SettingsError> {
        let Latencies { mov, frac, add, mul, mad, dot, integer, conversion, special, .. } = self.latencies;
        let Latencies { load, store, texture_load, texture_store, trace, control, .. } = self.latencies;
        let Intervals { special: special_interval, memory, texture, ray } = self.intervals;
        let ranges = [
            ("latencies.mov", mov, 1, MAX_CYCLES),
            ("latencies.frac", frac, 1, MAX_CYCLES),
            ("latencies.add", add, 1, MAX_CYCLES),
            ("latencies.mul", mul, 1, MAX_CYCLES),
            ("latencies.mad", mad, 1, MAX_CYCLES),
            ("latencies.dot", dot, 1, MAX_CYCLES),
            ("latencies.integer", integer, 1, MAX_CYCLES),
            ("latencies.conversion", conversion, 1, MAX_CYCLES),
            ("latencies.special", special, 1, MAX_CYCLES),
            ("latencies.load", load, 1, MAX_CYCLES),
            ("latencies.store", store, 1, MAX_CYCLES),
            ("latencies.texture_load", texture_load, 1, MAX_CYCLES),
            ("latencies.texture_store", texture_store, 1, MAX_CYCLES),
            ("latencies.trace", trace, 1, MAX_CYCLES),
            ("latencies.control", control, 1, MAX_CYCLES),
            ("intervals.special", special_interval, 1, MAX_CYCLES),
            ("intervals.memory", memory, 1, MAX_CYCLES),
            ("intervals.texture", texture, 1, MAX_CYCLES),
            ("intervals.ray", ray, 1, MAX_CYCLES),
            ("chunks.resident", self.chunks.resident, 1, MAX_RESIDENT),
            ("stack.vectors", self.stack.vectors, u32::from(STACK_WINDOW), MAX_STACK),
            ("processors.count", self.processors.count, 1, MAX_PROCESSORS),
        ];
        ranges.into_iter().try_for_each(|(key, value, min, max)| SettingsError::check(key, value, min, max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::assemble;
    use shadewright_base::text::source::FileId;

    #[test]
    fn the_default_has_the_latencies_of_the_published_example() {
        // Węgrzanowski 2006, §9.1.
        let latencies = Config::default().latencies;
        let of = |text: &str| latencies.instruction(&assemble(text, FileId(0)).expect(text).program.code[0]);
        assert_eq!(of("add R0, R1, R2"), 3);
        assert_eq!(of("mul R0, R1, R2"), 5);
        assert_eq!(of("dp3 R0, R1, R2"), 5);
        assert_eq!(of("dp3_rsq R0.w, R1, R2"), 8);
        assert_eq!(of("load I0, A.x, 3"), 20);
        assert_eq!(of("trace R0, R1, R2"), 100);
        assert_eq!(of("return"), 1);
        assert_eq!(of("add R0, R1, R2 + return and x (<0)"), 3);
    }

    #[test]
    fn a_file_changes_the_keys_that_it_names_and_no_others() {
        let config = Config::parse("[latencies]\ntrace = 250\n[chunks]\nresident = 3").expect("valid");
        let mut expected = Config::default();
        expected.latencies.trace = 250;
        expected.chunks.resident = 3;
        assert_eq!(config, expected);
    }

    #[test]
    fn impossible_figures_are_refused_by_name() {
        let message = |text: &str| Config::parse(text).expect_err(text).to_string();
        assert!(message("[latencies]\nadds = 3").contains("there is no key `latencies.adds`"));
        assert!(message("latency = 3").contains("there is no key `latency`; there are `chunks`"));
        assert!(message("chunks = 3").contains("`chunks` is integer, and must be a table"));
        assert!(message("[chunks]\nresident = \"many\"").contains("`chunks.resident` is string"));
        assert!(message("[chunks]\nresident = 0").contains("`chunks.resident` is 0, and must be from 1"));
        assert!(message("[latencies]\nadd = -1").contains("`latencies.add`"));
        assert!(message("[stack]\nvectors = 7").contains("from 8"));
        assert!(message("[chunks").contains("settings:1:"));
    }
}
