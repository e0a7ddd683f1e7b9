//! Adaptive antialiasing by subdivision (Whitted 1980, "An improved illumination model for shaded
//! display"; Ullner 1983, §2.1).
//!
//! Takes an image window and a callback that traces camera rays at raster positions; gives a film.
//! The corners of all pixels are sampled first. A pixel whose corners differ is divided into four
//! squares with five more samples, and so is each square, until its corners are similar or the depth
//! limit is reached. A square that lies over the projection of a small object is divided however
//! similar its corners are ([`small`]). The film gets the mean of each square's corners, weighted by
//! the integral of the pixel filter over the square ([`weights`]).
//!
//! Positions are requested level by level, so that a back end or a hardware model gets large batches
//! ([`Colors`]), and each position once: pixels share the samples of their common borders
//! ([`subdivide`]). There are no random numbers. Nothing here knows back ends, threads or files.

mod contrast;
mod lattice;
pub mod small;
mod subdivide;
#[cfg(test)]
mod tests;
mod weights;

use super::film::Film;
use super::progressive::Progressive;
use super::{Job, Progress, RenderError, Window};
use glam::Vec2;
use shadewright_image::Image;
use shadewright_scene::{Exposure, Integrator, PixelFilter, Scene};
use small::SmallObjects;
use std::sync::atomic::AtomicBool;
use thiserror::Error;

pub use subdivide::Statistics;

/// The deepest subdivision: squares of 1/64 of a pixel's side.
pub const MAX_DEPTH: u32 = 6;

/// When a square is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The greatest difference between the corners of a square that stays whole, in alpha and in the
    /// square roots of exposed linear colors: about the share of the display's range, where 0 is
    /// black and 1 is white. Not negative.
    pub threshold: f32,
    /// How often a pixel is halved at most, from 0 to [`MAX_DEPTH`].
    pub depth: u32,
}

impl Default for Settings {
    /// Of the settings measured, those with the least error beside that of as many uniform samples
    /// (`docs/rendering.md`, "Adaptive antialiasing"): a depth of 3 takes twice the samples for a fifth
    /// less error.
    fn default() -> Self {
        Self { threshold: 0.05, depth: 2 }
    }
}

/// A scene whose samples depend on more than their raster positions.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Unsupported {
    /// Samples have times.
    #[error("motion blur needs many samples at different times")]
    Motion,
    /// Samples have positions on the lens.
    #[error("depth of field needs many samples over the lens")]
    Lens,
    /// Samples have random numbers.
    #[error("the path integrator needs many random samples")]
    Path,
}

/// Colors at raster positions: for each the linear premultiplied red, green and blue, and alpha.
/// Positions of one call differ; they are in an order in which neighbors are near each other.
pub type Colors<'a> = &'a mut dyn FnMut(&[Vec2]) -> Result<Vec<[f32; 4]>, RenderError>;

/// The sampler of one image.
#[derive(Clone, Debug)]
pub struct AdaptiveSampler {
    settings: Settings,
    window: Window,
    filter: PixelFilter,
    exposure: Exposure,
    small: SmallObjects,
}

impl AdaptiveSampler {
    /// The sampler of a job that was made from `scene`, with the scene's filter and small objects.
    ///
    /// # Errors
    /// When one sample for a position is not enough: see [`Unsupported`].
    pub fn new(job: &Job, scene: &Scene, settings: Settings) -> Result<Self, Unsupported> {
        if job.film.moves {
            return Err(Unsupported::Motion);
        }
        if scene.integrator == Integrator::Path {
            return Err(Unsupported::Path);
        }
        if !job.film.is_pinhole {
            return Err(Unsupported::Lens);
        }
        let small = SmallObjects::for_scene(scene, &job.program.primitives.tree);
        let (filter, exposure) = (scene.film.filter, job.film.exposure);
        Ok(Self { small, filter, exposure, ..Self::plain(job.window, settings) })
    }

    /// The sampler of a window: with a box filter of one pixel, without exposure and small objects.
    pub fn plain(window: Window, settings: Settings) -> Self {
        let settings = Settings { depth: settings.depth.min(MAX_DEPTH), ..settings };
        let (filter, exposure, small) = Default::default();
        Self { settings, window, filter, exposure, small }
    }

    /// Samples the window. `progress` is called with the share of its rows that have been sampled.
    /// The film's weights are the filter's: 1 for each pixel under the box filter.
    ///
    /// # Errors
    /// The errors of `colors`, and when there is no memory for the film.
    pub fn film(&self, colors: Colors<'_>, progress: Progress<'_>) -> Result<(Film, Statistics), RenderError> {
        subdivide::film(self, colors, progress)
    }

    /// Loads a job into a progressive renderer and renders it; the imager has run on the image.
    ///
    /// # Errors
    /// The errors of the renderer; [`RenderError::Stopped`] soon after `stop` is set.
    pub fn draw(
        &self,
        progressive: &mut dyn Progressive,
        job: &Job,
        stop: &AtomicBool,
        progress: Progress<'_>,
    ) -> Result<(Image, Statistics), RenderError> {
        progressive.load(job)?;
        let (film, statistics) = self.film(&mut |positions| progressive.colors(positions, stop), progress)?;
        Ok((progressive.finish(&film, 1, stop)?, statistics))
    }
}
