//! `cargo +nightly fuzz run transport`: see `harness::transport`.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::transport(data));
