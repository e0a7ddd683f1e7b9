//! BVH builders: build time, refit time, cost and size of the BVH.

use crate::common::{meshes, rounded, single_thread};
use anyhow::anyhow;
use serde_json::{Value, json};
use shadewright::bvh::gpu::compressed::CompressedBvh;
use shadewright::bvh::{BuildOptions, BuildStats, Bvh, Quality, Triangle};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs of each build, alternately, of which the fastest counts.
const RUNS: usize = 3;

/// The meshes that are measured where none is named.
const DEFAULT: [&str; 2] = ["sheet:1000000", "clutter:1000000"];

/// Measures a mesh, or two procedural ones, and prints a table unless `quiet`.
///
/// # Errors
/// When the mesh has errors.
pub fn builders(named: Option<&Path>, quiet: bool) -> anyhow::Result<Value> {
    let paths = match named {
        Some(path) => vec![path.to_path_buf()],
        None => DEFAULT.map(PathBuf::from).into(),
    };
    let meshes = paths.iter().map(|path| mesh(path, quiet)).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({ "threads": rayon::current_num_threads(), "meshes": meshes }))
}

fn mesh(path: &Path, quiet: bool) -> anyhow::Result<Value> {
    let triangles = meshes::triangles(path)?;
    let single = single_thread()?;
    let mut costs = Quality::ALL.map(|quality| Cost { quality, ..Cost::default() });
    for _ in 0..RUNS {
        for cost in &mut costs {
            let (seconds, _) = single.install(|| build(&triangles, cost.quality))?;
            cost.one_thread = cost.one_thread.min(seconds);
            let (seconds, mut bvh) = build(&triangles, cost.quality)?;
            cost.all_threads = cost.all_threads.min(seconds);
            cost.stats = *bvh.stats();
            let start = Instant::now();
            bvh.refit(&triangles).map_err(|e| anyhow!("{e}"))?;
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
            "builder",
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

/// Builds a BVH; also the seconds that takes.
fn build(triangles: &[Triangle], quality: Quality) -> anyhow::Result<(f64, Bvh)> {
    let options = BuildOptions { quality, ..BuildOptions::default() };
    let start = Instant::now();
    let bvh = Bvh::build(triangles, &options).map_err(|e| anyhow!("{e}"))?;
    Ok((start.elapsed().as_secs_f64(), bvh))
}

/// Times and sizes of one builder's BVH.
#[derive(Clone, Copy)]
struct Cost {
    quality: Quality,
    /// Seconds of a build in one thread.
    one_thread: f64,
    /// Seconds of a build in all threads.
    all_threads: f64,
    /// Seconds of a refit in all threads.
    refit: f64,
    /// Seconds of making the compressed BVH, in one thread.
    compress: f64,
    /// Bytes of the compressed BVH.
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
        match self.quality {
            Quality::Fast => "fast",
            Quality::Sah => "sah",
            Quality::Spatial => "spatial",
        }
    }

    /// A number of the whole BVH, per triangle.
    fn each(&self, of_all: usize) -> f64 {
        of_all as f64 / self.stats.triangles.max(1) as f64
    }

    /// Million triangles per second.
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
            "builder": self.name(),
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
