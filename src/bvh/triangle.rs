//! Triangles as the tree takes them and as its leaves keep them, and the one ray–triangle test.
//!
//! The test is the watertight one of Woop, Benthin & Wald ("Watertight Ray/Triangle Intersection",
//! 2013): no ray gets through an edge or a vertex that triangles share. It has no epsilon, so it
//! works at any scale of the scene. Its operations and their order are part of the contract between
//! the scalar code, the lanes and `wgsl/traverse/ray_triangle.wgsl`; none of them may fuse a
//! multiplication with an addition, or an edge that two triangles share would have two results.

use super::ray::{Hit, Ray, Shear};
use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// Flag of a one-sided triangle: a hit is ignored where `dot(dir, cross(b - a, c - a)) > 0`, that
/// is where the ray comes from behind the side from which `a, b, c` run counter-clockwise (in a
/// right-handed space).
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

    /// True if all coordinates are finite; the tree leaves out triangles that are not.
    pub fn is_finite(&self) -> bool {
        self.a.is_finite() && self.b.is_finite() && self.c.is_finite()
    }
}

/// A triangle in a leaf. 48 bytes, three vectors of the GPU's triangle buffer.
///
/// | bytes | field |
/// |---|---|
/// | 0..12, 12..16 | `a`, primitive index |
/// | 16..28, 28..32 | `b`, flags |
/// | 32..44, 44..48 | `c`, zero |
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct LeafTriangle {
    /// The first vertex.
    pub a: [f32; 3],
    /// Index of the triangle in the input of the build.
    pub prim: u32,
    /// The second vertex.
    pub b: [f32; 3],
    /// [`CULL_BACK`] or 0.
    pub flags: u32,
    /// The third vertex.
    pub c: [f32; 3],
    /// Zero.
    pub pad: u32,
}

impl LeafTriangle {
    /// A triangle of the input, which had index `prim` there.
    pub fn new(triangle: &Triangle, prim: u32) -> Self {
        let Triangle { a, b, c, flags } = *triangle;
        Self { a: a.to_array(), prim, b: b.to_array(), flags, c: c.to_array(), pad: 0 }
    }

    /// The hit of `ray` with this triangle if it is nearer than `best`: `ray.t_min < t < best.t`,
    /// or `t == best.t` and a lower primitive index. Start with `t = t_max` and `prim = 0` to have
    /// `t < t_max` strictly. `shear` is the ray's.
    ///
    /// Woop, Benthin & Wald 2013, §3, with [`settle_edges`] in place of their second pass in double
    /// precision.
    #[inline]
    pub fn intersect(&self, ray: &Ray, shear: &Shear, best: &Hit) -> Option<Hit> {
        let [ax, ay, az] = shear.apply(&self.a, ray.origin);
        let [bx, by, bz] = shear.apply(&self.b, ray.origin);
        let [cx, cy, cz] = shear.apply(&self.c, ray.origin);
        let mut edges = [cx * by - cy * bx, ax * cy - ay * cx, bx * ay - by * ax];
        if edges.contains(&0.0) {
            edges = settle_edges(edges, [ax, ay], [bx, by], [cx, cy]);
        }
        let [u, v, w] = edges;
        let det = (u + v) + w;
        let inv = 1.0 / det;
        let t = (((u * az + v * bz) + w * cz) * shear.sz) * inv;
        // Written so that a NaN anywhere fails. det and sz have opposite signs where dot(d, (b - a)
        // × (c - a)) is positive.
        let inside = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
        let culled = self.flags & CULL_BACK != 0 && det * shear.sz < 0.0;
        let nearer = t > ray.t_min && (t < best.t || (t == best.t && self.prim < best.prim));
        (inside && det != 0.0 && !culled && nearer).then_some(Hit { t, u: v * inv, v: w * inv, prim: self.prim })
    }
}

/// The edge functions `[u, v, w]` of a triangle whose sheared vertices are `a`, `b`, `c`, with
/// those that are zero replaced by the exact difference of their products.
///
/// An edge function is the difference of two rounded products. Rounding keeps order, so one that is
/// not zero has the sign of the exact difference; one that is zero is inconclusive: seen from a
/// distance all three of a tiny triangle may be. Of exact zeros the ray counts as inside of both
/// triangles at the edge.
#[cold]
pub fn settle_edges(edges: [f32; 3], a: [f32; 2], b: [f32; 2], c: [f32; 2]) -> [f32; 3] {
    let settle = |edge: f32, [px, py]: [f32; 2], [qx, qy]: [f32; 2]| {
        if edge == 0.0 { product_error(px, qy) - product_error(py, qx) } else { edge }
    };
    let [u, v, w] = edges;
    [settle(u, c, b), settle(v, a, c), settle(w, b, a)]
}

/// The error of rounding `a * b`: exact, unless it is below the smallest normal number.
fn product_error(a: f32, b: f32) -> f32 {
    (f64::from(a) * f64::from(b) - f64::from(a * b)) as f32
}
