//! `cargo +nightly fuzz run images`: see `harness::images`.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::images(data));
