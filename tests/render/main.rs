//! Images: scenes, shaders, textures, paths, and single samples, on both back ends.

#[path = "../common/mod.rs"]
mod common;

mod baking;
mod bsdf;
mod derivatives;
mod displacement;
mod diverge;
#[cfg(feature = "gpu")]
mod images;
mod instances;
mod many_shaders;
mod path;
mod primvars;
mod probe;
mod shading;
mod significance;
mod textures;
#[cfg(feature = "gpu")]
mod traverse_kernel;
mod trees;
