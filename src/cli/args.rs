//! The command line: the arguments of each subcommand, the choices among names that they offer, and
//! values with a syntax of their own.

mod choices;
mod conversion;
mod farm;
mod golden;
mod images;
mod measurements;
mod pack;
mod shaders;
mod silicon;
mod values;

pub use choices::*;
pub use conversion::*;
pub use farm::*;
pub use golden::*;
pub use images::*;
pub use measurements::*;
pub use pack::*;
pub use shaders::*;
pub use silicon::*;
pub use values::*;

use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// Titles of the groups of options in `--help`.
mod heading {
    pub const OUTPUT: &str = "Output";
    pub const CAMERA: &str = "Camera and film";
    pub const SAMPLING: &str = "Sampling";
    pub const INTEGRATOR: &str = "Integrator";
    pub const FILES: &str = "Shaders and files";
    pub const BACKEND: &str = "Backend";
    pub const COMPILER: &str = "Compiler and BVH";
    pub const FARM: &str = "Render farm";
    pub const COMPARISON: &str = "Comparison";
    pub const DIAGNOSTICS: &str = "Diagnostics";
    pub const PROGRAM: &str = "RPU programs";
    pub const RAYS: &str = "Rays";
    pub const MODEL: &str = "Hardware model";
    pub const PREPROCESSOR: &str = "Preprocessor";
}

const EXAMPLES: &str = "\
Examples:
  shadewright scene.rib                      open the scene in a window
  shadewright render scene.rib -o image.png  render it to a file
  shadewright compare scene.rib              render it on the GPU and on the RPU (CPU), and compare";

const MORE_EXAMPLES: &str = "\
Examples:
  shadewright scene.rib                             a window that follows changes of scene and shaders
  shadewright render -o image.png                   the built-in scene
  shadewright render scene.rib -o out.exr --spp 64  a RIB scene, 64 samples per pixel, linear floats
  shadewright render bunny.ply -o bunny.png         a mesh, with a default camera and light
  shadewright compare scene.rib -o diff.png         GPU and RPU (CPU), a verdict, a difference image
  shadewright diff a.png b.png                      two image files
  shadewright convert scene.rib scene.glb --check   another format, and whether it looks the same
  shadewright pack scene.rib -o ../packed           a folder with all that the scene reads
  shadewright compile marble.sl --emit rpu          the RPU assembly of a shader
  shadewright probe scene.rib 320,240 --steps       the hits and shader statements of one pixel
  shadewright run 'float f(float x) { return x*x; }' f 3
  shadewright run program.rpuasm f --set R0=1,2,3,0 --registers

Exit status:
    0  success
    1  a comparison failed
    2  wrong input or usage
    3  a device failed, or none was found
  130  interrupted (Ctrl-C, SIGTERM or SIGHUP)";

/// Ray traces scenes whose shaders compile once and run on the GPU and on a software ray processing
/// unit (RPU) on the CPU.
#[derive(Debug, Parser)]
#[command(
    name = "shadewright",
    version,
    after_help = EXAMPLES,
    after_long_help = MORE_EXAMPLES,
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    /// A subcommand, or none to open the window or render.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to render.
    #[command(flatten)]
    pub render: RenderArgs,
}

/// The subcommands, in the order of the help.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Render a scene to an image file
    // The long form without the subcommand is `--render`.
    #[command(mut_arg("render", |arg| arg.long("out").required(true).help("Write the image to this file: .png .exr .hdr .pnm, or .svg with --machine hidden-line")))]
    Render(Box<RenderArgs>),
    /// Render a scene on two backends and compare the images
    Compare(CompareArgs),
    /// Join the parts of an image that `render --part` rendered
    Merge(MergeArgs),
    /// Print how an image or a part was rendered
    Info(InfoArgs),
    /// Compare two image files
    Diff(DiffArgs),
    /// Render the scenes of a folder, compare each with its reference, and write a report
    Golden(GoldenArgs),
    /// Write a scene as RIB or glTF, with its textures and shaders beside it
    Convert(Box<ConvertArgs>),
    /// Write a job for a render farm: Open Job Description, or Slurm
    Farm(Box<FarmArgs>),
    /// Copy everything that a scene reads into one folder, which renders alone
    Pack(Box<PackArgs>),
    /// Read, link and compile scenes without rendering them, and print every message
    Check(CheckArgs),
    /// Render a shadow map (depth map) from the scene's camera, for shadow()
    Depth(DepthArgs),
    /// Trace one sample of an image: its hits, its rays, and its shaders step by step
    Probe(ProbeArgs),
    /// Show what a shader compiles to, at any stage
    Compile(CompileArgs),
    /// Call a shader function, or run a program of the RPU, and print the result
    Run(RunArgs),
    /// Simulate a scene on a model of hardware: the RPU, ray-tracing machines, machines for polygons
    Simulate(SimulateArgs),
    /// Compile a circuit in Silicon: simulate it, lay it out, write it as Verilog
    Silicon(SiliconArgs),
    /// Print the volumes of a scene's objects, by rays and by their faces
    Volume(VolumeArgs),
    /// Measure the speed of this machine
    Bench(BenchArgs),
    /// List the backends and GPU adapters of this machine
    Devices(DevicesArgs),
    /// Print the reference of the shading languages: functions, variables, keywords
    Reference(ReferenceArgs),
    /// Serve editors over the Language Server Protocol, for .sl, .rtsl and .pfman files
    Lsp(LspArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

/// The arguments of this process, those of `run` with negative numbers in parentheses, so that
/// `-1,2,3` is no option.
pub fn command_line() -> impl Iterator<Item = OsString> {
    let is_run = std::env::args_os().nth(1).is_some_and(|a| a == "run");
    std::env::args_os().map(move |arg| match arg.to_str() {
        Some(text) if is_run && is_negative(text) => format!("({text})").into(),
        _ => arg,
    })
}

/// True if a text is a list of numbers that starts with a minus.
fn is_negative(text: &str) -> bool {
    text.starts_with('-') && text.split(',').all(|x| x.trim().parse::<f32>().is_ok())
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
    fn lists_of_numbers_that_start_with_a_minus_are_not_options() {
        for text in ["-1", "-1,2,3", "-.5,-2", "-inf"] {
            assert!(is_negative(text), "{text}");
        }
        for text in ["--on", "-h", "1,-2", "-x"] {
            assert!(!is_negative(text), "{text}");
        }
    }
}
