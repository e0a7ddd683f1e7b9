//! The models of ray-tracing hardware: `cargo bench --bench machines`.

#[path = "../common/mod.rs"]
mod common;

mod array;

use clap::Parser;
use common::{Benchmark, Common};
use serde_json::Value;
use std::path::PathBuf;

/// Measures the simulator of the ray-tracing array: polygon tests that it simulates per second, on
/// one thread, without the shaders.
#[derive(Debug, Parser)]
struct Arguments {
    /// Scene file
    #[arg(long, value_name = "FILE", default_value_os_t = common::repository("assets/machines/cubes-83.rib"))]
    scene: PathBuf,
    /// Width and height of the image
    #[arg(long, value_name = "N", default_value_t = 96, value_parser = clap::value_parser!(u32).range(1..=4096))]
    size: u32,
    /// Nodes in a row and in a column
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 2, 8, 16, 32])]
    sides: Vec<u32>,
    /// The numbers of the model, as the text of a configuration file
    #[arg(long, value_name = "TOML", default_value = "")]
    config: String,
    /// Measured runs of each array; the fastest counts
    #[arg(long, value_name = "N", default_value_t = common::RUNS)]
    runs: usize,
    #[command(flatten)]
    common: Common,
}

impl Benchmark for Arguments {
    const TARGET: &str = "machines";
    const SMALLEST: &[&str] = &["--size 8 --sides 1,2 --runs 1"];

    fn common(&self) -> Common {
        self.common
    }

    fn measure(&self) -> anyhow::Result<Value> {
        array::arrays(self)
    }
}

fn main() -> anyhow::Result<()> {
    common::main::<Arguments>()
}
