//! A ray prepared for the triangles of blocks.

use super::super::ray::{BATCH, Hit, Ray, RayBatch, Shear};
use super::super::triangle::settle_edges;
use super::lanes::{Lanes, load_group, store_group};
use super::layout::Block;

// Functions that are always inlined, where closures and `map` would read better: those stay
// functions of their own, without the processor features of the code around them, and pass
// registers through memory.

/// A ray's constants for triangles: [`Shear`], and the ray's origin in the order of its axes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sheared {
    origin: [f32; 3],
    sx: f32,
    sy: f32,
    sz: f32,
    t_min: f32,
    axes: [u32; 3],
}

impl Sheared {
    /// Prepares a ray.
    #[inline(always)]
    pub fn new(ray: &Ray) -> Self {
        let Shear { axes: [x, y, z], sx, sy, sz } = ray.shear();
        let origin = ray.origin.to_array();
        Self {
            // Always below three: the remainder lets the compiler see it.
            origin: [origin[x % 3], origin[y % 3], origin[z % 3]],
            sx,
            sy,
            sz,
            t_min: ray.t_min,
            axes: [x as u32, y as u32, z as u32],
        }
    }

    /// A corner of all triangles in the space of the ray–triangle test. The ray's permutation of
    /// the axes only chooses what is loaded.
    #[inline(always)]
    fn corner<const W: usize, L: Lanes<W>>(&self, corner: &[[f32; W]; 3]) -> [L; 3] {
        let [kx, ky, kz] = self.axes;
        let z = L::load(&corner[kz as usize]).sub(L::splat(self.origin[2]));
        let x = L::load(&corner[kx as usize]).sub(L::splat(self.origin[0])).sub(L::splat(self.sx).mul(z));
        let y = L::load(&corner[ky as usize]).sub(L::splat(self.origin[1])).sub(L::splat(self.sy).mul(z));
        [x, y, z]
    }

    /// Replaces `best` by the block's nearest hit if that is nearer, or as near and lower in index;
    /// whether it did.
    ///
    /// The operations of
    /// [`LeafTriangle::intersect`](super::super::triangle::LeafTriangle::intersect).
    #[inline(always)]
    pub fn intersect<const W: usize, L: Lanes<W>>(&self, block: &Block<W>, best: &mut Hit) -> bool {
        let [a, b, c] = &block.corners;
        let corners = [self.corner::<W, L>(a), self.corner::<W, L>(b), self.corner::<W, L>(c)];
        let sz = L::splat(self.sz);
        let Some(Crossing { within, t, u, v, det }) = cross(corners, sz) else { return false };
        let nearer = L::and(L::splat(self.t_min).lt(t), t.le(L::splat(best.t)));
        let mut hits = within & L::bits(nearer);
        if hits == 0 {
            return false;
        }
        let from_behind = L::bits(det.mul(sz).lt(L::splat(0.0)));
        let (t, u, v) = (t.store(), u.store(), v.store());
        let mut replaced = false;
        while hits != 0 {
            let i = hits.trailing_zeros() as usize % W;
            hits &= hits - 1;
            let culled = from_behind >> i & 1 != 0 && block.is_one_sided(i);
            if !culled && (t[i] < best.t || (t[i] == best.t && block.prim(i) < best.prim)) {
                *best = Hit { t: t[i], u: u[i], v: v[i], prim: block.prim(i) };
                replaced = true;
            }
        }
        replaced
    }
}

/// The axes of sixteen rays in the order of [`Shear::axes`], each ray's own.
#[derive(Clone, Copy)]
pub struct LaneAxes<L: Lanes<16>> {
    /// Where x, and where y, is the direction's longest axis; elsewhere z is.
    along_x: L::Mask,
    along_y: L::Mask,
}

impl<L: Lanes<16>> LaneAxes<L> {
    /// A vector of the world with its axes in each ray's order.
    #[inline(always)]
    pub fn permuted(&self, [x, y, z]: [L; 3]) -> [L; 3] {
        let (along_x, along_y) = (self.along_x, self.along_y);
        [
            L::select(along_x, y, L::select(along_y, z, x)),
            L::select(along_x, z, L::select(along_y, x, y)),
            L::select(along_x, x, L::select(along_y, y, z)),
        ]
    }
}

/// The [`Shear`] of sixteen rays.
#[derive(Clone, Copy)]
pub struct LaneShear<L: Lanes<16>> {
    /// The order of the axes.
    pub axes: LaneAxes<L>,
    /// As in [`Shear`].
    pub sx: L,
    /// The same.
    pub sy: L,
    /// The same.
    pub sz: L,
}

impl<L: Lanes<16>> LaneShear<L> {
    /// The operations of [`Ray::shear`], for directions.
    #[inline(always)]
    pub fn new(dir: [L; 3]) -> Self {
        let [x, y, z] = [dir[0].abs(), dir[1].abs(), dir[2].abs()];
        let axes = LaneAxes { along_x: L::and(y.le(x), z.le(x)), along_y: z.le(y) };
        let [dx, dy, dz] = axes.permuted(dir);
        let sz = L::splat(1.0).div(dz);
        Self { axes, sx: dx.mul(sz), sy: dy.mul(sz), sz }
    }
}

/// The data that [`Sheared`] has of a batch's rays besides their origins, in structure of arrays:
/// sixteen rays are prepared at a time.
pub struct ShearedBatch {
    sx: [f32; BATCH],
    sy: [f32; BATCH],
    sz: [f32; BATCH],
    /// The axis that becomes z.
    axis: [u32; BATCH],
}

impl ShearedBatch {
    /// Of no rays.
    pub const NONE: Self = Self { sx: [0.0; BATCH], sy: [0.0; BATCH], sz: [0.0; BATCH], axis: [0; BATCH] };

    /// Prepares the sixteen rays of a group, active or not.
    #[inline(always)]
    pub fn prepare<L: Lanes<16>>(&mut self, rays: &RayBatch, group: usize) {
        let dir = [load_group(&rays.dx, group), load_group(&rays.dy, group), load_group(&rays.dz, group)];
        let LaneShear { axes, sx, sy, sz } = LaneShear::<L>::new(dir);
        store_group(&mut self.sx, group, sx);
        store_group(&mut self.sy, group, sy);
        store_group(&mut self.sz, group, sz);
        let [_, _, axis] = axes.permuted([0, 1, 2].map(|axis| L::splat(f32::from_bits(axis))));
        store_group::<BATCH, L>(bytemuck::cast_mut(&mut self.axis), group, axis);
    }

    /// Ray `i`.
    #[inline(always)]
    pub fn get(&self, rays: &RayBatch, i: usize) -> Sheared {
        let origin = [rays.ox[i], rays.oy[i], rays.oz[i]];
        // Always below three: the remainder lets the compiler see it.
        let z = self.axis[i] % 3;
        let [x, y] = [[1, 2, 0][z as usize], [2, 0, 1][z as usize]];
        Sheared {
            origin: [origin[x as usize], origin[y as usize], origin[z as usize]],
            sx: self.sx[i],
            sy: self.sy[i],
            sz: self.sz[i],
            t_min: rays.t_min[i],
            axes: [x, y, z],
        }
    }
}

/// Where rays cross the planes of triangles inside of them, a ray and a triangle in every lane.
pub struct Crossing<L> {
    /// The lanes that this is true of, as bits.
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

/// The part of [`LeafTriangle::intersect`](super::super::triangle::LeafTriangle::intersect) that no
/// other hit matters to, on sheared corners; `None` where all lanes miss.
#[inline(always)]
pub fn cross<const W: usize, L: Lanes<W>>(corners: [[L; 3]; 3], sz: L) -> Option<Crossing<L>> {
    let edges = edge_functions(corners);
    let within = inside(edges);
    if within == 0 {
        return None;
    }
    Some(cross_within(corners, sz, edges, within))
}

/// As [`cross`], without a branch for lanes that all miss: it pays where that is as likely as not.
#[inline(always)]
pub fn cross_always<const W: usize, L: Lanes<W>>(corners: [[L; 3]; 3], sz: L) -> Crossing<L> {
    let edges = edge_functions(corners);
    cross_within(corners, sz, edges, inside(edges))
}

#[inline(always)]
fn edge_functions<const W: usize, L: Lanes<W>>([a, b, c]: [[L; 3]; 3]) -> [L; 3] {
    let [[ax, ay, _], [bx, by, _], [cx, cy, _]] = [a, b, c];
    let u = cx.mul(by).sub(cy.mul(bx));
    let v = ax.mul(cy).sub(ay.mul(cx));
    let w = bx.mul(ay).sub(by.mul(ax));
    [u, v, w]
}

#[inline(always)]
fn cross_within<const W: usize, L: Lanes<W>>(
    [a, b, c]: [[L; 3]; 3],
    sz: L,
    mut edges: [L; 3],
    mut within: u32,
) -> Crossing<L> {
    let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = [a, b, c];
    if within & zeros(edges) != 0 {
        edges = settle(edges, [ax, ay], [bx, by], [cx, cy]);
        within = inside(edges);
    }
    let [u, v, w] = edges;
    let det = u.add(v).add(w);
    let inv = L::splat(1.0).div(det);
    let t = u.mul(az).add(v.mul(bz)).add(w.mul(cz)).mul(sz).mul(inv);
    within &= L::bits(det.ne(L::splat(0.0)));
    Crossing { within, t, u: v.mul(inv), v: w.mul(inv), det }
}

/// The lanes whose edge functions have no two signs, as bits.
///
/// Of NaNs, `min` and `max` give the second operand, w: the determinant is then NaN as well, and no
/// t is nearer.
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
