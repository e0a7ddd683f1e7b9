//! Tracing rays: the kernel of `bvh::gpu::kernel` and the tree that it walks, bound to a ray buffer, a hit buffer and a ray queue.

use super::device::{Gpu, Layout};
use crate::bvh::Bvh;
use crate::bvh::gpu::kernel::{self, Store};
use crate::bvh::gpu::{TraverseParams, gpu_layout};
use crate::render::RenderError;
use wgpu::BufferUsages;

/// The kernel, for any tree.
#[derive(Debug)]
pub(super) struct TraversalKernel {
    layout: Layout,
    pipeline: wgpu::ComputePipeline,
}

impl TraversalKernel {
    pub fn new(gpu: &Gpu) -> Result<Self, RenderError> {
        let layout = gpu.layout("traverse", &[true, true, true, false, true, true]);
        let wgsl = kernel::pass(Store::Buffer, Store::Buffer);
        let [pipeline] = gpu.pipelines("traverse", &wgsl, &layout.pipeline, ["trace_queue"])?;
        Ok(Self { layout, pipeline })
    }
}

/// A tree on the GPU with the buffers of the rays that are shot into it.
#[derive(Debug)]
pub(super) struct Tree {
    bound: wgpu::BindGroup,
}

impl Tree {
    /// Uploads the tree. The first word of `ray_queue` is the number of rays, the others are their indices in `rays` and `hits`.
    pub fn new(
        gpu: &Gpu,
        kernel: &TraversalKernel,
        tree: &Bvh,
        rays: &wgpu::Buffer,
        hits: &wgpu::Buffer,
        ray_queue: &wgpu::Buffer,
    ) -> Result<Self, RenderError> {
        let params = TraverseParams { ray_count: 0, queue_first: 1, counter: 0, reserved: 0 };
        let params = gpu.upload("traversal parameters", bytemuck::bytes_of(&params), BufferUsages::UNIFORM)?;
        let (nodes, triangles) = gpu_layout(tree);
        let nodes = gpu.upload("the tree's nodes", nodes, BufferUsages::STORAGE)?;
        let triangles = gpu.upload("the tree's triangles", triangles, BufferUsages::STORAGE)?;
        let bound = gpu.bind(&kernel.layout, &[&params, &nodes, &triangles, rays, hits, ray_queue, ray_queue]);
        Ok(Self { bound })
    }

    /// Binds kernel and buffers; a dispatch over the ray queue follows.
    pub fn set(&self, kernel: &TraversalKernel, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_bind_group(0, &self.bound, &[]);
        pass.set_pipeline(&kernel.pipeline);
    }
}
