//! Meshes: files, and procedural meshes of any size.

use super::{diagnostics, repository};
use anyhow::anyhow;
use shadewright::bvh::Triangle;
use shadewright::geometry::{Faces, procedural};
use shadewright::scene;
use shadewright::text::source::SourceMap;
use std::path::{Path, PathBuf};

/// The most triangles of a procedural mesh.
const MOST: usize = 20_000_000;

/// The mesh of `--mesh`, or the Stanford bunny in the folder that `SHADEWRIGHT_MESHES` names, if it
/// is there.
pub fn path(named: Option<&Path>) -> Option<PathBuf> {
    let bunny = || {
        let folder =
            std::env::var_os("SHADEWRIGHT_MESHES").map_or_else(|| repository("../shared/meshes"), PathBuf::from);
        Some(folder.join("bunny.ply")).filter(|path| path.exists())
    };
    named.map(Path::to_path_buf).or_else(bunny)
}

/// The triangles of a mesh file, or of a procedural mesh of N triangles, named `sheet:N` or
/// `clutter:N`.
///
/// # Errors
/// When the file has errors, or N is too large.
pub fn triangles(path: &Path) -> anyhow::Result<Vec<Triangle>> {
    if let Some(mesh) = path.to_str().and_then(procedural_mesh) {
        return Ok(triangles_of(&mesh?));
    }
    let mut sources = SourceMap::new();
    let opened =
        scene::open(path, &scene::OpenOptions::default(), &mut sources).map_err(|d| diagnostics(&d, &sources))?;
    Ok(shadewright::program::memory::bvh_triangles(&opened.scene))
}

/// The procedural mesh of a name such as `clutter:1000`; `None` for other names.
fn procedural_mesh(name: &str) -> Option<anyhow::Result<Faces>> {
    let (rule, count) = name.split_once(':')?;
    let make = match rule {
        "sheet" => procedural::sheet,
        "clutter" => procedural::clutter,
        _ => return None,
    };
    let count = count.parse().ok().filter(|count| (1..=MOST).contains(count));
    Some(
        count
            .map(make)
            .ok_or_else(|| anyhow!("`{name}`: the number of triangles must be from 1 to {MOST}, as in {rule}:100000")),
    )
}

/// The triangles of a mesh's faces.
pub fn triangles_of(mesh: &Faces) -> Vec<Triangle> {
    let corner = |i: u32| mesh.points[i as usize];
    mesh.triangles.iter().map(|&[a, b, c]| Triangle::new(corner(a), corner(b), corner(c))).collect()
}
