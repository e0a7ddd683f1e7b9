//! Polygons, rays and a test of polygons, for the tests of structures.

use super::oriented::OrientedBox;
use super::{All, Structure, Visitor};
use crate::rays::ray::{ModelHit, RayKind, Request};
use glam::{Quat, Vec3};
use shadewright_base::random::{hash, unit};

/// A sequence of random numbers.
pub struct Random(u32);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u32) -> Self {
        Self(hash(seed))
    }

    /// A number from 0 up to but not including 1.
    pub fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        unit(hash(self.0))
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        (self.unit() * n as f32) as u32
    }

    /// A point of the cube from −1 to 1.
    pub fn point(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }

    /// A unit quaternion, evenly distributed (Shoemake 1992).
    pub fn rotation(&mut self) -> Quat {
        let (u, v, w) = (self.unit(), self.unit() * std::f32::consts::TAU, self.unit() * std::f32::consts::TAU);
        let (p, q) = ((1.0 - u).sqrt(), u.sqrt());
        Quat::from_xyzw(p * v.sin(), p * v.cos(), q * w.sin(), q * w.cos()).normalize()
    }

    /// An oriented box in about that cube.
    pub fn oriented(&mut self) -> OrientedBox {
        let rotation = self.rotation();
        let axes = Vec3::AXES.map(|axis| rotation * axis);
        OrientedBox { center: self.point() * 0.5, axes, half: Vec3::splat(0.05) + self.point().abs() * 0.6 }
    }

    /// A convex planar quadrilateral or a triangle in about that cube, with sides up to `size`: a
    /// parallelogram with a corner cut back, a triangle that repeats its last corner, or one whose
    /// second corner is the middle of a side.
    pub fn polygon(&mut self, size: f32) -> [Vec3; 4] {
        let (p, a, b) = (self.point(), self.point() * size, self.point() * size);
        match self.below(3) {
            0 => [p, p + a, p + a + b * (0.3 + 0.7 * self.unit()), p + b],
            1 => [p, p + a, p + b, p + b],
            _ => [p, p + a * 0.5, p + a, p + b],
        }
    }

    /// Polygons of all sizes up to `size`, a quarter of them in planes of a lattice of eighths.
    pub fn soup(&mut self, count: usize, size: f32) -> Vec<[Vec3; 4]> {
        let polygon = |_| {
            let scale = self.unit();
            let mut polygon = self.polygon(size * scale * scale);
            if self.below(4) == 0 {
                let (axis, plane) = (self.below(3) as usize, (self.below(17) as f32 - 8.0) / 8.0);
                polygon.iter_mut().for_each(|corner| corner[axis] = plane);
            }
            polygon
        };
        (0..count).map(polygon).collect()
    }

    /// Cubes of one size at random places of the unit cube, each turned at random: the scene of
    /// Ullner 1983, fig. 2-19, where there are 83.
    pub fn cubes(&mut self, count: usize, edge: f32) -> Vec<[Vec3; 4]> {
        let mut polygons = Vec::new();
        for _ in 0..count {
            let rotation = self.rotation();
            let center = self.point() * 0.5 + 0.5;
            let axes = Vec3::AXES.map(|axis| rotation * axis);
            let cube = OrientedBox { center, axes, half: Vec3::splat(0.5 * edge) };
            polygons.extend(faces(&cube));
        }
        polygons
    }

    /// A ray from in or around that cube: through it, in any direction, along one axis or two, in a
    /// plane of the lattice of eighths, between its corners, or towards a corner of a polygon.
    pub fn ray(&mut self, polygons: &[[Vec3; 4]]) -> Request {
        let (mut origin, mut direction) = (self.point() * 1.6, self.point());
        let eighths = |p: Vec3| (p * 8.0).round() / 8.0;
        match self.below(9) {
            0 => direction[self.below(3) as usize] = 0.0,
            1 => direction = Vec3::AXES[self.below(3) as usize] * if self.below(2) == 0 { 1.0 } else { -1.0 },
            2 => {
                let axis = self.below(3) as usize;
                origin[axis] = eighths(origin)[axis];
                direction[axis] = 0.0;
            }
            3 => {
                origin = eighths(origin);
                direction = eighths(direction);
            }
            4 if !polygons.is_empty() => {
                direction = polygons[self.below(polygons.len() as u32) as usize][self.below(4) as usize] - origin;
            }
            5 => {}
            _ => direction = self.point() - origin,
        }
        if direction == Vec3::ZERO {
            direction = Vec3::X;
        }
        request(origin, direction)
    }
}

/// The six faces of a box.
pub fn faces(oriented: &OrientedBox) -> [[Vec3; 4]; 6] {
    std::array::from_fn(|number| {
        let (axis, sign) = (number / 2, if number.is_multiple_of(2) { -1.0 } else { 1.0 });
        let half = |axis: usize| oriented.axes[axis % 3] * oriented.half[axis % 3];
        let (middle, p, q) = (oriented.center + sign * half(axis), half(axis + 1), half(axis + 2));
        [middle - p - q, middle + p - q, middle + p + q, middle - p + q]
    })
}

/// A ray without an end that asks for its nearest hit.
pub fn request(origin: Vec3, direction: Vec3) -> Request {
    Request { origin, direction, limit: f32::INFINITY, kind: RayKind::Nearest }
}

/// The hit of a polygon below `best`, with errors like those of the hardware: `t` from the plane in
/// single precision, and points up to 2⁻¹¹ of its size outside the polygon.
pub fn hit(polygon: &[Vec3; 4], index: u32, request: &Request, best: f32) -> Option<ModelHit> {
    let [a, b, c, d] = *polygon;
    let normal = (c - a).cross(d - b).try_normalize()?;
    let t = (normal.dot(a) - normal.dot(request.origin)) / normal.dot(request.direction);
    if !(0.0..best).contains(&t) {
        return None;
    }
    let point = request.origin + t * request.direction;
    let longest = [b - a, c - b, d - c, a - d].map(Vec3::length).into_iter().fold(0.0, f32::max);
    let is_inside = [(a, b), (b, c), (c, d), (d, a)].iter().all(|&(p, q)| {
        let outward = (q - p).cross(normal).normalize_or_zero();
        outward.dot(point - p) <= longest / 2048.0
    });
    is_inside.then_some(ModelHit { index, t, point: point.to_array() })
}

/// The work of rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Polygons tested, again where they come again.
    pub polygons: u64,
    /// Bounding boxes tested.
    pub boxes: u64,
    /// Cells or leaves entered.
    pub cells: u64,
    /// Entered cells or leaves that hold polygons.
    pub occupied: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.polygons += other.polygons;
        self.boxes += other.boxes;
        self.cells += other.cells;
        self.occupied += other.occupied;
    }
}

/// Searches for a ray's hit among polygons.
struct Search<'a> {
    polygons: &'a [[Vec3; 4]],
    request: &'a Request,
    best: f32,
    found: Option<ModelHit>,
    work: Work,
}

impl Visitor for Search<'_> {
    fn polygon(&mut self, index: u32) -> f32 {
        self.work.polygons += 1;
        // A hit at the same distance counts if its polygon comes before that of the best hit.
        let wins_ties = self.found.is_some_and(|found| index < found.index);
        let below = if wins_ties { self.best.next_up() } else { self.best };
        if let Some(found) = hit(&self.polygons[index as usize], index, self.request, below) {
            self.best = found.t;
            self.found = Some(found);
            if self.request.kind == RayKind::Any {
                return f32::NEG_INFINITY;
            }
        }
        self.best
    }

    fn boxes(&mut self, count: u32) {
        self.work.boxes += u64::from(count);
    }

    fn cell(&mut self, polygons: u32) {
        self.work.cells += 1;
        self.work.occupied += u64::from(polygons > 0);
    }
}

/// Finds the hit of a ray by way of a structure, and the work of that.
pub fn trace(structure: &impl Structure, polygons: &[[Vec3; 4]], request: &Request) -> (Option<ModelHit>, Work) {
    let mut search = Search { polygons, request, best: request.limit, found: None, work: Work::default() };
    structure.visit(request, &mut search);
    (search.found, search.work)
}

/// Finds the hit of a ray by testing it against all polygons.
pub fn trace_all(polygons: &[[Vec3; 4]], request: &Request) -> Option<ModelHit> {
    trace(&All { polygons: polygons.len() as u32 }, polygons, request).0
}

/// Asserts that a structure gives the hits of all polygons, bit by bit, for rays of every kind;
/// gives the number of hits and the work.
pub fn assert_same_hits(
    structure: &impl Structure,
    polygons: &[[Vec3; 4]],
    rays: &[Request],
    what: &str,
) -> (usize, Work) {
    let (mut hits, mut work) = (0, Work::default());
    for ray in rays {
        let expected = trace_all(polygons, ray);
        let (found, own) = trace(structure, polygons, ray);
        assert_eq!(found, expected, "{what}: {ray:?}");
        work += own;
        hits += usize::from(found.is_some());
        let any = Request { kind: RayKind::Any, ..*ray };
        assert_eq!(trace(structure, polygons, &any).0.is_some(), expected.is_some(), "{what}, any hit: {ray:?}");
        if let Some(found) = expected {
            // The limit is exclusive: a hit that ends there is none.
            for limit in [found.t, found.t.next_up()] {
                let short = Request { limit, ..*ray };
                assert_eq!(trace(structure, polygons, &short).0, trace_all(polygons, &short), "{what}: {short:?}");
            }
        }
    }
    (hits, work)
}
