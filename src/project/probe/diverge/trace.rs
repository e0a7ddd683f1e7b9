//! Runs one sample on three runners with an instrumented program, and finds where their records
//! part.
//!
//! The stream of a runner is the records of all segments ([`shadewright_ir::passes::record`]) in the
//! order of execution. Streams are read window by window; of most samples there is one.

use super::{PAIRS, RUNNERS};
use shadewright_ir::passes::record::{Detail, End, HASH_WORDS, Recording, Segment, Segments, hash, instrument};
use shadewright_ir::{Module, Terminator};
use shadewright_program::{Program, common_origin_entries, intersect_entry};
use shadewright_render::samples::{EvaluatorSamples, RecordWindow, Recorded, SampleRunner};
use shadewright_render::sampling::CameraSample;
use shadewright_render::{Job, RenderError};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A record of [`Recording::Hashes`].
type Record = [u32; HASH_WORDS as usize];

/// Windows of a stream that are read at most: 16.7 million records.
const MAX_WINDOWS: u64 = 64;

/// A segment's execution: its number, and how often it was executed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Execution {
    /// The segment.
    pub segment: u32,
    /// The number of executions of the segment before this one.
    pub number: u64,
}

/// A function that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The function, by its place in the module.
    pub function: usize,
    /// The execution whose last instruction called it; `None` for the camera's entry.
    pub called_by: Option<Execution>,
    /// The execution that ran last in it.
    pub last: Option<Execution>,
    /// The latest execution of each of its segments.
    pub executed: HashMap<u32, u64>,
    /// For each segment, what ran in the function before it.
    pub before: HashMap<u32, Execution>,
    /// The function that returned to it last, without those that returned to that one.
    pub returned: Option<Box<Activation>>,
}

/// A record of a stream with what led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The number of the record.
    pub record: u64,
    /// The execution that the record belongs to.
    pub at: Execution,
    /// The functions that ran, the outermost first.
    pub stack: Vec<Activation>,
}

/// Where two runners go on differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The last execution that both share; `None` where one recorded nothing.
    pub after: Option<Point>,
    /// The segment that each executes then; `None` at the end of the sample.
    pub next: [Option<u32>; 2],
}

/// Where the streams of two runners part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parting {
    /// The first segment whose results differ, and the hashes of them.
    pub results: Option<(Point, [u32; 2])>,
    /// The first segment whose decisions differ.
    pub decision: Option<Point>,
    /// Where control flow differs.
    pub split: Option<Split>,
    /// True if nothing is left to compare.
    ended: bool,
}

impl Parting {
    /// True if the streams are equal.
    pub fn is_none(&self) -> bool {
        self.results.is_none() && self.split.is_none()
    }

    /// The number of the first record that is not equal.
    pub fn first(&self) -> Option<u64> {
        let split = self.split.as_ref().map(|s| s.after.as_ref().map_or(0, |p| p.record + 1));
        let results = self.results.as_ref().map(|(p, _)| p.record);
        results.into_iter().chain(split).min()
    }
}

/// The streams of all runners.
#[derive(Clone, Debug)]
pub struct Streams {
    /// Where each of [`PAIRS`] parts.
    pub partings: [Parting; PAIRS.len()],
    /// The number of records of each runner.
    pub totals: [u64; RUNNERS],
    /// The sample's color on each runner, instrumented.
    pub colors: [[u32; 4]; RUNNERS],
    /// True if the streams are longer than what was read.
    pub truncated: bool,
}

/// A run that failed.
#[derive(Debug)]
pub struct Failure {
    /// The runner.
    pub runner: usize,
    /// Why; [`RenderError::Stopped`] when the answer is no longer wanted.
    pub error: RenderError,
}

/// A sample that is followed.
pub struct Tracer<'a, 'm> {
    job: &'a Job,
    sample: CameraSample,
    /// The segments of the job's module.
    pub segments: &'a Segments,
    /// The segments that are hashed.
    of: &'a HashSet<u32>,
    runners: &'a mut [&'m mut dyn SampleRunner; RUNNERS],
    begin: &'a dyn Fn(&str, usize) -> bool,
    values: HashMap<(Execution, Detail), [Vec<u32>; RUNNERS]>,
}

/// The segments of a job's program that a sample executes.
pub struct Executed {
    /// The segments of the functions that it executes.
    pub segments: Segments,
    /// The segments that the sample executes.
    of: HashSet<u32>,
}

impl Executed {
    /// Runs the sample on the evaluator. Intersection shaders are left out: which of them run, and
    /// in which order, depends on how a runner traverses the BVH.
    ///
    /// Code that the evaluator does not execute stays as it is: a runner that goes there has parted
    /// from it before. So its kernels are those of the image, which are compiled already.
    ///
    /// # Errors
    /// The errors of rendering.
    pub fn run(job: &Job, sample: &CameraSample) -> Result<Self, RenderError> {
        let kinds = 0..job.program.primitives.kinds;
        let others: Vec<String> =
            kinds.flat_map(|n| [vec![intersect_entry(n)], common_origin_entries(n).into()].concat()).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        let (functions, _) = EvaluatorSamples.executed(job, sample)?;
        let segments = Segments::new(&job.program.module, &functions, &others);
        let nothing = Recording::Hashes { of: &HashSet::new(), canonical: false, decisions: Detail::Outer };
        let (_, of) = EvaluatorSamples.executed(&instrumented(job, &segments, nothing), sample)?;
        Ok(Self { segments, of })
    }
}

/// A job with an instrumented module.
fn instrumented(job: &Job, segments: &Segments, recording: Recording<'_>) -> Job {
    let module = Arc::new(instrument(&job.program.module, segments, recording));
    Job { program: Program { module, ..job.program.clone() }, ..job.clone() }
}

impl<'a, 'm> Tracer<'a, 'm> {
    /// Follows a sample of a job. `begin` gets what each runner is to do before it runs, and says
    /// whether the answer is still wanted.
    pub fn new(
        job: &'a Job,
        sample: CameraSample,
        executed: &'a Executed,
        runners: &'a mut [&'m mut dyn SampleRunner; RUNNERS],
        begin: &'a dyn Fn(&str, usize) -> bool,
    ) -> Self {
        let Executed { segments, of } = executed;
        Self { job, sample, segments, of, runners, begin, values: HashMap::new() }
    }

    fn module(&self) -> &Module {
        &self.job.program.module
    }

    fn record(&mut self, what: &str, job: &Job, window: RecordWindow) -> Result<[Recorded; RUNNERS], Failure> {
        let mut run = |runner: usize| {
            let failed = |error| Failure { runner, error };
            if !(self.begin)(what, runner) {
                return Err(failed(RenderError::Stopped));
            }
            self.runners[runner].record(job, &self.sample, window).map_err(failed)
        };
        Ok([run(0)?, run(1)?, run(2)?])
    }

    /// The streams of the runners, with `canonical` hashes or those of all bits.
    ///
    /// # Errors
    /// The errors of rendering.
    pub fn streams(&mut self, canonical: bool, decisions: Detail) -> Result<Streams, Failure> {
        let recording = Recording::Hashes { of: self.of, canonical, decisions };
        let job = instrumented(self.job, self.segments, recording);
        let count = RecordWindow::fits(HASH_WORDS);
        let mut partings: [Parting; PAIRS.len()] = Default::default();
        let mut walks: [Walk; RUNNERS] = Default::default();
        let mut windows = 0..MAX_WINDOWS;
        loop {
            let number = windows.next().unwrap_or(MAX_WINDOWS);
            let first = number * u64::from(count);
            let recorded =
                self.record("hashes of values", &job, RecordWindow { record_words: HASH_WORDS, first, count })?;
            let streams = recorded.each_ref().map(|r| r.words.as_chunks::<{ HASH_WORDS as usize }>().0);
            let longest = streams.iter().map(|s| s.len()).max().unwrap_or(0);
            // One more than there are: the end is compared, too.
            let is_read = recorded.iter().all(|r| r.total < first + u64::from(count));
            for i in 0..longest + usize::from(is_read) {
                let records = streams.map(|stream| stream.get(i));
                for (parting, [a, b]) in partings.iter_mut().zip(PAIRS) {
                    parting.compare_flow([a, b].map(|m| records[m].map(|r| r[0])), &walks[a]);
                }
                for (walk, record) in walks.iter_mut().zip(records) {
                    if let Some([segment, ..]) = record {
                        walk.step(self.segments, self.module(), *segment);
                    }
                }
                for (parting, [a, b]) in partings.iter_mut().zip(PAIRS) {
                    parting.compare_values([a, b].map(|m| records[m]), &walks[a]);
                }
            }
            let totals = recorded.each_ref().map(|r| r.total);
            let ended = partings.iter().all(|p| p.ended);
            if is_read || ended || windows.is_empty() {
                let truncated = !is_read && !ended;
                return Ok(Streams { partings, totals, colors: recorded.map(|r| r.color), truncated });
            }
        }
    }

    /// The words that an execution of a segment records on each runner: those of its
    /// [`Segments::items`].
    ///
    /// # Errors
    /// The errors of rendering.
    pub fn values(&mut self, at: Execution, detail: Detail) -> Result<[Vec<u32>; RUNNERS], Failure> {
        if let Some(known) = self.values.get(&(at, detail)) {
            return Ok(known.clone());
        }
        let items = self.segments.items(self.module(), at.segment, detail);
        let record_words: u32 = items.iter().map(|item| item.words).sum();
        let values = if record_words == 0 {
            Default::default()
        } else {
            let recording = Recording::Values { segment: at.segment, detail };
            let job = instrumented(self.job, self.segments, recording);
            let window = RecordWindow { record_words, first: at.number, count: 1 };
            self.record("values", &job, window)?.map(|r| r.words)
        };
        self.values.insert((at, detail), values.clone());
        Ok(values)
    }

    /// Which values can be looked at without changing them: whether the recorded values of a segment
    /// have the hashes that `pair` of runners had when nothing but hashes was recorded.
    ///
    /// # Errors
    /// The errors of rendering.
    pub fn detail(
        &mut self,
        at: Execution,
        hashes: [u32; 2],
        pair: [usize; 2],
        canonical: bool,
    ) -> Result<Option<Detail>, Failure> {
        let hashed = self.segments.hashed_items(self.module(), at.segment);
        for detail in [Detail::All, Detail::Outer] {
            let values = self.values(at, detail)?;
            let items = self.segments.items(self.module(), at.segment, detail);
            let of = |runner: usize| {
                let mut rest = values[runner].as_slice();
                let mut words = HashMap::new();
                for item in &items {
                    let (own, others) = rest.split_at_checked(item.words as usize)?;
                    words.insert(item.what, own);
                    rest = others;
                }
                let pairs: Option<Vec<_>> = hashed.iter().map(|item| Some((*item, *words.get(&item.what)?))).collect();
                Some(hash(&pairs?, canonical))
            };
            if pair.map(of) == hashes.map(Some) {
                return Ok(Some(detail));
            }
        }
        Ok(None)
    }
}

impl Parting {
    /// Looks whether both runners execute the same segment next. `walk` stands at what the first
    /// one executed last.
    fn compare_flow(&mut self, next: [Option<u32>; 2], walk: &Walk) {
        if self.ended || next[0].is_some() && next[0] == next[1] {
            return;
        }
        self.ended = true;
        if next != [None; 2] {
            self.split = Some(Split { after: walk.point(), next });
        }
    }

    /// Compares the records of a segment that both have executed, which `walk` stands at.
    fn compare_values(&mut self, [a, b]: [Option<&Record>; 2], walk: &Walk) {
        if self.ended {
            return;
        }
        let [Some([_, hash, decisions]), Some([_, other_hash, other_decisions])] = [a, b] else { return };
        if self.results.is_none() && hash != other_hash {
            self.results = walk.point().map(|point| (point, [*hash, *other_hash]));
        }
        if self.decision.is_none() && decisions != other_decisions {
            self.decision = walk.point();
        }
    }
}

/// The way of one runner through the segments.
#[derive(Clone, Debug, Default)]
struct Walk {
    /// How often each segment was executed.
    counts: HashMap<u32, u64>,
    stack: Vec<Activation>,
    /// Records so far.
    records: u64,
    /// The last execution.
    last: Option<Execution>,
}

impl Walk {
    /// Executes a segment.
    fn step(&mut self, segments: &Segments, module: &Module, segment: u32) {
        // A runner that records nonsense gets no way through it.
        let Some(&Segment { function, .. }) = segments.list.get(segment as usize) else { return };
        let from = self.last.map(|last| last.segment);
        let mut enter = |called_by| {
            let (executed, before) = Default::default();
            self.stack.push(Activation { function, called_by, last: None, executed, before, returned: None });
        };
        match from.map(|from| (from, segments.list[from as usize].end)) {
            None => enter(None),
            Some((_, End::Call(_))) => enter(self.last),
            // Where nothing was hit, no shader is called.
            Some((from, End::Shader)) if segments.next_in_block(from) != Some(segment) => enter(self.last),
            Some((from, End::Block)) if returns(segments, module, from) => {
                let returned = self.stack.pop().map(|activation| Activation { returned: None, ..activation });
                if let Some(caller) = self.stack.last_mut() {
                    caller.returned = returned.map(Box::new);
                }
            }
            Some((_, End::Shader | End::Ray | End::Block)) => {}
        }
        let count = self.counts.entry(segment).or_default();
        let at = Execution { segment, number: *count };
        *count += 1;
        self.records += 1;
        if let Some(activation) = self.stack.last_mut() {
            match activation.last.replace(at) {
                Some(before) => _ = activation.before.insert(segment, before),
                None => _ = activation.before.remove(&segment),
            }
            activation.executed.insert(segment, at.number);
        }
        self.last = Some(at);
    }

    /// Where it stands.
    fn point(&self) -> Option<Point> {
        Some(Point { record: self.records - 1, at: self.last?, stack: self.stack.clone() })
    }
}

/// True if a function ends with a segment.
fn returns(segments: &Segments, module: &Module, segment: u32) -> bool {
    let Segment { function, block, .. } = segments.list[segment as usize];
    matches!(module.functions[function].block(block).term, Terminator::Return(_))
}
