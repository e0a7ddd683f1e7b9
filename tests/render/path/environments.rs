//! Environment lights.

use super::{agree, compared, drawn, means, variance};
use image::{Rgb, Rgb32FImage};
use shadewright::scene::Estimator;
use std::fs;
use tempfile::TempDir;

/// A floor and a block on it, under the image `sky.exr`, whose upper edge is up.
const SCENE: &str = "Format 16 16 1
PixelFilter \"box\" 1 1
Projection \"perspective\" \"fov\" [40]
Integrator \"path\" \"p\" \"int maxPathLength\" [2]
Translate 0 0 6
Rotate -50 1 0 0
WorldBegin
TransformBegin
Rotate -90 1 0 0
LightSource \"envlight\" 1 \"string map\" [\"sky.exr\"] \"float intensity\" [0.5]
TransformEnd
Surface \"pbr.rtsl:Lambert\" \"color diffuse\" [0.6 0.5 0.4]
Polygon \"P\" [-5 0 -5 -5 0 5 5 0 5 5 0 -5]
PointsPolygons [4 4 4 4 4] [0 1 2 3 4 5 6 7 0 4 5 1 1 5 6 2 2 6 7 3] \"P\" [-1 0 -0.5 1 0 -0.5 1 1.2 -0.5 -1 1.2 -0.5 -1 0 0.5 1 0 0.5 1 1.2 0.5 -1 1.2 0.5]
WorldEnd
";

/// A folder with the scene and a sky of 64 × 32 texels; `patch` gives the brightness of those that
/// are brighter than the others, by column and row.
fn folder(scene: &str, patch: impl Fn(u32, u32) -> Option<f32>) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let sky = Rgb32FImage::from_fn(64, 32, |x, y| match patch(x, y) {
        Some(bright) => Rgb([bright, 0.9 * bright, 0.7 * bright]),
        None if y < 16 => Rgb([0.2, 0.3, 0.5]),
        None => Rgb([0.05, 0.04, 0.03]),
    });
    sky.save(folder.path().join("sky.exr")).expect("the folder can be written");
    fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
    folder
}

/// A patch of 8 × 6 texels.
fn window(x: u32, y: u32) -> Option<f32> {
    ((20..28).contains(&x) && (5..11).contains(&y)).then_some(8.0)
}

/// A single texel.
fn sun(x: u32, y: u32) -> Option<f32> {
    (x == 24 && y == 8).then_some(400.0)
}

fn estimated(folder: &TempDir, estimator: Estimator) -> [(f64, f64); 3] {
    means(&drawn(folder.path(), Some(estimator), 16, 0..6))
}

#[test]
fn light_from_a_image_is_the_same_however_it_is_found() {
    let folder = folder(SCENE, window);
    let power = estimated(&folder, Estimator::Power);
    agree("balance", power, estimated(&folder, Estimator::Balance));
    agree("lights", power, estimated(&folder, Estimator::Lights));
    agree("scattering", power, estimated(&folder, Estimator::Scattering));
}

#[test]
fn surfaces_that_shade_themselves_get_the_same_light() {
    // A white wall with nothing before it: no light comes by way of another surface.
    let scene = |integrator: &str, surface: &str| {
        format!(
            "Format 16 16 1\nPixelFilter \"box\" 1 1\nProjection \"perspective\" \"fov\" [40]\nIntegrator \"{integrator}\" \"i\"\nWorldBegin\nLightSource \"envlight\" 1 \"string map\" [\"sky.exr\"]\nSurface {surface}\nPolygon \"P\" [-9 -9 3 -9 9 3 9 9 3 9 -9 3]\nWorldEnd\n"
        )
    };
    let of = |integrator: &str, surface: &str| {
        let folder = folder(&scene(integrator, surface), window);
        means(&drawn(folder.path(), None, 100, 0..6))
    };
    let path = of("path", "\"pbr.rtsl:Lambert\" \"color diffuse\" [1 1 1]");
    agree("a shader in RSL", path, of("whitted", "\"matte\""));
    agree("a shader in RSL behind a path", path, of("path", "\"matte\""));
}

#[test]
fn white_under_a_white_sky_is_not_seen() {
    let furnace = super::FURNACE.replace("Option \"trace\" \"color background\" [1 1 1]\n", "");
    for map in ["", "\"string map\" [\"sky.exr\"]"] {
        let light = format!("WorldBegin\nLightSource \"envlight\" 1 {map}\n");
        let folder = folder(&furnace.replace("WorldBegin\n", &light), |_, _| None);
        Rgb32FImage::from_pixel(8, 4, Rgb([1.0; 3])).save(folder.path().join("sky.exr")).expect("an image");
        // Directions of materials are spread as the light is; with those of the light there is some
        // noise.
        let image = drawn(folder.path(), Some(Estimator::Scattering), 4, [0]).remove(0);
        assert!(image.rgba.iter().all(|p| p.iter().all(|x| (x - 1.0).abs() < 1e-4)), "{map}");
        let both = means(&drawn(folder.path(), None, 16, 0..6));
        agree(map, both, [(1.0, 0.0); 3]);
    }
}

#[test]
fn a_sun_in_the_image_is_looked_at() {
    let folder = folder(SCENE, sun);
    let of = |estimator| variance(&drawn(folder.path(), Some(estimator), 16, 0..6));
    let (both, without) = (of(Estimator::Power), of(Estimator::Scattering));
    assert!(both * 30.0 < without, "{both} with the sun looked at, {without} without");
}

#[test]
fn a_image_stands_as_its_light_does() {
    // Nothing but a speck that the light shines on: rays see the image, and +x of the light's space
    // lies in its middle.
    let scene = |turn: &str| {
        format!(
            "Format 3 3 1\nProjection \"perspective\" \"fov\" [5]\nWorldBegin\nTransformBegin\n{turn}\nLightSource \"envlight\" 1 \"string map\" [\"sky.exr\"]\nTransformEnd\nSurface \"matte\"\nPolygon \"P\" [0 0 -5 1 0 -5 0 1 -5]\nWorldEnd\n"
        )
    };
    let seen = |turn: &str, patch: fn(u32, u32) -> bool| {
        let folder = folder(&scene(turn), |x, y| patch(x, y).then_some(4.0));
        let p = drawn(folder.path(), None, 1, [0])[0].rgba[4];
        assert!(p[3] == 1.0, "what rays see covers what lies behind");
        p[0] > 3.9
    };
    // The ray goes along z.
    let top: fn(u32, u32) -> bool = |_, y| y < 8;
    let bottom: fn(u32, u32) -> bool = |_, y| y >= 24;
    let middle = |x: u32, y: u32| x.abs_diff(32) <= 3 && y.abs_diff(16) <= 3;
    let right = |x: u32, y: u32| x.abs_diff(48) <= 3 && y.abs_diff(16) <= 3;
    assert!(seen("Rotate 1 1 1 0", top) && !seen("", bottom));
    assert!(seen("Rotate 180 1 0 0", bottom) && !seen("Rotate 180 1 0 0", top));
    // A turn that brings x, or y, to where z was, and one that brings them to the other side.
    assert!(seen("Rotate -90 0 1 0", middle) && !seen("Rotate 90 0 1 0", middle));
    assert!(seen("Rotate 90 1 0 0", right) && !seen("Rotate -90 1 0 0", right));
}

#[test]
fn both_back_ends_see_the_same_sky() {
    let folder = folder(SCENE, sun);
    compared(&folder.path().join("scene.rib"), &[]);
}
