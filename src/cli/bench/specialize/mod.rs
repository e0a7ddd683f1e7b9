//! `bench specialize`: what specializing programs for their scene gains, on every device at hand.
//!
//! Whole frames of the six interiors, two microbenchmarks of shading (Pérard-Gayot 2020, figures
//! 3.4 and 3.5), and what compiling costs. Frames of everything that is compared alternate, so that
//! other load affects all of it; medians count, and ratios are more reliable than times.

mod compile;
mod frames;
mod interfaces;
mod modes;
mod page;
mod scenes;
mod shading;
mod tables;

use super::rounded;
use crate::cli::args::{BenchSpecializeArgs, Measurement, Size};
use crate::cli::failure::Failure;
use crate::cli::progress::{Work, with_progress};
use anyhow::Context;
use frames::Device;
use modes::Mode;
use serde_json::{Value, json};
use shadewright::scene::interiors::{self, INTERIORS, Interior};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

/// The plan of the measurements.
struct Plan<'a> {
    args: &'a BenchSpecializeArgs,
    /// The folder of the scenes.
    folder: PathBuf,
    interiors: Vec<&'static Interior>,
    /// The modes of whole scenes; the first is the baseline.
    modes: Vec<Mode>,
    devices: Vec<Device>,
    progress: &'a (dyn Fn(f32) + Sync),
    done: Cell<usize>,
    steps: usize,
}

impl Plan<'_> {
    fn size(&self) -> (u32, u32) {
        let Size(width, height) = self.args.size;
        (width, height)
    }

    /// The RIB file of an interior.
    fn path(&self, interior: &Interior) -> Result<PathBuf, Failure> {
        write(interior, &self.folder)
    }

    /// Reports that a step is done.
    fn step(&self) {
        self.done.set(self.done.get() + 1);
        (self.progress)(self.done.get() as f32 / self.steps.max(1) as f32);
    }

    fn measures(&self, measurement: Measurement) -> bool {
        self.args.measurements.is_empty() || self.args.measurements.contains(&measurement)
    }
}

/// Writes an interior.
fn write(interior: &Interior, folder: &Path) -> Result<PathBuf, Failure> {
    interiors::write(interior, folder).map_err(|e| Failure::input(format!("error: {e}")))
}

/// The interiors with a part of `--scene` in their names, or all.
fn chosen(args: &BenchSpecializeArgs) -> Result<Vec<&'static Interior>, Failure> {
    let matches = |interior: &&Interior| args.scene.iter().any(|part| interior.name.contains(part.as_str()));
    let found: Vec<_> = INTERIORS.iter().filter(|i| args.scene.is_empty() || matches(i)).collect();
    if found.is_empty() {
        let names: Vec<&str> = INTERIORS.iter().map(|i| i.name).collect();
        return Err(Failure::input(format!(
            "error: --scene {}: no interior has that in its name\nhint: there are {}",
            args.scene.join(","),
            names.join(", ")
        )));
    }
    Ok(found)
}

/// Writes the scenes that are asked for, and prints their paths.
pub fn write_scenes(args: &BenchSpecializeArgs, folder: &Path) -> Result<(), Failure> {
    for interior in chosen(args)? {
        println!("{}", write(interior, folder)?.display());
    }
    Ok(())
}

/// Measures, and prints tables unless JSON is wanted.
pub fn measure(args: &BenchSpecializeArgs) -> Result<Value, Failure> {
    let scratch = tempfile::tempdir().context("making a folder for the scenes")?;
    // The folder of the report is checked before minutes of measurement.
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
    }
    let interiors = chosen(args)?;
    let modes = modes::of_scenes(args);
    let devices = frames::devices(args)?;
    let report = with_progress(Work { what: "measuring", samples: None }, |progress| {
        let folder = scratch.path().to_path_buf();
        let mut plan = Plan { args, folder, interiors, modes, devices, progress, done: Cell::new(0), steps: 0 };
        plan.steps = steps(&plan);
        report(&plan)
    })?;
    if !args.json {
        tables::print(&report);
    }
    if let Some(folder) = &args.out {
        page::write(&report, folder)?;
        eprintln!("wrote {}", folder.join(page::NAME).display());
    }
    Ok(report)
}

/// How many steps the plan has: each is of seconds.
fn steps(plan: &Plan<'_>) -> usize {
    let (scenes, devices) = (plan.interiors.len(), plan.devices.len());
    [
        (Measurement::Scenes, scenes * devices),
        (Measurement::Shading, shading::BATCHES * devices),
        (Measurement::Interfaces, devices),
        (Measurement::Compile, scenes * plan.modes.len()),
    ]
    .iter()
    .filter(|(measurement, _)| plan.measures(*measurement))
    .map(|(_, steps)| steps)
    .sum()
}

fn report(plan: &Plan<'_>) -> Result<Value, Failure> {
    let part = |measurement: Measurement, measure: fn(&Plan<'_>) -> Result<Value, Failure>| match measurement {
        measurement if plan.measures(measurement) => measure(plan),
        _ => Ok(json!([])),
    };
    let args = plan.args;
    Ok(json!({
        "size": [args.size.0, args.size.1],
        "spp": args.spp,
        "runs": args.runs,
        "threads": rayon::current_num_threads(),
        "modes": plan.modes.iter().map(|m| m.name.clone()).collect::<Vec<_>>(),
        "devices": plan.devices.iter().map(|d| json!({ "name": d.name(), "description": d.describe() })).collect::<Vec<_>>(),
        "scenes": part(Measurement::Scenes, scenes::frames)?,
        "shading": part(Measurement::Shading, shading::batches)?,
        "interfaces": part(Measurement::Interfaces, interfaces::facts)?,
        "compile": part(Measurement::Compile, compile::costs)?,
    }))
}

/// How many times faster than a baseline something is; null without a time.
fn speed(baseline: Option<f64>, other: Option<f64>) -> Value {
    match (baseline, other) {
        (Some(baseline), Some(other)) if baseline > 0.0 && other > 0.0 => rounded(baseline / other),
        _ => Value::Null,
    }
}
