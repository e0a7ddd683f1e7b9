//! Tracing rays: the kernel of `bvh::gpu::kernel` and the tree that it walks, bound to a ray buffer, a hit buffer and a ray queue.

use super::device::{Gpu, Layout};
use crate::bvh::TwoLevel;
use crate::bvh::gpu::TraverseParams;
use crate::bvh::gpu::kernel::{self, Levels, Store};
use crate::render::RenderError;
use std::sync::OnceLock;
use wgpu::BufferUsages;

/// The kernels: for any tree, and for any with instances once a scene has some.
#[derive(Debug)]
pub(super) struct TraversalKernel {
    layout: Layout,
    one_level: wgpu::ComputePipeline,
    two_levels: OnceLock<wgpu::ComputePipeline>,
}

impl TraversalKernel {
    pub fn new(gpu: &Gpu) -> Result<Self, RenderError> {
        let layout = gpu.layout("traverse", &[true, true, true, false, true, true]);
        let one_level = Self::pipeline(gpu, &layout, Levels::One)?;
        Ok(Self { layout, one_level, two_levels: OnceLock::new() })
    }

    fn pipeline(gpu: &Gpu, layout: &Layout, levels: Levels) -> Result<wgpu::ComputePipeline, RenderError> {
        let wgsl = kernel::pass(Store::Buffer, Store::Buffer, levels);
        let [pipeline] = gpu.pipelines("traverse", &wgsl, &layout.pipeline, ["trace_queue"])?;
        Ok(pipeline)
    }

    /// The pipeline that walks this tree.
    fn of(&self, gpu: &Gpu, tree: &TwoLevel) -> Result<wgpu::ComputePipeline, RenderError> {
        if !tree.has_instances() {
            return Ok(self.one_level.clone());
        }
        if let Some(made) = self.two_levels.get() {
            return Ok(made.clone());
        }
        let made = Self::pipeline(gpu, &self.layout, Levels::Two)?;
        Ok(self.two_levels.get_or_init(|| made).clone())
    }
}

/// A tree on the GPU with the buffers of the rays that are shot into it.
#[derive(Debug)]
pub(super) struct Tree {
    bound: wgpu::BindGroup,
    pipeline: wgpu::ComputePipeline,
}

impl Tree {
    /// Uploads the tree. The first word of `ray_queue` is the number of rays, the others are their indices in `rays` and `hits`.
    pub fn new(
        gpu: &Gpu,
        kernel: &TraversalKernel,
        tree: &TwoLevel,
        rays: &wgpu::Buffer,
        hits: &wgpu::Buffer,
        ray_queue: &wgpu::Buffer,
    ) -> Result<Self, RenderError> {
        let params = TraverseParams { ray_count: 0, queue_first: 1, counter: 0, reserved: 0 };
        let params = gpu.upload("traversal parameters", bytemuck::bytes_of(&params), BufferUsages::UNIFORM)?;
        let tables = tree.gpu_tables();
        let nodes = gpu.upload("the tree's nodes", &tables.nodes, BufferUsages::STORAGE)?;
        let triangles = gpu.upload("the tree's triangles", &tables.triangles, BufferUsages::STORAGE)?;
        let bound = gpu.bind(&kernel.layout, &[&params, &nodes, &triangles, rays, hits, ray_queue, ray_queue]);
        Ok(Self { bound, pipeline: kernel.of(gpu, tree)? })
    }

    /// Binds kernel and buffers; a dispatch over the ray queue follows.
    pub fn set(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_bind_group(0, &self.bound, &[]);
        pass.set_pipeline(&self.pipeline);
    }
}
