//! Generated code against the interpreter, on whole frames.

use crate::common::{files, median, render_error, repository, rounded, scene_job, single_thread};
use serde_json::{Map, Value, json};
use shadewright::render::rpu::{Loaded, draw};
use shadewright::rpu::engine::{ENGINES, EngineInfo};
use std::fs;
use std::time::Instant;

/// Width and height of the images, of one sample a pixel.
const RENDERED: (u32, u32) = (240, 180);

/// Frames of each engine, in turns, after one that is not counted.
const FRAMES: usize = 3;

/// The folders of the scenes.
const FOLDERS: [&str; 3] = ["assets/scenes", "assets/rtsl", "assets/gallery"];

/// How many times faster than on the interpreter a frame of every RIB scene of the repository is,
/// and the milliseconds of its translation, on one thread.
///
/// # Errors
/// When a scene has errors, or the CPU has no translator.
pub fn scenes() -> anyhow::Result<Value> {
    let named = |name: &str| ENGINES.iter().copied().find(|engine| engine.name == name);
    let (Some(interpreter), Some(native)) = (named("interpreter"), named("native")) else {
        anyhow::bail!("there is no translator for this CPU");
    };
    let single = single_thread()?;
    let mut scenes = Map::new();
    let mut logarithms = Vec::new();
    for folder in FOLDERS {
        for path in files(&repository(folder), "rib")? {
            // Archives that scenes read are no scenes.
            if !fs::read_to_string(&path)?.contains("WorldBegin") {
                continue;
            }
            let job = scene_job(&path, RENDERED)?;
            let program = &job.program;
            let fail = |e: shadewright::render::RenderError| render_error(&e, &program.sources);
            let load = |engine: &'static EngineInfo| {
                let loaded = Loaded::new(&program.module, &program.constants, program.surface_entries);
                let start = Instant::now();
                loaded.and_then(|loaded| loaded.on_engine(engine)).map(|loaded| (loaded, start.elapsed())).map_err(fail)
            };
            let engines = [load(interpreter)?, load(native)?];
            let mut times = [Vec::new(), Vec::new()];
            for frame in 0..=FRAMES {
                for ((loaded, _), times) in engines.iter().zip(&mut times) {
                    let start = Instant::now();
                    single.install(|| draw(&job, loaded, &|_| {})).map_err(fail)?;
                    if frame > 0 {
                        times.push(start.elapsed().as_secs_f64());
                    }
                }
            }
            let [slow, fast] = times.map(median);
            logarithms.push((slow / fast).ln());
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let translation = 1e3 * engines[1].1.as_secs_f64();
            let row = json!({ "times": rounded(slow / fast), "translation_ms": rounded(translation) });
            scenes.insert(format!("{folder}/{name}"), row);
        }
    }
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp();
    scenes.insert("geometric_mean_times".to_string(), rounded(mean));
    Ok(Value::Object(scenes))
}
