//! A layout of the BVHs of four or eight children a node ([`shadewright_bvh::wide`]) for the memory image,
//! with one triangle after the other in the leaves.
//!
//! A node is 8 or 16 vectors: the planes of the boxes, lower x, y, z, upper x, y, z, four boxes a
//! vector; then the links; the rest is unused. The planes that a ray meets first are loaded by the
//! signs of its direction, so that nothing is selected.

use super::leaves::{LeafTriangle, Leaves};
use super::stage::{Flag, KernelBuilder};
use super::tables::{Table, Tables};
use super::tree::{Bounds, Bvh, Intersector, Node, Ray, enter_between};
use shadewright_bvh::node::LEAF;
use shadewright_bvh::triangle::LeafTriangle as Record;
use shadewright_bvh::wide::WideBvh;
use shadewright_bvh::wide::layout::WideLink;
use shadewright_ir::{Type, Value};

/// Boxes of a vector.
const LANES: usize = 4;

/// Bits of a link that count triangles.
pub const COUNT_BITS: u32 = 4;

/// A wide BVH.
#[derive(Clone, Copy, Debug)]
pub struct Wide<I> {
    /// Children of a node, 4 or 8.
    pub arity: usize,
    /// The leaves of the BVH.
    pub leaves: Leaves<I>,
}

/// A node of it.
#[derive(Clone, Debug)]
pub struct WideNode {
    tables: Tables,
    arity: usize,
    /// The node's first vector.
    index: Value,
    links: Vec<Value>,
}

/// Vectors of the planes of one axis and side, and of a node.
fn sizes(arity: usize) -> (usize, usize) {
    let plane = arity / LANES;
    (plane, (7 * plane).next_power_of_two())
}

impl<I: Intersector + Copy> Bvh for Wide<I> {
    type Node = WideNode;
    type Prim = LeafTriangle<I>;

    fn node(&self, s: &mut KernelBuilder, link: Value) -> WideNode {
        let (plane, size) = sizes(self.arity);
        let places = s.b.i32(size.ilog2() as i32);
        let index = s.b.ishl(link, places);
        let tables = self.leaves.tables;
        let rows = (0..plane).map(|group| tables.vector(s, Table::Nodes, index, 6 * plane + group));
        let rows: Vec<Value> = rows.collect();
        let links = (0..self.arity).map(|i| {
            let link = s.b.extract(rows[i / LANES], (i % LANES) as u8);
            s.bits(link, Type::I32)
        });
        let links = links.collect();
        WideNode { tables, arity: self.arity, index, links }
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

impl WideNode {
    /// The rows of the planes that a ray meets first and last on an axis, for a group of four boxes.
    fn planes(&self, s: &mut KernelBuilder, ray: &Ray, axis: usize, group: usize) -> [Value; 2] {
        let plane = self.arity / LANES;
        let (none, above, both) = (s.b.i32(0), s.b.i32(3 * plane as i32), s.b.i32(3 * plane as i32));
        let near = s.select(ray.octant[axis], above, none);
        let far = s.b.isub(both, near);
        [near, far].map(|side| {
            let index = s.b.iadd(self.index, side);
            self.tables.vector(s, Table::Nodes, index, axis * plane + group)
        })
    }
}

impl Node for WideNode {
    fn ordered_bbox(&self, s: &mut KernelBuilder, i: usize, ray: &Ray) -> Bounds {
        let planes = [0, 1, 2].map(|axis| self.planes(s, ray, axis, i / LANES));
        let [near, far] = [0, 1].map(|side| {
            let parts = planes.map(|plane| s.b.extract(plane[side], (i % LANES) as u8));
            s.b.compose(&parts)
        });
        Bounds { near, far }
    }

    fn child(&self, i: usize) -> Value {
        self.links[i]
    }

    fn arity(&self) -> usize {
        self.arity
    }

    /// Four boxes at a time.
    fn enter(&self, s: &mut KernelBuilder, ray: &Ray, t_far: Value) -> Vec<(Value, Flag)> {
        let mut entered = Vec::new();
        for group in 0..self.arity / LANES {
            let distances = [0, 1, 2].map(|axis| {
                let [origin, inv] = [ray.origin, ray.inv].map(|vector| {
                    let part = s.b.extract(vector, axis as u8);
                    s.b.splat(part, Type::Vec4)
                });
                self.planes(s, ray, axis, group).map(|plane| {
                    let way = s.b.sub(plane, origin);
                    s.b.mul(way, inv)
                })
            });
            for lane in 0..LANES {
                let [near, far] = [0, 1].map(|side| distances.map(|axis| s.b.extract(axis[side], lane as u8)));
                entered.push(enter_between(s, ray, near, far, t_far));
            }
        }
        entered
    }
}

/// The memory image of a wide BVH: vectors of nodes, and of triangles.
pub fn tables<const W: usize>(bvh: &WideBvh<W>) -> [Vec<[u32; 4]>; 2] {
    let (_, size) = sizes(W);
    let mut firsts = Vec::with_capacity(bvh.blocks().len());
    let mut triangles: Vec<Record> = Vec::new();
    for block in bvh.blocks() {
        let first = triangles.len() as u32;
        triangles.extend(block.triangles());
        firsts.push(LEAF | first << COUNT_BITS | (triangles.len() as u32 - first));
    }
    let link = |bits: u32| match WideLink::decode(bits) {
        WideLink::Node(index) => index,
        WideLink::Block(index) => firsts[index as usize],
    };
    let mut nodes = Vec::with_capacity(size * bvh.nodes().len());
    for node in bvh.nodes() {
        let start = nodes.len();
        let words = node.planes.iter().flatten().map(|plane| plane.to_bits());
        let words: Vec<u32> = words.chain(node.links.iter().map(|&bits| link(bits))).collect();
        nodes.extend(words.chunks(LANES).map(|row| [row[0], row[1], row[2], row[3]]));
        nodes.resize(start + size, [0; 4]);
    }
    [nodes, bytemuck::cast_slice(&triangles).to_vec()]
}
