//! The back end of the command line: its compiler passes, its threads and its renderer.

use super::args::{BackendChoice, EngineChoice, MachineArgs, SceneArgs, Schedule};
use super::cache;
use super::device::Device;
use super::failure::Failure;
use anyhow::Context;
use shadewright::codegen::{SHARED_TARGET, rpu};
use shadewright::ir::passes::Pipeline;
use shadewright::render::progressive::Progressive;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::{Backend, BackendOptions, RenderError, Renderer, gpu};
use shadewright::rpu::format::Format;
use shadewright::rpu::{EngineInfo, native};

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

/// Applies the arguments for the whole process: its vector instructions, its number of threads, and
/// whether profilers can name the code that it generates.
pub fn set_up_process(machine: &MachineArgs) -> Result<(), Failure> {
    if let Some(instructions) = machine.instructions {
        let set =
            instructions.set().ok_or_else(|| Failure::device("error: --instructions: this CPU has none of them"))?;
        set.limit();
    }
    if machine.perf_map {
        let path = native::write_perf_map().context("creating the perf map")?;
        eprintln!("the names of native code are written to {}", path.display());
    }
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

/// The RPU for a scene, with the user's cache of compiled programs.
pub fn rpu_renderer(args: &SceneArgs) -> RpuRenderer {
    RpuRenderer::with_options(rpu_options(args)).with_cache(cache::usual())
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

/// A back end of a pair with what it is opened with: options of the GPU are for the side that uses
/// one.
pub fn side(backend: Backend, machine: &MachineArgs, rpu: RpuRenderer) -> Result<(Backend, BackendOptions), Failure> {
    match backend.info().uses_gpu {
        true => chosen(BackendChoice::Named(backend), machine, rpu),
        false => Ok((backend, BackendOptions { rpu, ..BackendOptions::default() })),
    }
}

/// A back end that was opened.
pub fn open<T: ?Sized>(opened: Result<Box<T>, RenderError>) -> Result<Box<T>, Failure> {
    opened.map_err(|e| Failure::device(format!("error: {e}")))
}

/// The engine that `--engine` names.
pub fn engine(machine: &MachineArgs) -> Result<Option<&'static EngineInfo>, Failure> {
    let Some(EngineChoice(engine)) = machine.engine else { return Ok(None) };
    match (engine.available)() {
        Ok(()) => Ok(Some(engine)),
        Err(reason) => Err(Failure::device(format!("error: --engine {}: {reason}", engine.name))),
    }
}

/// The back end of the engine that `--engine` names.
fn on_engine(machine: &MachineArgs, rpu: &RpuRenderer) -> Result<Backend, Failure> {
    let Some(engine) = engine(machine)? else { return Ok(Backend::RPU) };
    if !engine.formats.contains(&rpu.format()) {
        let reason = format!("error: the {} engine computes in single precision alone; remove --format", engine.name);
        return Err(Failure::input(reason));
    }
    match rpu.format() {
        Format::F24 => Ok(Backend::RPU_F24),
        Format::F32 => Ok(Backend::of_engine(engine).unwrap_or(Backend::RPU)),
    }
}

/// The back end that the arguments ask for, and what it is opened with.
fn chosen(
    choice: BackendChoice,
    machine: &MachineArgs,
    rpu: RpuRenderer,
) -> Result<(Backend, BackendOptions), Failure> {
    let backend = match choice {
        BackendChoice::Auto => None,
        // `--engine` and `--format` are the RPU's.
        BackendChoice::Named(Backend::RPU) if machine.engine.is_some() => Some(on_engine(machine, &rpu)?),
        BackendChoice::Named(Backend::RPU) if rpu.format() == Format::F24 => Some(Backend::RPU_F24),
        BackendChoice::Named(backend) => Some(backend),
    };
    if rpu.format() != Format::F32 && backend.is_none_or(|b| b.info().format != rpu.format()) {
        return Err(Failure::input("error: --format is an option of the RPU: add --backend rpu"));
    }
    if machine.engine.is_some() && !matches!(choice, BackendChoice::Named(Backend::RPU)) {
        return Err(Failure::input("error: --engine is an option of the RPU: add --backend rpu"));
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
    Ok((backend, BackendOptions { adapter: machine.adapter.clone(), schedule, traversal, rpu, own_threads: None }))
}
