//! Lights as `KHR_lights_punctual`, at nodes of their own.
//!
//! | light shader | becomes | lost |
//! |---|---|---|
//! | `distantlight` | a directional light | |
//! | `pointlight`, `gltflight` | a point light | |
//! | `gltflight` with a cone, `spotlight` | a spot light | the `beamdistribution` of `spotlight` |
//! | `ambientlight` | an ambient light in the scene's `extras` | |
//! | others, and area lights | | all of it |

use super::{Writer, number, numbers};
use glam::{Mat4, Quat, Vec3};
use serde_json::{Value, json};
use shadewright_scene::params::Params;
use shadewright_scene::{Integrator, Light};
use std::f32::consts::{FRAC_PI_2, PI};

const EXTENSION: &str = "KHR_lights_punctual";

/// Surfaces whose lights are in candela and lux.
const PHOTOMETRIC: &str = "gltf";

impl Writer<'_> {
    /// Adds the lights with their nodes.
    pub(super) fn lights(&mut self) {
        let scene = self.scene;
        let factor = self.units();
        for light in &scene.lights {
            let instance = &scene.shader_instances[light.shader.0 as usize];
            let params = Params(Some(instance));
            let name = instance.shader.as_str();
            if light.area {
                let hint = "it is left out; let its emitters have a material that emits light";
                self.losses.report_shader(instance, "glTF has no area lights", hint);
                continue;
            }
            let light_of = match name {
                "distantlight" | "pointlight" | "gltflight" => Some(punctual(name, params)),
                "spotlight" => {
                    if params.float_or("beamdistribution", 2.0) != 0.0 {
                        let hint = "the exported light is as bright at the edge of its cone as in the middle";
                        self.losses.report_shader(instance, "`beamdistribution` has no form in glTF", hint);
                    }
                    Some(punctual(name, params))
                }
                "ambientlight" | "nulllight" => None,
                _ => {
                    let hint = "it is left out; there are distantlight, pointlight, spotlight and ambientlight";
                    self.losses.report_shader(instance, "this light has no form in glTF", hint);
                    None
                }
            };
            if let Some(punctual) = light_of {
                self.punctual(light, punctual, params, factor);
            }
        }
    }

    /// The factor from the intensities of the scene's lights to candela and lux: 1 where its
    /// materials are those of glTF, which take these. Elsewhere white in front of a light of
    /// intensity 1 is white, as under π lux.
    fn units(&self) -> f32 {
        let shaders = self.scene.objects.iter().filter_map(|object| object.surface);
        let mut instances = shaders.map(|id| &self.scene.shader_instances[id.0 as usize]);
        let is_photometric = instances
            .any(|instance| instance.shader == *PHOTOMETRIC || Params(Some(instance)).float("irradiance") == Some(1.0));
        if is_photometric && self.scene.integrator != Integrator::Path { 1.0 } else { PI }
    }

    fn punctual(&mut self, light: &Light, punctual: Punctual, params: Params<'_>, factor: f32) {
        let Punctual { mut json, from, to } = punctual;
        let color = params.color_or("lightcolor", 1.0);
        // Colors lie between 0 and 1 in glTF, and intensities are not negative.
        let scale = color.max_element().max(1.0);
        json["color"] = numbers(&(color / scale).max(Vec3::ZERO).to_array());
        json["intensity"] = number((params.float_or("intensity", 1.0) * factor * scale).max(0.0));
        json["name"] = light.handle.clone().into();
        if light.shadows == Some(false) {
            json["extras"] = json!({ super::extras::KEY: { "shadows": false } });
        }
        self.extensions.insert(EXTENSION);
        // Equal lights at different places share one entry of the list.
        let index = self.add("lights", json);
        let along = self.flip.transform_vector3((to - from).normalize_or(Vec3::NEG_Z));
        let turn = Mat4::from_quat(Quat::from_rotation_arc(Vec3::NEG_Z, along));
        let place = Mat4::from_translation(self.flip.transform_point3(from)) * turn;
        let name = format!("light {}", light.handle);
        let matrix = numbers(&place.to_cols_array());
        self.nodes.push(json!({ "name": name, "matrix": matrix, "extensions": { EXTENSION: { "light": index } } }));
    }

    /// The ambient lights of the scene.
    pub(super) fn ambient(&self) -> Vec<Vec3> {
        let instances = self.scene.lights.iter().map(|light| &self.scene.shader_instances[light.shader.0 as usize]);
        let ambient = instances.filter(|instance| instance.shader == *"ambientlight").map(|i| Params(Some(i)));
        ambient.map(|p| p.float_or("intensity", 1.0) * p.color_or("lightcolor", 1.0)).collect()
    }
}

/// A light without its intensity.
struct Punctual {
    json: Value,
    from: Vec3,
    to: Vec3,
}

/// The type and shape of a light.
fn punctual(name: &str, params: Params<'_>) -> Punctual {
    // Towards what a light shines by default.
    let ahead = if name == "gltflight" { Vec3::NEG_Z } else { Vec3::Z };
    let (from, to) = (params.point_or("from", Vec3::ZERO), params.point_or("to", ahead));
    let outer = match name {
        "spotlight" => params.float_or("coneangle", 30f32.to_radians()),
        _ => params.float_or("outerConeAngle", PI),
    };
    let inner = match name {
        "spotlight" => outer - params.float_or("conedeltaangle", 5f32.to_radians()),
        _ => params.float_or("innerConeAngle", PI),
    };
    let mut json = match name {
        "distantlight" => json!({ "type": "directional" }),
        "gltflight" | "spotlight" if outer <= FRAC_PI_2 + 1e-5 => {
            let outer = outer.clamp(1e-3, FRAC_PI_2);
            let inner = inner.clamp(0.0, outer - 1e-4);
            let spot = json!({ "innerConeAngle": number(inner), "outerConeAngle": number(outer) });
            json!({ "type": "spot", "spot": spot })
        }
        _ => json!({ "type": "point" }),
    };
    if let Some(range) = params.float("range").filter(|range| *range > 0.0) {
        json["range"] = number(range);
    }
    Punctual { json, from, to }
}
