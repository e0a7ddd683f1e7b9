//! Subtrees that build tasks make in parallel, and how they become one array of nodes.

use super::super::node::{Child, Link, Node};

/// A part of the BVH as the tasks made it.
pub enum Subtree {
    /// A subtree built by one task, root first, with links relative to the piece.
    Nodes(Vec<Node>),
    /// A node: its children and, for those that are not leaves, what is below.
    Split(Box<[(Child, Option<Subtree>); 2]>),
}

impl Subtree {
    /// Appends the tree's nodes, depth first. Recurses at most [`MAX_DEPTH`] deep.
    pub fn flatten(self, nodes: &mut Vec<Node>) {
        let index = nodes.len();
        match self {
            Subtree::Nodes(mut piece) => {
                for child in piece.iter_mut().flat_map(|node| &mut node.children) {
                    if let Link::Inner(link) = child.link() {
                        child.link = Link::Inner(link + index as u32).encode();
                    }
                }
                nodes.append(&mut piece);
            }
            Subtree::Split(sides) => {
                nodes.push(Node::default());
                for (side, (mut child, below)) in sides.into_iter().enumerate() {
                    if let Some(below) = below {
                        child.link = Link::Inner(nodes.len() as u32).encode();
                        below.flatten(nodes);
                    }
                    nodes[index].children[side] = child;
                }
            }
        }
    }
}
