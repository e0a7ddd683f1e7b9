//! The limits of a run, and how a run ends: its error or its report. All engines keep these limits.

use crate::texture::MAX_TEXEL_STORES;
use thiserror::Error;

/// First address of a thread's scratch memory.
pub const SCRATCH_BASE: u32 = 1 << 31;

/// Bounds of a run, for each thread.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Backward jumps and calls.
    pub budget: u32,
    /// Calls that have not returned.
    pub call_depth: u32,
    /// Vectors of scratch memory.
    pub scratch: u32,
}

impl Default for Limits {
    /// A million backward jumps and calls, ten thousand calls deep, 16384 vectors (256 KiB) of
    /// scratch.
    fn default() -> Limits {
        Limits { budget: 1_000_000, call_depth: 10_000, scratch: 1 << 14 }
    }
}

/// Why a run ended early. `pc` is the code address of the instruction that could not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ExecutionError {
    /// A thread used up its budget of backward jumps and calls.
    #[error("instruction {pc}: the thread did not end within {budget} backward jumps and calls")]
    Budget {
        /// Where.
        pc: u32,
        /// The budget.
        budget: u32,
    },
    /// Too many calls without a return.
    #[error("instruction {pc}: calls are nested more than {limit} deep")]
    CallDepth {
        /// Where.
        pc: u32,
        /// The limit.
        limit: u32,
    },
    /// A call to an address outside the program, such as the shader of a miss.
    #[error("instruction {pc}: call to {target:#x}, which is outside the program")]
    BadCall {
        /// Where.
        pc: u32,
        /// The address.
        target: u32,
    },
    /// A store outside the thread's scratch memory.
    #[error("instruction {pc}: store to {address:#x}, outside the thread's scratch memory")]
    BadStore {
        /// Where.
        pc: u32,
        /// The address.
        address: u32,
    },
    /// A block stored more texels than its log holds.
    #[error("instruction {pc}: more than {MAX_TEXEL_STORES} texels were stored in one run")]
    TooManyTexels {
        /// Where.
        pc: u32,
    },
    /// The last instruction of the program did not jump or return.
    #[error("execution ran past the end of the program at {pc}")]
    PastEnd {
        /// The address after the last instruction.
        pc: u32,
    },
    /// The stop flag was set.
    #[error("the run was stopped")]
    Stopped,
}

/// The counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunReport {
    /// Instructions issued, each for a group of lanes; 0 from an engine that does not count.
    pub issued: u64,
    /// Instructions times the lanes that they were issued for; 0 from an engine that does not count.
    pub executed: u64,
    /// Rays traced.
    pub rays: u64,
    /// Lanes that loaded from outside the image and their scratch memory; they got zeros.
    pub bad_loads: u64,
}
