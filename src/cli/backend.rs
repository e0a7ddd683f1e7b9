//! The back end of the command line: its compiler passes, its threads and its renderer.

use super::args::{
    AdapterArgs, BackendChoice, CpuArgs, Devices, EngineArgs, GpuArgs, SceneArgs, ThreadArgs, TraversalArgs,
};
use super::cache;
use super::device::Device;
use super::failure::Failure;
use anyhow::Context;
use shadewright::codegen::{SHARED_TARGET, rpu};
use shadewright::ir::passes::Pipeline;
use shadewright::render::progressive::Progressive;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::{Backend, BackendOptions, RenderError, Renderer, Schedule, gpu};
use shadewright::rpu::format::Format;
use shadewright::rpu::simd::InstructionSet;
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
pub fn set_up_process(cpu: &CpuArgs) -> Result<(), Failure> {
    if let Some(name) = cpu.instructions {
        let set = InstructionSet::all().into_iter().find(|set| set.name() == name);
        set.ok_or_else(|| Failure::device("error: --instructions: this CPU has none of them"))?.limit();
    }
    if cpu.perf_map {
        let path = native::write_perf_map().context("creating the perf map")?;
        eprintln!("the names of native code are written to {}", path.display());
    }
    set_thread_count(cpu.threads)
}

/// The process gets this number of threads; 0 is one a core.
pub fn set_thread_count(ThreadArgs { threads }: ThreadArgs) -> Result<(), Failure> {
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
pub fn rpu_options(args: &SceneArgs) -> rpu::RpuOptions {
    let passes = rpu_passes(args.compiler.passes.as_deref());
    rpu::RpuOptions { convention: args.compiler.convention, passes, ..rpu::RpuOptions::default() }
}

/// A GPU that renders by this schedule.
pub fn gpu_renderer(
    adapter: &AdapterArgs,
    traversal: TraversalArgs,
    schedule: Schedule,
) -> Result<gpu::GpuRenderer, Failure> {
    let renderer = gpu::GpuRenderer::new(adapter.adapter.as_deref());
    let mut renderer = renderer.map_err(|e| Failure::device(format!("error: {e}")))?;
    renderer.set_schedule(schedule);
    renderer.set_traversal(traversal.traversal.unwrap_or_default());
    Ok(renderer)
}

/// The back end that `--backend` asks for, and its device; `rpu` says how the RPU compiles. `auto`
/// prints its choice.
pub fn renderer(
    backend: BackendChoice,
    devices: Devices<'_>,
    rpu: RpuRenderer,
) -> Result<(Box<dyn Renderer>, Device), Failure> {
    let (opened, options) = chosen(backend, devices, rpu)?;
    let renderer = open(opened.renderer(&options))?;
    let device = Device::new(opened, renderer.adapter());
    announce(backend, &device);
    Ok((renderer, device))
}

/// The same as [`renderer`], as a progressive renderer.
pub fn progressive(
    backend: BackendChoice,
    devices: Devices<'_>,
    rpu: RpuRenderer,
) -> Result<(Box<dyn Progressive>, Device), Failure> {
    let (opened, options) = chosen(backend, devices, rpu)?;
    let progressive = open(opened.progressive(&options))?;
    let device = Device::new(opened, progressive.adapter());
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
pub fn side(backend: Backend, gpu: &GpuArgs, rpu: RpuRenderer) -> Result<(Backend, BackendOptions), Failure> {
    match backend.info().uses_gpu {
        true => chosen(BackendChoice::Named(backend), gpu.into(), rpu),
        false => Ok((backend, BackendOptions { rpu, ..BackendOptions::default() })),
    }
}

/// A back end that was opened.
pub fn open<T: ?Sized>(opened: Result<Box<T>, RenderError>) -> Result<Box<T>, Failure> {
    opened.map_err(|e| Failure::device(format!("error: {e}")))
}

/// The engine that `--engine` names, if it runs on this CPU.
pub fn available(EngineArgs { engine }: EngineArgs) -> Result<Option<&'static EngineInfo>, Failure> {
    let Some(engine) = engine else { return Ok(None) };
    match (engine.available)() {
        Ok(()) => Ok(Some(engine)),
        Err(reason) => Err(Failure::device(format!("error: --engine {}: {reason}", engine.name))),
    }
}

/// The back end of the engine that `--engine` names.
fn on_engine(engine: EngineArgs, rpu: &RpuRenderer) -> Result<Backend, Failure> {
    let Some(engine) = available(engine)? else { return Ok(Backend::RPU) };
    if !engine.formats.contains(&rpu.format()) {
        let reason = format!("error: the {} engine computes in single precision alone; remove --format", engine.name);
        return Err(Failure::input(reason));
    }
    match rpu.format() {
        Format::F24 => Ok(Backend::RPU_F24),
        Format::F32 => Ok(Backend::from_engine(engine).unwrap_or(Backend::RPU)),
    }
}

/// The back end that the arguments ask for, and what it is opened with.
fn chosen(
    choice: BackendChoice,
    Devices { gpu, engine }: Devices<'_>,
    rpu: RpuRenderer,
) -> Result<(Backend, BackendOptions), Failure> {
    let GpuArgs { adapter: AdapterArgs { adapter }, schedule, traversal: TraversalArgs { traversal } } = gpu;
    let backend = match choice {
        BackendChoice::Auto => None,
        // `--engine` and `--format` are the RPU's.
        BackendChoice::Named(Backend::RPU) if engine.engine.is_some() => Some(on_engine(engine, &rpu)?),
        BackendChoice::Named(Backend::RPU) if rpu.format() == Format::F24 => Some(Backend::RPU_F24),
        BackendChoice::Named(backend) => Some(backend),
    };
    if rpu.format() != Format::F32 && backend.is_none_or(|b| b.info().format != rpu.format()) {
        return Err(Failure::input("error: --format is an option of the RPU: add --backend rpu"));
    }
    if let Some(backend) = backend.filter(|backend| !backend.info().uses_gpu) {
        let name = backend.name();
        let unused = [
            (traversal.is_some(), "--traversal is an option of the GPU"),
            (adapter.is_some(), "--adapter chooses a GPU"),
            (schedule.is_some(), "--schedule is an option of the GPU"),
        ];
        if let Some((_, what)) = unused.into_iter().find(|(is_given, _)| *is_given) {
            return Err(Failure::input(format!("error: {what}, and --backend {name} uses none; remove one of them")));
        }
    }
    let backend = backend.unwrap_or_else(|| Backend::automatic(adapter.as_deref()));
    // The megakernel has its traversal built in.
    let schedule = schedule.or(traversal.map(|_| Schedule::Wavefront)).unwrap_or_default();
    let traversal = traversal.unwrap_or_default();
    Ok((backend, BackendOptions { adapter: adapter.clone(), schedule, traversal, rpu, own_threads: None }))
}
