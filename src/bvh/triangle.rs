//! Triangles as the tree takes them and as its leaves keep them, and the one ray–triangle test.
//!
//! The test is Möller & Trumbore's (1997) on a vertex and two edges. It has no absolute epsilon: only a determinant of exactly
//! zero is refused, so it works at any scale of the scene. Its operations and their order are part of the contract between the
//! scalar code, the 8-wide code and `wgsl/traverse.wgsl`; none of them may fuse a multiplication with an addition.

use super::ray::{Hit, Ray};
use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// Flag of a one-sided triangle: a hit is ignored where `dot(dir, cross(b - a, c - a)) > 0`, that is where the ray comes
/// from behind the side from which `a, b, c` run counter-clockwise (in a right-handed space).
pub const CULL_BACK: u32 = 1;

/// A triangle of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Triangle {
    /// First vertex; a hit's `(u, v)` is `(1-u-v)·a + u·b + v·c`.
    pub a: Vec3,
    /// Second vertex.
    pub b: Vec3,
    /// Third vertex.
    pub c: Vec3,
    /// [`CULL_BACK`] or 0.
    pub flags: u32,
}

impl Triangle {
    /// A two-sided triangle.
    pub fn new(a: Vec3, b: Vec3, c: Vec3) -> Self {
        Self { a, b, c, flags: 0 }
    }

    /// Whether all coordinates are finite; the tree leaves out triangles that are not.
    pub fn is_finite(&self) -> bool {
        self.a.is_finite() && self.b.is_finite() && self.c.is_finite()
    }
}

/// A triangle in a leaf, prepared for intersection. 48 bytes, three vectors of the GPU's triangle buffer.
///
/// | bytes | field |
/// |---|---|
/// | 0..12, 12..16 | `v0`, primitive index |
/// | 16..28, 28..32 | `e1 = b - a`, flags |
/// | 32..44, 44..48 | `e2 = c - a`, zero |
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct LeafTriangle {
    /// The vertex `a`.
    pub v0: [f32; 3],
    /// Index of the triangle in the input of the build.
    pub prim: u32,
    /// The edge `b - a`.
    pub e1: [f32; 3],
    /// [`CULL_BACK`] or 0.
    pub flags: u32,
    /// The edge `c - a`.
    pub e2: [f32; 3],
    /// Zero.
    pub pad: u32,
}

impl LeafTriangle {
    /// Prepares a triangle of the input, which had index `prim` there.
    pub fn new(triangle: &Triangle, prim: u32) -> Self {
        Self {
            v0: triangle.a.to_array(),
            prim,
            e1: (triangle.b - triangle.a).to_array(),
            flags: triangle.flags,
            e2: (triangle.c - triangle.a).to_array(),
            pad: 0,
        }
    }

    /// The hit of `ray` with this triangle if it is nearer than `best`: `ray.t_min < t < best.t`, or `t == best.t` and a lower
    /// primitive index. Start with `t = t_max` and `prim = 0` to have `t < t_max` strictly.
    #[inline]
    pub fn intersect(&self, ray: &Ray, best: &Hit) -> Option<Hit> {
        let (o, d) = (ray.origin, ray.dir);
        let [e1x, e1y, e1z] = self.e1;
        let [e2x, e2y, e2z] = self.e2;
        // Möller & Trumbore 1997.
        let px = d.y * e2z - d.z * e2y;
        let py = d.z * e2x - d.x * e2z;
        let pz = d.x * e2y - d.y * e2x;
        let det = (e1x * px + e1y * py) + e1z * pz;
        let inv = 1.0 / det;
        let sx = o.x - self.v0[0];
        let sy = o.y - self.v0[1];
        let sz = o.z - self.v0[2];
        let u = ((sx * px + sy * py) + sz * pz) * inv;
        let qx = sy * e1z - sz * e1y;
        let qy = sz * e1x - sx * e1z;
        let qz = sx * e1y - sy * e1x;
        let v = ((d.x * qx + d.y * qy) + d.z * qz) * inv;
        let t = ((e2x * qx + e2y * qy) + e2z * qz) * inv;
        // Written so that a NaN anywhere fails. det is -dot(d, e1 × e2).
        let culled = self.flags & CULL_BACK != 0 && det < 0.0;
        let inside = det != 0.0 && u >= 0.0 && v >= 0.0 && u + v <= 1.0 && !culled;
        let nearer = t > ray.t_min && (t < best.t || (t == best.t && self.prim < best.prim));
        (inside && nearer).then_some(Hit { t, u, v, prim: self.prim })
    }
}
