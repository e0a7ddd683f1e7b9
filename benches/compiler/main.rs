//! The worth of the compiler's passes, calling conventions and inlining policies, and how its time
//! grows with the length of a shader: `cargo bench --bench compiler -- NAME`.

#[path = "../common/mod.rs"]
mod common;

mod length;
mod variants;

use clap::{Parser, ValueEnum};
use common::{Common, Prints};

/// Compares variants of the compiler by instructions and simulated cycles on the RPU.
#[derive(Debug, Parser)]
struct Arguments {
    /// The measurement
    #[arg(value_enum, default_value_t)]
    name: Name,
    /// Measure only shaders and scenes with PART in their names
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Name {
    /// Without each compiler pass
    Passes,
    /// With each calling convention
    #[default]
    Conventions,
    /// With more and with less inlining
    Inlining,
    /// Shaders of many lines and of twice as many: the quotients of the times
    Length,
}

fn main() -> anyhow::Result<()> {
    let Arguments { name, only, common } = Arguments::parse();
    let only = only.as_deref();
    common.run(Prints::Table, || match name {
        Name::Passes => variants::passes(only, common.json),
        Name::Conventions => variants::conventions(only, common.json),
        Name::Inlining => variants::inlining(only, common.json),
        Name::Length => length::length(length::LINES, only, common.json),
    })
}
