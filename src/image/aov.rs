//! OpenEXR files with arbitrary output variables (AOVs): the colours as `R G B A`, and channels
//! called `layer.channel`, as compositing programs expect them.

use super::Image;
use super::file::{ImageFileError, write_bytes};
use exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image as ExrImage, Layer as ExrLayer, LayerAttributes, SmallVec,
    WritableImage,
};
use std::io::Cursor;
use std::path::Path;

/// An arbitrary output variable (AOV).
#[derive(Debug, Clone, PartialEq)]
pub struct Aov {
    /// Its name.
    pub name: String,
    /// The names of its channels, one to three, in the order of the image's red, green and blue.
    pub channels: &'static [&'static str],
    /// Its values, premultiplied by coverage.
    pub image: Image,
}

/// Writes the colours and the variables as 32-bit floats, whole or not at all.
///
/// # Errors
/// When the folder is missing, the target is not a regular file, the system refuses, or the file
/// cannot be encoded.
///
/// # Panics
/// When a variable has another size than the colours, a mistake of the caller.
pub fn write(path: &Path, colors: &Image, aovs: &[Aov]) -> Result<(), ImageFileError> {
    let channel = |name: String, image: &Image, component: usize| {
        let samples = image.rgba.iter().map(|pixel| pixel[component]).collect();
        AnyChannel::new(name.as_str(), FlatSamples::F32(samples))
    };
    let mut channels: SmallVec<[AnyChannel<FlatSamples>; 4]> = SmallVec::new();
    for (component, name) in ["R", "G", "B", "A"].into_iter().enumerate() {
        channels.push(channel(name.to_string(), colors, component));
    }
    for aov in aovs {
        let Image { width, height, .. } = aov.image;
        assert_eq!((width, height), (colors.width, colors.height), "the size of layer {}", aov.name);
        for (component, name) in aov.channels.iter().enumerate() {
            channels.push(channel(format!("{}.{name}", aov.name), &aov.image, component));
        }
    }
    let size = (colors.width as usize, colors.height as usize);
    let layer = ExrLayer::new(size, LayerAttributes::default(), Encoding::SMALL_LOSSLESS, AnyChannels::sort(channels));
    let mut bytes = Vec::new();
    ExrImage::from_layer(layer).write().to_buffered(Cursor::new(&mut bytes)).map_err(|error| {
        ImageFileError::Encode { path: path.into(), format: super::file::Format::Exr, reason: error.to_string() }
    })?;
    write_bytes(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exr::prelude::{ReadChannels, ReadLayers, read};

    #[test]
    fn a_file_has_the_colors_and_every_layer_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layers.exr");
        let pixels = |k: f32| (0..6).map(|i| [i as f32, 10.0 * i as f32, -k, 0.5]).collect();
        let image = |k| Image::new(3, 2, pixels(k)).unwrap();
        let layers = [
            Aov { name: "N".to_string(), channels: &["X", "Y", "Z"], image: image(7.0) },
            Aov { name: "depth".to_string(), channels: &["Z"], image: image(0.0) },
        ];
        write(&path, &image(1.0), &layers).unwrap();
        // What reads images of colours finds them.
        assert_eq!(super::super::file::read(&path).unwrap().rgba, image(1.0).rgba);
        let image =
            read().no_deep_data().largest_resolution_level().all_channels().first_valid_layer().all_attributes();
        let file = image.from_file(&path).unwrap();
        let found: Vec<_> = file.layer_data.channel_data.list.iter().map(|c| c.name.to_string()).collect();
        assert_eq!(found, ["A", "B", "G", "N.X", "N.Y", "N.Z", "R", "depth.Z"]);
        let z = &file.layer_data.channel_data.list[5].sample_data;
        assert!(z.values_as_f32().all(|v| v == -7.0));
    }
}
