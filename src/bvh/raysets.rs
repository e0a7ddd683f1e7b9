//! Sets of rays to measure traversal with, made for a tree: primary, ambient occlusion, diffuse
//! bounce; and their files.
//!
//! The sets are those that are usual in the literature (Aila & Laine 2009): what a camera shoots,
//! and what is shot from the places that it sees. A set depends on the triangles, the view and the
//! size alone. Rays stand in the order of the pixels in tiles of 8 × 8, in Morton order within a
//! tile, so that any few neighbors are near each other in the image.
//!
//! In files a ray is eight little-endian `f32`, `ox oy oz tmin dx dy dz tmax`, and an answer is `t
//! u v` as `f32` and the primitive as `u32` ([`NO_PRIM`] for a miss), so that other tracers can be
//! run on the same rays.

use super::ray::{BATCH, Hit, NO_PRIM, Ray, RayBatch};
use super::tree::Bvh;
use glam::Vec3;
use shadewright_base::named::{Named, Row};
use std::f32::consts::TAU;

/// Where the camera of the primary rays is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// In front of the mesh, on its +z side, at a bit more than its diagonal, looking at its
    /// middle.
    #[default]
    Outside,
    /// In the mesh, near one end of the longer horizontal side of its box, looking along it: for
    /// rooms.
    Inside,
}

impl Named for View {
    const TABLE: &'static [Row<Self>] = &[
        ("outside", "In front of the mesh", Self::Outside),
        ("inside", "Inside the mesh, looking along its longer side", Self::Inside),
    ];
}

/// Rays that are measured together.
#[derive(Clone, Debug, PartialEq)]
pub struct RaySet {
    /// The kind of the rays: `primary`, `ao`, `diffuse`, or a file's name.
    pub name: String,
    /// True if any hit will do.
    pub any: bool,
    /// The rays.
    pub rays: Vec<Ray>,
}

/// Tiles are this wide and high.
const TILE: usize = 8;
/// Length of ambient-occlusion rays, as a part of the box's diagonal.
const AO_REACH: f32 = 0.1;
/// How far from the surface secondary rays start, as a part of the box's diagonal.
const OFFSET: f32 = 1e-5;

/// The three sets: `size` × `size` primary rays (rounded up to whole tiles), and from each of their
/// hits one ambient-occlusion ray and one diffuse bounce, both cosine-distributed.
pub fn ray_sets(bvh: &Bvh, view: View, size: usize) -> [RaySet; 3] {
    let primary = primary_rays(bvh, view, size.max(1));
    let diagonal = bvh.bounds().map_or(0.0, |(low, high)| (high - low).length());
    let diffuse = bounce_rays(bvh, &primary, diagonal * OFFSET);
    let ao = diffuse.iter().map(|ray| Ray { t_max: diagonal * AO_REACH, ..*ray }).collect();
    let set = |name: &str, any, rays| RaySet { name: name.to_string(), any, rays };
    [set("primary", false, primary), set("ao", true, ao), set("diffuse", false, diffuse)]
}

/// The rays in batches, in order; the last may have inactive ones.
pub fn batches(rays: &[Ray]) -> Vec<RayBatch> {
    let batch = |rays: &[Ray]| {
        let mut batch = RayBatch::default();
        rays.iter().enumerate().for_each(|(i, ray)| batch.set(i, ray));
        batch
    };
    rays.chunks(BATCH).map(batch).collect()
}

/// A set's file.
pub fn encode_rays(rays: &[Ray]) -> Vec<u8> {
    let words = |r: &Ray| {
        let ([ox, oy, oz], [dx, dy, dz]) = (r.origin.to_array(), r.dir.to_array());
        [ox, oy, oz, r.t_min, dx, dy, dz, r.t_max]
    };
    rays.iter().flat_map(words).flat_map(f32::to_le_bytes).collect()
}

/// The rays of a set's file, or `None` where its length is not that of whole rays.
pub fn decode_rays(bytes: &[u8]) -> Option<Vec<Ray>> {
    let (rays, []) = bytes.as_chunks::<32>() else { return None };
    let decode = |bytes: &[u8; 32]| {
        let (words, _) = bytes.as_chunks::<4>();
        let at = |i: usize| f32::from_le_bytes(words[i]);
        let vector = |i: usize| Vec3::new(at(i), at(i + 1), at(i + 2));
        Ray { origin: vector(0), t_min: at(3), dir: vector(4), t_max: at(7) }
    };
    Some(rays.iter().map(decode).collect())
}

/// The file of a set's answers.
pub fn encode_hits(hits: impl IntoIterator<Item = Option<Hit>>) -> Vec<u8> {
    let miss = Hit { t: -1.0, u: 0.0, v: 0.0, prim: NO_PRIM };
    let bytes = |hit: Option<Hit>| {
        let Hit { t, u, v, prim } = hit.unwrap_or(miss);
        [t.to_le_bytes(), u.to_le_bytes(), v.to_le_bytes(), prim.to_le_bytes()].concat()
    };
    hits.into_iter().flat_map(bytes).collect()
}

/// Column and row of the `i`th pixel (below 64) of a tile of a power of two a side, in Morton
/// order: any 4, 16 or 64 consecutive ones are a square, as packets like them.
pub fn place_in_tile(i: usize) -> [usize; 2] {
    let every_other = |i: usize| (i & 1) | (i >> 1 & 2) | (i >> 2 & 4);
    [every_other(i), every_other(i >> 1)]
}

fn primary_rays(bvh: &Bvh, view: View, size: usize) -> Vec<Ray> {
    let (low, high) = bvh.bounds().unwrap_or_default();
    let (middle, sides) = ((low + high) * 0.5, high - low);
    let (eye, target, half_angle) = match view {
        View::Outside => (middle + Vec3::new(0.15, 0.225, 1.125) * sides.length(), middle, 20f32),
        View::Inside => {
            let along = if sides.x >= sides.z { Vec3::X } else { Vec3::Z } * sides;
            let eye = middle - along * 0.35 - Vec3::Y * sides * 0.2;
            (eye, middle + along * 0.1 - Vec3::Y * sides * 0.1, 35f32)
        }
    };
    let forward = (target - eye).normalize_or(Vec3::NEG_Z);
    let right = forward.cross(Vec3::Y).normalize_or(Vec3::X);
    let up = right.cross(forward);
    let half_width = half_angle.to_radians().tan();
    let tiles = size.div_ceil(TILE);
    let ray = |tile: usize, i: usize| {
        let [column, row] = place_in_tile(i);
        let place =
            |tile: usize, within: usize| ((tile * TILE + within) as f32 + 0.5) / (tiles * TILE) as f32 * 2.0 - 1.0;
        let (x, y) = (place(tile % tiles, column), place(tile / tiles, row));
        Ray::new(eye, (forward + (right * x - up * y) * half_width).normalize())
    };
    (0..tiles * tiles).flat_map(|tile| (0..TILE * TILE).map(move |i| (tile, i))).map(|(tile, i)| ray(tile, i)).collect()
}

/// One bounce from every hit, by Malley's method (Pharr, Jakob & Humphreys, "Physically Based
/// Rendering", §A.5.3) on additive recurrences.
fn bounce_rays(bvh: &Bvh, rays: &[Ray], offset: f32) -> Vec<Ray> {
    let mut normals = vec![Vec3::ZERO; bvh.triangles().iter().map(|t| t.prim as usize + 1).max().unwrap_or(0)];
    for t in bvh.triangles() {
        let [a, b, c] = [t.a, t.b, t.c].map(Vec3::from);
        normals[t.prim as usize] = (b - a).cross(c - a).normalize_or_zero();
    }
    let hits = rays.iter().filter_map(|ray| bvh.closest_hit(ray).map(|hit| (ray, hit)));
    let bounce = |(i, (ray, hit)): (usize, (&Ray, Hit))| {
        let normal = normals[hit.prim as usize];
        let normal = if normal.dot(ray.dir) > 0.0 { -normal } else { normal };
        // The fractions of n/ρ and n/ρ², where ρ³ = ρ + 1 (Roberts 2018).
        let [a, b] =
            [0.754_877_666_246_692_8, 0.569_840_290_998_053_2].map(|step: f64| (i as f64 * step).fract() as f32);
        let (sin, cos) = (a * TAU).sin_cos();
        let tangent = normal.any_orthonormal_vector();
        let disk = (tangent * cos + normal.cross(tangent) * sin) * b.sqrt();
        Ray::new(ray.origin + ray.dir * hit.t + normal * offset, (disk + normal * (1.0 - b).sqrt()).normalize())
    };
    hits.enumerate().map(bounce).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{BuildOptions, Triangle};
    use super::*;

    fn square() -> Bvh {
        let (a, b, c, d) = (Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y);
        let square = [Triangle::new(a, b, c), Triangle::new(b, d, c)];
        Bvh::build(&square, &BuildOptions::default()).expect("small")
    }

    #[test]
    fn every_hit_of_a_primary_ray_gives_one_ray_of_each_other_set() {
        let bvh = square();
        let [primary, ao, diffuse] = ray_sets(&bvh, View::Outside, 20);
        let hits = primary.rays.iter().filter(|ray| bvh.any_hit(ray)).count();
        assert_eq!(primary.rays.len(), 24 * 24);
        assert!(hits > 50 && hits < primary.rays.len());
        assert_eq!((ao.rays.len(), diffuse.rays.len()), (hits, hits));
        assert!(ao.any && !primary.any && !diffuse.any);
        // A flat square is not seen from itself.
        assert!(diffuse.rays.iter().all(|ray| !bvh.any_hit(ray)));
    }

    #[test]
    fn the_camera_inside_sees_the_room() {
        let corner = |i: u32| Vec3::new((i & 1) as f32 * 4.0, (i >> 1 & 1) as f32 * 2.0, (i >> 2) as f32);
        let faces = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
        let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]].map(|t| t.map(corner));
        let room: Vec<_> = faces.into_iter().flat_map(halves).map(|[a, b, c]| Triangle::new(a, b, c)).collect();
        let bvh = Bvh::build(&room, &BuildOptions::default()).expect("small");
        let [primary, ..] = ray_sets(&bvh, View::Inside, 16);
        assert!(primary.rays.iter().all(|ray| bvh.any_hit(ray)));
    }

    #[test]
    fn morton_order_visits_every_place_of_a_tile_once() {
        let mut places: Vec<_> = (0..64).map(place_in_tile).collect();
        assert_eq!(places[..5], [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0]]);
        places.sort_unstable();
        places.dedup();
        assert_eq!((places.len(), places[63]), (64, [7, 7]));
    }

    #[test]
    fn rays_come_back_from_their_file() {
        let [primary, ..] = ray_sets(&square(), View::Outside, 8);
        let bytes = encode_rays(&primary.rays);
        assert_eq!(bytes.len(), 64 * 32);
        assert_eq!(decode_rays(&bytes), Some(primary.rays));
        assert_eq!(decode_rays(&bytes[..33]), None);
        assert_eq!(decode_rays(&[]), Some(Vec::new()));
    }

    #[test]
    fn answers_are_four_words_each() {
        let hit = Hit { t: 2.0, u: 0.25, v: 0.5, prim: 7 };
        let bytes = encode_hits([Some(hit), None]);
        assert_eq!(bytes[..4], 2f32.to_le_bytes());
        assert_eq!(bytes[12..16], 7u32.to_le_bytes());
        assert_eq!((bytes.len(), &bytes[28..]), (32, &[0xff; 4][..]));
    }

    #[test]
    fn an_empty_tree_has_primary_rays_only() {
        let bvh = Bvh::build(&[], &BuildOptions::default()).expect("small");
        let [primary, ao, diffuse] = ray_sets(&bvh, View::Inside, 8);
        assert_eq!([primary.rays.len(), ao.rays.len(), diffuse.rays.len()], [64, 0, 0]);
    }
}
