//! `bench reload`: the time from saving a shader to the first new pixels. The file watcher reports
//! each edit of a shader, the project links the scene again, and the RPU renders it.

use super::{median, rounded};
use crate::cli::args::ReloadArgs;
use crate::cli::failure::Failure;
use anyhow::Context;
use serde_json::{Value, json};
use shadewright::geometry::{Faces, procedural};
use shadewright::project::{Outcome, Project, ProjectOptions, ProjectState, Source, Watcher};
use shadewright::render::film::Film;
use shadewright::render::progressive::{Pass, Progressive};
use shadewright::render::rpu::{RpuProgressive, RpuRenderer};
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, RenderError};
use shadewright::scene::OpenOptions;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Triangles of the mesh, unless one is named.
const TRIANGLES: usize = 30_000;
/// Width and height of the image.
const SIZE: (u32, u32) = (640, 480);
/// The first pixels are one of each block of this width and height.
const STEP: u32 = 8;
/// Edits that are measured, after one that is not counted.
const EDITS: usize = 40;
/// The longest time to wait for the watcher.
const PATIENCE: Duration = Duration::from_secs(30);

/// The default surface of a mesh is `plastic`: this file overrides the built-in one.
const SHADER: &str = "\
surface plastic(float Ka = 1, Kd = 0.7, Ks = 0.4, roughness = 0.15; color specularcolor = 1;) {
    point p = 6 * P;
    float turbulence = 0, size = 1, i;
    for (i = 0; i < 4; i += 1) {
        turbulence += abs(noise(p / size) - 0.5) * size;
        size *= 0.5;
    }
    normal n = faceforward(normalize(N), I);
    color base = mix(color(0.1, 0.2, 0.4), color(1, 0.9, 0.7), smoothstep(0, 1, AMOUNT * turbulence));
    Oi = Os;
    Ci = Oi * (base * Cs * (Ka * ambient() + Kd * diffuse(n)) + specularcolor * Ks * specular(n, -normalize(I), roughness));
}
";

/// The phases of a reload.
const PARTS: [&str; 4] = ["notice", "program", "machine code", "pixels"];

/// Edits a shader repeatedly and measures the time to its first pixels.
pub fn shader_edits(args: &ReloadArgs) -> Result<Value, Failure> {
    let folder = tempfile::tempdir().context("making a folder for the scene")?;
    let shader = folder.path().join("plastic.sl");
    let mesh = match &args.mesh {
        Some(path) => path.clone(),
        None => {
            let path = folder.path().join("sheet.obj");
            fs::write(&path, obj(&procedural::sheet(TRIANGLES))).context("writing the mesh")?;
            path
        }
    };
    save(&shader, 0)?;
    let options = ProjectOptions {
        open: OpenOptions { size: Some(SIZE), ..OpenOptions::default() },
        shader_paths: vec![folder.path().to_path_buf()],
        ..ProjectOptions::default()
    };
    let (sender, notices) = channel();
    let watcher = Watcher::new(move || {
        // The receiver is gone when the measurement has ended.
        let _ = sender.send(());
    });
    let mut project = Project::new(Source::File(mesh), options);
    let mut renderer = RpuProgressive::new(RpuRenderer::new());
    let start = Instant::now();
    let state = refreshed(&mut project)?.context("reading the scene")?;
    draw(&mut renderer, &state)?;
    let first = start.elapsed();
    watcher.watch(project.files());
    notice(&notices)?;
    let mut times: Vec<[f64; PARTS.len()]> = Vec::new();
    for edit in 1..=EDITS + 1 {
        let begin = Instant::now();
        save(&shader, edit)?;
        let (noticed, state) = loop {
            notice(&notices)?;
            let noticed = begin.elapsed();
            if let Some(state) = refreshed(&mut project)? {
                break (noticed, state);
            }
        };
        let linked = begin.elapsed();
        let compiled = draw(&mut renderer, &state)?;
        let drawn = begin.elapsed();
        let parts = [noticed, linked - noticed, compiled, drawn - linked - compiled];
        times.push(parts.map(|time| time.as_secs_f64() * 1e3));
        watcher.watch(project.files());
    }
    times.remove(0);
    let totals: Vec<f64> = times.iter().map(|parts| parts.iter().sum()).collect();
    let worst = totals.iter().copied().fold(0.0, f64::max);
    let part = |i: usize| rounded(median(times.iter().map(|parts| parts[i]).collect()));
    let parts: serde_json::Map<_, _> = PARTS.iter().enumerate().map(|(i, name)| (name.to_string(), part(i))).collect();
    let results = json!({
        "triangles": state.bvh.primitive_count(),
        "edits": EDITS,
        "first_load_ms": rounded(first.as_secs_f64() * 1e3),
        "median_ms": rounded(median(totals)),
        "worst_ms": rounded(worst),
        "parts_ms": parts,
    });
    Ok(results)
}

/// Writes the shader with a number that depends on the edit.
fn save(path: &Path, edit: usize) -> Result<(), Failure> {
    let amount = 1.0 + 0.01 * edit as f32;
    Ok(fs::write(path, SHADER.replace("AMOUNT", &amount.to_string())).context("saving the shader")?)
}

fn notice(notices: &Receiver<()>) -> Result<(), Failure> {
    Ok(notices.recv_timeout(PATIENCE).context("waiting for the notice of an edit")?)
}

/// The new state if the files have changed.
fn refreshed(project: &mut Project) -> Result<Option<Arc<ProjectState>>, Failure> {
    match project.refresh() {
        Outcome::Ready(state) => Ok(Some(state)),
        Outcome::Broken(failure) => Err(Failure::diagnostics(&failure.diagnostics, &failure.sources)),
        Outcome::Unchanged => Ok(None),
    }
}

/// Renders the first pixels. Returns the time of compiling for the RPU.
fn draw(renderer: &mut RpuProgressive, state: &ProjectState) -> Result<Duration, Failure> {
    let fail = |e: RenderError| Failure::render(&e, &state.program.sources);
    let job = state.job(&state.view(), Sampling { strata: [1, 1], seed: 0 }, DEFAULT_BUDGET);
    let start = Instant::now();
    renderer.load(&job).map_err(fail)?;
    let loaded = start.elapsed();
    let pass = Pass::coarse(STEP);
    let [width, height] = pass.size(job.window);
    let mut film = Film::new(width, height).map_err(|e| fail(e.into()))?;
    let stop = AtomicBool::new(false);
    renderer.draw(pass, &mut film, &stop).map_err(fail)?;
    renderer.finish(&film, pass.step, &stop).map_err(fail)?;
    Ok(loaded)
}

/// A mesh as a Wavefront OBJ file.
fn obj(mesh: &Faces) -> String {
    let mut text = String::new();
    for p in &mesh.points {
        let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
    }
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    text
}
