//! Choices that are measured on a device rather than known of it.
//!
//! Where a traversal kernel finds its tables and its stack fastest differs between software
//! drivers, and no query reports it. So the first use of such a driver times a small kernel for
//! each placement. It takes a device and gives [`Places`]; hits and images are the same bits
//! whichever they are. The result holds for the process: a run costs a few tens of milliseconds,
//! little beside compiling what renders.

use super::device::Gpu;
use super::traversal::{Table, table_binding};
use crate::RenderError;
use shadewright_bvh::gpu::GROUP;
use shadewright_bvh::gpu::kernel::{Levels, MEASURE_MEMORY, Places, Stack, Store, measure_memory};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wgpu::{BindingType, BufferBindingType, BufferUsages, ShaderStages};

/// Vectors of the table: more than a core's first cache holds.
const VECTORS: u32 = 1 << 14;

/// Invocations of a dispatch.
const INVOCATIONS: u32 = 1 << 12;

/// Runs of each placement, the fastest of which counts, after one that compiles the kernel.
const RUNS: usize = 3;

/// The share of a placement's time that another one must stay below to be chosen in its stead: runs
/// differ by a few hundredths.
const BETTER: f64 = 0.95;

/// The placement for hardware, and for devices that cannot be measured: all tables go through the
/// same caches, a buffer has no format to convert, and little workgroup memory leaves room for more
/// workgroups.
const HARDWARE: Places = Places { nodes: Store::Buffer, triangles: Store::Buffer, stack: Stack::Private };

/// The placements measured in this process, by adapter and driver version.
static MEASURED: Mutex<BTreeMap<String, Places>> = Mutex::new(BTreeMap::new());

/// Where a traversal kernel on this device should have its tables and its stack.
///
/// Mesa's software driver traces 5.9 million primary rays in two seconds of processor time with
/// tables in textures and stacks in workgroup memory, 5.0 million with private stacks, 2.6 million
/// with tables in buffers too; SwiftShader traces 13 % more from buffers than from textures
/// (`shadewright bench rays --backend gpu --mesh sponza.ply --view inside`; `wgsl/traverse` says
/// why).
pub(super) fn places(gpu: &Gpu, levels: Levels) -> Places {
    if gpu.is_hardware() {
        return HARDWARE;
    }
    let mut measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    let places = *measured.entry(gpu.driver_version().to_string()).or_insert_with(|| measure(gpu).unwrap_or(HARDWARE));
    let stack = if stack_fits(gpu, places.stack, levels) { places.stack } else { Stack::Private };
    Places { stack, ..places }
}

/// True if the stacks of a workgroup fit its memory, next to one word of the kernel's own.
fn stack_fits(gpu: &Gpu, stack: Stack, levels: Levels) -> bool {
    stack.workgroup_bytes(levels) + 4 <= gpu.device().limits().max_compute_workgroup_storage_size
}

/// The fastest placement.
fn measure(gpu: &Gpu) -> Result<Places, RenderError> {
    let table = table();
    let timed = |store: Store, stack: Stack| -> Result<Option<Timed>, RenderError> {
        let places = Places { nodes: store, triangles: store, stack };
        let table = Table::new(gpu, "a table to measure", &table, store)?;
        // A table that has no room in a texture is in a buffer.
        let is_possible = table.store() == store && stack_fits(gpu, stack, Levels::One);
        is_possible.then(|| Timed::new(gpu, places, &table)).transpose()
    };
    let stores = [timed(Store::Buffer, Stack::Private)?, timed(Store::Texture, Stack::Private)?];
    let store = fastest(gpu, stores)?.map_or(Store::Buffer, |places| places.nodes);
    let stacks = [timed(store, Stack::Private)?, timed(store, Stack::Workgroup)?];
    Ok(fastest(gpu, stacks)?.unwrap_or(HARDWARE))
}

/// The placement whose kernel takes the least time; the first, unless the second is clearly faster.
fn fastest(gpu: &Gpu, candidates: [Option<Timed>; 2]) -> Result<Option<Places>, RenderError> {
    let candidates: Vec<Timed> = candidates.into_iter().flatten().collect();
    let mut best = vec![Duration::MAX; candidates.len()];
    candidates.iter().try_for_each(|candidate| candidate.run(gpu).map(drop))?;
    // Alternately, so that a disturbance meets both.
    for _ in 0..RUNS {
        for (candidate, best) in candidates.iter().zip(&mut best) {
            *best = candidate.run(gpu)?.min(*best);
        }
    }
    let mut chosen = 0;
    for (i, time) in best.iter().enumerate() {
        if time.as_secs_f64() < BETTER * best[chosen].as_secs_f64() {
            chosen = i;
        }
    }
    Ok(candidates.get(chosen).map(|candidate| candidate.places))
}

/// A kernel that is timed, with what it binds.
struct Timed {
    places: Places,
    pipeline: wgpu::ComputePipeline,
    bound: wgpu::BindGroup,
}

impl Timed {
    fn new(gpu: &Gpu, places: Places, table: &Table) -> Result<Self, RenderError> {
        let written = BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: false },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let entry =
            |(binding, ty)| wgpu::BindGroupLayoutEntry { binding, visibility: ShaderStages::COMPUTE, ty, count: None };
        let entries = [(1, table_binding(places.nodes)), (2, written)].map(entry);
        let label = Some("measure memory");
        let device = gpu.device();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let pipelines = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let [pipeline] = gpu.pipelines("measure memory", &measure_memory(places), &pipelines, [MEASURE_MEMORY])?;
        let results = gpu.buffer("results to measure", 4 * u64::from(INVOCATIONS), BufferUsages::STORAGE)?;
        let resources = [(1, table.binding()), (2, results.as_entire_binding())];
        let entries = resources.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource });
        let bound =
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
        Ok(Self { places, pipeline, bound })
    }

    /// Runs the kernel, and gives the time until it has ended.
    fn run(&self, gpu: &Gpu) -> Result<Duration, RenderError> {
        let start = Instant::now();
        gpu.run_pass(|pass| {
            pass.set_bind_group(0, &self.bound, &[]);
            pass.set_pipeline(&self.pipeline);
            pass.dispatch_workgroups(INVOCATIONS / GROUP, 1, 1);
        })?;
        Ok(start.elapsed())
    }
}

/// Vectors whose first component is the index of another one, the other components any number.
fn table() -> Vec<u8> {
    let hash = |i: u32| (i ^ (i >> 7)).wrapping_mul(0x9e37_79b1);
    let vector = |i: u32| [hash(i) >> (32 - VECTORS.ilog2()), hash(i) >> 3, i, !i];
    let vectors: Vec<[u32; 4]> = (0..VECTORS).map(vector).collect();
    bytemuck::cast_slice(&vectors).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placement_fits_the_device_and_is_the_same_whenever_it_is_asked_for() {
        let gpu = Gpu::open(None).expect("this test needs a GPU adapter; the software driver of Mesa will do");
        for levels in [Levels::One, Levels::Two] {
            let chosen = places(&gpu, levels);
            assert!(stack_fits(&gpu, chosen.stack, levels));
            assert_eq!(chosen.nodes, chosen.triangles);
            assert_eq!(places(&gpu, levels), chosen);
        }
    }

    #[test]
    fn indices_of_the_table_are_in_it() {
        let table = table();
        let vectors: &[[u32; 4]] = bytemuck::cast_slice(&table);
        assert!(vectors.iter().all(|v| v[0] < VECTORS));
    }
}
