//! Two levels against brute force: to the bit over moved rays, and within a bound over triangles
//! that were moved instead.

use super::super::random::Random;
use super::super::ray::BATCH;
use super::super::triangle::{CULL_BACK, LeafTriangle};
use super::*;
use glam::{EulerRot, Quat, Vec3};

/// Rotated, scaled unevenly, mirrored as often as not.
pub(super) fn placement(random: &mut Random, mesh: usize, spread: f32) -> Placement {
    let angles = random.point() * 3.2;
    let scale = (random.point() + 1.2) * 0.3 * if random.unit() < 0.5 { Vec3::ONE } else { Vec3::new(1.0, -1.0, 1.0) };
    let turn = Quat::from_euler(EulerRot::XYZ, angles.x, angles.y, angles.z);
    Placement { mesh, object_to_world: Mat4::from_scale_rotation_translation(scale, turn, random.point() * spread) }
}

/// A scene with its parts at hand.
struct Case {
    plain: Vec<Triangle>,
    meshes: Vec<Vec<Triangle>>,
    placements: Vec<Placement>,
}

impl Case {
    fn build(&self) -> TwoLevel {
        TwoLevel::build(&self.plain, &self.meshes, &self.placements, &BuildOptions::default()).expect("a good case")
    }

    /// Every triangle of every instance, tested with the ray moved to its space.
    fn brute_force(&self, ray: &Ray) -> Option<Hit> {
        let mut best = ray.unhit();
        let mut found = false;
        let mut test = |triangles: &[Triangle], ray: &Ray, first: u32| {
            for (i, triangle) in triangles.iter().enumerate() {
                if let Some(hit) = LeafTriangle::new(triangle, first + i as u32).intersect(ray, &ray.shear(), &best) {
                    (best, found) = (hit, true);
                }
            }
        };
        test(&self.plain, ray, 0);
        let mut first = self.plain.len() as u32;
        for placement in &self.placements {
            let mesh = &self.meshes[placement.mesh];
            let instance = Instance::new(placement.object_to_world, Some((Vec3::NEG_ONE, Vec3::ONE)), 0, first);
            let instance = instance.expect("a good placement");
            test(mesh, &instance.ray_to_object(ray), first);
            first += mesh.len() as u32;
        }
        found.then_some(best)
    }

    /// All triangles, moved to the world.
    fn flattened(&self) -> Vec<Triangle> {
        let moved = |p: &Placement| {
            let m = p.object_to_world;
            let mirrored = m.determinant() < 0.0;
            self.meshes[p.mesh].iter().map(move |t| {
                let [a, b, c] = [t.a, t.b, t.c].map(|v| m.transform_point3(v));
                if mirrored { Triangle { a, b: c, c: b, ..*t } } else { Triangle { a, b, c, ..*t } }
            })
        };
        self.plain.iter().copied().chain(self.placements.iter().flat_map(moved)).collect()
    }

    /// Checks every answer about the rays against brute force, and returns the number of hits.
    fn check(&self, rays: &[Ray]) -> usize {
        let tree = self.build();
        let mut count = 0;
        for rays in rays.chunks(BATCH) {
            let mut batch = RayBatch::default();
            rays.iter().enumerate().for_each(|(i, ray)| batch.set(i, ray));
            let mut hits = HitBatch::default();
            tree.closest_hits(&batch, &mut hits);
            let any = tree.any_hits(&batch);
            for (i, ray) in rays.iter().enumerate() {
                let expected = self.brute_force(ray);
                assert_eq!(hits.hit(i), expected, "{ray:?}");
                assert_eq!(tree.closest_hit(ray), expected, "{ray:?}");
                assert_eq!(any >> i & 1 != 0, expected.is_some(), "{ray:?}");
                count += usize::from(expected.is_some());
            }
        }
        count
    }
}

fn random_case(seed: u64) -> Case {
    let mut random = Random(seed);
    let meshes = vec![random.soup(60, 0.4), random.soup(1, 1.0), random.soup(300, 0.2)];
    let placements = (0..120).map(|i| placement(&mut random, i % 3, 1.5)).collect();
    Case { plain: random.soup(40, 1.0), meshes, placements }
}

/// Rays from all over into the case, and bundles that start close together.
fn rays(random: &mut Random) -> Vec<Ray> {
    let aimed = |r: &mut Random| {
        let origin = r.point() * 3.0;
        Ray::new(origin, r.point() * 1.5 - origin)
    };
    let mut rays: Vec<Ray> = (0..640).map(|_| aimed(random)).collect();
    for _ in 0..10 {
        let middle = aimed(random);
        rays.extend((0..BATCH).map(|_| Ray::new(middle.origin, middle.dir + random.point() * 0.1)));
    }
    rays
}

#[test]
fn hits_are_those_of_every_triangle_tested_with_the_moved_ray() {
    for seed in [11, 12, 13] {
        let hits = random_case(seed).check(&rays(&mut Random(seed + 100)));
        assert!(hits > 300, "{hits}");
    }
}

#[test]
fn hits_are_those_of_moved_triangles_within_rounding() {
    let case = random_case(21);
    let (tree, flat) = (case.build(), Bvh::build(case.flattened(), &BuildOptions::default()).unwrap());
    let (mut same, mut different) = (0, 0);
    for ray in rays(&mut Random(22)) {
        match (tree.closest_hit(&ray), flat.closest_hit(&ray)) {
            (Some(a), Some(b)) if a.prim == b.prim => {
                // Coordinates up to 3 are rounded to 2⁻²² and divided by a direction's length and a
                // scale above 0.05.
                let reach = ray.dir.length() * a.t + 3.0;
                assert!((a.t - b.t).abs() * ray.dir.length() < 1e-4 * reach, "{a:?} {b:?}");
                same += 1;
            }
            (None, None) => {}
            // At an edge either may find the neighbor, or nothing.
            _ => different += 1,
        }
    }
    assert!(same > 300 && different * 100 < same, "{same} {different}");
}

#[test]
fn distant_origins_and_uneven_scales_lose_no_hit() {
    let mut random = Random(31);
    let mut case = random_case(32);
    case.placements.iter_mut().for_each(|p| p.object_to_world *= Mat4::from_scale(Vec3::new(1e-3, 10.0, 1.0)));
    // Aimed at places in the case from far away, where the moved origin is off by more than a
    // mesh's thickness.
    for far in [10.0, 1e3, 1e5] {
        let aimed = |r: &mut Random| {
            let origin = r.point() * far;
            Ray::new(origin, r.point() * 1.5 - origin)
        };
        let rays: Vec<Ray> = (0..512).map(|_| aimed(&mut random)).collect();
        assert!(case.check(&rays) > 20, "{far}");
    }
}

#[test]
fn of_equal_instances_the_first_is_hit() {
    let mut case = random_case(41);
    case.placements.truncate(20);
    case.placements.extend_from_within(..);
    case.placements.reverse();
    let tree = case.build();
    let end = case.plain.len() + case.placements[..20].iter().map(|p| case.meshes[p.mesh].len()).sum::<usize>();
    let mut random = Random(42);
    let hits =
        rays(&mut random).iter().filter_map(|r| tree.closest_hit(r)).map(|h| h.prim as usize).collect::<Vec<_>>();
    assert!(hits.len() > 50 && hits.iter().all(|&p| p < end), "{end}");
    case.check(&rays(&mut random));
}

#[test]
fn a_mirrored_instance_shows_the_same_side_of_its_triangles() {
    let mut case = random_case(51);
    case.meshes.iter_mut().flatten().for_each(|t| t.flags = CULL_BACK);
    assert!(case.check(&rays(&mut Random(52))) > 100);
    let flat = case.flattened();
    let tree = case.build();
    for ray in rays(&mut Random(53)) {
        let Some(hit) = tree.closest_hit(&ray).filter(|h| h.prim >= 40) else { continue };
        let t = &flat[hit.prim as usize];
        let facing = ray.dir.normalize().dot((t.b - t.a).cross(t.c - t.a).normalize());
        assert!(facing < 1e-3, "{facing}");
    }
}

#[test]
fn intervals_are_open_and_batches_may_have_gaps() {
    let mesh = vec![Triangle::new(Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0))];
    let placed = |z: f32| Placement { mesh: 0, object_to_world: Mat4::from_translation(Vec3::Z * z) };
    let case = Case { plain: vec![], meshes: vec![mesh], placements: vec![placed(2.0), placed(4.0), placed(6.0)] };
    let tree = case.build();
    let ray = |t_min, t_max| Ray { t_min, t_max, ..Ray::new(Vec3::ZERO, Vec3::Z) };
    let t = |r: Ray| tree.closest_hit(&r).map(|h| (h.t, h.prim));
    assert_eq!(t(ray(0.0, 10.0)), Some((2.0, 0)));
    assert_eq!(t(ray(2.0, 10.0)), Some((4.0, 1)));
    assert_eq!(t(ray(2.0, 4.0)), None);
    assert_eq!((tree.any_hit(&ray(4.0, 6.0)), tree.any_hit(&ray(4.0, 6.1))), (false, true));
    let mut batch = RayBatch::default();
    batch.set(5, &ray(0.0, 10.0));
    batch.set(63, &ray(4.0, 10.0));
    let mut hits = HitBatch::default();
    tree.closest_hits(&batch, &mut hits);
    assert_eq!(
        (hits.hit(5).unwrap().prim, hits.hit(63).unwrap().prim, tree.any_hits(&batch)),
        (0, 2, 1 << 5 | 1 << 63)
    );
}

#[test]
fn without_instances_it_is_the_plain_tree() {
    let mut random = Random(61);
    let plain = random.soup(100, 0.4);
    let tree = TwoLevel::build(&plain, &[], &[], &BuildOptions::default()).unwrap();
    assert!(!tree.has_instances());
    for ray in rays(&mut random) {
        assert_eq!(tree.closest_hit(&ray), tree.plain().closest_hit(&ray));
    }
}

#[test]
fn a_thousand_instances_take_little_more_memory_than_one() {
    let mut random = Random(71);
    let meshes = vec![random.soup(20_000, 0.01)];
    let bytes = |count: usize| {
        let placements: Vec<_> = (0..count).map(|i| placement(&mut Random(i as u64 + 1), 0, 50.0)).collect();
        TwoLevel::build(&[], &meshes, &placements, &BuildOptions::default()).unwrap().bytes()
    };
    let (one, thousand) = (bytes(1), bytes(1000));
    assert!(thousand * 10 < one * 11, "{one} {thousand}");
}

#[test]
fn what_cannot_be_placed_is_refused() {
    let meshes = vec![Random(81).soup(10, 0.4)];
    let build = |object_to_world: Mat4, mesh: usize| {
        let good = Placement { mesh: 0, object_to_world: Mat4::IDENTITY };
        TwoLevel::build(&[], &meshes, &[good, Placement { mesh, object_to_world }], &BuildOptions::default()).err()
    };
    let misplaced = Some(TwoLevelError::Misplaced { index: 1 });
    assert_eq!(build(Mat4::IDENTITY, 0), None);
    assert_eq!(build(Mat4::IDENTITY, 1), misplaced);
    assert_eq!(build(Mat4::from_scale(Vec3::new(1.0, 0.0, 1.0)), 0), misplaced);
    assert_eq!(build(Mat4::from_scale(Vec3::splat(1e-38)) * Mat4::from_scale(Vec3::splat(1e-3)), 0), misplaced);
    assert_eq!(
        build(Mat4::from_translation(Vec3::splat(f32::MAX)) * Mat4::from_scale(Vec3::splat(1e38)), 0),
        misplaced
    );
    assert_eq!(build(Mat4::NAN, 0), misplaced);
    let large = vec![vec![Triangle::default(); 70_000]];
    let many = vec![Placement { mesh: 0, object_to_world: Mat4::IDENTITY }; 61_357];
    let error = TwoLevel::build(&[], &large, &many, &BuildOptions::default()).unwrap_err();
    let text = "with every instance counted there are 4294990000 triangles; 4294967294 is the limit";
    assert_eq!(error.to_string(), text);
}
