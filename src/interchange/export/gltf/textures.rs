//! Textures, samplers and images of materials (glTF 2.0, §3.8).

use super::{Writer, uri};
use image::ImageFormat;
use serde_json::{Value, json};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_scene::TextureSource;
use shadewright_texture::Wrap;

/// A sampler's modes.
const CLAMP_TO_EDGE: u32 = 33071;
const REPEAT: u32 = 10497;

impl Writer<'_> {
    /// A reference to the texture of a name, looked up at a set of coordinates; `None` where there is
    /// no such image, which is reported.
    pub(super) fn texture(&mut self, name: &str, coordinates: u32) -> Option<Value> {
        let assets = self.assets;
        let Some(TextureSource::Image { file, wraps, .. }) = assets.textures.get(name) else {
            let warning = Diagnostic::warning(format!("the texture `{name}` is not kept"));
            self.losses.lose(warning.hint("the material is written without it"));
            return None;
        };
        if wraps.contains(&Wrap::Black) {
            let warning = Diagnostic::warning(format!("the texture `{name}` is black outside of its image"));
            self.losses.lose(warning.hint("in glTF the image's border goes on there"));
        }
        let mode = |wrap: &Wrap| if *wrap == Wrap::Periodic { REPEAT } else { CLAMP_TO_EDGE };
        let sampler = self.add("samplers", json!({ "wrapS": mode(&wraps[0]), "wrapT": mode(&wraps[1]) }));
        let source = self.image(file)?;
        let index = self.add("textures", json!({ "sampler": sampler, "source": source }));
        let mut reference = json!({ "index": index });
        if coordinates != 0 {
            reference["texCoord"] = coordinates.into();
        }
        Some(reference)
    }

    /// An image, by the name of its copy.
    fn image(&mut self, file: &str) -> Option<usize> {
        let assets = self.assets;
        let copy = assets.images.get(file)?;
        let name = file.rsplit('/').next().unwrap_or(file);
        let known = |image: &Value| image["name"] == *name;
        if let Some(number) = self.lists.get("images").and_then(|images| images.iter().position(known)) {
            return Some(number);
        }
        let mime = match image::guess_format(&copy.bytes) {
            Ok(ImageFormat::Png) => Some("image/png"),
            Ok(ImageFormat::Jpeg) => Some("image/jpeg"),
            _ => None,
        };
        if mime.is_none() {
            let warning = Diagnostic::warning(format!("`{name}` is neither PNG nor JPEG, the image formats of glTF"));
            self.losses.diagnostics.push(warning.hint("it is kept as it is; other programs may not show it"));
        }
        let image = match self.embeds {
            true => {
                let view = self.buffer.view(&copy.bytes, None);
                json!({ "name": name, "bufferView": view, "mimeType": mime.unwrap_or("image/png") })
            }
            false => json!({ "name": name, "uri": uri(file) }),
        };
        Some(self.add("images", image))
    }
}
