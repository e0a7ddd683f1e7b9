//! The parts of the hardware, by the thesis's estimates (§3.3.3, §3.3.5).

use super::config::{Config, FrontKind};
use super::merge::{DIVIDERS, multipliers};
use super::segment::Words;
use super::shape::{Shape, extra_mergers};

/// The height of a serial multiplier or divider, and the width of a merging processor, in λ: a
/// multiplier of 12 bits is 1400 by 300, and three times as wide "to account for miscellaneous
/// registers, adders, and control logic".
const DEVICE_HEIGHT: u32 = 300;
const MERGER_WIDTH: u32 = 4200;

/// Chips of hardware whose processors are packaged individually.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chips {
    /// Transformation and clipping.
    pub front: u64,
    /// Scan conversion processors.
    pub converters: u64,
    /// Merging processors.
    pub mergers: u64,
    /// Splitting processors.
    pub splitters: u64,
    /// Pixel conversion processors; one alone is a board of fast logic instead.
    pub pixels: u64,
}

impl Chips {
    /// The chips of a tree.
    pub fn new(shape: &Shape, config: &Config) -> Self {
        let leaves = u64::from(shape.leaves);
        let front = match config.front.kind {
            FrontKind::Array => leaves,
            FrontKind::Pipeline => u64::from(config.front.pipeline_chips),
        };
        Self {
            front,
            converters: leaves,
            mergers: u64::from(shape.mergers()),
            splitters: u64::from(shape.splitters()),
            pixels: if shape.split == 0 { 0 } else { u64::from(shape.strips()) },
        }
    }

    /// All.
    pub fn total(&self) -> u64 {
        self.front + self.in_tree()
    }

    /// All but the front end.
    pub fn in_tree(&self) -> u64 {
        self.converters + self.mergers + self.splitters + self.pixels
    }
}

/// The numbers of a segment.
pub fn words(config: &Config) -> Words {
    Words::new(config.fields(), config.segments.normals)
}

/// Serial multipliers and dividers of a merging processor, and its size in λ.
pub fn merger(config: &Config) -> [u32; 4] {
    let multipliers = multipliers(config.fields());
    [multipliers, DIVIDERS, DEVICE_HEIGHT * (multipliers + DIVIDERS), MERGER_WIDTH]
}

/// Shifting a polygon from one scan converter of a chain to the next, in microseconds: its two edge
/// lists of up to 12 entries, with a wire for each number of an entry.
pub fn shift(config: &Config) -> f64 {
    let bits = 12 + config.segments.slope_bits;
    12.0 * f64::from(bits) * config.segments.bit
}

/// Shifting all polygons into the leaves, in microseconds.
pub fn load(config: &Config, polygons: u64) -> f64 {
    polygons.div_ceil(u64::from(config.front.chains)) as f64 * shift(config)
}

/// Bits of a scan converter's edge lists.
pub fn edge_bits(config: &Config, entries: u64) -> u64 {
    let values = u64::from(2 + config.fields());
    entries * (12 + values * u64::from(12 + 12 + config.segments.slope_bits))
}

/// Chips of the published examples: 2,500 polygons at high resolution, and about 100 with Clark's
/// pipeline.
pub fn published_examples(config: &Config) -> [u64; 2] {
    let large = Shape::new(2500, 6);
    let small = Shape::new(100, 0);
    debug_assert_eq!(extra_mergers(0), 0);
    let array = Config { front: super::config::Front { kind: FrontKind::Array, ..config.front }, ..*config };
    [Chips::new(&large, &array).total(), Chips::new(&small, &array).in_tree()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_examples_have_the_published_chips() {
        let [large, small] = published_examples(&Config::default());
        assert!((8000..10_000).contains(&large), "{large}");
        assert!((190..=200).contains(&small), "{small}");
    }

    #[test]
    fn a_merging_processor_has_twelve_multipliers_and_with_texture_eighteen() {
        assert_eq!(merger(&Config::default()), [12, 3, 4500, 4200]);
        let textured = Config::parse("[segments]\ntexture = \"ramp\"").expect("settings");
        assert_eq!(merger(&textured)[0], 18);
        assert_eq!(words(&textured).total(), 180);
        let normals = Config::parse("[image]\nshading = \"hardware\"\n[segments]\nnormals = true").expect("settings");
        assert_eq!((words(&normals).count, merger(&normals)[0]), (12, 12));
    }

    #[test]
    fn more_chains_load_faster_and_edge_lists_fit_into_the_published_memory() {
        let with = |chains: u32| {
            let text = format!("[front]\nkind = \"pipeline\"\nchains = {chains}");
            load(&Config::parse(&text).expect("settings"), 900)
        };
        assert!((with(1) / with(9) - 9.0).abs() < 0.1);
        // As printed, with slopes of 12 bits.
        let printed = Config::parse("[segments]\nslope-bits = 0").expect("settings");
        assert_eq!(edge_bits(&printed, 12), 12 * 132);
        assert!(edge_bits(&printed, 12) < 2048);
    }
}
