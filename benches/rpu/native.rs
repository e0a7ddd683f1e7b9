//! Generated code against the interpreter, on whole frames, and the time that generating it takes.

use crate::common::{RUNS, files, median, render_error, repository, rounded, scene_job, shaders, single_thread};
use anyhow::{Context, anyhow};
use serde_json::{Map, Value};
use shadewright::render::rpu::{Loaded, draw};
use shadewright::render::{Job, RenderError};
use shadewright::rpu::engine::INTERPRETER;
use shadewright::rpu::native::NATIVE;
use shadewright::rpu::simd::InstructionSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Width and height of the images, of one sample a pixel.
pub const RENDERED: (u32, u32) = (240, 180);

/// Frames of each engine, in turns, after one that is not counted.
const FRAMES: usize = 5;

/// The folders of the scenes.
const FOLDERS: [&str; 3] = ["assets/scenes", "assets/rtsl", "assets/gallery"];

/// The instruction sets of this CPU that code is generated for.
///
/// # Errors
/// When there are none.
fn instruction_sets() -> anyhow::Result<Vec<InstructionSet>> {
    (NATIVE.available)().map_err(|reason| anyhow!("the {} engine: {reason}", NATIVE.name))?;
    Ok(InstructionSet::all().into_iter().filter(|&set| !matches!(set, InstructionSet::Portable)).collect())
}

/// The program of a job on the interpreter and in generated code, and how long that took to
/// generate.
fn engines(job: &Job, set: InstructionSet) -> anyhow::Result<([Loaded; 2], Duration)> {
    let program = &job.program;
    let fail = |e: RenderError| render_error(&e, &program.sources);
    let load = || {
        let loaded =
            Loaded::new(&program.module, program.constants.vectors(), program.surface_entries)?.on_engine(&INTERPRETER);
        Ok(loaded?.with_instruction_set(set))
    };
    let (interpreted, other) = (load().map_err(fail)?, load().map_err(fail)?);
    let start = Instant::now();
    let native = other.on_engine(&NATIVE).map_err(fail)?;
    Ok(([interpreted, native], start.elapsed()))
}

/// The RIB scenes of the repository whose names are wanted, by these names, which reports have.
pub fn scene_files(is_wanted: &dyn Fn(&str) -> bool) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut scenes = Vec::new();
    for folder in FOLDERS {
        for path in files(&repository(folder), "rib")? {
            // Archives that scenes read are no scenes.
            if fs::read_to_string(&path)?.contains("WorldBegin") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                scenes.push((format!("{folder}/{name}"), path));
            }
        }
    }
    scenes.retain(|(name, _)| is_wanted(name));
    Ok(scenes)
}

/// How many times faster than on the interpreter a frame of every RIB scene of the repository is,
/// with each instruction set, on one thread. The interpreter uses the same set.
///
/// # Errors
/// When a scene has errors, or the CPU has no translator.
pub fn scenes(is_wanted: &dyn Fn(&str) -> bool, size: (u32, u32)) -> anyhow::Result<Value> {
    let sets = instruction_sets()?;
    let single = single_thread()?;
    let mut logarithms = vec![Vec::new(); sets.len()];
    let mut scenes = Map::new();
    for (name, path) in scene_files(is_wanted)? {
        let job = scene_job(&path, size)?;
        let mut row = Map::new();
        for (&set, logarithms) in sets.iter().zip(&mut logarithms) {
            let (engines, _) = engines(&job, set)?;
            let [slow, fast] = frame_times(&single, engines.each_ref().map(|loaded| (&job, loaded)))?;
            logarithms.push((slow / fast).ln());
            row.insert(set.name().to_string(), rounded(slow / fast));
        }
        scenes.insert(name, Value::Object(row));
    }
    let means = sets.iter().zip(&logarithms).map(|(set, list)| (set.name().to_string(), geometric_mean(list)));
    scenes.insert("geometric_mean".to_string(), Value::Object(means.collect()));
    Ok(Value::Object(scenes))
}

/// The seconds of a frame of each program, in turns.
///
/// # Errors
/// The errors of rendering.
pub fn frame_times<const N: usize>(
    single: &rayon::ThreadPool,
    programs: [(&Job, &Loaded); N],
) -> anyhow::Result<[f64; N]> {
    let mut times = [const { Vec::new() }; N];
    for frame in 0..=FRAMES {
        for ((job, loaded), times) in programs.iter().zip(&mut times) {
            let start = Instant::now();
            let drawn = single.install(|| draw(job, loaded, &|_| {}));
            drawn.map_err(|e| render_error(&e, &job.program.sources))?;
            if frame > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    Ok(times.map(median))
}

/// The geometric mean of numbers, from their logarithms.
pub fn geometric_mean(logarithms: &[f64]) -> Value {
    rounded((logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp())
}

/// Milliseconds that generating code takes, on one thread: for every RIB scene of the repository and
/// for one of many shaders.
///
/// # Errors
/// When a scene has errors, or the CPU has no translator.
pub fn translation(is_wanted: &dyn Fn(&str) -> bool) -> anyhow::Result<Value> {
    let sets = instruction_sets()?;
    let folder = tempfile::tempdir().context("making a folder for a scene")?;
    let mut files = scene_files(is_wanted)?;
    let made = format!("{} shaders", shaders::COUNT);
    if is_wanted(&made) {
        shaders::write_scene(folder.path(), shaders::COUNT).context("writing a scene")?;
        files.push((made, folder.path().join("made.rib")));
    }
    let mut scenes = Map::new();
    for (name, path) in files {
        let job = scene_job(&path, RENDERED)?;
        let mut row = Map::new();
        for &set in &sets {
            let times = (0..=RUNS).map(|_| Ok(1e3 * engines(&job, set)?.1.as_secs_f64()));
            let times = times.skip(1).collect::<anyhow::Result<Vec<f64>>>()?;
            row.insert(set.name().to_string(), rounded(median(times)));
        }
        scenes.insert(name, Value::Object(row));
    }
    Ok(Value::Object(scenes))
}
