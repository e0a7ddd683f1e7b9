//! Refitting: new positions for the triangles of a BVH, the same nodes, with recomputed boxes
//! from the leaves up.
//!
//! For geometry that moves a little. A tree keeps its form, so its cost grows as triangles leave
//! their places; the caller sees the cost and decides when to rebuild.

use super::build::bounds::Aabb;
use super::build::frame::Frame;
use super::node::{Child, Link, Node};
use super::triangle::{LeafTriangle, Triangle};
use rayon::prelude::*;

/// Subtrees of at most this many nodes are refitted by one task.
const TASK: usize = 2 * 1024;

/// Why a tree cannot take new positions.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RefitError {
    /// There are more or fewer triangles than the tree was built of.
    #[error("the tree is of {expected} triangles, not of {given}; rebuild it")]
    Count {
        /// Triangles that the tree was built of, those included that it left out.
        expected: usize,
        /// Triangles given.
        given: usize,
    },
    /// A triangle of the tree has a coordinate that is not finite, or one that was left out has
    /// become finite.
    #[error("other triangles than those of the tree have finite coordinates; rebuild it")]
    Finite,
}

/// The frame of the new positions, where the tree of `leaves`, which has `count` different
/// triangles, can take them.
pub(super) fn check(triangles: &[Triangle], leaves: &[LeafTriangle], count: usize) -> Result<Frame, RefitError> {
    let finite = triangles.par_iter().filter(|t| t.is_finite()).count();
    if finite != count || !leaves.par_iter().all(|leaf| triangles[leaf.prim as usize].is_finite()) {
        return Err(RefitError::Finite);
    }
    let bounds = triangles.par_iter().filter(|t| t.is_finite()).map(Aabb::from_triangle);
    Ok(Frame::new(&bounds.reduce(|| Aabb::EMPTY, Aabb::join)))
}

/// Computes the boxes of a subtree, given its nodes and the index of the first, its root; returns
/// the box of its triangles. Recurses at most [`MAX_DEPTH`](super::node::MAX_DEPTH) deep.
pub(super) fn subtree(nodes: &mut [Node], first: u32, leaves: &[LeafTriangle], frame: &Frame) -> Aabb {
    let Some((root, below)) = nodes.split_first_mut() else { return Aabb::EMPTY };
    let links = root.children.map(|child| child.link());
    // Nodes are in preorder: first all of the left side, then all of the right side.
    let of_left = match links[1] {
        Link::Inner(right) => (right - first - 1) as usize,
        Link::Leaf { .. } => below.len(),
    };
    let size = below.len();
    let (left, right) = below.split_at_mut(of_left);
    let side = |link: Link, nodes: &mut [Node]| match link {
        Link::Inner(index) => subtree(nodes, index, leaves, frame),
        Link::Leaf { first, count } => {
            let leaves = &leaves[first as usize..(first + count) as usize];
            leaves.iter().map(|leaf| Aabb::around([leaf.a, leaf.b, leaf.c])).fold(Aabb::EMPTY, Aabb::join)
        }
    };
    let boxes: [Aabb; 2] = if size > TASK {
        rayon::join(|| side(links[0], left), || side(links[1], right)).into()
    } else {
        [side(links[0], left), side(links[1], right)]
    };
    for ((child, bounds), link) in root.children.iter_mut().zip(&boxes).zip(links) {
        if child.link != Child::empty().link {
            *child = frame.child(bounds, link);
        }
    }
    boxes[0].join(boxes[1])
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::super::tests::check_trees;
    use super::super::{BuildOptions, Bvh, Quality, Ray};
    use super::*;
    use glam::Vec3;

    fn build(triangles: &[Triangle], quality: Quality) -> Bvh {
        Bvh::build(triangles, &BuildOptions { quality, ..BuildOptions::default() }).expect("small enough")
    }

    fn moved(soup: &[Triangle], by: impl Fn(Vec3) -> Vec3) -> Vec<Triangle> {
        soup.iter().map(|t| Triangle { a: by(t.a), b: by(t.b), c: by(t.c), flags: t.flags }).collect()
    }

    #[test]
    fn hits_after_a_refit_are_those_of_the_moved_triangles() {
        let mut random = Random(31);
        let soup = random.soup(3000, 0.2);
        let rays: Vec<Ray> = (0..300).map(|_| random.ray()).collect();
        let twisted = moved(&soup, |p| Vec3::new(p.x * (1.0 + p.y), p.z - 0.3, p.y * 1.5));
        let trees = Quality::ALL.map(|quality| {
            let mut bvh = build(&soup, quality);
            // Made before the refit, so that it has to follow.
            bvh.wide4();
            bvh.refit(&twisted).expect("the same triangles");
            (quality, bvh)
        });
        assert!(check_trees(&trees, &twisted, &rays) > 50);
    }

    #[test]
    fn a_tree_refitted_to_its_own_triangles_is_the_same() {
        let soup = Random(32).soup(5000, 0.1);
        for quality in [Quality::Fast, Quality::Sah] {
            let mut bvh = build(&soup, quality);
            let (nodes, stats) = (bvh.nodes().to_vec(), *bvh.stats());
            let wide = format!("{:?}", bvh.wide());
            assert_eq!(bvh.refit(&soup), Ok(stats.sah_cost));
            assert_eq!(bvh.nodes(), nodes);
            assert_eq!(*bvh.stats(), stats);
            assert!(format!("{:?}", bvh.wide()) == wide);
        }
    }

    #[test]
    fn the_cost_tells_when_to_build_anew() {
        let soup = Random(33).soup(2000, 0.05);
        let mut bvh = build(&soup, Quality::Sah);
        let before = bvh.stats().sah_cost;
        let shuffled: Vec<Triangle> = (0..soup.len()).map(|i| soup[i * 997 % soup.len()]).collect();
        let after = bvh.refit(&shuffled).expect("as many");
        assert!(after > 5.0 * before, "{after} after {before}");
        assert!(build(&shuffled, Quality::Sah).stats().sah_cost < 1.1 * before);
    }

    #[test]
    fn small_trees_and_those_of_nothing_refit() {
        for count in [0, 1, 2, 5, 9] {
            let soup = Random(34).soup(count, 0.5);
            let there = moved(&soup, |p| p * 2.0);
            let mut bvh = build(&soup, Quality::Sah);
            bvh.refit(&there).expect("as many");
            assert_eq!(bvh.nodes(), build(&there, Quality::Sah).nodes(), "{count}");
        }
    }

    #[test]
    fn other_triangles_are_refused() {
        let mut soup = Random(35).soup(20, 0.5);
        soup[7].a.y = f32::NAN;
        let mut bvh = build(&soup, Quality::Sah);
        assert_eq!(bvh.refit(&soup[1..]), Err(RefitError::Count { expected: 20, given: 19 }));
        let mut more = soup.clone();
        more[7].a.y = 0.0;
        assert_eq!(bvh.refit(&more), Err(RefitError::Finite));
        let mut less = soup.clone();
        less[3].c.x = f32::INFINITY;
        assert_eq!(bvh.refit(&less), Err(RefitError::Finite));
        assert!(bvh.refit(&soup).is_ok());
    }
}
