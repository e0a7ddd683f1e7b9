//! A linked scene as the evaluator sees it: what the machines compute is measured against runs in this world.

use crate::bvh::{self, TwoLevel};
use crate::ir::{Hit, World};
use crate::program::{MemoryImage, PROGRAM_CONSTANTS, surface_entry};
use glam::Vec3;
use std::sync::Arc;

/// The world of a scene's program. It holds references only: a copy is free.
#[derive(Clone, Copy, Debug)]
pub struct SceneWorld<'a> {
    /// What `uniform` reads.
    pub constants: &'a [[f32; 4]; PROGRAM_CONSTANTS],
    /// What `load` reads.
    pub memory: &'a MemoryImage,
    /// What rays meet.
    pub bvh: &'a TwoLevel,
    /// The current hit when the outermost function starts.
    pub hit: Hit,
}

impl<'a> SceneWorld<'a> {
    /// The world at the start of a sample: nothing is hit yet.
    pub fn new(constants: &'a [[f32; 4]; PROGRAM_CONSTANTS], memory: &'a MemoryImage, bvh: &'a TwoLevel) -> Self {
        Self { constants, memory, bvh, hit: Hit::MISS }
    }

    /// The nearest hit of a ray for `t` in an open interval.
    pub fn closest(&self, origin: [f32; 3], direction: [f32; 3], [t_min, t_max]: [f32; 2]) -> Hit {
        let ray = bvh::Ray { origin: origin.into(), dir: direction.into(), t_min, t_max };
        let Some(hit) = self.bvh.closest_hit(&ray) else { return Hit::MISS };
        let [shader, triangle, object] = self.memory.resolve(hit.prim);
        Hit { uvts: [hit.u, hit.v, hit.t, f32::from_bits(shader)], triangle, object }
    }
}

impl World for SceneWorld<'_> {
    fn uniform(&mut self, k: u32) -> [f32; 4] {
        self.constants.get(k as usize).copied().unwrap_or_default()
    }

    fn load(&mut self, address: u32) -> [u32; 4] {
        self.memory.vectors.get(address as usize).copied().unwrap_or_default()
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
        // As for the machines, the record of any hit does not tell which one.
        if self.bvh.any_hit(&ray) { Hit { uvts: [0.0; 4], ..Hit::MISS } } else { Hit::MISS }
    }

    fn shader(&mut self, hit: &Hit) -> Option<Arc<str>> {
        (hit.uvts[2] >= 0.0).then(|| surface_entry(hit.uvts[3].to_bits() as usize).into())
    }
}
