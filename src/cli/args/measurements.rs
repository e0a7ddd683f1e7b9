//! Arguments of what measures.

use super::*;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Write the rendered image to OUT
    #[arg(short, long, alias = "render", value_name = "OUT", help_heading = heading::OUTPUT)]
    pub out: Option<PathBuf>,
    /// Write an image of the issue slots of each pixel
    #[arg(long, value_name = "OUT.png", help_heading = heading::OUTPUT)]
    pub heatmap: Option<PathBuf>,
    /// The scene, or a program of the RPU (.rpuasm, .rpubin), which runs once per pixel as with `run --image`.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// The hardware to model
    #[arg(long = "machine", value_enum, default_value_t, help_heading = heading::MODEL)]
    pub model: Model,
    /// Latencies, units, chunks and processors that differ from the defaults (TOML, see --print-config)
    #[arg(long, value_name = "FILE", help_heading = heading::MODEL)]
    pub config: Option<PathBuf>,
    /// Print the default configuration, with the reason of each value, and exit
    #[arg(long, help_heading = heading::MODEL)]
    pub print_config: bool,
    /// Floating-point format
    #[arg(long, value_enum, default_value_t, help_heading = heading::MODEL)]
    pub format: FloatFormat,
    /// Entry point of a program of the RPU (.rpuasm or .rpubin in place of the scene)
    #[arg(long, value_name = "NAME", default_value = "main", help_heading = heading::PROGRAM)]
    pub entry: String,
    /// Scene in which a program of the RPU traces rays: .rib, .gltf, .glb, .obj or .ply
    #[arg(long = "in", value_name = "SCENE", help_heading = heading::PROGRAM)]
    pub world: Option<PathBuf>,
    /// Initial value of a register, as in `run --set`; may be repeated
    #[arg(long, value_name = "REG=VALUES", help_heading = heading::PROGRAM)]
    pub set: Vec<RegisterValue>,
    /// Rows of the tables of functions, source lines and operations
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = heading::DIAGNOSTICS)]
    pub lines: usize,
    /// Print the report as JSON, with all functions, lines and operations
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
    /// CPU threads, at most 1024; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024), help_heading = heading::BACKEND)]
    pub threads: u16,
}

/// Models of hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// The ray processing unit, with latencies, chunks of four threads and several processors
    #[default]
    Rpu,
}

/// `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// The measurement
    #[arg(value_enum)]
    pub name: Benchmark,
    /// Use this mesh (.ply or .obj) where the measurement takes one; bvh and traversal can also make one of N triangles, named sheet:N or clutter:N
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// Measure only the shaders and scenes with this in their names
    #[arg(long, value_name = "PART")]
    pub only: Option<String>,
    /// How many different shaders the scene of `bench shaders` has
    #[arg(long, value_name = "N", default_value_t = 96, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub count: u16,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The rays.
    #[command(flatten)]
    pub rays: RaysArgs,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

/// The tree and the rays of measurements of traversal.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rays (bench traversal, gpu-traversal, growth and rtsl)")]
pub struct RaysArgs {
    /// Where the camera of the primary rays is: in front of the mesh, or inside, for rooms
    #[arg(long, value_enum, default_value_t)]
    pub view: CameraView,
    /// Primary rays a side of the image
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u16).range(1..=8192))]
    pub size: u16,
    /// Trace the rays of this file instead (repeatable): little-endian f32 records ox oy oz tmin dx dy dz tmax; for any hit if its name begins with ao or shadow
    #[arg(long, value_name = "FILE")]
    pub rays: Vec<PathBuf>,
    /// Write each set of rays as NAME.rays into this folder, and the answers as NAME.hits: records t u v prim, the last a u32, 4294967295 for a miss
    #[arg(long, value_name = "DIR")]
    pub dump_rays: Option<PathBuf>,
    /// How the tree is built
    #[arg(long, value_enum, default_value_t = TreeQuality::Spatial)]
    pub tree: TreeQuality,
}

/// The project's own measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Benchmark {
    /// Each tree builder: time, million triangles a second, cost and size of the tree, time of a refit
    Bvh,
    /// Rays on the CPU by each kernel (--only with parts of their names, commas between): million a second, primary, ambient occlusion, diffuse bounce
    Traversal,
    /// Instances of a mesh against its triangles written out: million rays a second of one thread, and memory
    Instances,
    /// Primary rays on the CPU through procedural meshes of ten thousand to ten million triangles
    Growth,
    /// Rays on a GPU by each traversal kernel (--only PART of its name): the same sets; every hit is compared with the CPU's
    GpuTraversal,
    /// Whole frames of every scene of the repository and a mesh, RPU against GPU
    Machines,
    /// The same frames by each schedule of the GPU, with the time of the first one
    Schedules,
    /// A camera that moves about the built-in scene, or that of --mesh: time to the first image of each view and to the full one, and between images while it is dragged, as the window draws; on the RPU, and on the GPU where there is one or --adapter names it
    View,
    /// The built-in scene at 640x480 on the RPU, from start to file
    Startup,
    /// From the save of a shader to the first new pixels from the RPU, on a scene of 30 thousand triangles or --mesh: median, worst, and the parts
    Reload,
    /// A scene of many different shaders (--count): time to a first image and to the full one on the GPU, its driver's cache empty and filled, and on the RPU
    Shaders,
    /// A mesh of four million triangles: time, memory
    Large,
    /// Instructions and cycles of shaders and scenes on the RPU, with each compiler pass removed in turn
    Passes,
    /// The same with each calling convention
    Conventions,
    /// The same with more and less inlining
    Inlining,
    /// The time to compile 300 shaders of the repository's gallery, and a shader of 2,000 lines to both machines, naga's part apart; one thread
    Compile,
    /// Functions full of noise, of branches and of texture lookups for a million points on the RPU, beside the same in plain Rust with one and with eight lanes: nanoseconds a point, one thread
    Shading,
    /// Primitives and materials of RTSL (--only PART of a name) on the RPU, one ray a run and 64, beside the same by hand in Rust with one ray and with eight (--size N: N² rays): seconds a million rays, one thread; and lines of code
    Rtsl,
    /// Shading on the RPU with each instruction set of this processor: million instructions of lanes a second, one thread
    Rpu,
    /// Every scene of the repository on the timed machine: utilisation, and simulated instructions a second of one core
    Simulate,
    /// Lookups into a texture on the RPU, trilinear and anisotropic: nanoseconds each, one thread
    Textures,
}

impl Benchmark {
    /// Whether the measurement prints its results itself, as a table.
    pub fn prints_a_table(self) -> bool {
        matches!(
            self,
            Benchmark::Passes
                | Benchmark::Conventions
                | Benchmark::Inlining
                | Benchmark::Traversal
                | Benchmark::GpuTraversal
                | Benchmark::Bvh
                | Benchmark::Instances
                | Benchmark::Growth
                | Benchmark::Machines
                | Benchmark::Schedules
                | Benchmark::View
                | Benchmark::Rtsl
        )
    }
}
