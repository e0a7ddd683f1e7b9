//! Front ends: source text in, [`crate::ir`] modules out.
//!
//! Each language has its own folder with the same file names, and a line in [`registry`], by which
//! everything above asks for [`Language`]s. A front end knows no back end and no renderer.

pub mod editor;
pub mod language;
pub mod light_loop;
pub mod preprocess;
pub mod registry;
pub mod rsl;
pub mod rtsl;
pub mod scan;
pub mod shader_ref;
pub mod stdlib;
pub mod tokens;

pub use language::{Language, Lengths, Naming, Options, Unit};
pub use shader_ref::ShaderRef;
