//! Rays per second through a tree: what the benchmark command's traversal measurement runs.
//!
//! It takes a tree and gives rates in one thread, for rays from a camera that frames the mesh and for diffuse bounces from
//! where those hit. It prints nothing.

use super::binary;
use super::kernel::{Isa, Kernel, Method, Width};
use super::ray::{BATCH, HitBatch, Ray, RayBatch};
use super::tree::Bvh;
use glam::Vec3;
use std::time::Instant;

/// Rates of one kind of rays, in millions of closest-hit rays a second in one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Rays in the set.
    pub rays: usize,
    /// Share of them that hit, 0 to 1.
    pub hit_share: f64,
    /// Scalar traversal of the binary tree.
    pub binary: f64,
    /// The 8-wide tree with portable lanes.
    pub portable: f64,
    /// The 8-wide tree with the best lanes that the processor has.
    pub wide: f64,
    /// Any hit instead of the closest, with the best lanes.
    pub wide_any: f64,
}

/// The rates of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraversalBench {
    /// Rays of a pinhole camera in front of the mesh, in 8 × 8 tiles.
    pub primary: Rates,
    /// Cosine-distributed rays from the primary rays' hits.
    pub diffuse: Rates,
}

/// Measures a tree with `size` × `size` primary rays, rounded up to whole tiles, and as many diffuse ones as those hit.
pub fn traversal(bvh: &Bvh, size: usize) -> TraversalBench {
    let primary = primary_rays(bvh, size.max(1));
    let diffuse = diffuse_rays(bvh, &primary);
    TraversalBench { primary: rates(bvh, &primary), diffuse: rates(bvh, &diffuse) }
}

/// Best of this many turns, the variants taking turns so that a disturbance meets them all.
const TURNS: usize = 3;

/// The kernel of [`Rates::portable`].
const PORTABLE: Kernel = Kernel { method: Method::Single, width: Width::Eight, isa: Isa::Portable };

fn rates(bvh: &Bvh, batches: &[RayBatch]) -> Rates {
    let rays: usize = batches.iter().map(|batch| batch.active.count_ones() as usize).sum();
    let mut hits = HitBatch::default();
    let mut found = 0;
    let mut seconds = [f64::INFINITY; 4];
    for _ in 0..TURNS {
        let mut time = |slot: usize, run: &mut dyn FnMut(&RayBatch)| {
            let start = Instant::now();
            batches.iter().for_each(run);
            seconds[slot] = seconds[slot].min(start.elapsed().as_secs_f64());
        };
        time(0, &mut |batch| {
            for i in batch.active_lanes() {
                hits.set(i, binary::closest_hit(bvh, &batch.ray(i)));
            }
        });
        time(1, &mut |batch| bvh.closest_hits_with(PORTABLE, batch, &mut hits));
        time(2, &mut |batch| bvh.closest_hits(batch, &mut hits));
        found = 0;
        time(3, &mut |batch| found += bvh.any_hits(batch).count_ones() as usize);
    }
    let [binary, portable, wide, wide_any] = seconds.map(|s| rays as f64 / s / 1e6);
    Rates { rays, hit_share: found as f64 / rays.max(1) as f64, binary, portable, wide, wide_any }
}

/// A camera on the +z side, looking at the middle of the mesh from one and a half of its diagonals, 40 degrees wide.
fn primary_rays(bvh: &Bvh, size: usize) -> Vec<RayBatch> {
    let (low, high) = bvh.bounds().unwrap_or_default();
    let diagonal = (high - low).length();
    let eye = (low + high) * 0.5 + Vec3::new(0.2, 0.3, 1.5) * diagonal;
    let forward = ((low + high) * 0.5 - eye).normalize_or(Vec3::NEG_Z);
    let right = forward.cross(Vec3::Y).normalize_or(Vec3::X);
    let up = right.cross(forward);
    let tiles = size.div_ceil(8);
    let half_width = 20f32.to_radians().tan();
    let tile = |index: usize| {
        let mut batch = RayBatch::default();
        for i in 0..BATCH {
            let place =
                |tile: usize, within: usize| ((tile * 8 + within) as f32 + 0.5) / (tiles * 8) as f32 * 2.0 - 1.0;
            let (x, y) = (place(index % tiles, i % 8), place(index / tiles, i / 8));
            batch.set(i, &Ray::new(eye, forward + (right * x - up * y) * half_width));
        }
        batch
    };
    (0..tiles * tiles).map(tile).collect()
}

/// One bounce from every hit, by Malley's method (Pharr, Jakob & Humphreys, "Physically Based Rendering", §A.5.3) on additive
/// recurrences.
fn diffuse_rays(bvh: &Bvh, primary: &[RayBatch]) -> Vec<RayBatch> {
    let mut normals = vec![Vec3::ZERO; bvh.triangles().iter().map(|t| t.prim as usize + 1).max().unwrap_or(0)];
    for t in bvh.triangles() {
        let [a, b, c] = [t.a, t.b, t.c].map(Vec3::from);
        normals[t.prim as usize] = (b - a).cross(c - a).normalize_or_zero();
    }
    let (low, high) = bvh.bounds().unwrap_or_default();
    let offset = (high - low).length() * 1e-5;
    let mut rays = Vec::new();
    for batch in primary {
        let mut hits = HitBatch::default();
        bvh.closest_hits(batch, &mut hits);
        for i in batch.active_lanes() {
            let Some(hit) = hits.hit(i) else { continue };
            let ray = batch.ray(i);
            let normal = normals[hit.prim as usize];
            let normal = if normal.dot(ray.dir) > 0.0 { -normal } else { normal };
            let n = rays.len() as f32;
            let (a, b) = ((n * 0.754_877_7).fract(), (n * 0.569_840_3).fract());
            let (sin, cos) = (a * std::f32::consts::TAU).sin_cos();
            let tangent = normal.any_orthonormal_vector();
            let disk = (tangent * cos + normal.cross(tangent) * sin) * b.sqrt();
            rays.push(Ray::new(ray.origin + ray.dir * hit.t + normal * offset, disk + normal * (1.0 - b).sqrt()));
        }
    }
    let batch = |rays: &[Ray]| {
        let mut batch = RayBatch::default();
        rays.iter().enumerate().for_each(|(i, ray)| batch.set(i, ray));
        batch
    };
    rays.chunks(BATCH).map(batch).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{BuildOptions, Triangle};
    use super::*;

    #[test]
    fn a_square_gives_rates_and_hits() {
        let (a, b, c, d) = (Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y);
        let square = [Triangle::new(a, b, c), Triangle::new(b, d, c)];
        let bvh = Bvh::build(&square, &BuildOptions::default()).expect("small");
        let bench = traversal(&bvh, 16);
        assert_eq!(bench.primary.rays, 256);
        assert!(bench.primary.hit_share > 0.1 && bench.primary.hit_share < 1.0);
        assert!(bench.primary.wide > 0.0 && bench.diffuse.binary > 0.0);
        assert_eq!(bench.diffuse.hit_share, 0.0);
    }

    #[test]
    fn an_empty_tree_gives_no_hits() {
        let bvh = Bvh::build(&[], &BuildOptions::default()).expect("small");
        assert_eq!(traversal(&bvh, 8).primary.hit_share, 0.0);
    }
}
