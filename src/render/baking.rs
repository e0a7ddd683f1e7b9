//! The points and samples that shaders bake (`bake3d`, `bake`), read back from the back end.
//!
//! A program linked for [`shadewright_program::Output::Baked`] returns one part of a point to each pixel
//! a pass ([`shadewright_program::Baking`]). The parts are put together here, in the order of pixels, so
//! that neither the back end nor the number of threads decides on the order.

use super::progressive::Progressive;
use super::{Job, Progress, RenderError, motion};
use shadewright_image::Image;
use shadewright_ir::abi::{BakeCall, BakeKind, DataType};
use shadewright_program::file_of;
use shadewright_texture::pointcloud::samples::Samples;
use shadewright_texture::pointcloud::{Channel, ChannelType, MAX_POINTS, Point, PointCloud, ply};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A file that shaders bake.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedFile {
    /// The name that the shader gives.
    pub name: Arc<str>,
    /// The points or samples in the file.
    pub content: Baked,
    /// The number of those that do not fit: points beyond the limit, and samples of another type
    /// than the first.
    pub dropped: usize,
}

/// The content of a baked file.
#[derive(Clone, Debug, PartialEq)]
pub enum Baked {
    /// Points of `bake3d`.
    Points(PointCloud),
    /// Samples of `bake`.
    Samples(Samples),
}

impl BakedFile {
    /// The file's bytes.
    pub fn encode(&self) -> Vec<u8> {
        match &self.content {
            Baked::Points(cloud) => ply::encode(cloud),
            Baked::Samples(samples) => samples.encode().into_bytes(),
        }
    }

    /// The number of points or samples.
    pub fn count(&self) -> usize {
        match &self.content {
            Baked::Points(cloud) => cloud.points.len(),
            Baked::Samples(samples) => samples.places.len(),
        }
    }

    /// The usual extension of such a file.
    pub fn extension(&self) -> &'static str {
        match self.content {
            Baked::Points(_) => "ptc",
            Baked::Samples(_) => "bake",
        }
    }
}

/// Runs a job whose program is linked for [`shadewright_program::Output::Baked`], and gives the files in
/// the order of their names. Points that are not finite are left out.
///
/// # Errors
/// The errors of the back end.
pub fn draw(renderer: &mut dyn Progressive, job: &Job, progress: Progress<'_>) -> Result<Vec<BakedFile>, RenderError> {
    let baking = job.program.baking.clone();
    let all: u32 = baking.calls.iter().map(|(call, _)| call.parts() as u32).sum();
    let mut done = 0;
    let mut part = |number: u32| -> Result<Image, RenderError> {
        let mut job = job.clone();
        job.program.constants.baked_part = number as f32;
        let image = motion::draw(renderer, 1, |_| Ok::<_, RenderError>(job.clone()), &|_| ())?;
        done += 1;
        progress(done as f32 / all.max(1) as f32);
        Ok(image)
    };
    let mut files: BTreeMap<(Arc<str>, bool), BakedFile> = BTreeMap::new();
    for (call, first) in &baking.calls {
        let image = part(*first)?;
        let baked = image.rgba.iter().enumerate();
        // Each pixel with a point: its number, and the file's identifier.
        let pixels: Vec<(usize, u32)> =
            baked.filter_map(|(pixel, &[x, y, z, _])| Some((pixel, file_of([x, y, z])?))).take(MAX_POINTS).collect();
        drop(image);
        let parts = call.parts() as u32 - 1;
        let mut numbers = vec![[0.0f32; 3]; if pixels.is_empty() { 0 } else { pixels.len() * parts as usize }];
        for k in (0..parts).filter(|_| !pixels.is_empty()) {
            let image = part(first + 1 + k)?;
            for (&(pixel, _), own) in pixels.iter().zip(numbers.chunks_mut(parts as usize)) {
                let [x, y, z, _] = image.rgba[pixel];
                own[k as usize] = [x, y, z];
            }
        }
        for (&(_, file), own) in pixels.iter().zip(numbers.chunks(parts as usize)) {
            let Some(name) = baking.files.get(&file) else { continue };
            let key = (name.clone(), call.kind == BakeKind::Points);
            let file = files.entry(key).or_insert_with(|| BakedFile::new(name, call));
            file.add(call, own.as_flattened());
        }
    }
    Ok(files.into_values().collect())
}

/// The channels of a call.
fn channels(call: &BakeCall) -> Vec<Channel> {
    let ty = |ty: DataType| match ty {
        DataType::Color => ChannelType::Color,
        DataType::Point => ChannelType::Point,
        DataType::Vector => ChannelType::Vector,
        DataType::Normal => ChannelType::Normal,
        DataType::Float | DataType::String | DataType::Matrix => ChannelType::Float,
    };
    call.channels.iter().map(|(t, name)| Channel { name: name.clone(), ty: ty(*t) }).collect()
}

impl BakedFile {
    fn new(name: &Arc<str>, call: &BakeCall) -> Self {
        let numbers = call.numbers() - call.kind.numbers();
        let content = match call.kind {
            BakeKind::Points => Baked::Points(PointCloud { channels: channels(call), ..PointCloud::default() }),
            BakeKind::Samples => Baked::Samples(Samples { channels: numbers, ..Samples::default() }),
        };
        Self { name: name.clone(), content, dropped: 0 }
    }

    /// Adds a point or a sample, the numbers of which end with zeros that fill the last part.
    fn add(&mut self, call: &BakeCall, numbers: &[f32]) {
        let numbers = &numbers[..call.numbers()];
        if self.count() >= MAX_POINTS {
            self.dropped += 1;
            return;
        }
        match &mut self.content {
            Baked::Points(cloud) => {
                let &[x, y, z, a, b, c, radius, ref values @ ..] = numbers else { return };
                let point = Point { position: [x, y, z], normal: [a, b, c], radius };
                let channels = channels(call);
                if cloud.channels == channels {
                    return cloud.push(point, values);
                }
                // Another call with other channels.
                let mut one = PointCloud { channels, ..PointCloud::default() };
                one.push(point, values);
                cloud.append(&one);
            }
            Baked::Samples(samples) => {
                let &[s, t, ref values @ ..] = numbers else { return };
                self.dropped += usize::from(values.len() != samples.channels);
                samples.push([s, t], values);
            }
        }
    }
}
