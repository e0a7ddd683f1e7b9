//! The times of the hardware model's operations, and its other numbers: `default.toml` has each
//! with its source.

use super::compile::Compiled;
use super::shaders::Budget;
use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::{self, SettingsError};
use shadewright_ir::abi::{generic_name, library};
use shadewright_ir::{Inst, Op, Type, Value};
use std::collections::BTreeMap;

/// The text of the default configuration, comments included.
pub const DEFAULT_TEXT: &str = include_str!("default.toml");

/// The numbers of the hardware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// The bytes of a pixel.
    pub pixel: Budget,
    /// The pixels of a SIMD array.
    pub region: Region,
    /// The composition network.
    pub composition: Composition,
    /// Shading nodes.
    pub nodes: Nodes,
    /// Operations on fixed-point numbers, in microseconds.
    pub fixed: Fixed,
    /// Operations on floats.
    pub float: Float,
    /// Copies and textures.
    pub other: Other,
    /// Functions of the library.
    pub functions: BTreeMap<String, f64>,
}

/// The pixels that are shaded at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// The composition network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Composition {
    /// Bandwidth in one direction.
    pub gigabytes_per_second: f64,
    /// Bytes a pixel that can be sent at the frame rate in one direction.
    pub budget_one_way: u32,
    /// The same with transfers in both directions.
    pub budget_two_way: u32,
    /// Bytes of a depth.
    pub depth_bytes: u32,
    /// Bytes of a color for the frame buffer.
    pub color_bytes: u32,
}

/// Shading nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// Numbers of nodes to report.
    pub shading: Vec<u32>,
    /// The frame rate that is aimed at.
    pub frames_per_second: u32,
}

/// Fixed-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    pub add_16: f64,
    pub add_32: f64,
    pub multiply_16: f64,
    pub multiply_32: f64,
    pub divide_16: f64,
    pub divide_32: f64,
    pub root_16: f64,
    pub root_32: f64,
}

/// Floats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Float {
    pub add: f64,
    pub multiply: f64,
    pub divide: f64,
    pub root: f64,
    pub compare: f64,
    pub minimum: f64,
    pub sign: f64,
    pub convert: f64,
}

/// Copies and textures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Other {
    /// A byte that is copied.
    pub byte: f64,
    /// Four bytes that are read from texture memory.
    pub texture_word: f64,
}

impl Default for Times {
    fn default() -> Self {
        Self::parse("").expect("the default configuration is valid")
    }
}

/// Picoseconds: whole numbers, so that sums do not depend on their order.
fn picoseconds(microseconds: f64) -> u64 {
    (microseconds * 1e6).round().max(0.0) as u64
}

impl Times {
    /// Reads a configuration; keys that it does not have keep their defaults.
    ///
    /// # Errors
    /// Text that is no TOML, unknown keys, and numbers that make no hardware.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let times: Times = settings::parse(DEFAULT_TEXT, text, &["functions"])?;
        times.check()?;
        Ok(times)
    }

    fn check(&self) -> Result<(), SettingsError> {
        let wrong = |text: &str| Err(SettingsError::Value(text.to_string()));
        let Region { width, height } = self.region;
        if !(1..=1024).contains(&width) || !(1..=1024).contains(&height) {
            return wrong("the sides of a region are 1 to 1024 pixels");
        }
        let bandwidth = self.composition.gigabytes_per_second;
        if !(bandwidth.is_finite() && bandwidth > 0.0) {
            return wrong("`composition.gigabytes_per_second` is a positive number");
        }
        if self.nodes.shading.iter().any(|n| !(1..=4096).contains(n)) || self.nodes.shading.len() > 64 {
            return wrong("`nodes.shading` has at most 64 numbers from 1 to 4096");
        }
        let (x, f) = (&self.fixed, &self.float);
        let all = [
            x.add_16,
            x.add_32,
            x.multiply_16,
            x.multiply_32,
            x.divide_16,
            x.divide_32,
            x.root_16,
            x.root_32,
            f.add,
            f.multiply,
            f.divide,
            f.root,
            f.compare,
            f.minimum,
            f.sign,
            f.convert,
            self.other.byte,
            self.other.texture_word,
        ];
        if all.iter().chain(self.functions.values()).any(|t| !t.is_finite() || *t < 0.0 || *t > 1e9) {
            return wrong("times are numbers from 0 to 1e9");
        }
        Ok(())
    }

    /// The time of a function of the library that is an operation of the hardware, in picoseconds.
    pub fn function(&self, name: &str) -> Option<u64> {
        let name = generic_name(name);
        let full = |key: &str| library::name(key);
        let is =
            |key: &str| name.strip_prefix(&*full(key)).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let (_, time) = self.functions.iter().find(|(key, _)| is(key))?;
        // Noise with three results is noise three times: its name ends with two numbers.
        let numbers = name.rsplit('.').take_while(|part| part.bytes().all(|b| b.is_ascii_digit()));
        let is_triple = numbers.count() == 2 && name.ends_with(".3");
        Some(picoseconds(if is_triple { 3.0 * time } else { *time }))
    }

    /// Copying so many bytes, in picoseconds: what compressing and expanding a memory map take for
    /// each byte of it.
    pub fn copy(&self, bytes: u32) -> u64 {
        picoseconds(f64::from(bytes) * self.other.byte)
    }

    /// Adding a sample to its pixel, in picoseconds: a sum of two bytes for each color.
    pub fn blend(&self) -> u64 {
        picoseconds(f64::from(self.composition.color_bytes) * self.fixed.add_16)
    }

    /// The time of an instruction that varies, in picoseconds.
    pub fn instruction(&self, code: &Compiled, inst: &Inst) -> u64 {
        let bytes = |v: Value| f64::from(code.widths[v.0 as usize].bytes);
        let widest = inst.args.iter().chain(&inst.results).map(|&v| bytes(v)).fold(1.0, f64::max);
        let result = inst.results.first().map_or(1.0, |&r| bytes(r));
        let is_float = inst.args.first().is_some_and(|&a| code.function.ty(a) == Type::F32);
        let (x, f, byte) = (&self.fixed, &self.float, self.other.byte);
        // Through the figure's times for two and for four bytes.
        let linear = |two: f64, four: f64| (two + (four - two) / 2.0 * (widest - 2.0)).max(0.0);
        let power = |two: f64, four: f64| two * (widest / 2.0).powf((four / two).log2());
        let time = match &inst.op {
            Op::Add | Op::Sub => f.add,
            Op::Mul => f.multiply,
            Op::Rcp => f.divide,
            Op::Sqrt => f.root,
            Op::Rsq => f.root + f.divide,
            Op::Frac => f.convert + f.add,
            Op::Floor => f.convert,
            Op::Min | Op::Max => f.minimum,
            Op::Sat => 2.0 * f.minimum,
            Op::Neg | Op::Abs => f.sign,
            Op::Lt | Op::Le | Op::Eq | Op::Ne => f.compare,
            Op::ToInt | Op::ToFloat => f.convert,
            Op::IAdd | Op::ISub | Op::ILt | Op::IEq => linear(x.add_16, x.add_32),
            Op::IMul => power(x.multiply_16, x.multiply_32),
            Op::Bitcast if is_float => byte * result,
            Op::Extract(_) => match code.definitions.get(&inst.args[0]).map(|d| &d.op) {
                Some(Op::Load(_)) => self.other.texture_word,
                _ => byte * result,
            },
            // Each element is compared with the index and copied.
            Op::SlotLoad(slot) | Op::SlotStore(slot) => {
                let len = f64::from(code.function.slots[slot.0 as usize].len);
                let varies = code.varying[inst.args[0].0 as usize];
                let elements = if varies { len } else { 1.0 };
                elements * (byte * widest + if varies { linear(x.add_16, x.add_32) } else { 0.0 })
            }
            // Of two values one is copied, where a pixel is enabled, and then the other.
            Op::Select => 2.0 * byte * result,
            _ => byte * widest,
        };
        picoseconds(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_changes_what_it_names_and_nothing_else() {
        let times = Times::parse("[float]\nadd = 1.5\n[functions]\nsin = 45.64").expect("a configuration");
        assert_eq!((times.float.add, times.float.multiply), (1.5, 2.04));
        assert_eq!(times.function("std.sin"), Some(45_640_000));
        assert_eq!(times.function("std.cos"), Some(81_360_000));
        assert_eq!(times.function("std.noise.2.3"), Some(64_920_000));
        assert_eq!(times.function("std.__fixed_noise.3"), Some(5_710_000));
        assert_eq!(times.function("std.single"), None);
        for wrong in ["[float]\nadd = -1", "[float]\nsum = 1", "[area]\nx = 1", "x", "[region]\nwidth = 0", "x = 1"] {
            assert!(Times::parse(wrong).is_err(), "{wrong}");
        }
    }
}
