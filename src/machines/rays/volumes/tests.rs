//! Every structure gives the hits that testing all polygons gives.

use super::bounds::{Bounds, REACH, SLACK, growth};
use super::hierarchy::{Hierarchy, Volume};
use super::line::Line;
use super::samples::{Random, Work, assert_same_hits, request, trace, trace_all};
use super::{All, Structure, StructureError, bvh, octree, oriented};
use crate::rays::grid::{Grid, Lattice};
use crate::rays::ray::{RayKind, Request};
use glam::Vec3;

/// A binary tree over polygons in their order, halved again and again: a poor one, but a tree.
fn halved(polygons: &[[Vec3; 4]]) -> Hierarchy<Bounds> {
    let boxes = |range: &std::ops::Range<u32>| {
        Bounds::around(&polygons[range.start as usize..range.end as usize]).expect("there are some")
    };
    let all = 0..polygons.len() as u32;
    let mut ranges = vec![all];
    let mut nodes = Vec::new();
    while let Some(range) = ranges.get(nodes.len()).cloned() {
        let bounds = boxes(&range);
        let link = if range.len() <= 4 {
            bvh::Link::Polygons { first: range.start, count: range.len() as u32 }
        } else {
            let middle = u32::midpoint(range.start, range.end);
            let first = ranges.len() as u32;
            ranges.extend([range.start..middle, middle..range.end]);
            bvh::Link::Children([first, first + 1])
        };
        nodes.push(bvh::Node { bounds, link });
    }
    bvh::hierarchy(&nodes, (0..polygons.len() as u32).collect()).expect("it is a tree")
}

fn grid(polygons: &[[Vec3; 4]], counts: [u32; 3]) -> Grid {
    let lattice = Lattice::new(Bounds::around(polygons).unwrap(), counts).unwrap();
    Grid::new(lattice, polygons, 1 << 24).unwrap()
}

fn assert_all_structures(polygons: &[[Vec3; 4]], rays: &[Request], what: &str) -> usize {
    let octree = octree::build(polygons, &octree::OctreeOptions::default()).unwrap();
    let oriented = oriented::build(polygons, 4).unwrap();
    let (hits, _) = assert_same_hits(&octree, polygons, rays, &format!("octree, {what}"));
    assert_same_hits(&oriented, polygons, rays, &format!("oriented boxes, {what}"));
    assert_same_hits(&halved(polygons), polygons, rays, &format!("binary tree, {what}"));
    for counts in [[1, 1, 1], [8, 8, 8], [16, 5, 1], [3, 33, 21]] {
        assert_same_hits(&grid(polygons, counts), polygons, rays, &format!("grid of {counts:?}, {what}"));
    }
    hits
}

#[test]
fn the_nearest_hit_is_that_of_all_polygons_in_every_structure() {
    let mut hits = 0;
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let polygons = random.soup(150, 0.9);
        let rays: Vec<_> = (0..700).map(|_| random.ray(&polygons)).collect();
        hits += assert_all_structures(&polygons, &rays, &format!("soup {seed}"));
    }
    assert!((1500..3000).contains(&hits), "{hits} of 4200 rays hit");
}

#[test]
fn the_nearest_hit_is_that_of_all_polygons_at_any_scale_and_away_from_the_origin() {
    for (scale, offset) in [(1000.0, 0.0), (0.001, 0.0), (1.0, 50.0), (1e8, 0.0), (1e-8, 0.0), (1e-3, -7.0)] {
        let mut random = Random::new(21);
        let place = |p: Vec3| p * scale + Vec3::new(offset, -offset, 0.5 * offset);
        let polygons = random.soup(100, 0.7);
        let rays: Vec<_> = (0..500).map(|_| random.ray(&polygons)).collect();
        let polygons: Vec<_> = polygons.iter().map(|polygon| polygon.map(place)).collect();
        // Directions of another length than the scene's.
        let moved = |ray: &Request| Request { origin: place(ray.origin), direction: ray.direction * 3.7, ..*ray };
        let rays: Vec<_> = rays.iter().map(moved).collect();
        let hits = assert_all_structures(&polygons, &rays, &format!("scale {scale}, offset {offset}"));
        assert!(hits > 120, "{hits} hits at scale {scale}, offset {offset}");
    }
}

#[test]
fn rays_may_start_as_far_away_as_the_margin_allows() {
    let mut random = Random::new(5);
    // The small ones have little room but the margin.
    for size in [0.5, 0.002] {
        let polygons = random.soup(300, size);
        let reach = REACH * Bounds::around(&polygons).unwrap().scale();
        let from_afar = |_| {
            let origin = (random.point() + 1e-3).normalize() * reach;
            let [a, _, c, _] = polygons[random.below(300) as usize];
            request(origin, (a + c) * 0.5 - origin)
        };
        let rays: Vec<_> = (0..1000).map(from_afar).collect();
        let hits = assert_all_structures(&polygons, &rays, "from a distance");
        assert!(hits > 600, "{hits}");
    }
}

#[test]
fn a_hit_beside_its_polygon_is_found_behind_the_border_of_its_cell() {
    // Layers that end a little before the plane in the middle, and others to make the space even.
    let layer =
        |z: f32, low: f32, high: f32| [[low, -1.0, z], [high, -1.0, z], [high, 1.0, z], [low, 1.0, z]].map(Vec3::from);
    let heights = || (0..24).map(|i| i as f32 / 12.0 - 1.0);
    let left = heights().map(|z| layer(z, -1.0, -2e-4));
    let polygons: Vec<_> = left.chain(heights().map(|z| layer(z, 0.5, 1.0))).collect();
    let rays = [-3.0, -0.99, 0.3, 0.9].map(|z| request(Vec3::new(2e-4, 0.3, z), Vec3::Z));
    assert_eq!(assert_all_structures(&polygons, &rays, "beside"), 4);
}

#[test]
fn of_polygons_that_a_ray_starts_on_the_first_is_hit() {
    let fan = |angle: f32| {
        let (sin, cos) = angle.sin_cos();
        [Vec3::ZERO, Vec3::new(cos, sin, 0.0), Vec3::new(cos, sin, 1.0), Vec3::Z]
    };
    let polygons: Vec<_> = (0..20).rev().map(|i| fan(i as f32 * 0.3)).collect();
    let rays: Vec<_> = (0..20).map(|i| request(Vec3::Z * 0.5, fan(i as f32 * 0.3 + 0.1)[1])).collect();
    assert_all_structures(&polygons, &rays, "a fan");
    assert!(rays.iter().all(|ray| trace_all(&polygons, ray).is_some_and(|found| (found.t, found.index) == (0.0, 0))));
}

#[test]
fn a_ray_along_a_face_inside_the_box_is_in_the_box() {
    let bounds = Bounds { min: Vec3::ZERO, max: Vec3::ONE }.grown(1e-6);
    for direction in [Vec3::X, Vec3::NEG_X, Vec3::new(1.0, 1e-30, 0.0), Vec3::new(1.0, -0.0, -1e-12)] {
        for corner in [Vec3::ZERO, Vec3::Y, Vec3::Z, Vec3::new(0.0, 1.0, 1.0)] {
            let x = if direction.x > 0.0 { -1.0 } else { 2.0 };
            let line = Line::new(&request(corner.with_x(x), direction)).unwrap();
            let t = bounds.enter(&line, f32::INFINITY).unwrap();
            assert!((t - 1.0).abs() < 2e-6, "{t}: {corner} {direction}");
            assert_eq!(bounds.enter(&line, 0.5), None, "beyond the best hit");
        }
    }
}

#[test]
fn of_polygons_in_the_same_place_the_first_is_hit() {
    let mut random = Random::new(11);
    let mut polygons = random.soup(60, 0.8);
    let copies: Vec<_> = polygons.iter().rev().copied().collect();
    polygons.extend(copies);
    let rays: Vec<_> = (0..400).map(|_| random.ray(&polygons)).collect();
    assert_all_structures(&polygons, &rays, "each polygon twice");
    assert!(rays.iter().filter_map(|ray| trace_all(&polygons, ray)).all(|found| found.index < 60));
}

#[test]
fn flat_scenes_and_single_polygons_are_fine() {
    let flat: Vec<[Vec3; 4]> = (0..25)
        .map(|i| {
            let corner = Vec3::new((i % 5) as f32, (i / 5) as f32, 2.0);
            [corner, corner + Vec3::X, corner + Vec3::X + Vec3::Y, corner + Vec3::Y]
        })
        .collect();
    let mut random = Random::new(2);
    let rays: Vec<_> = (0..400).map(|_| request(random.point() * 6.0, random.point())).collect();
    assert_all_structures(&flat, &rays, "flat");
    assert_all_structures(&flat[..1], &rays, "one polygon");
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let polygon = [Vec3::ZERO, Vec3::X, Vec3::ONE, Vec3::Y];
    let with = |corner: Vec3| Bounds::around(&[polygon, [Vec3::ZERO, Vec3::X, corner, Vec3::Y]]).err();
    assert_eq!(Bounds::around::<[Vec3; 4]>(&[]).err(), Some(StructureError::Empty));
    assert_eq!(with(Vec3::ONE), None);
    for broken in [f32::NAN, f32::INFINITY, -f32::INFINITY, 2e9] {
        assert_eq!(with(Vec3::new(0.5, broken, 0.5)), Some(StructureError::Coordinates), "{broken}");
    }
    assert!(oriented::build::<[Vec3; 4]>(&[], 4).is_err());
    assert!(octree::build::<[Vec3; 4]>(&[], &octree::OctreeOptions::default()).is_err());
}

#[test]
fn rays_without_a_direction_get_no_work() {
    let polygons = Random::new(1).soup(20, 0.5);
    let all = All { polygons: 20 };
    let octree = octree::build(&polygons, &octree::OctreeOptions::default()).unwrap();
    let grid = grid(&polygons, [4, 4, 4]);
    for (origin, direction) in [
        (Vec3::ZERO, Vec3::ZERO),
        (Vec3::ZERO, Vec3::new(f32::NAN, 1.0, 0.0)),
        (Vec3::ZERO, Vec3::new(f32::INFINITY, 1.0, 0.0)),
        (Vec3::new(0.0, f32::NAN, 0.0), Vec3::X),
        (Vec3::splat(f32::INFINITY), Vec3::X),
        (Vec3::ZERO, Vec3::splat(1e-30)),
    ] {
        let ray = request(origin, direction);
        assert!(Line::new(&ray).is_none());
        assert_eq!(trace(&all, &polygons, &ray), (None, Work::default()));
        assert_eq!(trace(&octree, &polygons, &ray), (None, Work::default()));
        assert_eq!(trace(&grid, &polygons, &ray), (None, Work::default()));
    }
}

#[test]
fn a_ray_that_asks_for_any_hit_does_less_work() {
    let mut random = Random::new(9);
    let polygons = random.soup(400, 0.4);
    let octree = octree::build(&polygons, &octree::OctreeOptions::default()).unwrap();
    let (mut nearest, mut any) = (Work::default(), Work::default());
    for _ in 0..500 {
        let ray = random.ray(&polygons);
        nearest += trace(&octree, &polygons, &ray).1;
        any += trace(&octree, &polygons, &Request { kind: RayKind::Any, ..ray }).1;
    }
    assert!(any.polygons < nearest.polygons && any.cells <= nearest.cells, "{any:?} {nearest:?}");
}

#[test]
fn structures_save_most_of_the_tests() {
    let mut random = Random::new(83);
    let polygons = random.cubes(83, 0.12);
    let eye = Vec3::new(0.5, 0.5, -2.0);
    let pixel = |i: u32| request(eye, Vec3::new((i % 24) as f32 / 24.0, (i / 24) as f32 / 24.0, 0.0) - eye);
    let rays: Vec<_> = (0..576).map(pixel).collect();
    let tests_a_ray = |structure: &dyn Fn(&Request) -> Work| {
        rays.iter().map(|ray| structure(ray).polygons).sum::<u64>() as f64 / rays.len() as f64
    };
    let grid = Grid::cube(&polygons, 10, 1 << 20).unwrap();
    let octree = octree::build(&polygons, &octree::OctreeOptions::default()).unwrap();
    let oriented = oriented::build(&polygons, 4).unwrap();
    let counts = [
        tests_a_ray(&|ray| trace(&grid, &polygons, ray).1),
        tests_a_ray(&|ray| trace(&octree, &polygons, ray).1),
        tests_a_ray(&|ray| trace(&oriented, &polygons, ray).1),
    ];
    assert!(counts.iter().all(|&tests| tests < 498.0 / 20.0), "{counts:?}");
}

#[test]
fn a_box_around_polygons_has_room_for_their_slack() {
    let polygon = [Vec3::ZERO, Vec3::X * 2.0, Vec3::new(2.0, 1.0, 0.0), Vec3::Y];
    // The point at u = 1 + slack, v = 1 + slack of the rectangle.
    let corner = Vec3::new(2.0, 1.0, 0.0) * (1.0 + SLACK);
    assert!((corner - polygon[2]).length() < growth(&polygon));
    let bounds = Bounds::around(&[polygon]).unwrap();
    assert!(bounds.contains(&Bounds { min: corner, max: corner }));
}

#[test]
fn a_structure_hands_out_the_work_of_a_limited_ray_no_further_than_its_limit() {
    let polygons = Random::new(4).soup(50, 0.3);
    let grid = grid(&polygons, [10, 1, 1]);
    let ray = |limit| Request { limit, kind: RayKind::Any, ..request(Vec3::new(-5.0, 0.0, 0.0), Vec3::X) };
    let cells = |limit| {
        let mut cells = Vec::new();
        grid.visit(&ray(limit), &mut Recorder { cells: &mut cells, limit });
        cells.len()
    };
    assert_eq!(cells(f32::INFINITY), 10);
    assert_eq!(cells(5.0), 5 + usize::from(grid.lattice().plane(0, 5) < 0.0));
    assert_eq!(cells(1.0), 1, "the ray ends before the grid: only then does the walk see that");
}

/// Sees the cells and hits nothing.
struct Recorder<'a> {
    cells: &'a mut Vec<u32>,
    limit: f32,
}

impl super::Visitor for Recorder<'_> {
    fn polygon(&mut self, _: u32) -> f32 {
        self.limit
    }

    fn boxes(&mut self, _: u32) {}

    fn cell(&mut self, polygons: u32) {
        self.cells.push(polygons);
    }
}
