//! Tracing rays: a BVH on the device, bound with rays, hits and a ray queue to a kernel of
//! `bvh::gpu::kernel`.
//!
//! Where tables and stacks are is chosen for the device (`tuning`) and by the size of the BVH: a
//! table beyond the limit of a storage binding becomes a texture.

use super::device::Gpu;
use super::tuning;
use crate::RenderError;
use shadewright_bvh::TwoLevel;
use shadewright_bvh::gpu::TraverseParams;
use shadewright_bvh::gpu::kernel::{Levels, PassKernel, Places, Store, TABLE_WIDTH, TreeFacts, Variant};
use shadewright_bvh::two_level::procedural::ProceduralBvh;
use shadewright_codegen::wgsl;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::{BindingResource, BindingType, BufferBindingType, BufferUsages};

/// The format of a table in a texture.
const TABLE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Uint;

/// Bytes of a row of a table in a texture.
const ROW_BYTES: usize = 16 * TABLE_WIDTH as usize;

/// Rows of a table in a texture that are uploaded at once, 64 MiB.
const ROWS_AT_ONCE: usize = 512;

/// The kernels, each created when a BVH first needs it.
#[derive(Debug)]
pub(super) struct TraversalKernels {
    /// The variant of BVHs bound from now on.
    variant: Mutex<Variant>,
    subgroups: bool,
    made: Mutex<Vec<Arc<TraversalKernel>>>,
}

/// A kernel on the device.
#[derive(Debug)]
struct TraversalKernel {
    source: PassKernel,
    layout: wgpu::BindGroupLayout,
    all: wgpu::ComputePipeline,
    queue: wgpu::ComputePipeline,
    start: Option<wgpu::ComputePipeline>,
}

/// The buffers that a kernel reads rays from and writes hits to.
#[derive(Clone, Copy, Debug)]
pub(super) struct RayBuffers<'a> {
    pub rays: &'a wgpu::Buffer,
    pub hits: &'a wgpu::Buffer,
    /// The number of rays, then their indices in `rays` and `hits`.
    pub queue: &'a wgpu::Buffer,
}

/// Procedural primitives, with the buffers that their intersection shaders use.
#[derive(Clone, Debug)]
pub(super) struct ProceduralOnDevice<'a> {
    /// Their BVH.
    pub text: Arc<str>,
    pub procedural: &'a ProceduralBvh,
    pub params: &'a wgpu::Buffer,
    pub memory: &'a wgpu::Buffer,
    pub trap: &'a wgpu::Buffer,
}

/// The rays that a dispatch traces.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trace<'a> {
    /// The rays whose indices are queued, by a dispatch of a group for every
    /// [`shadewright_bvh::gpu::GROUP`] of them, whose size is there.
    Queued(&'a wgpu::Buffer, u64),
    /// The rays that [`Tree::set_range`] selects, with the numbers of workgroups in x and y.
    Range([u32; 2]),
}

impl TraversalKernels {
    /// None yet. Kernels use subgroup operations where the device has them.
    pub fn new(gpu: &Gpu, variant: Variant) -> Self {
        Self { variant: Mutex::new(variant), subgroups: gpu.has_subgroups(), made: Mutex::default() }
    }

    /// The same without subgroup operations.
    pub fn without_subgroups(self) -> Self {
        Self { subgroups: false, ..self }
    }

    /// Sets the traversal of BVHs bound from now on.
    pub fn set_variant(&self, variant: Variant) {
        *self.variant.lock().unwrap_or_else(PoisonError::into_inner) = variant;
    }

    /// The traversal of BVHs bound from now on.
    fn variant(&self) -> Variant {
        *self.variant.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kernel for tables in these stores.
    fn get(
        &self,
        gpu: &Gpu,
        variant: Variant,
        places: Places,
        levels: Levels,
        facts: TreeFacts,
        intersections: Option<Arc<str>>,
    ) -> Result<Arc<TraversalKernel>, RenderError> {
        let subgroups = self.subgroups && variant.uses_subgroups();
        let source = PassKernel { variant, subgroups, places, levels, facts, intersections };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = made.iter().find(|kernel| kernel.source == source) {
            return Ok(kernel.clone());
        }
        let kernel = Arc::new(TraversalKernel::new(gpu, source)?);
        // A kernel with intersection shaders is of one scene.
        made.retain(|kernel| kernel.source.intersections.is_none());
        made.push(kernel.clone());
        Ok(kernel)
    }
}

impl TraversalKernel {
    fn new(gpu: &Gpu, source: PassKernel) -> Result<Self, RenderError> {
        let buffer = |ty| BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        let read = buffer(BufferBindingType::Storage { read_only: true });
        let written = buffer(BufferBindingType::Storage { read_only: false });
        let uniform = buffer(BufferBindingType::Uniform);
        let (nodes, triangles) = (table_binding(source.places.nodes), table_binding(source.places.triangles));
        let mut bindings = vec![uniform, nodes, triangles, read, written, read, read];
        let persistent = source.variant == Variant::Persistent;
        bindings.extend(persistent.then_some(written));
        let visibility = wgpu::ShaderStages::COMPUTE;
        let entry = |(binding, ty)| wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None };
        let of_intersections = [(8, uniform), (9, read), (10, written)];
        let of_intersections = of_intersections.into_iter().filter(|_| source.intersections.is_some());
        let entries: Vec<_> = (0..).zip(bindings).chain(of_intersections).map(entry).collect();
        let label = Some("traverse");
        let device = gpu.device();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let pipelines = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let wgsl = wgsl::traversal_kernel(&source);
        let wgsl = wgsl.map_err(|e| RenderError::Unsupported { backend: "the GPU", reason: e.to_string() })?;
        let [all, queue] = gpu.pipelines("traverse", &wgsl, &pipelines, ["trace_all", "trace_queue"])?;
        let start = match persistent {
            true => gpu.pipelines("traverse", &wgsl, &pipelines, ["start"])?.into_iter().next(),
            false => None,
        };
        Ok(Self { source, layout, all, queue, start })
    }
}

/// A BVH on the device with the buffers of its rays.
#[derive(Debug)]
pub(super) struct Tree {
    kernel: Arc<TraversalKernel>,
    params: wgpu::Buffer,
    bound: wgpu::BindGroup,
    bytes: usize,
}

impl Tree {
    /// Uploads a BVH.
    ///
    /// # Errors
    /// When it does not fit the device.
    pub fn new(
        gpu: &Gpu,
        kernels: &TraversalKernels,
        tree: &TwoLevel,
        buffers: RayBuffers<'_>,
    ) -> Result<Self, RenderError> {
        Self::for_scene(gpu, kernels, tree, buffers, None, false)
    }

    /// Uploads the BVH of a scene, which may have procedural primitives. Where it `is_known`, the
    /// kernel is specialized for it.
    ///
    /// # Errors
    /// When it does not fit the device.
    pub fn for_scene(
        gpu: &Gpu,
        kernels: &TraversalKernels,
        tree: &TwoLevel,
        buffers: RayBuffers<'_>,
        procedural: Option<ProceduralOnDevice<'_>>,
        is_known: bool,
    ) -> Result<Self, RenderError> {
        Self::uploaded(gpu, kernels, tree, buffers, tuning::places(gpu, levels_of(tree)), procedural, is_known)
    }

    /// Uploads a BVH, nodes and triangles to the wanted stores where they fit.
    ///
    /// # Errors
    /// When it does not fit the device.
    pub fn with_places(
        gpu: &Gpu,
        kernels: &TraversalKernels,
        tree: &TwoLevel,
        buffers: RayBuffers<'_>,
        wanted: Places,
    ) -> Result<Self, RenderError> {
        Self::uploaded(gpu, kernels, tree, buffers, wanted, None, false)
    }

    fn uploaded(
        gpu: &Gpu,
        kernels: &TraversalKernels,
        tree: &TwoLevel,
        buffers: RayBuffers<'_>,
        wanted: Places,
        procedural: Option<ProceduralOnDevice<'_>>,
        is_known: bool,
    ) -> Result<Self, RenderError> {
        let params = TraverseParams { queue_first: 1, ..TraverseParams::default() };
        let params = gpu.upload("traversal parameters", bytemuck::bytes_of(&params), BufferUsages::UNIFORM)?;
        let taken = gpu.buffer("the number of rays taken", 4, BufferUsages::STORAGE)?;
        let variant = match kernels.variant() {
            // Its counter and what intersection shaders need are more buffers than a kernel may have.
            Variant::Persistent if procedural.is_some() => Variant::WhileWhile,
            variant => variant,
        };
        let tables = match &procedural {
            Some(given) => tree.gpu_tables_with(variant.layout(), given.procedural),
            None => tree.gpu_tables(variant.layout()),
        };
        let nodes = Table::new(gpu, "the BVH's nodes", &tables.nodes, wanted.nodes)?;
        let triangles = Table::new(gpu, "the BVH's triangles", &tables.triangles, wanted.triangles)?;
        let places = Places { nodes: nodes.store(), triangles: triangles.store(), ..wanted };
        let text = procedural.as_ref().map(|given| given.text.clone());
        // The walk over instances or procedural primitives has two stacks.
        let facts = match is_known && procedural.is_none() && !tree.has_instances() {
            true => TreeFacts::new(tree.plain().stats().depth, &tables.triangles),
            false => TreeFacts::ANY,
        };
        let kernel = kernels.get(gpu, variant, places, levels_of(tree), facts, text)?;
        let RayBuffers { rays, hits, queue } = buffers;
        let whole = wgpu::Buffer::as_entire_binding;
        let mut resources = vec![whole(&params), nodes.binding(), triangles.binding()];
        resources.extend([rays, hits, queue, queue].map(whole));
        resources.extend(kernel.start.is_some().then(|| whole(&taken)));
        let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
        let of_intersections =
            procedural.iter().flat_map(|p| [(8, whole(p.params)), (9, whole(p.memory)), (10, whole(p.trap))]);
        let entries: Vec<_> = (0..).zip(resources).chain(of_intersections).map(entry).collect();
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &kernel.layout, entries: &entries };
        let bound = gpu.device().create_bind_group(&descriptor);
        let bytes = tables.nodes.len() + tables.triangles.len();
        Ok(Self { kernel, params, bound, bytes })
    }

    /// Bytes of nodes and triangles.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The stores of the tables.
    pub fn places(&self) -> Places {
        self.kernel.source.places
    }

    /// Chooses the rays of [`Trace::Range`], for commands submitted later.
    pub fn set_range(&self, gpu: &Gpu, first: u32, count: u32) {
        let params = TraverseParams { ray_first: first, ray_count: count, queue_first: 1, counter: 0 };
        gpu.queue().write_buffer(&self.params, 0, bytemuck::bytes_of(&params));
    }

    /// Records the tracing of rays.
    pub fn trace(&self, pass: &mut wgpu::ComputePass<'_>, what: Trace<'_>) {
        pass.set_bind_group(0, &self.bound, &[]);
        if let Some(start) = &self.kernel.start {
            pass.set_pipeline(start);
            pass.dispatch_workgroups(1, 1, 1);
        }
        pass.set_pipeline(if let Trace::Queued(..) = what { &self.kernel.queue } else { &self.kernel.all });
        match what {
            Trace::Queued(groups, at) => pass.dispatch_workgroups_indirect(groups, at),
            Trace::Range([x, y]) => pass.dispatch_workgroups(x, y, 1),
        }
    }
}

fn levels_of(tree: &TwoLevel) -> Levels {
    if tree.has_instances() { Levels::Two } else { Levels::One }
}

/// How a kernel binds a table.
pub(super) fn table_binding(store: Store) -> BindingType {
    match store {
        Store::Buffer => BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        Store::Texture => BindingType::StorageTexture {
            access: wgpu::StorageTextureAccess::ReadOnly,
            format: TABLE_FORMAT,
            view_dimension: wgpu::TextureViewDimension::D2,
        },
    }
}

/// A table of vectors on the device.
#[derive(Debug)]
pub(super) enum Table {
    Buffer(wgpu::Buffer),
    Texture(wgpu::TextureView),
}

impl Table {
    /// Uploads a table to the wanted store, or to the other one where it does not fit.
    pub fn new(gpu: &Gpu, what: &'static str, content: &[u8], wanted: Store) -> Result<Self, RenderError> {
        let bytes = content.len() as u64;
        let (in_buffer, in_texture) = (gpu.max_storage_bytes(), max_texture_bytes(gpu));
        match place(bytes, wanted, in_buffer, in_texture) {
            Some(Store::Buffer) => gpu.upload(what, content, BufferUsages::STORAGE).map(Self::Buffer),
            Some(Store::Texture) => Self::texture(gpu, what, content),
            None => Err(RenderError::TooLarge { what, needed: bytes, limit: in_buffer.max(in_texture) }),
        }
    }

    fn texture(gpu: &Gpu, what: &'static str, content: &[u8]) -> Result<Self, RenderError> {
        let size = |width, height| wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        let rows = content.len().div_ceil(ROW_BYTES).max(1) as u32;
        let texture = gpu.texture(what, size(TABLE_WIDTH, rows), TABLE_FORMAT)?;
        let mut row = 0;
        let mut copy = |bytes: &[u8], width: usize| {
            let height = (bytes.len() / (16 * width)) as u32;
            let origin = wgpu::Origin3d { x: 0, y: row, z: 0 };
            let to = wgpu::TexelCopyTextureInfo { mip_level: 0, origin, ..texture.as_image_copy() };
            let layout =
                wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(16 * width as u32), rows_per_image: None };
            gpu.queue().write_texture(to, bytes, layout, size(width as u32, height));
            row += height;
            // Uploads wait in memory of the host until something is submitted.
            gpu.queue().submit([]);
        };
        let (whole_rows, rest) = content.split_at(content.len() / ROW_BYTES * ROW_BYTES);
        for rows in whole_rows.chunks(ROWS_AT_ONCE * ROW_BYTES) {
            copy(rows, TABLE_WIDTH as usize);
        }
        if !rest.is_empty() {
            copy(rest, rest.len() / 16);
        }
        gpu.check()?;
        Ok(Self::Texture(texture.create_view(&wgpu::TextureViewDescriptor::default())))
    }

    /// Where it is.
    pub fn store(&self) -> Store {
        match self {
            Self::Buffer(_) => Store::Buffer,
            Self::Texture(_) => Store::Texture,
        }
    }

    /// The resource that is bound as the table.
    pub fn binding(&self) -> BindingResource<'_> {
        match self {
            Self::Buffer(buffer) => buffer.as_entire_binding(),
            Self::Texture(view) => BindingResource::TextureView(view),
        }
    }
}

/// The most bytes of a table in a texture; none where textures are narrower than its rows, or
/// kernels cannot have one for each table.
fn max_texture_bytes(gpu: &Gpu) -> u64 {
    let limits = gpu.device().limits();
    let side = limits.max_texture_dimension_2d;
    let none = side < TABLE_WIDTH || limits.max_storage_textures_per_shader_stage < 2;
    if none { 0 } else { u64::from(side) * ROW_BYTES as u64 }
}

/// The store of a table of `bytes` bytes: the wanted one if it fits, else the other.
fn place(bytes: u64, wanted: Store, in_buffer: u64, in_texture: u64) -> Option<Store> {
    let fits = |store: &Store| bytes <= if *store == Store::Buffer { in_buffer } else { in_texture };
    let other = if wanted == Store::Buffer { Store::Texture } else { Store::Buffer };
    [wanted, other].into_iter().find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_goes_where_it_is_wanted_or_where_there_is_room() {
        use Store::{Buffer, Texture};
        assert_eq!(place(100, Buffer, 100, 1000), Some(Buffer));
        assert_eq!(place(100, Texture, 100, 1000), Some(Texture));
        assert_eq!(place(101, Buffer, 100, 1000), Some(Texture));
        assert_eq!(place(100, Texture, 100, 0), Some(Buffer));
        assert_eq!(place(1001, Buffer, 100, 1000), None);
    }
}
