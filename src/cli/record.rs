//! The record of a render, from its arguments.

use super::args::{RenderArgs, SceneArgs};
use super::device::Device;
use serde_json::{Map, Value};
use shadewright::named::Named;
use shadewright::project::Project;
use shadewright::render::Job;
use shadewright::render::record::{Record, Subject, hashed};
use shadewright::render::sampling::Pattern;
use shadewright::rpu::format::Format;
use shadewright::scene::Scene;
use shadewright::text::log::content_of;
use std::hash::Hash;
use std::path::Path;

/// The hashes that identify the samples of a job that runs on a device.
pub fn subject(args: &RenderArgs, job: &Job, scene: &Scene, device: &Device) -> Subject {
    let name = device.identity();
    let code =
        format!("{name} {:?} {:?} {:?}", args.format, args.scene.compiler.passes, args.scene.compiler.convention);
    Subject::new(job, shapes(scene), &code)
}

/// [`subject`] of a scene that may change while the shutter is open: then its files are a part of it,
/// as the job is that of one time.
pub fn subject_of_shutter(args: &RenderArgs, job: &Job, scene: &Scene, project: &Project, device: &Device) -> Subject {
    let mut subject = subject(args, job, scene, device);
    if job.film.moves {
        subject.scene = hashed(|h| {
            subject.scene.hash(h);
            project.files().iter().for_each(|file| content_of(file).hash(h));
        });
    }
    subject
}

/// A hash of the geometry, which a job has only as BVHs.
fn shapes(scene: &Scene) -> u64 {
    hashed(|h| {
        for object in &scene.objects {
            object.object_to_world.to_cols_array().map(f32::to_bits).hash(h);
            object.mesh.positions.iter().for_each(|p| p.to_array().map(f32::to_bits).hash(h));
            object.mesh.triangles.hash(h);
        }
    })
}

/// The record of a job's image. `batches` is the number of batches behind its variances, `layers` are
/// the variables beside it.
pub fn record(
    args: &RenderArgs,
    scene: &SceneArgs,
    job: &Job,
    device: &Device,
    hashes: Subject,
    batches: u32,
    layers: &[String],
) -> Record {
    let [width, height] = job.program.constants.format();
    let window = job.window;
    let named = scene.file.scene.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    Record {
        version: env!("CARGO_PKG_VERSION").to_string(),
        scene: named.unwrap_or_else(|| shadewright::scene::builtin::DEFAULT_SCENE.to_string()),
        frame: scene.moment.frames.filter(|frames| frames.first == frames.last).map(|frames| frames.first),
        backend: device.backend().to_string(),
        device: device.recorded(),
        size: [width, height],
        window: [window.x, window.y, window.x + window.width, window.y + window.height],
        samples: job.sampling.count(),
        batches,
        seed: job.sampling.seed,
        options: options(args, scene, layers),
        hashes,
    }
}

/// The options that were given and affect the image, by their names, and the layers of the file.
fn options(args: &RenderArgs, scene: &SceneArgs, layers: &[String]) -> Map<String, Value> {
    let SceneArgs { file, moment, sampling, integrator, compiler, .. } = scene;
    // As it is written, not as the nearest double.
    let number = |x: f32| x.to_string().parse::<f64>().map_or(Value::Null, Value::from);
    let given = [
        ("pattern", (sampling.pattern != Pattern::default()).then(|| sampling.pattern.name().into())),
        ("integrator", integrator.integrator.map(|integrator| integrator.name().into())),
        ("estimator", integrator.estimator.map(|estimator| estimator.name().into())),
        ("clamp", integrator.clamp.map(number)),
        ("current", integrator.current.map(|space| space.name().into())),
        ("time", moment.time.map(number)),
        ("animation", moment.animation.clone().map(Value::from)),
        ("headlight", integrator.headlight.then_some(Value::Bool(true))),
        ("passes", compiler.passes.clone().map(Value::from)),
        ("specialize", compiler.specialize.specialize.map(|facts| facts.to_string().into())),
        ("format", (args.format != Format::default()).then(|| args.format.name().into())),
        ("target_error", args.target_error.map(Value::from)),
        ("strict", file.strict.then_some(Value::Bool(true))),
        ("schedule", args.gpu.schedule.map(|schedule| schedule.name().into())),
        ("layers", (!layers.is_empty()).then(|| layers.into())),
    ];
    given.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))).collect()
}
