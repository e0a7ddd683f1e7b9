//! Packets: the rays of a batch that run close together, traced as one.
//!
//! They take a wide tree and a batch and give the answers of the other kernels, to the bit. Rays
//! whose directions have the same longest axis and sign share the permutation of the watertight
//! test and look along that axis: groups of sixteen of them are bounded by frusta, with sides
//! across the two other axes (the frustum traversal of Reshetov, Soupikov & Hurley, "Multi-Level
//! Ray Tracing Algorithm", 2005, with the four frusta of a batch side by side in the lanes). Nodes
//! and triangles are tested against the frusta, so that a batch traverses the tree once; the rays
//! themselves only meet triangles that their frustum meets.
//!
//! Other rays traverse the tree as a ray stream: at each node, every ray that meets it is tested. A
//! tree of few triangles they do not traverse at all.
//!
//! [`closest_hits`] and [`any_hits`] choose, batch by batch.
//!
//! | file | holds |
//! |---|---|
//! | `frustum` | the frusta around four groups of rays, and what they meet |
//! | `rays` | the rays in lanes, and their test against a triangle |
//! | `traverse` | traversal of the tree by frusta |
//! | `flat` | trees of few triangles, without a traversal |
//! | `ray_stream` | traversal by all rays of a batch, with a mask of them for each node |
//!
//! Rates, in millions of rays a second by `shadewright bench rays`, one thread of a Sapphire Rapids
//! Xeon beside other work, 8-wide trees with spatial splits, AVX-512. Primary rays are those of
//! 1024 by 1024 pixels where nothing else is said; without a number it is as good as never done.
//!
//! | | single | interleaved | stream | frusta |
//! |---|---|---|---|---|
//! | bunny, primary | 9.3 | 12.1 | 19.1 | 67 |
//! | dragon, primary | 7.9 | 10.2 | 15.4 | 26 |
//! | Sponza, primary | 4.8 | 4.9 | 8.7 | 45 |
//! | Sponza, primary at 256² | 4.7 | | 5.4 | 22 |
//! | Sponza, primary at 64² | 4.1 | | 4.9 | 4.7 |
//! | bunny, primary at 128² | 8.1 | | 11.2 | 10.9 |
//! | Sponza, towards a light from 1024² | 8.4 | | 10.7 | 37 |
//! | bunny, ambient occlusion | 6.4 | 7.8 | 10.6 | 1.5 |
//! | dragon, ambient occlusion | 4.0 | 5.6 | 5.7 | 0.1 |
//! | Sponza, ambient occlusion | 8.0 | 9.1 | 12.1 | 0.6 |
//! | bunny, diffuse | 5.8 | 6.1 | 8.9 | |
//! | dragon, diffuse | 2.9 | 3.8 | 3.9 | |
//! | Sponza, diffuse | 3.8 | 4.1 | 4.7 | |
//!
//! With AVX2 a ray stream takes the bunny's diffuse rays at 7.1 million a second, and ray by ray it
//! is 5.1; with portable lanes 2.6 and 3.1.

mod flat;
mod frustum;
mod ray_stream;
mod rays;
#[cfg(test)]
mod tests;
mod traverse;

use super::ray::{BATCH, HitBatch, RayBatch};
use super::wide::lanes::Isa;
use super::wide::{WideTree, single};
use traverse::Limits;

/// Rays of a group, which share a frustum.
const GROUP: usize = 16;
/// Groups of a batch.
const GROUPS: usize = BATCH / GROUP;

/// The limits within which frusta are worthwhile, as measured with rays of a camera at 16² to 1024²
/// pixels.
///
/// Where triangles are small, a frustum of this width is slower than a ray stream, where they are
/// large much faster: the effort stops the frusta that do not pay. Primary rays at 1024² take 50 of
/// it for 64 rays that meet the bunny, 100 in Sponza, 160 at the dragon.
const WORTHWHILE: Limits = Limits { rays: GROUP as u32, width: 0.05, effort: 384 };

/// Frusta around all rays that can have one.
const UNLIMITED: Limits = Limits { rays: 1, width: f32::INFINITY, effort: u32::MAX };

/// The fewest rays of a batch that do not go ray by ray.
const STREAM: u32 = 4;

/// A tree to trace packets through.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The tree.
    pub tree: WideTree<'a>,
    /// A bound of its coordinates' absolute values.
    pub reach: f32,
}

/// The active rays of a batch that are not done.
pub struct Left {
    /// The rays, as bits.
    pub rays: u64,
    /// The rays among them that have hits already, which may not be the closest.
    pub hit: u64,
}

/// Traces the active rays of a batch for their closest hits as fast as can be; the hits of inactive
/// rays are left alone.
#[inline]
pub fn closest_hits(scene: Scene<'_>, isa: Isa, rays: &RayBatch, hits: &mut HitBatch) {
    if rays.active.count_ones() < STREAM {
        return single::closest_hits(scene.tree, isa, rays, rays.active, hits);
    }
    let left = isa.run(traverse::ClosestHits { scene, limits: WORTHWHILE, rays, hits });
    if left.rays != 0 {
        match isa {
            // The portable lanes test a ray no faster for testing others at the same node.
            Isa::Portable => single::closest_hits(scene.tree, isa, rays, left.rays, hits),
            _ if flat::is_flat(scene.tree) => flat::closest_hits(scene.tree, isa, rays, left, hits),
            _ => ray_stream::closest_hits(scene.tree, isa, rays, left, hits),
        }
    }
}

/// The mask of the active rays of a batch that hit something, found as fast as can be.
#[inline]
pub fn any_hits(scene: Scene<'_>, isa: Isa, rays: &RayBatch) -> u64 {
    if rays.active.count_ones() < STREAM {
        return single::any_hits(scene.tree, isa, rays, rays.active);
    }
    let left = isa.run(traverse::AnyHits { scene, limits: WORTHWHILE, rays });
    if left.rays == 0 {
        return left.hit;
    }
    left.hit
        | match isa {
            Isa::Portable => single::any_hits(scene.tree, isa, rays, left.rays),
            _ if flat::is_flat(scene.tree) => flat::any_hits(scene.tree, isa, rays, left.rays),
            _ => ray_stream::any_hits(scene.tree, isa, rays, left.rays),
        }
}

/// As [`closest_hits`], in frusta where that is possible at all, and otherwise ray by ray.
#[inline]
pub fn frusta_closest_hits(scene: Scene<'_>, isa: Isa, rays: &RayBatch, hits: &mut HitBatch) {
    let left = isa.run(traverse::ClosestHits { scene, limits: UNLIMITED, rays, hits });
    if left.rays != 0 {
        single::closest_hits(scene.tree, isa, rays, left.rays, hits);
    }
}

/// As [`any_hits`], in frusta where that is possible at all, and otherwise ray by ray.
#[inline]
pub fn frusta_any_hits(scene: Scene<'_>, isa: Isa, rays: &RayBatch) -> u64 {
    let left = isa.run(traverse::AnyHits { scene, limits: UNLIMITED, rays });
    match left.rays {
        0 => left.hit,
        _ => left.hit | single::any_hits(scene.tree, isa, rays, left.rays),
    }
}

/// As [`closest_hits`], as a stream.
#[inline]
pub fn stream_closest_hits(scene: Scene<'_>, isa: Isa, rays: &RayBatch, hits: &mut HitBatch) {
    ray_stream::closest_hits(scene.tree, isa, rays, Left { rays: rays.active, hit: 0 }, hits);
}

/// As [`any_hits`], as a stream.
#[inline]
pub fn stream_any_hits(scene: Scene<'_>, isa: Isa, rays: &RayBatch) -> u64 {
    ray_stream::any_hits(scene.tree, isa, rays, rays.active)
}
