//! `bench compile`: compile times on one thread: many shaders through the front end, and a long one
//! for both back ends.

use super::{RUNS, median, rounded};
use crate::cli::compile::folder::compile_file;
use crate::cli::failure::Failure;
use crate::cli::kernels;
use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use shadewright::codegen::rpu;
use shadewright::lang::FrontEndOptions;
use shadewright::program::{LinkOptions, link, surface_entry};
use shadewright::rpu::Executable;
use shadewright::rpu::isa::Program;
use shadewright::rpu::native::NATIVE;
use shadewright::scene::{self, ShaderRole};
use shadewright::text::source::SourceMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Shaders that are compiled: those of the gallery, repeatedly.
const MANY: usize = 300;
/// Parts of the long shader, of twenty lines each.
const PARTS: usize = 100;

/// Milliseconds of the front end for many shaders, and of each phase for the long one.
pub fn times() -> Result<Value, Failure> {
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().context("starting a thread")?;
    single.install(|| Ok(json!({ "many": many()?, "long": long()? })))
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn front_end(path: &Path) -> Result<(), Failure> {
    let compiled = compile_file(path, &FrontEndOptions::default());
    compiled.map(drop).map_err(|reason| Failure::input(format!("error: {}: {reason}", path.display())))
}

fn many() -> Result<Value, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/gallery");
    let entries = fs::read_dir(&folder).context("looking for the gallery, which is part of the repository")?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "sl"));
    files.sort();
    let mut times = Vec::new();
    for run in 0..=RUNS {
        let start = Instant::now();
        files.iter().cycle().take(MANY).try_for_each(|path| front_end(path))?;
        if run > 0 {
            times.push(milliseconds(start));
        }
    }
    Ok(json!({ "shaders": MANY, "front_end_ms": rounded(median(times)) }))
}

fn long() -> Result<Value, Failure> {
    let folder = tempfile::tempdir().context("making a folder for a shader")?;
    let path = folder.path().join("long.sl");
    let text = long_shader();
    fs::write(&path, &text).context("writing a shader")?;
    let scene = scene::shader_scene("long", ShaderRole::Surface);
    let options = LinkOptions { shader_paths: vec![folder.path().to_path_buf()], ..LinkOptions::default() };
    let entry = surface_entry(0);
    let mut times: [Vec<f64>; 7] = Default::default();
    for run in 0..=RUNS {
        let start = Instant::now();
        front_end(&path)?;
        let front = milliseconds(start);
        let start = Instant::now();
        let program = link(&scene, SourceMap::new(), &options)?;
        let linked = milliseconds(start);
        let start = Instant::now();
        let compiled = rpu::compile(&program.module, &rpu::RpuOptions::default());
        let compiled = compiled.map_err(|e| anyhow!("the long shader on the RPU: {e}"))?;
        let on_rpu = milliseconds(start);
        let native = translation(&compiled.program)?;
        let [kernels, naga] = kernels::times(&program.module, &[&entry])?.map(|t| t.as_secs_f64() * 1e3);
        if run > 0 {
            let parts = [front, linked - front, on_rpu, native, kernels - naga, naga, linked + on_rpu + kernels - naga];
            times.iter_mut().zip(parts).for_each(|(list, ms)| list.push(ms));
        }
    }
    let [front, passes, on_rpu, native, kernels, naga, all] = times.map(|list| rounded(median(list)));
    Ok(json!({
        "lines": text.lines().count(), "front_end_ms": front, "link_and_passes_ms": passes, "rpu_ms": on_rpu, "native_ms": native,
        "wgsl_ms": kernels,        "all_but_naga_ms": all, "naga_ms": naga,
    }))
}

/// Milliseconds that the native engine takes to translate a program; NaN, which reports show as
/// null, where it does not run.
fn translation(program: &Program) -> Result<f64, Failure> {
    let executable = Executable::new(program).context("the long shader on the RPU")?.interpreted();
    let start = Instant::now();
    let translated = executable.on_engine(&NATIVE);
    Ok(translated.map_or(f64::NAN, |_| milliseconds(start)))
}

/// A shader of two thousand lines: functions with loops, branches and noise, and a body that layers
/// their results.
fn long_shader() -> String {
    let mut text = String::new();
    for n in 0..PARTS {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "float part{n}(point q; float k) {{\n    float sum = 0;\n    float size = 1;\n    float i;\n    for (i = 0; i < 3; i += 1) {{\n        \
             sum += size * noise(q * (k + i));\n        size *= 0.5;\n    }}\n    if (sum > 0.7) {{\n        sum = mix(sum, 0.7, smoothstep(0.7, 1, sum));\n    \
             }} else {{\n        sum = sum * (1 + 0.{n} * sin(k * sum));\n    }}\n    return clamp(sum, 0, 1);\n}}"
        );
    }
    text.push_str("surface long() {\n    point q = transform(\"shader\", P);\n    color layer = Cs;\n    float k;\n");
    for n in 0..PARTS {
        let _ = writeln!(
            text,
            "    k = part{n}(q, {n}.5);\n    if (k > 0.5)\n        layer = mix(layer, color (k, 0.{n}, 1 - k), k - 0.5);\n    else\n        layer *= 1 + 0.01 * k;"
        );
    }
    text.push_str("    Oi = Os;\n    Ci = Oi * layer * diffuse(faceforward(normalize(N), I));\n}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_shader_has_two_thousand_lines_and_compiles() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.sl");
        fs::write(&path, long_shader()).unwrap();
        assert!(long_shader().lines().count() >= 2000);
        assert!(front_end(&path).is_ok());
    }
}
