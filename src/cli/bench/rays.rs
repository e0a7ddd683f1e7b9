//! `bench rays`: million rays per second of each set of rays by each traversal kernel. The sets can
//! be written to files for other ray tracers.

use super::generated::{self, Programs};
use super::{gpu_rays, meshes, rounded};
use crate::cli::args::{RaysArgs, RaysBackend};
use crate::cli::failure::Failure;
use anyhow::Context;
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use shadewright::bvh::kernel::{Isa, Method, Width};
use shadewright::bvh::raysets::{RaySet, batches, decode_rays, encode_hits, encode_rays, ray_sets};
use shadewright::bvh::{BATCH, BuildOptions, Bvh, Hit, HitBatch, Kernel, RayBatch};
use shadewright::disk;
use shadewright::generators::Layout;
use shadewright::render::gpu;
use shadewright::render::rpu::RayImage;
use shadewright::rpu::Block;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Runs of each kernel over a set, of which the fastest counts. Runs of the kernels alternate, so
/// that other load affects all of them.
const RUNS: usize = 5;
/// One of so many batches is traced first, to find slow kernels.
const SAMPLE: usize = 64;
/// Kernels that are slower than the fastest by this factor are timed on the sample alone: packets
/// of incoherent rays take minutes for a million.
const SLOW: f64 = 6.0;
/// Batches that a thread takes at a time.
const CHUNK: usize = 128;
/// Most bytes of a file of rays.
const MAX_RAYS: u64 = 4 << 30;

/// A mesh and its BVH.
pub struct Subject {
    /// Name of the mesh.
    pub name: String,
    /// Number of triangles.
    pub triangles: usize,
    /// The BVH.
    pub bvh: Bvh,
}

/// Measures the kernels of the CPU, the GPU or both, and prints tables unless JSON is wanted.
pub fn kernels(args: &RaysArgs) -> Result<Value, Failure> {
    let triangles = meshes::triangles(&args.mesh)?;
    let options = BuildOptions { quality: args.tree, ..BuildOptions::default() };
    let start = Instant::now();
    let bvh = Bvh::build(&triangles, &options).map_err(|e| Failure::input(format!("error: {e}")))?;
    let build = start.elapsed();
    let subject = Subject { name: args.mesh.display().to_string(), triangles: triangles.len(), bvh };
    let sets = sets(&subject.bvh, args)?;
    if let Some(folder) = &args.dump_rays {
        dump(&subject.bvh, &sets, folder)?;
    }
    let on_gpu = match args.backend {
        Some(backend) => backend == RaysBackend::Gpu,
        None => args.adapter.adapter.is_some() || gpu::has_hardware_adapter(),
    };
    let mut results = json!({
        "mesh": subject.name,
        "triangles": subject.triangles,
        "references": subject.bvh.stats().references,
        "build_ms": rounded(build.as_secs_f64() * 1e3),
        "threads": rayon::current_num_threads(),
    });
    if !args.json {
        let Subject { name, triangles, bvh } = &subject;
        let (references, ms) = (bvh.stats().references, build.as_secs_f64() * 1e3);
        println!("{name}: {triangles} triangles, {references} references, built in {ms:.1} ms");
    }
    if args.backend != Some(RaysBackend::Gpu) {
        results["cpu"] = on_cpu(args, &subject, &sets)?;
    }
    if on_gpu {
        results["gpu"] = gpu_rays::kernels(args, subject, &sets)?;
    }
    Ok(results)
}

/// Measures the kernels of the CPU.
fn on_cpu(args: &RaysArgs, subject: &Subject, sets: &[RaySet]) -> Result<Value, Failure> {
    let images = Layout::ALL.map(|layout| RayImage::new(&subject.bvh, layout));
    let programs = Programs::all(&images)?;
    let kernels = chosen(args, &programs)?;
    let threads = rayon::current_num_threads();
    if !args.json {
        println!("\non the CPU, {threads} thread{}", if threads == 1 { "" } else { "s" });
    }
    let mut measured = Vec::new();
    for set in sets {
        let result = measure(&subject.bvh, set, &kernels)?;
        if !args.json {
            result.print();
        }
        measured.push(result);
    }
    // The same algorithm by hand, the best single-ray kernel, and what renders use.
    let single = Kernel { method: Method::Single, width: Width::Eight, isa: Isa::best() };
    let rates: Vec<_> = measured.iter().map(|result| result.rates.clone()).collect();
    let ratios = generated::ratios(&rates, |_| vec![Kernel::SCALAR.name(), single.name(), Selection::Chosen.name()]);
    if !args.json {
        generated::print(&ratios);
    }
    let sets: Vec<Value> = measured.iter().map(Measured::json).collect();
    Ok(json!({ "sets": sets, "generated": generated::json(&ratios) }))
}

/// The kernels with a part of `--only` in their names, or all; first the selection of renders,
/// which is named `chosen`, and last the generated ones.
fn chosen<'a>(args: &RaysArgs, programs: &'a [Programs<'a>]) -> Result<Vec<Selection<'a>>, Failure> {
    let selections = std::iter::once(Selection::Chosen)
        .chain(Kernel::all().into_iter().map(Selection::Kernel))
        .chain(programs.iter().map(Selection::Generated));
    let parts: Vec<&str> = args.only.as_deref().unwrap_or("").split(',').map(str::trim).collect();
    let found: Vec<Selection> =
        selections.filter(|selection| parts.iter().any(|part| selection.name().contains(part))).collect();
    if found.is_empty() {
        let mut names: Vec<String> = Kernel::all().iter().map(Kernel::name).collect();
        names.extend(programs.iter().map(|programs| programs.name.clone()));
        return Err(Failure::input(format!(
            "error: no kernel has `{}` in its name; there are chosen, {}",
            parts.join("` or `"),
            names.join(", ")
        )));
    }
    Ok(found)
}

/// The sets of `--rays`, or sets generated for the BVH.
fn sets(bvh: &Bvh, args: &RaysArgs) -> Result<Vec<RaySet>, Failure> {
    if args.rays.is_empty() {
        return Ok(ray_sets(bvh, args.view, args.size.into()).into());
    }
    args.rays.iter().map(|path| read_set(path)).collect()
}

/// Reads a set from its file. Sets whose names begin with `ao` or `shadow` are any-hit.
fn read_set(path: &Path) -> Result<RaySet, Failure> {
    let shown = path.display();
    let bytes = disk::read(path, MAX_RAYS).map_err(|e| Failure::input(format!("error: cannot read `{shown}`: {e}")))?;
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

/// Writes every set as `NAME.rays` and its hits as `NAME.hits`.
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

/// Writes a file atomically.
fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.persist(folder.join(name)).map_err(|e| e.error)
    };
    write().with_context(|| format!("writing {name} in {}", folder.display()))?;
    Ok(())
}

/// Selection of the kernel for a batch.
#[derive(Clone, Copy, Debug)]
enum Selection<'a> {
    /// The selection of renders.
    Chosen,
    /// This kernel.
    Kernel(Kernel),
    /// These programs.
    Generated(&'a Programs<'a>),
}

impl Selection<'_> {
    fn name(self) -> String {
        match self {
            Selection::Chosen => "chosen".to_string(),
            Selection::Kernel(kernel) => kernel.name(),
            Selection::Generated(programs) => programs.name.clone(),
        }
    }

    /// `block` is for this selection alone.
    fn closest(self, bvh: &Bvh, block: &mut Block, rays: &RayBatch, hits: &mut HitBatch) -> Result<(), Failure> {
        match self {
            Selection::Chosen => bvh.closest_hits(rays, hits),
            Selection::Kernel(kernel) => bvh.closest_hits_with(kernel, rays, hits),
            Selection::Generated(programs) => programs.closest(block, rays, hits)?,
        }
        Ok(())
    }

    /// `block` is for this selection alone.
    fn any(self, bvh: &Bvh, block: &mut Block, rays: &RayBatch) -> Result<u64, Failure> {
        match self {
            Selection::Chosen => Ok(bvh.any_hits(rays)),
            Selection::Kernel(kernel) => Ok(bvh.any_hits_with(kernel, rays)),
            Selection::Generated(programs) => programs.any(block, rays),
        }
    }
}

/// Results for a set of rays.
struct Measured {
    set: String,
    rays: usize,
    /// Rays that hit.
    hits: usize,
    /// The name of each kernel, and million rays per second.
    rates: Vec<(String, f64)>,
    /// Average steps of a ray in the 8-wide BVH.
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
        println!("  a single ray visits {nodes:.1} nodes, {blocks:.1} leaf blocks and {triangles:.1} triangles");
        for (name, rate) in &self.rates {
            println!("  {name:<42} {rate:>8.2} Mrays/s");
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

/// Times the kernels, alternately.
fn measure(bvh: &Bvh, set: &RaySet, selections: &[Selection<'_>]) -> Result<Measured, Failure> {
    // Batches as renderers make them, before the measured time.
    let batches = batches(&set.rays);
    let sample: Vec<RayBatch> = batches.iter().step_by(SAMPLE).cloned().collect();
    let first = |selection: &Selection<'_>| Ok(trace(bvh, *selection, set.any, &sample)?.0);
    let mut best: Vec<f64> = selections.iter().map(first).collect::<Result<_, Failure>>()?;
    let fastest = best.iter().copied().fold(f64::INFINITY, f64::min);
    let slow: Vec<bool> = best.iter().map(|time| *time > SLOW * fastest).collect();
    let mut hits = 0;
    for run in 0..RUNS {
        for ((selection, best), slow) in selections.iter().zip(&mut best).zip(&slow) {
            let (time, found) = match slow {
                true => trace(bvh, *selection, set.any, &sample)?,
                false => trace(bvh, *selection, set.any, &batches)?,
            };
            *best = if run == 0 { time } else { best.min(time) };
            hits = if *slow { hits } else { found };
        }
    }
    let rate = |((selection, time), slow): ((&Selection<'_>, f64), &bool)| {
        let traced: usize = if *slow { sample.iter().map(count_active).sum() } else { set.rays.len() };
        (selection.name(), traced as f64 / time / 1e6)
    };
    Ok(Measured {
        set: set.name.clone(),
        rays: set.rays.len(),
        hits,
        rates: selections.iter().zip(best).zip(&slow).map(rate).collect(),
        steps: steps(bvh, set.any, &sample),
    })
}

fn count_active(batch: &RayBatch) -> usize {
    batch.active.count_ones() as usize
}

/// The seconds that one kernel takes for the batches, and the number of hits.
fn trace(bvh: &Bvh, selection: Selection<'_>, any: bool, batches: &[RayBatch]) -> Result<(f64, usize), Failure> {
    if any {
        let mut blocked = vec![0u64; batches.len()];
        let start = Instant::now();
        let chunk = |block: &mut Block, (blocked, rays): (&mut [u64], &[RayBatch])| {
            blocked.iter_mut().zip(rays).try_for_each(|(blocked, rays)| {
                *blocked = selection.any(bvh, block, rays)?;
                Ok(())
            })
        };
        let chunks = blocked.par_chunks_mut(CHUNK).zip(batches.par_chunks(CHUNK));
        chunks.map_init(Block::new, chunk).collect::<Result<(), Failure>>()?;
        let time = start.elapsed().as_secs_f64();
        Ok((time, blocked.iter().map(|mask| mask.count_ones() as usize).sum()))
    } else {
        let mut answers = vec![HitBatch::default(); batches.len()];
        let start = Instant::now();
        let chunk = |block: &mut Block, (hits, rays): (&mut [HitBatch], &[RayBatch])| {
            hits.iter_mut().zip(rays).try_for_each(|(hits, rays)| selection.closest(bvh, block, rays, hits))
        };
        let chunks = answers.par_chunks_mut(CHUNK).zip(batches.par_chunks(CHUNK));
        chunks.map_init(Block::new, chunk).collect::<Result<(), Failure>>()?;
        let time = start.elapsed().as_secs_f64();
        let found = |hits: &HitBatch| (0..BATCH).filter(|&i| hits.hit(i).is_some()).count();
        Ok((time, answers.iter().map(found).sum()))
    }
}

/// Steps of the rays of some batches, each traced as a single ray.
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
