//! From the binary tree to a wide one.

use super::super::node::{Child, Link, Node};
use super::super::triangle::LeafTriangle;
use super::WideBvh;
use super::layout::{Block, WideLink, WideNode};
use rayon::prelude::*;
use std::collections::VecDeque;

impl<const W: usize> WideBvh<W> {
    /// Collapses a binary tree whose parents come before their children and whose leaves are in order. A subtree of up to `W`
    /// triangles becomes one block; otherwise the child with the largest surface is opened until there are `W`.
    pub(in super::super) fn new(nodes: &[Node], triangles: &[LeafTriangle]) -> Self {
        let ranges = Ranges::new(nodes);
        let mut wide = Vec::new();
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        // What becomes wide nodes, in the order of their places in `wide`.
        let mut queue = VecDeque::new();
        let mut next: Option<Vec<Child>> = nodes.first().map(|root| root.children.to_vec());
        while let Some(children) = next {
            let mut node = WideNode::EMPTY;
            for (slot, child) in open::<W>(nodes, &ranges, children).into_iter().enumerate() {
                for axis in 0..3 {
                    node.planes[axis][slot] = child.min[axis];
                    node.planes[3 + axis][slot] = child.max[axis];
                }
                let (first, count) = ranges.of(child.link());
                let link = if count > W as u32 {
                    queue.push_back(halves(nodes, &child));
                    WideLink::Node((wide.len() + queue.len()) as u32)
                } else {
                    blocks.push((first, count));
                    WideLink::Block((blocks.len() - 1) as u32)
                };
                node.links[slot] = link.encode();
            }
            wide.push(node);
            next = queue.pop_front().map(Vec::from);
        }
        if blocks.is_empty() {
            blocks.push((0, 0));
        }
        let block = |&(first, count): &(u32, u32)| Block::new(&triangles[first as usize..(first + count) as usize]);
        Self { nodes: wide, blocks: blocks.par_iter().map(block).collect() }
    }
}

/// The triangles below each node of the binary tree, `first` and count.
struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    fn new(nodes: &[Node]) -> Self {
        let mut ranges = Self(vec![(0, 0); nodes.len()]);
        for (index, node) in nodes.iter().enumerate().rev() {
            let [left, right] = [0, 1].map(|side| ranges.of(node.children[side].link()));
            ranges.0[index] = (left.0, left.1 + right.1);
        }
        ranges
    }

    fn of(&self, link: Link) -> (u32, u32) {
        match link {
            Link::Leaf { first, count } => (first, count),
            Link::Inner(index) => self.0[index as usize],
        }
    }
}

/// The two parts of a child: a node's children, or of a leaf that is too large for a block the first triangles and the others.
fn halves(nodes: &[Node], child: &Child) -> [Child; 2] {
    match child.link() {
        Link::Inner(index) => nodes[index as usize].children,
        Link::Leaf { first, count } => {
            let half = count / 2;
            let part = |first, count| Child { link: Link::Leaf { first, count }.encode(), ..*child };
            [part(first, half), part(first + half, count - half)]
        }
    }
}

/// The children of a wide node, with everything below them: those given, opened as far as there is room.
fn open<const W: usize>(nodes: &[Node], ranges: &Ranges, mut children: Vec<Child>) -> Vec<Child> {
    children.retain(|child| ranges.of(child.link()).1 > 0);
    while children.len() < W {
        let openable = children.iter().enumerate().filter(|(_, child)| ranges.of(child.link()).1 > W as u32);
        let Some((slot, child)) = openable.max_by(|a, b| half_area(a.1).total_cmp(&half_area(b.1))) else { break };
        let [left, right] = halves(nodes, child);
        children[slot] = left;
        children.push(right);
    }
    children
}

fn half_area(child: &Child) -> f32 {
    let [x, y, z] = std::array::from_fn(|axis| child.max[axis] - child.min[axis]);
    (x * y + y * z) + z * x
}
