//! The surface of a body: welded triangles, each with a side that faces out.

use super::raster::{self, Axis};
use glam::{DVec3, Vec3};
use shadewright_bvh::binary::{Crossing, all_hits};
use shadewright_bvh::{Bvh, Ray, Triangle};
use shadewright_geometry::shells::{Shells, boundary};
use shadewright_geometry::weld::Welder;

/// Rays that decide whether a shell lies within others; odd, as the majority counts.
const WITNESSES: usize = 5;

/// Which side of a face is outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// The one that its normal points to, if the faces of the surface agree; a surface whose whole
    /// volume is negative is turned inside out. Otherwise as [`Sides::ByNesting`].
    OfFaces,
    /// By shells: the outer ones face out, those within one of them face into the cavity that they
    /// enclose, and so on.
    ByNesting,
}

/// Welded triangles.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// The corners.
    pub corners: Vec<Vec3>,
    /// The triangles, counter-clockwise seen from the side of their normals.
    pub triangles: Vec<[u32; 3]>,
    /// Which triangles face the other way than the body's outside.
    pub turned: Vec<bool>,
    /// Edges at which the surface does not close.
    pub open_edges: usize,
}

impl Surface {
    /// Welds triangles, and leaves out those without an area. Their sides are not settled yet.
    pub fn new(triangles: impl Iterator<Item = [DVec3; 3]>) -> Self {
        let placed: Vec<[Vec3; 3]> = triangles.map(|triangle| triangle.map(|corner| corner.as_vec3())).collect();
        let mut welder = Welder::new(placed.iter().flatten().map(|&corner| (corner, corner)));
        let welded = placed.iter().map(|triangle| triangle.map(|corner| welder.corner(corner)));
        let triangles: Vec<[u32; 3]> = welded.filter(|&[a, b, c]| a != b && b != c && c != a).collect();
        let turned = vec![false; triangles.len()];
        Self { corners: welder.corners, triangles, turned, open_edges: 0 }
    }

    /// The triangles as a BVH takes them, in their order.
    pub fn bvh_triangles(&self) -> Vec<Triangle> {
        let corner = |index: u32| self.corners[index as usize];
        self.triangles.iter().map(|&[a, b, c]| Triangle::new(corner(a), corner(b), corner(c))).collect()
    }

    /// Settles which triangles are turned, and how many edges are open; `bvh` is that of
    /// [`bvh_triangles`](Self::bvh_triangles).
    pub fn settle(&mut self, sides: Sides, bvh: &Bvh) {
        let boundary = boundary(&self.triangles);
        if sides == Sides::OfFaces && boundary == 0 {
            return self.face_outward();
        }
        let mut agreeing = self.triangles.clone();
        match Shells::new(&mut agreeing) {
            Ok(shells) => {
                self.turned.clone_from(&shells.turned);
                self.nest(&shells, bvh);
            }
            // Shells that touch along an edge: their faces may agree nevertheless.
            Err(_) if boundary == 0 => self.face_outward(),
            Err(edges) => self.open_edges = edges,
        }
    }

    /// The volume by the divergence theorem, Σ a · (b × c) / 6 over the triangles; `None` where the
    /// surface is not closed.
    pub fn volume(&self) -> Option<f64> {
        (self.open_edges == 0).then(|| (0..self.triangles.len()).map(|index| self.wedge(index)).sum())
    }

    /// True if a ray that meets a triangle goes into the body there.
    pub fn enters(&self, crossing: &Crossing) -> bool {
        crossing.enters != self.turned[crossing.prim as usize]
    }

    /// Turns the surface inside out if it encloses a negative volume.
    fn face_outward(&mut self) {
        if self.volume().is_some_and(|volume| volume < 0.0) {
            self.turned.fill(true);
        }
    }

    /// The volume between a triangle and the first corner: above zero where the triangle faces away
    /// from it.
    fn wedge(&self, index: usize) -> f64 {
        let origin = self.corners[0].as_dvec3();
        let [a, b, c] = self.triangles[index].map(|corner| self.corners[corner as usize].as_dvec3() - origin);
        let volume = a.dot(b.cross(c)) / 6.0;
        if self.turned[index] { -volume } else { volume }
    }

    /// Turns whole shells, so that those within an even number of others face out and the rest in.
    fn nest(&mut self, shells: &Shells, bvh: &Bvh) {
        let mut volumes = vec![0.0; shells.count];
        let mut first = vec![None; shells.count];
        for (index, &shell) in shells.of_triangle.iter().enumerate() {
            volumes[shell as usize] += self.wedge(index);
            first[shell as usize].get_or_insert(index);
        }
        let is_turned = |(shell, volume): (usize, &f64)| {
            let is_cavity = shells.count > 1 && first[shell].is_some_and(|at| self.is_within(shell, at, shells, bvh));
            (*volume < 0.0) != is_cavity
        };
        let turned: Vec<bool> = volumes.iter().enumerate().map(is_turned).collect();
        for (turn, &shell) in self.turned.iter_mut().zip(&shells.of_triangle) {
            *turn ^= turned[shell as usize];
        }
    }

    /// True if a triangle of a shell lies within an odd number of other shells.
    fn is_within(&self, shell: usize, triangle: usize, shells: &Shells, bvh: &Bvh) -> bool {
        let corners = self.triangles[triangle].map(|corner| self.corners[corner as usize]);
        let mut crossings = Vec::new();
        let mut inside = |witness: usize| {
            // Points of the triangle and directions that no mesh is aligned with.
            let [u, v] = raster::generic(witness);
            let [u, v] = [(0.2 + 0.3 * u) as f32, (0.2 + 0.3 * v) as f32];
            let origin = corners[0] * (1.0 - u - v) + corners[1] * u + corners[2] * v;
            let direction = Vec3::new(1.0, 0.3 + 0.5 * u, -0.2 - v);
            all_hits(bvh, &Ray::new(origin, direction), &mut crossings);
            let others = crossings.iter().filter(|c| shells.of_triangle[c.prim as usize] as usize != shell);
            others.count() % 2 == 1
        };
        (0..WITNESSES).filter(|&witness| inside(witness)).count() > WITNESSES / 2
    }

    /// The lowest and the highest coordinate along an axis; zeros without corners.
    pub fn extent(&self, axis: Axis) -> (f64, f64) {
        let along = self.corners.iter().map(|corner| f64::from(corner[axis as usize]));
        along.map(|x| (x, x)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default()
    }
}
