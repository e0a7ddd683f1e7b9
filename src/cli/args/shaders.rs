//! Arguments of the subcommands that compile, run and document shaders.

use super::*;
use clap::{Args, ValueEnum};
use shadewright::codegen::rpu::{Abi, Convention};
use shadewright::program::Specialize;
use std::path::PathBuf;

/// `compile`.
#[derive(Clone, Debug, Args)]
pub struct CompileArgs {
    /// A .sl, .rtsl or .pfman file, the name of a built-in shader, a scene (.rib, .gltf, .glb), or
    /// a program of the RPU (.rpuasm, .rpubin); for a folder, summarizes which of its .sl, .rtsl
    /// and .pfman files compile; traversal:NAME is generated traversal, such as
    /// traversal:while-while-wide4, and integrator:paths or integrator:compositing an integrator
    pub file: PathBuf,
    /// More files to link with the first, for --emit rpu and rpubin
    pub more: Vec<PathBuf>,
    /// The compiler stage to print
    #[arg(long, value_enum, default_value_t = Emit::Ir)]
    pub emit: Emit,
    /// ABI of `--emit rpu`
    #[arg(long, value_parser = choice_of::<Abi>(), default_value = "native")]
    pub abi: Abi,
    /// Calling convention of `--emit rpu`: which registers are saved across calls
    #[arg(long, value_parser = choice_of::<Convention>(), default_value = "simple")]
    pub convention: Convention,
    /// Print the IR before and after this pass (`all` for every pass)
    #[arg(long, value_name = "PASS")]
    pub show: Option<String>,
    /// Compiler passes: `-gvn,-inline` disables some, `fold,dce` runs only those; `-mad` and the
    /// like disable passes of the RPU back end
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub passes: Option<String>,
    /// The transcendental functions that shaders call
    #[command(flatten)]
    pub math: MathArgs,
    /// Facts that are constants of the code: none, types, constants, all, or a list as in
    /// `types,textures` and `all,-image`; parameters of a shader have their defaults. The IR and
    /// the report are then those of the linked program, and say what specialization removes
    #[arg(long, value_name = "FACTS")]
    pub specialize: Option<Specialize>,
    /// The lanes of `--emit uniformity` and `--emit vector`
    #[command(flatten)]
    pub lanes: LaneArgs,
    /// Print the summary of a folder as JSON
    #[arg(long)]
    pub json: bool,
    /// Included files and macros
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The lanes of a vector, and what its functions are called with.
#[derive(Clone, Debug, Args)]
pub struct LaneArgs {
    /// The number of lanes of `--emit uniformity` and `--emit vector`: a power of two up to 32
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub lanes: u32,
    /// Parameters that are the same in all lanes; all others differ
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub uniform: Vec<String>,
    /// Integer parameters that grow by 1 from lane to lane
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub affine: Vec<String>,
}

/// Options of the shader preprocessor.
#[derive(Clone, Debug, Args)]
pub struct PreprocessArgs {
    /// Search this folder for included files; may be repeated
    #[arg(short = 'I', long = "include", value_name = "DIR", help_heading = heading::PREPROCESSOR)]
    pub include: Vec<PathBuf>,
    /// Define a macro; may be repeated
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = heading::PREPROCESSOR)]
    pub define: Vec<String>,
}

/// `reference`.
#[derive(Clone, Debug, Args)]
pub struct ReferenceArgs {
    /// Print the functions as JSON instead of a page in Markdown
    #[arg(long, conflicts_with = "rtsl")]
    pub json: bool,

    /// Print the renderer state of RTSL: the `rt_` variables that methods of classes read and set
    #[arg(long)]
    pub rtsl: bool,
}

/// `lsp`.
#[derive(Clone, Debug, Args)]
pub struct LspArgs {
    /// Included files and macros
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Standard input and output, which are used anyway: some editors pass it.
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// `completions`.
#[derive(Clone, Copy, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Write a page for each subcommand into this folder instead of printing one page
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Compiler stages that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// The syntax tree
    Ast,
    /// The types of intermediate results, for languages with fixed-point numbers
    Types,
    /// The optimized intermediate representation
    Ir,
    /// The pixel memory that shaders take on PixelFlow; with --out FILE.svg a drawing
    Memory,
    /// The GPU kernels as WGSL
    Wgsl,
    /// The GPU kernels as SPIR-V (needs --out)
    Spirv,
    /// RPU assembly
    Rpu,
    /// RPU binary (needs --out)
    Rpubin,
    /// Native code that the RPU's engine makes of the program, for this CPU
    Asm,
    /// The sections between suspend points
    Sections,
    /// The optimized intermediate representation with the uniformity of each value: uniform, affine
    /// or varying among the lanes of a vector
    #[value(alias = renamed::SHAPES)]
    Uniformity,
    /// The optimized intermediate representation for several lanes
    Vector,
    /// Runs, changes and time of each pass
    Report,
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A .sl file, the text of a function, or a program of the RPU: .rpuasm or .rpubin
    pub file: String,
    /// The function or entry point to call
    pub function: String,
    /// Arguments: `2`, `1,2,3`, `"text"`
    pub args: Vec<String>,
    /// Where the function runs
    #[arg(long, value_parser = runners_or_all(), default_value = "all", help_heading = heading::BACKEND)]
    pub on: RunOn,
    /// Initial value of a register: `R0=1,2,3,0`, `C0.w=2.5`, `A.x=#64`; may be repeated
    #[arg(long, value_name = "REG=VALUES", help_heading = heading::PROGRAM)]
    pub set: Vec<RegisterValue>,
    /// Print the RPU registers that changed, before and after
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub registers: bool,
    /// Print all RPU registers, before and after
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub all_registers: bool,
    /// Also run on one processor of the RPU timing model, and print cycles and stalls
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub timed: bool,
    /// Memory image: vectors of four little-endian 32-bit words
    #[arg(long, value_name = "FILE", conflicts_with = "scene", help_heading = heading::PROGRAM)]
    pub memory: Option<PathBuf>,
    /// Scene in which the program traces rays: .rib, .gltf, .glb, .obj or .ply
    #[arg(long, value_name = "FILE", help_heading = heading::PROGRAM)]
    pub scene: Option<PathBuf>,
    /// The next texture: an image file, or `WxH` for an empty one; may be repeated
    #[arg(long, value_name = "FILE|WxH", help_heading = heading::PROGRAM)]
    pub texture: Vec<TextureSource>,
    /// Run this entry point over the image first; what it stores in textures is kept
    #[arg(long, value_name = "ENTRY", requires = "image", help_heading = heading::PROGRAM)]
    pub before: Option<String>,
    /// Run once per pixel, with the position (0 to 1) in R0 or as the first argument; the result is
    /// the color
    #[arg(long, value_name = "WxH", requires = "out", help_heading = heading::OUTPUT)]
    pub image: Option<Size>,
    /// Write the image to FILE: .png .exr .hdr .pnm
    #[arg(short, long, value_name = "FILE", requires = "image", help_heading = heading::OUTPUT)]
    pub out: Option<PathBuf>,
    /// The GPU.
    #[command(flatten)]
    pub adapter: AdapterArgs,
    /// The RPU.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// The CPU.
    #[command(flatten)]
    pub cpu: CpuArgs,
    /// Print the result as JSON
    #[arg(long, help_heading = heading::DIAGNOSTICS)]
    pub json: bool,
}
