//! A ray prepared for the triangles of blocks.

use super::super::ray::{Hit, Ray, Shear};
use super::super::triangle::settle_edges;
use super::lanes::Lanes;
use super::layout::Block;

// Functions that are always inlined, where closures and `map` would read better: those stay functions of their own, without
// the processor features of the code around them, and pass registers through memory.

/// A ray in every lane.
#[derive(Clone, Copy)]
pub struct RayLanes<L> {
    origin: [L; 3],
    axes: [usize; 3],
    sx: L,
    sy: L,
    sz: L,
    t_min: L,
}

impl<L> RayLanes<L> {
    /// Prepares a ray.
    #[inline(always)]
    pub fn new<const W: usize>(ray: &Ray) -> Self
    where
        L: Lanes<W>,
    {
        let Shear { axes, sx, sy, sz } = ray.shear();
        let origin = ray.origin.to_array();
        // Always below three: the remainder lets the compiler see it.
        let along = [origin[axes[0] % 3], origin[axes[1] % 3], origin[axes[2] % 3]];
        Self {
            origin: [L::splat(along[0]), L::splat(along[1]), L::splat(along[2])],
            axes,
            sx: L::splat(sx),
            sy: L::splat(sy),
            sz: L::splat(sz),
            t_min: L::splat(ray.t_min),
        }
    }

    /// A corner of all triangles in the space of the ray–triangle test. The ray's permutation of the axes only chooses what is
    /// loaded.
    #[inline(always)]
    fn shear<const W: usize>(&self, corner: &[[f32; W]; 3]) -> [L; 3]
    where
        L: Lanes<W>,
    {
        let [kx, ky, kz] = self.axes;
        let z = L::load(&corner[kz % 3]).sub(self.origin[2]);
        let x = L::load(&corner[kx % 3]).sub(self.origin[0]).sub(self.sx.mul(z));
        let y = L::load(&corner[ky % 3]).sub(self.origin[1]).sub(self.sy.mul(z));
        [x, y, z]
    }

    /// Replaces `best` by the block's nearest hit if that is nearer, or as near and lower in index; whether it did.
    ///
    /// The operations of [`LeafTriangle::intersect`](super::super::triangle::LeafTriangle::intersect).
    #[inline(always)]
    pub fn intersect<const W: usize>(&self, block: &Block<W>, best: &mut Hit) -> bool
    where
        L: Lanes<W>,
    {
        let [a, b, c] = &block.corners;
        let corners = [self.shear(a), self.shear(b), self.shear(c)];
        let Some(Crossing { within, t, u, v, det }) = cross(corners, self.sz) else { return false };
        let nearer = L::and(self.t_min.lt(t), t.le(L::splat(best.t)));
        let mut hits = within & L::bits(nearer);
        if hits & block.culled != 0 {
            hits &= !(L::bits(det.mul(self.sz).lt(L::splat(0.0))) & block.culled);
        }
        if hits == 0 {
            return false;
        }
        let (t, u, v) = (t.store(), u.store(), v.store());
        let mut replaced = false;
        while hits != 0 {
            let i = hits.trailing_zeros() as usize % W;
            hits &= hits - 1;
            if t[i] < best.t || (t[i] == best.t && block.prim[i] < best.prim) {
                *best = Hit { t: t[i], u: u[i], v: v[i], prim: block.prim[i] };
                replaced = true;
            }
        }
        replaced
    }
}

/// Where rays cross the planes of triangles inside of them, a ray and a triangle in every lane.
pub struct Crossing<L> {
    /// The lanes that this is true of, as bits; not none.
    pub within: u32,
    /// Distances.
    pub t: L,
    /// Weights of the second vertices.
    pub u: L,
    /// Weights of the third vertices.
    pub v: L,
    /// Determinants. Where one and the ray's `sz` have opposite signs, the ray comes from behind.
    pub det: L,
}

/// The part of [`LeafTriangle::intersect`](super::super::triangle::LeafTriangle::intersect) that no other hit matters to, on sheared
/// corners; `None` where all lanes miss.
#[inline(always)]
pub fn cross<const W: usize, L: Lanes<W>>([a, b, c]: [[L; 3]; 3], sz: L) -> Option<Crossing<L>> {
    let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = [a, b, c];
    let u = cx.mul(by).sub(cy.mul(bx));
    let v = ax.mul(cy).sub(ay.mul(cx));
    let w = bx.mul(ay).sub(by.mul(ax));
    let mut edges = [u, v, w];
    let mut within = inside(edges);
    if within == 0 {
        return None;
    }
    if within & zeros(edges) != 0 {
        edges = settle(edges, [ax, ay], [bx, by], [cx, cy]);
        within = inside(edges);
    }
    let [u, v, w] = edges;
    let det = u.add(v).add(w);
    let inv = L::splat(1.0).div(det);
    let t = u.mul(az).add(v.mul(bz)).add(w.mul(cz)).mul(sz).mul(inv);
    within &= L::bits(det.ne(L::splat(0.0)));
    Some(Crossing { within, t, u: v.mul(inv), v: w.mul(inv), det })
}

/// The lanes whose edge functions have no two signs, as bits.
///
/// Of NaNs, `min` and `max` give the second operand, w: the determinant is then NaN as well, and no t is nearer.
#[inline(always)]
fn inside<const W: usize, L: Lanes<W>>([u, v, w]: [L; 3]) -> u32 {
    let zero = L::splat(0.0);
    L::bits(L::or(zero.le(u.min(v).min(w)), u.max(v).max(w).le(zero)))
}

/// The lanes in which an edge function is zero or NaN, as bits.
#[inline(always)]
fn zeros<const W: usize, L: Lanes<W>>([u, v, w]: [L; 3]) -> u32 {
    let zero = L::splat(0.0);
    !L::bits(L::and(L::and(u.ne(zero), v.ne(zero)), w.ne(zero)))
}

/// [`settle_edges`] in every lane.
#[cold]
#[inline(never)]
fn settle<const W: usize, L: Lanes<W>>(edges: [L; 3], a: [L; 2], b: [L; 2], c: [L; 2]) -> [L; 3] {
    let mut edges = edges.map(L::store);
    let [a, b, c] = [a, b, c].map(|corner| corner.map(L::store));
    for i in 0..W {
        let at = |corner: &[[f32; W]; 2]| [corner[0][i], corner[1][i]];
        let settled = settle_edges([edges[0][i], edges[1][i], edges[2][i]], at(&a), at(&b), at(&c));
        (0..3).for_each(|k| edges[k][i] = settled[k]);
    }
    edges.map(|edge| L::load(&edge))
}
