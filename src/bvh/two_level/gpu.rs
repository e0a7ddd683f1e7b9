//! The tables of the GPU's kernels: one tree or two levels, in either [`Layout`], always as two
//! tables.
//!
//! | table | holds, in scenes without instances | with instances |
//! |---|---|---|
//! | nodes, [`Layout::Binary`] | the plain tree's | the plain tree's, those of each mesh's tree, in one numbering; the upper tree's; the instances' records |
//! | nodes, [`Layout::Compressed`] | an empty binary node; the plain tree's | the same, and after it whatever fills up a binary node; the upper tree's, which is binary; the instances' records |
//! | triangles | in leaf order | the plain ones and each mesh's, in leaf order; numbers in a mesh begin at 0 |
//!
//! Links in the upper tree count binary nodes from the table's beginning, and its leaves name
//! instances in place of triangles. The records of instances have the number of their tree's root
//! node. The spare words of two nodes say where things are: the first word `pad` of the binary node
//! that the table begins with is the upper tree's root, or 0 where there is none; the words `pad`
//! of that root are the share of an origin that rays reach beyond boxes (a float), and the index of
//! the first instance's first vector.

use super::super::gpu::compressed::CompressedBvh;
use super::super::gpu::kernel::Layout;
use super::super::node::{Link, Node};
use super::instance::Instance;
use super::procedural::ProceduralBvh;
use super::upper::Upper;
use super::{Placed, TwoLevel};
use bytemuck::{bytes_of, cast_slice, pod_read_unaligned};
use std::borrow::Cow;

/// The tables of a tree that a kernel reads, as bytes.
#[derive(Clone, Debug)]
pub struct Tables<'a> {
    /// Nodes, and instances.
    pub nodes: Cow<'a, [u8]>,
    /// Leaf triangles.
    pub triangles: Cow<'a, [u8]>,
}

/// Vectors of the node table that a binary node takes.
const NODE_VECTORS: u32 = 4;

impl TwoLevel {
    /// The tables of the trees in a layout. The compressed trees are made here.
    pub fn gpu_tables(&self, layout: Layout) -> Tables<'_> {
        match layout {
            Layout::Binary => self.binary_tables(),
            Layout::Compressed => self.compressed_tables(),
        }
    }

    /// The same with procedural primitives: after all else their BVH, laid out like the upper BVH,
    /// and their records, which have the shader's `data` in place of a mesh's root node.
    /// The second word `pad` of the binary node that the table begins with is the root of that BVH.
    pub fn gpu_tables_with(&self, layout: Layout, procedural: &ProceduralBvh) -> Tables<'_> {
        let tables = self.gpu_tables(layout);
        let Some(upper) = procedural.upper() else { return tables };
        let mut nodes = tables.nodes.into_owned();
        nodes.resize(nodes.len().next_multiple_of(size_of::<Node>()), 0);
        let root = (nodes.len() / size_of::<Node>()) as u32;
        append_upper(upper, |primitive| primitive.tree, &mut nodes);
        let first = &mut nodes[..size_of::<Node>()];
        let mut node: Node = pod_read_unaligned(first);
        node.children[1].pad = root;
        first.copy_from_slice(bytes_of(&node));
        Tables { nodes: nodes.into(), ..tables }
    }

    fn binary_tables(&self) -> Tables<'_> {
        let plain = &self.plain;
        let Some(placed) = &self.placed else {
            return Tables { nodes: cast_slice(plain.nodes()).into(), triangles: cast_slice(plain.triangles()).into() };
        };
        let mut nodes = plain.nodes().to_vec();
        let mut triangles = plain.triangles().to_vec();
        let mut roots = Vec::new();
        for mesh in &placed.meshes {
            let (root, first_leaf) = (nodes.len() as u32, triangles.len() as u32);
            roots.push(root);
            nodes.extend(renumbered(mesh.nodes(), root, first_leaf));
            triangles.extend_from_slice(mesh.triangles());
        }
        nodes[0].children[0].pad = nodes.len() as u32;
        let mut bytes: Vec<u8> = cast_slice(&nodes).to_vec();
        append_placed(placed, &roots, &mut bytes);
        let triangles: &[u8] = cast_slice(&triangles);
        Tables { nodes: bytes.into(), triangles: triangles.to_vec().into() }
    }

    fn compressed_tables(&self) -> Tables<'_> {
        let mut trees = CompressedBvh::new(&self.plain);
        let mut roots = Vec::new();
        for mesh in self.placed.iter().flat_map(|placed| &placed.meshes) {
            roots.push(trees.append(&CompressedBvh::new(mesh)));
        }
        let mut first = Node::default();
        let of_nodes = size_of_val(trees.nodes()).next_multiple_of(size_of::<Node>());
        if self.placed.is_some() {
            first.children[0].pad = (1 + of_nodes / size_of::<Node>()) as u32;
        }
        let mut bytes = bytes_of(&first).to_vec();
        bytes.extend_from_slice(cast_slice(trees.nodes()));
        if let Some(placed) = &self.placed {
            bytes.resize(size_of::<Node>() + of_nodes, 0);
            append_placed(placed, &roots, &mut bytes);
        }
        let triangles: &[u8] = cast_slice(trees.triangles());
        Tables { nodes: bytes.into(), triangles: triangles.to_vec().into() }
    }
}

/// Puts the upper tree and the instances after a table of whole binary nodes. `roots` are those of
/// the meshes' trees.
fn append_placed(placed: &Placed, roots: &[u32], table: &mut Vec<u8>) {
    append_upper(&placed.upper, |instance| roots[instance.tree as usize], table);
}

/// Puts an upper tree and its instances after a table of whole binary nodes; `tree` gives the word
/// that stands for what is in an instance.
fn append_upper(upper: &Upper, tree: impl Fn(&Instance) -> u32, table: &mut Vec<u8>) {
    let root = (table.len() / size_of::<Node>()) as u32;
    let mut nodes: Vec<Node> = renumbered(upper.nodes(), root, 0).collect();
    let first_instance = NODE_VECTORS * (root + nodes.len() as u32);
    let [reach, place] = &mut nodes[0].children;
    (reach.pad, place.pad) = (upper.reach().0.to_bits(), first_instance);
    table.extend_from_slice(cast_slice(&nodes));
    let record = |instance: &Instance| Instance { tree: tree(instance), ..*instance };
    let records: Vec<Instance> = upper.instances().iter().map(record).collect();
    table.extend_from_slice(cast_slice(&records));
}

/// The nodes of a tree whose root is to have that number, and whose leaves begin at `first_leaf`.
fn renumbered(tree: &[Node], root: u32, first_leaf: u32) -> impl Iterator<Item = Node> {
    tree.iter().map(move |node| {
        let mut node = *node;
        for child in &mut node.children {
            child.link = match child.link() {
                Link::Inner(index) => Link::Inner(index + root),
                Link::Leaf { first, count } => Link::Leaf { first: first + first_leaf, count },
            }
            .encode();
        }
        node
    })
}
