//! The depth pass: distances along a camera's axis, for shadow maps. It traces rays and runs no
//! shader, so surfaces block whatever their opacity.

use rayon::prelude::*;
use shadewright_bvh::{Ray, TwoLevel};
use shadewright_scene::{CameraFrame, Scene};
use shadewright_texture::DepthMap;
use shadewright_texture::layout::FARTHEST;

/// The depths that a scene's camera sees through the middles of its pixels.
pub fn draw(scene: &Scene, tree: &TwoLevel) -> DepthMap {
    let frame = scene.camera_frame();
    let (width, height) = (scene.format.width, scene.format.height);
    let pixels = (0..u64::from(width) * u64::from(height)).into_par_iter();
    let depths = pixels.map(|i| {
        let [x, y] = [i % u64::from(width), i / u64::from(width)].map(|k| k as f32 + 0.5);
        depth(&frame, tree, 2.0 * x / width as f32 - 1.0, 1.0 - 2.0 * y / height as f32)
    });
    let (camera, depths) = (&scene.camera, depths.collect());
    let to_ndc = frame.to_ndc([camera.near, camera.far]);
    DepthMap { width, height, depths, to_camera: camera.world_to_camera, to_ndc }.placed(scene.world_to_current())
}

/// The depth at a place of the image, from −1 to 1, right and up.
fn depth(frame: &CameraFrame, tree: &TwoLevel, a: f32, b: f32) -> f32 {
    let offset = a * frame.half_width * frame.x + b * frame.half_height * frame.y;
    // Directions are as long as their depth, so `t` is the depth.
    let (origin, dir) = match frame.orthographic {
        true => (frame.origin + offset, frame.z),
        false => (frame.origin, frame.z + offset),
    };
    let ray = Ray { origin, dir, t_min: 0.0, t_max: FARTHEST };
    tree.closest_hit(&ray).map_or(FARTHEST, |hit| hit.t)
}
