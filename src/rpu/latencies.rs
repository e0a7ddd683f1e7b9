//! The latencies of instructions: configured for the timing model, read by the dependency flags and
//! by schedulers.

use crate::isa::{Arith, Instr, Op, OpClass, Primary};
use serde::{Deserialize, Serialize};

/// Cycles from the issue of an instruction until one that depends on it can issue; at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// `mov`.
    pub mov: u32,
    /// `frac`.
    pub frac: u32,
    /// `add`.
    pub add: u32,
    /// `mul`.
    pub mul: u32,
    /// `mad`.
    pub mad: u32,
    /// The dot products.
    pub dot: u32,
    /// Integer operations.
    pub integer: u32,
    /// Conversions between floats and integers.
    pub conversion: u32,
    /// Whatever carries `_rcp` or `_rsq`.
    pub special: u32,
    /// `load` and `load4`.
    pub load: u32,
    /// `store`.
    pub store: u32,
    /// Reading a texel.
    pub texture_load: u32,
    /// Writing a texel.
    pub texture_store: u32,
    /// `trace`.
    pub trace: u32,
    /// A jump, call or return, besides the result that its condition tests.
    pub control: u32,
}

impl Latencies {
    /// Cycles from the issue of an instruction until one that reads what it writes can issue. An
    /// instruction of several operations has finished when its slowest operation has.
    pub fn instruction(&self, instr: &Instr) -> u32 {
        let primary = match instr {
            Instr::Primary(primary) => self.primary(primary),
            Instr::Pair(arith, _, _) => self.arith(arith),
            Instr::Split(split, _) => self.arith(&split.first).max(self.arith(&split.second)),
            Instr::Control(_) => 0,
        };
        if instr.control().is_some() { primary.max(self.control) } else { primary }
    }

    fn primary(&self, primary: &Primary) -> u32 {
        match primary {
            Primary::Arith(arith) => self.arith(arith),
            Primary::Trace { .. } => self.trace,
            Primary::Load { .. } | Primary::Load4 { .. } => self.load,
            Primary::Store { .. } => self.store,
            Primary::TexLoad { .. } => self.texture_load,
            Primary::TexStore { .. } => self.texture_store,
        }
    }

    /// Cycles of an arithmetic instruction, with what it puts into `S`.
    pub fn arith(&self, arith: &Arith) -> u32 {
        let operation = match (arith.op, arith.op.class()) {
            (Op::Mov, _) => self.mov,
            (Op::Frac, _) => self.frac,
            (Op::Add, _) => self.add,
            (Op::Mul, _) => self.mul,
            (Op::Mad, _) => self.mad,
            (_, OpClass::Componentwise | OpClass::Dot) => self.dot,
            (_, OpClass::Integer) => self.integer,
            (_, OpClass::ToInteger | OpClass::FromInteger) => self.conversion,
        };
        if arith.special.is_some() { operation.max(self.special) } else { operation }
    }
}
