//! The numbers of the pipeline and its host: `default.toml` has each with its source.

use crate::rays::arithmetic::Unit;
use crate::rays::host::config::{Host, Lighting};
use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::{self, SettingsError};

/// The text of the default configuration, comments included.
pub const DEFAULT_TEXT: &str = include_str!("default.toml");

/// The numbers of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The intersection processors.
    pub processors: Processors,
    /// The connections between the processors.
    pub links: Links,
    /// The lighting processor.
    pub lighting: Lighting,
    /// The host.
    pub host: Host,
}

/// The intersection processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Processors {
    /// Their arithmetic.
    pub arithmetic: Unit,
    /// How many there are; 0 for one per polygon.
    pub count: u32,
    /// Chips of each.
    pub chips: u32,
}

/// The connections between the processors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Links {
    /// Sending a bit, in microseconds.
    pub bit: f64,
    /// Bits of a value, those of the protocol included.
    pub bits: u32,
    /// Values of a ray description.
    pub words: u32,
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
        SettingsError::check("processors.count", config.processors.count, 0, 1 << 24)?;
        SettingsError::check("processors.chips", config.processors.chips, 1, 1 << 10)?;
        SettingsError::check("links.bit", config.links.bit, 1e-6, 1e6)?;
        SettingsError::check("links.bits", config.links.bits, 1, 1 << 10)?;
        SettingsError::check("links.words", config.links.words, 1, 1 << 10)?;
        config.host.check()?;
        config.lighting.check()?;
        Ok(config)
    }

    /// From one ray description to the next, in microseconds: the values go at once, bit by bit.
    pub fn tick(&self) -> f64 {
        self.links.bit * f64::from(self.links.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_description_takes_five_microseconds() {
        let config = Config::default();
        assert!((config.tick() - 5.0).abs() < 0.1, "{}", config.tick());
        assert!(Config::parse("[links]\nbit = 0").is_err());
    }
}
