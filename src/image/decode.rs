//! Reading images of every format: bytes in, a linear [`Image`] out.
//!
//! Input is untrusted: the size in a file's header is checked before anything is allocated for its
//! pixels, and decoders may allocate no more than an image of the largest size takes.

use super::Reading;
use crate::color::decode_srgb;
use crate::{Channels, Image, SizeError, check_size};
use image::{ColorType, DynamicImage, ImageDecoder as _, ImageFormat};
use rayon::prelude::*;
use std::io::{BufRead, Cursor, Seek};
use thiserror::Error;

/// Most pixels of an image that becomes a texture: 2²⁴, for example 4096 × 4096. Decoding such an
/// image takes up to 512 MiB.
pub const MAX_TEXTURE_PIXELS: u64 = 1 << 24;

/// Most bytes that a decoder may take besides the pixels: for rows, color profiles and texts, which
/// may be compressed a thousandfold.
const MAX_BESIDE: u64 = 64 << 20;

/// The formats that textures may have, as messages list them.
pub const FORMATS: &str = "PNG, JPEG, TIFF, OpenEXR, Radiance HDR and PNM";

/// Why bytes are no image.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// They begin like no format that is known.
    #[error("unknown image format; supported formats: {FORMATS}")]
    Unknown,
    /// The image's size is impossible.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The image has more pixels than the limit.
    #[error("the image has {width} x {height} pixels, more than {limit} in all")]
    TooLarge {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// The limit.
        limit: u64,
    },
    /// The decoder met something that is not allowed.
    #[error("{0}")]
    Corrupt(String),
}

/// The bytes of a file, on disk or in memory. The decoders get it as `&mut dyn Source`: a generic
/// reader compiles all of them again for each type and in each crate that has one (a fifth of the
/// code of the crate `program` was that).
pub trait Source: BufRead + Seek {}

impl<T: BufRead + Seek> Source for T {}

/// Width and height of an image, as its header states them; `None` where it has no header that is
/// known.
pub fn image_size(reader: &mut dyn Source) -> Option<[u32; 2]> {
    let mut reader = image::ImageReader::new(reader).with_guessed_format().ok()?;
    let mut limits = image::Limits::no_limits();
    limits.max_alloc = Some(MAX_BESIDE);
    reader.limits(limits);
    let (width, height) = reader.into_dimensions().ok()?;
    Some([width, height])
}

/// The image in `bytes`, whose format is recognized by their beginning, read as `reading` says.
///
/// # Errors
/// When the format is unknown, the data are damaged, or there are more than [`MAX_TEXTURE_PIXELS`]
/// pixels.
pub fn decode(bytes: &[u8], reading: Reading) -> Result<Image, DecodeError> {
    let format = image::guess_format(bytes).map_err(|_| DecodeError::Unknown)?;
    decode_as(&mut Cursor::new(bytes), format, MAX_TEXTURE_PIXELS, reading)
}

/// The image of the given format that `reader` gives: linear, color premultiplied by alpha, with
/// its channels remembered.
///
/// Integer samples of any depth are sRGB and become linear, unless `reading` says otherwise; floats
/// are linear already. Where it says that alpha does not count, the image has none.
///
/// # Errors
/// When the data are damaged, or there are more than `max_pixels` pixels.
pub fn decode_as(
    reader: &mut dyn Source,
    format: ImageFormat,
    max_pixels: u64,
    reading: Reading,
) -> Result<Image, DecodeError> {
    let corrupt = |error: image::ImageError| DecodeError::Corrupt(error.to_string());
    let mut reader = image::ImageReader::with_format(reader, format);
    let mut limits = image::Limits::no_limits();
    limits.max_alloc = Some(MAX_BESIDE);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(corrupt)?;
    let (width, height) = decoder.dimensions();
    if check_size(width, height)? as u64 > max_pixels {
        return Err(DecodeError::TooLarge { width, height, limit: max_pixels });
    }
    let pixels = u64::from(width) * u64::from(height);
    limits.max_alloc = Some(16 * pixels + MAX_BESIDE);
    decoder.set_limits(limits).map_err(corrupt)?;
    let color = decoder.color_type();
    let decoded = DynamicImage::from_decoder(decoder).map_err(corrupt)?;
    Ok(Image {
        width,
        height,
        rgba: linear_premultiplied(decoded, color, reading),
        channels: match (color.has_color(), color.has_alpha()) {
            _ if matches!(reading, Reading::ColorAlpha | Reading::DataAlpha) => Channels::Rgba,
            _ if matches!(reading, Reading::OpaqueColor | Reading::Data) => Channels::Rgb,
            (true, true) => Channels::Rgba,
            (true, false) => Channels::Rgb,
            (false, true) => Channels::GrayAlpha,
            (false, false) => Channels::Gray,
        },
    })
}

/// Decoded samples as linear premultiplied pixels. Float formats hold exactly that already.
fn linear_premultiplied(decoded: DynamicImage, color: ColorType, reading: Reading) -> Vec<[f32; 4]> {
    let is_float = matches!(color, ColorType::Rgb32F | ColorType::Rgba32F);
    let samples = decoded.into_rgba32f().into_raw();
    // Vectors with room for a part of a pixel cannot change their type in place.
    let mut pixels =
        bytemuck::allocation::try_cast_vec(samples).unwrap_or_else(|(_, samples)| samples.as_chunks::<4>().0.to_vec());
    let is_coded = !is_float && !matches!(reading, Reading::Data | Reading::DataAlpha);
    let keeps_alpha = matches!(reading, Reading::Color | Reading::ColorAlpha | Reading::DataAlpha);
    if is_coded || !keeps_alpha {
        pixels.par_iter_mut().for_each(|[r, g, b, a]| {
            *a = if keeps_alpha { *a } else { 1.0 };
            let alpha = *a;
            if is_coded {
                [r, g, b].into_iter().for_each(|x| *x = decode_srgb(*x) * alpha);
            }
        });
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_says_whether_numbers_are_colors_and_whether_alpha_counts() {
        let mut png = Cursor::new(Vec::new());
        let pixel = image::RgbaImage::from_pixel(1, 1, image::Rgba([188, 255, 0, 51]));
        pixel.write_to(&mut png, ImageFormat::Png).unwrap();
        let read = |reading| decode(png.get_ref(), reading).unwrap();
        // 188 of 255 in sRGB is half of white; 51 is a fifth.
        let near = |got: [f32; 4], wanted: [f32; 4]| got.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 4e-3);
        assert!(near(read(Reading::Color).rgba[0], [0.1, 0.2, 0.0, 0.2]));
        assert!(near(read(Reading::OpaqueColor).rgba[0], [0.5, 1.0, 0.0, 1.0]));
        assert!(near(read(Reading::Data).rgba[0], [0.7373, 1.0, 0.0, 1.0]));
        assert!(near(read(Reading::DataAlpha).rgba[0], [0.7373, 1.0, 0.0, 0.2]));
        let mut gray = Cursor::new(Vec::new());
        image::GrayImage::new(1, 1).write_to(&mut gray, ImageFormat::Png).unwrap();
        let channels = |reading| decode(gray.get_ref(), reading).unwrap().channels;
        assert_eq!([Reading::Color, Reading::Data].map(channels), [Channels::Gray, Channels::Rgb]);
        assert_eq!([Reading::ColorAlpha, Reading::DataAlpha].map(channels), [Channels::Rgba; 2]);
        assert_eq!([Reading::Color, Reading::Data].map(|r| read(r).channels), [Channels::Rgba, Channels::Rgb]);
    }

    #[test]
    fn a_texture_has_at_most_2_to_the_24_pixels() {
        let read = |size: &str| decode(format!("P6\n{size}\n255\n").as_bytes(), Reading::Color);
        for size in ["4097 4096", "16777217 1"] {
            assert!(matches!(read(size), Err(DecodeError::TooLarge { limit: 0x100_0000, .. })), "{size}");
        }
        assert!(matches!(read("4096 4096"), Err(DecodeError::Corrupt(_))), "it has no pixels");
    }

    /// A PNG of one pixel with a comment of so many bytes.
    fn commented(bytes: usize) -> Vec<u8> {
        let mut png = Cursor::new(Vec::new());
        image::GrayImage::new(1, 1).write_to(&mut png, ImageFormat::Png).unwrap();
        // The signature and the header.
        let (head, rest) = png.get_ref().split_at(8 + 25);
        let mut file = head.to_vec();
        file.extend((bytes as u32 + 8).to_be_bytes());
        file.extend(b"tEXtComment\0");
        file.resize(file.len() + bytes, b'x');
        let mut crc = flate2::Crc::new();
        crc.update(&file[head.len() + 4..]);
        file.extend(crc.sum().to_be_bytes());
        file.extend(rest);
        file
    }

    #[test]
    fn text_within_an_image_has_at_most_64_mebibytes() {
        assert!(decode(&commented(1000), Reading::Color).is_ok());
        let error = decode(&commented(64 << 20), Reading::Color).unwrap_err();
        assert!(matches!(error, DecodeError::Corrupt(_)) && error.to_string().contains("limit"), "{error}");
    }
}
