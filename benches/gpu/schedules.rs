//! Whole frames by each schedule of the GPU, on the scenes of the repository and a mesh.
//!
//! Frames of all schedules alternate, so that other load on the computer affects all of them;
//! ratios are more reliable than times.

use crate::common::{RUNS, files, image_size, median, meshes, repository, rounded, scene_job, timed};
use anyhow::anyhow;
use serde_json::{Value, json};
use shadewright::render::gpu::GpuRenderer;
use shadewright::render::report::KernelTimes;
use shadewright::render::{Job, Renderer, Schedule};
use std::path::{Path, PathBuf};

/// Width and height of a scene's image.
const SCENE_SIZE: (u32, u32) = (320, 240);

/// Width and height of a mesh's image.
const MESH_SIZE: (u32, u32) = (512, 512);

/// The name of the traversal kernel in the wavefront's profile.
const TRAVERSAL: &str = "traversal";

/// The GPU's schedules, and whether the wavefront sorts its paths by section: the first is what the
/// others are compared with.
const SCHEDULES: [(&str, Schedule, bool); 3] = [
    ("wavefront", Schedule::Wavefront, true),
    ("unsorted", Schedule::Wavefront, false),
    ("megakernel", Schedule::Megakernel, true),
];

/// A scene to render.
struct Subject {
    name: String,
    job: Job,
}

/// How long frames took, in seconds.
#[derive(Clone, Debug, Default)]
struct Frames {
    /// The first one, kernels compiled on the way (unless the driver had them on disk).
    first: f64,
    /// The others.
    times: Vec<f64>,
}

impl Frames {
    fn ms(&self) -> f64 {
        median(self.times.clone()) * 1e3
    }
}

/// The scenes to render, and the adapter to render them on.
pub struct ScheduleOptions<'a> {
    /// Part of the names of the scenes.
    pub only: Option<&'a str>,
    /// A mesh that is measured besides the scenes.
    pub mesh: Option<&'a Path>,
    /// The width of the images, where it is not the usual one.
    pub width: Option<u16>,
    /// Part of the name of the GPU adapter.
    pub adapter: Option<&'a str>,
}

impl ScheduleOptions<'_> {
    /// The scenes of `assets/scenes`, one sample per pixel, and the mesh, or the bunny if it is
    /// there.
    fn subjects(&self) -> anyhow::Result<Vec<Subject>> {
        let size = |usual| image_size(self.width, usual);
        let mut paths: Vec<(PathBuf, (u32, u32))> =
            files(&repository("assets/scenes"), "rib")?.into_iter().map(|path| (path, size(SCENE_SIZE))).collect();
        match meshes::path(self.mesh) {
            Some(mesh) => paths.push((mesh, size(MESH_SIZE))),
            None => eprintln!("no mesh: --mesh FILE measures one too"),
        }
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        paths.retain(|(path, _)| self.only.is_none_or(|part| name(path).contains(part)));
        if paths.is_empty() {
            return Err(anyhow!("no scene has that in its name"));
        }
        let subject = |(path, size): &(PathBuf, _)| Ok(Subject { name: name(path), job: scene_job(path, *size)? });
        paths.iter().map(subject).collect()
    }

    /// A renderer on the GPU by this schedule.
    fn gpu(&self, schedule: Schedule) -> anyhow::Result<GpuRenderer> {
        let mut renderer = GpuRenderer::new(self.adapter)?;
        renderer.set_schedule(schedule);
        Ok(renderer)
    }
}

/// Renders the subject on all back ends alternately, after a first frame that is not counted.
fn measure(subject: &Subject, renderers: &mut [&mut dyn Renderer]) -> anyhow::Result<Vec<Frames>> {
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

/// The share of the device's time in which a frame traces rays; `None` where the device has no
/// clock.
fn share_of_rays(subject: &Subject, wavefront: &mut dyn Renderer) -> anyhow::Result<Option<f64>> {
    // The first frame may compile kernels, which some drivers do on the device's clock.
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

/// The geometric mean.
fn mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = ratios.map(f64::ln).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
}

/// Measures a frame by each schedule, and prints a table unless `quiet`.
///
/// # Errors
/// When there is no GPU, or a scene has errors.
pub fn schedules(options: &ScheduleOptions<'_>, quiet: bool) -> anyhow::Result<Value> {
    let row = |subject: &Subject| {
        // New ones for each subject: their first frame compiles all that it needs.
        let renderer = |&(_, schedule, sorts): &(&str, Schedule, bool)| {
            let mut renderer = options.gpu(schedule)?;
            renderer.set_sorting(sorts);
            Ok(renderer)
        };
        let mut renderers = SCHEDULES.iter().map(renderer).collect::<anyhow::Result<Vec<_>>>()?;
        let mut in_turn: Vec<&mut dyn Renderer> = renderers.iter_mut().map(|m| m as &mut dyn Renderer).collect();
        let frames = measure(subject, &mut in_turn)?;
        let share = share_of_rays(subject, &mut renderers[0])?;
        let sections = renderers[0].report().counts.iter().find(|c| c.name == "sections").map(|c| c.count);
        let by_schedule: serde_json::Map<_, _> = SCHEDULES
            .iter()
            .zip(&frames)
            .map(|((name, ..), f)| {
                let value = json!({
                    "ms": rounded(f.ms()),
                    "first_ms": rounded(f.first * 1e3),
                    "speed_over_wavefront": rounded(frames[0].ms() / f.ms()),
                });
                (name.to_string(), value)
            })
            .collect();
        Ok(json!({
            "scene": subject.name,
            "sections": sections,
            "ray_share": share.map(rounded),
            "schedules": by_schedule,
        }))
    };
    let rows = options.subjects()?.iter().map(row).collect::<anyhow::Result<Vec<Value>>>()?;
    let device = options.gpu(Schedule::Auto)?.describe();
    if !quiet {
        print_schedules(&device, [SCENE_SIZE, MESH_SIZE].map(|size| image_size(options.width, size)), &rows);
    }
    Ok(json!({ "device": device, "scenes": rows }))
}

fn print_schedules(device: &str, [scene, mesh]: [(u32, u32); 2], rows: &[Value]) {
    println!("{device}, {}x{}, meshes {}x{}, one sample per pixel", scene.0, scene.1, mesh.0, mesh.1);
    print!("{:<18} {:>8} {:>6}", "scene", "sections", "rays");
    for (name, ..) in SCHEDULES {
        print!("  {:>13} {:>9} {:>6}", format!("{name} ms"), "first ms", "speed");
    }
    println!();
    let ratio = |row: &Value, name: &str| row["schedules"][name]["speed_over_wavefront"].as_f64().unwrap_or(0.0);
    for row in rows {
        let share = row["ray_share"].as_f64().map_or("?".to_string(), |share| format!("{:.0} %", share * 100.0));
        print!("{:<18} {:>8} {share:>6}", row["scene"].as_str().unwrap_or("?"), row["sections"].to_string());
        for (name, ..) in SCHEDULES {
            let of = &row["schedules"][name];
            let ms = |key: &str| of[key].as_f64().unwrap_or(0.0);
            print!("  {:>13.1} {:>9.1} {:>5.2}x", ms("ms"), ms("first_ms"), ratio(row, name));
        }
        println!();
    }
    print!("{:<34}", "geometric mean");
    for (name, ..) in SCHEDULES {
        print!("  {:>23} {:>5.2}x", "", mean(rows.iter().map(|row| ratio(row, name))));
    }
    println!();
}
