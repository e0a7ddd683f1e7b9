//! Builders, instances and traversal of bounding volume hierarchies: `cargo bench --bench bvh --
//! NAME`.

#[path = "../common/mod.rs"]
mod common;

mod builders;
mod growth;
mod instances;
mod large;

use clap::{Parser, ValueEnum};
use common::{Benchmark, Common, Prints, image_size};
use serde_json::Value;
use shadewright::bvh::Quality;
use std::path::PathBuf;

/// Measures bounding volume hierarchies.
#[derive(Debug, Parser)]
struct Arguments {
    /// The measurement
    #[arg(value_enum, default_value_t)]
    name: Name,
    /// Mesh for `builders`: a .ply or .obj file, or a procedural mesh of N triangles, `sheet:N` or
    /// `clutter:N`
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// Builder for `growth`
    #[arg(long, value_enum, default_value_t)]
    tree: Tree,
    /// Square root of the number of rays for `growth` (1024) and `instances` (256), width of the image of `large` (640)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=8192))]
    size: Option<u16>,
    /// Triangles of the mesh of `large` (4,000,000); the most of a mesh that `growth` and `instances` measure
    #[arg(long, value_name = "N")]
    triangles: Option<usize>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Each builder: build time, refit time, SAH cost, size
    Builders,
    /// Instances of a mesh against its triangles in one BVH: rays per second, memory
    #[default]
    Instances,
    /// Primary rays in procedural meshes of ten thousand to ten million triangles
    Growth,
    /// A mesh of four million triangles: times and memory from the mesh to the image
    Large,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Tree {
    Fast,
    Sah,
    #[default]
    Spatial,
}

impl From<Tree> for Quality {
    fn from(tree: Tree) -> Quality {
        match tree {
            Tree::Fast => Quality::Fast,
            Tree::Sah => Quality::Sah,
            Tree::Spatial => Quality::Spatial,
        }
    }
}

impl Benchmark for Arguments {
    const TARGET: &str = "bvh";
    const SMALLEST: &[&str] = &[
        "builders --mesh sheet:300",
        "instances --triangles 30 --size 8",
        "growth --triangles 10000 --size 8",
        "large --triangles 1000 --size 16",
    ];

    fn common(&self) -> Common {
        self.common
    }

    fn prints(&self) -> Prints {
        if self.name == Name::Large { Prints::Nothing } else { Prints::Table }
    }

    fn measure(&self) -> anyhow::Result<Value> {
        let Arguments { name, mesh, tree, size, triangles, common } = self;
        let side = |most: u16| size.unwrap_or(most).into();
        match name {
            Name::Builders => builders::builders(mesh.as_deref(), common.json),
            Name::Instances => instances::against_triangles(side(256), *triangles, common.json),
            Name::Growth => growth::rays((*tree).into(), side(1024), *triangles, common.json),
            Name::Large => large::mesh(triangles.unwrap_or(large::TRIANGLES), image_size(*size, large::SIZE)),
        }
    }
}

fn main() -> anyhow::Result<()> {
    common::main::<Arguments>()
}
