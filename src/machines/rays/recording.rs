//! Renders a scene through the intersector of a hardware model, and records the rays.
//!
//! The scene's shaders run on the RPU, sample by sample; each `trace` goes to a [`Finder`], which is
//! the hardware's way to find a hit. The result is the image that the hardware makes, and for each
//! sample its rays in the order in which its shaders ask for them, each with the work that it was.
//! The timing model of the hardware replays that. What a shader computes does not depend on when a
//! hit arrives, so the replay needs no shaders.

use super::model::Model;
use super::ray::{ModelHit, RayKind, Request};
use super::surfaces::Slots;
use glam::Vec2;
use shadewright_bvh::ray::{Hit, lanes};
use shadewright_image::Image;
use shadewright_render::adaptive::AdaptiveSampler;
use shadewright_render::rpu::Loaded;
use shadewright_render::rpu::traced::{BlockTracer, SampleNumber, Samples, colors_traced, draw_traced};
use shadewright_render::{Job, Progress, RenderError};
use shadewright_rpu::BLOCK;
use shadewright_rpu::tracing::{HitBlock, RayBlock};
use std::array;
use std::sync::{Mutex, PoisonError};

/// Most bytes of recorded rays.
const MOST_BYTES: u64 = 4 << 30;

/// The work of finding a ray's hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Cells of a grid or an octree that the ray entered.
    pub cells: u32,
    /// Entered cells that have polygons.
    pub occupied: u32,
    /// How often what follows depends on tests that are under way: after cells and after boxes.
    pub waits: u32,
    /// Bounding boxes that were tested.
    pub boxes: u32,
    /// Polygons that were tested.
    pub tests: u32,
    /// Intersector slots that tests of other primitives took.
    pub slots: Slots,
    /// Tests that found a nearer hit.
    pub updates: u32,
    /// Parameters of primitives that were fetched, in words of 32 bits.
    pub words: u32,
}

impl Work {
    /// Adds the test of a primitive of a model.
    pub fn test(&mut self, model: &Model, index: u32) {
        self.words += model.words(index);
        match model.surface(index) {
            None => self.tests += 1,
            Some(surface) => self.slots = self.slots.plus(surface.slots()),
        }
    }
}

/// The way in which hardware finds the hit of a ray among the polygons of its model.
pub trait Finder: Sync {
    /// The nearest hit, of equal distances that of the lower polygon; or any hit, for a ray that
    /// asks for that.
    fn find(&self, request: &Request) -> (Option<ModelHit>, Work);
}

/// A ray that was traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traced {
    /// The ray.
    pub request: Request,
    /// The hit, if there is one.
    pub hit: Option<ModelHit>,
    /// The work of finding the hit.
    pub work: Work,
}

/// The rays of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleRays {
    /// The sample.
    pub sample: SampleNumber,
    /// Index of its first ray.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

/// Sums over the rays of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Vision rays: the first of each sample.
    pub vision: u64,
    /// Shadow rays.
    pub shadow: u64,
    /// Reflection, refraction and other rays.
    pub secondary: u64,
    /// Rays that hit.
    pub hits: u64,
    /// Cells that rays entered.
    pub cells: u64,
    /// Entered cells that have polygons.
    pub occupied: u64,
    /// How often what follows depends on tests that are under way.
    pub waits: u64,
    /// Boxes that were tested.
    pub boxes: u64,
    /// Polygons that were tested.
    pub tests: u64,
    /// Quadrics that were tested.
    pub quadrics: u64,
    /// Edges of general polygons that were tested.
    pub edges: u64,
    /// Tests that found a nearer hit.
    pub updates: u64,
    /// Words of primitives' parameters.
    pub words: u64,
}

impl Totals {
    /// All rays.
    pub fn rays(&self) -> u64 {
        self.vision + self.shadow + self.secondary
    }

    /// Slots of all intersectors: tests of polygons, quadrics, and edges.
    pub fn slots(&self) -> u64 {
        self.tests + self.quadrics + self.edges
    }

    /// Shadow rays for each ray that is shaded: for how many lights the lighting model is computed.
    pub fn lights(&self) -> f64 {
        self.shadow as f64 / (self.vision + self.secondary).max(1) as f64
    }
}

/// A render through a hardware model.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The image.
    pub image: Image,
    /// The samples, in the order in which the host starts them: tile by tile.
    pub samples: Vec<SampleRays>,
    /// The rays, sample by sample.
    pub rays: Vec<Traced>,
}

impl Recording {
    /// The rays of a sample, in the order of its shaders.
    pub fn get(&self, sample: &SampleRays) -> &[Traced] {
        &self.rays[sample.first as usize..][..sample.count as usize]
    }

    /// Sums over all rays.
    pub fn totals(&self) -> Totals {
        let mut sums = Totals::default();
        for sample in &self.samples {
            for (number, ray) in self.get(sample).iter().enumerate() {
                match (ray.request.kind, number) {
                    (RayKind::Any, _) => sums.shadow += 1,
                    (RayKind::Nearest, 0) => sums.vision += 1,
                    (RayKind::Nearest, _) => sums.secondary += 1,
                }
                sums.hits += u64::from(ray.hit.is_some());
                sums.cells += u64::from(ray.work.cells);
                sums.occupied += u64::from(ray.work.occupied);
                sums.waits += u64::from(ray.work.waits);
                sums.boxes += u64::from(ray.work.boxes);
                sums.tests += u64::from(ray.work.tests);
                sums.quadrics += u64::from(ray.work.slots.quadrics);
                sums.edges += u64::from(ray.work.slots.edges);
                sums.updates += u64::from(ray.work.updates);
                sums.words += u64::from(ray.work.words);
            }
        }
        sums
    }
}

/// The subject of a rendering: a job, its program and its scene.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The job.
    pub job: &'a Job,
    /// The program of the job.
    pub loaded: &'a Loaded,
    /// The scene in the form of the hardware model.
    pub model: &'a Model,
    /// Chooses the samples; `None` for those of the job.
    pub sampler: Option<&'a AdaptiveSampler>,
}

/// Renders with the intersector of a hardware model.
///
/// # Errors
/// As rendering; when the rays take more than 4 GiB.
pub fn record(subject: &Subject<'_>, finder: &impl Finder, progress: Progress<'_>) -> Result<Recording, RenderError> {
    let Subject { loaded, model, sampler, .. } = *subject;
    let job = &model.rest_of(subject.job);
    let (mut samples, mut rays) = (Vec::new(), Vec::new());
    let make = |_: &_| Recorder { finder, model, rays: Mutex::new(array::from_fn(|_| Vec::new())) };
    let mut done = |numbers: &[Option<SampleNumber>; BLOCK], recorder: Recorder<'_, _>| {
        let lanes = recorder.rays.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (sample, traced) in numbers.iter().zip(&lanes) {
            let Some(sample) = *sample else { continue };
            samples.push(SampleRays { sample, first: rays.len() as u32, count: traced.len() as u32 });
            rays.extend_from_slice(traced);
        }
        let needed = (rays.len() * size_of::<Traced>()) as u64;
        match needed > MOST_BYTES {
            true => Err(RenderError::TooLarge { what: "the recording of the rays", needed, limit: MOST_BYTES }),
            false => Ok(()),
        }
    };
    let image = match sampler {
        None => draw_traced(job, loaded, &make, done, progress)?,
        Some(sampler) => {
            let mut first = 0;
            let mut colors = |positions: &[Vec2]| {
                let colors = colors_traced(job, loaded, positions, first, &make, &mut done)?;
                first += positions.len() as u32;
                Ok(colors)
            };
            let (film, _) = sampler.film(&mut colors, progress)?;
            Samples::new(job).develop(&film, loaded)?
        }
    };
    Ok(Recording { image, samples, rays })
}

/// The tracer of a block, which records.
struct Recorder<'a, F> {
    finder: &'a F,
    model: &'a Model,
    /// The rays of each lane. The hardware calls from one thread at a time.
    rays: Mutex<[Vec<Traced>; BLOCK]>,
}

impl<F: Finder> BlockTracer for Recorder<'_, F> {
    fn trace(&self, block: &RayBlock, hits: &mut HitBlock) {
        let mut rays = self.rays.lock().unwrap_or_else(PoisonError::into_inner);
        for lane in lanes(block.rays.active) {
            let ray = block.rays.ray(lane);
            let kind = if block.any >> lane & 1 != 0 { RayKind::Any } else { RayKind::Nearest };
            let (request, start) = request(&ray, kind);
            let (hit, work) = self.finder.find(&request);
            match (hit, kind) {
                (None, _) => {}
                (Some(_), RayKind::Any) => hits.found.t[lane] = 0.0,
                (Some(found), RayKind::Nearest) => {
                    let at = self.model.resolve(&found);
                    let t = found.t + start;
                    hits.found.set(lane, Some(Hit { t, u: at.u, v: at.v, prim: at.primitive }));
                }
            }
            rays[lane].push(Traced { request, hit, work });
        }
    }
}

/// By how much farther than `t_min` a ray starts, as a share of the coordinates there and of the
/// distance: the hardware's arithmetic is not the shaders', and a ray that continues after a
/// surface would hit it again. With a quarter of it one in a gallery scene does (`bubble.rib`,
/// 32×24 pixels).
const BEHIND: f32 = 1.0 / 65536.0;

/// The ray that a host sends for one of the renderer's, and the distance at which it starts. The
/// hardware has no lower bound on the distance, so the host moves the origin along the ray.
pub fn request(ray: &shadewright_bvh::Ray, kind: RayKind) -> (Request, f32) {
    let at = ray.origin + ray.dir * ray.t_min;
    let size = (at.abs().max_element() / ray.dir.length()).max(ray.t_min);
    let behind = if ray.t_min > 0.0 { BEHIND * size } else { 0.0 };
    let start = ray.t_min + behind;
    let limit = if ray.t_max >= f32::MAX { f32::INFINITY } else { ray.t_max - start };
    (Request { origin: ray.origin + ray.dir * start, direction: ray.dir, limit, kind }, start)
}
