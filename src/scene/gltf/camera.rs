//! Cameras (glTF 2.0, §3.10): they look along −z of their node, with y up; the node's scale is
//! ignored.

use super::document::Document;
use crate::{Camera, Format, Projection};
use glam::{Mat4, Vec3};
use gltf::json::camera::{Camera as Json, Type};
use gltf::json::validation::Checked;
use gltf::json::{Index, Path as Place};
use shadewright_base::text::diagnostics::Diagnostic;

/// Height in pixels of an image whose size nobody gives.
const HEIGHT: f32 = 480.0;

/// A camera at its place, and the format of its image: `size`, if the user gives one, or else of
/// the shape that the camera is made for.
///
/// # Errors
/// When its numbers make no image.
pub fn read(
    document: &Document<'_>,
    index: Index<Json>,
    place: &Place,
    to_world: Mat4,
    size: Option<(u32, u32)>,
) -> Result<(Camera, Format), Diagnostic> {
    let json = document.get(index, place)?;
    let own = Place::new().field("cameras").index(index.value());
    let fail = |what: &str| Err(document.error(&own, what));
    let [x, y, z] = [to_world.x_axis, to_world.y_axis, to_world.z_axis].map(|a| a.truncate().normalize_or_zero());
    let origin = to_world.w_axis.truncate();
    if !origin.is_finite() || x.cross(y).dot(z).abs() <= 1e-3 {
        return fail("the node that holds it has no directions of its own: a scale is zero");
    }
    let camera_to_world = Mat4::from_cols(x.extend(0.0), y.extend(0.0), (-z).extend(0.0), origin.extend(1.0));
    let mut camera = Camera { world_to_camera: camera_to_world.inverse(), ..Camera::default() };
    let positive = |v: f32| v.is_finite() && v > 0.0;
    let planes = |near: f32, far: Option<f32>| {
        let far = far.unwrap_or(f32::INFINITY);
        (near.is_finite() && near >= 0.0 && far > near).then_some((near, far))
    };
    let planned = match (json.type_, &json.perspective, &json.orthographic) {
        (Checked::Valid(Type::Perspective), Some(p), _) => {
            if !(positive(p.yfov) && p.yfov < std::f32::consts::PI) {
                return fail("`yfov` must lie between 0 and π");
            }
            if p.aspect_ratio.is_some_and(|a| !positive(a)) {
                return fail("`aspectRatio` must be above 0");
            }
            let format = format(size, p.aspect_ratio);
            // The renderer's angle is that of the shorter side, glTF's that of the height.
            let narrow = format.frame_aspect().min(1.0);
            let fov = 2.0 * (narrow * (0.5 * p.yfov).tan()).atan().to_degrees();
            camera.projection = Projection::Perspective { fov };
            planes(p.znear, p.zfar).map(|planes| (planes, format))
        }
        (Checked::Valid(Type::Orthographic), _, Some(o)) => {
            // Mirrored images, which a negative size would make, are an error in glTF.
            if !(positive(o.xmag) && positive(o.ymag)) {
                return fail("`xmag` and `ymag` must be above 0");
            }
            let format = format(size, Some(o.xmag / o.ymag));
            let half_width = o.ymag * format.frame_aspect();
            camera.projection = Projection::Orthographic;
            camera.screen_window = Some([-half_width, half_width, -o.ymag, o.ymag]);
            planes(o.znear, Some(o.zfar)).map(|planes| (planes, format))
        }
        _ => return fail("it has no `perspective` or `orthographic` that goes with its type"),
    };
    let Some(((near, far), format)) = planned else {
        return fail("`zfar` must be above `znear`, and that not below 0");
    };
    (camera.near, camera.far) = (near, far);
    Ok((camera, format))
}

/// The directions of a camera in the world: right, up and into the image.
pub fn directions(camera: &Camera) -> [Vec3; 3] {
    let m = camera.camera_to_world();
    [m.x_axis, m.y_axis, m.z_axis].map(|a| a.truncate())
}

fn format(size: Option<(u32, u32)>, aspect: Option<f32>) -> Format {
    let default = Format::default();
    let (width, height) = size.unwrap_or_else(|| {
        let aspect = aspect.unwrap_or_else(|| default.frame_aspect());
        let width = (aspect * HEIGHT).round().clamp(1.0, Format::MAX_SIDE as f32);
        (width as u32, HEIGHT as u32)
    });
    Format { width, height, ..default }
}
