//! Lights (`KHR_lights_punctual`): positioned at their node, directed along its −z; the node's
//! scale is ignored.
//!
//! Units stay those of the file: candela for points and spots, lux for directional lights. The
//! shader `gltf` makes of them, and of emission in candela a square meter, what a pixel shows in
//! candela a square meter.

use super::Making;
use super::document::Document;
use super::exposure::Lamp;
use super::extras;
use crate::{Light, MAX_LIGHTS, ParamValue, ShaderRole};
use glam::{Mat4, Vec3};
use gltf::json::extensions::scene::khr_lights_punctual::{Light as Json, Type};
use gltf::json::validation::Checked;
use gltf::json::{Index, Path as Place};
use shadewright_base::text::diagnostics::Diagnostic;
use std::f32::consts::{FRAC_PI_2, PI};

/// The shader of points and spots.
const POINT: &str = "gltflight";
/// The shader of directional lights.
const DIRECTIONAL: &str = "distantlight";

/// Adds a light at its place to the scene.
///
/// # Errors
/// When its numbers make no light, or there are too many.
pub fn add(
    document: &Document<'_>,
    index: Index<Json>,
    place: &Place,
    to_world: Mat4,
    making: &mut Making,
) -> Result<(), Diagnostic> {
    let json = document.get(index, place)?;
    let own = Place::new().field("extensions").field("KHR_lights_punctual").field("lights").index(index.value());
    let fail = |what: &str| Err(document.error(&own, what));
    if making.scene.lights.len() >= MAX_LIGHTS {
        return Err(document.error(place, format_args!("more than {MAX_LIGHTS} lights in one scene")));
    }
    let Checked::Valid(ty) = json.type_ else { return fail("unknown type") };
    let color = Vec3::from_array(json.color);
    if !(color.is_finite() && json.intensity.is_finite() && json.intensity >= 0.0) {
        return fail("its color and intensity must be finite, and the intensity not negative");
    }
    let from = to_world.w_axis.truncate();
    let along = -to_world.z_axis.truncate().normalize_or_zero();
    if !from.is_finite() || (along == Vec3::ZERO && ty != Type::Point) {
        return Err(document.error(place, "the node gives the light no place or no direction"));
    }
    let float = |name: &str, value: f32| (name.to_string(), ParamValue::Float(vec![value]));
    let point = |name: &str, value: Vec3| (name.to_string(), ParamValue::Point(vec![value]));
    // Materials with a BSDF have the color of a light that they face, as in RenderMan, if they are
    // white; the shader in RSL takes lux, of which π do that.
    let intensity = if making.traces_paths { json.intensity / PI } else { json.intensity };
    let mut params = vec![float("intensity", intensity), ("lightcolor".to_string(), ParamValue::Color(vec![color]))];
    params.push(point("from", from));
    params.push(point("to", from + along));
    if ty != Type::Directional {
        if let Some(range) = json.range {
            if range <= 0.0 {
                return fail("`range` must be above 0");
            }
            params.push(float("range", range));
        }
        let (inner, outer) = match (ty, &json.spot) {
            (Type::Spot, Some(spot)) => (spot.inner_cone_angle, spot.outer_cone_angle),
            (Type::Spot, None) => return fail("a spot light needs `spot`"),
            _ => (PI, PI),
        };
        if ty == Type::Spot && !(inner >= 0.0 && inner < outer && outer <= FRAC_PI_2 + 1e-5) {
            return fail("`innerConeAngle` must be at least 0 and below `outerConeAngle`, and that at most π/2");
        }
        params.push(float("innerConeAngle", inner));
        params.push(float("outerConeAngle", outer));
    }
    let name = if ty == Type::Directional { DIRECTIONAL } else { POINT };
    let shader = making.scene.add_shader(ShaderRole::Light, name, params);
    let at = (ty != Type::Directional).then_some(from);
    making.lamps.push(Lamp { at, intensity: json.intensity * color.max_element() });
    let handle = (making.scene.lights.len() + 1).to_string();
    let shadows = extras::casts_shadows(&json.extras).map_err(|what| document.error(&own, what))?;
    making.scene.lights.push(Light { shader, handle, shadows: Some(shadows), area: false });
    Ok(())
}
