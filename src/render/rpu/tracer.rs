//! The machine's `trace` instruction, answered by the trees and the memory image; and where rays come to primitives that are programs, by these, on a machine of their own.

use super::Loaded;
use super::loaded::{Data, Entry};
use crate::bvh::two_level::programs::Intersect;
use crate::bvh::{BATCH, HitBatch, RayBatch, TwoLevel};
use crate::program::{MemoryImage, Primitives, intersect_entry};
use crate::render::{Job, RenderError};
use crate::rpu::machine::{Machine, MachineError};
use crate::rpu::tracing::{HitBlock, RayBlock, Tracer};
use crate::rpu::{Block, EmptyScene};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

/// Traces rays through a scene.
#[derive(Debug)]
pub struct SceneTracer<'a> {
    /// The scene's triangles and instances.
    bvh: &'a TwoLevel,
    /// Where a triangle's object and shader are looked up.
    memory: &'a MemoryImage,
    programs: Option<ProgramTracer<'a>>,
}

/// Runs the entries of primitives, for which rays wait.
struct ProgramTracer<'a> {
    primitives: &'a Primitives,
    memory: &'a MemoryImage,
    /// That of the render, but for its rays: programs of primitives shoot none.
    machine: Machine<'a>,
    /// The entry of each kind.
    entries: Vec<Entry>,
    /// States of threads that nobody uses now.
    blocks: Mutex<Vec<Block>>,
    /// What went wrong first.
    failure: Mutex<Option<MachineError>>,
}

impl fmt::Debug for ProgramTracer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramTracer").field("primitives", self.primitives).finish_non_exhaustive()
    }
}

impl<'a> SceneTracer<'a> {
    /// Through triangles and instances.
    pub fn new(bvh: &'a TwoLevel, memory: &'a MemoryImage) -> Self {
        Self { bvh, memory, programs: None }
    }

    /// Through all of a job's scene. `loaded` is its program with the data that it reads; `stop` ends the runs of primitives' programs, as it ends all others.
    ///
    /// # Errors
    /// When the program lacks an entry.
    pub fn of_job(
        job: &'a Job,
        loaded: &'a Loaded,
        data: &'a Data<'_>,
        stop: &'a AtomicBool,
    ) -> Result<Self, RenderError> {
        let (primitives, memory) = (&*job.program.primitives, &*job.program.memory);
        let mut tracer = Self::new(&job.bvh, memory);
        if !primitives.is_empty() {
            let entries = (0..primitives.kinds).map(|n| loaded.entry(&intersect_entry(n)));
            tracer.programs = Some(ProgramTracer {
                primitives,
                memory,
                machine: loaded.machine(data, &EmptyScene, job.budget, stop),
                entries: entries.collect::<Result<_, _>>()?,
                blocks: Mutex::default(),
                failure: Mutex::default(),
            });
        }
        Ok(tracer)
    }

    /// What a run of a primitive's program ended with, if one ended early: the cause, where the render was stopped.
    pub fn failure(&self) -> Option<MachineError> {
        let programs = self.programs.as_ref()?;
        *programs.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
            if let Some(programs) = &self.programs {
                programs.primitives.tree.closest_hits(&batch, &mut found, programs);
            }
            for i in batch.active_lanes() {
                let Some(hit) = found.hit(i) else { continue };
                (hits.u[i], hits.v[i], hits.t[i]) = (hit.u, hit.v, hit.t);
                let [shader, triangle, object] = self.memory.resolve(hit.prim);
                (hits.shader[i], hits.tri[i], hits.obj[i]) = (shader, triangle, object);
            }
        }
        batch.active = rays.active & any;
        if batch.active != 0 {
            let mut blocked = self.bvh.any_hits(&batch);
            if let Some(programs) = &self.programs {
                batch.active &= !blocked;
                blocked |= programs.primitives.tree.any_hits(&batch, programs);
                batch.active = rays.active & any;
            }
            for i in batch.active_lanes().filter(|i| blocked >> i & 1 != 0) {
                hits.t[i] = 0.0;
            }
        }
    }
}

impl Intersect for ProgramTracer<'_> {
    fn intersect(&self, data: u32, rays: &RayBatch) -> [f32; BATCH] {
        let missed = [-1.0; BATCH];
        let kind = self.memory.vectors.get(data as usize).map_or(0, |v| v[0]);
        let Some(entry) = self.entries.get(kind as usize) else { return missed };
        let kept = self.blocks.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut block = kept.unwrap_or_default();
        block.reset();
        let floats = [&rays.ox, &rays.oy, &rays.oz, &rays.dx, &rays.dy, &rays.dz, &rays.t_min, &rays.t_max];
        for (values, &(reg, component)) in floats.into_iter().zip(&entry.params) {
            block.write_floats(reg, component, values);
        }
        if let Some(&(reg, component)) = entry.params.get(floats.len()) {
            block.write(reg, component, &[data; BATCH]);
        }
        let run = self.machine.run(&mut block, entry.address, rays.active);
        let distances = match (run, entry.results.first()) {
            (Ok(_), Some(&(reg, component))) => block.read_floats(reg, component),
            (Err(error), _) => {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                if failure.is_none() && error != MachineError::Stopped {
                    *failure = Some(error);
                }
                missed
            }
            (Ok(_), None) => missed,
        };
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner).push(block);
        distances
    }
}
