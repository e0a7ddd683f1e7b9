//! The intersections of `assets/rtsl/primitives.rtsl` by hand.

use super::lanes::{Mask, Vector, Wide};
use super::{Input, Parameter, Routine, Row};
use shadewright::abi::input;
use shadewright::ir::Type;
use shadewright::lang::rtsl::state::Method;

/// The file of the classes.
const FILE: &str = "primitives.rtsl";
/// The inputs of `intersect` that belong to a ray.
const RAY: &[Input] = &[
    (input::RAY_ORIGIN, Type::Vec3),
    (input::RAY_DIRECTION, Type::Vec3),
    (input::RAY_T_MIN, Type::F32),
    (input::RAY_T, Type::F32),
];

/// A ray, and the distance of the nearest hit.
#[derive(Clone, Copy)]
struct Ray<const N: usize> {
    origin: Vector<N>,
    direction: Vector<N>,
    from: Wide<N>,
    to: Wide<N>,
    nearest: Wide<N>,
}

impl<const N: usize> Ray<N> {
    #[inline(always)]
    fn from_row(row: &Row<'_, N>) -> Self {
        let to = row.number(7);
        Self { origin: row.vector(0), direction: row.vector(3), from: row.number(6), to, nearest: to }
    }

    /// Takes a distance where it is asked for and the nearest so far; returns the position of the
    /// hit.
    #[inline(always)]
    fn hit(&mut self, asked: Mask<N>, t: Wide<N>) -> Mask<N> {
        let is_hit = asked & self.from.less(t) & t.less(self.nearest);
        self.nearest = is_hit.select(t, self.nearest);
        is_hit
    }

    /// The distance, below 0 where there was no hit.
    #[inline(always)]
    fn result(self) -> [Wide<N>; 6] {
        let t = self.nearest.less(self.to).select(self.nearest, Wide::splat(-1.0));
        [t, t, t, t, t, t]
    }

    #[inline(always)]
    fn at(&self, t: Wide<N>) -> Vector<N> {
        self.origin + self.direction * t
    }
}

/// A sphere.
pub struct Sphere;

impl Routine for Sphere {
    const NAME: &'static str = "Sphere";
    const CLASS: (&'static str, &'static str) = (FILE, "Sphere");
    const METHOD: Method = Method::Intersect;
    const INPUTS: &'static [Input] = RAY;
    const OUTPUTS: usize = 1;
    const PARAMETERS: &'static [Parameter] = &[("center", [0.1, 0.05, 0.0]), ("radius", [1.0; 3])];

    #[inline(always)]
    fn compute<const N: usize>(parameters: &[Parameter], row: &Row<'_, N>) -> [Wide<N>; 6] {
        let mut ray = Ray::from_row(row);
        let (center, radius) = (Vector::uniform(parameters[0].1), parameters[1].1[0]);
        let (o, d) = (ray.origin - center, ray.direction);
        let a = d.dot(d);
        let b = o.dot(d);
        let c = o.dot(o) - Wide::splat(radius * radius);
        let discriminant = b * b - a * c;
        let meets = Wide::splat(0.0).less(discriminant);
        if meets.any() {
            let root = discriminant.root();
            let is_hit = ray.hit(meets, -(b + root) / a);
            ray.hit(meets & !is_hit, (root - b) / a);
        }
        ray.result()
    }
}

/// A bilinear patch (Reshetov 2019, "Cool Patches").
pub struct BilinearPatch;

impl BilinearPatch {
    /// Takes the hit at a parameter, where it is one of the patch.
    #[inline(always)]
    fn at<const N: usize>(ray: &mut Ray<N>, [p00, p10, p01, p11]: [Vector<N>; 4], asked: Mask<N>, u: Wide<N>) {
        let (zero, one) = (Wide::splat(0.0), Wide::splat(1.0));
        let asked = asked & !u.less(zero) & !one.less(u);
        if asked.any() {
            let pa = p00.mix(p10, u) - ray.origin;
            let pb = (p01 - p00).mix(p11 - p10, u);
            let n = ray.direction.cross(pb);
            let size = n.dot(n);
            let n = n.cross(pa);
            let v = n.dot(ray.direction);
            ray.hit(asked & zero.at_most(v) & v.at_most(size), n.dot(pb) / size);
        }
    }
}

impl Routine for BilinearPatch {
    const NAME: &'static str = "Bilinear";
    const CLASS: (&'static str, &'static str) = (FILE, "BilinearPatch");
    const METHOD: Method = Method::Intersect;
    const INPUTS: &'static [Input] = RAY;
    const OUTPUTS: usize = 1;
    const PARAMETERS: &'static [Parameter] =
        &[("a", [-1.0, -1.0, -0.4]), ("b", [1.0, -0.9, 0.5]), ("c", [-0.9, 1.0, 0.6]), ("d", [1.0, 0.8, -0.5])];

    #[inline(always)]
    fn compute<const N: usize>(parameters: &[Parameter], row: &Row<'_, N>) -> [Wide<N>; 6] {
        let mut ray = Ray::from_row(row);
        let corners = [0, 1, 2, 3].map(|i| Vector::uniform(parameters[i].1));
        let [p00, p10, p01, p11] = corners;
        let d = ray.direction;
        let a = (p00 - ray.origin).cross(d).dot(p01 - p00);
        let c = (p10 - p00).cross(p01 - p11).dot(d);
        let b = (p10 - ray.origin).cross(d).dot(p11 - p10) - a - c;
        let zero = Wide::splat(0.0);
        let discriminant = b * b - Wide::splat(4.0) * a * c;
        let meets = !discriminant.less(zero);
        if meets.any() {
            let is_flat = c.equals(zero);
            let sign = b.less(zero).select(Wide::splat(-1.0), Wide::splat(1.0));
            let q = Wide::splat(-0.5) * (b + sign * discriminant.root());
            Self::at(&mut ray, corners, meets, is_flat.select(-a / b, q / c));
            Self::at(&mut ray, corners, meets & !is_flat, a / q);
        }
        ray.result()
    }
}

/// A superellipsoid, found by steps and halvings.
pub struct SuperEllipsoid;

/// Steps through the box.
const STEPS: usize = 48;
/// Halvings of the step in which the surface lies.
const HALVINGS: usize = 14;

impl Routine for SuperEllipsoid {
    const NAME: &'static str = "SuperEllipsoid";
    const CLASS: (&'static str, &'static str) = (FILE, "SuperEllipsoid");
    const METHOD: Method = Method::Intersect;
    const INPUTS: &'static [Input] = RAY;
    const OUTPUTS: usize = 1;
    const PARAMETERS: &'static [Parameter] = &[("exponent", [3.5; 3])];

    #[inline(always)]
    fn compute<const N: usize>(parameters: &[Parameter], row: &Row<'_, N>) -> [Wide<N>; 6] {
        let ray = Ray::from_row(row);
        // The class has an exponent for each of two directions, which one parameter sets alike.
        let [around, along] = [Wide::splat(parameters[0].1[0]); 2];
        let (zero, half) = (Wide::splat(0.0), Wide::splat(0.5));
        let value = |t: Wide<N>| {
            let [x, y, z] = ray.at(t).each(|x| x.abs()).0;
            (x.power(around) + y.power(around)).power(along / around) + z.power(along) - Wide::splat(1.0)
        };
        let (size, inverse) = (Vector::uniform([1.001; 3]), ray.direction.inverse());
        let (a, b) = ((-size - ray.origin) * inverse, (size - ray.origin) * inverse);
        let near = a.min(b).greatest().max(zero);
        let far = a.max(b).least().min(ray.to);
        let mut going = near.less(far);
        if !going.any() {
            return ray.result();
        }
        let step = (far - near) / Wide::splat(STEPS as f32);
        let mut found = ray;
        let (mut t0, mut v0) = (near, value(near));
        for i in 1..=STEPS {
            let t1 = near + Wide::splat(i as f32) * step;
            let v1 = value(t1);
            let changes = going & !v0.less(zero).equals(v1.less(zero));
            if changes.any() {
                let (mut from, mut to) = (t0, t1);
                for _ in 0..HALVINGS {
                    let middle = half * (from + to);
                    let is_before = value(middle).less(zero).equals(v0.less(zero));
                    (from, to) = (is_before.select(middle, from), is_before.select(to, middle));
                }
                let is_hit = found.hit(changes, half * (from + to));
                going = going & !is_hit;
                if !going.any() {
                    break;
                }
            }
            (t0, v0) = (t1, v1);
        }
        found.result()
    }
}
