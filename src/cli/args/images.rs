//! Arguments of the subcommands that inspect scenes and images, or compare them.

use super::*;
use clap::Args;
use std::path::PathBuf;

/// `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Scenes: .rib .gltf .glb .obj .ply
    #[arg(required = true, value_name = "SCENE")]
    pub scenes: Vec<PathBuf>,
    /// Where their shaders are.
    #[command(flatten)]
    pub shaders: ShaderPaths,
    /// The rights of the scenes.
    #[command(flatten)]
    pub access: AccessArgs,
    /// The constants of their programs.
    #[command(flatten)]
    pub specialize: SpecializeArgs,
    /// Print an object for each scene, with its messages, as JSON
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}

/// `depth`.
#[derive(Debug, Args)]
#[command(mut_arg("frames", one_frame))]
pub struct DepthArgs {
    /// The shadow map to write: .exr
    #[arg(short, long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub out: PathBuf,
    /// The scene, whose camera stands at the light.
    #[command(flatten)]
    pub file: SceneFile,
    /// Where its shaders are, which may displace surfaces.
    #[command(flatten)]
    pub shaders: ShaderPaths,
    /// The size of the map.
    #[command(flatten)]
    pub size: SizeArgs,
    /// The time.
    #[command(flatten)]
    pub moment: MomentArgs,
    /// The CPU.
    #[command(flatten)]
    pub threads: ThreadArgs,
}

impl DepthArgs {
    /// The scene as it is read.
    pub fn scene(&self) -> SceneArgs {
        SceneArgs {
            file: self.file.clone(),
            shaders: self.shaders.clone(),
            camera: CameraArgs { size: self.size, crop: None },
            moment: self.moment.clone(),
            ..SceneArgs::default()
        }
    }
}

/// Options of `probe` that have an effect only on back ends, which `--diverge` names.
const OF_BACKENDS: [&str; 9] =
    ["lenient", "crop", "pattern", "tree", "passes", "math", "strict_math", "specialize", "convention"];

/// `probe`.
#[derive(Debug, Args)]
#[command(
    allow_missing_positional = true,
    mut_arg("frames", one_frame),
    need("diverge", &OF_BACKENDS),
    need("diverge", &GpuArgs::OPTIONS),
    need("diverge", &CpuArgs::OPTIONS)
)]
pub struct ProbeArgs {
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// The pixel: column and row, counted from 0 at the upper left
    #[arg(value_name = "X,Y")]
    pub pixel: Pixel,
    /// With --diverge: leave out what has errors; without it such a scene is refused
    #[arg(long, conflicts_with = "strict", hide_short_help = true, help_heading = heading::FILES)]
    pub lenient: bool,
    /// Number of the pixel's sample, counted from 0 [default: 0, or the first that differs]
    #[arg(long, value_name = "N", help_heading = heading::DIAGNOSTICS)]
    pub sample: Option<u32>,
    /// Follow the sample on two backends (gpu, rpu, rpu-f24, …) and the evaluator to the first
    /// value that differs; exits with status 1 if there is one
    #[arg(long, value_name = "A,B", conflicts_with_all = ["steps", "library"], help_heading = heading::DIAGNOSTICS)]
    pub diverge: Option<Between>,
    /// The GPU.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// The CPU.
    #[command(flatten)]
    pub cpu: CpuArgs,
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
#[command(mut_arg("frames", one_frame), mut_arg("strict", lenient))]
pub struct CompareArgs {
    /// Write a false-color image of the difference to FILE; with --metric z, of its significance
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
    /// Which two backends: gpu, rpu, or rpu-f24, the RPU with the hardware's 24-bit floats; or an engine
    /// of the RPU, such as rpu-interpreter
    #[arg(long, value_name = "A,B", default_value = "gpu,rpu", help_heading = heading::BACKEND)]
    pub between: Between,
    /// The GPU.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// The CPU.
    #[command(flatten)]
    pub cpu: CpuArgs,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Print the results as JSON on standard output
    #[arg(long, hide_short_help = true, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}

/// `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The first image
    pub a: PathBuf,
    /// The second image
    pub b: PathBuf,
    /// Write a false-color image of the difference to FILE; with --metric z, of its significance
    #[arg(short, long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub out: Option<PathBuf>,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Bounds on what is read of the images.
    #[command(flatten)]
    pub limit: PixelLimit,
    /// Print the results as JSON on standard output
    #[arg(long, hide_short_help = true, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
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
    /// Where its shaders are, beside those of the parts' folders that lie in its own.
    #[command(flatten)]
    pub shaders: ShaderPaths,
    /// The rights of the scene.
    #[command(flatten)]
    pub access: AccessArgs,
    /// The GPU that runs the imager shader.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// The RPU that runs it.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// The CPU.
    #[command(flatten)]
    pub cpu: CpuArgs,
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
