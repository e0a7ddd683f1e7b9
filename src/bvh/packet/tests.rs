//! Packets against single rays, where the rays are such as packets are made for.

use super::super::kernel::{Kernel, Method};
use super::super::random::Random;
use super::super::raysets::place_in_tile;
use super::super::{BATCH, BuildOptions, Bvh, CULL_BACK, Hit, HitBatch, Ray, RayBatch, Triangle, binary};
use super::*;
use glam::Vec3;

/// Random triangles, every third of which is one-sided.
fn soup(random: &mut Random, count: usize, size: f32) -> Vec<Triangle> {
    let mut soup = random.soup(count, size);
    soup.iter_mut().step_by(3).for_each(|triangle| triangle.flags = CULL_BACK);
    soup
}

/// The pixels of a tile, 8 by 8, in the order of batches.
fn tile() -> impl Iterator<Item = (f32, f32)> {
    (0..BATCH).map(place_in_tile).map(|[column, row]| (column as f32, row as f32))
}

/// A tile of rays from a camera at `eye` that looks along `forward`, with `pixel` between
/// neighbors.
fn camera(eye: Vec3, forward: Vec3, pixel: f32) -> RayBatch {
    let (x, y) = forward.normalize().any_orthonormal_pair();
    let mut batch = RayBatch::default();
    for (i, (px, py)) in tile().enumerate() {
        batch.set(i, &Ray::new(eye, forward.normalize() + (x * (px - 3.5) + y * (py - 3.5)) * pixel));
    }
    batch
}

fn build(triangles: &[Triangle]) -> Bvh {
    Bvh::build(triangles, &BuildOptions::default()).expect("small enough")
}

/// Checks every kernel of this module against the scalar one; the number of hits.
fn check(bvh: &Bvh, batch: &RayBatch) -> u32 {
    let untouched = Hit { t: 9.0, u: 8.0, v: 7.0, prim: 6 };
    let expected: Vec<Option<Hit>> = (0..BATCH)
        .map(|i| if batch.active >> i & 1 != 0 { binary::closest_hit(bvh, &batch.ray(i)) } else { Some(untouched) })
        .collect();
    let blocked = batch.active_lanes().fold(0u64, |mask, i| mask | u64::from(expected[i].is_some()) << i);
    for kernel in Kernel::all() {
        if !matches!(kernel.method, Method::Packet | Method::Stream | Method::Hybrid) {
            continue;
        }
        let mut hits = HitBatch::default();
        (0..BATCH).for_each(|i| hits.set(i, Some(untouched)));
        bvh.closest_hits_with(kernel, batch, &mut hits);
        for (i, expected) in expected.iter().enumerate() {
            assert_eq!(hits.hit(i), *expected, "{} closest, ray {i}: {:?}", kernel.name(), batch.ray(i));
        }
        assert_eq!(bvh.any_hits_with(kernel, batch), blocked, "{} any", kernel.name());
    }
    blocked.count_ones()
}

#[test]
fn tiles_of_a_camera_give_the_scalar_kernels_hits_from_all_sides() {
    let mut random = Random(1);
    let bvh = build(&soup(&mut random, 1500, 0.1));
    let mut hits = 0;
    for i in 0..48 {
        let eye = random.point() * 3.0;
        hits += check(&bvh, &camera(eye, random.point() * 0.5 - eye, [0.001, 0.01, 0.1, 0.4][i % 4]));
    }
    assert!(hits > 500, "{hits}");
}

#[test]
fn axis_parallel_tiles_cross_the_axes_without_loss() {
    let bvh = build(&soup(&mut Random(2), 1500, 0.1));
    let mut hits = 0;
    for axis in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z] {
        hits += check(&bvh, &camera(axis * -3.0, axis, 0.02));
        // Parallel rays from origins that are apart.
        let mut parallel = camera(axis * -3.0, axis, 0.0);
        let (x, y) = axis.any_orthonormal_pair();
        for (i, (px, py)) in tile().enumerate() {
            parallel.set(i, &Ray::new(axis * -3.0 + x * (px * 0.1 - 0.4) + y * (py * 0.1 - 0.4), axis));
        }
        hits += check(&bvh, &parallel);
    }
    assert!(hits > 200, "{hits}");
}

#[test]
fn tiles_on_the_diagonal_have_rays_of_several_longest_axes() {
    let bvh = build(&soup(&mut Random(3), 1500, 0.1));
    for diagonal in [Vec3::ONE, Vec3::new(1.0, -1.0, 0.0), Vec3::new(0.0, -1.0, 1.0), Vec3::new(-1.0, 0.3, 1.0)] {
        check(&bvh, &camera(diagonal * -2.0, diagonal, 0.03));
        // Directions whose components are exactly equal.
        let mut equal = RayBatch::default();
        for (i, (px, py)) in tile().enumerate() {
            equal.set(i, &Ray::new(diagonal * -2.0 + Vec3::new(px, py, 0.0) * 0.1, diagonal));
        }
        check(&bvh, &equal);
    }
}

#[test]
fn rays_towards_a_light_from_many_surfaces_are_blocked_alike() {
    let mut random = Random(4);
    let bvh = build(&soup(&mut random, 1500, 0.1));
    let light = Vec3::new(0.5, 4.0, 1.0);
    for _ in 0..16 {
        let (center, spread) = (random.point(), 0.2);
        let mut batch = RayBatch::default();
        for i in 0..BATCH {
            let origin = center + random.point() * spread;
            batch.set(i, &Ray { t_min: 1e-3, t_max: 1.0, ..Ray::new(origin, light - origin) });
        }
        check(&bvh, &batch);
    }
}

#[test]
fn gaps_intervals_and_numbers_that_are_none_are_as_for_single_rays() {
    let mut random = Random(5);
    let bvh = build(&soup(&mut random, 1500, 0.1));
    for i in 0..24 {
        let eye = random.point() * 3.0;
        let mut batch = camera(eye, -eye, 0.01);
        batch.active = [0xf0f3_5555_0fff_1235, 1 << 40, 0xffff, !0][i % 4];
        for lane in 0..BATCH {
            match (lane + i) % 9 {
                0 => batch.t_max[lane] = random.unit() * 4.0,
                1 => batch.t_min[lane] = random.unit() * 4.0,
                2 => (batch.t_min[lane], batch.t_max[lane]) = (3.0, 1.0),
                3 => batch.t_max[lane] = f32::INFINITY,
                4 if i % 3 == 0 => batch.t_max[lane] = f32::NAN,
                5 if i % 5 == 0 => batch.dx[lane] = [f32::NAN, f32::INFINITY, 0.0, 1e-45][lane % 4],
                6 if i % 7 == 0 => batch.oy[lane] = [f32::NAN, f32::NEG_INFINITY, 3e38, -0.0][lane % 4],
                7 if i % 4 == 0 => (batch.dx[lane], batch.dy[lane], batch.dz[lane]) = (0.0, 0.0, 0.0),
                _ => {}
            }
        }
        check(&bvh, &batch);
    }
}

#[test]
fn scattered_rays_through_few_triangles_need_no_traversal() {
    let mut random = Random(11);
    let mut hits = 0;
    for round in 0..60 {
        let mut triangles = soup(&mut random, 1 + round % 46, 1.6);
        // One twice, and one without an area.
        triangles.push(triangles[0]);
        triangles.push(Triangle { c: triangles[0].b, ..triangles[0] });
        let bvh = build(&triangles);
        assert!(flat::is_flat(bvh.scene(super::super::kernel::Width::Eight).tree));
        let mut batch = RayBatch::default();
        for i in 0..BATCH {
            let origin = random.point();
            let mut ray = Ray::new(origin, random.point() * [1.0, 1e-3, 1e3][i % 3]);
            match i % 16 {
                0 => ray.dir = Vec3::ZERO,
                1 => ray.dir.x = f32::INFINITY,
                2 => ray.dir.y = f32::NAN,
                3 => ray.dir = Vec3::from([0.0, -0.0, 1.0]),
                4 => ray.t_max = 0.5,
                5 => ray.t_min = 0.3,
                _ => {}
            }
            batch.set(i, &ray);
        }
        batch.active = [u64::MAX, 0x8421_1248_f00d_cafe, 0xffff_0000_ffff, 0xf][round % 4];
        hits += check(&bvh, &batch);
    }
    assert!(hits > 500, "{hits}");
}

#[test]
fn of_equal_triangles_the_first_is_hit_in_beams_too() {
    let distinct = soup(&mut Random(6), 100, 0.5);
    let soup: Vec<Triangle> = distinct.iter().cycle().take(900).copied().collect();
    let bvh = build(&soup);
    let batch = camera(Vec3::Z * 3.0, -Vec3::Z, 0.02);
    assert!(check(&bvh, &batch) > 10);
    let mut hits = HitBatch::default();
    bvh.closest_hits(&batch, &mut hits);
    assert!((0..BATCH).filter_map(|i| hits.hit(i)).all(|hit| hit.prim < 100));
}

#[test]
fn distant_cameras_and_scenes_of_any_scale_lose_no_hit() {
    let mut random = Random(7);
    let soup = soup(&mut random, 800, 0.1);
    for (scale, distance) in [(1e-3, 3.0), (1e3, 3.0), (1.0, 1e4), (1e9, 3.0), (1e14, 3.0)] {
        let scaled: Vec<Triangle> = soup
            .iter()
            .map(|t| Triangle { flags: t.flags, ..Triangle::new(t.a * scale, t.b * scale, t.c * scale) })
            .collect();
        let bvh = build(&scaled);
        let away = random.point().normalize() * distance;
        check(&bvh, &camera(away * scale, -away, 0.25 / distance));
    }
}

#[test]
fn tiles_of_a_camera_are_traced_in_beams_and_scattered_rays_are_left() {
    let mut random = Random(8);
    let bvh = build(&soup(&mut random, 200, 0.1));
    let scene = bvh.scene(super::super::kernel::Width::Eight);
    let left = |batch: &RayBatch| {
        let mut hits = HitBatch::default();
        Isa::best().run(traverse::ClosestHits { scene, limits: WORTHWHILE, rays: batch, hits: &mut hits }).rays
    };
    assert_eq!(left(&camera(Vec3::Z * 3.0, Vec3::new(0.1, 0.2, -1.0), 0.001)), 0);
    let mut scattered = RayBatch::default();
    (0..BATCH).for_each(|i| scattered.set(i, &Ray::new(Vec3::ZERO, random.point())));
    assert_eq!(left(&scattered), !0);
}
