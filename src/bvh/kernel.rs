//! The kernels that trace batches of rays on the CPU: their names, and running one of them by
//! choice.
//!
//! A [`Kernel`] is a method, the width of the tree it traverses and the instruction set it is
//! compiled for. All give the same answers, to the bit; [`Bvh::closest_hits`] and [`Bvh::any_hits`]
//! choose by themselves, and the functions here are for measurements and tests that compare.

use super::binary;
use super::packet;
use super::ray::{Hit, HitBatch, Ray, RayBatch};
use super::tree::Bvh;
pub use super::wide::lanes::Isa;
use super::wide::{TraversalStats, WideTree, interleaved, single};

/// How a kernel traverses the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Ray by ray through the binary tree, one box at a time.
    Scalar,
    /// Ray by ray through a wide tree, all boxes of a node at once.
    Single,
    /// As [`Single`](Self::Single), but all rays of a batch advance alternately, a node at a time.
    Interleaved,
    /// Packets of rays that look along the same axis, in frusta of sixteen, and the others ray by
    /// ray: for rays that run close to each other.
    Packet,
    /// All rays together, with a mask of them for each node, and ray by ray where few are left: for
    /// rays that start close to each other.
    Stream,
    /// The best of the above for each batch: frusta where they pay, then a ray stream, and ray by
    /// ray where few rays are left.
    Hybrid,
}

/// Children of a node of a wide tree, and triangles in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// Four.
    Four,
    /// Eight.
    Eight,
}

impl Width {
    /// The number of children.
    pub fn lanes(self) -> usize {
        match self {
            Width::Four => 4,
            Width::Eight => 8,
        }
    }
}

/// A way to trace a batch of rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// How it traverses the tree.
    pub method: Method,
    /// The width of its tree; means nothing to [`Method::Scalar`].
    pub width: Width,
    /// The instruction set; means nothing to [`Method::Scalar`].
    pub isa: Isa,
}

impl Kernel {
    /// The scalar kernel, which the others are judged by.
    pub const SCALAR: Kernel = Kernel { method: Method::Scalar, width: Width::Eight, isa: Isa::Portable };

    /// Every kernel that this processor can run, each once.
    pub fn all() -> Vec<Kernel> {
        let mut all = vec![Kernel::SCALAR];
        for method in [Method::Single, Method::Interleaved, Method::Packet, Method::Stream, Method::Hybrid] {
            for width in [Width::Four, Width::Eight] {
                all.extend(Isa::all().map(|isa| Kernel { method, width, isa }));
            }
        }
        all
    }

    /// The name in tables: `scalar`, or such as `single8-avx2`.
    pub fn name(&self) -> String {
        let method = match self.method {
            Method::Scalar => return "scalar".into(),
            Method::Single => "single",
            Method::Interleaved => "interleaved",
            Method::Packet => "packet",
            Method::Stream => "stream",
            Method::Hybrid => "hybrid",
        };
        format!("{method}{}-{}", self.width.lanes(), self.isa.name())
    }
}

impl Bvh {
    /// The wide tree of a width; the first use of a width other than eight collapses it, and it
    /// stays in memory.
    pub fn tree(&self, width: Width) -> WideTree<'_> {
        match width {
            Width::Four => WideTree::Four(self.wide4()),
            Width::Eight => WideTree::Eight(self.wide()),
        }
    }

    /// The scene that packets are traced through.
    pub(super) fn scene(&self, width: Width) -> packet::Scene<'_> {
        let reach = self.bounds().map_or(0.0, |(low, high)| low.abs().max(high.abs()).max_element());
        packet::Scene { tree: self.tree(width), reach }
    }

    /// Replaces `best` by the nearest hit of `ray` if that is nearer, or as near and lower in
    /// index; whether it did. The ray's `t_max` does not count, `best.t` does.
    #[inline]
    pub(super) fn closest_into(&self, ray: &Ray, best: &mut Hit) -> bool {
        single::closest_into(WideTree::Eight(self.wide()), Isa::best(), ray, best)
    }

    /// True if there is any hit with `t_min < t < t_max`.
    #[inline]
    pub(super) fn occluded(&self, ray: &Ray) -> bool {
        single::occluded(WideTree::Eight(self.wide()), Isa::best(), ray)
    }

    /// The steps of the single-ray kernel on the way to the closest hits of a batch.
    pub fn count_closest_hits(&self, width: Width, rays: &RayBatch) -> TraversalStats {
        single::count::<false>(self.tree(width), rays)
    }

    /// The steps of the single-ray kernel on the way to any hits of a batch.
    pub fn count_any_hits(&self, width: Width, rays: &RayBatch) -> TraversalStats {
        single::count::<true>(self.tree(width), rays)
    }

    /// [`closest_hits`](Bvh::closest_hits) by one kernel, which runs in portable code where the
    /// processor lacks its instruction set.
    pub fn closest_hits_with(&self, kernel: Kernel, rays: &RayBatch, hits: &mut HitBatch) {
        match (kernel.method, kernel.width) {
            (Method::Scalar, _) => {
                rays.active_lanes().for_each(|i| hits.set(i, binary::closest_hit(self, &rays.ray(i))));
            }
            (Method::Single, width) => single::closest_hits(self.tree(width), kernel.isa, rays, rays.active, hits),
            (Method::Interleaved, width) => interleaved::closest_hits(self.tree(width), kernel.isa, rays, hits),
            (Method::Packet, width) => packet::frusta_closest_hits(self.scene(width), kernel.isa, rays, hits),
            (Method::Stream, width) => packet::stream_closest_hits(self.scene(width), kernel.isa, rays, hits),
            (Method::Hybrid, width) => packet::closest_hits(self.scene(width), kernel.isa, rays, hits),
        }
    }

    /// [`any_hits`](Bvh::any_hits) by one kernel; as
    /// [`closest_hits_with`](Self::closest_hits_with).
    pub fn any_hits_with(&self, kernel: Kernel, rays: &RayBatch) -> u64 {
        match (kernel.method, kernel.width) {
            (Method::Scalar, _) => {
                rays.active_lanes().fold(0, |hit, i| hit | u64::from(binary::any_hit(self, &rays.ray(i))) << i)
            }
            (Method::Single, width) => single::any_hits(self.tree(width), kernel.isa, rays, rays.active),
            (Method::Interleaved, width) => interleaved::any_hits(self.tree(width), kernel.isa, rays),
            (Method::Packet, width) => packet::frusta_any_hits(self.scene(width), kernel.isa, rays),
            (Method::Stream, width) => packet::stream_any_hits(self.scene(width), kernel.isa, rays),
            (Method::Hybrid, width) => packet::any_hits(self.scene(width), kernel.isa, rays),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn kernels_have_names_of_their_own() {
        let names: HashSet<String> = Kernel::all().iter().map(Kernel::name).collect();
        assert_eq!(names.len(), Kernel::all().len());
        assert!(names.contains("scalar") && names.contains("single8-portable") && names.contains("single4-portable"));
    }
}
