//! The command line: one file a subcommand. Nothing outside this module and `main.rs` prints or
//! exits.
//!
//! Results go to standard output, everything else to standard error. The exit status is 0 for
//! success, 1 for a failed comparison, 2 for wrong input or usage, 3 for a device failure, and 130
//! for a process that was interrupted.

#[macro_use]
mod output;

mod aov;
mod args;
mod backend;
mod bake;
mod bench;
mod cache;
mod charts;
mod check;
mod checkpoint;
mod compare;
mod compile;
mod convert;
mod depth;
mod device;
mod devices;
mod diff;
mod diverge;
mod documents;
mod failure;
mod farm;
mod frames;
mod golden;
mod info;
mod input;
mod interrupt;
mod judgment;
#[cfg(feature = "gpu")]
mod kernels;
#[cfg(not(feature = "gpu"))]
#[path = "no_kernels.rs"]
mod kernels;
mod lsp;
mod merge;
mod messages;
mod pack;
mod part;
mod printf;
mod probe;
mod progress;
mod record;
mod reference;
mod render;
mod run;
mod sampler;
mod silicon;
mod simulate;
mod solid_volume;
mod stats;
mod usage;
#[cfg(feature = "viewer")]
mod viewer;
#[cfg(not(feature = "viewer"))]
#[path = "no_viewer.rs"]
mod viewer;
mod watch;

use args::{Cli, Command};
use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command named by the process arguments and returns its exit status.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = args::command_line().collect();
    let cli = match args::parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(failure) = usage::refusal(&error, &arguments) {
                return failure.report();
            }
            // Help and version are answers, and go where clap sends them.
            let failed = error.use_stderr();
            let _ = error.print();
            return if failed { failure::USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    args::notes(&arguments).iter().for_each(|note| eprintln!("note: {note}"));
    match dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn dispatch(cli: Cli) -> Result<(), Failure> {
    usage::check_scene(&cli)?;
    match cli.command {
        None => render::run(cli.render),
        Some(Command::Render(args)) => render::run(*args),
        Some(Command::Compare(args)) => compare::run(*args),
        Some(Command::Golden(args)) => golden::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Farm(args)) => farm::run(&args),
        Some(Command::Pack(args)) => pack::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Merge(args)) => merge::run(&args),
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::Depth(args)) => depth::run(&args),
        Some(Command::Probe(args)) => probe::run(&args),
        Some(Command::Compile(args)) => compile::run(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Simulate(args)) => simulate::run(&args),
        Some(Command::Silicon(args)) => silicon::run(&args),
        Some(Command::SolidVolume(args)) => solid_volume::run(&args),
        Some(Command::Bench(args)) => bench::run(&args.benchmark),
        Some(Command::Devices(args)) => devices::run(&args),
        Some(Command::Reference(args)) => reference::run(&args),
        Some(Command::Lsp(args)) => lsp::run(&args),
        Some(Command::Completions(args)) => {
            documents::completions(args);
            Ok(())
        }
        Some(Command::Man(args)) => documents::man(&args),
    }
}
