//! Meshes of furniture: boxes, sheets, surfaces of revolution and height fields, as polygons with
//! texture coordinates. Lengths are meters, y is upwards.

use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// Corners of a polygon that are nearer than this, in meters, are one: numbers in a scene have four
/// decimals.
const SHORTEST: f32 = 3e-4;

/// Polygons with positions, normals and texture coordinates at their vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions.
    pub points: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Texture coordinates.
    pub places: Vec<Vec2>,
    /// The vertices of each polygon: three, or four for most.
    pub faces: Vec<Vec<u32>>,
}

impl Mesh {
    /// Appends another mesh.
    pub fn add(&mut self, other: Mesh) {
        let first = self.points.len() as u32;
        self.points.extend(other.points);
        self.normals.extend(other.normals);
        self.places.extend(other.places);
        self.faces.extend(other.faces.into_iter().map(|face| face.into_iter().map(|i| i + first).collect()));
    }

    /// The number of triangles.
    pub fn triangles(&self) -> usize {
        self.faces.iter().map(|face| face.len() - 2).sum()
    }

    /// The mesh moved.
    #[must_use]
    pub fn at(mut self, x: f32, y: f32, z: f32) -> Mesh {
        self.points.iter_mut().for_each(|p| *p += Vec3::new(x, y, z));
        self
    }

    /// The mesh rotated about the y axis by degrees, from x towards z.
    #[must_use]
    pub fn turned(self, degrees: f32) -> Mesh {
        let (sin, cos) = degrees.to_radians().sin_cos();
        self.mapped(|p| Vec3::new(cos * p.x - sin * p.z, p.y, sin * p.x + cos * p.z))
    }

    /// The mesh rotated about the z axis by degrees, from x towards y.
    #[must_use]
    pub fn rolled(self, degrees: f32) -> Mesh {
        let (sin, cos) = degrees.to_radians().sin_cos();
        self.mapped(|p| Vec3::new(cos * p.x - sin * p.y, sin * p.x + cos * p.y, p.z))
    }

    /// The mesh rotated about the x axis by degrees, from y towards z.
    #[must_use]
    pub fn tilted(self, degrees: f32) -> Mesh {
        let (sin, cos) = degrees.to_radians().sin_cos();
        self.mapped(|p| Vec3::new(p.x, cos * p.y - sin * p.z, sin * p.y + cos * p.z))
    }

    /// Positions and normals through a rotation.
    fn mapped(mut self, rotation: impl Fn(Vec3) -> Vec3) -> Mesh {
        self.points.iter_mut().chain(&mut self.normals).for_each(|v| *v = rotation(*v));
        self
    }

    fn vertex(&mut self, point: Vec3, normal: Vec3, place: Vec2) {
        self.points.push(point);
        self.normals.push(normal);
        self.places.push(place);
    }

    /// A polygon without the corners that lie on their predecessors, as at the poles of a sphere.
    fn without_short_edges(&self, face: Vec<u32>) -> Vec<u32> {
        let point = |i: usize| self.points[face[i % face.len()] as usize];
        let is_apart = |i: &usize| point(*i).distance(point(i + face.len() - 1)) > SHORTEST;
        (0..face.len()).filter(is_apart).map(|i| face[i]).collect()
    }

    /// A grid of vertices, `columns` + 1 by `rows` + 1, from a function of both fractions. The side
    /// that faces outwards is that of the second direction's cross product with the first.
    fn grid(columns: u32, rows: u32, vertex: impl Fn(f32, f32) -> (Vec3, Vec3, Vec2)) -> Mesh {
        let mut mesh = Mesh::default();
        for j in 0..=rows {
            for i in 0..=columns {
                let (point, normal, place) = vertex(i as f32 / columns as f32, j as f32 / rows as f32);
                mesh.vertex(point, normal, place);
            }
        }
        let quads = (0..rows).flat_map(|j| (0..columns).map(move |i| j * (columns + 1) + i));
        let corners = quads.map(|a| vec![a, a + columns + 1, a + columns + 2, a + 1]);
        mesh.faces = corners.map(|face| mesh.without_short_edges(face)).filter(|face| face.len() > 2).collect();
        mesh
    }
}

/// A parallelogram: a corner and two sides. Its normal is their cross product, and an emitter
/// radiates to that side. One unit of the texture is one meter.
pub fn sheet(corner: [f32; 3], across: [f32; 3], up: [f32; 3]) -> Mesh {
    let [corner, across, up] = [corner, across, up].map(Vec3::from);
    let (normal, size) = (across.cross(up).normalize_or_zero(), Vec2::new(across.length(), up.length()));
    let mut mesh = Mesh::default();
    for at in [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y] {
        mesh.vertex(corner + at.x * across + at.y * up, normal, Vec2::new(at.x, 1.0 - at.y) * size);
    }
    mesh.faces = vec![vec![0, 1, 2, 3]];
    mesh
}

/// The same, with texture coordinates from 0 to 1.
pub fn framed(corner: [f32; 3], across: [f32; 3], up: [f32; 3]) -> Mesh {
    let mut mesh = sheet(corner, across, up);
    mesh.places = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]].map(Vec2::from).to_vec();
    mesh
}

/// A box between two corners.
pub fn cuboid(low: [f32; 3], high: [f32; 3]) -> Mesh {
    let ([x0, y0, z0], [x1, y1, z1]) = (low, high);
    let (w, h, d) = (x1 - x0, y1 - y0, z1 - z0);
    let mut mesh = sheet([x1, y0, z0], [-w, 0.0, 0.0], [0.0, h, 0.0]);
    mesh.add(sheet([x0, y0, z1], [w, 0.0, 0.0], [0.0, h, 0.0]));
    mesh.add(sheet(low, [0.0, 0.0, d], [0.0, h, 0.0]));
    mesh.add(sheet([x1, y0, z1], [0.0, 0.0, -d], [0.0, h, 0.0]));
    mesh.add(sheet([x0, y1, z0], [0.0, 0.0, d], [w, 0.0, 0.0]));
    mesh.add(sheet(low, [w, 0.0, 0.0], [0.0, 0.0, d]));
    mesh
}

/// A box of this size that stands on the floor around the origin.
pub fn block(width: f32, height: f32, depth: f32) -> Mesh {
    cuboid([-0.5 * width, 0.0, -0.5 * depth], [0.5 * width, height, 0.5 * depth])
}

/// A cushion of this size around the origin: a box with round edges (a superellipsoid).
pub fn cushion(width: f32, height: f32, depth: f32) -> Mesh {
    // At the poles and seams, sines of rounded angles are 0 again.
    let rounded = |x: f32| if x.abs() < 1e-4 { 0.0 } else { x.signum() * x.abs().powf(0.35) };
    Mesh::grid(20, 10, |s, t| {
        let ((sa, ca), (sb, cb)) = ((TAU * s).sin_cos(), (PI * (t - 0.5)).sin_cos());
        let unit = Vec3::new(rounded(cb) * rounded(ca), rounded(sb), rounded(cb) * rounded(sa));
        let steep = |x: f32| x.signum() * x.abs().powf(1.65);
        let normal = Vec3::new(steep(cb) * steep(ca), steep(sb), steep(cb) * steep(sa));
        let size = 0.5 * Vec3::new(width, height, depth);
        (unit * size, (normal / size).normalize_or(Vec3::Y), Vec2::new(2.0 * s, t))
    })
}

/// A profile of (radius, height), from the bottom to the top on the outside, rotated about the y
/// axis in `count` steps.
pub fn lathe(profile: &[[f32; 2]], count: u32) -> Mesh {
    let mut mesh = Mesh::default();
    for pair in profile.windows(2) {
        let [[r0, y0], [r1, y1]] = [pair[0], pair[1]];
        let slope = Vec2::new(y1 - y0, r0 - r1).normalize_or_zero();
        mesh.add(Mesh::grid(count, 1, |s, t| {
            let (sin, cos) = (TAU * s).sin_cos();
            let radius = r0 + t * (r1 - r0);
            let point = Vec3::new(radius * cos, y0 + t * (y1 - y0), radius * sin);
            (point, Vec3::new(slope.x * cos, slope.y, slope.x * sin), Vec2::new(s, point.y))
        }));
    }
    mesh
}

/// A closed upright cylinder.
pub fn cylinder(radius: f32, height: f32) -> Mesh {
    lathe(&[[0.0, 0.0], [radius, 0.0], [radius, height], [0.0, height]], 20)
}

/// A cylinder from one point to another.
pub fn rod(from: [f32; 3], to: [f32; 3], radius: f32) -> Mesh {
    let [from, to] = [from, to].map(Vec3::from);
    let axis = to - from;
    let up = axis.normalize_or(Vec3::Y);
    let side = up.any_orthonormal_vector();
    let other = side.cross(up);
    lathe(&[[radius, 0.0], [radius, axis.length()]], 12)
        .mapped(|p| p.x * side + p.y * up + p.z * other)
        .at(from.x, from.y, from.z)
}

/// A sphere that stands on the floor.
pub fn ball(radius: f32) -> Mesh {
    Mesh::grid(28, 14, |s, t| {
        let ((sa, ca), (sb, cb)) = ((TAU * s).sin_cos(), (PI * (t - 0.5)).sin_cos());
        let normal = Vec3::new(cb * ca, sb, cb * sa);
        (radius * (normal + Vec3::Y), normal, Vec2::new(2.0 * s, 1.0 - t))
    })
}

/// A profile whose radius is a smooth function of the height, from 0 to 1, closed at the bottom.
pub fn vessel(height: f32, radius: impl Fn(f32) -> f32) -> Mesh {
    let steps = 20;
    let side = (0..=steps).map(|i| i as f32 / steps as f32).map(|t| [radius(t), height * t]);
    lathe(&std::iter::once([0.0, 0.0]).chain(side).collect::<Vec<_>>(), 28)
}

/// A curtain that hangs from `height` in folds along x, around the origin.
pub fn curtain(width: f32, height: f32, folds: f32, depth: f32) -> Mesh {
    Mesh::grid(64, 8, |s, t| {
        let phase = TAU * folds * s;
        let x = width * (s - 0.5);
        let wave = depth * (0.6 + 0.4 * (1.0 - t));
        let slope = wave * phase.cos() * TAU * folds / width;
        let normal = Vec3::new(slope, 0.0, -1.0).normalize();
        (Vec3::new(x, height * t, wave * phase.sin()), normal, Vec2::new(1.5 * width * s, 1.0 - t))
    })
}

/// A blanket over a box of this size around the origin: flat on top, hanging over at the sides.
pub fn blanket(width: f32, depth: f32, top: f32, hang: f32) -> Mesh {
    let (columns, rows) = (40, 48);
    let fold = |d: f32, half: f32| {
        let over = (d.abs() - half).max(0.0);
        (d.clamp(-half, half) + d.signum() * (0.25 * over.min(0.08) + 0.03 * over), over)
    };
    let point = |s: f32, t: f32| {
        let (x, over_x) = fold((s - 0.5) * (width + 2.0 * hang), 0.5 * width);
        let (z, over_z) = fold((t - 0.5) * (depth + 2.0 * hang), 0.5 * depth);
        let over = over_x.max(over_z);
        let swell = 0.02 * (9.0 * s).sin() * (7.0 * t + 2.0 * s).sin();
        Vec3::new(x, top - over + if over > 0.0 { 0.0 } else { swell }, z + if over > 0.0 { 1.5 * swell } else { 0.0 })
    };
    let step = 0.004;
    Mesh::grid(columns, rows, |s, t| {
        let along = point(s + step, t) - point(s - step, t);
        let other = point(s, t + step) - point(s, t - step);
        (
            point(s, t),
            other.cross(along).normalize_or(Vec3::Y),
            Vec2::new(s * (width + 2.0 * hang), t * (depth + 2.0 * hang)),
        )
    })
}
