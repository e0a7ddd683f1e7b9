//! Primitives that programs intersect: a tree over their boxes, a level of its own beside triangles
//! and instances.
//!
//! It knows where they lie and finds out which of them rays may meet. What is at the leaves, a
//! program, it asks through [`Intersect`], with many rays at once, each in the space of the
//! primitive and with the same `t` as in the world. Of hits at equal `t` the lower number wins, as
//! in all trees, whatever the order in which they are met.

use super::super::build::BuildError;
use super::super::ray::{BATCH, Hit, HitBatch, RayBatch};
use super::instance::{Instance, Reach};
use super::traverse::Walk;
use super::upper::Upper;
use glam::{Mat4, Vec3};

/// A primitive as the tree knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProgramBox {
    /// The least and the greatest corner of its box in its own space.
    pub bounds: (Vec3, Vec3),
    /// Where it stands in the world: an affine transform that can be inverted.
    pub object_to_world: Mat4,
    /// Its number among all primitives.
    pub number: u32,
    /// What its program is told of it.
    pub data: u32,
}

/// Something is wrong with one of the primitives.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramsError {
    /// The tree could not be built.
    #[error(transparent)]
    Tree(#[from] BuildError),
    /// The box, or its place in the world, is not finite.
    #[error("primitive {index} has no finite place")]
    Misplaced {
        /// Index of the primitive among those given.
        index: usize,
    },
}

/// Runs programs of primitives.
pub trait Intersect {
    /// Where the active rays, which are in the space of the primitive with this `data`, hit it
    /// first: the distance between `t_min` and `t_max` for each, below 0 for those that do not.
    fn intersect(&self, data: u32, rays: &RayBatch) -> [f32; BATCH];
}

/// The tree over the boxes of primitives that programs intersect.
#[derive(Debug, Default)]
pub struct Programs {
    upper: Option<Upper>,
}

impl Programs {
    /// Builds the tree.
    ///
    /// # Errors
    /// A primitive that has no finite place.
    pub fn build(primitives: &[ProgramBox]) -> Result<Self, ProgramsError> {
        if primitives.is_empty() {
            return Ok(Self::default());
        }
        let place = |(index, p): (usize, &ProgramBox)| {
            let instance = Instance::new(p.object_to_world, Some(p.bounds), p.data, p.number);
            instance.ok_or(ProgramsError::Misplaced { index })
        };
        let instances = primitives.iter().enumerate().map(place).collect::<Result<Vec<_>, _>>()?;
        let reach = Reach::of(primitives.iter().map(|p| p.object_to_world));
        Ok(Self { upper: Some(Upper::new(&instances, reach)?) })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.upper.is_none()
    }

    /// The corners of the box around all of them in the world; `None` where there is none.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let instances = self.upper.iter().flat_map(Upper::instances);
        let boxes = instances.map(|i| (Vec3::from(i.min), Vec3::from(i.max)));
        boxes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Replaces hits of the active rays by those with these primitives that are nearer, or as near
    /// and lower in number.
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

    /// The tree with the records.
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
    fn brute_force(primitives: &[ProgramBox], ray: &Ray) -> Option<(f32, u32)> {
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
        let mut primitives: Vec<ProgramBox> = (0..500)
            .map(|number| ProgramBox {
                bounds: unit,
                object_to_world: placement(&mut random, 0, 8.0).object_to_world,
                number: 1000 + number,
                data: number,
            })
            .collect();
        // Of those that are twice in one place the lower number counts, whichever was given first.
        let twins: Vec<ProgramBox> =
            primitives[..50].iter().map(|p| ProgramBox { number: p.number - 500, ..*p }).collect();
        primitives.extend(twins);
        let tree = Programs::build(&primitives).expect("good primitives");
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
        let at = |number| ProgramBox {
            bounds: (Vec3::NEG_ONE, Vec3::ONE),
            object_to_world: Mat4::IDENTITY,
            number,
            data: 0,
        };
        let tree = Programs::build(&[at(5)]).expect("a good primitive");
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
    fn a_primitive_without_a_finite_place_is_told() {
        let endless = ProgramBox {
            bounds: (Vec3::NEG_ONE, Vec3::splat(f32::INFINITY)),
            object_to_world: Mat4::IDENTITY,
            number: 0,
            data: 0,
        };
        assert!(matches!(Programs::build(&[endless]), Err(ProgramsError::Misplaced { index: 0 })));
        assert!(Programs::build(&[]).is_ok_and(|none| none.is_empty() && none.bounds().is_none()));
    }
}
