//! Textures: an image of the document, with how it repeats and what its numbers are, under a name
//! that shaders ask for (glTF 2.0, §3.8).
//!
//! Images that lie in buffers or URIs become files of the scene
//! ([`crate::Scene::embedded`]); others are files beside the document. Nothing is decoded
//! here.

use super::Making;
use super::container::{self, Uri};
use super::document::Document;
use crate::TextureSource;
use crate::files::{FileError, MAX_FILE_BYTES};
use gltf::json::image::Image;
use gltf::json::texture::{Sampler, Texture, WrappingMode};
use gltf::json::validation::Checked;
use gltf::json::{Index, Path as Place};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_image::{FORMATS, Reading};
use shadewright_texture::Wrap;
use std::io::Read;
use std::sync::Arc;

/// Adds the texture with a number, for a use that reads it in some way, to the scene; gives its
/// name. `None` where it has no image of a kind that is read.
///
/// # Errors
/// When it or what it refers to does not exist.
pub fn add(
    document: &Document<'_>,
    index: Index<Texture>,
    place: &Place,
    reading: Reading,
    making: &mut Making,
) -> Result<Option<String>, Diagnostic> {
    let texture = document.get(index, &place.field("index"))?;
    let own = Place::new().field("textures").index(index.value());
    // The parser's number for "none": the image is of a kind that an extension brings.
    if texture.source.value() == u32::MAX as usize {
        making.warn(document.warning(&own, "it has no image that can be read, and is passed over"));
        return Ok(None);
    }
    let (file, label) = add_image(document, texture.source, &own.field("source"), making)?;
    let sampler = match texture.sampler {
        Some(sampler) => document.get(sampler, &own.field("sampler"))?,
        None => &Sampler::default(),
    };
    let mut wrap = |mode: Checked<WrappingMode>| match mode {
        Checked::Valid(WrappingMode::Repeat) => Ok(Wrap::Periodic),
        Checked::Valid(WrappingMode::ClampToEdge) => Ok(Wrap::Clamp),
        Checked::Valid(WrappingMode::MirroredRepeat) => {
            making.warn(document.warning(&own, "it repeats without being mirrored: MIRRORED_REPEAT is not read"));
            Ok(Wrap::Periodic)
        }
        Checked::Invalid => Err(document.error(&own.field("sampler"), "it repeats in a way that glTF does not know")),
    };
    let wraps = [wrap(sampler.wrap_s)?, wrap(sampler.wrap_t)?];
    let used_as = match reading {
        Reading::Color | Reading::ColorAlpha => "color and alpha",
        Reading::DataAlpha => "data and alpha",
        Reading::OpaqueColor => "color",
        Reading::Data => "data",
    };
    let name = format!("{label}, textures[{}] as {used_as}", index.value());
    making.scene.textures.insert(name.clone(), TextureSource::Image { file, wraps, reading });
    Ok(Some(name))
}

/// Bytes of a file that tell its format.
const FIRST: u64 = 64;

/// Refuses an image whose first bytes are of no format that is read.
fn check_format(document: &Document<'_>, place: &Place, bytes: &[u8]) -> Result<(), Diagnostic> {
    // A file that is compressed is recognized when it is read.
    if bytes.starts_with(&[0x1f, 0x8b]) || image::guess_format(bytes).is_ok() {
        return Ok(());
    }
    Err(document.error(place, format_args!("unknown image format; supported formats: {FORMATS}")))
}

/// Adds an image to the scene; gives the name of its file there, and what to call it.
fn add_image(
    document: &Document<'_>,
    index: Index<Image>,
    place: &Place,
    making: &mut Making,
) -> Result<(String, String), Diagnostic> {
    let image = document.get(index, place)?;
    let own = Place::new().field("images").index(index.value());
    let named = image.name.clone().filter(|n| !n.is_empty());
    let inside = format!("{own} in {}", document.name);
    let label = named.clone().unwrap_or_else(|| own.to_string());
    if making.scene.embedded.contains_key(&inside) {
        return Ok((inside, label));
    }
    let bytes: Arc<[u8]> = match (image.buffer_view, image.uri.as_deref()) {
        (Some(view), _) => document.view(view, &own.field("bufferView"))?.into(),
        (None, Some(uri)) => match container::resolve(uri).map_err(|e| document.error(&own.field("uri"), e))? {
            Uri::Data(bytes) => bytes.into(),
            Uri::File(file) => {
                let path = making.scene.find_image(&file, &mut making.log).map_err(|e| {
                    let error = document.error(&own.field("uri"), &e);
                    e.hints().into_iter().fold(error, Diagnostic::hint)
                })?;
                let mut first = Vec::new();
                // Who decodes the file reports what else is wrong with it.
                let read = making.scene.access.open(&path).map(|file| file.take(FIRST).read_to_end(&mut first));
                if let Err(error @ FileError::NotRegular { .. }) = read {
                    return Err(document.error(&own.field("uri"), &error));
                }
                check_format(document, &own, &first)?;
                return Ok((file.to_string(), named.unwrap_or_else(|| file.to_string())));
            }
        },
        (None, None) => return Err(document.error(&own, "it has neither a `uri` nor a `bufferView`")),
    };
    check_format(document, &own, &bytes)?;
    // Several images may lie at one place of a buffer, and each is a copy.
    making.embedded += bytes.len() as u64;
    if making.embedded > MAX_FILE_BYTES {
        return Err(document.error(&own, format_args!("with it the images hold more than {MAX_FILE_BYTES} bytes")));
    }
    making.scene.embedded.insert(inside.clone(), bytes);
    Ok((inside, label))
}
