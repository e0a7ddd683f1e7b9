//! `bench startup`: the time from the start of the program to the image of the built-in scene, on
//! the RPU.

use super::{RUNS, median, rounded};
use crate::cli::args::StartupArgs;
use crate::cli::failure::Failure;
use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Renders in processes of their own.
pub fn image(args: &StartupArgs) -> Result<Value, Failure> {
    let program = std::env::current_exe().context("finding this program")?;
    let folder = tempfile::tempdir().context("making a folder for the image")?;
    let out = folder.path().join("image.png");
    let mut times = Vec::new();
    for _ in 0..=RUNS {
        let start = Instant::now();
        let status = Command::new(&program)
            .args([
                "render",
                "--backend",
                "rpu",
                "--size",
                "640x480",
                "--threads",
                &args.threads.threads.to_string(),
                "-o",
            ])
            .arg(&out)
            .stderr(Stdio::null())
            .status()
            .context("starting this program again")?;
        if !status.success() {
            return Err(anyhow!("rendering the built-in scene failed: {status}").into());
        }
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(json!({
        "scene": "built-in, 640x480, from start to file",
        "first_s": rounded(times[0]),
        "median_s": rounded(median(times)),
    }))
}
