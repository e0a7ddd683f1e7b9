//! Groups of options about a scene: which it is, and how it is viewed, sampled, lit and compiled.

use super::*;
use clap::{Arg, Args};
use shadewright::bvh::Quality;
use shadewright::codegen::rpu::Convention;
use shadewright::program::{FACTS, Math, Specialize};
use shadewright::render::DEFAULT_BUDGET;
use shadewright::render::sampling::Pattern;
use shadewright::scene::{Current, DEFAULT_TRIANGLES, Estimator, Integrator, Shadows};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

/// A scene, and how it is viewed, sampled, lit and compiled for an image.
#[derive(Clone, Debug, Default, Args)]
pub struct SceneArgs {
    /// The scene.
    #[command(flatten)]
    pub file: SceneFile,
    /// Where its shaders are.
    #[command(flatten)]
    pub shaders: ShaderPaths,
    /// Images of the file's earlier frames, by the names of their displays.
    #[arg(skip)]
    pub rendered: BTreeMap<String, Arc<[u8]>>,
    /// The pixels of the image.
    #[command(flatten)]
    pub camera: CameraArgs,
    /// The time of the image.
    #[command(flatten)]
    pub moment: MomentArgs,
    /// The samples of the image.
    #[command(flatten)]
    pub sampling: SamplingArgs,
    /// How radiance is computed.
    #[command(flatten)]
    pub integrator: IntegratorArgs,
    /// How the program of the scene is compiled.
    #[command(flatten)]
    pub compiler: CompilerArgs,
}

/// A scene's file, and how it is read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = heading::FILES)]
pub struct SceneFile {
    /// A .rib (also gzip-compressed), .gltf or .glb scene, or an .obj or .ply mesh; the built-in
    /// scene by default
    #[arg(help_heading = None::<&'static str>)]
    pub scene: Option<PathBuf>,
    /// The rights of the scene.
    #[command(flatten)]
    pub access: AccessArgs,
    /// Refuse a scene with any error: print all messages, write no file, exit with status 2
    #[arg(long)]
    pub strict: bool,
    /// Limit of triangles.
    #[command(flatten)]
    pub limit: TriangleLimit,
}

/// Makes `--strict` the default, and the option `--lenient`, for commands that compare images.
pub fn lenient(strict: Arg) -> Arg {
    const HELP: &str = "Leave out what has errors, and compare the rest; without it such a scene is refused";
    strict.long("lenient").action(clap::ArgAction::SetFalse).help(HELP).hide_short_help(true)
}

/// The limit of triangles.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = heading::FILES)]
pub struct TriangleLimit {
    /// Limit of triangles, beside one for each 8 bytes of the scene's files: beyond it curved
    /// surfaces are diced more coarsely. A triangle takes some 330 bytes of memory
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TRIANGLES, hide_short_help = true)]
    pub max_triangles: usize,
}

impl Default for TriangleLimit {
    fn default() -> Self {
        Self { max_triangles: DEFAULT_TRIANGLES }
    }
}

/// The rights of a scene beside reading the files of its own folders.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = heading::FILES)]
pub struct AccessArgs {
    /// Allow the scene to read files in this folder; may be repeated
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub allow_read: Vec<PathBuf>,
    /// Allow the scene to run programs that generate geometry (Procedural "RunProgram")
    #[arg(long, hide_short_help = true)]
    pub allow_run: bool,
}

/// Where a scene's shaders are.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = heading::FILES)]
pub struct ShaderPaths {
    /// Search this folder for shaders first; may be repeated
    #[arg(short = 'I', long = "shader-path", value_name = "DIR")]
    pub shader_paths: Vec<PathBuf>,
}

/// The pixels of an image.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::CAMERA)]
pub struct CameraArgs {
    /// The size of the image.
    #[command(flatten)]
    pub size: SizeArgs,
    /// Render only this window of the image, in pixels; X1 and Y1 are exclusive
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true, hide_short_help = true)]
    pub crop: Option<Crop>,
}

/// The size of an image.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::CAMERA)]
pub struct SizeArgs {
    /// Image width and height, for example 640x480; overrides the scene
    #[arg(long, value_name = "WxH")]
    pub size: Option<Size>,
}

/// The time of an image: a frame of a RIB file, or a time of a glTF animation.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = heading::CAMERA)]
pub struct MomentArgs {
    /// Frame to render, or an inclusive range such as 1..240; all frames of a RIB file by default. Of
    /// a glTF animation, frame 0 is its beginning
    ///
    /// The images of a range are numbered: the frame number replaces `####` or `%04d` in the name
    /// of the output, or stands before the extension
    #[arg(long, value_name = "N|A..B", allow_hyphen_values = true)]
    pub frames: Option<Frames>,
    /// Time of a glTF animation, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = not_negative::<f32>, conflicts_with = "frames", hide_short_help = true)]
    pub time: Option<f32>,
    /// Frames per second of a glTF animation
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = 24.0, hide_short_help = true)]
    pub fps: f32,
    /// The glTF animation to render, by its name or number; the first by default
    #[arg(long, value_name = "NAME|N", hide_short_help = true)]
    pub animation: Option<String>,
}

impl Default for MomentArgs {
    fn default() -> Self {
        Self { frames: None, time: None, fps: 24.0, animation: None }
    }
}

/// Makes `--frames` the option `--frame`, for commands that take a single frame.
pub fn one_frame(frames: Arg) -> Arg {
    const HELP: &str = "Frame of the scene; the first by default. Of a glTF animation, frame 0 is its beginning";
    let one = |text: &str| text.parse().map(|frame| Frames { first: frame, last: frame });
    frames.long("frame").alias("frames").value_name("N").value_parser(one).help(HELP).long_help(HELP)
}

/// The samples of an image.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::SAMPLING)]
pub struct SamplingArgs {
    /// Samples per pixel; overrides the scene
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub spp: Option<u32>,
    /// Sample pattern over pixel area and lens
    #[arg(long, value_parser = choice_of::<Pattern>(), default_value = "stratified", hide_short_help = true)]
    pub pattern: Pattern,
    /// Seed of the sample positions
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    pub seed: u32,
}

/// How radiance is computed.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::INTEGRATOR)]
pub struct IntegratorArgs {
    /// Integrator; overrides the scene
    #[arg(long, value_parser = choice_of::<Integrator>())]
    pub integrator: Option<Integrator>,
    /// How the path integrator combines light sampling and BSDF sampling; overrides the scene
    #[arg(long, value_parser = choice_of::<Estimator>(), hide_short_help = true)]
    pub estimator: Option<Estimator>,
    /// Clamp the indirect radiance of each path sample to MAX; 0 disables it. Removes fireflies and
    /// biases the image darker. Off by default; overrides the scene
    #[arg(long, value_name = "MAX", value_parser = not_negative::<f32>, allow_negative_numbers = true, hide_short_help = true)]
    pub clamp: Option<f32>,
    /// Which lights cast ray-traced shadows
    #[arg(long, value_parser = choice_of::<Shadows>(), default_value = "on", hide_short_help = true)]
    pub shadows: Shadows,
    /// Add a light at the camera to a scene without lights; the viewer always does
    #[arg(long, hide_short_help = true)]
    pub headlight: bool,
    /// Space in which the shaders of a RIB scene compute: `camera`, as in other RenderMan renderers,
    /// or `world`, the default; overrides the scene
    #[arg(long, value_parser = choice_of::<Current>(), value_name = "SPACE", hide_short_help = true)]
    pub current: Option<Current>,
}

/// How the program of a scene is compiled, and the BVH that it traverses.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = heading::COMPILER)]
pub struct CompilerArgs {
    /// BVH builder; chosen from the samples per triangle by default. The image does not depend on
    /// it
    #[arg(long, value_parser = choice_of::<Quality>(), hide_short_help = true)]
    pub tree: Option<Quality>,
    /// Compiler passes: `-gvn,-inline` disables some, `fold,dce` runs only those
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, hide_short_help = true)]
    pub passes: Option<String>,
    /// The transcendental functions that shaders call.
    #[command(flatten)]
    pub math: MathArgs,
    /// The constants of the program.
    #[command(flatten)]
    pub specialize: SpecializeArgs,
    /// Calling convention of the RPU: which registers are saved across calls
    #[arg(long, value_parser = choice_of::<Convention>(), default_value = "simple", hide_short_help = true)]
    pub convention: Convention,
    /// Limit of loop iterations and calls per sample
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BUDGET, value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub budget: u32,
}

impl Default for CompilerArgs {
    fn default() -> Self {
        Self {
            tree: None,
            passes: None,
            math: MathArgs::default(),
            specialize: SpecializeArgs::default(),
            convention: Convention::default(),
            budget: DEFAULT_BUDGET,
        }
    }
}

/// The transcendental functions that shaders call.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::COMPILER)]
pub struct MathArgs {
    /// Transcendental functions (sin, exp, …) that shaders call
    #[arg(long, value_parser = choice_of::<Math>(), default_value = "exact", hide_short_help = true)]
    pub math: Math,
    /// The old spelling of `--math exact`.
    #[arg(long, conflicts_with = "math", hide = true)]
    pub strict_math: bool,
}

/// The constants of the program of a scene.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = heading::COMPILER)]
pub struct SpecializeArgs {
    /// Facts of the scene that are constants of its program: none, types (the default), constants, all,
    /// or a list
    #[arg(long, value_name = "FACTS", long_help = facts(), hide_short_help = true)]
    pub specialize: Option<Specialize>,
}

/// The help of `--specialize`, with the library's table of facts.
fn facts() -> String {
    let mut text = "Facts of the scene that are constants of its program: none, types (the default), constants, all, \
                    or a list as in `types,textures` and `all,-image`. The viewer specializes in the background, for \
                    constants\n\nFacts:"
        .to_string();
    for fact in FACTS {
        // Writing to a string does not fail.
        let _ = write!(text, "\n- {}: {}", fact.name, fact.description);
    }
    text
}
