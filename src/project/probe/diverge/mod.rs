//! The first divergence of two runners: follows one sample of an image on the evaluator and on two
//! back ends, to the first value that differs, and on to the decision that it flips.
//!
//! Takes the job that was rendered, so that what diverges is what the images show, and a
//! [`SampleRunner`] of each back end; gives a [`Divergence`], which is plain data. Nothing here
//! knows a back end, a window or a terminal.
//!
//! | file | holds |
//! |---|---|
//! | `trace` | the streams of records of the runners, and where they part |
//! | `explain` | points of a stream in terms of the source |
//! | `names` | the variables that values of the optimized program stand for |
//! | `values` | values in hexadecimal and decimals, distances in ulps |
//! | `report` | a divergence as text and as JSON |

mod explain;
mod names;
mod report;
mod trace;
mod values;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use explain::{Decision, Effect, Operand, Operation, Parted, SourceLocation};
pub use values::Shown;

use super::AbsentSample;
use explain::Explainer;
use serde::Serialize;
use shadewright_base::text::source::SourceMap;
use shadewright_ir::Type;
use shadewright_ir::passes::record::Detail;
use shadewright_program::Program;
use shadewright_render::film::FilmPixel;
use shadewright_render::samples::{EvaluatorSamples, SampleRunner};
use shadewright_render::{Job, RenderError};
use shadewright_scene::Scene;
use thiserror::Error;
use trace::{Executed, Failure, Parting, Tracer};
use values::differs;

/// The runners of a sample: the two back ends, then the evaluator.
const RUNNERS: usize = 3;

/// The place of the evaluator.
const EVALUATOR: usize = 2;

/// The pairs that are compared: the two back ends, and each with the evaluator.
const PAIRS: [[usize; 2]; 3] = [[0, 1], [0, EVALUATOR], [1, EVALUATOR]];

/// An image whose samples can be followed.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The job that was rendered.
    pub job: &'a Job,
    /// The scene of the job.
    pub scene: &'a Scene,
    /// The scene linked for a debugger ([`super::link`]), which names variables.
    pub debug: Option<&'a Program>,
    /// True if the answer is still wanted; asked before each run.
    pub is_wanted: &'a dyn Fn() -> bool,
    /// Takes what begins, for people who wait: a run lasts up to a minute where a GPU by software
    /// compiles.
    pub progress: &'a dyn Fn(&str),
}

/// A back end by its name.
pub struct NamedRunner<'m> {
    /// The name of the back end.
    pub name: String,
    /// The runner of samples on it.
    pub runner: &'m mut dyn SampleRunner,
}

/// Why a sample cannot be followed.
#[derive(Debug, Error)]
pub enum DivergeError {
    /// The image does not have it.
    #[error(transparent)]
    Absent(#[from] AbsentSample),
    /// The answer is no longer wanted.
    #[error("it is no longer wanted")]
    Stopped,
    /// The scene moves.
    #[error("this scene changes while the shutter is open: samples of one pixel are of different times")]
    Motion,
    /// A run failed.
    #[error("{runner}: {error}")]
    Render {
        /// On which runner.
        runner: String,
        /// How.
        error: RenderError,
    },
}

/// A color and coverage, premultiplied and before any imager.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Color {
    /// Red, green, blue and coverage.
    pub rgba: [f32; 4],
    /// Their bits.
    pub hex: [String; 4],
}

impl Color {
    fn from_bits(bits: [u32; 4]) -> Self {
        Self { rgba: bits.map(f32::from_bits), hex: bits.map(|word| format!("{word:#010x}")) }
    }
}

/// The first difference of two runners.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Which two.
    pub between: [String; 2],
    /// Their places in [`Divergence::runners`].
    #[serde(skip)]
    pub pair: [usize; 2],
    /// The number of the first record that differs; a record is a piece of code without rays and
    /// calls.
    pub record: u64,
    /// The first value that differs; `None` where control flow differs first, or the value was not
    /// found again.
    pub value: Option<Operation>,
    /// The first decision that differs.
    pub decision: Option<Decision>,
    /// Where the runners execute different code.
    pub parted: Option<Parted>,
}

/// How a sample compares on two runners and the evaluator.
#[derive(Clone, Debug, Serialize)]
pub struct Divergence {
    /// The names of the two back ends, and of the evaluator.
    pub runners: [String; RUNNERS],
    /// Column and row within the image.
    pub pixel: [u32; 2],
    /// The sample.
    pub sample: u32,
    /// Samples a pixel.
    pub samples: u32,
    /// How many of the pixel's samples have different colors on the two back ends.
    pub differing_samples: u32,
    /// The sample's color on each runner.
    pub colors: [Color; RUNNERS],
    /// The pixel on each back end, before exposure and imager.
    pub means: [Color; 2],
    /// The share of the pixel's difference that is this sample's, in the channel that differs most.
    pub share: Option<f32>,
    /// Records of each runner.
    pub records: [u64; RUNNERS],
    /// The first difference, if there is one.
    pub difference: Option<Difference>,
    /// How each back end compares with the evaluator.
    pub evaluator: [String; 2],
    /// Remarks on the result.
    pub notes: Vec<String>,
    #[serde(skip)]
    sources: SourceMap,
}

/// Follows a sample of a pixel of the job's window: the one that is named, else the first whose
/// colors differ, else the first.
///
/// # Errors
/// When there is no such pixel or sample, the scene moves, or a runner fails.
pub fn diverge(
    subject: Subject<'_>,
    runners: [NamedRunner<'_>; 2],
    pixel: [u32; 2],
    sample: Option<u32>,
) -> Result<Divergence, DivergeError> {
    let job = subject.job;
    let ([x, y], window) = (pixel, job.window);
    let count = job.sampling.count();
    AbsentSample::check(pixel, [window.width, window.height], sample, count)?;
    if job.film.moves {
        return Err(DivergeError::Motion);
    }
    let [a, b] = runners;
    let names = [a.name, b.name, "evaluator".to_string()];
    let failed = |runner: usize| {
        let runner = names[runner].clone();
        move |error| match error {
            RenderError::Stopped => DivergeError::Stopped,
            error => DivergeError::Render { runner, error },
        }
    };
    let samples: Vec<_> =
        (0..count).map(|index| job.sampling.sample(&job.film, window.x + x, window.y + y, index)).collect();
    let mut evaluator = EvaluatorSamples;
    let mut runners: [&mut dyn SampleRunner; RUNNERS] = [a.runner, b.runner, &mut evaluator];
    let begin = |what: &str, runner: usize| {
        if !(subject.is_wanted)() {
            return Err(DivergeError::Stopped);
        }
        (subject.progress)(&format!("{what} on {}", names[runner]));
        Ok(())
    };
    let mut colors = |runner: usize| {
        begin("samples", runner)?;
        runners[runner].colors(job, &samples).map_err(failed(runner))
    };
    let plain = [colors(0)?, colors(1)?];
    let is_other = |a: &[u32; 4], b: &[u32; 4]| differs(Type::Vec4, a, b);
    let differing: Vec<u32> = (0..count).filter(|&n| is_other(&plain[0][n as usize], &plain[1][n as usize])).collect();
    let number = sample.or(differing.first().copied()).unwrap_or(0);
    let shot = samples[number as usize];
    let means = plain.each_ref().map(|colors| {
        let mut film = FilmPixel::default();
        // The entry has multiplied by the weight.
        for (color, sample) in colors.iter().zip(&samples) {
            film.add(color.map(f32::from_bits), 1.0);
            film.weight += sample.weight - 1.0;
        }
        Color::from_bits(film.mean().map(f32::to_bits))
    });

    begin("samples", EVALUATOR)?;
    let executed = Executed::run(job, &shot).map_err(failed(EVALUATOR))?;
    let explainer = Explainer::new(subject);
    let before = |what: &str, runner: usize| begin(&format!("recording {what}"), runner).is_ok();
    let mut tracer = Tracer::new(job, shot, &executed, &mut runners, &before);
    let anywhere = |Failure { runner, error }| failed(runner)(error);
    let is_plain = |runner: usize, color: &[u32; 4]| !is_other(color, &plain[runner][number as usize]);
    let (mut canonical, mut decisions) = (false, Detail::All);
    let mut notes = Vec::new();
    let (streams, difference) = loop {
        let streams = tracer.streams(canonical, decisions).map_err(anywhere)?;
        if decisions == Detail::All && !(0..2).all(|runner| is_plain(runner, &streams.colors[runner])) {
            decisions = Detail::Outer;
            continue;
        }
        // The back ends agree with each other, but perhaps not with the evaluator.
        let parted = PAIRS.into_iter().zip(&streams.partings).find(|(_, parting)| !parting.is_none());
        let Some((pair, parting)) = parted else { break (streams, None) };
        let mut value = None;
        if let Some((point, hashes)) = &parting.results {
            let detail = tracer.detail(point.at, *hashes, pair, canonical).map_err(anywhere)?;
            if detail != Some(Detail::All) {
                notes.push(unsteady(detail));
            }
            let detail = detail.unwrap_or(Detail::Outer);
            value = explainer.difference(&mut tracer, point, pair, detail).map_err(anywhere)?;
        }
        // NaN of other bits, or the sign of a zero: the search goes on for what means another thing.
        if value.is_none() && parting.results.is_some() && !canonical {
            (canonical, decisions) = (true, Detail::All);
            notes.clear();
            continue;
        }
        let decision = match &parting.decision {
            Some(point) => explainer.decision(&mut tracer, point, pair).map_err(anywhere)?,
            None => None,
        };
        let parted = match &parting.split {
            Some(split) => Some(explainer.parted(&mut tracer, split, pair).map_err(anywhere)?),
            None => None,
        };
        let difference = Difference {
            between: pair.map(|runner| names[runner].clone()),
            pair,
            record: parting.first().unwrap_or(0),
            value,
            decision,
            parted,
        };
        break (streams, Some(difference));
    };

    for (runner, (name, color)) in names.iter().zip(&streams.colors).take(2).enumerate() {
        if !is_plain(runner, color) {
            notes.push(format!(
                "{name}: the sample has another color with the instructions that record values, {}; its compiler fuses \
                 operations in one of the programs and not in the other",
                report::rgba(&color.map(f32::from_bits)),
            ));
        }
    }
    if let Some(Difference { value: None, parted: None, .. }) = &difference {
        notes.push("the value that differs was not found again: recording it changes it".to_string());
    }
    if streams.truncated {
        notes.push("the sample is longer than what is compared".to_string());
    }
    let known = difference.as_ref().map(|difference| difference.record);
    let against = |runner: usize| {
        let parting = &streams.partings[1 + runner];
        match parting.first() {
            Some(first) if known == Some(first) => "differs from the evaluator there, too".to_string(),
            _ => describe_parting(&explainer, &tracer, parting),
        }
    };
    let colors =
        [plain[0][number as usize], plain[1][number as usize], streams.colors[EVALUATOR]].map(Color::from_bits);
    Ok(Divergence {
        evaluator: [against(0), against(1)],
        pixel,
        sample: number,
        samples: count,
        differing_samples: differing.len() as u32,
        share: share(&colors, &means, &samples),
        colors,
        means,
        records: streams.totals,
        difference,
        notes,
        sources: job.program.sources.clone(),
        runners: names,
    })
}

/// The note on a driver whose code gives other values when they are recorded.
fn unsteady(detail: Option<Detail>) -> String {
    match detail {
        Some(_) => {
            "a driver computes something else where the operands inside of an expression are recorded, so \
                    this is the first result of an expression that differs"
        }
        None => {
            "a driver computes something else where values are recorded, so the operation may be a later one than \
                 the first that differs"
        }
    }
    .to_string()
}

/// How a back end compares with the evaluator.
fn describe_parting(explainer: &Explainer<'_>, tracer: &Tracer<'_, '_>, parting: &Parting) -> String {
    let Some(first) = parting.first() else { return "equal to the evaluator".to_string() };
    let results = parting.results.as_ref().map(|(p, _)| p.at);
    let at = results.or(parting.split.as_ref().and_then(|s| s.after.as_ref()).map(|p| p.at));
    let place = at.map(|at| explainer.segment_place(tracer, at).to_string());
    format!("differs from the evaluator from record {first} on, {}", place.unwrap_or_default())
}

/// The share of the pixel's difference that is one sample's, in the channel that differs most.
fn share(
    colors: &[Color; RUNNERS],
    means: &[Color; 2],
    samples: &[shadewright_render::sampling::CameraSample],
) -> Option<f32> {
    let weight: f32 = samples.iter().map(|s| s.weight).sum();
    let of_pixel = |channel: usize| means[0].rgba[channel] - means[1].rgba[channel];
    let most = (0..4).max_by(|&a, &b| of_pixel(a).abs().total_cmp(&of_pixel(b).abs()))?;
    let of_sample = (colors[0].rgba[most] - colors[1].rgba[most]) / weight;
    let share = of_sample / of_pixel(most);
    share.is_finite().then_some(share)
}

impl Divergence {
    /// True if all runners computed the same.
    pub fn is_equal(&self) -> bool {
        self.difference.is_none()
            && self.differing_samples == 0
            && !PAIRS.into_iter().any(|pair| self.colors_differ(pair))
    }

    /// True if two runners give the sample other colors. Those of the back ends are the image's,
    /// from code that records nothing.
    fn colors_differ(&self, pair: [usize; 2]) -> bool {
        let [a, b] = pair.map(|runner| self.colors[runner].rgba.map(f32::to_bits));
        differs(Type::Vec4, &a, &b)
    }
}
