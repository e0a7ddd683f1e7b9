//! Wavefront OBJ, parsed by `tobj`. Materials are kept by their names: who reads the file says how
//! they look.

use super::{Cutter, MaterialNames, MeshFile, NO_MATERIAL};
use glam::{Vec2, Vec3};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::{Channel, Faces};
use std::cell::Cell;
use std::collections::HashSet;
use std::io::Read;
use tobj::LoadOptions;

/// A statement before the file's own, at which the parser takes the names of its materials.
const FIRST: &[u8] = b"mtllib _\n";

/// Reads a mesh; all objects and groups become one.
pub(super) fn read(bytes: &[u8], name: &str) -> Result<MeshFile, Diagnostic> {
    let fail = |what: String| Diagnostic::error(format!("`{name}` is not a usable OBJ file: {what}"));
    // Faces stay whole, so that concave ones can be cut properly, and each attribute keeps its own
    // indices, so that normals can be computed across texture seams.
    let options = LoadOptions { ignore_points: true, ignore_lines: true, ..LoadOptions::default() };
    let materials = materials(bytes);
    let is_first = Cell::new(true);
    let named = |_: &std::path::Path| {
        let names = if is_first.replace(false) { &materials.names[..] } else { &[] };
        let made = names.iter().map(|name| tobj::Material { name: name.clone(), ..Default::default() });
        Ok((made.collect(), names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect::<_>()))
    };
    let (models, _) = tobj::load_obj_buf(&mut FIRST.chain(bytes), &options, named).map_err(|e| fail(e.to_string()))?;

    let mut merged = Merged { materials, ..Merged::default() };
    for model in models {
        merged.add(model.mesh).map_err(fail)?;
    }
    Ok(merged.finish())
}

/// The libraries and the names of materials in a file.
fn materials(bytes: &[u8]) -> MaterialNames {
    let mut found = MaterialNames::default();
    let (mut libraries, mut names) = (HashSet::new(), HashSet::new());
    for line in bytes.split(|&b| b == b'\n') {
        let line = line.trim_ascii();
        let after = |word: &[u8]| {
            let rest = line.strip_prefix(word).filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))?;
            Some(String::from_utf8_lossy(rest.trim_ascii()).into_owned()).filter(|name| !name.is_empty())
        };
        if let Some(library) = after(b"mtllib").filter(|library| libraries.insert(library.clone())) {
            found.libraries.push(library);
        } else if let Some(material) = after(b"usemtl").filter(|material| names.insert(material.clone())) {
            found.names.push(material);
        }
    }
    found
}

/// Values with the corners' indices, where every face so far has had them.
struct Corners<T> {
    values: Vec<T>,
    indices: Vec<[u32; 3]>,
    complete: bool,
    used: bool,
}

impl<T> Default for Corners<T> {
    fn default() -> Self {
        Self { values: Vec::new(), indices: Vec::new(), complete: true, used: false }
    }
}

impl<T> Corners<T> {
    fn into_channel(self) -> Channel<T> {
        if self.complete && self.used {
            Channel::PerCorner { indices: self.indices, values: self.values }
        } else {
            Channel::Absent
        }
    }
}

#[derive(Default)]
struct Merged {
    points: Vec<Vec3>,
    colors: Vec<Vec3>,
    cutter: Cutter,
    normals: Corners<Vec3>,
    texture: Corners<Vec2>,
    materials: MaterialNames,
}

impl Merged {
    fn add(&mut self, mesh: tobj::Mesh) -> Result<(), String> {
        let finite = |v: &[f32]| v.iter().all(|x| x.is_finite());
        if !finite(&mesh.normals) || !finite(&mesh.texcoords) || !finite(&mesh.vertex_color) {
            return Err("its normals, texture coordinates or colors are not finite numbers".to_string());
        }
        if self.points.len() + mesh.positions.len() / 3 > u32::MAX as usize {
            return Err("too many vertices".to_string());
        }
        let material = mesh.material_id.map_or(NO_MATERIAL, |number| number as u32);
        let base = self.points.len() as u32;
        let (normal_base, texture_base) = (self.normals.values.len() as u32, self.texture.values.len() as u32);
        self.points.extend(mesh.positions.chunks_exact(3).map(Vec3::from_slice));
        self.colors.extend(mesh.vertex_color.chunks_exact(3).map(Vec3::from_slice));
        self.normals.values.extend(mesh.normals.chunks_exact(3).map(Vec3::from_slice));
        self.texture.values.extend(mesh.texcoords.chunks_exact(2).map(Vec2::from_slice));

        let total = mesh.indices.len();
        self.normals.complete &= mesh.normal_indices.len() == total;
        self.texture.complete &= mesh.texcoord_indices.len() == total;
        self.normals.used |= total > 0;
        self.texture.used |= total > 0;
        let mut start = 0;
        let mut face = Vec::new();
        let all_triangles = mesh.face_arities.is_empty();
        let count = if all_triangles { total / 3 } else { mesh.face_arities.len() };
        for number in 0..count {
            let n = if all_triangles { 3 } else { mesh.face_arities[number] as usize };
            let corners = start..start + n;
            start += n;
            face.clear();
            face.extend(mesh.indices.get(corners.clone()).ok_or("a face is cut off")?.iter().map(|i| base + i));
            let cut = self.cutter.add(&face, &self.points).map_err(|why| format!("a face {why}"))?;
            if self.normals.complete {
                let indices = &mesh.normal_indices[corners.clone()];
                self.normals.indices.extend(cut.iter().map(|t| t.map(|k| normal_base + indices[k as usize])));
            }
            if self.texture.complete {
                let indices = &mesh.texcoord_indices[corners];
                self.texture.indices.extend(cut.iter().map(|t| t.map(|k| texture_base + indices[k as usize])));
            }
        }
        self.materials.of_triangle.resize(self.cutter.triangles.len(), material);
        Ok(())
    }

    fn finish(self) -> MeshFile {
        let Merged { points, colors, cutter, normals, texture, materials } = self;
        let in_range = |indices: &[[u32; 3]], n: usize| indices.iter().flatten().all(|&i| (i as usize) < n);
        let mut warnings = Vec::new();
        if normals.used && !normals.complete && !normals.values.is_empty() {
            warnings.push(Diagnostic::warning("some faces of the mesh bring no normals: all are computed"));
        }
        let colors = super::per_point(colors, points.len());
        let normals =
            if in_range(&normals.indices, normals.values.len()) { normals.into_channel() } else { Channel::Absent };
        let st =
            if in_range(&texture.indices, texture.values.len()) { texture.into_channel() } else { Channel::Absent };
        let faces = Faces { points, triangles: cutter.triangles, normals, st, colors, ..Faces::default() };
        MeshFile { faces, materials, warnings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faces(text: &str) -> Faces {
        read(text.as_bytes(), "m.obj").unwrap().faces
    }

    const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

    #[test]
    fn polygons_are_cut_and_points_shared() {
        let f = faces(&format!("{SQUARE}f 1 2 3 4\n"));
        assert_eq!(f.points.len(), 4);
        assert_eq!(f.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!((f.normals, f.st), (Channel::Absent, Channel::Absent));
    }

    #[test]
    fn normals_and_texture_coordinates_keep_their_own_indices() {
        let f = faces(&format!("{SQUARE}vt 0 0\nvt 1 1\nvn 0 0 1\nf 1/1/1 2/2/1 3/1/1\nf 1/2/1 3/2/1 4/1/1\n"));
        let value = |t: usize, k: usize| f.st.at(t, k, f.triangles[t][k]);
        assert_eq!([value(0, 0), value(0, 1), value(1, 0)], [Some(Vec2::ZERO), Some(Vec2::ONE), Some(Vec2::ONE)]);
        assert_eq!(f.normals.at(1, 2, 3), Some(Vec3::Z));
        assert_eq!(f.points.len(), 4);
    }

    #[test]
    fn objects_are_merged_and_negative_indices_resolved() {
        let f = faces("o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no b\nv 0 0 5\nv 1 0 5\nv 0 1 5\nf -3 -2 -1\n");
        assert_eq!(f.triangles.len(), 2);
        assert_eq!(f.points[f.triangles[1][0] as usize], Vec3::new(0.0, 0.0, 5.0));
    }

    #[test]
    fn triangles_have_the_material_that_stands_before_them() {
        let text = "f 1 2 3\nusemtl a b\nmtllib m.mtl\nf 1 2 3 4\ng other\nusemtl c\nf 1 2 3\nusemtl a b\nf 1 2 4\n";
        let materials = read(format!("{SQUARE}{text}").as_bytes(), "m.obj").unwrap().materials;
        assert_eq!((materials.libraries, materials.names), (vec!["m.mtl".to_string()], vec!["a b".into(), "c".into()]));
        assert_eq!(materials.of_triangle, [NO_MATERIAL, 0, 0, 1, 0]);
    }

    #[test]
    fn an_index_out_of_range_is_an_error() {
        let message = |text: String| read(text.as_bytes(), "m.obj").unwrap_err().message;
        assert!(message(format!("{SQUARE}f 1 2 9\n")).starts_with("`m.obj` is not a usable OBJ file: "));
        assert!(message("v 0 zero 0\n".to_string()).contains("position"));
    }
}
