//! Tangent frames at the vertices of a mesh: what the colors of a normal map are directions in.
//!
//! From texture coordinates, as MikkTSpace does (Mikkelsen, "Simulation of Wrinkled Surfaces
//! Revisited", 2008, §3.3.1): at each vertex the mean of its triangles' tangents, laid into the
//! plane across the normal and weighted by the angle there; triangles whose texture is mirrored
//! count by themselves, and get vertices of their own.

use super::Mesh;
use super::normals::{angle, face_normal};
use super::primvar::{Primvar, PrimvarKind, PrimvarPlace, PrimvarType, PrimvarValues};
use glam::{Vec2, Vec3};

/// Adds two vectors a vertex to the variables of a mesh, under these names: of length 1, across the
/// normal, in the direction in which the first texture coordinate rises and in that in which the
/// second falls (up in an image whose rows come from the top). `uv` has the texture coordinates of
/// each vertex.
pub fn add_frames(mesh: &mut Mesh, uv: &[Vec2], names: [&str; 2]) {
    let faces: Vec<Face> = (0..mesh.triangles.len()).map(|t| Face::new(mesh, uv, t)).collect();
    split_mirrored(mesh, &faces);
    let mut sums = vec![(Vec3::ZERO, false); mesh.positions.len()];
    for (t, face) in faces.iter().enumerate() {
        let [a, b, c] = mesh.corners(t);
        let angles = [angle(a, b, c), angle(b, c, a), angle(c, a, b)];
        for (vertex, angle) in mesh.triangles[t].into_iter().zip(angles) {
            let across = across(face.tangent, mesh.normals[vertex as usize]);
            let (sum, mirrored) = &mut sums[vertex as usize];
            *sum += angle * across;
            *mirrored |= face.mirrored == Some(true);
        }
    }
    let frames = mesh.normals.iter().zip(&sums).map(|(&normal, &(sum, mirrored))| {
        let tangent = match across(sum, normal) {
            Vec3::ZERO => normal.any_orthonormal_vector(),
            tangent => tangent,
        };
        let side = normal.cross(tangent);
        (tangent, if mirrored { -side } else { side })
    });
    let (tangents, bitangents): (Vec<Vec3>, Vec<Vec3>) = frames.unzip();
    for (name, values) in names.into_iter().zip([tangents, bitangents]) {
        mesh.primvars.push(Primvar {
            kind: PrimvarKind { name: name.into(), ty: PrimvarType::Vector, array: None },
            place: PrimvarPlace::Vertices,
            values: PrimvarValues::Numbers(values.iter().flat_map(|v| v.to_array()).collect()),
        });
    }
}

/// The part of a vector across a normal, made unit; zero where there is none.
fn across(v: Vec3, normal: Vec3) -> Vec3 {
    (v - v.dot(normal) * normal).normalize_or_zero()
}

/// How a texture lies on a triangle.
struct Face {
    /// In which direction its first coordinate rises; zero where it does not.
    tangent: Vec3,
    /// True if it is seen mirrored from the side of the normal; `None` where it has no area there.
    mirrored: Option<bool>,
}

impl Face {
    fn new(mesh: &Mesh, uv: &[Vec2], triangle: usize) -> Self {
        let corners = mesh.corners(triangle);
        let [a, b, c] = mesh.triangles[triangle].map(|i| uv[i as usize].as_dvec2());
        let [p, q, r] = corners.map(|p| p.as_dvec3());
        let (to_b, to_c) = (b - a, c - a);
        let area = to_b.perp_dot(to_c);
        let tangent = ((q - p) * to_c.y - (r - p) * to_b.y) * area.signum();
        // Rows come from the top: an image that is not mirrored turns the other way round than the
        // triangle.
        let outward = face_normal(corners).dot(mesh.triangles[triangle].map(|i| mesh.normals[i as usize]).iter().sum());
        let mirrored = (area != 0.0).then_some((area > 0.0) == (outward >= 0.0));
        Self { tangent: if area == 0.0 { Vec3::ZERO } else { tangent.normalize_or_zero().as_vec3() }, mirrored }
    }
}

/// Gives triangles whose texture is mirrored vertices of their own where they share some with
/// others.
fn split_mirrored(mesh: &mut Mesh, faces: &[Face]) {
    let count = mesh.positions.len();
    let mut side: Vec<Option<bool>> = vec![None; count];
    let mut copy: Vec<Option<u32>> = vec![None; count];
    let mut sources: Vec<u32> = (0..count as u32).collect();
    for (triangle, face) in mesh.triangles.iter_mut().zip(faces) {
        let Some(mirrored) = face.mirrored else { continue };
        for vertex in triangle {
            let i = *vertex as usize;
            if *side[i].get_or_insert(mirrored) != mirrored {
                *vertex = *copy[i].get_or_insert_with(|| {
                    sources.push(*vertex);
                    sources.len() as u32 - 1
                });
            }
        }
    }
    if sources.len() > count {
        mesh.gather_vertices(&sources);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles of the unit square in z = 0 with normal +z, and the values of its two
    /// variables at a vertex.
    fn framed(uv: [Vec2; 4]) -> (Mesh, impl Fn(&Mesh, usize) -> [Vec3; 2]) {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y];
        let mut mesh =
            Mesh { positions, normals: vec![Vec3::Z; 4], triangles: vec![[0, 1, 2], [0, 2, 3]], ..Mesh::default() };
        add_frames(&mut mesh, &uv, ["t", "b"]);
        (mesh, |mesh: &Mesh, i| [0, 1].map(|k| Vec3::from_slice(mesh.primvars[k].numbers(i))))
    }

    #[test]
    fn a_image_that_hangs_upright_has_its_tangents_to_the_right_and_up() {
        // The upper left corner of the image is (0, 0).
        let (mesh, frame) = framed([Vec2::Y, Vec2::ONE, Vec2::X, Vec2::ZERO]);
        assert_eq!(mesh.positions.len(), 4);
        assert!((0..4).all(|i| frame(&mesh, i) == [Vec3::X, Vec3::Y]));
    }

    #[test]
    fn a_mirrored_image_still_has_its_second_tangent_up() {
        let (mesh, frame) = framed([Vec2::ONE, Vec2::Y, Vec2::ZERO, Vec2::X]);
        assert!((0..4).all(|i| frame(&mesh, i) == [-Vec3::X, Vec3::Y]));
    }

    #[test]
    fn triangles_on_both_sides_of_a_mirror_share_no_vertices() {
        // The second triangle's fourth corner lies where the second one's does.
        let (mesh, frame) = framed([Vec2::Y, Vec2::ONE, Vec2::X, Vec2::ONE]);
        assert_eq!(mesh.positions.len(), 6);
        let [first, second] = [mesh.triangles[0][0], mesh.triangles[1][0]].map(|v| frame(&mesh, v as usize));
        let turned = |[t, b]: [Vec3; 2]| t.cross(b).z;
        assert!((turned(first) - 1.0).abs() < 1e-6 && (turned(second) + 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_texture_without_area_gives_some_frame_across_the_normal() {
        let (mesh, frame) = framed([Vec2::ZERO; 4]);
        let [t, b] = frame(&mesh, 0);
        assert!(t.dot(Vec3::Z).abs() < 1e-6 && (t.length() - 1.0).abs() < 1e-6 && t.cross(b).z > 0.99);
    }
}
