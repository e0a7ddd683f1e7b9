//! Mesh files: bytes in, [`Faces`] in the file's own space out.

pub(super) mod mtl;
mod obj;
mod ply;

use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::polygon::triangulate;
use shadewright_geometry::{Channel, Faces};
use std::path::Path;

/// A kind of mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY.
    Ply,
}

/// A mesh and what there was to remark on.
#[derive(Debug)]
pub(super) struct MeshFile {
    /// The mesh, in its own space.
    pub faces: Faces,
    /// The materials that it names.
    pub materials: MaterialNames,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// The number of no material.
pub(super) const NO_MATERIAL: u32 = u32::MAX;

/// Materials as a mesh file names them.
#[derive(Debug, Default)]
pub(super) struct MaterialNames {
    /// Files that declare them, as they are named.
    pub libraries: Vec<String>,
    /// The names, each once.
    pub names: Vec<String>,
    /// Of each triangle, the number of its material's name, or [`NO_MATERIAL`]; empty where the
    /// kind of file has no materials.
    pub of_triangle: Vec<u32>,
}

/// The kind that a path's extension names, under `.gz` too.
pub(super) fn kind_of(path: &Path) -> Option<MeshFormat> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "obj" => Some(MeshFormat::Obj),
        "ply" => Some(MeshFormat::Ply),
        _ => None,
    }
}

/// Reads a mesh; `name` names the file in messages.
///
/// # Errors
///
/// When the file is not of its kind, is cut off, has indices out of range, coordinates that are not
/// finite, or no faces.
pub(super) fn read(kind: MeshFormat, bytes: &[u8], name: &str) -> Result<MeshFile, Diagnostic> {
    let mesh = match kind {
        MeshFormat::Obj => obj::read(bytes, name)?,
        MeshFormat::Ply => ply::read(bytes, name)?,
    };
    if let Some(i) = mesh.faces.points.iter().position(|p| !p.is_finite()) {
        return Err(Diagnostic::error(format!("`{name}`: vertex {i} has coordinates that are not finite numbers"))
            .hint("the program that wrote this file divided by zero or overflowed"));
    }
    if mesh.faces.triangles.is_empty() {
        return Err(Diagnostic::error(format!("`{name}` holds no faces")));
    }
    Ok(mesh)
}

/// The mean color is linear; files hold sRGB bytes (IEC 61966-2-1).
fn linear(byte: f32) -> f32 {
    if byte <= 0.04045 { byte / 12.92 } else { ((byte + 0.055) / 1.055).powf(2.4) }
}

/// Faces that are cut into triangles as they come.
#[derive(Default)]
struct Cutter {
    triangles: Vec<[u32; 3]>,
    corners: Vec<Vec3>,
    cut: Vec<[u32; 3]>,
}

impl Cutter {
    /// Adds a face over points.
    ///
    /// # Errors
    /// An index that is out of range, and a face that cannot be cut.
    fn add(&mut self, face: &[u32], points: &[Vec3]) -> Result<&[[u32; 3]], String> {
        let missing = || format!("names a vertex that does not exist ({} do)", points.len());
        self.cut.clear();
        if let [a, b, c] = *face {
            let n = points.len() as u32;
            if a.max(b).max(c) >= n {
                return Err(missing());
            }
            self.cut.push([0, 1, 2]);
            self.triangles.push([a, b, c]);
            return Ok(&self.cut);
        }
        self.corners.clear();
        for &i in face {
            self.corners.push(*points.get(i as usize).ok_or_else(missing)?);
        }
        triangulate(&self.corners, &mut self.cut).map_err(|e| format!("is {e}"))?;
        self.triangles.extend(self.cut.iter().map(|t| t.map(|k| face[k as usize])));
        Ok(&self.cut)
    }
}

/// A channel per point, or absent where the file brought nothing or not one value a point.
fn per_point<T>(values: Vec<T>, points: usize) -> Channel<T> {
    if values.len() == points && points > 0 { Channel::PerPoint(values) } else { Channel::Absent }
}
