//! Small scenes for the tests.

use crate::polygons::model::{Model, Polygon, View};
use glam::{Mat4, Quat, Vec3};
use shadewright_base::random::{hash, unit};

/// The corners of a quadrilateral.
pub type Quad = [[f32; 3]; 4];

/// The view of the tests: from the origin along z, a right angle wide, from 0.5 to 40 away.
pub fn view() -> View {
    let (near, far) = (0.5, 40.0);
    let scale = far / (far - near);
    let to_clip = Mat4::from_cols_array_2d(&[
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, scale, 1.0],
        [0.0, 0.0, -near * scale, 0.0],
    ]);
    View { to_clip, eye: Vec3::ZERO, size: [200, 200] }
}

/// A model of quadrilaterals with their objects, the last corner of a triangle repeated.
pub fn model(quads: &[(u32, Quad)]) -> Model {
    let polygon = |&(object, corners): &(u32, Quad)| Polygon {
        corners: corners.map(Vec3::from),
        count: if corners[2] == corners[3] { 3 } else { 4 },
        normals: [Vec3::NEG_Z; 4],
        reflectance: Vec3::ONE,
        colors: [Vec3::new(0.5, 0.25, 0.0); 4],
        object,
    };
    Model {
        polygons: quads.iter().map(polygon).collect(),
        ambient: Vec3::ZERO,
        lights: Vec::new(),
        view: view(),
        background: Vec3::ZERO,
        left_out: Vec::new(),
    }
}

/// A square of side 1 that faces the eye, by its corner.
pub fn square([x, y, z]: [f32; 3]) -> Quad {
    [[x, y, z], [x + 1.0, y, z], [x + 1.0, y + 1.0, z], [x, y + 1.0, z]]
}

/// Two rectangles that meet in a ridge, which is nearer by `height` than their other sides.
pub fn roof(height: f32) -> Vec<(u32, Quad)> {
    let side = |x: f32| {
        let ridge = 5.0 - height;
        (0, [[x, -1.0, 5.0], [0.0, -1.0, ridge], [0.0, 1.0, ridge], [x, 1.0, 5.0]])
    };
    vec![side(-1.0), side(1.0)]
}

/// A cube by its center and the length of its sides.
pub fn cube(object: u32, center: [f32; 3], size: f32) -> Vec<(u32, Quad)> {
    turned_cube(object, center, size, Quat::IDENTITY)
}

/// A cube that is turned.
pub fn turned_cube(object: u32, center: [f32; 3], size: f32, turn: Quat) -> Vec<(u32, Quad)> {
    let corner = |k: usize| {
        let sign = |bit: usize| if k >> bit & 1 == 1 { 0.5 } else { -0.5 };
        (Vec3::from(center) + turn * (size * Vec3::new(sign(0), sign(1), sign(2)))).to_array()
    };
    const FACES: [[usize; 4]; 6] = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    FACES.iter().map(|face| (object, face.map(corner))).collect()
}

/// A sphere of radius 1 in so many quadrilaterals around and half as many down, not in any axis.
pub fn sphere(around: u32) -> Vec<(u32, Quad)> {
    let turn = Quat::from_xyzw(0.3, 0.2, 0.1, 0.9).normalize();
    let at = |i: u32, j: u32| {
        let step = std::f32::consts::TAU / around as f32;
        let (a, b) = (step * (i % around) as f32, step * j as f32);
        (turn * Vec3::new(a.cos() * b.sin(), b.cos(), a.sin() * b.sin()) + Vec3::new(0.3, 0.2, 4.0)).to_array()
    };
    let quad = |k: u32| {
        let (i, j) = (k % around, k / around);
        (0, [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)])
    };
    (0..around * (around / 2)).map(quad).collect()
}

/// Random numbers.
pub struct Random(pub u32);

impl Random {
    /// The next number, from 0 to 1.
    pub fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        unit(hash(self.0))
    }

    /// A number of a range.
    pub fn within(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// A point of the view.
    pub fn point(&mut self, near: f32, far: f32) -> [f32; 3] {
        let z = self.within(near, far);
        [self.within(-0.8, 0.8) * z, self.within(-0.8, 0.8) * z, z]
    }

    /// A turn.
    pub fn turn(&mut self) -> Quat {
        let [x, y, z, w] = [(); 4].map(|()| self.within(-1.0, 1.0));
        Quat::from_xyzw(x, y, z, w + 1.5).normalize()
    }
}

/// Cubes at random places, each an object.
pub fn cubes(count: u32, size: f32, seed: u32) -> Vec<(u32, Quad)> {
    let mut random = Random(seed);
    let mut one = |object: u32| {
        let (center, turn) = (random.point(4.0, 12.0), random.turn());
        turned_cube(object, center, size, turn)
    };
    (0..count).flat_map(&mut one).collect()
}

/// Triangles and rectangles at random places, each an object.
pub fn loose(count: u32, size: f32, seed: u32) -> Vec<(u32, Quad)> {
    let mut random = Random(seed);
    let mut one = |object: u32| {
        let (center, turn) = (Vec3::from(random.point(3.0, 15.0)), random.turn());
        let [a, b] = [turn * Vec3::X, turn * Vec3::Y].map(|side| side * size * random.within(0.3, 1.0));
        let triangle = random.unit() < 0.5;
        let corners = [center, center + a, center + a + b, if triangle { center + a + b } else { center + b }];
        (object, corners.map(|c| c.to_array()))
    };
    (0..count).map(&mut one).collect()
}
