//! [`GpuRenderer`]: pictures by the section machine or the megakernel.
//!
//! The picture is cut into bands, as large as a batch of the machine can be; a band's pixels are the batch's items, their samples the turns. The samples are
//! summed on the GPU, the sums read back once a band. The imager, where there is one, runs on the means. Positions, sums and means are
//! those of the CPU's `Sampling` and `Film`.

use super::batch::{Batch, Results};
use super::device::Gpu;
use super::machine::{Machine, MachineStats, Setup};
use super::prepare::Preparation;
use super::program::Program;
use super::section_machine::{Compute, ComputeError};
use super::tiles::tiled_pixels;
use super::trap::trap_error;
use super::warm::{Urgency, WarmUp};
use crate::bvh::gpu::kernel::Variant;
use crate::codegen::wgsl::Options;
use crate::program::{CAMERA_ENTRY, IMAGER_ENTRY, surface_entry};
use crate::render::film::{Film, FilmPixel, Picture};
use crate::render::report::{Count, KernelTimes, Phase, Report};
use crate::render::{Job, Progress, RenderError, Renderer, Schedule};
use glam::Vec2;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Paths in flight on hardware.
const HARDWARE_PATHS: u32 = 1 << 18;
/// Paths in flight on a software driver: enough that the fixed cost of a round is small, few enough that progress shows.
const SOFTWARE_PATHS: u32 = 1 << 16;
/// Words of a raster position.
const POSITION_WORDS: u32 = 2;
/// Words of a picture's pixel: colour and alpha.
const PIXEL_WORDS: u32 = 4;

/// Where the time of the last picture went.
#[derive(Clone, Copy, Debug, Default)]
pub struct GpuStats {
    /// Compiling the program to kernels.
    pub compile: Duration,
    /// Making the kernels ready.
    pub warm_up: WarmUp,
    /// Making buffers.
    pub setup: Duration,
    /// Running waves.
    pub render: Duration,
    /// What the machine did.
    pub machine: MachineStats,
}

/// Renders on a GPU.
#[derive(Debug)]
pub struct GpuRenderer {
    compute: Arc<Compute>,
    schedule: Schedule,
    stats: GpuStats,
    kernels: KernelTimes,
}

impl GpuRenderer {
    /// Opens the best adapter, or the best whose name contains `adapter`, whatever the case.
    ///
    /// # Errors
    /// When there is no such adapter, or it refuses the kernels.
    pub fn new(adapter: Option<&str>) -> Result<Self, ComputeError> {
        Ok(Self {
            compute: Arc::new(Compute::new(adapter)?),
            schedule: Schedule::default(),
            stats: GpuStats::default(),
            kernels: KernelTimes::None,
        })
    }

    /// Says in which order the sections of programs run.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }

    /// Says which kernel traces rays. A megakernel has its own.
    pub fn set_traversal(&mut self, variant: Variant) {
        self.compute.set_traversal(variant);
    }

    /// Whether the section machine sorts paths by section, as it does at first: see [`Compute::set_sorting`].
    pub fn set_sorting(&mut self, on: bool) {
        self.compute.set_sorting(on);
    }

    /// Starts to make everything ready for rendering `job`, on a thread of its own. A render that follows is not slower than it would be without, and finds what
    /// is ready by then.
    pub fn prepare(&self, job: Arc<Job>) -> Preparation {
        Preparation::start(self.compute.clone(), job, self.schedule)
    }

    /// The device, to run functions on.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// Where the time of the last picture went.
    pub fn stats(&self) -> GpuStats {
        self.stats
    }
}

impl Renderer for GpuRenderer {
    fn describe(&self) -> String {
        let adapter = self.compute.gpu().adapter();
        format!("GPU: {} ({}, {})", adapter.name, adapter.kind, adapter.api)
    }

    fn render(&mut self, job: &Job, progress: Progress<'_>) -> Result<Picture, RenderError> {
        let mut film = Film::new(job.window.width, job.window.height)?;
        let start = Instant::now();
        let program = compile(self.compute.gpu(), job, self.schedule)?;
        let compile = start.elapsed();
        let warm_up = self.compute.prepare(&program, Urgency::Now, &AtomicBool::new(false))?;
        let warm = Instant::now();
        let machine = program.machine(&self.compute, &setup(&self.compute, job, &program))?;
        let ready = Instant::now();
        let mut bands = Bands::new(&self.compute, job, &program, machine);
        let picture = bands.render(&mut film, progress)?;
        let (machine, kernels) = (bands.machine.stats(), bands.machine.times());
        self.stats = GpuStats { compile, warm_up, setup: ready - warm, render: ready.elapsed(), machine };
        self.kernels = kernels;
        Ok(picture)
    }

    fn set_profiling(&mut self, on: bool) {
        self.compute.set_profiling(on);
    }

    fn report(&self) -> Report {
        let GpuStats { compile, warm_up, setup, render, machine } = self.stats;
        let phases = [("kernels", compile), ("pipelines", warm_up.time), ("buffers", setup), ("rounds", render)];
        let counts = [
            ("sections", u64::from(machine.sections)),
            ("pipelines made", warm_up.kernels.made as u64),
            ("pipelines found", warm_up.kernels.found as u64),
            ("compiled by other devices", warm_up.elsewhere as u64),
            ("paths in flight", u64::from(machine.paths)),
            ("rounds", machine.rounds),
            ("submissions", machine.submissions),
        ];
        Report {
            phases: phases.map(|(name, time)| Phase { name, time }).into(),
            counts: counts.map(|(name, count)| Count { name, count }).into(),
            kernels: self.kernels.clone(),
        }
    }
}

/// The kernels of the job's entries.
pub(super) fn compile(gpu: &Gpu, job: &Job, schedule: Schedule) -> Result<Program, RenderError> {
    let entries: Vec<&str> = if job.program.has_imager { vec![CAMERA_ENTRY, IMAGER_ENTRY] } else { vec![CAMERA_ENTRY] };
    let shaders = (0..job.program.surface_entries).map(surface_entry).collect();
    let options = Options { shaders, instances: job.bvh.has_instances() };
    Program::compile(gpu, &job.program.module, &entries, &options, max_depth(job), schedule)
}

/// How deep rays may be traced.
fn max_depth(job: &Job) -> u32 {
    job.program.constants[6][3] as u32
}

fn setup<'a>(compute: &Compute, job: &'a Job, program: &'a Program) -> Setup<'a> {
    let wanted = if compute.gpu().is_hardware() { HARDWARE_PATHS } else { SOFTWARE_PATHS };
    let pixels = u64::from(job.window.width) * u64::from(job.window.height);
    Setup {
        shader_entries: &program.interface().shader_entries,
        rays_per_path: program.interface().max_rays_per_path,
        frame_words: program.interface().stack_words(max_depth(job)),
        memory: &job.program.memory.vectors,
        triangles: job.program.memory.triangles,
        constants: &job.program.constants,
        placed: &job.program.memory.placed,
        tree: &job.bvh,
        paths: pixels.min(u64::from(wanted)) as u32,
    }
}

/// The batches of one picture.
struct Bands<'a> {
    compute: &'a Compute,
    job: &'a Job,
    program: &'a Program,
    machine: Box<dyn Machine + 'a>,
    /// Turns that have finished, and those of the whole picture.
    done: u64,
    total: u64,
}

impl<'a> Bands<'a> {
    fn new(compute: &'a Compute, job: &'a Job, program: &'a Program, machine: Box<dyn Machine + 'a>) -> Self {
        let pixels = u64::from(job.window.width) * u64::from(job.window.height);
        let each = u64::from(job.sampling.count()) + u64::from(job.program.has_imager);
        Self { compute, job, program, machine, done: 0, total: pixels * each }
    }

    fn render(&mut self, film: &mut Film, progress: Progress<'_>) -> Result<Picture, RenderError> {
        let (items, turns) = self.machine.batch_size(self.job.sampling.count(), POSITION_WORDS);
        self.each_band(film.width(), film.height(), items, |bands, band| {
            bands.sample_band(band, turns, film, progress)
        })?;
        let mut picture = film.resolve();
        if self.job.program.has_imager {
            let paths = self.machine.paths();
            self.each_band(film.width(), film.height(), paths, |bands, band| {
                bands.image_band(band, &mut picture, progress)
            })?;
        }
        Ok(picture)
    }

    /// Calls `use_band` with all pixels of the picture, up to `items` at once.
    fn each_band(
        &mut self,
        width: u32,
        height: u32,
        items: u32,
        mut use_band: impl FnMut(&mut Self, &[[u32; 2]]) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        let mut pixels = tiled_pixels(width, height);
        loop {
            let band: Vec<_> = pixels.by_ref().take(items as usize).collect();
            if band.is_empty() {
                return Ok(());
            }
            use_band(self, &band)?;
        }
    }

    /// Takes every sample of a band's pixels, `turns` of each in one batch.
    fn sample_band(
        &mut self,
        band: &[[u32; 2]],
        turns: u32,
        film: &mut Film,
        progress: Progress<'_>,
    ) -> Result<(), RenderError> {
        let (window, sampling) = (self.job.window, self.job.sampling);
        let items = band.len() as u32;
        let mut arguments = Vec::new();
        for first in (0..sampling.count()).step_by(turns as usize) {
            let turns = turns.min(sampling.count() - first);
            arguments.resize(turns as usize * POSITION_WORDS as usize * band.len(), 0);
            let rows = arguments.par_chunks_mut(POSITION_WORDS as usize * band.len()).zip(first..first + turns);
            rows.for_each(|(rows, sample)| {
                let (xs, ys) = rows.split_at_mut(band.len());
                for (&[x, y], (to_x, to_y)) in band.iter().zip(xs.iter_mut().zip(ys)) {
                    (*to_x, *to_y) = words(sampling.position(window.x + x, window.y + y, sample));
                }
            });
            let results = if first == 0 { Results::Sum } else { Results::AddToSums };
            let entry = self.program.entry(CAMERA_ENTRY)?;
            let budget = self.budget();
            let arguments = &arguments[..];
            let batch = Batch { entry, budget, items, turns, argument_words: POSITION_WORDS, arguments, results };
            self.run(&batch, progress)?;
        }
        let sums = self.machine.sums()?;
        let weight = sampling.count() as f32;
        let width = film.width() as usize;
        for (&[x, y], sum) in band.iter().zip(sums) {
            film.pixels_mut()[y as usize * width + x as usize] = FilmPixel { sum, weight };
        }
        Ok(())
    }

    /// Runs the imager on a band's pixels.
    fn image_band(
        &mut self,
        band: &[[u32; 2]],
        picture: &mut Picture,
        progress: Progress<'_>,
    ) -> Result<(), RenderError> {
        let window = self.job.window;
        let width = picture.width as usize;
        let index = |[x, y]: [u32; 2]| y as usize * width + x as usize;
        let position = |[x, y]: [u32; 2]| Vec2::new((window.x + x) as f32, (window.y + y) as f32) + 0.5;
        let (xs, ys): (Vec<_>, Vec<_>) = band.iter().map(|&pixel| words(position(pixel))).unzip();
        let channel =
            |k: usize| -> Vec<u32> { band.iter().map(|&pixel| picture.rgba[index(pixel)][k].to_bits()).collect() };
        let arguments = [xs, ys, channel(0), channel(1), channel(2), channel(3)];
        let batch = Batch {
            entry: self.program.entry(IMAGER_ENTRY)?,
            budget: self.budget(),
            items: band.len() as u32,
            turns: 1,
            argument_words: arguments.len() as u32,
            arguments: &arguments.concat(),
            results: Results::Stay,
        };
        self.run(&batch, progress)?;
        let results = self.machine.results(PIXEL_WORDS, band.len() as u32)?;
        for (path, &pixel) in band.iter().enumerate() {
            picture.rgba[index(pixel)] = [0, 1, 2, 3].map(|k| f32::from_bits(results[k][path]));
        }
        Ok(())
    }

    /// Back edges and calls that a sample may take.
    fn budget(&self) -> u32 {
        self.job.budget.min(self.compute.gpu().max_loop_turns())
    }

    fn run(&mut self, batch: &Batch<'_>, progress: Progress<'_>) -> Result<(), RenderError> {
        let (done, total) = (self.done, self.total);
        let share = |turns: u64| (done + turns) as f32 / total as f32;
        let trap = self.machine.run_batch(batch, &mut |turns| progress(share(u64::from(turns))))?;
        if let Some(trap) = trap {
            let (module, limit) = (&self.job.program.module, self.machine.stats().frame_words);
            return Err(trap_error(trap, self.program.interface(), module, batch.budget, limit));
        }
        self.done += u64::from(batch.items) * u64::from(batch.turns);
        Ok(())
    }
}

fn words(position: Vec2) -> (u32, u32) {
    (position.x.to_bits(), position.y.to_bits())
}
