//! Leaves of one triangle after the other, as [`shadewright_bvh::triangle::LeafTriangle`]s.

use super::stage::{Flag, KernelBuilder};
use super::tables::{Row, Table, Tables};
use super::tree::{Hit, Intersector, Prim, Triangle};
use shadewright_bvh::node::LEAF;
use shadewright_ir::Value;

/// Vectors of a triangle.
const TRIANGLE: i32 = 3;

/// The triangles that links to leaves lead to. In a link the top bit is set, then come the first
/// triangle and the number of triangles.
#[derive(Clone, Copy, Debug)]
pub struct Leaves<I> {
    /// Where the table of triangles lies.
    pub tables: Tables,
    /// The ray–triangle test.
    pub intersector: I,
    /// The lowest bits of a link, which count.
    pub count_bits: u32,
}

impl<I: Copy> Leaves<I> {
    /// The first triangle of a leaf.
    pub fn prim(&self, s: &mut KernelBuilder, link: Value) -> LeafTriangle<I> {
        let (place, size) = (s.b.i32(self.count_bits as i32), s.b.i32(TRIANGLE));
        let kept = s.b.i32((!LEAF >> self.count_bits) as i32);
        let shifted = s.b.ishr(link, place);
        let first = s.b.iand(shifted, kept);
        let index = s.b.imul(first, size);
        let [a, b, c]: [Row; 3] = self.tables.rows(s, Table::Triangles, index);
        let triangle = Triangle { vertices: [a.xyz, b.xyz, c.xyz], prim: a.w, flags: b.w };
        LeafTriangle { triangle, intersector: self.intersector }
    }

    /// A link to the others: one triangle further, and one less.
    pub fn rest(&self, s: &mut KernelBuilder, link: Value) -> Value {
        let step = s.b.i32((1 << self.count_bits) - 1);
        s.b.iadd(link, step)
    }

    /// True if a leaf has triangles.
    pub fn is_valid(&self, s: &mut KernelBuilder, link: Value) -> Flag {
        let (bits, zero) = (s.b.i32((1 << self.count_bits) - 1), s.b.i32(0));
        let count = s.b.iand(link, bits);
        let empty = s.equal(count, zero);
        s.not(empty)
    }
}

/// A triangle of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct LeafTriangle<I> {
    triangle: Triangle,
    intersector: I,
}

impl<I: Intersector> Prim for LeafTriangle<I> {
    type Ray = I::Ray;

    fn size(&self) -> usize {
        1
    }

    fn intersect(
        &self,
        s: &mut KernelBuilder,
        _: usize,
        ray: &I::Ray,
        best: Hit,
        on_hit: &mut dyn FnMut(&mut KernelBuilder, Hit),
    ) {
        self.intersector.intersect(s, &self.triangle, ray, best, on_hit);
    }
}
