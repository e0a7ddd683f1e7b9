//! From the samples of an image to their rays, and from the rays of a level to those of the next.

use super::asking::{Asked, Purpose};
use super::exploring::{Affine, Affinity, AtHit, Call, Explorer, Term};
use super::lookups::Lookup;
use super::probe::{Called, Probe, Transmission, surface_arguments};
use super::{MOST_BYTES, NO_RAY, Ray, RayPurpose, RayTree, Sample, Settings};
use crate::rays::model::Resolved;
use crate::rays::ray::{ModelHit, RayKind, Request};
use crate::rays::recording::{Finder, request};
use glam::Vec3;
use rayon::prelude::*;
use shadewright_generators::transport::MATTE;
use shadewright_render::rpu::SceneTracer;
use shadewright_render::rpu::traced::Samples;
use shadewright_render::{Job, Progress, RenderError};
use std::array;
use std::sync::atomic::AtomicBool;

/// A transmittance that counts as 0, and the most surfaces that a ray passes: those of the
/// integrator (`generators::transport`).
const OPAQUE: f32 = 0.001;
const MAX_LAYERS: u32 = 64;
/// Rays whose hits are shaded together, and blocks of samples that start together.
const AT_ONCE: usize = 1024;
const BLOCKS_AT_ONCE: usize = 16;

/// The state of a ray until its level is done.
#[derive(Clone, Debug)]
struct Open {
    /// Where it starts as the shader sent it, however many surfaces it has passed.
    origin: Vec3,
    /// The distance from there at which `request` starts, and where the ray ends.
    range: [f32; 2],
    /// The depth, the cone and the kind that the ray was sent with.
    called: Called,
    /// The share that is left of the ray after the surfaces that it has passed.
    throughput: [f32; 3],
    /// How many there are.
    layers: u32,
    /// The result if it had passed none and hit nothing.
    background: [f32; 4],
    /// By how much the share of the pixel that it covers counts as alpha.
    coverage: f32,
}

/// A ray that is to be made.
type Child = (Ray, Open);

/// The end of a ray, and what follows from it.
#[derive(Default)]
struct Outcome {
    direct: [f32; 4],
    children: Vec<Child>,
    lookups: Vec<Lookup>,
    queries: u64,
    /// Of the surface, if one was hit.
    affinity: Option<Affinity>,
}

/// Makes the tree of a job. `finder` finds the hits on all primitives, and `resolve` gives that of
/// the scene which a hit lies on. The result does not depend on the number of threads.
///
/// # Errors
/// As rendering; for programs that trace paths; when the rays take more than 4 GiB.
pub fn grow(
    job: &Job,
    finder: &impl Finder,
    resolve: &(dyn Fn(&ModelHit) -> Resolved + Sync),
    settings: Settings,
    progress: Progress<'_>,
) -> Result<RayTree, RenderError> {
    let probe = Probe::new(job)?;
    let stop = AtomicBool::new(false);
    let data = probe.loaded.data(&probe.vectors);
    let scene = SceneTracer::for_job(job, &probe.loaded, &data, &stop)?;
    let explorer = Explorer { job, probe: &probe, scene: &scene, data: &data, finder, stop: &stop };
    let grower = Grower { explorer, resolve, settings };
    let mut tree = RayTree::default();
    let mut open = grower.start(&mut tree)?;
    // Most of the work is that of the first levels.
    let mut left = 1.0;
    while !open.is_empty() {
        tree.levels.push((tree.rays.len() - open.len()) as u32);
        open = grower.level(&mut tree, &open, |part| progress(1.0 - left + 0.5 * left * part))?;
        left *= 0.5;
    }
    tree.levels.push(tree.rays.len() as u32);
    progress(1.0);
    Ok(tree)
}

struct Grower<'a, F> {
    explorer: Explorer<'a, F>,
    resolve: &'a (dyn Fn(&ModelHit) -> Resolved + Sync),
    settings: Settings,
}

impl<F: Finder> Grower<'_, F> {
    /// The camera rays.
    fn start(&self, tree: &mut RayTree) -> Result<Vec<Open>, RenderError> {
        let samples = Samples::new(self.explorer.job);
        let mut open = Vec::new();
        let numbers: Vec<usize> = (0..samples.blocks()).collect();
        for numbers in numbers.chunks(BLOCKS_AT_ONCE) {
            let (mut calls, mut of_calls) = (Vec::new(), Vec::new());
            for &number in numbers {
                let block = samples.block(number);
                for (lane, sample) in block.samples.iter().enumerate() {
                    let Some(sample) = *sample else { continue };
                    let word = |i: usize| block.inputs.get(i).map_or(0, |row| row[lane]);
                    let hit = AtHit { uvt: [0.0, 0.0, -1.0], records: [0; 2] };
                    calls.push(Call { entry: None, words: array::from_fn(word), hit });
                    of_calls.push(sample);
                }
            }
            for (number, affine) in of_calls.into_iter().zip(self.explorer.explore(&calls)?) {
                let sample = tree.samples.len() as u32;
                let [color, [alpha, ..]] = affine.dark;
                tree.totals.count(affine.affinity);
                tree.totals.queries += affine.queries;
                let root = if affine.terms.is_empty() { NO_RAY } else { tree.rays.len() as u32 };
                // Nothing is seen through the probe: the ray covers all of its share.
                let alpha_without = if root == NO_RAY { alpha } else { 0.0 };
                tree.samples.push(Sample { number, root, direct: with_alpha(color, alpha_without) });
                for term in &affine.terms {
                    let [background, [covered, ..]] = term.background;
                    let from = Ray { sample, ..sample_ray() };
                    let (ray, mut child) = self.child(&from, NO_RAY, [1.0; 3], term);
                    child.background = with_alpha(background, covered);
                    child.coverage = alpha;
                    self.keep(tree, &mut open, (ray, child))?;
                }
            }
        }
        Ok(open)
    }

    /// The next level. `open` are those of the last rays of the tree.
    fn level(&self, tree: &mut RayTree, open: &[Open], progress: impl Fn(f32)) -> Result<Vec<Open>, RenderError> {
        let (mut next, mut first) = (Vec::new(), tree.rays.len() - open.len());
        let mut done = 0;
        for open_now in open.chunks(AT_ONCE) {
            let outcomes = self.outcomes(&tree.rays, first, open_now)?;
            for (number, outcome) in (first..).zip(outcomes) {
                let totals = &mut tree.totals;
                totals.queries += outcome.queries;
                totals.shaded += u64::from(outcome.affinity.is_some());
                outcome.affinity.iter().for_each(|&affinity| totals.count(affinity));
                totals.results += u64::from(outcome.direct[..3].iter().any(|&x| x != 0.0));
                tree.rays[number].direct = outcome.direct;
                let start = tree.lookups.len() as u32;
                tree.lookups.extend(outcome.lookups);
                tree.rays[number].lookups = start..tree.lookups.len() as u32;
                let start = tree.rays.len() as u32;
                for child in outcome.children {
                    self.keep(tree, &mut next, child)?;
                }
                tree.rays[number].children = start..tree.rays.len() as u32;
            }
            first += open_now.len();
            done += open_now.len();
            progress(done as f32 / open.len() as f32);
        }
        Ok(next)
    }

    /// Adds a ray to the tree, unless it is too dark.
    fn keep(&self, tree: &mut RayTree, open: &mut Vec<Open>, (ray, state): Child) -> Result<(), RenderError> {
        let brightest = ray.color.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        let is_root = ray.parent == NO_RAY;
        if !is_root && brightest <= self.settings.threshold {
            tree.totals.dark += 1;
            tree.totals.lost.iter_mut().zip(ray.color).for_each(|(sum, x)| *sum += f64::from(x.abs()));
            return Ok(());
        }
        match ray.kind {
            RayPurpose::Vision => tree.totals.vision += 1,
            RayPurpose::Through => tree.totals.through += 1,
            RayPurpose::Shadow => tree.totals.shadow += 1,
        }
        tree.rays.push(ray);
        open.push(state);
        let needed = tree.rays.len() * size_of::<Ray>() + tree.lookups.len() * size_of::<Lookup>();
        let needed = (needed + open.len() * size_of::<Open>()) as u64;
        match needed > MOST_BYTES {
            true => Err(RenderError::TooLarge { what: "the tree of rays", needed, limit: MOST_BYTES }),
            false => Ok(()),
        }
    }

    /// The ends of the rays from `first` on.
    fn outcomes(&self, rays: &[Ray], first: usize, open: &[Open]) -> Result<Vec<Outcome>, RenderError> {
        let (mut vision, mut shadow) = (Vec::new(), Vec::new());
        // Which of the calls each ray has, if it has one.
        let place = |(number, state): (usize, &Open)| {
            let ray = &rays[number];
            let found = ray.hit?;
            let call = self.call(ray, state, &found);
            let calls = match ray.kind {
                RayPurpose::Vision | RayPurpose::Through => &mut vision,
                RayPurpose::Shadow if self.transmission(ray, state, &call) == Transmission::Shaded => &mut shadow,
                RayPurpose::Shadow => return None,
            };
            calls.push(call);
            Some(calls.len() - 1)
        };
        let places: Vec<Option<usize>> = (first..).zip(open).map(place).collect();
        let shaded = self.explorer.explore(&vision)?;
        let passed = self.explorer.truth(&shadow)?;
        let outcome = |(i, state): (usize, &Open)| {
            let (number, ray) = ((first + i) as u32, &rays[first + i]);
            match (ray.kind, places[i]) {
                (RayPurpose::Shadow, Some(place)) => self.shadow(number, ray, state, Some(passed[place][1])),
                (RayPurpose::Shadow, None) => self.shadow(number, ray, state, None),
                (_, Some(place)) => self.surface(number, ray, state, &shaded[place]),
                (_, None) => missed(state),
            }
        };
        Ok(open.par_iter().enumerate().map(outcome).collect())
    }

    /// The call of the surface that a ray hits.
    fn call(&self, ray: &Ray, state: &Open, found: &ModelHit) -> Call {
        let at = (self.resolve)(found);
        let [entry, triangle, object] = self.explorer.job.program.memory.resolve(at.primitive);
        Call {
            entry: Some(entry),
            words: surface_arguments(state.origin, ray.request.direction, &state.called),
            hit: AtHit { uvt: [at.u, at.v, state.range[0] + found.t], records: [triangle, object] },
        }
    }

    fn transmission(&self, ray: &Ray, state: &Open, call: &Call) -> Transmission {
        match ray.request.kind {
            RayKind::Any => Transmission::Opaque,
            RayKind::Nearest => self.explorer.probe.transmission(call.hit.records[1], state.called.kind),
        }
    }

    /// A vision ray hits a surface.
    fn surface(&self, number: u32, ray: &Ray, state: &Open, affine: &Affine) -> Outcome {
        let [color, opacity] = affine.dark;
        let is_matte = state.coverage != 0.0 && color[0] == MATTE;
        let color = if is_matte { [0.0; 3] } else { times(ray.color, color) };
        let mut children: Vec<Child> =
            affine.terms.iter().map(|term| self.child(ray, number, ray.color, term)).collect();
        let rest = opacity.map(|x| 1.0 - x);
        let throughput = times(state.throughput, rest);
        let passes = is_seen(throughput);
        let left = if passes { throughput } else { [0.0; 3] };
        if passes && state.layers + 1 < MAX_LAYERS {
            children.extend(self.behind(number, ray, state, rest));
        }
        let share = if is_matte { 0.0 } else { state.coverage * (mean(state.throughput) - mean(left)) };
        Outcome {
            direct: with_alpha(color, share),
            children,
            lookups: affine.lookups.clone(),
            queries: affine.queries,
            affinity: Some(affine.affinity),
        }
    }

    /// A shadow ray arrives, or is blocked, or is dimmed by a surface of this opacity.
    fn shadow(&self, number: u32, ray: &Ray, state: &Open, opacity: Option<[f32; 3]>) -> Outcome {
        let arrives = |color| Outcome { direct: with_alpha(color, 0.0), ..Outcome::default() };
        let Some(found) = ray.hit else { return arrives(ray.color) };
        let rest = match opacity {
            Some(opacity) => opacity.map(|x| 1.0 - x),
            None if self.transmission(ray, state, &self.call(ray, state, &found)) == Transmission::Clear => [1.0; 3],
            None => return Outcome::default(),
        };
        if !is_seen(times(state.throughput, rest)) {
            return Outcome::default();
        }
        if state.layers + 1 >= MAX_LAYERS {
            return arrives(times(ray.color, rest));
        }
        Outcome { children: self.behind(number, ray, state, rest).into_iter().collect(), ..Outcome::default() }
    }

    /// The ray that a shader sends at the hit of a ray.
    fn child(&self, from: &Ray, parent: u32, scale: [f32; 3], term: &Term) -> Child {
        let Asked { ray, purpose, found, work } = term.asked;
        let (kind, hits, called) = match purpose {
            Purpose::Color(called) => (RayPurpose::Vision, RayKind::Nearest, called),
            Purpose::Shadow(called) => (RayPurpose::Shadow, RayKind::Nearest, called),
            _ => (RayPurpose::Shadow, RayKind::Any, Called { depth: 0.0, cone: [0.0; 2], kind: 0.0 }),
        };
        let depth = if kind == RayPurpose::Vision { called.depth as u32 } else { from.depth };
        let (request, start) = request(&ray, hits);
        let made = Ray {
            request,
            kind,
            parent,
            sample: from.sample,
            depth,
            color: times(scale, term.color),
            hit: found,
            work,
            direct: [0.0; 4],
            children: 0..0,
            lookups: 0..0,
        };
        let state = Open {
            origin: ray.origin,
            range: [start, ray.t_max],
            called,
            throughput: [1.0; 3],
            layers: 0,
            background: with_alpha(times(scale, term.background[0]), 0.0),
            coverage: 0.0,
        };
        (made, state)
    }

    /// The rest of a ray behind its hit, of which a surface leaves `rest`.
    fn behind(&self, parent: u32, ray: &Ray, state: &Open, rest: [f32; 3]) -> Option<Child> {
        let hit = ray.hit?;
        let direction = ray.request.direction;
        let [start, end] = state.range;
        let sent = shadewright_bvh::Ray { origin: state.origin, dir: direction, t_min: start + hit.t, t_max: end };
        let (request, start) = request(&sent, ray.request.kind);
        let (found, work) = match request.limit > 0.0 {
            true => self.explorer.finder.find(&request),
            false => Default::default(),
        };
        let made = Ray {
            request,
            kind: if ray.kind == RayPurpose::Shadow { RayPurpose::Shadow } else { RayPurpose::Through },
            parent,
            color: times(ray.color, rest),
            hit: found,
            work,
            direct: [0.0; 4],
            children: 0..0,
            lookups: 0..0,
            ..*ray
        };
        let state = Open {
            range: [start, end],
            throughput: times(state.throughput, rest),
            layers: state.layers + 1,
            ..state.clone()
        };
        Some((made, state))
    }
}

/// A vision ray leaves the scene.
fn missed(state: &Open) -> Outcome {
    let [r, g, b, alpha] = state.background;
    let share = alpha * mean(state.throughput);
    Outcome { direct: with_alpha(times([r, g, b], state.throughput), share), ..Outcome::default() }
}

/// In place of a camera ray's parent.
fn sample_ray() -> Ray {
    let request = Request { origin: Vec3::ZERO, direction: Vec3::Z, limit: 0.0, kind: RayKind::Nearest };
    Ray {
        request,
        kind: RayPurpose::Vision,
        parent: NO_RAY,
        sample: 0,
        depth: 0,
        color: [1.0; 3],
        hit: None,
        work: Default::default(),
        direct: [0.0; 4],
        children: 0..0,
        lookups: 0..0,
    }
}

fn times(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}

fn mean([r, g, b]: [f32; 3]) -> f32 {
    (r + g + b) / 3.0
}

fn with_alpha([r, g, b]: [f32; 3], alpha: f32) -> [f32; 4] {
    [r, g, b, alpha]
}

/// True if a transmittance counts.
fn is_seen(transmittance: [f32; 3]) -> bool {
    transmittance.iter().any(|&x| x >= OPAQUE)
}
