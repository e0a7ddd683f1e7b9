//! What `shadewright bench gpu-traversal` says where the program was built without the feature `gpu`.

use crate::cli::args::BenchArgs;
use crate::cli::exit::Failure;
use serde_json::Value;
use shadewright::render::gpu::ComputeError;

/// Not in this build.
pub fn kernels(_args: &BenchArgs) -> Result<Value, Failure> {
    Err(Failure::device(format!("error: {ComputeError}")))
}
