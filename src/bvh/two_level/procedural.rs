//! The BVH over procedural primitives: a level of its own beside triangles and instances.
//!
//! A leaf calls the primitive's intersection shader through [`Intersect`], with many rays at once,
//! transformed to the primitive's space, with the same `t` as in the world. Of hits at equal `t` the
//! lower primitive number wins, as in all BVHs, whatever the order of traversal.

use super::super::build::BuildError;
use super::super::ray::{BATCH, Hit, HitBatch, RayBatch};
use super::instance::{Instance, Reach};
use super::traverse::Walk;
use super::upper::Upper;
use glam::{Mat4, Vec3};

/// A procedural primitive: its bounds, its transform and the arguments of its shader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProceduralBounds {
    /// The least and the greatest corner of its box in its own space.
    pub bounds: (Vec3, Vec3),
    /// Object to world: an affine transform with an inverse.
    pub object_to_world: Mat4,
    /// The primitive number.
    pub number: u32,
    /// The argument `data` of its intersection shader.
    pub data: u32,
}

/// A primitive that cannot be in a BVH.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProceduralError {
    /// The BVH cannot be built.
    #[error(transparent)]
    Tree(#[from] BuildError),
    /// The bounds, or the transform, are not finite.
    #[error("the bounds of primitive {index} are not finite")]
    NonFinite {
        /// Index of the primitive among those given.
        index: usize,
    },
}

/// Runs intersection shaders.
pub trait Intersect {
    /// The nearest hits of the active rays, which are in the space of the primitive with this
    /// `data`: a distance between `t_min` and `t_max` for each, below 0 for a miss.
    fn intersect(&self, data: u32, rays: &RayBatch) -> [f32; BATCH];
}

/// The BVH over procedural primitives.
#[derive(Debug, Default)]
pub struct ProceduralBvh {
    upper: Option<Upper>,
}

impl ProceduralBvh {
    /// Builds the BVH.
    ///
    /// # Errors
    /// A primitive whose bounds in the world are not finite.
    pub fn build(primitives: &[ProceduralBounds]) -> Result<Self, ProceduralError> {
        if primitives.is_empty() {
            return Ok(Self::default());
        }
        let place = |(index, p): (usize, &ProceduralBounds)| {
            let instance = Instance::new(p.object_to_world, Some(p.bounds), p.data, p.number);
            instance.ok_or(ProceduralError::NonFinite { index })
        };
        let instances = primitives.iter().enumerate().map(place).collect::<Result<Vec<_>, _>>()?;
        let reach = Reach::from_placements(primitives.iter().map(|p| p.object_to_world));
        Ok(Self { upper: Some(Upper::new(&instances, reach)?) })
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.upper.is_none()
    }

    /// The corners of the box around each of them in the world.
    pub fn boxes(&self) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
        let instances = self.upper.iter().flat_map(Upper::instances);
        instances.map(|i| (Vec3::from(i.min), Vec3::from(i.max)))
    }

    /// The corners of the box around all of them in the world; `None` where there is none.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        self.boxes().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Replaces hits of the active rays by nearer hits with these primitives, and by equally near
    /// ones with a lower number.
    pub fn closest_hits(&self, rays: &RayBatch, hits: &mut HitBatch, test: &impl Intersect) {
        let Some(upper) = &self.upper else { return };
        Walk::new(upper, rays, |lane| hits.hit(lane).map(|h| h.t)).closest(hits, |primitive, rays, found| {
            let distances = test.intersect(primitive.tree, rays);
            for lane in rays.active_lanes() {
                let t = distances[lane];
                // Walks add the number of an instance's first primitive: here it has one.
                found.set(lane, (t >= 0.0).then_some(Hit { t, u: 0.0, v: 0.0, prim: 0 }));
            }
        });
    }

    /// The active rays that hit one of these primitives.
    pub fn any_hits(&self, rays: &RayBatch, test: &impl Intersect) -> u64 {
        let Some(upper) = &self.upper else { return 0 };
        Walk::new(upper, rays, |_| None).any(|primitive, rays| {
            let distances = test.intersect(primitive.tree, rays);
            rays.active_lanes().fold(0, |hit, lane| hit | u64::from(distances[lane] >= 0.0) << lane)
        })
    }

    /// The BVH with its records.
    pub(super) fn upper(&self) -> Option<&Upper> {
        self.upper.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::random::Random;
    use super::super::super::ray::Ray;
    use super::super::tests::placement;
    use super::*;
    use std::cell::Cell;

    /// Spheres of radius 1 in their own space, all of them.
    struct Spheres {
        asked: Cell<usize>,
    }

    fn sphere(ray: &Ray) -> Option<f32> {
        let (a, b, c) = (ray.dir.dot(ray.dir), ray.origin.dot(ray.dir), ray.origin.dot(ray.origin) - 1.0);
        let root = (b * b - a * c).sqrt();
        [(-b - root) / a, (-b + root) / a].into_iter().find(|t| *t > ray.t_min && *t < ray.t_max)
    }

    impl Intersect for Spheres {
        fn intersect(&self, _: u32, rays: &RayBatch) -> [f32; BATCH] {
            self.asked.set(self.asked.get() + rays.active.count_ones() as usize);
            let mut t = [-1.0; BATCH];
            rays.active_lanes().for_each(|lane| t[lane] = sphere(&rays.ray(lane)).unwrap_or(-1.0));
            t
        }
    }

    /// Every primitive asked, with the ray moved to its space.
    fn brute_force(primitives: &[ProceduralBounds], ray: &Ray) -> Option<(f32, u32)> {
        let hits = primitives.iter().filter_map(|p| {
            let instance = Instance::new(p.object_to_world, Some(p.bounds), p.data, p.number).expect("a good place");
            Some((sphere(&instance.ray_to_object(ray))?, p.number))
        });
        hits.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
    }

    #[test]
    fn many_primitives_are_hit_as_brute_force_says_and_few_are_asked() {
        let mut random = Random(7);
        let unit = (Vec3::NEG_ONE, Vec3::ONE);
        let mut primitives: Vec<ProceduralBounds> = (0..500)
            .map(|number| ProceduralBounds {
                bounds: unit,
                object_to_world: placement(&mut random, 0, 8.0).object_to_world,
                number: 1000 + number,
                data: number,
            })
            .collect();
        // Of those that are twice in one place the lower number counts, whichever was given first.
        let twins: Vec<ProceduralBounds> =
            primitives[..50].iter().map(|p| ProceduralBounds { number: p.number - 500, ..*p }).collect();
        primitives.extend(twins);
        let tree = ProceduralBvh::build(&primitives).expect("good primitives");
        let test = Spheres { asked: Cell::new(0) };
        let (mut count, mut lower) = (0, 0);
        let rays: Vec<Ray> = (0..2000).map(|_| Ray { origin: random.point() * 10.0, ..random.ray() }).collect();
        for rays in rays.chunks(BATCH) {
            let mut batch = RayBatch::default();
            rays.iter().enumerate().for_each(|(i, ray)| batch.set(i, ray));
            let mut hits = HitBatch::default();
            tree.closest_hits(&batch, &mut hits, &test);
            let any = tree.any_hits(&batch, &test);
            for (i, ray) in rays.iter().enumerate() {
                let expected = brute_force(&primitives, ray);
                assert_eq!(hits.hit(i).map(|h| (h.t, h.prim)), expected, "{ray:?}");
                assert_eq!(any >> i & 1 != 0, expected.is_some(), "{ray:?}");
                count += usize::from(expected.is_some());
                lower += usize::from(expected.is_some_and(|e| e.1 < 1000));
            }
        }
        assert!(count > 400 && lower > 10, "{count} hits, {lower} of twins");
        assert!(test.asked.get() < rays.len() * primitives.len() / 20, "{} rays were asked about", test.asked.get());
    }

    #[test]
    fn what_was_hit_before_is_kept_where_it_is_nearer_or_lower() {
        let at = |number| ProceduralBounds {
            bounds: (Vec3::NEG_ONE, Vec3::ONE),
            object_to_world: Mat4::IDENTITY,
            number,
            data: 0,
        };
        let tree = ProceduralBvh::build(&[at(5)]).expect("a good primitive");
        let test = Spheres { asked: Cell::new(0) };
        let mut batch = RayBatch::default();
        batch.set(0, &Ray::new(Vec3::Z * -3.0, Vec3::Z));
        for (t, prim, expected) in [(1.0, 9, 9), (2.0, 4, 4), (2.0, 6, 5), (2.5, 4, 5)] {
            let mut hits = HitBatch::default();
            hits.set(0, Some(Hit { t, u: 0.0, v: 0.0, prim }));
            tree.closest_hits(&batch, &mut hits, &test);
            assert_eq!(hits.hit(0).map(|h| h.prim), Some(expected), "{t} {prim}");
        }
    }

    #[test]
    fn non_finite_bounds_are_an_error() {
        let endless = ProceduralBounds {
            bounds: (Vec3::NEG_ONE, Vec3::splat(f32::INFINITY)),
            object_to_world: Mat4::IDENTITY,
            number: 0,
            data: 0,
        };
        assert!(matches!(ProceduralBvh::build(&[endless]), Err(ProceduralError::NonFinite { index: 0 })));
        assert!(ProceduralBvh::build(&[]).is_ok_and(|none| none.is_empty() && none.bounds().is_none()));
    }
}
