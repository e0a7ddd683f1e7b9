//! Generated programs on the reference evaluator, against the scalar traversal.

use super::*;
use crate::bvh::random::Random;
use crate::bvh::{BuildOptions, CULL_BACK, Quality, Triangle, binary};
use crate::ir::eval::{Limits, World, eval};
use crate::ir::{Op, verify};
use glam::Vec3;

/// Programs for the memory image in which each value of each argument occurs.
pub(crate) fn variants() -> Vec<Arguments> {
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
pub(crate) fn soup() -> Vec<Triangle> {
    let mut random = Random(1);
    let mut soup = random.soup(400, 0.2);
    soup.iter_mut().step_by(3).for_each(|triangle| triangle.flags = CULL_BACK);
    soup.iter_mut().step_by(50).for_each(|triangle| triangle.c = triangle.a + (triangle.b - triangle.a) * 0.5);
    soup.extend_from_within(..100);
    soup
}

/// Rays in all directions, along the axes, at vertices and edges, of no direction, and short ones.
pub(crate) fn rays(triangles: &[Triangle]) -> Vec<crate::bvh::Ray> {
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

/// A memory image, and program constant 0.
struct Image(Vec<[u32; 4]>, [f32; 4]);

impl World for Image {
    fn uniform(&mut self, _: u32) -> [f32; 4] {
        self.1
    }

    fn load(&mut self, address: u32) -> [u32; 4] {
        self.0.get(address as usize).copied().unwrap_or_default()
    }
}

/// The hits that a program finds for a packet of rays.
fn evaluate(module: &Module, world: &mut Image, rays: &[crate::bvh::Ray]) -> Vec<Option<crate::bvh::Hit>> {
    let arguments = |ray: &crate::bvh::Ray| {
        let [origin, dir] = [ray.origin, ray.dir].map(|v| Const::Vec3(v.to_array()));
        [origin, dir, Const::F32(ray.t_min), Const::F32(ray.t_max)]
    };
    let args: Vec<Const> = rays.iter().flat_map(arguments).collect();
    let results = eval(module, TRAVERSE, &args, world, Limits::default()).expect("it ends");
    let hit = |results: &[Const]| {
        let [u, v, t, prim] = [0, 1, 2, 3].map(|i| results[i].bits()[0]);
        let [u, v, t] = [u, v, t].map(f32::from_bits);
        (prim != NO_PRIM).then_some(crate::bvh::Hit { t, u, v, prim })
    };
    results.chunks(4).map(hit).collect()
}

#[test]
fn every_program_gives_the_scalar_traversals_hits() {
    let triangles = soup();
    let rays = rays(&triangles);
    for (bvh, hits) in [(&triangles[..], 50), (&triangles[..1], 0), (&[], 0)].map(|(triangles, hits)| {
        let options = BuildOptions { quality: Quality::Spatial, ..BuildOptions::default() };
        (Bvh::build(triangles, &options).expect("small"), hits)
    }) {
        let expected: Vec<_> = rays.iter().map(|ray| binary::closest_hit(&bvh, ray)).collect();
        assert!(expected.iter().flatten().count() >= hits);
        for arguments in variants() {
            let (vectors, addresses) = image(&bvh, arguments.layout);
            let mut world = Image(vectors, addresses);
            let [closest, any] = [RayKind::Closest, RayKind::Any].map(|kind| program(&arguments, kind));
            for (ray, expected) in rays.iter().zip(&expected) {
                let [found, met] = [&closest, &any].map(|module| evaluate(module, &mut world, &[*ray])[0]);
                assert_eq!(found, *expected, "{arguments:?}: {ray:?}");
                assert_eq!(met.is_some(), expected.is_some(), "{arguments:?}: {ray:?}");
            }
        }
    }
}

#[test]
fn packets_give_each_rays_hits() {
    let triangles = soup();
    let rays = rays(&triangles);
    let bvh = Bvh::build(&triangles, &BuildOptions::default()).expect("small");
    for layout in [Layout::Binary, Layout::Wide4] {
        let arguments = Arguments::rpu(Iteration::WhileWhile, layout);
        let (vectors, addresses) = image(&bvh, layout);
        let mut world = Image(vectors, addresses);
        for width in [2, 3] {
            let modules = [RayKind::Closest, RayKind::Any].map(|kind| packet_program(&arguments, kind, width));
            for packet in rays.chunks_exact(width).take(40) {
                let expected: Vec<_> = packet.iter().map(|ray| binary::closest_hit(&bvh, ray)).collect();
                let [found, met] = [&modules[0], &modules[1]].map(|module| evaluate(module, &mut world, packet));
                assert_eq!(found, expected, "{arguments:?}: {packet:?}");
                let [met, expected] = [met, expected].map(|hits| hits.iter().map(Option::is_some).collect::<Vec<_>>());
                assert_eq!(met, expected, "{arguments:?}: {packet:?}");
            }
        }
    }
}

#[test]
fn the_test_of_moller_and_trumbore_finds_nearly_the_same_hits() {
    let triangles = soup();
    let bvh = Bvh::build(&triangles, &BuildOptions::default()).expect("small");
    let (vectors, addresses) = image(&bvh, Layout::Binary);
    let mut world = Image(vectors, addresses);
    let arguments =
        Arguments { intersector: Intersector::MollerTrumbore, ..Arguments::rpu(Iteration::WhileWhile, Layout::Binary) };
    let module = program(&arguments, RayKind::Closest);
    let mut random = Random(3);
    let (mut hits, mut equal) = (0, 0);
    for ray in (0..300).map(|_| random.ray()) {
        let expected = binary::closest_hit(&bvh, &ray);
        let found = evaluate(&module, &mut world, &[ray])[0];
        hits += usize::from(expected.is_some());
        let close = |(a, b): (crate::bvh::Hit, crate::bvh::Hit)| a.prim == b.prim && (a.t - b.t).abs() < 1e-4 * b.t;
        equal += usize::from(found.zip(expected).is_some_and(close));
    }
    assert!(hits > 40 && equal * 100 >= hits * 98, "{equal} of {hits}");
}

#[test]
fn nothing_of_the_arguments_is_left_in_a_program() {
    for arguments in variants() {
        for kind in [RayKind::Closest, RayKind::Any] {
            let module = program(&arguments, kind);
            verify(&module).expect("the rules of the IR hold");
            assert_eq!(module.functions.len(), 1);
            let mut insts = module.functions[0].blocks.iter().flat_map(|block| &block.insts);
            assert!(insts.all(|inst| !matches!(inst.op, Op::Call(_))), "{arguments:?}");
        }
    }
}
