//! Rendering: a linked program and a tree of triangles in, an image out.
//!
//! [`Renderer`] has two implementations, `rpu` (the software machine) and `gpu` (compute shaders; the only place beside the viewer
//! that knows wgpu). Both take the same [`Job`]: the same program, memory image, tree, sample positions and film, so that what they
//! disagree on is arithmetic alone.

mod adapter;
mod backend;
pub mod call;
pub mod checkpoint;
pub mod depth;
pub mod film;
pub mod filter;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
pub mod gpu;
mod job;
pub mod motion;
pub mod progressive;
pub mod report;
pub mod rpu;
pub mod sampling;
mod scene_world;
mod schedule;
mod sobol;
pub mod steps;

pub use adapter::AdapterInfo;
pub use backend::{Backend, BackendInfo, BackendOptions};
pub use job::{
    CropError, DEFAULT_BUDGET, Job, JobError, Progress, RenderError, Renderer, Window, prepare, prepare_with_tree,
    triangles_to_build, usual_tree,
};
pub use scene_world::SceneWorld;
pub use schedule::Schedule;

#[cfg(test)]
mod tests;
