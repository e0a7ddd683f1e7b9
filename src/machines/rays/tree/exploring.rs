//! Runs entries of the program as functions of the answers to their rays, and finds the
//! coefficients.
//!
//! A surface's color is an affine function of what its rays bring, `c₀ + Σ cⱼ aⱼ`, unless its
//! shader looks at an answer. One run writes down the rays, one with all answers 0 gives `c₀`, one
//! with answer j alone gives `cⱼ`, and one with random answers shows whether that is all.

use super::asking::{Answers, Asked, Asker, Lane, Purpose, Script};
use super::lookups::Lookup;
use super::probe::Probe;
use crate::rays::recording::Finder;
use rayon::prelude::*;
use shadewright_base::random::hash;
use shadewright_program::{CAMERA_ENTRY, surface_entry};
use shadewright_render::rpu::{Data, SceneTracer};
use shadewright_render::{Job, RenderError};
use shadewright_rpu::isa::{Component, Reg};
use shadewright_rpu::{BLOCK, Block};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a lane runs until its queries are known.
const ROUNDS: usize = 6;
/// Runs of calls whose results are held together.
const RUNS_AT_ONCE: usize = 1 << 16;
/// The greatest difference of a shader's result from the affine function, relative to its terms,
/// and otherwise.
const TOLERANCE: [f32; 2] = [1e-4, 1e-5];

/// The hit that an entry's registers name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtHit {
    /// The weights of the triangle's second and third vertex, and the distance.
    pub uvt: [f32; 3],
    /// The addresses of the triangle's and the object's record.
    pub records: [u32; 2],
}

/// A call of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// The surface's number, or the camera.
    pub entry: Option<u32>,
    /// The words of the arguments.
    pub words: [u32; 11],
    /// The hit, if it is a surface.
    pub hit: AtHit,
}

/// The result of a call: of a surface its color and opacity, of the camera its color and, in the
/// first component, alpha.
pub type Response = [[f32; 3]; 2];

/// A ray of a call and what its answer does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The ray.
    pub asked: Asked,
    /// The number among all rays that the call asks for.
    number: usize,
    /// By how much its answer counts: cⱼ.
    pub color: [f32; 3],
    /// The amount by which the result is more if a ray that asks for a color brings that of the
    /// environment; the second part is the result's own.
    pub background: Response,
}

/// A call as a function of the answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    /// The result where all answers are 0.
    pub dark: Response,
    /// The rays for colors and light.
    pub terms: Vec<Term>,
    /// The lookups in maps.
    pub lookups: Vec<Lookup>,
    /// The number of queries.
    pub queries: u64,
    /// True if it is what the terms say.
    pub affinity: Affinity,
}

/// How far a call is the affine function of its answers that its terms make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affinity {
    /// For all answers.
    Affine,
    /// For gray ones: a channel of the result depends on other channels of an answer, as that of
    /// `occlusion` does, which averages them.
    Mixing,
    /// Not even for those: the shader looks at an answer.
    None,
}

/// The context in which calls are run.
#[derive(Clone, Copy)]
pub struct Explorer<'a, F> {
    /// The job.
    pub job: &'a Job,
    /// The program of the job, with the probe.
    pub probe: &'a Probe,
    /// The tracer of the scene.
    pub scene: &'a SceneTracer<'a>,
    /// The data of the program.
    pub data: &'a Data<'a>,
    /// How the hardware finds hits.
    pub finder: &'a F,
    /// Ends all runs.
    pub stop: &'a AtomicBool,
}

/// The results of the run that wrote a call's rays down.
#[derive(Clone, Debug, Default)]
struct Discovered {
    response: Response,
    asked: Vec<Asked>,
    lookups: Vec<Lookup>,
}

/// One run of a call.
struct Run<'a> {
    call: &'a Call,
    script: Script<'a>,
}

impl<F: Finder> Explorer<'_, F> {
    /// The results of calls whose rays get the real hits.
    ///
    /// # Errors
    /// As rendering.
    pub fn truth(&self, calls: &[Call]) -> Result<Vec<Response>, RenderError> {
        let runs = calls.iter().map(|call| Run { call, script: Script::Truth }).collect();
        Ok(self.run(runs)?.into_iter().map(|(response, _)| response).collect())
    }

    /// Calls as functions of the answers to their rays.
    ///
    /// # Errors
    /// As rendering.
    pub fn explore(&self, calls: &[Call]) -> Result<Vec<Affine>, RenderError> {
        let first = self.discover(calls)?;
        let mut known: Vec<Affine> = Vec::with_capacity(calls.len());
        let mut rest = calls.iter().zip(&first).map(|(call, first)| (call, first, plan(&first.asked))).peekable();
        while rest.peek().is_some() {
            let (mut runs, mut plans) = (Vec::new(), Vec::new());
            while runs.len() < RUNS_AT_ONCE
                && let Some((call, first, plan)) = rest.next()
            {
                let script = |&answers: &Answers| Script::Answer(&first.asked, answers);
                runs.extend(plan.iter().map(|answers| Run { call, script: script(answers) }));
                plans.push((first, plan));
            }
            let mut results = self.run(runs)?.into_iter();
            for (first, plan) in plans {
                let runs = plan.into_iter().zip(results.by_ref());
                let runs: Vec<_> = runs.map(|(answers, (result, lane))| (answers, result, lane.strayed)).collect();
                known.push(fit(first, &runs));
            }
        }
        self.confirm_mixing(calls, &first, &mut known)?;
        Ok(known)
    }

    /// Runs the calls that may mix channels with gray answers.
    fn confirm_mixing(&self, calls: &[Call], first: &[Discovered], known: &mut [Affine]) -> Result<(), RenderError> {
        let open: Vec<usize> = (0..calls.len()).filter(|&i| known[i].affinity == Affinity::Mixing).collect();
        let gray = |i: usize| Answers::Mixed { seed: !seed(&first[i].asked), is_gray: true };
        let runs = open.iter().map(|&i| Run { call: &calls[i], script: Script::Answer(&first[i].asked, gray(i)) });
        for (&i, (response, lane)) in open.iter().zip(self.run(runs.collect())?) {
            if lane.strayed || !known[i].agrees(gray(i), response) {
                known[i].affinity = Affinity::None;
            }
        }
        Ok(())
    }

    /// The rays of calls.
    fn discover(&self, calls: &[Call]) -> Result<Vec<Discovered>, RenderError> {
        let mut found: Vec<Discovered> = vec![Discovered::default(); calls.len()];
        let mut open: Vec<(usize, Vec<usize>)> = (0..calls.len()).map(|number| (number, Vec::new())).collect();
        for _ in 0..ROUNDS {
            let runs = open
                .iter()
                .map(|(number, queries)| Run { call: &calls[*number], script: Script::Discover(queries.clone()) });
            let results = self.run(runs.collect())?;
            let mut unsure = Vec::new();
            for ((number, _), (response, lane)) in open.into_iter().zip(results) {
                if lane.is_unsure() {
                    unsure.push((number, lane.unknown()));
                }
                found[number] = Discovered { response, asked: lane.asked, lookups: lane.lookups };
            }
            open = unsure;
            if open.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// Runs calls, 64 of an entry at a time; the results are in the order of the runs.
    fn run<'b>(&self, runs: Vec<Run<'b>>) -> Result<Vec<(Response, Lane<'b>)>, RenderError> {
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.sort_by_key(|&i| runs[i].call.entry);
        let same = |a: &usize, b: &usize| runs[*a].call.entry == runs[*b].call.entry;
        let blocks: Vec<&[usize]> = order.chunk_by(same).flat_map(|runs| runs.chunks(BLOCK)).collect();
        let done: Vec<Result<_, RenderError>> = blocks
            .par_iter()
            .map_init(Block::new, |block, numbers| {
                let result = self.run_block(block, &runs, numbers);
                if result.is_err() {
                    self.stop.store(true, Ordering::Relaxed);
                }
                result
            })
            .collect();
        // The cause, not the blocks that it stopped.
        let cause = done.iter().position(|r| matches!(r, Err(e) if !matches!(e, RenderError::Stopped)));
        let mut done: Vec<_> = match cause {
            Some(position) => done.into_iter().skip(position).take(1).collect(),
            None => done,
        };
        let mut results: Vec<Option<(Response, Lane<'b>)>> = Vec::new();
        results.resize_with(runs.len(), || None);
        for (numbers, result) in blocks.iter().zip(done.drain(..)) {
            for (&number, result) in numbers.iter().zip(result?) {
                results[number] = Some(result);
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    fn run_block<'b>(
        &self,
        block: &mut Block,
        runs: &[Run<'b>],
        numbers: &[usize],
    ) -> Result<Vec<(Response, Lane<'b>)>, RenderError> {
        let Self { probe, .. } = *self;
        let lanes =
            numbers.iter().map(|&number| Lane::new(runs[number].script.clone(), runs[number].call.hit)).collect();
        let asker = Asker { finder: self.finder, probe, scene: self.scene, lanes: Mutex::new(lanes) };
        let context = probe.loaded.execution_context(self.data, &asker, self.job.budget, self.stop);
        block.reset();
        let mut inputs = [[0u32; BLOCK]; 11];
        for (lane, &number) in numbers.iter().enumerate() {
            let Call { words, hit: AtHit { uvt, records: [triangle, object] }, .. } = runs[number].call;
            inputs.iter_mut().zip(words).for_each(|(row, word)| row[lane] = *word);
            for (component, x) in [Component::X, Component::Y, Component::Z].into_iter().zip(uvt) {
                block.set(Reg::Hit, component, lane, x.to_bits());
            }
            block.set(Reg::HitTri, Component::X, lane, *triangle);
            block.set(Reg::HitObj, Component::X, lane, *object);
        }
        let entry = numbers.first().and_then(|&number| runs[number].call.entry);
        let name = entry.map_or(CAMERA_ENTRY.to_string(), |n| surface_entry(n as usize));
        let active = if numbers.len() == BLOCK { u64::MAX } else { (1 << numbers.len()) - 1 };
        let rows = probe.loaded.run(&context, block, &name, &inputs, active, &probe.module)?;
        let response = |lane: usize| -> Response {
            let word = |i: usize| rows.get(i).map_or(0.0, |row| f32::from_bits(row[lane]));
            [[0, 1, 2].map(word), [3, 4, 5].map(word)]
        };
        Ok(asker.into_lanes().into_iter().enumerate().map(|(lane, state)| (response(lane), state)).collect())
    }
}

/// The runs that a call with these rays needs beside the one that wrote them down.
fn plan(asked: &[Asked]) -> Vec<Answers> {
    let count = |test: fn(Purpose) -> bool| asked.iter().filter(|a| test(a.purpose)).count();
    let occlusion = count(|p| p == Purpose::Occlusion);
    let colors = count(|p| matches!(p, Purpose::Color(_) | Purpose::Shadow(_)));
    let mut plan = Vec::new();
    if occlusion > 0 {
        plan.push(Answers::Dark);
    }
    for (number, asked) in asked.iter().enumerate() {
        match asked.purpose {
            Purpose::Unknown | Purpose::Query => {}
            // The run that wrote the rays down has its coefficient.
            Purpose::Occlusion if occlusion == 1 => {}
            Purpose::Occlusion | Purpose::Shadow(_) => plan.push(Answers::One(number)),
            Purpose::Color(_) => plan.extend([Answers::One(number), Answers::Background(number)]),
        }
    }
    // Any function of one bit is affine.
    if occlusion + colors > usize::from(colors == 0) {
        plan.push(Answers::Mixed { seed: seed(asked), is_gray: false });
    }
    plan
}

/// A seed that differs between calls.
fn seed(asked: &[Asked]) -> u32 {
    asked.first().map_or(0, |asked| hash(asked.ray.origin.x.to_bits() ^ hash(asked.ray.origin.z.to_bits())))
}

/// The coefficients of a call, given the results of its runs and whether each asked for other rays.
fn fit(first: &Discovered, runs: &[(Answers, Response, bool)]) -> Affine {
    let Discovered { response, asked, lookups } = first;
    let result = |wanted: Answers| runs.iter().find(|(answers, ..)| *answers == wanted).map(|run| run.1);
    let dark = result(Answers::Dark).unwrap_or(*response);
    let less = |a: [f32; 3], b: [f32; 3]| [0, 1, 2].map(|i| a[i] - b[i]);
    let mut terms = Vec::new();
    let mut queries = 0;
    for (number, &asked) in asked.iter().enumerate() {
        match asked.purpose {
            Purpose::Unknown | Purpose::Query => queries += 1,
            _ => {
                let color = less(result(Answers::One(number)).unwrap_or(*response)[0], dark[0]);
                let background = result(Answers::Background(number)).unwrap_or(dark);
                let background = [less(background[0], dark[0]), background[1]];
                terms.push(Term { asked, number, color, background });
            }
        }
    }
    let mut affine = Affine { dark, terms, lookups: lookups.clone(), queries, affinity: Affinity::Affine };
    let agrees =
        |&(answers, response, strayed): &(Answers, Response, bool)| !strayed && affine.agrees(answers, response);
    // Only one of the runs has answers that are not gray.
    let is_gray = |answers: Answers| !matches!(answers, Answers::Mixed { .. }) || !has_colors(&affine.terms);
    let gray_agree = affine.agrees(Answers::Lit, *response) && runs.iter().filter(|run| is_gray(run.0)).all(agrees);
    affine.affinity = match gray_agree {
        true if runs.iter().all(agrees) => Affinity::Affine,
        true => Affinity::Mixing,
        false => Affinity::None,
    };
    affine
}

/// True if some of the rays may bring a color.
fn has_colors(terms: &[Term]) -> bool {
    terms.iter().any(|term| term.asked.purpose != Purpose::Occlusion)
}

impl Affine {
    /// True if the terms say what a run with these answers gave.
    fn agrees(&self, answers: Answers, [color, opacity]: Response) -> bool {
        match answers {
            Answers::Dark | Answers::Background(_) => true,
            Answers::One(_) => is_near(opacity, self.dark[1], [1.0; 3]),
            Answers::Lit | Answers::Mixed { .. } => {
                let (mut sum, mut scale) = (self.dark[0], self.dark[0].map(f32::abs));
                for term in &self.terms {
                    let answer = answers.to(term.number, &term.asked);
                    for i in 0..3 {
                        sum[i] += term.color[i] * answer[i];
                        scale[i] += term.color[i].abs();
                    }
                }
                is_near(color, sum, scale) && is_near(opacity, self.dark[1], [1.0; 3])
            }
        }
    }
}

/// True if two colors agree, given the size of the terms that they are sums of.
fn is_near(a: [f32; 3], b: [f32; 3], scale: [f32; 3]) -> bool {
    (0..3).all(|i| (a[i] - b[i]).abs() <= TOLERANCE[0] * scale[i] + TOLERANCE[1])
}
