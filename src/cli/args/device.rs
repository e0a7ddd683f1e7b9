//! Groups of options about the devices that run shaders.

use super::*;
use clap::Args;
use shadewright::bvh::gpu::kernel::Variant;
use shadewright::render::Schedule;
use shadewright::rpu::EngineInfo;

/// A GPU among several.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = heading::BACKEND)]
pub struct AdapterArgs {
    /// Use the GPU adapter whose name contains NAME (see `shadewright devices`)
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub adapter: Option<String>,
}

/// A GPU, and how it renders.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = heading::BACKEND)]
pub struct GpuArgs {
    /// Which GPU.
    #[command(flatten)]
    pub adapter: AdapterArgs,
    /// How the GPU orders shader sections between rays; `auto` by default
    #[arg(long, value_parser = choice_of::<Schedule>(), value_name = "ORDER", hide_short_help = true)]
    pub schedule: Option<Schedule>,
    /// How it traverses the BVH.
    #[command(flatten)]
    pub traversal: TraversalArgs,
}

impl GpuArgs {
    /// The options, as clap knows them.
    pub const OPTIONS: [&'static str; 3] = ["adapter", "schedule", "traversal"];
}

/// How a GPU traverses the BVH.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::BACKEND)]
pub struct TraversalArgs {
    /// Traversal kernel of the GPU, `while-while` by default; goes with the wavefront schedule. The
    /// image does not depend on it
    #[arg(long, value_parser = choice_of::<Variant>(), value_name = "KERNEL", hide_short_help = true)]
    pub traversal: Option<Variant>,
}

/// The engine that runs programs of the RPU.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::BACKEND)]
pub struct EngineArgs {
    /// Engine for programs of the RPU, `auto` by default; needs the RPU. The image does not depend on it
    #[arg(long, value_parser = engines(), value_name = "ENGINE", hide_short_help = true)]
    pub engine: Option<&'static EngineInfo>,
}

/// How this process uses the CPU.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::BACKEND)]
pub struct CpuArgs {
    /// Vector instructions of this CPU that the RPU's engines use at most, the best by default: to test
    /// here what runs elsewhere. The image does not depend on it
    #[arg(long, value_parser = NamedChoice::new(INSTRUCTION_SETS), value_name = "SET", hide_short_help = true)]
    pub instructions: Option<&'static str>,
    /// Name the code of the native engine for `perf report`, in /tmp/perf-PID.map
    #[arg(long, hide_short_help = true)]
    pub perf_map: bool,
    /// The threads.
    #[command(flatten)]
    pub threads: ThreadArgs,
}

impl CpuArgs {
    /// The options, as clap knows them.
    pub const OPTIONS: [&'static str; 3] = ["instructions", "perf_map", "threads"];
}

/// The threads of this process.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::BACKEND)]
pub struct ThreadArgs {
    /// CPU threads, at most 1024; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub threads: u16,
}

/// The devices that the options of a command name.
#[derive(Clone, Copy, Debug)]
pub struct Devices<'a> {
    /// The GPU, and how it renders.
    pub gpu: &'a GpuArgs,
    /// The engine of the RPU.
    pub engine: EngineArgs,
}

impl<'a> From<&'a GpuArgs> for Devices<'a> {
    fn from(gpu: &'a GpuArgs) -> Self {
        Self { gpu, engine: EngineArgs::default() }
    }
}
