//! Packets: the rays of a batch that run close together, traced as one.
//!
//! They take a wide tree and a batch and give the answers of the other kernels, to the bit. Rays whose directions have the same
//! longest axis and sign share the permutation of the watertight test and look along that axis: groups of sixteen of them are
//! wrapped in beams, frusta with sides across the two other axes (the frustum traversal of Reshetov, Soupikov & Hurley, "Multi-Level
//! Ray Tracing Algorithm", 2005, with the four beams of a batch side by side in the lanes). Nodes and triangles are tested against
//! the beams, so that a batch walks the tree once; the rays themselves only meet triangles that their beam meets.
//!
//! | file | holds |
//! |---|---|
//! | `beam` | the beams around four groups of rays, and what they meet |
//! | `rays` | the rays in lanes, and their test against a triangle |
//! | `walk` | the traversal |

mod beam;
mod rays;
mod walk;

use super::ray::{BATCH, HitBatch, RayBatch};
use super::wide::WideTree;
use super::wide::lanes::Isa;
use walk::{AnyHits, ClosestHits};

/// Rays of a group, which share a beam.
const GROUP: usize = 16;
/// Groups of a batch.
const GROUPS: usize = BATCH / GROUP;

/// A tree to trace packets through.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The tree.
    pub tree: WideTree<'a>,
    /// A bound of its coordinates' absolute values.
    pub reach: f32,
}

/// Traces those active rays of a batch for their closest hits that packets are for, and gives the mask of the others.
#[inline]
pub fn closest_hits(scene: Scene<'_>, isa: Isa, rays: &RayBatch, hits: &mut HitBatch) -> u64 {
    isa.run(ClosestHits { scene, rays, hits })
}

/// The mask of those active rays of a batch that packets are for and that hit something, and the mask of the rays that they are
/// not for.
#[inline]
pub fn any_hits(scene: Scene<'_>, isa: Isa, rays: &RayBatch) -> (u64, u64) {
    isa.run(AnyHits { scene, rays })
}
