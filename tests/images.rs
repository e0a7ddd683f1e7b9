//! Whole images through the binary: every scene of `assets/scenes` renders alike on both machines, and like its golden image.
//!
//! `SHADEWRIGHT_BLESS=1 cargo test --test images` renders the golden images again. An image that fails is left in `tests/current`.

mod common;

use common::{repository, shadewright, stderr};
use std::fs;
use std::path::PathBuf;

const SIZE: &str = "80x60";

fn scenes() -> Vec<PathBuf> {
    let mut scenes: Vec<_> = fs::read_dir(repository("assets/scenes"))
        .expect("the scenes are part of the repository")
        .map(|e| e.expect("a readable folder").path())
        .filter(|p| p.extension().is_some_and(|e| e == "rib" || e == "gltf"))
        .collect();
    scenes.sort();
    assert!(scenes.len() >= 5, "scenes are missing");
    scenes
}

#[test]
fn both_machines_agree_on_every_scene() {
    let folder = repository("tests/current");
    fs::create_dir_all(&folder).unwrap();
    let mut failed = Vec::new();
    for scene in scenes() {
        let stem = scene.file_stem().unwrap().to_string_lossy().into_owned();
        let difference = format!("{stem}-difference.png");
        let args = ["compare", scene.to_str().unwrap(), "--size", SIZE, "--spp", "4", "--out", &difference];
        let output = shadewright(&folder, &args);
        if !output.status.success() {
            failed.push(format!("{stem}: {}{}", String::from_utf8_lossy(&output.stdout), stderr(&output)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_scene_looks_like_its_golden_image() {
    let golden = repository("tests/golden");
    let current = repository("tests/current");
    fs::create_dir_all(&current).unwrap();
    let bless = std::env::var_os("SHADEWRIGHT_BLESS").is_some();
    let mut failed = Vec::new();
    for scene in scenes() {
        let stem = scene.file_stem().unwrap().to_string_lossy().into_owned();
        let reference = golden.join(format!("{stem}.png"));
        let out = if bless { reference.clone() } else { current.join(format!("{stem}.png")) };
        let mut args = vec![scene.to_str().unwrap(), "--size", SIZE, "--spp", "4", "--backend", "rpu"];
        args.extend(["--render", out.to_str().unwrap()]);
        if !bless {
            args.extend(["--compare", reference.to_str().unwrap()]);
        }
        let output = shadewright(&current, &args);
        if !output.status.success() {
            failed.push(format!("{stem}: {}{}", String::from_utf8_lossy(&output.stdout), stderr(&output)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_image_does_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    for threads in ["1", "2", "3"] {
        let out = format!("{threads}.exr");
        let args = ["--size", "64x48", "--backend", "rpu", "--threads", threads, "--render", &out];
        let output = shadewright(folder.path(), &args);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("1.exr"), read("2.exr"));
    assert_eq!(read("1.exr"), read("3.exr"));
}

#[test]
fn a_window_of_a_image_holds_the_same_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let whole = ["--size", "64x48", "--backend", "rpu", "--render", "whole.exr"];
    let part = ["--size", "64x48", "--crop", "10,20,42,40", "--backend", "rpu", "--render", "part.exr"];
    for args in [&whole[..], &part[..]] {
        let output = shadewright(folder.path(), args);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let read = |name: &str| shadewright::image::file::read(&folder.path().join(name)).unwrap();
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
    let [a, b] = ["glass", "noise"].map(|name| repository(&format!("tests/golden/{name}.png")));
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
fn a_matrix_parameter_reaches_its_shader_row_by_row_on_both_machines() {
    let folder = tempfile::tempdir().unwrap();
    let shader =
        "surface s(matrix m = 1) { Ci = color (comp(m, 0, 1), comp(m, 1, 0), comp(m, 3, 2)) * determinant(m / m); }";
    fs::write(folder.path().join("s.sl"), shader).unwrap();
    let scene = "Format 8 8 1\nPixelSamples 1 1\nTranslate 0 0 1.2\nWorldBegin\n\
        Surface \"s\" \"matrix m\" [0 0.5 0 0  0.25 0 0 0  0 0 1 0  0.1 0.2 0.75 1]\nSphere 1 -1 1 360\nWorldEnd\n";
    fs::write(folder.path().join("scene.rib"), scene).unwrap();
    let output = shadewright(folder.path(), &["compare", "scene.rib", "--images", "out.exr"]);
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
    for machine in ["rpu", "gpu"] {
        let image = shadewright::image::file::read(&folder.path().join(format!("out-{machine}.exr"))).unwrap();
        let middle = image.rgba[8 * 4 + 4];
        let near = middle.iter().zip([0.5, 0.25, 0.75, 1.0]).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(near, "{middle:?} on the {machine}");
    }
}
