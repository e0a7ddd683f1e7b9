//! The top-level BVH, over what is placed in the world.

use super::super::build::{BuildError, BuildOptions, Quality};
use super::super::node::Node;
use super::super::tree::Bvh;
use super::super::triangle::Triangle;
use super::instance::{Instance, Reach};

/// Instances in a tree over their boxes.
#[derive(Debug)]
pub(super) struct Upper {
    /// A leaf's triangle number is an index into `instances`.
    tree: Bvh,
    /// In the order of the leaves.
    instances: Vec<Instance>,
    reach: Reach,
}

impl Upper {
    /// Builds the tree.
    pub fn new(given: &[Instance], reach: Reach) -> Result<Self, BuildError> {
        // The builder sees a box's diagonal, which has the same bounds, in a leaf of its own.
        let diagonals: Vec<Triangle> =
            given.iter().map(|i| Triangle::new(i.min.into(), i.max.into(), i.min.into())).collect();
        let tree = Bvh::build(&diagonals, &BuildOptions { max_leaf: 1, quality: Quality::Sah, progress: None })?;
        let instances = tree.triangles().iter().map(|t| given[t.prim as usize]).collect();
        Ok(Self { tree, instances, reach })
    }

    /// The tree's nodes, as [`Bvh::nodes`].
    pub fn nodes(&self) -> &[Node] {
        self.tree.nodes()
    }

    /// The instances, in the order of the leaves.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// How far beyond the boxes rays must look.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Bytes of the tree and the records.
    pub fn bytes(&self) -> usize {
        self.tree.stats().bytes + self.tree.stats().wide_bytes + size_of_val(self.instances.as_slice())
    }
}
