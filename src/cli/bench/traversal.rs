//! Rays on the CPU: million a second of each set of rays by each kernel; the sets as files for other tracers.

use super::{meshes, rounded};
use crate::cli::args::{BenchArgs, RaysArgs};
use crate::cli::exit::Failure;
use anyhow::Context;
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use shadewright::bvh::kernel::Width;
use shadewright::bvh::raysets::{RaySet, batches, decode_rays, encode_hits, encode_rays, ray_sets};
use shadewright::bvh::{BATCH, BuildOptions, Bvh, Hit, HitBatch, Kernel, RayBatch};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Turns of each kernel over a set, the best of which counts; kernels take turns, so that a disturbance meets them all.
const TURNS: usize = 5;
/// Every so many batches one is traced first, to see which kernels are slow,
const SAMPLE: usize = 64;
/// by more than this factor: packets of rays that go different ways take minutes for a million. Those are timed on the sample alone.
const SLOW: f64 = 6.0;
/// Batches that a thread takes at a time.
const PIECE: usize = 128;

/// Measures, and prints a table unless JSON is wanted.
pub fn rays(args: &BenchArgs) -> Result<Value, Failure> {
    let path = meshes::path(args)?;
    let triangles = meshes::triangles(&path)?;
    let options = BuildOptions { quality: args.rays.tree.into(), ..BuildOptions::default() };
    let start = Instant::now();
    let bvh = Bvh::build(&triangles, &options).map_err(|e| Failure::input(e.to_string()))?;
    let build = start.elapsed();
    let sets = sets(&bvh, &args.rays)?;
    if let Some(folder) = &args.rays.dump_rays {
        dump(&bvh, &sets, folder)?;
    }
    let kernels = chosen(args)?;
    let mut measured = Vec::new();
    if !args.json {
        println!(
            "{}: {} triangles, {} references, built in {:.1} ms, {} thread{}",
            path.display(),
            triangles.len(),
            bvh.stats().references,
            build.as_secs_f64() * 1e3,
            rayon::current_num_threads(),
            if rayon::current_num_threads() == 1 { "" } else { "s" }
        );
    }
    for set in &sets {
        let result = measure(&bvh, set, &kernels);
        if !args.json {
            result.print();
        }
        measured.push(result.json());
    }
    Ok(json!({
        "mesh": path.display().to_string(),
        "triangles": triangles.len(),
        "references": bvh.stats().references,
        "build_ms": rounded(build.as_secs_f64() * 1e3),
        "threads": rayon::current_num_threads(),
        "sets": measured,
    }))
}

/// The kernels with one of the parts of `--only` in their names, all without; by itself the choice that renders make, which is named `chosen`.
fn chosen(args: &BenchArgs) -> Result<Vec<Way>, Failure> {
    let ways = std::iter::once(Way::Chosen).chain(Kernel::all().into_iter().map(Way::Kernel));
    let parts: Vec<&str> = args.only.as_deref().unwrap_or("").split(',').map(str::trim).collect();
    let found: Vec<Way> = ways.filter(|way| parts.iter().any(|part| way.name().contains(part))).collect();
    if found.is_empty() {
        let names: Vec<String> = Kernel::all().iter().map(Kernel::name).collect();
        return Err(Failure::input(format!(
            "error: no kernel has `{}` in its name; there are chosen, {}",
            parts.join("` or `"),
            names.join(", ")
        )));
    }
    Ok(found)
}

/// The sets of `--rays`, or those that are made for the tree.
pub fn sets(bvh: &Bvh, args: &RaysArgs) -> Result<Vec<RaySet>, Failure> {
    if args.rays.is_empty() {
        return Ok(ray_sets(bvh, args.view.into(), args.size.into()).into());
    }
    args.rays.iter().map(|path| read_set(path)).collect()
}

/// A set from its file. Sets whose names begin with `ao` or `shadow` ask for any hit.
fn read_set(path: &Path) -> Result<RaySet, Failure> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|e| Failure::input(format!("error: cannot read `{shown}`: {e}")))?;
    let rays = decode_rays(&bytes).filter(|rays| !rays.is_empty()).ok_or_else(|| {
        Failure::input(format!(
            "error: `{shown}` has {} bytes, which is not a whole number of rays\n\
             hint: a ray is eight little-endian floats of 4 bytes: ox oy oz tmin dx dy dz tmax",
            bytes.len()
        ))
    })?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    Ok(RaySet { any: name.starts_with("ao") || name.starts_with("shadow"), name, rays })
}

/// Writes every set as `NAME.rays` and its answers as `NAME.hits`.
fn dump(bvh: &Bvh, sets: &[RaySet], folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
    for set in sets {
        let answer = |ray| match set.any {
            true => bvh.any_hit(ray).then_some(Hit { t: 0.0, u: 0.0, v: 0.0, prim: 0 }),
            false => bvh.closest_hit(ray),
        };
        let hits: Vec<_> = set.rays.par_iter().map(answer).collect();
        write_whole(folder, &format!("{}.rays", set.name), &encode_rays(&set.rays))?;
        write_whole(folder, &format!("{}.hits", set.name), &encode_hits(hits))?;
    }
    Ok(())
}

/// Writes a file that appears when it is complete.
fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.persist(folder.join(name)).map_err(|e| e.error)
    };
    write().with_context(|| format!("writing {name} in {}", folder.display()))?;
    Ok(())
}

/// How a batch is traced.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// As renders do.
    Chosen,
    /// By this kernel.
    Kernel(Kernel),
}

impl Way {
    fn name(self) -> String {
        match self {
            Way::Chosen => "chosen".to_string(),
            Way::Kernel(kernel) => kernel.name(),
        }
    }

    fn closest(self, bvh: &Bvh, rays: &RayBatch, hits: &mut HitBatch) {
        match self {
            Way::Chosen => bvh.closest_hits(rays, hits),
            Way::Kernel(kernel) => bvh.closest_hits_with(kernel, rays, hits),
        }
    }

    fn any(self, bvh: &Bvh, rays: &RayBatch) -> u64 {
        match self {
            Way::Chosen => bvh.any_hits(rays),
            Way::Kernel(kernel) => bvh.any_hits_with(kernel, rays),
        }
    }
}

/// What is known of a set.
pub(super) struct Measured {
    set: String,
    rays: usize,
    /// Rays that hit.
    pub hits: usize,
    /// The name of each way, and million rays a second.
    pub rates: Vec<(String, f64)>,
    /// What a single ray does in the 8-wide tree, on average.
    steps: Steps,
}

/// Steps of a ray.
struct Steps {
    nodes: f64,
    blocks: f64,
    triangles: f64,
}

impl Measured {
    fn print(&self) {
        let Steps { nodes, blocks, triangles } = self.steps;
        println!("\n{}: {} rays, {} hit", self.set, self.rays, self.hits);
        println!("  by itself, one visits {nodes:.1} nodes, {blocks:.1} blocks and {triangles:.1} triangles");
        for (name, rate) in &self.rates {
            println!("  {name:<20} {rate:>8.2} Mrays/s");
        }
    }

    fn json(&self) -> Value {
        let kernel = |(name, rate): &(String, f64)| (name.clone(), json!({ "mrays_per_s": rounded(*rate) }));
        let kernels: Map<String, Value> = self.rates.iter().map(kernel).collect();
        json!({
            "set": self.set,
            "rays": self.rays,
            "hits": self.hits,
            "nodes_per_ray": rounded(self.steps.nodes),
            "blocks_per_ray": rounded(self.steps.blocks),
            "triangles_per_ray": rounded(self.steps.triangles),
            "kernels": kernels,
        })
    }
}

/// Times the ways, in turn.
pub(super) fn measure(bvh: &Bvh, set: &RaySet, ways: &[Way]) -> Measured {
    // In the form that a renderer makes them in, before the clock starts.
    let batches = batches(&set.rays);
    let sample: Vec<RayBatch> = batches.iter().step_by(SAMPLE).cloned().collect();
    let mut best: Vec<f64> = ways.iter().map(|way| trace(bvh, *way, set.any, &sample).0).collect();
    let fastest = best.iter().copied().fold(f64::INFINITY, f64::min);
    let slow: Vec<bool> = best.iter().map(|time| *time > SLOW * fastest).collect();
    let mut hits = 0;
    for turn in 0..TURNS {
        for ((way, best), slow) in ways.iter().zip(&mut best).zip(&slow) {
            let (time, found) = match slow {
                true => trace(bvh, *way, set.any, &sample),
                false => trace(bvh, *way, set.any, &batches),
            };
            *best = if turn == 0 { time } else { best.min(time) };
            hits = if *slow { hits } else { found };
        }
    }
    let rate = |((way, time), slow): ((&Way, f64), &bool)| {
        let traced: usize = if *slow { sample.iter().map(count_active).sum() } else { set.rays.len() };
        (way.name(), traced as f64 / time / 1e6)
    };
    Measured {
        set: set.name.clone(),
        rays: set.rays.len(),
        hits,
        rates: ways.iter().zip(best).zip(&slow).map(rate).collect(),
        steps: steps(bvh, set.any, &sample),
    }
}

fn count_active(batch: &RayBatch) -> usize {
    batch.active.count_ones() as usize
}

/// The seconds that one way takes for the batches, and the hits that it finds.
fn trace(bvh: &Bvh, way: Way, any: bool, batches: &[RayBatch]) -> (f64, usize) {
    if any {
        let mut blocked = vec![0u64; batches.len()];
        let start = Instant::now();
        let piece = |(blocked, rays): (&mut [u64], &[RayBatch])| {
            blocked.iter_mut().zip(rays).for_each(|(blocked, rays)| *blocked = way.any(bvh, rays));
        };
        blocked.par_chunks_mut(PIECE).zip(batches.par_chunks(PIECE)).for_each(piece);
        let time = start.elapsed().as_secs_f64();
        (time, blocked.iter().map(|mask| mask.count_ones() as usize).sum())
    } else {
        let mut answers = vec![HitBatch::default(); batches.len()];
        let start = Instant::now();
        let piece = |(hits, rays): (&mut [HitBatch], &[RayBatch])| {
            hits.iter_mut().zip(rays).for_each(|(hits, rays)| way.closest(bvh, rays, hits));
        };
        answers.par_chunks_mut(PIECE).zip(batches.par_chunks(PIECE)).for_each(piece);
        let time = start.elapsed().as_secs_f64();
        let found = |hits: &HitBatch| (0..BATCH).filter(|&i| hits.hit(i).is_some()).count();
        (time, answers.iter().map(found).sum())
    }
}

/// What the rays of some batches do when each goes by itself.
fn steps(bvh: &Bvh, any: bool, batches: &[RayBatch]) -> Steps {
    let (mut rays, mut nodes, mut blocks, mut triangles) = (0, 0, 0, 0);
    for batch in batches {
        let counts = match any {
            true => bvh.count_any_hits(Width::Eight, batch),
            false => bvh.count_closest_hits(Width::Eight, batch),
        };
        rays += counts.rays;
        nodes += counts.nodes;
        blocks += counts.blocks;
        triangles += counts.triangles;
    }
    let each = |total: u64| total as f64 / rays.max(1) as f64;
    Steps { nodes: each(nodes), blocks: each(blocks), triangles: each(triangles) }
}
