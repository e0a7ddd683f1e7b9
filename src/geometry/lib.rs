//! Geometry: shapes in, triangle meshes out.
//!
//! Polygons are triangulated ([`polygon`], [`region`]) here; quadrics ([`quadric`]), patches and
//! NURBS ([`tensor`], [`trim`]), subdivision meshes ([`subdivision`]), curves ([`curves`]), points
//! ([`particles`]) and implicit surfaces ([`blobby`]) are tessellated, as finely as an image asks
//! ([`dice`]); any mesh can be subdivided further ([`refine`]). Meshes that bring no normals get
//! them, with creases ([`normals`]), and tangents where a normal map asks for them ([`tangents`]);
//! and [`assemble`] makes of points and data of any class the one thing that leaves this module: a
//! [`Mesh`], which `placement` moves and joins and [`solid`] combines by constructive solid
//! geometry ([`weld`] and [`shells`] find what of a mesh hangs together). [`procedural`] makes meshes for measurements. Data for the parameters of shaders goes
//! along ([`primvar`]). It knows nothing of files, shaders or acceleration structures.

pub mod assemble;
pub mod basis;
pub mod blobby;
#[cfg(test)]
mod circle;
pub mod curves;
pub mod dice;
mod mesh;
pub mod normals;
pub mod particles;
mod placement;
pub mod polygon;
pub mod primvar;
pub mod procedural;
pub mod quadric;
pub mod refine;
pub mod region;
pub mod shells;
pub mod solid;
pub mod subdivision;
pub mod tangents;
pub mod tensor;
pub mod trim;
pub mod weld;

pub use assemble::{Assembled, Channel, Faces};
pub use mesh::Mesh;
pub use placement::NormalMap;
