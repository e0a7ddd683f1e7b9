//! Motion blur: the shutter's opening is cut into slices, and the samples of a pixel are shared out among them (Haeberli & Akeley 1990, "The accumulation buffer").
//!
//! Takes a machine that draws in passes, and asks somebody else for the job at each slice's time: a scene as it is then, with its own trees and shading data. So whatever moves, the camera, transforms, points
//! and lights, is right on every machine without their knowing of time, at the price of a tree for each slice. A pixel's samples take the slices in an order of its own
//! (`Sampling`), so that no time belongs to one side of a pixel. There are at most [`MAX_SLICES`]: a thing that moves farther than so many times its own width shows as a row of things.

use super::film::Film;
use super::progressive::{Pass, Progressive};
use super::{Job, Progress, RenderError};
use crate::image::Image;
use std::sync::atomic::AtomicBool;

/// Most slices of the shutter's opening. Each takes reading the scene, linking it and building its trees.
pub const MAX_SLICES: u32 = 32;

/// How many slices an image of so many samples a pixel has: as many as samples where those are few, else the largest number that shares them out evenly.
pub fn slices(samples: u32) -> u32 {
    (1..=MAX_SLICES.min(samples)).rev().find(|n| samples.is_multiple_of(*n)).unwrap_or(1)
}

/// Draws the image of a scene that moves. `job_at` gives the job at a share of the shutter's opening, from 0 to 1; all are of one size and have the same samples. The imager is the last job's.
///
/// # Errors
/// Those of `job_at` and of the machine.
pub fn draw<E: From<RenderError>>(
    machine: &mut dyn Progressive,
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
        machine.load(&job)?;
        machine.draw(Pass { step: 1, first: slice * count, count }, &mut film, &stop)?;
        progress((slice + 1) as f32 / slices as f32);
    }
    Ok(machine.finish(&film, 1, &stop)?)
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
            assert_eq!(slices(samples), expected, "{samples}");
        }
    }

    #[test]
    fn what_stands_still_is_the_same_image_slice_by_slice() {
        for pattern in [Pattern::Stratified, Pattern::Sobol] {
            let mut job = job_of("sepia", 20, 11, [2, 2]);
            job.film.pattern = pattern;
            let mut times = Vec::new();
            let mut machine = RpuProgressive::new(RpuRenderer::new());
            let at = |share| {
                times.push(share);
                Ok::<_, RenderError>(job.clone())
            };
            let image = draw(&mut machine, 4, at, &|_| {}).unwrap();
            assert_eq!(times, [0.125, 0.375, 0.625, 0.875]);
            let whole = crate::render::Renderer::render(&mut RpuRenderer::new(), &job, &|_| {}).unwrap();
            assert_eq!(image, whole);
        }
    }
}
