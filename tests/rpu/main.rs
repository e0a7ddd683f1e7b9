//! The RPU: programs in its assembly, costs and conventions.

#[path = "../common/mod.rs"]
mod common;

mod conventions;
mod cost;
mod programs;
#[cfg(feature = "gpu")]
mod thesis;
#[cfg(feature = "gpu")]
mod vectorization;
