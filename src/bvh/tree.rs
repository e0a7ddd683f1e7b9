//! The tree that callers hold: the binary nodes, the triangles of the leaves, and what is derived
//! from them.

use super::build::{self, BuildError, BuildOptions, Built};
use super::kernel::{Isa, Width};
use super::node::{Child, Node};
use super::packet;
use super::ray::{Hit, HitBatch, Ray, RayBatch};
use super::refit::{self, RefitError};
use super::stats::{BuildStats, measure};
use super::triangle::{LeafTriangle, Triangle};
use super::wide::WideBvh;
use glam::Vec3;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The tree. Trace it with [`closest_hit`](Bvh::closest_hit) and its siblings.
#[derive(Debug)]
pub struct Bvh {
    nodes: Vec<Node>,
    triangles: Vec<LeafTriangle>,
    wide: WideBvh<8>,
    wide4: OnceLock<WideBvh<4>>,
    stats: BuildStats,
}

impl Bvh {
    /// Builds the tree on the current rayon pool, of triangles that may be given away: for less
    /// memory. Triangles with a coordinate that is not finite
    /// are left out, and counted in [`BuildStats::skipped`]; any others are fine, degenerate ones
    /// included.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooManyTriangles`] above [`build::MAX_TRIANGLES`].
    pub fn build<'a>(
        triangles: impl Into<Cow<'a, [Triangle]>>,
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        let triangles = triangles.into();
        let Built { nodes, prims, triangles: count } = build::build(&triangles, options)?;
        let leaf = |&prim: &u32| LeafTriangle::new(&triangles[prim as usize], prim);
        let leaf_order: Vec<_> = prims.par_iter().map(leaf).collect();
        let skipped = triangles.len() - count;
        // Those that are owned are not needed any more, and the wide tree takes much memory.
        drop((prims, triangles));
        let wide = WideBvh::new(&nodes, &leaf_order);
        let stats = BuildStats { triangles: count, skipped, ..BuildStats::default() };
        let mut bvh = Self { nodes, triangles: leaf_order, wide, wide4: OnceLock::new(), stats };
        bvh.stats = measure(&bvh);
        Ok(bvh)
    }

    /// Takes new positions of the triangles, given in the order of the build, and keeps the tree's
    /// form; much quicker than a build. Triangles that were split between leaves are whole again.
    /// Returns [`BuildStats::sah_cost`], which measures by how much the BVH has become worse, and
    /// whether to rebuild.
    ///
    /// # Errors
    ///
    /// When there are more or fewer triangles than in the build, or others have finite coordinates.
    /// The tree is as it was then.
    pub fn refit(&mut self, triangles: &[Triangle]) -> Result<f64, RefitError> {
        let expected = self.stats.triangles + self.stats.skipped;
        if triangles.len() != expected {
            return Err(RefitError::Count { expected, given: triangles.len() });
        }
        let frame = refit::check(triangles, &self.triangles, self.stats.triangles)?;
        let renew = |leaf: &mut LeafTriangle| *leaf = LeafTriangle::new(&triangles[leaf.prim as usize], leaf.prim);
        self.triangles.par_iter_mut().for_each(renew);
        refit::subtree(&mut self.nodes, 0, &self.triangles, &frame);
        self.wide.refit(triangles, &frame);
        if let Some(wide) = self.wide4.get_mut() {
            wide.refit(triangles, &frame);
        }
        self.stats = measure(self);
        Ok(self.stats.sah_cost)
    }

    /// The binary tree's nodes, root first and in preorder.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The triangles in leaf order.
    pub fn triangles(&self) -> &[LeafTriangle] {
        &self.triangles
    }

    /// The lower and upper corner of the box around all triangles (a little padded), or `None` of
    /// an empty tree.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let children = self.nodes.iter().take(1).flat_map(|root| &root.children);
        let boxes = children.filter(|child| child.link != Child::empty().link);
        boxes.map(|child| (Vec3::from(child.min), Vec3::from(child.max))).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Size and quality of the tree.
    pub fn stats(&self) -> &BuildStats {
        &self.stats
    }

    /// The 8-wide tree of the same triangles, which the methods below traverse.
    pub fn wide(&self) -> &WideBvh<8> {
        &self.wide
    }

    /// The 4-wide tree of the same triangles, which is collapsed when first asked for.
    pub fn wide4(&self) -> &WideBvh<4> {
        self.wide4.get_or_init(|| WideBvh::new(&self.nodes, &self.triangles))
    }

    /// The nearest hit with `t_min < t < t_max`; of hits at equal `t` the one with the lowest
    /// primitive index. For many rays [`closest_hits`](Self::closest_hits) is cheaper.
    pub fn closest_hit(&self, ray: &Ray) -> Option<Hit> {
        let mut best = ray.unhit();
        self.closest_into(ray, &mut best).then_some(best)
    }

    /// True if there is any hit with `t_min < t < t_max`.
    pub fn any_hit(&self, ray: &Ray) -> bool {
        self.occluded(ray)
    }

    /// Traces the active rays of a batch like [`closest_hit`](Self::closest_hit); the hits of
    /// inactive rays are left alone.
    pub fn closest_hits(&self, rays: &RayBatch, hits: &mut HitBatch) {
        packet::closest_hits(self.scene(Width::Eight), Isa::best(), rays, hits);
    }

    /// The mask of the active rays of a batch that hit something, as [`any_hit`](Self::any_hit)
    /// says.
    pub fn any_hits(&self, rays: &RayBatch) -> u64 {
        packet::any_hits(self.scene(Width::Eight), Isa::best(), rays)
    }
}
