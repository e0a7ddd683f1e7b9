//! Scenes as other programs write them: what is wrong with them costs no more than it must.
//!
//! Each file in `tests/field` stands for a cause for which scenes of other programs were refused.

use crate::common::{shadewright, stderr};
use shadewright::image::Image;
use shadewright::image::file;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The scenes, with the numbers of their errors and warnings.
const SCENES: [(&str, usize, usize); 15] = [
    ("archive.rib", 1, 0),
    ("exporter.rib", 0, 0),
    ("foreign-lights.rib", 2, 0),
    ("made-texture.rib", 0, 0),
    ("missing-shaders.rib", 5, 0),
    ("multipass.rib", 0, 1),
    ("no-lights.rib", 0, 0),
    ("plugin.rib", 0, 1),
    ("procedurals.rib", 3, 0),
    ("ris-nodes.rib", 0, 9),
    ("ris.rib", 0, 4),
    ("slips.rib", 6, 5),
    ("teapot.rib", 0, 0),
    ("undeclared.rib", 1, 1),
    ("worlds.rib", 0, 1),
];

fn folder() -> PathBuf {
    crate::common::repository("tests/field")
}

/// Renders a scene of the folder, with more arguments, to an `.exr` file.
fn rendered(dir: &TempDir, scene: &str, more: &[&str]) -> (Image, String) {
    let out = dir.path().join("out.exr");
    let args = ["render", scene, "--backend", "rpu", "--spp", "4", "-o", out.to_str().expect("a path")];
    let output = shadewright(&folder(), &[&args, more].concat());
    assert_eq!(output.status.code(), Some(0), "{scene}: {}", stderr(&output));
    (file::read(&out).unwrap_or_else(|e| panic!("{scene}: {e}")), stderr(&output))
}

/// The mean of the pixels that are covered, and how many they are.
fn mean(image: &Image) -> ([f32; 3], usize) {
    let covered: Vec<_> = image.rgba.iter().filter(|p| p[3] > 0.5).collect();
    let sum = |c: usize| covered.iter().map(|p| p[c]).sum::<f32>() / covered.len().max(1) as f32;
    ([sum(0), sum(1), sum(2)], covered.len())
}

#[test]
fn every_scene_has_the_messages_that_it_is_known_for() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".rib"))
        .collect();
    names.sort();
    assert_eq!(names, SCENES.map(|(name, ..)| name));
    let args: Vec<&str> = ["check", "--json"].into_iter().chain(SCENES.map(|(name, ..)| name)).collect();
    let output = shadewright(&folder(), &args);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let found: Vec<_> = lines
        .lines()
        .map(|line| {
            let object: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let count = |key: &str| object[key].as_u64().expect("a number") as usize;
            (object["scene"].as_str().expect("a name").to_string(), count("errors"), count("warnings"))
        })
        .collect();
    assert_eq!(found, SCENES.map(|(name, errors, warnings)| (name.to_string(), errors, warnings)));
}

#[test]
fn every_scene_gives_an_image_that_shows_something() {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, errors, _) in SCENES.iter().filter(|(name, ..)| !["multipass.rib", "worlds.rib"].contains(name)) {
        let (image, said) = rendered(&dir, name, &["--headlight"]);
        let (color, covered) = mean(&image);
        assert!(covered > 100 && color.iter().sum::<f32>() > 0.02, "{name}: {color:?} on {covered} pixels");
        assert_eq!(said.contains("--strict refuses the scene"), *errors > 0, "{name}: {said}");
    }
}

#[test]
fn strict_refuses_and_writes_no_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("out.png");
    let refused = |more: &[&str]| {
        let args = ["render", "slips.rib", "--backend", "rpu", "-o", out.to_str().expect("a path")];
        let output = shadewright(&folder(), &[&args, more].concat());
        assert!(output.status.code() != Some(2) || !out.exists(), "a file was left behind");
        output.status.code()
    };
    assert_eq!(refused(&["--strict"]), Some(2));
    let reference = dir.path().join("reference.png");
    let made = shadewright(&folder(), &["render", "no-lights.rib", "-o", reference.to_str().expect("a path")]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let compared = ["--compare", reference.to_str().expect("a path")];
    assert_eq!(refused(&compared), Some(2), "images that are judged are of whole scenes");
    assert_eq!(refused(&[&compared[..], &["--lenient"]].concat()), Some(1), "the images differ");
}

#[test]
fn what_replaces_a_missing_surface_is_magenta() {
    let dir = tempfile::tempdir().expect("a folder");
    let (image, _) = rendered(&dir, "missing-shaders.rib", &[]);
    let at = |x: u32, y: u32| image.rgba[(y * image.width + x) as usize];
    let [r, g, b, _] = at(18, 24);
    assert!(r > 0.2 && b > 0.2 && g == 0.0, "{r} {g} {b}");
    let [r, g, b, _] = at(45, 24);
    assert!(r > 0.02 && r == g && g == b, "{r} {g} {b}");
}

#[test]
fn a_texture_of_another_tool_is_the_image_beside_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (image, _) = rendered(&dir, "made-texture.rib", &[]);
    let at = |x: u32, y: u32| image.rgba[(y * image.width + x) as usize];
    let [red, yellow] = [at(15, 12), at(15, 35)];
    assert!(red[0] > 0.3 && red[1] < 0.1 && yellow[0] > 0.3 && yellow[1] > 0.3, "{red:?} {yellow:?}");
}

#[test]
fn a_function_of_a_shared_library_is_zero_with_a_warning_and_strictly_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let (image, said) = rendered(&dir, "plugin.rib", &[]);
    let middle = image.rgba[(24 * image.width + 32) as usize];
    assert!((middle[0] - 0.2).abs() < 0.01 && (middle[2] - 0.6).abs() < 0.02, "{middle:?}");
    assert!(said.contains("the function `veins` is not defined; it is 0") && said.contains("plugin.sl:6:"), "{said}");
    assert!(said.contains("the plugin that the file names"), "{said}");
    let out = dir.path().join("strict.exr");
    let strict = ["render", "plugin.rib", "--strict", "--backend", "rpu", "-o", out.to_str().expect("a path")];
    let strict = shadewright(&folder(), &strict);
    assert_eq!(strict.status.code(), Some(2), "{}", stderr(&strict));
    assert!(stderr(&strict).contains("unknown function `veins`") && !out.exists(), "{}", stderr(&strict));
}

/// The numbered images that a scene's frames become.
fn frames(dir: &Path, scene: &str) -> Vec<(String, Image)> {
    let out = dir.join("frame.exr");
    let args = ["render", scene, "--backend", "rpu", "--spp", "4", "-o", out.to_str().expect("a path")];
    let output = shadewright(&folder(), &args);
    assert_eq!(output.status.code(), Some(0), "{scene}: {}", stderr(&output));
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(dir).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let name = |p: &Path| p.file_name().expect("a name").to_string_lossy().into_owned();
    paths.iter().filter_map(|p| Some((name(p), file::read(p).ok()?))).collect()
}

#[test]
fn worlds_without_frames_are_numbered() {
    let dir = tempfile::tempdir().expect("a folder");
    let found = frames(dir.path(), "worlds.rib");
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["frame.0001.exr", "frame.0002.exr"]);
    let [(red, _), (blue, _)] = [mean(&found[0].1), mean(&found[1].1)];
    assert!(red[0] > 0.1 && red[2] == 0.0 && blue[2] > 0.1 && blue[0] == 0.0, "{red:?} {blue:?}");
}

#[test]
fn a_frame_uses_the_shadow_map_of_the_one_before() {
    let dir = tempfile::tempdir().expect("a folder");
    let found = frames(dir.path(), "multipass.rib");
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.last(), Some(&"frame.0002.exr"));
    let (alone, said) = rendered(&dir, "multipass.rib", &["--frames", "2"]);
    assert!(said.contains("rendered the shadow map `key.z`"), "{said}");
    assert!(alone == found[found.len() - 1].1, "a frame alone differs from the same frame after the others");
    // The lower half of the sphere is dark with and without the map.
    let dark = |image: &Image| image.rgba.iter().filter(|p| p[3] > 0.99 && p[0] < 0.01).count();
    let unlit = std::fs::read_to_string(folder().join("multipass.rib"))
        .expect("the scene")
        .replace("\"zfile\" \"z\"", "\"file\" \"rgba\"");
    let without = dir.path().join("without.rib");
    std::fs::write(&without, unlit).expect("a file");
    std::fs::copy(folder().join("mapped.sl"), dir.path().join("mapped.sl")).expect("the shader");
    let (without, said) = rendered(&dir, without.to_str().expect("a path"), &["--frames", "2"]);
    assert!(said.contains("there is no texture `key.z`"), "{said}");
    let (with, without) = (dark(&alone), dark(&without));
    assert!(with > without + 20 && with < without + 400, "{with} dark pixels, {without} without the map");
}
