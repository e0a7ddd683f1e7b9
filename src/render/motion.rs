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
use shadewright_image::Image;
use std::ops::Range;
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
/// The errors of `job_at` and of the renderer.
pub fn draw<E: From<RenderError>>(
    progressive: &mut dyn Progressive,
    slices: u32,
    job_at: impl FnMut(f32) -> Result<Job, E>,
    progress: Progress<'_>,
) -> Result<Image, E> {
    let (mut film, stop) = (Film::default(), AtomicBool::new(false));
    draw_into(progressive, slices, 0..u32::MAX, &mut film, job_at, &stop, progress)?;
    Ok(progressive.finish(&film, 1, &stop)?)
}

/// [`draw`] of some samples of each pixel into a film, which is made from the first job where it has
/// no pixels. [`Progressive::finish`] gives the image then.
///
/// # Errors
/// The errors of [`draw`]; [`RenderError::Stopped`] soon after `stop` is set.
pub fn draw_into<E: From<RenderError>>(
    progressive: &mut dyn Progressive,
    slices: u32,
    samples: Range<u32>,
    film: &mut Film,
    mut job_at: impl FnMut(f32) -> Result<Job, E>,
    stop: &AtomicBool,
    progress: Progress<'_>,
) -> Result<(), E> {
    // The samples of a slice are known with the first job.
    let mut of_slice = None;
    for slice in 0..slices {
        let range = |count: u32| (slice * count).max(samples.start)..((slice + 1) * count).min(samples.end);
        if of_slice.is_some_and(|count| range(count).is_empty()) {
            continue;
        }
        let job = job_at((slice as f32 + 0.5) / slices as f32)?;
        if film.pixel_count() == 0 {
            film.restart(job.window.width, job.window.height, job.sampling.count()).map_err(RenderError::from)?;
        }
        let range = range(*of_slice.insert(job.sampling.count() / slices));
        if !range.is_empty() {
            progressive.load(&job)?;
            let count = range.end - range.start;
            progressive.draw(Pass { step: 1, first: range.start, count }, film, stop)?;
        }
        progress((slice + 1) as f32 / slices as f32);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progressive::checks::job_of;
    use crate::rpu::{RpuProgressive, RpuRenderer};
    use crate::sampling::Pattern;

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
            let whole = crate::Renderer::render(&mut RpuRenderer::new(), &job, &|_| {}).unwrap();
            assert_eq!(image, whole);
        }
    }
}
