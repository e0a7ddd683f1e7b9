//! Axis-aligned boxes in vector registers.

use super::super::triangle::Triangle;
use glam::{Vec3, Vec4};

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

    /// The box of a triangle; `w` is zero.
    #[inline]
    pub fn from_triangle(triangle: &Triangle) -> Self {
        Self::around([triangle.a, triangle.b, triangle.c])
    }

    /// The box around three points; `w` is zero.
    #[inline]
    pub fn around(points: [impl Into<Vec3>; 3]) -> Self {
        let [a, b, c] = points.map(|point| point.into().extend(0.0));
        Self { min: a.min(b).min(c), max: a.max(b).max(c) }
    }

    /// The middle of the box.
    #[inline]
    pub fn middle(&self) -> Vec4 {
        self.min * 0.5 + self.max * 0.5
    }

    /// The box around both.
    #[inline]
    pub fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The part that both have in common; inverted where that is nothing.
    #[inline]
    pub fn meet(self, other: Self) -> Self {
        Self { min: self.min.max(other.min), max: self.max.min(other.max) }
    }

    /// True if there is no point in the box.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.min.truncate().cmpgt(self.max.truncate()).any()
    }

    /// Half the surface, with lengths multiplied by `scale`.
    #[inline]
    pub fn half_area(&self, scale: f32) -> f32 {
        let e = (self.max - self.min) * scale;
        (e.x * e.y + e.y * e.z) + e.z * e.x
    }
}

/// The bins, of `count` (a power of two, at most 2²²), that a place is in, given in units of bins
/// from the first one's start.
#[inline]
pub fn bins_of(place: Vec4, count: usize) -> [usize; 3] {
    let inside = place.min(Vec4::splat(count as f32 - 0.5)).max(Vec4::splat(0.5));
    // Between 2^23 and 2^24 a float's low bits are an integer: an addition rounds to it, several
    // times as fast as Rust's saturating conversion. The mask bounds what a NaN (from subnormal
    // extents) may give.
    let bits = (inside + Vec4::splat(8_388_607.5)).to_array().map(f32::to_bits);
    let mask = count - 1;
    [bits[0] as usize & mask, bits[1] as usize & mask, bits[2] as usize & mask]
}
