//! The command line: the arguments of each subcommand, made of groups that several share
//! ([`SceneArgs`], [`GpuArgs`], [`JudgeArgs`] and others), the choices among names that they offer,
//! and values with a syntax of their own.
//!
//! A subcommand has the groups whose options have an effect on it. An option that has one only
//! beside another [needs](Need) that one, and [conditions] are about values of others. So the parser
//! refuses what has no effect.

mod bench;
mod choices;
mod conditions;
mod conversion;
mod device;
#[cfg(test)]
mod documented;
mod farm;
mod golden;
mod images;
mod judge;
mod pack;
mod renamed;
mod render;
mod scene;
mod shaders;
mod silicon;
mod simulate;
mod solid_volume;
mod values;

pub use bench::*;
pub use choices::*;
pub use conditions::parse;
pub use conversion::*;
pub use device::*;
pub use farm::*;
pub use golden::*;
pub use images::*;
pub use judge::*;
pub use pack::*;
pub use renamed::{notes, removed};
pub use render::*;
pub use scene::*;
pub use shaders::*;
pub use silicon::*;
pub use simulate::*;
pub use solid_volume::*;
pub use values::*;

use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// Titles of the groups of options in `--help`.
mod heading {
    pub const OUTPUT: &str = "Output";
    pub const CAMERA: &str = "Camera and film";
    pub const SAMPLING: &str = "Sampling";
    pub const INTEGRATOR: &str = "Integrator and lights";
    pub const FILES: &str = "Scene files";
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

/// Dependencies between options that belong to different groups.
trait Need {
    /// Makes some options need another one: without it the parser refuses them.
    fn need(self, other: &'static str, options: &[&'static str]) -> Self;
}

impl Need for clap::Command {
    fn need(self, other: &'static str, options: &[&'static str]) -> Self {
        options.iter().fold(self, |command, option| command.mut_arg(option, |arg| arg.requires(other)))
    }
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
    /// The render.
    #[command(flatten)]
    pub render: RenderArgs,
}

/// The subcommands, in the order of the help: those of every day, those about files, the laboratory,
/// and what documents the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Render a scene to an image file
    // The long form without the subcommand is `--render`.
    #[command(mut_arg("render", |arg| arg.long("out").required(true).help("Write the image to this file: .png .exr .hdr .pnm, or .svg with --model hidden-line")))]
    Render(Box<RenderArgs>),
    /// Render a scene on two backends and compare the images
    Compare(Box<CompareArgs>),
    /// Render the scenes of a folder, compare each with its reference, and write a report
    Golden(GoldenArgs),
    /// Compare two image files
    Diff(DiffArgs),
    /// Read, link and compile scenes without rendering them, and print every message
    Check(CheckArgs),
    /// Show what a shader compiles to, at any stage
    Compile(CompileArgs),
    /// Trace one sample of an image: its hits, its rays, and its shaders step by step
    Probe(Box<ProbeArgs>),
    /// Write a scene as RIB or glTF, with its textures and shaders beside it
    Convert(Box<ConvertArgs>),
    /// Copy everything that a scene reads into one folder, which renders alone
    Pack(Box<PackArgs>),
    /// Join the parts of an image that `render --part` rendered
    Merge(MergeArgs),
    /// Print how an image or a part was rendered
    Info(InfoArgs),
    /// Render a shadow map (depth map) from the scene's camera, for shadow()
    Depth(DepthArgs),
    /// Write a job for a render farm: Open Job Description, or Slurm
    Farm(Box<FarmArgs>),
    /// Serve editors over the Language Server Protocol, for .sl, .rtsl and .pfman files
    Lsp(LspArgs),
    /// Simulate a scene on a hardware model: the RPU, ray-tracing and polygon hardware
    Simulate(Box<SimulateArgs>),
    /// Compile a circuit in Silicon: simulate it, lay it out, write it as Verilog
    Silicon(SiliconArgs),
    /// Print the volumes of a scene's objects, by rays and by their faces
    #[command(alias = "volume")]
    SolidVolume(SolidVolumeArgs),
    /// Measure the speed of this machine
    Bench(BenchArgs),
    /// Call a shader function, or run a program of the RPU, and print the result
    Run(RunArgs),
    /// List the backends and GPU adapters of this machine
    Devices(DevicesArgs),
    /// Print the reference of the shading languages: functions, variables, keywords
    Reference(ReferenceArgs),
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

    /// The arguments of a command line that clap accepts.
    fn parsed(words: &str) -> Cli {
        parse(words.split(' ')).unwrap_or_else(|error| panic!("{words}: {error}"))
    }

    #[test]
    fn the_defaults_of_groups_are_those_of_the_command_line() {
        let SceneArgs { file, .. } = SceneArgs::default();
        let Some(Command::Compare(compare)) = parsed("shadewright compare --lenient").command else {
            panic!("no comparison");
        };
        let scene = SceneArgs { file, ..compare.scene.clone() };
        assert_eq!(format!("{:?}", scene), format!("{:?}", SceneArgs::default()));
        assert_eq!(format!("{:?}", compare.scene), format!("{:?}", SceneArgs::default()));
    }

    #[test]
    fn images_are_compared_strictly_unless_the_user_says_otherwise() {
        let is_strict = |words: &str| match parsed(words).command {
            Some(Command::Compare(args)) => args.scene.file.strict,
            _ => panic!("no comparison"),
        };
        assert!(is_strict("shadewright compare"));
        assert!(!is_strict("shadewright compare --lenient"));
    }

    #[test]
    fn commands_with_one_frame_refuse_a_range() {
        let frames = |words: &str| match parsed(words).command {
            Some(Command::Depth(args)) => args.moment.frames,
            _ => panic!("no shadow map"),
        };
        let third = Some(Frames { first: 3, last: 3 });
        assert_eq!(frames("shadewright depth -o a.exr --frame 3"), third);
        assert_eq!(frames("shadewright depth -o a.exr --frames=3"), third);
        assert!(parse("shadewright depth -o a.exr --frame 1..3".split(' ')).is_err());
    }

    #[test]
    fn options_without_effect_are_refused() {
        for words in [
            "shadewright scene.rib --crop 0,0,1,1",
            "shadewright render scene.rib -o a.png --metric psnr --threshold 1",
            "shadewright render scene.rib -o a.svg --edges all",
            "shadewright render scene.rib -o a.svg --model rtp",
            "shadewright probe scene.rib 1,1 --passes none",
            "shadewright probe scene.rib 1,1 --threads 2",
            "shadewright compare scene.rib --engine auto",
            "shadewright compare scene.rib --max-pixels 9",
            "shadewright depth scene.rib -o a.exr --spp 4",
            "shadewright solid-volume scene.rib -I shaders",
            "shadewright simulate scene.rib --adapter a",
            "shadewright simulate scene.rib --engine auto",
        ] {
            assert!(parse(words.split(' ')).is_err(), "{words}");
        }
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
