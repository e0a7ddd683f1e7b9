//! The interface to whatever starts threads and takes their results, a chunk at a time.

use crate::block::Block;
use crate::isa::{Component, Reg};
use crate::texture::TexelStore;

/// Threads in a chunk.
pub const CHUNK: usize = 4;

/// A thread's share of an issue slot is a whole number of this many parts: one to four threads
/// share a slot.
pub const SLOT_PARTS: u64 = 12;

/// The registers of a chunk's threads.
#[derive(Debug)]
pub struct Chunk<'a> {
    pub(super) block: &'a mut Block,
    /// The lane of its first thread.
    pub(super) first: usize,
}

impl Chunk<'_> {
    /// A component of a register in one thread (0 to 3), as [`Block::get`].
    pub fn get(&self, reg: Reg, component: Component, thread: usize) -> u32 {
        self.block.get(reg, component, self.first + thread % CHUNK)
    }

    /// Sets a component of a register in one thread (0 to 3), as [`Block::set`].
    pub fn set(&mut self, reg: Reg, component: Component, thread: usize, bits: u32) {
        self.block.set(reg, component, self.first + thread % CHUNK, bits);
    }

    /// The texels that its threads have stored, in the order in which they did, for
    /// [`apply`](crate::texture::apply) once the run is over.
    pub fn texel_stores(&self) -> impl Iterator<Item = TexelStore> {
        self.block.texel_stores(((1 << CHUNK) - 1) << self.first)
    }
}

/// Where a processor takes its chunks from, and where their results go.
pub trait Source {
    /// Sets the registers of the next chunk, which are as [`Block::reset`] leaves them, and returns
    /// the mask of its threads: bit i for thread i. `None` when there are no more chunks; a chunk
    /// without threads is skipped.
    fn start(&mut self, chunk: &mut Chunk<'_>) -> Option<u8>;

    /// Takes the results of a chunk. `number` counts those that had threads, in the order in which
    /// they started. `cost` is the share of issue slots of each thread, in parts of [`SLOT_PARTS`]:
    /// a slot is shared by the threads that it was used for.
    fn finish(&mut self, number: u64, chunk: &Chunk<'_>, cost: [u64; CHUNK]);
}
