//! Quadrics as RISpec 3.2, §5.4 defines them, and their tessellation.
//!
//! Each is swept by `u` around the z axis and by `v` along its profile; triangles and normals agree
//! with `dPdu × dPdv`, which for the usual signs of the arguments points outwards (and to +z for a
//! disk).
//!
//! The vertices lie a little outside, so that an image shows as much of a tessellation as of the
//! quadric: a polygon around the axis has the area of the circle that it stands for
//! ([`area_scale`]). Edges along the sweep keep their place on the profile, where other surfaces
//! join.

use super::assemble::{Channel, Faces};
use glam::{DVec2, DVec3, Vec2, Vec3};

/// Segments of full circles below a radius in pixels.
const FEW_SEGMENTS: [(f32, u32); 2] = [(0.5, 6), (1.0, 8)];

/// Fewest and most segments of a larger full circle.
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
        /// The height in z.
        height: f32,
        /// Radius.
        radius: f32,
        /// Sweep.
        theta_max: f32,
    },
    /// The surface that a line sweeps.
    Hyperboloid {
        /// The start of the line.
        from: Vec3,
        /// The end of the line.
        to: Vec3,
        /// Sweep.
        theta_max: f32,
    },
    /// A parabola around z with its apex in the origin, between two heights.
    Paraboloid {
        /// Radius at the upper bound.
        radius: f32,
        /// Lower bound of z.
        z_min: f32,
        /// Upper bound of z, not 0.
        z_max: f32,
        /// Sweep.
        theta_max: f32,
    },
    /// A tube around z.
    Torus {
        /// Radius of the circle in its middle.
        major: f32,
        /// Radius of the tube.
        minor: f32,
        /// Where around the tube it begins, from the outside towards +z.
        phi_min: f32,
        /// Where it ends.
        phi_max: f32,
        /// Sweep.
        theta_max: f32,
    },
}

/// A point of a profile, where the sweep begins, and the normal there, of any length.
struct Profile {
    point: DVec3,
    normal: DVec3,
}

/// A point in the half plane of the x and z axes.
fn half_plane((x, z): (f64, f64)) -> DVec3 {
    DVec3::new(x, 0.0, z)
}

impl Quadric {
    /// Center and radius of a sphere around the whole quadric.
    pub fn bounding_sphere(&self) -> (Vec3, f32) {
        match *self {
            Quadric::Sphere { radius, .. } => (Vec3::ZERO, radius.abs()),
            Quadric::Cylinder { radius, z_min, z_max, .. } => {
                (Vec3::new(0.0, 0.0, 0.5 * (z_min + z_max)), radius.hypot(0.5 * (z_max - z_min)))
            }
            Quadric::Cone { height, radius, .. } => (Vec3::new(0.0, 0.0, 0.5 * height), radius.hypot(0.5 * height)),
            Quadric::Disk { height, radius, .. } => (Vec3::new(0.0, 0.0, height), radius.abs()),
            Quadric::Hyperboloid { from, to, .. } => {
                let middle = 0.5 * (from.z + to.z);
                (Vec3::new(0.0, 0.0, middle), self.radius().hypot(0.5 * (to.z - from.z)))
            }
            Quadric::Paraboloid { radius, z_min, z_max, .. } => {
                (Vec3::new(0.0, 0.0, 0.5 * (z_min + z_max)), radius.hypot(0.5 * (z_max - z_min)))
            }
            Quadric::Torus { .. } => (Vec3::ZERO, self.radius()),
        }
    }

    /// Radius of the largest circle on it.
    pub fn radius(&self) -> f32 {
        match *self {
            Quadric::Sphere { radius, .. }
            | Quadric::Cylinder { radius, .. }
            | Quadric::Cone { radius, .. }
            | Quadric::Disk { radius, .. }
            | Quadric::Paraboloid { radius, .. } => radius.abs(),
            Quadric::Hyperboloid { from, to, .. } => from.truncate().length().max(to.truncate().length()),
            Quadric::Torus { major, minor, .. } => major.abs() + minor.abs(),
        }
    }

    fn theta_max(&self) -> f32 {
        match *self {
            Quadric::Sphere { theta_max, .. }
            | Quadric::Cylinder { theta_max, .. }
            | Quadric::Cone { theta_max, .. }
            | Quadric::Disk { theta_max, .. }
            | Quadric::Hyperboloid { theta_max, .. }
            | Quadric::Paraboloid { theta_max, .. }
            | Quadric::Torus { theta_max, .. } => theta_max.clamp(-360.0, 360.0),
        }
    }

    /// Columns and rows of cells, a full circle diced into about `segments` parts.
    fn cells(&self, segments: u32) -> [u32; 2] {
        let segments = segments.clamp(3, *SEGMENTS.end());
        let theta = f64::from(self.theta_max()).to_radians();
        let columns = ((f64::from(segments) * theta.abs() / std::f64::consts::TAU).ceil() as u32).max(1);
        [columns, self.rows(segments)]
    }

    /// Triangles that [`Quadric::tessellate`] makes at most.
    pub fn triangles(&self, segments: u32) -> usize {
        let [columns, rows] = self.cells(segments);
        2 * columns as usize * rows as usize
    }

    /// Triangles with normals and `u, v`, a full circle diced into about `segments` parts.
    pub fn tessellate(&self, segments: u32) -> Faces {
        let [columns, rows] = self.cells(segments);
        let theta = f64::from(self.theta_max()).to_radians();
        let full = self.theta_max().abs() == 360.0;
        let mut faces = Faces::default();
        let (mut normals, mut uv) = (Vec::new(), Vec::new());
        let outwards = area_scale(theta / f64::from(columns));
        for j in 0..=rows {
            let v = self.row(f64::from(j) / f64::from(rows));
            let mut profile = self.profile(v);
            let is_edge = (j == 0 || j == rows) && profile.point.truncate() != DVec2::ZERO && !self.is_closed();
            if !is_edge {
                profile.point = self.balanced(profile.point, rows);
            }
            profile.point *= DVec3::new(outwards, outwards, 1.0);
            for i in 0..=columns {
                // The last column of a full turn is the first one, to the bit.
                let angle = theta * f64::from(if full { i % columns } else { i }) / f64::from(columns);
                let (sin, cos) = angle.sin_cos();
                let turned = |p: DVec3| DVec3::new(p.x * cos - p.y * sin, p.x * sin + p.y * cos, p.z).as_vec3();
                faces.points.push(turned(profile.point));
                normals.push(theta.signum() as f32 * turned(profile.normal));
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

    /// True if the profile is closed.
    fn is_closed(&self) -> bool {
        matches!(*self, Quadric::Torus { phi_min, phi_max, .. } if (phi_max - phi_min).abs() == 360.0)
    }

    /// A vertex of the profile, moved outwards so that the profile of so many rows shows as much
    /// as the curve.
    fn balanced(&self, point: DVec3, rows: u32) -> DVec3 {
        let rows = f64::from(rows);
        match *self {
            Quadric::Sphere { radius, z_min, z_max, .. } => {
                let (low, high) = latitudes(radius, z_min, z_max);
                DVec3 { z: point.z * area_scale((high - low) / rows), ..point }
            }
            Quadric::Torus { major, phi_min, phi_max, .. } => {
                let middle = half_plane((f64::from(major), 0.0));
                middle + (point - middle) * width_scale(f64::from(phi_max - phi_min).to_radians() / rows)
            }
            Quadric::Paraboloid { z_min, z_max, .. } => {
                // A chord over h of z = r² lies h²/6 above it on average.
                let step = (1.0 - f64::from(z_min / z_max).max(0.0).sqrt()) / rows;
                DVec3 { z: point.z - f64::from(z_max) * step * step / 6.0, ..point }
            }
            Quadric::Cylinder { .. } | Quadric::Cone { .. } | Quadric::Disk { .. } | Quadric::Hyperboloid { .. } => {
                point
            }
        }
    }

    fn rows(&self, segments: u32) -> u32 {
        match *self {
            Quadric::Sphere { radius, z_min, z_max, .. } => {
                let (low, high) = latitudes(radius, z_min, z_max);
                ((f64::from(segments) * (high - low).abs() / std::f64::consts::TAU).ceil() as u32).max(2)
            }
            Quadric::Cylinder { .. } => 1,
            // Straight along v, but triangles towards a point bend u; a few rows keep that small.
            Quadric::Cone { .. } | Quadric::Disk { .. } => bent_rows(segments),
            // Straight along v, but twisted.
            Quadric::Hyperboloid { from, to, .. } => {
                let turn = f64::from(from.truncate().angle_to(to.truncate()).abs());
                let turn = if turn.is_finite() { turn } else { 0.0 };
                (f64::from(segments) * turn / std::f64::consts::TAU).ceil() as u32 + bent_rows(segments)
            }
            Quadric::Paraboloid { .. } => segments.div_ceil(4).max(2),
            Quadric::Torus { major, minor, phi_min, phi_max, .. } => {
                // The sagitta of a chord grows with the radius, and shrinks with the square of the
                // segments.
                let around = f64::from(segments) * f64::from(minor.abs() / (major.abs() + minor.abs())).sqrt();
                let turn = f64::from((phi_max - phi_min).abs().min(360.0)) / 360.0;
                ((around.max(f64::from(segments.min(*SEGMENTS.start()))) * turn).ceil() as u32).max(1)
            }
        }
    }

    /// `v` of the row at this share of all rows. A paraboloid's are closer to each other at its
    /// apex, where it is curved most.
    fn row(&self, share: f64) -> f64 {
        let Quadric::Paraboloid { z_min, z_max, .. } = *self else { return share };
        let low = f64::from(z_min / z_max).max(0.0);
        let root = low.sqrt() + share * (1.0 - low.sqrt());
        if share == 0.0 || share == 1.0 || low == 1.0 { share } else { (root * root - low) / (1.0 - low) }
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
                Profile { point: half_plane((r * cos, r * sin)), normal: half_plane((side * cos, side * sin)) }
            }
            Quadric::Cylinder { radius, z_min, z_max, .. } => {
                let (r, low, high) = (f64::from(radius), f64::from(z_min), f64::from(z_max));
                let side = (r * (high - low)).signum();
                Profile { point: half_plane((r, low + v * (high - low))), normal: half_plane((side, 0.0)) }
            }
            Quadric::Cone { height, radius, .. } => {
                let (h, r) = (f64::from(height), f64::from(radius));
                let scale = r.signum() / h.hypot(r).max(f64::MIN_POSITIVE);
                Profile { point: half_plane((r * (1.0 - v), v * h)), normal: half_plane((h * scale, r * scale)) }
            }
            Quadric::Disk { height, radius, .. } => {
                let point = half_plane((f64::from(radius) * (1.0 - v), f64::from(height)));
                Profile { point, normal: half_plane((0.0, 1.0)) }
            }
            Quadric::Hyperboloid { from, to, .. } => {
                let (from, to) = (from.as_dvec3(), to.as_dvec3());
                let at = |v: f64| from + (to - from) * v;
                // Where the line meets the axis the normal is that beside it.
                let beside = if at(v).truncate().length() > 0.0 { v } else { v + if v < 0.5 { 1e-3 } else { -1e-3 } };
                let around = DVec3::new(-at(beside).y, at(beside).x, 0.0);
                Profile { point: at(v), normal: around.cross(to - from).normalize_or_zero() }
            }
            Quadric::Paraboloid { radius, z_min, z_max, .. } => {
                let (radius, low, high) = (f64::from(radius), f64::from(z_min), f64::from(z_max));
                let z = low + v * (high - low);
                let r = radius * (z / high).max(0.0).sqrt();
                let normal = half_plane((r, -radius * radius / (2.0 * high))) * (high - low).signum();
                Profile { point: half_plane((r, z)), normal: normal.normalize_or_zero() }
            }
            Quadric::Torus { major, minor, phi_min, phi_max, .. } => {
                // The last row of a full turn is the first one, to the bit.
                let v = if v == 1.0 && (phi_max - phi_min).abs() == 360.0 { 0.0 } else { v };
                let (major, minor) = (f64::from(major), f64::from(minor));
                let (low, high) = (f64::from(phi_min).to_radians(), f64::from(phi_max).to_radians());
                let (sin, cos) = (low + v * (high - low)).sin_cos();
                let r = major + minor * cos;
                let side = (minor * (high - low) * r).signum();
                Profile { point: half_plane((r, minor * sin)), normal: half_plane((cos, sin)) * side }
            }
        }
    }
}

/// Rows that keep the bend of u small; one of circles that are coarser than any size on an image
/// asks for.
fn bent_rows(segments: u32) -> u32 {
    if segments < FEW_SEGMENTS[0].1 { 1 } else { 6 }
}

/// The latitudes between which a sphere extends, in radians.
fn latitudes(radius: f32, z_min: f32, z_max: f32) -> (f64, f64) {
    let latitude = |z: f32| (f64::from(z) / f64::from(radius)).clamp(-1.0, 1.0).asin();
    (latitude(z_min), latitude(z_max))
}

/// The ratio of the radius of a polygon's vertices to that of a circle with the same area, for
/// segments of this angle in radians, below π.
fn area_scale(angle: f64) -> f64 {
    if angle == 0.0 { 1.0 } else { (angle / angle.sin()).sqrt() }
}

/// The same ratio for a circle that is as wide as the polygon on average over all directions: a
/// tube shows its width, and not its cross section.
fn width_scale(angle: f64) -> f64 {
    let half = 0.5 * angle;
    if half == 0.0 { 1.0 } else { half / half.sin() }
}

/// Segments of a circle of `pixels` radius on the image for a silhouette that stays within a tenth
/// of a pixel of it. Circles below a pixel, of which a scene may have a million, have fewer
/// segments than reflections in larger ones need.
pub fn segments_for(pixels: f32) -> u32 {
    const ERROR: f64 = 0.1;
    if let Some((_, segments)) = FEW_SEGMENTS.iter().find(|(radius, _)| pixels < *radius) {
        return *segments;
    }
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

    const HYPERBOLOID: Quadric =
        Quadric::Hyperboloid { from: Vec3::new(1.0, -1.0, -1.0), to: Vec3::new(1.0, 1.0, 1.0), theta_max: 360.0 };
    const PARABOLOID: Quadric = Quadric::Paraboloid { radius: 2.0, z_min: 0.0, z_max: 4.0, theta_max: 360.0 };
    const TORUS: Quadric = Quadric::Torus { major: 2.0, minor: 0.5, phi_min: 0.0, phi_max: 360.0, theta_max: 360.0 };

    #[test]
    fn areas_converge_to_the_exact_ones() {
        // Of the hyperboloid x² + y² = 1 + z²: 2π times the integral of √(1 + 2z²) from -1 to 1.
        let root = 2f64.sqrt();
        let hyperboloid = 2.0 * PI * (3f64.sqrt() + root.asinh() / root);
        let cases = [
            (HYPERBOLOID, hyperboloid),
            (PARABOLOID, PI / 6.0 * (17f64.powf(1.5) - 1.0)),
            (TORUS, 4.0 * PI * PI),
            (Quadric::Torus { major: 2.0, minor: 0.5, phi_min: 0.0, phi_max: 180.0, theta_max: 90.0 }, PI * PI / 2.0),
            (sphere(-2.0, 2.0, 360.0), 16.0 * PI),
            (sphere(0.0, 1.0, 180.0), 2.0 * PI),
            (CYLINDER, 16.0 * PI),
            (CONE, PI * 2.0 * 13f64.sqrt()),
            (DISK, 4.0 * PI),
        ];
        for (quadric, exact) in cases {
            let coarse = (mesh(quadric, 32).area() / exact - 1.0).abs();
            let fine = (mesh(quadric, 128).area() / exact - 1.0).abs();
            assert!(fine < 2e-3 && fine < coarse / 8.0 + 1e-6, "{quadric:?}: {coarse} then {fine}");
        }
    }

    #[test]
    fn normals_are_unit_and_agree_with_the_triangles() {
        let flat = Quadric::Hyperboloid { from: Vec3::ZERO, to: Vec3::X, theta_max: 360.0 };
        let backwards = Quadric::Torus { major: 2.0, minor: 0.5, phi_min: 90.0, phi_max: -90.0, theta_max: -200.0 };
        let upside_down = Quadric::Paraboloid { radius: 2.0, z_min: -1.0, z_max: -4.0, theta_max: 360.0 };
        for quadric in [
            sphere(-2.0, 2.0, 360.0),
            sphere(-1.0, 1.5, -90.0),
            CYLINDER,
            CONE,
            DISK,
            HYPERBOLOID,
            PARABOLOID,
            TORUS,
            flat,
            backwards,
            upside_down,
        ] {
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
        for quadric in [sphere(-2.0, 2.0, 360.0), CYLINDER, HYPERBOLOID, PARABOLOID] {
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
        let radius = 2.0 * area_scale(PI / 16.0) as f32;
        assert_eq!(find(Vec2::new(0.0, 0.0)), Vec3::new(radius, 0.0, -1.0));
        assert_eq!(find(Vec2::new(0.0, 1.0)), Vec3::new(radius, 0.0, 3.0));
        assert!(find(Vec2::new(0.25, 0.0)).distance(Vec3::new(0.0, radius, -1.0)) < 1e-6);
    }

    /// The area that a mesh covers seen along a direction, where every line meets it `layers`
    /// times.
    fn covered(mesh: &Mesh, along: Vec3, layers: f64) -> f64 {
        let along = along.normalize().as_dvec3();
        let seen = |t: usize| 0.5 * mesh.scaled_normal(t).as_dvec3().dot(along).abs();
        (0..mesh.triangles.len()).map(seen).sum::<f64>() / layers
    }

    #[test]
    fn images_of_a_disk_a_sphere_and_a_torus_keep_their_area() {
        let segments = segments_for(100.0);
        let within = |most: f64, what: &str, found: f64, exact: f64| {
            assert!((found / exact - 1.0).abs() < most, "{what}: {found}, not {exact}");
        };
        let close = |what: &str, found: f64, exact: f64| within(1e-3, what, found, exact);
        for theta_max in [360.0, 100.0, -30.0] {
            let disk = Quadric::Disk { height: 1.0, radius: 2.0, theta_max };
            close("disk", covered(&mesh(disk, segments), Vec3::Z, 1.0), 4.0 * PI * f64::from(theta_max.abs()) / 360.0);
        }
        let whole = mesh(sphere(-2.0, 2.0, 360.0), segments);
        for along in [Vec3::Z, Vec3::X, Vec3::new(0.3, 1.0, 0.0), Vec3::new(0.2, -0.7, 0.5), Vec3::new(1.0, 1.0, 2.0)] {
            close("sphere", covered(&whole, along, 2.0), 4.0 * PI);
        }
        // Along the axis its silhouette runs through vertices, which lie outside of the tube.
        within(2e-3, "torus", covered(&mesh(TORUS, segments), Vec3::Z, 2.0), 4.0 * PI * 2.0 * 0.5);
        close("cone", covered(&mesh(CONE, segments), Vec3::Z, 1.0), 4.0 * PI);
        // The parabola x² = z of height 4 encloses 32/3.
        let around =
            (0..8).map(|k| Vec3::new((0.1 * f64::from(k)).cos() as f32, (0.1 * f64::from(k)).sin() as f32, 0.0));
        let paraboloid = mesh(PARABOLOID, segments);
        let mean = around.map(|along| covered(&paraboloid, along, 2.0)).sum::<f64>() / 8.0;
        close("paraboloid", mean, 32.0 / 3.0);
    }

    #[test]
    fn edges_along_the_sweep_stay_on_the_profile() {
        let cut = mesh(sphere(-1.0, 1.5, 360.0), 48);
        let (low, high) = cut.bounds().unwrap();
        assert_eq!((low.z, high.z), (-1.0, 1.5));
        let tube = Quadric::Torus { major: 2.0, minor: 0.5, phi_min: -90.0, phi_max: 90.0, theta_max: 360.0 };
        let (low, high) = mesh(tube, 48).bounds().unwrap();
        assert!((low.z + 0.5).abs() < 1e-6 && (high.z - 0.5).abs() < 1e-6);
    }

    #[test]
    fn full_spheres_and_tori_are_watertight() {
        for mesh in [mesh(sphere(-2.0, 2.0, 360.0), 24), mesh(TORUS, 24)] {
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
    }

    #[test]
    fn resolution_grows_with_the_size_on_the_image_within_bounds() {
        assert_eq!([0.0, 0.7, 1.0].map(segments_for), [6, 8, *SEGMENTS.start()]);
        assert!(segments_for(50.0) < segments_for(200.0));
        assert_eq!(segments_for(1e9), *SEGMENTS.end());
        let n = segments_for(200.0);
        let sagitta = 200.0 * (1.0 - (PI / f64::from(n)).cos());
        assert!(sagitta <= 0.1, "{sagitta}");
    }
}
