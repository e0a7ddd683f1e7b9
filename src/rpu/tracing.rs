//! The interface to ray tracing: what the `trace` instruction calls.

use crate::lanes::BLOCK;
use shadewright_bvh::{HitBatch, RayBatch};

/// The rays of a block.
#[derive(Debug, Clone)]
pub struct RayBlock {
    /// The rays, in the form in which a BVH takes them. Lane i of the block has ray i; the active
    /// ones are to be traced. A hit's t is in multiples of the direction's length, which may be any.
    pub rays: RayBatch,
    /// Bit i: lane i needs any hit, not the closest (an occlusion ray).
    pub any: u64,
    /// The time of the ray in the shutter interval.
    pub time: [f32; BLOCK],
}

/// The hits of a block. Lanes that were not active may hold anything.
#[derive(Debug, Clone)]
pub struct HitBlock {
    /// Hits, with the weights of a triangle's second and third vertex; `t` is below 0 for a miss.
    /// The indices of primitives are for the tracer's own use.
    pub found: HitBatch,
    /// Index of the object's shader entry: the RPU writes its code address to `HIT.w`.
    pub shader: [u32; BLOCK],
    /// Address of the triangle's record.
    pub tri: [u32; BLOCK],
    /// Address of the object's record.
    pub obj: [u32; BLOCK],
}

impl Default for RayBlock {
    fn default() -> Self {
        Self { rays: RayBatch::default(), any: 0, time: [0.0; BLOCK] }
    }
}

/// All misses.
impl Default for HitBlock {
    fn default() -> Self {
        let none = [0; BLOCK];
        Self { found: HitBatch::default(), shader: none, tri: none, obj: none }
    }
}

/// Traces the rays of blocks. A lane's hit depends on its own ray only, or results would differ
/// between runs.
pub trait Tracer: Sync {
    /// Traces the active lanes of `rays` and writes their hits to `hits`, which starts as all
    /// misses. Which rays are active may be different afterwards.
    fn trace(&self, rays: &mut RayBlock, hits: &mut HitBlock);
}

/// A scene without geometry: every ray misses.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyScene;

impl Tracer for EmptyScene {
    fn trace(&self, _rays: &mut RayBlock, _hits: &mut HitBlock) {}
}
