//! The timing model: how long a program takes on processors that run chunks of four threads in
//! lockstep (Węgrzanowski 2006, ch. 2).
//!
//! It takes the [`ExecutionContext`] that engines run, the [`Timing`] of its program, and a
//! [`Source`] of chunks. It gives the same registers, as it runs the interpreter's executor, and
//! [`Stats`]. It is a scheduler and nothing else: it decides neither what an instruction does nor
//! what a pixel is.
//!
//! # The model
//!
//! - A processor issues at most one instruction a cycle, for all active threads of one chunk.
//! - It issues for the same chunk as long as its next instruction need not wait. Then it switches,
//!   at no cost, to the next chunk that can issue, in a fixed circular order (a rotating priority
//!   encoder: the least hardware, and no chunk starves). When none can, the cycle is a *stall*,
//!   counted for the cause that delays the chunk that can issue first.
//! - An instruction waits for those earlier ones of its thread that the dependency flags name, and
//!   for the functional unit that it needs. There is no other order between instructions: sources
//!   are read at issue, so a write never waits for a read.
//! - After a control operation with a condition the thread's next instruction waits for the
//!   condition; there is no prediction.
//! - Threads of a chunk diverge where only some of them pass a condition, or where an indirect call
//!   sends them to different functions. The resulting subchunks are scheduled like chunks. They
//!   reconverge when they return from the function in which they diverged: the first to return wait
//!   for the others. They do not reconverge where paths merely join.
//! - Memory, textures, tracing and the unit for `_rcp` and `_rsq` have a latency and take an
//!   instruction only when they are free. Caches are not modeled.
//! - The data stack holds a number of vectors for each thread. A call that needs more moves the
//!   lowest to memory, and the return that needs them restores them; both occupy memory, and the
//!   thread waits. The control stack is not limited.
//! - A chunk whose threads have all ended is replaced at once.
//!
//! Processors do not influence each other, so they can be simulated in any order.

mod activations;
mod chunk;
mod config;
mod history;
mod processor;
mod stats;
mod subchunk;
mod timing;

pub use crate::latencies::Latencies;
pub use chunk::{CHUNK, Chunk, SLOT_PARTS, Source};
pub use config::{Chunks, Config, DEFAULT_TEXT, Intervals, Processors, Stack};
pub use stats::{AtPc, Cause, Stalls, Stats};
pub use timing::Timing;

use crate::execution::ExecutionContext;
use crate::limits::ExecutionError;

/// Runs one processor on the chunks of `source`, each from the code address `entry`. `timing` must
/// be that of the context's program.
///
/// # Errors
/// As [`ExecutionContext::run`].
pub fn run(
    context: &ExecutionContext<'_>,
    timing: &Timing,
    entry: u32,
    source: &mut dyn Source,
) -> Result<Stats, ExecutionError> {
    processor::Processor::new(&context.launch(), timing, entry, source).run()
}

#[cfg(test)]
mod tests;
