//! Points with a width: small spheres (RISpec 3.2, §5.7).

use super::dice::Metric;
use super::procedural::quartered;
use super::tensor::Diced;
use glam::Vec3;

/// How often the triangles of an octahedron are subdivided at most.
const MAX_LEVEL: usize = 5;

/// Spheres around points, of these widths; those of no width are left out. `patches` holds the
/// sphere of each triangle. `None` where there would be more than `limit` triangles.
pub fn spheres(centers: &[Vec3], widths: &[f32], metric: &Metric, limit: usize) -> Option<Diced> {
    let balls: Vec<Ball> = (0..=MAX_LEVEL).map(Ball::new).collect();
    let mut out = Diced::default();
    for (number, (&center, &width)) in centers.iter().zip(widths).enumerate() {
        let radius = 0.5 * width;
        if radius == 0.0 {
            continue;
        }
        let ball = &balls[level(metric, center, radius)];
        if out.triangles.len() + ball.triangles.len() > limit {
            return None;
        }
        let first = out.points.len() as u32;
        out.points.extend(ball.points.iter().map(|&p| center + p * radius.abs()));
        out.normals.extend_from_slice(&ball.points);
        out.triangles.extend(ball.triangles.iter().map(|t| t.map(|i| first + i)));
        out.patches.resize(out.triangles.len(), number as u32);
    }
    Some(out)
}

/// The level at which a sphere's triangles are flat enough: each halves the angle of a chord, 90°
/// at level 0.
fn level(metric: &Metric, center: Vec3, radius: f32) -> usize {
    let radius = f64::from(radius.abs());
    let pixels = metric.pixels(center.as_dvec3(), radius, radius);
    let sagitta = |level: usize| pixels * (1.0 - (std::f64::consts::FRAC_PI_4 / f64::from(1u32 << level)).cos());
    metric.lower((0..MAX_LEVEL).find(|&level| sagitta(level) <= metric.flatness()).unwrap_or(MAX_LEVEL))
}

/// A unit sphere.
struct Ball {
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Ball {
    /// An octahedron whose triangles are subdivided into four so many times, all points on the
    /// sphere.
    fn new(level: usize) -> Self {
        let mut ball = Self {
            points: vec![Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y, Vec3::Z, -Vec3::Z],
            triangles: (0..4).flat_map(|i| [[i, (i + 1) % 4, 4], [(i + 1) % 4, i, 5]]).collect(),
        };
        for _ in 0..level {
            ball.triangles = quartered(&mut ball.points, &ball.triangles);
        }
        ball
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat4, DVec3};

    #[test]
    fn spheres_are_round_as_far_as_the_image_shows() {
        let metric = Metric::for_camera(DMat4::from_translation(DVec3::Z * 10.0), 1000.0, true, 0.1);
        let centers = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let out = spheres(&centers, &[0.02, 2.0, 0.0], &metric, 1 << 20).unwrap();
        let count = |n: u32| out.patches.iter().filter(|p| **p == n).count();
        assert_eq!((count(0), count(1), count(2)), (32, 8192, 0));
        for (t, sphere) in out.triangles.iter().zip(&out.patches) {
            for &i in t {
                let radius = [0.01, 1.0][*sphere as usize];
                let (p, n) = (out.points[i as usize], out.normals[i as usize]);
                assert!(p.distance(centers[*sphere as usize] + n * radius) < 1e-6);
            }
        }
        for t in &out.triangles {
            let [a, b, c] = t.map(|i| out.points[i as usize]);
            assert!((b - a).cross(c - a).dot(out.normals[t[0] as usize]) > 0.0);
        }
        assert!(spheres(&centers, &[1.0; 3], &metric, 100).is_none());
    }
}
