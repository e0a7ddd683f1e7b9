//! Traversal on the GPU: the kernels' text ([`kernel`]), the layouts of what they read and write,
//! as bytes, and the tree that is made for the GPU alone ([`compressed`]).
//!
//! It knows no device: the renderer on the GPU binds the buffers, in bind group 0:
//!
//! | binding | buffer |
//! |---|---|
//! | 0 | [`TraverseParams`], uniform |
//! | 1, 2 | nodes and triangles, as [`TwoLevel::gpu_tables`](super::TwoLevel::gpu_tables) gives them, each in the [`Store`](kernel::Store) that the kernel is made for ([`Places`](kernel::Places)) |
//! | 3 | [`GpuRay`]s |
//! | 4 | [`GpuHit`]s, written |
//! | 5, 6 | ray queue and counters, `u32` each |
//! | 7 | persistent invocations: the number of rays taken, one `u32`, written |
//! | 8, 9, 10 | kernels with intersection shaders: their buffers, which the code generator declares (`wgsl/section/intersections.wgsl`) |
//!
//! `trace_all` traces `ray_count` rays from `ray_first` on; `trace_queue` traces those whose
//! indices stand in the queue, with the count in a counter, for indirect dispatch. Both want one
//! thread a ray in groups of [`GROUP`] and take a grid of one or two dimensions. Persistent
//! invocations want `start` before that, in one thread.

pub mod compressed;
pub mod kernel;

use super::tree::Bvh;
use bytemuck::{Pod, Zeroable};

/// Threads in a workgroup.
pub const GROUP: u32 = 64;

/// The most groups that a dispatch takes in a dimension (WebGPU's default limit).
pub const MAX_GROUPS: u32 = 65_535;

/// The kernel's uniform buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct TraverseParams {
    /// Rays to trace by `trace_all`.
    pub ray_count: u32,
    /// Where this pass's indices begin in the ray queue.
    pub queue_first: u32,
    /// The element of the counters that holds the number of indices.
    pub counter: u32,
    /// The first of the rays to trace by `trace_all`.
    pub ray_first: u32,
}

/// A ray of the ray buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuRay {
    /// Where `t = 0`.
    pub origin: [f32; 3],
    /// Hits have `t > t_min`; not negative.
    pub t_min: f32,
    /// Direction, of any length.
    pub dir: [f32; 3],
    /// Positive: the closest hit on `(t_min, t_max)`; negative: any hit on `(t_min, -t_max)`; zero:
    /// nothing is traced and a miss is written. Finite.
    pub t_max: f32,
}

/// A hit of the hit buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuHit {
    /// Barycentric weight of the second vertex; 0 for a miss and for any hit.
    pub u: f32,
    /// Barycentric weight of the third vertex; 0 for a miss and for any hit.
    pub v: f32,
    /// Distance; −1 for a miss, 0 for any hit.
    pub t: f32,
    /// Primitive index; [`NO_PRIM`](super::NO_PRIM) for a miss and for any hit.
    pub prim: u32,
}

/// The tree's nodes and triangles as the bytes of the two buffers: [`Node`](super::node::Node)s,
/// and [`LeafTriangle`](super::triangle::LeafTriangle)s in leaf order. A tree without triangles has
/// an empty triangle buffer.
pub fn gpu_layout(bvh: &Bvh) -> (&[u8], &[u8]) {
    (bytemuck::cast_slice(bvh.nodes()), bytemuck::cast_slice(bvh.triangles()))
}

/// The groups in x and y to dispatch for a number of rays.
pub fn dispatch_size(rays: u32) -> [u32; 2] {
    let groups = rays.div_ceil(GROUP);
    let x = groups.min(MAX_GROUPS);
    [x, if x == 0 { 0 } else { groups.div_ceil(x) }]
}

#[cfg(test)]
mod tests {
    use super::super::node::Node;
    use super::super::triangle::LeafTriangle;
    use super::super::two_level::instance::Instance;
    use super::compressed::node::CompressedNode;
    use super::*;

    #[test]
    fn layouts_are_the_kernels() {
        let places = kernel::Places {
            nodes: kernel::Store::Buffer,
            triangles: kernel::Store::Texture,
            stack: kernel::Stack::Private,
        };
        let text = kernel::PassKernel {
            variant: Default::default(),
            subgroups: false,
            places,
            levels: kernel::Levels::One,
            facts: kernel::TreeFacts::ANY,
            intersections: None,
        }
        .wgsl();
        let module = naga::front::wgsl::parse_str(&text).expect("the kernel parses");
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).expect("a layout");
        let size = |name: &str| {
            let (handle, _) = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name)).expect(name);
            layouter[handle].size as usize
        };
        assert_eq!(size("Params"), size_of::<TraverseParams>());
        // Vectors of 16 bytes, by the factors in the kernel's index arithmetic.
        assert_eq!(size_of::<Node>(), 4 * 16);
        assert_eq!(size_of::<LeafTriangle>(), 3 * 16);
        assert_eq!(size_of::<CompressedNode>(), 5 * 16);
        assert_eq!(size_of::<Instance>(), 5 * 16);
        assert_eq!(size_of::<GpuRay>(), 2 * 16);
        assert_eq!(size_of::<GpuHit>(), 16);
    }

    #[test]
    fn a_dispatch_covers_all_rays_within_the_limit() {
        for rays in [0, 1, 64, 65, 64 * MAX_GROUPS, 64 * MAX_GROUPS + 1, u32::MAX] {
            let [x, y] = dispatch_size(rays);
            assert!(x <= MAX_GROUPS && y <= MAX_GROUPS);
            assert!(u64::from(x) * u64::from(y) * u64::from(GROUP) >= u64::from(rays), "{rays}");
        }
    }
}
