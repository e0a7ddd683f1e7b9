//! Images: linear RGBA pixels in memory, color encodings, and the files that hold them.
//!
//! This layer stands at the bottom beside [`shadewright_base::text`]: every stage may use it, and it knows
//! none of them. [`mod@decode`] reads untrusted bytes of any supported format, [`mod@file`] reads and
//! writes whole files, [`rendering`] those of rendered images with variances and arbitrary output
//! variables (AOVs), [`channels`] EXR files as named channels, [`color`] holds the sRGB transfer functions, and [`quantize`] turns linear values into integers.

pub mod aov;
pub mod channels;
pub mod color;
pub mod decode;
pub mod file;
pub mod quantize;
pub mod rendering;
mod variance;

pub use decode::{DecodeError, FORMATS, MAX_TEXTURE_PIXELS, Source, decode, image_size};
pub use quantize::Quantize;
pub use variance::Variance;

use thiserror::Error;

/// The largest number of pixels of an image: 2²⁸, for example 16384 × 16384. The film of such an
/// image takes 5 GiB.
pub const MAX_PIXELS: u64 = 1 << 28;

/// A width and height that no image can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SizeError {
    /// There is no pixel in it.
    #[error("an image of {width} x {height} pixels is empty; width and height must be at least 1")]
    Empty {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// It has more than [`MAX_PIXELS`].
    #[error(
        "an image of {width} x {height} pixels has {pixels} pixels; the limit is {MAX_PIXELS} (for example 16384 x 16384)"
    )]
    TooLarge {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Their product.
        pixels: u64,
    },
}

/// Checks that an image of this size can be made, before anything is allocated for it, and gives
/// its pixel count.
///
/// # Errors
/// When either side is 0 or the product is over [`MAX_PIXELS`].
pub fn check_size(width: u32, height: u32) -> Result<usize, SizeError> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err(SizeError::Empty { width, height });
    }
    let too_large = SizeError::TooLarge { width, height, pixels };
    if pixels > MAX_PIXELS {
        return Err(too_large);
    }
    usize::try_from(pixels).map_err(|_| too_large)
}

/// Which channels an image's source had. In memory every image is RGBA; this remembers where it
/// came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Channels {
    /// One gray channel, copied to red, green and blue.
    Gray,
    /// Gray and alpha.
    GrayAlpha,
    /// Color without alpha; alpha is 1 in memory.
    Rgb,
    /// Color and alpha.
    Rgba,
}

impl Channels {
    /// True if alpha is among them.
    #[must_use]
    pub fn has_alpha(self) -> bool {
        matches!(self, Self::GrayAlpha | Self::Rgba)
    }

    /// How many there are.
    #[must_use]
    pub fn count(self) -> u32 {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }
}

impl std::fmt::Display for Channels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gray => "gray",
            Self::GrayAlpha => "gray with alpha",
            Self::Rgb => "RGB",
            Self::Rgba => "RGB with alpha",
        })
    }
}

/// A finished image: linear RGBA, color premultiplied by alpha, rows from the top, pixels from the
/// left.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// `width * height` pixels; values are not limited to 0..=1.
    pub rgba: Vec<[f32; 4]>,
    /// The channels that the source of the image had: RGBA for a render.
    pub channels: Channels,
}

impl Image {
    /// An image with all four channels.
    ///
    /// # Errors
    /// When [`check_size`] refuses the size.
    ///
    /// # Panics
    /// When `rgba` does not hold `width * height` pixels: that is a mistake of the caller, not of
    /// the user.
    pub fn new(width: u32, height: u32, rgba: Vec<[f32; 4]>) -> Result<Self, SizeError> {
        let pixels = check_size(width, height)?;
        assert_eq!(rgba.len(), pixels, "an image of {width} x {height}");
        Ok(Self { width, height, rgba, channels: Channels::Rgba })
    }

    /// The number of pixels that hold a NaN or an infinity.
    #[must_use]
    pub fn count_non_finite(&self) -> usize {
        self.rgba.iter().filter(|rgba| !is_finite(rgba)).count()
    }

    /// True if alpha is 1 at every pixel, so that the alpha channel says nothing.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.rgba.iter().all(|pixel| pixel[3] == 1.0)
    }
}

/// True if all four values are finite.
#[must_use]
pub fn is_finite(rgba: &[f32; 4]) -> bool {
    rgba.iter().all(|x| x.is_finite())
}

/// The encoding of integer samples. Float samples are always linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// sRGB colors with alpha.
    Color,
    /// sRGB colors with alpha, in four channels: gray is copied, and alpha is 1 where there is
    /// none.
    ColorAlpha,
    /// sRGB colors in three channels; alpha is ignored.
    OpaqueColor,
    /// Non-color data in three channels; alpha is ignored.
    Data,
    /// Non-color data in four channels, which alpha does not multiply.
    DataAlpha,
}

impl Reading {
    /// All of them.
    pub const ALL: [Reading; 5] =
        [Reading::Color, Reading::ColorAlpha, Reading::OpaqueColor, Reading::Data, Reading::DataAlpha];

    /// The name in RIB (`MakeTexture` with `"string reading"`).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Reading::Color => "color",
            Reading::ColorAlpha => "coloralpha",
            Reading::OpaqueColor => "opaquecolor",
            Reading::Data => "data",
            Reading::DataAlpha => "dataalpha",
        }
    }

    /// The reading of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reading| reading.name() == name)
    }
}
