//! What stands in for the GPU's adapter and kernels in builds without the feature `gpu`.

use super::exit::Failure;
use shadewright::ir::Module;
use shadewright::render::AdapterInfo;
use shadewright::render::gpu::{ComputeError, GpuRenderer};
use std::time::Duration;

/// The adapter that a renderer runs on. There is no renderer.
pub fn adapter(renderer: &GpuRenderer) -> AdapterInfo {
    match *renderer {}
}

/// The kernels as WGSL: not in this build.
pub fn as_wgsl(_module: &Module, _entries: &[&str]) -> Result<String, Failure> {
    Err(Failure::input(format!("error: {ComputeError}")))
}

/// The kernels as SPIR-V: not in this build.
pub fn as_spirv(_module: &Module, _entries: &[&str]) -> Result<Vec<u8>, Failure> {
    Err(Failure::input(format!("error: {ComputeError}")))
}

/// How long compiling to kernels takes: not in this build.
pub fn times(_module: &Module, _entries: &[&str]) -> Result<[Duration; 2], Failure> {
    Err(Failure::input(format!("error: {ComputeError}")))
}
