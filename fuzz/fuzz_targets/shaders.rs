//! `cargo +nightly fuzz run shaders`: see `harness::shaders`.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::shaders(data));
