//! Arguments of `simulate`.

use super::*;
use clap::Args;
use shadewright::machines::array::mapping::Mapping;
use shadewright::machines::models::{MODELS, ModelInfo, PolygonSimulator, Simulator};
use shadewright::machines::polygons::hidden_lines::{Edges, Hidden};
use shadewright::machines::polygons::scene_model::{Colors, Interpolation};
use shadewright::render::Backend;
use shadewright::rpu::format::Format;
use std::path::{Path, PathBuf};

/// `simulate`.
#[derive(Debug, Default, Args)]
#[command(
    mut_arg("frames", one_frame),
    need("check", &["metric"])
)]
pub struct SimulateArgs {
    /// Write the rendered image to OUT
    #[arg(short, long, alias = "render", value_name = "OUT", help_heading = heading::OUTPUT)]
    pub out: Option<PathBuf>,
    /// Write an image of the cost of each pixel: issue slots, or tests of polygons on ray-tracing
    /// hardware; of the array, how busy each node is
    #[arg(long, value_name = "OUT.png", help_heading = heading::OUTPUT)]
    pub heatmap: Option<PathBuf>,
    /// Write charts as SVG to this folder (ray-tracing hardware and polygon hardware)
    #[arg(long, value_name = "DIR", help_heading = heading::OUTPUT)]
    pub charts: Option<PathBuf>,
    /// The scene, or a program of the RPU (.rpuasm, .rpubin), which runs once per pixel as with
    /// `run --image`.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// The hardware.
    #[command(flatten)]
    pub hardware: HardwareArgs,
    /// The registers and memory that a program of the RPU begins with.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// The options of ray-tracing hardware.
    #[command(flatten)]
    pub rays: RayHardwareArgs,
    /// How polygons are shown.
    #[command(flatten)]
    pub polygons: PolygonArgs,
    /// Ray-tracing hardware: compare the image with that of a backend, rpu or gpu; exit status 1 if
    /// they differ. Polygon hardware: compare it with the backend's image of the same polygons and
    /// colors
    #[arg(long, value_name = "BACKEND", value_parser = backends(), ignore_case = true, help_heading = heading::COMPARISON)]
    pub check: Option<Backend>,
    /// How to judge, with --check.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// How pixels are sampled, on ray-tracing hardware.
    #[command(flatten)]
    pub sampler: SamplerArgs,
    /// The GPU, with --check.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// The CPU.
    #[command(flatten)]
    pub cpu: CpuArgs,
    /// Rows of the tables of functions, source lines and operations
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = heading::DIAGNOSTICS)]
    pub lines: usize,
    /// Print the report as JSON
    #[arg(long, hide_short_help = true, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}

impl SimulateArgs {
    /// The arguments for drawing a scene with polygon hardware, into a file.
    pub fn from_render(args: &RenderArgs, out: &Path) -> Self {
        Self {
            out: Some(out.to_path_buf()),
            scene: args.scene.clone(),
            polygons: PolygonArgs { drawing: args.drawing, ..PolygonArgs::default() },
            cpu: args.cpu,
            ..Self::default()
        }
    }
}

/// A model of hardware, and its numbers.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = heading::MODEL)]
pub struct HardwareArgs {
    /// The hardware to model
    #[arg(long, alias = renamed::MACHINE, value_parser = models(), default_value = MODELS[0].name)]
    pub model: &'static ModelInfo,
    /// Numbers of the model that differ from the defaults (TOML, see --print-config)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the default configuration of the model, with the reason of each value, and exit
    #[arg(long)]
    pub print_config: bool,
    /// Floating-point format
    #[arg(long, value_parser = choice_of::<Format>(), default_value = "f32")]
    pub format: Format,
    /// The same rays through grids of 1 to 32 cells on an axis (rtp-grid), or through arrays of 1 to
    /// 1024 nodes (array); the same polygons on hardware of other sizes
    #[arg(long)]
    pub sweep: bool,
}

/// The registers and memory that a program of the RPU begins with.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = heading::PROGRAM)]
pub struct ProgramArgs {
    /// Entry point of a program of the RPU (.rpuasm or .rpubin in place of the scene)
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub entry: String,
    /// Scene in which a program of the RPU traces rays: .rib, .gltf, .glb, .obj or .ply
    #[arg(long = "in", value_name = "SCENE")]
    pub world: Option<PathBuf>,
    /// Initial value of a register, as in `run --set`; may be repeated
    #[arg(long, value_name = "REG=VALUES")]
    pub set: Vec<RegisterValue>,
}

/// The options of ray-tracing hardware.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::MODEL)]
pub struct RayHardwareArgs {
    /// Nodes of the array in a row and in a column, at most 1024 in all
    #[arg(long, value_name = "WxH")]
    pub nodes: Option<Size>,
    /// Which parts of space the nodes of the array have
    #[arg(long, value_parser = choice_of::<Mapping>())]
    pub mapping: Option<Mapping>,
    /// Ray-tracing hardware: cells on each axis of the grid; by default the best of an estimate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=128))]
    pub cells: Option<u32>,
    /// Ray-tracing hardware: time the shaders on this computer, and take that as the host's time
    #[arg(long)]
    pub measure_host: bool,
}

/// How polygon hardware shows polygons.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::MODEL)]
pub struct PolygonArgs {
    /// Polygon hardware: where the colors at the corners come from; the scene's shaders by default
    #[arg(long, value_parser = color_sources(), value_name = "SOURCE")]
    pub colors: Option<Colors>,
    /// Polygon hardware: one color a polygon (constant), or interpolated colors (smooth), the
    /// default
    #[arg(long, value_parser = choice_of::<Interpolation>())]
    pub interpolation: Option<Interpolation>,
    /// How lines are drawn.
    #[command(flatten)]
    pub drawing: DrawingArgs,
}

/// How lines are drawn.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::MODEL)]
pub struct DrawingArgs {
    /// Line drawings: which edges are drawn; features by default
    #[arg(long, value_parser = choice_of::<Edges>(), hide_short_help = true)]
    pub edges: Option<Edges>,
    /// Line drawings: how hidden lines are drawn; not at all by default
    #[arg(long, value_parser = choice_of::<Hidden>(), value_name = "STYLE", hide_short_help = true)]
    pub hidden_lines: Option<Hidden>,
    /// Line drawings: width of lines in pixels, 1 by default
    #[arg(long, value_name = "PIXELS", value_parser = positive, hide_short_help = true)]
    pub stroke_width: Option<f32>,
}

impl DrawingArgs {
    /// The options, as clap knows them.
    pub const OPTIONS: [&'static str; 3] = ["edges", "hidden_lines", "stroke_width"];
}

/// The hardware models.
fn models() -> NamedChoice<&'static ModelInfo> {
    NamedChoice::new(MODELS.iter().map(|model| (model.name, model.description, model)))
}

/// The hardware models that `render` draws with.
pub fn polygon_hardware() -> NamedChoice<PolygonSimulator> {
    NamedChoice::new(MODELS.iter().filter_map(|model| match model.simulator {
        Simulator::Polygons(hardware) => Some((model.name, model.description, hardware)),
        _ => None,
    }))
}
