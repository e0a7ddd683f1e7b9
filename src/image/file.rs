//! Image files: reads and writes [`Image`]s as PNG, OpenEXR, Radiance HDR and binary PNM, chosen by
//! extension.
//!
//! It knows nothing of how an image was made. Files are untrusted: sizes are checked before
//! anything is allocated. Writing goes to a temporary file in the target's folder that is renamed
//! when it is complete, so the target is either the old file or the whole new one.
//!
//! | extension | channels written | values |
//! |---|---|---|
//! | `.png` | RGB, or RGBA where some alpha is not 1 | 8-bit sRGB, alpha unassociated; or as a scene asks ([`write_quantized`]) |
//! | `.exr` | RGBA | 32-bit float, linear, alpha associated (premultiplied), nothing clamped |
//! | `.hdr` | RGB, as seen over black | shared exponent, linear, not negative |
//! | `.pnm` `.ppm` | RGB, as seen over black | 8-bit sRGB, binary (P6) |
//!
//! In 8-bit files NaN is written as 0. Integer files of any depth are read as sRGB and become
//! linear.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Cursor, Write as _};
use std::path::{Path, PathBuf};

use exr::prelude::{Encoding, Image as ExrImage, LineOrder, SpecificChannels, Vec2, WritableImage as _};
use image::codecs::hdr::HdrEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::pnm::{PnmEncoder, PnmSubtype, SampleEncoding};
use image::{ExtendedColorType, ImageEncoder as _};
use rayon::prelude::*;
use tempfile::NamedTempFile;
use thiserror::Error;

use super::color::{encode_srgb8, quantize8};
use super::decode::{DecodeError, decode_as};
use super::quantize::{self, Quantize};
use super::{Image, Reading, SizeError};
use shadewright_base::disk;

/// Why an image file could not be read or written.
#[derive(Debug, Error)]
pub enum ImageFileError {
    /// The extension names no format we have.
    #[error("{}: no image format has this extension; use one of {EXTENSIONS}", path.display())]
    UnsupportedExtension {
        /// The file.
        path: PathBuf,
    },
    /// The folder to write in does not exist, or is no folder.
    #[error("{}: the folder {} does not exist; create it first", path.display(), folder.display())]
    MissingFolder {
        /// The file to be written.
        path: PathBuf,
        /// The folder of the file.
        folder: PathBuf,
    },
    /// The path is a folder, a device or a pipe.
    #[error("{}: is not a regular file; name another", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// There is no such file to read.
    #[error("{}: no such file; check the path", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// The file to read has no bytes.
    #[error("{}: the file is empty; write the image again", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file's content is not an image of the format its extension names.
    #[error("{}: cannot be read as {format}: {reason}; the file is damaged or has the wrong extension", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The format that its extension names.
        format: Format,
        /// The error that the decoder met.
        reason: String,
    },
    /// The file holds an image of a size that is refused.
    #[error("{}: {source}", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// The size and the limit.
        source: SizeError,
    },
    /// The file holds an image of more pixels than the caller accepts.
    #[error("{}: the image has {width} x {height} pixels, more than {limit} in all; --max-pixels raises the limit", path.display())]
    TooManyPixels {
        /// The file.
        path: PathBuf,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// The limit.
        limit: u64,
    },
    /// The operating system refused to read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The operating system refused to write.
    #[error("{}: cannot be written: {source}; check the folder's permissions and free space", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The format cannot hold this image.
    #[error("{}: {format} cannot hold this image: {reason}; choose another of {EXTENSIONS}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// The format asked for.
        format: Format,
        /// The message of the encoder.
        reason: String,
    },
}

/// Most pixels of an image that is read where the user does not say otherwise: 2²⁵, for example
/// 8192 × 4096. To compare two such images takes 1.34 GiB.
pub const MAX_READ_PIXELS: u64 = 1 << 25;

/// The supported extensions, as error messages list them.
const EXTENSIONS: &str = ".png .exr .hdr .pnm .ppm";

/// An image file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Portable Network Graphics.
    Png,
    /// OpenEXR.
    Exr,
    /// Radiance RGBE.
    Hdr,
    /// Netpbm's portable anymap.
    Pnm,
}

impl Format {
    /// The format that a path's extension names, in any case.
    ///
    /// # Errors
    /// [`ImageFileError::UnsupportedExtension`], with the list of those that are supported.
    pub fn from_path(path: &Path) -> Result<Self, ImageFileError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("png") => Ok(Self::Png),
            Some("exr") => Ok(Self::Exr),
            Some("hdr") => Ok(Self::Hdr),
            Some("pnm" | "ppm") => Ok(Self::Pnm),
            _ => Err(ImageFileError::UnsupportedExtension { path: path.into() }),
        }
    }

    fn codec(self) -> image::ImageFormat {
        match self {
            Self::Png => image::ImageFormat::Png,
            Self::Exr => image::ImageFormat::OpenExr,
            Self::Hdr => image::ImageFormat::Hdr,
            Self::Pnm => image::ImageFormat::Pnm,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Exr => "OpenEXR",
            Self::Hdr => "Radiance HDR",
            Self::Pnm => "PNM",
        })
    }
}

/// Finds out whether [`write()`] to this path can work, before a long render: the extension, the
/// folder, the permission to create a file there. Leaves no file. Gives the file that would be
/// written, the same for all paths that lead to it.
///
/// # Errors
/// As [`write()`], except for what the image itself causes.
pub fn check_writable(path: &Path) -> Result<PathBuf, ImageFileError> {
    Format::from_path(path)?;
    check_replaceable(path)
}

/// The same of [`write_bytes`].
///
/// # Errors
/// As [`write_bytes`], except for a full disk.
pub fn check_replaceable(path: &Path) -> Result<PathBuf, ImageFileError> {
    let (target, _) = temporary_beside(path)?;
    let folder = folder_of(&target).canonicalize().map_err(|source| write_error(path, source))?;
    Ok(target.file_name().map_or_else(|| folder.clone(), |name| folder.join(name)))
}

/// The folder of a file: `.` where the path is a name alone.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes an image in the format that the extension names, replacing an existing file.
///
/// # Errors
/// When the extension is unknown, the folder is missing, the target is not a regular file, the
/// format cannot hold the image, or the system refuses. The target is untouched then, and no
/// temporary file is left.
pub fn write(path: &Path, image: &Image) -> Result<(), ImageFileError> {
    write_quantized(path, image, None)
}

/// [`write()`], with the numbers that a scene asks for where the format is PNG: of 16 bits if some
/// are above 255. Other formats have their own.
///
/// # Errors
/// The errors of [`write()`].
pub fn write_quantized(path: &Path, image: &Image, quantize: Option<Quantize>) -> Result<(), ImageFileError> {
    let format = Format::from_path(path)?;
    let (target, mut file) = temporary_beside(path)?;
    let mut out = BufWriter::new(file.as_file_mut());
    encode(&mut out, format, image, quantize).and_then(|()| out.flush().map_err(image::ImageError::IoError)).map_err(
        |error| match error {
            image::ImageError::IoError(source) => write_error(path, source),
            other => ImageFileError::Encode { path: path.into(), format, reason: other.to_string() },
        },
    )?;
    drop(out);
    file.persist(target).map_err(|error| write_error(path, error.error))?;
    Ok(())
}

/// An image as an OpenEXR file: linear floats, premultiplied.
///
/// # Errors
/// When the encoder refuses the image.
pub fn to_exr(image: &Image) -> Result<Vec<u8>, ImageFileError> {
    to_bytes(image, Format::Exr)
}

/// An image as a file of a format, as [`write()`] writes it.
///
/// # Errors
/// When the format cannot hold the image.
pub fn to_bytes(image: &Image, format: Format) -> Result<Vec<u8>, ImageFileError> {
    let mut bytes = Cursor::new(Vec::new());
    let refused =
        |e: image::ImageError| ImageFileError::Encode { path: "memory".into(), format, reason: e.to_string() };
    encode(&mut bytes, format, image, None).map_err(refused)?;
    Ok(bytes.into_inner())
}

/// The image in the bytes of a file of a format.
///
/// # Errors
/// When the bytes are damaged, or hold more than [`MAX_READ_PIXELS`].
pub fn decode_bytes(bytes: &[u8], format: Format) -> Result<Image, DecodeError> {
    decode_as(&mut Cursor::new(bytes), format.codec(), MAX_READ_PIXELS, Reading::Color)
}

/// An encoding without loss whose tiles are in one order, whichever thread is done with its tile
/// first.
pub const EXR_ENCODING: Encoding = Encoding { line_order: LineOrder::Increasing, ..Encoding::FAST_LOSSLESS };

fn encode_exr(out: impl io::Write + io::Seek, image: &Image) -> exr::error::UnitResult {
    let size = Vec2(image.width as usize, image.height as usize);
    let channels = SpecificChannels::rgba(|at: Vec2<usize>| {
        let [r, g, b, a] = image.rgba[at.y() * size.width() + at.x()];
        (r, g, b, a)
    });
    ExrImage::from_encoded_channels(size, EXR_ENCODING, channels).write().to_buffered(out)
}

/// Writes to any path in the same way what `write` writes, which may be more than memory holds.
///
/// # Errors
/// As [`write_bytes`].
pub fn write_with(path: &Path, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<(), ImageFileError> {
    let (target, file) = temporary_beside(path)?;
    let mut file = BufWriter::new(file);
    write(&mut file).map_err(|source| write_error(path, source))?;
    let file = file.into_inner().map_err(|error| write_error(path, error.into_error()))?;
    file.persist(target).map_err(|error| write_error(path, error.error))?;
    Ok(())
}

/// Writes bytes to any path in the same way: whole, or not at all.
///
/// # Errors
/// When the folder is missing, the target is not a regular file, or the system refuses.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), ImageFileError> {
    let (target, mut file) = temporary_beside(path)?;
    file.write_all(bytes).map_err(|source| write_error(path, source))?;
    file.persist(target).map_err(|error| write_error(path, error.error))?;
    Ok(())
}

/// [`write_bytes`] to a file that the program keeps for itself: a link of its name is replaced, and
/// what it leads to stays.
///
/// # Errors
/// The errors of [`write_bytes`].
pub fn replace_bytes(path: &Path, bytes: &[u8]) -> Result<(), ImageFileError> {
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        fs::remove_file(path).map_err(|source| write_error(path, source))?;
    }
    write_bytes(path, bytes)
}

/// Reads an image of at most [`MAX_READ_PIXELS`] in the format that the extension names: linear,
/// premultiplied, with its channels remembered.
///
/// # Errors
/// When the extension is unknown, the file is missing, empty, not a regular file, damaged, of a
/// refused size, or the system refuses.
pub fn read(path: &Path) -> Result<Image, ImageFileError> {
    read_within(path, MAX_READ_PIXELS)
}

/// [`read`] of an image of at most so many pixels.
///
/// # Errors
/// The errors of [`read`].
pub fn read_within(path: &Path, max_pixels: u64) -> Result<Image, ImageFileError> {
    let format = Format::from_path(path)?;
    let file = open(path)?;
    if file.metadata().map_err(|source| ImageFileError::Read { path: path.into(), source })?.len() == 0 {
        return Err(ImageFileError::Empty { path: path.into() });
    }

    decode_as(&mut BufReader::new(file), format.codec(), max_pixels, Reading::Color).map_err(|error| match error {
        DecodeError::Size(source) => ImageFileError::Size { path: path.into(), source },
        DecodeError::TooLarge { width, height, limit } => {
            ImageFileError::TooManyPixels { path: path.into(), width, height, limit }
        }
        other => ImageFileError::Corrupt { path: path.into(), format, reason: other.to_string() },
    })
}

/// Opens an image's file.
///
/// # Errors
/// When it is missing, not a regular file, or the system refuses.
pub fn open(path: &Path) -> Result<File, ImageFileError> {
    disk::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ImageFileError::NotFound { path: path.into() },
        io::ErrorKind::IsADirectory => ImageFileError::NotAFile { path: path.into() },
        _ if disk::NotRegular::is_cause_of(&source) => ImageFileError::NotAFile { path: path.into() },
        _ => ImageFileError::Read { path: path.into(), source },
    })
}

fn write_error(path: &Path, source: io::Error) -> ImageFileError {
    ImageFileError::Write { path: path.into(), source }
}

/// A temporary file in the folder of `path`, deleted when dropped, and the path to rename it to:
/// the file that `path` names after following links.
fn temporary_beside(path: &Path) -> Result<(PathBuf, NamedTempFile), ImageFileError> {
    let (target, permissions) = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.permissions().readonly() => {
            let source = io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only");
            return Err(write_error(path, source));
        }
        Ok(metadata) if metadata.is_file() => {
            let target = fs::canonicalize(path).map_err(|source| write_error(path, source))?;
            (target, Some(metadata.permissions()))
        }
        Ok(_) => return Err(ImageFileError::NotAFile { path: path.into() }),
        Err(_) => (path.to_path_buf(), None),
    };
    let folder = folder_of(&target);
    if !folder.is_dir() {
        return Err(ImageFileError::MissingFolder { path: path.into(), folder: folder.into() });
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".shadewright-");
    // The library's own default is a file that only the owner can read; an image is an ordinary
    // file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder).map_err(|source| write_error(path, source))?;
    // A file that is replaced keeps its permissions.
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions).map_err(|source| write_error(path, source))?;
    }
    Ok((target, file))
}

fn encode(
    out: &mut (impl io::Write + io::Seek),
    format: Format,
    image: &Image,
    quantize: Option<Quantize>,
) -> image::ImageResult<()> {
    let (width, height) = (image.width, image.height);
    match format {
        Format::Png => {
            let (samples, color) = png_samples(image, quantize);
            PngEncoder::new(out).write_image(&samples, width, height, color)
        }
        Format::Exr => encode_exr(out, image).map_err(|error| match error {
            exr::error::Error::Io(source) => image::ImageError::IoError(source),
            other => {
                let hint = image::error::ImageFormatHint::Exact(image::ImageFormat::OpenExr);
                image::ImageError::Encoding(image::error::EncodingError::new(hint, other))
            }
        }),
        Format::Hdr => HdrEncoder::new(out).write_image(
            bytemuck::cast_slice(&rgb_shared_exponent(image)),
            width,
            height,
            ExtendedColorType::Rgb32F,
        ),
        Format::Pnm => PnmEncoder::new(out).with_subtype(PnmSubtype::Pixmap(SampleEncoding::Binary)).write_image(
            &rgb8(image),
            width,
            height,
            ExtendedColorType::Rgb8,
        ),
    }
}

/// The samples of a PNG file, those of 16 bits in the order of this machine, and what they are.
fn png_samples(image: &Image, quantize: Option<Quantize>) -> (Vec<u8>, ExtendedColorType) {
    let alpha = !image.is_opaque();
    let (eight, sixteen) = match alpha {
        false => (ExtendedColorType::Rgb8, ExtendedColorType::Rgb16),
        true => (ExtendedColorType::Rgba8, ExtendedColorType::Rgba16),
    };
    let Some(quantize) = quantize else {
        return (if alpha { rgba8(image) } else { rgb8(image) }, eight);
    };
    let samples = quantize::samples(image, quantize);
    if quantize.is_deep() {
        return (samples.into_iter().flat_map(u16::to_ne_bytes).collect(), sixteen);
    }
    // None is above 255.
    (samples.into_iter().map(|s| s as u8).collect(), eight)
}

/// 8-bit sRGB codes of the premultiplied color, which is the image over black.
fn rgb8(image: &Image) -> Vec<u8> {
    image.rgba.par_iter().flat_map_iter(|&[r, g, b, _]| [r, g, b].map(encode_srgb8)).collect()
}

/// 8-bit sRGB codes of the color divided by alpha, and alpha. Where alpha is 0 there is no color:
/// black.
fn rgba8(image: &Image) -> Vec<u8> {
    image
        .rgba
        .par_iter()
        .flat_map_iter(|&[r, g, b, a]| {
            let unassociated = |x: f32| if a > 0.0 { encode_srgb8(x / a) } else { 0 };
            [unassociated(r), unassociated(g), unassociated(b), quantize8(a)]
        })
        .collect()
}

/// Linear RGB in the range of the shared-exponent format: not negative, below 2¹²⁷; NaN becomes 0.
fn rgb_shared_exponent(image: &Image) -> Vec<[f32; 3]> {
    const LARGEST: f32 = 1.0e38;
    let in_range = |x: f32| if x.is_nan() { 0.0 } else { x.clamp(0.0, LARGEST) };
    image.rgba.iter().map(|&[r, g, b, _]| [r, g, b].map(in_range)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Channels;
    use crate::color::{decode_srgb, decode_srgb8};
    use tempfile::TempDir;

    fn folder() -> TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names_in(folder: &TempDir) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Every 8-bit code in some channel, opaque.
    fn all_codes() -> Image {
        let pixel = |i: u8| {
            let [r, g, b] = [i, 255 - i, i.wrapping_mul(7)].map(decode_srgb8);
            [r, g, b, 1.0]
        };
        Image::new(16, 16, (0..=255).map(pixel).collect()).unwrap()
    }

    fn translucent() -> Image {
        let half = decode_srgb8(128) * 0.4;
        Image::new(2, 1, vec![[half, half, 0.0, 0.4], [0.0; 4]]).unwrap()
    }

    fn round_trip(name: &str, image: &Image) -> Image {
        let folder = folder();
        let path = folder.path().join(name);
        write(&path, image).unwrap();
        assert_eq!(names_in(&folder), [name]);
        read(&path).unwrap()
    }

    fn largest_difference(a: &Image, b: &Image) -> f32 {
        assert_eq!((a.width, a.height), (b.width, b.height));
        let pairs = a.rgba.iter().flatten().zip(b.rgba.iter().flatten());
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn an_image_that_is_compared_has_at_most_2_to_the_25_pixels() {
        let folder = folder();
        let path = folder.path().join("a.pnm");
        fs::write(&path, "P6\n8193 4096\n255\n").unwrap();
        assert!(matches!(read(&path), Err(ImageFileError::TooManyPixels { limit: 0x200_0000, .. })));
        fs::write(&path, "P6\n8192 4096\n255\n").unwrap();
        assert!(matches!(read(&path), Err(ImageFileError::Corrupt { .. })), "it has no pixels");
    }

    #[test]
    fn every_8_bit_format_gives_all_codes_back() {
        for name in ["a.png", "a.pnm", "a.PPM"] {
            let read = round_trip(name, &all_codes());
            assert_eq!(read.channels, Channels::Rgb, "{name}");
            assert!(largest_difference(&read, &all_codes()) < 1e-6, "{name}");
        }
    }

    #[test]
    fn a_translucent_png_keeps_alpha_and_premultiplied_color() {
        let read = round_trip("a.png", &translucent());
        assert_eq!(read.channels, Channels::Rgba);
        assert!(largest_difference(&read, &translucent()) < 1e-6);
    }

    #[test]
    fn an_exr_gives_every_bit_back() {
        let mut image = translucent();
        image.rgba[0] = [-1.5, 1.0e-30, f32::INFINITY, 0.25];
        assert_eq!(round_trip("a.exr", &image), image);
    }

    #[test]
    fn an_hdr_keeps_a_large_range_to_one_percent() {
        let rgba = vec![[1000.0, 900.0, 800.0, 1.0], [0.001, 0.0009, 0.0008, 1.0]];
        let image = Image::new(2, 1, rgba).unwrap();
        let read = round_trip("a.hdr", &image);
        assert_eq!(read.channels, Channels::Rgb);
        for (read, written) in read.rgba.iter().zip(&image.rgba) {
            for channel in 0..3 {
                assert!((read[channel] / written[channel] - 1.0).abs() < 0.01);
            }
        }
    }

    #[test]
    fn values_no_format_expects_are_written_without_harm() {
        let odd = [f32::NAN, f32::INFINITY, -3.0, f32::NAN];
        let image = Image::new(1, 1, vec![odd]).unwrap();
        assert_eq!(round_trip("a.ppm", &image).rgba, [[0.0, 1.0, 0.0, 1.0]]);
        assert_eq!(round_trip("a.png", &image).rgba, [[0.0; 4]]);
        assert!(round_trip("a.hdr", &image).rgba[0][1] > 1.0e37);
    }

    #[test]
    fn gray_files_are_remembered_as_gray() {
        let folder = folder();
        let path = folder.path().join("gray.png");
        image::GrayImage::from_pixel(3, 2, image::Luma([188])).save(&path).unwrap();
        let image = read(&path).unwrap();
        assert_eq!(image.channels, Channels::Gray);
        assert_eq!(image.rgba[0][0], image.rgba[0][2]);
        assert_eq!(encode_srgb8(image.rgba[0][0]), 188);
    }

    #[test]
    fn a_16_bit_png_is_read_as_srgb_with_all_its_bits() {
        let folder = folder();
        let path = folder.path().join("deep.png");
        image::ImageBuffer::from_pixel(2, 2, image::Rgb([32_768_u16, 0, 65_535])).save(&path).unwrap();
        let [r, g, b, a] = read(&path).unwrap().rgba[0];
        assert!((r - decode_srgb(32_768.0 / 65_535.0)).abs() < 1e-6);
        assert_eq!((g, b, a), (0.0, 1.0, 1.0));
    }

    #[test]
    fn a_scene_chooses_the_depth_and_the_numbers_of_a_png() {
        let folder = folder();
        let path = folder.path().join("a.png");
        let decoded = |max: f32, image: &Image| {
            write_quantized(&path, image, Some(Quantize { one: max, min: 0.0, max, dither: 0.0 })).unwrap();
            image::open(&path).unwrap()
        };
        let quarter = Image::new(1, 1, vec![[decode_srgb(0.25), 1.0, 0.0, 1.0]]).unwrap();
        let deep = decoded(65_535.0, &quarter);
        // 0.25 · 65535 = 16383.75.
        assert_eq!(deep.as_rgb16().unwrap().get_pixel(0, 0).0, [16_384, 65_535, 0]);
        assert_eq!(decoded(255.0, &quarter).as_rgb8().unwrap().get_pixel(0, 0).0, [64, 255, 0]);
        let clear = decoded(65_535.0, &translucent());
        assert_eq!(clear.as_rgba16().unwrap().get_pixel(0, 0).0[3], 26_214, "0.4 · 65535");
    }

    #[test]
    fn an_unknown_extension_lists_the_known_ones() {
        let error = check_writable(Path::new("image.jpg")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "image.jpg: no image format has this extension; use one of .png .exr .hdr .pnm .ppm"
        );
        assert!(matches!(read(Path::new("image")), Err(ImageFileError::UnsupportedExtension { .. })));
    }

    #[test]
    fn a_missing_folder_is_named_and_not_made() {
        let folder = folder();
        let path = folder.path().join("none/a.png");
        let error = write(&path, &all_codes()).unwrap_err();
        assert!(matches!(error, ImageFileError::MissingFolder { .. }));
        assert!(error.to_string().contains("does not exist; create it first"));
        assert!(names_in(&folder).is_empty());
    }

    #[test]
    fn a_folder_is_neither_written_nor_read() {
        let folder = folder();
        let path = folder.path().join("a.png");
        fs::create_dir(&path).unwrap();
        for result in [check_writable(&path).map(drop), read(&path).map(drop)] {
            assert!(matches!(result, Err(ImageFileError::NotAFile { .. })));
        }
        assert_eq!(names_in(&folder), ["a.png"]);
    }

    #[test]
    fn a_missing_or_empty_file_says_so() {
        let folder = folder();
        let path = folder.path().join("a.png");
        assert!(matches!(read(&path), Err(ImageFileError::NotFound { .. })));
        fs::write(&path, "").unwrap();
        assert!(matches!(read(&path), Err(ImageFileError::Empty { .. })));
    }

    #[test]
    fn checking_leaves_no_file() {
        let folder = folder();
        check_writable(&folder.path().join("a.exr")).unwrap();
        assert!(names_in(&folder).is_empty());
    }

    #[test]
    fn a_image_that_cannot_be_encoded_leaves_the_old_file_and_no_other() {
        let folder = folder();
        let path = folder.path().join("a.png");
        fs::write(&path, "old").unwrap();
        let empty = Image { width: 0, height: 0, rgba: Vec::new(), channels: Channels::Rgba };
        assert!(write(&path, &empty).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(&folder), ["a.png"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_its_target_is_replaced() {
        let folder = folder();
        let (link, file) = (folder.path().join("link.ppm"), folder.path().join("a.ppm"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, &all_codes()).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(read(&file).is_ok());
    }

    #[test]
    fn a_header_that_promises_too_much_is_refused_before_allocating() {
        let folder = folder();
        let path = folder.path().join("a.ppm");
        fs::write(&path, "P6 100000 100000 255\nxyz").unwrap();
        let error = read(&path).unwrap_err();
        assert!(error.to_string().contains("10000000000 pixels"), "{error}");
    }

    #[test]
    fn damaged_files_are_errors_in_every_format() {
        let folder = folder();
        for name in ["a.png", "a.exr", "a.hdr", "a.ppm"] {
            let path = folder.path().join(name);
            write(&path, &all_codes()).unwrap();
            let whole = fs::read(&path).unwrap();
            for length in (1..whole.len()).step_by(whole.len() / 16) {
                fs::write(&path, &whole[..length]).unwrap();
                match read(&path) {
                    Err(ImageFileError::Corrupt { .. } | ImageFileError::Size { .. }) => {}
                    other => panic!("{name} cut to {length} bytes: {other:?}"),
                }
            }
            // A flipped bit may give another image, but never a panic.
            for position in (0..whole.len().min(400)).step_by(7) {
                let mut damaged = whole.clone();
                damaged[position] ^= 0x55;
                fs::write(&path, &damaged).unwrap();
                let _ = read(&path);
            }
        }
    }
}
