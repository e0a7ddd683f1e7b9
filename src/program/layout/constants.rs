//! The program constants of a frame: what `uniform k` reads.

use glam::Vec3;
use shadewright_scene::{Camera, Format, Scene};

/// Number of program constants, a vector each.
pub const PROGRAM_CONSTANTS: usize = 16;

/// The program constant of the image's size.
pub const IMAGE_SIZE: usize = 1;
/// That of the projection, its kind in z, and the limit of the ray depth in w.
pub const PROJECTION: usize = 6;
/// That of the lens, its radius in x.
pub const LENS: usize = 8;
/// That of the limit of indirect contributions, in x, and the image's size in pixels, in y and z.
pub const CLAMP: usize = 10;

/// Ray bias as a fraction of the diagonal of the scene's bounding box. A hit point `o + t·d`
/// carries a rounding error of a few units in the last place of the scene's coordinates (2⁻²³ of
/// the diagonal when the scene is near the origin); this leaves about eight bits of room.
const BIAS_FRACTION: f32 = 3.0e-5;

/// The constants of a frame of `scene`, in the order of the table in `docs/internals/linking.md`.
pub fn frame_constants(scene: &Scene) -> [[f32; 4]; PROGRAM_CONSTANTS] {
    frame_constants_around(scene, None)
}

/// The same for a scene with other objects beside its meshes, inside a box with these corners.
pub fn frame_constants_around(scene: &Scene, others: Option<(Vec3, Vec3)>) -> [[f32; 4]; PROGRAM_CONSTANTS] {
    let mut c = [[0.0; 4]; PROGRAM_CONSTANTS];
    c[0] = [scene.ray_bias.unwrap_or_else(|| default_bias(scene, others)), f32::MAX, 0.0, 0.0];
    set_options(&mut c, scene.max_depth, scene.background);
    set_view(&mut c, &scene.camera, scene.format);
    let [open, close] = scene.film.shutter;
    c[9] = [scene.film.time, open, close, close - open];
    c[CLAMP][0] = scene.clamp;
    c
}

/// Sets the constants of the ray depth limit and the background.
pub fn set_options(c: &mut [[f32; 4]; PROGRAM_CONSTANTS], max_depth: u32, background: [f32; 4]) {
    c[PROJECTION][3] = max_depth as f32;
    c[7] = background;
}

/// Sets the constants of the camera and the size of the image.
pub fn set_view(c: &mut [[f32; 4]; PROGRAM_CONSTANTS], camera: &Camera, format: Format) {
    let frame = camera.frame(format);
    let (width, height) = (format.width as f32, format.height as f32);
    let row = |v: Vec3, w: f32| [v.x, v.y, v.z, w];
    c[IMAGE_SIZE] = [width, height, 1.0 / width, 1.0 / height];
    c[2] = row(frame.x, 0.0);
    c[3] = row(frame.y, 0.0);
    c[4] = row(frame.z, 0.0);
    c[5] = row(frame.origin, 1.0);
    let kind = if frame.orthographic { 1.0 } else { 0.0 };
    c[PROJECTION] = [frame.half_width, frame.half_height, kind, c[PROJECTION][3]];
    let [radius, focus] = camera.lens.map_or([0.0, 1.0], |lens| [lens.radius, lens.focus]);
    c[LENS] = [radius, focus, camera.near, camera.far.min(f32::MAX)];
    let [across, down] = camera.image_share(format);
    [c[CLAMP][1], c[CLAMP][2]] = [across * width, down * height];
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
        assert!(c.iter().flatten().all(|x| x.is_finite()));
        assert_eq!(c[1][..2], [640.0, 480.0]);
    }
}
