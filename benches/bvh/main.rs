//! Builders, instances and traversal of bounding volume hierarchies: `cargo bench --bench bvh --
//! NAME`.

#[path = "../common/mod.rs"]
mod common;

mod builders;
mod growth;
mod instances;
mod large;

use clap::{Parser, ValueEnum};
use common::{Common, Prints};
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
    /// Square root of the number of rays for `growth`
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u16).range(1..=8192))]
    size: u16,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
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

fn main() -> anyhow::Result<()> {
    let Arguments { name, mesh, tree, size, common } = Arguments::parse();
    let prints = if matches!(name, Name::Large) { Prints::Nothing } else { Prints::Table };
    common.run(prints, || match name {
        Name::Builders => builders::builders(mesh.as_deref(), common.json),
        Name::Instances => instances::against_triangles(common.json),
        Name::Growth => growth::rays(tree.into(), size.into(), common.json),
        Name::Large => large::mesh(),
    })
}
