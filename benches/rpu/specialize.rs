//! Programs that are specialized for their scene against those that are not, on whole frames.

use crate::common::{render_error, rounded, single_thread, specialized_job};
use crate::native::{frame_times, geometric_mean, scene_files};
use serde_json::{Map, Value};
use shadewright::program::Specialize;
use shadewright::render::rpu::Loaded;
use shadewright::rpu::engine::INTERPRETER;
use shadewright::rpu::native::NATIVE;

/// Width and height of the images, of one sample a pixel.
pub const RENDERED: (u32, u32) = (240, 180);

/// The modes; the first is what the others are compared with.
const MODES: [(&str, Specialize); 3] =
    [("types", Specialize::TYPES), ("constants", Specialize::CONSTANTS), ("all", Specialize::ALL)];

/// How many times faster a frame of every RIB scene of the repository is with constants in its
/// program, and how many instructions the program then has for each one before; on one thread and
/// the fastest engine of the RPU.
///
/// # Errors
/// When a scene has errors.
pub fn scenes(is_wanted: &dyn Fn(&str) -> bool, size: (u32, u32)) -> anyhow::Result<Value> {
    let single = single_thread()?;
    let engine = if (NATIVE.available)().is_ok() { &NATIVE } else { &INTERPRETER };
    let mut logarithms = [const { Vec::new() }; MODES.len()];
    let mut scenes = Map::new();
    for (name, path) in scene_files(is_wanted)? {
        let load = |(_, mode)| {
            let job = specialized_job(&path, size, mode)?;
            let program = &job.program;
            let loaded = Loaded::new(&program.module, program.constants.vectors(), program.surface_entries);
            let loaded = loaded.and_then(|loaded| loaded.on_engine(engine));
            let loaded = loaded.map_err(|e| render_error(&e, &program.sources))?;
            anyhow::Ok((job, loaded))
        };
        let [types, constants, all] = MODES.map(load);
        let programs = [types?, constants?, all?];
        let times = frame_times(&single, programs.each_ref().map(|(job, loaded)| (job, loaded)))?;
        let lengths = programs.each_ref().map(|(_, loaded)| loaded.program().program.code.len() as f64);
        let mut row = Map::new();
        for (i, (mode, _)) in MODES.iter().enumerate().skip(1) {
            logarithms[i].push((times[0] / times[i]).ln());
            row.insert(format!("{mode}_times"), rounded(times[0] / times[i]));
            row.insert(format!("{mode}_length"), rounded(lengths[i] / lengths[0]));
        }
        scenes.insert(name, Value::Object(row));
    }
    let means = MODES.iter().zip(&logarithms).skip(1);
    let means = means.map(|((mode, _), logarithms)| (format!("{mode}_times"), geometric_mean(logarithms)));
    scenes.insert("geometric_mean".to_string(), Value::Object(means.collect()));
    Ok(Value::Object(scenes))
}
