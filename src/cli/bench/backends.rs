//! `bench backends`: frames on the RPU and on the GPU, of the scenes of the repository and a mesh.
//!
//! Frames of both alternate, so that other load on the computer affects both; ratios are more
//! reliable than times.

use super::{RUNS, median, rounded};
use crate::cli::args::{BackendsArgs, SceneArgs, Size};
use crate::cli::backend::gpu_renderer;
use crate::cli::failure::Failure;
use crate::cli::input::prepare_job;
use crate::cli::progress::{Work, with_progress};
use serde_json::{Value, json};
use shadewright::program::Specialize;
use shadewright::render::gpu::GpuRenderer;
use shadewright::render::report::KernelTimes;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::{Job, Renderer, Schedule};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Width and height of a scene's image.
const SCENE_SIZE: Size = Size(320, 240);

/// Width and height of a mesh's image.
const MESH_SIZE: Size = Size(512, 512);

/// The name of the traversal kernel in the wavefront's profile.
const TRAVERSAL: &str = "traversal";

/// The fraction of the device's time from which rays dominate a frame.
const RAYS_DOMINATE: f64 = 0.5;

/// A scene to render.
struct Subject {
    name: String,
    job: Job,
}

/// Times of frames, in seconds.
#[derive(Clone, Debug, Default)]
struct Frames {
    /// The first one, with the compilation of kernels that the driver's cache does not have.
    first: f64,
    /// The others.
    times: Vec<f64>,
}

impl Frames {
    fn ms(&self) -> f64 {
        median(self.times.clone()) * 1e3
    }
}

/// The scenes of `assets/scenes`, one sample per pixel, and the mesh of `--mesh`; those with
/// `--only` in their names.
fn subjects(args: &BackendsArgs) -> Result<Vec<Subject>, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
    let entries = std::fs::read_dir(&folder)
        .map_err(|e| Failure::input(format!("error: cannot read {}: {e}", folder.display())))?;
    let mut files: Vec<(PathBuf, Size)> = entries
        .filter_map(|entry| Some((entry.ok()?.path(), SCENE_SIZE)))
        .filter(|(path, _)| path.extension().is_some_and(|e| e == "rib"))
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files.extend(args.mesh.iter().map(|mesh| (mesh.clone(), MESH_SIZE)));
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let wanted = |path: &Path| args.only.as_ref().is_none_or(|part| name(path).contains(part));
    let subjects = files
        .iter()
        .filter(|(path, _)| wanted(path))
        .map(|(path, size)| Ok(Subject { name: name(path), job: scene_job(path, *size, args.specialize.specialize)? }))
        .collect::<Result<Vec<_>, Failure>>()?;
    match (&args.only, subjects.is_empty()) {
        (Some(part), true) => Err(Failure::input(format!("error: --only {part}: no scene has that in its name"))),
        _ => Ok(subjects),
    }
}

/// A renderer on the GPU by this schedule.
fn gpu(args: &BackendsArgs, schedule: Schedule) -> Result<GpuRenderer, Failure> {
    gpu_renderer(&args.gpu.adapter, args.gpu.traversal, schedule)
}

/// Renders the subject on all back ends alternately, after a first frame that is not counted.
fn measure(subject: &Subject, renderers: &mut [&mut dyn Renderer]) -> Result<Vec<Frames>, Failure> {
    let mut frames = vec![Frames::default(); renderers.len()];
    for run in 0..=RUNS {
        for (renderer, frames) in renderers.iter_mut().zip(&mut frames) {
            let time = timed(*renderer, &subject.job)?;
            match run {
                0 => frames.first = time,
                _ => frames.times.push(time),
            }
        }
    }
    Ok(frames)
}

/// The fraction of the device's time that is traversal; `None` where the device has no timestamps.
fn share_of_rays(subject: &Subject, wavefront: &mut dyn Renderer) -> Result<Option<f64>, Failure> {
    // The first frame may compile kernels, which some drivers include in the device's time.
    timed(wavefront, &subject.job)?;
    wavefront.set_profiling(true);
    timed(wavefront, &subject.job)?;
    wavefront.set_profiling(false);
    let KernelTimes::Measured { kernels, .. } = wavefront.report().kernels else { return Ok(None) };
    let sum = |of: &dyn Fn(&str) -> bool| -> f64 {
        kernels.iter().filter(|k| of(&k.name)).map(|k| k.time.as_secs_f64()).sum()
    };
    let all = sum(&|_| true);
    Ok((all > 0.0).then(|| sum(&|name| name == TRAVERSAL) / all))
}

/// Measures every subject with `row`, and shows the progress.
fn table(args: &BackendsArgs, mut row: impl FnMut(&Subject) -> Result<Value, Failure>) -> Result<Vec<Value>, Failure> {
    let subjects = subjects(args)?;
    with_progress(Work { what: "frames", samples: None }, |progress| {
        let mut rows = Vec::new();
        for subject in &subjects {
            rows.push(row(subject)?);
            progress(rows.len() as f32 / subjects.len() as f32);
        }
        Ok(rows)
    })
}

/// A job for a scene or mesh file with one sample per pixel.
fn scene_job(path: &Path, size: Size, specialize: Option<Specialize>) -> Result<Job, Failure> {
    Ok(prepare_job(&scene_args(path, size, specialize))?.0)
}

/// The arguments of a scene of one sample a pixel.
pub fn scene_args(path: &Path, size: Size, specialize: Option<Specialize>) -> SceneArgs {
    let mut scene = SceneArgs::default();
    scene.file.scene = Some(path.to_path_buf());
    scene.file.strict = true;
    scene.file.access.allow_read = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR"))];
    scene.camera.size.size = Some(size);
    scene.sampling.spp = Some(1);
    scene.compiler.specialize.specialize = specialize;
    scene
}

/// The seconds that a frame takes.
fn timed(renderer: &mut dyn Renderer, job: &Job) -> Result<f64, Failure> {
    let start = Instant::now();
    renderer.render(job, &|_| {}).map_err(|e| Failure::render(&e, &job.program.sources))?;
    Ok(start.elapsed().as_secs_f64())
}

/// The geometric mean; 1 of nothing.
fn mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = ratios.map(f64::ln).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
}

/// Measures, and prints a table unless JSON is wanted.
pub fn frames(args: &BackendsArgs) -> Result<Value, Failure> {
    let schedule = args.gpu.schedule.unwrap_or_default();
    let rows = table(args, |subject| {
        let frames = measure(subject, &mut [&mut RpuRenderer::new(), &mut gpu(args, schedule)?])?;
        let share = share_of_rays(subject, &mut gpu(args, Schedule::Wavefront)?)?;
        let kind = share.map(|share| if share >= RAYS_DOMINATE { "rays" } else { "shading" });
        Ok(json!({
            "scene": subject.name,
            "triangles": subject.job.bvh.primitive_count(),
            "ray_share": share.map(rounded),
            "dominated_by": kind,
            "rpu_ms": rounded(frames[0].ms()),
            "gpu_ms": rounded(frames[1].ms()),
            "rpu_first_ms": rounded(frames[0].first * 1e3),
            "gpu_first_ms": rounded(frames[1].first * 1e3),
            "rpu_speed_over_gpu": rounded(frames[1].ms() / frames[0].ms()),
        }))
    })?;
    let device = gpu(args, schedule)?.describe();
    if !args.json {
        print_backends(&device, &rows);
    }
    Ok(json!({ "gpu": device, "scenes": rows }))
}

fn print_backends(device: &str, rows: &[Value]) {
    println!(
        "the RPU against {device}, {}x{}, meshes {}x{}, one sample per pixel",
        SCENE_SIZE.0, SCENE_SIZE.1, MESH_SIZE.0, MESH_SIZE.1
    );
    let heads = ["triangles", "rays", "RPU ms", "GPU ms", "first RPU", "first GPU", "RPU/GPU"];
    print!("{:<18}", "scene");
    heads.iter().for_each(|head| print!(" {head:>10}"));
    println!("  mostly");
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or(0.0);
        let share = row["ray_share"].as_f64().map_or("?".to_string(), |share| format!("{:.0} %", share * 100.0));
        print!("{:<18} {:>10} {share:>10}", row["scene"].as_str().unwrap_or("?"), row["triangles"].to_string());
        ["rpu_ms", "gpu_ms", "rpu_first_ms", "gpu_first_ms"].iter().for_each(|key| print!(" {:>10.1}", number(key)));
        println!(" {:>9.2}x  {}", number("rpu_speed_over_gpu"), row["dominated_by"].as_str().unwrap_or("?"));
    }
    for kind in ["rays", "shading"] {
        let of_kind: Vec<f64> = rows
            .iter()
            .filter(|row| row["dominated_by"] == kind)
            .filter_map(|row| row["rpu_speed_over_gpu"].as_f64())
            .collect();
        if !of_kind.is_empty() {
            println!(
                "mean where {kind} dominate{}: {:.2}x",
                if kind == "rays" { "" } else { "s" },
                mean(of_kind.into_iter())
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_ratios_is_geometric() {
        assert!((mean([0.5, 2.0, 1.0].into_iter()) - 1.0).abs() < 1e-12);
        assert_eq!(mean(std::iter::empty()), 1.0);
    }

    #[test]
    fn the_time_of_a_frame_is_the_median_without_the_first() {
        let frames = Frames { first: 9.0, times: vec![0.3, 0.1, 0.2] };
        assert_eq!(frames.ms(), 200.0);
    }
}
