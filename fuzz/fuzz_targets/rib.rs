//! `cargo +nightly fuzz run rib`: see `harness::rib`.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::rib(data));
