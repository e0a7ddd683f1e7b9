//! The interface of engines: what each implements, and what is known of it.
//!
//! An [`Engine`] loads a decoded program once; the [`Code`] that it returns runs a block, or a
//! batch of threads that refills a block's lanes, from an entry point. All engines change the same
//! state, a [`Block`], and give the same bits: the interpreter is the oracle. An engine keeps the
//! limits of its [`Launch`], and ends at the next backward jump or call once the stop flag is set.

use crate::block::Block;
use crate::decode::DecodedProgram;
use crate::format::Format;
use crate::launch::{Launch, Threads};
use crate::limits::{ExecutionError, RunReport};
use std::fmt::Debug;
use std::sync::Arc;
use thiserror::Error;

/// Loads programs.
pub trait Engine: Debug + Sync {
    /// Loads a program, whose number format is [`DecodedProgram::format`].
    ///
    /// # Errors
    /// When the engine cannot run this program.
    fn load(&self, program: &Arc<DecodedProgram>) -> Result<Arc<dyn Code>, Unsupported>;
}

/// A program that an engine has loaded, which the launches that it runs have in decoded form.
pub trait Code: Debug + Send + Sync {
    /// Runs threads from a code address until all have returned: see
    /// [`ExecutionContext::run`](crate::execution::ExecutionContext::run) and
    /// [`ExecutionContext::run_refilled`](crate::execution::ExecutionContext::run_refilled).
    ///
    /// # Errors
    /// When a thread exceeds a limit, jumps or stores outside the program or its memory, or the
    /// stop flag is set.
    fn run(
        &self,
        launch: &Launch<'_>,
        block: &mut Block,
        entry: u32,
        threads: Threads<'_, '_>,
    ) -> Result<RunReport, ExecutionError>;
}

/// A program that an engine cannot run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the {engine} cannot run this program: {reason}")]
pub struct Unsupported {
    /// The engine's name.
    pub engine: &'static str,
    /// Why.
    pub reason: String,
}

/// A row of the table of engines.
#[derive(Debug)]
pub struct EngineInfo {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// A description in one line.
    pub description: &'static str,
    /// The features that it runs with on this CPU, such as the instruction set.
    pub runs_with: fn() -> &'static str,
    /// True if it runs on this CPU.
    ///
    /// # Errors
    /// Why it does not.
    pub available: fn() -> Result<(), &'static str>,
    /// The number formats that it computes in.
    pub formats: &'static [Format],
    /// The engine.
    pub engine: &'static dyn Engine,
}
