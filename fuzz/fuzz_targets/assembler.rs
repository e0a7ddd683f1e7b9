//! `cargo +nightly fuzz run assembler`: see `harness::assembler`.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::assembler(data));
