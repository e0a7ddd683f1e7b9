//! Front ends: source text in, [`crate::ir`] modules out.
//!
//! [`source`] and [`diag`] are shared by everything that reads text a person wrote (shaders, scenes, assembly);
//! each language has its own folder with the same file names. A front end knows no back end and no renderer.

pub mod light_loop;
pub mod preprocess;
pub mod rsl;
pub mod rtsl;
pub mod scan;
pub mod stdlib;
pub mod tokens;
