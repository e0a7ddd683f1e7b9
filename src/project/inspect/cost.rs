//! The cost of a shader's source lines on the timed RPU.

use super::listing::SourceLine;
use crate::{ProjectState, View};
use shadewright_ir::Loc;
use shadewright_render::RenderError;
use shadewright_render::rpu::{Loaded, simulate};
use shadewright_render::sampling::Sampling;
use shadewright_rpu::timed::Config;
use shadewright_scene::Format;
use std::collections::HashMap;

/// Longer side of the measured image, in pixels.
const SIDE: u32 = 64;

/// Cycles of a small image by source line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Cycles of all processors for each line of the shader's files: issued instructions, and
    /// waiting before them when nothing else could run. Inlined library code counts for the calling
    /// line.
    pub lines: HashMap<SourceLine, u64>,
    /// Cycles of the whole image.
    pub total: u64,
    /// Width and height of the image.
    pub size: [u32; 2],
}

impl Cost {
    /// The fraction of the image's cycles spent in a line, 0 to 1.
    pub fn share(&self, place: SourceLine) -> f64 {
        self.lines.get(&place).map_or(0.0, |&cycles| self.part(cycles))
    }

    /// The largest share of a line.
    pub fn largest_share(&self) -> f64 {
        self.lines.values().max().map_or(0.0, |&cycles| self.part(cycles))
    }

    /// The share of all lines of the shader. The rest went to other shaders, to the camera and to
    /// functions that are called.
    pub fn shader_share(&self) -> f64 {
        self.part(self.lines.values().sum())
    }

    /// Cycles a pixel.
    pub fn per_pixel(&self) -> f64 {
        let pixels = f64::from(self.size[0]) * f64::from(self.size[1]);
        self.total as f64 / pixels.max(1.0)
    }

    fn part(&self, cycles: u64) -> f64 {
        cycles as f64 / self.total.max(1) as f64
    }
}

/// Runs a small image, one sample a pixel. `place` gives the shader's line of an instruction.
pub(super) fn measure(
    state: &ProjectState,
    view: &View,
    budget: u32,
    loaded: &Loaded,
    place: &dyn Fn(Loc) -> Option<SourceLine>,
) -> Result<Cost, RenderError> {
    let format = small(view.format);
    let view = View { camera: view.camera.clone(), format };
    let job = state.job(&view, Sampling { strata: [1, 1], seed: 0 }, budget);
    let simulation = simulate(&job, loaded, &Config::default(), &|_| ())?;
    let mut cost = Cost { size: [format.width, format.height], ..Cost::default() };
    for (at, &loc) in simulation.stats.at.iter().zip(&loaded.program().locs) {
        cost.total += at.cycles();
        if let Some(place) = place(loc).filter(|_| at.cycles() > 0) {
            *cost.lines.entry(place).or_default() += at.cycles();
        }
    }
    Ok(cost)
}

/// A format of the same shape that is not larger than is measured.
fn small(format: Format) -> Format {
    let longer = format.width.max(format.height).max(1);
    let side = |n: u32| (n * SIDE.min(longer) / longer).max(1);
    Format { width: side(format.width), height: side(format.height), ..format }
}
