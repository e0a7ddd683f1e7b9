//! Programs: compiled shaders and a scene, linked into one module that either back end can run.
//!
//! [`link`] takes a [`shadewright_scene::Scene`] and makes a [`Program`] in four phases, a folder each,
//! with a plain struct between them:
//!
//! | phase | takes | gives |
//! |---|---|---|
//! | [`collect`] | the scene | `Collected`: shaders compiled and bound, the surface entries that are needed |
//! | [`layout`] | `Collected` | `Layout`: the memory image, and every address |
//! | [`synthesize`] | both, and the compiled functions | the module: entries and the functions that shaders call |
//! | [`optimize`] | the module | the module after the passes |
//!
//! A phase imports those before it, and what all share: the options, and [`records`]. `docs/internals/linking.md` has the contracts. Nothing here knows
//! a back end.

mod collect;
mod layout;
mod link;
mod linked;
mod math;
mod optimize;
mod options;
mod records;
mod specialize;
mod synthesize;

pub use collect::instances::{Instance, convert, unpack};
pub use collect::primvars::left_by_displacement;
pub use collect::shader_cache::ShaderCache;
pub use collect::shader_library::{CompiledParam, CompiledShader, MOST_LEFT_OVER, read_shader, read_shader_of};
pub use collect::uniform_code::UniformCounts;
pub use layout::constants::{frame_constants, set_options, set_view};
pub use layout::memory;
pub use layout::memory::MemoryImage;
pub use layout::procedural::Primitives;
pub use link::{link, link_cached, link_observed};
pub use linked::Program;
pub use math::{Math, choose as choose_math};
pub use options::{DEFAULT_SURFACE, LinkError, LinkOptions, Output, ProgramPurpose};
pub use records::{MemoryError, RecordLayout, StoredPrimvar, textures};
pub use shadewright_ir::abi::{
    CAMERA_ENTRY, IMAGER_ENTRY, common_origin_entries, displacement_entry, globals_entry, intersect_entry,
    surface_entry,
};
pub use specialize::{FACTS, Fact, FactInfo, MODES, Specialize, UnknownFact};
pub use synthesize::baking::{Baking, file_of};
pub use synthesize::entries::CameraOptions;
pub use synthesize::stand_alone::stand_alone;
pub use synthesize::texture_lookup::find_texture_function;
