//! The timed machine: how long a program takes on processors that run chunks of four threads in lockstep (Węgrzanowski 2006, ch. 2).
//!
//! It takes the same [`Machine`] as the functional one, the [`Timing`] of its program, and a [`Source`] of chunks; it gives the same registers, as both run the
//! same executor, and [`Stats`] of when and why. It is a second scheduler and nothing else: what an instruction does is not decided here, nor what a pixel is.
//!
//! # The model
//!
//! - A processor issues at most one instruction a cycle, for all active threads of one chunk.
//! - It issues for the same chunk as long as that can go on. When its next instruction must wait, it switches, at no cost, to the next chunk that can
//!   issue, in a fixed circular order (a priority encoder that rotates: the least hardware, and no chunk starves). Only when none can, a cycle is lost: a
//!   *stall*, counted for what the chunk waited for that can go on first.
//! - An instruction waits for those earlier ones of its thread that the dependency flags name, and for the unit that it needs. There is no other order between
//!   instructions: sources are read at issue, so a write never waits for a read.
//! - After a control operation with a condition the thread's next instruction waits for the condition; there is no prediction.
//! - A chunk divides where only some of its threads pass a condition, or where a call through a register sends them to different functions. Its parts are scheduled
//!   like chunks. Parts come together again when they return from the function in which they parted: who returns first waits for the others. They do not come together where paths
//!   merely join.
//! - Memory, textures, tracing and the unit for `_rcp` and `_rsq` have a latency and take an instruction only when they are free. Caches are not modelled.
//! - The data stack holds a number of vectors for each thread. A call that needs more moves the lowest to memory, the return that needs them brings
//!   them back; both occupy memory, and the thread waits. The control stack is not limited.
//! - A chunk whose threads have all ended is replaced at once.
//!
//! Processors do not influence each other, so they can be simulated in any order.

mod activations;
mod chunk;
mod config;
mod history;
mod processor;
mod stats;
mod timing;

pub use chunk::{CHUNK, Chunk, SLOT_PARTS, Source};
pub use config::{Chunks, Config, ConfigError, DEFAULT_TEXT, Intervals, Latencies, Processors, Stack};
pub use stats::{AtPc, Cause, Stalls, Stats};
pub use timing::Timing;

use super::machine::{Machine, MachineError};

/// Runs one processor on the chunks of `source`, each from the code address `entry`. `timing` must be that of the machine's program.
///
/// # Errors
/// As [`Machine::run`].
pub fn run(machine: &Machine<'_>, timing: &Timing, entry: u32, source: &mut dyn Source) -> Result<Stats, MachineError> {
    processor::Processor::new(machine, timing, entry, source).run()
}

#[cfg(test)]
mod tests;
