//! The parallel binned-SAH builder (Wald, "On fast Construction of SAH-based Bounding Volume
//! Hierarchies", 2007).
//!
//! The tree depends on the triangles alone: work is cut by sizes that are constants, and what
//! threads combine is minima, maxima and counts. Splits compare areas relative to the root's
//! extent, so the scene's scale matters to no more than rounding. Near [`MAX_DEPTH`] the builder
//! falls back to halving at the median, which bounds recursion and the traversal's stacks.
//!
//! Memory at its peak, per triangle of `n`: 32 bytes of references and at most 2 × 64 bytes of
//! nodes while the tree is assembled (about 35 each in practice), then 48 bytes of leaf triangles,
//! and about 75 bytes of the wide tree; besides the 40 bytes of the input, which the tree does not
//! keep.

use super::super::node::{Child, Link, MAX_DEPTH, MAX_LEAF, Node};
use super::super::triangle::Triangle;
use super::frame::Frame;
use super::object::ObjectSplit;
use super::progress::Progress;
use super::reference::{Extent, Reference, median, references};
use super::spatial::Source;
use super::subtree::Subtree;
use super::{BuildOptions, Built, MAX_TRIANGLES, TASK};

/// Where the best split of whole triangles leaves the children overlapping by more than this share
/// of the root's surface, planes that split triangles are tried (the α of Stich, Friedrich &
/// Dietrich, 2009).
const OVERLAP: f32 = 1e-4;

/// Triangles with coordinates beyond this are not split, lest arithmetic on them overflow.
const MAX_TO_CUT: f32 = 1e30;

/// Builds the tree over the finite ones of `triangles`, with room for `room` times as many more
/// where triangles are split.
pub fn build(triangles: &[Triangle], options: &BuildOptions<'_>, room: f64) -> Built {
    let mut slots = references(triangles);
    let count = slots.len();
    let builder = Builder::new(triangles, &slots, options);
    let room = if builder.frame.largest < MAX_TO_CUT { (count as f64 * room) as usize } else { 0 };
    slots.resize((count + room).min(MAX_TRIANGLES), Reference::NONE);
    let mut nodes = Vec::new();
    builder.build(&mut slots, count).flatten(&mut nodes);
    let mut prims = Vec::with_capacity(count);
    compact(&mut nodes, 0, &slots, &mut prims);
    Built { nodes, prims, triangles: count }
}

/// Lists the triangles of the leaves of a subtree in order, without the slots between them.
/// Recurses at most [`MAX_DEPTH`] deep.
fn compact(nodes: &mut [Node], index: u32, slots: &[Reference], prims: &mut Vec<u32>) {
    for side in 0..2 {
        let child = &mut nodes[index as usize].children[side];
        match child.link() {
            Link::Inner(below) => compact(nodes, below, slots, prims),
            // The missing child of a tree of one leaf.
            Link::Leaf { count: 0, .. } => {}
            Link::Leaf { first, count } => {
                child.link = Link::Leaf { first: prims.len() as u32, count }.encode();
                prims.extend(slots[first as usize..][..count as usize].iter().map(Reference::prim));
            }
        }
    }
}

/// The data that stays the same during a build.
struct Builder<'a> {
    options: BuildOptions<'a>,
    frame: Frame,
    root: Extent,
    /// Half the surface of the root's box, with lengths multiplied by `scale`.
    root_area: f32,
    source: Source<'a>,
    progress: Progress<'a>,
}

impl<'a> Builder<'a> {
    fn new(triangles: &'a [Triangle], refs: &[Reference], options: &BuildOptions<'a>) -> Self {
        let root = Extent::from_references(refs);
        let frame = Frame::new(&root.bounds);
        Self {
            options: BuildOptions { max_leaf: options.max_leaf.clamp(1, MAX_LEAF), ..*options },
            frame,
            root,
            root_area: root.bounds.half_area(frame.scale),
            source: Source::new(triangles, frame.largest, frame.scale),
            progress: Progress::new(options, refs.len()),
        }
    }

    /// Reorders the references so that each leaf's are neighbors, and returns the tree over them.
    fn build(&self, slots: &mut [Reference], count: usize) -> Subtree {
        let range = Range { slots, count, first: 0 };
        match self.split(range.slots, count, &self.root, 1) {
            Some(counts) => self.parallel(range, counts, 1),
            None => {
                let left = if count == 0 { Child::empty() } else { self.frame.child(&self.root.bounds, range.leaf()) };
                Subtree::Nodes(vec![Node { children: [left, Child::empty()] }])
            }
        }
    }

    /// Parts the references `slots[..count]` of a node at `depth` into those of the left side,
    /// which come first, and those of the right side, which follow; returns their numbers, or
    /// `None` to make them a leaf.
    fn split(&self, slots: &mut [Reference], count: usize, extent: &Extent, depth: u32) -> Option<[usize; 2]> {
        if count <= 1 {
            return None;
        }
        let small = count <= self.options.max_leaf;
        let by_median = |refs: &mut [Reference]| (!small).then(|| halves(median(refs, extent), count));
        let levels_to_halve = usize::BITS - (count - 1).leading_zeros();
        if depth + levels_to_halve >= MAX_DEPTH {
            return by_median(&mut slots[..count]);
        }
        let object = ObjectSplit::best(&slots[..count], extent, self.frame.scale);
        let overlap = object.as_ref().map_or(f32::INFINITY, |split| split.overlap);
        let spatial = if slots.len() > count && overlap > OVERLAP * self.root_area {
            self.source.best(&slots[..count], &extent.bounds)
        } else {
            None
        };
        let cost_of_objects = object.as_ref().map_or(f32::INFINITY, |split| split.cost);
        let spatial = spatial.filter(|split| split.cost < cost_of_objects);
        let cost = spatial.as_ref().map_or(cost_of_objects, |split| split.cost);
        // One for visiting the node, one a triangle.
        let area = extent.bounds.half_area(self.frame.scale);
        if small && area + cost >= area * count as f32 {
            return None;
        }
        let counts = match (spatial, object) {
            (Some(split), _) => self.source.cut(&split, slots, count),
            (None, Some(split)) => halves(split.apply(&mut slots[..count]), count),
            (None, None) => return by_median(&mut slots[..count]),
        };
        // Rounding may leave a side empty, and references that went to one side whole may overfill
        // it.
        if counts.iter().all(|&side| side > 0 && side < count) { Some(counts) } else { by_median(&mut slots[..count]) }
    }

    /// The tree over references that are parted already.
    fn parallel(&self, range: Range<'_>, counts: [usize; 2], depth: u32) -> Subtree {
        if range.count <= TASK {
            let mut nodes = Vec::with_capacity(range.count / 2);
            let count = range.count;
            self.sequential(range, counts, depth, &mut nodes);
            self.progress.settle(count);
            return Subtree::Nodes(nodes);
        }
        let side = |range: Range<'_>| {
            let extent = Extent::from_references(range.refs());
            match self.split(range.slots, range.count, &extent, depth + 1) {
                None => (self.frame.child(&extent.bounds, range.leaf()), None),
                // The link is set when the pieces are put together.
                Some(counts) => {
                    let below = self.parallel(range, counts, depth + 1);
                    (self.frame.child(&extent.bounds, Link::Inner(0)), Some(below))
                }
            }
        };
        let [left, right] = range.halves(counts);
        let (left, right) = rayon::join(|| side(left), || side(right));
        Subtree::Split(Box::new([left, right]))
    }

    /// The same in one thread: appends the subtree's nodes, root first.
    fn sequential(&self, range: Range<'_>, counts: [usize; 2], depth: u32, nodes: &mut Vec<Node>) {
        let index = nodes.len();
        nodes.push(Node::default());
        for (side, range) in range.halves(counts).into_iter().enumerate() {
            let extent = Extent::from_references(range.refs());
            let counts = self.split(range.slots, range.count, &extent, depth + 1);
            let link = if counts.is_some() { Link::Inner(nodes.len() as u32) } else { range.leaf() };
            nodes[index].children[side] = self.frame.child(&extent.bounds, link);
            if let Some(counts) = counts {
                self.sequential(range, counts, depth + 1, nodes);
            }
        }
    }
}

/// The numbers of both sides of references that are dealt whole.
fn halves(left: usize, count: usize) -> [usize; 2] {
    [left, count - left]
}

/// The references of a node, in slots of which the first `count` are in use; the others are room
/// for triangles that are split.
struct Range<'a> {
    slots: &'a mut [Reference],
    count: usize,
    /// Place of the first slot among all.
    first: usize,
}

impl<'a> Range<'a> {
    fn refs(&self) -> &[Reference] {
        &self.slots[..self.count]
    }

    fn leaf(&self) -> Link {
        Link::Leaf { first: self.first as u32, count: self.count as u32 }
    }

    /// Both sides, which share the room in proportion to their numbers.
    fn halves(self, [left, right]: [usize; 2]) -> [Self; 2] {
        let room = self.slots.len() - left - right;
        let of_left = (room as u64 * left as u64 / (left + right) as u64) as usize;
        if of_left > 0 {
            self.slots.copy_within(left..left + right, left + of_left);
        }
        let (low, high) = self.slots.split_at_mut(left + of_left);
        [
            Range { slots: low, count: left, first: self.first },
            Range { slots: high, count: right, first: self.first + left + of_left },
        ]
    }
}
