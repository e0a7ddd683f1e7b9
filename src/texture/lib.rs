//! Textures: images as shaders read them, filtered for the area that a sample stands for.
//!
//! [`mod@shadewright_image::decode`] turns a file's bytes into an image, [`pyramid`] that into the levels of a mip map,
//! [`layout`] those into vectors of the memory image, where the library's `std.texture.*` functions
//! (`lang::stdlib::texture`) read them. Which files a scene's shaders ask for, and where
//! those lie, is `program`'s business; nothing here knows scenes, shaders or back ends.

pub mod depth;
pub mod layout;
pub mod pointcloud;
pub mod pyramid;

pub use depth::DepthMap;
pub use pyramid::Pyramid;

use thiserror::Error;

/// The values of a texture beyond its image, along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Zero in every channel.
    Black,
    /// The image's border.
    Clamp,
    /// The image again.
    Periodic,
}

/// A name that is no wrap mode.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no wrap mode; there are \"periodic\", \"black\" and \"clamp\"")]
pub struct UnknownWrap(pub String);

impl std::str::FromStr for Wrap {
    type Err = UnknownWrap;

    fn from_str(name: &str) -> Result<Self, UnknownWrap> {
        match name {
            "black" => Ok(Wrap::Black),
            "clamp" => Ok(Wrap::Clamp),
            "periodic" => Ok(Wrap::Periodic),
            _ => Err(UnknownWrap(name.to_string())),
        }
    }
}

/// The wrap modes along s and t.
pub type Wraps = [Wrap; 2];

/// The wrap modes of an image that is read by its own name: it repeats.
pub const DEFAULT_WRAPS: Wraps = [Wrap::Periodic; 2];
