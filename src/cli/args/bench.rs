//! Arguments of `bench`.

use super::*;
use clap::{Args, Subcommand, ValueEnum};
use shadewright::bvh::Quality;
use shadewright::bvh::raysets::View;
use std::path::PathBuf;

/// `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// The measurement.
    #[command(subcommand)]
    pub benchmark: Benchmark,
}

/// Measurements that compare computers.
#[derive(Debug, Subcommand)]
pub enum Benchmark {
    /// Rays per second of each traversal kernel, on the CPU and on the GPU
    Rays(RaysArgs),
    /// Frames of scenes and a mesh on the RPU (CPU) and on the GPU
    #[command(alias = renamed::MACHINES)]
    Backends(BackendsArgs),
    /// Ray-tracing hardware on the same scenes: published numbers, the array against the peripheral,
    /// rays a second, operations and bytes a ray, and the same designs with today's clocks and
    /// memories
    RayMachines(RayModelsArgs),
    /// Time from the start of the program to the image of the built-in scene
    Startup(StartupArgs),
    /// Time from saving a shader to the first new pixels, on the RPU (CPU)
    Reload(ReloadArgs),
    /// Compile times of shaders, on one thread
    Compile(CompileTimesArgs),
}

/// `bench rays`.
#[derive(Debug, Args)]
pub struct RaysArgs {
    /// Where rays are traced; by default on the CPU, and on the GPU if there is a hardware one or
    /// --adapter is given
    #[arg(long, value_enum, help_heading = heading::BACKEND)]
    pub backend: Option<RaysBackend>,
    /// The GPU.
    #[command(flatten)]
    pub adapter: AdapterArgs,
    /// The CPU.
    #[command(flatten)]
    pub threads: ThreadArgs,
    /// Mesh: a .ply or .obj file, or a procedural mesh of N triangles, `sheet:N` or `clutter:N`
    #[arg(long, value_name = "FILE", default_value = "clutter:100000", help_heading = heading::RAYS)]
    pub mesh: PathBuf,
    /// BVH builder
    #[arg(long, value_parser = choice_of::<Quality>(), default_value = "spatial", help_heading = heading::RAYS)]
    pub tree: Quality,
    /// Camera of the primary rays: in front of the mesh, or inside, for rooms
    #[arg(long, value_parser = choice_of::<View>(), default_value = "outside", help_heading = heading::RAYS)]
    pub view: View,
    /// Square root of the number of primary rays
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u16).range(1..=8192), help_heading = heading::RAYS)]
    pub size: u16,
    /// Trace the rays of FILE instead: little-endian f32 records ox oy oz tmin dx dy dz tmax;
    /// any-hit if the name begins with ao or shadow; may be repeated
    #[arg(long, value_name = "FILE", help_heading = heading::RAYS)]
    pub rays: Vec<PathBuf>,
    /// Measure only kernels with PART in their names; several are separated by commas
    #[arg(long, value_name = "PART", help_heading = heading::RAYS)]
    pub only: Option<String>,
    /// Write each set of rays as NAME.rays to this folder, and the hits as NAME.hits: records t u v
    /// prim, the last a u32, 4294967295 for a miss
    #[arg(long, value_name = "DIR", help_heading = heading::OUTPUT)]
    pub dump_rays: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long, help_heading = heading::OUTPUT)]
    pub json: bool,
}

/// Where rays are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RaysBackend {
    /// The CPU
    Cpu,
    /// The GPU, or a software driver; every hit is compared with the CPU's
    Gpu,
}

/// `bench backends`.
#[derive(Debug, Args)]
pub struct BackendsArgs {
    /// Mesh that is rendered besides the scenes: .ply or .obj
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// Measure only scenes with PART in their names
    #[arg(long, value_name = "PART")]
    pub only: Option<String>,
    /// The constants of the programs.
    #[command(flatten)]
    pub specialize: SpecializeArgs,
    /// The GPU.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// The CPU.
    #[command(flatten)]
    pub cpu: CpuArgs,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench ray-machines`.
#[derive(Debug, Args)]
pub struct RayModelsArgs {
    /// The scenes; three of the repository by default. Arrays of several sizes and mappings are
    /// simulated in the first
    #[arg(value_name = "SCENE")]
    pub scenes: Vec<PathBuf>,
    /// Width and height of the images
    #[arg(long, value_name = "WxH", default_value = "64x64", value_parser = frame_size, help_heading = heading::CAMERA)]
    pub size: Size,
    /// Nodes of the array in a row and in a column, in the comparison of all models
    #[arg(long, value_name = "WxH", default_value = "8x8", help_heading = heading::MODEL)]
    pub nodes: Size,
    /// Numbers of today's chip that differ from the defaults (TOML, see --print-assumptions)
    #[arg(long, value_name = "FILE", help_heading = heading::MODEL)]
    pub assumptions: Option<PathBuf>,
    /// Print the numbers of today's chip, with the source of each, and exit
    #[arg(long, help_heading = heading::MODEL)]
    pub print_assumptions: bool,
    /// Write charts as SVG to this folder
    #[arg(long, value_name = "DIR", help_heading = heading::OUTPUT)]
    pub charts: Option<PathBuf>,
    /// The GPU.
    #[command(flatten)]
    pub adapter: AdapterArgs,
    /// How it traverses the BVH.
    #[command(flatten)]
    pub traversal: TraversalArgs,
    /// The CPU.
    #[command(flatten)]
    pub cpu: CpuArgs,
    /// Print the results as JSON
    #[arg(long, help_heading = heading::OUTPUT)]
    pub json: bool,
}

/// `bench startup`.
#[derive(Debug, Args)]
pub struct StartupArgs {
    /// The CPU.
    #[command(flatten)]
    pub threads: ThreadArgs,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench reload`.
#[derive(Debug, Args)]
pub struct ReloadArgs {
    /// Mesh: .ply or .obj; a procedural one of 30,000 triangles by default
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// The CPU.
    #[command(flatten)]
    pub threads: ThreadArgs,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench compile`.
#[derive(Debug, Args)]
pub struct CompileTimesArgs {
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

/// The size of a frame that is measured: at most what takes seconds.
fn frame_size(text: &str) -> Result<Size, String> {
    let size: Size = text.parse()?;
    match size {
        Size(0, _) | Size(_, 0) => Err("an image has at least one pixel".to_string()),
        Size(width, height) if width > 4096 || height > 4096 => Err("a side has at most 4096 pixels".to_string()),
        size => Ok(size),
    }
}
