//! The program constants of a frame: what `uniform k` reads.

use glam::Vec3;
use shadewright_ir::abi::frame::FrameConstants;
use shadewright_scene::{Camera, Format, Scene};

/// Ray bias as a fraction of the diagonal of the scene's bounding box. A hit point `o + t·d`
/// carries a rounding error of a few units in the last place of the scene's coordinates (2⁻²³ of
/// the diagonal when the scene is near the origin); this leaves about eight bits of room.
const BIAS_FRACTION: f32 = 3.0e-5;

/// The constants of a frame of `scene`.
pub fn frame_constants(scene: &Scene) -> FrameConstants {
    frame_constants_around(scene, None)
}

/// The same for a scene with other objects beside its meshes, inside a box with these corners.
pub fn frame_constants_around(scene: &Scene, others: Option<(Vec3, Vec3)>) -> FrameConstants {
    let [open, close] = scene.film.shutter;
    let mut constants = FrameConstants {
        ray_bias: scene.ray_bias.unwrap_or_else(|| default_bias(scene, others)),
        ray_end: f32::MAX,
        time: scene.film.time,
        shutter_open: open,
        shutter_close: close,
        shutter_time: close - open,
        clamp: scene.clamp,
        ..FrameConstants::default()
    };
    set_options(&mut constants, scene.max_depth, scene.background);
    set_view(&mut constants, &scene.camera, scene.format);
    constants
}

/// Sets the ray depth limit and the background.
pub fn set_options(constants: &mut FrameConstants, max_depth: u32, background: [f32; 4]) {
    constants.max_depth = max_depth as f32;
    constants.background = background;
}

/// Sets the camera and the size of the image.
pub fn set_view(constants: &mut FrameConstants, camera: &Camera, format: Format) {
    let frame = camera.frame(format);
    let (width, height) = (format.width as f32, format.height as f32);
    let [lens_radius, focal_distance] = camera.lens.map_or([0.0, 1.0], |lens| [lens.radius, lens.focus]);
    let [across, down] = camera.image_share(format);
    let row = |v: Vec3, w: f32| [v.x, v.y, v.z, w];
    *constants = FrameConstants {
        width,
        height,
        inverse_width: 1.0 / width,
        inverse_height: 1.0 / height,
        camera_x: row(frame.x, 0.0),
        camera_y: row(frame.y, 0.0),
        camera_z: row(frame.z, 0.0),
        camera_origin: row(frame.origin, 1.0),
        half_width: frame.half_width,
        half_height: frame.half_height,
        orthographic: if frame.orthographic { 1.0 } else { 0.0 },
        lens_radius,
        focal_distance,
        near: camera.near,
        far: camera.far.min(f32::MAX),
        image_width: across * width,
        image_height: down * height,
        ..*constants
    };
}

/// The ray bias of a scene that sets none, in scene units.
fn default_bias(scene: &Scene, others: Option<(Vec3, Vec3)>) -> f32 {
    let all = scene.bounds().into_iter().chain(others).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some((low, high)) = all else { return 1.0e-4 };
    let reach = low.abs().max(high.abs()).max_element();
    BIAS_FRACTION * (high - low).length().max(1.0e-2 * reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_scene_has_finite_constants() {
        let c = frame_constants(&Scene::empty("none"));
        assert!(c.vectors().iter().flatten().all(|x| x.is_finite()));
        assert_eq!(c.format(), [640, 480]);
    }
}
