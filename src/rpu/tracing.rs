//! The interface to ray tracing: what the `trace` instruction calls.

use super::lanes::BLOCK;

/// The rays of a block, in structure of arrays. Only the lanes whose bit is set in `active` are to
/// be traced.
#[derive(Debug, Clone)]
pub struct RayBlock {
    /// Bit i: lane i traces a ray.
    pub active: u64,
    /// Bit i: lane i needs any hit, not the closest (an occlusion ray).
    pub any: u64,
    /// Origins: x, y, z.
    pub orig: [[f32; BLOCK]; 3],
    /// Directions, of any length: x, y, z.
    pub dir: [[f32; BLOCK]; 3],
    /// Hits at t ≤ t_min are ignored; t is in multiples of the direction's length.
    pub t_min: [f32; BLOCK],
    /// Hits at t ≥ t_max are ignored.
    pub t_max: [f32; BLOCK],
    /// The time of the ray in the shutter interval.
    pub time: [f32; BLOCK],
}

/// The hits of a block. Lanes that were not active may hold anything.
#[derive(Debug, Clone)]
pub struct HitBlock {
    /// Barycentric weight of the triangle's second vertex.
    pub u: [f32; BLOCK],
    /// Barycentric weight of the triangle's third vertex.
    pub v: [f32; BLOCK],
    /// Distance in multiples of the direction's length; below 0 for a miss.
    pub t: [f32; BLOCK],
    /// Index of the object's shader entry: the machine writes its code address to `HIT.w`.
    pub shader: [u32; BLOCK],
    /// Address of the triangle's record.
    pub tri: [u32; BLOCK],
    /// Address of the object's record.
    pub obj: [u32; BLOCK],
}

impl RayBlock {
    /// No rays.
    pub fn empty() -> RayBlock {
        let zero = [0.0; BLOCK];
        RayBlock { active: 0, any: 0, orig: [zero; 3], dir: [zero; 3], t_min: zero, t_max: zero, time: zero }
    }
}

impl HitBlock {
    /// All misses.
    pub fn misses() -> HitBlock {
        let (zero, none) = ([0.0; BLOCK], [0; BLOCK]);
        HitBlock { u: zero, v: zero, t: [-1.0; BLOCK], shader: none, tri: none, obj: none }
    }
}

/// Traces the rays of blocks. A lane's hit depends on its own ray only, or results would differ
/// between runs.
pub trait Tracer: Sync {
    /// Traces the active lanes of `rays` and writes their hits to `hits`, which starts as all
    /// misses.
    fn trace(&self, rays: &RayBlock, hits: &mut HitBlock);
}

/// A scene without geometry: every ray misses.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyScene;

impl Tracer for EmptyScene {
    fn trace(&self, _rays: &RayBlock, _hits: &mut HitBlock) {}
}
