//! Programs that are specialised for their scene against those that are not, on whole frames.

use crate::common::{RUNS, median, render_error, rounded, single_thread, specialized_job};
use crate::native::scene_files;
use serde_json::{Map, Value};
use shadewright::program::Specialize;
use shadewright::render::rpu::{Loaded, draw};
use shadewright::rpu::engine::INTERPRETER;
use shadewright::rpu::native::NATIVE;
use std::time::Instant;

/// Width and height of the images, of one sample a pixel.
const RENDERED: (u32, u32) = (240, 180);

/// The modes that are compared with [`Specialize::Types`].
const MODES: [(&str, Specialize); 2] = [("constants", Specialize::Constants), ("all", Specialize::All)];

/// How many times faster a frame of every RIB scene of the repository is with constants in its
/// program, and how many instructions the program then has for each one before; on one thread and
/// the fastest engine of the RPU.
///
/// # Errors
/// When a scene has errors.
pub fn scenes() -> anyhow::Result<Value> {
    let single = single_thread()?;
    let engine = if (NATIVE.available)().is_ok() { &NATIVE } else { &INTERPRETER };
    let mut logarithms = [const { Vec::new() }; MODES.len()];
    let mut scenes = Map::new();
    for (name, path) in scene_files()? {
        let mut frames = Vec::new();
        for mode in std::iter::once(Specialize::Types).chain(MODES.map(|(_, mode)| mode)) {
            let job = specialized_job(&path, RENDERED, mode)?;
            let program = &job.program;
            let loaded = Loaded::new(&program.module, &program.constants, program.surface_entries);
            let loaded = loaded.and_then(|loaded| loaded.on_engine(engine));
            let loaded = loaded.map_err(|e| render_error(&e, &program.sources))?;
            frames.push((job, loaded, Vec::new()));
        }
        for run in 0..=RUNS {
            for (job, loaded, times) in &mut frames {
                let start = Instant::now();
                let drawn = single.install(|| draw(job, loaded, &|_| {}));
                drawn.map_err(|e| render_error(&e, &job.program.sources))?;
                if run > 0 {
                    times.push(start.elapsed().as_secs_f64());
                }
            }
        }
        let measured: Vec<(f64, f64)> = frames
            .into_iter()
            .map(|(_, loaded, times)| (median(times), loaded.program().program.code.len() as f64))
            .collect();
        let mut row = Map::new();
        for (i, (mode, _)) in MODES.iter().enumerate() {
            let ((time, length), (before, length_before)) = (measured[i + 1], measured[0]);
            logarithms[i].push((before / time).ln());
            row.insert(format!("{mode}_times"), rounded(before / time));
            row.insert(format!("{mode}_length"), rounded(length / length_before));
        }
        scenes.insert(name, Value::Object(row));
    }
    let means = MODES.iter().zip(logarithms).map(|((mode, _), logarithms)| {
        let mean = logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64;
        (format!("{mode}_times"), rounded(mean.exp()))
    });
    scenes.insert("geometric_mean".to_string(), Value::Object(means.collect()));
    Ok(Value::Object(scenes))
}
