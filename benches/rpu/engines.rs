//! The functional RPU with each instruction set of the CPU.

use crate::common::{RUNS, median, render_error, repository, rounded, scene_job, single_thread};
use serde_json::{Map, Value, json};
use shadewright::render::rpu::{Loaded, draw, simulate};
use shadewright::rpu::simd::InstructionSet;
use shadewright::rpu::timed::Config;
use std::time::Instant;

/// Of the repository's scenes the one that spends most of its time on instructions, and least on
/// rays.
const SCENE: &str = "assets/scenes/noise.rib";

/// Width and height of the image.
pub const RENDERED: (u32, u32) = (240, 180);

/// Million instructions of lanes per second, rays included, on one thread.
///
/// # Errors
/// The errors of rendering.
pub fn shading(size: (u32, u32)) -> anyhow::Result<Value> {
    let job = scene_job(&repository(SCENE), size)?;
    let program = &job.program;
    let fail = |e: shadewright::render::RenderError| render_error(&e, &program.sources);
    let load = || Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).map_err(fail);
    let single = single_thread()?;
    // A lane executes the same instructions on the timing model, which counts them.
    let stats = simulate(&job, &load()?, &Config::default(), &|_| {}).map_err(fail)?.stats;
    let executed = stats.executed as f64;
    let mut sets = Vec::new();
    for set in InstructionSet::all() {
        sets.push((set.name(), load()?.with_instruction_set(set), Vec::new()));
    }
    for run in 0..=RUNS {
        for (_, loaded, times) in &mut sets {
            let start = Instant::now();
            single.install(|| draw(&job, loaded, &|_| {})).map_err(fail)?;
            if run > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    let mut results = Map::new();
    results.insert("scene".to_string(), json!(SCENE));
    results.insert("million_instructions_of_lanes".to_string(), rounded(executed / 1e6));
    for (name, _, times) in sets {
        results.insert(format!("{name}_million_per_s"), rounded(executed / 1e6 / median(times)));
    }
    Ok(Value::Object(results))
}
