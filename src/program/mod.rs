//! Programs: compiled shaders and a scene, linked into one module that either machine can run.
//!
//! [`link`] takes a [`crate::scene::Scene`], finds and compiles the shaders it names, and makes a [`Program`]: the memory image
//! ([`memory`]), the entry functions that fetch each core's named inputs ([`state`]), the lights ([`lights`]), the program
//! constants ([`constants`]), and the optimised module. The contracts are in `docs/internals/linking.md`. Nothing here
//! knows a back end.

mod aliases;
pub mod area_lights;
mod constants;
mod coshaders;
mod depths;
mod emitters;
mod entries;
mod environments;
mod facts;
mod instances;
mod lights;
mod link;
mod lookups;
pub mod memory;
mod objects;
mod others;
mod outputs;
mod paths;
pub mod primitives;
mod primvars;
mod questions;
mod shaders;
mod spaces;
mod state;
mod surroundings;
pub mod textures;
mod units;
mod visibility;
mod volumes;

pub use constants::{PROGRAM_CONSTANTS, frame_constants, set_options, set_view};
pub use entries::CameraOptions;
pub use instances::{Instance, convert, unpack};
pub use link::{DEFAULT_SURFACE, LinkError, LinkOptions, Program, Stage, link, link_keeping, link_observed};
pub use memory::MemoryImage;
pub use outputs::Output;
pub use primitives::{Primitives, common_origin_entries, intersect_entry};
pub use primvars::{StoredPrimvar, left_by_displacement};
pub use shaders::{CompiledParam, CompiledShader, read_shader};
pub use units::Units;

/// Name of the entry that renders one sample.
pub const CAMERA_ENTRY: &str = "@camera";
/// Name of the entry that runs once a pixel on the finished film.
pub const IMAGER_ENTRY: &str = "@imager";

/// Name of surface entry `n`; `n` is what a hit carries in its fourth component.
pub fn surface_entry(n: usize) -> String {
    format!("@surface.{n}")
}

/// Name of the entry that displaces points of objects whose surface entry is `n`, see [`Stage::Displacement`].
pub fn displacement_entry(n: usize) -> String {
    format!("@displace.{n}")
}

/// Name of the entry that gives all globals where surface entry `n` would run; programs linked for a debugger have it.
pub fn globals_entry(n: usize) -> String {
    format!("@globals.{n}")
}
