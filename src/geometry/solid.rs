//! Constructive solid geometry: unions, intersections and differences of closed meshes (RISpec 3.2,
//! §5.9).
//!
//! Takes meshes whose triangles together enclose a volume, and gives the part of each of them that
//! bounds the result, so that every piece of the result keeps what its own surface brought:
//! normals, coordinates, colors, primitive variables. The Boolean operations are
//! `manifold_rust`'s, which gives a closed mesh for closed meshes whatever their position. It knows
//! nothing of scenes.

use super::Mesh;
use super::primvar::{Primvar, PrimvarPlace, PrimvarValues};
use super::shells::Shells;
use super::weld::Welder;
use glam::{Vec2, Vec3};
use manifold_rust::manifold::Manifold;
use manifold_rust::types::{Error, MeshGL, OpType};
use std::collections::BTreeMap;
use std::ops::{Add, Mul};
use std::sync::Arc;
use thiserror::Error as ThisError;

/// Most triangles of one solid that is cut.
const MAX_TRIANGLES: usize = 1 << 21;

/// How solids are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The points that lie in at least one of them.
    Union,
    /// The points that lie in all of them.
    Intersection,
    /// The points that lie in the first and in none of the others.
    Difference,
}

/// Why meshes are no solid.
#[derive(Debug, ThisError, PartialEq, Eq)]
pub enum SolidError {
    /// Some edge has one face, or more than two.
    #[error("its surfaces do not close: {edges} of their edges have not exactly two faces")]
    Open {
        /// How many.
        edges: usize,
    },
    /// There are too many triangles.
    #[error("it has more than {MAX_TRIANGLES} triangles")]
    TooLarge,
    /// The cutting refused.
    #[error("it cannot be cut: {0}")]
    Refused(&'static str),
}

/// A volume, and the surfaces that it came from.
#[derive(Clone)]
pub struct Solid {
    manifold: Manifold,
    /// The surfaces by the number that the cutting knows them by.
    parts: BTreeMap<u32, Part>,
}

/// A surface of a solid.
#[derive(Clone)]
struct Part {
    /// The number that the caller gives it.
    number: usize,
    mesh: Arc<Mesh>,
    /// Which of its triangles face into the volume.
    inward: Vec<bool>,
}

impl Solid {
    /// The volume within meshes, each with a number for [`Solid::pieces`]. Their triangles may face
    /// either way.
    ///
    /// # Errors
    /// When they do not close, or are too large.
    pub fn new(meshes: &[(usize, Arc<Mesh>)]) -> Result<Self, SolidError> {
        if meshes.iter().map(|(_, mesh)| mesh.triangles.len()).sum::<usize>() > MAX_TRIANGLES {
            return Err(SolidError::TooLarge);
        }
        let mut welder = Welder::new(meshes.iter().filter_map(|(_, mesh)| mesh.bounds()));
        let first_id = Manifold::reserve_ids(meshes.len() as u32);
        let mut gl = MeshGL { num_prop: 3, ..MeshGL::default() };
        for ((_, mesh), id) in meshes.iter().zip(first_id..) {
            gl.run_index.push(gl.tri_verts.len() as u32);
            gl.run_original_id.push(id);
            let corners: Vec<u32> = mesh.positions.iter().map(|&p| welder.corner(p)).collect();
            for (face, triangle) in mesh.triangles.iter().enumerate() {
                let [a, b, c] = triangle.map(|v| corners[v as usize]);
                if a != b && b != c && c != a {
                    gl.tri_verts.extend([a, b, c]);
                    gl.face_id.push(face as u32);
                }
            }
        }
        gl.run_index.push(gl.tri_verts.len() as u32);
        let turned = turn_outward(&mut gl.tri_verts, &welder.corners)?;
        let mut inward: Vec<Vec<bool>> = meshes.iter().map(|(_, mesh)| vec![false; mesh.triangles.len()]).collect();
        for (run, bounds) in gl.run_index.windows(2).enumerate() {
            for triangle in bounds[0] as usize / 3..bounds[1] as usize / 3 {
                inward[run][gl.face_id[triangle] as usize] = turned[triangle];
            }
        }
        gl.vert_properties = welder.corners.iter().flat_map(|p| p.to_array()).collect();
        let manifold = accepted(Manifold::from_mesh_gl(&gl))?;
        let parts = meshes.iter().zip(inward);
        let parts = parts.map(|((number, mesh), inward)| Part { number: *number, mesh: mesh.clone(), inward });
        Ok(Self { manifold, parts: (first_id..).zip(parts).collect() })
    }

    /// Combines this solid with another.
    ///
    /// # Errors
    /// When the result would be too large.
    pub fn combined(mut self, operation: Operation, other: Self) -> Result<Self, SolidError> {
        let operation = match operation {
            Operation::Union => OpType::Add,
            Operation::Intersection => OpType::Intersect,
            Operation::Difference => OpType::Subtract,
        };
        self.parts.extend(other.parts);
        Ok(Self { manifold: accepted(self.manifold.boolean(&other.manifold, operation))?, parts: self.parts })
    }

    /// The remaining piece of each surface, by the numbers they were given. Surfaces of which
    /// nothing is left are not among them. A piece faces as its surface did; what bounds a hole
    /// that another solid has cut is turned around, its normals too.
    pub fn pieces(&self) -> Vec<(usize, Mesh)> {
        let gl = self.manifold.get_mesh_gl(-1);
        let mut pieces: BTreeMap<u32, Mesh> = BTreeMap::new();
        for (run, id) in gl.run_original_id.iter().enumerate() {
            let Some(part) = self.parts.get(id) else { continue };
            let is_back = gl.run_flags.get(run).is_some_and(|flags| flags & 1 != 0);
            let piece = pieces.entry(*id).or_insert_with(|| part.empty_piece());
            for triangle in gl.run_index[run] as usize / 3..gl.run_index[run + 1] as usize / 3 {
                let corners = [0, 1, 2].map(|i| gl.get_vert_pos(gl.tri_verts[3 * triangle + i] as usize).into());
                part.add_triangle(piece, gl.face_id[triangle] as usize, corners, is_back);
            }
        }
        let numbered = pieces.into_iter().filter(|(_, mesh)| !mesh.triangles.is_empty());
        numbered.map(|(id, mesh)| (self.parts[&id].number, mesh)).collect()
    }
}

impl Part {
    /// A mesh without triangles that has the surface's variables.
    fn empty_piece(&self) -> Mesh {
        let variable = |v: &Primvar| {
            let values = match (&v.values, v.place) {
                (values, PrimvarPlace::Constant) => values.clone(),
                (PrimvarValues::Numbers(_), _) => PrimvarValues::Numbers(Vec::new()),
                (PrimvarValues::Strings(_), _) => PrimvarValues::Strings(Vec::new()),
            };
            Primvar { values, ..v.clone() }
        };
        Mesh { primvars: self.mesh.primvars.iter().map(variable).collect(), ..Mesh::default() }
    }

    /// Adds a triangle that lies in triangle `face` of the surface.
    fn add_triangle(&self, piece: &mut Mesh, face: usize, corners: [Vec3; 3], is_back: bool) {
        let (mesh, from) = (&*self.mesh, self.mesh.triangles[face]);
        let cross = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        if cross == Vec3::ZERO {
            return;
        }
        let first = piece.positions.len() as u32;
        for corner in corners {
            let weights = weights(mesh.corners(face), corner);
            piece.positions.push(corner);
            if !mesh.normals.is_empty() {
                let normal = blend(&mesh.normals, from, weights);
                piece.normals.push(if is_back { -normal } else { normal }.normalize_or_zero());
            }
            let coordinates: [(&Vec<Vec2>, &mut Vec<Vec2>); 2] = [(&mesh.st, &mut piece.st), (&mesh.uv, &mut piece.uv)];
            for (values, to) in coordinates.into_iter().filter(|(values, _)| !values.is_empty()) {
                to.push(blend(values, from, weights));
            }
            for (own, of_piece) in mesh.primvars.iter().zip(&mut piece.primvars) {
                match (&mut of_piece.values, own.place) {
                    (PrimvarValues::Numbers(to), PrimvarPlace::Vertices) => {
                        let [a, b, c] = from.map(|v| own.numbers(v as usize));
                        let blended = a.iter().zip(b).zip(c);
                        to.extend(blended.map(|((a, b), c)| a * weights[0] + b * weights[1] + c * weights[2]));
                    }
                    // Between strings is none: the nearest corner's.
                    (PrimvarValues::Strings(to), PrimvarPlace::Vertices) => {
                        let nearest = (1..3).fold(0, |best, i| if weights[i] > weights[best] { i } else { best });
                        to.extend_from_slice(own.strings(from[nearest] as usize));
                    }
                    _ => {}
                }
            }
            let colors: [(&Vec<Vec3>, &mut Vec<Vec3>); 2] = [
                (&mesh.vertex_colors, &mut piece.vertex_colors),
                (&mesh.vertex_opacities, &mut piece.vertex_opacities),
            ];
            for (values, to) in colors.into_iter().filter(|(values, _)| !values.is_empty()) {
                to.push(blend(values, from, weights));
            }
        }
        piece.triangle_colors.extend(mesh.triangle_colors.get(face));
        piece.triangle_opacities.extend(mesh.triangle_opacities.get(face));
        for (own, of_piece) in mesh.primvars.iter().zip(&mut piece.primvars) {
            match (&mut of_piece.values, own.place) {
                (PrimvarValues::Numbers(to), PrimvarPlace::Triangles) => to.extend_from_slice(own.numbers(face)),
                (PrimvarValues::Strings(to), PrimvarPlace::Triangles) => to.extend_from_slice(own.strings(face)),
                _ => {}
            }
        }
        let [a, b, c] = [first, first + 1, first + 2];
        piece.triangles.push(if self.inward[face] { [a, c, b] } else { [a, b, c] });
    }
}

/// The value at a point of a triangle.
fn blend<T: Copy + Add<Output = T> + Mul<f32, Output = T>>(values: &[T], at: [u32; 3], weights: [f32; 3]) -> T {
    let [a, b, c] = at.map(|v| values[v as usize]);
    a * weights[0] + b * weights[1] + c * weights[2]
}

/// The barycentric coordinates of a point in a triangle, none below zero.
fn weights(triangle: [Vec3; 3], point: Vec3) -> [f32; 3] {
    let [a, b, c] = triangle.map(Vec3::as_dvec3);
    let (ab, ac, ap) = (b - a, c - a, point.as_dvec3() - a);
    let normal = ab.cross(ac);
    let square = normal.length_squared();
    let v = (ap.cross(ac).dot(normal) / square).clamp(0.0, 1.0);
    let w = (ab.cross(ap).dot(normal) / square).clamp(0.0, 1.0 - v);
    [(1.0 - v - w) as f32, v as f32, w as f32]
}

fn accepted(manifold: Manifold) -> Result<Manifold, SolidError> {
    match manifold.status() {
        Error::NoError => Ok(manifold),
        other => Err(SolidError::Refused(other.to_str())),
    }
}

/// Flips triangles so that all face out of the volumes that they enclose, and returns which were
/// flipped.
fn turn_outward(tri_verts: &mut [u32], corners: &[Vec3]) -> Result<Vec<bool>, SolidError> {
    let (triangles, _) = tri_verts.as_chunks_mut::<3>();
    let shells = Shells::new(triangles).map_err(|edges| SolidError::Open { edges })?;
    let mut volumes = vec![0.0; shells.count];
    for (triangle, &shell) in triangles.iter().zip(&shells.of_triangle) {
        volumes[shell as usize] += volume(*triangle, corners);
    }
    let mut turned = shells.turned;
    for (i, triangle) in triangles.iter_mut().enumerate() {
        if volumes[shells.of_triangle[i] as usize] < 0.0 {
            triangle.swap(1, 2);
            turned[i] = !turned[i];
        }
    }
    Ok(turned)
}

/// Six times the volume between a triangle and the origin; below zero where it faces the origin.
fn volume(triangle: [u32; 3], corners: &[Vec3]) -> f64 {
    let [a, b, c] = triangle.map(|v| corners[v as usize].as_dvec3());
    a.dot(b.cross(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Faces, assemble};

    /// A box whose faces have their own corners and normals, as polygons make them.
    fn cube(low: Vec3, size: f32) -> Arc<Mesh> {
        let mut faces = Faces::default();
        for axis in 0..3 {
            for side in [0.0, 1.0] {
                let at = |u: f32, v: f32| {
                    let mut p = [0.0; 3];
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, u, v);
                    low + size * Vec3::from_array(p)
                };
                let first = faces.points.len() as u32;
                faces.points.extend([at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)]);
                let [a, b, c, d] = [0, 1, 2, 3].map(|i| first + i);
                let (one, other) = if side > 0.0 { ([a, b, c], [a, c, d]) } else { ([a, c, b], [a, d, c]) };
                faces.triangles.extend([one, other]);
            }
        }
        Arc::new(assemble::assemble(faces, 40.0).mesh)
    }

    fn solid(number: usize, mesh: Arc<Mesh>) -> Solid {
        Solid::new(&[(number, mesh)]).unwrap()
    }

    fn volume_of(pieces: &[(usize, Mesh)]) -> f64 {
        let at = |mesh: &Mesh| {
            let corners = |i| mesh.corners(i).map(Vec3::as_dvec3);
            (0..mesh.triangles.len()).map(corners).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum::<f64>()
        };
        pieces.iter().map(|(_, mesh)| at(mesh)).sum()
    }

    #[test]
    fn volumes_of_two_boxes_add_up() {
        // Two unit boxes that share an eighth.
        let combine = |operation| {
            let (a, b) = (solid(0, cube(Vec3::ZERO, 1.0)), solid(1, cube(Vec3::splat(0.5), 1.0)));
            volume_of(&a.combined(operation, b).unwrap().pieces())
        };
        for (operation, expected) in
            [(Operation::Union, 1.875), (Operation::Intersection, 0.125), (Operation::Difference, 0.875)]
        {
            let found = combine(operation);
            assert!((found - expected).abs() < 1e-6, "{operation:?}: {found} is not {expected}");
        }
    }

    #[test]
    fn triangles_are_as_many_as_the_corners_left_over_ask_for() {
        // A wall of a large box cuts a unit box across. The unit box's four sides are two triangles
        // each, whose common edge the wall cuts too: eight new corners, all on the wall. A closed
        // surface without handles has twice as many triangles as corners, less four (Euler).
        let combine = |operation| {
            let (unit, large) = (cube(Vec3::ZERO, 1.0), cube(Vec3::new(0.5, -1.0, -3.0), 5.0));
            let pieces = solid(0, unit).combined(operation, solid(1, large)).unwrap().pieces();
            pieces.into_iter().map(|(_, mesh)| mesh.triangles.len()).collect::<Vec<_>>()
        };
        // Four corners of the unit box and the new ones are left: the box's own end, three
        // triangles a side, and an eight-sided lid.
        assert_eq!(combine(Operation::Difference), [2 + 4 * 3, 6]);
        assert_eq!(combine(Operation::Intersection), [2 + 4 * 3, 6]);
        // All eight corners of the large box too; of its wall the lid is missing.
        assert_eq!(combine(Operation::Union), [2 + 4 * 3, 2 * (4 + 8 + 8) - 4 - 14]);
    }

    #[test]
    fn pieces_keep_their_numbers_and_holes_face_the_other_way() {
        let (a, b) = (solid(7, cube(Vec3::ZERO, 1.0)), solid(9, cube(Vec3::splat(0.5), 1.0)));
        let pieces = a.combined(Operation::Difference, b).unwrap().pieces();
        let numbers: Vec<_> = pieces.iter().map(|p| p.0).collect();
        assert_eq!(numbers, [7, 9]);
        for (_, mesh) in &pieces {
            for (i, triangle) in mesh.triangles.iter().enumerate() {
                let geometric = mesh.scaled_normal(i).normalize();
                let shading = mesh.normals[triangle[0] as usize];
                assert!(geometric.dot(shading) > 0.999, "{geometric} and {shading}");
            }
        }
        // The corner that was cut away: its walls look out of what is left, towards (1, 1, 1).
        let towards = |mesh: &Mesh| mesh.normals.iter().all(|n| n.element_sum() > 0.99);
        assert!(towards(&pieces[1].1));
    }

    #[test]
    fn surfaces_that_face_inward_are_solids_too_and_stay_so() {
        let turned = Arc::new(cube(Vec3::ZERO, 1.0).inside_out(true));
        let pieces =
            solid(0, turned).combined(Operation::Union, solid(1, cube(Vec3::splat(5.0), 1.0))).unwrap().pieces();
        let volumes: Vec<f64> = pieces.iter().map(|p| volume_of(std::slice::from_ref(p)).round()).collect();
        assert_eq!(volumes, [-1.0, 1.0]);
    }

    #[test]
    fn open_surfaces_are_refused() {
        let mut mesh = (*cube(Vec3::ZERO, 1.0)).clone();
        mesh.triangles.pop();
        assert_eq!(Solid::new(&[(0, Arc::new(mesh))]).err(), Some(SolidError::Open { edges: 3 }));
    }
}
