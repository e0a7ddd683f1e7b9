//! Whole images through the binary. The RPU renders the scenes of `assets/scenes` and `assets/rtsl`
//! to the bits of their golden images, and a GPU those of `assets/scenes` to within a bound.
//!
//! `shadewright golden tests/golden` renders the golden images and compares them; `--bless` replaces
//! those that differ. Its report is left in `tests/current/golden`. Of the images of the documentation that
//! `assets/images/make.sh` renders, a window is rendered again; `tests/nightly.sh` renders them
//! whole.

use crate::common::{compare_backends, repository, shadewright, stderr};
use shadewright::image::file as image_file;
use std::fs;
use std::path::{Path, PathBuf};

/// The size at which a GPU is compared with the RPU.
const SIZE: &str = "80x60";

/// The most by which a software driver may differ from the RPU in a channel, relative to its value
/// where that is above 1.
///
/// Measured at [`SIZE`] with 4 samples a pixel, on lavapipe (Mesa 22.3.6, LLVM 15) and SwiftShader
/// (Chromium 148):
///
/// | scene | lavapipe | SwiftShader |
/// |---|---|---|
/// | `horizon` | 1.2e-6 | 1.2e-6 |
/// | `showcase` | 8.3e-7 | 1.2e-7 |
/// | `noise` | 5.1e-7 | 5.4e-7 |
/// | `solids` | 4.2e-7 | 4.2e-7 |
/// | `textures` | 2.7e-7 | 2.7e-7 |
/// | each other | at most 1.2e-7 | at most 6.0e-8 |
const BOUND: f32 = 2e-6;

/// The same for `still.gltf`, the only one of these scenes that is path traced, where a rounded
/// direction moves all later vertices of its path. Measured: 5.9e-5 on lavapipe, 3.9e-7 on
/// SwiftShader.
const PATH_BOUND: f32 = 1e-4;

/// The scenes in a folder, without the figures of the RTSL paper, which `tests/golden/gallery/mod.rs` renders.
fn scenes(folder: &str) -> Vec<PathBuf> {
    let mut scenes: Vec<_> = fs::read_dir(repository(folder))
        .expect("the scenes are part of the repository")
        .map(|e| e.expect("a readable folder").path())
        .filter(|p| p.extension().is_some_and(|e| e == "rib" || e == "gltf"))
        .filter(|p| !stem(p).starts_with("figure-"))
        .collect();
    scenes.sort();
    assert!(scenes.len() >= 5, "scenes are missing");
    scenes
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn both_back_ends_agree_on_every_scene() {
    let mut failed = Vec::new();
    for scene in scenes("assets/scenes") {
        let folder = repository("tests/current").join(format!("backends-{}", stem(&scene)));
        fs::create_dir_all(&folder).unwrap();
        let bound = if stem(&scene) == "still" { PATH_BOUND } else { BOUND };
        let args = [scene.to_str().unwrap(), "--size", SIZE, "--spp", "4", "--out", "difference.png"];
        match compare_backends(&folder, &args, bound) {
            Ok(_) => fs::remove_dir_all(&folder).unwrap(),
            Err(message) => failed.push(message),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn both_back_ends_agree_on_what_the_adaptive_sampler_subdivides() {
    let folder = tempfile::tempdir().unwrap();
    for scene in ["showcase", "shapes"] {
        let scene = repository(&format!("assets/scenes/{scene}.rib"));
        let args = [scene.to_str().unwrap(), "--size", SIZE, "--sampler", "adaptive"];
        compare_backends(folder.path(), &args, BOUND).unwrap_or_else(|message| panic!("{message}"));
    }
}

#[test]
fn every_scene_has_the_bits_of_its_golden_image() {
    let out = repository("tests/current/golden");
    fs::create_dir_all(repository("tests/current")).unwrap();
    let output = shadewright(&repository("."), &["golden", "tests/golden", "--out", out.to_str().unwrap(), "--json"]);
    let results: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the results are JSON");
    let failed: Vec<String> = results["images"]
        .as_array()
        .expect("there are images")
        .iter()
        .filter(|image| image["status"] != "passed")
        .map(|image| format!("{}: {} {}", image["name"], image["status"], image["reason"]))
        .collect();
    let report = out.join("report.html");
    assert!(failed.is_empty(), "{}\nthe report is {}", failed.join("\n"), report.display());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(results["leftover"], serde_json::json!([]), "every golden image has a scene");
    let all = scenes("assets/scenes").len() + scenes("assets/rtsl").len();
    assert_eq!(results["images"].as_array().map(Vec::len), Some(all), "every scene has a golden image");
}

/// The window of an image of the documentation that a test renders again: in its middle.
const PART: [u32; 2] = [16, 12];

/// The images that `assets/images/make.sh` renders, by their names, each with its arguments.
fn documented() -> Vec<(String, Vec<String>)> {
    let script = fs::read_to_string(repository("assets/images/make.sh")).expect("the script is there");
    let rendered = script.lines().filter_map(|line| {
        let (name, command) = line.strip_prefix("make ")?.split_once(" \"$program\" ")?;
        let (scene, rest) = command.split_once(&format!("--render $out/{name}.png"))?;
        let args = scene.split_whitespace().chain(rest.split_whitespace());
        Some((name.to_string(), args.map(str::to_string).collect()))
    });
    let rendered: Vec<_> = rendered.collect();
    assert!(rendered.len() >= 4, "the script renders the images of the documentation");
    rendered
}

#[test]
fn images_of_the_documentation_are_what_their_commands_render() {
    let current = repository("tests/current");
    fs::create_dir_all(&current).unwrap();
    let mut failed = Vec::new();
    for (name, args) in documented() {
        let expected = image_file::read(&repository(&format!("assets/images/{name}.png"))).unwrap();
        let [left, top] = [(expected.width, PART[0]), (expected.height, PART[1])].map(|(all, part)| (all - part) / 2);
        let crop = format!("{left},{top},{},{}", left + PART[0], top + PART[1]);
        let out = current.join(format!("documented-{name}.png"));
        let args = args.iter().map(String::as_str);
        let args: Vec<&str> = args.chain(["--crop", &crop, "--render", out.to_str().unwrap()]).collect();
        let output = shadewright(&repository("."), &args);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let part = image_file::read(&out).unwrap();
        assert_eq!([part.width, part.height], PART);
        let differs = |i: &u32| {
            let (x, y) = (i % PART[0], i / PART[0]);
            let whole = ((top + y) * expected.width + left + x) as usize;
            part.rgba[*i as usize] != expected.rgba[whole]
        };
        let different = (0..PART[0] * PART[1]).filter(differs).count();
        if different > 0 {
            failed.push(format!("{different} pixels of assets/images/{name}.png differ: assets/images/make.sh {name}"));
        } else {
            fs::remove_file(&out).unwrap();
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn an_image_does_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    for sampler in ["uniform", "adaptive"] {
        for threads in ["1", "2", "3"] {
            let out = format!("{threads}.exr");
            let backend = ["--backend", "rpu", "--threads", threads];
            let output = shadewright(
                folder.path(),
                &[&["--size", "64x48", "--sampler", sampler, "--render", &out], &backend[..]].concat(),
            );
            assert!(output.status.success(), "{}", stderr(&output));
        }
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        assert_eq!(read("1.exr"), read("2.exr"), "{sampler}");
        assert_eq!(read("1.exr"), read("3.exr"), "{sampler}");
    }
}

#[test]
fn a_window_of_an_image_holds_the_same_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let whole = ["--size", "64x48", "--backend", "rpu", "--render", "whole.exr"];
    let part = ["--size", "64x48", "--crop", "10,20,42,40", "--backend", "rpu", "--render", "part.exr"];
    for args in [&whole[..], &part[..]] {
        let output = shadewright(folder.path(), args);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let read = |name: &str| image_file::read(&folder.path().join(name)).unwrap();
    let (whole, part) = (read("whole.exr"), read("part.exr"));
    assert_eq!((part.width, part.height), (32, 20));
    for y in 0..20 {
        for x in 0..32 {
            assert_eq!(part.rgba[y * 32 + x], whole.rgba[(y + 20) * 64 + x + 10]);
        }
    }
}

#[test]
fn different_images_end_with_status_one_and_a_difference_image() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["glass", "noise"].map(|name| repository(&format!("tests/golden/scenes/{name}.exr")));
    let args = ["diff", a.to_str().unwrap(), b.to_str().unwrap(), "--out", "difference.png", "--json"];
    let output = shadewright(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(folder.path().join("difference.png").exists());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(report["verdict"]["passed"], false);
    let same = shadewright(folder.path(), &["diff", a.to_str().unwrap(), a.to_str().unwrap()]);
    assert_eq!(same.status.code(), Some(0), "{}", stderr(&same));
}

#[test]
fn a_matrix_parameter_reaches_its_shader_row_by_row_on_both_back_ends() {
    let folder = tempfile::tempdir().unwrap();
    let shader =
        "surface s(matrix m = 1) { Ci = color (comp(m, 0, 1), comp(m, 1, 0), comp(m, 3, 2)) * determinant(m / m); }";
    fs::write(folder.path().join("s.sl"), shader).unwrap();
    let scene = "Format 8 8 1\nPixelSamples 1 1\nTranslate 0 0 1.2\nWorldBegin\n\
        Surface \"s\" \"matrix m\" [0 0.5 0 0  0.25 0 0 0  0 0 1 0  0.1 0.2 0.75 1]\nSphere 1 -1 1 360\nWorldEnd\n";
    fs::write(folder.path().join("scene.rib"), scene).unwrap();
    let output = shadewright(folder.path(), &["compare", "scene.rib", "--images", "out.exr"]);
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
    for backend in ["rpu", "gpu"] {
        let image = image_file::read(&folder.path().join(format!("out-{backend}.exr"))).unwrap();
        let middle = image.rgba[8 * 4 + 4];
        let near = middle.iter().zip([0.5, 0.25, 0.75, 1.0]).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(near, "{middle:?} on the {backend}");
    }
}
