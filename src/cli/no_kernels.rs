//! Replaces the GPU's kernels in builds without the feature `gpu`.

use super::failure::Failure;
use shadewright::ir::Module;
use shadewright::render::gpu::ComputeError;
use std::time::Duration;

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
