//! The tree against brute force: every traversal, on friendly and on hostile input.

use super::random::Random;
use super::triangle::LeafTriangle;
use super::*;
use glam::Vec3;
use proptest::prelude::*;

fn build(triangles: &[Triangle]) -> Bvh {
    Bvh::build(triangles, &BuildOptions::default()).expect("small enough")
}

fn brute_force(triangles: &[Triangle], ray: &Ray) -> Option<Hit> {
    let (shear, mut best) = (ray.shear(), ray.unhit());
    let mut found = false;
    for (i, triangle) in triangles.iter().enumerate() {
        if let Some(hit) = LeafTriangle::new(triangle, i as u32).intersect(ray, &shear, &best) {
            best = hit;
            found = true;
        }
    }
    found.then_some(best)
}

/// A trace of a batch: the hits, and the mask of the rays that hit anything.
fn trace(rays: &[Ray], closest: impl Fn(&RayBatch, &mut HitBatch), any: impl Fn(&RayBatch) -> u64) -> (HitBatch, u64) {
    let mut batch = RayBatch::default();
    for (i, ray) in rays.iter().enumerate() {
        batch.set(i, ray);
    }
    let mut hits = HitBatch::default();
    closest(&batch, &mut hits);
    (hits, any(&batch))
}

/// Checks that every kernel gives brute force's bits, and what is chosen of them in the tree of
/// every builder, and returns the number of hits. A batch takes a few of the kernels, the next
/// batch the next ones, for there are many.
fn check(triangles: &[Triangle], rays: &[Ray]) -> usize {
    let trees = Quality::ALL.map(|quality| {
        let options = BuildOptions { quality, ..BuildOptions::default() };
        (quality, Bvh::build(triangles, &options).expect("small enough"))
    });
    check_trees(&trees, triangles, rays)
}

/// The same of given trees.
pub(super) fn check_trees(trees: &[(Quality, Bvh)], triangles: &[Triangle], rays: &[Ray]) -> usize {
    let kernels = Kernel::all();
    let mut next = kernels.iter().cycle();
    let at_once = if rays.len() <= BATCH { kernels.len() } else { 6 };
    let mut count = 0;
    for rays in rays.chunks(BATCH) {
        let expected: Vec<_> = rays.iter().map(|ray| brute_force(triangles, ray)).collect();
        count += expected.iter().flatten().count();
        let agrees = |name: &str, quality: Quality, (hits, any): (HitBatch, u64)| {
            for (i, (ray, expected)) in rays.iter().zip(&expected).enumerate() {
                assert_eq!(&hits.hit(i), expected, "{name} closest, {quality:?}, {ray:?}");
                assert_eq!(any >> i & 1 != 0, expected.is_some(), "{name} any, {quality:?}, {ray:?}");
            }
        };
        for (quality, bvh) in trees {
            agrees("chosen", *quality, trace(rays, |r, h| bvh.closest_hits(r, h), |r| bvh.any_hits(r)));
            let scalar = |r: &RayBatch, h: &mut HitBatch| bvh.closest_hits_with(Kernel::SCALAR, r, h);
            agrees("scalar", *quality, trace(rays, scalar, |r| bvh.any_hits_with(Kernel::SCALAR, r)));
        }
        for (i, &kernel) in next.by_ref().take(at_once).enumerate() {
            let (quality, bvh) = &trees[i % trees.len()];
            let closest = |r: &RayBatch, h: &mut HitBatch| bvh.closest_hits_with(kernel, r, h);
            agrees(&kernel.name(), *quality, trace(rays, closest, |r| bvh.any_hits_with(kernel, r)));
        }
    }
    count
}

/// A batch of rays from one place, a little apart, as of a tile of an image.
fn bundle(from: Vec3, to: Vec3, spread: f32) -> impl Iterator<Item = Ray> {
    let ahead = to - from;
    let (right, up) = ahead.normalize_or(Vec3::X).any_orthonormal_pair();
    (0..BATCH).map(move |i| {
        let (x, y) = ((i % 8) as f32 - 3.5, (i / 8) as f32 - 3.5);
        Ray::new(from, ahead + (right * x + up * y) * spread)
    })
}

#[test]
fn bundles_of_rays_give_brute_forces_hits() {
    let mut random = Random(11);
    let soup = random.soup(2000, 0.15);
    let (mut rays, mut shadows) = (Vec::new(), Vec::new());
    for spread in [0.0, 1e-4, 0.01, 0.1, 1.0] {
        for _ in 0..4 {
            rays.extend(bundle(random.point() * 2.0, random.point() * 0.5, spread));
        }
    }
    let light = Vec3::new(0.3, 2.0, 0.1);
    for (i, ray) in rays.iter().enumerate() {
        // Towards a light, each from a place of its own and with an interval of its own.
        let from = ray.origin + ray.dir * (0.2 + 0.001 * i as f32);
        shadows.push(Ray { t_max: 1.0 - 1e-4 * (i % 7) as f32, ..Ray::new(from, light - from) });
    }
    assert!(check(&soup, &rays) > 300);
    assert!(check(&soup, &shadows) > 300);
}

#[test]
fn huge_and_tiny_triangles_in_one_scene_give_brute_forces_hits() {
    let mut random = Random(12);
    let sizes = [1e-6f32, 1e-4, 1e-2, 1.0, 1e3, 1e6];
    let soup: Vec<Triangle> = (0..900)
        .map(|i| {
            let t = random.triangle(1.0);
            let size = sizes[i % sizes.len()];
            Triangle::new(t.a * size, t.b * size, t.c * size)
        })
        .collect();
    let mut rays: Vec<Ray> = (0..300).map(|i| Ray { origin: random.point() * sizes[i % 6], ..random.ray() }).collect();
    // At the corners and the edges' middles of some, from far and from near.
    for (i, t) in soup.iter().enumerate().step_by(5) {
        let from = random.point() * sizes[(i / 5) % 6] * 3.0;
        rays.extend([t.a, (t.b + t.c) * 0.5].map(|target| Ray::new(from, target - from)));
    }
    assert!(check(&soup, &rays) > 300);
}

#[test]
fn rays_with_infinite_and_zero_components_agree_with_brute_force() {
    let mut random = Random(13);
    let soup = random.soup(300, 0.5);
    let values = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, 1e-40, f32::MAX, f32::MIN_POSITIVE];
    let mut rays = Vec::new();
    for (i, x) in values.into_iter().enumerate() {
        for y in values {
            let dir = [Vec3::new(x, y, 1.0), Vec3::new(1.0, x, y), Vec3::new(y, 0.0, x)][i % 3];
            rays.push(Ray::new(random.point(), dir));
            rays.push(Ray { origin: Vec3::new(x, 0.1, y), ..random.ray() });
        }
    }
    check(&soup, &rays);
}

#[test]
fn random_triangles_give_brute_forces_hits() {
    let mut random = Random(1);
    for (count, size) in [(1, 2.0), (2, 2.0), (5, 1.0), (9, 1.0), (100, 0.5), (3000, 0.1)] {
        let soup = random.soup(count, size);
        let rays: Vec<Ray> = (0..500).map(|_| random.ray()).collect();
        assert!(check(&soup, &rays) > 10, "{count} triangles");
    }
}

#[test]
fn all_hits_of_a_ray_are_those_of_each_triangle_alone_with_the_side_of_its_normal() {
    let mut random = Random(21);
    let soup = random.soup(400, 0.6);
    let mut crossings = Vec::new();
    let mut count = 0;
    for quality in Quality::ALL {
        let bvh = Bvh::build(&soup, &BuildOptions { quality, ..BuildOptions::default() }).expect("small enough");
        for ray in (0..200).map(|_| random.ray()) {
            binary::all_hits(&bvh, &ray, &mut crossings);
            let mut expected: Vec<(f32, u32)> = Vec::new();
            for (i, triangle) in soup.iter().enumerate() {
                let alone = brute_force(std::slice::from_ref(triangle), &ray);
                expected.extend(alone.map(|hit| (hit.t, i as u32)));
            }
            expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let found: Vec<(f32, u32)> = crossings.iter().map(|crossing| (crossing.t, crossing.prim)).collect();
            assert_eq!(found, expected, "{quality:?}, {ray:?}");
            for crossing in &crossings {
                let Triangle { a, b, c, .. } = soup[crossing.prim as usize];
                let facing = ray.dir.dot((b - a).cross(c - a));
                assert!(facing.abs() < 1e-6 || crossing.enters == (facing < 0.0), "{crossing:?} {facing}");
            }
            count += crossings.len();
        }
    }
    assert!(count > 1000, "{count} hits");
}

#[test]
fn a_tree_of_nothing_is_missed() {
    let bvh = build(&[]);
    assert_eq!(bvh.closest_hit(&Ray::new(Vec3::ZERO, Vec3::X)), None);
    assert!(!bvh.any_hit(&Ray::new(Vec3::ONE, -Vec3::ONE)));
    assert_eq!(bvh.stats().depth, 1);
}

#[test]
fn the_scale_of_the_scene_does_not_matter() {
    let mut random = Random(2);
    // About the bunny's extent and edge length.
    let native: Vec<Triangle> = random.soup(2000, 0.1);
    let rays: Vec<Ray> = (0..500).map(|_| random.ray()).collect();
    let scaled = |factor: f32| {
        let soup: Vec<Triangle> =
            native.iter().map(|t| Triangle::new(t.a * factor, t.b * factor, t.c * factor)).collect();
        let rays: Vec<Ray> = rays.iter().map(|r| Ray::new(r.origin * factor, r.dir)).collect();
        check(&soup, &rays)
    };
    let hits = scaled(0.1);
    assert!(hits > 100);
    for factor in [0.1 * 1000.0, 0.1 / 1000.0, 0.1 * 1024.0 * 1024.0 * 1024.0] {
        let found = scaled(factor);
        assert!(found.abs_diff(hits) <= 2, "{found} hits instead of {hits} at scale {factor}");
    }
}

/// A height field on integer coordinates, whose triangles share edges and whose boxes share planes.
fn grid(n: i32) -> Vec<Triangle> {
    let at = |x: i32, y: i32| Vec3::new(x as f32, y as f32, ((x * 7 + y * 13) % 3) as f32);
    let cells = (0..n).flat_map(|y| (0..n).map(move |x| (x, y)));
    cells
        .flat_map(|(x, y)| {
            [
                Triangle::new(at(x, y), at(x + 1, y), at(x, y + 1)),
                Triangle::new(at(x + 1, y + 1), at(x, y + 1), at(x + 1, y)),
            ]
        })
        .collect()
}

#[test]
fn axis_parallel_rays_through_vertices_edges_and_box_sides_lose_no_hit() {
    let soup = grid(6);
    let mut rays = Vec::new();
    for half_y in 0..=12 {
        for half_x in 0..=12 {
            let (x, y) = (half_x as f32 * 0.5, half_y as f32 * 0.5);
            for zero in [0.0, -0.0] {
                rays.push(Ray::new(Vec3::new(x, y, 5.0), Vec3::new(zero, zero, -1.0)));
                rays.push(Ray::new(Vec3::new(x, y, -5.0), Vec3::new(zero, zero, 1.0)));
                rays.push(Ray::new(Vec3::new(-1.0, x, y * 0.1), Vec3::new(1.0, zero, zero)));
                rays.push(Ray::new(Vec3::new(x, 20.0, y * 0.1), Vec3::new(zero, -1.0, zero)));
            }
        }
    }
    let hits = check(&soup, &rays);
    assert!(hits >= 13 * 13 * 4, "{hits} hits: the vertical rays all meet the field");
}

#[test]
fn a_ray_of_direction_zero_or_nan_hits_nothing_and_ends() {
    let soup = grid(4);
    for dir in [Vec3::ZERO, Vec3::NAN, Vec3::new(0.0, f32::NAN, 1.0)] {
        assert_eq!(check(&soup, &[Ray::new(Vec3::new(1.0, 1.0, 1.0), dir)]), 0);
    }
    check(&soup, &[Ray::new(Vec3::NAN, Vec3::Z), Ray::new(Vec3::ONE, Vec3::INFINITY)]);
}

#[test]
fn a_ray_that_starts_on_a_surface_does_not_hit_it() {
    let floor =
        [Triangle::new(Vec3::ZERO, Vec3::X, Vec3::Y), Triangle::new(Vec3::Z, Vec3::X + Vec3::Z, Vec3::Y + Vec3::Z)];
    let from = Ray::new(Vec3::new(0.25, 0.25, 0.0), Vec3::Z);
    assert_eq!(check(&floor, &[from]), 1);
    assert_eq!(build(&floor).closest_hit(&from).map(|h| (h.prim, h.t)), Some((1, 1.0)));
}

#[test]
fn the_ends_of_the_interval_are_not_in_it() {
    let floor = [Triangle::new(Vec3::ZERO, Vec3::X, Vec3::Y)];
    let bvh = build(&floor);
    let ray = |t_min, t_max| Ray { t_min, t_max, ..Ray::new(Vec3::new(0.25, 0.25, -2.0), Vec3::Z) };
    for (t_min, t_max, expected) in [
        (0.0, 2.0, false),
        (0.0, 2.0f32.next_up(), true),
        (2.0, 3.0, false),
        (2.0f32.next_down(), 3.0, true),
        (0.0, f32::INFINITY, true),
        (3.0, 1.0, false),
    ] {
        let ray = ray(t_min, t_max);
        assert_eq!(check(&floor, &[ray]) == 1, expected, "{t_min} to {t_max}");
        assert_eq!(bvh.any_hit(&ray), expected, "{t_min} to {t_max}");
    }
}

#[test]
fn of_equal_hits_the_lowest_primitive_wins() {
    let mut random = Random(3);
    let distinct = random.soup(200, 0.4);
    let soup: Vec<Triangle> = distinct.iter().cycle().take(1000).copied().collect();
    let rays: Vec<Ray> = (0..500).map(|_| random.ray()).collect();
    assert!(check(&soup, &rays) > 50);
    let bvh = build(&soup);
    for hit in rays.iter().filter_map(|ray| bvh.closest_hit(ray)) {
        assert!(hit.prim < 200, "primitive {} has an equal below it", hit.prim);
    }
}

#[test]
fn one_sided_triangles_are_hit_from_the_front_only() {
    let mut triangle = Triangle::new(Vec3::ZERO, Vec3::X, Vec3::Y);
    triangle.flags = CULL_BACK;
    let up = Ray::new(Vec3::new(0.2, 0.2, -1.0), Vec3::Z);
    let down = Ray::new(Vec3::new(0.2, 0.2, 1.0), -Vec3::Z);
    // The normal (b - a) × (c - a) is +z: going up, dot(dir, normal) > 0.
    assert_eq!(check(&[triangle], &[up]), 0);
    assert_eq!(check(&[triangle], &[down]), 1);
    let mut random = Random(4);
    let mut soup = random.soup(500, 0.4);
    for t in soup.iter_mut().step_by(2) {
        t.flags = CULL_BACK;
    }
    let rays: Vec<Ray> = (0..500).map(|_| random.ray()).collect();
    assert!(check(&soup, &rays) > 50);
}

#[test]
fn hostile_geometry_builds_and_traces() {
    let mut random = Random(5);
    let rays: Vec<Ray> = (0..200).map(|_| random.ray()).collect();
    let point = Triangle::new(Vec3::ONE, Vec3::ONE, Vec3::ONE);
    let sliver = |i: usize| {
        let x = i as f32 * 1e-6;
        Triangle::new(Vec3::new(x, -1.0, 0.0), Vec3::new(x, 1.0, 1e-7), Vec3::new(x + 1e-7, 0.0, 0.5))
    };
    let geometric = |i: usize| {
        let s = 0.5f32.powi(i as i32 / 4);
        Triangle::new(Vec3::X * s, Vec3::Y * s, Vec3::Z * s)
    };
    check(&vec![point; 1000], &rays);
    check(&vec![Triangle::new(Vec3::ZERO, Vec3::X, Vec3::Y); 1000], &rays);
    check(&(0..1000).map(sliver).collect::<Vec<_>>(), &rays);
    check(&(0..500).map(geometric).collect::<Vec<_>>(), &rays);
    check(&vec![Triangle::default(); 100], &rays);
    let huge: Vec<Triangle> =
        random.soup(100, 0.5).iter().map(|t| Triangle::new(t.a * 3e38, t.b * 3e38, t.c * 3e38)).collect();
    assert!(build(&huge).stats().depth <= node::MAX_DEPTH);
}

#[test]
fn triangles_that_are_not_finite_are_left_out_and_counted() {
    let mut soup = Random(6).soup(50, 0.5);
    soup[3].a.x = f32::NAN;
    soup[17].c.z = f32::INFINITY;
    let bvh = build(&soup);
    assert_eq!((bvh.stats().skipped, bvh.stats().triangles), (2, 48));
    let mut random = Random(7);
    for ray in (0..300).map(|_| random.ray()) {
        assert_eq!(bvh.closest_hit(&ray), brute_force(&soup, &ray));
    }
}

#[test]
fn a_batch_gives_what_its_rays_give_and_leaves_inactive_ones_alone() {
    let mut random = Random(11);
    let soup = random.soup(2000, 0.2);
    let bvh = build(&soup);
    let mut batch = RayBatch::default();
    for i in 0..BATCH {
        batch.set(i, &random.ray());
    }
    batch.active = 0xF0F3_5555_0FFF_1235;
    let untouched = Hit { t: 9.0, u: 8.0, v: 7.0, prim: 6 };
    let mut hits = HitBatch::default();
    (0..BATCH).for_each(|i| hits.set(i, Some(untouched)));
    bvh.closest_hits(&batch, &mut hits);
    let any = bvh.any_hits(&batch);
    assert_eq!(any & !batch.active, 0);
    for i in 0..BATCH {
        let expected = if batch.active >> i & 1 != 0 {
            let single = brute_force(&soup, &batch.ray(i));
            assert_eq!(any >> i & 1 != 0, single.is_some());
            single
        } else {
            Some(untouched)
        };
        assert_eq!(hits.hit(i), expected);
    }
}

proptest! {
    #[test]
    fn small_integer_scenes_agree_with_brute_force(
        corners in prop::collection::vec((-3i8..4, -3i8..4, -3i8..4), 3..60),
        origins in prop::collection::vec((-4i8..5, -4i8..5, -4i8..5), 1..20),
        dirs in prop::collection::vec((-2i8..3, -2i8..3, -2i8..3), 1..20),
    ) {
        let point = |&(x, y, z): &(i8, i8, i8)| Vec3::new(x.into(), y.into(), z.into());
        let soup: Vec<Triangle> =
            corners.windows(3).map(|w| Triangle::new(point(&w[0]), point(&w[1]), point(&w[2]))).collect();
        let rays: Vec<Ray> =
            origins.iter().flat_map(|o| dirs.iter().map(move |d| Ray::new(point(o), point(d)))).collect();
        check(&soup, &rays);
    }
}
