//! `cargo +nightly fuzz run engines`: see `harness::engines`.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::engines(data));
