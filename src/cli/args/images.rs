//! Arguments of what draws images, looks into them or compares them.

use super::*;
use clap::Args;
use shadewright::compare::Metric;
use std::path::PathBuf;

/// The scene and how to see it.
#[derive(Clone, Debug, Args)]
pub struct SceneArgs {
    /// A .rib scene (gzip'd too), a .gltf or .glb scene, or an .obj or .ply mesh; without one, a built-in scene
    pub scene: Option<PathBuf>,
    /// Width and height in pixels, for example 640x480; wins over the scene's
    #[arg(long, value_name = "WxH")]
    pub size: Option<Size>,
    /// Samples a pixel; wins over the scene's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub spp: Option<u32>,
    /// How the light along a ray is found: by shaders alone, by tracing paths, or only how open the sky is over each place, or normals; wins over the scene's
    #[arg(long, value_enum)]
    pub integrator: Option<Integrator>,
    /// How paths look at lights: by points of lights and by directions of materials, weighted by the squares of their densities (power) or by these (balance), or by one of both alone
    #[arg(long, value_enum)]
    pub estimator: Option<Estimator>,
    /// The most that light which a path finds behind its first place may add to a sample, 0 for no limit: takes away single bright pixels, and some light with them. Off unless given; wins over the scene's
    #[arg(long, value_name = "MOST", value_parser = not_negative::<f32>, allow_negative_numbers = true)]
    pub clamp: Option<f32>,
    /// Render only this window of the image, in pixels
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true)]
    pub crop: Option<Crop>,
    /// The frame of a scene that has several, or with --render a range such as 1..240, both ends included. Images of a range are numbered: `out.####.png`, `out.%04d.png`, or
    /// `.0001` before the extension
    #[arg(long, value_name = "N|A..B", allow_hyphen_values = true)]
    pub frames: Option<Frames>,
    /// Let the scene run programs that make geometry (Procedural "RunProgram")
    #[arg(long)]
    pub allow_run: bool,
    /// Changes the sample positions
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u32,
    /// How samples are spread over pixel and lens
    #[arg(long, value_enum, default_value_t)]
    pub pattern: SamplePattern,
    /// Search this folder for shaders, before the scene's own paths; may be repeated
    #[arg(short = 'I', long = "shader-path", value_name = "DIR")]
    pub shader_paths: Vec<PathBuf>,
    /// Let the scene read files in this folder; may be repeated
    #[arg(long, value_name = "DIR")]
    pub allow_read: Vec<PathBuf>,
    /// Loop iterations and calls that one sample may take
    #[arg(long, value_name = "N", default_value_t = shadewright::render::DEFAULT_BUDGET, value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: u32,
    /// How the tree for tracing rays is built; by itself, by the number of samples a triangle. The image is the same with any
    #[arg(long, value_enum)]
    pub tree: Option<TreeQuality>,
    /// Compiler passes: `-gvn,-inline` leaves some out, `fold,dce` runs only those
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub passes: Option<String>,
    /// Who keeps registers across calls, on the RPU
    #[arg(long, value_enum, default_value_t)]
    pub convention: Convention,
}

/// Drawing depths.
#[derive(Debug, Args)]
pub struct DepthArgs {
    /// The scene, whose camera stands where the light does.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// The map of depths to write: .exr
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// CPU threads, 1024 at most; 0 is one a core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub threads: u16,
}

/// Which device, and how much of this one.
#[derive(Debug, Args)]
pub struct MachineArgs {
    /// Use the GPU adapter whose name contains this (see `shadewright devices`)
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// How a GPU orders the parts of shaders between rays; `auto` unless given
    #[arg(long, value_enum, value_name = "ORDER")]
    pub schedule: Option<Schedule>,
    /// How a GPU traces rays, `while-while` unless given; all give the same image (implies --schedule wavefront)
    #[arg(long, value_enum, value_name = "KERNEL")]
    pub traversal: Option<Traversal>,
    /// CPU threads, 1024 at most; 0 is one a core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub threads: u16,
}

/// Rendering.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Render without a window into this file: .png .exr .hdr .pnm
    #[arg(long, value_name = "OUT")]
    pub render: Option<PathBuf>,
    /// Write these variables as layers of the .exr file, for example albedo,normal,depth,shaderid: predefined variables of surface shaders (N, P, Cs, s, …), z or depth, shaderid, or output parameters of the
    /// scene's surface shaders. The scene's displays name more. Each is drawn as an image of its own
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "render")]
    pub layers: Vec<String>,
    /// Keep the samples of an image that is not finished in this file: a render that is interrupted goes on from there when it is run again. Every minute it is written anew
    #[arg(long, value_name = "FILE", requires = "render", conflicts_with_all = ["watch", "stats"])]
    pub resume: Option<PathBuf>,
    /// Take no more samples once the standard error of the image's linear colours is estimated below this: the root of its mean square over all pixels. --spp is the most (with --pattern sobol)
    #[arg(long, value_name = "E", requires = "render", value_parser = not_negative::<f64>, allow_negative_numbers = true, conflicts_with_all = ["watch", "stats"])]
    pub target_error: Option<f64>,
    /// Write a first image, one sample a pixel from the RPU, into this file while the machine that renders is not ready yet
    #[arg(long, value_name = "FILE", requires = "render")]
    pub preview: Option<PathBuf>,
    /// Which machine renders
    #[arg(long, value_enum, default_value_t)]
    pub backend: Backend,
    /// What the RPU's floats are (with --backend rpu)
    #[arg(long, value_enum, default_value_t)]
    pub format: FloatFormat,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Compare the image with this one; exit status 1 when they differ
    #[arg(long, value_name = "REF", requires = "render")]
    pub compare: Option<PathBuf>,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Render again whenever a file of the scene or of its shaders changes, one line an image; with --json, one JSON object a line, with the messages
    #[arg(long, requires = "render", conflicts_with_all = ["preview", "compare", "metric", "stats", "frames", "layers"])]
    pub watch: bool,
    /// Print times and sizes when done, on a GPU those of every kernel too; with --json as JSON on standard output
    #[arg(long)]
    pub stats: bool,
}

/// How a difference is judged.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Judge by this metric alone instead of the default tolerances
    #[arg(long, value_enum)]
    pub metric: Option<Metric>,
    /// What the metric may reach at most (psnr, ssim: at least)
    #[arg(long, value_name = "X", requires = "metric")]
    pub threshold: Option<f64>,
    /// Print what is reported as JSON
    #[arg(long)]
    pub json: bool,
}

/// `probe`.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct ProbeArgs {
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// The pixel: column and row, counted from 0 at the upper left
    #[arg(value_name = "X,Y")]
    pub pixel: Pixel,
    /// Which sample of the pixel, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub sample: u32,
    /// Print the statements that ran in shaders, with the values of their variables
    #[arg(long)]
    pub steps: bool,
    /// With --steps: those of the standard library too
    #[arg(long, requires = "steps")]
    pub library: bool,
    /// Print what is found as JSON
    #[arg(long)]
    pub json: bool,
}

/// `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Write a false-colour image of the difference here
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Which two: gpu, rpu, or rpu-f24, which computes with the hardware's 24-bit floats
    #[arg(long, value_name = "A,B", default_value = "gpu,rpu")]
    pub between: Between,
    /// Write both images here, with the names of the two (NAME-gpu, NAME-rpu) before the extension
    #[arg(long, value_name = "NAME.EXT")]
    pub images: Option<PathBuf>,
}

/// `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// One image
    pub a: PathBuf,
    /// The other
    pub b: PathBuf,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Write a false-colour image of the difference here
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `devices`.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}
