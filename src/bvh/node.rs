//! The binary tree's node, as CPU and GPU read it.

use bytemuck::{Pod, Zeroable};

/// The most nodes on a path from the root to a leaf. The builder keeps to it, so a traversal stack
/// of [`STACK`] entries suffices: a traversal keeps at most one entry a level.
pub const MAX_DEPTH: u32 = 60;

/// Entries in the traversal stack of the binary tree, here and in `wgsl/traverse/binary.wgsl`.
pub const STACK: usize = 64;

/// An inner node: the boxes of both children. 64 bytes, four vectors of the GPU's node buffer.
///
/// | bytes | field |
/// |---|---|
/// | 0..12, 12..16 | left box's minimum, link to the left child |
/// | 16..28, 28..32 | left box's maximum, zero |
/// | 32..48, 48..64 | the same of the right child |
///
/// Node 0 is the root. Nodes are in preorder: a node is followed by the subtree of its left child,
/// and that by the subtree of its right child, where they are not leaves.
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
    /// The child: the index of an inner node, or, with the top bit set, a leaf with its first
    /// triangle in bits 3 to 30 and its number of triangles in bits 0 to 2.
    pub link: u32,
    /// Upper corner of the box.
    pub max: [f32; 3],
    /// Zero, but in the table of two levels ([`super::two_level::gpu`]).
    pub pad: u32,
}

/// The meaning of [`Child::link`].
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

/// The top bit of a link: it is a leaf.
pub const LEAF: u32 = 1 << 31;

/// The most triangles in a leaf.
pub const MAX_LEAF: usize = 7;

impl Link {
    /// The link's 32 bits. `first` must be below 2²⁸ and `count` at most [`MAX_LEAF`].
    #[inline]
    pub fn encode(self) -> u32 {
        match self {
            Link::Inner(index) => index,
            Link::Leaf { first, count } => LEAF | first << 3 | count,
        }
    }

    /// The link that 32 bits encode.
    #[inline]
    pub fn decode(bits: u32) -> Self {
        if bits & LEAF == 0 { Link::Inner(bits) } else { Link::Leaf { first: (bits & !LEAF) >> 3, count: bits & 7 } }
    }
}

impl Child {
    /// The child's link, decoded.
    #[inline]
    pub fn link(&self) -> Link {
        Link::decode(self.link)
    }

    /// The missing child of a tree of one leaf: a leaf without triangles, in a box at the origin.
    pub(super) fn empty() -> Self {
        Self { link: Link::Leaf { first: 0, count: 0 }.encode(), ..Self::default() }
    }
}
