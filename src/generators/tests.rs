//! Generated programs on the reference evaluator, against the scalar traversal.

use super::testing::{rays, soup, variants};
use super::*;
use shadewright_bvh::random::Random;
use shadewright_bvh::{BuildOptions, Quality, binary};
use shadewright_ir::eval::{Limits, World, eval};
use shadewright_ir::{Const, Op, verify};

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
fn evaluate(module: &Module, world: &mut Image, rays: &[shadewright_bvh::Ray]) -> Vec<Option<shadewright_bvh::Hit>> {
    let arguments = |ray: &shadewright_bvh::Ray| {
        let [origin, dir] = [ray.origin, ray.dir].map(|v| Const::Vec3(v.to_array()));
        [origin, dir, Const::F32(ray.t_min), Const::F32(ray.t_max)]
    };
    let args: Vec<Const> = rays.iter().flat_map(arguments).collect();
    let results = eval(module, TRAVERSE, &args, world, Limits::default()).expect("it ends");
    let hit = |results: &[Const]| {
        let [u, v, t, prim] = [0, 1, 2, 3].map(|i| results[i].bits()[0]);
        let [u, v, t] = [u, v, t].map(f32::from_bits);
        (prim != NO_PRIM).then_some(shadewright_bvh::Hit { t, u, v, prim })
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
        let close =
            |(a, b): (shadewright_bvh::Hit, shadewright_bvh::Hit)| a.prim == b.prim && (a.t - b.t).abs() < 1e-4 * b.t;
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
