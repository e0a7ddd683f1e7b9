//! Meshes: one of the document for each pair of a mesh and a material; instances share it.

use super::Writer;
use super::materials::Written;
use glam::{Mat4, Vec2, Vec3};
use serde_json::{Map, Value, json};
use shadewright_geometry::Mesh;
use shadewright_geometry::primvar::{Primvar, PrimvarPlace, PrimvarValues};
use shadewright_geometry::tangents;
use shadewright_scene::{MeshSpace, Object};
use std::collections::HashMap;
use std::sync::Arc;

/// Names of the variables that materials look textures up by, after `s` and `t`.
const COORDINATES: [&str; 2] = ["texcoord1", "texcoord2"];
/// Names of the variables that are the tangents of normal maps.
const TANGENTS: [&str; 2] = ["tangent", "bitangent"];
/// How many lengths are tried for a normal.
const LENGTHS: u32 = 8192;
/// How far components of tangents may be from those that a reader finds.
const SAME: f32 = 1e-5;
/// How far a transform may be from one that moves, turns and scales.
const SKEWED: f32 = 1e-5;

/// The meshes so far.
#[derive(Debug, Default)]
pub struct Meshes {
    known: HashMap<(*const Mesh, usize), usize>,
}

impl Meshes {
    /// The number of the document's mesh for an object, and where it lies.
    pub fn write(&mut self, writer: &mut Writer<'_>, object: &Object, material: &Written) -> (usize, Mat4) {
        let flip = writer.flip;
        let placed = flip * object.object_to_world * flip;
        let mut unplaced = None;
        let placed = match object.mesh_space {
            // Tangents have length 1 in the mesh's own space, in which others made them.
            MeshSpace::World if material.tangents.is_some() && !is_skewed(placed) && placed != Mat4::IDENTITY => {
                unplaced = Some(object.mesh.transformed(object.object_to_world.inverse()));
                placed
            }
            MeshSpace::World => Mat4::IDENTITY,
            // Nodes only move, turn and scale.
            MeshSpace::Object if is_skewed(placed) => {
                let mesh = object.mesh.transformed(flip * object.object_to_world);
                return (add(writer, &mesh, material), Mat4::IDENTITY);
            }
            MeshSpace::Object => placed,
        };
        let key = (Arc::as_ptr(&object.mesh), material.index);
        if let Some(&known) = self.known.get(&key) {
            return (known, placed);
        }
        let mesh = unplaced.as_ref().unwrap_or(&object.mesh);
        let number = match flip == Mat4::IDENTITY {
            true => add(writer, mesh, material),
            false => add(writer, &mesh.transformed(flip), material),
        };
        self.known.insert(key, number);
        (number, placed)
    }
}

/// True if a transform does more than a node can.
fn is_skewed(m: Mat4) -> bool {
    let (scale, rotation, translation) = m.to_scale_rotation_translation();
    let again = Mat4::from_scale_rotation_translation(scale, rotation, translation);
    let size = m.to_cols_array().into_iter().fold(0.0, |size: f32, x| size.max(x.abs()));
    !again.abs_diff_eq(m, SKEWED * size)
}

/// Adds a mesh of one primitive; gives its number.
fn add(writer: &mut Writer<'_>, mesh: &Mesh, material: &Written) -> usize {
    let corners = per_corner(mesh);
    let mesh = corners.as_ref().unwrap_or(mesh);
    let buffer = &mut writer.buffer;
    let mut attributes = Map::new();
    let mut attribute = |name: &str, accessor: usize| attributes.insert(name.to_string(), accessor.into());
    let triples = |values: &[Vec3]| values.iter().map(Vec3::to_array).collect::<Vec<_>>();
    attribute("POSITION", buffer.floats(&triples(&mesh.positions), true));
    let normals: Vec<[f32; 3]> = mesh.normals.iter().map(|&n| before_unit(n).to_array()).collect();
    attribute("NORMAL", buffer.floats(&normals, false));
    if !(mesh.st.is_empty() && mesh.uv.is_empty()) {
        let st: Vec<[f32; 2]> = (0..mesh.positions.len() as u32).map(|i| mesh.st_at(i).to_array()).collect();
        attribute("TEXCOORD_0", buffer.floats(&st, false));
    }
    for (number, name) in COORDINATES.into_iter().enumerate() {
        if let Some(values) = variable(mesh, name, 2) {
            let (pairs, _) = values.as_chunks::<2>();
            attribute(&format!("TEXCOORD_{}", number + 1), buffer.floats(pairs, false));
        }
    }
    if let Some(tangents) = given_tangents(mesh, material) {
        attribute("TANGENT", buffer.floats(&tangents, false));
    }
    let (colors, opacities) = (&mesh.vertex_colors, &mesh.vertex_opacities);
    if !opacities.is_empty() {
        let color = |i: usize| colors.get(i).copied().unwrap_or(Vec3::ONE);
        let all =
            opacities.iter().enumerate().map(|(i, opacity)| color(i).extend(opacity.element_sum() / 3.0).to_array());
        attribute("COLOR_0", buffer.floats(&all.collect::<Vec<_>>(), false));
    } else if !colors.is_empty() {
        attribute("COLOR_0", buffer.floats(&triples(colors), false));
    }
    let indices = buffer.indices(&mesh.triangles);
    let primitive = json!({ "attributes": Value::from(attributes), "indices": indices, "material": material.index });
    let meshes = writer.lists.entry("meshes").or_default();
    meshes.push(json!({ "primitives": [primitive] }));
    meshes.len() - 1
}

/// A mesh whose triangles share no vertices, where colors differ between triangles: glTF has values
/// at vertices only.
fn per_corner(mesh: &Mesh) -> Option<Mesh> {
    if mesh.triangle_colors.is_empty() && mesh.triangle_opacities.is_empty() {
        return None;
    }
    let mut apart = mesh.clone();
    let corners = mesh.triangles.as_flattened();
    apart.gather_vertices(corners);
    let spread = |values: &mut Vec<Vec3>| std::mem::take(values).into_iter().flat_map(|v| [v; 3]).collect::<Vec<_>>();
    let (colors, opacities) = (spread(&mut apart.triangle_colors), spread(&mut apart.triangle_opacities));
    apart.vertex_colors = if colors.is_empty() { apart.vertex_colors } else { colors };
    apart.vertex_opacities = if opacities.is_empty() { apart.vertex_opacities } else { opacities };
    apart.triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Some(apart)
}

/// The numbers of a variable of so many components that differs between vertices.
fn variable<'a>(mesh: &'a Mesh, name: &str, components: usize) -> Option<&'a [f32]> {
    let variable = mesh.primvars.iter().find(|v| *v.kind.name == *name)?;
    match &variable.values {
        PrimvarValues::Numbers(numbers)
            if variable.place == PrimvarPlace::Vertices && variable.kind.width() == components =>
        {
            Some(numbers)
        }
        _ => None,
    }
}

/// The tangents of a mesh whose material has a normal map, unless a reader finds the same from its
/// texture coordinates.
fn given_tangents(mesh: &Mesh, material: &Written) -> Option<Vec<[f32; 4]>> {
    let coordinates = material.tangents?;
    let [tangents, bitangents] = TANGENTS.map(|name| variable(mesh, name, 3));
    let (tangents, bitangents) = (tangents?, bitangents?);
    let is_frame = |variable: &Primvar| TANGENTS.contains(&&*variable.kind.name);
    let mut plain = mesh.clone();
    plain.primvars.retain(|variable| !is_frame(variable));
    let second = coordinates.checked_sub(1).and_then(|i| variable(mesh, COORDINATES.get(i as usize)?, 2));
    let uv = |i: usize| second.map_or_else(|| mesh.st_at(i as u32), |v| Vec2::from_slice(&v[2 * i..]));
    let uv: Vec<Vec2> = (0..mesh.positions.len()).map(uv).collect();
    tangents::add_frames(&mut plain, &uv, TANGENTS);
    let found = TANGENTS.map(|name| variable(&plain, name, 3));
    let is_same = |a: &[f32], b: Option<&[f32]>| {
        b.is_some_and(|b| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME))
    };
    if is_same(tangents, found[0]) && is_same(bitangents, found[1]) {
        return None;
    }
    let frames = tangents.chunks_exact(3).zip(bitangents.chunks_exact(3)).zip(&mesh.normals);
    let frames = frames.map(|((t, b), normal)| {
        let (t, b) = (Vec3::from_slice(t), Vec3::from_slice(b));
        let side = if normal.cross(t).dot(b) < 0.0 { -1.0 } else { 1.0 };
        t.extend(side).to_array()
    });
    Some(frames.collect())
}

/// A vector that readers, which make normals unit, make this one of: it may differ in length by a
/// thousandth. Itself where there is none nearby.
fn before_unit(normal: Vec3) -> Vec3 {
    let unit = |v: Vec3| v.as_dvec3().normalize_or_zero().as_vec3();
    let lengths = (0..LENGTHS).map(|k| 1.0 + k as f32 * f32::EPSILON);
    lengths.map(|length| normal * length).find(|&v| unit(v) == normal).unwrap_or(normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_geometry::primvar::{PrimvarKind, PrimvarType};

    #[test]
    fn normals_become_what_they_were_when_they_are_made_unit() {
        let unit = |v: Vec3| v.as_dvec3().normalize_or_zero().as_vec3();
        // Exact operations alone: the same normals on every machine.
        let part = |x: f32| x.fract() - 0.5;
        for i in 0..20_000 {
            let x = i as f32;
            let normal = unit(Vec3::new(part(0.618_034 * x), part(0.754_877_7 * x), part(0.569_840_3 * x)));
            assert_eq!(unit(before_unit(normal)), normal, "{i}");
        }
    }

    #[test]
    fn tangents_that_texture_coordinates_give_are_left_out() {
        let mut mesh = Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            normals: vec![Vec3::Z; 3],
            st: vec![Vec2::ZERO, Vec2::X, Vec2::Y],
            triangles: vec![[0, 1, 2]],
            ..Mesh::default()
        };
        let material = Written { index: 0, tangents: Some(0) };
        assert_eq!(given_tangents(&mesh, &material), None, "there are none");
        let uv = mesh.st.clone();
        tangents::add_frames(&mut mesh, &uv, TANGENTS);
        assert_eq!(given_tangents(&mesh, &material), None);
        let kind = PrimvarKind { name: "tangent".into(), ty: PrimvarType::Vector, array: None };
        let values = PrimvarValues::Numbers([0.0, 1.0, 0.0].repeat(3));
        mesh.primvars[0] = Primvar { kind, place: PrimvarPlace::Vertices, values };
        assert_eq!(given_tangents(&mesh, &material).map(|t| t.len()), Some(3));
    }

    #[test]
    fn colors_of_triangles_become_colors_of_their_corners() {
        let mesh = Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE],
            normals: vec![Vec3::Z; 4],
            triangles: vec![[0, 1, 2], [1, 3, 2]],
            triangle_colors: vec![Vec3::X, Vec3::Y],
            ..Mesh::default()
        };
        let apart = per_corner(&mesh).expect("it has such colors");
        assert_eq!(apart.corners(1), mesh.corners(1));
        assert_eq!(apart.vertex_colors, [[Vec3::X; 3], [Vec3::Y; 3]].concat());
    }
}
