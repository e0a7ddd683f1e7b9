//! The basics that every part of Shadewright uses and the field has no crate for: source text with
//! diagnostics, files, caches.
//!
//! It knows no language, no scene and no renderer.

pub mod bits;
pub mod cache;
pub mod disk;
pub mod named;
pub mod nan;
pub mod plot;
pub mod ply;
pub mod random;
pub mod scan;
pub mod text;
pub mod tokens;
pub mod uniformity;
