//! The rays that a host sends to a hardware model, and the hits that come back.

use glam::Vec3;

/// Which hit a ray asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RayKind {
    /// The nearest hit: vision, reflection and refraction rays.
    Nearest,
    /// True if there is a hit at all: the shadow flag (Ullner 1983, §2.3.1).
    Any,
}

/// A ray: `r(t) = origin + t·direction` for `0 ≤ t < limit`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// `r₀`.
    pub origin: Vec3,
    /// `r₁ − r₀`, of any length.
    pub direction: Vec3,
    /// Hits have a smaller `t`. Infinite for rays without an end. The thesis lets shadow rays run to
    /// the edge of the scene, which is wrong for lights inside it.
    pub limit: f32,
    /// Which hit is wanted.
    pub kind: RayKind,
}

/// A hit as the hardware reports it (Ullner 1983, §2.3.1). The thesis also has `u` and `v`, of 12
/// bits; the host takes the place on the polygon from the point, of 24.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelHit {
    /// Number of the primitive in the hardware's memory.
    pub index: u32,
    /// Distance in units of the ray's direction.
    pub t: f32,
    /// The point `p_r`.
    pub point: [f32; 3],
}
