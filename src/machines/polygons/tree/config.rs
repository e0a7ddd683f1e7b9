//! The numbers and switches of the hardware: `default.toml` has each with its source.

use super::merge::Case;
use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::{self, SettingsError};

/// The text of the default configuration, comments included.
pub const DEFAULT_TEXT: &str = include_str!("default.toml");

/// The most levels that can be split.
pub const MAX_SPLIT: u32 = 6;

/// The numbers and switches of a scan-line tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The options of the image.
    pub image: ImageOptions,
    /// Transformation and clipping.
    pub front: Front,
    /// The parts of a segment.
    pub segments: Segments,
    /// The merging processors.
    pub mergers: Mergers,
    /// The tree.
    pub tree: Tree,
    /// The splitting processors.
    pub splitters: Splitters,
    /// The display.
    pub display: Display,
    /// The simulations beside that of the scene itself.
    pub study: Study,
}

/// The options of the image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageOptions {
    /// Where colors come from.
    pub shading: Shading,
    /// How they go across a polygon.
    pub interpolation: Interpolation,
    /// The linear value of the largest field; 0 for the largest color that occurs.
    pub white: f32,
    /// Samples of a pixel across and down.
    pub samples: [u32; 2],
    /// How samples make pixels.
    pub filter: Filter,
}

/// Where colors at corners come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shading {
    /// The scene's shaders.
    Shader,
    /// Hardware lighting.
    #[serde(alias = "machine")]
    Hardware,
}

/// How colors go across a polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Interpolated.
    Smooth,
    /// The same everywhere.
    Flat,
}

/// How samples make pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// The mean of a pixel's samples.
    Box,
    /// Weights that fall to nothing a pixel away.
    Triangle,
}

/// Transformation and clipping.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Front {
    /// The hardware that transforms.
    pub kind: FrontKind,
    /// An instruction of the array, in microseconds.
    pub instruction: f64,
    /// Objects with a matrix of their own.
    pub moving_objects: u32,
    /// Polygons that the pipeline transforms in a frame.
    pub pipeline_polygons: u32,
    /// The chips of the pipeline.
    pub pipeline_chips: u32,
    /// Shift chains to the leaves.
    pub chains: u32,
    /// The polygons that the pipeline leaves out.
    pub cull: Cull,
    /// Several polygons for a leaf.
    pub bucket_sort: bool,
}

/// The hardware that transforms and clips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrontKind {
    /// A processor for each polygon.
    Array,
    /// A common pipeline.
    Pipeline,
}

/// Polygons that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cull {
    /// None.
    None,
    /// Polygons with clockwise corners on the screen.
    Clockwise,
    /// Polygons with counter-clockwise corners.
    CounterClockwise,
}

/// The parts of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Segments {
    /// Sending a bit, in microseconds.
    pub bit: f64,
    /// Bits of depths.
    pub depth_bits: u32,
    /// Fraction bits of slopes.
    pub slope_bits: u32,
    /// Fraction bits of the parameters of breaks.
    pub parameter_bits: u32,
    /// Normals instead of colors.
    pub normals: bool,
    /// Texture coordinates.
    pub texture: Texture,
}

/// The texture that is made of texture coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Texture {
    /// There are none.
    None,
    /// Squares.
    Checker,
    /// From dark to bright.
    Ramp,
}

/// The merging processors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mergers {
    /// A stage, in microseconds.
    pub stage: f64,
    /// Stages of each [`Case`].
    pub stages: [u32; 4],
    /// Segments that wait at an input.
    pub queue: u32,
}

/// The tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Leaves, at most.
    pub leaves: u32,
    /// Levels that are split.
    pub split: u32,
    /// How polygons are spread over the leaves.
    pub spread: Spread,
    /// Cells on an axis.
    pub cells: u32,
}

/// How polygons are spread over the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// At random.
    Random,
    /// The polygons of each cell of space evenly over the subtrees.
    Cells,
    /// In their order.
    Order,
}

/// The splitting processors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Splitters {
    /// Passing a segment on, in microseconds.
    pub pass: f64,
    /// Breaking one.
    #[serde(rename = "break")]
    pub split: f64,
    /// Segments that each output holds.
    pub queue: u32,
}

/// The display.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Display {
    /// Frames a second.
    pub rate: f64,
    /// Scan lines by which the tree starts before the beam.
    pub lead: u32,
}

/// The simulations beside that of the scene itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Trees with other numbers of split levels.
    pub sweep: bool,
    /// The capacity of roots.
    pub capacity: bool,
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
    /// Text that is no TOML, unknown keys, numbers out of range, and switches that exclude each
    /// other.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let config: Self = settings::parse(DEFAULT_TEXT, text, &[])?;
        config.check_numbers()?;
        let together =
            |wrong: bool, message: &str| if wrong { Err(SettingsError::Value(message.into())) } else { Ok(()) };
        let normals = config.segments.normals && config.image.shading == Shading::Shader;
        together(normals, "`segments.normals` needs `image.shading = \"hardware\"`: shaders give colors, not normals")?;
        let is_array = config.front.kind == FrontKind::Array;
        let early = "needs `front.kind = \"pipeline\"`: the array assigns polygons to leaves before it transforms them";
        together(is_array && config.front.bucket_sort, &format!("`front.bucket-sort` {early}"))?;
        together(is_array && config.front.cull != Cull::None, &format!("`front.cull` {early}"))?;
        Ok(config)
    }

    fn check_numbers(&self) -> Result<(), SettingsError> {
        let check = SettingsError::check::<f64>;
        let count = SettingsError::check::<u32>;
        check("image.white", self.image.white.into(), 0.0, 1e6)?;
        count("image.samples", self.image.samples[0].min(self.image.samples[1]), 1, 16)?;
        count("image.samples", self.image.samples[0].max(self.image.samples[1]), 1, 16)?;
        check("front.instruction", self.front.instruction, 1e-6, 1e6)?;
        count("front.moving-objects", self.front.moving_objects, 0, 1024)?;
        count("front.pipeline-polygons", self.front.pipeline_polygons, 1, 1 << 24)?;
        count("front.pipeline-chips", self.front.pipeline_chips, 1, 1 << 16)?;
        count("front.chains", self.front.chains, 1, 1 << 16)?;
        check("segments.bit", self.segments.bit, 1e-6, 1e3)?;
        count("segments.depth-bits", self.segments.depth_bits, 8, 16)?;
        count("segments.slope-bits", self.segments.slope_bits, 0, 16)?;
        count("segments.parameter-bits", self.segments.parameter_bits, 8, 24)?;
        check("mergers.stage", self.mergers.stage, 1e-6, 1e3)?;
        for stages in self.mergers.stages {
            count("mergers.stages", stages, 1, 64)?;
        }
        count("mergers.queue", self.mergers.queue, 0, 64)?;
        count("tree.leaves", self.tree.leaves, 1, 1 << 16)?;
        count("tree.split", self.tree.split, 0, MAX_SPLIT)?;
        count("tree.cells", self.tree.cells, 1, 256)?;
        check("splitters.pass", self.splitters.pass, 1e-6, 1e3)?;
        check("splitters.break", self.splitters.split, 1e-6, 1e3)?;
        count("splitters.queue", self.splitters.queue, 1, 1 << 12)?;
        check("display.rate", self.display.rate, 1e-3, 1e4)?;
        count("display.lead", self.display.lead, 0, 1 << 12)
    }

    /// Fields of a segment's end beside x and z.
    pub fn fields(&self) -> u32 {
        if self.segments.texture == Texture::None { 3 } else { 5 }
    }

    /// Sending a segment from one processor to the next, in microseconds: its numbers go at once,
    /// bit by bit.
    pub fn transfer(&self) -> f64 {
        self.segments.bit * f64::from(self.segments.depth_bits.max(12))
    }

    /// A step of a merging processor, in microseconds.
    pub fn merge_time(&self, case: Case) -> f64 {
        self.mergers.stage * f64::from(self.mergers.stages[case as usize])
    }

    /// A frame, in microseconds.
    pub fn frame_time(&self) -> f64 {
        1e6 / self.display.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_the_published_ones() {
        let config = Config::default();
        assert!((config.transfer() - 1.8).abs() < 1e-9);
        assert_eq!(Case::ALL.map(|case| config.merge_time(case)), [3.0, 6.0, 6.0, 15.0]);
        assert!((config.frame_time() / 512.0 - 65.0).abs() < 0.2);
    }

    #[test]
    fn wrong_settings_are_errors_that_name_them() {
        let message = |text: &str| Config::parse(text).expect_err(text).to_string();
        assert!(message("[tree]\nsplit = 7").contains("tree.split"));
        assert!(message("[image]\nsamples = [1, 0]").contains("image.samples"));
        assert!(message("[segments]\nnormals = true").contains("hardware"));
        assert!(message("[front]\nbucket-sort = true").contains("pipeline"));
        assert!(message("[front]\ncull = \"clockwise\"").contains("front.cull"));
        assert!(Config::parse("[image]\nshading = \"hardware\"\n[segments]\nnormals = true").is_ok());
    }
}
