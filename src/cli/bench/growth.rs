//! How the time of a primary ray grows with the scene: the same two procedural meshes at ten thousand to ten million triangles.

use super::meshes::triangles_of;
use super::rounded;
use super::traversal::{Measured, Way, measure};
use crate::cli::args::BenchArgs;
use crate::cli::exit::Failure;
use serde_json::{Value, json};
use shadewright::bvh::raysets::{View, ray_sets};
use shadewright::bvh::{BuildOptions, Bvh};
use shadewright::geometry::{Faces, procedural};
use std::time::Instant;

/// Numbers of triangles.
const SIZES: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// A mesh of about so many triangles.
type Mesh = fn(usize) -> Faces;

/// Measures, and prints a table unless JSON is wanted.
pub fn rays(args: &BenchArgs) -> Result<Value, Failure> {
    let mut rows = Vec::new();
    if !args.json {
        println!(
            "{:<8} {:>10} {:>9} {:>9} {:>8} {:>16}",
            "mesh", "triangles", "build s", "Mrays/s", "ns/ray", "ns per log2(n)"
        );
    }
    for (name, mesh) in [("sheet", procedural::sheet as Mesh), ("clutter", procedural::clutter)] {
        for size in SIZES {
            let triangles = triangles_of(&mesh(size));
            let start = Instant::now();
            let options = BuildOptions { quality: args.rays.tree.into(), ..BuildOptions::default() };
            let bvh = Bvh::build(&triangles, &options).map_err(|e| Failure::input(e.to_string()))?;
            let build = start.elapsed().as_secs_f64();
            let [primary, ..] = ray_sets(&bvh, View::Outside, args.rays.size.into());
            let Measured { hits, rates, .. } = measure(&bvh, &primary, &[Way::Chosen]);
            let rate = rates.first().map_or(0.0, |(_, rate)| *rate);
            let nanoseconds = 1e3 / rate;
            let by_log = nanoseconds / (triangles.len() as f64).log2();
            if !args.json {
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
