//! A mesh of four million triangles: times and memory.

use crate::common::{rounded, timed};
use anyhow::anyhow;
use serde_json::{Value, json};
use shadewright::geometry::procedural;
use shadewright::program::{LinkOptions, link};
use shadewright::render::gpu::GpuRenderer;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Renderer, Window, prepare};
use shadewright::scene;
use shadewright::text::source::SourceMap;
use std::time::Instant;

/// Triangles of the mesh.
pub const TRIANGLES: usize = 4_000_000;
/// Width and height of the image.
pub const SIZE: (u32, u32) = (640, 480);

/// Makes the mesh, links its program, builds its BVH and renders it on the RPU; on the GPU too if
/// there is one.
///
/// # Errors
/// When linking or rendering fails.
pub fn mesh(triangles: usize, size: (u32, u32)) -> anyhow::Result<Value> {
    let start = Instant::now();
    let mut scene = scene::mesh_scene("wavy sheet", procedural::sheet(triangles));
    (scene.format.width, scene.format.height) = size;
    let made = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let program = link(&scene, SourceMap::new(), &LinkOptions::default());
    let program = program.map_err(|e| anyhow!("{}", e.diagnostics.render(&e.sources)))?;
    let linked = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let sampling = Sampling { strata: [1, 1], seed: 0 };
    let job = prepare(program, &scene, Window::whole(size.0, size.1), sampling, DEFAULT_BUDGET)?;
    drop(scene);
    let tree = start.elapsed().as_secs_f64();
    let render = timed(&mut RpuRenderer::new(), &job)?;
    let peak = peak_memory();
    let gpu = match GpuRenderer::new(None) {
        Ok(mut gpu) => match gpu.render(&job, &|_| {}) {
            Ok(_) => "renders it".to_string(),
            Err(e) => format!("refuses it: {e}"),
        },
        Err(_) => "no adapter".to_string(),
    };
    Ok(json!({
        "triangles": job.bvh.primitive_count(),
        "mesh_s": rounded(made),
        "link_s": rounded(linked),
        "bvh_s": rounded(tree),
        "render_s": rounded(render),
        "peak_memory_gib": peak.map(|b| rounded(b as f64 / (1u64 << 30) as f64)),
        "gpu": gpu,
    }))
}

/// The peak memory of this process in bytes, where the system reports it (Linux).
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}
