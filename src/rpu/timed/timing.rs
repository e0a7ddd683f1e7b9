//! The cost of each instruction of a program: its latency, the functional unit that it occupies,
//! and what it must wait for.

use super::config::Config;
use super::stats::Cause;
use crate::depend;
use crate::isa::{Instr, Primary, Program};

/// A functional unit that can be busy. Arithmetic other than `_rcp` and `_rsq` is fully pipelined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Special,
    Memory,
    Trace,
    Texture,
}

impl Unit {
    pub const COUNT: usize = 4;

    /// The cause of a stall for it.
    pub fn cause(self) -> Cause {
        match self {
            Unit::Special => Cause::SpecialBusy,
            Unit::Memory => Cause::MemoryBusy,
            Unit::Trace => Cause::TraceBusy,
            Unit::Texture => Cause::TextureBusy,
        }
    }
}

/// The cost of issuing an instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// Cycles until its results can be read, or its condition is known.
    pub latency: u32,
    /// The cause of a stall that waits for its results.
    pub waiting: Cause,
    /// The unit that it occupies, if any.
    pub unit: Option<Unit>,
    /// Cycles that the unit is busy, for each thread if `per_thread`.
    pub busy: u32,
    pub per_thread: bool,
    /// Which earlier instructions must have finished: bit k the one that its thread issued k + 1
    /// slots before, bit 15 all that are older.
    pub waits: u16,
}

/// The costs of a program's instructions on one configuration of the timing model.
#[derive(Debug, Clone)]
pub struct Timing {
    pub(super) config: Config,
    pub(super) costs: Vec<Cost>,
}

impl Timing {
    /// The costs of `program`. Its own dependency flags are used where it has them, else those that
    /// [`depend`] finds.
    pub fn new(program: &Program, config: &Config) -> Timing {
        let found = program.waits.is_empty().then(|| depend::flags(program, &[], &config.latencies));
        let waits = found.as_ref().unwrap_or(&program.waits);
        let costs = program.code.iter().zip(waits).map(|(instr, waits)| cost(instr, waits.0, config)).collect();
        Timing { config: *config, costs }
    }
}

fn cost(instr: &Instr, waits: u16, config: &Config) -> Cost {
    let intervals = &config.intervals;
    let special = instr.ariths().any(|arith| arith.special.is_some());
    let (waiting, unit, busy) = match instr.primary() {
        Some(Primary::Trace { .. }) => (Cause::Trace, Some(Unit::Trace), intervals.ray),
        Some(Primary::Load { .. }) => (Cause::Load, Some(Unit::Memory), intervals.memory),
        Some(Primary::Load4 { .. }) => (Cause::Load, Some(Unit::Memory), 4 * intervals.memory),
        Some(Primary::Store { .. }) => (Cause::Load, Some(Unit::Memory), intervals.memory),
        Some(Primary::TexLoad { .. } | Primary::TexStore { .. }) => {
            (Cause::Texture, Some(Unit::Texture), intervals.texture)
        }
        Some(Primary::Arith(_)) | None if special => (Cause::Special, Some(Unit::Special), intervals.special),
        Some(Primary::Arith(_)) => (Cause::Arithmetic, None, 0),
        None if instr.ariths().next().is_some() => (Cause::Arithmetic, None, 0),
        None => (Cause::Control, None, 0),
    };
    let per_thread = unit == Some(Unit::Trace);
    Cost { latency: config.latencies.instruction(instr), waiting, unit, busy, per_thread, waits }
}
