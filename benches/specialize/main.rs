//! Specialized programs against others: frames of six interiors, shading alone, compile times.
//! `cargo bench --bench specialize`.

#[path = "../common/mod.rs"]
mod common;

mod interiors;
mod report;

use clap::Parser;
use common::{Benchmark, Common};
use serde_json::Value;

/// Measures specialized programs against others on every device at hand.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    options: report::ReportOptions,
    #[command(flatten)]
    common: Common,
}

impl Benchmark for Arguments {
    const TARGET: &str = "specialize";
    const SMALLEST: &[&str] = &[
        "--scene bedroom --backend interpreter --specialize types --specialize all --runs 1 --size 8x6 --batch 4096 --out FOLDER/page",
        "--scene bedroom --backend gpu --only scenes --specialize types --megakernel-sections 0 --runs 1 --size 8x6",
        "--write FOLDER/rooms",
    ];

    fn common(&self) -> Common {
        self.common
    }

    fn measure(&self) -> anyhow::Result<Value> {
        report::run(&self.options, self.common.json)
    }
}

fn main() -> anyhow::Result<()> {
    common::main::<Arguments>()
}
