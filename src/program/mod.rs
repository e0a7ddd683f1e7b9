//! Programs: compiled shaders and a scene, linked into one module that either machine can run.
//!
//! [`link`] takes a [`crate::scene::Scene`], finds and compiles the shaders it names, and makes a [`Program`]: the memory image
//! ([`memory`]), the entry functions that fetch each core's named inputs ([`state`]), the lights ([`lights`]), the program
//! constants ([`constants`]), and the optimised module. The contracts are in `docs/internals/linking.md`. Nothing here
//! knows a back end.

mod collect;
mod layout;
mod link;
mod optimise;
mod synthesise;

pub use collect::instances::{Instance, convert, unpack};
pub use collect::procedural::{Primitives, common_origin_entries, intersect_entry};
pub use collect::shader_cache::Units;
pub use collect::shader_library::{CompiledParam, CompiledShader, MOST_LEFT_OVER, read_shader};
pub use layout::constants::{PROGRAM_CONSTANTS, frame_constants, set_options, set_view};
pub use layout::memory::MemoryImage;
pub use layout::primvars::{StoredPrimvar, left_by_displacement};
pub use layout::{memory, textures};
pub use link::{DEFAULT_SURFACE, LinkError, LinkOptions, Program, Stage, link, link_keeping, link_observed};
pub use synthesise::entries::CameraOptions;
pub use synthesise::outputs::Output;

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
