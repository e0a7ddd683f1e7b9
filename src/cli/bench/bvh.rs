//! Trees: how long each builder takes, and what its trees are like.

use super::{meshes, rounded};
use crate::cli::args::{BenchArgs, TreeQuality};
use crate::cli::exit::Failure;
use anyhow::Context;
use serde_json::{Value, json};
use shadewright::bvh::gpu::compressed::CompressedBvh;
use shadewright::bvh::{BuildOptions, BuildStats, Bvh, Quality, Triangle};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs of each build, in turn, the best of which counts.
const RUNS: usize = 3;

/// The meshes that are measured where none is named.
const DEFAULT: [&str; 2] = ["sheet:1000000", "clutter:1000000"];

/// Measures, and prints a table unless JSON is wanted.
pub fn builders(args: &BenchArgs) -> Result<Value, Failure> {
    let paths = match &args.mesh {
        Some(path) => vec![path.clone()],
        None => DEFAULT.map(PathBuf::from).into(),
    };
    let meshes = paths.iter().map(|path| mesh(path, args.json)).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({ "threads": rayon::current_num_threads(), "meshes": meshes }))
}

fn mesh(path: &Path, quiet: bool) -> Result<Value, Failure> {
    let triangles = meshes::triangles(path)?;
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().context("starting a thread")?;
    let mut costs = Quality::ALL.map(|quality| Cost { quality, ..Cost::default() });
    for _ in 0..RUNS {
        for cost in &mut costs {
            let (seconds, _) = single.install(|| build(&triangles, cost.quality))?;
            cost.one_thread = cost.one_thread.min(seconds);
            let (seconds, mut bvh) = build(&triangles, cost.quality)?;
            cost.all_threads = cost.all_threads.min(seconds);
            cost.stats = *bvh.stats();
            let start = Instant::now();
            bvh.refit(&triangles).map_err(|e| Failure::input(e.to_string()))?;
            cost.refit = cost.refit.min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            cost.compressed_bytes = CompressedBvh::new(&bvh).bytes();
            cost.compress = cost.compress.min(start.elapsed().as_secs_f64());
        }
    }
    if !quiet {
        println!("{}: {} triangles, {} threads", path.display(), triangles.len(), rayon::current_num_threads());
        println!(
            "{:<8} {:>10} {:>10} {:>9} {:>9} {:>9} {:>5} {:>9} {:>9} {:>8} {:>7} {:>7} {:>9} {:>9}",
            "tree",
            "1 thread",
            "all",
            "Mtri/s 1",
            "Mtri/s",
            "SAH cost",
            "depth",
            "nodes",
            "refs/tri",
            "B/tri",
            "wide",
            "packed",
            "refit",
            "packing"
        );
        costs.iter().for_each(Cost::print);
    }
    let builds: Vec<_> = costs.iter().map(Cost::json).collect();
    Ok(json!({ "mesh": path.display().to_string(), "triangles": triangles.len(), "builds": builds }))
}

/// Builds a tree; also the seconds that took.
fn build(triangles: &[Triangle], quality: Quality) -> Result<(f64, Bvh), Failure> {
    let options = BuildOptions { quality, ..BuildOptions::default() };
    let start = Instant::now();
    let bvh = Bvh::build(triangles, &options).map_err(|e| Failure::input(e.to_string()))?;
    Ok((start.elapsed().as_secs_f64(), bvh))
}

/// What one builder's trees cost.
#[derive(Clone, Copy)]
struct Cost {
    quality: Quality,
    /// Seconds of a build in one thread.
    one_thread: f64,
    /// Seconds of a build in all threads.
    all_threads: f64,
    /// Seconds of a refit in all threads.
    refit: f64,
    /// Seconds of making the compressed tree, in one thread.
    compress: f64,
    /// Bytes of the compressed tree.
    compressed_bytes: usize,
    stats: BuildStats,
}

impl Default for Cost {
    fn default() -> Self {
        let never = f64::INFINITY;
        Self {
            quality: Quality::Sah,
            one_thread: never,
            all_threads: never,
            refit: never,
            compress: never,
            compressed_bytes: 0,
            stats: BuildStats::default(),
        }
    }
}

impl Cost {
    fn name(&self) -> &'static str {
        TreeQuality::from(self.quality).name()
    }

    /// A number of the whole tree, a triangle.
    fn each(&self, of_all: usize) -> f64 {
        of_all as f64 / self.stats.triangles.max(1) as f64
    }

    /// Million triangles a second.
    fn rate(&self, seconds: f64) -> f64 {
        self.stats.triangles as f64 / seconds / 1e6
    }

    fn print(&self) {
        let milliseconds = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
        println!(
            "{:<8} {:>10} {:>10} {:>9.2} {:>9.2} {:>9.2} {:>5} {:>9} {:>9.3} {:>8.1} {:>7.1} {:>7.1} {:>9} {:>9}",
            self.name(),
            milliseconds(self.one_thread),
            milliseconds(self.all_threads),
            self.rate(self.one_thread),
            self.rate(self.all_threads),
            self.stats.sah_cost,
            self.stats.depth,
            self.stats.nodes,
            self.each(self.stats.references),
            self.each(self.stats.bytes),
            self.each(self.stats.wide_bytes),
            self.each(self.compressed_bytes),
            milliseconds(self.refit),
            milliseconds(self.compress),
        );
    }

    fn json(&self) -> Value {
        json!({
            "tree": self.name(),
            "one_thread_ms": rounded(self.one_thread * 1e3),
            "all_threads_ms": rounded(self.all_threads * 1e3),
            "mtri_per_s_one_thread": rounded(self.rate(self.one_thread)),
            "mtri_per_s_all_threads": rounded(self.rate(self.all_threads)),
            "refit_ms": rounded(self.refit * 1e3),
            "compress_ms": rounded(self.compress * 1e3),
            "sah_cost": rounded(self.stats.sah_cost),
            "depth": self.stats.depth,
            "nodes": self.stats.nodes,
            "leaves": self.stats.leaves,
            "references_per_triangle": rounded(self.each(self.stats.references)),
            "bytes_per_triangle": rounded(self.each(self.stats.bytes)),
            "wide_bytes_per_triangle": rounded(self.each(self.stats.wide_bytes)),
            "compressed_bytes_per_triangle": rounded(self.each(self.compressed_bytes)),
        })
    }
}
