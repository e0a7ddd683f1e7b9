//! The quick builder: triangles sorted along a space-filling curve, and a tree that follows the
//! bits of their places on it (Lauterbach et al., "Fast BVH Construction on GPUs", 2009; Karras,
//! "Maximizing Parallelism in the Construction of BVHs, Octrees, and k-d Trees", 2012).
//!
//! A key is 64 bits: the Morton code of a triangle's middle, as long as there is room, above the
//! triangle's index. So keys differ, sorting them has one result, and triangles in the same place
//! are dealt by index. Near [`MAX_DEPTH`] ranges are halved instead.
//!
//! Memory at its peak, per triangle: 8 bytes of keys and at most 2 × 64 bytes of nodes (about 45
//! each in practice).

use super::super::node::{Child, Link, MAX_DEPTH, MAX_LEAF, Node};
use super::super::triangle::Triangle;
use super::bounds::Aabb;
use super::frame::Frame;
use super::progress::Progress;
use super::subtree::Subtree;
use super::{BuildOptions, Built, TASK};
use glam::Vec4;
use rayon::prelude::*;

/// Builds the tree over the finite ones of `triangles`.
pub fn build(triangles: &[Triangle], options: &BuildOptions<'_>) -> Built {
    let Middles { bounds, middles, finite } = Middles::from_triangles(triangles);
    let index_bits = usize::BITS - triangles.len().leading_zeros();
    let curve = Curve::new(&middles, (64 - index_bits) / 3);
    let key = |(i, t): (usize, &Triangle)| curve.place(Aabb::from_triangle(t).middle()) << index_bits | i as u64;
    let mut keys: Vec<u64> = if finite == triangles.len() {
        triangles.par_iter().enumerate().map(key).collect()
    } else {
        let all = triangles.par_iter().enumerate();
        all.filter(|(_, t)| t.is_finite()).map(key).collect()
    };
    keys.par_sort_unstable();
    let builder = Builder {
        triangles,
        index_mask: (1 << index_bits) - 1,
        frame: Frame::new(&bounds),
        max_leaf: options.max_leaf.clamp(1, MAX_LEAF),
        progress: Progress::new(options, finite),
    };
    let nodes = builder.build(&keys);
    let prims = keys.par_iter().map(|&key| builder.prim(key)).collect();
    Built { nodes, prims, triangles: finite }
}

/// The results of a first look at the triangles.
struct Middles {
    /// The box of the finite triangles.
    bounds: Aabb,
    /// The box of the middles of their boxes.
    middles: Aabb,
    /// Their number.
    finite: usize,
}

impl Middles {
    const NONE: Self = Self { bounds: Aabb::EMPTY, middles: Aabb::EMPTY, finite: 0 };

    fn from_triangles(triangles: &[Triangle]) -> Self {
        let add = |sum: Self, t: &Triangle| {
            if !t.is_finite() {
                return sum;
            }
            let (bounds, middle) = (Aabb::from_triangle(t), Aabb::from_triangle(t).middle());
            let middles = sum.middles.join(Aabb { min: middle, max: middle });
            Self { bounds: sum.bounds.join(bounds), middles, finite: sum.finite + 1 }
        };
        let join = |a: Self, b: Self| Self {
            bounds: a.bounds.join(b.bounds),
            middles: a.middles.join(b.middles),
            finite: a.finite + b.finite,
        };
        triangles.par_chunks(TASK).map(|piece| piece.iter().fold(Self::NONE, add)).reduce(|| Self::NONE, join)
    }
}

/// The Morton curve through a cube.
struct Curve {
    origin: Vec4,
    /// Cells a unit of length, the same on every axis.
    scale: f32,
    /// The last cell on an axis.
    last: f32,
}

impl Curve {
    /// A curve through 2^`bits` cells on the longest axis of a box; no more than 2²¹, of which a
    /// code fits 63 bits.
    fn new(bounds: &Aabb, bits: u32) -> Self {
        let cells = (1u32 << bits.min(21)) as f32;
        let longest = (bounds.max - bounds.min).truncate().max_element();
        Self { origin: bounds.min, scale: if longest > 0.0 { cells / longest } else { 0.0 }, last: cells - 1.0 }
    }

    /// Where on the curve a point's cell is.
    #[inline]
    fn place(&self, point: Vec4) -> u64 {
        // As integers NaN (from extents that overflow) is 0 and what lies beyond the last cell is
        // in it.
        let [x, y, z, _] = ((point - self.origin) * self.scale).to_array().map(|cell| cell.min(self.last) as u32);
        spread(x) << 2 | spread(y) << 1 | spread(z)
    }
}

/// The low 21 bits of `x`, each followed by two zeros on its left.
#[inline]
fn spread(x: u32) -> u64 {
    let x = u64::from(x & 0x1f_ffff);
    let x = (x | x << 32) & 0x001f_0000_0000_ffff;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// The data that stays the same during a build.
struct Builder<'a> {
    triangles: &'a [Triangle],
    /// The bits of a key that are the triangle's index.
    index_mask: u64,
    frame: Frame,
    max_leaf: usize,
    progress: Progress<'a>,
}

impl Builder<'_> {
    fn prim(&self, key: u64) -> u32 {
        (key & self.index_mask) as u32
    }

    fn build(&self, keys: &[u64]) -> Vec<Node> {
        let mut nodes = Vec::new();
        if keys.len() > self.max_leaf {
            self.parallel(keys, 0, 1).1.flatten(&mut nodes);
        } else {
            let left = if keys.is_empty() { Child::empty() } else { self.leaf(keys, 0).1 };
            nodes.push(Node { children: [left, Child::empty()] });
        }
        nodes
    }

    /// A leaf of the keys that start at place `first` of all, with the box of its triangles.
    fn leaf(&self, keys: &[u64], first: usize) -> (Aabb, Child) {
        let bounds = keys.iter().map(|&key| Aabb::from_triangle(&self.triangles[self.prim(key) as usize]));
        let bounds = bounds.fold(Aabb::EMPTY, Aabb::join);
        (bounds, self.frame.child(&bounds, Link::Leaf { first: first as u32, count: keys.len() as u32 }))
    }

    /// How many of two keys or more go left: those that lack the first bit in which any differ.
    fn split(&self, keys: &[u64], depth: u32) -> usize {
        let (low, high) = (keys[0], keys[keys.len() - 1]);
        let levels_to_halve = usize::BITS - (keys.len() - 1).leading_zeros();
        if depth + levels_to_halve >= MAX_DEPTH {
            return keys.len() / 2;
        }
        let bit = 1u64 << (low ^ high).ilog2();
        keys.partition_point(|key| key & bit == 0)
    }

    /// The tree over keys that make no leaf, and the box of their triangles.
    fn parallel(&self, keys: &[u64], first: usize, depth: u32) -> (Aabb, Subtree) {
        if keys.len() <= TASK {
            let mut nodes = Vec::with_capacity(keys.len());
            let bounds = self.sequential(keys, first, depth, &mut nodes);
            self.progress.settle(keys.len());
            return (bounds, Subtree::Nodes(nodes));
        }
        let side = |keys: &[u64], first: usize| {
            if keys.len() <= self.max_leaf {
                let (bounds, child) = self.leaf(keys, first);
                return (bounds, (child, None));
            }
            let (bounds, below) = self.parallel(keys, first, depth + 1);
            // The link is set when the pieces are put together.
            (bounds, (self.frame.child(&bounds, Link::Inner(0)), Some(below)))
        };
        let middle = self.split(keys, depth);
        let (left, right) = keys.split_at(middle);
        let (left, right) = rayon::join(|| side(left, first), || side(right, first + middle));
        (left.0.join(right.0), Subtree::Split(Box::new([left.1, right.1])))
    }

    /// The same in one thread: appends the subtree's nodes, root first.
    fn sequential(&self, keys: &[u64], first: usize, depth: u32, nodes: &mut Vec<Node>) -> Aabb {
        let index = nodes.len();
        nodes.push(Node::default());
        let middle = self.split(keys, depth);
        let mut whole = Aabb::EMPTY;
        for (side, range) in [0..middle, middle..keys.len()].into_iter().enumerate() {
            let (keys, first) = (&keys[range.clone()], first + range.start);
            let (bounds, child) = if keys.len() <= self.max_leaf {
                self.leaf(keys, first)
            } else {
                let link = Link::Inner(nodes.len() as u32);
                let bounds = self.sequential(keys, first, depth + 1, nodes);
                (bounds, self.frame.child(&bounds, link))
            };
            nodes[index].children[side] = child;
            whole = whole.join(bounds);
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_a_code_are_three_apart() {
        assert_eq!(spread(0b1011), 0b001_000_001_001);
        assert_eq!(spread(0x1f_ffff).count_ones(), 21);
        assert_eq!(spread(0x1f_ffff) & (spread(0x1f_ffff) << 1 | spread(0x1f_ffff) << 2), 0);
    }

    #[test]
    fn the_curve_visits_one_octant_after_another() {
        let curve = Curve::new(&Aabb { min: Vec4::ZERO, max: Vec4::splat(8.0) }, 3);
        assert_eq!(curve.place(Vec4::ZERO), 0);
        assert_eq!(curve.place(Vec4::new(4.0, 0.5, 0.5, 0.0)), 0b100_000_000);
        assert_eq!(curve.place(Vec4::splat(8.0)), 0b111_111_111);
        assert_eq!(curve.place(Vec4::new(0.0, 0.0, 1.0, 0.0)), 1);
    }
}
