//! `shadewright devices`: the backends of this machine.

use super::args::DevicesArgs;
use super::failure::Failure;
use super::output::print_json_text;
use anyhow::Context;
use shadewright::render::{Backend, gpu};

/// Lists the RPU and every GPU adapter.
pub fn run(args: &DevicesArgs) -> Result<(), Failure> {
    let adapters = gpu::adapters();
    let threads = rayon::current_num_threads();
    let engine = Backend::RPU.info().runs_with();
    if args.json {
        let json = serde_json::json!({ "rpu": { "threads": threads, "engine": engine }, "adapters": adapters });
        print_json_text(&serde_json::to_string_pretty(&json).context("writing JSON")?);
        return Ok(());
    }
    println!("rpu  RPU (CPU): software ray processing unit, {engine}, {threads} threads");
    for a in &adapters {
        println!("gpu  {} ({}, {}, {} MiB per binding)", a.name, a.kind, a.api, a.max_binding_bytes >> 20);
    }
    if adapters.is_empty() {
        println!("gpu  none found; install a Vulkan driver (on Debian: libvulkan1 mesa-vulkan-drivers)");
    }
    Ok(())
}
