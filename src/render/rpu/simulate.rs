//! A picture on the timed machine.
//!
//! Takes a [`Job`] as the renderer does and gives the same picture, with how long the machine took and what each pixel cost. A chunk is one sample of 2×2
//! pixels ("groups of four neighboring pixels are assigned to the same chunk", Węgrzanowski 2006, §2.1); tiles of 8×8 pixels go to the processors in turn.

use super::calls::Calls;
use super::loaded::Loaded;
use super::{SceneTracer, camera_inputs, imager_inputs};
use crate::program::{CAMERA_ENTRY, IMAGER_ENTRY};
use crate::render::film::{Film, Picture};
use crate::render::{Job, Progress, RenderError, Window};
use crate::rpu::machine::Machine;
use crate::rpu::timed::{CHUNK, Config, Stats, Timing};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Width and height of a chunk in pixels.
const QUAD: u32 = 2;
/// Width and height of a tile in chunks.
const TILE: u32 = 4;

/// What a simulation gives.
#[derive(Debug)]
pub struct Simulation {
    /// The picture, the same bits as the renderer's.
    pub picture: Picture,
    /// What the machine did for it.
    pub stats: Stats,
    /// Issue slots that each pixel took, row by row, in parts of [`crate::rpu::timed::SLOT_PARTS`]. They add up to all issue slots.
    pub cost: Vec<u64>,
}

/// Renders a job on the timed machine.
///
/// # Errors
/// As rendering.
pub fn simulate(
    job: &Job,
    loaded: &Loaded,
    config: &Config,
    progress: Progress<'_>,
) -> Result<Simulation, RenderError> {
    let tracer = SceneTracer { bvh: &job.bvh, memory: &job.program.memory };
    let stop = AtomicBool::new(false);
    let data = loaded.data(&job.program.memory.vectors);
    let machine = loaded.machine(&data, &tracer, job.budget, &stop);
    let timing = loaded.timing(config);
    let Window { width, height, .. } = job.window;
    let film = Film::new(width, height)?;
    let samples = job.sampling.count();
    let run = Run { job, loaded, machine, timing, config, progress };
    let mut cost = vec![0; (width * height) as usize];

    let film = Mutex::new((film, &mut cost));
    let mut stats = run.frame(
        CAMERA_ENTRY,
        samples,
        &|x, y, sample| camera_inputs(job, x, y, sample).to_vec(),
        &|x, y, rgba, slots| {
            let mut film = film.lock().unwrap_or_else(PoisonError::into_inner);
            film.0.add_sample(x, y, rgba);
            film.1[(y * width + x) as usize] += slots;
        },
    )?;
    let (film, _) = film.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut picture = film.resolve();
    if job.program.has_imager {
        let before = picture.clone();
        let after = Mutex::new((&mut picture, &mut cost));
        let imager =
            run.frame(IMAGER_ENTRY, 1, &|x, y, _| imager_inputs(job, &before, x, y).to_vec(), &|x, y, rgba, slots| {
                let mut after = after.lock().unwrap_or_else(PoisonError::into_inner);
                let pixel = (y * width + x) as usize;
                after.0.rgba[pixel] = rgba;
                after.1[pixel] += slots;
            })?;
        stats.then(&imager);
    }
    Ok(Simulation { picture, stats, cost })
}

/// What all processors of a simulation share.
struct Run<'a> {
    job: &'a Job,
    loaded: &'a Loaded,
    machine: Machine<'a>,
    timing: Timing,
    config: &'a Config,
    progress: Progress<'a>,
}

/// The arguments of a pixel's sample.
type Input<'a> = &'a (dyn Fn(u32, u32, u32) -> Vec<u32> + Sync);
/// Takes what a pixel's sample gives, and its share of issue slots; of one pixel in the order of samples.
type Output<'a> = &'a (dyn Fn(u32, u32, [f32; 4], u64) + Sync);

impl Run<'_> {
    /// Calls a function for each sample of each pixel, on all processors.
    fn frame(&self, function: &str, samples: u32, input: Input<'_>, output: Output<'_>) -> Result<Stats, RenderError> {
        let count = self.config.processors.count;
        let done = AtomicU64::new(0);
        let processor = |number: u32| {
            let mut share = Share {
                window: self.job.window,
                samples,
                processor: number,
                processors: count,
                next: 0,
                input,
                output,
                first: 0,
                started: VecDeque::new(),
                done: &done,
                progress: self.progress,
            };
            let stats =
                self.loaded.run_timed(&self.machine, &self.timing, function, &mut share, &self.job.program.module);
            if stats.is_err() {
                self.machine.stop.store(true, Ordering::Relaxed);
            }
            stats
        };
        let results: Vec<_> = (0..count).into_par_iter().map(processor).collect();
        let mut total = Stats::default();
        let mut stopped = None;
        for result in results {
            match result {
                Ok(stats) => total.beside(&stats),
                // Another processor has the reason.
                Err(RenderError::Stopped) => stopped = Some(RenderError::Stopped),
                Err(error) => return Err(error),
            }
        }
        stopped.map_or(Ok(total), Err)
    }
}

/// One processor's share of a picture.
struct Share<'a> {
    window: Window,
    samples: u32,
    processor: u32,
    processors: u32,
    /// The number of its next chunk.
    next: u64,
    input: Input<'a>,
    output: Output<'a>,
    /// The number of the first chunk in `started`.
    first: u64,
    /// Chunks whose results have not gone out, as those of an earlier one are missing.
    started: VecDeque<Started>,
    /// Chunks done on all processors.
    done: &'a AtomicU64,
    progress: Progress<'a>,
}

/// A chunk that was started: its pixels, and its results once they are there.
struct Started {
    pixels: Vec<(u32, u32)>,
    results: Option<(Vec<Vec<u32>>, [u64; CHUNK])>,
}

impl Share<'_> {
    /// Tiles in a row and in all.
    fn tiles(&self) -> (u64, u64) {
        let across = |size: u32| u64::from(size.div_ceil(QUAD * TILE));
        (across(self.window.width), across(self.window.width) * across(self.window.height))
    }

    /// The corner and the sample of a chunk of this processor; `None` behind the last.
    fn place(&self, number: u64) -> Option<(u32, u32, u32)> {
        let per_tile = u64::from(TILE * TILE);
        let (quads, sample) = (number / u64::from(self.samples), number % u64::from(self.samples));
        let tile = quads / per_tile * u64::from(self.processors) + u64::from(self.processor);
        let (row, tiles) = self.tiles();
        let quad = (quads % per_tile) as u32;
        let at = |tile: u64, quad: u32| QUAD * (TILE * tile as u32 + quad);
        (tile < tiles).then(|| (at(tile % row, quad % TILE), at(tile / row, quad / TILE), sample as u32))
    }
}

impl Calls for Share<'_> {
    fn next(&mut self) -> Option<Vec<Vec<u32>>> {
        let (x, y, sample) = self.place(self.next)?;
        self.next += 1;
        let Window { width, height, .. } = self.window;
        let pixels = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
        let pixels: Vec<_> = pixels.into_iter().filter(|&(x, y)| x < width && y < height).collect();
        let threads = pixels.iter().map(|&(x, y)| (self.input)(x, y, sample)).collect();
        if !pixels.is_empty() {
            self.started.push_back(Started { pixels, results: None });
        }
        Some(threads)
    }

    fn done(&mut self, number: u64, results: Vec<Vec<u32>>, cost: [u64; CHUNK]) {
        if let Some(started) = self.started.get_mut((number - self.first) as usize) {
            started.results = Some((results, cost));
        }
        while let Some(Started { pixels, results: Some((results, cost)) }) =
            self.started.pop_front_if(|started| started.results.is_some())
        {
            self.first += 1;
            for (((x, y), words), slots) in pixels.into_iter().zip(&results).zip(cost) {
                let rgba = std::array::from_fn(|i| f32::from_bits(words.get(i).copied().unwrap_or(0)));
                (self.output)(x, y, rgba, slots);
            }
        }
        let (_, tiles) = self.tiles();
        let total = tiles * u64::from(TILE * TILE * self.samples);
        (self.progress)((self.done.fetch_add(1, Ordering::Relaxed) + 1) as f32 / total.max(1) as f32);
    }
}
