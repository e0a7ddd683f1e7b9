//! Rendering on a GPU: runs the kernels that `codegen::wgsl` makes of a linked program, through wgpu.
//!
//! [`SectionMachine`] runs any such program for many paths at once. The kernels that do not
//! depend on the program are WGSL files in `wgsl/`. Devices, buffers and their failures are in `device`. No other module except the viewer knows wgpu.

mod accumulate;
mod device;
#[cfg(test)]
mod layouts;
mod schedule;
mod section_machine;
mod traversal;

pub use device::{AdapterInfo, Gpu, OpenError, adapters, has_hardware_adapter};
pub use section_machine::{Compute, ComputeError, MachineStats, SectionMachine, Setup};
