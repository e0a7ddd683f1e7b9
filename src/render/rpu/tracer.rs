//! The machine's `trace` instruction, answered by the tree and the memory image.

use crate::bvh::{HitBatch, RayBatch, TwoLevel};
use crate::program::MemoryImage;
use crate::rpu::tracing::{HitBlock, RayBlock, Tracer};

/// Traces rays through a scene.
#[derive(Clone, Copy, Debug)]
pub struct SceneTracer<'a> {
    /// The scene's triangles and instances.
    pub bvh: &'a TwoLevel,
    /// Where a triangle's object and shader are looked up.
    pub memory: &'a MemoryImage,
}

impl Tracer for SceneTracer<'_> {
    fn trace(&self, rays: &RayBlock, hits: &mut HitBlock) {
        let any = rays.any.iter().enumerate().fold(0u64, |mask, (i, &any)| mask | u64::from(any != 0.0) << i);
        let [ox, oy, oz] = rays.orig;
        let [dx, dy, dz] = rays.dir;
        let active = rays.active & !any;
        let mut batch = RayBatch { ox, oy, oz, dx, dy, dz, t_min: rays.t_min, t_max: rays.t_max, active };
        if active != 0 {
            let mut found = HitBatch::default();
            self.bvh.closest_hits(&batch, &mut found);
            for i in batch.active_lanes() {
                let Some(hit) = found.hit(i) else { continue };
                (hits.u[i], hits.v[i], hits.t[i]) = (hit.u, hit.v, hit.t);
                let [shader, triangle, object] = self.memory.resolve(hit.prim);
                (hits.shader[i], hits.tri[i], hits.obj[i]) = (shader, triangle, object);
            }
        }
        batch.active = rays.active & any;
        if batch.active != 0 {
            let blocked = self.bvh.any_hits(&batch);
            for i in batch.active_lanes().filter(|i| blocked >> i & 1 != 0) {
                hits.t[i] = 0.0;
            }
        }
    }
}
