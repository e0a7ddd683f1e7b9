//! Instances of a mesh against the same triangles in one BVH: rays per second, and memory.

use crate::common::rounded;
use anyhow::anyhow;
use glam::{Mat4, Vec3};
use serde_json::{Value, json};
use shadewright::bvh::raysets::{RaySet, View, batches, ray_sets};
use shadewright::bvh::{BuildOptions, HitBatch, Placement, RayBatch, Triangle, TwoLevel};
use shadewright::geometry::assemble::assemble;
use shadewright::geometry::normals::DEFAULT_CREASE_ANGLE;
use shadewright::geometry::quadric::Quadric;
use std::hint::black_box;
use std::time::Instant;

/// Instances of each mesh.
const INSTANCES: u32 = 300;
/// Segments of the spheres that are instanced.
const SEGMENTS: [u32; 5] = [3, 6, 16, 64, 180];
/// Runs over each set of rays, of which the fastest counts.
const RUNS: usize = 5;

/// Measures `side`² rays in one thread, for meshes of at most so many triangles, and prints a table
/// unless `quiet`.
///
/// # Errors
/// When a BVH cannot be built.
pub fn against_triangles(side: usize, most: Option<usize>, quiet: bool) -> anyhow::Result<Value> {
    if !quiet {
        println!("{INSTANCES} instances against their triangles in one BVH, one thread");
        println!(
            "{:>9} {:<8} {:>12} {:>12} {:>6} {:>10} {:>10}",
            "triangles", "rays", "flat Mrays/s", "instances", "ratio", "flat MiB", "instances"
        );
    }
    let meshes = SEGMENTS.iter().map(|&segments| sphere(segments)).filter(|mesh| most.is_none_or(|n| mesh.len() <= n));
    let rows = meshes.map(|mesh| size(mesh, side, quiet)).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({ "instances": INSTANCES, "meshes": rows }))
}

/// One mesh with all its instances.
fn size(mesh: Vec<Triangle>, side: usize, quiet: bool) -> anyhow::Result<Value> {
    let placements: Vec<Placement> = (0..INSTANCES).map(placement).collect();
    let moved = |p: &Placement| {
        let m = p.object_to_world;
        mesh.iter()
            .map(move |t| Triangle::new(m.transform_point3(t.a), m.transform_point3(t.b), m.transform_point3(t.c)))
    };
    let written_out: Vec<Triangle> = placements.iter().flat_map(moved).collect();
    let options = BuildOptions::default();
    let failed = |e: shadewright::bvh::TwoLevelError| anyhow!("{e}");
    let flat = TwoLevel::build(&written_out, &[], &[], &options).map_err(failed)?;
    let placed = TwoLevel::build(&[], std::slice::from_ref(&mesh), &placements, &options).map_err(failed)?;
    let mib = |tree: &TwoLevel| tree.bytes() as f64 / f64::from(1 << 20);
    let mut rates = serde_json::Map::new();
    for set in ray_sets(flat.plain(), View::Outside, side) {
        let rays = batches(&set.rays);
        let mut best = [f64::INFINITY; 2];
        for _ in 0..RUNS {
            for (tree, best) in [&flat, &placed].into_iter().zip(&mut best) {
                *best = best.min(time(tree, &set, &rays));
            }
        }
        let [of_flat, of_placed] = best.map(|seconds| set.rays.len() as f64 / 1e6 / seconds);
        if !quiet {
            println!(
                "{:>9} {:<8} {of_flat:>12.2} {of_placed:>12.2} {:>6.2} {:>10.2} {:>10.2}",
                mesh.len(),
                set.name,
                of_placed / of_flat,
                mib(&flat),
                mib(&placed)
            );
        }
        rates.insert(set.name, json!({ "flat": rounded(of_flat), "instances": rounded(of_placed) }));
    }
    Ok(json!({
        "triangles": mesh.len(),
        "mrays_per_s": rates,
        "flat_mib": rounded(mib(&flat)),
        "instances_mib": rounded(mib(&placed)),
    }))
}

/// Seconds that a set of rays takes.
fn time(tree: &TwoLevel, set: &RaySet, rays: &[RayBatch]) -> f64 {
    let mut hits = HitBatch::default();
    let start = Instant::now();
    for batch in rays {
        if set.any {
            black_box(tree.any_hits(batch));
        } else {
            tree.closest_hits(batch, &mut hits);
            black_box(&hits);
        }
    }
    start.elapsed().as_secs_f64()
}

fn sphere(segments: u32) -> Vec<Triangle> {
    let quadric = Quadric::Sphere { radius: 1.0, z_min: -1.0, z_max: 1.0, theta_max: 360.0 };
    let mesh = assemble(quadric.tessellate(segments), DEFAULT_CREASE_ANGLE).mesh;
    let corners = (0..mesh.triangles.len()).map(|i| mesh.corners(i));
    corners.map(|[a, b, c]| Triangle::new(a, b, c)).collect()
}

/// A position in a cube (additive recurrence of the plastic number, in three dimensions), with a
/// rotation and a scale.
fn placement(number: u32) -> Placement {
    let place = Vec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5) * number as f32;
    let turn = Mat4::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), number as f32);
    let scale = Mat4::from_scale(Vec3::new(1.0, 0.7, 0.5) * (0.3 + 0.5 * place.x.fract()));
    let side = 2.0 * (INSTANCES as f32).cbrt();
    Placement { mesh: 0, object_to_world: Mat4::from_translation(place.fract() * side) * turn * scale }
}
