//! The two bunny programs of Węgrzanowski 2006, §12.1 and §12.2, compiled from their RSL listing,
//! the main shader included, and rendered on both back ends.
//!
//! The mesh is not part of the repository: see `crate::common::bunny`.

use crate::common::{bunny, shadewright, stderr};
use std::fs;

/// The main shader of both programs: shoots the primary ray of a pixel.
const MAIN: &str = include_str!("../thesis/main.sl");

/// §12.1: from green to magenta with the distance from the camera.
const DEPTH: &str = include_str!("../thesis/depth.sl");

/// §12.2: one point light.
const LIT: &str = include_str!("../thesis/lit.sl");

/// Renders a program on both back ends and compares; gives the RPU's image.
fn image(surface: &str) -> shadewright::image::Image {
    let mesh = bunny();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.sl"), format!("{surface}{MAIN}")).unwrap();
    // The bunny, 0.15 units large in its file, stands upright before the camera at the distances
    // that the shader is made for.
    let scene = format!(
        "Format 64 64 1\nPixelSamples 1 1\nProjection \"s.sl:m\"\nWorldBegin\nColor [0.9 0.8 0.7]\nSurface \"s\"\n\
         Translate 0.15 -0.9 1.3\nScale 8 8 8\nRotate 180 0 1 0\nReadArchive \"{}\"\nWorldEnd\n",
        mesh.display()
    );
    fs::write(folder.path().join("bunny.rib"), scene).unwrap();
    let meshes = mesh.parent().unwrap().to_string_lossy().into_owned();
    let args = ["compare", "bunny.rib", "--allow-read", &meshes, "--images", "out.exr"];
    let output = shadewright(folder.path(), &args);
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
    shadewright::image::file::read(&folder.path().join("out-rpu.exr")).unwrap()
}

/// Share of pixels that the bunny covers.
fn covered(image: &shadewright::image::Image) -> f64 {
    let hit = image.rgba.iter().filter(|p| p[..3] != [0.0; 3]).count();
    hit as f64 / image.rgba.len() as f64
}

#[test]
fn the_depth_shaded_stanford_bunny_runs_from_green_to_magenta() {
    let image = image(DEPTH);
    let share = covered(&image);
    assert!((0.15..0.8).contains(&share), "the bunny covers {share} of the image");
    for [r, g, b, _] in image.rgba.iter().filter(|p| p[..3] != [0.0; 3]) {
        assert!((r + g - 1.0).abs() < 1e-5 && r == b, "({r}, {g}, {b}) is not (1 - g, g, 1 - g)");
    }
}

#[test]
fn the_lit_stanford_bunny_has_its_color_between_ambient_and_full() {
    let image = image(LIT);
    let lit: Vec<f32> = image.rgba.iter().filter(|p| p[0] > 0.0).map(|p| p[0] / 0.9).collect();
    assert!(covered(&image) > 0.15);
    assert!(lit.iter().all(|i| (0.399..=1.001).contains(i)), "intensities are from 0.4 to 1");
    let (low, high) = lit.iter().fold((1.0f32, 0.0f32), |(l, h), &i| (l.min(i), h.max(i)));
    assert!(low < 0.5 && high > 0.8, "from {low} to {high}: there is light and shade");
}
