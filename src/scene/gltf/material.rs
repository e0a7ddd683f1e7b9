//! From a glTF material to an instance of the shader `gltf` (glTF 2.0, §3.9), or of a class with
//! its parameters where paths are traced or the material has extensions ([`super::layers`]).
//!
//! The shader's parameters are called as in glTF. It knows two sets of texture coordinates beside
//! `s` and `t`; a set here is an attribute with the transform that a texture asks for
//! (`KHR_texture_transform`), which meshes bring applied already.

use super::document::Document;
use super::layers::{self, Layers};
use super::{Making, texture};
use crate::{HitMode, ObjectAttributes, ParamValue, ShaderId, ShaderRole, Visibility};
use glam::{Affine2, Mat2, Vec2, Vec3};
use gltf::json::extensions::texture::TextureTransform;
use gltf::json::material::{AlphaMode, Material as Json};
use gltf::json::validation::Checked;
use gltf::json::{Index, Path as Place, texture::Texture};
use shadewright_image::Reading;
use std::sync::Arc;

/// The name of the shader.
const SHADER: &str = "gltf";
/// The class that takes its place where paths are traced.
const CLASS: &str = "pbr.rtsl:GltfScene";
/// The class of materials with layers, for all integrators.
const LAYERED: &str = "pbr.rtsl:GltfLayered";
/// The greatest roughness at which transmitted light is not scattered (`is_polished` of the class).
const POLISHED: f32 = 0.032;
/// Sets of texture coordinates that it distinguishes.
const MAX_COORDINATES: usize = 3;

/// A material as objects and meshes ask for it.
pub struct Material {
    /// The shader with its parameters.
    pub shader: ShaderId,
    /// How many sides of a surface are seen.
    pub sides: u8,
    /// How it lets light through.
    pub attributes: Arc<ObjectAttributes>,
    /// The sets of texture coordinates that its textures use, the first of which is `s` and `t`.
    pub coordinates: Vec<Coordinates>,
    /// True if its shader reads tangents.
    pub wants_tangents: bool,
    /// Which of the sets tangents follow.
    pub tangent_coordinates: usize,
}

/// A set of texture coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinates {
    /// The attribute's number.
    pub tex_coord: u32,
    /// The transform that a texture applies to the set.
    pub transform: Affine2,
}

/// Adds the material with a number, or that of primitives without one, to the scene's shaders. What
/// is wrong with it is a problem of the making, and the rest of it is shown.
pub fn add(document: &Document<'_>, index: Option<Index<Json>>, place: &Place, making: &mut Making) -> Material {
    let default = Json::default();
    let (json, own) = match index.map(|index| (document.get(index, place), index)) {
        Some((Ok(json), index)) => (json, Place::new().field("materials").index(index.value())),
        Some((Err(error), _)) => {
            making.problem(error.hint("the default material is shown"));
            (&default, place.clone())
        }
        None => (&default, place.clone()),
    };
    let mut maker = Maker {
        document,
        own,
        making,
        params: Vec::new(),
        base_reading: Reading::OpaqueColor,
        coordinates: Vec::new(),
    };
    let normal_coordinates = maker.fill(json);
    let extensions = json.extensions.as_ref();
    // What no light changes scatters none.
    let is_unlit = extensions.is_some_and(|e| e.unlit.is_some());
    let layers = match extensions {
        Some(extensions) if !is_unlit => layers::add(&mut maker, &extensions.others),
        _ => Layers::default(),
    };
    let Maker { params, coordinates, .. } = maker;
    let traces_paths = making.traces_paths;
    let shader = if layers.is_layered {
        making.scene.add_shader(ShaderRole::Surface, LAYERED, layered_params(params, traces_paths))
    } else if traces_paths && !is_unlit {
        making.scene.add_shader(ShaderRole::Surface, CLASS, class_params(params))
    } else {
        making.scene.add_shader(ShaderRole::Surface, SHADER, params)
    };
    let pbr = &json.pbr_metallic_roughness;
    let is_smooth = pbr.roughness_factor.0 < POLISHED || pbr.metallic_roughness_texture.is_some();
    let lets_light_through = matches!(json.alpha_mode, Checked::Valid(AlphaMode::Mask | AlphaMode::Blend));
    let lets_light_through = lets_light_through || layers.is_clear && is_smooth;
    let hit_mode = if lets_light_through { HitMode::Shader } else { HitMode::Opaque };
    let tangent_coordinates = normal_coordinates.or(layers.tangent_coordinates);
    let visibility = Visibility { hit_mode: Some(hit_mode), ..Visibility::default() };
    Material {
        shader,
        // Rays within a volume meet its back.
        sides: if json.double_sided || layers.is_volume { 2 } else { 1 },
        attributes: Arc::new(ObjectAttributes { visibility, ..ObjectAttributes::default() }),
        coordinates,
        wants_tangents: tangent_coordinates.is_some(),
        tangent_coordinates: tangent_coordinates.unwrap_or(0),
    }
}

/// The parameters of the class: images have other names there, and paths find how much of the
/// surroundings a place sees.
fn class_params(params: Vec<(String, ParamValue)>) -> Vec<(String, ParamValue)> {
    let own = params.into_iter().filter(|(name, _)| !name.starts_with("occlusion"));
    own.map(|(name, value)| (name.replace("Texture", "Image"), value)).collect()
}

/// The parameters of the class of layers. Without paths it stands among surfaces of the shader, and
/// takes lights in its units.
fn layered_params(params: Vec<(String, ParamValue)>, traces_paths: bool) -> Vec<(String, ParamValue)> {
    if traces_paths {
        return class_params(params);
    }
    let renamed = params.into_iter().map(|(name, value)| (name.replace("Texture", "Image"), value));
    renamed.chain([("irradiance".to_string(), ParamValue::Float(vec![1.0]))]).collect()
}

/// A texture as a material uses it.
pub struct Use<'a> {
    /// The property, which begins the names of the shader's parameters.
    pub name: &'static str,
    /// Where it is in the document.
    pub place: Place,
    /// The texture.
    pub index: Index<Texture>,
    /// The attribute's number.
    pub tex_coord: u32,
    /// The transform of the coordinates.
    pub transform: Option<&'a TextureTransform>,
    /// The encoding of the texture's samples.
    pub reading: Reading,
}

/// A material on its way to parameters.
pub struct Maker<'a, 'd> {
    /// Where it comes from.
    pub document: &'a Document<'d>,
    /// Where it is there.
    pub own: Place,
    /// The scene that is made of the document.
    pub making: &'a mut Making,
    /// The parameters so far.
    pub params: Vec<(String, ParamValue)>,
    /// How the texture of the base color is read.
    pub base_reading: Reading,
    coordinates: Vec<Coordinates>,
}

impl Maker<'_, '_> {
    /// Makes the parameters of a material; gives the number of the coordinates that its normal map
    /// uses.
    fn fill(&mut self, json: &Json) -> Option<usize> {
        let pbr = &json.pbr_metallic_roughness;
        let alpha_mode = match json.alpha_mode {
            Checked::Valid(mode) => mode,
            Checked::Invalid => {
                let error = self.document.error(&self.own.field("alphaMode"), "unknown value");
                self.making.problem(error.hint("the material is opaque"));
                AlphaMode::Opaque
            }
        };
        let [r, g, b, a] = pbr.base_color_factor.0;
        self.color("baseColorFactor", Vec3::new(r, g, b));
        self.float("baseColorAlpha", a);
        self.float("metallicFactor", pbr.metallic_factor.0);
        self.float("roughnessFactor", pbr.roughness_factor.0);
        self.color("emissiveFactor", json.emissive_factor.0.into());
        let extensions = json.extensions.as_ref();
        if let Some(strength) = extensions.and_then(|e| e.emissive_strength.as_ref()) {
            self.float("emissiveStrength", strength.emissive_strength.0);
        }
        if extensions.is_some_and(|e| e.unlit.is_some()) {
            self.float("unlit", 1.0);
        }
        // Materials without one are opaque.
        let mode = match alpha_mode {
            AlphaMode::Opaque => None,
            AlphaMode::Mask => Some("MASK"),
            AlphaMode::Blend => Some("BLEND"),
        };
        let mode = mode.map(|mode| ("alphaMode".to_string(), ParamValue::String(vec![mode.to_string()])));
        self.params.extend(mode);
        if let Some(cutoff) = &json.alpha_cutoff {
            self.float("alphaCutoff", cutoff.0);
        }
        // Where alpha counts, a texel's color does by its alpha; elsewhere all of it is seen.
        let base = if alpha_mode == AlphaMode::Opaque { Reading::OpaqueColor } else { Reading::ColorAlpha };
        self.base_reading = base;
        let named = |name, info: &gltf::json::texture::Info, reading| (name, info.index, info.tex_coord, reading);
        let plain = [
            pbr.base_color_texture.as_ref().map(|i| (named("baseColor", i, base), &i.extensions)),
            pbr.metallic_roughness_texture
                .as_ref()
                .map(|i| (named("metallicRoughness", i, Reading::Data), &i.extensions)),
            json.emissive_texture.as_ref().map(|i| (named("emissive", i, Reading::OpaqueColor), &i.extensions)),
        ];
        for ((name, index, tex_coord, reading), extensions) in plain.into_iter().flatten() {
            let transform = extensions.as_ref().and_then(|e| e.texture_transform.as_ref());
            let place = self.own.field(&format!("{name}Texture"));
            self.texture(Use { name, place, index, tex_coord, transform, reading });
        }
        if let Some(texture) = &json.occlusion_texture {
            self.float("occlusionStrength", texture.strength.0);
            let transform = self.transform_in(texture.extensions.as_ref().map(|e| &e.others), "occlusionTexture");
            let (index, tex_coord) = (texture.index, texture.tex_coord);
            let (place, transform) = (self.own.field("occlusionTexture"), transform.as_ref());
            self.texture(Use { name: "occlusion", place, index, tex_coord, transform, reading: Reading::Data });
        }
        let texture = json.normal_texture.as_ref()?;
        self.float("normalScale", texture.scale);
        let transform = self.transform_in(texture.extensions.as_ref().map(|e| &e.others), "normalTexture");
        let (index, tex_coord) = (texture.index, texture.tex_coord);
        let (place, transform) = (self.own.field("normalTexture"), transform.as_ref());
        self.texture(Use { name: "normal", place, index, tex_coord, transform, reading: Reading::Data })
    }

    /// The transform among the extensions of a texture of which the parser keeps them as they are.
    fn transform_in(
        &mut self,
        others: Option<&serde_json::Map<String, serde_json::Value>>,
        field: &str,
    ) -> Option<TextureTransform> {
        let value = others?.get("KHR_texture_transform")?;
        match serde_json::from_value(value.clone()) {
            Ok(transform) => Some(transform),
            Err(e) => {
                self.making.problem(self.document.error(&self.own.field(field).field("extensions"), e));
                None
            }
        }
    }

    /// Adds a texture's parameters; gives the number of its coordinates, if it has an image.
    pub fn texture(&mut self, usage: Use<'_>) -> Option<usize> {
        let place = &usage.place;
        let name = match texture::add(self.document, usage.index, place, usage.reading, self.making) {
            Ok(name) => name?,
            Err(error) => {
                self.making.problem(error.hint("the material is shown without this texture"));
                return None;
            }
        };
        let over = usage.transform.and_then(|t| t.tex_coord);
        let mut transform = usage.transform.map_or(Affine2::IDENTITY, matrix);
        if !transform.is_finite() {
            self.making.problem(self.document.error(&place.field("extensions"), "the transform is not finite"));
            transform = Affine2::IDENTITY;
        }
        let wanted = Coordinates { tex_coord: over.unwrap_or(usage.tex_coord), transform };
        let number = match self.coordinates.iter().position(|c| *c == wanted) {
            Some(number) => number,
            None if self.coordinates.len() == MAX_COORDINATES => {
                let what = format!(
                    "it is the fourth texture with coordinates of its own; {MAX_COORDINATES} are distinguished, and it uses the first"
                );
                self.making.warn(self.document.warning(place, what));
                0
            }
            None => {
                self.coordinates.push(wanted);
                self.coordinates.len() - 1
            }
        };
        self.params.push((format!("{}Texture", usage.name), ParamValue::String(vec![name])));
        self.params.push((format!("{}TexCoord", usage.name), ParamValue::Float(vec![number as f32])));
        Some(number)
    }

    /// Adds a number; one that is not finite is a problem, and the shader keeps its default.
    fn float(&mut self, name: &str, value: f32) {
        if self.check(name, value.is_finite()) {
            self.params.push((name.to_string(), ParamValue::Float(vec![value])));
        }
    }

    fn color(&mut self, name: &str, value: Vec3) {
        if self.check(name, value.is_finite()) {
            self.params.push((name.to_string(), ParamValue::Color(vec![value])));
        }
    }

    fn check(&mut self, name: &str, is_finite: bool) -> bool {
        if !is_finite {
            self.making.problem(self.document.error(&self.own.field(name), "it is not a finite number"));
        }
        is_finite
    }
}

/// Returns the matrix of a texture's transform: it scales, turns counter-clockwise as the image is
/// seen (its rows go down), and moves (`KHR_texture_transform`).
fn matrix(transform: &TextureTransform) -> Affine2 {
    let (sin, cos) = transform.rotation.0.sin_cos();
    let turn = Mat2::from_cols(Vec2::new(cos, -sin), Vec2::new(sin, cos));
    let scale = Mat2::from_diagonal(transform.scale.0.into());
    Affine2::from_mat2_translation(turn * scale, transform.offset.0.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texture_transform_scales_then_turns_counter_clockwise_then_moves() {
        let json = r#"{ "offset": [0.5, 0.25], "rotation": 1.5707964, "scale": [2, 3] }"#;
        let matrix = matrix(&serde_json::from_str(json).unwrap());
        // To the right becomes upwards, which is where the second coordinate falls.
        assert!(matrix.transform_point2(Vec2::X).distance(Vec2::new(0.5, 0.25 - 2.0)) < 1e-6);
        assert!(matrix.transform_point2(Vec2::Y).distance(Vec2::new(0.5 + 3.0, 0.25)) < 1e-6);
    }
}
