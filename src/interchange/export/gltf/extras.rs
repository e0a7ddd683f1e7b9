//! Data that glTF has no place for: in the `extras` of the scene, under the program's name. Its own
//! reader reads it, and others pass over it.

use super::Writer;
use super::{number, numbers};
use glam::Vec3;
use serde_json::{Value, json};
use shadewright_scene::params::Params;
use shadewright_scene::{DEFAULT_MAX_DEPTH, Exposure, FilterKind, PixelFilter};

pub use shadewright_scene::GLTF_EXTRAS as KEY;

/// The imager whose color becomes the background.
const BACKGROUND: &str = "background";

impl Writer<'_> {
    /// The size and filter of the image, the background, ambient lights.
    pub(super) fn extras(&mut self) -> Value {
        let scene = self.scene;
        let mut extras = json!({
            "format": [scene.format.width, scene.format.height],
            "pixelSamples": scene.pixel_samples,
        });
        let ambient = self.ambient();
        if !ambient.is_empty() {
            extras["ambientLights"] = ambient.iter().map(|color| numbers(&color.to_array())).collect();
        }
        let mut background = scene.background;
        if let Some(id) = scene.imager {
            let instance = &scene.shader_instances[id.0 as usize];
            match Params(Some(instance)) {
                params if instance.shader == *BACKGROUND => {
                    let names = ["background", "bgcolor", "color"];
                    let color = names.iter().find_map(|name| params.color(name)).unwrap_or(Vec3::ONE);
                    background = color.extend(1.0).to_array();
                    let hint = "rays that reflections send see it, too";
                    self.losses.report_shader(instance, "it becomes the color of what rays miss", hint);
                }
                _ => self.losses.report_shader(instance, "imagers have no form in glTF", "it is left out"),
            }
        }
        if background != [0.0; 4] {
            extras["background"] = numbers(&background);
        }
        let film = &scene.film;
        if film.exposure != Exposure::default() {
            extras["exposure"] = numbers(&[film.exposure.gain, film.exposure.gamma]);
        }
        if film.filter != PixelFilter::default() {
            let PixelFilter { kind, width } = film.filter;
            let name = FilterKind::ALL.iter().find(|(_, known)| *known == kind).map_or("box", |(name, _)| *name);
            extras["pixelFilter"] = json!({ "name": name, "width": [number(width[0]), number(width[1])] });
        }
        if scene.max_depth != DEFAULT_MAX_DEPTH {
            extras["maxDepth"] = scene.max_depth.into();
        }
        extras
    }
}
