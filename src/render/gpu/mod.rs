//! Rendering on a GPU: runs the kernels that `codegen::wgsl` makes of a linked program, through wgpu.
//!
//! There are two machines that run any such program for many paths at once: `section_machine` and `megakernel`. The kernels that do not
//! depend on the program are WGSL files in `wgsl/`. Devices, buffers and their failures are in `device`. No other module except the viewer knows wgpu.

mod batch;
mod device;
mod flight;
mod function;
#[cfg(test)]
mod layouts;
mod machine;
mod megakernel;
mod pace;
mod passes;
mod pipelines;
mod prepare;
mod profile;
mod program;
mod progressive;
mod ray_tracer;
mod renderer;
mod schedule;
mod section_machine;
#[cfg(test)]
mod tests;
mod tiles;
mod trap;
mod traversal;
mod warm;

pub use device::{Gpu, OpenError, adapters, has_hardware_adapter};
pub use function::run_function;
pub use machine::MachineStats;
pub use pipelines::PipelineCounts;
pub use prepare::Preparation;
pub use progressive::GpuProgressive;
pub use ray_tracer::{RayTracer, Traced, TracerOptions};
pub use renderer::{GpuRenderer, GpuStats};
pub use section_machine::{Compute, ComputeError};
pub use warm::WarmUp;
