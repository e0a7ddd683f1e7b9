//! The extensions of a material that change how it scatters light, to parameters of the class
//! `GltfLayered` (Khronos, `KHR_materials_anisotropy`, `_clearcoat`, `_ior`, `_iridescence`,
//! `_pbrSpecularGlossiness`, `_sheen`, `_specular`, `_transmission` and `_volume`).
//!
//! An extension whose factor leaves the material as it is makes no parameters: a material all whose
//! extensions do so keeps the shader of materials without any.

use super::material::{Maker, Use};
use crate::ParamValue;
use glam::Vec3;
use gltf::json::extensions::texture::TextureTransform;
use gltf::json::texture::Texture;
use gltf::json::{Index, Path as Place};
use serde::Deserialize;
use serde_json::{Map, Value};
use shadewright_image::Reading;

/// The demands that a material's extensions make on objects and meshes, beside the shader's
/// parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layers {
    /// True if there are any that change the material.
    pub is_layered: bool,
    /// True if light passes straight through it where it is smooth, as through a thin wall.
    pub is_clear: bool,
    /// True if it bounds a volume.
    pub is_volume: bool,
    /// The set of texture coordinates that tangents follow, where a layer reads tangents.
    pub tangent_coordinates: Option<usize>,
}

/// A reference to a texture; `scale` is that of normal maps.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextureInfo {
    index: Index<Texture>,
    #[serde(default)]
    tex_coord: u32,
    scale: Option<f32>,
    #[serde(default)]
    extensions: TextureExtensions,
}

#[derive(Default, Deserialize)]
struct TextureExtensions {
    #[serde(rename = "KHR_texture_transform")]
    transform: Option<TextureTransform>,
}

/// An extension of a material.
struct Extension<'m, 'a, 'd> {
    maker: &'m mut Maker<'a, 'd>,
    json: &'m Map<String, Value>,
    place: Place,
}

/// The extension that replaces the base of a material.
const SPECULAR_GLOSSINESS: &str = "KHR_materials_pbrSpecularGlossiness";

/// A function that reads an extension.
type Read = fn(&mut Extension<'_, '_, '_>, &mut Layers);

/// Adds the parameters of a material's extensions. What is wrong with a property is a problem of
/// the making, and the property keeps its default.
pub fn add(maker: &mut Maker<'_, '_>, extensions: &Map<String, Value>) -> Layers {
    let mut layers = Layers::default();
    // Its reflectance takes the place of that of an index of refraction.
    let is_replaced = |name: &str| {
        extensions.contains_key(SPECULAR_GLOSSINESS) && ["KHR_materials_ior", "KHR_materials_specular"].contains(&name)
    };
    // A volume that light cannot enter is not seen: it comes after transmission.
    let all: [(&str, Read); 9] = [
        (SPECULAR_GLOSSINESS, specular_glossiness),
        ("KHR_materials_ior", ior),
        ("KHR_materials_specular", specular),
        ("KHR_materials_clearcoat", clearcoat),
        ("KHR_materials_sheen", sheen),
        ("KHR_materials_anisotropy", anisotropy),
        ("KHR_materials_iridescence", iridescence),
        ("KHR_materials_transmission", transmission),
        ("KHR_materials_volume", volume),
    ];
    for (name, read) in all {
        let Some(json) = extensions.get(name).filter(|_| !is_replaced(name)) else { continue };
        let place = maker.own.field("extensions").field(name);
        match json.as_object() {
            Some(json) => read(&mut Extension { maker, json, place }, &mut layers),
            None => {
                let error = maker.document.error(&place, "it is no object");
                maker.making.problem(error.hint("the material is shown without the extension"));
            }
        }
    }
    layers
}

/// A base of diffuse reflectance, reflectance at normal incidence, and glossiness in the place of the
/// metallic-roughness one. The class finds the same formulas with an index of refraction of 0, which
/// leaves the specular color as it is, and without metal.
fn specular_glossiness(extension: &mut Extension<'_, '_, '_>, layers: &mut Layers) {
    let is_of_base = |name: &str| ["baseColor", "metallic", "roughness"].iter().any(|own| name.starts_with(own));
    extension.maker.params.retain(|(name, _)| !is_of_base(name));
    extension.switch_on("specularGlossiness", layers);
    let [r, g, b, alpha] = extension.numbers("diffuseFactor", [1.0; 4], "four");
    extension.vector("baseColorFactor", Vec3::new(r, g, b));
    extension.float("baseColorAlpha", alpha);
    extension.float("metallicFactor", 0.0);
    extension.float("ior", 0.0);
    let specular = extension.color("specularFactor", Vec3::ONE);
    extension.vector("specularColorFactor", specular);
    extension.pass_on("glossinessFactor", 1.0);
    let base = extension.maker.base_reading;
    extension.texture_for("diffuseTexture", "baseColor", base);
    // Color and glossiness lie in one texture.
    extension.texture_for("specularGlossinessTexture", "specularColor", Reading::OpaqueColor);
    extension.texture_for("specularGlossinessTexture", "glossiness", Reading::DataAlpha);
}

fn ior(extension: &mut Extension<'_, '_, '_>, layers: &mut Layers) {
    let ior = extension.number("ior", 1.5);
    if ior != 0.0 && ior < 1.0 {
        extension.problem("ior", "the index of refraction is 0, or at least 1");
    } else if ior != 1.5 {
        extension.float("ior", ior);
        layers.is_layered = true;
    }
}

fn specular(extension: &mut Extension<'_, '_, '_>, layers: &mut Layers) {
    let factor = extension.number("specularFactor", 1.0);
    let color = extension.color("specularColorFactor", Vec3::ONE);
    let mut has_texture = extension.texture("specular", Reading::DataAlpha).is_some();
    has_texture |= extension.texture("specularColor", Reading::OpaqueColor).is_some();
    if factor != 1.0 || color != Vec3::ONE || has_texture {
        extension.float("specularFactor", factor);
        extension.vector("specularColorFactor", color);
        layers.is_layered = true;
    }
}

fn clearcoat(extension: &mut Extension<'_, '_, '_>, layers: &mut Layers) {
    if !extension.begin("clearcoat", "clearcoatFactor", layers) {
        return;
    }
    extension.texture("clearcoat", Reading::Data);
    extension.pass_on("clearcoatRoughnessFactor", 0.0);
    extension.texture("clearcoatRoughness", Reading::Data);
    if let Some((coordinates, scale)) = extension.texture("clearcoatNormal", Reading::Data) {
        extension.float("clearcoatNormalScale", scale);
        layers.tangent_coordinates.get_or_insert(coordinates);
    }
}

fn sheen(extension: &mut Extension<'_, '_, '_>, layers: &mut Layers) {
    let color = extension.color("sheenColorFactor", Vec3::ZERO);
    if color.max_element() <= 0.0 {
        return;
    }
    extension.switch_on("sheen", layers);
    extension.vector("sheenColorFactor", color);
    extension.texture("sheenColor", Reading::OpaqueColor);
    extension.pass_on("sheenRoughnessFactor", 0.0);
    extension.texture("sheenRoughness", Reading::DataAlpha);
}

fn anisotropy(extension: &mut Extension<'_, '_, '_>, layers: &mut Layers) {
    if !extension.begin("anisotropy", "anisotropyStrength", layers) {
        return;
    }
    extension.pass_on("anisotropyRotation", 0.0);
    let coordinates = extension.texture("anisotropy", Reading::Data).map_or(0, |(coordinates, _)| coordinates);
    layers.tangent_coordinates = Some(coordinates);
}

fn iridescence(extension: &mut Extension<'_, '_, '_>, layers: &mut Layers) {
    if !extension.begin("iridescence", "iridescenceFactor", layers) {
        return;
    }
    extension.texture("iridescence", Reading::Data);
    let ior = extension.number("iridescenceIor", 1.3);
    if ior < 1.0 {
        extension.problem("iridescenceIor", "the index of refraction is at least 1");
    } else {
        extension.float("iridescenceIor", ior);
    }
    for (name, default) in [("iridescenceThicknessMinimum", 100.0), ("iridescenceThicknessMaximum", 400.0)] {
        let thickness = extension.number(name, default);
        extension.float(name, thickness.max(0.0));
    }
    extension.texture("iridescenceThickness", Reading::Data);
}

fn transmission(extension: &mut Extension<'_, '_, '_>, layers: &mut Layers) {
    if !extension.begin("transmission", "transmissionFactor", layers) {
        return;
    }
    layers.is_clear = true;
    extension.texture("transmission", Reading::Data);
}

fn volume(extension: &mut Extension<'_, '_, '_>, layers: &mut Layers) {
    if extension.number("thicknessFactor", 0.0) <= 0.0 || !layers.is_clear {
        return;
    }
    extension.switch_on("volume", layers);
    (layers.is_clear, layers.is_volume) = (false, true);
    let color = extension.color("attenuationColor", Vec3::ONE);
    extension.vector("attenuationColor", color);
    // Without one the distance is infinite.
    let distance = extension.number("attenuationDistance", 0.0);
    if extension.json.contains_key("attenuationDistance") && distance <= 0.0 {
        extension.problem("attenuationDistance", "it must be above 0");
    }
    extension.float("attenuationDistance", distance.max(0.0));
}

impl Extension<'_, '_, '_> {
    /// Switches on a layer whose factor is above 0, and passes the factor on. Gives whether it is.
    fn begin(&mut self, layer: &str, factor: &str, layers: &mut Layers) -> bool {
        let value = self.number(factor, 0.0);
        if value > 0.0 {
            self.switch_on(layer, layers);
            self.float(factor, value);
        }
        value > 0.0
    }

    /// Makes the class compile a layer or lobe.
    fn switch_on(&mut self, layer: &str, layers: &mut Layers) {
        self.maker.params.push((layer.to_string(), ParamValue::String(vec!["on".to_string()])));
        layers.is_layered = true;
    }

    fn float(&mut self, name: &str, value: f32) {
        self.maker.params.push((name.to_string(), ParamValue::Float(vec![value])));
    }

    /// Gives the class a property, or its default, as it is.
    fn pass_on(&mut self, name: &str, default: f32) {
        let value = self.number(name, default);
        self.float(name, value);
    }

    fn vector(&mut self, name: &str, value: Vec3) {
        self.maker.params.push((name.to_string(), ParamValue::Color(vec![value])));
    }

    fn problem(&mut self, name: &str, what: &str) {
        let error = self.maker.document.error(&self.place.field(name), what);
        self.maker.making.problem(error.hint("its default takes its place"));
    }

    /// A property, or its default where it is not a finite number.
    fn number(&mut self, name: &str, default: f32) -> f32 {
        let Some(json) = self.json.get(name) else { return default };
        let number = json.as_f64().map(|x| x as f32).filter(|x| x.is_finite());
        number.unwrap_or_else(|| {
            self.problem(name, "it is not a finite number");
            default
        })
    }

    /// A property that is a color.
    fn color(&mut self, name: &str, default: Vec3) -> Vec3 {
        Vec3::from_array(self.numbers(name, default.to_array(), "three"))
    }

    /// A property that is a list of numbers, whose count is also given in words.
    fn numbers<const N: usize>(&mut self, name: &str, default: [f32; N], count: &str) -> [f32; N] {
        let Some(json) = self.json.get(name) else { return default };
        let list = Vec::<f32>::deserialize(json).ok().and_then(|list| <[f32; N]>::try_from(list).ok());
        list.filter(|list| list.iter().all(|x| x.is_finite())).unwrap_or_else(|| {
            self.problem(name, &format!("it is not a list of {count} finite numbers"));
            default
        })
    }

    /// Adds the texture whose property has this name with `Texture`; gives the number of its
    /// coordinates and its scale.
    fn texture(&mut self, name: &'static str, reading: Reading) -> Option<(usize, f32)> {
        self.texture_for(&format!("{name}Texture"), name, reading)
    }

    /// Adds the texture of a property for parameters that begin with a name.
    fn texture_for(&mut self, field: &str, name: &'static str, reading: Reading) -> Option<(usize, f32)> {
        let json = self.json.get(field)?;
        let place = self.place.field(field);
        let info = match TextureInfo::deserialize(json) {
            Ok(info) => info,
            Err(e) => {
                let error = self.maker.document.error(&place, e);
                self.maker.making.problem(error.hint("the material is shown without this texture"));
                return None;
            }
        };
        let transform = info.extensions.transform.as_ref();
        let scale = info.scale.filter(|x| x.is_finite()).unwrap_or(1.0);
        let usage = Use { name, place, index: info.index, tex_coord: info.tex_coord, transform, reading };
        self.maker.texture(usage).map(|coordinates| (coordinates, scale))
    }
}
