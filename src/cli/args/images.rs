//! Arguments of the subcommands that render images, inspect them or compare them.

use super::*;
use clap::Args;
use shadewright::compare::Metric;
use shadewright::image::file::MAX_READ_PIXELS;
use shadewright::program::Specialize;
use shadewright::render::adaptive::MAX_DEPTH;
use shadewright::render::part::Share;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The scene, and how it is viewed, sampled and compiled.
#[derive(Clone, Debug, Args)]
pub struct SceneArgs {
    /// A .rib (also gzip-compressed), .gltf or .glb scene, or an .obj or .ply mesh; the built-in
    /// scene by default
    pub scene: Option<PathBuf>,
    /// Images of the file's earlier frames, by the names of their displays.
    #[arg(skip)]
    pub rendered: BTreeMap<String, Arc<[u8]>>,
    /// Image width and height, for example 640x480; overrides the scene
    #[arg(long, value_name = "WxH", help_heading = heading::CAMERA)]
    pub size: Option<Size>,
    /// Render only this window of the image, in pixels; X1 and Y1 are exclusive
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true, hide_short_help = true, help_heading = heading::CAMERA)]
    pub crop: Option<Crop>,
    /// Frame to render, or an inclusive range such as 1..240; all frames of a RIB file by default. Of
    /// a glTF animation, frame 0 is its beginning
    ///
    /// The images of a range are numbered: the frame number replaces `####` or `%04d` in the name
    /// of the output, or stands before the extension
    #[arg(long, value_name = "N|A..B", allow_hyphen_values = true, help_heading = heading::CAMERA)]
    pub frames: Option<Frames>,
    /// Time of a glTF animation, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = not_negative::<f32>, conflicts_with = "frames", hide_short_help = true, help_heading = heading::CAMERA)]
    pub time: Option<f32>,
    /// Frames per second of a glTF animation
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = 24.0, hide_short_help = true, help_heading = heading::CAMERA)]
    pub fps: f32,
    /// The glTF animation that --time and --frames mean, by its name or number; the first by
    /// default
    #[arg(long, value_name = "NAME|N", hide_short_help = true, help_heading = heading::CAMERA)]
    pub animation: Option<String>,
    /// Samples per pixel; overrides the scene
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536), help_heading = heading::SAMPLING)]
    pub spp: Option<u32>,
    /// Sample pattern over pixel area and lens
    #[arg(long, value_enum, default_value_t, hide_short_help = true, help_heading = heading::SAMPLING)]
    pub pattern: SamplePattern,
    /// Seed of the sample positions
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true, help_heading = heading::SAMPLING)]
    pub seed: u32,
    /// Integrator; overrides the scene
    #[arg(long, value_enum, help_heading = heading::INTEGRATOR)]
    pub integrator: Option<Integrator>,
    /// How the path integrator combines light sampling and BSDF sampling; overrides the scene
    #[arg(long, value_enum, hide_short_help = true, help_heading = heading::INTEGRATOR)]
    pub estimator: Option<Estimator>,
    /// Clamp the indirect radiance of each path sample to MAX; 0 disables it. Removes fireflies and
    /// biases the image darker. Off by default; overrides the scene
    #[arg(long, value_name = "MAX", value_parser = not_negative::<f32>, allow_negative_numbers = true, hide_short_help = true, help_heading = heading::INTEGRATOR)]
    pub clamp: Option<f32>,
    /// Which lights cast ray-traced shadows
    #[arg(long, value_enum, default_value_t, hide_short_help = true, help_heading = heading::INTEGRATOR)]
    pub shadows: Shadows,
    /// Space in which the shaders of a RIB scene compute: `camera`, as in other RenderMan renderers,
    /// or `world`, the default; overrides the scene
    #[arg(long, value_enum, value_name = "SPACE", hide_short_help = true, help_heading = heading::INTEGRATOR)]
    pub current: Option<Current>,
    /// The files that the scene may name.
    #[command(flatten)]
    pub files: FilesArgs,
    /// Refuse a scene with any error: print all messages, write no file, exit with status 2. The
    /// default where images are compared
    #[arg(long, help_heading = heading::FILES)]
    pub strict: bool,
    /// Leave out what has errors, and show the rest; the default where images are not compared
    #[arg(long, conflicts_with = "strict", hide_short_help = true, help_heading = heading::FILES)]
    pub lenient: bool,
    /// Limit of triangles, beside one for each 8 bytes of the scene's files: beyond it curved
    /// surfaces are diced more coarsely. A triangle takes some 330 bytes of memory
    #[arg(long, value_name = "N", default_value_t = shadewright::scene::DEFAULT_TRIANGLES, hide_short_help = true, help_heading = heading::FILES)]
    pub max_triangles: usize,
    /// Add a light at the camera to a scene without lights; the viewer always does
    #[arg(long, hide_short_help = true, help_heading = heading::SAMPLING)]
    pub headlight: bool,
    /// BVH builder; chosen from the samples per triangle by default. The image does not depend on
    /// it
    #[arg(long, value_enum, hide_short_help = true, help_heading = heading::COMPILER)]
    pub tree: Option<TreeQuality>,
    /// Compiler passes: `-gvn,-inline` disables some, `fold,dce` runs only those
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, hide_short_help = true, help_heading = heading::COMPILER)]
    pub passes: Option<String>,
    /// The transcendental functions that shaders call
    #[command(flatten)]
    pub math: MathArgs,
    /// Facts of the scene that are constants of its program: none, types (the default), constants,
    /// all, or a list as in `types,textures` and `all,-image`. The viewer specializes in the
    /// background, for constants
    #[arg(long, value_name = "FACTS", hide_short_help = true, help_heading = heading::COMPILER)]
    pub specialize: Option<Specialize>,
    /// Calling convention of the RPU: which registers are saved across calls
    #[arg(long, value_enum, default_value_t, hide_short_help = true, help_heading = heading::COMPILER)]
    pub convention: Convention,
    /// Limit of loop iterations and calls per sample
    #[arg(long, value_name = "N", default_value_t = shadewright::render::DEFAULT_BUDGET, value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true, help_heading = heading::COMPILER)]
    pub budget: u32,
}

impl SceneArgs {
    /// Reads the scene for an image that is judged: strictly, unless the user says otherwise.
    pub fn for_judgement(&mut self) {
        self.strict |= !self.lenient;
    }
}

/// `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Scenes: .rib .gltf .glb .obj .ply
    #[arg(required = true, value_name = "SCENE")]
    pub scenes: Vec<PathBuf>,
    /// The files that the scene may name.
    #[command(flatten)]
    pub files: FilesArgs,
    /// Facts of the scenes that are constants of their programs (see `render --help`)
    #[arg(long, value_name = "FACTS", hide_short_help = true, help_heading = heading::COMPILER)]
    pub specialize: Option<Specialize>,
    /// Print an object for each scene, with its messages, as JSON
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}

/// `depth`.
#[derive(Debug, Args)]
pub struct DepthArgs {
    /// The shadow map to write: .exr
    #[arg(short, long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub out: PathBuf,
    /// The scene, whose camera stands at the light.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// CPU threads, at most 1024; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024), help_heading = heading::BACKEND)]
    pub threads: u16,
}

/// The files that a scene may name, and what it may do.
#[derive(Clone, Debug, Default, Args)]
pub struct FilesArgs {
    /// Search this folder for shaders first; may be repeated
    #[arg(short = 'I', long = "shader-path", value_name = "DIR", help_heading = heading::FILES)]
    pub shader_paths: Vec<PathBuf>,
    /// Allow the scene to read files in this folder; may be repeated
    #[arg(long, value_name = "DIR", hide_short_help = true, help_heading = heading::FILES)]
    pub allow_read: Vec<PathBuf>,
    /// Allow the scene to run programs that generate geometry (Procedural "RunProgram")
    #[arg(long, hide_short_help = true, help_heading = heading::FILES)]
    pub allow_run: bool,
}

/// The device, and how it is used.
#[derive(Clone, Debug, Args)]
pub struct MachineArgs {
    /// Use the GPU adapter whose name contains NAME (see `shadewright devices`)
    #[arg(long, value_name = "NAME", hide_short_help = true, help_heading = heading::BACKEND)]
    pub adapter: Option<String>,
    /// How the GPU orders shader sections between rays; `auto` by default
    #[arg(long, value_enum, value_name = "ORDER", hide_short_help = true, help_heading = heading::BACKEND)]
    pub schedule: Option<Schedule>,
    /// Traversal kernel of the GPU, `while-while` by default; implies --schedule wavefront. The
    /// image does not depend on it
    #[arg(long, value_enum, value_name = "KERNEL", hide_short_help = true, help_heading = heading::BACKEND)]
    pub traversal: Option<Traversal>,
    /// What runs programs of the RPU, `auto` by default; needs --backend rpu. The image does not
    /// depend on it
    #[arg(long, value_enum, value_name = "ENGINE", hide_short_help = true, help_heading = heading::BACKEND)]
    pub engine: Option<EngineChoice>,
    /// Vector instructions of this CPU that the RPU's engines use at most, the best by default: to test
    /// here what runs elsewhere. The image does not depend on it
    #[arg(long, value_enum, value_name = "SET", hide_short_help = true, help_heading = heading::BACKEND)]
    pub instructions: Option<Instructions>,
    /// Name the code of the native engine for `perf report`, in /tmp/perf-PID.map
    #[arg(long, hide_short_help = true, help_heading = heading::BACKEND)]
    pub perf_map: bool,
    /// CPU threads, at most 1024; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024), help_heading = heading::BACKEND)]
    pub threads: u16,
}

/// How the image is sampled.
#[derive(Clone, Copy, Debug, Args)]
pub struct SamplerArgs {
    /// Where camera rays are traced: `uniform`, --spp in each pixel, or `adaptive`, more of them where
    /// neighboring colors differ
    #[arg(long, value_enum, default_value_t, hide_short_help = true, help_heading = heading::SAMPLING)]
    pub sampler: SamplerChoice,
    /// Greatest difference of the corners of a square that --sampler adaptive does not subdivide, as a
    /// share of the display's range, from 0 to 1 (square roots of linear colors, and alpha); 0.05 by
    /// default
    #[arg(long, value_name = "X", value_parser = share, allow_negative_numbers = true, hide_short_help = true, help_heading = heading::SAMPLING)]
    pub sampler_threshold: Option<f32>,
    /// How often --sampler adaptive halves a pixel at most: up to (2^N + 1)² samples in it; 2 by
    /// default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_DEPTH)), hide_short_help = true, help_heading = heading::SAMPLING)]
    pub sampler_depth: Option<u32>,
}

/// `render`, and the command without a subcommand.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Render to this file instead of opening the window: .png .exr .hdr .pnm, or .svg with --machine
    /// hidden-line
    #[arg(short = 'o', long, alias = "out", value_name = "OUT", help_heading = heading::OUTPUT)]
    pub render: Option<PathBuf>,
    /// Write these variables as layers (AOVs) of the .exr file, for example
    /// albedo,normal,depth,shaderid: predefined variables of surface shaders (N, P, Cs, s, …), z or
    /// depth, shaderid, or output parameters of the scene's surface shaders. The scene's displays
    /// add more. Each is rendered in a pass of its own
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "render", hide_short_help = true, help_heading = heading::OUTPUT)]
    pub layers: Vec<String>,
    /// Render again whenever the scene or a shader changes
    ///
    /// Prints a line for each image, or with --json an object for each image and for each change
    /// with errors, which has the diagnostics
    #[arg(long, requires = "render", conflicts_with_all = ["preview", "compare", "metric", "stats", "frames", "layers"], help_heading = heading::OUTPUT)]
    pub watch: bool,
    /// Checkpoint the samples in FILE, every minute and when interrupted. Running the command again
    /// resumes, with bit-identical results
    #[arg(long, value_name = "FILE", requires = "render", conflicts_with_all = ["watch", "stats"], hide_short_help = true, help_heading = heading::OUTPUT)]
    pub resume: Option<PathBuf>,
    /// Render one of several parts of the image: `K/N` is the K-th of N tiles, `samples:K/N` a share of
    /// the samples. `shadewright merge` joins the parts
    ///
    /// `tiles:3/4x4` is the third of 16 tiles, row by row; `tiles:3/4x4,samples:2/4` the second quarter
    /// of its samples. The part is an .exr file. The joined image has the bits of the image rendered at
    /// once
    #[arg(long, value_name = "K/N", requires = "render", conflicts_with_all = ["watch", "resume", "preview", "compare", "stats", "target_error", "model"], hide_short_help = true, help_heading = heading::OUTPUT)]
    pub part: Option<Share>,
    /// With --part: keep OUT where it is that part already, undamaged, of the same image
    #[arg(long, requires = "part", hide_short_help = true, help_heading = heading::OUTPUT)]
    pub reuse: bool,
    /// Write a first image, one sample per pixel from the RPU, to FILE while the backend starts
    #[arg(long, value_name = "FILE", requires = "render", hide_short_help = true, help_heading = heading::OUTPUT)]
    pub preview: Option<PathBuf>,
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// How it is sampled.
    #[command(flatten)]
    pub sampler: SamplerArgs,
    /// Stop when the estimated standard error of the linear image (root mean square over all
    /// pixels) falls below E; --spp is the maximum. Needs --pattern sobol
    #[arg(long, value_name = "E", requires = "render", value_parser = not_negative::<f64>, allow_negative_numbers = true, conflicts_with_all = ["watch", "stats"], hide_short_help = true, help_heading = heading::SAMPLING)]
    pub target_error: Option<f64>,
    /// Where shaders run
    #[arg(long, value_enum, default_value_t, help_heading = heading::BACKEND)]
    pub backend: BackendChoice,
    /// Draw on this machine for polygons in place of a backend: hidden-line makes a line drawing, as
    /// an .svg file or an image. `shadewright simulate` also says what that costs
    #[arg(long = "machine", value_enum, value_name = "MACHINE", requires = "render", conflicts_with_all = ["layers", "watch", "resume", "preview", "target_error", "backend", "compare", "stats"], hide_short_help = true, help_heading = heading::BACKEND)]
    pub model: Option<Model>,
    /// How lines are drawn.
    #[command(flatten)]
    pub drawing: DrawingArgs,
    /// Floating-point format of the RPU; needs --backend rpu
    #[arg(long, value_enum, default_value_t, hide_short_help = true, help_heading = heading::BACKEND)]
    pub format: FloatFormat,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Compare with this image; exit status 1 if they differ
    #[arg(long, value_name = "REF", requires = "render", help_heading = heading::COMPARISON)]
    pub compare: Option<PathBuf>,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Print times and sizes, and on a GPU the time of each kernel
    #[arg(long, hide_short_help = true, help_heading = heading::DIAGNOSTICS)]
    pub stats: bool,
}

/// How a difference is judged.
#[derive(Clone, Debug, Args)]
pub struct JudgeArgs {
    /// Judge by this metric alone instead of the default tolerances
    #[arg(long, value_enum, hide_short_help = true, help_heading = heading::COMPARISON)]
    pub metric: Option<Metric>,
    /// Greatest accepted value of the metric (psnr, ssim: smallest; z: smallest, the significance, 0.01
    /// by default)
    #[arg(long, value_name = "X", requires = "metric", hide_short_help = true, help_heading = heading::COMPARISON)]
    pub threshold: Option<f64>,
    /// Most pixels of an image file that is compared
    #[arg(long, value_name = "N", default_value_t = MAX_READ_PIXELS, hide_short_help = true, help_heading = heading::COMPARISON)]
    pub max_pixels: u64,
    /// Print the results as JSON on standard output
    #[arg(long, hide_short_help = true, help_heading = heading::DIAGNOSTICS)]
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
    /// Number of the pixel's sample, counted from 0 [default: 0, or the first that differs]
    #[arg(long, value_name = "N", help_heading = heading::DIAGNOSTICS)]
    pub sample: Option<u32>,
    /// Follow the sample on two backends (gpu, rpu, rpu-f24, …) and the evaluator to the first
    /// value that differs; exits with status 1 if there is one
    #[arg(long, value_name = "A,B", conflicts_with_all = ["steps", "library"], help_heading = heading::DIAGNOSTICS)]
    pub diverge: Option<Between>,
    /// How the image was sampled: only to say that `adaptive` cannot be followed
    #[arg(long, value_enum, value_name = "SAMPLER", hide = true)]
    pub sampler: Option<SamplerChoice>,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print the shader statements that ran, with the values of their variables
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub steps: bool,
    /// With --steps: include statements of the standard library
    #[arg(long, requires = "steps", help_heading = heading::DIAGNOSTICS)]
    pub library: bool,
    /// Print the results as JSON
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}

/// `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Write a false-colour image of the difference to FILE; with --metric z, of its significance
    #[arg(short, long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub out: Option<PathBuf>,
    /// Write both images, with the names of the backends before the extension (NAME-gpu.EXT,
    /// NAME-rpu.EXT)
    #[arg(long, value_name = "NAME.EXT", help_heading = heading::OUTPUT)]
    pub images: Option<PathBuf>,
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// How it is sampled.
    #[command(flatten)]
    pub sampler: SamplerArgs,
    /// Render the two images with different seeds, and judge by --metric z unless another is given
    #[arg(long, value_name = "A,B", conflicts_with = "seed", hide_short_help = true, help_heading = heading::SAMPLING)]
    pub seeds: Option<Seeds>,
    /// Which two backends: gpu, rpu, or rpu-f24, the RPU with the hardware's 24-bit floats
    #[arg(long, value_name = "A,B", default_value = "gpu,rpu", help_heading = heading::BACKEND)]
    pub between: Between,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
}

/// `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The first image
    pub a: PathBuf,
    /// The second image
    pub b: PathBuf,
    /// Write a false-colour image of the difference to FILE; with --metric z, of its significance
    #[arg(short, long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub out: Option<PathBuf>,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
}

/// `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The parts, or folders that hold them
    #[arg(required = true, value_name = "PART")]
    pub parts: Vec<PathBuf>,
    /// Write the image to this file: .png .exr .hdr .pnm
    #[arg(short, long, value_name = "OUT", help_heading = heading::OUTPUT)]
    pub out: PathBuf,
    /// The scene, whose imager shader runs on the joined image; by default the one that the parts were
    /// rendered from, where they name it. Of the folders of shaders that the parts name, those in the
    /// scene's own are searched
    #[arg(long, value_name = "SCENE", help_heading = heading::FILES)]
    pub scene: Option<PathBuf>,
    /// The files that the scene may name, beside shaders in those of the parts' folders that lie in its own.
    #[command(flatten)]
    pub files: FilesArgs,
    /// The device that runs the imager shader.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print the results as JSON
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}

/// `info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Image files and parts
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print an object for each file, as JSON
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}

/// `devices`.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}
