//! Engines: what runs programs on blocks of threads.
//!
//! An [`Engine`] loads a decoded program once; the [`Code`] that it returns runs a block, or a
//! batch of threads that refills a block's lanes, from an entry point. All engines change the same
//! state, a [`Block`](super::block), and give the same bits: the interpreter is the oracle. An
//! engine keeps the limits of its [`ExecutionContext`], and ends at the next backward jump or call
//! once the context's stop flag is set.
//!
//! [`ENGINES`] is the table of engines. To add one, write a module with its [`Engine`] and add a
//! row: the command line, the renderers and the tests that compare engines read the table.

use super::block::Block;
use super::decode::DecodedProgram;
use super::execution::{ExecutionContext, ExecutionError, RunReport};
use super::format::Format;
use super::interpreter::Interpreter;
use super::simd::InstructionSet;
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

/// A program that an engine has loaded. `context.program` is the executable that holds it.
pub trait Code: Debug + Send + Sync {
    /// Runs threads from a code address until all have returned: see [`ExecutionContext::run`] and
    /// [`ExecutionContext::run_refilled`].
    ///
    /// # Errors
    /// The errors of [`ExecutionContext::run`].
    fn run(
        &self,
        context: &ExecutionContext<'_>,
        block: &mut Block,
        entry: u32,
        threads: Threads<'_, '_>,
    ) -> Result<RunReport, ExecutionError>;
}

/// The threads of a run.
pub enum Threads<'a, 's> {
    /// The threads of the lanes in a mask.
    Lanes(u64),
    /// The threads that a supply starts, until it starts no more.
    From(&'a mut Supply<'s>),
}

impl<'a, 's> Threads<'a, 's> {
    /// The lanes of the first threads, and where more come from.
    pub(super) fn begin(self, block: &mut Block) -> (u64, Option<&'a mut Supply<'s>>) {
        match self {
            Threads::Lanes(lanes) => (lanes, None),
            Threads::From(supply) => (supply(block, u64::MAX), Some(supply)),
        }
    }
}

/// Takes the results of threads that have ended and starts others in their lanes. The second
/// argument is the lanes that are free; the result is those of them in which it starts threads,
/// whose arguments it has written to the block. The registers of free lanes are as their last
/// thread left them.
pub type Supply<'s> = dyn FnMut(&mut Block, u64) -> u64 + 's;

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

/// The interpreter, which runs every program on every CPU.
pub static INTERPRETER: EngineInfo = EngineInfo {
    name: "interpreter",
    description: "runs decoded programs on 64 lanes, 16 an instruction step",
    runs_with: || InstructionSet::detect().name(),
    available: || Ok(()),
    formats: &[Format::F32, Format::F24],
    engine: &Interpreter,
};

/// All engines; the last is the default.
pub static ENGINES: &[&EngineInfo] = &[
    &INTERPRETER,
    #[cfg(target_arch = "x86_64")]
    &super::native::NATIVE,
    &super::auto::AUTO,
];

/// The engines that run on this CPU, the default last.
pub fn available() -> impl Iterator<Item = &'static EngineInfo> {
    ENGINES.iter().copied().filter(|engine| (engine.available)().is_ok())
}

/// The engine that runs where none is chosen.
pub fn default_engine() -> &'static EngineInfo {
    available().last().unwrap_or(&INTERPRETER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn engines_have_distinct_names_and_the_interpreter_is_always_available() {
        let names: HashSet<_> = ENGINES.iter().map(|engine| engine.name).collect();
        assert_eq!(names.len(), ENGINES.len());
        assert!(available().any(|engine| engine.name == INTERPRETER.name));
    }
}
