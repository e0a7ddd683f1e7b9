//! Traces arrays of rays with one traversal kernel, for benchmarks and tests of the kernels.
//!
//! It takes [`GpuRay`]s and gives [`GpuHit`]s and the time, in dispatches of bounded time.

use super::device::Gpu;
use super::traversal::{RayBuffers, Trace, TraversalKernels, Tree};
use crate::RenderError;
use shadewright_bvh::TwoLevel;
use shadewright_bvh::gpu::kernel::{Places, Variant};
use shadewright_bvh::gpu::{GROUP, GpuHit, GpuRay, dispatch_size};
use std::time::{Duration, Instant};
use wgpu::{BufferUsages, ComputePassTimestampWrites};

/// Rays of the first dispatch.
const FIRST_RAYS: u32 = 1 << 13;

/// The time that a dispatch should take. Drivers reset devices whose dispatches run for 2 s.
const DISPATCH: Duration = Duration::from_millis(100);

/// A kernel, and the stores of its BVH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracerOptions {
    /// The traversal.
    pub variant: Variant,
    /// True if it uses subgroup operations, where the device has them.
    pub subgroups: bool,
    /// The stores of the tables, or `None` for the best on the device.
    pub places: Option<Places>,
}

/// A BVH on a GPU with buffers for rays.
#[derive(Debug)]
pub struct RayTracer<'g> {
    gpu: &'g Gpu,
    tree: Tree,
    rays: wgpu::Buffer,
    hits: wgpu::Buffer,
    queue: wgpu::Buffer,
    back: wgpu::Buffer,
    clock: Option<(wgpu::QuerySet, wgpu::Buffer, wgpu::Buffer)>,
    room: u32,
    /// Rays of the next dispatch.
    take: u32,
}

/// The result of a [`RayTracer`].
#[derive(Clone, Debug)]
pub struct Traced {
    /// A hit for every ray.
    pub hits: Vec<GpuHit>,
    /// The time of all dispatches, by the device's clock where it has one, else by the host's.
    pub time: Duration,
}

impl<'g> RayTracer<'g> {
    /// Uploads the BVH, and makes buffers for `room` rays.
    ///
    /// # Errors
    /// When something does not fit the device, or it does not take the kernel.
    pub fn new(gpu: &'g Gpu, options: &TracerOptions, tree: &TwoLevel, room: usize) -> Result<Self, RenderError> {
        let bytes = |each: u64| each * room as u64;
        let rays =
            gpu.buffer("the rays", bytes(size_of::<GpuRay>() as u64), BufferUsages::STORAGE | BufferUsages::COPY_DST)?;
        let of_hits = bytes(size_of::<GpuHit>() as u64);
        let hits =
            gpu.buffer("the hits", of_hits, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST)?;
        let indices = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::INDIRECT;
        let queue = gpu.buffer("the ray queue", 4 + bytes(4), indices)?;
        let back = gpu.readback("the hits' copy", of_hits)?;
        let kernels = TraversalKernels::new(gpu, options.variant);
        let kernels = if options.subgroups { kernels } else { kernels.without_subgroups() };
        let buffers = RayBuffers { rays: &rays, hits: &hits, queue: &queue };
        let tree = match options.places {
            Some(places) => Tree::with_places(gpu, &kernels, tree, buffers, places)?,
            None => Tree::new(gpu, &kernels, tree, buffers)?,
        };
        let clock = gpu.clock().map(|_| stamps(gpu)).transpose()?;
        Ok(Self { gpu, tree, rays, hits, queue, back, clock, room: room as u32, take: FIRST_RAYS })
    }

    /// The placement of the tables and the stack.
    pub fn places(&self) -> Places {
        self.tree.places()
    }

    /// Bytes of nodes and triangles on the device.
    pub fn tree_bytes(&self) -> usize {
        self.tree.bytes()
    }

    /// Traces all rays.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When there are more rays than there is room for.
    pub fn trace(&mut self, rays: &[GpuRay]) -> Result<Traced, RenderError> {
        let count = rays.len() as u32;
        self.put(rays);
        let mut time = Duration::ZERO;
        let mut first = 0;
        while first < count {
            let now = self.take.min(count - first);
            self.tree.set_range(self.gpu, first, now);
            let took = self.dispatch(Trace::Range(dispatch_size(now)))?;
            time += took;
            first += now;
            // As many as fit the time, at most twice as many: the first dispatch may have compiled
            // the kernel.
            let fitting = f64::from(now) * DISPATCH.as_secs_f64() / took.as_secs_f64().max(1.0e-6);
            self.take = (fitting as u32).clamp(GROUP, now.max(self.take).saturating_mul(2)).max(GROUP);
        }
        Ok(Traced { hits: self.read(rays.len())?, time })
    }

    /// Traces the rays of these indices, in one dispatch; the others' hits are `unwritten`.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When there are more rays, or indices, than there is room for.
    pub fn trace_queued(&mut self, rays: &[GpuRay], queued: &[u32], unwritten: GpuHit) -> Result<Traced, RenderError> {
        self.put(rays);
        assert!(queued.len() as u32 <= self.room, "{} indices of {} rays", queued.len(), self.room);
        let [x, y] = dispatch_size(queued.len() as u32);
        let groups = self.gpu.upload("the dispatch", bytemuck::bytes_of(&[x, y, 1]), BufferUsages::INDIRECT)?;
        let counted: Vec<u32> = std::iter::once(queued.len() as u32).chain(queued.iter().copied()).collect();
        self.gpu.queue().write_buffer(&self.queue, 0, bytemuck::cast_slice(&counted));
        self.gpu.queue().write_buffer(&self.hits, 0, bytemuck::cast_slice(&vec![unwritten; rays.len()]));
        let time = self.dispatch(Trace::Queued(&groups, 0))?;
        Ok(Traced { hits: self.read(rays.len())?, time })
    }

    fn put(&self, rays: &[GpuRay]) {
        assert!(rays.len() <= self.room as usize, "{} rays in a tracer for {}", rays.len(), self.room);
        self.gpu.queue().write_buffer(&self.rays, 0, bytemuck::cast_slice(rays));
        self.gpu.queue().submit([]);
    }

    fn read(&self, count: usize) -> Result<Vec<GpuHit>, RenderError> {
        let bytes = (count * size_of::<GpuHit>()) as u64;
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let mut commands = self.gpu.device().create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(&self.hits, 0, &self.back, 0, bytes);
        self.gpu.read(commands, &self.back, bytes, |words| bytemuck::cast_slice(words).to_vec())
    }

    /// Runs one dispatch; returns its time.
    fn dispatch(&self, what: Trace<'_>) -> Result<Duration, RenderError> {
        let mut commands = self.gpu.device().create_command_encoder(&Default::default());
        let timestamp_writes = self.clock.as_ref().map(|(set, ..)| ComputePassTimestampWrites {
            query_set: set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let descriptor = wgpu::ComputePassDescriptor { label: Some("traversal"), timestamp_writes };
        let mut pass = commands.begin_compute_pass(&descriptor);
        self.tree.trace(&mut pass, what);
        drop(pass);
        let begin = Instant::now();
        match &self.clock {
            Some((set, resolved, back)) => {
                commands.resolve_query_set(set, 0..2, resolved, 0);
                commands.copy_buffer_to_buffer(resolved, 0, back, 0, 16);
                let period = f64::from(self.gpu.queue().get_timestamp_period()) * 1.0e-9;
                self.gpu.read(commands, back, 16, |words| {
                    let stamp = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
                    Duration::from_secs_f64(stamp(2).saturating_sub(stamp(0)) as f64 * period)
                })
            }
            None => {
                // Reading one hit back waits for the end of the dispatch.
                let bytes = size_of::<GpuHit>() as u64;
                commands.copy_buffer_to_buffer(&self.hits, 0, &self.back, 0, bytes);
                self.gpu.read(commands, &self.back, bytes, |_| begin.elapsed())
            }
        }
    }
}

/// Two timestamps, where they are resolved, and where the host reads them.
fn stamps(gpu: &Gpu) -> Result<(wgpu::QuerySet, wgpu::Buffer, wgpu::Buffer), RenderError> {
    let set = gpu.device().create_query_set(&wgpu::QuerySetDescriptor {
        label: Some("timestamps"),
        ty: wgpu::QueryType::Timestamp,
        count: 2,
    });
    let resolved = gpu.buffer("the timestamps", 16, BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC)?;
    Ok((set, resolved, gpu.readback("the timestamps' copy", 16)?))
}
