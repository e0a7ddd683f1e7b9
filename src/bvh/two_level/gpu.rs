//! Two levels as the tables of the GPU's kernels: the same two as of one tree, with more behind it.
//!
//! | table | holds |
//! |---|---|
//! | nodes | the plain tree's, the upper tree's, those of each mesh's tree, in one numbering; then the instances' records, with the number of their tree's root node |
//! | triangles | the plain ones and each mesh's, in leaf order; numbers in a mesh begin at 0 |
//!
//! A leaf of the upper tree names instances in place of triangles. The spare words of two nodes say where things are: the first word `pad` of node 0 is the upper tree's root, or 0 where
//! there is none; the words `pad` of that root are the share of an origin that rays reach beyond boxes (a float), and the index of the first instance's first vector.

use super::super::node::{Link, Node};
use super::TwoLevel;
use super::instance::Instance;
use bytemuck::cast_slice;
use std::borrow::Cow;

/// What a kernel that walks two levels reads, as bytes.
#[derive(Clone, Debug)]
pub struct Tables<'a> {
    /// Nodes, and instances.
    pub nodes: Cow<'a, [u8]>,
    /// Leaf triangles.
    pub triangles: Cow<'a, [u8]>,
}

/// Vectors of the node table that a node takes.
const NODE_VECTORS: u32 = 4;

impl TwoLevel {
    /// The tables; those of the plain tree where nothing is placed.
    pub fn gpu_tables(&self) -> Tables<'_> {
        let plain = &self.plain;
        let Some(placed) = &self.placed else {
            return Tables { nodes: cast_slice(plain.nodes()).into(), triangles: cast_slice(plain.triangles()).into() };
        };
        let mut nodes = plain.nodes().to_vec();
        let mut triangles = plain.triangles().to_vec();
        let top = append(&mut nodes, placed.top.nodes(), 0);
        let roots: Vec<u32> = placed
            .meshes
            .iter()
            .map(|mesh| {
                let root = append(&mut nodes, mesh.nodes(), triangles.len() as u32);
                triangles.extend_from_slice(mesh.triangles());
                root
            })
            .collect();
        nodes[0].children[0].pad = top;
        let first_instance = NODE_VECTORS * nodes.len() as u32;
        let [reach, place] = &mut nodes[top as usize].children;
        (reach.pad, place.pad) = (placed.reach.0.to_bits(), first_instance);
        let records: Vec<Instance> =
            placed.instances.iter().map(|i| Instance { tree: roots[i.tree as usize], ..*i }).collect();
        let mut bytes: Vec<u8> = cast_slice(&nodes).to_vec();
        bytes.extend_from_slice(cast_slice(&records));
        let triangles: &[u8] = cast_slice(&triangles);
        Tables { nodes: bytes.into(), triangles: triangles.to_vec().into() }
    }
}

/// Adds the nodes of a tree whose leaves begin at `first_leaf`, and returns the number of its root.
fn append(nodes: &mut Vec<Node>, tree: &[Node], first_leaf: u32) -> u32 {
    let root = nodes.len() as u32;
    nodes.extend(tree.iter().map(|node| {
        let mut node = *node;
        for child in &mut node.children {
            child.link = match child.link() {
                Link::Inner(index) => Link::Inner(index + root),
                Link::Leaf { first, count } => Link::Leaf { first: first + first_leaf, count },
            }
            .encode();
        }
        node
    }));
    root
}
