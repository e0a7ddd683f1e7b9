//! Arguments of what measures.

use super::*;
use clap::{Args, Subcommand, ValueEnum};
use shadewright::machines::array::mapping::Mapping;
use shadewright::machines::polygons::of_job::{Colors, Interpolation};
use shadewright::program::Specialize;
use shadewright::render::Backend;
use shadewright::solid_volume::raster::Axis;
use std::path::{Path, PathBuf};

/// `simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Write the rendered image to OUT
    #[arg(short, long, alias = "render", value_name = "OUT", help_heading = heading::OUTPUT)]
    pub out: Option<PathBuf>,
    /// Write an image of the cost of each pixel: issue slots, or tests of polygons on a ray-tracing
    /// machine; of the array, how busy each node is
    #[arg(long, value_name = "OUT.png", help_heading = heading::OUTPUT)]
    pub heatmap: Option<PathBuf>,
    /// Write charts as SVG to this folder (ray-tracing machines and machines for polygons)
    #[arg(long, value_name = "DIR", help_heading = heading::OUTPUT)]
    pub charts: Option<PathBuf>,
    /// The scene, or a program of the RPU (.rpuasm, .rpubin), which runs once per pixel as with
    /// `run --image`.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// The hardware to model
    #[arg(long = "machine", value_enum, default_value_t, help_heading = heading::MODEL)]
    pub model: Model,
    /// Numbers of the machine that differ from the defaults (TOML, see --print-config)
    #[arg(long, value_name = "FILE", help_heading = heading::MODEL)]
    pub config: Option<PathBuf>,
    /// Print the default configuration of the machine, with the reason of each value, and exit
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
    /// The same rays through grids of 1 to 32 cells on an axis (rtp-grid), or through arrays of 1 to
    /// 1024 nodes (array); the same polygons on machines of other sizes
    #[arg(long, help_heading = heading::MODEL)]
    pub sweep: bool,
    /// Nodes of the array in a row and in a column, at most 1024 in all
    #[arg(long, value_name = "WxH", help_heading = heading::MODEL)]
    pub nodes: Option<Size>,
    /// Which parts of space the nodes of the array have
    #[arg(long, value_enum, help_heading = heading::MODEL)]
    pub mapping: Option<ArrayMapping>,
    /// Ray-tracing machines: cells on each axis of the grid; by default the best of an estimate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=128), help_heading = heading::MODEL)]
    pub cells: Option<u32>,
    /// Ray-tracing machines: time the shaders on this computer, and take that as the host's time
    #[arg(long, help_heading = heading::MODEL)]
    pub measure_host: bool,
    /// Machines for polygons: where the colours at the corners come from; the scene's shaders by
    /// default
    #[arg(long, value_enum, value_name = "SOURCE", help_heading = heading::MODEL)]
    pub colors: Option<ColorSource>,
    /// Machines for polygons: one colour a polygon (constant), or interpolated colours (smooth), the
    /// default
    #[arg(long, value_enum, help_heading = heading::MODEL)]
    pub interpolation: Option<ShadingInterpolation>,
    /// How lines are drawn.
    #[command(flatten)]
    pub drawing: DrawingArgs,
    /// Ray-tracing machines: compare the image with that of a backend, rpu or gpu; exit status 1 if
    /// they differ. Machines for polygons: compare it with the backend's image of the same polygons
    /// and colours
    #[arg(long, value_name = "BACKEND", value_parser = named_backend, help_heading = heading::COMPARISON)]
    pub check: Option<Backend>,
    /// How pixels are sampled, on ray-tracing machines.
    #[command(flatten)]
    pub sampler: SamplerArgs,
    /// How to judge, with --check; --json prints the report as JSON.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
}

impl SimulateArgs {
    /// The arguments for drawing a scene with a hardware model, into a file.
    pub fn of_render(args: &RenderArgs, model: Model, out: &Path) -> Self {
        Self {
            out: Some(out.to_path_buf()),
            heatmap: None,
            charts: None,
            scene: args.scene.clone(),
            model,
            config: None,
            print_config: false,
            format: args.format,
            entry: String::new(),
            world: None,
            set: Vec::new(),
            lines: 0,
            sweep: false,
            nodes: None,
            mapping: None,
            cells: None,
            measure_host: false,
            colors: None,
            interpolation: None,
            drawing: args.drawing,
            check: None,
            sampler: args.sampler,
            judge: args.judge.clone(),
            machine: args.machine.clone(),
        }
    }
}

/// How lines are drawn.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DrawingArgs {
    /// Line drawings: which edges are drawn; features by default
    #[arg(long, value_enum, hide_short_help = true, help_heading = heading::MODEL)]
    pub edges: Option<EdgeChoice>,
    /// Line drawings: how hidden lines are drawn; not at all by default
    #[arg(long, value_enum, value_name = "STYLE", hide_short_help = true, help_heading = heading::MODEL)]
    pub hidden_lines: Option<HiddenChoice>,
    /// Line drawings: width of lines in pixels, 1 by default
    #[arg(long, value_name = "PIXELS", value_parser = positive, hide_short_help = true, help_heading = heading::MODEL)]
    pub stroke_width: Option<f32>,
}

impl DrawingArgs {
    /// True if any is given.
    pub fn is_some(&self) -> bool {
        self.edges.is_some() || self.hidden_lines.is_some() || self.stroke_width.is_some()
    }
}

/// Which edges of polygons are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EdgeChoice {
    /// All but those between polygons in one plane
    All,
    /// Silhouettes, creases, and edges of one polygon alone
    Features,
}

/// How hidden lines are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HiddenChoice {
    /// They are left out
    None,
    /// They are dashed
    Dashed,
}

/// Models of hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// The ray processing unit, with latencies, chunks of four threads and several processors
    #[default]
    Rpu,
    /// PixelFlow: regions of SIMD pixels with 256 bytes each, lights interleaved with surfaces; no
    /// rays, so no shadows
    Pixelflow,
    /// The ray tracing peripheral: a pipelined intersector beside a host; every ray meets every
    /// polygon
    Rtp,
    /// The peripheral with a processor that leads rays through a grid
    RtpGrid,
    /// The peripheral with oriented bounding boxes
    RtpBoxes,
    /// The peripheral with an octree
    RtpOctree,
    /// The peripheral with our own bounding volume hierarchy
    RtpBvh,
    /// The ray tracing pipeline: a processor for each polygon, past which rays are streamed
    Pipeline,
    /// The ray tracing array: a mesh of nodes, each with a part of space, that pass rays on
    Array,
    /// The scan-line tree: a processor for each polygon, and a tree that merges their segments
    ScanLineTree,
    /// The hidden-line pipeline: a processor for each edge of each polygon, past which lines are
    /// streamed; its output may be an .svg file
    HiddenLine,
    /// Fuchs: processors that share the pixels out among them, each with a depth buffer
    Fuchs,
    /// Parke: a tree that splits polygons down to depth buffers for blocks of the image
    Parke,
    /// Parke's tree to some level, and Fuchs's processors below it
    Hybrid,
    /// Pixel-planes: a linear function of every polygon at every pixel
    PixelPlanes,
    /// Demetrescu: a processor for each polygon, past which pixels are streamed
    Demetrescu,
}

impl Model {
    /// True if it shows polygons, and traces no rays.
    pub fn shows_polygons(self) -> bool {
        matches!(
            self,
            Self::ScanLineTree
                | Self::HiddenLine
                | Self::Fuchs
                | Self::Parke
                | Self::Hybrid
                | Self::PixelPlanes
                | Self::Demetrescu
        )
    }
}

/// Where a machine for polygons has its colours from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorSource {
    /// The scene's shaders, which the host runs at the corners
    Shaders,
    /// The machine's own lighting: ambient and distant lights on matte surfaces
    Machine,
}

impl From<ColorSource> for Colors {
    fn from(source: ColorSource) -> Self {
        match source {
            ColorSource::Shaders => Self::Shaders,
            ColorSource::Machine => Self::Machine,
        }
    }
}

/// How a machine for polygons interpolates colours, in the words of `ShadingInterpolation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShadingInterpolation {
    /// Each polygon has one colour
    Constant,
    /// The colours of the corners are interpolated (Gouraud)
    Smooth,
}

impl From<ShadingInterpolation> for Interpolation {
    fn from(interpolation: ShadingInterpolation) -> Self {
        match interpolation {
            ShadingInterpolation::Constant => Self::Constant,
            ShadingInterpolation::Smooth => Self::Smooth,
        }
    }
}

/// Mappings of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArrayMapping {
    /// A node has the cells behind one another
    Plain,
    /// Each layer is shifted to the left by one node
    Skew,
    /// Layers are shifted to the left and down alternately
    Torus,
}

impl From<ArrayMapping> for Mapping {
    fn from(mapping: ArrayMapping) -> Self {
        match mapping {
            ArrayMapping::Plain => Mapping::Plain,
            ArrayMapping::Skew => Mapping::Skew,
            ArrayMapping::Torus => Mapping::Torus,
        }
    }
}

/// `volume`.
#[derive(Debug, Args)]
pub struct VolumeArgs {
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Rays of the first raster: one for each of about so many cells of an object's bounds
    #[arg(long, value_name = "N", default_value_t = 65536, value_parser = clap::value_parser!(u32).range(1..=1 << 24), help_heading = heading::RAYS)]
    pub rays: u32,
    /// Direction of the rays, in the world. With all three, the error is four times the
    /// largest difference between one of them and their mean
    #[arg(long, value_enum, default_value_t, help_heading = heading::RAYS)]
    pub axis: RasterAxis,
    /// Print the volumes as JSON
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
    /// CPU threads, at most 1024; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024), help_heading = heading::BACKEND)]
    pub threads: u16,
}

/// Directions of rays that measure a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RasterAxis {
    /// Along the x axis
    X,
    /// Along the y axis
    Y,
    /// Along the z axis
    Z,
    /// Three rasters, one along each axis
    #[default]
    All,
}

impl RasterAxis {
    /// The axes.
    pub fn axes(self) -> &'static [Axis] {
        match self {
            Self::X => &[Axis::X],
            Self::Y => &[Axis::Y],
            Self::Z => &[Axis::Z],
            Self::All => &Axis::ALL,
        }
    }
}

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
    Machines(MachinesArgs),
    /// Ray-tracing machines on the same scenes: published numbers, the array against the peripheral,
    /// rays a second, operations and bytes a ray, and the same designs with today's clocks and
    /// memories
    RayMachines(RayMachinesArgs),
    /// Time from the start of the program to the image of the built-in scene
    Startup(StartupArgs),
    /// Time from saving a shader to the first new pixels, on the RPU (CPU)
    Reload(ReloadArgs),
    /// Compile times of shaders, on one thread
    Compile(CompileTimesArgs),
    /// Specialised programs against others: frames of six interiors, shading alone, compile times
    #[command(visible_alias = "specialize")]
    Specialise(SpecialiseArgs),
}

/// `bench rays`.
#[derive(Debug, Args)]
pub struct RaysArgs {
    /// Where rays are traced; by default on the CPU, and on the GPU if there is a hardware one or
    /// --adapter is given
    #[arg(long, value_enum, help_heading = heading::BACKEND)]
    pub backend: Option<RaysBackend>,
    /// Use the GPU adapter whose name contains NAME (see `shadewright devices`)
    #[arg(long, value_name = "NAME", help_heading = heading::BACKEND)]
    pub adapter: Option<String>,
    /// CPU threads, at most 1024; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024), help_heading = heading::BACKEND)]
    pub threads: u16,
    /// Mesh: a .ply or .obj file, or a procedural mesh of N triangles, `sheet:N` or `clutter:N`
    #[arg(long, value_name = "FILE", default_value = "clutter:100000", help_heading = heading::RAYS)]
    pub mesh: PathBuf,
    /// BVH builder
    #[arg(long, value_enum, default_value_t = TreeQuality::Spatial, help_heading = heading::RAYS)]
    pub tree: TreeQuality,
    /// Camera of the primary rays: in front of the mesh, or inside, for rooms
    #[arg(long, value_enum, default_value_t, help_heading = heading::RAYS)]
    pub view: CameraView,
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

/// `bench machines`.
#[derive(Debug, Args)]
pub struct MachinesArgs {
    /// Mesh that is rendered besides the scenes: .ply or .obj
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// Measure only scenes with PART in their names
    #[arg(long, value_name = "PART")]
    pub only: Option<String>,
    /// Facts of the scenes that are constants of their programs (see `render --help`)
    #[arg(long, value_name = "FACTS", help_heading = heading::COMPILER)]
    pub specialize: Option<Specialize>,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

/// `bench ray-machines`.
#[derive(Debug, Args)]
pub struct RayMachinesArgs {
    /// The scenes; three of the repository by default. Arrays of several sizes and mappings are
    /// simulated in the first
    #[arg(value_name = "SCENE")]
    pub scenes: Vec<PathBuf>,
    /// Width and height of the images
    #[arg(long, value_name = "WxH", default_value = "64x64", value_parser = frame_size, help_heading = heading::CAMERA)]
    pub size: Size,
    /// Nodes of the array in a row and in a column, in the comparison of all machines
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
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print the results as JSON
    #[arg(long, help_heading = heading::OUTPUT)]
    pub json: bool,
}

/// `bench startup`.
#[derive(Debug, Args)]
pub struct StartupArgs {
    /// CPU threads, at most 1024; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub threads: u16,
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
    /// CPU threads, at most 1024; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub threads: u16,
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

/// `bench specialise`.
#[derive(Debug, Args)]
pub struct SpecialiseArgs {
    /// Measure only interiors with PART in their names; several are separated by commas
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub scene: Vec<String>,
    /// Measure only these; all by default
    #[arg(long = "only", value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub measurements: Vec<Measurement>,
    /// Devices: native, interpreter or gpu, separated by commas; all that there are by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = heading::BACKEND)]
    pub backend: Vec<String>,
    /// Use the GPU adapter whose name contains NAME (see `shadewright devices`)
    #[arg(long, value_name = "NAME", help_heading = heading::BACKEND)]
    pub adapter: Option<String>,
    /// CPU threads, at most 1024; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024), help_heading = heading::BACKEND)]
    pub threads: u16,
    /// Facts that programs are specialised for, as `render --specialize` takes them; may be
    /// repeated. The first is the baseline, the last is what `specialised` means
    #[arg(long, alias = "specialise", value_name = "FACTS", help_heading = heading::COMPILER)]
    pub specialize: Vec<Specialize>,
    /// Width and height of the frames
    #[arg(long, value_name = "WxH", default_value = "120x90", value_parser = frame_size, help_heading = heading::CAMERA)]
    pub size: Size,
    /// Samples per pixel of the frames
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096), help_heading = heading::SAMPLING)]
    pub spp: u32,
    /// Frames of each program, alternately, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub runs: u16,
    /// Rays of the large batch that is shaded alone
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub batch: u32,
    /// Most sections of a program that is compiled as a megakernel: its compile time grows faster
    /// than its size
    #[arg(long, value_name = "N", default_value_t = 24, help_heading = heading::BACKEND)]
    pub megakernel_sections: u64,
    /// Write the interiors to this folder, each as NAME.rib with its shaders and textures, and
    /// measure nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "json"], help_heading = heading::OUTPUT)]
    pub write: Option<PathBuf>,
    /// Write a page with plots to this folder
    #[arg(long, value_name = "DIR", help_heading = heading::OUTPUT)]
    pub out: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long, help_heading = heading::OUTPUT)]
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

/// A part of `bench specialise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Measurement {
    /// Frames of the interiors
    Scenes,
    /// Shading alone: Phong with no texture, one or two
    Shading,
    /// A textured surface with some of its interfaces specialised
    Interfaces,
    /// Compile times and sizes of code of the interiors
    Compile,
}
