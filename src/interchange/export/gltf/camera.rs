//! The camera (glTF 2.0, §3.10): a node that looks along its −z.

use super::{Writer, number, numbers};
use glam::{Mat4, Vec3};
use serde_json::json;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_scene::Projection;

/// The near plane of a camera without one, which glTF must have, as a share of the scene's size.
const NEAR: f32 = 1e-4;
/// The far plane of an orthographic camera without one, in sizes of the scene beyond it.
const FAR: f32 = 10.0;
/// Cosine of the angle between axes from which a camera is sheared.
const SHEARED: f32 = 1e-3;

impl Writer<'_> {
    /// Adds the camera with its node.
    pub(super) fn camera(&mut self) {
        let (camera, format) = (&self.scene.camera, self.scene.format);
        let frame = camera.frame(format);
        let to_world = self.flip * camera.camera_to_world();
        let axes = [to_world.x_axis, to_world.y_axis, to_world.z_axis].map(|axis| axis.truncate());
        let lengths = axes.map(Vec3::length);
        let [x, y, z] = axes.map(Vec3::normalize_or_zero);
        self.report_camera(camera.window(format), [x, y, z]);
        let depth = lengths[2];
        let (half_width, half_height) = (frame.half_width * lengths[0], frame.half_height * lengths[1]);
        let size = self.scene.bounds().map_or(1.0, |(low, high)| low.distance(high)).max(f32::MIN_POSITIVE);
        let origin = to_world.w_axis.truncate();
        let (near, far) = (camera.near * depth, camera.far * depth);
        let item = match camera.projection {
            Projection::Perspective { .. } => {
                let near = if near > 0.0 { near } else { NEAR * size };
                let mut perspective = json!({
                    "yfov": number(2.0 * (half_height / depth).atan()),
                    "aspectRatio": number(half_width / half_height),
                    "znear": number(near),
                });
                if far.is_finite() {
                    perspective["zfar"] = number(far);
                }
                json!({ "type": "perspective", "perspective": perspective })
            }
            Projection::Orthographic => {
                let middle = self.scene.bounds().map_or(Vec3::ZERO, |(low, high)| 0.5 * (low + high));
                let beyond = origin.distance(self.flip.transform_point3(middle)) + FAR * size;
                let far = if far.is_finite() { far } else { near + beyond };
                let orthographic = json!({
                    "xmag": number(half_width),
                    "ymag": number(half_height),
                    "znear": number(near),
                    "zfar": number(far),
                });
                json!({ "type": "orthographic", "orthographic": orthographic })
            }
        };
        let index = self.add("cameras", item);
        let place = Mat4::from_cols(x.extend(0.0), y.extend(0.0), (-z).extend(0.0), origin.extend(1.0));
        self.nodes.push(json!({ "name": "camera", "camera": index, "matrix": numbers(&place.to_cols_array()) }));
    }

    fn report_camera(&mut self, [left, right, bottom, top]: [f32; 4], [x, y, z]: [Vec3; 3]) {
        let scene = self.scene;
        let is_off_center = left + right != 0.0 || bottom + top != 0.0;
        let is_sheared = [x.dot(y), y.dot(z), z.dot(x)].iter().any(|cosine| cosine.abs() > SHEARED);
        let losses = [
            (scene.camera.lens.is_some(), "depth of field is not kept", "the exported camera is a pinhole"),
            (is_off_center, "the screen window lies off the center", "the exported camera looks at its middle"),
            (is_sheared, "the camera's axes are not at right angles", "the exported camera's are"),
            (scene.camera_shader.is_some(), "a camera shader has no form in glTF", "a plain camera takes its place"),
            (scene.ray_function.is_some(), "a ray function has no form in glTF", "a plain camera takes its place"),
            (scene.film.moves, "motion is not kept", "the exported scene stands still at one time of the shutter"),
        ];
        for (_, what, hint) in losses.into_iter().filter(|(is_lost, ..)| *is_lost) {
            self.losses.lose(Diagnostic::warning(what).hint(hint));
        }
    }
}
