//! Rendered images in OpenEXR files: the colors, the variances of the pixels, arbitrary output
//! variables, and a record of how the image was made.

use super::aov::Aov;
use super::channels::{ChannelError, ChannelFile};
use super::file::{self, Format, ImageFileError, read_within, write_bytes};
use super::{Image, Variance};
use serde::Deserialize;
use std::io::BufReader;
use std::path::Path;

/// The layer of the variances.
const VARIANCE: &str = "variance";
/// The channels of colors.
const COLORS: [&str; 4] = ["R", "G", "B", "A"];

/// A rendered image.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendering {
    /// The colors.
    pub image: Image,
    /// The variances of its pixels, where they are known.
    pub variance: Option<Variance>,
    /// Arbitrary output variables.
    pub aovs: Vec<Aov>,
    /// How it was made: JSON in ASCII, in which `samples` is the number of samples of each pixel, and
    /// `batches` that of the batches that the variances were estimated from.
    pub record: Option<String>,
}

/// The fields of a record that this layer reads.
#[derive(Deserialize)]
struct Batches {
    batches: u32,
    samples: u32,
}

impl From<Image> for Rendering {
    fn from(image: Image) -> Self {
        Self { image, variance: None, aovs: Vec::new(), record: None }
    }
}

impl Rendering {
    /// Writes it as 32-bit floats, whole or not at all: the channels `R G B A`, `variance.R` and so on,
    /// and `layer.channel` for each variable, as compositing programs expect them.
    ///
    /// # Errors
    /// When the folder is missing, the target is not a regular file, the system refuses, or the file
    /// cannot be encoded.
    ///
    /// # Panics
    /// When a variable has another size than the colors, a mistake of the caller.
    pub fn write(&self, path: &Path) -> Result<(), ImageFileError> {
        let encode_error = |reason| ImageFileError::Encode { path: path.into(), format: Format::Exr, reason };
        write_bytes(path, &self.to_file().encode().map_err(encode_error)?)
    }

    fn to_file(&self) -> ChannelFile {
        let size = [self.image.width, self.image.height];
        let mut channels = layer("", &COLORS, &self.image);
        if let Some(variance) = &self.variance {
            for (component, name) in COLORS.into_iter().take(3).enumerate() {
                let samples = variance.rgb.iter().map(|rgb| rgb[component]).collect();
                channels.push((format!("{VARIANCE}.{name}"), samples));
            }
        }
        for aov in &self.aovs {
            assert_eq!([aov.image.width, aov.image.height], size, "the size of layer {}", aov.name);
            channels.extend(aov.to_channels());
        }
        ChannelFile { size, origin: [0; 2], whole: size, channels, record: self.record.clone() }
    }
}

/// The channels of some components of an image.
pub(super) fn layer(prefix: &str, names: &[&str], image: &Image) -> Vec<(String, Vec<f32>)> {
    let channel = |(component, name): (usize, &&str)| {
        (format!("{prefix}{name}"), image.rgba.iter().map(|pixel| pixel[component]).collect())
    };
    names.iter().enumerate().map(channel).collect()
}

/// Reads an image of at most `max_pixels` in the format that the extension names, with its variances
/// and its record where it has them. Variables are not read.
///
/// # Errors
/// The errors of [`super::file::read`].
pub fn read(path: &Path, max_pixels: u64) -> Result<Rendering, ImageFileError> {
    let mut rendering = Rendering::from(read_within(path, max_pixels)?);
    if Format::from_path(path)? == Format::Exr {
        let file = file::open(path)?;
        let decoded = ChannelFile::decode(&mut BufReader::new(file), u64::MAX);
        let file = decoded.map_err(|error| corrupt(path, &error))?;
        rendering.record = file.record.clone();
        rendering.variance = variance_of(&file);
    }
    Ok(rendering)
}

/// The error of an EXR file that cannot be read.
pub fn corrupt(path: &Path, error: &ChannelError) -> ImageFileError {
    ImageFileError::Corrupt { path: path.into(), format: Format::Exr, reason: error.to_string() }
}

fn variance_of(file: &ChannelFile) -> Option<Variance> {
    let record: Batches = serde_json::from_str(file.record.as_deref()?).ok()?;
    let Batches { batches, samples } = Some(record).filter(|record| record.batches > 1)?;
    let [r, g, b] = [0, 1, 2].map(|component| file.channel(&format!("{VARIANCE}.{}", COLORS[component])));
    let rgb = r?.iter().zip(g?).zip(b?).map(|((&r, &g), &b)| [r, g, b]).collect();
    Some(Variance { rgb, batches, samples })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channels::Header;
    use std::io::Cursor;

    fn image(k: f32) -> Image {
        Image::new(3, 2, (0..6).map(|i| [i as f32, 10.0 * i as f32, -k, 0.5]).collect()).unwrap()
    }

    #[test]
    fn a_file_has_the_colors_and_every_layer_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layers.exr");
        let aov = |name: &str, channels: &[&str], k| Aov {
            name: name.to_string(),
            channels: channels.iter().map(ToString::to_string).collect(),
            image: image(k),
        };
        let variance = Variance { rgb: vec![[0.25, f32::INFINITY, 1e-20]; 6], batches: 16, samples: 64 };
        let rendering = Rendering {
            image: image(1.0),
            variance: Some(variance),
            aovs: vec![aov("N", &["X", "Y", "Z"], 7.0), aov("depth", &["Z"], 0.0)],
            record: Some("{\"batches\":16,\"samples\":64}".to_string()),
        };
        rendering.write(&path).unwrap();
        // What reads images of colors finds them.
        assert_eq!(file::read(&path).unwrap().rgba, image(1.0).rgba);
        assert_eq!(read(&path, 6).unwrap(), Rendering { aovs: Vec::new(), ..rendering });
        let bytes = std::fs::read(&path).unwrap();
        let header = Header::read(&mut Cursor::new(&bytes[..])).unwrap();
        let expected = ["A", "B", "G", "N.X", "N.Y", "N.Z", "R", "depth.Z", "variance.B", "variance.G", "variance.R"];
        assert_eq!(header.channels, expected);
    }

    #[test]
    fn files_without_variances_have_none() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["plain.exr", "plain.png", "plain.hdr"] {
            let path = dir.path().join(name);
            file::write(&path, &image(0.5)).unwrap();
            let read = read(&path, 6).unwrap();
            assert_eq!((read.variance, read.record), (None, None), "{name}");
        }
    }
}
