//! Single samples on the GPU. A program with `record` instructions is run by the wavefront executor,
//! which has a sample's sections run one after the other; the record is in the buffer of the frames,
//! after those of all paths, as a ninth storage buffer would exceed what every adapter has:
//!
//! | word after the frames | holds |
//! |---|---|
//! | 0 | the number of words that were recorded |
//! | 1 | the number of the first word that is kept |
//! | 2 | how many are kept |
//! | 3 … | these, then as many words as a record has, for those that are not kept |

use super::batch::{Batch, Results, SampleNumbers};
use super::executor::{PathExecutor, Setup, trap_error};
use super::program::Program;
use super::renderer::{GpuRenderer, compile, default_path_count, entries_of, setup};
use super::warm_up::{Priority, WarmUpProgress};
use crate::samples::{RecordWindow, Recorded, SampleRunner, arguments};
use crate::sampling::CameraSample;
use crate::{Job, RenderError, Renderer};
use shadewright_codegen::wgsl::RESULT_WORDS;
use shadewright_program::CAMERA_ENTRY;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Words before the records: `RECORD_HEAD` of `wgsl/section/wavefront.wgsl`.
const HEAD_WORDS: u32 = 3;

/// Words of a sample's color.
const COLOR_WORDS: u32 = 4;

/// Runs samples on a GPU as a renderer does.
#[derive(Debug)]
pub struct GpuSamples {
    renderer: GpuRenderer,
    stop: Arc<AtomicBool>,
}

impl GpuSamples {
    /// On the renderer's device. Programs that record run by sections, whatever its schedule.
    pub fn new(renderer: GpuRenderer) -> Self {
        Self { renderer, stop: Arc::default() }
    }

    /// Runs samples, and gives their colors.
    fn run(
        &self,
        job: &Job,
        program: &Program,
        executor: &mut dyn PathExecutor,
        samples: &[CameraSample],
    ) -> Result<Vec<[u32; 4]>, RenderError> {
        let entry = program.entry(CAMERA_ENTRY)?;
        let budget = job.budget.min(executor.gpu().max_loop_iterations());
        let argument_words = job.program.camera_arguments();
        let mut colors = Vec::with_capacity(samples.len());
        for samples in samples.chunks(executor.paths() as usize) {
            let mut words = vec![0; argument_words * samples.len()];
            for (item, sample) in samples.iter().enumerate() {
                let rows = words.chunks_mut(samples.len());
                rows.zip(arguments(job, sample)).for_each(|(row, word)| row[item] = word);
            }
            let batch = Batch {
                entry,
                budget,
                items: samples.len() as u32,
                iterations: 1,
                argument_words: argument_words as u32,
                arguments: &words,
                results: Results::Stay,
                samples: SampleNumbers::default(),
            };
            let mut progress = |_| match self.stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            if let Some(trap) = executor.run_batch(&batch, &mut progress)? {
                let limit = executor.stats().frame_words;
                return Err(trap_error(trap, program.interface(), &job.program.module, budget, limit));
            }
            let rows = executor.results(COLOR_WORDS.min(RESULT_WORDS), samples.len() as u32)?;
            colors.extend((0..samples.len()).map(|path| std::array::from_fn(|k| rows[k][path])));
        }
        Ok(colors)
    }
}

impl SampleRunner for GpuSamples {
    fn describe(&self) -> String {
        self.renderer.describe()
    }

    fn stop_by(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = stop.clone();
    }

    fn colors(&mut self, job: &Job, samples: &[CameraSample]) -> Result<Vec<[u32; 4]>, RenderError> {
        let compute = self.renderer.compute();
        let program = compile(compute.gpu(), job, self.renderer.schedule())?;
        compute.prepare(&program, Priority::Foreground, &WarmUpProgress::canceled_by(&self.stop))?;
        let paths = default_path_count(compute.gpu()).min(samples.len() as u32);
        let mut executor = program.executor(compute, &setup(job, &program, paths))?;
        self.run(job, &program, &mut *executor, samples)
    }

    fn record(&mut self, job: &Job, sample: &CameraSample, window: RecordWindow) -> Result<Recorded, RenderError> {
        let compute = self.renderer.compute();
        let (entries, options) = entries_of(job);
        let program = Program::sections(&job.program.module, &entries, &options)?;
        compute.prepare(&program, Priority::Foreground, &WarmUpProgress::canceled_by(&self.stop))?;
        let kept = window.count * window.record_words;
        let record_words = HEAD_WORDS + kept + window.record_words;
        let mut executor = program.executor(compute, &Setup { record_words, ..setup(job, &program, 1) })?;
        let (gpu, stats) = (compute.gpu(), executor.stats());
        let at = 4 * u64::from(stats.frame_words) * u64::from(stats.paths);
        let first = window.first * u64::from(window.record_words);
        // The kernels count words in 32 bits.
        let too_far = || RenderError::TooLarge { what: "the record of the sample", needed: first, limit: 1 << 32 };
        let head = [0, u32::try_from(first).map_err(|_| too_far())?, kept];
        gpu.queue().write_buffer(executor.path_buffers().frames(), at, bytemuck::cast_slice(&head));
        let colors = self.run(job, &program, &mut *executor, std::slice::from_ref(sample))?;
        let frames = executor.path_buffers().frames();
        let bytes = 4 * u64::from(HEAD_WORDS + kept);
        let copied = gpu.copy_back("the record's copy", bytes, |commands, back| {
            commands.copy_buffer_to_buffer(frames, at, back, 0, bytes);
        })?;
        let (head, words) = copied.split_at(HEAD_WORDS as usize);
        let made = head[0].saturating_sub(head[1]).min(kept);
        let each = window.record_words.max(1);
        Ok(Recorded {
            color: colors.first().copied().unwrap_or_default(),
            words: words[..(made / each * each) as usize].to_vec(),
            total: u64::from(head[0] / each),
        })
    }
}
