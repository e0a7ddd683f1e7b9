//! A scene as ray-tracing machines store it: convex planar quadrilaterals.
//!
//! Takes a scene's meshes and gives polygons in world space, with what the host keeps of each: the
//! corners, and the triangles that it stands for, whose numbers and barycentric coordinates the
//! shaders ask for. Two triangles that follow each other in a mesh and make a planar convex
//! quadrilateral become one polygon, any other triangle a polygon of its own.

use super::polygon::{Case, Polygon, Sides, TriangleCorners, bilinear};
use super::ray::Found;
use crate::render::RenderError;
use crate::scene::{MeshSpace, Object, Scene};
use glam::{DVec3, Mat4, Vec3};
use std::ops::Range;

/// Most bytes of a model: 24 million polygons.
const MOST_BYTES: u64 = 4 << 30;

/// The host's side of a polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// The corners in order around it: p₀₀, p₁₀, p₁₁, p₀₁.
    pub corners: [Vec3; 4],
    /// Its triangles: each its primitive number, and which corners its vertices are.
    triangles: [(u32, [u8; 3]); 2],
    /// 1 or 2.
    count: u8,
}

/// Where a hit lies on a triangle of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved {
    /// The triangle's primitive number.
    pub primitive: u32,
    /// Weight of its second vertex, 0 to 1.
    pub u: f32,
    /// Weight of its third vertex, 0 to 1.
    pub v: f32,
}

/// A scene in a machine's form.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The parameters of the polygons, in the order of the scene's primitives.
    pub polygons: Vec<Polygon>,
    /// The host's side of each.
    pub faces: Vec<Face>,
    /// The polygons of each object that has any, with its index in the scene.
    pub objects: Vec<(usize, Range<u32>)>,
    /// The corners of the box around them; zero when there are none.
    pub bounds: (Vec3, Vec3),
    /// What the machine does not hold.
    pub left_out: Vec<String>,
}

impl Model {
    /// The polygons of a scene.
    ///
    /// # Errors
    /// When they take more than 4 GiB.
    pub fn of(scene: &Scene) -> Result<Self, RenderError> {
        let triangles: u64 = scene.objects.iter().map(|o| o.mesh.triangles.len() as u64).sum();
        let needed = triangles * (size_of::<Polygon>() + size_of::<Face>()) as u64;
        if needed > MOST_BYTES {
            return Err(RenderError::TooLarge { what: "the machine's scene model", needed, limit: MOST_BYTES });
        }
        let mut model = Self::default();
        let (mut first, mut flat) = (0, 0);
        for space in [MeshSpace::World, MeshSpace::Object] {
            for (index, object) in scene.objects.iter().enumerate().filter(|(_, o)| o.mesh_space == space) {
                let start = model.polygons.len() as u32;
                flat += model.add(object, first);
                first += object.mesh.triangles.len() as u32;
                let end = model.polygons.len() as u32;
                if end > start {
                    model.objects.push((index, start..end));
                }
            }
        }
        let corners = || model.faces.iter().flat_map(|f| f.corners);
        model.bounds =
            corners().map(|p| (p, p)).reduce(|(low, high), (p, _)| (low.min(p), high.max(p))).unwrap_or_default();
        if flat > 0 {
            model.left_out.push(format!("{flat} triangles too thin for a plane"));
        }
        let procedural = scene.objects.iter().filter(|o| o.procedural.is_some()).count();
        if procedural > 0 {
            model.left_out.push(format!("{procedural} procedural primitives, which the host intersects"));
        }
        Ok(model)
    }

    /// Adds an object, whose first primitive has the number `first`; gives the number of triangles
    /// that have no plane.
    fn add(&mut self, object: &Object, first: u32) -> usize {
        let is_one_sided = object.sides == 1 || object.mesh.ribbons;
        let sides = if is_one_sided { Sides::One } else { Sides::Two };
        let placement = match object.mesh_space {
            MeshSpace::World => Mat4::IDENTITY,
            MeshSpace::Object => object.object_to_world,
        };
        let mesh = &object.mesh;
        let mirrored = placement.determinant() < 0.0;
        let corners = |triangle: usize| mesh.corners(triangle).map(|p| placement.transform_point3(p));
        let (mut triangle, mut flat) = (0, 0);
        while triangle < mesh.triangles.len() {
            let second = (triangle + 1 < mesh.triangles.len()).then(|| pair(corners(triangle), corners(triangle + 1)));
            let number = first + triangle as u32;
            let quad = second.flatten().and_then(|(quad, own, other)| {
                let polygon = Polygon::of_quad(oriented(quad, mirrored), sides).ok().filter(needs_no_root)?;
                let maps = [own, other].map(|map| map.map(|c| mirrored_corner(c, mirrored)));
                Some((polygon, oriented(quad, mirrored), [(number, maps[0]), (number + 1, maps[1])]))
            });
            if let Some((polygon, corners, triangles)) = quad {
                self.polygons.push(polygon);
                self.faces.push(Face { corners, triangles, count: 2 });
                triangle += 2;
                continue;
            }
            let vertices = corners(triangle);
            let [a, b, c] = vertices;
            let ordered = if mirrored { [a, c, b] } else { vertices };
            match Polygon::of_triangle(ordered, sides) {
                Ok(polygon) => {
                    let corners = TriangleCorners::of(ordered).corners;
                    let corner = |p: Vec3| corners.iter().position(|&q| q == p).unwrap_or(0) as u8;
                    let map = (number, vertices.map(corner));
                    self.polygons.push(polygon);
                    self.faces.push(Face { corners, triangles: [map; 2], count: 1 });
                }
                Err(_) => flat += 1,
            }
            triangle += 1;
        }
        flat
    }

    /// Adds a polygon that stands for no triangle of a scene.
    #[cfg(test)]
    pub(super) fn add_polygon(&mut self, polygon: Polygon, corners: [Vec3; 4]) {
        self.polygons.push(polygon);
        self.faces.push(Face { corners, triangles: [(0, [0, 1, 3]); 2], count: 1 });
    }

    /// The triangle of the scene that a hit lies on.
    pub fn resolve(&self, found: &Found) -> Resolved {
        self.faces[found.polygon as usize].resolve(found.u, found.v)
    }

    /// The corners of every polygon.
    pub fn corners(&self) -> Vec<[Vec3; 4]> {
        self.faces.iter().map(|f| f.corners).collect()
    }

    /// The sum of the polygons' areas.
    pub fn area(&self) -> f64 {
        self.faces.iter().fold(0.0, |sum, face| sum + face.area())
    }
}

impl Face {
    /// Which triangle the point at `(u, v)` lies on, and where.
    fn resolve(&self, u: f32, v: f32) -> Resolved {
        let point = bilinear(self.corners, [u, v]).as_dvec3();
        let at = |k: usize| {
            let (primitive, map) = self.triangles[k];
            let [a, b, c] = map.map(|i| self.corners[usize::from(i)].as_dvec3());
            (primitive, weights(point, [a, b, c]))
        };
        let (mut primitive, mut w) = at(0);
        if self.count == 2 {
            let (second, other) = at(1);
            // Inside its triangle the least of the three weights is not negative.
            let least = |[v, w]: [f64; 2]| v.min(w).min(1.0 - v - w);
            if least(other) > least(w) {
                (primitive, w) = (second, other);
            }
        }
        let [v1, v2] = w.map(|x| x.clamp(0.0, 1.0));
        let over = (v1 + v2).max(1.0);
        Resolved { primitive, u: (v1 / over) as f32, v: (v2 / over) as f32 }
    }

    fn area(&self) -> f64 {
        let [a, b, c, d] = self.corners.map(|p| p.as_dvec3());
        0.5 * (c - a).cross(d - b).length()
    }
}

/// Whether both coordinates are quotients. A root of 12 bits is wrong by a part of itself, and far from
/// the polygon roots are large: points many sizes away would count as hits.
fn needs_no_root(polygon: &Polygon) -> bool {
    [polygon.u.case, polygon.v.case] == [Case::Parallel; 2]
}

/// The weights of the second and the third corner at a point of a triangle's plane.
fn weights(point: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 2] {
    let (e, f, p) = (b - a, c - a, point - a);
    let n = e.cross(f);
    let inverse = 1.0 / n.length_squared();
    let [v, w] = [p.cross(f).dot(n) * inverse, e.cross(p).dot(n) * inverse];
    [v, w].map(|x| if x.is_finite() { x } else { 0.0 })
}

/// The quadrilateral of two triangles that share an edge in opposite directions: its corners in
/// order, and which of them the vertices of each triangle are. It may be no polygon that a machine
/// can hold.
fn pair(first: [Vec3; 3], second: [Vec3; 3]) -> Option<([Vec3; 4], [u8; 3], [u8; 3])> {
    for k in 0..3 {
        // The edge from b to c is the second's from c to b.
        let [a, b, c] = [first[k], first[(k + 1) % 3], first[(k + 2) % 3]];
        for j in 0..3 {
            let [d, e, f] = [second[j], second[(j + 1) % 3], second[(j + 2) % 3]];
            if e == c && f == b {
                let mut own = [0u8; 3];
                let mut other = [0u8; 3];
                for (place, corner) in [0u8, 1, 3].into_iter().enumerate() {
                    own[(k + place) % 3] = corner;
                }
                for (place, corner) in [2u8, 3, 1].into_iter().enumerate() {
                    other[(j + place) % 3] = corner;
                }
                return Some(([a, b, d, c], own, other));
            }
        }
    }
    None
}

/// The corners in the order that gives the normal of the triangles; a placement that mirrors turns
/// it round.
fn oriented([a, b, c, d]: [Vec3; 4], mirrored: bool) -> [Vec3; 4] {
    if mirrored { [a, d, c, b] } else { [a, b, c, d] }
}

/// Where a corner is after [`oriented`].
fn mirrored_corner(corner: u8, mirrored: bool) -> u8 {
    if mirrored { (4 - corner) % 4 } else { corner }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Mesh;
    use crate::scene::{OpenOptions, open};
    use crate::text::source::SourceMap;
    use std::path::Path;
    use std::sync::Arc;

    fn scene_of(meshes: Vec<(Mesh, MeshSpace, Mat4)>) -> Scene {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes/mirrors.rib");
        let mut scene = open(&path, &OpenOptions::default(), &mut SourceMap::new()).expect("a scene").scene;
        let object = scene.objects[0].clone();
        let with = |(mesh, mesh_space, object_to_world)| Object {
            mesh: Arc::new(mesh),
            mesh_space,
            object_to_world,
            procedural: None,
            ..object.clone()
        };
        scene.objects = meshes.into_iter().map(with).collect();
        scene
    }

    /// A unit square in two triangles and a triangle beside it.
    fn square() -> Mesh {
        let positions = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.3]];
        Mesh {
            positions: positions.map(|[x, y]| Vec3::new(x, y, 0.5)).to_vec(),
            triangles: vec![[0, 1, 2], [2, 3, 0], [1, 4, 2]],
            ..Mesh::default()
        }
    }

    #[test]
    fn triangles_of_a_square_make_one_polygon_that_knows_both() {
        for placement in [Mat4::IDENTITY, Mat4::from_scale(Vec3::new(-2.0, 1.0, 1.0))] {
            let scene = scene_of(vec![(square(), MeshSpace::Object, placement)]);
            let model = Model::of(&scene).expect("it fits");
            assert_eq!((model.polygons.len(), model.left_out.len()), (2, 0));
            let mesh = square();
            for step in 0..100 {
                let [u, v] = [(step % 10) as f32 / 9.0, (step / 10) as f32 / 9.0];
                for polygon in 0..2 {
                    let hit = model.resolve(&Found { polygon, t: 1.0, u, v });
                    let [a, b, c] = mesh.corners(hit.primitive as usize).map(|p| placement.transform_point3(p));
                    let point = a + (b - a) * hit.u + (c - a) * hit.v;
                    let expected = bilinear(model.faces[polygon as usize].corners, [u, v]);
                    assert!(point.distance(expected) < 1e-5, "{u} {v}: {point} {expected}");
                    assert!(hit.u >= 0.0 && hit.v >= 0.0 && hit.u + hit.v < 1.0001);
                    assert_eq!(hit.primitive == 2, polygon == 1);
                }
            }
            let normal = Vec3::from(model.polygons[0].n_p);
            let [a, b, c] = mesh.corners(0);
            let flipped = placement.determinant() < 0.0;
            let geometric = placement.inverse().transpose().transform_vector3((b - a).cross(c - a));
            let facing = normal.dot(geometric);
            assert!(facing > 0.0, "mirrored {flipped}: {facing}");
        }
    }

    #[test]
    fn thin_triangles_are_counted_and_numbers_go_on_after_them() {
        let mut mesh = square();
        mesh.triangles.insert(0, [0, 1, 1]);
        let world = (mesh, MeshSpace::World, Mat4::IDENTITY);
        let scene = scene_of(vec![(square(), MeshSpace::Object, Mat4::IDENTITY), world]);
        let model = Model::of(&scene).expect("it fits");
        assert!(model.left_out[0].starts_with("1 triangles"), "{:?}", model.left_out);
        // Objects in world space come first.
        let primitives: Vec<u32> =
            (0..4).map(|polygon| model.resolve(&Found { polygon, t: 0.0, u: 0.2, v: 0.2 }).primitive).collect();
        assert_eq!(primitives, [1, 3, 4, 6]);
        assert_eq!(model.objects, [(1, 0..2), (0, 2..4)]);
    }
}
