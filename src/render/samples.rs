//! Single samples of an image: their colors, and what an instrumented program records of them.
//!
//! A [`SampleRunner`] runs the camera's entry on chosen samples of a [`Job`], with the code that
//! renders the image. Where the job's program has `record` instructions
//! ([`shadewright_ir::passes::record`]), it reads a window of the words that one sample records. Each
//! back end has one ([`super::Backend::samples`]); [`EvaluatorSamples`] is the reference evaluator's.

use super::sampling::CameraSample;
use super::{Job, RenderError, SceneWorld};
use shadewright_ir::eval::{EvalError, Observer, eval_observed};
use shadewright_ir::{Const, Limits};
use shadewright_program::CAMERA_ENTRY;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The largest window, in vectors of four words: what the log of an RPU block holds.
pub const MAX_WINDOW: u32 = 1 << 18;

/// The words of a sample that are read: those of some of its records, which have all the same
/// length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordWindow {
    /// Words of a record, at least 1.
    pub record_words: u32,
    /// The number of the first record that is read.
    pub first: u64,
    /// How many are read at most. All together have [`MAX_WINDOW`] vectors at most
    /// ([`RecordWindow::fits`]).
    pub count: u32,
}

impl RecordWindow {
    /// The most records of this length that a window holds.
    pub fn fits(record_words: u32) -> u32 {
        MAX_WINDOW / record_words.div_ceil(4).max(1)
    }

    /// The words that are read, by their number among all that the sample records.
    fn words(self) -> Range<u64> {
        let each = u64::from(self.record_words);
        self.first * each..(self.first + u64::from(self.count)) * each
    }
}

/// The record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The sample's color and coverage, as bits.
    pub color: [u32; 4],
    /// The words of the window, record after record.
    pub words: Vec<u32>,
    /// How many records the sample has in all.
    pub total: u64,
}

/// Runs samples of jobs.
pub trait SampleRunner {
    /// The back end and its device, for messages.
    fn describe(&self) -> String;

    /// Has runs end soon, with [`RenderError::Stopped`], while this is true. The evaluator's runs are
    /// short and end by themselves.
    fn stop_by(&mut self, _stop: &Arc<AtomicBool>) {}

    /// The color (premultiplied by coverage and by the filter's sign) and the coverage of samples,
    /// as bits.
    ///
    /// # Errors
    /// The errors of rendering.
    fn colors(&mut self, job: &Job, samples: &[CameraSample]) -> Result<Vec<[u32; 4]>, RenderError>;

    /// Runs one sample of a job whose program is instrumented.
    ///
    /// # Errors
    /// The errors of rendering.
    fn record(&mut self, job: &Job, sample: &CameraSample, window: RecordWindow) -> Result<Recorded, RenderError>;
}

/// The words of a sample's arguments of the camera's entry.
pub(super) fn arguments(job: &Job, sample: &CameraSample) -> Vec<u32> {
    sample.arguments().iter().take(job.program.camera_arguments()).map(|x| x.to_bits()).collect()
}

/// The reference evaluator.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvaluatorSamples;

/// The most nested calls of a sample on the evaluator: more than any back end's stack allows.
const MAX_DEPTH: usize = 1 << 16;

impl EvaluatorSamples {
    /// The functions that a sample executes, by their places in the module, and the first words of
    /// what it records.
    ///
    /// # Errors
    /// When it does not end within its budget.
    pub fn executed(self, job: &Job, sample: &CameraSample) -> Result<(HashSet<usize>, HashSet<u32>), RenderError> {
        let mut executed = Executed::default();
        Self::run(job, sample, &mut executed)?;
        Ok((executed.functions, executed.first_words))
    }

    fn run(job: &Job, sample: &CameraSample, observer: &mut impl Observer) -> Result<[u32; 4], RenderError> {
        let program = &job.program;
        let arguments: Vec<Const> = arguments(job, sample).into_iter().map(f32::from_bits).map(Const::F32).collect();
        let mut world = SceneWorld::new(program, &job.bvh);
        let limits = Limits { fuel: u64::from(job.budget), depth: MAX_DEPTH };
        let results = eval_observed(&program.module, CAMERA_ENTRY, &arguments, &mut world, limits, observer);
        let results = results.map_err(|error| {
            let span = error.loc().and_then(|loc| program.module.span(loc));
            match error {
                EvalError::Fuel { .. } => RenderError::Budget { budget: job.budget, span },
                EvalError::Depth { .. } => RenderError::CallDepth { limit: MAX_DEPTH as u32, span },
                other => RenderError::Device(format!("the evaluator stopped: {other}")),
            }
        })?;
        let mut words = results.iter().flat_map(Const::bits);
        Ok(std::array::from_fn(|_| words.next().unwrap_or(0)))
    }
}

/// Notes what is executed.
#[derive(Default)]
struct Executed {
    functions: HashSet<usize>,
    first_words: HashSet<u32>,
}

impl Observer for Executed {
    fn enter(&mut self, function: usize, _args: &[Const]) {
        self.functions.insert(function);
    }

    fn record(&mut self, words: &[u32]) {
        self.first_words.extend(words.first());
    }
}

/// Keeps the words of a window.
struct Reader {
    kept: Range<u64>,
    made: u64,
    words: Vec<u32>,
}

impl Observer for Reader {
    fn record(&mut self, words: &[u32]) {
        for &word in words {
            if self.kept.contains(&self.made) {
                self.words.push(word);
            }
            self.made += 1;
        }
    }
}

impl SampleRunner for EvaluatorSamples {
    fn describe(&self) -> String {
        "the reference evaluator".to_string()
    }

    fn colors(&mut self, job: &Job, samples: &[CameraSample]) -> Result<Vec<[u32; 4]>, RenderError> {
        samples.iter().map(|sample| Self::run(job, sample, &mut ())).collect()
    }

    fn record(&mut self, job: &Job, sample: &CameraSample, window: RecordWindow) -> Result<Recorded, RenderError> {
        let mut reader = Reader { kept: window.words(), made: 0, words: Vec::new() };
        let color = Self::run(job, sample, &mut reader)?;
        Ok(Recorded { color, words: reader.words, total: reader.made / u64::from(window.record_words.max(1)) })
    }
}
