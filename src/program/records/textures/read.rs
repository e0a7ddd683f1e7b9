//! Reading the images that a scene's shaders name, and keeping them from one linking to the next.

use super::{MAX_TEXTURE_VECTORS, Names, Texture, Textures};
use glam::Mat4;
use rayon::prelude::*;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source::Span;
use shadewright_image::{DecodeError, MAX_TEXTURE_PIXELS, Reading, decode, image_size};
use shadewright_scene::{FileError, Scene, TextureSource};
use shadewright_texture::pointcloud::samples::{self, Samples};
use shadewright_texture::pointcloud::{PointCloud, PointCloudError};
use shadewright_texture::{DepthMap, Pyramid, layout};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest image file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// How many times the memory of all textures those may take that are read before they are made to
/// fit, so that those of a scene that is edited seldom lose levels which they would have.
const MAX_KEPT: u64 = 4;

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    Image(Reading),
    Depths,
}

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Location {
    Disk(PathBuf),
    /// Within the scene's own file, by its name there.
    Embedded(String),
}

/// A file and how it is read.
type Key = (Location, Form);

/// The images of the last linking: one is decoded again when its file has changed.
#[derive(Debug, Default)]
pub struct Images {
    kept: HashMap<Key, Kept>,
}

/// A file as it was read.
#[derive(Clone, Debug)]
struct Kept {
    content: Result<Content, String>,
    files: FileLog,
    /// The bytes of a file within the scene's own.
    embedded: Option<Arc<[u8]>>,
}

/// The content of a texture file.
#[derive(Clone, Debug)]
enum Content {
    Image(Arc<Pyramid>),
    Depths(Arc<DepthMap>),
    Points(Arc<PointCloud>),
}

/// The result of reading.
#[derive(Debug)]
pub struct Read {
    /// The textures.
    pub textures: Textures,
    /// A missing image is a warning, a damaged one an error.
    pub remarks: Diagnostics,
}

/// A texture whose files are found, as far as they are there.
struct LocatedTexture {
    name: Arc<str>,
    span: Option<Span>,
    source: TextureSource,
    files: Vec<Key>,
}

impl LocatedTexture {
    fn located(&self, d: Diagnostic) -> Diagnostic {
        self.span.into_iter().fold(d, |d, s| d.at(s, "named here"))
    }
}

impl Images {
    /// Reads the images of these names. Files are noted in `log`.
    pub fn read(&mut self, scene: &Scene, names: Names, log: &mut FileLog) -> Read {
        let mut remarks = Diagnostics::new();
        let found: Vec<LocatedTexture> =
            names.into_iter().map(|(name, span)| find(scene, name, span, log, &mut remarks)).collect();
        self.refresh(scene, found.iter().flat_map(|f| &f.files));
        // The matrices of depth maps begin at world space.
        let to_world = scene.world_to_current().inverse();
        let list = found.iter().map(|f| (f.name.clone(), self.texture(f, to_world, log, &mut remarks)));
        let mut list: Vec<(Arc<str>, Option<Texture>)> = list.collect();
        thin_out(&mut list, MAX_TEXTURE_VECTORS, &mut remarks);
        fit(&mut list, MAX_TEXTURE_VECTORS, &mut remarks);
        Read { textures: Textures::new(list), remarks }
    }

    /// The texture made of the files that were found; `None` where one is missing or damaged, which
    /// is reported unless it was before.
    fn texture(
        &self,
        found: &LocatedTexture,
        to_world: Mat4,
        log: &mut FileLog,
        remarks: &mut Diagnostics,
    ) -> Option<Texture> {
        let (mut pyramids, mut depths, mut points) = (Vec::new(), None, None);
        for key in &found.files {
            let kept = &self.kept[key];
            log.extend(&kept.files);
            match &kept.content {
                Ok(Content::Image(pyramid)) => pyramids.push(pyramid.clone()),
                Ok(Content::Depths(map)) => depths = Some(map.clone()),
                Ok(Content::Points(cloud)) => points = Some(cloud.clone()),
                Err(reason) => {
                    let message = format!("the texture `{}` cannot be read: {reason}", found.name);
                    remarks.push(found.located(Diagnostic::error(message)));
                    return None;
                }
            }
        }
        if let Some(cloud) = points {
            return Some(Texture::Points(cloud));
        }
        match found.source {
            TextureSource::Image { wraps, .. } => pyramids.pop().map(|pyramid| Texture::Image { pyramid, wraps }),
            TextureSource::Cube { fov, .. } => {
                let zoom = 1.0 / (0.5 * fov).to_radians().tan();
                pyramids.try_into().ok().map(|faces| Texture::Cube { faces, zoom })
            }
            TextureSource::Depth { .. } if to_world != Mat4::IDENTITY => {
                depths.map(|map| Texture::Depths(Arc::new(map.placed(to_world))))
            }
            TextureSource::Depth { .. } => depths.map(Texture::Depths),
        }
    }

    /// Decodes the files that are new or have changed, and drops those that are not used.
    fn refresh<'a>(&mut self, scene: &Scene, keys: impl Iterator<Item = &'a Key>) {
        let mut kept = HashMap::new();
        let mut new: Vec<&Key> = Vec::new();
        for key in keys {
            let known = self.kept.remove_entry(key);
            let is_same = |kept: &Kept| kept.embedded.as_ref() == embedded(scene, &key.0);
            let unchanged = known.filter(|(_, kept)| kept.files.clone().changed().is_empty() && is_same(kept));
            if let Some((key, image)) = unchanged {
                kept.insert(key, image);
            } else if !kept.contains_key(key) && !new.contains(&key) {
                new.push(key);
            }
        }
        let mut read: Vec<(&Key, Kept)> = Vec::new();
        let mut rest = &new[..];
        while !rest.is_empty() {
            // Images that are decoded at the same time.
            let (mut count, mut pixels) = (0, 0);
            while count < rest.len() && pixels < MAX_TEXTURE_PIXELS {
                pixels += pixels_of(scene, rest[count]);
                count += 1;
            }
            let (batch, others) = rest.split_at(count);
            read.par_extend(batch.par_iter().map(|key| (*key, Kept::read(scene, key))));
            shrink(&mut read);
            rest = others;
        }
        kept.extend(read.into_iter().map(|(key, image)| (key.clone(), image)));
        self.kept = kept;
    }
}

/// The number of pixels of an image, as far as its header tells.
fn pixels_of(scene: &Scene, (location, _): &Key) -> u64 {
    let size = match location {
        Location::Embedded(_) => embedded(scene, location).and_then(|bytes| image_size(&mut Cursor::new(&bytes[..]))),
        Location::Disk(path) => scene.access.open(path).ok().and_then(|file| image_size(&mut BufReader::new(file))),
    };
    size.map_or(0, |[width, height]| u64::from(width) * u64::from(height))
}

/// Drops the finest mip level of the largest image until all take no more than [`MAX_KEPT`] times
/// what they may take in the end. They lose these levels then, too.
fn shrink(read: &mut [(&Key, Kept)]) {
    let size = |kept: &Kept| match &kept.content {
        Ok(Content::Image(pyramid)) => layout::vectors(pyramid),
        _ => 0,
    };
    let mut total: u64 = read.iter().map(|(_, kept)| size(kept)).sum();
    while total > MAX_KEPT * MAX_TEXTURE_VECTORS {
        let Some((_, kept)) = read.iter_mut().rev().max_by_key(|(_, kept)| size(kept)) else { return };
        let before = size(kept);
        let Ok(Content::Image(pyramid)) = &mut kept.content else { return };
        let Some(coarser) = pyramid.without_finest() else { return };
        *pyramid = Arc::new(coarser);
        total -= before - size(kept);
    }
}

/// The bytes of a file within the scene's own.
fn embedded<'a>(scene: &'a Scene, location: &Location) -> Option<&'a Arc<[u8]>> {
    match location {
        Location::Embedded(name) => scene.embedded.get(name),
        Location::Disk(_) => None,
    }
}

/// Finds the files of a texture, and reports those that are not there.
fn find(
    scene: &Scene,
    name: Arc<str>,
    span: Option<Span>,
    log: &mut FileLog,
    remarks: &mut Diagnostics,
) -> LocatedTexture {
    let mut source = scene.texture(&name);
    // A shadow map is recognized by its matrices when it is read.
    let mut found = LocatedTexture { name, span, source: source.clone(), files: Vec::new() };
    let (files, form): (&[String], Form) = match &mut source {
        TextureSource::Image { file, reading, .. } => (std::slice::from_ref(file), Form::Image(*reading)),
        TextureSource::Cube { faces, .. } => (faces, Form::Image(Reading::Color)),
        TextureSource::Depth { file } => (std::slice::from_ref(file), Form::Depths),
    };
    for file in files {
        if scene.embedded.contains_key(file) {
            found.files.push((Location::Embedded(file.clone()), form));
            continue;
        }
        match scene.find_image(file, log) {
            Ok(path) => found.files.push((Location::Disk(path), form)),
            Err(error) => {
                let d = match error {
                    FileError::Missing { .. } => Diagnostic::warning(match is_point_cloud(file) {
                        true => format!("there is no point cloud `{file}`: no point is found"),
                        false => format!("there is no texture `{file}`: it is black"),
                    }),
                    _ => Diagnostic::error(format!("the texture `{file}`: {error}")),
                };
                remarks.push(error.hints().into_iter().fold(found.located(d), Diagnostic::hint));
            }
        }
    }
    found
}

impl Kept {
    fn read(scene: &Scene, (location, form): &Key) -> Self {
        let mut files = FileLog::default();
        let embedded = embedded(scene, location).cloned();
        let content = match (location, &embedded) {
            (Location::Embedded(name), bytes) => {
                let bytes = bytes.as_deref().unwrap_or_default();
                Content::decode(bytes, name, *form).map_err(|e| format!("{name}: {e}"))
            }
            (Location::Disk(path), _) => {
                scene.access.read(path, MAX_FILE_BYTES, &mut files).map_err(|e| e.to_string()).and_then(|bytes| {
                    let name = path.to_string_lossy();
                    Content::decode(&bytes, &name, *form).map_err(|e| format!("`{name}`: {e}"))
                })
            }
        };
        Self { content, files, embedded }
    }
}

impl Content {
    /// The content of a file. Point clouds and the samples of `bake` are distinguished from images by the
    /// file's name.
    fn decode(bytes: &[u8], name: &str, form: Form) -> Result<Self, DecodeError> {
        let image = |image| Ok(Content::Image(Arc::new(Pyramid::new(image))));
        let corrupt = |error: PointCloudError| DecodeError::Corrupt(error.to_string());
        match form {
            Form::Image(_) if is_point_cloud(name) || bytes.starts_with(b"ply") => {
                let cloud = PointCloud::decode(bytes).map_err(corrupt)?;
                Ok(Content::Points(Arc::new(cloud)))
            }
            Form::Image(_) if is_samples(name, bytes) => {
                let samples = Samples::decode(bytes).map_err(corrupt)?;
                image(samples.image(samples.side()))
            }
            Form::Image(reading) => image(decode(bytes, reading)?),
            Form::Depths => DepthMap::decode(bytes).map(|map| Content::Depths(Arc::new(map))),
        }
    }
}

/// True if a file is a point cloud, as far as its name tells.
fn is_point_cloud(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| ["ptc", "pda", "ply"].iter().any(|known| e.eq_ignore_ascii_case(known)))
}

/// True if a file has samples of `bake`, whatever its name: Aqsis bakes into files of any name.
fn is_samples(name: &str, bytes: &[u8]) -> bool {
    Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("bake"))
        || bytes.starts_with(samples::FIRST_LINE)
}

/// Thins out point clouds until they take at most half of `limit` vectors, with a warning for each.
fn thin_out(list: &mut [(Arc<str>, Option<Texture>)], limit: u64, remarks: &mut Diagnostics) {
    let size = |texture: &Texture| match texture {
        Texture::Points(cloud) => layout::points_vectors(cloud),
        _ => 0,
    };
    let total: u64 = list.iter().filter_map(|(_, t)| t.as_ref()).map(size).sum();
    let step = total.div_ceil((limit / 2).max(1));
    if step <= 1 {
        return;
    }
    for (name, texture) in list {
        let Some(Texture::Points(cloud)) = texture else { continue };
        let d = Diagnostic::warning(format!(
            "of the {} points of `{name}` one in {step} is read: all point clouds together are too large",
            cloud.points.len()
        ));
        remarks.push(d.hint(format!("point clouds may take {} MiB", (limit * 8) >> 20)));
        *cloud = Arc::new(cloud.thinned(step as usize));
    }
}

/// Drops the finest mip level of the largest image until all fit into `limit` vectors, with a
/// warning.
fn fit(list: &mut [(Arc<str>, Option<Texture>)], limit: u64, remarks: &mut Diagnostics) {
    let depths = list.iter().filter_map(|(_, t)| match t {
        Some(Texture::Depths(map)) => Some(layout::depth_vectors(map)),
        Some(Texture::Points(cloud)) => Some(layout::points_vectors(cloud)),
        _ => None,
    });
    let limit_of_images = limit.saturating_sub(depths.sum());
    let mut coarser: BTreeMap<Arc<str>, Arc<Pyramid>> = BTreeMap::new();
    loop {
        // Textures that share an image are laid out once.
        let mut sizes: Vec<(*const Pyramid, u64)> = Vec::new();
        for pyramid in list.iter().filter_map(|(_, t)| t.as_ref()).flat_map(Texture::pyramids) {
            let pointer = Arc::as_ptr(pyramid);
            if !sizes.iter().any(|s| s.0 == pointer) {
                sizes.push((pointer, layout::vectors(pyramid)));
            }
        }
        if sizes.iter().map(|s| s.1).sum::<u64>() <= limit_of_images {
            break;
        }
        let Some(&(largest, _)) = sizes.iter().rev().max_by_key(|s| s.1) else { break };
        let mut smaller = None;
        for (name, texture) in list.iter_mut().filter_map(|(n, t)| t.as_mut().map(|t| (n, t))) {
            for pyramid in texture.pyramids_mut().iter_mut().filter(|p| Arc::as_ptr(p) == largest) {
                let next = smaller.get_or_insert_with(|| pyramid.without_finest().map(Arc::new)).clone();
                let Some(next) = next else { return };
                *pyramid = next.clone();
                coarser.insert(name.clone(), next);
            }
        }
    }
    for (name, pyramid) in coarser {
        let level = &pyramid.levels[0];
        let d = Diagnostic::warning(format!(
            "the texture `{name}` is used at {} x {}: all textures together are too large",
            level.width, level.height
        ));
        remarks.push(d.hint(format!("textures may take {} MiB, at 16 bytes a texel", (limit * 16) >> 20)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_image::{Channels, Image};
    use shadewright_texture::DEFAULT_WRAPS;

    fn flat(side: u32) -> Option<Texture> {
        let rgba = vec![[1.0; 4]; (side * side) as usize];
        let pyramid = Pyramid::new(Image { width: side, height: side, rgba, channels: Channels::Rgb });
        Some(Texture::Image { pyramid: Arc::new(pyramid), wraps: DEFAULT_WRAPS })
    }

    fn vectors(texture: &Option<Texture>) -> u64 {
        texture.iter().flat_map(|t| t.pyramids()).map(|p| layout::vectors(p)).sum()
    }

    #[test]
    fn the_largest_textures_lose_levels_until_all_fit_with_a_warning() {
        let mut list: Vec<(Arc<str>, _)> = vec![("a".into(), flat(64)), ("b".into(), flat(8)), ("c".into(), None)];
        let limit = vectors(&flat(32)) + vectors(&flat(8));
        let mut remarks = Diagnostics::new();
        fit(&mut list, limit, &mut remarks);
        let side = |i: usize| list[i].1.as_ref().map(|t| t.pyramids()[0].levels[0].width);
        assert_eq!([side(0), side(1), side(2)], [Some(32), Some(8), None]);
        let messages: Vec<_> = remarks.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["the texture `a` is used at 32 x 32: all textures together are too large"]);
    }

    #[test]
    fn an_image_within_the_scenes_file_is_decoded_again_when_its_bytes_change() {
        let png = |value: u8| {
            let mut bytes = std::io::Cursor::new(Vec::new());
            let pixel = image::GrayImage::from_pixel(1, 1, image::Luma([value]));
            pixel.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
            Arc::<[u8]>::from(bytes.into_inner())
        };
        let mut scene = Scene::empty("s");
        let file = "images[0]".to_string();
        let source = TextureSource::Image { file: file.clone(), wraps: DEFAULT_WRAPS, reading: Reading::Data };
        scene.textures.insert("t".to_string(), source);
        let mut images = Images::default();
        let mut read = |bytes: Arc<[u8]>| {
            scene.embedded.insert(file.clone(), bytes);
            let read = images.read(&scene, Names::from([("t".into(), None)]), &mut FileLog::default());
            assert!(read.remarks.is_empty());
            read.textures.entries[0].1.as_ref().map(|t| t.pyramids()[0].clone()).expect("an image")
        };
        let first = read(png(255));
        assert!(Arc::ptr_eq(&first, &read(png(255))));
        assert_eq!([first, read(png(0))].map(|p| p.levels[0].texels[0][0]), [1.0, 0.0]);
    }
}
