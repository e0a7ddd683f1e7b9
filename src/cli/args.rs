//! What can be written on the command line.

use crate::bvh::Quality;
use crate::bvh::raysets::View;
use crate::compare::Metric;
use crate::render::sampling::Pattern;
use crate::rpu::asm;
use crate::rpu::format::Format;
use crate::rpu::isa::{Component, Reg};
use crate::scene;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  shadewright scene.rib                               a window that follows every save of the scene and its shaders
  shadewright --render picture.png                    the built-in scene, on whichever machine is faster here
  shadewright scene.rib --render out.exr --spp 64     a RIB scene, 64 samples a pixel, linear floats
  shadewright bunny.ply --render bunny.png            a mesh, with a camera and light made for it
  shadewright compare scene.rib --out diff.png        both machines, one verdict, where they differ
  shadewright diff a.png b.png                        two picture files
  shadewright compile marble.sl --emit rpu            what a shader becomes
  shadewright run 'float f(float x) { return x*x; }' f 3
  shadewright run program.rpuasm f --set R0=1,2,3,0 --registers
  shadewright probe scene.rib 320,240 --steps         what one pixel hits, and its shader step by step

Exit status: 0 success, 1 a failed comparison, 2 wrong input or usage, 3 a device failure.";

/// Ray traces scenes whose shaders compile once and run on the GPU and on a software ray processing unit.
#[derive(Debug, Parser)]
#[command(name = "shadewright", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// A subcommand, or none to open the window or render.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to render.
    #[command(flatten)]
    pub render: RenderArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what a shader compiles to, at any stage
    Compile(CompileArgs),
    /// Call one shader function and print its result
    Run(RunArgs),
    /// Render a scene on two machines and judge the difference
    Compare(CompareArgs),
    /// Compare two picture files
    Diff(DiffArgs),
    /// Draw how far away a scene's camera sees something, for `MakeShadow` and shadow()
    Depth(DepthArgs),
    /// List the machines that can render here
    Devices(DevicesArgs),
    /// Run a scene on a model of the hardware and report where the time goes
    Simulate(SimulateArgs),
    /// Follow one sample of a picture: what it hits, its rays, its shaders step by step
    Probe(ProbeArgs),
    /// Run one of the project's own measurements
    Bench(BenchArgs),
    /// Serve editors: errors, hover, completion and definitions of .sl files, errors and hover of .rtsl files, by the Language Server Protocol on standard input and output
    Lsp(LspArgs),
    /// Print what there is of the shading language: functions with their options and state, variables, keywords
    Reference(ReferenceArgs),
}

/// The arguments of this process, those of `run` with negative numbers in parentheses, so that `-1,2,3` is no option.
pub fn command_line() -> impl Iterator<Item = OsString> {
    let is_run = std::env::args_os().nth(1).is_some_and(|a| a == "run");
    std::env::args_os().map(move |arg| match arg.to_str() {
        Some(text) if is_run && is_negative(text) => format!("({text})").into(),
        _ => arg,
    })
}

/// Whether a text is a list of numbers that starts with a minus.
fn is_negative(text: &str) -> bool {
    text.starts_with('-') && text.split(',').all(|x| x.trim().parse::<f32>().is_ok())
}

/// Which machine renders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A hardware GPU where there is one, else the RPU
    #[default]
    Auto,
    /// Compute shaders through wgpu, on a software driver too
    Gpu,
    /// The software ray processing unit
    Rpu,
}

/// How samples are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SamplePattern {
    /// One in each of the pixel's strata
    #[default]
    Stratified,
    /// A scrambled Sobol sequence, best where their number is a power of two
    Sobol,
}

impl From<SamplePattern> for Pattern {
    fn from(pattern: SamplePattern) -> Self {
        match pattern {
            SamplePattern::Stratified => Pattern::Stratified,
            SamplePattern::Sobol => Pattern::Sobol,
        }
    }
}

/// What the RPU's floats are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FloatFormat {
    /// IEEE single precision
    #[default]
    F32,
    /// The hardware's 24-bit float: 7 bits of exponent, 16 of fraction
    F24,
}

impl From<FloatFormat> for Format {
    fn from(format: FloatFormat) -> Self {
        match format {
            FloatFormat::F32 => Format::F32,
            FloatFormat::F24 => Format::F24,
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Compute shaders through wgpu.
    Gpu,
    /// The RPU in a number format.
    Rpu(Format),
}

impl Side {
    const ALL: [Side; 3] = [Side::Gpu, Side::Rpu(Format::F32), Side::Rpu(Format::F24)];

    /// Its name on the command line and in names of files.
    pub fn name(self) -> &'static str {
        match self {
            Side::Gpu => "gpu",
            Side::Rpu(Format::F32) => "rpu",
            Side::Rpu(Format::F24) => "rpu-f24",
        }
    }
}

/// The two sides of a comparison, written `gpu,rpu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between(pub [Side; 2]);

impl FromStr for Between {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (a, b) = s.split_once(',').ok_or("write two with a comma, for example rpu,rpu-f24")?;
        let side = |name: &str| {
            let found = Side::ALL.into_iter().find(|side| side.name() == name.trim());
            found.ok_or_else(|| format!("`{}` is none of {}", name.trim(), Side::ALL.map(Side::name).join(", ")))
        };
        Ok(Between([side(a)?, side(b)?]))
    }
}

/// Width and height in pixels, written `640x480`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u32, pub u32);

impl FromStr for Size {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (w, h) = s.split_once(['x', 'X']).ok_or("write it as WIDTHxHEIGHT, for example 640x480")?;
        let number = |n: &str| n.parse().map_err(|_| format!("`{n}` is not a whole number of pixels"));
        Ok(Size(number(w)?, number(h)?))
    }
}

/// A window of the picture in pixels, written `X0,Y0,X1,Y1`; the second corner is outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop(pub [u32; 4]);

impl FromStr for Crop {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let parts: Result<Vec<u32>, _> = s.split(',').map(|p| p.trim().parse()).collect();
        let parts = parts.map_err(|_| "write it as four whole numbers of pixels: X0,Y0,X1,Y1")?;
        let [x0, y0, x1, y1] = parts[..] else { return Err("write it as four numbers: X0,Y0,X1,Y1".into()) };
        if x0 >= x1 || y0 >= y1 {
            return Err("it is empty: X1 must be greater than X0, and Y1 than Y0".into());
        }
        Ok(Crop([x0, y0, x1, y1]))
    }
}

/// Frames of a scene, written as a number or as a range `A..B` whose ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// The first.
    pub first: i32,
    /// The last.
    pub last: i32,
}

impl FromStr for Frames {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (first, last) = s.split_once("..").unwrap_or((s, s));
        let number = |n: &str| n.trim().parse().map_err(|_| format!("`{n}` is not the number of a frame"));
        let frames = Frames { first: number(first)?, last: number(last.trim_start_matches('='))? };
        if frames.first > frames.last {
            return Err("it is empty: write the first frame, then the last, as in 1..240".into());
        }
        Ok(frames)
    }
}

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
    /// Render only this window of the picture, in pixels
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true)]
    pub crop: Option<Crop>,
    /// The frame of a scene that has several, or with --render a range such as 1..240, both ends included. Pictures of a range are numbered: `out.####.png`, `out.%04d.png`, or
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
    #[arg(long, value_name = "N", default_value_t = crate::render::DEFAULT_BUDGET, value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: u32,
    /// How the tree for tracing rays is built; by itself, by the number of samples a triangle. The picture is the same with any
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
    /// How a GPU traces rays, `while-while` unless given; all give the same picture (implies --schedule wavefront)
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
    /// scene's surface shaders. The scene's displays name more. Each is drawn as a picture of its own
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "render")]
    pub layers: Vec<String>,
    /// Keep the samples of a picture that is not finished in this file: a render that is interrupted goes on from there when it is run again. Every minute it is written anew
    #[arg(long, value_name = "FILE", requires = "render", conflicts_with_all = ["watch", "stats"])]
    pub resume: Option<PathBuf>,
    /// Take no more samples once the standard error of the picture's linear colours is estimated below this: the root of its mean square over all pixels. --spp is the most (with --pattern sobol)
    #[arg(long, value_name = "E", requires = "render", value_parser = not_negative::<f64>, allow_negative_numbers = true, conflicts_with_all = ["watch", "stats"])]
    pub target_error: Option<f64>,
    /// Write a first picture, one sample a pixel from the RPU, into this file while the machine that renders is not ready yet
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
    /// Compare the picture with this one; exit status 1 when they differ
    #[arg(long, value_name = "REF", requires = "render")]
    pub compare: Option<PathBuf>,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Render again whenever a file of the scene or of its shaders changes, one line a picture; with --json, one JSON object a line, with the messages
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

/// A pixel, written `X,Y`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixel(pub [u32; 2]);

impl FromStr for Pixel {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let wrong = || "write it as column and row, counted from 0 at the upper left: X,Y".to_string();
        let (x, y) = s.split_once(',').ok_or_else(wrong)?;
        let number = |n: &str| n.trim().parse().map_err(|_| wrong());
        Ok(Pixel([number(x)?, number(y)?]))
    }
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

/// `compile`.
#[derive(Clone, Debug, Args)]
pub struct CompileArgs {
    /// A .sl or .rtsl file, the name of a built-in shader, or a program of the RPU: .rpuasm, .rpubin; of a folder, says how many of its .sl and .rtsl files compile
    pub file: PathBuf,
    /// More files, linked with the first one in --emit rpu and rpubin
    pub more: Vec<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Emit::Ir)]
    pub emit: Emit,
    /// Calling convention of `--emit rpu`
    #[arg(long, value_enum, default_value_t)]
    pub abi: Abi,
    /// Who keeps registers across calls, in `--emit rpu`
    #[arg(long, value_enum, default_value_t)]
    pub convention: Convention,
    /// Print the IR before and after this pass (`all` for each)
    #[arg(long, value_name = "PASS")]
    pub show: Option<String>,
    /// Compiler passes: `-gvn,-inline` leaves some out, `fold,dce` runs only those; `-mad` and its like leave out those of the RPU back end
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub passes: Option<String>,
    /// Print the summary of a folder as JSON
    #[arg(long)]
    pub json: bool,
    /// Included files and macros
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Write here instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What the preprocessor of shaders starts with.
#[derive(Clone, Debug, Args)]
pub struct PreprocessArgs {
    /// Search this folder for included files; may be repeated
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
}

/// `reference`.
#[derive(Clone, Debug, Args)]
pub struct ReferenceArgs {
    /// Print the functions as JSON instead of a page in Markdown
    #[arg(long, conflicts_with = "rtsl")]
    pub json: bool,

    /// Print the renderer's variables that methods of RTSL's classes read and set
    #[arg(long)]
    pub rtsl: bool,
}

/// `lsp`.
#[derive(Clone, Debug, Args)]
pub struct LspArgs {
    /// Included files and macros
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Talk on standard input and output: the only way there is, which some editors name
    #[arg(long)]
    pub stdio: bool,
}

/// Stages of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// The syntax tree
    Ast,
    /// The optimised intermediate representation
    Ir,
    /// The GPU's kernels
    Wgsl,
    /// The GPU's kernels as SPIR-V (needs --out)
    Spirv,
    /// RPU assembly
    Rpu,
    /// The RPU's binary form (needs --out)
    Rpubin,
    /// The pieces between points where a shader waits
    Sections,
    /// What each pass did
    Report,
}

/// Calling conventions of the RPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Abi {
    /// The renderer's own
    #[default]
    Native,
    /// That of Węgrzanowski 2006: E = 0, flat normals, no opacity
    Thesis,
}

/// How a GPU runs the sections of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Schedule {
    /// What is faster as a rule
    #[default]
    Auto,
    /// A kernel for each part, over the paths that wait for it; rays traced together
    Wavefront,
    /// One kernel of all parts and the traversal: quick to run for few shaders, slow to compile for many
    Megakernel,
}

impl From<Schedule> for crate::render::Schedule {
    fn from(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Auto => Self::Auto,
            Schedule::Wavefront => Self::Wavefront,
            Schedule::Megakernel => Self::Megakernel,
        }
    }
}

/// How a GPU traces rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Traversal {
    /// All threads go down the tree until each has a leaf, then all test triangles
    #[default]
    WhileWhile,
    /// Each turn of one loop is a step down or a triangle
    IfIf,
    /// While-while whose threads take more rays when they are done
    Persistent,
    /// While-while whose threads keep a leaf for later while others look for theirs
    Speculative,
    /// Through a tree of eight children a node, in compressed nodes that take less memory
    Wide,
}

impl From<Traversal> for crate::bvh::gpu::kernel::Variant {
    fn from(traversal: Traversal) -> Self {
        match traversal {
            Traversal::WhileWhile => Self::WhileWhile,
            Traversal::IfIf => Self::IfIf,
            Traversal::Persistent => Self::Persistent,
            Traversal::Speculative => Self::Speculative,
            Traversal::Wide => Self::Wide,
        }
    }
}

/// Who keeps registers across calls on the RPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Convention {
    /// The caller keeps everything
    #[default]
    Simple,
    /// The called function leaves some registers as they were
    Mixed,
    /// Callers know which registers a function changes
    Interprocedural,
}

impl From<Convention> for crate::codegen::rpu::Convention {
    fn from(c: Convention) -> Self {
        match c {
            Convention::Simple => Self::Simple,
            Convention::Mixed => Self::Mixed,
            Convention::Interprocedural => Self::Interprocedural,
        }
    }
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A .sl file, the text of a function, or a program of the RPU: .rpuasm or .rpubin
    pub file: String,
    /// The function or entry point to call
    pub function: String,
    /// Its arguments: `2`, `1,2,3`, `"text"`
    pub args: Vec<String>,
    /// Which machine runs it
    #[arg(long, value_enum, default_value_t)]
    pub on: RunOn,
    /// Start a program of the RPU with this in a register: `R0=1,2,3,0`, `C0.w=2.5`, `A.x=#64`; may be repeated
    #[arg(long, value_name = "REG=VALUES")]
    pub set: Vec<RegisterValue>,
    /// Show the RPU's registers before and after, those that changed
    #[arg(long)]
    pub registers: bool,
    /// Show all of the RPU's registers before and after
    #[arg(long)]
    pub all_registers: bool,
    /// Run on one processor of the RPU's timed machine too, and tell how long it took
    #[arg(long)]
    pub timed: bool,
    /// The memory image of a program of the RPU: vectors of four little-endian 32-bit words
    #[arg(long, value_name = "FILE", conflicts_with = "scene")]
    pub memory: Option<PathBuf>,
    /// What a program of the RPU traces rays in: a .rib, .gltf or .glb scene or an .obj or .ply mesh
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,
    /// The next texture of a program of the RPU: a picture, or `WxH` for an empty one; may be repeated
    #[arg(long, value_name = "FILE|WxH")]
    pub texture: Vec<TextureSource>,
    /// Run this entry point over the picture first: textures keep what it stores
    #[arg(long, value_name = "ENTRY", requires = "image")]
    pub before: Option<String>,
    /// Run once a pixel, with its position from 0 to 1 in R0 or as the first argument; the result is its colour
    #[arg(long, value_name = "WxH", requires = "out")]
    pub image: Option<Size>,
    /// Write the picture here: .png .exr .hdr .pnm
    #[arg(long, value_name = "FILE", requires = "image")]
    pub out: Option<PathBuf>,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Where a texture comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextureSource {
    /// An empty one of that size.
    Empty(Size),
    /// A picture.
    File(PathBuf),
}

impl FromStr for TextureSource {
    type Err = std::convert::Infallible;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ok(s.parse().map_or_else(|_| TextureSource::File(s.into()), TextureSource::Empty))
    }
}

/// What a register of the RPU holds at the start, written `REG=VALUES`: a register with or without components, and a value for each or one for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterValue {
    /// The register.
    pub reg: Reg,
    /// Its components with their bit patterns.
    pub words: Vec<(Component, u32)>,
}

impl FromStr for RegisterValue {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (name, values) = s.split_once('=').ok_or("write it as REGISTER=VALUES, for example R0.xyz=1,2,3")?;
        let (reg, components) =
            asm::register(name.trim()).ok_or_else(|| format!("there is no register `{}`", name.trim()))?;
        let number = |text: &str| {
            let text = text.trim();
            asm::literal(text).ok_or_else(|| format!("`{text}` is not a number: write 1.5, #12 or #0xff"))
        };
        let values = values.split(',').map(number).collect::<Result<Vec<u32>, String>>()?;
        let named = if components.is_empty() { Component::ALL.to_vec() } else { components };
        let words = match values[..] {
            [one] => named.into_iter().map(|c| (c, one)).collect(),
            _ if values.len() == named.len() => named.into_iter().zip(values).collect(),
            _ => return Err(format!("{} components cannot take {} values", named.len(), values.len())),
        };
        Ok(RegisterValue { reg, words })
    }
}

/// Machines for single functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunOn {
    /// All three, and whether they agree
    #[default]
    All,
    /// The reference evaluator
    Eval,
    /// The software ray processing unit
    Rpu,
    /// A GPU, or a software driver
    Gpu,
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
    /// Write a false-colour picture of the difference here
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Which two: gpu, rpu, or rpu-f24, which computes with the hardware's 24-bit floats
    #[arg(long, value_name = "A,B", default_value = "gpu,rpu")]
    pub between: Between,
    /// Write both pictures here, with the names of the two (NAME-gpu, NAME-rpu) before the extension
    #[arg(long, value_name = "NAME.EXT")]
    pub pictures: Option<PathBuf>,
}

/// `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// One picture
    pub a: PathBuf,
    /// The other
    pub b: PathBuf,
    /// How to judge.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Write a false-colour picture of the difference here
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// The scene, or a program of the RPU (.rpuasm, .rpubin), which runs once a pixel as `run --image` does.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Which hardware
    #[arg(long = "machine", value_enum, default_value_t)]
    pub model: Model,
    /// The entry point of a program of the RPU (.rpuasm, .rpubin in place of the scene), which runs once a pixel
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub entry: String,
    /// What a program of the RPU traces rays in: a .rib, .gltf or .glb scene or an .obj or .ply mesh
    #[arg(long = "in", value_name = "SCENE")]
    pub world: Option<PathBuf>,
    /// Start a program of the RPU with this in a register, as `run --set`; may be repeated
    #[arg(long, value_name = "REG=VALUES")]
    pub set: Vec<RegisterValue>,
    /// What its floats are
    #[arg(long, value_enum, default_value_t)]
    pub format: FloatFormat,
    /// Latencies, units, chunks and processors that differ from the defaults (TOML, see --print-config)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the default configuration, with its reasons, and do nothing else
    #[arg(long)]
    pub print_config: bool,
    /// Write a picture of the issue slots that each pixel took
    #[arg(long, value_name = "OUT.png")]
    pub heatmap: Option<PathBuf>,
    /// Write the rendered picture
    #[arg(long, value_name = "OUT")]
    pub render: Option<PathBuf>,
    /// How many functions, source lines and operations the tables show
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub lines: usize,
    /// CPU threads, 1024 at most; 0 is one a core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub threads: u16,
    /// Print the report as JSON, with all functions, lines and operations
    #[arg(long)]
    pub json: bool,
}

/// Models of hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// The ray processing unit, with latencies, chunks of four threads and several processors
    #[default]
    Rpu,
}

/// `devices`.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
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
    /// Primary rays a side of the picture
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

/// Where the camera of measured rays is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CameraView {
    /// In front of the mesh
    #[default]
    Outside,
    /// In the mesh, looking along its longer side
    Inside,
}

impl From<CameraView> for View {
    fn from(view: CameraView) -> View {
        match view {
            CameraView::Outside => View::Outside,
            CameraView::Inside => View::Inside,
        }
    }
}

/// How the light along a ray is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Integrator {
    /// Recursive ray tracing: surfaces shade themselves by lights and by the rays that they send
    Whitted,
    /// Path tracing: light is followed from surface to surface
    Path,
    /// How open the sky is over each place
    Ao,
    /// Shading normals as colours
    Normals,
}

impl From<Integrator> for scene::Integrator {
    fn from(integrator: Integrator) -> scene::Integrator {
        match integrator {
            Integrator::Whitted => scene::Integrator::Whitted,
            Integrator::Path => scene::Integrator::Path,
            Integrator::Ao => scene::Integrator::AmbientOcclusion,
            Integrator::Normals => scene::Integrator::Normals,
        }
    }
}

/// How paths look at lights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Estimator {
    /// By both, weighted by the squares of their densities
    Power,
    /// By both, weighted by their densities
    Balance,
    /// By points of lights alone
    Lights,
    /// By directions of materials alone
    Scattering,
}

impl From<Estimator> for scene::Estimator {
    fn from(estimator: Estimator) -> scene::Estimator {
        match estimator {
            Estimator::Power => scene::Estimator::Power,
            Estimator::Balance => scene::Estimator::Balance,
            Estimator::Lights => scene::Estimator::Lights,
            Estimator::Scattering => scene::Estimator::Scattering,
        }
    }
}

/// A number from 0 on.
fn not_negative<N: FromStr + Copy + Into<f64>>(text: &str) -> Result<N, String> {
    let number: N = text.parse().map_err(|_| "not a number".to_string())?;
    let is_possible = (0.0..f64::INFINITY).contains(&number.into());
    if is_possible { Ok(number) } else { Err("must be finite, and not below 0".to_string()) }
}

/// How a tree is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TreeQuality {
    /// Quickly, for geometry that changes
    Fast,
    /// By the surface area heuristic
    Sah,
    /// With spatial splits as well: slower to build, faster to trace
    Spatial,
}

impl TreeQuality {
    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            TreeQuality::Fast => "fast",
            TreeQuality::Sah => "sah",
            TreeQuality::Spatial => "spatial",
        }
    }
}

impl From<Quality> for TreeQuality {
    fn from(quality: Quality) -> TreeQuality {
        match quality {
            Quality::Fast => TreeQuality::Fast,
            Quality::Sah => TreeQuality::Sah,
            Quality::Spatial => TreeQuality::Spatial,
        }
    }
}

impl From<TreeQuality> for Quality {
    fn from(tree: TreeQuality) -> Quality {
        match tree {
            TreeQuality::Fast => Quality::Fast,
            TreeQuality::Sah => Quality::Sah,
            TreeQuality::Spatial => Quality::Spatial,
        }
    }
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
    /// A camera that moves about the built-in scene, or that of --mesh: time to the first picture of each view and to the full one, and between pictures while it is dragged, as the window draws; on the RPU, and on the GPU where there is one or --adapter names it
    View,
    /// The built-in scene at 640x480 on the RPU, from start to file
    Startup,
    /// From the save of a shader to the first new pixels from the RPU, on a scene of 30 thousand triangles or --mesh: median, worst, and the parts
    Reload,
    /// A scene of many different shaders (--count): time to a first picture and to the full one on the GPU, its driver's cache empty and filled, and on the RPU
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_one_that_clap_accepts() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_register_takes_a_value_for_each_component_or_one_for_all() {
        let words = |text: &str| text.parse::<RegisterValue>().map(|v| (v.reg, v.words));
        let bits = f32::to_bits;
        assert_eq!(words("R1.w=2.5"), Ok((Reg::R(1), vec![(Component::W, bits(2.5))])));
        assert_eq!(words("A.x=#64"), Ok((Reg::A, vec![(Component::X, 64)])));
        assert_eq!(words("C31=0"), Ok((Reg::C(31), Component::ALL.map(|c| (c, 0)).to_vec())));
        let two = vec![(Component::Y, bits(-1.0)), (Component::X, bits(2.0))];
        assert_eq!(words("S0.yx = -1, 2"), Ok((Reg::Stack(0), two)));
        for wrong in ["R1", "R16=0", "R1=1,2", "R1.q=1", "R1=x", "R1=", "R1=inf"] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_of_numbers_that_start_with_a_minus_are_told_from_options() {
        for text in ["-1", "-1,2,3", "-.5,-2", "-inf"] {
            assert!(is_negative(text), "{text}");
        }
        for text in ["--on", "-h", "1,-2", "-x"] {
            assert!(!is_negative(text), "{text}");
        }
    }

    #[test]
    fn a_comparison_has_two_sides_that_exist() {
        assert_eq!("rpu,rpu-f24".parse(), Ok(Between([Side::Rpu(Format::F32), Side::Rpu(Format::F24)])));
        assert_eq!("gpu, rpu".parse(), Ok(Between([Side::Gpu, Side::Rpu(Format::F32)])));
        for wrong in ["rpu", "", "rpu,cpu", "rpu,gpu,rpu"] {
            assert!(wrong.parse::<Between>().is_err(), "{wrong}");
        }
    }
}
