//! Motion blur: the samples of a pixel are divided among time samples of the shutter interval
//! (Haeberli & Akeley 1990, "The accumulation buffer").
//!
//! Takes a progressive renderer and a callback that makes the job of each time: the scene as it is
//! then, with its own BVHs and shading data. So cameras, transforms, deforming points and moving
//! lights are all correct, and renderers know nothing of time, at the price of a BVH build for each
//! time sample. Each pixel takes the time samples in an order of its own (`Sampling`), so that no
//! time belongs to one side of a pixel. There are at most [`MAX_TIME_SAMPLES`]: an object that
//! moves farther than that many times its width shows as a row of copies.

use super::film::Film;
use super::progressive::{Pass, Progressive};
use super::{Job, Progress, RenderError};
use crate::image::Image;
use std::sync::atomic::AtomicBool;

/// The most time samples of the shutter interval. Each takes reading the scene, linking it and
/// building its BVHs.
pub const MAX_TIME_SAMPLES: u32 = 32;

/// The number of time samples of an image with `samples` samples for each pixel: as many where
/// those are few, else the largest number that divides them evenly.
pub fn time_samples(samples: u32) -> u32 {
    (1..=MAX_TIME_SAMPLES.min(samples)).rev().find(|n| samples.is_multiple_of(*n)).unwrap_or(1)
}

/// Renders a scene that moves. `job_at` makes the job at a time in the shutter interval, from 0 to
/// 1; all have the same size and samples. The imager is the last job's.
///
/// # Errors
/// Those of `job_at` and of the renderer.
pub fn draw<E: From<RenderError>>(
    progressive: &mut dyn Progressive,
    slices: u32,
    mut job_at: impl FnMut(f32) -> Result<Job, E>,
    progress: Progress<'_>,
) -> Result<Image, E> {
    let mut film = Film::default();
    let stop = AtomicBool::new(false);
    for slice in 0..slices {
        let job = job_at((slice as f32 + 0.5) / slices as f32)?;
        if slice == 0 {
            film.restart(job.window.width, job.window.height).map_err(RenderError::from)?;
        }
        let count = job.sampling.count() / slices;
        progressive.load(&job)?;
        progressive.draw(Pass { step: 1, first: slice * count, count }, &mut film, &stop)?;
        progress((slice + 1) as f32 / slices as f32);
    }
    Ok(progressive.finish(&film, 1, &stop)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::progressive::checks::job_of;
    use crate::render::rpu::{RpuProgressive, RpuRenderer};
    use crate::render::sampling::Pattern;

    #[test]
    fn samples_are_shared_out_evenly() {
        for (samples, expected) in [(1, 1), (2, 2), (16, 16), (32, 32), (64, 32), (36, 18), (37, 1), (34, 17)] {
            assert_eq!(time_samples(samples), expected, "{samples}");
        }
    }

    #[test]
    fn what_stands_still_is_the_same_image_slice_by_slice() {
        for pattern in [Pattern::Stratified, Pattern::Sobol] {
            let mut job = job_of("sepia", 20, 11, [2, 2]);
            job.film.pattern = pattern;
            let mut times = Vec::new();
            let mut progressive = RpuProgressive::new(RpuRenderer::new());
            let at = |share| {
                times.push(share);
                Ok::<_, RenderError>(job.clone())
            };
            let image = draw(&mut progressive, 4, at, &|_| {}).unwrap();
            assert_eq!(times, [0.125, 0.375, 0.625, 0.875]);
            let whole = crate::render::Renderer::render(&mut RpuRenderer::new(), &job, &|_| {}).unwrap();
            assert_eq!(image, whole);
        }
    }
}
