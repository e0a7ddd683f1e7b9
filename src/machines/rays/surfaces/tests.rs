//! Surfaces against closed forms in double precision, in each arithmetic.

use super::general::General;
use super::net::Net;
use super::placement::{Placement, corners};
use super::quadric::Quadric;
use super::{Shape, Slots, Surface};
use crate::rays::arithmetic::{Commercial, Custom, Ieee, Operations};
use crate::rays::intersector::IntersectorRay;
use crate::rays::ray::{RayKind, Request};
use glam::{DAffine3, DQuat, DVec3, Vec3, Vec3Swizzles};
use shadewright_base::random::{hash, unit};

const BALL: [f64; 10] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0];
const ROD: [f64; 10] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -0.25];
const EVERYTHING: [f64; 10] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0];

/// A cube of a size at a place, turned.
fn cube(place: DVec3, size: f64) -> DAffine3 {
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 2.0);
    DAffine3::from_scale_rotation_translation(DVec3::splat(size), turn, place)
}

fn surface(cube: DAffine3, shape: Shape) -> Surface {
    Surface { placement: Placement::new(cube).expect("a placement"), shape }
}

fn quadric(coefficients: [f64; 10]) -> Quadric {
    Quadric::new(coefficients, DAffine3::IDENTITY).expect("a quadric")
}

fn rays(cube: DAffine3, count: u32) -> Vec<Request> {
    let mut seed = 0;
    let mut random = || {
        seed += 1;
        f64::from(unit(hash(seed)))
    };
    let mut point = |reach: f64| DVec3::new(random() - 0.5, random() - 0.5, random() - 0.5) * 2.0 * reach;
    let ray = |_| {
        let [from, to] = [point(4.0), point(1.2)].map(|p| cube.transform_point3(p).as_vec3());
        Request { origin: from, direction: to - from, limit: f32::INFINITY, kind: RayKind::Nearest }
    };
    (0..count).map(ray).collect()
}

/// The hits of a ray with the value of a function of the box's space changing sign, by small steps.
fn first_change(cube: DAffine3, request: &Request, is_in: impl Fn(DVec3) -> bool) -> Option<f64> {
    let inverse = cube.inverse();
    let at = |t: f64| inverse.transform_point3(request.origin.as_dvec3() + request.direction.as_dvec3() * t);
    let steps = 6000;
    let step = 2.5 / f64::from(steps);
    let start = is_in(at(0.0));
    (1..=steps).map(|i| f64::from(i) * step).find(|&t| is_in(at(t)) != start)
}

fn check<O: Operations>(ops: O, cube: DAffine3, surface: &Surface, is_in: impl Fn(DVec3) -> bool) {
    let (mut hits, mut differ) = (0, 0);
    for request in rays(cube, 600) {
        let found = surface.intersect(ops, &IntersectorRay::from_request(&request), 2.5);
        let expected = first_change(cube, &request, &is_in);
        hits += usize::from(found.is_some());
        let same = match (found, expected) {
            (Some(t), Some(e)) => (f64::from(t) - e).abs() < 2e-3,
            (None, None) => true,
            _ => false,
        };
        differ += usize::from(!same);
    }
    // Steps go over thin parts.
    assert!(hits > 150 && differ <= 6, "{hits} hits, {differ} differ");
}

fn in_each_arithmetic(cube: DAffine3, surface: &Surface, is_in: impl Fn(DVec3) -> bool) {
    check(Ieee, cube, surface, &is_in);
    check(Custom, cube, surface, &is_in);
    check(Commercial, cube, surface, &is_in);
}

#[test]
fn a_ball_is_hit_where_it_is_wherever_that_is() {
    for (place, size) in [(DVec3::ZERO, 1.0), (DVec3::new(700.0, -300.0, 40.0), 0.5)] {
        let cube = cube(place, size);
        let ball = surface(cube, Shape::Quadric(quadric(BALL)));
        in_each_arithmetic(cube, &ball, |p| p.length() < 1.0);
    }
}

#[test]
fn a_root_of_twelve_bits_is_refined() {
    let cube = cube(DVec3::new(0.2, 0.1, -0.4), 2.0);
    let ball = surface(cube, Shape::Quadric(quadric(BALL)));
    let inverse = cube.inverse();
    for request in rays(cube, 400) {
        let ray = IntersectorRay::from_request(&request);
        let Some(t) = ball.intersect(Commercial, &ray, f32::INFINITY) else { continue };
        let at = inverse.transform_point3((request.origin + request.direction * t).as_dvec3());
        // Rays that graze the ball are farther off: there t changes fast.
        let slope = at.normalize().dot(inverse.transform_vector3(request.direction.as_dvec3()).normalize()).abs();
        assert!((at.length() - 1.0).abs() * slope < 3e-5, "{at} {slope}");
    }
}

#[test]
fn a_box_cuts_a_quadric_and_its_back_is_hit_through_the_hole() {
    // A cylinder along z, of which the box has a part.
    let rod = surface(DAffine3::IDENTITY, Shape::Quadric(quadric(ROD)));
    let ray = |origin: [f32; 3], direction: [f32; 3]| {
        let request = Request {
            origin: Vec3::from(origin),
            direction: Vec3::from(direction),
            limit: f32::INFINITY,
            kind: RayKind::Nearest,
        };
        IntersectorRay::from_request(&request)
    };
    let hit = |ray: &IntersectorRay| rod.intersect(Commercial, ray, f32::INFINITY);
    let near = |found: Option<f32>, t: f32| found.is_some_and(|found| (found - t).abs() < 1e-5);
    assert!(near(hit(&ray([0.0, 3.0, 0.5], [0.0, -1.0, 0.0])), 2.5));
    // Above the box's side: in through the open end, to the far wall.
    assert!(near(hit(&ray([0.0, 1.4, 2.0], [0.0, -1.0, -1.0])), 1.9));
    assert_eq!(hit(&ray([0.0, 3.0, 1.5], [0.0, -1.0, 0.0])), None);
    // Along the axis, inside: never.
    assert_eq!(hit(&ray([0.1, 0.1, 3.0], [0.0, 0.0, -1.0])), None);
}

#[test]
fn net_volumes_are_where_positive_ones_outweigh_negative_ones() {
    let cube = cube(DVec3::new(3.0, -1.0, 2.0), 0.7);
    let turned = |own: [f64; 10]| [own[7], 0.0, 0.0, 0.0, own[4], 0.0, 0.0, own[0], 0.0, own[9]];
    let [ball, along_z, along_x] = [BALL, ROD, turned(ROD)].map(quadric);
    let drilled = Net { terms: vec![(ball, 1.0), (along_z, -1.0), (along_x, -1.0)] };
    let is_in = |p: DVec3| {
        let (x, z) = (p.yz().length() < 0.5, p.xy().length() < 0.5);
        p.length() < 1.0 && !x && !z
    };
    in_each_arithmetic(cube, &surface(cube, Shape::Net(drilled)), is_in);
    let block = Net { terms: vec![(quadric(EVERYTHING), 1.0), (along_z, -1.0)] };
    let is_in = |p: DVec3| p.abs().max_element() < 1.0 && p.xy().length() > 0.5;
    in_each_arithmetic(cube, &surface(cube, Shape::Net(block)), is_in);
}

#[test]
fn a_concave_polygon_is_hit_inside_its_outline_alone() {
    let cube = cube(DVec3::new(-2.0, 1.0, 5.0), 1.5);
    // A C: a square without a bite from the right.
    let outline =
        [[-1.0, -1.0], [1.0, -1.0], [1.0, -0.4], [-0.4, -0.4], [-0.4, 0.4], [1.0, 0.4], [1.0, 1.0], [-1.0, 1.0]];
    let polygon = General { corners: outline.map(|[x, y]| [x as f32, y as f32, 0.0]).to_vec() };
    let surface = surface(cube, Shape::General(polygon));
    assert_eq!(surface.slots(), Slots { quadrics: 0, edges: 8 });
    let inverse = cube.inverse();
    let mut hits = 0;
    for request in rays(cube, 800) {
        let ray = IntersectorRay::from_request(&request);
        let [origin, direction] = [
            inverse.transform_point3(request.origin.as_dvec3()),
            inverse.transform_vector3(request.direction.as_dvec3()),
        ];
        let t = -origin.z / direction.z;
        let p = origin + direction * t;
        let in_square = p.x.abs().max(p.y.abs()) < 1.0;
        let in_bite = p.x > -0.4 && p.y.abs() < 0.4;
        let expected = t >= 0.0 && in_square && !in_bite;
        let found = [surface.intersect(Ieee, &ray, f32::INFINITY), surface.intersect(Commercial, &ray, f32::INFINITY)];
        for found in found {
            assert_eq!(found.is_some(), expected, "{p}");
            assert!(found.is_none_or(|found| (f64::from(found) - t).abs() < 1e-4 * t.max(1.0)));
        }
        hits += usize::from(expected);
    }
    assert!(hits > 80, "{hits}");
}

#[test]
fn the_body_around_a_surface_has_its_corners_in_order() {
    let map = DAffine3::from_scale_rotation_translation(DVec3::new(1.0, 2.0, 3.0), DQuat::IDENTITY, DVec3::ONE);
    let all = corners(map);
    assert_eq!(
        (all[0], all[1], all[6], all[7]),
        (Vec3::new(0.0, -1.0, -2.0), Vec3::new(2.0, -1.0, -2.0), Vec3::new(0.0, 3.0, 4.0), Vec3::new(2.0, 3.0, 4.0))
    );
}
