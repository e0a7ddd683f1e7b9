//! The input of a run: a decoded program with everything that its threads read, and the threads.

use crate::block::Block;
use crate::decode::DecodedProgram;
use crate::limits::Limits;
use crate::texture::Texture;
use crate::tracing::Tracer;
use std::sync::atomic::AtomicBool;

/// A decoded program with everything that its threads read: what
/// [`ExecutionContext`](crate::execution::ExecutionContext) gives to the engine of its program.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// The program.
    pub program: &'a DecodedProgram,
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
    /// The flag that stops runs at their next backward jump or call. A run that exceeds its budget
    /// sets it.
    pub stop: &'a AtomicBool,
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
