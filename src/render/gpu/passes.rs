//! Rendering a pass over an image on the GPU, band by band, and running the imager after it. Whole
//! and progressive renders consist of these.
//!
//! A band is as large as a batch can be; its pixels are the batch's items, their samples the runs.
//! The samples of each of the film's batches are summed on the GPU, and the sums are read back once
//! for each of the executor's batches. The imager, where there is one, runs on the means. Positions, sums and means are
//! those of the CPU's `Pass` and `Film`.

use super::batch::{Batch, Results, SampleNumbers};
use super::executor::PathExecutor;
use super::executor::trap_error;
use super::program::Program;
use super::tiles::tiled_pixels;
use super::wavefront::Compute;
use crate::film::{Film, FilmPixel};
use crate::progressive::{Pass, middle};
use crate::sampling::CameraSample;
use crate::{Job, Progress, RenderError};
use glam::Vec2;
use rayon::prelude::*;
use shadewright_image::Image;
use shadewright_program::{CAMERA_ENTRY, IMAGER_ENTRY};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Words of an image's pixel: color and alpha.
const PIXEL_WORDS: u32 = 4;

/// The state of rendering passes.
pub(super) struct Drawing<'a> {
    pub compute: &'a Compute,
    pub job: &'a Job,
    pub program: &'a Program,
    /// Runs the program on the job's data.
    pub executor: &'a mut dyn PathExecutor,
    pub progress: Progress<'a>,
    /// Ends a pass.
    pub stop: &'a AtomicBool,
    /// Runs that have finished, and all that will run, for `progress`.
    pub done: u64,
    pub total: u64,
}

impl Drawing<'_> {
    /// Runs of a pass over the whole image, the imager's included.
    pub fn runs(job: &Job, pass: Pass) -> u64 {
        let [width, height] = pass.size(job.window).map(u64::from);
        width * height * (u64::from(pass.count) + u64::from(job.program.has_imager))
    }

    /// Adds the samples of a pass to the film.
    pub fn draw(&mut self, pass: Pass, film: &mut Film) -> Result<(), RenderError> {
        assert_eq!([film.width(), film.height()], pass.size(self.job.window), "the film of {pass:?}");
        let (items, iterations) = self.executor.batch_size(pass.count, self.job.program.camera_arguments() as u32);
        each_band(film.width(), film.height(), items, |band| self.sample_band(band, pass, iterations, film))
    }

    /// The colors of camera rays through raster positions, in their order.
    pub fn colors(&mut self, positions: &[Vec2]) -> Result<Vec<[f32; 4]>, RenderError> {
        let words = self.job.program.camera_arguments();
        let (items, _) = self.executor.batch_size(1, words as u32);
        let mut colors = Vec::with_capacity(positions.len());
        for positions in positions.chunks(items as usize) {
            let mut arguments = vec![0; words * positions.len()];
            for (item, &position) in positions.iter().enumerate() {
                let rows = arguments.chunks_mut(positions.len());
                for (row, argument) in rows.zip(CameraSample::central(position).arguments()) {
                    row[item] = argument.to_bits();
                }
            }
            let (entry, budget) = (self.program.entry(CAMERA_ENTRY)?, self.budget());
            let (items, argument_words) = (positions.len() as u32, words as u32);
            let (iterations, arguments, results) = (1, &arguments[..], Results::Sum);
            let samples = SampleNumbers::default();
            self.run(&Batch { entry, budget, items, iterations, argument_words, arguments, results, samples })?;
            colors.extend(self.executor.sums()?);
        }
        Ok(colors)
    }

    /// The means of a film that was rendered in blocks of `step`, after the imager.
    pub fn finish(&mut self, film: &Film, step: u32) -> Result<Image, RenderError> {
        let mut image = self.job.film.develop(film);
        if self.job.program.has_imager {
            let paths = self.executor.paths();
            each_band(film.width(), film.height(), paths, |band| self.image_band(band, step, &mut image))?;
        }
        Ok(image)
    }

    /// Takes every sample of a band's pixels, `iterations` for each pixel in a batch.
    fn sample_band(
        &mut self,
        band: &[[u32; 2]],
        pass: Pass,
        iterations: u32,
        film: &mut Film,
    ) -> Result<(), RenderError> {
        let job = self.job;
        let (words, signed) = (job.program.camera_arguments(), job.film.filter.is_signed());
        let sample = |pixel, index| pass.sample(job.window, job.sampling, &job.film, pixel, index);
        let items = band.len() as u32;
        let mut arguments = Vec::new();
        let (batches, end) = (film.batches(), pass.first + pass.count);
        for first in (pass.first..end).step_by(iterations as usize) {
            let samples = first..end.min(first + iterations);
            let iterations = samples.len() as u32;
            let numbers = SampleNumbers { first, all: batches.samples() };
            // The sum of a batch that has samples already goes on on the device.
            let before: Vec<_> = band.iter().map(|&[x, y]| film.batch_sum(x, y, first)).collect();
            let mut results = Results::Sum;
            if before.iter().any(|&pixel| pixel != FilmPixel::default()) {
                let sums: Vec<_> = before.iter().map(|pixel| pixel.sum).collect();
                self.executor.set_sums(&sums, numbers.sums(iterations))?;
                results = Results::AddToSums;
            }
            arguments.resize(iterations as usize * words * band.len(), 0);
            let rows = arguments.par_chunks_mut(words * band.len()).zip(samples.clone());
            rows.for_each(|(rows, index)| {
                for (item, &pixel) in band.iter().enumerate() {
                    for (row, argument) in rows.chunks_mut(band.len()).zip(sample(pixel, index).arguments()) {
                        row[item] = argument.to_bits();
                    }
                }
            });
            let (entry, budget) = (self.program.entry(CAMERA_ENTRY)?, self.budget());
            let (argument_words, arguments) = (words as u32, &arguments[..]);
            self.run(&Batch {
                entry,
                budget,
                items,
                iterations,
                argument_words,
                arguments,
                results,
                samples: numbers,
            })?;
            let sums = self.executor.sums()?;
            for (part, sums) in batches.split(samples).zip(sums.chunks(band.len())) {
                for ((&[x, y], before), &sum) in band.iter().zip(&before).zip(sums) {
                    let weight: f32 = match signed {
                        true => part.clone().map(|index| sample([x, y], index).weight).sum(),
                        false => part.len() as f32,
                    };
                    let known = if part.start == first { before.weight } else { 0.0 };
                    film.set_batch_sum(x, y, part.start, FilmPixel { sum, weight: known + weight });
                }
            }
        }
        Ok(())
    }

    /// Runs the imager on a band's pixels.
    fn image_band(&mut self, band: &[[u32; 2]], step: u32, image: &mut Image) -> Result<(), RenderError> {
        let window = self.job.window;
        let width = image.width as usize;
        let index = |[x, y]: [u32; 2]| y as usize * width + x as usize;
        let (xs, ys): (Vec<_>, Vec<_>) = band.iter().map(|&pixel| words(middle(window, step, pixel))).unzip();
        let channel =
            |k: usize| -> Vec<u32> { band.iter().map(|&pixel| image.rgba[index(pixel)][k].to_bits()).collect() };
        let arguments = [xs, ys, channel(0), channel(1), channel(2), channel(3)];
        self.run(&Batch {
            entry: self.program.entry(IMAGER_ENTRY)?,
            budget: self.budget(),
            items: band.len() as u32,
            iterations: 1,
            argument_words: arguments.len() as u32,
            arguments: &arguments.concat(),
            results: Results::Stay,
            samples: SampleNumbers::default(),
        })?;
        let results = self.executor.results(PIXEL_WORDS, band.len() as u32)?;
        for (path, &pixel) in band.iter().enumerate() {
            image.rgba[index(pixel)] = [0, 1, 2, 3].map(|k| f32::from_bits(results[k][path]));
        }
        Ok(())
    }

    /// Back edges and calls that a sample may take.
    fn budget(&self) -> u32 {
        self.job.budget.min(self.compute.gpu().max_loop_iterations())
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<(), RenderError> {
        let stopped = || self.stop.load(Ordering::Relaxed);
        if stopped() {
            return Err(RenderError::Stopped);
        }
        let (done, total, progress) = (self.done, self.total.max(1), self.progress);
        let mut on_progress = |runs: u32| {
            progress((done + u64::from(runs)) as f32 / total as f32);
            if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if let Some(trap) = self.executor.run_batch(batch, &mut on_progress)? {
            let (module, limit) = (&self.job.program.module, self.executor.stats().frame_words);
            return Err(trap_error(trap, self.program.interface(), module, batch.budget, limit));
        }
        self.done += u64::from(batch.items) * u64::from(batch.iterations);
        Ok(())
    }
}

/// Calls `use_band` with all pixels of an image, up to `items` at once.
fn each_band(
    width: u32,
    height: u32,
    items: u32,
    mut use_band: impl FnMut(&[[u32; 2]]) -> Result<(), RenderError>,
) -> Result<(), RenderError> {
    let mut pixels = tiled_pixels(width, height);
    loop {
        let band: Vec<_> = pixels.by_ref().take(items as usize).collect();
        if band.is_empty() {
            return Ok(());
        }
        use_band(&band)?;
    }
}

fn words(position: Vec2) -> (u32, u32) {
    (position.x.to_bits(), position.y.to_bits())
}
