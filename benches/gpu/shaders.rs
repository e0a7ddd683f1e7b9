//! A scene of many different shaders: time to a first image and to the full one, with the driver's
//! cache of compiled kernels empty and filled.
//!
//! Each measurement is a process of its own, as a user starts it. The scene and its shaders are
//! made for the purpose, in a temporary folder.

use crate::common::{image_size, rounded, shaders};
use anyhow::{Context, anyhow};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Width and height of the image.
const SIZE: (u32, u32) = (320, 240);

/// Where Mesa's drivers keep compiled kernels.
const DRIVER_CACHE: &str = "MESA_SHADER_CACHE_DIR";

/// Times to a first and a full image with a cold and a warm cache, and on the RPU.
///
/// # Errors
/// When a render fails.
pub fn images(count: u16, options: &ShaderOptions<'_>) -> anyhow::Result<Value> {
    let folder = tempfile::tempdir().context("making a folder for the scene")?;
    shaders::write_scene(folder.path(), count).context("writing the scene")?;
    let cache = folder.path().join("cache");
    fs::create_dir(&cache).context("making a folder for the driver's cache")?;
    let gpu = ["--backend", "gpu"];
    let cold = image(options, folder.path(), &cache, &gpu)?;
    let warm = image(options, folder.path(), &cache, &gpu)?;
    let rpu = image(options, folder.path(), &cache, &["--backend", "rpu"])?;
    let mut results = Map::new();
    results.insert("shaders".to_string(), json!(count));
    results.insert("size".to_string(), json!(options.size()));
    for (name, stats) in [("cold", &cold), ("warm", &warm), ("rpu", &rpu)] {
        for (what, key) in [("first_image_s", "first_image_ms"), ("full_image_s", "full_image_ms")] {
            let ms = stats[key].as_f64().with_context(|| format!("the render reports no {key}"))?;
            results.insert(format!("{name}_{what}"), rounded(ms / 1e3));
        }
    }
    // Where the cold render's time went.
    let phases = [&cold["phases"], &cold["render"]["phases"]].into_iter().filter_map(Value::as_array).flatten();
    for phase in phases {
        if let (Some(name), Some(ms)) = (phase["name"].as_str(), phase["ms"].as_f64()) {
            results.insert(format!("cold_{}_s", name.replace(' ', "_")), rounded(ms / 1e3));
        }
    }
    for count in cold["render"]["counts"].as_array().into_iter().flatten() {
        if let Some(name) = count["name"].as_str() {
            results.insert(format!("cold_{}", name.replace(' ', "_")), count["count"].clone());
        }
    }
    Ok(Value::Object(results))
}

/// The statistics of a render in a process of its own.
fn image(options: &ShaderOptions<'_>, folder: &Path, cache: &Path, backend: &[&str]) -> anyhow::Result<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shadewright"));
    command.current_dir(folder).env(DRIVER_CACHE, cache).arg("made.rib").args(backend);
    command.args([
        "--stats",
        "--json",
        "--size",
        &options.size(),
        "--spp",
        "1",
        "--preview",
        "first.png",
        "--render",
        "full.png",
    ]);
    command.args(["--threads", &options.threads.to_string()]);
    if let (Some(adapter), ["--backend", "gpu"]) = (options.adapter, backend) {
        command.args(["--adapter", adapter]);
    }
    let output = command.output().context("starting the program")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(anyhow!("rendering the scene failed: {}", message.trim()));
    }
    let mut document: Value = serde_json::from_slice(&output.stdout).context("reading the statistics")?;
    Ok(document["stats"].take())
}

/// Options of the renders.
pub struct ShaderOptions<'a> {
    /// The width of the image, where it is not the usual one.
    pub width: Option<u16>,
    /// Part of the name of the GPU adapter.
    pub adapter: Option<&'a str>,
    /// CPU threads; 0 uses one per core.
    pub threads: usize,
}

impl ShaderOptions<'_> {
    /// Width and height of the image, as `--size` takes them.
    fn size(&self) -> String {
        let (width, height) = image_size(self.width, SIZE);
        format!("{width}x{height}")
    }
}
