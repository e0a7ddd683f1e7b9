//! The bytes of a wide tree: nodes of `W` boxes, blocks of up to `W` triangles, and the links between them.

use super::super::triangle::{CULL_BACK, LeafTriangle};

/// Where a child is: a node's index, or a block's with all bits inverted (and so the top one set).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideLink {
    /// Index of a node.
    Node(u32),
    /// Index of a block.
    Block(u32),
}

impl WideLink {
    /// The link's 32 bits; the index must be below 2³¹.
    #[inline(always)]
    pub fn encode(self) -> u32 {
        match self {
            WideLink::Node(index) => index,
            WideLink::Block(index) => !index,
        }
    }

    /// The link that 32 bits encode.
    #[inline(always)]
    pub fn decode(bits: u32) -> Self {
        if (bits as i32) < 0 { WideLink::Block(!bits) } else { WideLink::Node(bits) }
    }
}

/// An inner node: 128 bytes of width 4, 256 bytes of width 8.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct WideNode<const W: usize> {
    /// The planes of the boxes: lower x, y, z, upper x, y, z. The box of an absent child is inverted and as large as can be
    /// while products with it are not NaN.
    pub planes: [[f32; W]; 6],
    /// [`WideLink`]s. That of an absent child is to block 0, which always exists.
    pub links: [u32; W],
}

impl<const W: usize> WideNode<W> {
    /// A node without children.
    pub const EMPTY: Self = {
        let (low, high) = ([f32::MAX; W], [f32::MIN; W]);
        Self { planes: [low, low, low, high, high, high], links: [!0; W] }
    };
}

/// A leaf of up to `W` triangles. Absent ones have corners that are NaN, which nothing hits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Block<const W: usize> {
    /// Coordinates of the three vertices: x, y, z of all triangles.
    pub corners: [[[f32; W]; 3]; 3],
    /// Primitive indices.
    pub prim: [u32; W],
    /// Bit `i` is set where triangle `i` is one-sided.
    pub culled: u32,
}

impl<const W: usize> Block<W> {
    /// The primitives of the triangles that are there, in order.
    pub fn present(&self) -> impl Iterator<Item = u32> + '_ {
        (0..W).filter(|&i| !self.corners[0][0][i].is_nan()).map(|i| self.prim[i])
    }

    /// A block of at most `W` triangles.
    pub fn new(triangles: &[LeafTriangle]) -> Self {
        let mut block = Self { corners: [[[f32::NAN; W]; 3]; 3], prim: [0; W], culled: 0 };
        for (i, t) in triangles.iter().enumerate() {
            for (corner, place) in block.corners.iter_mut().zip([t.a, t.b, t.c]) {
                (0..3).for_each(|axis| corner[axis][i] = place[axis]);
            }
            block.prim[i] = t.prim;
            block.culled |= (t.flags & CULL_BACK) << i;
        }
        block
    }
}
