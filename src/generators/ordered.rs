//! A layout of the binary BVH for the memory image, whose planes stand in the order in which rays
//! meet them.
//!
//! | vectors of a node | hold |
//! |---|---|
//! | 0, 1 | x: lower planes of both boxes, then upper planes; the same with upper planes first |
//! | 2, 3; 4, 5 | y and z |
//! | 6 | the links |
//! | 7 | nothing |
//!
//! A ray loads one vector an axis, by the sign of its direction, so that nothing is selected; nodes
//! take twice the memory.

use super::leaves::{LeafTriangle, Leaves};
use super::stage::{Flag, KernelBuilder};
use super::tables::{Table, Tables};
use super::tree::{Bounds, Bvh, Intersector, Node, Ray, enter_between};
use shadewright_bvh::node::Node as BinaryNode;
use shadewright_ir::{Type, Value};

/// Vectors of a node.
const NODE: usize = 8;

/// The binary BVH, its planes in order.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<I> {
    /// The leaves of the BVH.
    pub leaves: Leaves<I>,
}

/// A node of it.
#[derive(Clone, Copy, Debug)]
pub struct OrderedNode {
    tables: Tables,
    /// The node's first vector.
    index: Value,
    links: [Value; 2],
}

impl<I: Intersector + Copy> Bvh for Ordered<I> {
    type Node = OrderedNode;
    type Prim = LeafTriangle<I>;

    fn node(&self, s: &mut KernelBuilder, link: Value) -> OrderedNode {
        let places = s.b.i32(NODE.ilog2() as i32);
        let index = s.b.ishl(link, places);
        let tables = self.leaves.tables;
        let row = tables.vector(s, Table::Nodes, index, 6);
        let links = [0, 1].map(|i| {
            let link = s.b.extract(row, i);
            s.bits(link, Type::I32)
        });
        OrderedNode { tables, index, links }
    }

    fn prim(&self, s: &mut KernelBuilder, link: Value) -> LeafTriangle<I> {
        self.leaves.prim(s, link)
    }

    fn rest(&self, s: &mut KernelBuilder, link: Value) -> Value {
        self.leaves.rest(s, link)
    }

    fn is_valid(&self, s: &mut KernelBuilder, link: Value) -> Flag {
        self.leaves.is_valid(s, link)
    }
}

impl OrderedNode {
    /// The vector of the planes across an axis, those that a ray meets first in front.
    fn planes(&self, s: &mut KernelBuilder, ray: &Ray, axis: usize) -> Value {
        let (one, zero) = (s.b.i32(1), s.b.i32(0));
        let side = s.select(ray.octant[axis], one, zero);
        let index = s.b.iadd(self.index, side);
        self.tables.vector(s, Table::Nodes, index, 2 * axis)
    }
}

impl Node for OrderedNode {
    fn ordered_bbox(&self, s: &mut KernelBuilder, i: usize, ray: &Ray) -> Bounds {
        let planes = [0, 1, 2].map(|axis| self.planes(s, ray, axis));
        let [near, far] = [i, 2 + i].map(|place| {
            let parts = planes.map(|row| s.b.extract(row, place as u8));
            s.b.compose(&parts)
        });
        Bounds { near, far }
    }

    fn child(&self, i: usize) -> Value {
        self.links[i]
    }

    fn arity(&self) -> usize {
        2
    }

    /// Both boxes at a time.
    fn enter(&self, s: &mut KernelBuilder, ray: &Ray, t_far: Value) -> Vec<(Value, Flag)> {
        let distances = [0, 1, 2].map(|axis| {
            let row = self.planes(s, ray, axis);
            let [origin, inv] = [ray.origin, ray.inv].map(|vector| {
                let part = s.b.extract(vector, axis as u8);
                s.b.splat(part, Type::Vec4)
            });
            let way = s.b.sub(row, origin);
            s.b.mul(way, inv)
        });
        let boxes = [0, 1].map(|i| {
            let [near, far] = [i, 2 + i].map(|place| distances.map(|row| s.b.extract(row, place as u8)));
            enter_between(s, ray, near, far, t_far)
        });
        boxes.to_vec()
    }
}

/// The nodes of the binary BVH in this layout.
pub fn nodes(nodes: &[BinaryNode]) -> Vec<[u32; 4]> {
    let node = |node: &BinaryNode| -> [[u32; 4]; NODE] {
        let [left, right] = node.children;
        let row = |i: usize| {
            let lower = [left.min[i / 2], right.min[i / 2]].map(f32::to_bits);
            let upper = [left.max[i / 2], right.max[i / 2]].map(f32::to_bits);
            let [[a, b], [c, d]] = if i.is_multiple_of(2) { [lower, upper] } else { [upper, lower] };
            [a, b, c, d]
        };
        let links = [left.link, right.link, 0, 0];
        [row(0), row(1), row(2), row(3), row(4), row(5), links, [0; 4]]
    };
    nodes.iter().flat_map(node).collect()
}
