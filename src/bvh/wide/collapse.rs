//! From the binary tree to a wide one, as [`Plan`] has it.

use super::super::node::{Child, Node};
use super::super::triangle::LeafTriangle;
use super::WideBvh;
use super::layout::{Block, WideLink, WideNode};
use super::plan::{Leaves, Plan};
use rayon::prelude::*;

impl<const W: usize> WideBvh<W> {
    /// Collapses a binary tree whose parents come before their children and whose leaves are in
    /// order.
    pub(in super::super) fn new(nodes: &[Node], triangles: &[LeafTriangle]) -> Self {
        let plan = Plan::<W>::new(nodes, Leaves { most: W as u32, each: 1.0, triangle: 0.0 });
        let mut wide = vec![WideNode::EMPTY];
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        // The two parts of what becomes a wide node, and its place.
        let mut waiting: Vec<([Child; 2], usize)> = nodes.first().map(|root| (root.children, 0)).into_iter().collect();
        let mut children = Vec::with_capacity(W);
        while let Some((halves, place)) = waiting.pop() {
            children.clear();
            plan.children(&halves, &mut children);
            let mut node = WideNode::EMPTY;
            for (slot, child) in children.iter().enumerate() {
                for axis in 0..3 {
                    node.planes[axis][slot] = child.min[axis];
                    node.planes[3 + axis][slot] = child.max[axis];
                }
                let link = match plan.leaf(child) {
                    Some(range) => {
                        blocks.push(range);
                        WideLink::Block((blocks.len() - 1) as u32)
                    }
                    None => {
                        waiting.push((plan.halves(child), wide.len()));
                        wide.push(WideNode::EMPTY);
                        WideLink::Node((wide.len() - 1) as u32)
                    }
                };
                node.links[slot] = link.encode();
            }
            wide[place] = node;
        }
        if blocks.is_empty() {
            blocks.push((0, 0));
        }
        let block = |&(first, count): &(u32, u32)| Block::new(&triangles[first as usize..(first + count) as usize]);
        Self { nodes: wide, blocks: blocks.par_iter().map(block).collect(), triangles: triangles.len() }
    }
}
