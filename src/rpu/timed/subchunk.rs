//! Subchunks: what a processor schedules.

use super::history::{History, Until};
use super::timing::Unit;
use crate::executor::Group;

/// Threads of a chunk that execute together: all of them, or some after they have diverged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subchunk {
    pub group: Group,
    /// When its next instruction has its operands; functional units aside.
    pub ready: Until,
    /// The functional unit that its next instruction needs.
    pub unit: Option<Unit>,
    pub history: History,
    /// The lowest vector of its data stack that is not in memory.
    pub stack_from: u32,
}
