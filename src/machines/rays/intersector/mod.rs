//! The intersector: where a ray meets a polygon, in the arithmetic of the hardware (Ullner 1983,
//! §2.3.2, figs. 2-12 to 2-16).
//!
//! The three steps are functions of their own, which the models of the pipeline and the array run
//! in separate stages: [`distance`], [`point`] and [`coordinate`]. [`intersect`] runs all of them
//! and stops at the first that rejects the polygon. The peripheral computes everything and clears
//! validity bits; the results are the same.

use super::arithmetic::{Operations, flushed};
use super::polygon::{Case, Coordinate, Polygon};
use super::ray::Request;

/// How far outside `[0, 1]` a coordinate may lie. It is then clamped.
///
/// Coordinates are good to 12 bits with [`Commercial`](super::arithmetic::Commercial), as
/// [`Polygon::from_quad`] sees to, so that a point on the common edge of two polygons can come out up
/// to 2^−12 outside of both. Without a margin rays would slip through. The overlap is an eighth of
/// a pixel for a polygon as wide as an image of 512.
///
/// In the other units the margin is there for the rounding of points, which is 2^−12 of a polygon a
/// thousand of its sizes away from the origin.
pub const MARGIN: f32 = 1.0 / 4096.0;

/// A ray as the intersector takes it. The host, or the stage that fetches polygons, forms the two
/// differences once per ray; they are not among the intersector's 54 operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntersectorRay {
    /// `r₀`.
    pub r0: [f32; 3],
    /// `r₁ − r₀`.
    pub forward: [f32; 3],
    /// `r₀ − r₁`.
    pub backward: [f32; 3],
}

impl IntersectorRay {
    /// The ray of a request. The host knows `r₁ − r₀`, the request's direction, and does not round
    /// it again by way of `r₁`: far from the origin a short direction would lose most of its bits.
    pub fn from_request(request: &Request) -> IntersectorRay {
        let forward = request.direction.to_array().map(flushed);
        let backward = forward.map(|x| flushed(-x));
        IntersectorRay { r0: request.origin.to_array().map(flushed), forward, backward }
    }

    /// The ray through two points, as in the 13-word description of the pipeline (§2.4), with the
    /// differences formed in the hardware's arithmetic.
    pub fn from_points<O: Operations>(ops: O, r0: [f32; 3], r1: [f32; 3]) -> IntersectorRay {
        let difference = |a: [f32; 3], b: [f32; 3]| [0, 1, 2].map(|i| ops.sub(a[i], b[i]));
        IntersectorRay { r0, forward: difference(r1, r0), backward: difference(r0, r1) }
    }
}

/// Where a ray meets a polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intersection {
    /// Distance in units of the ray's direction.
    pub t: f32,
    /// `p_r`.
    pub point: [f32; 3],
    /// Position on the polygon, 0 to 1.
    pub u: f32,
    /// Position on the polygon, 0 to 1.
    pub v: f32,
}

/// The outcome of a test, by the step that decided it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// `t` is not valid (the ray is parallel to the plane), negative, or not less than the best so
    /// far; or the ray comes from the side of a one-sided polygon that does not count.
    NoDistance,
    /// `u` is not valid or outside `[0, 1]`.
    OutsideU,
    /// `v` is not valid or outside `[0, 1]`.
    OutsideV,
    /// A hit nearer than the best so far.
    Hit(Intersection),
}

/// The result of the first step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// `t`, NaN if the ray is parallel to the plane.
    pub t: f32,
    /// `n_p·(r₀ − r₁)`: positive if the ray comes from the side that `n_p` points to.
    pub facing: f32,
}

/// Intersects a ray with a polygon. Hits count for `0 ≤ t < best`: of polygons at equal distance
/// the one tested first wins, which is the one with the lower index if they are tested in order.
#[inline]
pub fn intersect<O: Operations>(ops: O, polygon: &Polygon, ray: &IntersectorRay, best: f32) -> Outcome {
    let distance = distance(ops, polygon, ray);
    if !accepts(polygon, distance, best) {
        return Outcome::NoDistance;
    }
    let point = point(ops, ray, distance.t);
    let u = coordinate(ops, &polygon.u, point);
    if u.is_nan() {
        return Outcome::OutsideU;
    }
    let v = coordinate(ops, &polygon.v, point);
    if v.is_nan() {
        return Outcome::OutsideV;
    }
    Outcome::Hit(Intersection { t: distance.t, point, u, v })
}

/// True if a hit at that distance would count.
#[inline(always)]
pub fn accepts(polygon: &Polygon, distance: Distance, best: f32) -> bool {
    distance.t >= 0.0 && distance.t < best && (!polygon.one_sided || distance.facing > 0.0)
}

/// The first step, with the intermediate results of §2.3.2: `t = (n_p·r₀ + d_p)/(n_p·(r₀ − r₁))`.
#[inline(always)]
pub fn distance<O: Operations>(ops: O, polygon: &Polygon, ray: &IntersectorRay) -> Distance {
    let n_p = polygon.n_p;
    let [q1, q2, q3] = each(|i| ops.mul(n_p[i], ray.r0[i]));
    let [q4, q5, q6] = each(|i| ops.mul(ray.backward[i], n_p[i]));
    let (q7, q8, q9) = (ops.add(q1, q2), ops.add(q3, polygon.d_p), ops.add(q4, q5));
    let (q10, q11) = (ops.add(q7, q8), ops.add(q9, q6));
    Distance { t: ops.divide(q10, q11), facing: q11 }
}

/// The second step: `p_r = (r₁ − r₀)·t + r₀`.
#[inline(always)]
pub fn point<O: Operations>(ops: O, ray: &IntersectorRay, t: f32) -> [f32; 3] {
    each(|i| ops.add(ops.mul(ray.forward[i], t), ray.r0[i]))
}

/// The third step, for `u` or `v`: the coordinate of a point in the polygon's plane, clamped to
/// `[0, 1]`. NaN if it is not valid or outside by more than [`MARGIN`].
///
/// Of two roots the one nearer to 1/2 is kept: there is one in `[0, 1]`, but where both are near an
/// end (at a corner without an angle, such as that of a triangle) rounding can move either.
#[inline(always)]
pub fn coordinate<O: Operations>(ops: O, equation: &Coordinate, point: [f32; 3]) -> f32 {
    let planes = planes(ops, equation, point);
    let x = match equation.case {
        Case::Parallel => quotient(ops, planes),
        Case::Quadratic => {
            let [a, b] = roots(ops, planes);
            if (a - 0.5).abs() <= (b - 0.5).abs() { a } else { b }
        }
    };
    if (-MARGIN..=1.0 + MARGIN).contains(&x) { x.clamp(0.0, 1.0) } else { f32::NAN }
}

/// `B = n·p + d1` and `C = m·p + d0` (fig. 2-16).
#[inline(always)]
pub fn planes<O: Operations>(ops: O, equation: &Coordinate, point: [f32; 3]) -> [f32; 2] {
    let plane = |normal: [f32; 3], offset: f32| {
        let [x, y, z] = each(|i| ops.mul(normal[i], point[i]));
        ops.add(ops.add(x, y), ops.add(z, offset))
    };
    [plane(equation.n, equation.d1), plane(equation.m, equation.d0)]
}

/// Something for each axis. Not the `map` of arrays, which stays a call for each where the
/// function is long.
#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> [f32; 3] {
    [f(0), f(1), f(2)]
}

/// `−C/B`: the coordinate in the parallel case.
#[inline(always)]
pub fn quotient<O: Operations>(ops: O, [b, c]: [f32; 2]) -> f32 {
    ops.neg(ops.divide_short(c, b))
}

/// `−B ± √(B² − C)`: the two in the other case, NaN if they are not real.
#[inline(always)]
pub fn roots<O: Operations>(ops: O, [b, c]: [f32; 2]) -> [f32; 2] {
    let root = ops.sqrt(ops.sub(ops.mul(b, b), c));
    [ops.sub(root, b), ops.sub(ops.neg(root), b)]
}

#[cfg(test)]
mod tests;
