//! The gain of specializing programs for their scene, on every device at hand.
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
pub mod shading;
pub mod tables;

use super::{common, interiors};
use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use common::rounded;
use frames::Device;
use interiors::{INTERIORS, Interior};
use modes::Mode;
use serde_json::{Value, json};
use shadewright::program::Specialize;
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The options of the measurements.
#[derive(Clone, Debug, Args)]
pub struct ReportOptions {
    /// Measure only interiors with PART in their names; several are separated by commas
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    scene: Vec<String>,
    /// Measure only these; all by default
    #[arg(long = "only", value_enum, value_name = "WHAT", value_delimiter = ',')]
    measurements: Vec<Measurement>,
    /// Devices: native, interpreter or gpu, separated by commas; all that there are by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    backend: Vec<String>,
    /// Use the GPU adapter whose name contains NAME
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Facts that programs are specialized for, as `render --specialize` takes them; may be
    /// repeated. The first is the baseline, the last is what `specialized` means
    #[arg(long, value_name = "FACTS")]
    specialize: Vec<Specialize>,
    /// Width and height of the frames
    #[arg(long, value_name = "WxH", default_value = "120x90", value_parser = frame_size)]
    size: [u32; 2],
    /// Samples per pixel of the frames
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    spp: u32,
    /// Frames of each program, alternately, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,
    /// Rays of the large batch that is shaded alone
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    batch: u32,
    /// Most sections of a program that is compiled as a megakernel: its compile time grows faster
    /// than its size
    #[arg(long, value_name = "N", default_value_t = 24)]
    megakernel_sections: u64,
    /// Write the interiors to this folder, each as NAME.rib with its shaders and textures, and
    /// measure nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "json"])]
    write: Option<PathBuf>,
    /// Write a page with plots to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A part of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measurement {
    /// Frames of the interiors
    Scenes,
    /// Shading alone: Phong with no texture, one or two
    Shading,
    /// A textured surface with some of its interfaces specialized
    Interfaces,
    /// Compile times and sizes of code of the interiors
    Compile,
}

/// The size of a frame that is measured: at most what takes seconds.
fn frame_size(text: &str) -> Result<[u32; 2], String> {
    let (width, height) = text.split_once(['x', 'X']).ok_or("write it as WIDTHxHEIGHT, for example 640x480")?;
    let number = |n: &str| n.parse::<u32>().map_err(|_| format!("`{n}` is not a whole number of pixels"));
    match [number(width)?, number(height)?] {
        [0, _] | [_, 0] => Err("an image has at least one pixel".to_string()),
        [width, height] if width > 4096 || height > 4096 => Err("a side has at most 4096 pixels".to_string()),
        size => Ok(size),
    }
}

/// Time between lines that report progress; shorter measurements print none.
const INTERVAL: Duration = Duration::from_secs(5);

/// The plan of the measurements.
struct Plan<'a> {
    options: &'a ReportOptions,
    /// The folder of the scenes.
    folder: PathBuf,
    interiors: Vec<&'static Interior>,
    /// The modes of whole scenes; the first is the baseline.
    modes: Vec<Mode>,
    devices: Vec<Device>,
    /// Steps that are done.
    done: Cell<usize>,
    /// Steps in all: each is of seconds.
    steps: usize,
    /// The time of the last line that reports progress.
    reported: Cell<Instant>,
}

impl Plan<'_> {
    fn size(&self) -> (u32, u32) {
        self.options.size.into()
    }

    /// The RIB file of an interior.
    fn path(&self, interior: &Interior) -> anyhow::Result<PathBuf> {
        Ok(interiors::write(interior, &self.folder)?)
    }

    /// Reports that a step is done.
    fn step(&self) {
        self.done.set(self.done.get() + 1);
        if self.reported.get().elapsed() >= INTERVAL && self.done.get() < self.steps {
            self.reported.set(Instant::now());
            eprintln!("{} of {} steps", self.done.get(), self.steps);
        }
    }

    fn measures(&self, measurement: Measurement) -> bool {
        self.options.measurements.is_empty() || self.options.measurements.contains(&measurement)
    }
}

/// The interiors with a part of `--scene` in their names, or all.
fn chosen(options: &ReportOptions) -> anyhow::Result<Vec<&'static Interior>> {
    let matches = |interior: &&Interior| options.scene.iter().any(|part| interior.name.contains(part.as_str()));
    let found: Vec<_> = INTERIORS.iter().filter(|i| options.scene.is_empty() || matches(i)).collect();
    if found.is_empty() {
        let names: Vec<&str> = INTERIORS.iter().map(|i| i.name).collect();
        let (part, names) = (options.scene.join(","), names.join(", "));
        return Err(anyhow!("--scene {part}: no interior has that in its name; there are {names}"));
    }
    Ok(found)
}

/// Measures, and prints tables unless JSON is wanted; or writes the interiors with `--write`.
///
/// # Errors
/// When a name is unknown, a file cannot be written, or a device fails.
pub fn run(options: &ReportOptions, quiet: bool) -> anyhow::Result<Value> {
    match &options.write {
        Some(folder) => write_interiors(options, folder),
        None => measure(options, quiet),
    }
}

/// Writes the interiors that are asked for, prints the paths of their scenes, and returns them.
fn write_interiors(options: &ReportOptions, folder: &Path) -> anyhow::Result<Value> {
    let mut paths = Vec::new();
    for interior in chosen(options)? {
        let path = interiors::write(interior, folder)?.display().to_string();
        println!("{path}");
        paths.push(path);
    }
    Ok(json!(paths))
}

fn measure(options: &ReportOptions, quiet: bool) -> anyhow::Result<Value> {
    let scratch = tempfile::tempdir().context("making a folder for the scenes")?;
    // The folder of the report is checked before minutes of measurement.
    if let Some(folder) = &options.out {
        fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
    }
    let mut plan = Plan {
        options,
        folder: scratch.path().to_path_buf(),
        interiors: chosen(options)?,
        modes: modes::scene_modes(&options.specialize),
        devices: frames::devices(options)?,
        done: Cell::new(0),
        steps: 0,
        reported: Cell::new(Instant::now()),
    };
    plan.steps = steps(&plan);
    let report = report(&plan)?;
    if !quiet {
        tables::print(&report);
    }
    if let Some(folder) = &options.out {
        page::write(&report, folder)?;
        eprintln!("wrote {}", folder.join(page::NAME).display());
    }
    Ok(report)
}

/// The number of steps of the plan.
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

fn report(plan: &Plan<'_>) -> anyhow::Result<Value> {
    let part = |measurement: Measurement, measure: fn(&Plan<'_>) -> anyhow::Result<Value>| match measurement {
        measurement if plan.measures(measurement) => measure(plan),
        _ => Ok(json!([])),
    };
    let options = plan.options;
    Ok(json!({
        "size": options.size,
        "spp": options.spp,
        "runs": options.runs,
        "threads": rayon::current_num_threads(),
        "modes": plan.modes.iter().map(|m| m.name.clone()).collect::<Vec<_>>(),
        "devices": plan.devices.iter().map(|d| json!({ "name": d.name(), "description": d.describe() })).collect::<Vec<_>>(),
        "scenes": part(Measurement::Scenes, scenes::frames)?,
        "shading": part(Measurement::Shading, shading::batches)?,
        "interfaces": part(Measurement::Interfaces, interfaces::facts)?,
        "compile": part(Measurement::Compile, compile::costs)?,
    }))
}

/// The speed relative to a baseline; null without a time.
fn speed(baseline: Option<f64>, other: Option<f64>) -> Value {
    match (baseline, other) {
        (Some(baseline), Some(other)) if baseline > 0.0 && other > 0.0 => rounded(baseline / other),
        _ => Value::Null,
    }
}
