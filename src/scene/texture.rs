//! Textures as a scene makes them: names for images, with what the requests `MakeTexture` and its
//! relatives, or the textures of a glTF file, say of them. No image is read here.

use shadewright_image::Reading;
use shadewright_texture::{DEFAULT_WRAPS, Wraps};

/// The source that a texture's name stands for. A name that the scene says nothing of is the name
/// of an image.
#[derive(Clone, Debug, PartialEq)]
pub enum TextureSource {
    /// An image: a flat texture or a latitude-longitude environment map (`MakeTexture`, `MakeBump`,
    /// `MakeLatLongEnvironment`).
    Image {
        /// The file.
        file: String,
        /// The wrap modes along s and t, for coordinates outside the image.
        wraps: Wraps,
        /// The encoding of its samples.
        reading: Reading,
    },
    /// A cube environment map: six faces for +x, −x, +y, −y, +z, −z (`MakeCubeFaceEnvironment`).
    Cube {
        /// The files.
        faces: [String; 6],
        /// The angle that each shows, in degrees: 90 or more.
        fov: f32,
    },
    /// A shadow map (`MakeShadow`).
    Depth {
        /// The file.
        file: String,
    },
}

impl TextureSource {
    /// The image of that name.
    pub fn image(name: &str) -> Self {
        TextureSource::Image { file: name.to_string(), wraps: DEFAULT_WRAPS, reading: Reading::Color }
    }
}
