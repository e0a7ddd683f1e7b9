//! Flattening of instances: meshes of instances that are cheaper as ordinary objects are
//! transformed to world space.
//!
//! A ray that meets an instance traverses two BVHs and is transformed; a shader transforms what it
//! reads. Of 300 instances of a mesh against the same triangles in one BVH (`cargo bench --bench
//! bvh -- instances`): of 24 triangles a mesh, coherent rays are 5 times as fast in the single BVH
//! and incoherent ones 2.5 times; of 224, 2.6 and 2 times; of 3968, 1.4 and 1.2; of 32,040, 1.1,
//! and incoherent ones are slower in it by a third, for it no longer fits the caches. Instancing
//! saves memory: a flattened triangle takes about 150 bytes of BVH, and its shading data.

use super::{MAX_TRIANGLES, MeshSpace, Object, Scene};
use std::collections::HashMap;
use std::sync::Arc;
use thiserror::Error;

/// A mesh of at most this many triangles is always flattened: 10,000 instances of 16 triangles take
/// 24 MiB of BVH instead of 3, and rays are three times as fast.
const FEW_TRIANGLES: usize = 16;

/// All instances are flattened if they have at most this many triangles in total: 16 MiB.
const FEW_IN_ALL: usize = 1 << 16;

/// Instances are flattened while the scene has at most this many triangles in world space: some 800
/// MiB.
const ROOM: usize = 1 << 21;

/// A scene that has too many triangles when every instance counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("with every instance written out the scene has {count} triangles; {MAX_TRIANGLES} is the limit")]
pub struct TooManyTriangles {
    /// How many it has.
    pub count: usize,
}

impl Scene {
    /// True if an object's mesh is placed by a transform.
    pub fn has_instances(&self) -> bool {
        self.objects.iter().any(|o| o.mesh_space == MeshSpace::Object && o.procedural.is_none())
    }

    /// Flattens every instance: all meshes are in world space afterwards.
    ///
    /// # Errors
    /// When that makes too many triangles; the scene is as it was.
    pub fn flatten(&mut self) -> Result<(), TooManyTriangles> {
        let count = self.triangle_count();
        if count > MAX_TRIANGLES {
            return Err(TooManyTriangles { count });
        }
        self.objects.iter_mut().for_each(Object::flatten);
        Ok(())
    }

    /// Flattens the instances that cost more than they save: meshes that are used once or have few
    /// triangles, or all if there are few triangles.
    pub(super) fn flatten_small(&mut self) {
        let mut uses: HashMap<*const _, usize> = HashMap::new();
        for o in &self.objects {
            *uses.entry(Arc::as_ptr(&o.mesh)).or_default() += 1;
        }
        let instanced = |o: &&mut Object| o.mesh_space == MeshSpace::Object && o.procedural.is_none();
        let in_all: usize = self.objects.iter_mut().filter(instanced).map(|o| o.mesh.triangles.len()).sum();
        let few = |o: &Object| in_all <= FEW_IN_ALL || o.mesh.triangles.len() <= FEW_TRIANGLES;
        // A mesh that is used once takes no more room in world space; of others the room is
        // bounded.
        let mut room = ROOM.saturating_sub(self.triangle_count() - in_all);
        for o in self.objects.iter_mut().filter(instanced) {
            let once = uses.get(&Arc::as_ptr(&o.mesh)) == Some(&1);
            if once {
                o.flatten();
            } else if o.mesh.triangles.len() <= room && few(o) {
                room -= o.mesh.triangles.len();
                o.flatten();
            }
        }
    }
}

/// Why an object cannot be placed by its transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    /// It would lie nowhere.
    #[error("the object has no finite place in the world")]
    NotFinite,
    /// It would be flat.
    #[error("the transform cannot be inverted")]
    Singular,
}

impl Object {
    /// Checks that its transform places it somewhere.
    ///
    /// # Errors
    /// When it does not.
    pub(super) fn check_placement(&self) -> Result<(), PlacementError> {
        let m = self.object_to_world.as_dmat4();
        let (low, high) = self.bounds().unwrap_or_default();
        if !(m.is_finite() && low.is_finite() && high.is_finite()) {
            return Err(PlacementError::NotFinite);
        }
        if m.determinant() == 0.0 || !m.inverse().as_mat4().is_finite() {
            return Err(PlacementError::Singular);
        }
        Ok(())
    }

    /// Moves its mesh to world space. What has none stays where it is.
    pub fn flatten(&mut self) {
        if self.mesh_space == MeshSpace::Object && self.procedural.is_none() {
            self.mesh = Arc::new(self.mesh.transformed(self.object_to_world));
            self.mesh_space = MeshSpace::World;
        }
    }
}
