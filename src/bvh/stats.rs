//! Size and quality of a BVH, measured on the finished nodes.

use super::node::Link;
use super::tree::Bvh;
use glam::Vec3;

/// The statistics of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BuildStats {
    /// Triangles in the tree.
    pub triangles: usize,
    /// Triangles of the input that were left out because a coordinate was not finite.
    pub skipped: usize,
    /// Triangles in the leaves, where one that was split counts in every leaf that it is in.
    pub references: usize,
    /// Inner nodes.
    pub nodes: usize,
    /// Leaves with triangles.
    pub leaves: usize,
    /// The most inner nodes on a path from the root.
    pub depth: u32,
    /// Expected cost of a random ray that hits the root's box: one for a node visited, one for a
    /// triangle tested.
    pub sah_cost: f64,
    /// Bytes of binary nodes and triangles (what the GPU gets).
    pub bytes: usize,
    /// Bytes of the 8-wide tree (what the CPU traces).
    pub wide_bytes: usize,
}

/// Statistics of a finished tree; it knows itself how many triangles it stands for.
pub(super) fn measure(bvh: &Bvh) -> BuildStats {
    let area = |low: Vec3, high: Vec3| {
        let side = high.as_dvec3() - low.as_dvec3();
        side.x * side.y + side.y * side.z + side.z * side.x
    };
    let mut depth = vec![1u8; bvh.nodes().len()];
    let (mut leaves, mut cost) = (0, 0.0);
    for (index, node) in bvh.nodes().iter().enumerate() {
        for child in &node.children {
            let area = area(child.min.into(), child.max.into());
            match child.link() {
                Link::Inner(below) => {
                    depth[below as usize] = depth[index] + 1;
                    cost += area;
                }
                Link::Leaf { count, .. } => {
                    leaves += usize::from(count > 0);
                    cost += area * f64::from(count);
                }
            }
        }
    }
    let root = bvh.bounds().map_or(0.0, |(low, high)| area(low, high));
    BuildStats {
        references: bvh.triangles().len(),
        nodes: bvh.nodes().len(),
        leaves,
        depth: depth.iter().copied().max().map_or(0, u32::from),
        sah_cost: if root > 0.0 { 1.0 + cost / root } else { 0.0 },
        bytes: size_of_val(bvh.nodes()) + size_of_val(bvh.triangles()),
        wide_bytes: bvh.wide().bytes(),
        ..*bvh.stats()
    }
}
