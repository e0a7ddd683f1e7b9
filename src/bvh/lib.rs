//! The bounding volume hierarchy: one binary SAH tree over a triangle soup, used by both back ends.
//!
//! It takes [`Triangle`]s (positions and a culling flag; the index in the input is the primitive's
//! id) and answers [`closest hit`](Bvh::closest_hit) and [`any hit`](Bvh::any_hit) for rays, singly
//! or in batches of up to 64. It gives the GPU the same tree as bytes ([`gpu_layout`]) for the
//! kernels of `wgsl/traverse/`. It must not know scenes, shaders, cameras or memory images: a hit
//! is `(t, u, v, prim)` and what a primitive means is the caller's business.
//!
//! | file | holds |
//! |---|---|
//! | [`triangle`] | the input triangle, its form in leaves and the ray–triangle test |
//! | [`ray`] | rays, hits and their batches; the constants of the robust tests |
//! | [`node`] | the 64-byte binary node and its byte layout |
//! | [`build`] | the builders of the binary tree |
//! | `refit` | new positions for a tree's triangles |
//! | [`tree`] | the tree that callers hold |
//! | [`stats`] | size and quality of a tree |
//! | [`two_level`] | trees over meshes, and one over the instances that place them |
//! | [`wide`] | the 4- and 8-wide trees, and the kernels that trace them with SIMD lanes |
//! | [`packet`] | the kernels that trace many rays of a batch together |
//! | [`kernel`] | names of the kernels, and tracing by one of choice |
//! | [`raysets`] | rays to measure traversal with, and their files |
//! | [`binary`] | scalar traversal of the binary tree, the twin of the WGSL kernel |
//!
//! # Numbers agree
//!
//! Every traversal does the ray–triangle test with the same operations in the same order
//! ([`triangle::LeafTriangle::intersect`]), and of hits at equal `t` the lower primitive index
//! wins. So the scalar code, the wide kernels, and a GPU whose driver fuses nothing give the same
//! bits, in whichever order they visit the tree.

pub mod binary;
pub mod build;
pub mod gpu;
pub mod kernel;
pub mod kernels;
pub mod node;
pub mod packet;
pub mod random;
pub mod ray;
pub mod raysets;
mod refit;
pub mod stats;
pub mod tree;
pub mod triangle;
pub mod two_level;
pub mod wide;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod watertightness;

pub use build::{BuildError, BuildOptions, Quality};
pub use gpu::gpu_layout;
pub use kernel::Kernel;
pub use ray::{BATCH, Hit, HitBatch, NO_PRIM, Ray, RayBatch};
pub use refit::RefitError;
pub use stats::BuildStats;
pub use tree::Bvh;
pub use triangle::{CULL_BACK, Triangle};
pub use two_level::{Placement, TwoLevel, TwoLevelError};
