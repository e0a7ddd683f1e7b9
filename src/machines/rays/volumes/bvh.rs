//! A hierarchy of axis-aligned boxes from a binary tree: the bounding volume hierarchy of today
//! (Goldsmith & Salmon 1987).
//!
//! The tree comes from any builder. Its nodes are in a form that is independent of the builder.

use super::StructureError;
use super::bounds::Bounds;
use super::hierarchy::{self, Content, Hierarchy};

/// A node of a binary tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Contains all hits of the polygons below: their boxes, [grown](super::bounds::growth).
    pub bounds: Bounds,
    /// The children or the polygons of the node.
    pub link: Link,
}

/// The contents of a binary node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Two nodes, by index.
    Children([u32; 2]),
    /// Entries `first .. first + count` of the list of polygons.
    Polygons {
        /// The first entry.
        first: u32,
        /// Number of entries.
        count: u32,
    },
}

/// The hierarchy of a binary tree, root first. Boxes get the margin of the root's box. The entries
/// of each leaf are put in ascending order; leaves must not share entries.
///
/// # Errors
/// As [`Hierarchy::new`]; nodes are numbered in breadth-first order.
pub fn hierarchy(nodes: &[Node], mut polygons: Vec<u32>) -> Result<Hierarchy<Bounds>, StructureError> {
    let Some(root) = nodes.first() else {
        return Hierarchy::new(Vec::new(), polygons);
    };
    let margin = root.bounds.margin();
    let node = |index: u32| nodes.get(index as usize).ok_or(StructureError::NoTree { node: index });
    // Breadth first: children are then next to each other, and behind their parent.
    let mut order = vec![*root];
    let mut adjacent = Vec::with_capacity(nodes.len());
    while let Some(&Node { bounds, link }) = order.get(adjacent.len()) {
        let content = match link {
            Link::Children(children) => {
                let first = order.len() as u32;
                for child in children {
                    order.push(*node(child)?);
                }
                if order.len() > nodes.len() {
                    return Err(StructureError::NoTree { node: adjacent.len() as u32 });
                }
                Content::Nodes { first, count: 2 }
            }
            Link::Polygons { first, count } => {
                if let Some(entries) = polygons.get_mut(first as usize..first as usize + count as usize) {
                    entries.sort_unstable();
                }
                Content::Polygons { first, count }
            }
        };
        adjacent.push(hierarchy::Node { volume: bounds.grown(margin), content });
    }
    Hierarchy::new(adjacent, polygons)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn node(link: Link) -> Node {
        Node { bounds: Bounds { min: Vec3::ZERO, max: Vec3::ONE }, link }
    }

    #[test]
    fn children_become_neighbors() {
        let leaf = |first| node(Link::Polygons { first, count: 1 });
        let nodes = [node(Link::Children([3, 1])), node(Link::Children([4, 2])), leaf(0), leaf(1), leaf(2)];
        let hierarchy = hierarchy(&nodes, vec![10, 11, 12]).unwrap();
        let contents: Vec<_> = hierarchy.nodes().iter().map(|node| node.content).collect();
        let leaf = |first| Content::Polygons { first, count: 1 };
        let pair = |first| Content::Nodes { first, count: 2 };
        assert_eq!(contents, [pair(1), leaf(1), pair(3), leaf(2), leaf(0)]);
        let Bounds { min, max } = nodes[0].bounds;
        let margin = Bounds { min, max }.margin();
        let expected = Bounds { min: min - margin, max: max + margin };
        assert!(hierarchy.nodes().iter().all(|node| node.volume.contains(&expected)));
    }

    #[test]
    fn a_graph_with_a_cycle_is_refused() {
        let nodes = [node(Link::Children([1, 2])), node(Link::Children([0, 2])), node(Link::Children([0, 1]))];
        assert!(matches!(hierarchy(&nodes, Vec::new()), Err(StructureError::NoTree { .. })));
        assert!(matches!(hierarchy(&nodes[..1], Vec::new()), Err(StructureError::NoTree { .. })));
    }
}
