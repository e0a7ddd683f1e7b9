//! The first phase: finds, compiles and binds what a scene names.

pub mod instances;
pub mod procedural;
pub mod rtsl_objects;
pub mod scene_queries;
pub mod shader_cache;
pub mod shader_library;
pub mod shader_search;
