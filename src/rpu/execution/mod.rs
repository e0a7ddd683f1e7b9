//! Execution: a loaded program with everything that its threads read, and the rules that every
//! engine keeps.
//!
//! An [`ExecutionContext`] holds an [`Executable`], the constants of a frame, a memory image and a
//! [`Tracer`]; a run changes the registers of a [`Block`]. The engine that the program was loaded
//! for (see [`super::engine`]) does the work.
//!
//! # What every engine gives
//!
//! A run gives the bits that each of its threads gives alone: lanes do not affect each other. Which
//! lanes run together, and in which order, is the engine's choice.
//!
//! # Memory
//!
//! Addresses below 2³¹ are vectors of the image, which is read only. From 2³¹ on, a thread has its
//! own scratch memory; `A.w` starts with its first address. Scratch memory, all registers and the
//! stack start as zeros.

use crate::block::Block;
use crate::executable::Executable;
use crate::isa::{Component, Reg};
use crate::launch::{Launch, Supply, Threads};
pub use crate::limits::{ExecutionError, Limits, RunReport, SCRATCH_BASE};
use crate::texture::Texture;
use crate::tracing::Tracer;
use std::sync::atomic::AtomicBool;

/// A loaded program with what it runs on; shared by all threads of a frame.
#[derive(Clone, Copy)]
pub struct ExecutionContext<'a> {
    /// The program.
    pub program: &'a Executable,
    /// `C0` to `C31`.
    pub constants: &'a [[u32; 4]; 32],
    /// The memory image.
    pub memory: &'a [[u32; 4]],
    /// The textures that `texload` and `texstore` name by their index.
    pub textures: &'a [Texture],
    /// The code address of each shader that the tracer can return, by its number.
    pub shaders: &'a [u32],
    /// The tracer of the rays.
    pub tracer: &'a dyn Tracer,
    /// Bounds on each thread.
    pub limits: Limits,
    /// When set, runs end with [`ExecutionError::Stopped`] at their next backward jump or call. A
    /// run that exceeds its budget sets it.
    pub stop: &'a AtomicBool,
}

impl ExecutionContext<'_> {
    /// The input that engines take.
    pub(super) fn launch(&self) -> Launch<'_> {
        let ExecutionContext { program, constants, memory, textures, shaders, tracer, limits, stop } = *self;
        Launch { program: program.decoded(), constants, memory, textures, shaders, tracer, limits, stop }
    }

    /// Runs the threads in `active` from a code address until each has returned. Their registers
    /// start as the block has them: see [`Block::reset`]. Registers of other lanes do not change.
    /// After an error the registers are unspecified.
    ///
    /// # Errors
    /// When a thread exceeds a limit, jumps or stores outside the program or its memory, or the
    /// stop flag is set.
    pub fn run(&self, block: &mut Block, entry: u32, active: u64) -> Result<RunReport, ExecutionError> {
        self.program.code().run(&self.launch(), block, entry, Threads::Lanes(active))
    }

    /// Runs threads from a code address until all have returned and `supply` starts no more.
    ///
    /// # Errors
    /// As [`ExecutionContext::run`].
    pub fn run_refilled(
        &self,
        block: &mut Block,
        entry: u32,
        supply: &mut Supply<'_>,
    ) -> Result<RunReport, ExecutionError> {
        self.program.code().run(&self.launch(), block, entry, Threads::From(supply))
    }

    /// Runs one thread from a code address with some of its registers set, each to four bit
    /// patterns, the others 0. Lane 0 of the block holds the registers at its end.
    ///
    /// # Errors
    /// As [`ExecutionContext::run`].
    pub fn run_single(&self, entry: u32, registers: &[(Reg, [u32; 4])]) -> Result<(Block, RunReport), ExecutionError> {
        let mut block = Block::new();
        for (reg, values) in registers {
            for (component, bits) in Component::ALL.into_iter().zip(*values) {
                block.set(*reg, component, 0, bits);
            }
        }
        let report = self.run(&mut block, entry, 1)?;
        Ok((block, report))
    }
}

/// The behavior of programs, on each engine.
#[cfg(test)]
#[path = "."]
mod on_interpreter {
    pub static ENGINE: &crate::EngineInfo = &crate::engine::INTERPRETER;
    pub const BEST: usize = usize::MAX;

    #[path = "tests.rs"]
    #[allow(clippy::duplicate_mod, reason = "each engine runs the same tests")]
    mod tests;
}

/// The same on generated code, for the widest vectors of the CPU.
#[cfg(all(test, target_arch = "x86_64"))]
#[path = "."]
mod on_native {
    pub static ENGINE: &crate::EngineInfo = &crate::native::NATIVE;
    pub const BEST: usize = usize::MAX;

    #[path = "tests.rs"]
    #[allow(clippy::duplicate_mod, reason = "each engine runs the same tests")]
    mod tests;
}

/// The same for AVX2, on a CPU that has wider vectors, too.
#[cfg(all(test, target_arch = "x86_64"))]
#[path = "."]
mod on_avx2 {
    pub static ENGINE: &crate::EngineInfo = &crate::native::NATIVE;
    pub const BEST: usize = 1;

    #[path = "tests.rs"]
    #[allow(clippy::duplicate_mod, reason = "each engine runs the same tests")]
    mod tests;
}
