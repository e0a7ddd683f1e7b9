//! The intersector's chip beside the simulators' intersector.

use super::*;
use crate::rays::intersector::{self, IntersectorRay, Outcome};
use crate::rays::polygon::tests::Random;
use crate::rays::polygon::{Case, Polygon, Sides, bilinear};
use crate::rays::silicon::run::{ChipHit, RayTest};
use glam::Vec3;

/// Polygons of all kinds: quadrilaterals with and without parallel edges, parallelograms and triangles.
pub(super) fn polygons(count: usize, random: &mut Random) -> Vec<([Vec3; 4], Polygon)> {
    let mut polygons = Vec::new();
    while polygons.len() < count {
        let mut corners = random.quad();
        let sides = if polygons.len() % 3 == 0 { Sides::One } else { Sides::Two };
        let unit = if polygons.len() % 2 == 0 { Unit::Custom } else { Unit::Commercial };
        let polygon = match polygons.len() % 5 {
            4 => Polygon::from_triangle([corners[0], corners[1], corners[2]], sides),
            3 => {
                corners[3] = corners[0] + corners[2] - corners[1];
                Polygon::from_quad_for(unit, corners, sides)
            }
            _ => Polygon::from_quad_for(unit, corners, sides),
        };
        polygons.extend(polygon.ok().map(|polygon| (corners, polygon)));
    }
    polygons
}

/// Rays to points of the polygons and beside them, some parallel to them, some that begin behind them, some
/// with a hit nearer already, and some that are not numbers.
pub(super) fn tests<'a>(polygons: &'a [([Vec3; 4], Polygon)], random: &mut Random) -> Vec<RayTest<'a>> {
    let mut tests = Vec::new();
    for (i, (corners, polygon)) in polygons.iter().enumerate() {
        let origin = random.point() * 3.0;
        let at = [0; 2].map(|_| random.unit() * 1.4 - 0.2);
        let target = match i % 16 {
            0 => origin + (corners[1] - corners[0]),
            1 => origin * 2.0 - bilinear(*corners, at),
            2 => corners[i / 16 % 4],
            _ => bilinear(*corners, at),
        };
        let end = origin + (target - origin) * (0.3 + random.unit());
        let best = if i % 4 == 0 { random.unit() * 3.0 } else { f32::INFINITY };
        let mut points = [origin.to_array(), end.to_array()];
        if i % 64 == 3 {
            points[i / 64 % 2][i % 3] = f32::NAN;
        }
        tests.push(RayTest { polygon, points, best });
    }
    tests
}

/// All that the simulators' intersector computes for a test.
pub(super) fn wanted<O: Operations>(ops: O, test: &RayTest) -> (ChipHit, Outcome) {
    let RayTest { polygon, points: [r0, r1], best } = *test;
    let ray = IntersectorRay::from_points(ops, r0, r1);
    let distance = intersector::distance(ops, polygon, &ray);
    let point = intersector::point(ops, &ray, distance.t);
    let [u, v] = [&polygon.u, &polygon.v].map(|equation| intersector::coordinate(ops, equation, point));
    let counts = intersector::accepts(polygon, distance, best);
    (ChipHit { t: distance.t, point, u, v, counts }, intersector::intersect(ops, polygon, &ray, best))
}

pub(super) fn bits(found: &ChipHit) -> [u32; 7] {
    let [x, y, z] = found.point;
    let canonical = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    let [t, x, y, z, u, v] = [found.t, x, y, z, found.u, found.v].map(canonical);
    [t, x, y, z, u, v, found.counts.into()]
}

/// Runs the chip, and counts outcomes: no distance, outside, hits in the parallel case and in the other.
fn check<O: Operations>(ops: O, arithmetic: Arithmetic, count: usize) -> [usize; 4] {
    let mut random = Random(count as u32);
    let polygons = polygons(count, &mut random);
    let tests = tests(&polygons, &mut random);
    let circuit = optimized(&programs::intersector(arithmetic));
    let outputs = run::simulated(&circuit, &run::streams(&tests)).unwrap();
    let all = run::found(&outputs);
    assert_eq!(all.len(), count);
    let mut outcomes = [0; 4];
    for (test, found) in tests.iter().zip(&all) {
        let (wanted, outcome) = wanted(ops, test);
        assert_eq!(bits(found), bits(&wanted), "{test:?}");
        assert_eq!(found.outcome(), outcome);
        let quadratic = test.polygon.u.case == Case::Quadratic;
        outcomes[match outcome {
            Outcome::NoDistance => 0,
            Outcome::OutsideU | Outcome::OutsideV => 1,
            Outcome::Hit(_) if !quadratic => 2,
            Outcome::Hit(_) => 3,
        }] += 1;
    }
    outcomes
}

#[test]
fn the_custom_chip_finds_what_the_simulators_find() {
    let outcomes = check(Custom, Arithmetic::Unrolled, 500);
    assert!(outcomes.iter().all(|&count| count > 25), "{outcomes:?}");
}

#[test]
fn the_chip_of_loops_finds_what_the_simulators_find() {
    let outcomes = check(Custom, Arithmetic::Registers, 125);
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn the_commercial_chip_finds_what_the_simulators_find() {
    let outcomes = check(Commercial, Arithmetic::Commercial, 1000);
    assert!(outcomes.iter().all(|&count| count > 50), "{outcomes:?}");
}
