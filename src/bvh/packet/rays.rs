//! The rays of a packet in lanes, in the space of the watertight test, with their best hits.

use super::super::ray::{BATCH, HitBatch, NO_PRIM, RayBatch};
use super::super::wide::intersect::{Crossing, cross};
use super::super::wide::lanes::{Lanes, Rows, load_group, store_group};
use super::super::wide::layout::Block;
use super::frustum::{Hull, greatest4};
use super::{GROUP, GROUPS};

/// The largest coordinate that is traced in packets: products of three such stay finite, with room
/// for the factors.
const LARGEST: f32 = 1e12;

/// The rays of a batch that look along one axis, and no others.
#[derive(Clone, Copy)]
pub struct Alike {
    /// The rays, as bits; not none.
    pub mask: u64,
    /// The world's axis of their directions' largest components, which all have one sign.
    pub axis: usize,
}

impl Alike {
    /// The rays of `left` that are like the first of them; `None` where the first has no direction.
    #[inline(always)]
    pub fn first<L: Rows>(rays: &RayBatch, left: u64) -> Option<Self> {
        let dirs = [&rays.dx, &rays.dy, &rays.dz];
        let ray = left.trailing_zeros() as usize % BATCH;
        let axis = rays.ray(ray).shear().axes[2] % 3;
        let backwards = dirs[axis][ray] < 0.0;
        let zero = L::splat(0.0);
        let mut mask = 0;
        let mut group = 0;
        while group < GROUPS {
            let z: L = load_group(dirs[axis], group);
            let x = load_group::<BATCH, L>(dirs[(axis + 1) % 3], group).abs();
            let y = load_group::<BATCH, L>(dirs[(axis + 2) % 3], group).abs();
            let side = if backwards { z.lt(zero) } else { zero.lt(z) };
            let z = z.abs();
            // Of equal components the first of the world's axes is the largest.
            let longest = match axis {
                0 => L::and(x.le(z), y.le(z)),
                1 => L::and(x.le(z), y.lt(z)),
                _ => L::and(x.lt(z), y.lt(z)),
            };
            mask |= u64::from(L::bits(L::and(longest, side))) << (group * GROUP);
            group += 1;
        }
        let mask = mask & left;
        (mask != 0).then_some(Self { mask, axis })
    }
}

/// The rays of a group; those that are not to be traced are copies of one that is, and end before
/// they start.
#[derive(Clone, Copy)]
struct Group<L> {
    origin: [L; 3],
    sx: L,
    sy: L,
    sz: L,
    t_min: L,
    /// How far a step of `t` goes along z, and the depth of the origin.
    speed: L,
    depth: L,
    t: L,
    u: L,
    v: L,
    /// Bits of primitive indices.
    prim: L,
    /// The lanes that hit something, as bits.
    found: u32,
}

/// The rays of a packet.
pub struct PacketRays<L> {
    groups: [Group<L>; GROUPS],
    axes: [usize; 3],
    origin: Option<[L; 3]>,
}

impl<L: Rows> PacketRays<L> {
    /// No rays.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = L::splat(0.0);
        let group = Group {
            origin: [zero; 3],
            sx: zero,
            sy: zero,
            sz: zero,
            t_min: zero,
            speed: zero,
            depth: zero,
            t: zero,
            u: zero,
            v: zero,
            prim: zero,
            found: 0,
        };
        Self { groups: [group; GROUPS], axes: [0, 1, 2], origin: None }
    }

    /// Takes rays of a batch and gives what wraps them, or `None` if they or the scene, whose
    /// coordinates are within `reach`, have numbers that are too large or none.
    #[inline(always)]
    pub fn take(&mut self, rays: &RayBatch, alike: Alike, reach: f32) -> Option<Hull> {
        let Alike { mask, axis } = alike;
        let axes = [(axis + 1) % 3, (axis + 2) % 3, axis];
        let [x, y, z] = axes;
        let (origins, dirs) = ([&rays.ox, &rays.oy, &rays.oz], [&rays.dx, &rays.dy, &rays.dz]);
        let first = mask.trailing_zeros() as usize % BATCH;
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let sign = L::splat(1f32.copysign(dirs[z][first]));
        let dir = [L::splat(dirs[x][first]), L::splat(dirs[y][first]), L::splat(dirs[z][first])];
        let origin = [L::splat(origins[x][first]), L::splat(origins[y][first]), L::splat(origins[z][first])];
        let (mut sum, mut farthest, mut apart) = (zero, zero, 0);
        let [mut slope_x, mut slope_y, mut depth, mut end] = [[zero; GROUPS]; 4];
        let mut group = 0;
        while group < GROUPS {
            let active = L::mask((mask >> (group * GROUP)) as u32);
            let dz = L::select(active, load_group(dirs[z], group), dir[2]);
            let sz = one.div(dz);
            let sx = L::select(active, load_group(dirs[x], group), dir[0]).mul(sz);
            let sy = L::select(active, load_group(dirs[y], group), dir[1]).mul(sz);
            let ox = L::select(active, load_group(origins[x], group), origin[0]);
            let oy = L::select(active, load_group(origins[y], group), origin[1]);
            let oz = L::select(active, load_group(origins[z], group), origin[2]);
            let (t_min, t_max) =
                (load_group::<BATCH, L>(&rays.t_min, group), load_group::<BATCH, L>(&rays.t_max, group));
            // Also of rays whose interval is NaN.
            let t = L::select(L::and(active, t_min.lt(t_max)), t_max, L::splat(-1.0));
            // Zero, unless anything is infinite or NaN, or a direction too small to be inverted.
            sum = sx.add(sy).add(sz.add(dz)).add(ox.add(oy).add(oz)).mul(zero).add(sum);
            farthest = farthest.max(ox.abs().max(oy.abs()).max(oz.abs()));
            apart |= L::bits(L::or(ox.ne(origin[0]), L::or(oy.ne(origin[1]), oz.ne(origin[2]))));
            (slope_x[group], slope_y[group], depth[group]) = (sx.mul(sign), sy.mul(sign), oz.mul(sign));
            end[group] = t.mul_add(dz.abs(), depth[group]);
            self.groups[group] = Group {
                origin: [ox, oy, oz],
                sx,
                sy,
                sz,
                t_min,
                speed: dz.abs(),
                depth: depth[group],
                t,
                u: zero,
                v: zero,
                prim: L::splat(f32::from_bits(NO_PRIM)),
                found: 0,
            };
            group += 1;
        }
        let reach = reach.max(greatest4(L::greatest([farthest; GROUPS])));
        let tame = L::bits(sum.le(zero)) == 0xffff && reach < LARGEST;
        if !tame {
            return None;
        }
        (self.axes, self.origin) = (axes, (apart == 0).then_some(origin));
        let slope = [least(slope_x), L::greatest(slope_x), least(slope_y), L::greatest(slope_y)];
        let mut start = least(depth);
        let (x, y) = ([origins[x][first]; GROUPS], [origins[y][first]; GROUPS]);
        let mut base = [x, x, y, y];
        if apart != 0 {
            let [mut base_x, mut base_y] = [[zero; GROUPS]; 2];
            let mut group = 0;
            while group < GROUPS {
                let back = L::splat(start[group]).sub(depth[group]);
                let [ox, oy, _] = self.groups[group].origin;
                (base_x[group], base_y[group]) = (slope_x[group].mul_add(back, ox), slope_y[group].mul_add(back, oy));
                group += 1;
            }
            base = [least(base_x), L::greatest(base_x), least(base_y), L::greatest(base_y)];
        }
        let mut group = 0;
        while group < GROUPS {
            if mask >> (group * GROUP) & 0xffff == 0 {
                start[group] = f32::INFINITY;
            }
            group += 1;
        }
        Some(Hull { axes, sign: 1f32.copysign(dirs[z][first]), slope, base, start, end: L::greatest(end), reach })
    }

    /// The origin of all rays, if there is one.
    #[inline(always)]
    pub fn origin(&self) -> Option<[L; 3]> {
        self.origin
    }

    /// Tests the rays of a group against triangle `i` of a block; whether one hit it. Rays that hit
    /// something have done so for good with `ANY`, and otherwise end there.
    #[inline(always)]
    pub fn intersect<const W: usize, const ANY: bool>(&mut self, group: usize, block: &Block<W>, i: usize) -> bool {
        let rays = &mut self.groups[group];
        let a = rays.shear(self.axes, &block.corners[0], i);
        let b = rays.shear(self.axes, &block.corners[1], i);
        let c = rays.shear(self.axes, &block.corners[2], i);
        let Some(crossing) = cross([a, b, c], rays.sz) else { return false };
        let hits = accepted(block, i, &crossing, rays.sz, [rays.t_min, rays.t], rays.found, rays.prim);
        if hits == 0 {
            return false;
        }
        let Crossing { t, u, v, .. } = crossing;
        let mask = L::mask(hits);
        rays.found |= hits;
        if ANY {
            rays.t = L::select(mask, L::splat(-1.0), rays.t);
        } else {
            rays.t = L::select(mask, t, rays.t);
            rays.u = L::select(mask, u, rays.u);
            rays.v = L::select(mask, v, rays.v);
            rays.prim = L::select(mask, L::splat(f32::from_bits(block.prim(i))), rays.prim);
        }
        true
    }

    /// The depths where the groups' last rays end.
    #[inline(always)]
    pub fn end(&self) -> [f32; GROUPS] {
        let [a, b, c, d] = &self.groups;
        L::greatest([a.end(), b.end(), c.end(), d.end()])
    }

    /// The rays that hit something, as bits; others than those of `alike` mean nothing.
    #[inline(always)]
    pub fn found(&self) -> u64 {
        let [a, b, c, d] = &self.groups;
        u64::from(a.found) | u64::from(b.found) << 16 | u64::from(c.found) << 32 | u64::from(d.found) << 48
    }

    /// Writes the hits and misses of the rays of `mask`.
    #[inline(always)]
    pub fn give(&self, mask: u64, hits: &mut HitBatch) {
        let mut group = 0;
        while group < GROUPS {
            let rays = &self.groups[group];
            let active = L::mask((mask >> (group * GROUP)) as u32);
            let found = L::mask(rays.found);
            put(&mut hits.t, group, active, L::select(found, rays.t, L::splat(-1.0)));
            put(&mut hits.u, group, active, rays.u);
            put(&mut hits.v, group, active, rays.v);
            put(bytemuck::cast_mut(&mut hits.prim), group, active, rays.prim);
            group += 1;
        }
    }
}

impl<L: Rows> Group<L> {
    /// A corner of triangle `i`, seen from each ray.
    #[inline(always)]
    fn shear<const W: usize>(&self, [x, y, z]: [usize; 3], corner: &[[f32; W]; 3], i: usize) -> [L; 3] {
        // Always below three: the remainder lets the compiler see it.
        let z = L::splat(corner[z % 3][i]).sub(self.origin[2]);
        let x = L::splat(corner[x % 3][i]).sub(self.origin[0]).sub(self.sx.mul(z));
        let y = L::splat(corner[y % 3][i]).sub(self.origin[1]).sub(self.sy.mul(z));
        [x, y, z]
    }

    /// The depths where the rays end.
    #[inline(always)]
    fn end(&self) -> L {
        self.t.mul_add(self.speed, self.depth)
    }
}

/// The lanes whose crossing with triangle `i` of a block is after `t_min` and nearer than the best hit,
/// or as near and lower in number where one is `found`; `prims` are the best hits' primitives, as bits.
#[inline(always)]
pub fn accepted<const W: usize, L: Lanes<16>>(
    block: &Block<W>,
    i: usize,
    crossing: &Crossing<L>,
    sz: L,
    [t_min, best]: [L; 2],
    found: u32,
    prims: L,
) -> u32 {
    let Crossing { within, t, det, .. } = crossing;
    let after = t_min.lt(*t);
    let nearer = L::bits(L::and(after, t.lt(best)));
    let level = L::bits(L::and(after, t.le(best))) & !nearer & within & found;
    let mut hits = within & nearer;
    if level != 0 {
        let prims = prims.store();
        let mut lane = 0;
        while lane < GROUP {
            hits |= level & u32::from(prims[lane].to_bits() > block.prim(i)) << lane;
            lane += 1;
        }
    }
    if block.is_one_sided(i) {
        hits &= !L::bits(det.mul(sz).lt(L::splat(0.0)));
    }
    hits
}

/// The least lane of each of four.
#[inline(always)]
fn least<L: Rows>([a, b, c, d]: [L; GROUPS]) -> [f32; GROUPS] {
    let zero = L::splat(0.0);
    let [a, b, c, d] = L::greatest([zero.sub(a), zero.sub(b), zero.sub(c), zero.sub(d)]);
    [-a, -b, -c, -d]
}

/// Replaces the values of a group where `mask` is true.
#[inline(always)]
fn put<L: Rows>(values: &mut [f32; BATCH], group: usize, mask: L::Mask, new: L) {
    let old = load_group(values, group);
    store_group(values, group, L::select(mask, new, old));
}
