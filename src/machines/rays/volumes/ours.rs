//! The renderer's own BVH on the simulated hardware: the modern structure to compare the others
//! with.

use super::StructureError;
use super::bounds::{Bounds, growth};
use super::bvh::{Link, Node, hierarchy};
use super::hierarchy::Hierarchy;
use super::outline::Outline;
use glam::Vec3;
use shadewright_bvh::node::{self, Child};
use shadewright_bvh::{BuildOptions, Bvh, Quality, Triangle};

/// The hierarchy that the surface area heuristic of [`shadewright_bvh`] gives for polygons and other
/// primitives, 4 at most in a leaf and each in one leaf.
///
/// That builder takes triangles and, for [`Quality::Sah`], looks only at their boxes. A polygon is
/// given as the flat triangle between two opposite corners of its box.
///
/// # Errors
/// When there are no polygons, more than the builder takes, or a coordinate is not finite or beyond
/// [`LARGEST`](super::bounds::LARGEST).
pub fn build<P: Outline>(polygons: &[P]) -> Result<Hierarchy<Bounds>, StructureError> {
    Bounds::around(polygons)?;
    let diagonals: Vec<Triangle> = polygons
        .iter()
        .map(|polygon| {
            let Bounds { min, max } = Bounds::new(polygon).grown(growth(polygon));
            Triangle::new(min, max, min)
        })
        .collect();
    let options = BuildOptions { quality: Quality::Sah, ..BuildOptions::default() };
    let bvh = Bvh::build(diagonals, &options)
        .map_err(|_| StructureError::TooManyEntries { limit: shadewright_bvh::build::MAX_TRIANGLES })?;
    hierarchy(&binary(&bvh), bvh.triangles().iter().map(|triangle| triangle.prim).collect())
}

/// The tree with a node of its own for each child. Inner node `i` of the BVH is node `i` here, and
/// the leaves come after them.
fn binary(bvh: &Bvh) -> Vec<Node> {
    let bounds = |child: &Child| Bounds { min: child.min.into(), max: child.max.into() };
    let is_there = |child: &&Child| !matches!(child.link(), node::Link::Leaf { count: 0, .. });
    let inner = bvh.nodes();
    let around = |index: usize| inner[index].children.iter().filter(is_there).map(bounds).reduce(Bounds::joined);
    let mut nodes: Vec<Node> = Vec::with_capacity(2 * inner.len() + 1);
    let mut leaves: Vec<Node> = Vec::with_capacity(inner.len() + 1);
    for (index, node) in inner.iter().enumerate() {
        let mut link_of = |child: &Child| match child.link() {
            node::Link::Inner(below) => below,
            node::Link::Leaf { first, count } => {
                leaves.push(Node { bounds: bounds(child), link: Link::Polygons { first, count } });
                (inner.len() + leaves.len() - 1) as u32
            }
        };
        let children = node.children.each_ref().map(&mut link_of);
        let empty = Bounds { min: Vec3::ZERO, max: Vec3::ZERO };
        nodes.push(Node { bounds: around(index).unwrap_or(empty), link: Link::Children(children) });
    }
    nodes.extend(leaves);
    nodes
}

#[cfg(test)]
mod tests {
    use super::super::hierarchy::Content;
    use super::super::samples::{Random, assert_same_hits};
    use super::*;

    #[test]
    fn the_nearest_hit_is_that_of_all_polygons() {
        let mut random = Random::new(31);
        for count in [1, 2, 3, 5, 300] {
            let polygons = random.soup(count, 0.8);
            let rays: Vec<_> = (0..600).map(|_| random.ray(&polygons)).collect();
            assert_same_hits(&build(&polygons).unwrap(), &polygons, &rays, "our BVH");
        }
        assert!(build::<[Vec3; 4]>(&[]).is_err());
    }

    #[test]
    fn each_polygon_is_in_one_leaf() {
        let polygons = Random::new(32).soup(500, 0.3);
        let hierarchy = build(&polygons).unwrap();
        let mut entries = hierarchy.polygons().to_vec();
        entries.sort_unstable();
        assert!(entries.iter().copied().eq(0..500));
        let in_leaves = |content| match content {
            Content::Polygons { count, .. } => count,
            Content::Nodes { .. } => 0,
        };
        assert_eq!(hierarchy.nodes().iter().map(|node| in_leaves(node.content)).sum::<u32>(), 500);
    }
}
