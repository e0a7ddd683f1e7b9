//! A full circle as a NURBS of order 3 (Piegl & Tiller, "The NURBS Book", §7.5), for tests: a shape
//! that is known exactly.

use super::basis::Direction;

/// The weight of the corners.
const H: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The nine control points of the circle: x, y and the weight, by which both are still to be
/// multiplied.
pub const POINTS: [(f64, f64, f64); 9] = [
    (1.0, 0.0, 1.0),
    (1.0, 1.0, H),
    (0.0, 1.0, 1.0),
    (-1.0, 1.0, H),
    (-1.0, 0.0, 1.0),
    (-1.0, -1.0, H),
    (0.0, -1.0, 1.0),
    (1.0, -1.0, H),
    (1.0, 0.0, 1.0),
];

/// The course of its parameter, from 0 to 4.
pub fn direction() -> Direction {
    let knots = [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0];
    Direction::nurbs(3, &knots, POINTS.len(), (0.0, 4.0)).unwrap()
}
