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

pub use crate::abi::{
    CAMERA_ENTRY, IMAGER_ENTRY, common_origin_entries, displacement_entry, globals_entry, intersect_entry,
    surface_entry,
};
pub use collect::instances::{Instance, convert, unpack};
pub use collect::procedural::Primitives;
pub use collect::shader_cache::Units;
pub use collect::shader_library::{CompiledParam, CompiledShader, MOST_LEFT_OVER, read_shader};
pub use layout::constants::{PROGRAM_CONSTANTS, frame_constants, set_options, set_view};
pub use layout::memory::MemoryImage;
pub use layout::primvars::{StoredPrimvar, left_by_displacement};
pub use layout::{memory, textures};
pub use link::{DEFAULT_SURFACE, LinkError, LinkOptions, Program, Stage, link, link_keeping, link_observed};
pub use synthesise::entries::CameraOptions;
pub use synthesise::outputs::Output;
