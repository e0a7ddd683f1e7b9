//! Geometry: shapes in, triangle meshes out.
//!
//! [`Mesh`] is the only thing that leaves this module. Polygons are triangulated and quadrics tessellated here, and
//! meshes without normals get them, with creases. It knows nothing of files, shaders or acceleration structures.

mod mesh;

pub use mesh::Mesh;
