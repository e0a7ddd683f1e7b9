//! Textures: pictures as shaders read them, filtered for the area that a sample stands for.
//!
//! [`decode()`] turns a file's bytes into a picture, [`pyramid`] that into the levels of a mip map, [`layout`] those into vectors of the memory
//! image, where the library's `std.texture.*` functions ([`crate::lang::stdlib::texture`]) read them. Which files a scene's shaders ask for, and where those lie, is
//! [`crate::program`]'s business; nothing here knows scenes, shaders or machines.

pub mod decode;
pub mod depth;
pub mod layout;
pub mod pyramid;

pub use decode::{DecodeError, decode};
pub use depth::DepthMap;
pub use pyramid::Pyramid;

use thiserror::Error;

/// What a texture shows beyond its picture, along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Zero in every channel.
    Black,
    /// The picture's border.
    Clamp,
    /// The picture again.
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

/// What the numbers of a picture are. Those of floats are linear whatever they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// Colours in sRGB that count as far as their alpha says.
    Color,
    /// Colours in sRGB, whatever their alpha.
    OpaqueColor,
    /// Numbers that mean no colour, whatever their alpha.
    Data,
}

/// The wrap modes along s and t.
pub type Wraps = [Wrap; 2];

/// What a picture that is read by its own name does: it repeats.
pub const DEFAULT_WRAPS: Wraps = [Wrap::Periodic; 2];
