//! Arguments of `render`, and of the command without a subcommand.

use super::*;
use clap::{Args, ValueEnum};
use shadewright::machines::models::PolygonSimulator;
use shadewright::render::adaptive::MAX_DEPTH;
use shadewright::render::part::Share;
use shadewright::rpu::format::Format;
use std::path::PathBuf;

/// Options that have no effect on the window.
const OF_FILES: [&str; 22] = [
    "crop",
    "pattern",
    "seed",
    "sampler",
    "sampler_threshold",
    "sampler_depth",
    "strict",
    "lenient",
    "headlight",
    "convention",
    "format",
    "schedule",
    "traversal",
    "engine",
    "model",
    "layers",
    "part",
    "watch",
    "resume",
    "preview",
    "target_error",
    "compare",
];

/// `render`, and the command without a subcommand.
#[derive(Debug, Args)]
#[command(
    need("render", &OF_FILES),
    need("compare", &["metric", "max_pixels"]),
    need("model", &DrawingArgs::OPTIONS),
)]
pub struct RenderArgs {
    /// Render to this file instead of opening the window: .png .exr .hdr .pnm, or .svg with --model
    /// hidden-line
    #[arg(short = 'o', long, alias = "out", value_name = "OUT", help_heading = heading::OUTPUT)]
    pub render: Option<PathBuf>,
    /// The files beside the image.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Leave out what has errors, and show the rest; the default where images are not compared
    #[arg(long, conflicts_with = "strict", hide_short_help = true, help_heading = heading::FILES)]
    pub lenient: bool,
    /// How it is sampled.
    #[command(flatten)]
    pub sampler: SamplerArgs,
    /// Stop when the estimated standard error of the linear image (root mean square over all
    /// pixels) falls below E; --spp is the maximum. Needs --pattern sobol
    #[arg(long, value_name = "E", value_parser = not_negative::<f64>, allow_negative_numbers = true, conflicts_with_all = ["watch", "stats"], hide_short_help = true, help_heading = heading::SAMPLING)]
    pub target_error: Option<f64>,
    /// Where shaders run
    #[arg(long, value_parser = backends_or_auto(), default_value = "auto", help_heading = heading::BACKEND)]
    pub backend: BackendChoice,
    /// Draw on this polygon hardware in place of a backend: hidden-line makes a line drawing, as
    /// an .svg file or an image. `shadewright simulate` also says what that costs
    #[arg(long, alias = renamed::MACHINE, value_parser = polygon_hardware(), value_name = "MODEL", conflicts_with_all = ["layers", "watch", "resume", "preview", "part", "target_error", "crop", "pattern", "seed", "sampler", "json", "backend", "format", "adapter", "schedule", "traversal", "engine", "compare", "stats"], hide_short_help = true, help_heading = heading::BACKEND)]
    pub model: Option<PolygonSimulator>,
    /// How lines are drawn.
    #[command(flatten)]
    pub drawing: DrawingArgs,
    /// Floating-point format of the RPU; needs --backend rpu
    #[arg(long, value_parser = choice_of::<Format>(), default_value = "f32", hide_short_help = true, help_heading = heading::BACKEND)]
    pub format: Format,
    /// The GPU.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// The RPU.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// The CPU.
    #[command(flatten)]
    pub cpu: CpuArgs,
    /// Compare with this image; exit status 1 if they differ
    #[arg(long, value_name = "REF", help_heading = heading::COMPARISON)]
    pub compare: Option<PathBuf>,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Bounds on what is read of the image.
    #[command(flatten)]
    pub limit: PixelLimit,
    /// Print the results as JSON on standard output
    #[arg(long, hide_short_help = true, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
    /// Print times and sizes, and on a GPU the time of each kernel
    #[arg(long, hide_short_help = true, help_heading = heading::DIAGNOSTICS)]
    pub stats: bool,
}

impl RenderArgs {
    /// The devices that it names.
    pub fn devices(&self) -> Devices<'_> {
        Devices { gpu: &self.gpu, engine: self.engine }
    }
}

/// Output beside the image, or instead of the whole image.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = heading::OUTPUT)]
pub struct OutputArgs {
    /// Write these variables as layers (AOVs) of the .exr file, for example
    /// albedo,normal,depth,shaderid: predefined variables of surface shaders (N, P, Cs, s, …), z or
    /// depth, shaderid, or output parameters of the scene's surface shaders. The scene's displays
    /// add more. Each is rendered in a pass of its own
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide_short_help = true)]
    pub layers: Vec<String>,
    /// Render again whenever the scene or a shader changes
    ///
    /// Prints a line for each image, or with --json an object for each image and for each change
    /// with errors, which has the diagnostics
    #[arg(long, conflicts_with_all = ["preview", "compare", "stats", "frames", "layers"])]
    pub watch: bool,
    /// Checkpoint the samples in FILE, every minute and when interrupted. Running the command again
    /// resumes, with bit-identical results
    #[arg(long, value_name = "FILE", conflicts_with_all = ["watch", "stats"], hide_short_help = true)]
    pub resume: Option<PathBuf>,
    /// Render one of several parts of the image: `K/N` is the K-th of N tiles, `samples:K/N` a share of
    /// the samples. `shadewright merge` joins the parts
    ///
    /// `tiles:3/4x4` is the third of 16 tiles, row by row; `tiles:3/4x4,samples:2/4` the second quarter
    /// of its samples. The part is an .exr file. The joined image has the bits of the image rendered at
    /// once
    #[arg(long, value_name = "K/N", conflicts_with_all = ["watch", "resume", "preview", "compare", "stats", "target_error"], hide_short_help = true)]
    pub part: Option<Share>,
    /// With --part: keep OUT where it is that part already, undamaged, of the same image
    #[arg(long, requires = "part", hide_short_help = true)]
    pub reuse: bool,
    /// Write a first image, one sample per pixel from the RPU, to FILE while the backend starts
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub preview: Option<PathBuf>,
}

/// Samplers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SamplerChoice {
    /// The same number of samples in every pixel
    #[default]
    Uniform,
    /// The corners of pixels, and more where they differ or small objects lie between them (Whitted 1980)
    Adaptive,
}

/// How the image is sampled.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::SAMPLING)]
pub struct SamplerArgs {
    /// Where camera rays are traced: `uniform`, --spp in each pixel, or `adaptive`, more of them where
    /// neighboring colors differ
    #[arg(long, value_enum, default_value_t, hide_short_help = true)]
    pub sampler: SamplerChoice,
    /// Greatest difference of the corners of a square that --sampler adaptive does not subdivide, as a
    /// share of the display's range, from 0 to 1 (square roots of linear colors, and alpha); 0.05 by
    /// default
    #[arg(long, value_name = "X", value_parser = share, allow_negative_numbers = true, hide_short_help = true)]
    pub sampler_threshold: Option<f32>,
    /// How often --sampler adaptive halves a pixel at most: up to (2^N + 1)² samples in it; 2 by
    /// default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_DEPTH)), hide_short_help = true)]
    pub sampler_depth: Option<u32>,
}
