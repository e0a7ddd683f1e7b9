//! Rendering on a GPU: runs the kernels that `codegen::wgsl` makes of a linked program, through
//! wgpu.
//!
//! Two executors run such a program for many paths at once: `wavefront` and `megakernel`. The
//! kernels that do not depend on the program are WGSL files in `wgsl/`. Devices, buffers and their
//! failures are in `device`. No other module except the viewer knows wgpu.

mod batch;
mod device;
mod driver;
mod executor;
mod function;
#[cfg(test)]
mod layouts;
mod megakernel;
mod passes;
mod pipelines;
mod prepare;
mod profile;
mod program;
mod progressive;
mod ray_tracer;
mod renderer;
mod samples;
mod schedule;
mod submission_size;
mod submissions;
#[cfg(test)]
mod tests;
mod tiles;
mod traversal;
mod tuning;
mod warm_up;
mod wavefront;

pub use device::{Gpu, OpenError, adapters, has_hardware_adapter};
pub use executor::ExecutorStats;
pub use function::run_function;
pub use pipelines::PipelineCounts;
pub use prepare::Preparation;
pub use progressive::GpuProgressive;
pub use ray_tracer::{RayTracer, Traced, TracerOptions};
pub use renderer::{GpuRenderer, GpuStats, check};
pub use samples::GpuSamples;
pub use warm_up::WarmUp;
pub use wavefront::{Compute, ComputeError};
