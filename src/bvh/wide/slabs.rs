//! A ray prepared for the boxes of wide nodes.
//!
//! Distances are `plane * inv + start`, in one instruction where the processor fuses. That is off by up to a rounding of
//! `origin * inv`, which may be far more than a rounding of the distance: so the near distances are lowered and the far ones
//! raised by a bound of it. No box is lost that the slab test of [`binary`](super::super::binary) enters at a hit.

use super::super::ray::{FAR_PAD, Ray};
use super::lanes::Lanes;
use super::layout::WideNode;

/// Products of an origin's coordinate and a reciprocal direction's at or above this are not trusted not to overflow further on;
/// the axis is then left out of the test, as if the ray ran exactly across it. 2¹⁰⁰.
const LARGE: f32 = f32::from_bits((127 + 100) << 23);

/// The padding of distances, as a share of `|origin * inv|`: one rounding of the product and one of the sum with the padding
/// itself, and as much again for the sums' own.
const PAD: f32 = 2.0 * f32::EPSILON;

/// A ray's constants, the same in all lanes of `L`, for both planes of each axis: what the ray meets first, then the other.
#[derive(Clone, Copy)]
pub struct Slabs<L> {
    near_inv: [L; 3],
    near_start: [L; 3],
    far_inv: [L; 3],
    far_start: [L; 3],
    t_min: L,
    /// For each axis the array of a node's planes, of six, that the ray meets first.
    near: [usize; 3],
}

impl<L> Slabs<L> {
    /// Prepares a ray; `None` where it can hit nothing, because its direction is zero, infinite or not a number.
    #[inline(always)]
    pub fn new<const W: usize>(ray: &Ray) -> Option<Self>
    where
        L: Lanes<W>,
    {
        let dir = ray.dir.to_array();
        let longest = dir[0].abs().max(dir[1].abs()).max(dir[2].abs());
        // Also false for NaN in the longest; others make `inv` NaN, and no box is entered.
        if !(longest > 0.0 && longest < f32::INFINITY) {
            return None;
        }
        let (inv, origin) = (ray.inv_dir(), ray.origin.to_array());
        let zero = L::splat(0.0);
        let mut slabs = Self {
            near_inv: [zero; 3],
            near_start: [L::splat(f32::MIN); 3],
            far_inv: [zero; 3],
            far_start: [L::splat(f32::MAX); 3],
            t_min: L::splat(ray.t_min),
            near: [0, 1, 2],
        };
        let mut axis = 0;
        while axis < 3 {
            let start = -origin[axis] * inv[axis];
            if inv[axis] < 0.0 {
                slabs.near[axis] += 3;
            }
            if start.abs() < LARGE {
                let pad = start.abs() * PAD;
                slabs.near_inv[axis] = L::splat(inv[axis]);
                slabs.near_start[axis] = L::splat(start - pad);
                slabs.far_inv[axis] = L::splat(inv[axis] * FAR_PAD);
                slabs.far_start[axis] = L::splat(start * FAR_PAD + pad);
            }
            axis += 1;
        }
        Some(slabs)
    }

    /// The children whose boxes the ray meets before `t_far`, as bits, and the distances at which it enters them.
    #[inline(always)]
    pub fn enter<const W: usize>(&self, node: &WideNode<W>, t_far: L) -> (u32, L)
    where
        L: Lanes<W>,
    {
        let x = self.distances(node, 0);
        let y = self.distances(node, 1);
        let z = self.distances(node, 2);
        let near = x.0.max(y.0).max(z.0.max(self.t_min));
        let far = x.1.min(y.1).min(z.1.min(t_far));
        (L::bits(near.le(far)), near)
    }

    /// The distances to every child's planes across `axis`, the near and the far one.
    #[inline(always)]
    fn distances<const W: usize>(&self, node: &WideNode<W>, axis: usize) -> (L, L)
    where
        L: Lanes<W>,
    {
        let near = self.near[axis];
        let far = if near < 3 { near + 3 } else { near - 3 };
        // Always below six: the remainder lets the compiler see it.
        let (low, high) = (L::load(&node.planes[near % 6]), L::load(&node.planes[far % 6]));
        (
            low.mul_add(self.near_inv[axis], self.near_start[axis]),
            high.mul_add(self.far_inv[axis], self.far_start[axis]),
        )
    }
}
