//! Axis-aligned boxes in vector registers.

use glam::Vec4;

/// An axis-aligned box; `w` is not used.
#[derive(Clone, Copy)]
pub struct Aabb {
    /// Lower corner.
    pub min: Vec4,
    /// Upper corner.
    pub max: Vec4,
}

impl Aabb {
    /// The box of nothing.
    pub const EMPTY: Self = Self { min: Vec4::INFINITY, max: Vec4::NEG_INFINITY };

    #[inline]
    /// The box around both.
    pub fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Half the surface, with lengths multiplied by `scale`.
    #[inline]
    pub fn half_area(&self, scale: f32) -> f32 {
        let e = (self.max - self.min) * scale;
        (e.x * e.y + e.y * e.z) + e.z * e.x
    }
}
