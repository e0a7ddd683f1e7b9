//! Rays on the CPU: million a second of each set of rays by each kernel; the sets as files for other tracers.

use super::{meshes, rounded};
use crate::bvh::raysets::{RaySet, batches, decode_rays, encode_hits, encode_rays, ray_sets};
use crate::bvh::{BATCH, BuildOptions, Bvh, Hit, HitBatch, Kernel, RayBatch};
use crate::cli::args::{BenchArgs, RaysArgs};
use crate::cli::exit::Failure;
use anyhow::Context;
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Turns of each kernel over a set, the best of which counts; kernels take turns, so that a disturbance meets them all.
const TURNS: usize = 5;
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

/// The kernels with `--only` in their names, all without; by itself the choice that renders make, which is named `chosen`.
fn chosen(args: &BenchArgs) -> Result<Vec<Way>, Failure> {
    let ways = std::iter::once(Way::Chosen).chain(Kernel::all().into_iter().map(Way::Kernel));
    let part = args.only.as_deref().unwrap_or("");
    let found: Vec<Way> = ways.filter(|way| way.name().contains(part)).collect();
    if found.is_empty() {
        let names: Vec<String> = Kernel::all().iter().map(Kernel::name).collect();
        return Err(Failure::input(format!(
            "error: no kernel has `{part}` in its name; there are chosen, {}",
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
}

impl Measured {
    fn print(&self) {
        println!("\n{}: {} rays, {} hit", self.set, self.rays, self.hits);
        for (name, rate) in &self.rates {
            println!("  {name:<20} {rate:>8.2} Mrays/s");
        }
    }

    fn json(&self) -> Value {
        let kernel = |(name, rate): &(String, f64)| (name.clone(), json!({ "mrays_per_s": rounded(*rate) }));
        let kernels: Map<String, Value> = self.rates.iter().map(kernel).collect();
        json!({ "set": self.set, "rays": self.rays, "hits": self.hits, "kernels": kernels })
    }
}

/// Times the ways, in turn.
pub(super) fn measure(bvh: &Bvh, set: &RaySet, ways: &[Way]) -> Measured {
    // In the form that a renderer makes them in, before the clock starts.
    let batches = batches(&set.rays);
    let mut answers = vec![HitBatch::default(); if set.any { 0 } else { batches.len() }];
    let mut blocked = vec![0u64; if set.any { batches.len() } else { 0 }];
    let mut best = vec![f64::INFINITY; ways.len()];
    for _ in 0..TURNS {
        for (way, best) in ways.iter().zip(&mut best) {
            let start = Instant::now();
            if set.any {
                let piece = |(blocked, rays): (&mut [u64], &[RayBatch])| {
                    blocked.iter_mut().zip(rays).for_each(|(blocked, rays)| *blocked = way.any(bvh, rays));
                };
                blocked.par_chunks_mut(PIECE).zip(batches.par_chunks(PIECE)).for_each(piece);
            } else {
                let piece = |(hits, rays): (&mut [HitBatch], &[RayBatch])| {
                    hits.iter_mut().zip(rays).for_each(|(hits, rays)| way.closest(bvh, rays, hits));
                };
                answers.par_chunks_mut(PIECE).zip(batches.par_chunks(PIECE)).for_each(piece);
            }
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let hit = |hits: &HitBatch| (0..BATCH).filter(|&i| hits.hit(i).is_some()).count();
    let hits = match set.any {
        true => blocked.iter().map(|mask| mask.count_ones() as usize).sum(),
        false => answers.iter().map(hit).sum(),
    };
    let rate = |(way, seconds): (&Way, f64)| {
        let million = set.rays.len() as f64 / seconds / 1e6;
        (way.name(), million)
    };
    Measured { set: set.name.clone(), rays: set.rays.len(), hits, rates: ways.iter().zip(best).map(rate).collect() }
}
