//! Instancing in two levels: a BVH for each mesh, and one over the instances that place them in the
//! world.
//!
//! [`TwoLevel::build`] takes triangles in world space, meshes in spaces of their own, and
//! [`Placement`]s of these meshes; it answers the same questions as [`Bvh`]. A mesh that is placed
//! a thousand times has one tree. Where nothing is placed, a `TwoLevel` is its plain tree and costs
//! nothing more.
//!
//! Primitives are numbered through: first the plain triangles, then for each placement its
//! mesh's triangles. So "of hits at equal `t` the lower primitive index wins" means the same as in
//! one tree.
//!
//! A ray enters an instance moved to the mesh's space ([`Instance::ray_to_object`]), with the same
//! `t`, for its direction is not normalized. A triangle's front stays its front in a mirrored
//! instance.
//!
//! | file | holds |
//! |---|---|
//! | [`instance`] | an instance's record: its box in the world, its transform; what rounding may do to a ray |
//! | `upper` | the tree over instances |
//! | `traverse` | batches of rays through the upper tree |
//! | [`procedural`] | procedural primitives: another BVH like the upper one |
//! | [`gpu`] | all of it as the tables of the GPU's kernels |

pub mod gpu;
pub mod instance;
pub mod procedural;
mod traverse;
mod upper;

#[cfg(test)]
mod tests;

use super::build::{BuildError, BuildOptions};
use super::ray::{Hit, HitBatch, NO_PRIM, Ray, RayBatch};
use super::tree::Bvh;
use super::triangle::Triangle;
use glam::Mat4;
use instance::{Instance, Reach};
use std::borrow::Cow;
use traverse::Walk;
use upper::Upper;

/// A mesh placed in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Which mesh.
    pub mesh: usize,
    /// Where it goes: an affine transform that can be inverted.
    pub object_to_world: Mat4,
}

/// The errors of a build.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TwoLevelError {
    /// One of the trees could not be built.
    #[error(transparent)]
    Tree(#[from] BuildError),
    /// Primitives are numbered with 32 bits.
    #[error("with every instance counted there are {count} triangles; {limit} is the limit", limit = NO_PRIM - 1)]
    TooManyPrimitives {
        /// Triangles of all instances and plain ones.
        count: u64,
    },
    /// A placement squashes its mesh, moves it out of reach, or names no mesh.
    #[error("instance {index} cannot be placed: its transform has no inverse or leaves the range of numbers")]
    Misplaced {
        /// Index of the placement.
        index: usize,
    },
}

/// Triangles in world space, and meshes that instances place there.
#[derive(Debug)]
pub struct TwoLevel {
    plain: Bvh,
    placed: Option<Placed>,
    primitives: u64,
}

/// The trees of what is placed.
#[derive(Debug)]
struct Placed {
    upper: Upper,
    meshes: Vec<Bvh>,
}

impl From<Bvh> for TwoLevel {
    fn from(plain: Bvh) -> Self {
        let primitives = plain.stats().triangles as u64;
        Self { plain, placed: None, primitives }
    }
}

impl TwoLevel {
    /// Builds the trees on the current rayon pool, all with the same options.
    ///
    /// # Errors
    ///
    /// When there are too many triangles, or an instance cannot be placed.
    pub fn build<'a>(
        plain: impl Into<Cow<'a, [Triangle]>>,
        meshes: &[Vec<Triangle>],
        placements: &[Placement],
        options: &BuildOptions<'_>,
    ) -> Result<Self, TwoLevelError> {
        let plain = plain.into();
        let sizes = placements.iter().map(|p| meshes.get(p.mesh).map_or(0, |m| m.len() as u64));
        let count = plain.len() as u64 + sizes.sum::<u64>();
        if count >= u64::from(NO_PRIM) {
            return Err(TwoLevelError::TooManyPrimitives { count });
        }
        let plain_count = plain.len() as u32;
        let plain = Bvh::build(plain, options)?;
        if placements.is_empty() {
            return Ok(plain.into());
        }
        let trees = meshes.iter().map(|m| Bvh::build(m, options)).collect::<Result<Vec<_>, _>>()?;
        let mut first = plain_count;
        let mut given = Vec::with_capacity(placements.len());
        for (index, placement) in placements.iter().enumerate() {
            let misplaced = TwoLevelError::Misplaced { index };
            let Some(tree) = trees.get(placement.mesh) else { return Err(misplaced) };
            let instance = Instance::new(placement.object_to_world, tree.bounds(), placement.mesh as u32, first);
            given.push(instance.ok_or(misplaced)?);
            first += meshes[placement.mesh].len() as u32;
        }
        let upper = Upper::new(&given, Reach::from_placements(placements.iter().map(|p| p.object_to_world)))?;
        Ok(Self { plain, placed: Some(Placed { upper, meshes: trees }), primitives: count })
    }

    /// The tree of the triangles that stand in world space.
    pub fn plain(&self) -> &Bvh {
        &self.plain
    }

    /// True if anything is placed by an instance.
    pub fn has_instances(&self) -> bool {
        self.placed.is_some()
    }

    /// Number of primitives: triangles, those of a mesh once for each placement.
    pub fn primitive_count(&self) -> u64 {
        self.primitives
    }

    /// Bytes of all trees and records that the CPU traverses.
    pub fn bytes(&self) -> usize {
        let tree = |b: &Bvh| b.stats().bytes + b.stats().wide_bytes;
        let placed = self.placed.as_ref().map_or(0, |p| p.upper.bytes() + p.meshes.iter().map(tree).sum::<usize>());
        tree(&self.plain) + placed
    }

    /// As [`Bvh::closest_hit`].
    pub fn closest_hit(&self, ray: &Ray) -> Option<Hit> {
        let (mut rays, mut hits) = (RayBatch::default(), HitBatch::default());
        rays.set(0, ray);
        self.closest_hits(&rays, &mut hits);
        hits.hit(0)
    }

    /// As [`Bvh::any_hit`].
    pub fn any_hit(&self, ray: &Ray) -> bool {
        let mut rays = RayBatch::default();
        rays.set(0, ray);
        self.any_hits(&rays) != 0
    }

    /// As [`Bvh::closest_hits`].
    pub fn closest_hits(&self, rays: &RayBatch, hits: &mut HitBatch) {
        self.plain.closest_hits(rays, hits);
        if let Some(placed) = &self.placed {
            // Plain triangles have the lowest numbers: what instances give must be nearer, or lower
            // among themselves.
            let tree = |instance: &Instance| &placed.meshes[instance.tree as usize];
            Walk::new(&placed.upper, rays, |lane| hits.hit(lane).map(|h| h.t))
                .closest(hits, |instance, rays, found| tree(instance).closest_hits(rays, found));
        }
    }

    /// As [`Bvh::any_hits`].
    pub fn any_hits(&self, rays: &RayBatch) -> u64 {
        let blocked = self.plain.any_hits(rays);
        match &self.placed {
            Some(placed) if rays.active & !blocked != 0 => {
                let mut open = rays.clone();
                open.active &= !blocked;
                let tree = |instance: &Instance| &placed.meshes[instance.tree as usize];
                blocked | Walk::new(&placed.upper, &open, |_| None).any(|instance, rays| tree(instance).any_hits(rays))
            }
            _ => blocked,
        }
    }
}
