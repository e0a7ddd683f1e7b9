//! `cargo +nightly fuzz run pointcloud`: see `harness::pointcloud`.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::pointcloud(data));
