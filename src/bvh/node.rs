//! The binary tree's node, and the bytes of tree and triangles as the GPU takes them.

use super::builder::Bvh;
use bytemuck::{Pod, Zeroable};

/// The most nodes on a path from the root to a leaf. The builder keeps to it, so a traversal stack of [`STACK`] entries
/// suffices: a walk keeps at most one entry a level.
pub const MAX_DEPTH: u32 = 60;

/// Entries in the traversal stack of the binary tree, here and in `wgsl/traverse.wgsl`.
pub const STACK: usize = 64;

/// An inner node: the boxes of both children. 64 bytes, four vectors of the GPU's node buffer.
///
/// | bytes | field |
/// |---|---|
/// | 0..12, 12..16 | left box's minimum, left child |
/// | 16..28, 28..32 | left box's maximum, left count |
/// | 32..48, 48..64 | the same of the right child |
///
/// A child is the index of an inner node, or, with its top bit set, the complement `!first` of a leaf's first triangle; the
/// count is then the leaf's number of triangles (0 for the missing child of a tree of one leaf). Node 0 is the root, and
/// children come after their parents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Node {
    /// Left and right.
    pub children: [Child; 2],
}

/// One half of a [`Node`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Child {
    /// Lower corner of the box.
    pub min: [f32; 3],
    /// Node index, or complement of the leaf's first triangle.
    pub link: u32,
    /// Upper corner of the box.
    pub max: [f32; 3],
    /// Triangles of the leaf; 0 for an inner node.
    pub count: u32,
}

/// What [`Child::link`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Index of an inner node.
    Inner(u32),
    /// A leaf's triangles, `first .. first + count`.
    Leaf {
        /// Index of the first triangle, in leaf order.
        first: u32,
        /// Number of triangles.
        count: u32,
    },
}

impl Child {
    /// The child's link, decoded.
    #[inline]
    pub fn link(&self) -> Link {
        if self.link >> 31 != 0 { Link::Leaf { first: !self.link, count: self.count } } else { Link::Inner(self.link) }
    }

    /// A leaf without triangles, in a box at the origin.
    pub(super) fn empty() -> Self {
        Self { link: !0, ..Self::default() }
    }
}

/// The tree's nodes and triangles as the bytes of the two buffers that `wgsl/traverse.wgsl` reads: [`Node`]s, and
/// [`LeafTriangle`](super::triangle::LeafTriangle)s in leaf order.
pub fn gpu_layout(bvh: &Bvh) -> (&[u8], &[u8]) {
    (bytemuck::cast_slice(bvh.nodes()), bytemuck::cast_slice(bvh.triangles()))
}
