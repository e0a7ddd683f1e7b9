//! Rendering a pass over an image with a compiled program, tile by tile on all CPU threads, and
//! running the imager after it. Whole and progressive renders consist of these.

use super::loaded::Loaded;
use super::{LANES, Shape, Tile, each_pixel, in_parallel};
use crate::film::Film;
use crate::progressive::{Pass, middle};
use crate::sampling::{Arguments, CAMERA_ARGUMENTS, CameraSample, Numbers, Sampling, TOGETHER};
use crate::{Job, Progress, RenderError};
use glam::Vec2;
use shadewright_image::Image;
use shadewright_program::{CAMERA_ENTRY, IMAGER_ENTRY};
use shadewright_rpu::Block;
use shadewright_rpu::execution::ExecutionContext;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Blocks whose pixels are held before they go into the film: 4 MiB.
const AT_ONCE: usize = 4096;

/// Blocks whose paths share the lanes of one: only the last paths leave lanes idle.
const QUEUE: u32 = 64;

/// The pixels of a tile, lane by lane.
type Pixels = [[f32; 4]; LANES];

/// Samples that the lanes of a block share.
struct Queue<'a> {
    tiles: &'a [Tile],
    /// Blocks for each tile.
    rounds: u32,
    /// The first of them.
    first: u32,
    /// Pixels of the image across and down.
    size: [u32; 2],
}

impl Queue<'_> {
    /// The pixels and numbers of the samples, in order, block by block.
    fn numbers(&self) -> impl Iterator<Item = Numbers> + '_ {
        let [width, height] = self.size;
        let origin = self.tiles.first().map(|tile| Tile { x: 0, y: 0, ..*tile });
        // The pixel and the sample of each lane within a tile.
        let places: [_; LANES] =
            std::array::from_fn(|lane| origin.map_or(((0, 0), 0), |tile| (tile.pixel(lane), tile.sample(lane))));
        let blocks = self.tiles.iter().flat_map(|tile| (0..self.rounds).map(move |round| (tile, round)));
        blocks.map(move |(tile, round)| {
            let first = self.first + round * tile.shape.samples;
            let mut numbers = Numbers::default();
            for ((x, y), sample) in places {
                let (x, y) = (tile.x + x, tile.y + y);
                if x < width && y < height {
                    numbers.push([x, y], first + sample);
                }
            }
            numbers
        })
    }

    /// How many samples there are at most.
    fn len(&self) -> usize {
        self.tiles.len() * self.rounds as usize * LANES
    }
}

/// The state of rendering passes.
#[derive(Clone, Copy)]
pub(super) struct Drawing<'a> {
    pub job: &'a Job,
    /// The sampling, the job's or another.
    pub sampling: Sampling,
    pub loaded: &'a Loaded,
    /// Runs the loaded code; its `stop` ends a pass.
    pub context: &'a ExecutionContext<'a>,
}

impl Drawing<'_> {
    /// The colors of camera rays through raster positions, in their order.
    pub fn colors(&self, positions: &[Vec2]) -> Result<Vec<[f32; 4]>, RenderError> {
        let run = |block: &mut Block, positions: &&[Vec2]| -> Result<Vec<[u32; 4]>, RenderError> {
            if self.context.stop.load(Ordering::Relaxed) {
                return Err(RenderError::Stopped);
            }
            let mut rest = positions.chunks(TOGETHER);
            let arguments = |arguments: &mut Arguments| {
                let positions = rest.next().unwrap_or_default();
                arguments.count = positions.len();
                for (i, &position) in positions.iter().enumerate() {
                    arguments.set(i, &CameraSample::central(position));
                }
            };
            let (count, module) = (positions.len(), &self.job.program.module);
            self.loaded.run_queue(self.context, block, CAMERA_ENTRY, count, arguments, module)
        };
        let queues: Vec<_> = positions.chunks(self.blocks() as usize * LANES).collect();
        let colors = in_parallel(&queues, self.context.stop, Block::new, run)?;
        Ok(colors.into_iter().flatten().map(|words| words.map(f32::from_bits)).collect())
    }

    /// Blocks whose samples share the lanes of one. Recursive shaders gain nothing from refilled
    /// lanes, as new threads wait for the deepest calls.
    fn blocks(&self) -> u32 {
        let follows_paths = self.job.program.camera_arguments() == CAMERA_ARGUMENTS;
        if follows_paths { QUEUE } else { 1 }
    }

    /// Adds the samples of a pass to the film.
    pub fn draw(&self, pass: Pass, film: &mut Film, progress: Progress<'_>) -> Result<(), RenderError> {
        let size = pass.size(self.job.window);
        assert_eq!([film.width(), film.height()], size, "the film of {pass:?}");
        let shape = Shape::for_count(pass.count);
        let tiles = Tile::all(size[0], size[1], shape);
        let all = pass.count / shape.samples;
        let blocks = self.blocks();
        let at_once = all.min(blocks);
        let signed = self.job.film.filter.is_signed();
        let done = AtomicUsize::new(0);
        let total = (tiles.len() * all as usize).max(1) as f32;
        let end = pass.first + pass.count;
        for first in (pass.first..end).step_by((at_once * shape.samples) as usize) {
            let rounds = at_once.min((end - first) / shape.samples);
            let queues: Vec<Queue<'_>> =
                tiles.chunks((blocks / rounds) as usize).map(|tiles| Queue { tiles, rounds, first, size }).collect();
            let run = |block: &mut Block, queue: &Queue<'_>| -> Result<Vec<[u32; 4]>, RenderError> {
                if self.context.stop.load(Ordering::Relaxed) {
                    return Err(RenderError::Stopped);
                }
                let mut numbers = queue.numbers();
                let arguments = |arguments: &mut Arguments| {
                    if let Some(numbers) = numbers.next() {
                        pass.arguments(self.job.window, self.sampling, &self.job.film, &numbers, arguments);
                    }
                };
                let (count, module) = (queue.len(), &self.job.program.module);
                let pixels = self.loaded.run_queue(self.context, block, CAMERA_ENTRY, count, arguments, module)?;
                let blocks = queue.tiles.len() * rounds as usize;
                progress((done.fetch_add(blocks, Ordering::Relaxed) + blocks) as f32 / total);
                Ok(pixels)
            };
            for queues in queues.chunks(AT_ONCE / blocks as usize) {
                let pixels = in_parallel(queues, self.context.stop, Block::new, run)?;
                for (queue, pixels) in queues.iter().zip(pixels) {
                    let mut pixels = pixels.iter();
                    for numbers in queue.numbers() {
                        for (([x, y], index), words) in numbers.iter().zip(&mut pixels) {
                            let color = words.map(f32::from_bits);
                            match signed {
                                true => film.add_weighted(x, y, index, color, self.sample(pass, [x, y], index).weight),
                                false => film.add_sample(x, y, index, color),
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The means of a film that was rendered in blocks of `step`, after the imager.
    pub fn finish(&self, film: &Film, step: u32) -> Result<Image, RenderError> {
        let mut image = self.job.film.develop(film);
        if !self.job.program.has_imager {
            return Ok(image);
        }
        let (width, height) = (image.width, image.height);
        let run = |block: &mut Block, &tile: &Tile| -> Result<Pixels, RenderError> {
            let mut inputs = [[0u32; LANES]; 6];
            each_pixel(tile, width, height, |lane, x, y| {
                set_lane(&mut inputs, lane, imager_inputs(self.job, &image, step, [x, y]));
            });
            self.run_tile(block, IMAGER_ENTRY, &inputs, tile.active(width, height))
        };
        let tiles = Tile::all(width, height, Shape::FLAT);
        let pixels = in_parallel(&tiles, self.context.stop, Block::new, run)?;
        for (tile, pixels) in tiles.iter().zip(pixels) {
            each_pixel(*tile, width, height, |lane, x, y| image.rgba[(y * width + x) as usize] = pixels[lane]);
        }
        Ok(image)
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
        if self.context.stop.load(Ordering::Relaxed) {
            return Err(RenderError::Stopped);
        }
        block.reset();
        let words = self.loaded.run(self.context, block, entry, inputs, active, &self.job.program.module)?;
        let mut pixels = [[0.0; 4]; LANES];
        for (channel, values) in words.iter().enumerate().take(4) {
            for (pixel, bits) in pixels.iter_mut().zip(values) {
                pixel[channel] = f32::from_bits(*bits);
            }
        }
        Ok(pixels)
    }
}

/// The words of the imager's arguments for a pixel of an image that was rendered in blocks of
/// `step`.
pub(super) fn imager_inputs(job: &Job, image: &Image, step: u32, [x, y]: [u32; 2]) -> [u32; 6] {
    let [r, g, b, alpha] = image.rgba[(y * image.width + x) as usize];
    let raster = middle(job.window, step, [x, y]);
    [raster.x, raster.y, r, g, b, alpha].map(f32::to_bits)
}

/// Sets the words of a lane.
fn set_lane<const WORDS: usize>(inputs: &mut [[u32; LANES]; WORDS], lane: usize, words: [u32; WORDS]) {
    for (values, word) in inputs.iter_mut().zip(words) {
        values[lane] = word;
    }
}
