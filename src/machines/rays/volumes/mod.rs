//! Acceleration structures: which polygons a ray has to be tested against, and in which order.
//!
//! "It would not be particularly difficult to implement either of these other ray tracing
//! partitioning schemes with the ray tracing peripheral" (Ullner 1983, §2.3.4): an auxiliary
//! processor between the host and the intersector traverses the structure and issues the polygons
//! to test. A [`Structure`] is its microprogram: for a ray it issues a sequence of work to a
//! [`Visitor`], which is the hardware. This folder is geometry only; how a polygon is tested and
//! what the work costs belong to the hardware.
//!
//! | file | holds |
//! |---|---|
//! | [`bounds`] | axis-aligned boxes, and how far from a polygon its hits may lie |
//! | [`line`](mod@line) | a ray prepared for slab tests, and the slab test |
//! | [`outline`] | the body around a primitive |
//! | `overlap` | the overlap test of a polygon, or another body, and a box |
//! | [`hierarchy`] | bounding volume hierarchies and their traversal |
//! | [`oriented`] | a hierarchy of oriented bounding boxes (Rubin & Whitted 1980) |
//! | [`octree`] | an octree (Reddy & Rubin 1978) |
//! | [`bvh`] | a hierarchy of axis-aligned boxes from a binary tree |
//! | [`ours`] | the same from the renderer's own BVH |
//!
//! The grid of subvolumes is [`grid`](super::grid).
//!
//! # No hit is lost
//!
//! Every structure finds the hit that a test of all polygons finds, bit by bit, whatever the
//! rounding of the arithmetic. Its volumes are larger than their polygons by enough ([`bounds`])
//! that each volume in which a hit may be computed lists the polygon of that hit.

pub mod bounds;
pub mod bvh;
pub mod hierarchy;
pub mod line;
pub mod octree;
pub mod oriented;
pub mod ours;
pub mod outline;
mod overlap;

#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
mod tests;

pub(super) use overlap::Shape;

use super::ray::Request;
use line::Line;

/// The hardware that executes the work of a traversal.
pub trait Visitor {
    /// Tests a polygon against the ray. Returns the `t` of the best hit so far: the request's limit
    /// if there is none, and −∞ to end the traversal (a ray of kind
    /// [`Any`](super::ray::RayKind::Any) after its first hit). A stale, larger `t`, as of a
    /// pipeline with tests in flight, is correct too and only costs more work.
    ///
    /// Polygons are issued in ascending order within a cell but not across cells, and possibly more
    /// than once. Of hits at equal `t` the visitor keeps the one with the lowest index.
    fn polygon(&mut self, index: u32) -> f32;

    /// Tests `count` bounding boxes, which are independent of one another. The work that follows
    /// depends on all of them.
    fn boxes(&mut self, count: u32);

    /// Enters a cell of the grid, or a leaf, with so many `polygons`, which follow. 0 for empty
    /// cells.
    fn cell(&mut self, polygons: u32);
}

/// An acceleration structure over polygons.
pub trait Structure {
    /// Traverses the structure along a ray, front to back, until its hit is final. Does not
    /// allocate. Rays that are not [traceable](Line::new) cause no work.
    fn visit<V: Visitor>(&self, request: &Request, visitor: &mut V);
}

/// No structure: every ray is tested against every polygon, as by the peripheral without its
/// auxiliary processor (Ullner 1983, §2.3.1). Counts as one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct All {
    /// Number of polygons.
    pub polygons: u32,
}

impl Structure for All {
    fn visit<V: Visitor>(&self, request: &Request, visitor: &mut V) {
        if Line::new(request).is_none() {
            return;
        }
        visitor.cell(self.polygons);
        for polygon in 0..self.polygons {
            if visitor.polygon(polygon) < 0.0 {
                return;
            }
        }
    }
}

/// Why a structure cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StructureError {
    /// There is no polygon.
    #[error("there are no polygons")]
    Empty,
    /// A coordinate is not finite, or beyond [`bounds::LARGEST`].
    #[error("coordinates must be finite and below 2^30 (about 1.07e9)")]
    Coordinates,
    /// The polygon lists of all cells together exceed the limit.
    #[error("the polygon lists of the cells have more than {limit} entries; use fewer cells")]
    TooManyEntries {
        /// The limit.
        limit: usize,
    },
    /// More nodes of a tree than the limit.
    #[error("the tree has more than {limit} nodes; use fewer levels, or more polygons in a cell")]
    TooManyNodes {
        /// The limit.
        limit: usize,
    },
    /// A grid with no cell, more than 2^16 cells on an axis, or more than 2^26 in all.
    #[error("{counts:?} cells: 1 to 65536 on an axis and at most 67108864 in all are possible")]
    Cells {
        /// The cells on each axis.
        counts: [u32; 3],
    },
    /// A polygon that is not inside the grid's box.
    #[error("polygon {polygon} is not inside the grid's box")]
    Outside {
        /// The index of the polygon.
        polygon: u32,
    },
    /// Nodes that do not form a tree, or refer to entries out of range.
    #[error("node {node} of the hierarchy is malformed")]
    NoTree {
        /// The index of the node.
        node: u32,
    },
    /// The traversal stack is too small for the hierarchy.
    #[error("the hierarchy is too deep: its traversal needs {needed} stack entries of {available}")]
    TooDeep {
        /// Stack entries that a ray may need.
        needed: usize,
        /// Size of the stack.
        available: usize,
    },
}
