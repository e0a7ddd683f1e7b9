//! Rendering with a tracer that is not the renderer's: a hardware model's, which finds the hits in
//! its own way and records the rays.
//!
//! Every block of 64 samples has a tracer of its own, and a sample stays in its lane, so that a
//! tracer knows whose ray it traces. Procedural primitives are left to the scene's intersection
//! shaders: models of polygon hardware have no device for them.

use super::loaded::Loaded;
use super::passes::Drawing;
use super::tracer::SceneTracer;
use super::{LANES, Shape, Tile, cause, in_parallel};
use crate::film::Film;
use crate::progressive::Pass;
use crate::sampling::{Arguments, CameraSample, Numbers};
use crate::{Job, Progress, RenderError};
use glam::Vec2;
use shadewright_image::Image;
use shadewright_program::CAMERA_ENTRY;
use shadewright_rpu::tracing::{HitBlock, RayBlock, Tracer};
use shadewright_rpu::{BLOCK, Block, EmptyScene};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Blocks that are rendered before their tracers go to the caller.
const AT_ONCE: usize = 1024;

/// A sample of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleNumber {
    /// The pixel within the window, across and down.
    pub pixel: [u32; 2],
    /// Which of its samples.
    pub index: u32,
}

/// Finds the closest triangles, or whether there is any, for the rays of a block.
pub trait BlockTracer: Send + Sync {
    /// As [`Tracer::trace`], but sets only `t`, `u`, `v` and `prim` of the hits; `t` alone, to a
    /// number that is not negative, for an occlusion ray that is blocked.
    fn trace(&self, block: &RayBlock, hits: &mut HitBlock);
}

/// A block's tracer with the scene's procedural primitives.
struct WithProcedural<'a, T> {
    triangles: T,
    scene: &'a SceneTracer<'a>,
}

impl<T: BlockTracer> Tracer for WithProcedural<'_, T> {
    fn trace(&self, block: &mut RayBlock, hits: &mut HitBlock) {
        self.triangles.trace(block, hits);
        self.scene.trace_procedural(block, hits);
        self.scene.resolve(block, hits);
    }
}

/// The samples of a job, in blocks of those that are rendered together.
pub struct Samples<'a> {
    job: &'a Job,
    pass: Pass,
    size: [u32; 2],
    /// The tile of each block and which of its rounds the block is.
    units: Vec<(Tile, u32)>,
}

/// The samples of a block.
pub struct SampleBlock {
    /// That of each lane; none beyond the edges of the image.
    pub samples: [Option<SampleNumber>; BLOCK],
    /// The lanes that have one.
    pub active: u64,
    /// The arguments of [`CAMERA_ENTRY`] word by word, a value for each lane.
    pub inputs: Vec<[u32; BLOCK]>,
}

impl<'a> Samples<'a> {
    /// The samples of a job.
    pub fn new(job: &'a Job) -> Self {
        let pass = Pass::whole(job.sampling);
        let size = pass.size(job.window);
        let shape = Shape::for_count(pass.count);
        let rounds = pass.count / shape.samples;
        let tiles = Tile::all(size[0], size[1], shape);
        let units = tiles.iter().flat_map(|&t| (0..rounds).map(move |r| (t, r))).collect();
        Self { job, pass, size, units }
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.units.len()
    }

    /// The block of a number below [`Samples::blocks`].
    pub fn block(&self, number: usize) -> SampleBlock {
        let (job, [width, height], (tile, round)) = (self.job, self.size, self.units[number]);
        let (mut numbers, mut samples) = (Numbers::default(), [None; LANES]);
        for (lane, sample) in samples.iter_mut().enumerate() {
            let (x, y) = tile.pixel(lane);
            if x < width && y < height {
                let index = round * tile.shape.samples + tile.sample(lane);
                *sample = Some(SampleNumber { pixel: [x, y], index });
                numbers.push([x, y], index);
            }
        }
        let mut arguments = Arguments::default();
        self.pass.arguments(job.window, job.sampling, &job.film, &numbers, &mut arguments);
        let mut inputs = vec![[0u32; LANES]; job.program.camera_arguments()];
        let active = tile.active(width, height);
        for (place, lane) in shadewright_bvh::ray::lanes(active).enumerate() {
            inputs.iter_mut().zip(&arguments.words).for_each(|(to, from)| to[lane] = from[place].to_bits());
        }
        SampleBlock { samples, active, inputs }
    }

    /// An empty film for them.
    ///
    /// # Errors
    /// When it does not fit the memory.
    pub fn film(&self) -> Result<Film, RenderError> {
        let [width, height] = self.size;
        Ok(Film::with_samples(width, height, self.job.sampling.count())?)
    }

    /// Adds a sample's color and alpha, as its camera entry gives them.
    pub fn expose(&self, film: &mut Film, sample: SampleNumber, color: [f32; 4]) {
        let (job, SampleNumber { pixel: [x, y], index }) = (self.job, sample);
        match job.film.filter.is_signed() {
            true => {
                let weight = self.pass.sample(job.window, job.sampling, &job.film, [x, y], index).weight;
                film.add_weighted(x, y, index, color, weight);
            }
            false => film.add_sample(x, y, index, color),
        }
    }

    /// The image of a film, after the imager of a program with the job's entries.
    ///
    /// # Errors
    /// As rendering.
    pub fn develop(&self, film: &Film, loaded: &Loaded) -> Result<Image, RenderError> {
        let (job, stop) = (self.job, AtomicBool::new(false));
        let data = loaded.data(&job.program.memory.vectors);
        let context = loaded.execution_context(&data, &EmptyScene, job.budget, &stop);
        Drawing { job, sampling: job.sampling, loaded, context: &context }.finish(film, 1)
    }
}

/// Renders a job as [`super::draw`] does, but with a tracer for each block of samples. `make` makes
/// it for the samples of the lanes; `done` takes it after the block's run, with the same samples, in
/// the order of blocks.
///
/// # Errors
/// As rendering, and those of `done`.
pub fn draw_traced<T: BlockTracer>(
    job: &Job,
    loaded: &Loaded,
    make: &(dyn Fn(&[Option<SampleNumber>; BLOCK]) -> T + Sync),
    mut done: impl FnMut(&[Option<SampleNumber>; BLOCK], T) -> Result<(), RenderError>,
    progress: Progress<'_>,
) -> Result<Image, RenderError> {
    let all = Samples::new(job);
    let mut film = all.film()?;
    let block = |number| all.block(number);
    let exposed = |samples: &[Option<SampleNumber>; BLOCK], colors: [[f32; 4]; BLOCK], tracer| {
        for (sample, color) in samples.iter().zip(colors) {
            sample.iter().for_each(|&sample| all.expose(&mut film, sample, color));
        }
        done(samples, tracer)
    };
    run_blocks(job, loaded, all.blocks(), &block, make, exposed, progress)?;
    all.develop(&film, loaded)
}

/// The colors of camera rays through raster positions, as [`draw_traced`] computes those of samples.
/// The samples that `done` takes have the pixels of their positions, and are numbered from `first`
/// on.
///
/// # Errors
/// As rendering, and those of `done`.
pub fn colors_traced<T: BlockTracer>(
    job: &Job,
    loaded: &Loaded,
    positions: &[Vec2],
    first: u32,
    make: &(dyn Fn(&[Option<SampleNumber>; BLOCK]) -> T + Sync),
    mut done: impl FnMut(&[Option<SampleNumber>; BLOCK], T) -> Result<(), RenderError>,
) -> Result<Vec<[f32; 4]>, RenderError> {
    let [right, bottom] = [job.window.width, job.window.height].map(|size| size.saturating_sub(1));
    let block = |number: usize| {
        let here = &positions[number * LANES..(number * LANES + LANES).min(positions.len())];
        let mut samples = [None; LANES];
        let mut arguments = Arguments { count: here.len(), ..Arguments::default() };
        for (lane, &position) in here.iter().enumerate() {
            let within = |at: f32, start: u32, last: u32| (at.max(0.0) as u32).saturating_sub(start).min(last);
            let pixel = [within(position.x, job.window.x, right), within(position.y, job.window.y, bottom)];
            let index = first + (number * LANES + lane) as u32;
            samples[lane] = Some(SampleNumber { pixel, index });
            arguments.set(lane, &CameraSample::central(position));
        }
        let words = arguments.words.iter().take(job.program.camera_arguments());
        let inputs = words.map(|row| row.map(f32::to_bits)).collect();
        let active = if here.len() == LANES { u64::MAX } else { (1 << here.len()) - 1 };
        SampleBlock { samples, active, inputs }
    };
    let mut found = Vec::with_capacity(positions.len());
    let kept = |samples: &[Option<SampleNumber>; BLOCK], colors: [[f32; 4]; BLOCK], tracer| {
        found.extend(samples.iter().zip(colors).filter(|(sample, _)| sample.is_some()).map(|(_, color)| color));
        done(samples, tracer)
    };
    run_blocks(job, loaded, positions.len().div_ceil(LANES), &block, make, kept, &|_| {})?;
    Ok(found)
}

/// Runs the camera's entry for blocks of samples, each with a tracer of its own; `done` takes the
/// results in the order of blocks.
fn run_blocks<T: BlockTracer>(
    job: &Job,
    loaded: &Loaded,
    count: usize,
    block: &(dyn Fn(usize) -> SampleBlock + Sync),
    make: &(dyn Fn(&[Option<SampleNumber>; BLOCK]) -> T + Sync),
    mut done: impl FnMut(&[Option<SampleNumber>; BLOCK], [[f32; 4]; BLOCK], T) -> Result<(), RenderError>,
    progress: Progress<'_>,
) -> Result<(), RenderError> {
    let stop = AtomicBool::new(false);
    let data = loaded.data(&job.program.memory.vectors);
    let scene = SceneTracer::for_job(job, loaded, &data, &stop)?;
    let finished = AtomicUsize::new(0);
    let run = |state: &mut Block, &number: &usize| {
        let SampleBlock { samples, active, inputs } = block(number);
        let tracer = WithProcedural { triangles: make(&samples), scene: &scene };
        let context = loaded.execution_context(&data, &tracer, job.budget, &stop);
        state.reset();
        let rows = loaded.run(&context, state, CAMERA_ENTRY, &inputs, active, &job.program.module)?;
        let color = |lane: usize| std::array::from_fn(|i| rows.get(i).map_or(0.0, |row| f32::from_bits(row[lane])));
        let colors: [[f32; 4]; LANES] = std::array::from_fn(color);
        progress((finished.fetch_add(1, Ordering::Relaxed) + 1) as f32 / count.max(1) as f32);
        Ok((samples, colors, tracer.triangles))
    };
    let numbers: Vec<usize> = (0..count).collect();
    for numbers in numbers.chunks(AT_ONCE) {
        let drawn = cause(in_parallel(numbers, &stop, Block::new, run), &scene, loaded, job)?;
        for (samples, colors, tracer) in drawn {
            done(&samples, colors, tracer)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::Sampling;
    use crate::{DEFAULT_BUDGET, Renderer, Window, prepare};
    use shadewright_base::text::source::SourceMap;
    use shadewright_bvh::TwoLevel;
    use shadewright_program::{LinkOptions, link};
    use shadewright_scene::{OpenOptions, open};
    use std::path::Path;

    /// The scene's own BVH.
    struct Plain<'a>(&'a TwoLevel);

    impl BlockTracer for Plain<'_> {
        fn trace(&self, block: &RayBlock, hits: &mut HitBlock) {
            let mut rays = block.rays.clone();
            rays.active = block.rays.active & !block.any;
            self.0.closest_hits(&rays, &mut hits.found);
            rays.active = block.rays.active & block.any;
            for i in shadewright_bvh::ray::lanes(self.0.any_hits(&rays) & rays.active) {
                hits.found.t[i] = 0.0;
            }
        }
    }

    #[test]
    fn a_tracer_that_finds_the_same_hits_gives_the_same_bits() {
        for (file, strata) in [("assets/scenes/mirrors.rib", [1, 1]), ("assets/rtsl/primitives.rib", [2, 2])] {
            let mut sources = SourceMap::new();
            let options = OpenOptions { size: Some((21, 13)), ..OpenOptions::default() };
            let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file);
            let scene = open(&path, &options, &mut sources).expect("a scene").scene;
            let options = LinkOptions { shader_paths: vec![path.with_file_name("")], ..LinkOptions::default() };
            let program = link(&scene, sources, &options).expect("its shaders compile");
            let sampling = Sampling { strata, seed: 3 };
            let job = prepare(program, &scene, Window::whole(21, 13), sampling, DEFAULT_BUDGET).expect("it fits");
            let plain = super::super::RpuRenderer::new().render(&job, &|_| {}).expect("renders");
            let program = &job.program;
            let loaded =
                Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).expect("compiles");
            let mut seen = Vec::new();
            let done = |samples: &[Option<SampleNumber>; BLOCK], _| {
                seen.extend(samples.iter().flatten().map(|s| (s.pixel, s.index)));
                Ok(())
            };
            let image = draw_traced(&job, &loaded, &|_| Plain(&job.bvh), done, &|_| {}).expect("renders");
            assert_eq!(image, plain, "{file}");
            let all = seen.len();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!((seen.len(), all), (21 * 13 * sampling.count() as usize, seen.len()), "{file}");
        }
    }
}
