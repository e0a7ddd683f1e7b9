//! Times of frames, of several programs alternately, on a device.

use super::common::{diagnostics, median, render_error};
use super::{Plan, ReportOptions};
use anyhow::{anyhow, bail};
use serde_json::{Value, json};
use shadewright::program::Specialize;
use shadewright::project::{self, Outcome, Project, Source};
use shadewright::render::gpu::{self, GpuRenderer};
use shadewright::render::rpu::{Loaded, draw};
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, RenderError, Renderer, Schedule};
use shadewright::rpu::engine::{self, EngineInfo};
use shadewright::scene::{OpenOptions, Shadows};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
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
    /// The name in tables.
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
    /// The name on the command line and in tables.
    pub fn name(&self) -> &str {
        match self {
            Device::Rpu(engine) => engine.name,
            Device::Gpu { .. } => GPU,
        }
    }

    /// A description of the device.
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
pub fn devices(options: &ReportOptions) -> anyhow::Result<Vec<Device>> {
    let engines = engine::available().filter(|engine| engine.name != "auto").map(Device::Rpu);
    // The fastest engine comes first.
    let mut found: Vec<Device> = engines.collect();
    found.reverse();
    let ReportOptions { backend, adapter, .. } = options;
    let wants_gpu = backend.iter().any(|name| name == GPU);
    if wants_gpu || !gpu::adapters().is_empty() {
        match GpuRenderer::new(adapter.as_deref()) {
            Ok(renderer) => found.push(Device::Gpu { adapter: adapter.clone(), description: renderer.describe() }),
            Err(e) if wants_gpu || adapter.is_some() => bail!("{e}"),
            Err(_) => {}
        }
    }
    let names: Vec<String> = found.iter().map(|device| device.name().to_string()).collect();
    if let Some(unknown) = backend.iter().find(|name| !names.contains(name)) {
        bail!("--backend {unknown}: there is none here; there are {}", names.join(", "));
    }
    found.retain(|device| backend.is_empty() || backend.iter().any(|name| name == device.name()));
    Ok(found)
}

/// A scene with a program for some facts of it, ready to render.
///
/// # Errors
/// When the scene has errors.
pub fn job(path: &Path, size: (u32, u32), spp: u32, facts: Specialize, shadows: Shadows) -> anyhow::Result<Job> {
    let open = OpenOptions { size: Some(size), shadows, strict: true, ..OpenOptions::default() };
    let options =
        project::ProjectOptions { open, samples: Some(spp), specialize: facts, ..project::ProjectOptions::default() };
    match Project::new(Source::File(path.to_path_buf()), options).refresh() {
        Outcome::Ready(state) => {
            let sampling = Sampling { strata: Sampling::strata_of(spp), seed: 0 };
            Ok(state.job(&state.view(), sampling, DEFAULT_BUDGET))
        }
        Outcome::Broken(failure) => Err(diagnostics(&failure.diagnostics, &failure.sources)),
        Outcome::Unchanged => Err(anyhow!("{}: nothing was read", path.display())),
    }
}

/// A device with what has been opened on it: a GPU is opened once for each order.
pub struct Opened<'d> {
    device: &'d Device,
    gpus: RefCell<Vec<(Order, Rc<RefCell<GpuRenderer>>)>>,
}

impl<'d> Opened<'d> {
    /// A device on which nothing is opened.
    pub fn new(device: &'d Device) -> Self {
        Self { device, gpus: RefCell::default() }
    }

    /// Returns a runner that renders a job in an order, after its first frame.
    ///
    /// # Errors
    /// When the program does not suit the device, and those of rendering.
    pub fn runner<'j>(&self, order: Order, job: &'j Job) -> anyhow::Result<Runner<'j>> {
        let program = &job.program;
        let start = Instant::now();
        let renderer = match self.device {
            Device::Rpu(engine) => {
                let loaded = Loaded::new(&program.module, program.constants.vectors(), program.surface_entries);
                let loaded = loaded.and_then(|loaded| loaded.on_engine(engine));
                Side::Rpu(Box::new(loaded.map_err(|e| render_error(&e, &program.sources))?))
            }
            Device::Gpu { adapter, .. } => Side::Gpu(self.gpu(adapter.as_deref(), order)?),
        };
        let mut runner = Runner { job, renderer, first: 0.0, sections: None };
        runner.seconds(1)?;
        runner.first = start.elapsed().as_secs_f64();
        runner.sections = runner.counted_sections();
        Ok(runner)
    }

    fn gpu(&self, adapter: Option<&str>, order: Order) -> anyhow::Result<Rc<RefCell<GpuRenderer>>> {
        if let Some((_, opened)) = self.gpus.borrow().iter().find(|(of, _)| *of == order) {
            return Ok(opened.clone());
        }
        let mut renderer = GpuRenderer::new(adapter).map_err(|e| anyhow!("{e}"))?;
        renderer.set_schedule(match order {
            Order::Megakernel => Schedule::Megakernel,
            _ => Schedule::Wavefront,
        });
        renderer.set_sorting(order != Order::Unsorted);
        let renderer = Rc::new(RefCell::new(renderer));
        self.gpus.borrow_mut().push((order, renderer.clone()));
        Ok(renderer)
    }
}

/// A job with what renders it.
pub struct Runner<'j> {
    job: &'j Job,
    renderer: Side,
    /// Seconds to the end of the first frame, with everything that is compiled for it.
    first: f64,
    /// The sections of its program, on a GPU.
    pub sections: Option<u64>,
}

enum Side {
    Rpu(Box<Loaded>),
    Gpu(Rc<RefCell<GpuRenderer>>),
}

impl Runner<'_> {
    /// The seconds of so many frames, one after the other, without compiling.
    fn seconds(&mut self, frames: usize) -> anyhow::Result<f64> {
        let mut total = 0.0;
        for _ in 0..frames {
            total += self.frame().map_err(|e| render_error(&e, &self.job.program.sources))?;
        }
        Ok(total)
    }

    fn frame(&mut self) -> Result<f64, RenderError> {
        let start = Instant::now();
        match &mut self.renderer {
            Side::Rpu(loaded) => {
                draw(self.job, loaded, &|_| {})?;
                Ok(start.elapsed().as_secs_f64())
            }
            Side::Gpu(renderer) => {
                let mut renderer = renderer.borrow_mut();
                renderer.render(self.job, &|_| {})?;
                // A render compiles its program to kernels each time, and finds their pipelines.
                let phases = renderer.report().phases;
                let rounds = phases.iter().find(|phase| phase.name == "rounds");
                Ok(rounds.map_or_else(|| start.elapsed(), |phase| phase.time).as_secs_f64())
            }
        }
    }

    fn counted_sections(&self) -> Option<u64> {
        match &self.renderer {
            Side::Rpu(_) => None,
            Side::Gpu(renderer) => {
                renderer.borrow().report().counts.iter().find(|count| count.name == "sections").map(|count| count.count)
            }
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

/// Frames of all runners alternately, `frames` at a time.
///
/// # Errors
/// The errors of rendering.
pub fn alternate(plan: &Plan<'_>, runners: &mut [Runner<'_>], frames: usize) -> anyhow::Result<Vec<Times>> {
    let mut times = vec![Vec::new(); runners.len()];
    for _ in 0..plan.options.runs {
        for (runner, times) in runners.iter_mut().zip(&mut times) {
            times.push(runner.seconds(frames)? / frames as f64);
        }
    }
    let all = runners.iter().zip(times);
    Ok(all.map(|(runner, times)| Times { first: runner.first, median: median(times) }).collect())
}
