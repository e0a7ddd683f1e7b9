//! The overlap test of a convex body, such as a polygon, and an axis-aligned box.
//!
//! Two convex bodies are disjoint if and only if their projections onto some axis are (the
//! separating axis theorem). The candidates are the axes of the box, the normals of the body's
//! faces, and the cross products of their edges (Gottschalk, Lin & Manocha, "OBBTree", 1996). The
//! arithmetic is in double precision, whose errors are far below the margin that volumes have
//! anyway.

use super::outline::{AXES, Outline};
use glam::DVec3;

/// A body, prepared for many tests.
pub struct Shape {
    /// Each axis, its absolute values, and the middle and half the length of the body's projection
    /// onto it.
    axes: [(DVec3, DVec3, f64, f64); AXES],
}

impl Shape {
    /// Prepares a body. Equal corners are fine.
    pub fn new<P: Outline>(body: &P) -> Self {
        let units = [DVec3::X, DVec3::Y, DVec3::Z];
        let (edges, edge_count, normals, normal_count) = body.directions();
        let mut axes = [DVec3::ZERO; AXES];
        let crosses = edges[..edge_count].iter().flat_map(|edge| units.map(|unit| edge.cross(unit)));
        let all = units.into_iter().chain(normals[..normal_count].iter().copied()).chain(crosses);
        axes.iter_mut().zip(all).for_each(|(axis, direction)| *axis = direction);
        let prepared = |axis: DVec3| {
            let along = || body.corners().iter().map(|corner| axis.dot(corner.as_dvec3()));
            let low = along().fold(f64::INFINITY, f64::min);
            let high = along().fold(f64::NEG_INFINITY, f64::max);
            (axis, axis.abs(), (low + high) * 0.5, (high - low) * 0.5)
        };
        Self { axes: axes.map(prepared) }
    }

    /// True if the body meets the box between two corners; touching counts.
    pub fn meets(&self, low: DVec3, high: DVec3) -> bool {
        let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
        self.axes.iter().all(|(axis, size, center, reach)| (axis.dot(middle) - center).abs() <= size.dot(half) + reach)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::Random;
    use super::*;
    use glam::Vec3;

    fn meets(polygon: [[f32; 3]; 4], low: [f64; 3], high: [f64; 3]) -> bool {
        Shape::new(&polygon.map(Vec3::from)).meets(DVec3::from(low), DVec3::from(high))
    }

    #[test]
    fn a_polygon_that_passes_a_corner_of_the_box_meets_only_its_box() {
        // The plane x + y = 2.1 is beyond the corner (1, 1) of the unit cube; their boxes overlap.
        let beyond = [[2.1, 0.0, 0.2], [0.0, 2.1, 0.2], [0.0, 2.1, 0.8], [2.1, 0.0, 0.8]];
        assert!(!meets(beyond, [0.0; 3], [1.0; 3]));
        let across = beyond.map(|[x, y, z]| [x - 0.1, y - 0.1, z]);
        assert!(meets(across, [0.0; 3], [1.0; 3]));
    }

    #[test]
    fn a_polygon_that_passes_an_edge_of_the_box_needs_a_cross_product_to_be_seen() {
        // A triangle near the edge x = y = 1: neither a face nor its own plane separates them.
        let near = [[1.5, 0.6, 0.0], [0.6, 1.5, 0.0], [1.5, 1.5, 3.0], [1.5, 1.5, 3.0]];
        assert!(!meets(near, [0.0; 3], [1.0; 3]));
    }

    #[test]
    fn a_triangle_may_repeat_its_last_corner() {
        let triangle = [[0.2, 0.2, 0.5], [0.4, 0.2, 0.5], [0.2, 0.4, 0.5], [0.2, 0.4, 0.5]];
        assert!(meets(triangle, [0.0; 3], [1.0; 3]));
        assert!(!meets(triangle, [0.35, 0.35, 0.0], [1.0; 3]), "its long side is nearer to the axes");
        assert!(meets(triangle, [0.0, 0.0, 0.5], [1.0; 3]), "touching counts");
    }

    /// The polygon cut by the six half-spaces of the box, one after another (Sutherland & Hodgman
    /// 1974).
    fn is_something_left(polygon: &[Vec3; 4], low: DVec3, high: DVec3) -> bool {
        let mut corners: Vec<DVec3> = polygon.iter().map(|corner| corner.as_dvec3()).collect();
        for axis in 0..3 {
            for (sign, plane) in [(1.0, high[axis]), (-1.0, -low[axis])] {
                let outside = |p: DVec3| sign * p[axis] - plane;
                let mut kept = Vec::new();
                for i in 0..corners.len() {
                    let (p, q) = (corners[i], corners[(i + 1) % corners.len()]);
                    let (a, b) = (outside(p), outside(q));
                    if a <= 0.0 {
                        kept.push(p);
                    }
                    if (a < 0.0 && b > 0.0) || (a > 0.0 && b < 0.0) {
                        kept.push(p + (q - p) * (a / (a - b)));
                    }
                }
                corners = kept;
            }
        }
        !corners.is_empty()
    }

    #[test]
    fn the_test_agrees_with_clipping_the_polygon_to_the_box() {
        let mut random = Random::new(1);
        let mut met = 0;
        for _ in 0..20_000 {
            let polygon = random.polygon(1.0);
            let (p, q) = (random.point().as_dvec3(), random.point().as_dvec3());
            let (low, high) = (p.min(q), p.max(q));
            let expected = is_something_left(&polygon, low, high);
            assert_eq!(Shape::new(&polygon).meets(low, high), expected, "{polygon:?} {low} {high}");
            met += usize::from(expected);
        }
        assert!((2000..18_000).contains(&met), "{met} of 20000 meet");
    }
}
