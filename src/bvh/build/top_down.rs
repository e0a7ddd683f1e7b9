//! The parallel binned-SAH builder (Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies", 2007).
//!
//! The tree depends on the triangles alone: work is cut by sizes that are constants, and what threads combine is minima, maxima
//! and counts. Splits compare areas relative to the root's extent, so the scene's scale matters to no more than rounding.
//! Near [`MAX_DEPTH`] the builder falls back to halving at the median, which bounds recursion and the traversal's stacks.
//!
//! Memory at its peak, per triangle of `n`: 32 bytes of references and at most 2 × 64 bytes of nodes while the tree is
//! assembled (about 35 each in practice), then 48 bytes of leaf triangles, and about 75 bytes of the wide tree; besides the
//! 40 bytes of the input, which the tree does not keep.

use super::super::node::{Child, Link, MAX_DEPTH, MAX_LEAF, Node};
use super::super::triangle::Triangle;
use super::object::{Split, median, split_by_area};
use super::parts::Part;
use super::reference::{Extent, Reference, references};
use super::{BuildOptions, Built};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Subtrees of at most this many triangles are built by one task.
const TASK: usize = 8 * 1024;

/// Builds the tree over the finite ones of `triangles`.
pub fn build(triangles: &[Triangle], options: &BuildOptions<'_>) -> Built {
    let mut refs = references(triangles);
    let builder = Builder::new(&refs, options);
    let mut nodes = Vec::new();
    builder.build(&mut refs).flatten(&mut nodes);
    Built { nodes, prims: refs.par_iter().map(Reference::prim).collect() }
}

/// What stays the same during a build.
struct Builder<'a> {
    options: BuildOptions<'a>,
    /// Multiplies lengths so that the root's longest side is about 1.
    scale: f32,
    /// Widens every box, by about one unit in the last place of the scene's largest coordinate: a ray in the plane of a
    /// box's side is then inside it, and a hit whose `t` was rounded outwards is still reached.
    pad: f32,
    root: Extent,
    settled: AtomicUsize,
}

impl<'a> Builder<'a> {
    fn new(refs: &[Reference], options: &BuildOptions<'a>) -> Self {
        let root = Extent::of(refs);
        let longest = (root.bounds.max - root.bounds.min).truncate().max_element();
        let largest = root.bounds.min.abs().max(root.bounds.max.abs()).truncate().max_element();
        Self {
            options: BuildOptions { max_leaf: options.max_leaf.clamp(1, MAX_LEAF), ..*options },
            scale: if longest > f32::MIN_POSITIVE { 1.0 / longest } else { 1.0 },
            pad: (largest * f32::EPSILON).max(f32::MIN_POSITIVE),
            root,
            settled: AtomicUsize::new(0),
        }
    }

    /// Reorders the references so that each leaf's are neighbours, and returns the tree over them.
    fn build(&self, refs: &mut [Reference]) -> Part {
        match self.split(refs, &self.root, 1) {
            Some(middle) => self.parallel(refs, 0, middle, 1),
            None => {
                let left = if refs.is_empty() { Child::empty() } else { self.child(&self.root, leaf(0, refs)) };
                Part::Nodes(vec![Node { children: [left, Child::empty()] }])
            }
        }
    }

    /// A child with the padded box of its references.
    fn child(&self, extent: &Extent, link: Link) -> Child {
        Child {
            min: (extent.bounds.min - self.pad).truncate().to_array(),
            link: link.encode(),
            max: (extent.bounds.max + self.pad).truncate().to_array(),
            pad: 0,
        }
    }

    /// Reorders the references of a node at `depth` and returns how many go left, or `None` to make them a leaf.
    fn split(&self, refs: &mut [Reference], extent: &Extent, depth: u32) -> Option<usize> {
        let count = refs.len();
        if count <= 1 {
            return None;
        }
        let levels_to_halve = usize::BITS - (count - 1).leading_zeros();
        if depth + levels_to_halve >= MAX_DEPTH {
            return (count > self.options.max_leaf).then(|| median(refs, extent));
        }
        let area = extent.bounds.half_area(self.scale);
        let small = count <= self.options.max_leaf;
        // One for visiting the node, one a triangle.
        let worth = |cost: f32| !small || area + cost < area * count as f32;
        match split_by_area(refs, extent, self.scale, worth) {
            Split::At(middle) => Some(middle),
            Split::Refused => None,
            Split::Impossible => (!small).then(|| median(refs, extent)),
        }
    }

    /// The tree over references that are split at `middle`; `first` is their place among all.
    fn parallel(&self, refs: &mut [Reference], first: usize, middle: usize, depth: u32) -> Part {
        if refs.len() <= TASK {
            let mut nodes = Vec::with_capacity(refs.len() / 2);
            self.sequential(refs, first, middle, depth, &mut nodes);
            self.settle(refs.len());
            return Part::Nodes(nodes);
        }
        let side = |refs: &mut [Reference], first: usize| {
            let extent = Extent::of(refs);
            match self.split(refs, &extent, depth + 1) {
                None => (self.child(&extent, leaf(first, refs)), None),
                // The link is set when the pieces are put together.
                Some(middle) => {
                    let below = self.parallel(refs, first, middle, depth + 1);
                    (self.child(&extent, Link::Inner(0)), Some(below))
                }
            }
        };
        let (left, right) = refs.split_at_mut(middle);
        let (left, right) = rayon::join(|| side(left, first), || side(right, first + middle));
        Part::Split(Box::new([left, right]))
    }

    /// The same in one thread: appends the subtree's nodes, root first.
    fn sequential(&self, refs: &mut [Reference], first: usize, middle: usize, depth: u32, nodes: &mut Vec<Node>) {
        let index = nodes.len();
        nodes.push(Node::default());
        let (left, right) = refs.split_at_mut(middle);
        for (side, refs, first) in [(0, left, first), (1, right, first + middle)] {
            let extent = Extent::of(refs);
            let middle = self.split(refs, &extent, depth + 1);
            let link = if middle.is_some() { Link::Inner(nodes.len() as u32) } else { leaf(first, refs) };
            nodes[index].children[side] = self.child(&extent, link);
            if let Some(middle) = middle {
                self.sequential(refs, first, middle, depth + 1, nodes);
            }
        }
    }

    fn settle(&self, count: usize) {
        let settled = self.settled.fetch_add(count, Ordering::Relaxed) + count;
        if let Some(progress) = self.options.progress {
            progress(settled);
        }
    }
}

/// The link to a leaf of references that begin at place `first` of all.
fn leaf(first: usize, refs: &[Reference]) -> Link {
    Link::Leaf { first: first as u32, count: refs.len() as u32 }
}
