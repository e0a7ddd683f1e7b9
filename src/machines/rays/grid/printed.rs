//! The walk as it is printed in figures B-1 and B-2 (Ullner 1983, App. B), which fails. The
//! arithmetic is in double precision, so that the failures are those of the form.

use super::tests::{all_cells, bare, rays, stay};
use super::{Lattice, Walk};
use crate::rays::ray::Request;
use crate::rays::volumes::samples::{Random, request};
use glam::Vec3;

/// The outcome of the printed programs for a ray.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    /// B-1 says that the ray misses the scene.
    Misses,
    /// B-2 leaves the scene after these cells, counted from 0.
    Visits(Vec<[u32; 3]>),
    /// B-2 stays in a cell for ever.
    Stalls,
}

/// Figures B-1 and B-2.
fn printed(lattice: &Lattice, ray: &Request) -> Outcome {
    let n = lattice.counts().map(f64::from);
    let (mut a, mut b, mut t) = ([0.0; 3], [0.0; 3], 0.0f64);
    for k in 0..3 {
        let (origin, direction) = (f64::from(ray.origin[k]), f64::from(ray.direction[k]));
        let (min, max) = (lattice.plane(k, 0), lattice.plane(k, lattice.counts()[k]));
        a[k] = (max - min) / (direction * n[k]);
        b[k] = (min - origin) / direction;
        t = t.max(b[k].min(a[k] * n[k] + b[k]));
    }
    let mut i = [0, 1, 2].map(|k| ((t - b[k]) / a[k]).ceil());
    let mut next = [0, 1, 2].map(|k| a[k] * i[k] + b[k] + a[k].abs());
    let is_inside = |i: [f64; 3]| (0..3).all(|k| 1.0 <= i[k] && i[k] <= n[k]);
    if !is_inside(i) {
        return Outcome::Misses;
    }
    let mut visited = Vec::new();
    while is_inside(i) {
        visited.push(i.map(|i| i as u32 - 1));
        let smaller = |k: usize| next[k] < next[(k + 1) % 3].min(next[(k + 2) % 3]);
        let Some(k) = (0..3).find(|&k| smaller(k)) else {
            return Outcome::Stalls;
        };
        i[k] += a[k].signum();
        next[k] += a[k].abs();
    }
    Outcome::Visits(visited)
}

/// The cells that a ray is in for some time, in order.
fn entered(lattice: &Lattice, ray: &Request) -> Vec<[u32; 3]> {
    let mut stays: Vec<_> = all_cells(lattice).map(|cell| (stay(lattice, ray, cell), cell)).collect();
    stays.retain(|((enter, leave), _)| leave - enter > 1e-9);
    stays.sort_by(|((p, _), _), ((q, _), _)| p.total_cmp(q));
    stays.into_iter().map(|(_, cell)| cell).collect()
}

/// Figures B-1 and B-2 as corrected: the cells of the walk.
fn corrected(lattice: &Lattice, ray: &Request) -> Vec<[u32; 3]> {
    let walk = Walk::start(lattice, ray);
    let steps = std::iter::successors(walk, |walk| {
        let mut next = *walk;
        next.advance().map(|_| next)
    });
    steps.map(|step| step.cell()).collect()
}

#[test]
fn the_printed_programs_are_wrong_for_most_rays() {
    let lattice = bare(-1.0, 0.25, [8, 8, 8]);
    let mut random = Random::new(4000);
    // From anywhere around the scene to somewhere in it.
    let ray = |_| {
        let origin = random.point() * 3.0;
        request(origin, random.point() - origin)
    };
    let rays: Vec<_> = (0..4000).map(ray).collect();
    let [mut ours, mut right, mut missed, mut astray] = [0; 4];
    for ray in &rays {
        let expected = entered(&lattice, ray);
        ours += usize::from(corrected(&lattice, ray) == expected);
        match printed(&lattice, ray) {
            Outcome::Misses => missed += 1,
            Outcome::Visits(cells) if cells == expected => right += 1,
            _ => astray += 1,
        }
    }
    assert_eq!((ours, right, missed, astray), (4000, 617, 1946, 1437));
}

#[test]
fn the_printed_start_misses_rays_that_enter_through_the_first_plane() {
    let lattice = bare(0.0, 1.0, [4, 4, 4]);
    let ray = request(Vec3::new(-1.0, 1.3, 1.5), Vec3::new(1.0, 0.1, 0.2));
    assert_eq!(printed(&lattice, &ray), Outcome::Misses);
    assert_eq!(corrected(&lattice, &ray), entered(&lattice, &ray));
}

#[test]
fn the_printed_crossing_is_a_cell_too_far_where_a_is_positive() {
    let lattice = bare(0.0, 1.0, [4, 4, 4]);
    // Leaves its cell upwards at t = 0.5 and along x at t = 0.9; printed are 1.5 and 1.9 for these,
    // and 0.7 for z, along which it goes down and leaves at t = 0.7.
    let ray = request(Vec3::new(1.1, 1.5, 1.7), Vec3::new(1.0, 1.0, -1.0));
    let Outcome::Visits(cells) = printed(&lattice, &ray) else {
        panic!("{:?}", printed(&lattice, &ray));
    };
    assert_eq!(cells[..2], [[1, 1, 1], [1, 1, 0]]);
    assert_eq!(entered(&lattice, &ray)[..2], [[1, 1, 1], [1, 2, 1]]);
    assert_eq!(corrected(&lattice, &ray), entered(&lattice, &ray));
}

#[test]
fn the_printed_step_stalls_where_two_planes_are_crossed_at_once() {
    let lattice = bare(0.0, 1.0, [4, 4, 4]);
    let ray = request(Vec3::new(0.5, 0.5, 0.25), Vec3::new(1.0, 1.0, 0.125));
    assert_eq!(printed(&lattice, &ray), Outcome::Stalls);
    assert_eq!(corrected(&lattice, &ray).last(), Some(&[3, 3, 0]));
}

#[test]
fn the_printed_start_misses_rays_along_an_axis() {
    let lattice = bare(0.0, 1.0, [4, 4, 4]);
    let ray = request(Vec3::new(0.5, 1.5, 2.5), Vec3::X);
    assert_eq!(printed(&lattice, &ray), Outcome::Misses, "t is infinite or NaN");
    assert_eq!(corrected(&lattice, &ray), entered(&lattice, &ray));
}

#[test]
fn among_rays_of_every_kind_the_printed_step_stalls_for_some() {
    let lattice = bare(-1.0, 0.25, [8, 8, 8]);
    let mut random = Random::new(4001);
    let rays = rays(&mut random, &lattice, 4000);
    let stalled = rays.iter().filter(|ray| printed(&lattice, ray) == Outcome::Stalls).count();
    assert_eq!(stalled, 343);
}
