//! Corners of polygons that are one vertex: a mesh whose polygons each have corners of their own has
//! no edges that two of them share, until corners at one position are joined.

use crate::polygons::model::Model;
use glam::{DVec3, Vec3};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Polygons by the vertices that they share.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// Vertices in world space; no two objects share one.
    pub vertices: Vec<Vec3>,
    /// The polygons of the model, in its order.
    pub faces: Vec<Face>,
}

/// A polygon by its vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Face {
    vertices: [u32; 4],
    count: usize,
}

impl Face {
    /// The vertices in order around the polygon, each one once: none where it has no area, or a
    /// corner that is not finite.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices[..self.count.min(4)]
    }

    /// The edges, each from a vertex to the next.
    pub fn edges(&self) -> impl Iterator<Item = [u32; 2]> {
        let around = self.vertices();
        around.iter().zip(around.iter().cycle().skip(1)).map(|(&a, &b)| [a, b])
    }
}

/// The vertices of one object while they are found, in cells of space.
struct Cells {
    size: f64,
    tolerance: f64,
    heads: HashMap<[i64; 3], u32>,
}

/// No vertex.
const END: u32 = u32::MAX;

/// Joins the corners of each object that are within `tolerance` times the diagonal of its box.
pub fn weld(model: &Model, tolerance: f64) -> Mesh {
    let mut mesh = Mesh::default();
    // The next vertex in the same cell.
    let mut next: Vec<u32> = Vec::new();
    for polygons in model.polygons.chunk_by(|a, b| a.object == b.object) {
        let corners = || polygons.iter().flat_map(|p| p.corners()).filter(|corner| corner.is_finite());
        let low = corners().fold(Vec3::INFINITY, |low, &c| low.min(c));
        let high = corners().fold(Vec3::NEG_INFINITY, |high, &c| high.max(c));
        let extent = (high - low).as_dvec3().length();
        let extent = if extent.is_finite() { extent } else { 0.0 };
        let tolerance = tolerance * extent;
        // Most corners are then farther from the sides of their cell than the tolerance.
        let size = (16.0 * tolerance).max(1e-7 * extent).max(1e-30);
        let mut cells = Cells { size, tolerance, heads: HashMap::new() };
        for polygon in polygons {
            let mut face = Face::default();
            let is_finite = polygon.corners().iter().all(|corner| corner.is_finite());
            for &corner in polygon.corners().iter().filter(|_| is_finite) {
                let vertex = cells.vertex(corner, &mut mesh.vertices, &mut next);
                if !face.vertices().contains(&vertex) {
                    face.vertices[face.count] = vertex;
                    face.count += 1;
                }
            }
            mesh.faces.push(if face.count < 3 { Face::default() } else { face });
        }
    }
    mesh
}

impl Cells {
    /// The vertex at a position: the first found of those near enough, or a new one.
    fn vertex(&mut self, corner: Vec3, vertices: &mut Vec<Vec3>, next: &mut Vec<u32>) -> u32 {
        let position = corner.as_dvec3();
        let near = |x: f64| -> RangeInclusive<i64> {
            ((x - self.tolerance) / self.size).floor() as i64..=((x + self.tolerance) / self.size).floor() as i64
        };
        let mut found = END;
        for x in near(position.x) {
            for y in near(position.y) {
                for z in near(position.z) {
                    let mut vertex = self.heads.get(&[x, y, z]).copied().unwrap_or(END);
                    while let Some(&other) = vertices.get(vertex as usize) {
                        if vertex < found && other.as_dvec3().distance(position) <= self.tolerance {
                            found = vertex;
                        }
                        vertex = next[vertex as usize];
                    }
                }
            }
        }
        if found != END {
            return found;
        }
        let vertex = vertices.len() as u32;
        let cell = (position / self.size).floor();
        let head = self.heads.entry([cell.x as i64, cell.y as i64, cell.z as i64]).or_insert(END);
        next.push(*head);
        *head = vertex;
        vertices.push(corner);
        vertex
    }
}

impl Mesh {
    /// A vertex.
    pub fn vertex(&self, vertex: u32) -> DVec3 {
        self.vertices.get(vertex as usize).copied().unwrap_or(Vec3::ZERO).as_dvec3()
    }

    /// The mean of a face's vertices.
    pub fn center(&self, face: &Face) -> DVec3 {
        let sum: DVec3 = face.vertices().iter().map(|&v| self.vertex(v)).sum();
        sum / face.vertices().len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{model, square};
    use super::*;

    #[test]
    fn corners_within_the_tolerance_are_one_vertex() {
        let shifted = square([1.0 + 1e-7, 0.0, 5.0]);
        let mesh = weld(&model(&[(0, square([0.0, 0.0, 5.0])), (0, shifted)]), 1e-6);
        assert_eq!(mesh.vertices.len(), 6);
        assert_eq!(weld(&model(&[(0, square([0.0, 0.0, 5.0])), (0, shifted)]), 0.0).vertices.len(), 8);
    }

    #[test]
    fn objects_share_no_vertex() {
        let mesh = weld(&model(&[(0, square([0.0, 0.0, 5.0])), (1, square([1.0, 0.0, 5.0]))]), 1e-6);
        assert_eq!(mesh.vertices.len(), 8);
    }

    #[test]
    fn polygons_without_area_and_with_infinite_corners_have_no_edges() {
        let [a, b, ..] = square([0.0, 0.0, 5.0]);
        let mesh = weld(&model(&[(0, [a, b, b, a])]), 1e-6);
        assert_eq!(mesh.faces[0].edges().count(), 0);
        let mut infinite = square([0.0, 0.0, 5.0]);
        infinite[1][0] = f32::INFINITY;
        let mesh = weld(&model(&[(0, infinite), (0, square([0.0, 0.0, 5.0]))]), 1e-6);
        assert_eq!((mesh.faces[0].edges().count(), mesh.faces[1].edges().count()), (0, 4));
    }
}
