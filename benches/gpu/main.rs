//! Schedules and compile times of the GPU: `cargo bench --bench gpu -- NAME`.

#[path = "../common/mod.rs"]
mod common;

mod schedules;
mod shaders;

use clap::{Parser, ValueEnum};
use common::{Benchmark, Common, Prints};
use serde_json::Value;
use std::path::PathBuf;

/// Measures renders on a GPU.
#[derive(Debug, Parser)]
struct Arguments {
    /// The measurement
    #[arg(value_enum, default_value_t)]
    name: Name,
    /// Measure only scenes with PART in their names
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Mesh that `schedules` measures besides the scenes: .ply or .obj
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// Shaders in the scene of `shaders`
    #[arg(long, value_name = "N", default_value_t = common::shaders::COUNT, value_parser = clap::value_parser!(u16).range(1..=1024))]
    count: u16,
    /// Width of the images; the height is three quarters of it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=8192))]
    size: Option<u16>,
    /// Use the GPU adapter whose name contains NAME
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Frames by each schedule, with the time of the first one
    #[default]
    Schedules,
    /// A scene of many different shaders: time to a first and to the full image, with the driver's
    /// cache empty and filled
    Shaders,
}

impl Benchmark for Arguments {
    const TARGET: &str = "gpu";
    const SMALLEST: &[&str] = &["schedules --only orthographic --size 16", "shaders --count 2 --size 16"];

    fn common(&self) -> Common {
        self.common
    }

    fn prints(&self) -> Prints {
        if self.name == Name::Shaders { Prints::Nothing } else { Prints::Table }
    }

    fn measure(&self) -> anyhow::Result<Value> {
        let Arguments { name, only, mesh, count, size, adapter, common } = self;
        let adapter = adapter.as_deref();
        match name {
            Name::Schedules => {
                let options =
                    schedules::ScheduleOptions { only: only.as_deref(), mesh: mesh.as_deref(), width: *size, adapter };
                schedules::schedules(&options, common.json)
            }
            Name::Shaders => {
                shaders::images(*count, &shaders::ShaderOptions { width: *size, adapter, threads: common.threads })
            }
        }
    }
}

fn main() -> anyhow::Result<()> {
    common::main::<Arguments>()
}
