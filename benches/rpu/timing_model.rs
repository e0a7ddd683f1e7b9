//! The RPU timing model on the scenes of the repository.

use crate::common::{files, render_error, repository, rounded, scene_job, single_thread};
use serde_json::{Map, Value, json};
use shadewright::render::rpu::{Loaded, simulate};
use shadewright::rpu::timed::{Cause, Config};
use std::time::Instant;

/// Width and height of the simulated images.
pub const SIMULATED: (u32, u32) = (64, 48);

/// Utilization for every RIB scene of the repository, and the instructions per second that one core
/// simulates.
///
/// # Errors
/// When a scene has errors.
pub fn scenes(is_wanted: &dyn Fn(&str) -> bool, size: (u32, u32)) -> anyhow::Result<Value> {
    let single = single_thread()?;
    let mut scenes = Map::new();
    let (mut instructions, mut seconds) = (0, 0.0);
    for path in files(&repository("assets/scenes"), "rib")? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !is_wanted(&name) {
            continue;
        }
        let job = scene_job(&path, size)?;
        let program = &job.program;
        let fail = |e: shadewright::render::RenderError| render_error(&e, &program.sources);
        let loaded =
            Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).map_err(fail)?;
        let start = Instant::now();
        let run = || simulate(&job, &loaded, &Config::default(), &|_| {});
        let stats = single.install(run).map_err(fail)?.stats;
        seconds += start.elapsed().as_secs_f64();
        instructions += stats.issued;
        let drained = stats.stalls.cycles(Cause::Drain);
        let summary = json!({
            "cycles": stats.cycles,
            "instructions": stats.issued,
            "utilization": rounded(stats.utilization()),
            "utilization_before_the_end": rounded(stats.issued as f64 / (stats.processor_cycles - drained) as f64),
            "active_threads": rounded(stats.active_threads()),
        });
        scenes.insert(name, summary);
    }
    scenes.insert("million_instructions_per_s_one_core".to_string(), rounded(instructions as f64 / 1e6 / seconds));
    Ok(Value::Object(scenes))
}
