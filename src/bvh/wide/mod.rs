//! The wide trees that the CPU traces, of four or eight children a node: collapsed from the binary
//! one, all boxes of a node or all triangles of a leaf tested at once.
//!
//! Made from nodes and triangles of the binary tree (Dammertz, Hanika & Keller, "Shallow Bounding
//! Volume Hierarchies", 2008; Wald, Benthin & Boulos, "Getting Rid of Packets", 2008). Every kernel
//! does the ray–triangle test's operations in the order of [`binary`](super::binary), and so gives
//! the same hits; boxes may be tested in any way that loses none.
//!
//! | file | holds |
//! |---|---|
//! | [`layout`] | nodes, blocks and links |
//! | `plan` | which binary nodes become wide ones |
//! | `collapse` | from the binary tree to a wide one |
//! | `refit` | new positions for the triangles |
//! | [`lanes`] | several floats at a time, and the choice of the instruction set |
//! | `slabs` | a ray prepared for boxes |
//! | `intersect` | a ray prepared for triangles |
//! | `single` | the kernel that traces one ray after another |
//! | `counts` | counting the steps of a traversal |
//! | `stream` | the kernel that advances all rays of a batch together |

mod collapse;
pub(super) mod interleaved;
pub(super) mod intersect;
pub mod lanes;
pub mod layout;
pub(super) mod plan;
mod refit;
pub(super) mod single;
pub(super) mod slabs;
pub(super) mod statistics;

use super::node::MAX_DEPTH;
use layout::{Block, WideNode};
pub use statistics::TraversalStats;

/// A wide tree. Node 0 is the root, and there is at least one block.
#[derive(Debug)]
pub struct WideBvh<const W: usize> {
    pub(super) nodes: Vec<WideNode<W>>,
    pub(super) blocks: Vec<Block<W>>,
    /// The number of triangles, parts of one that is split counted each.
    pub(super) triangles: usize,
}

/// Entries that a stack needs, at any width: a level leaves at most seven siblings, and all
/// children of a node are pushed before the nearest is taken off. A leaf larger than a block is a
/// level more than in the binary tree.
pub const STACK: usize = (MAX_DEPTH as usize + 1) * 7 + 8;

impl<const W: usize> WideBvh<W> {
    /// The nodes, the root first.
    pub fn nodes(&self) -> &[WideNode<W>] {
        &self.nodes
    }

    /// The leaves.
    pub fn blocks(&self) -> &[Block<W>] {
        &self.blocks
    }

    /// The tree's size in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.blocks[..])
    }
}

/// A wide tree of either width.
#[derive(Clone, Copy, Debug)]
pub enum WideTree<'a> {
    /// Four children a node.
    Four(&'a WideBvh<4>),
    /// Eight children a node.
    Eight(&'a WideBvh<8>),
}
