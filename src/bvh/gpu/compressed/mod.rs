//! The compressed 8-wide tree (Ylitie, Karras & Laine, "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs", 2017), made of the binary one.
//!
//! A node takes 80 bytes for eight boxes, where the binary layout takes 256, so a ray reads less memory; the price is arithmetic. Its kernel is
//! `wgsl/traverse/compressed.wgsl` with `wgsl/traverse/wide.wgsl`. It knows no device and nothing of instances.
//!
//! | file | holds |
//! |---|---|
//! | [`node`] | the node's bytes: boxes in steps of a grid, rounded outwards |
//! | [`slots`] | which child goes to which slot |

pub mod node;
pub mod slots;

use super::super::node::Child;
use super::super::tree::Bvh;
use super::super::triangle::LeafTriangle;
use super::super::wide::plan::{Leaves, Plan};
use node::{CompressedNode, Corners, MAX_LEAF, WIDTH};

/// Leaves as in the paper (§3.1), where testing a triangle costs 0.3 of what a node does.
const LEAVES: Leaves = Leaves { most: MAX_LEAF, each: 0.0, triangle: 0.3 };

/// The tree. Node 0 is the root.
#[derive(Clone, Debug)]
pub struct CompressedBvh {
    nodes: Vec<CompressedNode>,
    triangles: Vec<LeafTriangle>,
}

impl CompressedBvh {
    /// Compresses a binary tree.
    pub fn new(bvh: &Bvh) -> Self {
        let plan = Plan::<WIDTH>::new(bvh.nodes(), LEAVES);
        let mut nodes = vec![CompressedNode::default()];
        let mut triangles = Vec::with_capacity(bvh.triangles().len());
        // The two parts of what becomes a node, and its place.
        let mut waiting: Vec<([Child; 2], usize)> =
            bvh.nodes().first().map(|root| (root.children, 0)).into_iter().collect();
        let mut children = Vec::with_capacity(WIDTH);
        while let Some((halves, place)) = waiting.pop() {
            children.clear();
            plan.children(&halves, &mut children);
            let boxes: Vec<Corners> = children.iter().map(|child| [child.min, child.max]).collect();
            let Some(around) = boxes.iter().copied().reduce(join) else { continue };
            let mut node = CompressedNode::new(around);
            (node.first_node, node.first_triangle) = (nodes.len() as u32, triangles.len() as u32);
            for (slot, number) in slots::assign(&around, &boxes).into_iter().enumerate() {
                let Some(number) = number else { continue };
                let child = &children[number];
                node.set_box(slot, boxes[number]);
                match plan.leaf(child) {
                    Some((first, count)) => {
                        let begin = triangles.len();
                        for triangle in &bvh.triangles()[first as usize..(first + count) as usize] {
                            // Parts of one triangle may meet again in a leaf.
                            if triangles[begin..].iter().all(|t: &LeafTriangle| t.prim != triangle.prim) {
                                triangles.push(*triangle);
                            }
                        }
                        node.set_leaf(slot, begin as u32 - node.first_triangle, (triangles.len() - begin) as u32);
                    }
                    None => {
                        node.set_node(slot);
                        waiting.push((plan.halves(child), nodes.len()));
                        nodes.push(CompressedNode::default());
                    }
                }
            }
            nodes[place] = node;
        }
        Self { nodes, triangles }
    }

    /// The nodes, the root first.
    pub fn nodes(&self) -> &[CompressedNode] {
        &self.nodes
    }

    /// The triangles in the order of the leaves.
    pub fn triangles(&self) -> &[LeafTriangle] {
        &self.triangles
    }

    /// The tree's size in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.triangles[..])
    }

    /// Adds the nodes and triangles of another tree, and returns the index of its root.
    pub fn append(&mut self, other: &Self) -> u32 {
        let (root, first_triangle) = (self.nodes.len() as u32, self.triangles.len() as u32);
        self.nodes.extend(other.nodes.iter().map(|node| CompressedNode {
            first_node: node.first_node + root,
            first_triangle: node.first_triangle + first_triangle,
            ..*node
        }));
        self.triangles.extend_from_slice(&other.triangles);
        root
    }
}

/// The box around two.
fn join(a: Corners, b: Corners) -> Corners {
    let [low, high]: [fn(f32, f32) -> f32; 2] = [f32::min, f32::max];
    [[0, 1, 2].map(|axis| low(a[0][axis], b[0][axis])), [0, 1, 2].map(|axis| high(a[1][axis], b[1][axis]))]
}
