//! Rendering: a linked program and a BVH in, an image out.
//!
//! [`Renderer`] has two implementations, `rpu` (the software RPU) and `gpu` (compute shaders; no
//! other module but the viewer knows wgpu). Both take the same [`Job`]: the same program, memory
//! image, BVH, sample positions and film, so that they differ in arithmetic alone. [`Backend`] is
//! the table of what can be opened.

mod adapter;
pub mod adaptive;
mod backend;
pub mod baking;
pub mod batches;
pub mod call;
pub mod checkpoint;
pub mod depth;
pub mod displace;
pub mod film;
pub mod filter;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
pub mod gpu;
mod job;
pub mod motion;
pub mod part;
pub mod passes;
pub mod progressive;
pub mod record;
pub mod report;
pub mod rpu;
pub mod samples;
pub mod sampling;
mod scene_world;
mod schedule;
mod sobol;

pub use adapter::AdapterInfo;
pub use backend::{Backend, BackendInfo, BackendOptions};
pub use job::{
    CropError, DEFAULT_BUDGET, Job, JobError, Progress, RenderError, Renderer, Window, default_quality, prepare,
    prepare_with_quality, triangles_to_build,
};
pub use scene_world::SceneWorld;
pub use schedule::Schedule;

#[cfg(test)]
mod tests;
