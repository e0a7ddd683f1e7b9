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
use common::{Benchmark, Common, Prints};
use serde_json::Value;

/// Measures the RPU.
#[derive(Debug, Parser)]
struct Arguments {
    /// The measurement
    #[arg(value_enum, default_value_t)]
    name: Name,
    /// Measure only scenes with PART in their names
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Width of the images, or of the grid of points of `shading`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(64..=8192))]
    size: Option<u16>,
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
    /// The timing model on every RIB scene of the repository: utilization, and simulated
    /// instructions per second of one core
    TimingModel,
    /// Noise, branches and texture lookups against plain Rust with one and with eight lanes:
    /// nanoseconds per point, one thread
    Shading,
    /// Texture lookups, trilinear and anisotropic: nanoseconds each, one thread
    Textures,
}

impl Benchmark for Arguments {
    const TARGET: &str = "rpu";
    const SMALLEST: &[&str] = &[
        "engines --size 64",
        "native --only scenes/orthographic --size 64",
        "specialize --only scenes/orthographic --size 64",
        "translation --only scenes/orthographic",
        "timing-model --only orthographic --size 64",
        "shading --size 64",
        "textures --size 64",
    ];

    fn common(&self) -> Common {
        self.common
    }

    fn prints(&self) -> Prints {
        Prints::Nothing
    }

    fn measure(&self) -> anyhow::Result<Value> {
        let Arguments { name, only, size, .. } = self;
        let is_wanted = |name: &str| only.as_ref().is_none_or(|part| name.contains(part));
        let image = |usual| common::image_size(*size, usual);
        match name {
            Name::Engines => engines::shading(image(engines::RENDERED)),
            Name::Native => native::scenes(&is_wanted, image(native::RENDERED)),
            Name::Specialize => specialize::scenes(&is_wanted, image(specialize::RENDERED)),
            Name::Translation => native::translation(&is_wanted),
            Name::TimingModel => timing_model::scenes(&is_wanted, image(timing_model::SIMULATED)),
            Name::Shading => shading::points(size.map_or(shading::SIDE, usize::from)),
            Name::Textures => textures::lookups(size.map_or(textures::SIDE, u32::from)),
        }
    }
}

fn main() -> anyhow::Result<()> {
    common::main::<Arguments>()
}
