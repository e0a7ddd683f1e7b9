//! Quadrics as RISpec 3.2, §5.4 defines them, and their tessellation.
//!
//! Each is swept by `u` around the z axis and by `v` along its profile; triangles and normals agree with
//! `dPdu × dPdv`, which for the usual signs of the arguments points outwards (and to +z for a disk).

use super::assemble::{Channel, Faces};
use glam::{Vec2, Vec3};

/// Fewest and most segments of a full circle.
pub const SEGMENTS: std::ops::RangeInclusive<u32> = 24..=256;

/// A quadric in object space. Angles are in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quadric {
    /// A sphere around the origin between two heights.
    Sphere {
        /// Radius.
        radius: f32,
        /// Lower bound of z.
        z_min: f32,
        /// Upper bound of z.
        z_max: f32,
        /// Sweep.
        theta_max: f32,
    },
    /// A cylinder around z, without its ends.
    Cylinder {
        /// Radius.
        radius: f32,
        /// One end.
        z_min: f32,
        /// The other.
        z_max: f32,
        /// Sweep.
        theta_max: f32,
    },
    /// A cone on z = 0 with its apex on the z axis, without its base.
    Cone {
        /// z of the apex.
        height: f32,
        /// Radius of the base.
        radius: f32,
        /// Sweep.
        theta_max: f32,
    },
    /// A disk across z.
    Disk {
        /// Its z.
        height: f32,
        /// Radius.
        radius: f32,
        /// Sweep.
        theta_max: f32,
    },
}

/// A point of a profile: distance from the axis, z, and the normal in that half plane.
struct Profile {
    radius: f64,
    z: f64,
    normal: (f64, f64),
}

impl Quadric {
    /// Centre and radius of a sphere around the whole quadric.
    pub fn bounding_sphere(&self) -> (Vec3, f32) {
        match *self {
            Quadric::Sphere { radius, .. } => (Vec3::ZERO, radius.abs()),
            Quadric::Cylinder { radius, z_min, z_max, .. } => {
                (Vec3::new(0.0, 0.0, 0.5 * (z_min + z_max)), radius.hypot(0.5 * (z_max - z_min)))
            }
            Quadric::Cone { height, radius, .. } => (Vec3::new(0.0, 0.0, 0.5 * height), radius.hypot(0.5 * height)),
            Quadric::Disk { height, radius, .. } => (Vec3::new(0.0, 0.0, height), radius.abs()),
        }
    }

    /// Radius of the largest circle on it.
    pub fn radius(&self) -> f32 {
        match *self {
            Quadric::Sphere { radius, .. }
            | Quadric::Cylinder { radius, .. }
            | Quadric::Cone { radius, .. }
            | Quadric::Disk { radius, .. } => radius.abs(),
        }
    }

    fn theta_max(&self) -> f32 {
        match *self {
            Quadric::Sphere { theta_max, .. }
            | Quadric::Cylinder { theta_max, .. }
            | Quadric::Cone { theta_max, .. }
            | Quadric::Disk { theta_max, .. } => theta_max.clamp(-360.0, 360.0),
        }
    }

    /// Triangles with normals and `u, v`, a full circle cut into about `segments` parts.
    pub fn tessellate(&self, segments: u32) -> Faces {
        let segments = segments.clamp(3, *SEGMENTS.end());
        let theta = f64::from(self.theta_max()).to_radians();
        let full = self.theta_max().abs() == 360.0;
        let columns = ((f64::from(segments) * theta.abs() / std::f64::consts::TAU).ceil() as u32).max(1);
        let rows = self.rows(segments);
        let mut faces = Faces::default();
        let (mut normals, mut uv) = (Vec::new(), Vec::new());
        for j in 0..=rows {
            let v = f64::from(j) / f64::from(rows);
            let profile = self.profile(v);
            for i in 0..=columns {
                // The last column of a full turn is the first one, to the bit.
                let angle = theta * f64::from(if full { i % columns } else { i }) / f64::from(columns);
                let (sin, cos) = angle.sin_cos();
                let at = |r: f64, z: f64| Vec3::new((r * cos) as f32, (r * sin) as f32, z as f32);
                faces.points.push(at(profile.radius, profile.z));
                normals.push(theta.signum() as f32 * at(profile.normal.0, profile.normal.1));
                uv.push(Vec2::new(i as f32 / columns as f32, v as f32));
            }
        }
        for j in 0..rows {
            for i in 0..columns {
                let a = j * (columns + 1) + i;
                let (b, c, d) = (a + 1, a + columns + 2, a + columns + 1);
                let is_point = |a: u32, b: u32| faces.points[a as usize] == faces.points[b as usize];
                // A row at a pole is a point: of the two triangles there one has no area.
                if !is_point(a, b) || columns == 1 {
                    faces.triangles.push([a, b, c]);
                }
                if !is_point(c, d) || columns == 1 {
                    faces.triangles.push([a, c, d]);
                }
            }
        }
        faces.normals = Channel::PerPoint(normals);
        faces.uv = Channel::PerPoint(uv);
        faces
    }

    fn rows(&self, segments: u32) -> u32 {
        match *self {
            Quadric::Sphere { radius, z_min, z_max, .. } => {
                let (low, high) = latitudes(radius, z_min, z_max);
                ((f64::from(segments) * (high - low).abs() / std::f64::consts::TAU).ceil() as u32).max(2)
            }
            Quadric::Cylinder { .. } => 1,
            // Straight along v, but triangles towards a point bend u; a few rows keep that small.
            Quadric::Cone { .. } | Quadric::Disk { .. } => 6,
        }
    }

    fn profile(&self, v: f64) -> Profile {
        match *self {
            Quadric::Sphere { radius, z_min, z_max, .. } => {
                let (low, high) = latitudes(radius, z_min, z_max);
                let latitude = low + v * (high - low);
                let (sin, cos) = latitude.sin_cos();
                // A pole is a point, to the bit.
                let cos = if cos.abs() < 1e-12 { 0.0 } else { cos };
                let side = if high < low { -1.0 } else { 1.0 };
                let r = f64::from(radius);
                Profile { radius: r * cos, z: r * sin, normal: (side * cos, side * sin) }
            }
            Quadric::Cylinder { radius, z_min, z_max, .. } => {
                let (r, low, high) = (f64::from(radius), f64::from(z_min), f64::from(z_max));
                let side = (r * (high - low)).signum();
                Profile { radius: r, z: low + v * (high - low), normal: (side, 0.0) }
            }
            Quadric::Cone { height, radius, .. } => {
                let (h, r) = (f64::from(height), f64::from(radius));
                let scale = r.signum() / h.hypot(r).max(f64::MIN_POSITIVE);
                Profile { radius: r * (1.0 - v), z: v * h, normal: (h * scale, r * scale) }
            }
            Quadric::Disk { height, radius, .. } => {
                Profile { radius: f64::from(radius) * (1.0 - v), z: f64::from(height), normal: (0.0, 1.0) }
            }
        }
    }
}

/// The latitudes between which a sphere extends, in radians.
fn latitudes(radius: f32, z_min: f32, z_max: f32) -> (f64, f64) {
    let latitude = |z: f32| (f64::from(z) / f64::from(radius)).clamp(-1.0, 1.0).asin();
    (latitude(z_min), latitude(z_max))
}

/// Segments of a circle of `pixels` radius on the picture for a silhouette that stays within a tenth of a pixel of it.
pub fn segments_for(pixels: f32) -> u32 {
    const ERROR: f64 = 0.1;
    let ratio = (1.0 - ERROR / f64::from(pixels.max(0.2))).clamp(-1.0, 1.0);
    // The sagitta of a chord over 2a is r (1 - cos a).
    ((std::f64::consts::PI / ratio.acos().max(1e-6)).ceil() as u32).clamp(*SEGMENTS.start(), *SEGMENTS.end())
}

#[cfg(test)]
mod tests {
    use super::super::assemble::assemble;
    use super::super::mesh::Mesh;
    use super::*;
    use std::f64::consts::PI;

    fn mesh(q: Quadric, segments: u32) -> Mesh {
        assemble(q.tessellate(segments), 40.0).mesh
    }

    fn sphere(z_min: f32, z_max: f32, theta_max: f32) -> Quadric {
        Quadric::Sphere { radius: 2.0, z_min, z_max, theta_max }
    }

    const CYLINDER: Quadric = Quadric::Cylinder { radius: 2.0, z_min: -1.0, z_max: 3.0, theta_max: 360.0 };
    const CONE: Quadric = Quadric::Cone { height: 3.0, radius: 2.0, theta_max: 360.0 };
    const DISK: Quadric = Quadric::Disk { height: 1.0, radius: 2.0, theta_max: 360.0 };

    #[test]
    fn areas_converge_to_the_exact_ones() {
        let cases = [
            (sphere(-2.0, 2.0, 360.0), 16.0 * PI),
            (sphere(0.0, 1.0, 180.0), 2.0 * PI),
            (CYLINDER, 16.0 * PI),
            (CONE, PI * 2.0 * 13f64.sqrt()),
            (DISK, 4.0 * PI),
        ];
        for (quadric, exact) in cases {
            let coarse = (mesh(quadric, 32).area() / exact - 1.0).abs();
            let fine = (mesh(quadric, 128).area() / exact - 1.0).abs();
            assert!(fine < 2e-3 && fine < coarse / 8.0, "{quadric:?}: {coarse} then {fine}");
        }
    }

    #[test]
    fn normals_are_unit_and_agree_with_the_triangles() {
        for quadric in [sphere(-2.0, 2.0, 360.0), sphere(-1.0, 1.5, -90.0), CYLINDER, CONE, DISK] {
            let mesh = mesh(quadric, 48);
            for (t, triangle) in mesh.triangles.iter().enumerate() {
                let face = mesh.scaled_normal(t).normalize();
                for &i in triangle {
                    let n = mesh.normals[i as usize];
                    assert!((n.length() - 1.0).abs() < 1e-5);
                    assert!(n.dot(face) > 0.95, "{quadric:?}: {n} against {face}");
                }
            }
        }
    }

    #[test]
    fn whole_quadrics_face_outwards() {
        for quadric in [sphere(-2.0, 2.0, 360.0), CYLINDER] {
            let mesh = mesh(quadric, 32);
            for (p, n) in mesh.positions.iter().zip(&mesh.normals) {
                assert!(Vec3::new(p.x, p.y, 0.0).dot(*n) >= -1e-6);
            }
        }
        assert!(mesh(DISK, 32).normals.iter().all(|n| *n == Vec3::Z));
        let cone = mesh(CONE, 32);
        assert!(cone.normals.iter().all(|n| n.z > 0.5));
    }

    #[test]
    fn parameters_run_around_and_along() {
        let mesh = mesh(CYLINDER, 32);
        let find = |uv: Vec2| mesh.positions[mesh.uv.iter().position(|x| *x == uv).unwrap()];
        assert_eq!(find(Vec2::new(0.0, 0.0)), Vec3::new(2.0, 0.0, -1.0));
        assert_eq!(find(Vec2::new(0.0, 1.0)), Vec3::new(2.0, 0.0, 3.0));
        assert!(find(Vec2::new(0.25, 0.0)).distance(Vec3::new(0.0, 2.0, -1.0)) < 1e-6);
    }

    #[test]
    fn a_full_sphere_is_watertight() {
        let mesh = mesh(sphere(-2.0, 2.0, 360.0), 24);
        let mut edges = std::collections::HashMap::new();
        for t in 0..mesh.triangles.len() {
            let c = mesh.corners(t).map(|p| (p + Vec3::ZERO).to_array().map(f32::to_bits));
            for k in 0..3 {
                *edges.entry((c[k], c[(k + 1) % 3])).or_insert(0) += 1;
                *edges.entry((c[(k + 1) % 3], c[k])).or_insert(0) -= 1;
            }
        }
        assert!(edges.values().all(|&n| n == 0));
    }

    #[test]
    fn resolution_grows_with_the_size_on_the_picture_within_bounds() {
        assert_eq!(segments_for(0.0), *SEGMENTS.start());
        assert!(segments_for(50.0) < segments_for(200.0));
        assert_eq!(segments_for(1e9), *SEGMENTS.end());
        let n = segments_for(200.0);
        let sagitta = 200.0 * (1.0 - (PI / f64::from(n)).cos());
        assert!(sagitta <= 0.1, "{sagitta}");
    }
}
