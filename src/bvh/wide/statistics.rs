//! Traversal statistics: how many nodes, boxes, blocks and triangles rays visit.

use super::layout::Block;

/// Receives each step of a traversal.
pub trait Recorder {
    /// A node's boxes were tested, and so many of them met.
    fn node(&mut self, entered: u32);
    /// A block's triangles were tested.
    fn block<const W: usize>(&mut self, block: &Block<W>);
}

/// Records nothing, at no cost.
pub struct NoRecorder;

impl Recorder for NoRecorder {
    #[inline(always)]
    fn node(&mut self, _: u32) {}
    #[inline(always)]
    fn block<const W: usize>(&mut self, _: &Block<W>) {}
}

/// The steps of rays through a wide tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraversalStats {
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

impl Recorder for TraversalStats {
    fn node(&mut self, entered: u32) {
        self.nodes += 1;
        self.entered += u64::from(entered);
    }

    fn block<const W: usize>(&mut self, block: &Block<W>) {
        self.blocks += 1;
        self.triangles += block.present().count() as u64;
    }
}
