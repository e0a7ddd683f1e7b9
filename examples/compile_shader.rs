//! Compiles an RSL surface shader to the WGSL kernels that shade its hits, and prints them.
//!
//! `cargo run --release --example compile_shader -- assets/shaders/checker.sl`

use anyhow::{Context, Result, anyhow};
use shadewright::codegen::wgsl;
use shadewright::program::{LinkOptions, link, surface_entry};
use shadewright::scene::{self, ShaderRole};
use shadewright::text::source::SourceMap;
use std::path::PathBuf;

fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).map(PathBuf::from).context("usage: compile_shader SHADER.sl")?;
    let name = path.file_stem().context("the shader needs a name")?.to_string_lossy().into_owned();

    // A scene of one triangle with the shader: linking gives it lights and a camera.
    let scene = scene::shader_scene(&name, ShaderRole::Surface);
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    let options = LinkOptions { shader_paths: vec![folder], ..LinkOptions::default() };
    let program = link(&scene, SourceMap::new(), &options)
        .map_err(|error| anyhow!("{}", error.diagnostics.render(&error.sources)))?;

    let kernels = wgsl::compile(&program.module, &[&surface_entry(0)], &wgsl::WgslOptions::default())?;
    for kernel in &kernels.sections {
        println!("// {}\n{}", kernel.name, kernel.wgsl);
    }
    Ok(())
}
