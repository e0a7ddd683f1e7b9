//! (module paragraph)

pub mod color;
pub mod film;
pub mod image_file;
