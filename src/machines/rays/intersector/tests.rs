use glam::Vec3;

use super::*;
use crate::rays::arithmetic::{Commercial, Custom, Ieee, Unit};
use crate::rays::polygon::tests::Random;
use crate::rays::polygon::{Sides, TriangleCorners, bilinear};
use crate::rays::ray::RayKind;

fn request(origin: Vec3, direction: Vec3) -> Request {
    Request { origin, direction, limit: f32::INFINITY, kind: RayKind::Nearest }
}

fn trace<O: Operations>(ops: O, polygon: &Polygon, origin: Vec3, direction: Vec3) -> Outcome {
    intersect(ops, polygon, &IntersectorRay::from_request(&request(origin, direction)), f32::INFINITY)
}

/// The largest errors of `t` (relative) and of `u` and `v`, of rays aimed at random points of
/// random quadrilaterals of that size.
fn worst<O: Operations>(ops: O, size: f32, mut polygon: impl FnMut([Vec3; 4]) -> Option<Polygon>) -> [f32; 2] {
    let mut random = Random(10);
    let (mut worst_t, mut worst_uv) = (0.0f32, 0.0f32);
    let mut tested = 0;
    while tested < 20_000 {
        let corners = random.quad().map(|corner| corner * size);
        let Some(polygon) = polygon(corners) else { continue };
        let at = [random.unit(), random.unit()];
        let target = bilinear(corners, at);
        let origin = random.point() * 4.0 * size;
        let direction = (target - origin) * (0.5 + random.unit());
        let normal = Vec3::from_array(polygon.n_p);
        // At grazing angles the point of intersection is not well conditioned.
        if normal.dot(direction).abs() < 0.2 * direction.length() || normal.dot(target - origin).abs() < 0.1 * size {
            continue;
        }
        let t = (target - origin).length() / direction.length();
        let outcome = trace(ops, &polygon, origin, direction);
        let Outcome::Hit(hit) = outcome else { panic!("{outcome:?} {at:?} {corners:?}") };
        worst_t = worst_t.max((hit.t - t).abs() / t);
        worst_uv = worst_uv.max((hit.u - at[0]).abs()).max((hit.v - at[1]).abs());
        tested += 1;
    }
    [worst_t, worst_uv]
}

/// A polygon for 12-bit roots, if it has one.
fn twelve_bits(corners: [Vec3; 4]) -> Option<Polygon> {
    Polygon::from_quad(corners, Sides::Two).ok()
}

/// Of these the ones with exact equations: edges that are only nearly parallel have none.
fn exact(corners: [Vec3; 4]) -> Option<Polygon> {
    let is_exact = |polygon: &Polygon| polygon.u.case == Case::Quadratic && polygon.v.case == Case::Quadratic;
    twelve_bits(corners).filter(is_exact)
}

#[test]
fn ieee_arithmetic_finds_the_point_aimed_at() {
    for size in [0.001, 1.0, 1000.0] {
        let [t, uv] = worst(Ieee, size, exact);
        assert!(t < 2e-6 && uv < 2e-5, "{size}: {t:e}, {uv:e}");
    }
}

#[test]
fn commercial_arithmetic_finds_coordinates_to_11_bits_and_distances_to_18() {
    for size in [0.001, 1.0, 1000.0] {
        let [t, uv] = worst(Commercial, size, twelve_bits);
        assert!(uv < 1.0 / 2048.0 && uv > 1.0 / 16384.0, "{size}: {uv:e}");
        assert!(t < 64.0 * f32::EPSILON, "{size}: {t:e}");
    }
}

#[test]
fn custom_arithmetic_finds_both_to_single_precision() {
    let [t, uv] = worst(Custom, 1.0, exact);
    assert!(t < 4e-6 && uv < 4e-5, "{t:e}, {uv:e}");
}

#[test]
fn full_roots_hold_quadrilaterals_that_are_almost_parallelograms() {
    let [_, uv] = worst(Custom, 1.0, |corners| Polygon::from_quad_for(Unit::Custom, corners, Sides::Two).ok());
    assert!(uv < MARGIN, "{uv:e}");
}

fn square() -> [Vec3; 4] {
    [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y]
}

fn rejections<O: Operations>(ops: O) {
    let polygon = Polygon::from_quad(square(), Sides::Two).unwrap();
    let down = Vec3::NEG_Z;
    let trace = |x, y, direction| trace(ops, &polygon, Vec3::new(x, y, 1.0), direction);
    assert!(matches!(trace(0.25, 0.75, down), Outcome::Hit(_)));
    assert_eq!(trace(0.25, 0.75, Vec3::Z), Outcome::NoDistance);
    assert_eq!(trace(0.25, 0.75, Vec3::X), Outcome::NoDistance);
    assert_eq!(trace(-0.1, 0.5, down), Outcome::OutsideU);
    assert_eq!(trace(1.1, 2.0, down), Outcome::OutsideU);
    assert_eq!(trace(0.5, -0.1, down), Outcome::OutsideV);
    assert_eq!(trace(0.5, 1.1, down), Outcome::OutsideV);
    assert_eq!(trace(f32::NAN, 0.5, down), Outcome::NoDistance);
    let one = Polygon::from_quad(square(), Sides::One).unwrap();
    let ray = |z: f32| IntersectorRay::from_request(&request(Vec3::new(0.5, 0.5, z), Vec3::Z * -z));
    assert!(matches!(intersect(ops, &one, &ray(1.0), 2.0), Outcome::Hit(_)));
    assert_eq!(intersect(ops, &one, &ray(-1.0), 2.0), Outcome::NoDistance);
    assert!(matches!(intersect(ops, &polygon, &ray(-1.0), 2.0), Outcome::Hit(_)));
}

#[test]
fn each_step_rejects_what_it_should() {
    rejections(Commercial);
    rejections(Custom);
    rejections(Ieee);
}

#[test]
fn of_equal_distances_the_first_wins() {
    let polygon = Polygon::from_quad(square(), Sides::Two).unwrap();
    let ray = IntersectorRay::from_request(&request(Vec3::new(0.5, 0.5, 1.0), Vec3::NEG_Z));
    let Outcome::Hit(hit) = intersect(Commercial, &polygon, &ray, f32::INFINITY) else { panic!("no hit") };
    assert_eq!(intersect(Commercial, &polygon, &ray, hit.t), Outcome::NoDistance);
}

/// Rays through points on the common edge of two quadrilaterals or triangles: how many slip
/// through.
fn slipped<O: Operations>(ops: O, polygons: impl Fn(&mut Random) -> Option<[Polygon; 2]>) -> usize {
    let mut random = Random(20);
    let mut slipped = 0;
    let mut tested = 0;
    while tested < 20_000 {
        let Some(polygons) = polygons(&mut random) else { continue };
        let target = Vec3::Y * (2.0 * random.unit() - 1.0);
        let origin = target + Vec3::new(random.unit() - 0.5, random.unit() - 0.5, 1.0) * 2.0;
        let hit = |polygon| matches!(trace(ops, polygon, origin, target - origin), Outcome::Hit(_));
        slipped += usize::from(!polygons.iter().any(hit));
        tested += 1;
    }
    slipped
}

/// Two quadrilaterals left and right of the edge from −y to y.
fn neighbors(random: &mut Random) -> Option<[Polygon; 2]> {
    let mut side = |x: f32| {
        let mut far = |y: f32| Vec3::new(x * (0.2 + random.unit()), y * (0.2 + random.unit()), 0.0);
        Polygon::from_quad([far(-1.0), Vec3::NEG_Y, Vec3::Y, far(1.0)], Sides::Two).ok()
    };
    Some([side(-1.0)?, side(1.0)?])
}

/// Two triangles left and right of the same edge.
fn triangles(random: &mut Random) -> Option<[Polygon; 2]> {
    let mut side = |x: f32| {
        let apex = Vec3::new(x * (0.1 + random.unit()), random.unit() * 4.0 - 2.0, 0.0);
        Polygon::from_triangle([apex, Vec3::NEG_Y, Vec3::Y], Sides::Two).ok()
    };
    Some([side(-1.0)?, side(1.0)?])
}

#[test]
fn no_ray_slips_between_neighbors() {
    assert_eq!(slipped(Commercial, neighbors), 0);
    assert_eq!(slipped(Commercial, triangles), 0);
    assert_eq!(slipped(Custom, neighbors), 0);
    assert_eq!(slipped(Custom, triangles), 0);
    assert_eq!(slipped(Ieee, triangles), 0);
}

#[test]
fn no_ray_slips_between_triangles_away_from_the_origin() {
    let mut random = Random(40);
    let away = Vec3::new(3.0, -5.0, 2.0);
    for _ in 0..20_000 {
        let mut apex = |x: f32| away + Vec3::new(x * (0.1 + random.unit()), random.unit() - 0.5, 0.0);
        let (left, right) = (apex(-1.0), apex(1.0));
        let (top, bottom) = (away + Vec3::Y * 2.0, away - Vec3::Y * 2.0);
        let polygons = [[left, bottom, top], [right, top, bottom]]
            .map(|triangle| Polygon::from_triangle(triangle, Sides::Two).unwrap());
        let target = away + Vec3::Y * (random.unit() - 0.5) * 3.9;
        let origin = target + Vec3::new(random.unit() - 0.5, random.unit() - 0.5, 1.0) * 2.0;
        let hit = |polygon| matches!(trace(Commercial, polygon, origin, target - origin), Outcome::Hit(_));
        assert!(polygons.iter().any(hit), "{target}");
    }
}

/// A fourth corner in the middle of a side makes a quadrilateral whose equations for `u = 0` and
/// `v = 1` hold on all of the side's line: `u` and `v` do not depend on each other.
#[test]
fn a_ray_through_the_line_of_a_side_beyond_the_triangle_misses() {
    let mut random = Random(41);
    for _ in 0..20_000 {
        let triangle = [random.point(), random.point(), random.point()];
        if (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]).length() < 0.2 {
            continue;
        }
        let polygon = Polygon::from_triangle(triangle, Sides::Two).unwrap();
        for side in 0..3 {
            let [a, b] = [triangle[side], triangle[(side + 1) % 3]];
            let beyond = if random.unit() < 0.5 { -0.05 - random.unit() * 5.0 } else { 1.05 + random.unit() * 5.0 };
            let target = a + (b - a) * beyond;
            let origin = target + random.direction() * 3.0;
            let outcome = trace(Commercial, &polygon, origin, target - origin);
            assert!(!matches!(outcome, Outcome::Hit(_)), "{triangle:?} {beyond}");
        }
    }
}

#[test]
fn triangles_are_hit_where_barycentric_coordinates_say() {
    let mut random = Random(30);
    for _ in 0..20_000 {
        let triangle = [random.point(), random.point(), random.point()];
        let normal = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]);
        if normal.length() < 0.2 {
            continue;
        }
        let polygon = Polygon::from_triangle(triangle, Sides::Two).unwrap();
        let (a, b) = (0.01 + 0.98 * random.unit(), 0.01 + 0.98 * random.unit());
        let weights = [1.0 - a, a * (1.0 - b), a * b];
        let target = triangle[0] * weights[0] + triangle[1] * weights[1] + triangle[2] * weights[2];
        let origin = target + normal.normalize() * 2.0 + random.point();
        let Outcome::Hit(hit) = trace(Ieee, &polygon, origin, target - origin) else { panic!("{triangle:?}") };
        let found = TriangleCorners::new(triangle).barycentric(hit.u, hit.v);
        for (found, weight) in found.into_iter().zip(weights) {
            assert!((found - weight).abs() < 2e-3, "{found} {weight}");
        }
        assert!((Vec3::from_array(hit.point) - target).length() < 1e-5);
        assert!((hit.t - 1.0).abs() < 1e-5);
    }
}

#[test]
fn differences_formed_by_the_hardware_are_those_of_the_host() {
    let (r0, direction) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.5, -0.25, 8.0));
    let ray = IntersectorRay::from_points(Commercial, r0.to_array(), (r0 + direction).to_array());
    assert_eq!(ray, IntersectorRay::from_request(&request(r0, direction)));
    assert_eq!(ray.backward, (-direction).to_array());
}
