//! Textures as a scene makes them: names for pictures, with what the requests `MakeTexture` and its relatives, or the textures of a glTF file, say of them. No picture is read here.

use crate::texture::{DEFAULT_WRAPS, Reading, Wraps};

/// What a texture's name stands for. A name that the scene says nothing of is the name of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum TextureSource {
    /// A picture, flat or of all directions by latitude and longitude (`MakeTexture`, `MakeBump`, `MakeLatLongEnvironment`).
    Picture {
        /// The file.
        file: String,
        /// What it shows outside.
        wraps: Wraps,
        /// What its numbers are.
        reading: Reading,
    },
    /// Six pictures of what is seen in the directions +x, −x, +y, −y, +z, −z (`MakeCubeFaceEnvironment`).
    Cube {
        /// The files.
        faces: [String; 6],
        /// The angle that each shows, in degrees: 90 or more.
        fov: f32,
    },
    /// A picture of depths (`MakeShadow`).
    Depth {
        /// The file.
        file: String,
    },
}

impl TextureSource {
    /// The picture of that name.
    pub fn picture(name: &str) -> Self {
        TextureSource::Picture { file: name.to_string(), wraps: DEFAULT_WRAPS, reading: Reading::Color }
    }
}
