//! The RPU on the CPU and its timing model: `cargo bench --bench rpu -- NAME`.

#[path = "../common/mod.rs"]
mod common;

mod engines;
mod native;
mod shading;
mod specialize;
mod textures;
mod timing_model;

use clap::{Parser, ValueEnum};
use common::{Common, Prints};

/// Measures the RPU.
#[derive(Debug, Parser)]
struct Arguments {
    /// The measurement
    #[arg(value_enum, default_value_t)]
    name: Name,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Name {
    /// Shading with each instruction set of this CPU: million instructions of lanes per second, one
    /// thread
    #[default]
    Engines,
    /// Whole frames of every RIB scene of the repository in generated code: times faster than on the
    /// interpreter, with each instruction set of this CPU, one thread
    Native,
    /// Whole frames of every RIB scene of the repository with `--specialize constants` and `all`: times
    /// faster than without, and the length of the program; one thread
    Specialize,
    /// Milliseconds that the native engine takes to translate scenes, with each instruction set
    Translation,
    /// The timing model on every RIB scene of the repository: utilisation, and simulated
    /// instructions per second of one core
    TimingModel,
    /// Noise, branches and texture lookups against plain Rust with one and with eight lanes:
    /// nanoseconds per point, one thread
    Shading,
    /// Texture lookups, trilinear and anisotropic: nanoseconds each, one thread
    Textures,
}

fn main() -> anyhow::Result<()> {
    let Arguments { name, common } = Arguments::parse();
    common.run(Prints::Nothing, || match name {
        Name::Engines => engines::shading(),
        Name::Native => native::scenes(),
        Name::Specialize => specialize::scenes(),
        Name::Translation => native::translation(),
        Name::TimingModel => timing_model::scenes(),
        Name::Shading => shading::points(),
        Name::Textures => textures::lookups(),
    })
}
