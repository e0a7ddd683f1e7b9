//! The colors that a scene's shaders give at places on its polygons.
//!
//! The host runs the renderer's program once for each place: the camera's ray goes through the
//! place's projection, and finds that place and nothing in front of it. Rays that the shaders trace
//! from there meet the whole scene.

use super::model::View;
use glam::{Vec2, Vec3};
use shadewright_bvh::ray::{Hit, lanes};
use shadewright_program::Program;
use shadewright_render::rpu::Loaded;
use shadewright_render::rpu::traced::{BlockTracer, SampleNumber, colors_traced};
use shadewright_render::{Job, RenderError};
use shadewright_rpu::BLOCK;
use shadewright_rpu::tracing::{HitBlock, RayBlock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Places whose colors are computed at once: 24 MiB of them.
const AT_ONCE: usize = 1 << 20;

/// A place on a polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// The primitive number of a triangle.
    pub primitive: u32,
    /// Weights of the triangle's second and third vertex.
    pub weights: Vec2,
    /// The point in world space.
    pub point: Vec3,
}

/// The linear colors at the corners of polygons. Places behind the eye are black.
///
/// # Errors
/// As rendering.
pub fn colors(
    job: &Job,
    loaded: &Loaded,
    view: &View,
    places: &[[Option<SurfacePoint>; 4]],
) -> Result<Vec<[Vec3; 4]>, RenderError> {
    // Procedural primitives are not in the image, and do not hide anything there.
    let primitives = Arc::new(job.program.primitives.only(|_| false));
    let job = &Job { program: Program { primitives, ..job.program.clone() }, ..job.clone() };
    let mut found = vec![[Vec3::ZERO; 4]; places.len()];
    for (colors, places) in found.chunks_mut(AT_ONCE / 4).zip(places.chunks(AT_ONCE / 4)) {
        let mut wanted: Vec<(usize, usize, SurfacePoint, Vec2)> = Vec::new();
        for (polygon, corners) in places.iter().enumerate() {
            for (corner, place) in corners.iter().enumerate() {
                let Some(place) = *place else { continue };
                // Flat polygons have one place.
                if corner > 0 && corners[0] == Some(place) {
                    continue;
                }
                wanted.extend(view.raster(place.point).map(|raster| (polygon, corner, place, raster)));
            }
        }
        let rasters: Vec<Vec2> = wanted.iter().map(|&(.., raster)| raster).collect();
        let make = |samples: &[Option<SampleNumber>; BLOCK]| {
            let place =
                |sample: Option<SampleNumber>| wanted.get(sample?.index as usize).map(|&(_, _, place, _)| place);
            Corner { job, places: samples.map(place), unseen: AtomicU64::new(u64::MAX) }
        };
        let values = colors_traced(job, loaded, &rasters, 0, &make, |_, _| Ok(()))?;
        for (&(polygon, corner, ..), value) in wanted.iter().zip(values) {
            // Of a transparent surface, the color that it has by itself.
            let [red, green, blue, alpha] = value;
            let alpha = if alpha > 0.0 { alpha.min(1.0) } else { 1.0 };
            colors[polygon][corner] = Vec3::new(red, green, blue) / alpha;
        }
        for (colors, corners) in colors.iter_mut().zip(places) {
            for corner in 1..4 {
                if corners[corner] == corners[0] {
                    colors[corner] = colors[0];
                }
            }
        }
    }
    Ok(found)
}

impl View {
    /// The position of a point in pixels from the image's upper left corner; `None` behind the eye.
    pub fn raster(&self, point: Vec3) -> Option<Vec2> {
        let clip = self.transform(point);
        let [width, height] = self.size.map(|size| size as f32);
        let place = Vec2::new(0.5 * (clip.x / clip.w + 1.0) * width, 0.5 * (1.0 - clip.y / clip.w) * height);
        (clip.w > 0.0 && place.is_finite()).then_some(place)
    }
}

/// The tracer of a block of places.
struct Corner<'a> {
    job: &'a Job,
    places: [Option<SurfacePoint>; BLOCK],
    /// Lanes whose camera ray is still to come.
    unseen: AtomicU64,
}

impl BlockTracer for Corner<'_> {
    fn trace(&self, block: &RayBlock, hits: &mut HitBlock) {
        let nearest = block.rays.active & !block.any;
        let first = nearest & self.unseen.fetch_and(!nearest, Ordering::Relaxed);
        let mut rays = block.rays.clone();
        rays.active = nearest & !first;
        if rays.active != 0 {
            self.job.bvh.closest_hits(&rays, &mut hits.found);
        }
        rays.active = block.rays.active & block.any;
        if rays.active != 0 {
            for lane in lanes(self.job.bvh.any_hits(&rays) & rays.active) {
                hits.found.t[lane] = 0.0;
            }
        }
        for lane in lanes(first) {
            let ray = block.rays.ray(lane);
            let hit = |place: SurfacePoint| {
                let t = (place.point - ray.origin).dot(ray.dir) / ray.dir.length_squared();
                Hit { t: t.max(0.0), u: place.weights.x, v: place.weights.y, prim: place.primitive }
            };
            hits.found.set(lane, self.places[lane].map(hit));
        }
    }
}
