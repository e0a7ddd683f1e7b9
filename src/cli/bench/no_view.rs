//! What `shadewright bench view` says where the program was built without the feature `viewer`.

use crate::cli::args::BenchArgs;
use crate::cli::exit::Failure;
use serde_json::Value;

/// Not in this build.
pub fn orbit(_args: &BenchArgs) -> Result<Value, Failure> {
    Err(Failure::input(
        "error: this shadewright was built without the feature `viewer`, whose drawing `bench view` measures",
    ))
}
