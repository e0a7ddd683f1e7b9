//! The shading rate of displaced surfaces, that is how finely they are diced: by the size of each
//! edge on the image of the scene's camera, and by nothing else.

use glam::{DMat4, DVec3, Mat4, Vec3};
use shadewright_geometry::dice::Metric;
use shadewright_scene::{Camera, Format};

/// The longest edge L in pixels at a shading rate of 1. Right triangles whose long sides are halved
/// until they are shorter end with areas between L²/8 and L²/4, all equally likely on a logarithmic
/// scale: 4 / (L² ln 2) triangles a pixel. Two of them are the square micropolygon that the rate is
/// about (Cook, Carpenter & Catmull 1987).
const LONGEST: f64 = 1.7;

/// By how much longer edges may be that no ray of the camera meets. They throw shadows and are seen
/// in mirrors.
const UNSEEN: f64 = 4.0;

/// The share of the image around it that counts as seen: what is beside it may be moved into it.
const MARGIN: f64 = 1.1;

/// A camera that surfaces are diced for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dicer {
    metric: Metric,
    to_camera: DMat4,
    perspective: bool,
    /// The extent of the image: so far from the axis, at distance 1 for a perspective.
    reach: f64,
    /// The least distance that counts.
    near: f64,
    /// The factor by which all lengths are multiplied.
    coarser: f64,
}

impl Dicer {
    /// For images of a format.
    pub fn new(camera: &Camera, format: Format) -> Self {
        let frame = camera.frame(format);
        Self {
            metric: camera.metric(format, Mat4::IDENTITY, 0.0),
            to_camera: camera.world_to_camera.as_dmat4(),
            perspective: !frame.orthographic,
            reach: f64::from(camera.reach(format)),
            near: f64::from(camera.near),
            coarser: 1.0,
        }
    }

    /// The same with edges that many times as long.
    #[must_use]
    pub fn coarser(self, coarser: f64) -> Self {
        Self { coarser, ..self }
    }

    /// True if the edge between two points of the world is too long at a shading rate. The order of
    /// its ends does not count.
    pub fn is_long(&self, a: Vec3, b: Vec3, shading_rate: f32) -> bool {
        let (a, b) = (a.as_dvec3(), b.as_dvec3());
        let (middle, length) = ((a + b) / 2.0, a.distance(b));
        let longest = LONGEST * f64::from(shading_rate).sqrt() * self.coarser;
        let pixels = self.pixels(middle, length);
        pixels > longest && (pixels > UNSEEN * longest || self.sees(middle, length))
    }

    /// The pixels that a length at a point takes.
    pub fn pixels(&self, at: DVec3, length: f64) -> f64 {
        // A metric takes a quarter of a size for the least distance.
        self.metric.pixels(at, length, length.max(4.0 * self.near))
    }

    /// True if something of a length around a point may be on the image.
    fn sees(&self, at: DVec3, length: f64) -> bool {
        let at = self.to_camera.transform_point3(at);
        let from_axis = at.truncate().length() - length;
        let depth = if self.perspective { at.z + length } else { 1.0 };
        depth > 0.0 && from_axis <= MARGIN * self.reach * depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_scene::Projection;

    /// Looks along z with 90 degrees over 100 pixels: at distance d a unit is 50 / d pixels.
    fn dicer() -> Dicer {
        let camera = Camera { projection: Projection::Perspective { fov: 90.0 }, ..Camera::default() };
        Dicer::new(&camera, Format { width: 100, height: 100, pixel_aspect: 1.0 })
    }

    /// Half of a unit along x around a point.
    fn ends(x: f32, z: f32, length: f32) -> [Vec3; 2] {
        [-0.5, 0.5].map(|side| Vec3::new(x + side * length, 0.0, z))
    }

    #[test]
    fn an_edge_is_long_from_the_square_root_of_the_shading_rate_on() {
        let long = |z, rate| {
            let [a, b] = ends(0.0, z, 0.1);
            dicer().is_long(a, b, rate)
        };
        // 5 / d pixels against 1.7 · √rate.
        assert!(long(2.93, 1.0) && !long(2.95, 1.0));
        assert!(long(1.46, 4.0) && !long(1.48, 4.0));
        assert!(!dicer().coarser(2.0).is_long(Vec3::Z, Vec3::new(0.05, 0.0, 1.0), 1.0));
    }

    #[test]
    fn what_the_camera_does_not_see_is_cut_more_coarsely() {
        let long = |x, z, length| {
            let [a, b] = ends(x, z, length);
            dicer().is_long(a, b, 1.0)
        };
        assert!(long(0.0, 10.0, 0.5) && !long(0.0, -10.0, 0.5) && long(0.0, -10.0, 2.0));
        assert!(long(9.0, 10.0, 0.7) && !long(30.0, 10.0, 2.0));
        // One end of it is on the image.
        assert!(long(40.0, 10.0, 60.0));
    }

    #[test]
    fn both_orders_of_the_ends_are_judged_alike() {
        let dicer = dicer();
        for i in 0..2000u32 {
            let number = |k: u32| ((i * 7 + k).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32 - 0.5;
            let a = Vec3::new(number(1), number(2), number(3)) * 20.0;
            let b = a + Vec3::new(number(4), number(5), number(6));
            assert_eq!(dicer.is_long(a, b, 1.0), dicer.is_long(b, a, 1.0));
        }
    }
}
