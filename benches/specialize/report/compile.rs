//! The cost of compiling the interiors, by the facts that their programs are specialized for: time
//! on this thread, and size of the code.

use super::Plan;
use super::common::{diagnostics, median, rounded};
use super::modes::Mode;
use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use shadewright::abi::CAMERA_ENTRY;
use shadewright::codegen::{rpu, wgsl};
use shadewright::ir::Module;
use shadewright::ir::passes::{Observer, Pass};
use shadewright::program::{LinkOptions, Program, link_observed, surface_entry};
use shadewright::rpu::Executable;
use shadewright::rpu::native::{self, NATIVE};
use shadewright::scene::{OpenOptions, open};
use shadewright::text::source::SourceMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Most runs of each program: compiling takes much longer than a frame.
const RUNS: u16 = 3;

/// The names of the phases, in order.
pub const PHASES: [&str; 6] = ["read_ms", "link_ms", "passes_ms", "rpu_ms", "native_ms", "wgsl_ms"];

/// Adds up the time of passes.
#[derive(Default)]
struct Clock {
    began: Option<Instant>,
    total: Duration,
}

impl Observer for Clock {
    fn before(&mut self, _pass: &Pass, _round: usize, _module: &Module) {
        self.began = Some(Instant::now());
    }

    fn after(&mut self, _pass: &Pass, _round: usize, _module: &Module, _changes: usize) {
        self.total += self.began.take().map_or(Duration::ZERO, |began| began.elapsed());
    }
}

fn milliseconds(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

/// The costs of each interior in each mode: a list with an entry for each of both.
pub fn costs(plan: &Plan<'_>) -> anyhow::Result<Value> {
    let mut rows = Vec::new();
    for &interior in &plan.interiors {
        let path = plan.path(interior)?;
        for mode in &plan.modes {
            let mut row = cost(&path, mode, plan.options.runs.min(RUNS))?;
            row["scene"] = json!(interior.name);
            row["materials"] = json!(interior.materials);
            row["mode"] = json!(mode.name);
            rows.push(row);
            plan.step();
        }
    }
    Ok(rows.into())
}

fn cost(path: &Path, mode: &Mode, runs: u16) -> anyhow::Result<Value> {
    let mut times: [Vec<f64>; PHASES.len()] = Default::default();
    let mut sizes = Value::Null;
    for _ in 0..runs {
        let (run, measured) = once(path, mode)?;
        times.iter_mut().zip(run).for_each(|(list, time)| list.push(time));
        sizes = measured;
    }
    let mut total = 0.0;
    for (name, list) in PHASES.iter().zip(times) {
        let time = median(list);
        total += if time.is_finite() { time } else { 0.0 };
        sizes[*name] = rounded(time);
    }
    sizes["total_ms"] = rounded(total);
    Ok(sizes)
}

/// The times of the phases, in milliseconds, and the sizes of the code.
fn once(path: &Path, mode: &Mode) -> anyhow::Result<([f64; PHASES.len()], Value)> {
    let mut sources = SourceMap::new();
    let start = Instant::now();
    let opened = open(path, &OpenOptions { strict: true, ..OpenOptions::default() }, &mut sources)
        .map_err(|d| diagnostics(&d, &sources))?;
    let read = milliseconds(start.elapsed());
    let options = LinkOptions {
        shader_paths: path.parent().map(Path::to_path_buf).into_iter().collect(),
        specialize: mode.facts,
        ..LinkOptions::default()
    };
    let mut clock = Clock::default();
    let start = Instant::now();
    let program = link_observed(&opened.scene, sources, &options, &mut clock);
    let program = program.map_err(|e| diagnostics(&e.diagnostics, &e.sources))?;
    let linked = milliseconds(start.elapsed());
    let passes = milliseconds(clock.total);
    let start = Instant::now();
    let compiled = rpu::compile(&program.module, &rpu::RpuOptions::default());
    let compiled = compiled.map_err(|e| anyhow!("{}: on the RPU: {e}", path.display()))?;
    let on_rpu = milliseconds(start.elapsed());
    let executable = Executable::new(&compiled.program).context("the program of a scene on the RPU")?.interpreted();
    let start = Instant::now();
    // Not a number, which reports show as null, where the engine does not run.
    let native_time = executable.on_engine(&NATIVE).map_or(f64::NAN, |_| milliseconds(start.elapsed()));
    let gpu = kernels_of(&program);
    let sizes = json!({
        "surface_entries": program.surface_entries,
        "ir_instructions": program.module.functions.iter().map(|f| f.inst_count()).sum::<usize>(),
        "rpu_instructions": compiled.program.code.len(),
        "native_bytes": native::code(&compiled.program).ok().map(|code| code.bytes),
        "wgsl_kernels": gpu.as_ref().map(|gpu| gpu.kernels),
        "wgsl_bytes": gpu.as_ref().map(|gpu| gpu.bytes),
    });
    let wgsl = gpu.map_or(f64::NAN, |gpu| gpu.milliseconds);
    Ok(([read, linked - passes, passes, on_rpu, native_time, wgsl], sizes))
}

/// The GPU's kernels of a program: the time to compile them, their number and the length of their
/// text.
struct Kernels {
    milliseconds: f64,
    kernels: usize,
    bytes: usize,
}

/// Compiles a program to the GPU's kernels; `None` where it cannot be.
fn kernels_of(program: &Program) -> Option<Kernels> {
    let entries: Vec<String> = (0..program.surface_entries).map(surface_entry).collect();
    let names: Vec<&str> = std::iter::once(CAMERA_ENTRY).chain(entries.iter().map(String::as_str)).collect();
    let start = Instant::now();
    let compiled = wgsl::compile(&program.module, &names, &wgsl::WgslOptions::default()).ok()?;
    let milliseconds = milliseconds(start.elapsed());
    let bytes = compiled.sections.iter().map(|kernel| kernel.wgsl.len()).sum();
    Some(Kernels { milliseconds, kernels: compiled.sections.len(), bytes })
}
