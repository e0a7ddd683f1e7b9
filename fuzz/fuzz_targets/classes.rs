//! `cargo +nightly fuzz run classes`: see `harness::classes`.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::classes(data));
