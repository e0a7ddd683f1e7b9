//! Textures as a scene makes them: names for pictures, with what the requests `MakeTexture` and its relatives say of them. No picture is read here.

use crate::texture::{DEFAULT_WRAPS, Wraps};

/// What a texture's name stands for. A name that no request made is the name of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum TextureSource {
    /// A picture, flat or of all directions by latitude and longitude (`MakeTexture`, `MakeBump`, `MakeLatLongEnvironment`).
    Picture {
        /// The file.
        file: String,
        /// What it shows outside.
        wraps: Wraps,
    },
}

impl TextureSource {
    /// The picture of that name.
    pub fn picture(name: &str) -> Self {
        TextureSource::Picture { file: name.to_string(), wraps: DEFAULT_WRAPS }
    }
}
