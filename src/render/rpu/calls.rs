//! Calls of one function on the timed simulator: arguments and results as words.

use super::loaded::{Entry, Loaded};
use crate::RenderError;
use shadewright_ir::Module;
use shadewright_rpu::execution::ExecutionContext;
use shadewright_rpu::isa::{Component, Reg};
use shadewright_rpu::timed::{self, CHUNK, Chunk, Config, Source, Stats, Timing};

/// The arguments and results of calls, a chunk of threads at a time.
pub trait Calls {
    /// The arguments of the next chunk: the words of each of its threads, of which there are at
    /// most [`CHUNK`]. `None` when there are no more; a chunk without threads is skipped.
    fn next(&mut self) -> Option<Vec<Vec<u32>>>;

    /// Takes the results of a chunk: the words of each thread. `number` counts the chunks that had
    /// threads, in their order; `cost` is each thread's share of issue slots, in parts of
    /// [`timed::SLOT_PARTS`].
    fn done(&mut self, number: u64, results: Vec<Vec<u32>>, cost: [u64; CHUNK]);
}

impl Loaded {
    /// The cost of the program's instructions in a configuration of the timed simulator.
    pub fn timing(&self, config: &Config) -> Timing {
        Timing::new(&self.program().program, config)
    }

    /// Runs one processor of the timed simulator on calls of a function.
    ///
    /// # Errors
    /// As [`Loaded::run`].
    pub fn run_timed(
        &self,
        context: &ExecutionContext<'_>,
        timing: &Timing,
        function: &str,
        calls: &mut dyn Calls,
        module: &Module,
    ) -> Result<Stats, RenderError> {
        let Entry { address, params, results } = self.entry(function)?;
        let mut source = Registers { params, results, calls };
        timed::run(context, timing, address, &mut source).map_err(|e| self.explain(e, module))
    }
}

/// Calls as a source of chunks: the register components of their arguments and results, in order.
pub(super) struct Registers<'c> {
    pub params: Vec<(Reg, Component)>,
    pub results: Vec<(Reg, Component)>,
    pub calls: &'c mut dyn Calls,
}

impl Source for Registers<'_> {
    fn start(&mut self, chunk: &mut Chunk<'_>) -> Option<u8> {
        let threads = self.calls.next()?;
        for (thread, words) in threads.iter().enumerate().take(CHUNK) {
            for (&(reg, component), &word) in self.params.iter().zip(words) {
                chunk.set(reg, component, thread, word);
            }
        }
        Some((1 << threads.len().min(CHUNK)) - 1)
    }

    fn finish(&mut self, number: u64, chunk: &Chunk<'_>, cost: [u64; CHUNK]) {
        let words = |thread| self.results.iter().map(|&(reg, c)| chunk.get(reg, c, thread)).collect();
        self.calls.done(number, (0..CHUNK).map(words).collect(), cost);
    }
}
