//! The repository itself: documentation, the commands that it cites, layers, benchmarks, and inputs
//! that fuzzing found.

#[path = "../common/cited.rs"]
mod cited;
#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "gpu")]
mod benchmarks;
mod commands;
mod docs;
mod features;
mod figures;
mod fuzz_corpus;
mod layers;
