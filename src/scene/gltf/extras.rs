//! The program's own part of a scene's `extras`: what an export keeps that glTF has no place for.

use super::Making;
use super::document::Document;
use crate::{DEFAULT_MAX_DEPTH, Exposure, FilterKind, Format, Light, ParamValue, PixelFilter, Scene, ShaderRole};
use glam::Vec3;
use gltf::json::Path as Place;
use gltf::json::extras::Extras as Json;
use serde::Deserialize;

/// The name under which it lies among the extras.
pub const KEY: &str = "shadewright";

/// Greatest numbers of samples and of ray depth, as in RIB.
const MAX_STRATA: u32 = 256;
const MAX_DEPTH: u32 = 1000;
/// Most ambient lights.
const MAX_AMBIENT: usize = 64;

/// The program's extras of a scene.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Extras {
    /// Width and height in pixels.
    pub format: Option<[u32; 2]>,
    pixel_samples: Option<[u32; 2]>,
    pixel_filter: Option<Filter>,
    exposure: Option<[f32; 2]>,
    background: Option<[f32; 4]>,
    ambient_lights: Vec<[f32; 3]>,
    max_depth: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
struct Filter {
    name: String,
    width: [f32; 2],
}

/// The program's extras of a light.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OfLight {
    /// True if it casts shadows.
    pub shadows: Option<bool>,
}

/// The program's part of extras; `None` where there is none.
///
/// # Errors
/// When the extras cannot be read.
pub fn own<'de, T: Deserialize<'de>>(extras: &'de Json) -> Result<Option<T>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Own<T> {
        shadewright: Option<T>,
    }
    let Some(text) = extras else { return Ok(None) };
    // Extras may be anything; only objects have names.
    if !text.get().trim_start().starts_with('{') {
        return Ok(None);
    }
    serde_json::from_str::<Own<T>>(text.get()).map(|own| own.shadewright)
}

/// Returns the extras of the scene that is shown; what is wrong with them is a problem of the
/// making.
pub fn scene_extras(document: &Document<'_>, making: &mut Making) -> Option<Extras> {
    let index = document.root.scene.map_or(0, |scene| scene.value());
    let scene = document.root.scenes.get(index)?;
    let place = Place::new().field("scenes").index(index).field("extras").field(KEY);
    let read = own::<Extras>(&scene.extras).map_err(|e| e.to_string());
    let checked = read.and_then(|extras| extras.map(Extras::checked).transpose());
    checked.unwrap_or_else(|what| {
        making.problem(document.error(&place, what).hint("it is passed over"));
        None
    })
}

impl Extras {
    /// The same where all of its numbers are possible.
    fn checked(self) -> Result<Self, String> {
        let format = |[width, height]: [u32; 2]| Format { width, height, ..Format::default() }.is_valid();
        let strata = |samples: [u32; 2]| samples.iter().all(|n| (1..=MAX_STRATA).contains(n));
        let colors = self.background.iter().flatten().chain(self.ambient_lights.iter().flatten());
        let widths = self.pixel_filter.iter().flat_map(|filter| filter.width);
        let checks = [
            (self.format.is_none_or(format), "format"),
            (self.pixel_samples.is_none_or(strata), "pixelSamples"),
            (
                self.pixel_filter.iter().all(|f| FilterKind::ALL.iter().any(|(known, _)| *known == f.name)),
                "pixelFilter",
            ),
            (widths.into_iter().all(|w| w > 0.0 && w <= PixelFilter::MAX_WIDTH), "pixelFilter"),
            (self.exposure.is_none_or(|[gain, gamma]| gain >= 0.0 && gamma > 0.0), "exposure"),
            (colors.into_iter().all(|x| x.is_finite()), "background or ambientLights"),
            (self.ambient_lights.len() <= MAX_AMBIENT, "ambientLights"),
            (self.max_depth.is_none_or(|depth| depth <= MAX_DEPTH), "maxDepth"),
        ];
        match checks.into_iter().find(|(is_possible, _)| !is_possible) {
            Some((_, name)) => Err(format!("`{name}` is out of range")),
            None => Ok(self),
        }
    }

    /// Gives a scene what is said.
    pub fn apply(&self, scene: &mut Scene) {
        scene.pixel_samples = self.pixel_samples.unwrap_or(scene.pixel_samples);
        scene.background = self.background.unwrap_or(scene.background);
        scene.max_depth = self.max_depth.unwrap_or(DEFAULT_MAX_DEPTH);
        if let Some([gain, gamma]) = self.exposure {
            scene.film.exposure = Exposure { gain, gamma };
        }
        if let Some(Filter { name, width }) = &self.pixel_filter
            && let Some((_, kind)) = FilterKind::ALL.into_iter().find(|(known, _)| known == name)
        {
            scene.film.filter = PixelFilter { kind, width: *width };
        }
        for color in &self.ambient_lights {
            let params = vec![("lightcolor".to_string(), ParamValue::Color(vec![Vec3::from_array(*color)]))];
            let shader = scene.add_shader(ShaderRole::Light, "ambientlight", params);
            let handle = (scene.lights.len() + 1).to_string();
            scene.lights.push(Light { shader, handle, shadows: Some(false), area: false });
        }
    }
}

/// True if a light casts shadows: it does, unless its extras say otherwise.
///
/// # Errors
/// When the extras cannot be read.
pub fn casts_shadows(extras: &Json) -> Result<bool, serde_json::Error> {
    let own = own::<OfLight>(extras)?;
    Ok(own.unwrap_or_default().shadows.unwrap_or(true))
}
