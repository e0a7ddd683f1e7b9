//! The builders of the binary tree: from triangles to nodes and the order of the triangles in the
//! leaves.
//!
//! A build runs on the current rayon pool, gives the same tree at any number of threads, and
//! refuses nothing but too many triangles: those that are not finite are left out. It must not know
//! how trees are traced; wide trees and the GPU's buffers are derived from what it gives.
//!
//! | file | holds |
//! |---|---|
//! | [`bounds`] | boxes |
//! | [`mod@reference`] | the build-time reference of a triangle: its box and its index |
//! | [`object`] | the binned search for the best way to deal whole triangles to two sides |
//! | [`spatial`] | the binned search for the best plane to split triangles at, and the splitting |
//! | [`clip`] | boxes of pieces of triangles |
//! | [`top_down`] | the recursion of the top-down builder |
//! | [`linear`] | the quick builder, along a space-filling curve |
//! | [`frame`] | the scale of the scene, and what follows from it |
//! | [`progress`] | reporting the progress of a build |
//! | [`subtree`] | the tree in pieces, as tasks make them, and its assembly |

pub(super) mod bounds;
mod clip;
pub(super) mod frame;
mod linear;
mod object;
mod progress;
mod reference;
mod spatial;
mod subtree;
mod top_down;

#[cfg(test)]
mod tests;

use super::node::Node;
use super::triangle::Triangle;
use shadewright_base::named::{Named, Row};

/// The most triangles in a tree; leaves address them with 28 bits and GPU buffers with 32 in bytes.
pub const MAX_TRIANGLES: usize = 1 << 28;

/// Subtrees of at most this many triangles are built by one task.
const TASK: usize = 8 * 1024;

/// With spatial splits, at most this times as many more references than triangles.
const ROOM: f64 = 0.5;

/// The errors of a build.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BuildError {
    /// The input is larger than a tree can address.
    #[error("{count} triangles are more than a tree holds ({MAX_TRIANGLES}); split the mesh or simplify it")]
    TooManyTriangles {
        /// Triangles in the input.
        count: usize,
    },
}

/// How much time a build may take for how good a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quality {
    /// As quick as possible, for geometry that changes.
    Fast,
    /// Whole triangles, dealt to the children by the surface area heuristic.
    #[default]
    Sah,
    /// Triangles may be split between children, which helps where large ones are in the way of
    /// small ones.
    Spatial,
}

impl Named for Quality {
    const TABLE: &'static [Row<Self>] = &[
        ("fast", "Fast build, for geometry that changes", Self::Fast),
        ("sah", "Surface area heuristic (SAH)", Self::Sah),
        ("spatial", "SAH with spatial splits: slower to build, faster to trace", Self::Spatial),
    ];
}

impl Quality {
    /// All, from the quickest build to the best tree.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Sah, Self::Spatial];
}

/// How to build.
#[derive(Clone, Copy)]
pub struct BuildOptions<'a> {
    /// Which builder.
    pub quality: Quality,
    /// The most triangles in a leaf, 1 to [`MAX_LEAF`](super::node::MAX_LEAF); 4 unless set.
    pub max_leaf: usize,
    /// Called with the number of triangles whose place in the tree is settled so far, from any
    /// thread, after each piece of up to 8192 of them.
    pub progress: Option<&'a (dyn Fn(usize) + Sync)>,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self { quality: Quality::default(), max_leaf: 4, progress: None }
    }
}

/// The result of a builder.
pub(super) struct Built {
    /// The tree, root first; leaves name places in `prims`.
    pub nodes: Vec<Node>,
    /// The triangles of the leaves, as indices into the input.
    pub prims: Vec<u32>,
    /// Different triangles among them.
    pub triangles: usize,
}

/// Builds the tree over the finite ones of `triangles`.
pub(super) fn build(triangles: &[Triangle], options: &BuildOptions<'_>) -> Result<Built, BuildError> {
    if triangles.len() > MAX_TRIANGLES {
        return Err(BuildError::TooManyTriangles { count: triangles.len() });
    }
    Ok(match options.quality {
        Quality::Fast => linear::build(triangles, options),
        Quality::Sah => top_down::build(triangles, options, 0.0),
        Quality::Spatial => top_down::build(triangles, options, ROOM),
    })
}
