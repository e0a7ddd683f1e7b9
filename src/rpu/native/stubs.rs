//! Stubs: code that is written after a function's, as it seldom runs.

use super::assembler::Label;
use crate::step::ValueLocation;
use iced_x86::Register;

/// Bytes of an instruction of the CPU with a vector and an address.
const BYTES_OF_ACCESS: usize = 11;

/// Code that is written after a function's.
pub(super) enum Stub {
    Jump(Jump),
    Load(Load),
    Slow(Slow),
}

impl Stub {
    /// About how many bytes of code it will be.
    pub fn bytes(&self) -> usize {
        let accesses = match self {
            Stub::Jump(jump) => 8 + jump.stores.len(),
            // Rows are loaded for each lane, a register with the index first.
            Stub::Load(load) => 24 + load.slow.accesses() + 12 * load.results.len(),
            Stub::Slow(slow) => slow.accesses(),
        };
        accesses * BYTES_OF_ACCESS
    }
}

/// Lanes that jump: their way out of a block.
pub(super) struct Jump {
    pub label: Label,
    /// Columns to store for them, with their registers.
    pub stores: Vec<(u16, Register)>,
    /// The slot where they wait, unless they return.
    pub slot: Option<usize>,
    /// Where the code continues when none stays, and whether that is where they go.
    pub all: Label,
    pub direct: bool,
    /// The address of a backward jump, which is counted.
    pub spends: Option<u32>,
    pub back: Label,
}

/// A load from several addresses, or from scratch memory.
pub(super) struct Load {
    pub gather: Label,
    pub beyond: Label,
    pub slow: Slow,
    pub to: u16,
    pub offset: i16,
    /// 0 for one vector, 1 for four.
    pub quad: i32,
    /// The addresses without the offset, and a free register.
    pub bases: Register,
    pub other: Register,
    pub results: Vec<Register>,
}

/// An access that the engine makes.
pub(super) struct Slow {
    pub label: Label,
    pub done: Label,
    pub pc: u32,
    /// New values, which are stored before, and all that are in registers, which a call loses: each
    /// with a place whose memory has it after the stores and the access.
    pub spills: Vec<(u16, Register)>,
    pub kept: Vec<(ValueLocation, Register)>,
}

impl Slow {
    /// How many instructions it is, about.
    pub fn accesses(&self) -> usize {
        10 + self.spills.len() + self.kept.len()
    }
}
