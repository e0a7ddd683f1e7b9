//! Ray–triangle tests.

use super::stage::{Flag, Idiom, KernelBuilder};
use super::tree::{Hit, Intersector, Ray, Triangle};
use shadewright_bvh::CULL_BACK;
use shadewright_ir::{Type, Value};

/// The watertight test of Woop, Benthin & Wald (2013), operation for operation that of
/// [`shadewright_bvh::triangle`].
#[derive(Clone, Copy, Debug)]
pub struct Watertight;

/// A ray as the watertight test takes it.
#[derive(Clone, Copy, Debug)]
pub struct Sheared {
    origin: Value,
    t_min: Value,
    order: Order,
    /// Shear of x and y, and the reciprocal of the direction's z.
    shear: [Value; 3],
}

/// How a vector's components are put in the order (kx, ky, kz), where kz is the axis of the
/// direction's largest component.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// By selection: whether kz is x, and whether it is y.
    Selected([Flag; 2]),
    /// By dot products with the unit vectors of the three axes, which select exactly and take an
    /// instruction of the RPU each. The sign of a zero is lost, on which no hit depends.
    Projected([Value; 3]),
}

impl Order {
    fn new(s: &mut KernelBuilder, dir: Value) -> Self {
        let size = s.b.abs(dir);
        let [x, y, z] = s.b.first_components(size);
        let (y_below, z_below) = (s.at_most(y, x), s.at_most(z, x));
        let is_x = s.and(y_below, z_below);
        let is_y = s.at_most(z, y);
        match s.idiom() {
            Idiom::Select => Self::Selected([is_x, is_y]),
            Idiom::Mask => {
                let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|v| s.b.vec3(v));
                let choose = |s: &mut KernelBuilder, if_x: Value, if_y: Value, if_z: Value| {
                    let axis = s.b.variable_with(if_z);
                    s.when(is_y, |s| s.b.write(axis, if_y));
                    s.when(is_x, |s| s.b.write(axis, if_x));
                    s.b.read(axis)
                };
                let [x, y, z] = unit;
                Self::Projected([choose(s, y, z, x), choose(s, z, x, y), choose(s, x, y, z)])
            }
        }
    }

    fn apply(&self, s: &mut KernelBuilder, vector: Value) -> [Value; 3] {
        match *self {
            Self::Selected([is_x, is_y]) => {
                let parts = s.b.first_components::<3>(vector);
                [0, 1, 2].map(|i| {
                    let unless_x = s.select(is_y, parts[(i + 2) % 3], parts[i]);
                    s.select(is_x, parts[(i + 1) % 3], unless_x)
                })
            }
            Self::Projected(axes) => axes.map(|axis| s.b.dot(vector, axis)),
        }
    }
}

impl Sheared {
    /// A vertex in the space where the ray starts at the origin and runs along z.
    fn apply(&self, s: &mut KernelBuilder, vertex: Value) -> [Value; 3] {
        let from_origin = s.b.sub(vertex, self.origin);
        let [x, y, z] = self.order.apply(s, from_origin);
        let sheared = [x, y].into_iter().zip(self.shear).map(|(p, shear)| {
            let moved = s.b.mul(shear, z);
            s.b.sub(p, moved)
        });
        let [x, y] = sheared.collect::<Vec<_>>()[..] else { unreachable!("two in, two out") };
        [x, y, z]
    }
}

/// The error of rounding `a * b`, by Dekker's product (1971) of halves of 12 bits.
fn product_error(s: &mut KernelBuilder, a: Value, b: Value) -> Value {
    let mut halves = |x: Value| {
        let (bits, upper) = (s.bits(x, Type::I32), s.b.i32(!0xfff));
        let high = s.b.iand(bits, upper);
        let high = s.bits(high, Type::F32);
        (high, s.b.sub(x, high))
    };
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let (product, highs) = (s.b.mul(a, b), s.b.mul(a_high, b_high));
    let mut error = s.b.sub(highs, product);
    for (x, y) in [(a_high, b_low), (a_low, b_high), (a_low, b_low)] {
        let part = s.b.mul(x, y);
        error = s.b.add(error, part);
    }
    error
}

/// The edge functions of three pairs of vertices; those that are zero are settled exactly.
fn edges(s: &mut KernelBuilder, pairs: [[[Value; 3]; 2]; 3]) -> [Value; 3] {
    let zero = s.b.f32(0.0);
    pairs.map(|[[px, py, _], [qx, qy, _]]| {
        let (first, second) = (s.b.mul(px, qy), s.b.mul(py, qx));
        let difference = s.b.sub(first, second);
        let edge = s.b.variable_with(difference);
        let undecided = s.equal(difference, zero);
        s.when(undecided, |s| {
            let (first, second) = (product_error(s, px, qy), product_error(s, py, qx));
            let exact = s.b.sub(first, second);
            s.b.write(edge, exact);
        });
        s.b.read(edge)
    })
}

/// True if no two edge functions have different signs. None is −0 after [`edges`].
fn inside(s: &mut KernelBuilder, edges: [Value; 3]) -> Flag {
    let zero = s.b.f32(0.0);
    match s.idiom() {
        Idiom::Select => {
            let positive = edges.map(|edge| s.at_most(zero, edge));
            let negative = edges.map(|edge| s.at_most(edge, zero));
            let (positive, negative) = (s.all(&positive), s.all(&negative));
            s.or(positive, negative)
        }
        Idiom::Mask => {
            let below = edges.map(|edge| s.sign(edge));
            // By their bits: passes need not keep the sign of a zero that floats are subtracted to.
            let none = s.b.i32(0);
            let above = edges.map(|edge| {
                let bits = s.bits(edge, Type::I32);
                let opposite = s.b.isub(none, bits);
                s.sign(opposite)
            });
            let (below, above) = (s.any(&below), s.any(&above));
            let both = s.and(below, above);
            s.not(both)
        }
    }
}

/// True if a triangle is one-sided and `facing`, a number that is negative where the ray comes from
/// behind, says so.
fn culled(s: &mut KernelBuilder, flags: Value, facing: Value) -> Flag {
    let (flags, mask, zero) = (s.bits(flags, Type::I32), s.b.i32(CULL_BACK as i32), s.b.i32(0));
    let one_sided = s.b.iand(flags, mask);
    let two_sided = s.equal(one_sided, zero);
    let one_sided = s.not(two_sided);
    let origin = s.b.f32(0.0);
    let behind = s.less(facing, origin);
    s.and(one_sided, behind)
}

/// True if a hit at `t` of a primitive replaces the best one.
fn nearer(s: &mut KernelBuilder, t: Value, prim: Value, t_min: Value, best: Hit) -> Flag {
    let (after, before) = (s.less(t_min, t), s.less(t, best.t));
    let (tied, lower) = (s.equal(t, best.t), s.less(prim, best.prim));
    let wins_tie = s.and(tied, lower);
    let before = s.or(before, wins_tie);
    s.and(after, before)
}

impl Intersector for Watertight {
    type Ray = Sheared;

    fn prepare(&self, s: &mut KernelBuilder, ray: &Ray) -> Sheared {
        let order = Order::new(s, ray.dir);
        let [x, y, z] = order.apply(s, ray.dir);
        let reciprocal = s.b.rcp(z);
        let shear = [x, y].map(|d| s.b.mul(d, reciprocal));
        Sheared { origin: ray.origin, t_min: ray.t_min, order, shear: [shear[0], shear[1], reciprocal] }
    }

    fn intersect(
        &self,
        s: &mut KernelBuilder,
        triangle: &Triangle,
        ray: &Sheared,
        best: Hit,
        on_hit: &mut dyn FnMut(&mut KernelBuilder, Hit),
    ) {
        let [a, b, c] = triangle.vertices.map(|vertex| ray.apply(s, vertex));
        let [u, v, w] = edges(s, [[c, b], [a, c], [b, a]]);
        let inside = inside(s, [u, v, w]);
        let both = s.b.add(u, v);
        let det = s.b.add(both, w);
        let zero = s.b.f32(0.0);
        let flat = s.equal(det, zero);
        let solid = s.not(flat);
        let facing = s.b.mul(det, ray.shear[2]);
        let hidden = culled(s, triangle.flags, facing);
        let visible = s.not(hidden);
        let inv = s.b.rcp(det);
        let scaled = [(u, a[2]), (v, b[2]), (w, c[2])].map(|(weight, z)| s.b.mul(weight, z));
        let sum = s.b.add(scaled[0], scaled[1]);
        let sum = s.b.add(sum, scaled[2]);
        let depth = s.b.mul(sum, ray.shear[2]);
        let t = s.b.mul(depth, inv);
        let nearer = nearer(s, t, triangle.prim, ray.t_min, best);
        let hit = s.all(&[inside, solid, visible, nearer]);
        s.when(hit, |s| {
            let [u, v] = [v, w].map(|weight| s.b.mul(weight, inv));
            on_hit(s, Hit { t, u, v, prim: triangle.prim });
        });
    }
}

/// The test of Möller & Trumbore (1997): for comparison, as rays pass between triangles that share
/// an edge. Its `t`, `u` and `v` differ from those of the watertight test by rounding.
#[derive(Clone, Copy, Debug)]
pub struct MollerTrumbore;

impl Intersector for MollerTrumbore {
    type Ray = Ray;

    fn prepare(&self, _: &mut KernelBuilder, ray: &Ray) -> Ray {
        *ray
    }

    fn intersect(
        &self,
        s: &mut KernelBuilder,
        triangle: &Triangle,
        ray: &Ray,
        best: Hit,
        on_hit: &mut dyn FnMut(&mut KernelBuilder, Hit),
    ) {
        let [a, b, c] = triangle.vertices;
        let (ab, ac) = (s.b.sub(b, a), s.b.sub(c, a));
        let p = s.b.cross(ray.dir, ac);
        let det = s.b.dot(ab, p);
        let inv = s.b.rcp(det);
        let from_a = s.b.sub(ray.origin, a);
        let q = s.b.cross(from_a, ab);
        let [u, v, t] = [(from_a, p), (ray.dir, q), (ac, q)].map(|(x, y)| {
            let product = s.b.dot(x, y);
            s.b.mul(product, inv)
        });
        let (zero, one) = (s.b.f32(0.0), s.b.f32(1.0));
        let sum = s.b.add(u, v);
        let (over_u, over_v, below) = (s.at_most(zero, u), s.at_most(zero, v), s.at_most(sum, one));
        // det is negative where the ray comes from behind.
        let hidden = culled(s, triangle.flags, det);
        let visible = s.not(hidden);
        let nearer = nearer(s, t, triangle.prim, ray.t_min, best);
        let hit = s.all(&[over_u, over_v, below, visible, nearer]);
        s.when(hit, |s| on_hit(s, Hit { t, u, v, prim: triangle.prim }));
    }
}
