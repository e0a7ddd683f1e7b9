//! `cargo +nightly fuzz run pictures`: see `harness::pictures`.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::pictures(data));
