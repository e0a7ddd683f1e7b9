//! Triangulation of planar polygons.
//!
//! A polygon that its first vertex sees whole (every convex one) becomes a fan; others are cut into
//! ears.

use super::region;
use glam::{DVec2, Vec2, Vec3};
use thiserror::Error;

/// Vertices of the largest polygon that ear clipping, quadratic in them, is asked to cut.
pub const MAX_CONCAVE_VERTICES: usize = 4096;

/// A polygon that cannot be triangulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a concave polygon of {vertices} vertices; at most {MAX_CONCAVE_VERTICES} are supported")]
pub struct TooManyVertices {
    /// Vertices of the polygon.
    pub vertices: usize,
}

/// Twice the polygon's vector area, by Newell's method: its direction is the normal that the
/// vertices go around counter-clockwise in a right-handed system (clockwise in a left-handed one).
pub fn newell_normal(corners: &[Vec3]) -> Vec3 {
    let origin = corners.first().map_or(glam::DVec3::ZERO, |p| p.as_dvec3());
    let mut sum = glam::DVec3::ZERO;
    for (i, p) in corners.iter().enumerate() {
        let q = corners[(i + 1) % corners.len()];
        sum += (p.as_dvec3() - origin).cross(q.as_dvec3() - origin);
    }
    sum.as_vec3()
}

/// Cuts a polygon into triangles of corner numbers, appended to `out`; the triangles wind as the
/// polygon does.
///
/// # Errors
///
/// When the polygon is concave and has more than [`MAX_CONCAVE_VERTICES`] corners.
pub fn triangulate(corners: &[Vec3], out: &mut Vec<[u32; 3]>) -> Result<(), TooManyVertices> {
    let n = corners.len();
    if n < 3 {
        return Ok(());
    }
    if n == 3 {
        out.push([0, 1, 2]);
        return Ok(());
    }
    let flat = project(corners, newell_normal(corners));
    if is_fan(&flat) {
        out.extend((1..n as u32 - 1).map(|i| [0, i, i + 1]));
        return Ok(());
    }
    if n > MAX_CONCAVE_VERTICES {
        return Err(TooManyVertices { vertices: n });
    }
    clip_ears(&flat, out);
    Ok(())
}

/// Cuts a polygon with holes into triangles of corner numbers, appended to `out`; they wind as the
/// first of its loops does, each of which is given by its number of corners. `None` where a corner
/// is not finite.
pub fn triangulate_loops(corners: &[Vec3], loops: &[u32], out: &mut Vec<[u32; 3]>) -> Option<()> {
    let outer = &corners[..*loops.first()? as usize];
    let flat: Vec<DVec2> = project(corners, newell_normal(outer)).iter().map(|p| p.as_dvec2()).collect();
    let mut start = 0;
    let numbers = loops.iter().map(|&n| {
        start += n;
        (start - n..start).collect()
    });
    out.extend(region::triangulate(&flat, &numbers.collect::<Vec<_>>())?);
    Some(())
}

/// Drops the coordinate along which a plane with this normal extends least, so that what goes
/// around the normal counter-clockwise stays so.
fn project(corners: &[Vec3], normal: Vec3) -> Vec<Vec2> {
    let size = normal.abs();
    let origin = corners[0];
    corners
        .iter()
        .map(|&p| {
            let p = p - origin;
            if size.x >= size.y && size.x >= size.z {
                Vec2::new(p.y * normal.x.signum(), p.z)
            } else if size.y >= size.z {
                Vec2::new(p.z * normal.y.signum(), p.x)
            } else {
                Vec2::new(p.x * normal.z.signum(), p.y)
            }
        })
        .collect()
}

/// Twice the signed area of a triangle.
fn area(a: Vec2, b: Vec2, c: Vec2) -> f64 {
    let (a, b, c) = (a.as_dvec2(), b.as_dvec2(), c.as_dvec2());
    (b - a).perp_dot(c - a)
}

fn is_fan(p: &[Vec2]) -> bool {
    (1..p.len() - 1).all(|i| area(p[0], p[i], p[i + 1]) >= 0.0)
}

/// Ear clipping after Meisters 1975: cut off a convex corner whose triangle holds no other vertex,
/// repeat.
fn clip_ears(p: &[Vec2], out: &mut Vec<[u32; 3]>) {
    let n = p.len();
    let mut next: Vec<usize> = (0..n).map(|i| (i + 1) % n).collect();
    let mut previous: Vec<usize> = (0..n).map(|i| (i + n - 1) % n).collect();
    let mut left = n;
    let mut at = 0;
    let mut failures = 0;
    while left > 3 {
        let (a, b) = (previous[at], next[at]);
        // A self-intersecting polygon may have no ear left; then any corner is as good as another.
        if failures > left || is_ear(p, &next, a, at, b) {
            out.push([a as u32, at as u32, b as u32]);
            next[a] = b;
            previous[b] = a;
            left -= 1;
            failures = 0;
            at = a;
        } else {
            failures += 1;
            at = b;
        }
    }
    out.push([previous[at] as u32, at as u32, next[at] as u32]);
}

fn is_ear(p: &[Vec2], next: &[usize], a: usize, b: usize, c: usize) -> bool {
    if area(p[a], p[b], p[c]) <= 0.0 {
        return false;
    }
    let mut i = next[c];
    while i != a {
        let q = p[i];
        let inside = area(p[a], p[b], q) >= 0.0 && area(p[b], p[c], q) >= 0.0 && area(p[c], p[a], q) >= 0.0;
        if inside && q != p[a] && q != p[b] && q != p[c] {
            return false;
        }
        i = next[i];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(points: &[(f32, f32)]) -> (Vec<[u32; 3]>, f32) {
        let corners: Vec<Vec3> = points.iter().map(|&(x, y)| Vec3::new(x, y, 1.0)).collect();
        let mut triangles = Vec::new();
        triangulate(&corners, &mut triangles).unwrap();
        let area = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| corners[i as usize]);
                0.5 * (b - a).cross(c - a).z
            })
            .sum();
        (triangles, area)
    }

    #[test]
    fn a_convex_polygon_becomes_a_fan() {
        let (triangles, area) = cut(&[(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)]);
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(area, 2.0);
    }

    #[test]
    fn a_concave_polygon_is_covered_once() {
        let (triangles, area) = cut(&[(0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (2.0, 1.0), (0.0, 3.0)]);
        assert_eq!(triangles.len(), 3);
        assert_eq!(area, 8.0);
    }

    #[test]
    fn a_comb_is_covered_once_whichever_way_it_winds() {
        let mut comb = vec![(20.0, -1.0), (0.0, -1.0)];
        for i in 0..10 {
            comb.push((2.0 * i as f32, 5.0));
            comb.push((2.0 * i as f32 + 1.0, 0.0));
        }
        let (triangles, area) = cut(&comb);
        assert_eq!(triangles.len(), comb.len() - 2);
        comb.reverse();
        let (_, reversed) = cut(&comb);
        assert_eq!(area, -reversed);
        let shoelace: f32 = (0..comb.len())
            .map(|i| {
                let ((ax, ay), (bx, by)) = (comb[i], comb[(i + 1) % comb.len()]);
                0.5 * (ax * by - bx * ay)
            })
            .sum();
        assert_eq!(reversed, shoelace);
    }

    #[test]
    fn a_self_intersecting_polygon_still_ends() {
        let (triangles, _) = cut(&[(0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 2.0), (1.0, 3.0)]);
        assert_eq!(triangles.len(), 3);
    }

    #[test]
    fn the_normal_of_a_polygon_far_from_the_origin_is_exact() {
        let far = Vec3::splat(1e6);
        let square = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y].map(|p| p + far);
        assert_eq!(newell_normal(&square), Vec3::new(0.0, 0.0, 2.0));
    }
}
