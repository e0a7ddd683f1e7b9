//! Times of frames, of several programs alternately, on a device.

use super::Plan;
use crate::cli::args::SpecialiseArgs;
use crate::cli::bench::median;
use crate::cli::failure::Failure;
use serde_json::{Value, json};
use shadewright::program::Specialize;
use shadewright::project::{Options, Outcome, Project, Source};
use shadewright::render::gpu::{self, GpuRenderer};
use shadewright::render::rpu::{Loaded, draw};
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, RenderError, Renderer, Schedule};
use shadewright::rpu::engine::{self, EngineInfo};
use shadewright::scene::{OpenOptions, Shadows};
use std::path::Path;
use std::time::Instant;

/// The name of the GPU among the devices.
const GPU: &str = "gpu";

/// A device.
#[derive(Clone, Debug)]
pub enum Device {
    /// An engine of the RPU.
    Rpu(&'static EngineInfo),
    /// A GPU, by part of its name, with its description.
    Gpu { adapter: Option<String>, description: String },
}

/// The order in which a device runs the parts of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The RPU's only one: blocks of rays, whose lanes diverge and reconverge.
    Blocks,
    /// The GPU's wavefront, whose paths are sorted by the section that they wait for.
    Sorted,
    /// The wavefront without sorting.
    Unsorted,
    /// The megakernel, which has nothing to sort.
    Megakernel,
}

impl Order {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Order::Blocks => "blocks",
            Order::Sorted => "wavefront, sorted",
            Order::Unsorted => "wavefront, unsorted",
            Order::Megakernel => "megakernel",
        }
    }
}

impl Device {
    /// Its name on the command line and in tables.
    pub fn name(&self) -> &str {
        match self {
            Device::Rpu(engine) => engine.name,
            Device::Gpu { .. } => GPU,
        }
    }

    /// What it is.
    pub fn describe(&self) -> String {
        match self {
            Device::Rpu(engine) => format!("RPU (CPU, {} engine, {})", engine.name, (engine.runs_with)()),
            Device::Gpu { description, .. } => description.clone(),
        }
    }

    /// The orders of its work; the first is the default.
    pub fn orders(&self) -> &'static [Order] {
        match self {
            Device::Rpu(_) => &[Order::Blocks],
            Device::Gpu { .. } => &[Order::Sorted, Order::Unsorted, Order::Megakernel],
        }
    }
}

/// The devices of `--backend`, or all: the engines of the RPU that run here, and a GPU if there is
/// one.
pub fn devices(args: &SpecialiseArgs) -> Result<Vec<Device>, Failure> {
    let engines = engine::available().filter(|engine| engine.name != "auto").map(Device::Rpu);
    // The fastest engine comes first.
    let mut found: Vec<Device> = engines.collect();
    found.reverse();
    let wants_gpu = args.backend.iter().any(|name| name == GPU);
    if wants_gpu || !gpu::adapters().is_empty() {
        match GpuRenderer::new(args.adapter.as_deref()) {
            Ok(renderer) => {
                found.push(Device::Gpu { adapter: args.adapter.clone(), description: renderer.describe() });
            }
            Err(e) if wants_gpu || args.adapter.is_some() => return Err(Failure::device(format!("error: {e}"))),
            Err(_) => {}
        }
    }
    let names: Vec<String> = found.iter().map(|device| device.name().to_string()).collect();
    if let Some(unknown) = args.backend.iter().find(|name| !names.contains(name)) {
        return Err(Failure::input(format!(
            "error: --backend {unknown}: there is none here\nhint: there are {}",
            names.join(", ")
        )));
    }
    found.retain(|device| args.backend.is_empty() || args.backend.iter().any(|name| name == device.name()));
    Ok(found)
}

/// A scene with a program for some facts of it, ready to render.
///
/// # Errors
/// When the scene has errors.
pub fn job(path: &Path, size: (u32, u32), spp: u32, facts: Specialize, shadows: Shadows) -> Result<Job, Failure> {
    let open = OpenOptions { size: Some(size), shadows, strict: true, ..OpenOptions::default() };
    let options = Options { open, samples: Some(spp), specialize: facts, ..Options::default() };
    match Project::new(Source::File(path.to_path_buf()), options).refresh() {
        Outcome::Ready(state) => {
            let sampling = Sampling { strata: Sampling::strata_of(spp), seed: 0 };
            Ok(state.job(&state.view(), sampling, DEFAULT_BUDGET))
        }
        Outcome::Broken(failure) => Err(Failure::diagnostics(&failure.diagnostics, &failure.sources)),
        Outcome::Unchanged => Err(Failure::input(format!("error: {}: nothing was read", path.display()))),
    }
}

/// A job with what renders it.
pub struct Runner<'j> {
    job: &'j Job,
    machine: Machine,
}

enum Machine {
    Rpu(Box<Loaded>),
    Gpu(Box<GpuRenderer>),
}

impl<'j> Runner<'j> {
    /// Opens a device for a job.
    ///
    /// # Errors
    /// When the program does not suit the device.
    pub fn new(device: &Device, order: Order, job: &'j Job) -> Result<Self, Failure> {
        let program = &job.program;
        let machine = match device {
            Device::Rpu(engine) => {
                let loaded = Loaded::new(&program.module, &program.constants, program.surface_entries);
                let loaded = loaded.and_then(|loaded| loaded.on_engine(engine));
                Machine::Rpu(Box::new(loaded.map_err(|e| Failure::render(&e, &program.sources))?))
            }
            Device::Gpu { adapter, .. } => {
                let opened = GpuRenderer::new(adapter.as_deref());
                let mut renderer = opened.map_err(|e| Failure::device(format!("error: {e}")))?;
                renderer.set_schedule(match order {
                    Order::Megakernel => Schedule::Megakernel,
                    _ => Schedule::Wavefront,
                });
                renderer.set_sorting(order != Order::Unsorted);
                Machine::Gpu(Box::new(renderer))
            }
        };
        Ok(Self { job, machine })
    }

    /// The seconds of so many frames, one after the other.
    ///
    /// # Errors
    /// Those of rendering.
    pub fn seconds(&mut self, frames: usize) -> Result<f64, Failure> {
        let start = Instant::now();
        for _ in 0..frames {
            self.frame().map_err(|e| Failure::render(&e, &self.job.program.sources))?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    fn frame(&mut self) -> Result<(), RenderError> {
        match &mut self.machine {
            Machine::Rpu(loaded) => draw(self.job, loaded, &|_| {}).map(drop),
            Machine::Gpu(renderer) => renderer.render(self.job, &|_| {}).map(drop),
        }
    }

    /// The sections of a program on a GPU, after a frame.
    pub fn sections(&self) -> Option<u64> {
        match &self.machine {
            Machine::Rpu(_) => None,
            Machine::Gpu(renderer) => renderer.report().counts.iter().find(|c| c.name == "sections").map(|c| c.count),
        }
    }
}

/// Times of one of the things that are compared, in seconds a frame.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// The first frame, with what is compiled at first use.
    pub first: f64,
    /// The median of the others.
    pub median: f64,
}

impl Times {
    /// `ms` and `first_ms`.
    pub fn json(&self) -> Value {
        json!({ "ms": super::rounded(self.median * 1e3), "first_ms": super::rounded(self.first * 1e3) })
    }
}

/// Frames of all runners alternately, `frames` at a time, after a first one of each.
///
/// # Errors
/// Those of rendering.
pub fn alternate(plan: &Plan<'_>, runners: &mut [Runner<'_>], frames: usize) -> Result<Vec<Times>, Failure> {
    let mut firsts = Vec::new();
    for runner in runners.iter_mut() {
        firsts.push(runner.seconds(1)?);
    }
    let mut times = vec![Vec::new(); runners.len()];
    for _ in 0..plan.args.runs {
        for (runner, times) in runners.iter_mut().zip(&mut times) {
            times.push(runner.seconds(frames)? / frames as f64);
        }
    }
    Ok(firsts.into_iter().zip(times).map(|(first, times)| Times { first, median: median(times) }).collect())
}
