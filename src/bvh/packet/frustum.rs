//! The frusta around the four groups of a batch's rays, and which boxes and triangles they meet.
//!
//! A frustum looks along z, the longest axis of its rays' directions. Depth `w` is z, with the sign
//! of the directions; from where the first of the rays starts, the frustum is between two planes
//! across x and two across y, `x = slope * w + offset`. Its planes are `PAD` outside of the rays:
//! so much, in shares of the largest coordinate, may the rounded tests here and of triangles be
//! off.

use super::super::wide::lanes::Rows;
use super::super::wide::layout::{Block, WideNode};
use super::GROUPS;

/// Padding of the planes, in shares of the largest coordinate. Sixteen roundings up: a vertex
/// relative to a ray's origin, sheared, is off by less than five; a plane's slope and offset and
/// its distance from a corner by less than ten.
const PAD: f32 = 16.0 * f32::EPSILON;

/// Padding of edge functions, in shares of the square of a triangle's largest distance from the
/// origin along an axis: an edge function is the sum of six products of two such distances, each
/// off by less than five roundings.
const EDGE_PAD: f32 = 64.0 * f32::EPSILON;

/// The least of four.
#[inline(always)]
pub fn least4([a, b, c, d]: [f32; GROUPS]) -> f32 {
    a.min(b).min(c.min(d))
}

/// The greatest of four.
#[inline(always)]
pub fn greatest4([a, b, c, d]: [f32; GROUPS]) -> f32 {
    a.max(b).max(c.max(d))
}

/// The exact ends of the groups' rays, each value for four groups.
pub struct Hull {
    /// The world's axes that are x, y and z.
    pub axes: [usize; 3],
    /// 1 or −1: the sign of the directions along z.
    pub sign: f32,
    /// Least and greatest change of x, then of y, for a step of depth.
    pub slope: [[f32; GROUPS]; 4],
    /// Least and greatest x, then y, where the group's first ray starts.
    pub base: [[f32; GROUPS]; 4],
    /// The depth where the group's first ray starts; infinite for a group without rays.
    pub start: [f32; GROUPS],
    /// The depth where the group's last ray ends.
    pub end: [f32; GROUPS],
    /// A bound of the coordinates of the scene and of the rays' origins.
    pub reach: f32,
}

impl Hull {
    /// How much wider the widest frustum is a step of depth from its start.
    #[inline(always)]
    pub fn width(&self) -> f32 {
        let [x0, x1, y0, y1] = &self.slope;
        let mut width = 0f32;
        let mut group = 0;
        while group < GROUPS {
            width = width.max(x1[group] - x0[group]).max(y1[group] - y0[group]);
            group += 1;
        }
        width
    }
}

/// The frusta in lanes, a row a group: `L` has `W / 4` parts to hold the four rows of `W` lanes.
pub struct Frusta<L> {
    axes: [usize; 3],
    sign: f32,
    /// The four planes, x low, x high, y low, y high: `x - slope * w` is at least or at most
    /// `offset`.
    slope: [[L; 2]; 4],
    offset: [[L; 2]; 4],
    /// True if a plane is the farthest out at the end of a box, or else at its start.
    at_end: [bool; 4],
    start: [L; 2],
    end: [L; 2],
    /// Middles and halves of the slopes along x and y, to the direction of the axis.
    middle: [[L; 2]; 2],
    half: [[L; 2]; 2],
    pad: f32,
    /// The depth where the first of all rays starts and that where the last ends.
    first: f32,
    last: f32,
}

/// A value a group in the lanes of each part.
#[inline(always)]
fn spread<const W: usize, L: Rows>(values: &[f32; GROUPS]) -> [L; 2] {
    [L::rows::<W>(values, 0), L::rows::<W>(values, if W == 8 { 1 } else { 0 })]
}

impl<L: Rows> Frusta<L> {
    /// Frusta around nothing.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = [L::splat(0.0); 2];
        Self {
            axes: [0, 1, 2],
            sign: 1.0,
            slope: [zero; 4],
            offset: [zero; 4],
            at_end: [false; 4],
            start: zero,
            end: zero,
            middle: [zero; 2],
            half: [zero; 2],
            pad: 0.0,
            first: 0.0,
            last: 0.0,
        }
    }

    /// Wraps four groups, for nodes and blocks of `W`.
    #[inline(always)]
    pub fn wrap<const W: usize>(&mut self, hull: &Hull) {
        let pad = PAD * hull.reach;
        (self.axes, self.sign, self.pad) = (hull.axes, hull.sign, pad);
        let mut plane = 0;
        while plane < 4 {
            let outward = if plane % 2 == 0 { -1.0 } else { 1.0 };
            let mut slope = hull.slope[plane];
            // True if the plane of any group leads outward. If so, no plane may lead inward: all
            // are compared at one end of a box.
            let at_end =
                greatest4([slope[0] * outward, slope[1] * outward, slope[2] * outward, slope[3] * outward]) > 0.0;
            let mut offset = [0.0; GROUPS];
            let mut group = 0;
            while group < GROUPS {
                if at_end && slope[group] * outward < 0.0 {
                    slope[group] = 0.0;
                }
                slope[group] = -slope[group];
                // An empty group starts at infinity; it meets nothing, whatever its planes are.
                offset[group] = (hull.base[plane][group] + slope[group] * hull.start[group]) + outward * pad;
                group += 1;
            }
            self.at_end[plane] = at_end;
            self.slope[plane] = spread::<W, L>(&slope);
            self.offset[plane] = spread::<W, L>(&offset);
            plane += 1;
        }
        let mut axis = 0;
        while axis < 2 {
            let (low, high) = (hull.slope[2 * axis], hull.slope[2 * axis + 1]);
            let (mut middle, mut half) = ([0.0; GROUPS], [0.0; GROUPS]);
            let mut group = 0;
            while group < GROUPS {
                middle[group] = (low[group] + high[group]) * (0.5 * hull.sign);
                half[group] = (high[group] - low[group]) * 0.5;
                group += 1;
            }
            self.middle[axis] = spread::<W, L>(&middle);
            self.half[axis] = spread::<W, L>(&half);
            axis += 1;
        }
        let [a, b, c, d] = hull.start;
        let start = [a - pad, b - pad, c - pad, d - pad];
        self.first = least4(start);
        self.start = spread::<W, L>(&start);
        self.set_end::<W>(&hull.end);
    }

    /// Changes the depths where the groups' last rays end.
    #[inline(always)]
    pub fn set_end<const W: usize>(&mut self, end: &[f32; GROUPS]) {
        let &[a, b, c, d] = end;
        let end = [a + self.pad, b + self.pad, c + self.pad, d + self.pad];
        self.last = greatest4(end) - self.first;
        self.end = spread::<W, L>(&end);
    }

    /// The depth where the last ray ends, from where the first one starts.
    #[inline(always)]
    pub fn depth(&self) -> f32 {
        self.last
    }

    /// Which frusta meet the boxes of which children, child `i` and group `g` in bit `g * W + i`,
    /// and the depths where the boxes start, from where the first ray starts and not negative, in
    /// the first `W` values.
    #[inline(always)]
    pub fn enter<const W: usize>(&self, node: &WideNode<W>) -> (u32, [f32; 16]) {
        let [x, y, z] = self.axes;
        let sign = L::splat(self.sign);
        let (near, far) = if self.sign > 0.0 { (z, z + 3) } else { (z + 3, z) };
        // Always below six: the remainder lets the compiler see it.
        let (w0, w1) = (L::repeat(&node.planes[near % 6]).mul(sign), L::repeat(&node.planes[far % 6]).mul(sign));
        let (x0, x1) = (L::repeat(&node.planes[x % 6]), L::repeat(&node.planes[(x + 3) % 6]));
        let (y0, y1) = (L::repeat(&node.planes[y % 6]), L::repeat(&node.planes[(y + 3) % 6]));
        let [at0, at1, at2, at3] = self.at_end;
        let (at0, at1) = (if at0 { w1 } else { w0 }, if at1 { w1 } else { w0 });
        let (at2, at3) = (if at2 { w1 } else { w0 }, if at3 { w1 } else { w0 });
        let [slope, offset] = [&self.slope, &self.offset];
        let mut met = 0;
        let mut part = 0;
        while part < W / 4 {
            let x = L::and(
                offset[0][part].le(slope[0][part].mul_add(at0, x1)),
                slope[1][part].mul_add(at1, x0).le(offset[1][part]),
            );
            let y = L::and(
                offset[2][part].le(slope[2][part].mul_add(at2, y1)),
                slope[3][part].mul_add(at3, y0).le(offset[3][part]),
            );
            let z = L::and(w0.le(self.end[part]), self.start[part].le(w1));
            met |= L::bits(L::and(L::and(x, y), z)) << (16 * part);
            part += 1;
        }
        (met, w0.sub(L::splat(self.first)).max(L::splat(0.0)).store())
    }

    /// Which frusta may meet which triangles, triangle `i` and group `g` in bit `g * W + i`: those
    /// that no plane separates.
    #[inline(always)]
    pub fn meet<const W: usize>(&self, block: &Block<W>) -> u32 {
        let [x, y, z] = self.axes;
        let sign = L::splat(self.sign);
        let [a, b, c] = &block.corners;
        let (ax, bx, cx) = (L::repeat(&a[x % 3]), L::repeat(&b[x % 3]), L::repeat(&c[x % 3]));
        let (ay, by, cy) = (L::repeat(&a[y % 3]), L::repeat(&b[y % 3]), L::repeat(&c[y % 3]));
        let aw = L::repeat(&a[z % 3]).mul(sign);
        let bw = L::repeat(&b[z % 3]).mul(sign);
        let cw = L::repeat(&c[z % 3]).mul(sign);
        let (w0, w1) = (aw.min(bw).min(cw), aw.max(bw).max(cw));
        let mut met = 0;
        let mut part = 0;
        while part < W / 4 {
            let s = self.slope[0][part];
            let x1 = s.mul_add(aw, ax).max(s.mul_add(bw, bx)).max(s.mul_add(cw, cx));
            let s = self.slope[1][part];
            let x0 = s.mul_add(aw, ax).min(s.mul_add(bw, bx)).min(s.mul_add(cw, cx));
            let s = self.slope[2][part];
            let y1 = s.mul_add(aw, ay).max(s.mul_add(bw, by)).max(s.mul_add(cw, cy));
            let s = self.slope[3][part];
            let y0 = s.mul_add(aw, ay).min(s.mul_add(bw, by)).min(s.mul_add(cw, cy));
            let x = L::and(self.offset[0][part].le(x1), x0.le(self.offset[1][part]));
            let y = L::and(self.offset[2][part].le(y1), y0.le(self.offset[3][part]));
            let z = L::and(w0.le(self.end[part]), self.start[part].le(w1));
            met |= L::bits(L::and(L::and(x, y), z)) << (16 * part);
            part += 1;
        }
        met
    }

    /// Which frusta of rays from one `origin` (x, y and z) may meet which triangles, bits as in
    /// [`meet`](Self::meet): those that no plane through the origin and an edge separates.
    ///
    /// An edge function of the watertight test is linear in a ray's shears, so a frustum's middle
    /// and halves bound it.
    #[inline(always)]
    pub fn meet_edges<const W: usize>(&self, block: &Block<W>, origin: [L; 3]) -> u32 {
        let a = self.relative(&block.corners[0], origin);
        let b = self.relative(&block.corners[1], origin);
        let c = self.relative(&block.corners[2], origin);
        let largest = distance(a).max(distance(b)).max(distance(c));
        let pad = largest.mul(largest).mul(L::splat(EDGE_PAD));
        let edges = [edge(c, b), edge(a, c), edge(b, a)];
        let zero = L::splat(0.0);
        let mut met = 0;
        let mut part = 0;
        while part < W / 4 {
            let (u0, u1) = self.bounds(edges[0], part, pad);
            let (v0, v1) = self.bounds(edges[1], part, pad);
            let (w0, w1) = self.bounds(edges[2], part, pad);
            let positive = zero.le(u1.min(v1).min(w1));
            let negative = u0.max(v0).max(w0).le(zero);
            met |= L::bits(L::or(positive, negative)) << (16 * part);
            part += 1;
        }
        met
    }

    /// A corner of all triangles, relative to an origin.
    #[inline(always)]
    fn relative<const W: usize>(&self, corner: &[[f32; W]; 3], origin: [L; 3]) -> [L; 3] {
        let [x, y, z] = self.axes;
        [
            L::repeat(&corner[x % 3]).sub(origin[0]),
            L::repeat(&corner[y % 3]).sub(origin[1]),
            L::repeat(&corner[z % 3]).sub(origin[2]),
        ]
    }

    /// Bounds of an edge function over the frusta of a part.
    #[inline(always)]
    fn bounds(&self, edge: [L; 3], part: usize, pad: L) -> (L, L) {
        let middle = edge[1].mul_add(self.middle[0][part], edge[2].mul_add(self.middle[1][part], edge[0]));
        let half = edge[1].abs().mul_add(self.half[0][part], edge[2].abs().mul_add(self.half[1][part], pad));
        (middle.sub(half), middle.add(half))
    }
}

/// The largest absolute component.
#[inline(always)]
fn distance<L: Rows>([x, y, z]: [L; 3]) -> L {
    x.abs().max(y.abs()).max(z.abs())
}

/// The edge function of two vertices, `(px - sx pz)(qy - sy qz) - (py - sy pz)(qx - sx qz)`, as its
/// constant and what it has of `sx` and of `sy`.
#[inline(always)]
fn edge<L: Rows>(p: [L; 3], q: [L; 3]) -> [L; 3] {
    [p[0].mul(q[1]).sub(p[1].mul(q[0])), p[1].mul(q[2]).sub(p[2].mul(q[1])), p[2].mul(q[0]).sub(p[0].mul(q[2]))]
}
