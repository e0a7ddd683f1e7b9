//! Programs, triangles and rays with which tests hold generated programs against the scalar traversal.

use super::*;
use glam::Vec3;
use shadewright_bvh::random::Random;
use shadewright_bvh::{CULL_BACK, Triangle};

/// Programs for the memory image in which each value of each argument occurs.
pub fn variants() -> Vec<Arguments> {
    use Iteration::{IfIf, WhileWhile};
    let mut all: Vec<_> = Layout::ALL.map(|layout| Arguments::rpu(WhileWhile, layout)).into();
    all.extend([Layout::Binary, Layout::Wide4].map(|layout| Arguments::rpu(IfIf, layout)));
    let selecting = [(WhileWhile, Layout::Binary), (IfIf, Layout::Ordered), (WhileWhile, Layout::Wide4)];
    all.extend(selecting.map(|(order, layout)| Arguments { idiom: Idiom::Select, ..Arguments::rpu(order, layout) }));
    // A stack whose pages are in use.
    let small = Arguments::rpu(WhileWhile, Layout::Binary);
    let stack = StackSize { registers: 4, ..small.style.stack };
    all.push(Arguments { style: Style { stack, ..small.style }, ..small });
    all
}

/// Random triangles: one-sided, repeated and degenerate ones among them.
pub fn soup() -> Vec<Triangle> {
    let mut random = Random(1);
    let mut soup = random.soup(400, 0.2);
    soup.iter_mut().step_by(3).for_each(|triangle| triangle.flags = CULL_BACK);
    soup.iter_mut().step_by(50).for_each(|triangle| triangle.c = triangle.a + (triangle.b - triangle.a) * 0.5);
    soup.extend_from_within(..100);
    soup
}

/// Rays in all directions, along the axes, at vertices and edges, of no direction, and short ones.
pub fn rays(triangles: &[Triangle]) -> Vec<shadewright_bvh::Ray> {
    let mut random = Random(2);
    let mut rays: Vec<_> = (0..320).map(|_| random.ray()).collect();
    for (i, ray) in rays.iter_mut().enumerate() {
        let target = triangles[i % triangles.len()];
        match i {
            _ if i % 101 == 0 => ray.dir = Vec3::ZERO,
            _ if i % 11 == 0 => ray.dir = Vec3::AXES[i % 3] * [1.0, -0.5][i % 2],
            _ if i % 7 == 0 => ray.dir = target.a - ray.origin,
            _ if i % 5 == 0 => ray.dir = (target.b + target.c) * 0.5 - ray.origin,
            _ => {}
        }
        (ray.t_min, ray.t_max) = (0.01, [f32::MAX, 1.0][i % 2]);
    }
    rays
}
