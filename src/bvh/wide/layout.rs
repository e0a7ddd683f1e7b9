//! The bytes of a wide tree: nodes of `W` boxes, blocks of up to `W` triangles, and the links
//! between them.

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
    /// The planes of the boxes: lower x, y, z, upper x, y, z. The box of an absent child is
    /// inverted and as large as can be while products with it are not NaN.
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

/// A leaf of up to `W` triangles: 192 bytes of width 4, 320 bytes of width 8. Absent ones have
/// corners that are NaN, which nothing hits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Block<const W: usize> {
    /// Coordinates of the three vertices: x, y, z of all triangles.
    pub corners: [[[f32; W]; 3]; 3],
    /// Primitive indices, with the top bit set where a triangle is one-sided.
    marked_prims: [u32; W],
}

/// The bit of a primitive index that marks a one-sided triangle.
const ONE_SIDED: u32 = 1 << 31;

impl<const W: usize> Block<W> {
    /// The primitives of the triangles that are there, in order.
    pub fn present(&self) -> impl Iterator<Item = u32> + '_ {
        (0..W).filter(|&i| !self.corners[0][0][i].is_nan()).map(|i| self.prim(i))
    }

    /// The triangles that are there, in order.
    pub fn triangles(&self) -> impl Iterator<Item = LeafTriangle> + '_ {
        (0..W).filter(|&i| !self.corners[0][0][i].is_nan()).map(|i| {
            let [a, b, c] = self.corners.map(|corner| corner.map(|axis| axis[i]));
            let flags = if self.is_one_sided(i) { CULL_BACK } else { 0 };
            LeafTriangle { a, prim: self.prim(i), b, flags, c, pad: 0 }
        })
    }

    /// A block of at most `W` triangles, each primitive once; their indices must be below 2³¹.
    pub fn new(triangles: &[LeafTriangle]) -> Self {
        let mut block = Self { corners: [[[f32::NAN; W]; 3]; 3], marked_prims: [!0; W] };
        let mut count = 0;
        for t in triangles {
            let prim = t.prim | if t.flags & CULL_BACK != 0 { ONE_SIDED } else { 0 };
            // Parts of one triangle may meet again in a block.
            if block.marked_prims[..count].contains(&prim) {
                continue;
            }
            for (corner, place) in block.corners.iter_mut().zip([t.a, t.b, t.c]) {
                (0..3).for_each(|axis| corner[axis][count] = place[axis]);
            }
            block.marked_prims[count] = prim;
            count += 1;
        }
        block
    }

    /// The index of primitive `lane`.
    #[inline(always)]
    pub fn prim(&self, lane: usize) -> u32 {
        self.marked_prims[lane] & !ONE_SIDED
    }

    /// True if primitive `lane` is one-sided.
    #[inline(always)]
    pub fn is_one_sided(&self, lane: usize) -> bool {
        self.marked_prims[lane] & ONE_SIDED != 0
    }
}
