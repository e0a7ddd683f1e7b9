//! A linked scene as the reference evaluator's world: back ends are measured against runs in it.

use glam::Vec3;
use shadewright_bvh::two_level::procedural::Intersect;
use shadewright_bvh::{self as bvh, BATCH, HitBatch, RayBatch, TwoLevel};
use shadewright_ir::eval::{Limits, eval};
use shadewright_ir::{Const, Hit, World};
use shadewright_program::{Program, intersect_entry, surface_entry};
use std::sync::Arc;

/// The world of a scene's program. It holds references only: a copy is free.
#[derive(Clone, Copy, Debug)]
pub struct SceneWorld<'a> {
    /// The program, with its constants and memory image for `uniform` and `load`, and its
    /// procedural primitives.
    pub program: &'a Program,
    /// The triangles and instances that rays hit.
    pub bvh: &'a TwoLevel,
    /// The current hit when the outermost function starts.
    pub hit: Hit,
}

impl<'a> SceneWorld<'a> {
    /// The world at the start of a sample: nothing is hit yet.
    pub fn new(program: &'a Program, bvh: &'a TwoLevel) -> Self {
        Self { program, bvh, hit: Hit::MISS }
    }

    /// The nearest hit of a ray for `t` in an open interval.
    pub fn closest(&self, origin: [f32; 3], direction: [f32; 3], [t_min, t_max]: [f32; 2]) -> Hit {
        let ray = bvh::Ray { origin: origin.into(), dir: direction.into(), t_min, t_max };
        let (mut rays, mut hits) = (RayBatch::default(), HitBatch::default());
        rays.set(0, &ray);
        self.bvh.closest_hits(&rays, &mut hits);
        self.program.primitives.tree.closest_hits(&rays, &mut hits, self);
        let Some(hit) = hits.hit(0) else { return Hit::MISS };
        let [shader, triangle, object] = self.program.memory.resolve(hit.prim);
        Hit { uvts: [hit.u, hit.v, hit.t, f32::from_bits(shader)], triangle, object }
    }
}

impl Intersect for SceneWorld<'_> {
    fn intersect(&self, data: u32, rays: &RayBatch) -> [f32; BATCH] {
        let mut distances = [-1.0; BATCH];
        let kind = self.program.memory.vectors.get(data as usize).map_or(0, |v| v[0]);
        for lane in rays.active_lanes() {
            let ray = rays.ray(lane);
            let [origin, direction] = [ray.origin, ray.dir].map(|v| Const::Vec3(v.to_array()));
            let args = [origin, direction, Const::F32(ray.t_min), Const::F32(ray.t_max), Const::Ref(data)];
            let results =
                eval(&self.program.module, &intersect_entry(kind as usize), &args, &mut { *self }, Limits::default());
            // One that does not end hits nothing: the renderers report it.
            if let Ok([Const::F32(t)]) = results.as_deref() {
                distances[lane] = *t;
            }
        }
        distances
    }
}

impl World for SceneWorld<'_> {
    fn uniform(&mut self, k: u32) -> [f32; 4] {
        self.program.constants.vectors().get(k as usize).copied().unwrap_or_default()
    }

    fn load(&mut self, address: u32) -> [u32; 4] {
        self.program.memory.vectors.get(address as usize).copied().unwrap_or_default()
    }

    fn first_hit(&mut self) -> Hit {
        self.hit
    }

    fn trace(&mut self, origin: [f32; 3], direction: [f32; 3], arg: [f32; 4]) -> Hit {
        let [t_min, t_max, any, _] = arg;
        if any == 0.0 {
            return self.closest(origin, direction, [t_min, t_max]);
        }
        let ray = bvh::Ray { origin: Vec3::from(origin), dir: Vec3::from(direction), t_min, t_max };
        let mut rays = RayBatch::default();
        rays.set(0, &ray);
        let hit = self.bvh.any_hits(&rays) | self.program.primitives.tree.any_hits(&rays, self);
        // As on the back ends, an any-hit query does not say which primitive.
        if hit != 0 { Hit { uvts: [0.0; 4], ..Hit::MISS } } else { Hit::MISS }
    }

    fn shader(&mut self, hit: &Hit) -> Option<Arc<str>> {
        (hit.uvts[2] >= 0.0).then(|| surface_entry(hit.uvts[3].to_bits() as usize).into())
    }
}
