//! Counting what a traversal does, for reports.

use super::layout::Block;

/// What is told of each step of a traversal.
pub trait Tally {
    /// A node's boxes were tested, and so many of them met.
    fn node(&mut self, entered: u32);
    /// A block's triangles were tested.
    fn block<const W: usize>(&mut self, block: &Block<W>);
}

/// Counts nothing, at no cost.
pub struct NoTally;

impl Tally for NoTally {
    #[inline(always)]
    fn node(&mut self, _: u32) {}
    #[inline(always)]
    fn block<const W: usize>(&mut self, _: &Block<W>) {}
}

/// The steps of rays through a wide tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rays.
    pub rays: u64,
    /// Nodes whose boxes were tested.
    pub nodes: u64,
    /// Boxes that were met, of all in those nodes.
    pub entered: u64,
    /// Blocks whose triangles were tested.
    pub blocks: u64,
    /// Triangles in those blocks.
    pub triangles: u64,
}

impl Tally for Counts {
    fn node(&mut self, entered: u32) {
        self.nodes += 1;
        self.entered += u64::from(entered);
    }

    fn block<const W: usize>(&mut self, block: &Block<W>) {
        self.blocks += 1;
        self.triangles += block.present().count() as u64;
    }
}
