//! A ray prepared for slab tests, and the slab test (Kay & Kajiya 1986).

use crate::rays::ray::Request;
use glam::Vec3;

/// The part of a direction's longest component below which another component counts as zero: 2⁻²⁶.
/// A ray that crosses the scene and [`REACH`](super::bounds::REACH) moves by less than the
/// [margin](super::bounds::Bounds::margin) along such an axis.
const PARALLEL: f32 = 1.0 / (1u32 << 26) as f32;

/// The longest component of a direction is between 2⁻⁴⁰ and 2⁴⁰.
const LONGEST: f32 = (1u64 << 40) as f32;

/// Coordinates of origins are below this, 2⁶⁰.
const FARTHEST: f32 = (1u64 << 60) as f32;

/// A ray with its reciprocal direction.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// `r₀`.
    pub origin: Vec3,
    /// `r₁ − r₀`.
    pub direction: Vec3,
    /// The reciprocals of the components that [`apart`](Self::apart) gives.
    pub inverse: Vec3,
    /// Components below this count as zero.
    least: f32,
}

impl Line {
    /// The line of a request, or `None` if it is not traceable: its coordinates must be finite,
    /// those of the origin below 2⁶⁰, and the longest component of the direction between 2⁻⁴⁰ and
    /// 2⁴⁰, so that distances are finite.
    #[inline]
    pub fn new(request: &Request) -> Option<Self> {
        let Request { origin, direction, .. } = *request;
        let longest = direction.abs().max_element();
        let is_traceable = direction.is_finite()
            && (1.0 / LONGEST..=LONGEST).contains(&longest)
            && origin.abs().cmplt(Vec3::splat(FARTHEST)).all();
        let mut line = Self { origin, direction, inverse: Vec3::ZERO, least: longest * PARALLEL };
        line.inverse = Vec3::from(direction.to_array().map(|d| 1.0 / line.apart(d)));
        is_traceable.then_some(line)
    }

    /// True if a component of the direction, along any unit vector, counts as zero.
    #[inline]
    pub fn is_parallel(&self, component: f32) -> bool {
        component.abs() < self.least
    }

    /// The component, or with its sign the least one that does not count as zero: a divisor.
    #[inline]
    pub fn apart(&self, component: f32) -> f32 {
        if self.is_parallel(component) { self.least.copysign(component) } else { component }
    }
}

/// The `t` at which a line with this origin and reciprocal direction enters a box, 0 for one that
/// starts inside; `None` where it misses the box, or enters it beyond `best`.
#[inline]
pub(super) fn slabs(low: Vec3, high: Vec3, origin: Vec3, inverse: Vec3, best: f32) -> Option<f32> {
    let (a, b) = ((low - origin) * inverse, (high - origin) * inverse);
    let near = a.min(b).max_element().max(0.0);
    let far = a.max(b).min_element().min(best);
    (near <= far).then_some(near)
}
