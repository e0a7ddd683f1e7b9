//! How the time of a primary ray grows with the scene: two procedural meshes of ten thousand to ten
//! million triangles.

use crate::common::meshes::triangles_of;
use crate::common::rounded;
use anyhow::anyhow;
use rayon::prelude::*;
use serde_json::{Value, json};
use shadewright::bvh::raysets::{View, batches, ray_sets};
use shadewright::bvh::{BATCH, BuildOptions, Bvh, HitBatch, Quality, RayBatch};
use shadewright::geometry::{Faces, procedural};
use std::time::Instant;

/// Numbers of triangles.
const SIZES: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Runs over the rays, of which the fastest counts.
const RUNS: usize = 5;
/// Batches of rays that a thread takes at a time.
const CHUNK: usize = 128;

/// Makes a mesh of about so many triangles.
type Mesh = fn(usize) -> Faces;

/// Measures `side`² rays in meshes of at most so many triangles, and prints a table unless `quiet`.
///
/// # Errors
/// When a BVH cannot be built.
pub fn rays(quality: Quality, side: usize, most: Option<usize>, quiet: bool) -> anyhow::Result<Value> {
    let mut rows = Vec::new();
    if !quiet {
        println!(
            "{:<8} {:>10} {:>9} {:>9} {:>8} {:>16}",
            "mesh", "triangles", "build s", "Mrays/s", "ns/ray", "ns per log2(n)"
        );
    }
    for (name, mesh) in [("sheet", procedural::sheet as Mesh), ("clutter", procedural::clutter)] {
        for size in SIZES.into_iter().filter(|size| most.is_none_or(|most| *size <= most)) {
            let triangles = triangles_of(&mesh(size));
            let start = Instant::now();
            let bvh = Bvh::build(&triangles, &BuildOptions { quality, ..BuildOptions::default() });
            let bvh = bvh.map_err(|e| anyhow!("{e}"))?;
            let build = start.elapsed().as_secs_f64();
            let [primary, ..] = ray_sets(&bvh, View::Outside, side);
            let (seconds, hits) = trace(&bvh, &batches(&primary.rays));
            let rate = primary.rays.len() as f64 / seconds / 1e6;
            let nanoseconds = 1e3 / rate;
            let by_log = nanoseconds / (triangles.len() as f64).log2();
            if !quiet {
                println!(
                    "{name:<8} {:>10} {build:>9.2} {rate:>9.2} {nanoseconds:>8.1} {by_log:>16.2}",
                    triangles.len()
                );
            }
            rows.push(json!({
                "mesh": name,
                "triangles": triangles.len(),
                "build_s": rounded(build),
                "rays": primary.rays.len(),
                "hits": hits,
                "mrays_per_s": rounded(rate),
                "ns_per_ray": rounded(nanoseconds),
                "ns_per_log2_triangles": rounded(by_log),
            }));
        }
    }
    Ok(json!({ "threads": rayon::current_num_threads(), "rows": rows }))
}

/// The seconds that the rays take, and how many hit.
fn trace(bvh: &Bvh, batches: &[RayBatch]) -> (f64, usize) {
    let mut answers = vec![HitBatch::default(); batches.len()];
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        let chunk = |(hits, rays): (&mut [HitBatch], &[RayBatch])| {
            hits.iter_mut().zip(rays).for_each(|(hits, rays)| bvh.closest_hits(rays, hits));
        };
        answers.par_chunks_mut(CHUNK).zip(batches.par_chunks(CHUNK)).for_each(chunk);
        best = best.min(start.elapsed().as_secs_f64());
    }
    let found = |hits: &HitBatch| (0..BATCH).filter(|&i| hits.hit(i).is_some()).count();
    (best, answers.iter().map(found).sum())
}
