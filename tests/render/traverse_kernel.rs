//! The kernels of `wgsl/traverse/` against the CPU's traversal, on the best adapter there is.
//!
//! A driver on the CPU fuses no multiplications with additions here, so its hits must be the CPU's
//! to the bit; of others, which may, only nearly all primitives must be equal and distances close.

use glam::{Mat4, Vec3};
use shadewright::bvh::gpu::kernel::{Places, Stack, Store, Variant};
use shadewright::bvh::gpu::{GpuHit, GpuRay};
use shadewright::bvh::triangle::LeafTriangle;
use shadewright::bvh::{BuildOptions, CULL_BACK, Hit, NO_PRIM, Placement, Quality, Ray, Triangle, TwoLevel};
use shadewright::render::gpu::{Gpu, RayTracer, TracerOptions};
use std::sync::LazyLock;

static GPU: LazyLock<Gpu> =
    LazyLock::new(|| Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do"));

const MISS: GpuHit = GpuHit { u: 0.0, v: 0.0, t: -1.0, prim: NO_PRIM };

/// Every variant, with and without subgroup operations where that makes a difference, and the
/// tables and stacks in each place at least once.
fn kernels() -> Vec<TracerOptions> {
    use Stack::{Private, Workgroup};
    use Store::{Buffer, Texture};
    let kernel = |variant, subgroups, (nodes, triangles, stack)| TracerOptions {
        variant,
        subgroups,
        places: Some(Places { nodes, triangles, stack }),
    };
    vec![
        kernel(Variant::WhileWhile, false, (Buffer, Buffer, Private)),
        kernel(Variant::WhileWhile, false, (Texture, Buffer, Private)),
        kernel(Variant::WhileWhile, false, (Buffer, Texture, Workgroup)),
        kernel(Variant::WhileWhile, false, (Texture, Texture, Workgroup)),
        kernel(Variant::IfIf, false, (Texture, Texture, Workgroup)),
        kernel(Variant::Persistent, true, (Texture, Buffer, Workgroup)),
        kernel(Variant::Persistent, false, (Buffer, Buffer, Private)),
        kernel(Variant::Speculative, true, (Texture, Buffer, Private)),
        kernel(Variant::Speculative, false, (Buffer, Buffer, Workgroup)),
        kernel(Variant::Wide, false, (Buffer, Buffer, Private)),
        kernel(Variant::Wide, false, (Texture, Texture, Workgroup)),
        kernel(Variant::GeneratedWhileWhile, false, (Buffer, Buffer, Private)),
        kernel(Variant::GeneratedWhileWhile, false, (Texture, Texture, Workgroup)),
        kernel(Variant::GeneratedIfIf, false, (Texture, Buffer, Workgroup)),
    ]
}

/// Numbers in 0..1 (Marsaglia's xorshift, 2003).
fn random(state: &mut u64) -> f32 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 40) as f32 / (1u64 << 24) as f32
}

fn build(triangles: &[Triangle]) -> TwoLevel {
    TwoLevel::build(triangles, &[], &[], &Default::default()).expect("small enough")
}

/// A soup with one-sided, repeated and degenerate triangles.
fn soup() -> Vec<Triangle> {
    let mut state = 1;
    let mut point = || Vec3::new(random(&mut state), random(&mut state), random(&mut state)) * 2.0 - 1.0;
    let mut triangles: Vec<Triangle> = (0..3000)
        .map(|i| {
            let center = point();
            let mut corner = || center + point() * 0.1;
            let [a, b, c] = [corner(), corner(), corner()];
            let c = if i % 50 == 0 { a + (b - a) * 0.5 } else { c };
            Triangle { flags: CULL_BACK * (i % 2), ..Triangle::new(a, b, c) }
        })
        .collect();
    triangles.extend_from_within(..500);
    triangles
}

/// Some plain triangles, and two meshes here and there: turned, scaled unevenly, mirrored, and some
/// of them twice.
fn placed() -> TwoLevel {
    let soup = soup();
    let mut state = 3;
    let mut point = || Vec3::new(random(&mut state), random(&mut state), random(&mut state)) * 2.0 - 1.0;
    let mut placements: Vec<Placement> = (0..60)
        .map(|mesh| {
            let mirror = Mat4::from_scale(Vec3::new(if mesh % 4 < 2 { 1.0 } else { -1.0 }, 1.0, 1.0));
            let turn = Mat4::from_axis_angle(point().normalize(), 3.0 * point().x);
            let scale = Mat4::from_scale((point() + 1.2) * 0.2);
            Placement { mesh: mesh % 2, object_to_world: Mat4::from_translation(point()) * turn * scale * mirror }
        })
        .collect();
    placements.extend_from_within(..10);
    let meshes = [soup[..1000].to_vec(), soup[1000..1001].to_vec()];
    TwoLevel::build(&soup[2000..2100], &meshes, &placements, &Default::default()).expect("small enough")
}

/// Rays of every kind: closest, any, none; in all directions, along the axes, from surfaces, and of
/// no direction.
fn rays() -> Vec<GpuRay> {
    let mut state = 2;
    let mut point = || Vec3::new(random(&mut state), random(&mut state), random(&mut state)) * 2.0 - 1.0;
    (0..5000)
        .map(|i| {
            let dir = match i {
                _ if i % 7 == 0 => Vec3::AXES[i % 3] * [1.0, -0.5][i % 2],
                _ if i % 501 == 0 => Vec3::ZERO,
                _ => point(),
            };
            let t_max = [f32::MAX, 1.0, -1.0, -f32::MAX, 0.0][i % 5];
            GpuRay { origin: (point() * 1.5).into(), t_min: 0.01, dir: dir.into(), t_max }
        })
        .collect()
}

/// The hit that the buffer's layout promises, where the ray's closest one is this.
fn promised(ray: &GpuRay, closest: impl Fn(&Ray) -> Option<Hit>) -> GpuHit {
    let on_cpu = Ray { origin: ray.origin.into(), dir: ray.dir.into(), t_min: ray.t_min, t_max: ray.t_max.abs() };
    match closest(&on_cpu) {
        None => MISS,
        Some(_) if ray.t_max < 0.0 => GpuHit { t: 0.0, ..MISS },
        Some(hit) => GpuHit { u: hit.u, v: hit.v, t: hit.t, prim: hit.prim },
    }
}

/// The closest hit, without a tree.
fn brute_force(triangles: &[Triangle], ray: &Ray) -> Option<Hit> {
    let (shear, mut best) = (ray.shear(), None);
    for (i, triangle) in triangles.iter().enumerate() {
        let known = best.unwrap_or(Hit { t: ray.t_max, u: 0.0, v: 0.0, prim: 0 });
        best = LeafTriangle::new(triangle, i as u32).intersect(ray, &shear, &known).or(best);
    }
    best
}

/// Asserts that every kernel gives the CPU's hits, of which there must be so many.
fn same_hits(tree: &TwoLevel, rays: &[GpuRay], at_least: usize) {
    let expected: Vec<GpuHit> = rays.iter().map(|ray| promised(ray, |on_cpu| tree.closest_hit(on_cpu))).collect();
    every_kernel_finds(tree, rays, &expected, at_least);
}

/// Asserts that every kernel finds the hits of a loop over all triangles, of which there must be so
/// many, in trees with spatial splits and without.
fn brute_forces_hits(triangles: &[Triangle], rays: &[GpuRay], at_least: usize) {
    let expected: Vec<GpuHit> = rays.iter().map(|ray| promised(ray, |on_cpu| brute_force(triangles, on_cpu))).collect();
    for quality in [Quality::Sah, Quality::Spatial] {
        let options = BuildOptions { quality, ..BuildOptions::default() };
        let tree = TwoLevel::build(triangles, &[], &[], &options).expect("small enough");
        every_kernel_finds(&tree, rays, &expected, at_least);
    }
}

/// Asserts that every kernel gives these hits, of which there must be so many.
fn every_kernel_finds(tree: &TwoLevel, rays: &[GpuRay], expected: &[GpuHit], at_least: usize) {
    let found = expected.iter().filter(|hit| hit.t >= 0.0).count();
    assert!(found >= at_least, "{found} hits");
    for kernel in kernels() {
        let mut tracer = RayTracer::new(&GPU, &kernel, tree, rays.len()).expect("room");
        let hits = tracer.trace(rays).expect("hits").hits;
        let mut different = 0;
        for ((ray, hit), expected) in rays.iter().zip(&hits).zip(expected) {
            if GPU.is_hardware() {
                let close = (hit.t - expected.t).abs() <= 1e-4 * expected.t.abs();
                different += usize::from(hit.prim != expected.prim || !close);
            } else {
                let same = bytemuck::bytes_of(hit) == bytemuck::bytes_of(expected);
                assert!(same, "{kernel:?}: {ray:?}: {hit:?}, not {expected:?}");
            }
        }
        assert!(different <= rays.len() / 1000, "{kernel:?}: {different} hits differ");
    }
}

#[test]
fn every_kernel_gives_the_cpus_hits() {
    same_hits(&build(&soup()), &rays(), 500);
}

#[test]
fn every_kernel_gives_the_cpus_hits_with_instances() {
    same_hits(&placed(), &rays(), 400);
}

/// A ray that looks for the closest hit, or with `any` for one.
fn gpu_ray(origin: Vec3, dir: Vec3, any: bool) -> GpuRay {
    let t_max = if any { -f32::MAX } else { f32::MAX };
    GpuRay { origin: origin.into(), t_min: 0.0, dir: dir.into(), t_max }
}

/// Every third triangle's middle of an edge and a corner from places up to `reach` away.
fn aimed(triangles: &[Triangle], reach: f32) -> Vec<GpuRay> {
    let mut state = 5;
    let mut point = || Vec3::new(random(&mut state), random(&mut state), random(&mut state)) * 2.0 - 1.0;
    let mut rays = Vec::new();
    for (i, t) in triangles.iter().enumerate().step_by(3) {
        let from = t.a + point() * reach;
        rays.extend([t.a, (t.b + t.c) * 0.5].map(|target| gpu_ray(from, target - from, i % 2 == 1)));
    }
    rays
}

#[test]
fn rays_are_found_in_triangles_of_very_different_sizes() {
    let sizes = [1e-6f32, 1e-4, 1e-2, 1.0, 1e3, 1e6];
    let scaled = |(i, t): (usize, &Triangle)| {
        let size = sizes[i % sizes.len()];
        Triangle { flags: t.flags, ..Triangle::new(t.a * size, t.b * size, t.c * size) }
    };
    let triangles: Vec<Triangle> = soup().iter().step_by(5).enumerate().map(scaled).collect();
    let rays = [aimed(&triangles, 3.0), aimed(&triangles, 1e-3), aimed(&triangles, 1e5)].concat();
    brute_forces_hits(&triangles, &rays, 300);
}

#[test]
fn the_scale_and_the_place_of_a_scene_do_not_matter() {
    for (scale, offset) in [(1e-3, 0.0), (1e4, 0.0), (1.0, 1e3), (1e-12, 0.0), (1e12, 1e13)] {
        let moved = |t: &Triangle| {
            let [a, b, c] = [t.a, t.b, t.c].map(|p| p * scale + offset);
            Triangle { flags: t.flags, ..Triangle::new(a, b, c) }
        };
        let triangles: Vec<Triangle> = soup().iter().step_by(6).map(moved).collect();
        let rays = [aimed(&triangles, scale), aimed(&triangles, 1e3 * scale)].concat();
        brute_forces_hits(&triangles, &rays, 100);
    }
}

#[test]
fn no_axis_parallel_ray_through_shared_vertices_and_box_sides_is_lost() {
    let at = |x: i32, y: i32| Vec3::new(x as f32, y as f32, ((x * 7 + y * 13) % 3) as f32);
    let cell = |x, y| {
        [
            Triangle::new(at(x, y), at(x + 1, y), at(x, y + 1)),
            Triangle::new(at(x + 1, y + 1), at(x, y + 1), at(x + 1, y)),
        ]
    };
    let field: Vec<Triangle> = (0..64).flat_map(|i| cell(i % 8, i / 8)).collect();
    let wall: Vec<Triangle> =
        field.iter().map(|t| Triangle::new(t.a * Vec3::new(1.0, 1.0, 0.0), t.b.with_z(0.0), t.c.with_z(0.0))).collect();
    let mut rays = Vec::new();
    for (half_x, half_y) in (0..17 * 17).map(|i| (i % 17, i / 17)) {
        let (x, y) = (half_x as f32 * 0.5, half_y as f32 * 0.5);
        for zero in [0.0, -0.0] {
            rays.push(gpu_ray(Vec3::new(x, y, 5.0), Vec3::new(zero, zero, -1.0), false));
            rays.push(gpu_ray(Vec3::new(x, y, -5.0), Vec3::new(zero, zero, 1.0), true));
            rays.push(gpu_ray(Vec3::new(-1.0, x, y * 0.1), Vec3::new(1.0, zero, zero), false));
            rays.push(gpu_ray(Vec3::new(x, 20.0, y * 0.1), Vec3::new(zero, -1.0, zero), false));
        }
    }
    brute_forces_hits(&field, &rays, 4 * 17 * 17);
    brute_forces_hits(&wall, &rays, 4 * 17 * 17);
}

#[test]
fn rays_of_zero_and_infinite_components_hit_what_they_should_and_end() {
    let triangles: Vec<Triangle> = soup().into_iter().step_by(10).collect();
    let values = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, 1e-40, 1e30, f32::MIN_POSITIVE];
    let mut rays = Vec::new();
    for (i, x) in values.into_iter().enumerate() {
        for y in values {
            let dir = [Vec3::new(x, y, 1.0), Vec3::new(1.0, x, y), Vec3::new(y, 0.0, x)][i % 3];
            rays.push(gpu_ray(Vec3::new(0.1, -0.2, 0.3), dir, false));
            rays.push(gpu_ray(Vec3::new(x, 0.1, y), Vec3::new(0.3, 0.2, -0.1), i % 2 == 0));
        }
    }
    rays.extend([Vec3::ZERO, Vec3::NAN].map(|dir| gpu_ray(Vec3::new(0.1, 0.2, 0.3), dir, false)));
    brute_forces_hits(&triangles, &rays, 20);
}

#[test]
fn of_a_hundred_equal_triangles_every_kernel_hits_the_first() {
    let triangle = Triangle::new(Vec3::ZERO, Vec3::X, Vec3::Y);
    let ray = GpuRay { origin: [0.2, 0.2, 1.0], t_min: 0.0, dir: [0.0, 0.0, -1.0], t_max: f32::MAX };
    same_hits(&build(&[triangle; 100]), &[ray; 9], 9);
}

#[test]
fn a_tree_of_one_triangle_is_hit_or_not() {
    let tree = build(&[Triangle::new(Vec3::ZERO, Vec3::X, Vec3::Y)]);
    let hit = GpuRay { origin: [0.2, 0.2, 1.0], t_min: 0.0, dir: [0.0, 0.0, -1.0], t_max: 2.0 };
    // What ends at the triangle, starts on it, or runs beside it hits nothing.
    let short = GpuRay { t_max: 1.0, ..hit };
    let on_it = GpuRay { origin: [0.2, 0.2, 0.0], ..hit };
    let beside = GpuRay { origin: [0.9, 0.9, 1.0], ..hit };
    same_hits(&tree, &[hit, short, on_it, beside, GpuRay { t_max: -2.0, ..hit }], 2);
}

#[test]
fn an_empty_tree_is_never_hit() {
    same_hits(&build(&[]), &rays()[..200], 0);
}

#[test]
fn only_queued_rays_are_traced() {
    let (tree, rays) = (build(&soup()), rays());
    let queued: Vec<u32> = (0..rays.len() as u32).rev().filter(|i| i % 3 == 0).collect();
    for kernel in kernels() {
        let mut tracer = RayTracer::new(&GPU, &kernel, &tree, rays.len()).expect("room");
        let unwritten = GpuHit { t: 77.0, ..MISS };
        let hits = tracer.trace_queued(&rays, &queued, unwritten).expect("hits").hits;
        for (i, hit) in hits.iter().enumerate() {
            assert_eq!(hit.t != 77.0, i % 3 == 0, "{kernel:?}, ray {i}: {hit:?}");
        }
    }
}
