//! The timed machine on the scenes of the repository.

use super::{rounded, scene_job};
use crate::cli::args::Size;
use crate::cli::exit::Failure;
use anyhow::Context;
use serde_json::{Map, Value, json};
use shadewright::render::rpu::{Loaded, simulate};
use shadewright::rpu::timed::{Cause, Config};
use std::path::Path;
use std::time::Instant;

/// Width and height of the simulated images.
const SIMULATED: Size = Size(64, 48);

/// The timed machine on every scene of the repository: how busy it is, and how fast one core simulates it.
pub fn scenes() -> Result<Value, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
    let files = std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths =
        files.map(|file| Ok(file?.path())).collect::<std::io::Result<Vec<_>>>().context("reading the scenes")?;
    paths.sort();
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().context("starting a thread")?;
    let mut scenes = Map::new();
    let (mut instructions, mut seconds) = (0, 0.0);
    for path in paths {
        let job = scene_job(&path, SIMULATED)?;
        let program = &job.program;
        let fail = |e: shadewright::render::RenderError| Failure::render(&e, &program.sources);
        let loaded = Loaded::new(&program.module, &program.constants, program.surface_entries).map_err(fail)?;
        let start = Instant::now();
        let run = || simulate(&job, &loaded, &Config::default(), &|_| {});
        let stats = single.install(run).map_err(fail)?.stats;
        seconds += start.elapsed().as_secs_f64();
        instructions += stats.issued;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let drained = stats.stalls.of(Cause::Drain);
        let summary = json!({
            "cycles": stats.cycles,
            "instructions": stats.issued,
            "utilisation": rounded(stats.utilisation()),
            "utilisation_before_the_end": rounded(stats.issued as f64 / (stats.processor_cycles - drained) as f64),
            "active_threads": rounded(stats.active_threads()),
        });
        scenes.insert(name, summary);
    }
    scenes.insert("million_instructions_per_s_one_core".to_string(), rounded(instructions as f64 / 1e6 / seconds));
    Ok(Value::Object(scenes))
}
