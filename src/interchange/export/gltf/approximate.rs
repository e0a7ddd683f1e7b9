//! Materials of glTF for shaders that are not its own, by their names.
//!
//! `docs/converting.md` has the table. Each says what is lost; a shader of another name becomes gray.

use super::Writer;
use super::materials::{Material, color_of, opacity_of};
use super::{number, numbers};
use glam::Vec3;
use serde_json::json;
use shadewright_scene::params::Params;
use shadewright_scene::{Object, ShaderInstance};

/// The color of what is not known, as a factor on the object's.
const GRAY: f32 = 0.5;
/// Roughness of mirrors, and of glass.
const SMOOTH: f32 = 0.0;

impl Writer<'_> {
    /// Makes a material similar to a shader, and reports what is lost.
    pub(super) fn approximate(&mut self, object: &Object, instance: Option<&ShaderInstance>, m: &mut Material) {
        let params = Params(instance);
        let (color, alpha) = (color_of(object), opacity_of(object));
        let name = instance.map_or("defaultsurface", |instance| instance.shader.as_str());
        if alpha != 1.0 {
            m.blend();
        }
        let lost = match self.approximate_name(name, params, color, alpha, m) {
            Some(lost) => lost,
            None => {
                m.base(GRAY * color, alpha);
                m.metallic_roughness(0.0, 1.0);
                "it is not known here: the surface is gray"
            }
        };
        match instance {
            _ if lost.is_empty() => {}
            Some(instance) => self.losses.report_shader(instance, "it becomes a similar material of glTF", lost),
            None => self.losses.report_object(object, "the default surface becomes a matte material", lost),
        }
    }

    /// The material of a well-known shader, and what it loses; `None` for any other.
    fn approximate_name(
        &mut self,
        name: &str,
        params: Params<'_>,
        color: Vec3,
        alpha: f32,
        m: &mut Material,
    ) -> Option<&'static str> {
        let float = |name: &str, default: f32| params.float_or(name, default);
        let exponent = |default: f32| 1.0 / float("roughness", default).max(1e-4);
        let lost = match name {
            "constant" => {
                m.base(color, alpha);
                m.unlit();
                ""
            }
            "defaultsurface" => {
                matte(m, 0.8 * color, alpha);
                "it is lit by the scene's lights, and not from the eye"
            }
            "matte" => {
                matte(m, float("Kd", 1.0) * color, alpha);
                "ambient light counts as much as other light"
            }
            "plastic" | "paintedplastic" => {
                m.base(float("Kd", 0.5) * color, alpha);
                m.metallic_roughness(0.0, roughness_of(exponent(0.1)));
                if let Some(texture) = params.string("texturename").and_then(|image| self.texture(image, 0)) {
                    m.pbr.insert("baseColorTexture".into(), texture);
                }
                "the highlight is as wide, and follows Fresnel's law in place of `Ks`"
            }
            "metal" => {
                m.base(float("Ks", 1.0) * color, alpha);
                m.metallic_roughness(1.0, roughness_of(exponent(0.1)));
                "it reflects its environment, too"
            }
            "shinymetal" => {
                m.base(float("Kr", 1.0) * color, alpha);
                m.metallic_roughness(1.0, SMOOTH);
                "reflections are sharp, and there is no environment map"
            }
            "mirror" | "pbr.rtsl:Mirror" => {
                m.base(params.color("reflectance").unwrap_or(float("Kr", 1.0) * color), alpha);
                m.metallic_roughness(1.0, SMOOTH);
                "reflections follow Fresnel's law"
            }
            "glass" | "pbr.rtsl:Glass" | "pbr.rtsl:Dielectric" | "pbr.rtsl:RoughGlass" => {
                let roughness = if name == "pbr.rtsl:RoughGlass" { float("roughness", 0.3) } else { SMOOTH };
                let absorbed = params.color("absorption").or_else(|| params.color("absorb")).unwrap_or_default();
                glass(m, params.float("ior").or(params.float("eta")).unwrap_or(1.5), absorbed, roughness);
                "highlights of lights follow the glass of glTF"
            }
            "mtl" | "pbr.rtsl:Mtl" => self.mtl(params, color, m),
            _ => return self.approximate_class(name, params, color, alpha, m),
        };
        Some(lost)
    }

    /// The material of a class of the standard library.
    fn approximate_class(
        &mut self,
        name: &str,
        params: Params<'_>,
        color: Vec3,
        alpha: f32,
        m: &mut Material,
    ) -> Option<&'static str> {
        let diffuse = color * params.color_or("diffuse", 0.5);
        let roughness = |default: f32| params.float_or("roughness", default);
        Some(match name.strip_prefix("pbr.rtsl:")? {
            "Lambert" => {
                matte(m, diffuse, alpha);
                "a texture object is not kept"
            }
            "OrenNayar" => {
                matte(m, diffuse, alpha);
                "it scatters light as if it were smooth"
            }
            "Phong" => {
                m.base(diffuse, alpha);
                m.metallic_roughness(0.0, roughness_of(params.float_or("power", 50.0)));
                "the highlight follows Fresnel's law in place of `specular`"
            }
            "Ward" => {
                m.base(diffuse, alpha);
                let [x, y] = [("roughness_x", 0.1), ("roughness_y", 0.3)].map(|(name, d)| params.float_or(name, d));
                m.metallic_roughness(0.0, (x * y).sqrt().clamp(0.0, 1.0).sqrt());
                "the highlight is as wide in all directions, and follows Fresnel's law"
            }
            "Velvet" => {
                matte(m, diffuse, alpha);
                let sheen = json!({
                    "sheenColorFactor": numbers(&params.color_or("sheen", 0.5).to_array()),
                    "sheenRoughnessFactor": 0.5,
                });
                m.extensions.insert("KHR_materials_sheen".into(), sheen);
                "the sheen falls off as that of glTF"
            }
            "Metal" => {
                m.base(params.color_or("reflectance", 0.9), alpha);
                m.metallic_roughness(1.0, roughness(0.3).max(0.0).sqrt().min(1.0));
                "reflections follow Fresnel's law"
            }
            "Conductor" => {
                let (eta, k) = (params.color("eta"), params.color("k"));
                let eta = eta.unwrap_or(Vec3::new(0.143, 0.375, 1.442));
                let k = k.unwrap_or(Vec3::new(3.983, 2.386, 1.603));
                // Fresnel reflectance at normal incidence.
                let base = ((eta - 1.0) * (eta - 1.0) + k * k) / ((eta + 1.0) * (eta + 1.0) + k * k);
                m.base(base, alpha);
                m.metallic_roughness(1.0, roughness(0.3).max(0.0).sqrt().min(1.0));
                "its color at grazing directions is that of Schlick's approximation"
            }
            "Emitter" => {
                m.base(Vec3::ZERO, alpha);
                m.metallic_roughness(0.0, 1.0);
                m.emission(params.color_or("radiance", 1.0), 1.0);
                "it emits light to both sides, and a texture object is not kept"
            }
            _ => return None,
        })
    }

    /// A material of Wavefront OBJ files.
    fn mtl(&mut self, params: Params<'_>, color: Vec3, m: &mut Material) -> &'static str {
        // The shader and the class call them differently.
        let [diffuse, emission] =
            [["Kd", "diffuse"], ["Ke", "emissive"]].map(|names| names.iter().find_map(|name| params.color(name)));
        let power = params.float("Ns").or(params.float("power")).unwrap_or(10.0);
        let covers = params.float("d").or(params.float("dissolve")).unwrap_or(1.0);
        let image = |names: [&str; 2]| names.iter().find_map(|name| params.string(name));
        let covers_by_image = image(["map_d", "dissolveImage"]);
        if covers != 1.0 || covers_by_image.is_some() {
            m.blend();
        }
        m.base(color * diffuse.unwrap_or(Vec3::splat(0.8)), covers);
        let specular = params.color("Ks").or(params.color("specular")).unwrap_or_default();
        if specular == Vec3::ZERO {
            m.extensions.insert("KHR_materials_specular".into(), json!({ "specularFactor": 0 }));
            m.metallic_roughness(0.0, 1.0);
        } else {
            m.metallic_roughness(0.0, roughness_of(power));
        }
        m.emission(emission.unwrap_or_default(), 1.0);
        if let Some(texture) = image(["map_Kd", "diffuseImage"]).and_then(|image| self.texture(image, 0)) {
            m.pbr.insert("baseColorTexture".into(), texture);
        }
        if let Some(texture) = image(["map_Ke", "emissiveImage"]).and_then(|image| self.texture(image, 0)) {
            m.json.insert("emissiveTexture".into(), texture);
        }
        if let Some(texture) = image(["norm", "normalImage"]).and_then(|image| self.texture(image, 0)) {
            m.json.insert("normalTexture".into(), texture);
            m.tangents = Some(0);
        }
        if params.float("illum") == Some(0.0) {
            m.unlit();
        }
        "the highlight follows Fresnel's law in place of `Ks`, and the alpha of `map_Kd` that of `map_d`"
    }
}

/// A surface without a specular layer.
fn matte(m: &mut Material, color: Vec3, alpha: f32) {
    m.base(color, alpha);
    m.metallic_roughness(0.0, 1.0);
    m.extensions.insert("KHR_materials_specular".into(), json!({ "specularFactor": 0 }));
}

/// A volume that light enters; `absorbed` is what a unit of length absorbs.
fn glass(m: &mut Material, ior: f32, absorbed: Vec3, roughness: f32) {
    m.metallic_roughness(0.0, roughness);
    m.extensions.insert("KHR_materials_ior".into(), json!({ "ior": number(ior.max(1.0)) }));
    m.extensions.insert("KHR_materials_transmission".into(), json!({ "transmissionFactor": 1 }));
    let left = (-absorbed).exp();
    let volume = json!({
        "thicknessFactor": 1,
        "attenuationColor": numbers(&left.to_array()),
        "attenuationDistance": 1,
    });
    m.extensions.insert("KHR_materials_volume".into(), volume);
}

/// The roughness of glTF whose highlight is as wide as one that falls off by a power of the cosine:
/// α² = 2/(n + 2), where α is its square (Walter et al. 2007, §5.2).
fn roughness_of(power: f32) -> f32 {
    (2.0 / (power.max(0.0) + 2.0)).powf(0.25)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sharper_highlight_is_a_smoother_surface() {
        assert_eq!(roughness_of(0.0), 1.0);
        assert!((roughness_of(10.0) - 0.639).abs() < 1e-3);
        assert!(roughness_of(1000.0) < roughness_of(100.0));
    }
}
