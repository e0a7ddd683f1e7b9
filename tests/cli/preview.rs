//! First images, through the binary: what `--preview` writes and what `--stats` reports of it.

use crate::common::{shadewright, stderr};
use shadewright::image::file as image_file;
use std::path::Path;

/// Renders the built-in scene and gives what was printed.
fn render(folder: &Path, args: &[&str]) -> String {
    let output = shadewright(folder, &[&["--size", "32x24"], args].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_preview_of_a_gpu_render_is_the_rpus_image_of_one_sample_and_is_there_first() {
    let folder = tempfile::tempdir().unwrap();
    render(folder.path(), &["--spp", "1", "--backend", "rpu", "--render", "one.exr"]);
    let report = render(
        folder.path(),
        &["--spp", "4", "--backend", "gpu", "--preview", "first.exr", "--render", "full.exr", "--stats", "--json"],
    );
    let [one, first, full] =
        ["one", "first", "full"].map(|name| image_file::read(&folder.path().join(format!("{name}.exr"))).unwrap());
    assert_eq!(first, one);
    assert_ne!(first, full);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let [first, full] = ["first_image_ms", "full_image_ms"].map(|key| report["stats"][key].as_f64().unwrap());
    assert!(0.0 < first && first < full, "{first} {full}");
}

#[test]
fn without_a_preview_the_first_image_is_the_full_one() {
    let folder = tempfile::tempdir().unwrap();
    let report = render(folder.path(), &["--spp", "1", "--backend", "rpu", "--render", "a.png", "--stats", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["stats"]["first_image_ms"], report["stats"]["full_image_ms"]);
}

#[test]
fn a_preview_that_cannot_be_written_is_refused_before_anything_is_rendered() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--backend", "rpu", "--preview", "first.gif", "--render", "a.png"];
    let output = shadewright(folder.path(), &args);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("first.gif"), "{}", stderr(&output));
    assert!(!folder.path().join("a.png").exists());
}
