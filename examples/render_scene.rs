//! Renders a scene file on the RPU, which needs no GPU, and writes an image file.
//!
//! `cargo run --release --example render_scene -- assets/scenes/glass.rib glass.png`

use anyhow::{Context, Result, anyhow};
use shadewright::image::file;
use shadewright::program::{LinkOptions, link};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer, Window, prepare};
use shadewright::scene::{self, OpenOptions};
use shadewright::text::source::SourceMap;
use std::path::PathBuf;

fn main() -> Result<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (scene, image) = args.next().zip(args.next()).context("usage: render_scene SCENE IMAGE")?;

    // Reading the scene finds its shaders; linking compiles them.
    let mut sources = SourceMap::new();
    let opened = scene::open(&scene, &OpenOptions::default(), &mut sources);
    let scene = opened.map_err(|errors| anyhow!("{}", errors.render(&sources)))?.scene;
    let program = link(&scene, sources, &LinkOptions::default())
        .map_err(|error| anyhow!("{}", error.diagnostics.render(&error.sources)))?;

    let (width, height) = (scene.format.width, scene.format.height);
    let sampling = Sampling { strata: [2, 2], seed: 0 };
    let job = prepare(program, &scene, Window::whole(width, height), sampling, DEFAULT_BUDGET)?;
    let rendered = RpuRenderer::new().render(&job, &|_progress| ())?;
    file::write(&image, &rendered)?;
    println!("{}: {width} x {height} pixels", image.display());
    Ok(())
}
