//! A ray prepared for the boxes of wide nodes.
//!
//! Distances are `plane * inv + start`, in one instruction where the processor fuses. That is off
//! by up to a rounding of `origin * inv`, which may be far more than a rounding of the distance: so
//! the near distances are lowered and the far ones raised by a bound of it. No box is lost that the
//! slab test of [`binary`](super::super::binary) enters at a hit.

use super::super::ray::{BATCH, FAR_PAD, Ray, RayBatch, TINY_DIR};
use super::lanes::{Lanes, load_group, store_group};
use super::layout::WideNode;

/// Products of an origin's coordinate and a reciprocal direction's at or above this are not trusted
/// not to overflow further on; the axis is then left out of the test. 2¹⁰⁰.
const LARGE: f32 = f32::from_bits((127 + 100) << 23);

/// The padding of distances, as a share of `|origin * inv|`: one rounding of the product and one of
/// the sum with the padding itself, and as much again for the sums' own.
const PAD: f32 = 2.0 * f32::EPSILON;

/// A ray's constants for the boxes of nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slabs {
    near_inv: [f32; 3],
    near_start: [f32; 3],
    far_inv: [f32; 3],
    far_start: [f32; 3],
    t_min: f32,
    /// For each axis the array of a node's planes, of six, that the ray meets first, and the other.
    near: [Plane; 3],
    far: [Plane; 3],
}

/// One of the six arrays of a node's planes.
#[derive(Clone, Copy, Debug, Default)]
struct Plane(u32);

impl Plane {
    /// The planes of all children.
    #[inline(always)]
    fn bounds<const W: usize>(self, node: &WideNode<W>) -> &[f32; W] {
        // SAFETY: only `Slabs::new` makes planes, and they are below six.
        &node.planes[self.0 as usize]
    }
}

impl Slabs {
    /// Prepares a ray; `None` where it can hit nothing, because its direction is zero, infinite or
    /// not a number.
    #[inline(always)]
    pub fn new(ray: &Ray) -> Option<Self> {
        let dir = ray.dir.to_array();
        let longest = dir[0].abs().max(dir[1].abs()).max(dir[2].abs());
        // Also false of directions that are NaN altogether. An axis that is NaN is left out below.
        if !(longest > 0.0 && longest < f32::INFINITY) {
            return None;
        }
        let (inv, origin) = (ray.inv_dir(), ray.origin.to_array());
        let mut slabs = Self { t_min: ray.t_min, ..Self::default() };
        for axis in 0..3 {
            let start = -origin[axis] * inv[axis];
            let (low, high) = (Plane(axis as u32), Plane(axis as u32 + 3));
            (slabs.near[axis], slabs.far[axis]) = if inv[axis] < 0.0 { (high, low) } else { (low, high) };
            if start.abs() < LARGE {
                let pad = start.abs() * PAD;
                slabs.near_inv[axis] = inv[axis];
                slabs.near_start[axis] = start - pad;
                slabs.far_inv[axis] = inv[axis] * FAR_PAD;
                slabs.far_start[axis] = start * FAR_PAD + pad;
            } else {
                slabs.near_start[axis] = f32::MIN;
                slabs.far_start[axis] = f32::MAX;
            }
        }
        Some(slabs)
    }

    /// The children whose boxes the ray meets before `t_far`, as bits, and the distances at which
    /// it enters them. `t_far` includes the factor [`FAR_PAD`] already.
    #[inline(always)]
    pub fn enter<const W: usize, L: Lanes<W>>(&self, node: &WideNode<W>, t_far: f32) -> (L::Mask, L) {
        let near_x = self.near::<W, L>(node, 0);
        let near_y = self.near::<W, L>(node, 1);
        let near_z = self.near::<W, L>(node, 2);
        let far_x = self.far::<W, L>(node, 0);
        let far_y = self.far::<W, L>(node, 1);
        let far_z = self.far::<W, L>(node, 2);
        let near = near_x.max(near_y).max(near_z.max(L::splat(self.t_min)));
        let far = far_x.min(far_y).min(far_z.min(L::splat(t_far)));
        (near.le(far), near)
    }

    /// The distances to every child's near plane across `axis`.
    #[inline(always)]
    fn near<const W: usize, L: Lanes<W>>(&self, node: &WideNode<W>, axis: usize) -> L {
        let planes = L::load(self.near[axis].bounds(node));
        planes.mul_add(L::splat(self.near_inv[axis]), L::splat(self.near_start[axis]))
    }

    /// The distances to every child's far plane across `axis`.
    #[inline(always)]
    fn far<const W: usize, L: Lanes<W>>(&self, node: &WideNode<W>, axis: usize) -> L {
        let planes = L::load(self.far[axis].bounds(node));
        planes.mul_add(L::splat(self.far_inv[axis]), L::splat(self.far_start[axis]))
    }
}

/// The [`Slabs`] of a batch, in structure of arrays: sixteen rays are prepared at a time.
///
/// Ray by ray, preparing took a sixth of a ray stream's time with rays that leave the surfaces of a
/// Cornell box.
pub struct SlabsBatch {
    near_inv: [[f32; BATCH]; 3],
    near_start: [[f32; BATCH]; 3],
    far_inv: [[f32; BATCH]; 3],
    far_start: [[f32; BATCH]; 3],
    /// One where a ray meets the upper plane across an axis first, else zero.
    backwards: [[u32; BATCH]; 3],
}

impl SlabsBatch {
    /// Of no rays.
    pub const NONE: Self = Self {
        near_inv: [[0.0; BATCH]; 3],
        near_start: [[0.0; BATCH]; 3],
        far_inv: [[0.0; BATCH]; 3],
        far_start: [[0.0; BATCH]; 3],
        backwards: [[0; BATCH]; 3],
    };

    /// Prepares the sixteen rays of a group, active or not. Returns those that may hit something, as
    /// bits: all whose direction is finite and not zero.
    #[inline(always)]
    pub fn prepare<L: Lanes<16>>(&mut self, rays: &RayBatch, group: usize) -> u32 {
        let (origins, dirs) = ([&rays.ox, &rays.oy, &rays.oz], [&rays.dx, &rays.dy, &rays.dz]);
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let mut axis = 0;
        while axis < 3 {
            let (origin, dir) =
                (load_group::<BATCH, L>(origins[axis], group), load_group::<BATCH, L>(dirs[axis], group));
            let size = dir.abs();
            let below = dir.lt(zero);
            let tiny = L::select(below, L::splat(-TINY_DIR), L::splat(TINY_DIR));
            let inv = one.div(L::select(size.lt(L::splat(TINY_DIR)), tiny, dir));
            let start = zero.sub(origin).mul(inv);
            let pad = start.abs().mul(L::splat(PAD));
            let (far_pad, trusted) = (L::splat(FAR_PAD), start.abs().lt(L::splat(LARGE)));
            store_group(&mut self.near_inv[axis], group, L::select(trusted, inv, zero));
            store_group(&mut self.near_start[axis], group, L::select(trusted, start.sub(pad), L::splat(f32::MIN)));
            store_group(&mut self.far_inv[axis], group, L::select(trusted, inv.mul(far_pad), zero));
            store_group(
                &mut self.far_start[axis],
                group,
                L::select(trusted, start.mul(far_pad).add(pad), L::splat(f32::MAX)),
            );
            let backwards = L::select(below, L::splat(f32::from_bits(1)), zero);
            store_group::<BATCH, L>(bytemuck::cast_mut(&mut self.backwards[axis]), group, backwards);
            axis += 1;
        }
        directed([load_group(&rays.dx, group), load_group(&rays.dy, group), load_group::<BATCH, L>(&rays.dz, group)])
    }

    /// Ray `i`.
    #[inline(always)]
    pub fn get(&self, rays: &RayBatch, i: usize) -> Slabs {
        let backwards = [self.backwards[0][i], self.backwards[1][i], self.backwards[2][i]];
        // Below six: the remainder lets the compiler see it.
        let near =
            [Plane(3 * (backwards[0] % 2)), Plane(1 + 3 * (backwards[1] % 2)), Plane(2 + 3 * (backwards[2] % 2))];
        Slabs {
            near_inv: [self.near_inv[0][i], self.near_inv[1][i], self.near_inv[2][i]],
            near_start: [self.near_start[0][i], self.near_start[1][i], self.near_start[2][i]],
            far_inv: [self.far_inv[0][i], self.far_inv[1][i], self.far_inv[2][i]],
            far_start: [self.far_start[0][i], self.far_start[1][i], self.far_start[2][i]],
            t_min: rays.t_min[i],
            near,
            far: [Plane(3 - near[0].0), Plane(5 - near[1].0), Plane(7 - near[2].0)],
        }
    }
}

/// The lanes whose directions are finite and not zero, as bits: the others hit nothing.
#[inline(always)]
pub fn directed<L: Lanes<16>>([x, y, z]: [L; 3]) -> u32 {
    let (x, y, z, infinite) = (x.abs(), y.abs(), z.abs(), L::splat(f32::INFINITY));
    let finite = L::and(x.lt(infinite), L::and(y.lt(infinite), z.lt(infinite)));
    L::bits(L::and(finite, L::splat(0.0).lt(x.max(y).max(z))))
}
