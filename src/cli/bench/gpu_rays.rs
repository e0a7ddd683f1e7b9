//! `bench rays` on the GPU: million rays per second of each set of rays by each traversal kernel,
//! and the memory of its BVH. Every hit is compared with the CPU's.

use super::rays::Subject;
use super::{generated, rounded};
use crate::cli::args::RaysArgs;
use crate::cli::failure::Failure;
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use shadewright::bvh::gpu::kernel::{Places, Stack, Store, Variant};
use shadewright::bvh::gpu::{GpuHit, GpuRay};
use shadewright::bvh::raysets::{RaySet, batches};
use shadewright::bvh::{BATCH, Bvh, HitBatch, NO_PRIM, TwoLevel};
use shadewright::render::RenderError;
use shadewright::render::gpu::{Gpu, RayTracer, TracerOptions};

/// Runs of each kernel over a set, of which the fastest counts, after one that compiles it and
/// compares its hits. Runs of the kernels alternate, so that other load affects all of them.
const RUNS: usize = 3;

/// Relative difference in `t` from the CPU's that a hit may have on hardware, which may fuse
/// operations.
const HARDWARE_TOLERANCE: f32 = 1e-4;

/// Measures, and prints a table unless JSON is wanted.
pub fn kernels(args: &RaysArgs, subject: Subject, sets: &[RaySet]) -> Result<Value, Failure> {
    let tree = TwoLevel::from(subject.bvh);
    let gpu = Gpu::open(args.adapter.adapter.as_deref()).map_err(|e| Failure::device(format!("error: {e}")))?;
    let kernels = chosen(args, &gpu)?;
    if !args.json {
        println!("\non {}", gpu.adapter().name);
    }
    let mut measured = Vec::new();
    let mut rates = Vec::new();
    let mut wrong = 0;
    for set in sets {
        let results = measure(&gpu, &tree, set, &kernels).map_err(|e| Failure::device(format!("error: {e}")))?;
        if !args.json {
            println!("\n{}: {} rays", set.name, set.rays.len());
            results.iter().for_each(Measured::print);
        }
        wrong += if gpu.is_hardware() { 0 } else { results.iter().map(|r| r.different).sum() };
        let kernels: Map<String, Value> = results.iter().map(|r| (r.name.to_string(), r.json())).collect();
        measured.push(json!({ "set": set.name, "rays": set.rays.len(), "kernels": kernels }));
        rates.push(results.iter().map(|r| (r.name.to_string(), r.rate)).collect());
    }
    // Each against the kernel of the same order of steps.
    let by_hand = |name: &str| name.strip_prefix(generated::GENERATED).map(|rest| rest[1..].to_string());
    let ratios = generated::ratios(&rates, |name| by_hand(name).into_iter().collect());
    if !args.json {
        generated::print(&ratios);
    }
    if wrong > 0 {
        return Err(Failure::device(format!(
            "error: {wrong} hits differ from the CPU's, and a software driver's should not"
        )));
    }
    Ok(json!({ "adapter": gpu.adapter(), "sets": measured, "generated": generated::json(&ratios) }))
}

/// The kernels with a part of `--only` in their names, or all. The first is the default of renders.
fn chosen(args: &RaysArgs, gpu: &Gpu) -> Result<Vec<(&'static str, TracerOptions)>, Failure> {
    use Stack::{Private, Workgroup};
    use Store::{Buffer, Texture};
    let kernel = |variant, subgroups, places| TracerOptions { variant, subgroups, places };
    let at = |variant, nodes, triangles, stack| kernel(variant, true, Some(Places { nodes, triangles, stack }));
    let mut kernels = vec![
        ("while-while", kernel(Variant::WhileWhile, true, None)),
        ("while-while, buffers", at(Variant::WhileWhile, Buffer, Buffer, Private)),
        ("while-while, nodes in texture", at(Variant::WhileWhile, Texture, Buffer, Private)),
        ("while-while, textures", at(Variant::WhileWhile, Texture, Texture, Private)),
        ("while-while, textures, workgroup stack", at(Variant::WhileWhile, Texture, Texture, Workgroup)),
        ("if-if", kernel(Variant::IfIf, true, None)),
        ("persistent, workgroup", kernel(Variant::Persistent, false, None)),
        ("speculative, no votes", kernel(Variant::Speculative, false, None)),
        ("wide", kernel(Variant::Wide, true, None)),
        ("wide, buffers", at(Variant::Wide, Buffer, Buffer, Private)),
        ("generated-while-while", kernel(Variant::GeneratedWhileWhile, true, None)),
        ("generated-if-if", kernel(Variant::GeneratedIfIf, true, None)),
    ];
    if gpu.has_subgroups() {
        kernels.push(("persistent, subgroup", kernel(Variant::Persistent, true, None)));
        kernels.push(("speculative, subgroup votes", kernel(Variant::Speculative, true, None)));
    }
    let parts: Vec<&str> = args.only.as_deref().unwrap_or("").split(',').map(str::trim).collect();
    let names = kernels.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("; ");
    kernels.retain(|(name, _)| parts.iter().any(|part| name.contains(part)));
    match kernels.is_empty() {
        true => {
            let parts = parts.join("` or `");
            Err(Failure::input(format!("error: no kernel has `{parts}` in its name; there are {names}")))
        }
        false => Ok(kernels),
    }
}

/// Results of a kernel for a set.
struct Measured {
    name: &'static str,
    /// Million rays per second.
    rate: f64,
    /// Bytes of nodes and triangles on the device, per triangle of the mesh.
    bytes: f64,
    /// Hits that differ from the CPU's.
    different: usize,
}

impl Measured {
    fn print(&self) {
        let different = match self.different {
            0 => String::new(),
            n => format!("  {n} hits differ from the CPU's"),
        };
        println!("  {:<30} {:>8.2} Mrays/s {:>7.1} bytes/triangle{different}", self.name, self.rate, self.bytes);
    }

    fn json(&self) -> Value {
        json!({
            "mrays_per_s": rounded(self.rate),
            "bytes_per_triangle": rounded(self.bytes),
            "different_hits": self.different,
        })
    }
}

fn measure(
    gpu: &Gpu,
    tree: &TwoLevel,
    set: &RaySet,
    kernels: &[(&'static str, TracerOptions)],
) -> Result<Vec<Measured>, RenderError> {
    let sign = if set.any { -1.0 } else { 1.0 };
    let to_gpu = |ray: &shadewright::bvh::Ray| GpuRay {
        origin: ray.origin.into(),
        t_min: ray.t_min,
        dir: ray.dir.into(),
        t_max: sign * ray.t_max,
    };
    let rays: Vec<GpuRay> = set.rays.iter().map(to_gpu).collect();
    let expected = expected(tree.plain(), set);
    let mut tracers = Vec::new();
    let mut results = Vec::new();
    for (name, options) in kernels {
        let mut tracer = RayTracer::new(gpu, options, tree, rays.len())?;
        let hits = tracer.trace(&rays)?.hits;
        let differs = |(hit, expected): &(&GpuHit, &GpuHit)| !same(hit, expected, gpu.is_hardware());
        let different = hits.iter().zip(&expected).filter(differs).count();
        let bytes = tracer.tree_bytes() as f64 / tree.plain().stats().triangles.max(1) as f64;
        tracers.push(tracer);
        results.push(Measured { name, rate: 0.0, bytes, different });
    }
    for _ in 0..RUNS {
        for (tracer, result) in tracers.iter_mut().zip(&mut results) {
            let seconds = tracer.trace(&rays)?.time.as_secs_f64();
            result.rate = result.rate.max(rays.len() as f64 / seconds / 1e6);
        }
    }
    Ok(results)
}

/// The CPU's hits, as the kernels write them.
fn expected(bvh: &Bvh, set: &RaySet) -> Vec<GpuHit> {
    let miss = GpuHit { u: 0.0, v: 0.0, t: -1.0, prim: NO_PRIM };
    let batch = |rays: &shadewright::bvh::RayBatch| -> [GpuHit; BATCH] {
        if set.any {
            let blocked = bvh.any_hits(rays);
            return std::array::from_fn(|i| if blocked >> i & 1 == 1 { GpuHit { t: 0.0, ..miss } } else { miss });
        }
        let mut hits = HitBatch::default();
        bvh.closest_hits(rays, &mut hits);
        std::array::from_fn(|i| GpuHit { u: hits.u[i], v: hits.v[i], t: hits.t[i], prim: hits.prim[i] })
    };
    let mut hits: Vec<GpuHit> = batches(&set.rays).par_iter().flat_map_iter(batch).collect();
    hits.truncate(set.rays.len());
    hits
}

/// True if a hit equals the CPU's: bit for bit, or on hardware nearly.
fn same(hit: &GpuHit, expected: &GpuHit, hardware: bool) -> bool {
    if hardware {
        return hit.prim == expected.prim && (hit.t - expected.t).abs() <= HARDWARE_TOLERANCE * expected.t.abs();
    }
    bytemuck::bytes_of(hit) == bytemuck::bytes_of(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_is_the_cpus_to_the_bit_or_on_hardware_nearly() {
        let hit = GpuHit { u: 0.25, v: 0.5, t: 10.0, prim: 7 };
        let near = GpuHit { t: 10.0005, ..hit };
        assert!(same(&hit, &hit, false) && !same(&near, &hit, false) && same(&near, &hit, true));
        assert!(!same(&GpuHit { prim: 8, ..hit }, &hit, true) && !same(&GpuHit { t: 10.1, ..hit }, &hit, true));
    }
}
