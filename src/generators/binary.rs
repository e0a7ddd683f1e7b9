//! The layout of the binary BVH ([`shadewright_bvh::node`]).

use super::leaves::{LeafTriangle, Leaves};
use super::stage::{Flag, KernelBuilder};
use super::tables::{Row, Table};
use super::tree::{Bounds, Bvh, Intersector, Node, Ray};
use shadewright_ir::{Type, Value};

/// Vectors of a node.
const NODE: i32 = 4;

/// Bits of a link that count triangles.
pub const COUNT_BITS: u32 = 3;

/// The binary BVH.
#[derive(Clone, Copy, Debug)]
pub struct Binary<I> {
    /// The leaves of the BVH.
    pub leaves: Leaves<I>,
}

/// A node of it: of each child the row of the lower corner, which ends with the link, and that of
/// the upper corner.
#[derive(Clone, Copy, Debug)]
pub struct BinaryNode {
    rows: [Row; 4],
    links: [Value; 2],
}

impl<I: Intersector + Copy> Bvh for Binary<I> {
    type Node = BinaryNode;
    type Prim = LeafTriangle<I>;

    fn node(&self, s: &mut KernelBuilder, link: Value) -> BinaryNode {
        let size = s.b.i32(NODE.ilog2() as i32);
        let index = s.b.ishl(link, size);
        let rows: [Row; 4] = self.leaves.tables.rows(s, Table::Nodes, index);
        let links = [rows[0].w, rows[2].w].map(|word| s.bits(word, Type::I32));
        BinaryNode { rows, links }
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

impl Node for BinaryNode {
    fn ordered_bbox(&self, s: &mut KernelBuilder, i: usize, ray: &Ray) -> Bounds {
        let lower = s.b.first_components::<3>(self.rows[2 * i].xyz);
        let upper = s.b.first_components::<3>(self.rows[2 * i + 1].xyz);
        let near = [0, 1, 2].map(|axis| s.select(ray.octant[axis], upper[axis], lower[axis]));
        let far = [0, 1, 2].map(|axis| s.select(ray.octant[axis], lower[axis], upper[axis]));
        Bounds { near: s.b.compose(&near), far: s.b.compose(&far) }
    }

    fn child(&self, i: usize) -> Value {
        self.links[i]
    }

    fn arity(&self) -> usize {
        self.links.len()
    }
}
