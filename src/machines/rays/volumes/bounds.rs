//! Axis-aligned boxes, and how far from a polygon its hits may lie.
//!
//! A structure loses no hit if each polygon is listed in every volume in which one of its hits may
//! lie *as computed*. A computed hit `r(t) = origin + t·direction` is off the polygon for two
//! reasons:
//!
//! - Coordinates `u` and `v` have 12 bits (Ullner 1983, App. A.1), and are accepted a little
//!   outside 0 to 1. With [`SLACK`] on either side the point is at most `2·SLACK·(1 + SLACK)` of
//!   the longest side away from the quadrilateral: [`growth`]. The 12 bits leave half of that to
//!   polygons whose corners are not quite in their plane.
//! - Rounding. `t` is a quotient of two inner products, so the distance of `r(t)` from the plane is
//!   the error of these products, a few units in the last place of the coordinates, however flat
//!   the ray meets the plane. Crossings of the planes of cells and boxes have errors of the same
//!   kind. [`Bounds::margin`] covers both.
//!
//! Volumes are enlarged by the sum. The margin is 2⁻¹⁵ of the scale `s` of the box (its largest
//! coordinate and its longest side), 256 units in the last place. The planes of the grid and the
//! slabs of boxes are wrong by at most `2⁻²²·(2 s + r)`, where `r` is how far the ray's origin is
//! from the box. An intersector with truncating arithmetic has about `6·2⁻²³·(2 s + 3 r)`. Together
//! that is below the margin for origins up to [`REACH`] times the scale away. Rays from farther
//! away may miss hits.

use super::StructureError;
use super::outline::Outline;
use glam::Vec3;

/// By how much hits are accepted outside `u` and `v` of 0 to 1, together with the error of these:
/// 2⁻¹⁰, four units of a 12-bit fraction.
pub const SLACK: f32 = 1.0 / 1024.0;

/// How far from the box, in scales of it, rays may start.
pub const REACH: f32 = 8.0;

/// Coordinates are at most this, 2³⁰: distances in units of a ray's direction are then finite.
pub const LARGEST: f32 = (1u32 << 30) as f32;

/// The least margin, 2⁻⁶⁰: the sides of cells are then normal numbers.
const LEAST_MARGIN: f32 = 1.0 / (1u64 << 60) as f32;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The corner of the smallest coordinates.
    pub min: Vec3,
    /// The corner of the largest coordinates.
    pub max: Vec3,
}

impl Bounds {
    /// The box around the corners of a polygon, or another primitive's.
    pub fn new<P: Outline>(polygon: &P) -> Self {
        let corners = || polygon.corners().iter().copied();
        let min = corners().fold(Vec3::INFINITY, Vec3::min);
        Self { min, max: corners().fold(Vec3::NEG_INFINITY, Vec3::max) }
    }

    /// The box around everything that may be hit of the polygons, but for rounding.
    ///
    /// # Errors
    /// When there are no polygons, or a coordinate is not finite or beyond [`LARGEST`].
    pub fn around<P: Outline>(polygons: &[P]) -> Result<Self, StructureError> {
        let grown = polygons.iter().map(|polygon| Self::new(polygon).grown(growth(polygon)));
        let bounds = grown.reduce(Self::joined).ok_or(StructureError::Empty)?;
        // The box of a NaN leaves it out, so the corners themselves are asked.
        let are_finite = polygons.iter().flat_map(P::corners).all(|corner| corner.is_finite());
        if are_finite && bounds.is_valid() { Ok(bounds) } else { Err(StructureError::Coordinates) }
    }

    /// True if the corners are in order, finite, and within [`LARGEST`].
    pub fn is_valid(&self) -> bool {
        self.min.cmple(self.max).all()
            && self.min.cmpge(Vec3::splat(-LARGEST)).all()
            && self.max.max_element() <= LARGEST
    }

    /// The box around both.
    pub fn joined(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box with its faces moved outwards by at least `by`, which is not negative.
    pub fn grown(self, by: f32) -> Self {
        let (low, high) = (self.min - by, self.max + by);
        Self { min: Vec3::from(low.to_array().map(f32::next_down)), max: Vec3::from(high.to_array().map(f32::next_up)) }
    }

    /// True if `other` is inside, faces included.
    pub fn contains(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && self.max.cmpge(other.max).all()
    }

    /// The distance by which volumes inside this box are enlarged, so that rounding loses no hit:
    /// 2⁻¹⁵ of the largest coordinate and the longest side together.
    pub fn margin(&self) -> f32 {
        (self.scale() / (1u32 << 15) as f32).max(LEAST_MARGIN)
    }

    /// The largest coordinate plus the longest side.
    pub fn scale(&self) -> f32 {
        self.min.abs().max(self.max.abs()).max_element() + (self.max - self.min).max_element()
    }
}

/// How far from a polygon points with `u` and `v` in `−SLACK` to `1 + SLACK` lie at most; of another
/// primitive as much outside its body.
pub fn growth<P: Outline>(polygon: &P) -> f32 {
    let (edges, count, ..) = polygon.directions();
    let longest = edges[..count].iter().map(|edge| edge.length()).fold(0.0, f64::max);
    // The slack's square, and the rounding of the lengths, are in the .01.
    2.01 * SLACK * longest as f32
}
