//! Which nodes of the binary tree become wide ones, and which subtrees become leaves: at the least
//! surface-area cost.
//!
//! Chosen for the least expected cost of a ray (Ylitie, Karras & Laine, "Efficient Incoherent Ray
//! Traversal on GPUs Through Compressed Wide BVHs", 2017, §3.1): for every binary node, bottom up,
//! the least cost of what is below it as a forest of at most `i` wide subtrees. It takes binary
//! nodes whose parents come before their children and whose leaves are in order, and knows no
//! layout of the wide tree.

use super::super::node::{Child, Link, Node};

/// The contents and the cost of a leaf of the wide tree, where testing a node's boxes costs one.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Leaves {
    /// The most triangles in a leaf.
    pub most: u32,
    /// Cost of a leaf.
    pub each: f32,
    /// Cost of a triangle in it.
    pub triangle: f32,
}

impl Leaves {
    /// Cost of a leaf of so many triangles for each ray that gets there; of several leaves where
    /// one is too small.
    fn cost(&self, triangles: u32) -> f32 {
        self.each * triangles.div_ceil(self.most) as f32 + self.triangle * triangles as f32
    }
}

/// The triangles and the costs below a binary node.
#[derive(Clone, Copy)]
struct Below<const W: usize> {
    /// The triangles, `first` and count.
    range: (u32, u32),
    /// True if it is to be one leaf.
    leaf: bool,
    /// In place `i`, the least cost of a forest of at most `i + 1` wide subtrees.
    costs: [f32; W],
}

/// The costs of everything in a binary tree.
pub(in super::super) struct Plan<'a, const W: usize> {
    nodes: &'a [Node],
    leaves: Leaves,
    below: Vec<Below<W>>,
    /// Areas are multiplied by this, so that the root's is one at any scale of the scene.
    scale: f64,
}

impl<'a, const W: usize> Plan<'a, W> {
    /// Plans nodes of at most `W` children.
    pub fn new(nodes: &'a [Node], leaves: Leaves) -> Self {
        let largest = nodes.iter().take(1).flat_map(|root| &root.children).map(half_area).fold(0.0, f64::max);
        let nothing = Below { range: (0, 0), leaf: false, costs: [0.0; W] };
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let mut plan = Self { nodes, leaves, below: vec![nothing; nodes.len()], scale };
        for index in (0..nodes.len()).rev() {
            let halves = &nodes[index].children;
            let [left, right] = [0, 1].map(|side| plan.below(&halves[side]));
            let range = (left.range.0, left.range.1 + right.range.1);
            // The area is the parent's to multiply with: here are the costs for a box of area one,
            // and those of the forests.
            plan.below[index] = Below { range, leaf: false, costs: forests(&left, &right) };
        }
        plan
    }

    /// The triangles and the costs below a child, costs of one subtree included.
    fn below(&self, child: &Child) -> Below<W> {
        let area = (half_area(child) * self.scale) as f32;
        let mut below = match child.link() {
            Link::Leaf { count: 0, first } => return Below { range: (first, 0), leaf: true, costs: [0.0; W] },
            Link::Leaf { first, count } if count <= self.leaves.most => {
                return Below { range: (first, count), leaf: true, costs: [area * self.leaves.cost(count); W] };
            }
            Link::Leaf { first, count } => {
                Below { range: (first, count), leaf: false, costs: [area * self.leaves.cost(count); W] }
            }
            Link::Inner(index) => self.below[index as usize],
        };
        let node = area + below.costs[W - 1];
        let leaf =
            if below.range.1 <= self.leaves.most { area * self.leaves.cost(below.range.1) } else { f32::INFINITY };
        below.leaf = leaf <= node;
        below.costs[0] = node.min(leaf);
        for i in 1..W {
            below.costs[i] = below.costs[i].min(below.costs[i - 1]);
        }
        below
    }

    /// The triangles of a child that is to be a leaf: the first, and how many.
    pub fn leaf(&self, child: &Child) -> Option<(u32, u32)> {
        let below = self.below(child);
        below.leaf.then_some(below.range)
    }

    /// The two parts of a child: a node's children, or of a leaf that is too large the first
    /// triangles and the others.
    pub fn halves(&self, child: &Child) -> [Child; 2] {
        match child.link() {
            Link::Inner(index) => self.nodes[index as usize].children,
            Link::Leaf { first, count } => {
                let half = count / 2;
                let part = |first, count| Child { link: Link::Leaf { first, count }.encode(), ..*child };
                [part(first, half), part(first + half, count - half)]
            }
        }
    }

    /// Appends the children of a wide node for what has these two parts.
    pub fn children(&self, halves: &[Child; 2], children: &mut Vec<Child>) {
        self.expand_pair(halves, W, children);
    }

    /// Appends the roots of the cheapest forest of at most `most` wide subtrees for two parts.
    fn expand_pair(&self, halves: &[Child; 2], most: usize, roots: &mut Vec<Child>) {
        let [left, right] = [0, 1].map(|side| self.below(&halves[side]));
        let (of_left, _) = cheapest_split(&left, &right, most);
        self.expand(&halves[0], &left, of_left, roots);
        self.expand(&halves[1], &right, most - of_left, roots);
    }

    /// Appends the roots of the cheapest forest of at most `most` wide subtrees for a child.
    /// Recurses at most `W` deep.
    fn expand(&self, child: &Child, below: &Below<W>, most: usize, roots: &mut Vec<Child>) {
        let fewest = below.costs.iter().position(|&cost| cost <= below.costs[most - 1]).map_or(most, |i| i + 1);
        match fewest {
            _ if below.range.1 == 0 => {}
            1 => roots.push(*child),
            _ => self.expand_pair(&self.halves(child), fewest, roots),
        }
    }
}

/// How many of `most` wide subtrees the left part is to have, and the cost of both.
fn cheapest_split<const W: usize>(left: &Below<W>, right: &Below<W>, most: usize) -> (usize, f32) {
    let mut best = (1, f32::INFINITY);
    for of_left in 1..most {
        let cost = left.costs[of_left - 1] + right.costs[most - of_left - 1];
        if cost < best.1 {
            best = (of_left, cost);
        }
    }
    best
}

/// The costs of forests for two parts. One tree cannot be without a node above, whose cost is left
/// to be added.
fn forests<const W: usize>(left: &Below<W>, right: &Below<W>) -> [f32; W] {
    let mut costs = [f32::INFINITY; W];
    for most in 2..=W {
        costs[most - 1] = cheapest_split(left, right, most).1;
    }
    costs
}

/// Half the surface of a child's box.
fn half_area(child: &Child) -> f64 {
    let [x, y, z] = std::array::from_fn(|axis| f64::from(child.max[axis]) - f64::from(child.min[axis]));
    (x * y + y * z) + z * x
}
