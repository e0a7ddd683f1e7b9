//! Options, times, scenes and errors that the benchmarks share.
#![allow(dead_code, reason = "every benchmark compiles this module for itself and uses part of it")]

#[path = "../../tests/common/accepted.rs"]
mod accepted;
pub mod arrays;
#[path = "../../tests/common/cited.rs"]
#[allow(clippy::duplicate_mod, reason = "the tests of the benchmarks have it in their program, too")]
mod cited;
pub mod meshes;
pub mod shaders;

use anyhow::{Context, anyhow, ensure};
use clap::{Args, Parser};
use serde_json::{Value, json};
use shadewright::program::Specialize;
use shadewright::project::{Outcome, Project, ProjectOptions, ProjectState, Source};
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, RenderError, Renderer};
use shadewright::scene::OpenOptions;
use shadewright::text::diagnostics::Diagnostics;
use shadewright::text::source::SourceMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

// The program's own: times of building scenes depend on it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measured runs of each thing, alternately, after one that is not counted.
pub const RUNS: usize = 5;

/// The options that every benchmark has.
#[derive(Clone, Copy, Debug, Args)]
pub struct Common {
    /// CPU threads; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
    /// Run every measurement at its smallest size, and read the commands of this benchmark that pages
    /// and comments cite
    #[arg(long)]
    check: bool,
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

/// The output of a measurement itself, without `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prints {
    /// A table.
    Table,
    /// Nothing: the results are printed name by name.
    Nothing,
}

/// A program of measurements, which is its command line.
pub trait Benchmark: Parser {
    /// The name of the target, as `cargo bench --bench` takes it.
    const TARGET: &str;
    /// Command lines that run every measurement in a moment; `FOLDER` is a temporary folder.
    const SMALLEST: &[&str];

    /// The options that every benchmark has.
    fn common(&self) -> Common;

    /// The lines that the measurement prints itself.
    fn prints(&self) -> Prints {
        Prints::Table
    }

    /// Measures.
    ///
    /// # Errors
    /// The errors of the measurement.
    fn measure(&self) -> anyhow::Result<Value>;
}

/// Runs the measurement that the command line names, or with `--check` all of them.
///
/// # Errors
/// The errors of the measurement.
pub fn main<B: Benchmark>() -> anyhow::Result<()> {
    let benchmark = B::parse();
    let Common { threads, check, .. } = benchmark.common();
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("starting the threads")?;
    if check { check_all::<B>() } else { report(&benchmark) }
}

/// Measures, and prints the results where the measurement has not.
fn report(benchmark: &impl Benchmark) -> anyhow::Result<()> {
    let results = benchmark.measure()?;
    match (&results, benchmark.prints()) {
        _ if benchmark.common().json => {
            println!("{}", serde_json::to_string_pretty(&results).context("writing JSON")?);
        }
        (Value::Object(map), Prints::Nothing) => map.iter().for_each(|(name, value)| println!("{name:<28} {value}")),
        _ => {}
    }
    Ok(())
}

/// Runs every measurement at its smallest size, and reads the commands that texts cite.
fn check_all<B: Benchmark>() -> anyhow::Result<()> {
    let wrong: Vec<String> = cited::all().iter().filter_map(wrong_with::<B>).collect();
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    let folder = tempfile::tempdir().context("making a folder")?;
    for line in B::SMALLEST {
        println!("== {} {line}", B::TARGET);
        let line = line.replace("FOLDER", &folder.path().to_string_lossy());
        report(&B::try_parse_from(cited::split(&format!("{} {line}", B::TARGET)).concat())?)?;
    }
    Ok(())
}

/// The error of a command that a text cites, if it runs this benchmark.
fn wrong_with<B: Benchmark>(command: &cited::Cited) -> Option<String> {
    let words = command.cargo().filter(|words| words.first().is_some_and(|word| word == "bench"))?;
    if !words.iter().skip_while(|word| *word != "--bench").nth(1)?.split('|').any(|name| name == B::TARGET) {
        return None;
    }
    let own = words.iter().skip_while(|word| *word != "--").skip(1).cloned();
    let own: Vec<String> = std::iter::once(B::TARGET.to_string()).chain(own).collect();
    let refused = cited::alternatives(&own).iter().find_map(|own| accepted::parsed::<B>(own, false).err());
    refused.map(|message| format!("{}: {}: {message}", command.place, command.words.join(" ")))
}

/// Width and height of an image that is so wide, or has this size where none is given.
pub fn image_size(width: Option<u16>, size: (u32, u32)) -> (u32, u32) {
    width.map_or(size, |width| (width.into(), (u32::from(width) * 3 / 4).max(1)))
}

/// A number with three decimals.
pub fn rounded(x: f64) -> Value {
    json!((x * 1000.0).round() / 1000.0)
}

/// The median of an odd number of times.
///
/// # Panics
/// When there are none.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A path of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The files of a folder with an extension, sorted.
///
/// # Errors
/// When the folder cannot be read.
pub fn files(folder: &Path, extension: &str) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("reading the folder {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == extension));
    paths.sort();
    Ok(paths)
}

/// A job for a scene or mesh file with one sample per pixel.
///
/// # Errors
/// When the file has errors.
pub fn scene_job(path: &Path, size: (u32, u32)) -> anyhow::Result<Job> {
    specialized_job(path, size, Specialize::default())
}

/// The same with a program that is specialized for these facts of the scene.
///
/// # Errors
/// When the file has errors.
pub fn specialized_job(path: &Path, size: (u32, u32), specialize: Specialize) -> anyhow::Result<Job> {
    opened(path, size, specialize).map(|state| job_of(&state))
}

/// A job for an opened scene with one sample per pixel.
pub fn job_of(state: &ProjectState) -> Job {
    state.job(&state.view(), Sampling { strata: [1, 1], seed: 0 }, DEFAULT_BUDGET)
}

/// A scene or mesh file with its program.
///
/// # Errors
/// When the file has errors.
pub fn opened(path: &Path, size: (u32, u32), specialize: Specialize) -> anyhow::Result<Arc<ProjectState>> {
    let open = OpenOptions { size: Some(size), allow_read: vec![repository("")], ..OpenOptions::default() };
    let options = ProjectOptions { open, samples: Some(1), specialize, ..ProjectOptions::default() };
    match Project::new(Source::File(path.to_path_buf()), options).refresh() {
        Outcome::Ready(state) => Ok(state),
        Outcome::Broken(failure) => Err(diagnostics(&failure.diagnostics, &failure.sources)),
        Outcome::Unchanged => Err(anyhow!("{}: nothing was read", path.display())),
    }
}

/// The seconds that a frame takes.
///
/// # Errors
/// The errors of rendering.
pub fn timed(renderer: &mut dyn Renderer, job: &Job) -> anyhow::Result<f64> {
    let start = Instant::now();
    renderer.render(job, &|_| {}).map_err(|e| render_error(&e, &job.program.sources))?;
    Ok(start.elapsed().as_secs_f64())
}

/// A pool of one thread.
///
/// # Errors
/// When the system refuses a thread.
pub fn single_thread() -> anyhow::Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().context("starting a thread")
}

/// Diagnostics as an error.
pub fn diagnostics(diagnostics: &Diagnostics, sources: &SourceMap) -> anyhow::Error {
    anyhow!("{}", diagnostics.render(sources))
}

/// An error of rendering, with the source line where there is one.
pub fn render_error(error: &RenderError, sources: &SourceMap) -> anyhow::Error {
    diagnostics(&error.diagnostic().into(), sources)
}
