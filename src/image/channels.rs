//! OpenEXR files as named channels of 32-bit floats, with a record: a text about the image.
//!
//! Files are untrusted: the sizes in the header are checked before anything is allocated for pixels.
//! Writing gives the same bytes for the same content.

use super::{SizeError, Source, check_size};
use exr::meta::MetaData;
use exr::meta::attribute::{AttributeValue as Attribute, IntegerBounds, Text};
use exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image as ExrImage, ImageAttributes, Layer, LayerAttributes,
    ReadChannels, ReadLayers, SmallVec, Vec2, WritableImage, read,
};
use std::io::{Cursor, SeekFrom};
use thiserror::Error;

/// The attribute of the header that holds the record.
const RECORD: &str = "shadewright";

/// Most bytes of a file's samples: an image of [`super::MAX_PIXELS`] with color and alpha.
const MAX_BYTES: u64 = 16 * super::MAX_PIXELS;

/// Most bytes of samples that a byte of a file stands for, so that a small file cannot claim a large
/// image: deflate reaches 1,032.
const MAX_RATIO: u64 = 1 << 14;

/// Most channels of a file.
const MAX_CHANNELS: usize = 1024;

/// The contents of a file's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Width and height in pixels of the samples that the file holds (the data window).
    pub size: [u32; 2],
    /// The left upper corner of these, in pixels of the whole image.
    pub origin: [i32; 2],
    /// Width and height of the whole image (the display window).
    pub whole: [u32; 2],
    /// The names of the channels, in alphabetical order.
    pub channels: Vec<String>,
    /// The record, if the file has one: a text in ASCII.
    pub record: Option<String>,
}

/// A file.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelFile {
    /// As [`Header::size`].
    pub size: [u32; 2],
    /// As [`Header::origin`].
    pub origin: [i32; 2],
    /// As [`Header::whole`].
    pub whole: [u32; 2],
    /// The samples of each channel, row by row from the top, with its name.
    pub channels: Vec<(String, Vec<f32>)>,
    /// As [`Header::record`].
    pub record: Option<String>,
}

/// Why bytes are no such file.
#[derive(Debug, Error)]
pub enum ChannelError {
    /// The size of the samples is impossible.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// There are more samples than may be read.
    #[error("it holds {bytes} bytes of samples, more than {limit}")]
    TooLarge {
        /// Bytes of its samples.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The data are damaged, or something that is not supported, such as deep data.
    #[error("{0}")]
    Corrupt(String),
}

impl ChannelFile {
    /// The samples of a channel.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<&[f32]> {
        self.channels.iter().find(|(of, _)| of == name).map(|(_, samples)| &samples[..])
    }

    /// The file's bytes: compressed without loss, 16 rows at a time.
    ///
    /// # Errors
    /// When the encoder refuses the content.
    ///
    /// # Panics
    /// When a channel does not have a sample for each pixel.
    pub fn encode(self) -> Result<Vec<u8>, String> {
        let size = Vec2(self.size[0] as usize, self.size[1] as usize);
        let mut channels: SmallVec<[AnyChannel<FlatSamples>; 4]> = SmallVec::new();
        for (name, samples) in self.channels {
            assert_eq!(samples.len(), size.area(), "the samples of {name}");
            channels.push(AnyChannel::new(name.as_str(), FlatSamples::F32(samples)));
        }
        let attributes =
            LayerAttributes { layer_position: Vec2(self.origin[0], self.origin[1]), ..LayerAttributes::default() };
        let layer = Layer::new(size, attributes, Encoding::SMALL_LOSSLESS, AnyChannels::sort(channels));
        let [width, height] = self.whole.map(|side| side as usize);
        let mut attributes = ImageAttributes::new(IntegerBounds::from_dimensions(Vec2(width, height)));
        if let Some(record) = self.record {
            if !record.is_ascii() {
                return Err("the record is not ASCII".to_string());
            }
            // One attribute alone: the encoder writes several in any order.
            attributes.other.insert(Text::from(RECORD), Attribute::Text(Text::from(record.as_str())));
        }
        let mut bytes = Vec::new();
        let image = ExrImage::new(attributes, layer);
        image.write().to_buffered(Cursor::new(&mut bytes)).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    /// Reads a file, whose samples may take `max_bytes`. Samples of other types become floats.
    ///
    /// # Errors
    /// When the data are damaged or too large.
    pub fn decode(reader: &mut dyn Source, max_bytes: u64) -> Result<Self, ChannelError> {
        let start = reader.stream_position().map_err(|error| ChannelError::Corrupt(error.to_string()))?;
        let header = Header::read(reader)?;
        let [width, height] = header.size;
        let bytes = 4 * check_size(width, height)? as u64 * header.channels.len() as u64;
        let limit = max_bytes.min(MAX_BYTES);
        if bytes > limit {
            return Err(ChannelError::TooLarge { bytes, limit });
        }
        let io = |error: std::io::Error| ChannelError::Corrupt(error.to_string());
        let length = reader.seek(SeekFrom::End(0)).map_err(io)?.saturating_sub(start);
        if bytes / MAX_RATIO > length {
            return Err(ChannelError::Corrupt(format!("it has {length} bytes for {bytes} bytes of samples")));
        }
        reader.seek(SeekFrom::Start(start)).map_err(io)?;
        let image =
            read().no_deep_data().largest_resolution_level().all_channels().first_valid_layer().all_attributes();
        let image = image.from_buffered(reader).map_err(corrupt)?;
        let channels = image.layer_data.channel_data.list.into_iter().map(|channel| {
            let samples = match channel.sample_data {
                FlatSamples::F32(samples) => samples,
                other => other.values_as_f32().collect(),
            };
            (channel.name.to_string(), samples)
        });
        let channels: Vec<_> = channels.collect();
        if channels.iter().any(|(_, samples)| samples.len() != width as usize * height as usize) {
            return Err(ChannelError::Corrupt("a channel is subsampled".to_string()));
        }
        let Header { size, origin, whole, record, .. } = header;
        Ok(Self { size, origin, whole, channels, record })
    }
}

impl Header {
    /// Reads the header of a file alone, of its first layer.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(reader: &mut dyn Source) -> Result<Self, ChannelError> {
        let metadata = MetaData::read_from_buffered(reader, false).map_err(corrupt)?;
        let header = metadata.headers.first().ok_or_else(|| ChannelError::Corrupt("it has no layer".to_string()))?;
        if header.channels.list.len() > MAX_CHANNELS {
            let reason = format!("it has {} channels, more than {MAX_CHANNELS}", header.channels.list.len());
            return Err(ChannelError::Corrupt(reason));
        }
        let size_of =
            |size: Vec2<usize>| [size.width(), size.height()].map(|side| u32::try_from(side).unwrap_or(u32::MAX));
        let origin = header.own_attributes.layer_position;
        let shared = &header.shared_attributes;
        // The reader gives attributes that it does not know to the layer, or to all layers.
        let name = Text::from(RECORD);
        let record = match header.own_attributes.other.get(&name).or_else(|| shared.other.get(&name)) {
            Some(Attribute::Text(text)) => Some(text.to_string()),
            _ => None,
        };
        Ok(Self {
            size: size_of(header.layer_size),
            origin: [origin.x() - shared.display_window.position.x(), origin.y() - shared.display_window.position.y()],
            whole: size_of(shared.display_window.size),
            channels: header.channels.list.iter().map(|channel| channel.name.to_string()).collect(),
            record,
        })
    }
}

fn corrupt(error: exr::error::Error) -> ChannelError {
    ChannelError::Corrupt(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> ChannelFile {
        let samples = |k: f32| (0..6).map(|i| k * i as f32).collect();
        ChannelFile {
            size: [3, 2],
            origin: [4, 5],
            whole: [10, 20],
            channels: vec![("batch.00.R".to_string(), samples(1.0)), ("sum.G".to_string(), samples(f32::NAN))],
            record: Some("{\"scene\":\"\\u00e4.rib\"}".to_string()),
        }
    }

    #[test]
    fn a_file_comes_back_to_the_bit() {
        let bytes = file().encode().unwrap();
        assert_eq!(bytes, file().encode().unwrap());
        let back = ChannelFile::decode(&mut Cursor::new(&bytes), u64::MAX).unwrap();
        assert_eq!((back.size, back.origin, back.whole, &back.record), ([3, 2], [4, 5], [10, 20], &file().record));
        for (name, samples) in file().channels {
            let bits = |samples: &[f32]| samples.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(back.channel(&name).unwrap()), bits(&samples), "{name}");
        }
        let header = Header::read(&mut Cursor::new(&bytes)).unwrap();
        assert_eq!(header.channels, ["batch.00.R", "sum.G"]);
    }

    #[test]
    fn files_that_are_cut_short_or_too_large_are_refused() {
        let bytes = file().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(ChannelFile::decode(&mut Cursor::new(&bytes[..length]), u64::MAX).is_err(), "{length} bytes");
        }
        let error = ChannelFile::decode(&mut Cursor::new(&bytes), 47).unwrap_err();
        assert_eq!(error.to_string(), "it holds 48 bytes of samples, more than 47");
    }
}
