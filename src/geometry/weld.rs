//! Welds corners that lie together, so that faces that meet share their corners.

use glam::{DVec3, Vec3};
use std::collections::HashMap;

/// Corners nearer than this share of the box around a solid are one: seams and poles of quadrics
/// come from sines, and differ by a few units in the last place.
const WELD: f64 = 2e-6;

/// Makes one of corners that lie together.
pub struct Welder {
    low: DVec3,
    /// The distance within which corners are one.
    size: f64,
    cells: HashMap<[i64; 3], Vec<u32>>,
    /// Points that were asked for, by their bits: most corners of a mesh are some other triangle's,
    /// and looking through the cells around takes 27 times as long.
    known: HashMap<[u32; 3], u32>,
    /// The corners, each the first of those that it stands for.
    pub corners: Vec<Vec3>,
}

impl Welder {
    /// One for corners within boxes, each given by its lower and upper corner.
    pub fn new(boxes: impl Iterator<Item = (Vec3, Vec3)>) -> Self {
        let bounds = boxes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (low, high) = bounds.unwrap_or_default();
        let diagonal = (high.as_dvec3() - low.as_dvec3()).length();
        Self {
            low: low.as_dvec3(),
            size: (WELD * diagonal).max(f64::MIN_POSITIVE),
            cells: HashMap::new(),
            known: HashMap::new(),
            corners: Vec::new(),
        }
    }

    /// The number of the corner at a point.
    pub fn corner(&mut self, point: Vec3) -> u32 {
        let bits = point.to_array().map(f32::to_bits);
        if let Some(&number) = self.known.get(&bits) {
            return number;
        }
        let number = self.welded(point);
        self.known.insert(bits, number);
        number
    }

    /// The number of a corner near a point, or of a new one.
    fn welded(&mut self, point: Vec3) -> u32 {
        let cell = ((point.as_dvec3() - self.low) / self.size).floor().to_array().map(|x| x as i64);
        let near = |&&corner: &&u32| f64::from(self.corners[corner as usize].distance(point)) <= self.size;
        let around = (0..27).map(|i| [i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1]);
        let found = around
            .filter_map(|d: [i64; 3]| self.cells.get(&[cell[0] + d[0], cell[1] + d[1], cell[2] + d[2]]))
            .flatten()
            .find(near)
            .copied();
        found.unwrap_or_else(|| {
            let number = self.corners.len() as u32;
            self.corners.push(point);
            self.cells.entry(cell).or_default().push(number);
            number
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_differ_by_rounding_are_one_corner() {
        let mut welder = Welder::new(std::iter::once((Vec3::ZERO, Vec3::ONE)));
        let near = Vec3::new(1.0, 0.5 + 1e-6, 0.0);
        let numbers = [Vec3::X, near, near - Vec3::Y * 1e-6, Vec3::X, near, -Vec3::ZERO, Vec3::ZERO];
        assert_eq!(numbers.map(|point| welder.corner(point)), [0, 1, 1, 0, 1, 2, 2]);
        assert_eq!(welder.corners, [Vec3::X, near, Vec3::ZERO]);
    }
}
