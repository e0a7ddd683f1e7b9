//! Drawing a pass over a picture with a compiled program, tile by tile on all threads, and the imager behind it. Whole renders and progressive ones are made of these.

use super::loaded::Loaded;
use super::{LANES, Shape, Tile, each_pixel, in_parallel};
use crate::program::{CAMERA_ENTRY, IMAGER_ENTRY};
use crate::render::film::{Film, Picture};
use crate::render::progressive::{Pass, middle};
use crate::render::sampling::{CAMERA_ARGUMENTS, CameraSample, Sampling};
use crate::render::{Job, Progress, RenderError};
use crate::rpu::Block;
use crate::rpu::machine::Machine;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tiles whose pixels are held before they go into the film: 4 MiB.
const AT_ONCE: usize = 4096;

/// The pixels of a tile, lane by lane.
type Pixels = [[f32; 4]; LANES];

/// What passes are drawn with.
#[derive(Clone, Copy)]
pub(super) struct Drawing<'a> {
    pub job: &'a Job,
    /// Where samples lie, the job's or others.
    pub sampling: Sampling,
    pub loaded: &'a Loaded,
    /// Runs the loaded code; its `stop` ends a pass.
    pub machine: &'a Machine<'a>,
}

impl Drawing<'_> {
    /// Adds the samples of a pass to the film.
    pub fn draw(&self, pass: Pass, film: &mut Film, progress: Progress<'_>) -> Result<(), RenderError> {
        let [width, height] = pass.size(self.job.window);
        assert_eq!([film.width(), film.height()], [width, height], "the film of {pass:?}");
        let shape = Shape::of(pass.count);
        let tiles = Tile::all(width, height, shape);
        let signed = self.job.film.filter.is_signed();
        let done = AtomicUsize::new(0);
        let total = (tiles.len() * (pass.count / shape.samples) as usize).max(1) as f32;
        for first in (pass.first..pass.first + pass.count).step_by(shape.samples as usize) {
            let run = |block: &mut Block, &tile: &Tile| -> Result<Pixels, RenderError> {
                let mut inputs = [[0u32; LANES]; CAMERA_ARGUMENTS];
                for lane in 0..LANES {
                    let sample = self.sample(pass, tile.pixel(lane).into(), first + tile.sample(lane));
                    set_lane(&mut inputs, lane, sample.arguments().map(f32::to_bits));
                }
                let inputs = &inputs[..self.job.program.camera_arguments().min(CAMERA_ARGUMENTS)];
                let pixels = self.run_tile(block, CAMERA_ENTRY, inputs, tile.active(width, height))?;
                progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f32 / total);
                Ok(pixels)
            };
            for tiles in tiles.chunks(AT_ONCE) {
                let pixels = in_parallel(tiles, self.machine.stop, Block::new, run)?;
                for (tile, pixels) in tiles.iter().zip(pixels) {
                    each_pixel(*tile, width, height, |lane, x, y| match signed {
                        true => {
                            let weight = self.sample(pass, [x, y], first + tile.sample(lane)).weight;
                            film.add_weighted(x, y, pixels[lane], weight);
                        }
                        false => film.add_sample(x, y, pixels[lane]),
                    });
                }
            }
        }
        Ok(())
    }

    /// The means of a film that was drawn in blocks of `step`, behind the imager.
    pub fn finish(&self, film: &Film, step: u32) -> Result<Picture, RenderError> {
        let mut picture = self.job.film.develop(film);
        if !self.job.program.has_imager {
            return Ok(picture);
        }
        let (width, height) = (picture.width, picture.height);
        let run = |block: &mut Block, &tile: &Tile| -> Result<Pixels, RenderError> {
            let mut inputs = [[0u32; LANES]; 6];
            each_pixel(tile, width, height, |lane, x, y| {
                set_lane(&mut inputs, lane, imager_inputs(self.job, &picture, step, [x, y]));
            });
            self.run_tile(block, IMAGER_ENTRY, &inputs, tile.active(width, height))
        };
        let tiles = Tile::all(width, height, Shape::FLAT);
        let pixels = in_parallel(&tiles, self.machine.stop, Block::new, run)?;
        for (tile, pixels) in tiles.iter().zip(pixels) {
            each_pixel(*tile, width, height, |lane, x, y| picture.rgba[(y * width + x) as usize] = pixels[lane]);
        }
        Ok(picture)
    }

    /// A sample of the film's pixel.
    fn sample(&self, pass: Pass, pixel: [u32; 2], index: u32) -> CameraSample {
        pass.sample(self.job.window, self.sampling, &self.job.film, pixel, index)
    }

    fn run_tile(
        &self,
        block: &mut Block,
        entry: &str,
        inputs: &[[u32; LANES]],
        active: u64,
    ) -> Result<Pixels, RenderError> {
        if self.machine.stop.load(Ordering::Relaxed) {
            return Err(RenderError::Stopped);
        }
        block.reset();
        let words = self.loaded.run(self.machine, block, entry, inputs, active, &self.job.program.module)?;
        let mut pixels = [[0.0; 4]; LANES];
        for (channel, values) in words.iter().enumerate().take(4) {
            for (pixel, bits) in pixels.iter_mut().zip(values) {
                pixel[channel] = f32::from_bits(*bits);
            }
        }
        Ok(pixels)
    }
}

/// The words of the imager's arguments for a pixel of a picture that was drawn in blocks of `step`.
pub(super) fn imager_inputs(job: &Job, picture: &Picture, step: u32, [x, y]: [u32; 2]) -> [u32; 6] {
    let [r, g, b, alpha] = picture.rgba[(y * picture.width + x) as usize];
    let raster = middle(job.window, step, [x, y]);
    [raster.x, raster.y, r, g, b, alpha].map(f32::to_bits)
}

/// Gives a lane its words.
fn set_lane<const WORDS: usize>(inputs: &mut [[u32; LANES]; WORDS], lane: usize, words: [u32; WORDS]) {
    for (values, word) in inputs.iter_mut().zip(words) {
        values[lane] = word;
    }
}
