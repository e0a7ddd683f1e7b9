//! Primitives and materials of RTSL on the RPU against plain Rust: `cargo bench --bench rtsl`.

#[path = "../common/mod.rs"]
mod common;

mod tables;

use clap::Parser;
use common::{Benchmark, Common};
use serde_json::Value;

/// Measures primitives and materials of RTSL on the RPU, one ray per run and 64, against plain Rust
/// with one ray and with eight: seconds per million rays, one thread; and lines of code.
#[derive(Debug, Parser)]
struct Arguments {
    /// Measure only classes with PART in their names
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Square root of the number of rays
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u16).range(1..=8192))]
    size: u16,
    #[command(flatten)]
    common: Common,
}

impl Benchmark for Arguments {
    const TARGET: &str = "rtsl";
    const SMALLEST: &[&str] = &["--only Sphere --size 16"];

    fn common(&self) -> Common {
        self.common
    }

    fn measure(&self) -> anyhow::Result<Value> {
        tables::tables(self.only.as_deref(), self.size.into(), self.common.json)
    }
}

fn main() -> anyhow::Result<()> {
    common::main::<Arguments>()
}
