//! The interface to ray tracing: what the `trace` instruction calls.

use super::lanes::BLOCK;
use crate::bvh::{HitBatch, RayBatch};
use std::ops::{Index, IndexMut};

/// The rays of a block.
#[derive(Debug, Clone, Default)]
pub struct RayBlock {
    /// The rays, in the form in which a BVH takes them. Lane i of the block has ray i; the active
    /// ones are to be traced. A hit's t is in multiples of the direction's length, which may be any.
    pub rays: RayBatch,
    /// Bit i: lane i needs any hit, not the closest (an occlusion ray).
    pub any: u64,
    /// The time of the ray in the shutter interval.
    pub time: Words<f32>,
}

/// The hits of a block. Lanes that were not active may hold anything.
#[derive(Debug, Clone, Default)]
pub struct HitBlock {
    /// Hits, with the weights of a triangle's second and third vertex; `t` is below 0 for a miss.
    /// The indices of primitives are for the tracer's own use.
    pub found: HitBatch,
    /// Index of the object's shader entry: the machine writes its code address to `HIT.w`.
    pub shader: Words<u32>,
    /// Address of the triangle's record.
    pub tri: Words<u32>,
    /// Address of the object's record.
    pub obj: Words<u32>,
}

/// A word for each lane.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Words<T>(pub [T; BLOCK]);

impl<T: Copy + Default> Default for Words<T> {
    fn default() -> Self {
        Words([T::default(); BLOCK])
    }
}

impl<T> Index<usize> for Words<T> {
    type Output = T;

    fn index(&self, lane: usize) -> &T {
        &self.0[lane]
    }
}

impl<T> IndexMut<usize> for Words<T> {
    fn index_mut(&mut self, lane: usize) -> &mut T {
        &mut self.0[lane]
    }
}

impl HitBlock {
    /// Makes all lanes misses.
    pub fn clear(&mut self) {
        *self = HitBlock::default();
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
