//! The parallel binned-SAH builder (Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies", 2007).
//!
//! The tree depends on the triangles alone: work is cut by sizes that are constants, and what threads combine is minima, maxima
//! and counts. Splits compare areas relative to the root's extent, so the scene's scale matters to no more than rounding.
//! Near [`MAX_DEPTH`] the builder falls back to halving at the median, which bounds recursion and the traversal's stacks.
//!
//! Memory at its peak, per triangle of `n`: 32 bytes of references and at most 2 × 64 bytes of nodes while the tree is
//! assembled (about 35 each in practice), then 48 bytes of leaf triangles, and about 75 bytes of the wide tree; besides the
//! 40 bytes of the input, which the tree does not keep.

use super::binning::{Extent, Reference, Split, median, references, split_by_area};
use super::node::{Child, Link, MAX_DEPTH, MAX_LEAF, Node};
use super::ray::{Hit, HitBatch, Ray, RayBatch};
use super::triangle::{LeafTriangle, Triangle};
use super::wide::WideBvh;
use glam::Vec3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most triangles in a tree; leaves address them with 28 bits and GPU buffers with 32 in bytes.
pub const MAX_TRIANGLES: usize = 1 << 28;

/// Subtrees of at most this many triangles are built by one task.
const TASK: usize = 8 * 1024;

/// What can go wrong in a build.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BuildError {
    /// The input is larger than a tree can address.
    #[error("{count} triangles are more than a tree holds ({MAX_TRIANGLES}); split the mesh or simplify it")]
    TooManyTriangles {
        /// Triangles in the input.
        count: usize,
    },
}

/// How to build.
#[derive(Clone, Copy)]
pub struct BuildOptions<'a> {
    /// The most triangles in a leaf, 1 to [`MAX_LEAF`]; 4 unless set.
    pub max_leaf: usize,
    /// Told the number of triangles whose place in the tree is settled so far, from any thread, after each piece of up to
    /// 8192 of them.
    pub progress: Option<&'a (dyn Fn(usize) + Sync)>,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self { max_leaf: 4, progress: None }
    }
}

/// What a build made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BuildStats {
    /// Triangles in the tree.
    pub triangles: usize,
    /// Triangles of the input that were left out because a coordinate was not finite.
    pub skipped: usize,
    /// Inner nodes.
    pub nodes: usize,
    /// Leaves with triangles.
    pub leaves: usize,
    /// The most inner nodes on a path from the root.
    pub depth: u32,
    /// Expected cost of a random ray that hits the root's box: one for a node visited, one for a triangle tested.
    pub sah_cost: f64,
    /// Bytes of binary nodes and triangles (what the GPU gets).
    pub bytes: usize,
    /// Bytes of the 8-wide tree (what the CPU traces).
    pub wide_bytes: usize,
}

/// The tree. Trace it with [`closest_hit`](Bvh::closest_hit) and its siblings.
#[derive(Debug)]
pub struct Bvh {
    nodes: Vec<Node>,
    triangles: Vec<LeafTriangle>,
    wide: WideBvh,
    stats: BuildStats,
}

impl Bvh {
    /// Builds the tree on the current rayon pool. Triangles with a coordinate that is not finite are left out, and counted in
    /// [`BuildStats::skipped`]; any others are fine, degenerate ones included.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooManyTriangles`] above [`MAX_TRIANGLES`].
    pub fn build(triangles: &[Triangle], options: &BuildOptions<'_>) -> Result<Self, BuildError> {
        if triangles.len() > MAX_TRIANGLES {
            return Err(BuildError::TooManyTriangles { count: triangles.len() });
        }
        let mut refs = references(triangles);
        let builder = Builder::new(&refs, options);
        let mut nodes = Vec::new();
        builder.build(&mut refs).flatten(&mut nodes);
        let leaf_order: Vec<_> =
            refs.par_iter().map(|r| LeafTriangle::new(&triangles[r.prim() as usize], r.prim())).collect();
        drop(refs);
        let wide = WideBvh::new(&nodes, &leaf_order);
        let mut bvh = Self { nodes, triangles: leaf_order, wide, stats: BuildStats::default() };
        bvh.stats = BuildStats { skipped: triangles.len() - bvh.triangles.len(), ..measure_tree(&bvh) };
        Ok(bvh)
    }

    /// The binary tree's nodes, root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The triangles in leaf order.
    pub fn triangles(&self) -> &[LeafTriangle] {
        &self.triangles
    }

    /// The lower and upper corner of the box around all triangles (a little padded), or `None` of an empty tree.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let children = self.nodes.iter().take(1).flat_map(|root| &root.children);
        let boxes = children.filter(|child| child.link != Child::empty().link);
        boxes.map(|child| (Vec3::from(child.min), Vec3::from(child.max))).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Size and quality of the tree.
    pub fn stats(&self) -> &BuildStats {
        &self.stats
    }

    /// The 8-wide tree of the same triangles, which the methods below walk.
    pub fn wide(&self) -> &WideBvh {
        &self.wide
    }

    /// The nearest hit with `t_min < t < t_max`; of hits at equal `t` the one with the lowest primitive index. For many rays
    /// [`closest_hits`](Self::closest_hits) is cheaper.
    pub fn closest_hit(&self, ray: &Ray) -> Option<Hit> {
        let (mut rays, mut hits) = (RayBatch::default(), HitBatch::default());
        rays.set(0, ray);
        self.closest_hits(&rays, &mut hits);
        hits.hit(0)
    }

    /// Whether there is any hit with `t_min < t < t_max`.
    pub fn any_hit(&self, ray: &Ray) -> bool {
        let mut rays = RayBatch::default();
        rays.set(0, ray);
        self.any_hits(&rays) != 0
    }

    /// Traces the active rays of a batch like [`closest_hit`](Self::closest_hit); the hits of inactive rays are left alone.
    pub fn closest_hits(&self, rays: &RayBatch, hits: &mut HitBatch) {
        self.wide.closest_hits(rays, hits);
    }

    /// The mask of the active rays of a batch that hit something, as [`any_hit`](Self::any_hit) says.
    pub fn any_hits(&self, rays: &RayBatch) -> u64 {
        self.wide.any_hits(rays)
    }
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

/// A tree in pieces, as the tasks made them.
enum Part {
    /// A subtree built by one task, root first, with links relative to the piece.
    Nodes(Vec<Node>),
    /// A node: its children and, for those that are not leaves, what is below.
    Split(Box<[(Child, Option<Part>); 2]>),
}

impl Part {
    /// Appends the tree's nodes, depth first. Recurses at most [`MAX_DEPTH`] deep.
    fn flatten(self, nodes: &mut Vec<Node>) {
        let index = nodes.len();
        match self {
            Part::Nodes(mut piece) => {
                for child in piece.iter_mut().flat_map(|node| &mut node.children) {
                    if let Link::Inner(link) = child.link() {
                        child.link = Link::Inner(link + index as u32).encode();
                    }
                }
                nodes.append(&mut piece);
            }
            Part::Split(sides) => {
                nodes.push(Node::default());
                for (side, (mut child, below)) in sides.into_iter().enumerate() {
                    if let Some(below) = below {
                        child.link = Link::Inner(nodes.len() as u32).encode();
                        below.flatten(nodes);
                    }
                    nodes[index].children[side] = child;
                }
            }
        }
    }
}

/// Statistics of a finished tree, `skipped` aside.
fn measure_tree(bvh: &Bvh) -> BuildStats {
    let area = |low: Vec3, high: Vec3| {
        let side = high.as_dvec3() - low.as_dvec3();
        side.x * side.y + side.y * side.z + side.z * side.x
    };
    let mut depth = vec![1u8; bvh.nodes.len()];
    let (mut leaves, mut cost) = (0, 0.0);
    for (index, node) in bvh.nodes.iter().enumerate() {
        for child in &node.children {
            let area = area(child.min.into(), child.max.into());
            match child.link() {
                Link::Inner(below) => {
                    depth[below as usize] = depth[index] + 1;
                    cost += area;
                }
                Link::Leaf { count, .. } => {
                    leaves += usize::from(count > 0);
                    cost += area * f64::from(count);
                }
            }
        }
    }
    let root = bvh.bounds().map_or(0.0, |(low, high)| area(low, high));
    BuildStats {
        triangles: bvh.triangles.len(),
        skipped: 0,
        nodes: bvh.nodes.len(),
        leaves,
        depth: depth.iter().copied().max().map_or(0, u32::from),
        sah_cost: if root > 0.0 { 1.0 + cost / root } else { 0.0 },
        bytes: size_of_val(&bvh.nodes[..]) + size_of_val(&bvh.triangles[..]),
        wide_bytes: bvh.wide.bytes(),
    }
}
