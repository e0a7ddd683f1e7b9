//! The `trace` instruction: BVH traversal and the memory image; intersection shaders of procedural
//! primitives run on an RPU of their own.

use super::Loaded;
use super::loaded::{Data, Entry};
use crate::{Job, RenderError};
use shadewright_bvh::ray::lanes;
use shadewright_bvh::two_level::procedural::Intersect;
use shadewright_bvh::{BATCH, RayBatch, TwoLevel};
use shadewright_program::{MemoryImage, Primitives, common_origin_entries, intersect_entry};
use shadewright_rpu::execution::{ExecutionContext, ExecutionError};
use shadewright_rpu::tracing::{HitBlock, RayBlock, Tracer};
use shadewright_rpu::{Block, EmptyScene};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

/// Traces rays through a scene.
#[derive(Debug)]
pub struct SceneTracer<'a> {
    /// The scene's triangles and instances.
    bvh: &'a TwoLevel,
    /// Maps a triangle to its object and shader.
    memory: &'a MemoryImage,
    procedural: Option<ProceduralTracer<'a>>,
}

/// Runs intersection shaders, for which rays wait.
struct ProceduralTracer<'a> {
    primitives: &'a Primitives,
    memory: &'a MemoryImage,
    /// The render's RPU without a scene: intersection shaders trace no rays.
    context: ExecutionContext<'a>,
    /// The entries of each kind.
    kinds: Vec<PrimitiveEntries>,
    /// Free states, for CPU threads.
    states: Mutex<Vec<ThreadState>>,
    /// The first error.
    failure: Mutex<Option<ExecutionError>>,
}

/// Rays of a packet with a common origin from which on the values that depend on the origin alone
/// are cached: it is a camera's, then, from which more packets come.
const LEAST_COMMON: u32 = 16;

/// The entries of a kind of primitives.
struct PrimitiveEntries {
    whole: Entry,
    /// For rays with a common origin: the computation that depends on the origin alone, and the
    /// rest.
    common_origin: Option<[Entry; 2]>,
}

impl PrimitiveEntries {
    fn new(n: usize, loaded: &Loaded) -> Result<Self, RenderError> {
        let [shared, rest] = common_origin_entries(n).map(|name| loaded.entry(&name).ok());
        Ok(Self { whole: loaded.entry(&intersect_entry(n))?, common_origin: shared.zip(rest).map(<[Entry; 2]>::from) })
    }
}

/// The state of a CPU thread between runs.
#[derive(Default)]
struct ThreadState {
    block: Block,
    /// For each primitive, the last common origin, and the values that depend on it.
    known: HashMap<u32, Known>,
}

/// Values that depend on an origin.
struct Known {
    /// Bits of the point, in the primitive's space.
    origin: [u32; 3],
    words: Vec<u32>,
}

/// The common origin of all rays, where there are enough of them.
fn common_origin(rays: &RayBatch) -> Option<[u32; 3]> {
    if rays.active.count_ones() < LEAST_COMMON {
        return None;
    }
    let first = rays.active.trailing_zeros() as usize % BATCH;
    let origins = [&rays.ox, &rays.oy, &rays.oz];
    let point = origins.map(|axis| axis[first].to_bits());
    let differs = |i: usize| origins.iter().zip(point).any(|(axis, bits)| axis[i].to_bits() != bits);
    let others = (0..BATCH).fold(0u64, |mask, i| mask | u64::from(differs(i)) << i);
    (others & rays.active == 0).then_some(point)
}

/// Writes the rays and the primitive's data to the registers of an entry.
fn put_rays(block: &mut Block, entry: &Entry, data: u32, rays: &RayBatch) {
    let floats = [&rays.ox, &rays.oy, &rays.oz, &rays.dx, &rays.dy, &rays.dz, &rays.t_min, &rays.t_max];
    for (values, &(reg, component)) in floats.into_iter().zip(&entry.params) {
        block.write_floats(reg, component, values);
    }
    if let Some(&(reg, component)) = entry.params.get(floats.len()) {
        block.write(reg, component, &[data; BATCH]);
    }
}

/// Words of an entry's parameters before the cached values.
const WORDS_OF_RAY: usize = 9;

impl ThreadState {
    /// Runs the intersection shader of a kind for the active rays, with cached values where they
    /// have a common origin; returns the distances.
    fn run(
        &mut self,
        context: &ExecutionContext<'_>,
        kind: &PrimitiveEntries,
        data: u32,
        rays: &RayBatch,
    ) -> Result<[f32; BATCH], ExecutionError> {
        let Self { block, known } = self;
        let common = kind.common_origin.as_ref().zip(common_origin(rays));
        let entry = match common {
            Some(([shared, rest], origin)) => {
                if known.get(&data).is_none_or(|k| k.origin != origin) {
                    let lane = rays.active.trailing_zeros() as usize % BATCH;
                    block.start_lanes(u64::MAX);
                    put_rays(block, shared, data, rays);
                    context.run(block, shared.address, 1 << lane)?;
                    let words = shared.results.iter().map(|&(reg, component)| block.get(reg, component, lane));
                    known.insert(data, Known { origin, words: words.collect() });
                }
                block.start_lanes(u64::MAX);
                let words = known.get(&data).map(|k| &k.words[..]).unwrap_or_default();
                for (word, &(reg, component)) in words.iter().zip(&rest.params[WORDS_OF_RAY..]) {
                    block.write(reg, component, &[*word; BATCH]);
                }
                rest
            }
            None => {
                block.start_lanes(u64::MAX);
                &kind.whole
            }
        };
        put_rays(block, entry, data, rays);
        context.run(block, entry.address, rays.active)?;
        Ok(entry.results.first().map_or([-1.0; BATCH], |&(reg, component)| block.read_floats(reg, component)))
    }
}

impl fmt::Debug for ProceduralTracer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProceduralTracer").field("primitives", self.primitives).finish_non_exhaustive()
    }
}

impl<'a> SceneTracer<'a> {
    /// For triangles and instances.
    pub fn new(bvh: &'a TwoLevel, memory: &'a MemoryImage) -> Self {
        Self { bvh, memory, procedural: None }
    }

    /// For all of a job's scene. `loaded` is its program with its data; `stop` ends intersection
    /// shaders, too.
    ///
    /// # Errors
    /// When the program lacks an entry.
    pub fn for_job(
        job: &'a Job,
        loaded: &'a Loaded,
        data: &'a Data<'_>,
        stop: &'a AtomicBool,
    ) -> Result<Self, RenderError> {
        let (primitives, memory) = (&*job.program.primitives, &*job.program.memory);
        let mut tracer = Self::new(&job.bvh, memory);
        if !primitives.is_empty() {
            let kinds = (0..primitives.kinds).map(|n| PrimitiveEntries::new(n, loaded));
            tracer.procedural = Some(ProceduralTracer {
                primitives,
                memory,
                context: loaded.execution_context(data, &EmptyScene, job.budget, stop),
                kinds: kinds.collect::<Result<_, _>>()?,
                states: Mutex::default(),
                failure: Mutex::default(),
            });
        }
        Ok(tracer)
    }

    /// Traces the procedural primitives alone: replaces the closest hits in `hits` by nearer ones,
    /// and marks occlusion rays that are not blocked yet. Does not resolve primitives.
    pub(super) fn trace_procedural(&self, block: &mut RayBlock, hits: &mut HitBlock) {
        let Some(procedural) = &self.procedural else { return };
        let (rays, any) = (&mut block.rays, block.any);
        let all = rays.active;
        rays.active = all & !any;
        if rays.active != 0 {
            procedural.primitives.tree.closest_hits(rays, &mut hits.found, procedural);
        }
        let blocked = lanes(all & any).filter(|&i| hits.found.t[i] >= 0.0).fold(0, |mask, i| mask | 1 << i);
        rays.active = all & any & !blocked;
        if rays.active != 0 {
            for i in lanes(procedural.primitives.tree.any_hits(rays, procedural) & rays.active) {
                hits.found.t[i] = 0.0;
            }
        }
        rays.active = all;
    }

    /// Maps the closest hits of the active rays to shaders and records.
    pub(super) fn resolve(&self, block: &RayBlock, hits: &mut HitBlock) {
        for i in lanes(block.rays.active & !block.any) {
            let Some(hit) = hits.found.hit(i) else { continue };
            (hits.shader[i], hits.tri[i], hits.obj[i]) = self.memory.resolve(hit.prim).into();
        }
    }

    /// The nearest hits of rays, in the space of the procedural primitive of that number in the order
    /// of the scene's objects, by its intersection shader: below 0 for a miss. `None` where there is
    /// no such primitive.
    pub fn intersect_primitive(&self, number: usize, rays: &RayBatch) -> Option<[f32; BATCH]> {
        let procedural = self.procedural.as_ref()?;
        let placed = procedural.primitives.placed.get(number)?;
        Some(procedural.intersect(placed.data, rays))
    }

    /// The error of an intersection shader, if one failed: the cause, where the render was stopped.
    pub fn failure(&self) -> Option<ExecutionError> {
        let procedural = self.procedural.as_ref()?;
        *procedural.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tracer for SceneTracer<'_> {
    fn trace(&self, block: &mut RayBlock, hits: &mut HitBlock) {
        let (all, any) = (block.rays.active, block.any);
        let rays = &mut block.rays;
        rays.active = all & !any;
        if rays.active != 0 {
            self.bvh.closest_hits(rays, &mut hits.found);
        }
        rays.active = all & any;
        if rays.active != 0 {
            for i in lanes(all & any & self.bvh.any_hits(rays)) {
                hits.found.t[i] = 0.0;
            }
        }
        rays.active = all;
        self.trace_procedural(block, hits);
        self.resolve(block, hits);
    }
}

impl Intersect for ProceduralTracer<'_> {
    fn intersect(&self, data: u32, rays: &RayBatch) -> [f32; BATCH] {
        let missed = [-1.0; BATCH];
        let kind = self.memory.vectors.get(data as usize).map_or(0, |v| v[0]);
        let Some(kind) = self.kinds.get(kind as usize) else { return missed };
        let kept = self.states.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut state = kept.unwrap_or_default();
        let distances = state.run(&self.context, kind, data, rays).unwrap_or_else(|error| {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            if failure.is_none() && error != ExecutionError::Stopped {
                *failure = Some(error);
            }
            missed
        });
        self.states.lock().unwrap_or_else(PoisonError::into_inner).push(state);
        distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::Sampling;
    use crate::{DEFAULT_BUDGET, Window, prepare};
    use glam::Vec3;
    use shadewright_base::text::source::SourceMap;
    use shadewright_bvh::Ray;
    use shadewright_program::{LinkOptions, link};
    use shadewright_rpu::BLOCK;
    use shadewright_scene::{OpenOptions, open};
    use std::path::Path;

    /// The job of an image of 8 by 8 pixels.
    fn job_of_file(path: &str) -> Job {
        let mut sources = SourceMap::new();
        let options = OpenOptions { size: Some((8, 8)), ..OpenOptions::default() };
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
        let scene = open(&path, &options, &mut sources).expect("a scene").scene;
        let options = LinkOptions { shader_paths: vec![path.with_file_name("")], ..LinkOptions::default() };
        let program = link(&scene, sources, &options).expect("its shaders compile");
        let sampling = Sampling { strata: [1, 1], seed: 0 };
        prepare(program, &scene, Window::whole(8, 8), sampling, DEFAULT_BUDGET).expect("it fits")
    }

    /// The distances of rays from a point that is the same for all, or moves by a little from ray
    /// to ray, those of `active` together.
    fn distances(tracer: &SceneTracer<'_>, active: u64, step: f32) -> [f32; BLOCK] {
        let (mut block, mut hits) = (RayBlock::default(), HitBlock::default());
        for i in 0..BLOCK {
            let [x, y] = [i % 8, i / 8].map(|k| 0.06 * (k as f32 - 3.5));
            let (origin, dir) = (Vec3::new(0.3 + step * i as f32, 1.0, -6.0), Vec3::new(x, y - 0.05, 1.0));
            block.rays.set(i, &Ray { t_min: 1e-3, ..Ray::new(origin, dir) });
        }
        block.rays.active = active;
        tracer.trace(&mut block, &mut hits);
        hits.found.t
    }

    #[test]
    fn values_of_a_common_origin_are_computed_once_and_change_no_bit() {
        let job = job_of_file("assets/rtsl/primitives.rib");
        let program = &job.program;
        let loaded =
            Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).expect("it compiles");
        let (data, stop) = (loaded.data(&program.memory.vectors), AtomicBool::new(false));
        let tracer = SceneTracer::for_job(&job, &loaded, &data, &stop).expect("it has all entries");
        let procedural = tracer.procedural.as_ref().expect("there are primitives");
        let split = procedural.kinds.iter().filter(|k| k.common_origin.is_some()).count();
        assert!(split >= 3, "{split} kinds are split");
        for step in [0.0, 0.01] {
            let together = distances(&tracer, u64::MAX, step);
            for (lane, distance) in together.iter().enumerate() {
                let alone = distances(&tracer, 1 << lane, step)[lane];
                assert_eq!(distance.to_bits(), alone.to_bits(), "ray {lane}, step {step}");
            }
            assert!(together.iter().filter(|t| **t > 0.0).count() > 8, "{together:?}");
        }
        let states = procedural.states.lock().expect("nobody failed");
        let known: usize = states.iter().map(|s| s.known.len()).sum();
        assert!(known > 0 && states.len() == 1, "{known} common origins are kept by {} states", states.len());
        assert!(tracer.failure().is_none());
    }
}
