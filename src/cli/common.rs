//! What several subcommands do: open a scene, link it, choose a machine, judge two images.

use super::args::{BackendChoice, Crop, JudgeArgs, MachineArgs, SceneArgs, Schedule};
use super::device::Device;
use super::exit::Failure;
use anyhow::Context;
use shadewright::codegen::{SHARED_TARGET, rpu};
use shadewright::compare::{self, Tolerance, Verdict};
use shadewright::image::Image;
use shadewright::image::file as image_file;
use shadewright::ir::passes::Pipeline;
use shadewright::project::{self, Outcome, Project, Source, State, Times};
use shadewright::render::progressive::Progressive;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{Backend, BackendOptions, Job, RenderError, Renderer, Window, gpu};
use shadewright::rpu::format::Format;
use shadewright::scene::{self, OpenOptions, Scene};
use shadewright::text::source::SourceMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The passes on the IR that `--passes` asks for. It may also leave out passes of the RPU back end,
/// which [`rpu_passes`] finds.
pub fn pipeline(passes: Option<&str>) -> Result<Pipeline, Failure> {
    let of_back_end = |name: &str| name.strip_prefix('-').is_some_and(|n| rpu::Passes::NAMES.contains(&n));
    let chosen = match passes {
        Some(text) => {
            let text: Vec<&str> = text.split(',').map(str::trim).filter(|name| !of_back_end(name)).collect();
            Pipeline::parse(&text.join(",")).map_err(|e| {
                let names = rpu::Passes::NAMES.join(", ");
                Failure::input(format!("error: --passes: {e}\nhint: on the RPU, these can also be left out: {names}"))
            })?
        }
        None => Pipeline::default(),
    };
    Ok(chosen.for_target(SHARED_TARGET))
}

/// The passes of the RPU back end, less those that `--passes` leaves out.
pub fn rpu_passes(passes: Option<&str>) -> rpu::Passes {
    let mut chosen = rpu::Passes::default();
    for name in passes.iter().flat_map(|list| list.split(',')) {
        if let Some(name) = name.trim().strip_prefix('-') {
            chosen.set(name, false);
        }
    }
    chosen
}

/// Opens the scene. Warnings go to standard error.
pub fn open_scene(args: &SceneArgs) -> Result<(Scene, SourceMap), Failure> {
    let mut sources = SourceMap::new();
    let opened = source_of(args).open(&open_options(args), &mut sources);
    let opened = opened.map_err(|d| Failure::diagnostics(&d, &sources))?;
    eprint!("{}", opened.warnings.render(&sources));
    Ok((opened.scene, sources))
}

/// How the arguments ask to read the scene.
pub fn open_options(args: &SceneArgs) -> OpenOptions {
    OpenOptions {
        size: args.size.map(|s| (s.0, s.1)),
        allow_read: args.allow_read.clone(),
        frame: args.frames.map(|f| f.first),
        allow_run: args.allow_run,
        integrator: args.integrator.map(Into::into),
        estimator: args.estimator.map(Into::into),
        clamp: args.clamp,
        ..OpenOptions::default()
    }
}

/// Where the scene of the arguments comes from.
pub fn source_of(args: &SceneArgs) -> Source {
    match &args.scene {
        Some(path) => Source::File(path.clone()),
        None => Source::BuiltIn(scene::builtin::DEFAULT_SCENE.to_string()),
    }
}

/// How the arguments ask to read and link it.
pub fn project_options(args: &SceneArgs) -> Result<project::Options, Failure> {
    Ok(project::Options {
        open: open_options(args),
        shader_paths: args.shader_paths.clone(),
        pipeline: pipeline(args.passes.as_deref())?,
        tree: args.tree.map(Into::into),
        pixels: args.crop.map(|Crop([x0, y0, x1, y1])| u64::from(x1 - x0) * u64::from(y1 - y0)),
        samples: args.spp,
        kernels: false,
    })
}

/// The job that the arguments ask for, of a state of their project.
pub fn job_of(args: &SceneArgs, state: &State) -> Result<Job, Failure> {
    let mut job = state.job(&state.view(), sampling(args, &state.scene), args.budget);
    let (width, height) = (job.window.width, job.window.height);
    job.film.pattern = args.pattern.into();
    // The command line wins over the scene.
    let crop = args.crop.map(|Crop(window)| window).or_else(|| state.scene.film.crop_pixels(width, height));
    if let Some(crop) = crop {
        job.window = Window::cropped(crop, width, height).map_err(|e| Failure::input(format!("error: --crop: {e}")))?;
    }
    Ok(job)
}

/// Opens and links the scene and builds its tree. Warnings go to standard error.
pub fn prepare_job(args: &SceneArgs) -> Result<(Job, Times), Failure> {
    let (_, state) = open_project(args)?;
    Ok((job_of(args, &state)?, state.times))
}

/// Opens the scene as a project, with its first state. Warnings go to standard error.
pub fn open_project(args: &SceneArgs) -> Result<(Project, Arc<State>), Failure> {
    let mut project = Project::new(source_of(args), project_options(args)?);
    let state = refreshed(&mut project)?;
    eprint!("{}", state.warnings.render(&state.program.sources));
    Ok((project, state))
}

/// The state of a project that is to be read, or the errors of its files.
pub fn refreshed(project: &mut Project) -> Result<Arc<State>, Failure> {
    match project.refresh() {
        Outcome::Ready(state) => Ok(state),
        Outcome::Broken(failure) => Err(Failure::diagnostics(&failure.diagnostics, &failure.sources)),
        Outcome::Unchanged => project.state().cloned().ok_or_else(|| Failure::input("error: nothing was read")),
    }
}

/// The samples that the arguments ask for, or the scene.
pub fn sampling(args: &SceneArgs, scene: &Scene) -> Sampling {
    Sampling { strata: args.spp.map_or(scene.pixel_samples, Sampling::strata_of), seed: args.seed }
}

/// The number of threads of `--threads` becomes that of the process.
pub fn set_threads(machine: &MachineArgs) -> Result<(), Failure> {
    set_thread_count(machine.threads)
}

/// The process gets this number of threads; 0 is one a core.
pub fn set_thread_count(threads: u16) -> Result<(), Failure> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.into())
        .build_global()
        .context("starting the threads")
        .map_err(Failure::from)
}

/// How the RPU's program of a scene is compiled.
pub fn rpu_options(args: &SceneArgs) -> rpu::Options {
    let passes = rpu_passes(args.passes.as_deref());
    rpu::Options { convention: args.convention.into(), passes, ..rpu::Options::default() }
}

/// A GPU that renders by this schedule.
pub fn gpu_renderer(machine: &MachineArgs, schedule: Schedule) -> Result<gpu::GpuRenderer, Failure> {
    let renderer = gpu::GpuRenderer::new(machine.adapter.as_deref());
    let mut renderer = renderer.map_err(|e| Failure::device(format!("error: {e}")))?;
    renderer.set_schedule(schedule.into());
    renderer.set_traversal(machine.traversal.unwrap_or_default().into());
    Ok(renderer)
}

/// The back end that `--backend` asks for, and its device; `rpu` says how the RPU compiles. `auto`
/// prints its choice.
pub fn renderer(
    backend: BackendChoice,
    machine: &MachineArgs,
    rpu: RpuRenderer,
) -> Result<(Box<dyn Renderer>, Device), Failure> {
    let (opened, options) = chosen(backend, machine, rpu)?;
    let renderer = open(opened.renderer(&options))?;
    let device = Device::of(opened, renderer.adapter());
    announce(backend, &device);
    Ok((renderer, device))
}

/// The same as [`renderer`], as a progressive renderer.
pub fn progressive(
    backend: BackendChoice,
    machine: &MachineArgs,
    rpu: RpuRenderer,
) -> Result<(Box<dyn Progressive>, Device), Failure> {
    let (opened, options) = chosen(backend, machine, rpu)?;
    let progressive = open(opened.progressive(&options))?;
    let device = Device::of(opened, progressive.adapter());
    announce(backend, &device);
    Ok((progressive, device))
}

/// Prints what `auto` chose.
fn announce(choice: BackendChoice, device: &Device) {
    match (choice, device) {
        (BackendChoice::Named(_), _) => {}
        (BackendChoice::Auto, Device::Gpu(_)) => eprintln!("rendering on the {device}"),
        (BackendChoice::Auto, Device::Rpu { .. }) => eprintln!("no hardware GPU found: rendering on the {device}"),
    }
}

/// A back end that was opened.
pub fn open<T: ?Sized>(opened: Result<Box<T>, RenderError>) -> Result<Box<T>, Failure> {
    opened.map_err(|e| Failure::device(format!("error: {e}")))
}

/// The back end that the arguments ask for, and what it is opened with.
fn chosen(
    choice: BackendChoice,
    machine: &MachineArgs,
    rpu: RpuRenderer,
) -> Result<(Backend, BackendOptions), Failure> {
    let backend = match choice {
        BackendChoice::Auto => None,
        // `--format` is the number format of the RPU.
        BackendChoice::Named(Backend::RPU) if rpu.format() == Format::F24 => Some(Backend::RPU_F24),
        BackendChoice::Named(backend) => Some(backend),
    };
    if rpu.format() != Format::F32 && backend.is_none_or(|b| b.info().format != rpu.format()) {
        return Err(Failure::input("error: --format is an option of the RPU: add --backend rpu"));
    }
    if machine.traversal.is_some() && machine.schedule == Some(Schedule::Megakernel) {
        return Err(Failure::input(
            "error: --traversal chooses a traversal kernel, and the megakernel has none; remove one of them",
        ));
    }
    if let Some(backend) = backend.filter(|backend| !backend.info().uses_gpu) {
        let name = backend.name();
        let unused = [
            (machine.traversal.is_some(), "--traversal is an option of the GPU"),
            (machine.adapter.is_some(), "--adapter chooses a GPU"),
            (machine.schedule.is_some(), "--schedule is an option of the GPU"),
        ];
        if let Some((_, what)) = unused.into_iter().find(|(is_given, _)| *is_given) {
            return Err(Failure::input(format!("error: {what}, and --backend {name} uses none; remove one of them")));
        }
    }
    let backend = backend.unwrap_or_else(|| Backend::automatic(machine.adapter.as_deref()));
    // The megakernel has its traversal built in.
    let schedule = machine.schedule.or(machine.traversal.map(|_| Schedule::Wavefront)).unwrap_or_default().into();
    let traversal = machine.traversal.unwrap_or_default().into();
    Ok((backend, BackendOptions { adapter: machine.adapter.clone(), schedule, traversal, rpu }))
}

/// Refuses, before anything is rendered, a metric without the threshold that it is judged by.
pub fn check_judgement(args: &JudgeArgs) -> Result<(), Failure> {
    match (args.metric, args.threshold) {
        (Some(metric), None) => {
            let name = metric.to_string().to_lowercase();
            Err(Failure::input(format!("error: --metric {name} needs --threshold X to judge by")))
        }
        _ => Ok(()),
    }
}

/// Compares two images, prints the report and the verdict, and fails when they differ too much.
pub fn judge(a: &Image, b: &Image, args: &JudgeArgs, difference: Option<&Path>) -> Result<(), Failure> {
    let judgement = Judgement::of(a, b, args, difference)?;
    if args.json {
        print_json(&judgement.json().into())?;
    } else {
        println!("{judgement}");
    }
    judgement.outcome()
}

/// Prints a document of JSON.
pub fn print_json(json: &serde_json::Value) -> Result<(), Failure> {
    println!("{}", serde_json::to_string_pretty(json).context("writing JSON")?);
    Ok(())
}

/// How two images compare.
pub struct Judgement {
    report: compare::Report,
    verdict: Verdict,
}

impl Judgement {
    /// Compares two images, and writes where they differ to `difference`.
    pub fn of(a: &Image, b: &Image, args: &JudgeArgs, difference: Option<&Path>) -> Result<Self, Failure> {
        check_judgement(args)?;
        if let Some(path) = difference {
            image_file::check_writable(path)?;
        }
        let report = compare::compare(a, b).map_err(|e| Failure::input(format!("error: {e}")))?;
        let verdict = match (args.metric, args.threshold) {
            (Some(metric), Some(threshold)) => metric.judge(&report, threshold),
            _ => Tolerance::default().judge(&report),
        };
        if let Some(path) = difference {
            image_file::write(path, &report.difference_image())?;
        }
        Ok(Self { report, verdict })
    }

    /// An object with `report` and `verdict`.
    pub fn json(&self) -> serde_json::Map<String, serde_json::Value> {
        [("report", serde_json::json!(self.report)), ("verdict", serde_json::json!(self.verdict))]
            .map(|(name, value)| (name.to_string(), value))
            .into_iter()
            .collect()
    }

    /// Fails when the images differ too much.
    pub fn outcome(&self) -> Result<(), Failure> {
        if self.verdict.passed { Ok(()) } else { Err(Failure::different("")) }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.report, self.verdict)
    }
}
