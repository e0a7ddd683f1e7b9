//! The layout of the binary BVH ([`crate::bvh::node`]), with one triangle at a time in its leaves
//! ([`crate::bvh::triangle::LeafTriangle`]).

use super::stage::{Flag, Stage};
use super::tables::{Row, Table, Tables};
use super::tree::{Bounds, Bvh, Hit, Intersector, Node, Prim, Ray, Triangle};
use crate::bvh::node::LEAF;
use crate::ir::{Op, Type, Value};

/// Vectors of a node, and of a triangle.
const NODE: i32 = 4;
const TRIANGLE: i32 = 3;

/// The bits of a leaf's link that count its triangles.
const COUNT: i32 = 7;

/// The binary BVH.
#[derive(Clone, Copy, Debug)]
pub struct Binary<I> {
    /// Where its tables lie.
    pub tables: Tables,
    /// The ray–triangle test.
    pub intersector: I,
}

/// A node of it: of each child the row of the lower corner, which ends with the link, and that of
/// the upper corner.
#[derive(Clone, Copy, Debug)]
pub struct BinaryNode {
    rows: [Row; 4],
    links: [Value; 2],
}

/// A triangle of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct LeafTriangle<I> {
    triangle: Triangle,
    intersector: I,
}

impl<I: Intersector + Copy> Bvh for Binary<I> {
    type Node = BinaryNode;
    type Prim = LeafTriangle<I>;

    fn arity(&self) -> usize {
        2
    }

    fn node(&self, s: &mut Stage, link: Value) -> BinaryNode {
        let size = s.int(NODE.ilog2() as i32);
        let index = s.op(Op::IShl, [link, size]);
        let rows: [Row; 4] = self.tables.rows(s, Table::Nodes, index);
        let links = [rows[0].w, rows[2].w].map(|word| s.bits(word, Type::I32));
        BinaryNode { rows, links }
    }

    fn prim(&self, s: &mut Stage, link: Value) -> LeafTriangle<I> {
        let (place, kept, size) = (s.int(3), s.int((!LEAF >> 3) as i32), s.int(TRIANGLE));
        let shifted = s.op(Op::IShr, [link, place]);
        let first = s.op(Op::IAnd, [shifted, kept]);
        let index = s.op(Op::IMul, [first, size]);
        let [a, b, c]: [Row; 3] = self.tables.rows(s, Table::Triangles, index);
        let triangle = Triangle { vertices: [a.xyz, b.xyz, c.xyz], prim: a.w, flags: b.w };
        LeafTriangle { triangle, intersector: self.intersector }
    }

    fn rest(&self, s: &mut Stage, link: Value) -> Value {
        // One triangle further, and one less.
        let step = s.int((1 << 3) - 1);
        s.op(Op::IAdd, [link, step])
    }

    fn is_valid(&self, s: &mut Stage, link: Value) -> Flag {
        let (count, zero) = (s.int(COUNT), s.int(0));
        let count = s.op(Op::IAnd, [link, count]);
        let empty = s.equal(count, zero);
        s.not(empty)
    }
}

impl Node for BinaryNode {
    fn ordered_bbox(&self, s: &mut Stage, i: usize, ray: &Ray) -> Bounds {
        let lower = s.parts(self.rows[2 * i].xyz);
        let upper = s.parts(self.rows[2 * i + 1].xyz);
        let near = [0, 1, 2].map(|axis| s.select(ray.octant[axis], upper[axis], lower[axis]));
        let far = [0, 1, 2].map(|axis| s.select(ray.octant[axis], lower[axis], upper[axis]));
        Bounds { near: s.compose(near), far: s.compose(far) }
    }

    fn child(&self, i: usize) -> Value {
        self.links[i]
    }
}

impl<I: Intersector> Prim for LeafTriangle<I> {
    type Ray = I::Ray;

    fn size(&self) -> usize {
        1
    }

    fn intersect(&self, s: &mut Stage, _: usize, ray: &I::Ray, best: Hit, on_hit: &mut dyn FnMut(&mut Stage, Hit)) {
        self.intersector.intersect(s, &self.triangle, ray, best, on_hit);
    }
}
