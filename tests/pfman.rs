//! pfman as a user meets it: scenes that name its files, and the commands that take them.

mod common;

use common::{shadewright, stderr};
use shadewright::image::file;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const TOOLS: &str = "float half(float x) { return x / 2; }
surface red(uniform float amount = 1) { px_rc_co = {amount, half(amount), 0}; }
";

fn folder(scene: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: String| fs::write(folder.path().join(name), text).expect("it can be written");
    put("tools.pfman", TOOLS.to_string());
    let head = "Format 8 6 1\nPixelSamples 1 1\nProjection \"perspective\"\nTranslate 0 0 2\nWorldBegin\n";
    put("s.rib", format!("{head}{scene}\nSphere 1 -1 1 360\nWorldEnd\n"));
    folder
}

/// The middle pixel of the scene and what is said, rendered with more arguments.
fn rendered(folder: &Path, more: &[&str]) -> ([f32; 4], String) {
    let args = [&["s.rib", "--render", "s.exr", "--backend", "rpu"], more].concat();
    let output = shadewright(folder, &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let image = file::read(&folder.join("s.exr")).expect("an image");
    (image.rgba[3 * 8 + 4], stderr(&output))
}

#[test]
fn a_scene_names_a_shader_of_a_file_or_a_file_with_one() {
    for name in ["tools.pfman:red", "tools.pfman"] {
        let folder = folder(&format!("Surface \"{name}\" \"amount\" [0.5]"));
        let (pixel, said) = rendered(folder.path(), &["--strict"]);
        assert_eq!(pixel, [0.5, 0.25, 0.0, 1.0], "{said}");
    }
    // Opacity counts as in the other languages: both sides of the sphere are seen.
    let folder = folder("Opacity [0.5 0.5 0.5] Surface \"tools.pfman:red\"");
    assert_eq!(rendered(folder.path(), &["--strict"]).0, [0.75, 0.375, 0.0, 0.75]);
}

#[test]
fn what_is_wrong_is_said_and_the_scene_is_shown() {
    let folder = folder("Surface \"tools.pfman:blue\"");
    assert!(rendered(folder.path(), &[]).1.contains("it defines: surface red"));
    fs::write(folder.path().join("tools.pfman"), "surface red() { px_rc_co = 1 +; }").expect("it can be written");
    let said = rendered(folder.path(), &[]).1;
    assert!(said.contains("expected an expression") && said.contains("tools.pfman:1:31"), "{said}");
}

#[test]
fn commands_take_its_files() {
    let folder = folder("");
    let run = |args: &[&str]| {
        let output = shadewright(folder.path(), args);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output))
    };
    let (status, said) = run(&["compile", "tools.pfman", "--emit", "types"]);
    assert!(status == Some(0) && said.contains("x / 2"), "{said}");
    for form in ["ast", "ir", "rpu", "wgsl", "report"] {
        let (status, said) = run(&["compile", "tools.pfman", "--emit", form]);
        assert!(status == Some(0) && !said.is_empty(), "{form}: {said}");
    }
    let (status, said) = run(&["compile", "."]);
    assert!(status == Some(0) && said.contains("1 of 1 files compile"), "{said}");
    let (status, said) = run(&["run", "tools.pfman", "half", "3", "--on", "rpu"]);
    assert!(status == Some(0) && said.contains("1.5"), "{said}");
    fs::write(folder.path().join("a.sl"), "surface a() { Ci = 1; }").expect("it can be written");
    let (status, said) = run(&["compile", "a.sl", "--emit", "types"]);
    assert!(status == Some(2) && said.contains("RSL has none"), "{said}");
}
