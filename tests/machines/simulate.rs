//! The timed simulator draws the functional simulator's image, bit for bit, and `simulate` accounts for
//! every cycle.

use shadewright::program::{LinkOptions, link};
use shadewright::render::rpu::{Loaded, RpuRenderer, Simulation, simulate};
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Renderer, Window, prepare};
use shadewright::rpu::timed::{AtPc, Config, SLOT_PARTS};
use shadewright::scene::{self, OpenOptions};
use shadewright::text::source::SourceMap;
use std::path::Path;

/// Width and height of the images; odd, so that chunks at the edges are not full.
const SIZE: (u32, u32) = (29, 21);

fn job(path: &Path, samples: u32) -> Job {
    let options =
        OpenOptions { size: Some(SIZE), allow_read: vec![crate::common::repository("")], ..OpenOptions::default() };
    let mut sources = SourceMap::new();
    let scene = scene::open(path, &options, &mut sources).expect("the scene can be read").scene;
    let program = link(&scene, sources, &LinkOptions::default()).expect("the scene can be linked");
    let sampling = Sampling { strata: Sampling::strata_of(samples), seed: 7 };
    let window = Window { x: 0, y: 0, width: SIZE.0, height: SIZE.1 };
    prepare(program, &scene, window, sampling, DEFAULT_BUDGET).expect("the job can be made")
}

fn simulated(job: &Job, config: &Config) -> Simulation {
    let program = &job.program;
    let loaded = Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).expect("compiles");
    simulate(job, &loaded, config, &|_| {}).expect("runs")
}

#[test]
fn the_timed_simulator_draws_every_scene_to_the_bit_and_is_busy() {
    let scenes = std::fs::read_dir(crate::common::repository("assets/scenes")).expect("the folder is there");
    let is_scene = |path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "rib" || e == "gltf");
    for path in scenes.map(|entry| entry.expect("readable").path()).filter(is_scene) {
        let job = job(&path, 1);
        let functional = RpuRenderer::new().render(&job, &|_| {}).expect("renders");
        let Simulation { image, stats, cost } = simulated(&job, &Config::default());
        let bits = |rgba: &[[f32; 4]]| rgba.iter().map(|p| p.map(f32::to_bits)).collect::<Vec<_>>();
        assert_eq!(bits(&image.rgba), bits(&functional.rgba), "{}", path.display());
        assert_eq!(stats.processor_cycles, stats.issued + stats.stalls.total());
        assert_eq!(stats.processor_cycles, stats.at.iter().map(AtPc::cycles).sum::<u64>());
        assert_eq!(cost.iter().sum::<u64>(), SLOT_PARTS * stats.issued);
        let drained = stats.stalls.cycles(shadewright::rpu::timed::Cause::Drain);
        let busy = stats.issued as f64 / (stats.processor_cycles - drained) as f64;
        assert!(busy > 0.9, "{}: {busy}", path.display());
    }
}

#[test]
fn a_simulation_does_not_depend_on_the_number_of_host_threads() {
    let job = job(&crate::common::repository("assets/scenes/sepia.rib"), 4);
    let config = Config::parse("processors.count = 3\nchunks.resident = 5").expect("valid");
    let with_threads = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads");
        pool.install(|| simulated(&job, &config))
    };
    let (one, four) = (with_threads(1), with_threads(4));
    assert_eq!(one.stats, four.stats);
    assert_eq!(one.cost, four.cost);
    let functional = RpuRenderer::new().render(&job, &|_| {}).expect("renders");
    assert_eq!(one.image, functional);
    assert_eq!(four.image, functional);
}

#[test]
fn the_report_has_its_parts_as_text_and_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["simulate", "--model", "rpu", "--size", "24x16", "--threads", "1"];
    let text =
        crate::common::shadewright(folder.path(), &[&args[..], &["--heatmap", "heat.png", "--lines", "3"]].concat());
    assert!(text.status.success(), "{}", crate::common::stderr(&text));
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for part in
        ["cycles", "utilization", "active threads", "stalls", "operations", "functions", "source lines", "heat.png"]
    {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    assert!(folder.path().join("heat.png").exists());
    let json = crate::common::shadewright(folder.path(), &[&args[..], &["--json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let sum = |rows: &str| -> u64 {
        report[rows].as_array().expect(rows).iter().map(|r| r["cycles"].as_u64().expect("a number")).sum()
    };
    for rows in ["operations", "functions", "lines"] {
        assert_eq!(sum(rows), report["processor_cycles"].as_u64().expect("a number"), "{rows}");
    }
    assert_eq!(report["config"]["latencies"]["trace"], 100);
}

#[test]
fn a_program_in_assembly_is_simulated_like_a_scene() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = crate::common::repository("assets/rpu/mandelbrot.rpuasm");
    let args = ["simulate", &program.to_string_lossy(), "--size", "20x10", "--json"];
    let output = crate::common::shadewright(folder.path(), &args);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["threads"], 200);
    assert!(report["divergences"].as_u64().expect("a number") > 0);
    assert!(report["lines"][0]["name"].as_str().expect("a name").contains("mandelbrot.rpuasm:"));
    let missing = crate::common::shadewright(folder.path(), &[&args[..], &["--entry", "nobody"]].concat());
    assert_eq!(missing.status.code(), Some(2));
    assert!(crate::common::stderr(&missing).contains("there is no entry point `nobody`"));
}

#[test]
fn a_configuration_without_a_working_processor_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.toml"), "[latencies]\nads = 3").expect("written");
    let output = crate::common::shadewright(folder.path(), &["simulate", "--config", "a.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let message = crate::common::stderr(&output);
    assert!(message.contains("a.toml") && message.contains("latencies.ads"), "{message}");
    let missing = crate::common::shadewright(folder.path(), &["simulate", "--config", "b.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    let printed = crate::common::shadewright(folder.path(), &["simulate", "--print-config"]);
    std::fs::write(folder.path().join("c.toml"), printed.stdout).expect("written");
    let same = crate::common::shadewright(folder.path(), &["simulate", "--config", "c.toml", "--size", "8x8"]);
    assert!(same.status.success(), "{}", crate::common::stderr(&same));
}
