//! [`GpuRenderer`]: images by the wavefront executor or the megakernel.
//!
//! An image is one pass over all its samples (`passes`).

use super::device::Gpu;
use super::executor::{ExecutorStats, Setup};
use super::passes::Drawing;
use super::prepare::Preparation;
use super::program::Program;
use super::warm_up::{Priority, WarmUp, WarmUpProgress};
use super::wavefront::{Compute, ComputeError};
use crate::film::Film;
use crate::progressive::Pass;
use crate::report::{Count, KernelTimes, Phase, Report};
use crate::{AdapterInfo, Job, Progress, RenderError, Renderer, Schedule};
use shadewright_bvh::gpu::kernel::{Levels, Variant};
use shadewright_codegen::wgsl::WgslOptions;
use shadewright_image::Image;
use shadewright_program::{CAMERA_ENTRY, Fact, IMAGER_ENTRY, intersect_entry, surface_entry};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Paths in flight on hardware.
const HARDWARE_PATHS: u32 = 1 << 18;
/// Paths in flight on a software driver: enough that the fixed cost of a round is small, few enough
/// that progress shows.
const SOFTWARE_PATHS: u32 = 1 << 16;

/// Statistics of the last image.
#[derive(Clone, Copy, Debug, Default)]
pub struct GpuStats {
    /// Compiling the program to kernels.
    pub compile: Duration,
    /// The pipeline warm-up.
    pub warm_up: WarmUp,
    /// Making buffers.
    pub setup: Duration,
    /// Running waves.
    pub render: Duration,
    /// The executor's statistics.
    pub executor: ExecutorStats,
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

    /// Sets the order in which the sections of programs run.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }

    /// Sets the traversal kernel. A megakernel has its own.
    pub fn set_traversal(&mut self, variant: Variant) {
        self.compute.set_traversal(variant);
    }

    /// True if the section executor sorts paths by section, as it does at first: see
    /// [`Compute::set_sorting`].
    pub fn set_sorting(&mut self, on: bool) {
        self.compute.set_sorting(on);
    }

    /// Starts to warm up everything for `job`, on a thread of its own. A render that follows is not
    /// slower than without, and uses what is ready by then.
    pub fn prepare(&self, job: Arc<Job>) -> Preparation {
        Preparation::start(self.compute.clone(), job, self.schedule)
    }

    /// The device, to run functions on.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// The device, to be kept.
    pub(super) fn shared_compute(&self) -> Arc<Compute> {
        self.compute.clone()
    }

    /// The order in which the sections of programs run.
    pub(super) fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// Statistics of the last image.
    pub fn stats(&self) -> GpuStats {
        self.stats
    }
}

impl Renderer for GpuRenderer {
    fn describe(&self) -> String {
        let adapter = self.compute.gpu().adapter();
        format!("GPU: {} ({}, {})", adapter.name, adapter.kind, adapter.api)
    }

    fn adapter(&self) -> Option<AdapterInfo> {
        Some(self.compute.gpu().adapter().clone())
    }

    fn render_into(&mut self, job: &Job, film: &mut Film, progress: Progress<'_>) -> Result<Image, RenderError> {
        let start = Instant::now();
        let program = compile(self.compute.gpu(), job, self.schedule)?;
        let compile = start.elapsed();
        let warm_up = self.compute.prepare(&program, Priority::Foreground, &WarmUpProgress::default())?;
        let warm = Instant::now();
        let pixels = u64::from(job.window.width) * u64::from(job.window.height);
        let paths = pixels.min(u64::from(default_path_count(self.compute.gpu()))) as u32;
        let mut executor = program.executor(&*self.compute, &setup(job, &program, paths))?;
        let ready = Instant::now();
        let pass = Pass::whole(job.sampling);
        let mut drawing = Drawing {
            compute: &self.compute,
            job,
            program: &program,
            executor: &mut *executor,
            progress,
            stop: &AtomicBool::new(false),
            done: 0,
            total: Drawing::runs(job, pass),
        };
        drawing.draw(pass, film)?;
        let image = drawing.finish(film, pass.step)?;
        let stats = executor.stats();
        self.stats = GpuStats { compile, warm_up, setup: ready - warm, render: ready.elapsed(), executor: stats };
        self.kernels = executor.times();
        Ok(image)
    }

    fn set_profiling(&mut self, on: bool) {
        self.compute.set_profiling(on);
    }

    fn report(&self) -> Report {
        let GpuStats { compile, warm_up, setup, render, executor } = self.stats;
        let phases = [("kernels", compile), ("pipelines", warm_up.time), ("buffers", setup), ("rounds", render)];
        let counts = [
            ("sections", u64::from(executor.sections)),
            ("pipelines made", warm_up.kernels.made as u64),
            ("pipelines found", warm_up.kernels.found as u64),
            ("compiled by other devices", warm_up.elsewhere as u64),
            ("paths in flight", u64::from(executor.paths)),
            ("rounds", executor.rounds),
            ("submissions", executor.submissions),
        ];
        Report {
            phases: phases.map(|(name, time)| Phase { name, time }).into(),
            counts: counts.map(|(name, count)| Count { name, count }).into(),
            kernels: self.kernels.clone(),
        }
    }
}

/// Compiles a job's program to kernels, on no device.
///
/// # Errors
/// When the program has something that a GPU cannot do.
pub fn check(job: &Job) -> Result<(), RenderError> {
    let (entries, options) = entries_of(job);
    Program::sections(&job.program.module, &entries, &options).map(drop)
}

/// The entries of the job's program, and what reaches the others.
pub(super) fn entries_of(job: &Job) -> (Vec<&'static str>, WgslOptions) {
    let entries = if job.program.has_imager { vec![CAMERA_ENTRY, IMAGER_ENTRY] } else { vec![CAMERA_ENTRY] };
    let options = WgslOptions {
        shaders: (0..job.program.surface_entries).map(surface_entry).collect(),
        instances: !job.program.memory.placed.is_empty(),
        intersections: (0..job.program.primitives.kinds).map(intersect_entry).collect(),
    };
    (entries, options)
}

/// The kernels of the job's entries.
pub(super) fn compile(gpu: &Gpu, job: &Job, schedule: Schedule) -> Result<Program, RenderError> {
    let (entries, options) = entries_of(job);
    let levels = if job.bvh.has_instances() { Levels::Two } else { Levels::One };
    Program::compile(gpu, &job.program.module, &entries, &options, levels, max_depth(job), schedule)
}

/// The most nested rays.
pub(super) fn max_depth(job: &Job) -> u32 {
    job.program.constants.max_depth as u32
}

/// The default number of paths in flight.
pub(super) fn default_path_count(gpu: &Gpu) -> u32 {
    if gpu.is_hardware() { HARDWARE_PATHS } else { SOFTWARE_PATHS }
}

/// The input from which the executor of a job's program is made.
pub(super) fn setup<'a>(job: &'a Job, program: &'a Program, paths: u32) -> Setup<'a> {
    Setup {
        shader_starts: &program.interface().shader_starts,
        rays_per_path: program.interface().max_rays_per_path,
        frame_words: program.interface().stack_words(max_depth(job)),
        record_words: 0,
        memory: &job.program.memory.vectors,
        triangles: job.program.memory.triangles,
        constants: job.program.constants.vectors(),
        placed: &job.program.memory.placed,
        tree: &job.bvh,
        tree_is_known: job.program.specialize.has(Fact::Bvh),
        procedural: &job.program.primitives.tree,
        paths,
    }
}
