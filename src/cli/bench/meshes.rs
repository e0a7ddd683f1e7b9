//! Meshes for measurements: files, and procedural meshes of any size.

use crate::cli::failure::Failure;
use shadewright::bvh::Triangle;
use shadewright::geometry::{Faces, procedural};
use shadewright::scene;
use shadewright::text::source::SourceMap;
use std::path::Path;

/// The most triangles of a procedural mesh.
const MOST: usize = 20_000_000;

/// The triangles of a mesh file, or of a procedural mesh of N triangles, named `sheet:N` or
/// `clutter:N`.
pub fn triangles(path: &Path) -> Result<Vec<Triangle>, Failure> {
    if let Some(mesh) = path.to_str().and_then(procedural_mesh) {
        return Ok(triangles_of(&mesh?));
    }
    let mut sources = SourceMap::new();
    let opened = scene::open(path, &scene::OpenOptions::default(), &mut sources)
        .map_err(|d| Failure::diagnostics(&d, &sources))?;
    Ok(shadewright::program::memory::bvh_triangles(&opened.scene))
}

/// The procedural mesh of a name such as `clutter:1000`; `None` for other names.
fn procedural_mesh(name: &str) -> Option<Result<Faces, Failure>> {
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
fn triangles_of(mesh: &Faces) -> Vec<Triangle> {
    let corner = |i: u32| mesh.points[i as usize];
    mesh.triangles.iter().map(|&[a, b, c]| Triangle::new(corner(a), corner(b), corner(c))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedural_meshes_have_names() {
        for name in ["sheet:200", "clutter:200"] {
            assert!(triangles(Path::new(name)).is_ok_and(|t| (200..900).contains(&t.len())), "{name}");
        }
        for name in ["sheet:", "clutter:0", "clutter:-1", "sheet:99999999999"] {
            assert!(procedural_mesh(name).is_some_and(|mesh| mesh.is_err()), "{name}");
        }
        assert!(procedural_mesh("C:\\bunny.ply").is_none());
    }
}
