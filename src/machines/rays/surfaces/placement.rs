//! From the world to the box of a surface.

use crate::rays::arithmetic::{Operations, flushed};
use crate::rays::intersector::IntersectorRay;
use glam::{DAffine3, DVec3, Vec3};

/// Words of a placement.
pub const WORDS: usize = 12;

/// The affine map from the world to the space in which the box is the cube from −1 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The rows: three coefficients and an offset.
    pub rows: [[f32; 4]; 3],
}

/// A ray in that space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalRay {
    /// Where it starts.
    pub origin: [f32; 3],
    /// The direction; `t` counts in units of it.
    pub direction: [f32; 3],
}

impl Placement {
    /// That of a box, with the map from the box's cube to the world; `None` where there is no
    /// inverse, or its numbers do not fit.
    pub fn new(cube_to_world: DAffine3) -> Option<Self> {
        let inverse = cube_to_world.inverse();
        let [x, y, z] = [0, 1, 2].map(|i| inverse.matrix3.row(i).extend(inverse.translation[i]));
        let rows = [x, y, z].map(|row| row.to_array().map(|x| flushed(x as f32)));
        rows.iter().flatten().all(|x| x.is_finite()).then_some(Self { rows })
    }

    /// A ray in the box's space: 18 products and 15 sums.
    #[inline(always)]
    pub fn local<O: Operations>(&self, ops: O, ray: &IntersectorRay) -> LocalRay {
        let turned = |[a, b, c, _]: [f32; 4], v: [f32; 3]| dot(ops, [a, b, c], v);
        LocalRay {
            origin: self.rows.map(|row| ops.add(turned(row, ray.r0), row[3])),
            direction: self.rows.map(|row| turned(row, ray.forward)),
        }
    }
}

/// The corners in the world of the box's cube: bit `k` of a corner's number says on which side of
/// axis `k` it is.
pub fn corners(cube_to_world: DAffine3) -> Box<[Vec3; 8]> {
    let corner = |number: usize| {
        let side = |axis: usize| if number >> axis & 1 == 0 { -1.0 } else { 1.0 };
        cube_to_world.transform_point3(DVec3::new(side(0), side(1), side(2))).as_vec3()
    };
    Box::new(std::array::from_fn(corner))
}

/// An inner product: 3 products and 2 sums.
#[inline(always)]
pub(super) fn dot<O: Operations>(ops: O, a: [f32; 3], b: [f32; 3]) -> f32 {
    let [x, y, z] = [0, 1, 2].map(|i| ops.mul(a[i], b[i]));
    ops.add(ops.add(x, y), z)
}

/// A sum of vectors.
#[inline(always)]
pub(super) fn plus<O: Operations>(ops: O, a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|i| ops.add(a[i], b[i]))
}

/// A difference of vectors.
#[inline(always)]
pub(super) fn minus<O: Operations>(ops: O, a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|i| ops.sub(a[i], b[i]))
}

/// `a + b·x`.
#[inline(always)]
pub(in crate::rays) fn along<O: Operations>(ops: O, a: [f32; 3], b: [f32; 3], x: f32) -> [f32; 3] {
    [0, 1, 2].map(|i| ops.add(a[i], ops.mul(b[i], x)))
}

/// `a × b`: 6 products and 3 differences.
#[inline(always)]
pub(super) fn cross<O: Operations>(ops: O, a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| ops.sub(ops.mul(a[i], b[j]), ops.mul(a[j], b[i])))
}
