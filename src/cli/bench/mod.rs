//! `shadewright bench NAME`: the project's own measurements, as ratios of two things in one run where there are two.

mod bvh;
mod compilation;
mod compiler;
mod engines;
mod frames;
#[cfg(feature = "gpu")]
mod gpu_traversal;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu_traversal.rs"]
mod gpu_traversal;
mod growth;
mod instances;
mod meshes;
mod reload;
mod rtsl;
mod shaders;
mod shading;
mod simulation;
mod textures;
mod traversal;
#[cfg(feature = "viewer")]
mod view;
#[cfg(not(feature = "viewer"))]
#[path = "no_view.rs"]
mod view;

use super::args::{BackendChoice, BenchArgs, Benchmark, Convention, SamplePattern, SceneArgs, Size};
use super::common::{prepare_job, renderer, set_threads};
use super::exit::Failure;
use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use shadewright::geometry::procedural;
use shadewright::program::{LinkOptions, link};
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{Backend, DEFAULT_BUDGET, Job, Renderer, Window, prepare};
use shadewright::scene;
use shadewright::text::source::SourceMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Measured runs of each thing, in turn, after one that is not counted.
const RUNS: usize = 5;

/// Runs a measurement and prints its results.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    set_threads(&args.machine)?;
    let results = match args.name {
        Benchmark::Bvh => bvh::builders(args)?,
        Benchmark::Traversal => traversal::rays(args)?,
        Benchmark::GpuTraversal => gpu_traversal::kernels(args)?,
        Benchmark::Instances => instances::against_triangles(args.json)?,
        Benchmark::Growth => growth::rays(args)?,
        Benchmark::Machines => frames::machines(args)?,
        Benchmark::Schedules => frames::schedules(args)?,
        Benchmark::View => view::orbit(args)?,
        Benchmark::Startup => bench_startup(args)?,
        Benchmark::Reload => reload::shader_edits(args)?,
        Benchmark::Shaders => shaders::images(args)?,
        Benchmark::Large => bench_large(args)?,
        Benchmark::Passes => compiler::passes(args)?,
        Benchmark::Conventions => compiler::conventions(args)?,
        Benchmark::Inlining => compiler::inlining(args)?,
        Benchmark::Compile => compilation::times()?,
        Benchmark::Shading => shading::points()?,
        Benchmark::Rtsl => rtsl::tables(args)?,
        Benchmark::Rpu => engines::shading()?,
        Benchmark::Simulate => simulation::scenes()?,
        Benchmark::Textures => textures::lookups()?,
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&results).context("writing JSON")?);
    } else if let (false, Value::Object(map)) = (args.name.prints_a_table(), &results) {
        for (name, value) in map {
            println!("{name:<28} {value}");
        }
    }
    Ok(())
}

fn rounded(x: f64) -> Value {
    json!((x * 1000.0).round() / 1000.0)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A job for a scene or mesh file with one sample a pixel.
fn scene_job(path: &Path, size: Size) -> Result<Job, Failure> {
    let scene = SceneArgs {
        integrator: None,
        estimator: None,
        clamp: None,
        scene: Some(path.to_path_buf()),
        size: Some(size),
        spp: Some(1),
        crop: None,
        frames: None,
        allow_run: false,
        seed: 0,
        pattern: SamplePattern::default(),
        shader_paths: Vec::new(),
        allow_read: vec![PathBuf::from(env!("CARGO_MANIFEST_DIR"))],
        budget: DEFAULT_BUDGET,
        tree: None,
        passes: None,
        convention: Convention::default(),
    };
    Ok(prepare_job(&scene)?.0)
}

fn timed(renderer: &mut dyn Renderer, job: &Job) -> Result<f64, Failure> {
    let start = Instant::now();
    renderer.render(job, &|_| {}).map_err(|e| Failure::render(&e, &job.program.sources))?;
    Ok(start.elapsed().as_secs_f64())
}

fn bench_startup(args: &BenchArgs) -> Result<Value, Failure> {
    let program = std::env::current_exe().context("finding this program")?;
    let folder = tempfile::tempdir().context("making a folder for the image")?;
    let out = folder.path().join("image.png");
    let mut times = Vec::new();
    for _ in 0..=RUNS {
        let start = Instant::now();
        let status = Command::new(&program)
            .args(["--backend", "rpu", "--size", "640x480", "--threads", &args.machine.threads.to_string(), "--render"])
            .arg(&out)
            .status()
            .context("starting this program again")?;
        if !status.success() {
            return Err(anyhow!("rendering the built-in scene failed: {status}").into());
        }
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(
        json!({ "scene": "built in, 640x480, from start to file", "first_s": rounded(times[0]), "median_s": rounded(median(times)) }),
    )
}

/// Triangles of the large mesh.
const LARGE: usize = 4_000_000;

fn bench_large(args: &BenchArgs) -> Result<Value, Failure> {
    let start = Instant::now();
    let mut scene = scene::of_mesh("wavy sheet", procedural::sheet(LARGE));
    scene.format.width = 640;
    scene.format.height = 480;
    let prepared = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let options = LinkOptions::default();
    let program = link(&scene, SourceMap::new(), &options)?;
    let linked = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let job = prepare(program, &scene, Window::whole(640, 480), Sampling { strata: [1, 1], seed: 0 }, DEFAULT_BUDGET)?;
    drop(scene);
    let tree = start.elapsed().as_secs_f64();
    let (mut rpu, _) = renderer(BackendChoice::Named(Backend::RPU), &args.machine, RpuRenderer::new())?;
    let render = timed(rpu.as_mut(), &job)?;
    let peak = peak_memory();
    let gpu = match renderer(BackendChoice::Named(Backend::GPU), &args.machine, RpuRenderer::new()) {
        Ok((mut gpu, _)) => match gpu.render(&job, &|_| {}) {
            Ok(_) => "renders it".to_string(),
            Err(e) => format!("refuses: {e}"),
        },
        Err(_) => "no adapter".to_string(),
    };
    Ok(json!({
        "triangles": job.bvh.primitive_count(),
        "mesh_s": rounded(prepared),
        "link_s": rounded(linked),
        "tree_s": rounded(tree),
        "render_s": rounded(render),
        "peak_memory_gib": peak.map(|b| rounded(b as f64 / (1u64 << 30) as f64)),
        "gpu": gpu,
    }))
}

/// The most memory this process has held, where the system tells (Linux).
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_five_is_the_third() {
        assert_eq!(median(vec![5.0, 1.0, 4.0, 2.0, 3.0]), 3.0);
    }
}
