//! Progressive rendering: a back end keeps a program loaded and renders passes, coarse at first,
//! then sample by sample.
//!
//! [`Progressive`] has the same two implementations as [`super::Renderer`] and shares their code:
//! [`Pass::whole`], finished, gives the bits of [`super::Renderer::render`], and so do passes of
//! all its samples in order into one film. Nothing here knows windows, threads or files.

#[cfg(test)]
pub(super) mod checks;

use super::film::{Film, FilmSettings};
use super::report::Report;
use super::sampling::{Arguments, CameraSample, Numbers, Sampling};
use super::{AdapterInfo, Job, RenderError, Window};
use glam::Vec2;
use shadewright_image::Image;
use std::sync::atomic::AtomicBool;

/// One pass over the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Side, in pixels, of the blocks that share a pixel of the film; 1 for full resolution.
    pub step: u32,
    /// The first sample of each pixel.
    pub first: u32,
    /// Samples of each pixel.
    pub count: u32,
}

impl Pass {
    /// All samples of all pixels.
    pub fn whole(sampling: Sampling) -> Self {
        Self { step: 1, first: 0, count: sampling.count() }
    }

    /// One sample at the center of each block of `step`×`step` pixels.
    pub fn coarse(step: u32) -> Self {
        Self { step, first: 0, count: 1 }
    }

    /// Width and height of the film of a window.
    pub fn size(self, window: Window) -> [u32; 2] {
        [window.width.div_ceil(self.step), window.height.div_ceil(self.step)]
    }

    /// Sample `index` of the film's pixel `(x, y)`: at the center of a block, or where the sampling
    /// and the film's filter place it in a pixel.
    pub fn sample(
        self,
        window: Window,
        sampling: Sampling,
        film: &FilmSettings,
        [x, y]: [u32; 2],
        index: u32,
    ) -> CameraSample {
        if self.step > 1 {
            CameraSample::central(middle(window, self.step, [x, y]))
        } else {
            sampling.sample(film, window.x + x, window.y + y, index)
        }
    }

    /// The camera's arguments for some samples of the film's pixels.
    pub fn arguments(
        self,
        window: Window,
        sampling: Sampling,
        film: &FilmSettings,
        numbers: &Numbers,
        arguments: &mut Arguments,
    ) {
        if self.step > 1 {
            arguments.count = numbers.count;
            for (i, (pixel, index)) in numbers.iter().enumerate() {
                arguments.set(i, &self.sample(window, sampling, film, pixel, index));
            }
            return;
        }
        let mut moved = *numbers;
        moved.x.iter_mut().for_each(|x| *x = x.wrapping_add(window.x));
        moved.y.iter_mut().for_each(|y| *y = y.wrapping_add(window.y));
        sampling.arguments(film, &moved, arguments);
    }
}

/// Raster position of the center of a block of `step`×`step` pixels, clipped to the window.
pub fn middle(window: Window, step: u32, [x, y]: [u32; 2]) -> Vec2 {
    let along = |start: u32, length: u32, number: u32| {
        let corner = number * step;
        let extent = step.min(length.saturating_sub(corner));
        (start + corner) as f32 + 0.5 * extent as f32
    };
    Vec2::new(along(window.x, window.width, x), along(window.y, window.height, y))
}

/// The compilation of a job on other threads. Dropping it cancels the rest.
pub trait BackgroundCompilation: Send {
    /// True if it has finished.
    fn is_finished(&self) -> bool;

    /// Kernels that are compiled, and their total; 0 of 0 until that is known, or where the driver
    /// compiles all at once.
    fn progress(&self) -> [usize; 2];

    /// Cancels it.
    fn cancel(&self);

    /// Waits for the end.
    ///
    /// # Errors
    /// When the job cannot be rendered on the device; [`RenderError::Stopped`] after
    /// [`BackgroundCompilation::cancel`].
    fn wait(self: Box<Self>) -> Result<(), RenderError>;
}

/// A back end that keeps a job loaded and renders it in passes.
pub trait Progressive: Send {
    /// The back end and its device, for messages.
    fn describe(&self) -> String;

    /// The GPU adapter that it runs on; `None` for the RPU.
    fn adapter(&self) -> Option<AdapterInfo> {
        None
    }

    /// Loads a job. Code, shading data and BVH that are the same as in the last job stay loaded:
    /// another camera costs microseconds.
    ///
    /// # Errors
    /// When the job does not fit the device, or that fails. Nothing is loaded then.
    fn load(&mut self, job: &Job) -> Result<(), RenderError>;

    /// True if [`Progressive::report`] has the time of every kernel, from the next job on. Off by
    /// default, at no cost.
    fn set_profiling(&mut self, _on: bool) {}

    /// True if it uses the hand-written kernels, and must be opened again when they are edited.
    fn uses_kernels(&self) -> bool {
        false
    }

    /// Starts to compile a job in the background, if compilation is slow. The loaded job can be
    /// rendered meanwhile; loading the new one afterwards does not wait for compilation.
    fn prepare(&self, _job: &Job) -> Option<Box<dyn BackgroundCompilation>> {
        None
    }

    /// Starts to compile a job in the background that shall take the place of the loaded one, which is
    /// rendered meanwhile. Unlike [`Progressive::prepare`] it is for a caller that need not wait: however
    /// fast compilation is, [`Progressive::load`] does not wait for it afterwards. `None` where there is
    /// nothing to compile.
    fn compile_ahead(&self, job: &Job) -> Option<Box<dyn BackgroundCompilation>> {
        self.prepare(job)
    }

    /// Adds the samples of a pass to the film, which has [`Pass::size`].
    ///
    /// # Errors
    /// When a shader does not end or the device fails, and when there is no job;
    /// [`RenderError::Stopped`] soon after `stop` is set. The film then holds some of the samples.
    /// A failure sets `stop`, too, which ends the other parts of the pass.
    ///
    /// # Panics
    /// When the film has another size: a mistake of the caller.
    fn draw(&mut self, pass: Pass, film: &mut Film, stop: &AtomicBool) -> Result<(), RenderError>;

    /// The colors of camera rays through raster positions, and through the center of the lens
    /// ([`CameraSample::central`]): linear premultiplied red, green and blue, and alpha. Neighbors in
    /// the list run together: they are best near each other.
    ///
    /// # Errors
    /// As [`Progressive::draw`].
    fn colors(&mut self, positions: &[Vec2], stop: &AtomicBool) -> Result<Vec<[f32; 4]>, RenderError>;

    /// The image of a film that was rendered in blocks of `step`: the means of its samples, after
    /// the imager.
    ///
    /// # Errors
    /// As [`Progressive::draw`].
    fn finish(&mut self, film: &Film, step: u32, stop: &AtomicBool) -> Result<Image, RenderError>;

    /// Returns a report of the jobs loaded so far, with the kernel times of the last pass where
    /// they are measured.
    fn report(&self) -> Report;
}

/// The error of rendering before anything is loaded.
pub(super) fn nothing_loaded() -> RenderError {
    RenderError::Device("no program is loaded".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_of_all_pixels_has_the_positions_of_the_sampling() {
        let (window, sampling) = (Window { x: 5, y: 6, width: 9, height: 7 }, Sampling { strata: [3, 2], seed: 4 });
        let pass = Pass::whole(sampling);
        assert_eq!((pass.size(window), pass.count), ([9, 7], 6));
        let film = FilmSettings::default();
        assert_eq!(pass.sample(window, sampling, &film, [2, 3], 4), sampling.sample(&film, 7, 9, 4));
    }

    #[test]
    fn a_coarse_pass_looks_at_the_middle_of_blocks_cut_off_at_the_border() {
        let (window, sampling) = (Window { x: 10, y: 0, width: 9, height: 7 }, Sampling { strata: [3, 2], seed: 4 });
        let pass = Pass::coarse(4);
        assert_eq!(pass.size(window), [3, 2]);
        let at = |pixel| pass.sample(window, sampling, &FilmSettings::default(), pixel, 0);
        assert_eq!(at([0, 0]), CameraSample::central(Vec2::new(12.0, 2.0)));
        assert_eq!(at([2, 1]), CameraSample::central(Vec2::new(18.5, 5.5)));
    }
}
