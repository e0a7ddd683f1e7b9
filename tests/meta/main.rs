//! The repository itself: documentation, layers, benchmarks, and inputs that fuzzing found.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "gpu")]
mod benchmarks;
mod docs;
mod fuzz_corpus;
mod layers;
