//! A hierarchy of oriented bounding boxes: "an arbitrarily oriented rectangular parallelepiped with
//! each object", applied "recursively for sub-objects within the volume" (Ullner 1983, §2.3.4, of
//! Rubin & Whitted, "A 3-Dimensional Representation for Fast Rendering of Complex Scenes", 1980).
//!
//! Rubin and Whitted made their hierarchies by hand. Here a box is fitted to its polygons, which
//! are then split at the median of their centroids along the box's longest axis, down to a number
//! of polygons.
//!
//! A box is fitted in three frames, and the one with the smallest surface is kept: the principal
//! axes of all corners (the eigenvectors of their covariance), the plane and a side of the largest
//! polygon, and the axes of coordinates. The second is for cubes and the like, whose covariance is
//! that of a sphere.

use super::StructureError;
use super::bounds::{Bounds, growth};
use super::hierarchy::{Content, Hierarchy, Node, Volume};
use super::line::{Line, slabs};
use super::outline::Outline;
use glam::{DMat3, DVec3, Vec3};

/// A rectangular parallelepiped of any orientation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrientedBox {
    /// The center.
    pub center: Vec3,
    /// Directions of its edges: three unit vectors, perpendicular to one another.
    pub axes: [Vec3; 3],
    /// Half the lengths of its edges.
    pub half: Vec3,
}

impl OrientedBox {
    #[inline]
    fn along(&self, vector: Vec3) -> Vec3 {
        Vec3::from(self.axes.map(|axis| axis.dot(vector)))
    }
}

impl Volume for OrientedBox {
    #[inline]
    fn enter(&self, line: &Line, best: f32) -> Option<f32> {
        let origin = self.along(line.origin - self.center);
        let direction = self.along(line.direction).to_array();
        let inverse = Vec3::from(direction.map(|component| 1.0 / line.apart(component)));
        slabs(-self.half, self.half, origin, inverse, best)
    }
}

/// The hierarchy over polygons and other primitives. Leaves have at most `leaf`
/// polygons, which is at least 1, and each polygon is in one leaf. Takes time `n log n`.
///
/// # Errors
/// When there are no polygons, or a coordinate is not finite or beyond
/// [`LARGEST`](super::bounds::LARGEST).
pub fn build<P: Outline>(polygons: &[P], leaf: usize) -> Result<Hierarchy<OrientedBox>, StructureError> {
    let margin = Bounds::around(polygons)?.margin();
    let centroid = |polygon: &P| {
        let corners = polygon.corners();
        corners.iter().map(|corner| corner.as_dvec3()).sum::<DVec3>() * (1.0 / corners.len() as f64)
    };
    let centroids: Vec<DVec3> = polygons.iter().map(centroid).collect();
    let mut order: Vec<u32> = (0..polygons.len() as u32).collect();
    let placeholder = |first: usize, count: usize| {
        let content = Content::Polygons { first: first as u32, count: count as u32 };
        Node { volume: OrientedBox { center: Vec3::ZERO, axes: Vec3::AXES, half: Vec3::ZERO }, content }
    };
    // Nodes that are not fitted yet are leaves of all their polygons.
    let mut nodes = vec![placeholder(0, order.len())];
    let mut next = 0;
    while let Some(Node { content: Content::Polygons { first, count }, .. }) = nodes.get(next).copied() {
        let (first, count) = (first as usize, count as usize);
        let own = &mut order[first..first + count];
        let volume = fit(polygons, own, f64::from(margin));
        nodes[next].volume = volume;
        if count > leaf.max(1) {
            let axis = volume.axes[longest(volume.half)].as_dvec3();
            let key = |polygon: u32| axis.dot(centroids[polygon as usize]);
            // The indices settle ties, so the halves are the same whatever the method of selection.
            own.select_nth_unstable_by(count / 2, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
            nodes[next].content = Content::Nodes { first: nodes.len() as u32, count: 2 };
            nodes.push(placeholder(first, count / 2));
            nodes.push(placeholder(first + count / 2, count - count / 2));
        } else {
            own.sort_unstable();
        }
        next += 1;
    }
    Hierarchy::new(nodes, order)
}

/// The axis of the largest of three lengths, the first of several.
fn longest(lengths: Vec3) -> usize {
    match lengths {
        Vec3 { x, y, z } if x >= y && x >= z => 0,
        Vec3 { y, z, .. } if y >= z => 1,
        _ => 2,
    }
}

/// The smallest of the three boxes around polygons, with room for their hits and the margin.
fn fit<P: Outline>(polygons: &[P], own: &[u32], margin: f64) -> OrientedBox {
    let own = || own.iter().map(|&polygon| &polygons[polygon as usize]);
    let corners = own().flat_map(P::corners).map(|corner| corner.as_dvec3());
    let frames = [principal(corners), largest(own().map(P::face)), Some(DMat3::IDENTITY)];
    let mut best = (f64::INFINITY, OrientedBox { center: Vec3::ZERO, axes: Vec3::AXES, half: Vec3::ZERO });
    for frame in frames.into_iter().flatten() {
        // Single precision first: what the box has to contain is measured along the axes it has.
        let axes = [frame.x_axis, frame.y_axis, frame.z_axis].map(|axis| axis.as_vec3());
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for polygon in own() {
            let reach = f64::from(growth(polygon)) + margin;
            for corner in polygon.corners() {
                let along = DVec3::from(axes.map(|axis| axis.as_dvec3().dot(corner.as_dvec3())));
                low = low.min(along - reach);
                high = high.max(along + reach);
            }
        }
        let side = high - low;
        let surface = side.x * side.y + side.y * side.z + side.z * side.x;
        if surface < best.0 {
            let center = (frame * ((low + high) * 0.5)).as_vec3();
            best = (surface, OrientedBox { center, axes, half: (side * 0.5).as_vec3() });
        }
    }
    best.1
}

/// The plane of the polygon with the largest area, and its longest side; `None` if that is not an
/// area.
fn largest(polygons: impl Iterator<Item = [Vec3; 4]>) -> Option<DMat3> {
    let mut best = (0.0, None);
    for polygon in polygons {
        let [a, b, c, d] = polygon.map(|corner| corner.as_dvec3());
        let normal = (c - a).cross(d - b);
        if normal.length_squared() > best.0 {
            let sides = [b - a, c - b, d - c, a - d];
            let side = sides.into_iter().reduce(|p, q| if q.length_squared() > p.length_squared() { q } else { p });
            best = (normal.length_squared(), side.map(|side| (normal, side)));
        }
    }
    let (normal, side) = best.1?;
    // A side of a polygon with rounded corners is not quite perpendicular to the normal.
    let (normal, across) = (normal.try_normalize()?, normal.cross(side).try_normalize()?);
    Some(DMat3::from_cols(normal, across.cross(normal), across))
}

/// The principal axes of points: the eigenvectors of their covariance, by Jacobi's rotations (Golub
/// & Van Loan, "Matrix Computations", §8.5).
fn principal(points: impl Iterator<Item = DVec3> + Clone) -> Option<DMat3> {
    let count = points.clone().count() as f64;
    let mean = points.clone().sum::<DVec3>() / count;
    let mut matrix = [[0.0; 3]; 3];
    for point in points {
        let apart = point - mean;
        for (row, a) in matrix.iter_mut().zip(apart.to_array()) {
            for (entry, b) in row.iter_mut().zip(apart.to_array()) {
                *entry += a * b;
            }
        }
    }
    let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // Convergence is quadratic: 3x3 matrices are diagonal to the last bit after about 5 sweeps.
    for (p, q) in [(0, 1), (0, 2), (1, 2)].into_iter().cycle().take(3 * 8) {
        let off: f64 = matrix[p][q];
        if off == 0.0 {
            continue;
        }
        let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * off);
        let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
        let cosine = 1.0 / tangent.hypot(1.0);
        let sine = tangent * cosine;
        for row in &mut matrix {
            (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
        }
        let (a, b) = (matrix[p], matrix[q]);
        matrix[p] = [0, 1, 2].map(|k| cosine * a[k] - sine * b[k]);
        matrix[q] = [0, 1, 2].map(|k| sine * a[k] + cosine * b[k]);
        for row in &mut vectors {
            (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
        }
    }
    let frame = DMat3::from_cols_array_2d(&vectors).transpose();
    frame.is_finite().then_some(frame)
}

#[cfg(test)]
mod tests {
    use super::super::samples::Random;
    use super::*;

    fn assert_is_rotation(axes: [DVec3; 3]) {
        for (i, a) in axes.iter().enumerate() {
            for (j, b) in axes.iter().enumerate() {
                assert!((a.dot(*b) - f64::from(u8::from(i == j))).abs() < 1e-6, "{axes:?}");
            }
        }
    }

    #[test]
    fn axes_are_perpendicular_even_for_polygons_with_rounded_corners() {
        let mut random = Random::new(1);
        for _ in 0..500 {
            let polygon = random.polygon(1e-3).map(|corner| corner + 7.0);
            let principal = principal(polygon.iter().map(|corner| corner.as_dvec3())).unwrap();
            assert_is_rotation([principal.x_axis, principal.y_axis, principal.z_axis]);
            let own = largest([polygon].into_iter()).unwrap();
            assert_is_rotation([own.x_axis, own.y_axis, own.z_axis]);
        }
    }

    #[test]
    fn principal_axes_are_those_of_an_ellipsoid_of_points() {
        let rotation = Random::new(2).rotation().as_dquat();
        let points = [DVec3::X * 3.0, DVec3::Y * 2.0, DVec3::Z].map(|axis| rotation * axis);
        let both = points.iter().flat_map(|&point| [point + 5.0, 5.0 - point]);
        let frame = principal(both).unwrap();
        for axis in points.map(DVec3::normalize) {
            let along = frame.transpose() * axis;
            assert!((along.abs().max_element() - 1.0).abs() < 1e-12, "{along}");
        }
    }

    #[test]
    fn a_box_fits_a_cube_in_any_position() {
        let cubes = Random::new(3).cubes(20, 0.12);
        for cube in cubes.chunks(6) {
            let hierarchy = build(cube, 6).unwrap();
            let half = hierarchy.nodes()[0].volume.half;
            let room = Bounds::around(cube).unwrap().margin() + growth(&cube[0]) + 1e-5;
            assert!((half - 0.06).abs().max_element() <= room, "{half}");
        }
    }

    #[test]
    fn each_polygon_is_in_one_leaf_of_at_most_the_given_size() {
        let polygons = Random::new(4).soup(333, 0.4);
        for leaf in [0, 1, 4, 1000] {
            let hierarchy = build(&polygons, leaf).unwrap();
            let mut entries = hierarchy.polygons().to_vec();
            entries.sort_unstable();
            assert!(entries.into_iter().eq(0..333));
            let most = |content| match content {
                Content::Polygons { count, .. } => count as usize,
                Content::Nodes { .. } => 0,
            };
            assert!(hierarchy.nodes().iter().all(|node| most(node.content) <= leaf.max(1)));
        }
    }
}
