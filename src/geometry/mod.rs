//! Geometry: shapes in, triangle meshes out.
//!
//! Polygons are triangulated ([`polygon`]) and quadrics tessellated ([`quadric`]) here, meshes that bring no normals
//! get them, with creases ([`normals`]), and [`assemble`] makes of points and data of any class the one thing that
//! leaves this module: a [`Mesh`], which `placement` moves and joins. [`procedural`] makes meshes for
//! measurements. It knows nothing of files, shaders or acceleration structures.

pub mod assemble;
mod mesh;
pub mod normals;
mod placement;
pub mod polygon;
pub mod procedural;
pub mod quadric;

pub use assemble::{Assembled, Channel, Faces};
pub use mesh::Mesh;
pub use placement::NormalMap;
