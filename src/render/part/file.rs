//! The file of a part: OpenEXR, with the sums as channels and the record in the header.

use super::super::Window;
use super::super::batches::Batches;
use super::super::film::{Film, FilmPixel, FilmSettings};
use super::super::record::{Record, hashed, to_json};
use super::Share;
use serde::{Deserialize, Serialize};
use shadewright_image::aov::Aov;
use shadewright_image::channels::{ChannelError, ChannelFile, Header};
use shadewright_image::{Channels, Image, Quantize, Source};
use std::collections::BTreeMap;
use std::hash::Hash;
use std::ops::Range;
use thiserror::Error;

/// The layer of the variances.
const VARIANCE: &str = "variance";
/// The layers of the batches' sums are called `batch.0` and so on.
const BATCH: &str = "batch";
/// Channels of colors.
const COLORS: [&str; 4] = ["R", "G", "B", "A"];
/// The channel of the weights, where these are not the numbers of samples.
const WEIGHT: &str = "W";

/// The record of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// That of the whole image.
    #[serde(flatten)]
    pub record: Record,
    /// The fields that the part adds to it.
    pub part: PartInfo,
}

/// The fields that the record of a part has beyond those of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartInfo {
    /// The part's share of the image.
    pub share: Share,
    /// The pixels: the first column and row, and those after the last.
    pub window: [u32; 4],
    /// True if the filter has negative weights, so that weights are not numbers of samples.
    pub signed: bool,
    /// The exposure: gain and gamma.
    pub exposure: [f32; 2],
    /// How integers of image files are made.
    pub quantize: Option<Quantize>,
    /// True if the scene's imager shader runs on the joined image.
    pub imager: bool,
    /// The command that rendered the part: its words, and the folder that it ran in.
    pub command: Vec<String>,
    /// The folder.
    pub folder: String,
    /// A hash of the samples.
    pub content: String,
    /// A hash of the record's text without this hash: a record that was changed is noticed even where
    /// there is no other part to compare it with. The last field of the record.
    pub seal: String,
}

/// The samples of a part.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// It has all samples: the means of the pixels, before exposure, and their variances.
    Means {
        /// Linear premultiplied color and alpha.
        rgba: Vec<[f32; 4]>,
        /// The variances, where they are known.
        variance: Option<Vec<[f32; 3]>>,
    },
    /// The sums of its batches, in order.
    Batches(Vec<Vec<FilmPixel>>),
}

/// A part of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct PartFile {
    /// The record of the part.
    pub record: PartRecord,
    /// The samples of the part.
    pub content: Content,
    /// The image's arbitrary output variables: parts with the first samples have them.
    pub aovs: Vec<Aov>,
}

/// Why a file is no part.
#[derive(Debug, Error)]
pub enum PartError {
    /// It is an image, or of another program.
    #[error("it is not a part of an image: parts are written by `render --part`")]
    Foreign,
    /// The record cannot be read.
    #[error("its record cannot be read: {0}")]
    Record(String),
    /// It is cut short or was changed.
    #[error("it is damaged: {0}; render it again")]
    Damaged(String),
    /// It cannot be encoded.
    #[error("it cannot be written: {0}")]
    Encode(String),
}

impl PartRecord {
    /// The record in the header of a file.
    ///
    /// # Errors
    /// When it is no part.
    pub fn from_header(header: &Header) -> Result<Self, PartError> {
        #[derive(Deserialize)]
        struct Any {
            #[serde(default)]
            part: Option<serde::de::IgnoredAny>,
        }
        let text = header.record.as_deref().ok_or(PartError::Foreign)?;
        if serde_json::from_str::<Any>(text).map_or(true, |any| any.part.is_none()) {
            return Err(PartError::Foreign);
        }
        if !is_sealed(text) {
            return Err(PartError::Damaged("its record was changed".to_string()));
        }
        let record: Self = serde_json::from_str(text).map_err(|error| PartError::Record(error.to_string()))?;
        let [x0, y0, x1, y1] = record.record.window;
        let [width, height] = [x1.saturating_sub(x0), y1.saturating_sub(y0)];
        shadewright_image::check_size(width, height).map_err(|error| PartError::Record(error.to_string()))?;
        if !record.part.share.is_valid() {
            return Err(PartError::Record("its share is impossible".to_string()));
        }
        let divided = record.part.share.split(record.whole(), record.division());
        let (window, _) = divided.map_err(|error| PartError::Record(error.to_string()))?;
        if record.window() != window || header.size != [window.width, window.height] {
            return Err(PartError::Record("its size is not that of its share".to_string()));
        }
        Ok(record)
    }

    /// The record as JSON, with its seal.
    fn sealed(&mut self) -> Result<String, serde_json::Error> {
        self.part.seal = format!("{:016x}", 0);
        let text = to_json(self)?;
        let (head, _, tail) = at_seal(&text).unwrap_or((&text, "", ""));
        self.part.seal = seal_of(head, tail);
        to_json(self)
    }

    /// The window of the whole image.
    #[must_use]
    pub fn whole(&self) -> Window {
        window_of(self.record.window)
    }

    /// The part's window.
    #[must_use]
    pub fn window(&self) -> Window {
        window_of(self.part.window)
    }

    /// The division of the image's samples into batches.
    #[must_use]
    pub fn division(&self) -> Batches {
        Batches::new(self.record.samples)
    }

    /// The part's batches.
    #[must_use]
    pub fn batches(&self) -> Range<u32> {
        self.division().share(self.part.share.samples - 1, self.part.share.of_samples)
    }
}

/// A record's text before its seal, the seal, and the text after it.
fn at_seal(text: &str) -> Option<(&str, &str, &str)> {
    // In strings of the record quotes are escaped.
    const FIELD: &str = "\"seal\":\"";
    let begin = text.rfind(FIELD)? + FIELD.len();
    let end = begin + text[begin..].find('"')?;
    Some((&text[..begin], &text[begin..end], &text[end..]))
}

fn seal_of(head: &str, tail: &str) -> String {
    format!("{:016x}", hashed(|h| (head, tail).hash(h)))
}

fn is_sealed(text: &str) -> bool {
    at_seal(text).is_some_and(|(head, seal, tail)| seal_of(head, tail) == seal)
}

fn window_of([x0, y0, x1, y1]: [u32; 4]) -> Window {
    Window { x: x0, y: y0, width: x1.saturating_sub(x0), height: y1.saturating_sub(y0) }
}

impl PartInfo {
    /// That of a share with these settings of the film; the content's hash is empty.
    #[must_use]
    pub fn new(share: Share, window: Window, film: &FilmSettings) -> Self {
        Self {
            share,
            window: [window.x, window.y, window.x + window.width, window.y + window.height],
            signed: film.filter.is_signed(),
            exposure: [film.exposure.gain, film.exposure.gamma],
            quantize: None,
            imager: false,
            command: Vec::new(),
            folder: String::new(),
            content: String::new(),
            seal: String::new(),
        }
    }
}

impl Content {
    /// The samples of a film that has those of a share.
    #[must_use]
    pub fn from_film(film: Film, share: Share) -> Self {
        if !share.has_all_samples() {
            return Content::Batches(film.into_batches());
        }
        let variance = film.variance(film.batches().samples()).map(|variance| variance.rgb);
        Content::Means { rgba: film.resolve().rgba, variance }
    }
}

impl PartFile {
    /// The file's bytes: the same for the same part.
    ///
    /// # Errors
    /// When the encoder fails.
    pub fn encode(mut self) -> Result<Vec<u8>, PartError> {
        let Window { x, y, width, height } = self.record.window();
        let mut channels = Vec::new();
        let mut put = |name: String, samples: Vec<f32>| channels.push((name, samples));
        let batches = self.record.batches();
        match &self.content {
            Content::Means { rgba, variance } => {
                for (component, name) in COLORS.into_iter().enumerate() {
                    put(name.to_string(), rgba.iter().map(|pixel| pixel[component]).collect());
                }
                for (component, name) in COLORS.into_iter().take(3).enumerate() {
                    if let Some(variance) = variance {
                        put(format!("{VARIANCE}.{name}"), variance.iter().map(|rgb| rgb[component]).collect());
                    }
                }
            }
            Content::Batches(sums) => {
                for (batch, sums) in batches.zip(sums) {
                    for (component, name) in COLORS.into_iter().enumerate() {
                        put(format!("{BATCH}.{batch}.{name}"), sums.iter().map(|p| p.sum[component]).collect());
                    }
                    if self.record.part.signed {
                        put(format!("{BATCH}.{batch}.{WEIGHT}"), sums.iter().map(|p| p.weight).collect());
                    }
                }
            }
        }
        channels.extend(self.aovs.iter().flat_map(Aov::to_channels));
        self.record.part.content = hash_of(&channels);
        let record = self.record.sealed().map_err(|error| PartError::Encode(error.to_string()))?;
        let size = self.record.record.size;
        let file = ChannelFile {
            size: [width, height],
            origin: [x as i32, y as i32],
            whole: size,
            channels,
            record: Some(record),
        };
        file.encode().map_err(PartError::Encode)
    }

    /// Reads a part.
    ///
    /// # Errors
    /// When it is none, or damaged.
    pub fn decode(reader: &mut dyn Source) -> Result<Self, PartError> {
        let damaged = |error: ChannelError| PartError::Damaged(error.to_string());
        let file = ChannelFile::decode(reader, u64::MAX).map_err(damaged)?;
        let header = Header {
            size: file.size,
            origin: file.origin,
            whole: file.whole,
            channels: file.channels.iter().map(|(name, _)| name.clone()).collect(),
            record: file.record.clone(),
        };
        let record = PartRecord::from_header(&header)?;
        if hash_of(&file.channels) != record.part.content {
            return Err(PartError::Damaged("its samples were changed".to_string()));
        }
        let content = match record.part.share.has_all_samples() {
            true => means_of(&file)?,
            false => batches_of(&file, &record)?,
        };
        let aovs = aovs_of(&file)?;
        Ok(Self { record, content, aovs })
    }
}

fn missing(channel: &str) -> PartError {
    PartError::Damaged(format!("the channel {channel} is missing"))
}

fn colors_of(file: &ChannelFile, prefix: &str) -> Result<Vec<[f32; 4]>, PartError> {
    let mut rgba = vec![[0.0; 4]; file.size[0] as usize * file.size[1] as usize];
    for (component, name) in COLORS.into_iter().enumerate() {
        let name = format!("{prefix}{name}");
        let samples = file.channel(&name).ok_or_else(|| missing(&name))?;
        rgba.iter_mut().zip(samples).for_each(|(pixel, &sample)| pixel[component] = sample);
    }
    Ok(rgba)
}

fn means_of(file: &ChannelFile) -> Result<Content, PartError> {
    let of = |component: usize| file.channel(&format!("{VARIANCE}.{}", COLORS[component]));
    let variance = match (of(0), of(1), of(2)) {
        (Some(r), Some(g), Some(b)) => Some(r.iter().zip(g).zip(b).map(|((&r, &g), &b)| [r, g, b]).collect()),
        _ => None,
    };
    Ok(Content::Means { rgba: colors_of(file, "")?, variance })
}

fn batches_of(file: &ChannelFile, record: &PartRecord) -> Result<Content, PartError> {
    let batch = |batch: u32| -> Result<Vec<FilmPixel>, PartError> {
        let prefix = format!("{BATCH}.{batch}.");
        let colors = colors_of(file, &prefix)?;
        let count = record.division().range(batch).len() as f32;
        let weight = format!("{prefix}{WEIGHT}");
        let weights = match record.part.signed {
            true => Some(file.channel(&weight).ok_or_else(|| missing(&weight))?),
            false => None,
        };
        let weight = |at: usize| weights.map_or(count, |weights| weights[at]);
        Ok(colors.into_iter().enumerate().map(|(at, sum)| FilmPixel { sum, weight: weight(at) }).collect())
    };
    record.batches().map(batch).collect::<Result<_, _>>().map(Content::Batches)
}

/// The layers that are neither colors nor variances nor batches.
fn aovs_of(file: &ChannelFile) -> Result<Vec<Aov>, PartError> {
    let mut layers: BTreeMap<&str, Vec<(&str, &[f32])>> = BTreeMap::new();
    for (name, samples) in &file.channels {
        if let Some((layer, channel)) = name.rsplit_once('.')
            && layer != VARIANCE
            && !layer.starts_with(BATCH)
        {
            layers.entry(layer).or_default().push((channel, samples));
        }
    }
    let [width, height] = file.size;
    let of_layer = |(name, mut channels): (&str, Vec<(&str, &[f32])>)| {
        // The file has them in alphabetical order: X Y Z stays, and B G R is turned.
        if channels.iter().any(|(channel, _)| *channel == "R") {
            channels.reverse();
        }
        let mut rgba = vec![[0.0; 4]; width as usize * height as usize];
        for (component, (_, samples)) in channels.iter().enumerate().take(4) {
            rgba.iter_mut().zip(*samples).for_each(|(pixel, &sample)| pixel[component] = sample);
        }
        let image = Image { width, height, rgba, channels: Channels::Rgba };
        let channels = channels.iter().map(|(channel, _)| (*channel).to_string()).collect();
        Aov { name: name.to_string(), channels, image }
    };
    Ok(layers.into_iter().map(of_layer).collect())
}

/// A hash of samples, whatever the order of their channels.
fn hash_of(channels: &[(String, Vec<f32>)]) -> String {
    let mut sorted: Vec<_> = channels.iter().collect();
    sorted.sort_by_key(|(name, _)| name);
    let hash = hashed(|h| {
        for (name, samples) in sorted {
            name.hash(h);
            bytemuck::cast_slice::<f32, u32>(samples).hash(h);
        }
    });
    format!("{hash:016x}")
}
