//! Adaptive subdivision of meshes into smaller triangles, without cracks: what displacement needs
//! of surfaces whose own triangles are as large as they can be.
//!
//! The caller decides for an edge, by its two ends alone, whether it is too long. A long edge is
//! halved in every triangle that has it, and its halves are tested again, so that two triangles
//! with an edge in common split it alike: those of one mesh, of vertices that lie at the same
//! position, and of other meshes. All that a mesh says of its vertices is the mean at a middle;
//! what it says of triangles goes to their parts. Nothing here knows images or shaders.

use super::mesh::Mesh;
use glam::Vec3;
use std::collections::HashMap;
use std::ops::{Add, Mul};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often an edge may be halved. A million pieces of one edge are beyond any image; it bounds
/// what edges through the camera come to.
const MAX_HALVINGS: u32 = 20;

/// A judge of edges, which gives the same answer for either order of the ends.
pub type IsLong<'a> = dyn Fn(Vec3, Vec3) -> bool + Sync + 'a;

/// The mesh with its triangles split until no edge is long; `None` when more than `room` triangles
/// are made by all who count in `made`.
///
/// Triangles follow one another in the order of those that they are parts of. What stood for
/// ribbons stands for itself then.
pub fn refine(mesh: &Mesh, is_long: &IsLong<'_>, made: &AtomicUsize, room: usize) -> Option<Mesh> {
    let mut refiner = Refiner {
        positions: mesh.positions.clone(),
        between: Vec::new(),
        middles: HashMap::new(),
        triangles: Vec::with_capacity(mesh.triangles.len()),
        sources: Vec::with_capacity(mesh.triangles.len()),
        is_long,
        room,
    };
    for (source, &triangle) in mesh.triangles.iter().enumerate() {
        let before = refiner.triangles.len();
        refiner.cut(triangle, source as u32, 0);
        let added = refiner.triangles.len() - before;
        if made.fetch_add(added, Ordering::Relaxed) + added > room {
            return None;
        }
    }
    let Refiner { positions, between, triangles, sources, .. } = refiner;
    Some(Mesh {
        positions,
        normals: mean_normals(&mesh.normals, &between),
        st: means(&mesh.st, &between),
        uv: means(&mesh.uv, &between),
        vertex_colors: means(&mesh.vertex_colors, &between),
        vertex_opacities: means(&mesh.vertex_opacities, &between),
        triangle_colors: from_sources(&mesh.triangle_colors, &sources),
        triangle_opacities: from_sources(&mesh.triangle_opacities, &sources),
        triangles,
        primvars: mesh.primvars.iter().map(|v| v.refined(&between, &sources)).collect(),
        ribbons: false,
    })
}

struct Refiner<'a> {
    positions: Vec<Vec3>,
    /// For each vertex after the mesh's own, between which two it lies.
    between: Vec<[u32; 2]>,
    /// The vertex in the middle of an edge, by the edge's ends.
    middles: HashMap<[u32; 2], u32>,
    triangles: Vec<[u32; 3]>,
    /// For each triangle, the mesh's own that it is a part of.
    sources: Vec<u32>,
    is_long: &'a IsLong<'a>,
    /// The number of triangles beyond which nothing is added.
    room: usize,
}

impl Refiner<'_> {
    /// Adds the parts of a triangle that was made by so many halvings.
    ///
    /// All long edges of a triangle are halved at once. So an edge is judged when it comes to be,
    /// after the same number of halvings in each triangle that has it.
    fn cut(&mut self, [a, b, c]: [u32; 3], source: u32, halvings: u32) {
        if self.triangles.len() > self.room {
            return;
        }
        let at = |i: u32| self.positions[i as usize];
        let long = |p: u32, q: u32| halvings < MAX_HALVINGS && (self.is_long)(at(p), at(q));
        let long = [long(a, b), long(b, c), long(c, a)];
        // Turned so that the long edges come first.
        let [a, b, c] = match long {
            [false, true, _] => [b, c, a],
            [_, false, true] => [c, a, b],
            _ => [a, b, c],
        };
        let parts: &[[u32; 3]] = match long.into_iter().filter(|long| *long).count() {
            0 => {
                self.triangles.push([a, b, c]);
                self.sources.push(source);
                return;
            }
            1 => {
                let ab = self.middle(a, b);
                &[[a, ab, c], [ab, b, c]]
            }
            2 => {
                let (ab, bc) = (self.middle(a, b), self.middle(b, c));
                let at = |i: u32| self.positions[i as usize];
                match at(a).distance_squared(at(bc)) <= at(ab).distance_squared(at(c)) {
                    true => &[[ab, b, bc], [a, ab, bc], [a, bc, c]],
                    false => &[[ab, b, bc], [a, ab, c], [ab, bc, c]],
                }
            }
            _ => {
                let (ab, bc, ca) = (self.middle(a, b), self.middle(b, c), self.middle(c, a));
                &[[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            }
        };
        parts.iter().for_each(|&part| self.cut(part, source, halvings + 1));
    }

    /// The vertex in the middle of an edge.
    fn middle(&mut self, a: u32, b: u32) -> u32 {
        let Self { positions, between, middles, .. } = self;
        *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
            positions.push(middle(positions[a as usize], positions[b as usize]));
            between.push([a, b]);
            positions.len() as u32 - 1
        })
    }
}

/// Halfway from either to the other, the same bits for both orders.
fn middle(a: Vec3, b: Vec3) -> Vec3 {
    (a + b) * 0.5
}

/// Values at vertices, with those of the vertices after them: each the mean of two that come
/// before it. None where there are none.
fn means<T: Copy + Add<Output = T> + Mul<f32, Output = T>>(values: &[T], between: &[[u32; 2]]) -> Vec<T> {
    let mut all = values.to_vec();
    for &[a, b] in between.iter().filter(|_| !values.is_empty()) {
        all.push((all[a as usize] + all[b as usize]) * 0.5);
    }
    all
}

/// The same of unit normals.
fn mean_normals(values: &[Vec3], between: &[[u32; 2]]) -> Vec<Vec3> {
    let mut all = values.to_vec();
    for &[a, b] in between.iter().filter(|_| !values.is_empty()) {
        let (a, b) = (all[a as usize], all[b as usize]);
        all.push((a + b).try_normalize().unwrap_or(a));
    }
    all
}

/// For each part of a triangle, that triangle's value. None where there are none.
fn from_sources(values: &[Vec3], sources: &[u32]) -> Vec<Vec3> {
    sources.iter().filter_map(|&source| values.get(source as usize).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::assemble::assemble;
    use super::super::primvar::{Primvar, PrimvarKind, PrimvarPlace, PrimvarType, PrimvarValues};
    use super::super::quadric::Quadric;
    use super::*;
    use std::collections::HashMap;

    /// The mesh subdivided to edges of that length at most.
    fn cut(mesh: &Mesh, length: f32) -> Mesh {
        refine(mesh, &|a, b| a.distance(b) > length, &AtomicUsize::new(0), 1 << 20).expect("enough room")
    }

    /// Two triangles of a square whose corners are at 0 and 1, each with vertices of its own.
    fn square() -> Mesh {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
        let order = [0, 1, 2, 0, 2, 3];
        Mesh {
            positions: order.map(|i| corners[i]).to_vec(),
            normals: vec![Vec3::Z; 6],
            uv: order.map(|i| corners[i].truncate()).to_vec(),
            triangle_colors: vec![Vec3::X, Vec3::Y],
            triangles: vec![[0, 1, 2], [3, 4, 5]],
            primvars: vec![
                Primvar {
                    kind: PrimvarKind { name: "height".into(), ty: PrimvarType::Float, array: None },
                    place: PrimvarPlace::Vertices,
                    values: PrimvarValues::Numbers(order.map(|i| 10.0 * corners[i].x).to_vec()),
                },
                Primvar {
                    kind: PrimvarKind { name: "side".into(), ty: PrimvarType::String, array: None },
                    place: PrimvarPlace::Triangles,
                    values: PrimvarValues::Strings(vec!["lower".into(), "upper".into()]),
                },
            ],
            ..Mesh::default()
        }
    }

    /// How often each directed edge is there, less how often its opposite is, by the bits of its
    /// ends' positions.
    fn open_edges(mesh: &Mesh) -> usize {
        let mut edges: HashMap<_, i32> = HashMap::new();
        for t in 0..mesh.triangles.len() {
            let c = mesh.corners(t).map(|p| (p + Vec3::ZERO).to_array().map(f32::to_bits));
            for k in 0..3 {
                *edges.entry((c[k], c[(k + 1) % 3])).or_default() += 1;
                *edges.entry((c[(k + 1) % 3], c[k])).or_default() -= 1;
            }
        }
        edges.values().filter(|n| **n > 0).count()
    }

    #[test]
    fn no_edge_stays_long_and_the_surface_stays() {
        let whole = square();
        for length in [2.0, 1.2, 0.9, 0.3, 0.05] {
            let fine = cut(&whole, length);
            assert!((fine.area() - 1.0).abs() < 1e-5, "{length}");
            for t in 0..fine.triangles.len() {
                let [a, b, c] = fine.corners(t);
                assert!(a.distance(b).max(b.distance(c)).max(c.distance(a)) <= length);
                assert!(fine.scaled_normal(t).z > 0.0);
            }
        }
        assert_eq!(cut(&whole, 2.0), whole);
    }

    #[test]
    fn triangles_without_common_vertices_meet_without_cracks() {
        // The sides of the square are open, in as many pieces each as lengths ask; its diagonal is
        // not.
        for (length, pieces) in [(1.2, 1), (0.9, 2), (0.3, 4), (0.05, 32)] {
            assert_eq!(open_edges(&cut(&square(), length)), 4 * pieces, "{length}");
        }
        let sphere = Quadric::Sphere { radius: 1.0, z_min: -1.0, z_max: 1.0, theta_max: 360.0 };
        let sphere = assemble(sphere.tessellate(24), 40.0).mesh;
        // Finer on one side than on the other.
        let longer = |a: Vec3, b: Vec3| a.distance(b) > 0.05 + 0.1 * (1.0 + middle(a, b).x);
        let fine = refine(&sphere, &longer, &AtomicUsize::new(0), 1 << 20).expect("enough room");
        assert!(fine.triangles.len() > 4 * sphere.triangles.len());
        assert_eq!(open_edges(&fine), 0);
    }

    #[test]
    fn what_varies_is_linear_and_what_belongs_to_triangles_goes_to_their_parts() {
        let fine = cut(&square(), 0.2);
        let PrimvarValues::Numbers(height) = &fine.primvars[0].values else { panic!("numbers") };
        let PrimvarValues::Strings(side) = &fine.primvars[1].values else { panic!("strings") };
        assert_eq!((height.len(), fine.uv.len()), (fine.positions.len(), fine.positions.len()));
        assert_eq!((side.len(), fine.triangle_colors.len()), (fine.triangles.len(), fine.triangles.len()));
        for (i, p) in fine.positions.iter().enumerate() {
            assert_eq!((fine.uv[i], height[i]), (p.truncate(), 10.0 * p.x));
        }
        for (t, (color, side)) in fine.triangle_colors.iter().zip(side).enumerate() {
            let [a, b, c] = fine.corners(t);
            let middle = (a + b + c) / 3.0;
            let expected = if middle.x > middle.y { (Vec3::X, "lower") } else { (Vec3::Y, "upper") };
            assert_eq!((*color, &**side), expected);
        }
    }

    #[test]
    fn more_triangles_than_there_is_room_for_are_not_made() {
        let made = AtomicUsize::new(0);
        assert!(refine(&square(), &|_, _| true, &made, 1000).is_none());
        assert!(made.into_inner() <= 2002);
    }
}
