//! Materials: those of the program's glTF reader exactly, others by [`super::approximate`].
//!
//! The shader `gltf` and the classes `GltfScene` and `GltfLayered` have the properties of glTF for
//! parameters; [`LAYERS`] lists those that belong to extensions.

use super::{Writer, number, numbers};
use glam::Vec3;
use serde_json::{Map, Value, json};
use shadewright_scene::params::Params;
use shadewright_scene::{Object, ShaderId};

/// The shaders of glTF materials.
const OWN: [&str; 3] = ["gltf", "pbr.rtsl:GltfScene", "pbr.rtsl:GltfLayered"];

/// A material of the document.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The number in the document.
    pub index: usize,
    /// The set of texture coordinates that tangents follow, where it reads tangents.
    pub tangents: Option<u32>,
}

/// A value of an extension.
#[derive(Clone, Copy)]
enum Property {
    /// A number, with the class's default.
    Float(f32),
    /// A color, with the class's default.
    Color(f32),
    /// A texture.
    Texture,
}

/// An extension of materials: its name, the parameter that switches it on, and its properties as glTF
/// and the class call them.
struct Layer {
    extension: &'static str,
    switch: &'static str,
    properties: &'static [(&'static str, Property)],
}

use Property::{Color, Float, Texture};

/// Layers that a parameter switches on. A texture's parameters are called as its property without
/// `Texture`.
const LAYERS: [Layer; 5] = [
    Layer {
        extension: "KHR_materials_clearcoat",
        switch: "clearcoat",
        properties: &[
            ("clearcoatFactor", Float(1.0)),
            ("clearcoatTexture", Texture),
            ("clearcoatRoughnessFactor", Float(0.0)),
            ("clearcoatRoughnessTexture", Texture),
            ("clearcoatNormalTexture", Texture),
        ],
    },
    Layer {
        extension: "KHR_materials_sheen",
        switch: "sheen",
        properties: &[
            ("sheenColorFactor", Color(1.0)),
            ("sheenColorTexture", Texture),
            ("sheenRoughnessFactor", Float(0.0)),
            ("sheenRoughnessTexture", Texture),
        ],
    },
    Layer {
        extension: "KHR_materials_anisotropy",
        switch: "anisotropy",
        properties: &[
            ("anisotropyStrength", Float(0.0)),
            ("anisotropyRotation", Float(0.0)),
            ("anisotropyTexture", Texture),
        ],
    },
    Layer {
        extension: "KHR_materials_iridescence",
        switch: "iridescence",
        properties: &[
            ("iridescenceFactor", Float(1.0)),
            ("iridescenceTexture", Texture),
            ("iridescenceIor", Float(1.3)),
            ("iridescenceThicknessMinimum", Float(100.0)),
            ("iridescenceThicknessMaximum", Float(400.0)),
            ("iridescenceThicknessTexture", Texture),
        ],
    },
    Layer {
        extension: "KHR_materials_transmission",
        switch: "transmission",
        properties: &[("transmissionFactor", Float(1.0)), ("transmissionTexture", Texture)],
    },
];

/// A material on its way to JSON.
pub struct Material {
    /// `pbrMetallicRoughness`
    pub pbr: Map<String, Value>,
    /// The rest.
    pub json: Map<String, Value>,
    /// The extensions of the material.
    pub extensions: Map<String, Value>,
    /// The coordinates of its normal map.
    pub tangents: Option<u32>,
}

impl Material {
    /// Sets the color and the alpha of the base.
    pub fn base(&mut self, color: Vec3, alpha: f32) {
        if color != Vec3::ONE || alpha != 1.0 {
            self.pbr.insert("baseColorFactor".into(), numbers(&color.extend(alpha).to_array()));
        }
    }

    /// Sets how metallic and how rough the base is.
    pub fn metallic_roughness(&mut self, metallic: f32, roughness: f32) {
        for (name, value) in [("metallicFactor", metallic), ("roughnessFactor", roughness)] {
            if value != 1.0 {
                self.pbr.insert(name.into(), number(value));
            }
        }
    }

    /// Sets the light that it emits: a color up to 1 and a strength.
    pub fn emission(&mut self, color: Vec3, strength: f32) {
        // Greater values than 1 are the strength's.
        let scale = color.max_element().max(1.0);
        if color != Vec3::ZERO {
            self.json.insert("emissiveFactor".into(), numbers(&(color / scale).to_array()));
        }
        if strength * scale != 1.0 {
            let strength = json!({ "emissiveStrength": number(strength * scale) });
            self.extensions.insert("KHR_materials_emissive_strength".into(), strength);
        }
    }

    /// Makes it let light through by its alpha.
    pub fn blend(&mut self) {
        self.json.insert("alphaMode".into(), "BLEND".into());
    }

    /// Makes it show its base, whatever the lights.
    pub fn unlit(&mut self) {
        self.extensions.insert("KHR_materials_unlit".into(), json!({}));
    }
}

impl Writer<'_> {
    /// Adds the material of an object.
    pub(super) fn material(&mut self, object: &Object) -> Written {
        let scene = self.scene;
        let instance = object.surface.map(|ShaderId(id)| &scene.shader_instances[id as usize]);
        let mut material = Material { pbr: Map::new(), json: Map::new(), extensions: Map::new(), tangents: None };
        if object.sides == 2 {
            material.json.insert("doubleSided".into(), true.into());
        }
        match instance {
            Some(instance) if OWN.contains(&instance.shader.as_str()) => {
                self.own(object, Params(Some(instance)), &mut material);
            }
            _ => self.approximate(object, instance, &mut material),
        }
        let Material { pbr, mut json, extensions, tangents } = material;
        if !pbr.is_empty() {
            json.insert("pbrMetallicRoughness".into(), pbr.into());
        }
        if !extensions.is_empty() {
            self.use_extensions(&extensions);
            json.insert("extensions".into(), extensions.into());
        }
        Written { index: self.add("materials", json.into()), tangents }
    }

    fn use_extensions(&mut self, extensions: &Map<String, Value>) {
        let known = LAYERS.iter().map(|layer| layer.extension).chain(OTHERS);
        self.extensions.extend(known.filter(|name| extensions.contains_key(*name)));
    }

    /// Writes a material that a glTF reader made.
    fn own(&mut self, object: &Object, params: Params<'_>, material: &mut Material) {
        let replaced = params.string("specularGlossiness").is_some();
        let alpha = params.float_or("baseColorAlpha", 1.0) * opacity_of(object);
        let base = color_of(object) * params.color_or("baseColorFactor", 1.0);
        if replaced {
            self.specular_glossiness(base, alpha, params, material);
        } else {
            material.base(base, alpha);
            let (metallic, roughness) =
                (params.float_or("metallicFactor", 1.0), params.float_or("roughnessFactor", 1.0));
            material.metallic_roughness(metallic, roughness);
            for (field, name) in [("baseColorTexture", "baseColor"), ("metallicRoughnessTexture", "metallicRoughness")]
            {
                if let Some((texture, _)) = self.texture_of(params, name) {
                    material.pbr.insert(field.into(), texture);
                }
            }
            self.dielectric(params, material);
        }
        material.emission(params.color_or("emissiveFactor", 0.0), params.float_or("emissiveStrength", 1.0));
        if let Some((texture, _)) = self.texture_of(params, "emissive") {
            material.json.insert("emissiveTexture".into(), texture);
        }
        if let Some((mut texture, _)) = self.texture_of(params, "occlusion") {
            texture["strength"] = number(params.float_or("occlusionStrength", 1.0));
            material.json.insert("occlusionTexture".into(), texture);
        }
        if let Some((mut texture, coordinates)) = self.texture_of(params, "normal") {
            texture["scale"] = number(params.float_or("normalScale", 1.0));
            material.json.insert("normalTexture".into(), texture);
            material.tangents = Some(coordinates);
        }
        if let Some(mode) = params.string("alphaMode").filter(|mode| *mode != "OPAQUE") {
            material.json.insert("alphaMode".into(), mode.into());
            if let Some(cutoff) = params.float("alphaCutoff").filter(|_| mode == "MASK") {
                material.json.insert("alphaCutoff".into(), number(cutoff));
            }
        }
        if params.float("unlit").is_some_and(|unlit| unlit != 0.0) {
            material.unlit();
        }
        for layer in &LAYERS {
            self.layer(layer, params, material);
        }
        if params.string("volume").is_some() {
            let mut volume = json!({
                // The way inside is traced: a thickness above 0 says that there is one.
                "thicknessFactor": 1,
                "attenuationColor": numbers(&params.color_or("attenuationColor", 1.0).to_array()),
            });
            if let Some(distance) = params.float("attenuationDistance").filter(|distance| *distance > 0.0) {
                volume["attenuationDistance"] = number(distance);
            }
            material.extensions.insert("KHR_materials_volume".into(), volume);
        }
    }

    /// The index of refraction and the specular layer.
    fn dielectric(&mut self, params: Params<'_>, material: &mut Material) {
        if let Some(ior) = params.float("ior").filter(|ior| *ior != 1.5) {
            material.extensions.insert("KHR_materials_ior".into(), json!({ "ior": number(ior) }));
        }
        let mut specular = Map::new();
        if let Some(factor) = params.float("specularFactor").filter(|factor| *factor != 1.0) {
            specular.insert("specularFactor".into(), number(factor));
        }
        if let Some(color) = params.color("specularColorFactor").filter(|color| *color != Vec3::ONE) {
            specular.insert("specularColorFactor".into(), numbers(&color.to_array()));
        }
        for (field, name) in [("specularTexture", "specular"), ("specularColorTexture", "specularColor")] {
            if let Some((texture, _)) = self.texture_of(params, name) {
                specular.insert(field.into(), texture);
            }
        }
        if !specular.is_empty() {
            material.extensions.insert("KHR_materials_specular".into(), specular.into());
        }
    }

    /// The base that replaces the metallic-roughness one.
    fn specular_glossiness(&mut self, base: Vec3, alpha: f32, params: Params<'_>, material: &mut Material) {
        let mut json = json!({
            "diffuseFactor": numbers(&base.extend(alpha).to_array()),
            "specularFactor": numbers(&params.color_or("specularColorFactor", 1.0).to_array()),
            "glossinessFactor": number(params.float_or("glossinessFactor", 1.0)),
        });
        for (field, name) in [("diffuseTexture", "baseColor"), ("specularGlossinessTexture", "specularColor")] {
            if let Some((texture, _)) = self.texture_of(params, name) {
                json[field] = texture;
            }
        }
        material.extensions.insert("KHR_materials_pbrSpecularGlossiness".into(), json);
    }

    fn layer(&mut self, layer: &Layer, params: Params<'_>, material: &mut Material) {
        if params.string(layer.switch).is_none() {
            return;
        }
        let mut json = Map::new();
        for (field, property) in layer.properties {
            let value = match property {
                Float(default) => Some(number(params.float_or(field, *default))),
                Color(default) => Some(numbers(&params.color_or(field, *default).to_array())),
                Texture => self.layer_texture(field.trim_end_matches("Texture"), params, material),
            };
            json.extend(value.map(|value| (field.to_string(), value)));
        }
        if layer.switch == "anisotropy" {
            let own = params.float("anisotropyTexCoord").unwrap_or(0.0) as u32;
            material.tangents.get_or_insert(own);
        }
        material.extensions.insert(layer.extension.into(), json.into());
    }

    fn layer_texture(&mut self, name: &str, params: Params<'_>, material: &mut Material) -> Option<Value> {
        let (mut texture, coordinates) = self.texture_of(params, name)?;
        if let Some(scale) = params.float(&format!("{name}Scale")) {
            texture["scale"] = number(scale);
            material.tangents.get_or_insert(coordinates);
        }
        Some(texture)
    }

    /// The texture of a property, by the names of its parameters, with its coordinates.
    fn texture_of(&mut self, params: Params<'_>, name: &str) -> Option<(Value, u32)> {
        let image = params.string(&format!("{name}Texture")).or_else(|| params.string(&format!("{name}Image")))?;
        let coordinates = params.float_or(&format!("{name}TexCoord"), 0.0) as u32;
        self.texture(image, coordinates).map(|texture| (texture, coordinates))
    }
}

/// Extensions of materials that are no layers.
const OTHERS: [&str; 6] = [
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_specular",
    "KHR_materials_unlit",
    "KHR_materials_volume",
];

/// The color that an object gives to its surface; white where its mesh has colors.
pub fn color_of(object: &Object) -> Vec3 {
    let has_own = !(object.mesh.vertex_colors.is_empty() && object.mesh.triangle_colors.is_empty());
    if has_own { Vec3::ONE } else { object.color }
}

/// The opacity that an object gives to its surface, likewise.
pub fn opacity_of(object: &Object) -> f32 {
    let has_own = !(object.mesh.vertex_opacities.is_empty() && object.mesh.triangle_opacities.is_empty());
    if has_own { 1.0 } else { object.opacity.element_sum() / 3.0 }
}
