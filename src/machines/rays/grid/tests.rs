//! The walk against a search of all cells in double precision, and the lists against a test of all
//! pairs.

use super::*;
use crate::rays::volumes::samples::{Random, hit, request, trace_all};
use glam::Vec3;

/// A lattice whose planes are at the given places, without the margin of others.
pub(super) fn bare(min: f32, size: f32, counts: [u32; 3]) -> Lattice {
    let mut lattice = Lattice::new(Bounds { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) }, counts).unwrap();
    (lattice.min, lattice.size) = ([min; 3], [size; 3]);
    lattice
}

/// The `t` over which a ray is in a cell, in double precision; empty where it is not.
pub(super) fn stay(lattice: &Lattice, ray: &Request, cell: [u32; 3]) -> (f64, f64) {
    let (mut enter, mut leave) = (0.0f64, f64::INFINITY);
    for (axis, index) in cell.into_iter().enumerate() {
        let (origin, direction) = (f64::from(ray.origin[axis]), f64::from(ray.direction[axis]));
        let (low, high) = (lattice.plane(axis, index), lattice.plane(axis, index + 1));
        if direction == 0.0 {
            if origin < low || origin > high {
                return (0.0, -1.0);
            }
        } else {
            let ends = [(low - origin) / direction, (high - origin) / direction];
            enter = enter.max(ends[0].min(ends[1]));
            leave = leave.min(ends[0].max(ends[1]));
        }
    }
    (enter, leave)
}

pub(super) fn all_cells(lattice: &Lattice) -> impl Iterator<Item = [u32; 3]> {
    let [nx, ny, nz] = lattice.counts();
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}

/// Rays of every kind through a lattice: the number says which kind.
pub(super) fn rays(random: &mut Random, lattice: &Lattice, count: u32) -> Vec<Request> {
    let corner = |random: &mut Random| {
        Vec3::from([0, 1, 2].map(|k| lattice.plane(k, random.below(lattice.counts()[k] + 1)) as f32))
    };
    let middle = [0, 1, 2].map(|k| 0.5 * (lattice.plane(k, 0) + lattice.plane(k, lattice.counts()[k])));
    let half = [0, 1, 2].map(|k| 0.5 * (lattice.plane(k, lattice.counts()[k]) - lattice.plane(k, 0)));
    let (middle, half) = (DVec3::from(middle).as_vec3(), DVec3::from(half).as_vec3());
    let ray = |i: u32| {
        let inside = middle + half * random.point();
        let outside = middle + half * random.point() * 3.0;
        match i % 8 {
            // From anywhere to somewhere inside.
            0 => request(outside, inside - outside),
            // From inside, in any direction.
            1 => request(inside, random.point()),
            // Along an axis.
            2 => request(outside, Vec3::AXES[random.below(3) as usize] * (random.unit() - 0.5)),
            // Within a plane that is parallel to a face of the cells.
            3 => {
                let mut direction = random.point();
                direction[random.below(3) as usize] = 0.0;
                request(inside, direction)
            }
            // Along a face of cells.
            4 => {
                let axis = random.below(3) as usize;
                let (mut origin, mut direction) = (outside, inside - outside);
                origin[axis] = corner(random)[axis];
                direction[axis] = 0.0;
                request(origin, direction)
            }
            // From a corner to a corner: through edges and corners.
            5 => {
                let origin = corner(random);
                request(origin, corner(random) - origin)
            }
            // From a face of the lattice, inwards or away.
            6 => {
                let (axis, mut origin) = (random.below(3) as usize, inside);
                let end = random.below(2) * lattice.counts()[axis];
                origin[axis] = lattice.plane(axis, end) as f32;
                request(origin, random.point())
            }
            // Past an edge of the lattice, or through it.
            _ => request(outside, corner(random) - outside),
        }
    };
    (0..count).map(ray).filter(|ray| ray.direction != Vec3::ZERO).collect()
}

/// The states of a walk.
fn steps(walk: Walk) -> impl Iterator<Item = Walk> {
    std::iter::successors(Some(walk), |walk| {
        let mut next = *walk;
        next.advance().map(|_| next)
    })
}

/// How far a point is outside a cell, and how far inside (negative).
fn outside(lattice: &Lattice, cell: [u32; 3], point: DVec3) -> f64 {
    let beyond = |k: usize| (lattice.plane(k, cell[k]) - point[k]).max(point[k] - lattice.plane(k, cell[k] + 1));
    beyond(0).max(beyond(1)).max(beyond(2))
}

fn at(ray: &Request, t: f64) -> DVec3 {
    ray.origin.as_dvec3() + t * ray.direction.as_dvec3()
}

/// Checks a walk: it enters every cell that the ray is in by more than the error allowed, is in it
/// at that time, and is never in a cell that the ray is not in.
fn check(lattice: &Lattice, ray: &Request) -> usize {
    let error = f64::from(lattice.margin()) / 8.0;
    let walk: Vec<Walk> = Walk::start(lattice, ray).into_iter().flat_map(steps).collect();
    let mut enter = f64::NEG_INFINITY;
    for (before, step) in walk.iter().zip(walk.iter().skip(1)) {
        let moved: u32 = [0, 1, 2].map(|k| before.cell()[k].abs_diff(step.cell()[k])).iter().sum();
        assert_eq!(moved, 1, "cells of a walk are neighbors: {ray:?}");
        assert!(before.exit() <= step.exit(), "{ray:?}");
    }
    for step in &walk {
        let leave = f64::from(step.exit());
        for t in [enter.max(0.0), leave] {
            let start = all_cells(lattice).map(|cell| stay(lattice, ray, cell)).filter(|s| s.0 <= s.1).map(|s| s.0);
            let start = start.fold(f64::INFINITY, f64::min);
            if t >= start && t.is_finite() && t >= enter {
                let distance = outside(lattice, step.cell(), at(ray, t));
                assert!(distance <= error, "the ray is {distance} outside {:?}: {ray:?}", step.cell());
            }
        }
        enter = leave;
    }
    for cell in all_cells(lattice) {
        let (enter, leave) = stay(lattice, ray, cell);
        let middle = 0.5 * (enter + leave);
        if enter < leave && outside(lattice, cell, at(ray, middle)) < -error {
            let step = walk.iter().find(|step| f64::from(step.exit()) >= middle);
            assert_eq!(step.map(Walk::cell), Some(cell), "at {middle}: {ray:?}");
        }
    }
    walk.len()
}

#[test]
fn the_walk_is_in_the_cell_that_the_ray_is_in() {
    let mut random = Random::new(1);
    let mut visited = 0;
    let unit = Bounds { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
    for counts in [[1, 1, 1], [4, 4, 4], [7, 2, 5], [1, 9, 1], [10, 10, 10]] {
        let exact = bare(-1.0, 0.25, counts);
        for lattice in [Lattice::new(unit, counts).unwrap(), exact] {
            for ray in rays(&mut random, &lattice, 800) {
                visited += check(&lattice, &ray);
            }
        }
    }
    assert!(visited > 20_000, "{visited}");
}

#[test]
fn the_walk_is_right_at_any_scale_and_away_from_the_origin() {
    let mut random = Random::new(2);
    for (scale, offset) in [(1e-3, 0.0), (1e3, 0.0), (1.0, 20.0), (1e-2, -3.0), (1e8, 0.0), (1e-8, 0.0)] {
        let middle = Vec3::new(offset, 0.3 * offset, -offset);
        let bounds = Bounds { min: middle - scale, max: middle + scale * Vec3::new(1.0, 0.2, 3.0) };
        let lattice = Lattice::new(bounds, [6, 3, 9]).unwrap();
        for ray in rays(&mut random, &lattice, 400) {
            check(&lattice, &ray);
        }
    }
}

#[test]
fn a_walk_that_is_resumed_goes_on_with_the_same_bits() {
    let mut random = Random::new(3);
    let unit = Bounds { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
    let lattice = Lattice::new(unit, [8, 8, 16]).unwrap();
    for ray in rays(&mut random, &lattice, 2000) {
        for step in Walk::start(&lattice, &ray).into_iter().flat_map(steps) {
            assert_eq!(Walk::resume(&lattice, &ray, step.cell()), Some(step));
        }
    }
    let ray = request(Vec3::ZERO, Vec3::ONE);
    assert_eq!(Walk::resume(&lattice, &ray, [8, 0, 0]), None, "there is no such cell");
    assert_eq!(Walk::resume(&lattice, &request(Vec3::ZERO, Vec3::ZERO), [0; 3]), None);
}

#[test]
fn a_ray_along_a_diagonal_passes_corners_and_does_not_stall() {
    let lattice = bare(0.0, 1.0, [3, 3, 3]);
    let walk = Walk::start(&lattice, &request(Vec3::splat(-1.0), Vec3::ONE)).unwrap();
    let cells: Vec<_> = steps(walk).map(|step| step.cell()).collect();
    assert_eq!(cells, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [2, 1, 1], [2, 2, 1], [2, 2, 2]]);
    let back = Walk::start(&lattice, &request(Vec3::splat(4.0), Vec3::NEG_ONE)).unwrap();
    assert_eq!(steps(back).map(|step| step.cell()).last(), Some([0, 0, 0]));
}

#[test]
fn exits_are_the_crossings_of_planes() {
    let lattice = bare(0.0, 1.0, [4, 1, 1]);
    let walk = Walk::start(&lattice, &request(Vec3::new(-1.0, 0.5, 0.5), Vec3::new(2.0, 0.0, 0.0))).unwrap();
    let visited: Vec<_> = steps(walk).map(|step| (step.cell()[0], step.exit())).collect();
    assert_eq!(visited, [(0, 1.0), (1, 1.5), (2, 2.0), (3, 2.5)]);
    assert!(Walk::start(&lattice, &request(Vec3::new(-1.0, 1.5, 0.5), Vec3::X)).is_none(), "passes beside it");
    assert!(Walk::start(&lattice, &request(Vec3::new(5.0, 0.5, 0.5), Vec3::X)).is_none(), "goes away from it");
}

#[test]
fn lists_hold_the_polygons_that_meet_their_cells() {
    let polygons = Random::new(5).soup(120, 0.8);
    for counts in [[1, 1, 1], [6, 6, 6], [12, 3, 1]] {
        let lattice = Lattice::new(Bounds::around(&polygons).unwrap(), counts).unwrap();
        let grid = Grid::new(lattice, &polygons, 1 << 20).unwrap();
        let shapes: Vec<_> = polygons.iter().map(Shape::new).collect();
        let (mut entries, mut occupied) = (0, 0);
        for cell in all_cells(&lattice) {
            let corner = |next: u32| DVec3::from([0, 1, 2].map(|k| lattice.plane(k, cell[k] + next)));
            let meets = |i: &u32| {
                let reach = f64::from(lattice.margin() + growth(&polygons[*i as usize]));
                shapes[*i as usize].meets(corner(0) - reach, corner(1) + reach)
            };
            let expected: Vec<u32> = (0..polygons.len() as u32).filter(meets).collect();
            assert_eq!(grid.polygons(cell), expected, "{cell:?}");
            entries += expected.len();
            occupied += usize::from(!expected.is_empty());
        }
        assert_eq!((grid.entries(), grid.occupied()), (entries, occupied));
    }
}

#[test]
fn a_grid_that_would_take_too_much_memory_is_refused() {
    let polygons = Random::new(6).soup(50, 1.5);
    let bounds = Bounds::around(&polygons).unwrap();
    let lattice = Lattice::new(bounds, [20, 20, 20]).unwrap();
    let entries = Grid::new(lattice, &polygons, usize::MAX).unwrap().entries();
    assert!(Grid::new(lattice, &polygons, entries).is_ok());
    let limit = entries - 1;
    assert_eq!(Grid::new(lattice, &polygons, limit).err(), Some(StructureError::TooManyEntries { limit }));
    for counts in [[0, 1, 1], [1 << 17, 1, 1], [1 << 9, 1 << 9, 1 << 9]] {
        assert_eq!(Lattice::new(bounds, counts).err(), Some(StructureError::Cells { counts }));
    }
}

#[test]
fn the_cells_fill_the_box_and_its_margin() {
    let mut random = Random::new(12);
    for _ in 0..1000 {
        let (p, q) = (random.point() * 100.0, random.point());
        let bounds = Bounds { min: p.min(q), max: p.max(q) };
        let counts = [0; 3].map(|_| 1 + random.below(200));
        let lattice = Lattice::new(bounds, counts).unwrap();
        let margin = f64::from(bounds.margin());
        for (axis, count) in counts.into_iter().enumerate() {
            assert!(lattice.plane(axis, 0) <= f64::from(bounds.min[axis]) - margin);
            let last = lattice.plane(axis, count);
            assert!(last >= f64::from(bounds.max[axis]) + margin);
            assert!(last <= f64::from(bounds.max[axis]) + 1.01 * margin);
        }
    }
}

#[test]
fn a_polygon_outside_the_grid_is_refused() {
    let polygons = Random::new(7).soup(10, 0.5);
    let lattice = Lattice::new(Bounds::around(&polygons[..9]).unwrap(), [2, 2, 2]).unwrap();
    let mut moved = polygons[..9].to_vec();
    moved[4] = moved[4].map(|corner| corner + 2.5);
    assert_eq!(Grid::new(lattice, &moved, 1000).err(), Some(StructureError::Outside { polygon: 4 }));
}

#[test]
fn a_hit_that_lies_beyond_the_cell_does_not_count_yet() {
    // A large polygon is in the list of the first cell, and hit in the third, behind a small one in
    // the second.
    let large = [[0.0, 0.0, 2.5], [4.0, 0.0, 0.5], [4.0, 4.0, 0.5], [0.0, 4.0, 2.5]].map(Vec3::from);
    let small = [[3.0, 1.0, 2.0], [3.0, 2.0, 2.0], [3.0, 2.0, 3.0], [3.0, 1.0, 3.0]].map(Vec3::from);
    let polygons = [large, small];
    let lattice = bare(-0.5, 1.0, [5, 5, 5]);
    let ray = request(Vec3::new(0.1, 1.5, 2.4), Vec3::new(1.0, 0.0, 0.0));
    let mut walk = Walk::start(&lattice, &ray).unwrap();
    let far = hit(&small, 1, &ray, f32::INFINITY).unwrap();
    assert!(!walk.settles(far.t));
    while !walk.settles(far.t) {
        walk.advance().unwrap();
    }
    assert_eq!(walk.cell(), [3, 2, 2]);
    assert_eq!(trace_all(&polygons, &ray).map(|found| found.index), Some(0));
}

#[test]
fn a_hit_on_the_border_of_two_cells_is_lost_if_its_point_has_to_lie_in_the_cell() {
    // The thesis's rule, with the corrected walk and lists without a margin.
    let lattice = bare(-1.0, 0.1, [20, 20, 20]);
    let mut random = Random::new(8);
    let mut lost = 0;
    let count = 2000;
    for _ in 0..count {
        // A polygon in a plane between two cells.
        let plane = lattice.plane(2, 1 + random.below(19)) as f32;
        let polygon = [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]].map(|[x, y]| Vec3::new(x, y, plane));
        let origin = Vec3::new(random.point().x, random.point().y, -3.0);
        let ray = request(origin, random.point() * 0.8 - origin);
        let Some(found) = hit(&polygon, 0, &ray, f32::INFINITY) else {
            continue;
        };
        let shape = Shape::new(&polygon);
        let point = ray.origin + found.t * ray.direction;
        let corner = |cell: [u32; 3], next: u32| DVec3::from([0, 1, 2].map(|k| lattice.plane(k, cell[k] + next)));
        let counts_in = |step: &Walk| {
            let cell = step.cell();
            shape.meets(corner(cell, 0), corner(cell, 1)) && lattice.cell_of(point.as_dvec3()) == cell
        };
        let walk = Walk::start(&lattice, &ray).unwrap();
        lost += usize::from(!steps(walk).any(|step| counts_in(&step)));
    }
    assert!(lost > count / 50, "{lost} of {count} hits are lost");
}
