//! Bounding boxes of the parts of a triangle between axis-aligned planes.
//!
//! They are conservative: a piece's box holds the piece, whatever the rounding, so the boxes of all
//! pieces of a triangle cover it.

use super::super::triangle::Triangle;
use super::bounds::Aabb;
use glam::Vec4;

/// Cuts triangles of one scene.
#[derive(Clone, Copy)]
pub struct Clipper {
    /// Widens the place where an edge meets a plane. `a + (b - a) · t` with `t = (p - a) / (b - a)`
    /// is off by at most ten half units in the last place of twice the largest coordinate.
    pad: f32,
}

/// A triangle's corners; `w` is not used.
pub type Corners = [Vec4; 3];

/// The corners of a triangle of the input.
#[inline]
pub fn corners(triangle: &Triangle) -> Corners {
    [triangle.a.extend(0.0), triangle.b.extend(0.0), triangle.c.extend(0.0)]
}

impl Clipper {
    /// For a scene with coordinates of at most this size.
    pub fn new(largest: f32) -> Self {
        Self { pad: largest * (10.0 * f32::EPSILON) }
    }

    /// The box of the section of a triangle with the plane at `place` across `axis`; inverted and
    /// infinite where they do not meet.
    #[inline]
    fn section(&self, corners: &Corners, axis: usize, place: f32) -> Aabb {
        let mut section = Aabb::EMPTY;
        let [a, b, c] = *corners;
        for (a, b) in [(a, b), (b, c), (c, a)] {
            let (from, to) = (a[axis], b[axis]);
            if (from < place) != (to < place) {
                let point = a + (b - a) * ((place - from) / (to - from));
                section = section.join(Aabb { min: point - self.pad, max: point + self.pad });
            }
        }
        section.min[axis] = place;
        section.max[axis] = place;
        section
    }

    /// The box of the part of a triangle's piece that is between `low` and `high` on an axis, given
    /// the box of the piece; inverted where there is none.
    pub fn between(&self, corners: &Corners, piece: &Aabb, axis: usize, low: f32, high: f32) -> Aabb {
        let low = low.max(piece.min[axis]);
        let high = high.min(piece.max[axis]);
        let inside = corners.iter().filter(|corner| corner[axis] >= low && corner[axis] <= high);
        let sections = self.section(corners, axis, low).join(self.section(corners, axis, high));
        let part = inside.fold(sections, |part, &corner| part.join(Aabb { min: corner, max: corner }));
        let mut part = part.meet(*piece);
        part.min[axis] = low;
        part.max[axis] = high;
        part
    }
}
