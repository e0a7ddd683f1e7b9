//! The substitute for `bench rays` on the GPU in builds without the feature `gpu`.

use super::rays::Subject;
use crate::cli::args::RaysArgs;
use crate::cli::failure::Failure;
use serde_json::Value;
use shadewright::bvh::raysets::RaySet;
use shadewright::render::gpu::ComputeError;

/// Not in this build.
pub fn kernels(_args: &RaysArgs, _subject: Subject, _sets: &[RaySet]) -> Result<Value, Failure> {
    Err(Failure::device(format!("error: {ComputeError}")))
}
