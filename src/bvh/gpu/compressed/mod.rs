//! The compressed 8-wide tree (Ylitie, Karras & Laine, "Efficient Incoherent Ray Traversal on GPUs
//! Through Compressed Wide BVHs", 2017), made of the binary one.
//!
//! A node takes 80 bytes for eight boxes, where the binary layout takes 256, so a ray reads less
//! memory; the price is arithmetic. Its kernel is `wgsl/traverse/compressed.wgsl` with
//! `wgsl/traverse/wide.wgsl`. It knows no device and nothing of instances.
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

#[cfg(test)]
mod tests {
    use super::super::super::random::Random;
    use super::super::super::{BuildOptions, Quality, Triangle};
    use super::*;

    /// Follows the tree from a node whose triangles are all in a box. Returns the triangles of the
    /// leaves, and the depth.
    fn traverse(tree: &CompressedBvh, index: u32, around: [[f64; 3]; 2], found: &mut Vec<(u32, [[f64; 3]; 2])>) -> u32 {
        let node = &tree.nodes[index as usize];
        let mut below = 0;
        for slot in 0..WIDTH {
            let kind = node.kinds[slot];
            let own = node.decoded(slot);
            let inside = [0, 1, 2].map(|axis| [around[0][axis].max(own[0][axis]), around[1][axis].min(own[1][axis])]);
            let inside = [0, 1].map(|side| inside.map(|planes| planes[side]));
            if node.nodes >> slot & 1 == 1 {
                assert_eq!(kind, (1 << 5) | (24 + slot as u8));
                let before = (node.nodes & ((1 << slot) - 1)).count_ones();
                below = below.max(traverse(tree, node.first_node + before, inside, found));
            } else {
                let first = node.first_triangle + u32::from(kind & 31);
                let count = (kind >> 5).count_ones();
                found.extend((first..first + count).map(|triangle| (triangle, inside)));
            }
        }
        below + 1
    }

    /// Asserts that every leaf triangle is reached once, and is in all boxes on the way where it is
    /// in those of the binary tree.
    fn check(triangles: &[Triangle], quality: Quality) {
        let bvh = Bvh::build(triangles, &BuildOptions { quality, ..BuildOptions::default() }).expect("small enough");
        let tree = CompressedBvh::new(&bvh);
        let everywhere = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];
        let mut found = Vec::new();
        assert!(traverse(&tree, 0, everywhere, &mut found) <= 64, "the kernel's stack has room");
        let mut reached: Vec<u32> = found.iter().map(|(triangle, _)| *triangle).collect();
        reached.sort_unstable();
        assert_eq!(reached, (0..tree.triangles.len() as u32).collect::<Vec<_>>(), "{quality:?}");
        let mut prims: Vec<u32> = tree.triangles.iter().map(|t| t.prim).collect();
        prims.sort_unstable();
        prims.dedup();
        assert_eq!(prims.len(), triangles.len(), "{quality:?}");
        // With spatial splits a box holds a part of a triangle only.
        if quality != Quality::Spatial {
            for (triangle, [low, high]) in found {
                let t = &tree.triangles[triangle as usize];
                for (corner, axis) in [t.a, t.b, t.c].iter().flat_map(|corner| (0..3).map(move |axis| (corner, axis))) {
                    let x = f64::from(corner[axis]);
                    assert!(low[axis] <= x && x <= high[axis], "{quality:?}: {t:?} not in {low:?}, {high:?}");
                }
            }
        }
    }

    #[test]
    fn every_triangle_is_in_the_boxes_on_the_way_to_it() {
        let mut random = Random(1);
        for (count, size) in [(1, 1.0), (2, 1.0), (9, 0.5), (100, 0.3), (3000, 0.1)] {
            let soup = random.soup(count, size);
            for (scale, offset) in [(1.0, 0.0), (1e-30, 0.0), (1e30, 0.0), (1.0, 1e5), (1e-6, 1.0)] {
                let moved = |t: &Triangle| {
                    let [a, b, c] = [t.a, t.b, t.c].map(|p| p * scale + offset);
                    Triangle::new(a, b, c)
                };
                let soup: Vec<Triangle> = soup.iter().map(moved).collect();
                Quality::ALL.into_iter().for_each(|quality| check(&soup, quality));
            }
        }
    }

    #[test]
    fn flat_and_nested_and_equal_triangles_have_boxes() {
        let mut random = Random(2);
        let flat: Vec<Triangle> = random
            .soup(500, 0.2)
            .iter()
            .map(|t| Triangle::new(t.a.with_y(0.5), t.b.with_y(0.5), t.c.with_y(0.5)))
            .collect();
        let one = random.triangle(1.0);
        let nested =
            (0..400).map(|i| 0.5f32.powi(i / 4)).map(|s| Triangle::new(one.a * s, one.b * s, one.c * s)).collect();
        for triangles in [flat, vec![one; 300], nested] {
            Quality::ALL.into_iter().for_each(|quality| check(&triangles, quality));
        }
    }

    #[test]
    fn a_tree_of_nothing_is_a_node_without_children() {
        let bvh = Bvh::build(&[], &BuildOptions::default()).expect("small enough");
        let tree = CompressedBvh::new(&bvh);
        assert_eq!((tree.nodes.as_slice(), tree.triangles.len()), (&[CompressedNode::default()][..], 0));
    }

    #[test]
    fn a_tree_that_is_appended_keeps_its_form() {
        let mut random = Random(3);
        let mut tree = |count| {
            let bvh = Bvh::build(random.soup(count, 0.2), &BuildOptions::default()).expect("small enough");
            CompressedBvh::new(&bvh)
        };
        let (mut both, second) = (tree(100), tree(200));
        let first_triangle = both.triangles.len() as u32;
        let root = both.append(&second);
        let everywhere = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];
        let (mut alone, mut appended) = (Vec::new(), Vec::new());
        assert_eq!(traverse(&second, 0, everywhere, &mut alone), traverse(&both, root, everywhere, &mut appended));
        alone.iter_mut().for_each(|(triangle, _)| *triangle += first_triangle);
        assert_eq!(alone, appended);
    }
}
