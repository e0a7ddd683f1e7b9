//! Rendering on the software Ray Processing Unit.
//!
//! Takes a [`Job`], compiles its program for the RPU, and runs blocks of 64 threads on all cores. A
//! block starts with a tile: one sample of 8×8 pixels, or four of 4×4, or 16 of 2×2; threads of a
//! small tile diverge less. A tile's bits do not depend on others, so the image does not depend on
//! the number of CPU threads.

pub mod breakdown;
mod calls;
mod frame;
mod hits;
mod loaded;
mod passes;
mod progressive;
mod ray_program;
mod samples;
mod simulate;
mod standalone;
pub mod traced;
mod tracer;

pub use calls::Calls;
pub use hits::{Batch, Hit, run_at_hits};
pub use loaded::{Data, Entry, Loaded};
pub use progressive::RpuProgressive;
pub use ray_program::{RayImage, RayProgram};
pub use samples::RpuSamples;
pub use simulate::{Simulation, simulate};
pub use standalone::{StandaloneError, StandaloneProgram, registers};
pub use tracer::SceneTracer;

use super::film::Film;
use super::progressive::Pass;
use super::report::{Phase, Report};
use super::sampling::Sampling;
use super::{Job, Progress, RenderError, Renderer};
use passes::Drawing;
use rayon::prelude::*;
use shadewright_base::cache::DiskCache;
use shadewright_bvh::raysets::place_in_tile;
use shadewright_codegen::rpu::RpuOptions;
use shadewright_image::Image;
use shadewright_rpu::engine::{EngineInfo, default_engine};
use shadewright_rpu::format::Format;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Threads of a block.
const LANES: usize = 64;

/// The RPU as a renderer.
#[derive(Clone, Debug)]
pub struct RpuRenderer {
    options: RpuOptions,
    format: Format,
    engine: &'static EngineInfo,
    cache: Option<DiskCache>,
    report: Report,
}

impl Default for RpuRenderer {
    fn default() -> Self {
        let engine = default_engine();
        let (options, format, report) = (RpuOptions::default(), Format::default(), Report::default());
        Self { options, format, engine, cache: None, report }
    }
}

impl RpuRenderer {
    /// A renderer on the threads of the current rayon pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, which compiles as the options say.
    pub fn with_options(options: RpuOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// The same, computing in a number format.
    #[must_use]
    pub fn in_format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// The same on an engine. Where that does not support the number format, the interpreter runs.
    #[must_use]
    pub fn on_engine(self, engine: &'static EngineInfo) -> Self {
        Self { engine, ..self }
    }

    /// The same with a cache of compiled programs.
    #[must_use]
    pub fn with_cache(self, cache: Option<DiskCache>) -> Self {
        Self { cache, ..self }
    }

    /// How it compiles.
    pub fn options(&self) -> &RpuOptions {
        &self.options
    }

    /// A preview of one sample for each pixel, for the time until a slower back end is ready.
    ///
    /// # Errors
    /// The errors of [`Renderer::render`].
    pub fn first_image(&self, job: &Job) -> Result<Image, RenderError> {
        let one = Sampling { strata: [1, 1], ..job.sampling };
        draw_sampled(job, one, &self.load(job)?, &|_| {})
    }

    /// The job's program, compiled and loaded.
    pub(crate) fn load(&self, job: &Job) -> Result<Loaded, RenderError> {
        let program = &job.program;
        let (module, constants, surfaces) = (&program.module, program.constants.vectors(), program.surface_entries);
        let loaded = match &self.cache {
            Some(cache) => Loaded::cached(module, constants, surfaces, &self.options, cache)?,
            None => Loaded::with_options(module, constants, surfaces, &self.options)?,
        };
        Ok(loaded.on_engine(self.engine)?.in_format(self.format))
    }

    /// The number format that it computes in.
    pub fn format(&self) -> Format {
        self.format
    }
}

/// The shape of a block's tile: `side`² pixels with `samples` samples each.
#[derive(Clone, Copy)]
struct Shape {
    side: u32,
    samples: u32,
}

impl Shape {
    /// One sample of each pixel.
    const FLAT: Shape = Shape { side: 8, samples: 1 };

    /// The smallest tile whose samples divide `count`, so that every block is full.
    fn for_count(count: u32) -> Shape {
        let deep = [Shape { side: 2, samples: 16 }, Shape { side: 4, samples: 4 }];
        deep.into_iter().find(|s| count > 0 && count.is_multiple_of(s.samples)).unwrap_or(Shape::FLAT)
    }
}

/// A tile: its first pixel within the window.
#[derive(Clone, Copy)]
struct Tile {
    x: u32,
    y: u32,
    shape: Shape,
}

impl Tile {
    /// All tiles of a window, row by row.
    fn all(width: u32, height: u32, shape: Shape) -> Vec<Tile> {
        let starts = |size: u32| (0..size).step_by(shape.side as usize);
        starts(height).flat_map(|y| starts(width).map(move |x| Tile { x, y, shape })).collect()
    }

    /// The pixel of a lane within the window. Lanes of a pixel are neighbors, in the order of
    /// their samples; pixels are in Morton order, so that the rays of sixteen lanes make a narrow
    /// packet.
    fn pixel(self, lane: usize) -> (u32, u32) {
        let [column, row] = place_in_tile(lane / self.shape.samples as usize);
        (self.x + column as u32, self.y + row as u32)
    }

    /// The index of a lane's sample among those of its pixel in this block.
    fn sample(self, lane: usize) -> u32 {
        lane as u32 % self.shape.samples
    }

    /// The lanes whose pixels lie inside the window.
    fn active(self, width: u32, height: u32) -> u64 {
        (0..LANES).filter(|&l| self.pixel(l).0 < width && self.pixel(l).1 < height).fold(0, |mask, l| mask | 1 << l)
    }
}

impl Renderer for RpuRenderer {
    fn describe(&self) -> String {
        let floats = match self.format {
            Format::F32 => "",
            Format::F24 => ", 24-bit floats",
        };
        format!("RPU (CPU), {} threads{floats}", rayon::current_num_threads())
    }

    fn render_into(&mut self, job: &Job, film: &mut Film, progress: Progress<'_>) -> Result<Image, RenderError> {
        let start = Instant::now();
        let loaded = self.load(job)?;
        let compiled = Instant::now();
        let image = draw_into(job, job.sampling, &loaded, film, progress)?;
        let phases = [("code", compiled - start), ("blocks", compiled.elapsed())];
        self.report = Report { phases: phases.map(|(name, time)| Phase { name, time }).into(), ..Report::default() };
        Ok(image)
    }

    fn report(&self) -> Report {
        self.report.clone()
    }
}

/// Renders with a compiled program.
///
/// # Errors
/// When an RPU thread fails, or there is no memory for the image.
pub fn draw(job: &Job, loaded: &Loaded, progress: Progress<'_>) -> Result<Image, RenderError> {
    draw_sampled(job, job.sampling, loaded, progress)
}

/// The same with a sampling other than the job's.
fn draw_sampled(job: &Job, sampling: Sampling, loaded: &Loaded, progress: Progress<'_>) -> Result<Image, RenderError> {
    let mut film = Film::with_samples(job.window.width, job.window.height, sampling.count())?;
    draw_into(job, sampling, loaded, &mut film, progress)
}

/// The same with a film, which holds the sums afterwards.
fn draw_into(
    job: &Job,
    sampling: Sampling,
    loaded: &Loaded,
    film: &mut Film,
    progress: Progress<'_>,
) -> Result<Image, RenderError> {
    let stop = AtomicBool::new(false);
    let data = loaded.data(&job.program.memory.vectors);
    let tracer = SceneTracer::for_job(job, loaded, &data, &stop)?;
    let context = loaded.execution_context(&data, &tracer, job.budget, &stop);
    let drawing = Drawing { job, sampling, loaded, context: &context };
    let drawn = drawing.draw(Pass::whole(sampling), film, progress);
    cause(drawn, &tracer, loaded, job)?;
    drawing.finish(film, 1)
}

/// The result, or the error of an intersection shader that stopped the run.
fn cause<T>(
    result: Result<T, RenderError>,
    tracer: &SceneTracer<'_>,
    loaded: &Loaded,
    job: &Job,
) -> Result<T, RenderError> {
    match tracer.failure() {
        Some(failure) => Err(loaded.explain(failure, &job.program.module)),
        None => result,
    }
}

/// An error that may be the consequence of another one.
trait Stoppable {
    /// True if it only says that the run was stopped.
    fn is_stopped(&self) -> bool;
}

impl Stoppable for RenderError {
    fn is_stopped(&self) -> bool {
        matches!(self, RenderError::Stopped)
    }
}

/// Runs `work` on every item in parallel, with a state for each CPU thread; of several errors,
/// returns the one that stopped the others.
fn in_parallel<I: Sync, S, T: Send, E: Stoppable + Send>(
    items: &[I],
    stop: &AtomicBool,
    state: impl Fn() -> S + Sync + Send,
    work: impl Fn(&mut S, &I) -> Result<T, E> + Sync + Send,
) -> Result<Vec<T>, E> {
    let mut results: Vec<_> = items
        .par_iter()
        .map_init(state, |state, item| {
            let result = work(state, item);
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result
        })
        .collect();
    let cause = results.iter().position(|r| r.as_ref().is_err_and(|e| !e.is_stopped()));
    match cause.map(|position| results.swap_remove(position)) {
        Some(Err(error)) => Err(error),
        _ => results.into_iter().collect(),
    }
}

/// Calls `f` with the lane and the pixel of every lane of a tile inside the window.
fn each_pixel(tile: Tile, width: u32, height: u32, mut f: impl FnMut(usize, u32, u32)) {
    for lane in 0..LANES {
        let (x, y) = tile.pixel(lane);
        if x < width && y < height {
            f(lane, x, y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_sample_of_every_pixel_once_and_in_order() {
        let (width, height) = (19, 10);
        for count in [1, 2, 4, 16, 64] {
            let shape = Shape::for_count(count);
            assert_eq!((shape.side * shape.side * shape.samples) as usize, LANES);
            assert_eq!(count % shape.samples, 0);
            let mut seen = vec![0; (width * height) as usize];
            for tile in Tile::all(width, height, shape) {
                each_pixel(tile, width, height, |lane, x, y| {
                    assert!(tile.active(width, height) >> lane & 1 != 0);
                    let pixel = &mut seen[(y * width + x) as usize];
                    assert_eq!(tile.sample(lane), *pixel);
                    *pixel += 1;
                });
            }
            assert!(seen.iter().all(|&n| n == shape.samples));
        }
    }
}
