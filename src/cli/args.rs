//! What can be written on the command line: the arguments of each subcommand, the choices among names that they offer, and values that have a form of their own.

mod choices;
mod images;
mod measurements;
mod shaders;
mod values;

pub use choices::*;
pub use images::*;
pub use measurements::*;
pub use shaders::*;
pub use values::*;

use clap::{Parser, Subcommand};
use std::ffi::OsString;

const EXAMPLES: &str = "\
Examples:
  shadewright scene.rib                               a window that follows every save of the scene and its shaders
  shadewright --render image.png                    the built-in scene, on whichever machine is faster here
  shadewright scene.rib --render out.exr --spp 64     a RIB scene, 64 samples a pixel, linear floats
  shadewright bunny.ply --render bunny.png            a mesh, with a camera and light made for it
  shadewright compare scene.rib --out diff.png        both machines, one verdict, where they differ
  shadewright diff a.png b.png                        two image files
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
    /// Compare two image files
    Diff(DiffArgs),
    /// Draw how far away a scene's camera sees something, for `MakeShadow` and shadow()
    Depth(DepthArgs),
    /// List the machines that can render here
    Devices(DevicesArgs),
    /// Run a scene on a model of the hardware and report where the time goes
    Simulate(SimulateArgs),
    /// Follow one sample of an image: what it hits, its rays, its shaders step by step
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_one_that_clap_accepts() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
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
}
