//! New positions for the triangles of a wide tree, whose nodes stay.

use super::super::build::bounds::Aabb;
use super::super::build::frame::Frame;
use super::super::triangle::{LeafTriangle, Triangle};
use super::WideBvh;
use super::layout::{Block, WideLink};
use rayon::prelude::*;

impl<const W: usize> WideBvh<W> {
    /// Takes the positions of triangles given in the order of the build, and computes the boxes
    /// again from the leaves up.
    pub(in super::super) fn refit(&mut self, triangles: &[Triangle], frame: &Frame) {
        let fill = |block: &mut Block<W>| {
            let present: Vec<_> =
                block.present().map(|prim| LeafTriangle::new(&triangles[prim as usize], prim)).collect();
            *block = Block::new(&present);
            present.iter().map(|leaf| Aabb::around([leaf.a, leaf.b, leaf.c])).fold(Aabb::EMPTY, Aabb::join)
        };
        let of_blocks: Vec<Aabb> = self.blocks.par_iter_mut().map(fill).collect();
        let mut of_nodes = vec![Aabb::EMPTY; self.nodes.len()];
        // Children come after their parents.
        for (index, node) in self.nodes.iter_mut().enumerate().rev() {
            for slot in 0..W {
                let is_absent = node.planes[0][slot] > node.planes[3][slot];
                if is_absent {
                    continue;
                }
                let bounds = match WideLink::decode(node.links[slot]) {
                    WideLink::Node(below) => of_nodes[below as usize],
                    WideLink::Block(block) => of_blocks[block as usize],
                };
                of_nodes[index] = of_nodes[index].join(bounds);
                let [low, high] = frame.padded(&bounds);
                for axis in 0..3 {
                    node.planes[axis][slot] = low[axis];
                    node.planes[3 + axis][slot] = high[axis];
                }
            }
        }
    }
}
