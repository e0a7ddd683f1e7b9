//! The meshes that measurements take: files, and meshes made by rule in any size.

use crate::cli::args::BenchArgs;
use crate::cli::exit::Failure;
use shadewright::bvh::Triangle;
use shadewright::geometry::{Faces, procedural};
use shadewright::scene;
use shadewright::text::source::SourceMap;
use std::path::{Path, PathBuf};

/// The most triangles of a mesh made by rule.
const MOST: usize = 20_000_000;

/// The mesh of `--mesh`, or the bunny of the test meshes.
pub fn path(args: &BenchArgs) -> Result<PathBuf, Failure> {
    if let Some(path) = &args.mesh {
        return Ok(path.clone());
    }
    let folder = std::env::var_os("SHADEWRIGHT_MESHES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/meshes"), PathBuf::from);
    let bunny = folder.join("bunny.ply");
    if bunny.exists() {
        return Ok(bunny);
    }
    Err(Failure::input(format!(
        "error: {} is not there; name a mesh with --mesh FILE, or the folder of bunny.ply in SHADEWRIGHT_MESHES",
        bunny.display()
    )))
}

/// The triangles of a mesh file, or of a mesh made by rule, which is named `sheet:N` or `clutter:N` for N triangles.
pub fn triangles(path: &Path) -> Result<Vec<Triangle>, Failure> {
    if let Some(mesh) = path.to_str().and_then(by_rule) {
        return Ok(triangles_of(&mesh?));
    }
    let mut sources = SourceMap::new();
    let opened = scene::open(path, &scene::OpenOptions::default(), &mut sources)
        .map_err(|d| Failure::diagnostics(&d, &sources))?;
    Ok(shadewright::program::memory::bvh_triangles(&opened.scene))
}

/// The mesh that a name like `clutter:1000` makes; `None` for other names.
fn by_rule(name: &str) -> Option<Result<Faces, Failure>> {
    let (rule, count) = name.split_once(':')?;
    let make = match rule {
        "sheet" => procedural::sheet,
        "clutter" => procedural::clutter,
        _ => return None,
    };
    let count = count.parse().ok().filter(|count| (1..=MOST).contains(count));
    Some(count.map(make).ok_or_else(|| {
        Failure::input(format!(
            "error: `{name}`: the number of triangles must be from 1 to {MOST}, as in {rule}:100000"
        ))
    }))
}

/// The triangles of a mesh's faces.
pub fn triangles_of(mesh: &Faces) -> Vec<Triangle> {
    let corner = |i: u32| mesh.points[i as usize];
    mesh.triangles.iter().map(|&[a, b, c]| Triangle::new(corner(a), corner(b), corner(c))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_is_made_by_its_name() {
        for name in ["sheet:200", "clutter:200"] {
            assert!(triangles(Path::new(name)).is_ok_and(|t| (200..900).contains(&t.len())), "{name}");
        }
        for name in ["sheet:", "clutter:0", "clutter:-1", "sheet:99999999999"] {
            assert!(by_rule(name).is_some_and(|mesh| mesh.is_err()), "{name}");
        }
        assert!(by_rule("C:\\bunny.ply").is_none());
    }
}
