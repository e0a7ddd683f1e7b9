//! Quadrics: `Ax² + Bxy + Cxz + Dx + Ey² + Fyz + Gy + Hz² + Iz + J = 0` (Ullner 1983, §2.6).
//!
//! The equation for `t` is set up at the point of the ray that is nearest to the middle of the box:
//! from a distant origin its terms would be large and cancel. A root of 12 bits would leave hits off
//! the surface by a four-thousandth of it, and rays that start there would hit it again: one of
//! Newton's steps, a division and a sum, gives it 22.

use super::placement::{LocalRay, along, dot, plus};
use crate::rays::arithmetic::{Operations, flushed};
use glam::{DAffine3, DMat3, DVec3};

/// Words of a quadric.
pub const WORDS: usize = 10;

/// By how much hits may lie outside the box, in halves of its sides: rounding must not open a
/// surface where it touches the box.
const ROOM: f32 = 1.0 / 65536.0;

/// A quadric in the space of its box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quadric {
    /// `2A, B, C, D, 2E, F, G, 2H, I, 2J`: the gradient and twice the value need no other factors.
    pub words: [f32; WORDS],
}

/// Where a ray meets a quadric: the coefficients of `a·x² + 2b·x + c = 0`, with `x` from the point
/// nearest to the middle, and the hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossings {
    /// Below 0 where the ray is inside far away.
    pub a: f32,
    /// Half the slope there: above 0 where the value grows.
    pub b: f32,
    /// Below 0 where that point is inside.
    pub c: f32,
    /// The two distances, NaN for one that is not real or infinitely far away.
    pub t: [f32; 2],
}

/// The point of a ray that is nearest to the middle of the box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Middle {
    /// The distance of the point.
    pub t: f32,
    /// The point.
    pub point: [f32; 3],
}

impl Middle {
    /// That of a ray: 9 products, 7 sums and a division.
    #[inline(always)]
    pub fn new<O: Operations>(ops: O, ray: &LocalRay) -> Self {
        let (across, square) = (dot(ops, ray.origin, ray.direction), dot(ops, ray.direction, ray.direction));
        let t = ops.neg(ops.divide(across, square));
        Self { t, point: along(ops, ray.origin, ray.direction, t) }
    }
}

impl Quadric {
    /// The quadric of coefficients `A` to `J` in the space of a primitive, in that of its box;
    /// `None` where it is none, or the numbers do not fit.
    pub fn new(coefficients: [f64; WORDS], cube_to_own: DAffine3) -> Option<Self> {
        let [a, b, c, d, e, f, g, h, i, j] = coefficients;
        // Twice the quadratic part as a symmetric matrix.
        let square = DMat3::from_cols_array(&[2.0 * a, b, c, b, 2.0 * e, f, c, f, 2.0 * h]);
        let linear = DVec3::new(d, g, i);
        let (turn, at) = (cube_to_own.matrix3, cube_to_own.translation);
        let slope = square * at + linear;
        let value = 0.5 * at.dot(slope + linear) + j;
        let (square, linear) = (turn.transpose() * square * turn, turn.transpose() * slope);
        let [x, y, z] = [square.x_axis, square.y_axis, square.z_axis];
        let words = [x.x, x.y, x.z, linear.x, y.y, y.z, linear.y, z.z, linear.z, 2.0 * value];
        // A positive factor changes nothing: the largest word is 1.
        let largest = words.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let words = words.map(|x| flushed((x / largest) as f32));
        words.iter().all(|x| x.is_finite()).then_some(Self { words })
    }

    /// The hits of a ray in the order of their distances, NaN for those that are not in the box: 75
    /// operations, beside those for the placement and the [`Middle`].
    #[inline]
    pub fn hits<O: Operations>(&self, ops: O, ray: &LocalRay) -> [f32; 2] {
        let [first, second] = self.crossings(ops, ray, &Middle::new(ops, ray)).t;
        let [first, second] = if second < first { [second, first] } else { [first, second] };
        [first, second].map(|t| if is_inside(along(ops, ray.origin, ray.direction, t)) { t } else { f32::NAN })
    }

    /// Where a ray meets it.
    #[inline(always)]
    pub fn crossings<O: Operations>(&self, ops: O, ray: &LocalRay, middle: &Middle) -> Crossings {
        let [a, b, c, d, e, f, g, h, i, j] = self.words;
        let turned = |v: [f32; 3]| [[a, b, c], [b, e, f], [c, f, h]].map(|row| dot(ops, row, v));
        let (point, linear) = (middle.point, [d, g, i]);
        let slope = plus(ops, turned(point), linear);
        let (a, b) = (dot(ops, ray.direction, turned(ray.direction)), dot(ops, slope, ray.direction));
        let c = ops.add(dot(ops, point, plus(ops, slope, linear)), j);
        let discriminant = ops.sub(ops.mul(b, b), ops.mul(a, c));
        let root = ops.sqrt(discriminant);
        let refined = ops.half(ops.add(root, ops.divide(discriminant, root)));
        // There is no quotient for a root of 0.
        let root = if refined.is_nan() { root } else { refined };
        // The sum that does not cancel.
        let q = ops.neg(ops.add(b, if b < 0.0 { ops.neg(root) } else { root }));
        let t = [ops.divide(c, q), ops.divide(q, a)].map(|x| ops.add(middle.t, x));
        Crossings { a, b, c, t }
    }
}

/// True if a point is in the box.
fn is_inside(point: [f32; 3]) -> bool {
    point.iter().all(|x| x.abs() <= 1.0 + ROOM)
}
