//! Arguments of what compiles and runs shaders, and tells of their language.

use super::*;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

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
    /// The next texture of a program of the RPU: an image, or `WxH` for an empty one; may be repeated
    #[arg(long, value_name = "FILE|WxH")]
    pub texture: Vec<TextureSource>,
    /// Run this entry point over the image first: textures keep what it stores
    #[arg(long, value_name = "ENTRY", requires = "image")]
    pub before: Option<String>,
    /// Run once a pixel, with its position from 0 to 1 in R0 or as the first argument; the result is its colour
    #[arg(long, value_name = "WxH", requires = "out")]
    pub image: Option<Size>,
    /// Write the image here: .png .exr .hdr .pnm
    #[arg(long, value_name = "FILE", requires = "image")]
    pub out: Option<PathBuf>,
    /// The device.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
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
