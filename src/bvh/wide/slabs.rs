//! A ray prepared for the boxes of wide nodes.
//!
//! Distances are `plane * inv + start`, in one instruction where the processor fuses. That is off
//! by up to a rounding of `origin * inv`, which may be far more than a rounding of the distance: so
//! the near distances are lowered and the far ones raised by a bound of it. No box is lost that the
//! slab test of [`binary`](super::super::binary) enters at a hit.

use super::super::ray::{FAR_PAD, Ray};
use super::lanes::Lanes;
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
    fn of<const W: usize>(self, node: &WideNode<W>) -> &[f32; W] {
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
        let planes = L::load(self.near[axis].of(node));
        planes.mul_add(L::splat(self.near_inv[axis]), L::splat(self.near_start[axis]))
    }

    /// The distances to every child's far plane across `axis`.
    #[inline(always)]
    fn far<const W: usize, L: Lanes<W>>(&self, node: &WideNode<W>, axis: usize) -> L {
        let planes = L::load(self.far[axis].of(node));
        planes.mul_add(L::splat(self.far_inv[axis]), L::splat(self.far_start[axis]))
    }
}
