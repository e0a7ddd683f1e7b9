//! The worth of the compiler's passes, calling conventions and inlining policies, and how its time
//! grows with the length of a shader: `cargo bench --bench compiler -- NAME`.

#[path = "../common/mod.rs"]
mod common;

mod length;
mod variants;

use clap::{Parser, ValueEnum};
use common::{Benchmark, Common};
use serde_json::Value;

/// Compares variants of the compiler by instructions and simulated cycles on the RPU.
#[derive(Debug, Parser)]
struct Arguments {
    /// The measurement
    #[arg(value_enum, default_value_t)]
    name: Name,
    /// Measure only shaders and scenes with PART in their names
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Lines of the shorter shaders of `length`
    #[arg(long, value_name = "N", default_value_t = length::LINES)]
    lines: usize,
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

impl Benchmark for Arguments {
    const TARGET: &str = "compiler";
    const SMALLEST: &[&str] = &[
        "passes --only 'thesis depth'",
        "conventions --only 'thesis depth'",
        "inlining --only 'thesis depth'",
        "length --lines 2",
    ];

    fn common(&self) -> Common {
        self.common
    }

    fn measure(&self) -> anyhow::Result<Value> {
        let Arguments { name, only, lines, common } = self;
        let only = only.as_deref();
        match name {
            Name::Passes => variants::passes(only, common.json),
            Name::Conventions => variants::conventions(only, common.json),
            Name::Inlining => variants::inlining(only, common.json),
            Name::Length => length::length(*lines, only, common.json),
        }
    }
}

fn main() -> anyhow::Result<()> {
    common::main::<Arguments>()
}
