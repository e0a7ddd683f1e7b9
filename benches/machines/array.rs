//! The array's simulator.

use crate::Arguments;
use crate::common::{job_of, opened, render_error, rounded, single_thread};
use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use shadewright::machines::array::config::Config;
use shadewright::machines::array::engine::{Simulation, simulate};
use shadewright::machines::array::message::MessageKind;
use shadewright::machines::array::render::rays;
use shadewright::machines::rays::model::Model;
use shadewright::program::Specialize;
use shadewright::render::rpu::Loaded;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

/// Arrays of several sizes on the rays of one image. Prints a line for each.
///
/// # Errors
/// When the scene or the configuration has errors.
pub fn arrays(arguments: &Arguments) -> anyhow::Result<Value> {
    let Arguments { scene, size, sides, config, runs, common } = arguments;
    let state = opened(scene, (*size, *size), Specialize::default())?;
    let job = job_of(&state);
    let program = &job.program;
    let fail = |e: shadewright::render::RenderError| render_error(&e, &program.sources);
    let loaded = Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).map_err(fail)?;
    let model = Model::from_job(&state.scene, &job, &loaded).map_err(fail)?;
    let config = Config::parse(config).map_err(|e| anyhow!("{e}"))?;
    let rays = rays(&job, &loaded, &model, &config, &|_| {}).map_err(fail)?;
    let single = single_thread()?;
    let mut rows = Vec::new();
    if !common.json {
        println!("nodes      tests (1000)  hops (1000)  seconds  million tests/s  million hops/s  fingerprint");
    }
    for &side in sides {
        let config = config.clone().with_sides([side; 2]).map_err(|e| anyhow!("{e}"))?;
        let mut best: Option<(f64, Simulation)> = None;
        for _ in 0..(*runs).max(1) {
            let start = Instant::now();
            let simulation = single.install(|| simulate(&rays.workload, &model, &config))?;
            let seconds = start.elapsed().as_secs_f64();
            best = Some(best.filter(|(least, _)| *least <= seconds).unwrap_or((seconds, simulation)));
        }
        let (seconds, simulation) = best.context("no run")?;
        let tests = simulation.statistics.unit.tests as f64;
        let hops = MessageKind::ALL.iter().map(|&kind| simulation.statistics.kind(kind).hops).sum::<u64>() as f64;
        let [tests_rate, hops_rate] = [tests, hops].map(|count| count * 1e-6 / seconds);
        let print = fingerprint(&simulation);
        if !common.json {
            println!(
                "{:<8}  {:>13.0}  {:>11.0}  {seconds:>7.3}  {tests_rate:>15.2}  {hops_rate:>14.2}  {print:016x}",
                format!("{side}x{side}"),
                tests * 1e-3,
                hops * 1e-3,
            );
        }
        rows.push(json!({
            "side": side,
            "tests": tests,
            "hops": hops,
            "seconds": rounded(seconds),
            "million_tests_per_s": rounded(tests_rate),
            "million_hops_per_s": rounded(hops_rate),
            "fingerprint": format!("{print:016x}"),
        }));
    }
    Ok(json!({ "arrays": rows }))
}

/// A hash of all that a simulation found: the same before and after a change that only makes the
/// simulator faster.
fn fingerprint(simulation: &Simulation) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{simulation:?}").hash(&mut hasher);
    hasher.finish()
}
