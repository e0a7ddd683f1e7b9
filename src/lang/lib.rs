//! Front ends: source text in, [`shadewright_ir`] modules out.
//!
//! Each language has its own folder with the same file names, and a line in [`registry`], by which
//! everything above asks for [`Language`]s. A front end knows no back end and no renderer.
//!
//! The output of a language is in no language's folder: [`mod@unit`], with [`types`], [`globals`],
//! [`outline`], [`strings`] and [`coshaders`].

pub mod coshaders;
pub mod editor;
pub mod globals;
pub mod integers;
pub mod language;
pub mod light_loop;
pub mod outline;
pub mod pfman;
pub mod preprocess;
pub mod recursion;
pub mod registry;
pub mod rsl;
pub mod rtsl;
pub mod shader_ref;
pub mod stdlib;
pub mod strings;
pub mod types;
pub mod unit;

use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_ir::builder::MAX_SIZE;

/// The error of a function that is more code than a program may have.
fn too_large(function: &str, place: Span) -> Diagnostic {
    let message = format!("`{function}` is too large: it becomes more than {MAX_SIZE} instructions");
    let d = Diagnostic::error(message).at(place, "with this one");
    d.hint("move what repeats to loops, or to functions that are called")
}

pub use language::{Form, FrontEndOptions, Language, Lengths, Naming};
pub use shader_ref::ShaderRef;
pub use unit::Unit;
