//! Parts of an image through the binary: `render --part`, `merge` and `info`. Damaged parts and tasks
//! that are killed are in `tests/cli/faults.rs`.

use crate::common::{repository, shadewright, stderr};
use std::fs;
use std::path::Path;

/// A ball that moves while the shutter is open.
const MOVING: &str = r#"
Format 12 9 1
Projection "perspective" "fov" [40]
Shutter 0 1
PixelFilter "catmull-rom" 4 4
Exposure 1.5 2.2
Quantize "rgba" 200 3 190 0.5
LightSource "distantlight" 1
WorldBegin
MotionBegin [0 1] Translate -0.4 0 5 Translate 0.4 0 5 MotionEnd
Color [0.9 0.5 0.2]
Surface "plastic"
Sphere 1 -1 1 360
WorldEnd
"#;

/// Runs the program in a folder; it succeeds.
fn run(folder: &Path, args: &[&str]) -> String {
    let output = shadewright(folder, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs it; it fails with this status and this message.
fn assert_fails(folder: &Path, args: &[&str], status: i32, message: &str) {
    let output = shadewright(folder, args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
    assert!(text.contains(message), "{args:?}: {text}");
}

/// Renders an image at once and in parts, the last part first, and compares the files.
fn assert_joins(scene: &str, options: &[&str], tiles: &str, samples: u32, extension: &str) {
    let folder = tempfile::tempdir().unwrap();
    let whole = format!("whole.{extension}");
    run(folder.path(), &[&["render", scene, "-o", &whole], options].concat());
    fs::create_dir(folder.path().join("parts")).unwrap();
    let (columns, rows) = tiles.split_once('x').unwrap();
    let count = columns.parse::<u32>().unwrap() * rows.parse::<u32>().unwrap();
    for (tile, share) in (1..=count).rev().flat_map(|tile| (1..=samples).rev().map(move |share| (tile, share))) {
        let (out, part) =
            (format!("parts/{tile}-{share}.exr"), format!("tiles:{tile}/{tiles},samples:{share}/{samples}"));
        run(folder.path(), &[&["render", scene, "-o", &out, "--part", &part], options].concat());
    }
    let joined = format!("joined.{extension}");
    run(folder.path(), &["merge", "parts", "-o", &joined]);
    let [whole, joined] = [whole, joined].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(whole == joined, "{scene} {options:?}: the files differ");
}

#[test]
fn parts_of_every_kind_of_scene_join_to_the_file_of_the_whole_image() {
    let asset = |name: &str| repository(&format!("assets/{name}")).display().to_string();
    let rpu = ["--size", "13x9", "--spp", "20", "--backend", "rpu"];
    assert_joins(&asset("rtsl/cornell.rib"), &[&rpu[..], &["--seed", "7"]].concat(), "2x1", 3, "exr");
    // An imager runs on the joined image.
    assert_joins(&asset("scenes/sepia.rib"), &rpu, "1x2", 2, "exr");
    assert_joins(&asset("scenes/sepia.rib"), &rpu, "3x1", 1, "png");
    let layers = ["--size", "13x9", "--spp", "4", "--backend", "rpu", "--layers", "normal,z", "--crop", "1,2,12,8"];
    assert_joins(&asset("scenes/showcase.rib"), &layers, "2x2", 2, "exr");
}

#[test]
fn parts_of_a_scene_that_moves_join() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("moving.rib");
    fs::write(&scene, MOVING).unwrap();
    let scene = scene.to_str().unwrap();
    for extension in ["exr", "png"] {
        assert_joins(scene, &["--spp", "8", "--backend", "rpu"], "2x1", 2, extension);
    }
}

#[test]
fn parts_of_a_gpu_join() {
    let scene = repository("assets/rtsl/cornell.rib").display().to_string();
    let gpu = ["--size", "13x9", "--spp", "20", "--backend", "gpu"];
    assert_joins(&scene, &gpu, "2x1", 3, "exr");
}

#[test]
fn an_image_and_a_part_say_what_rendered_them() {
    let folder = tempfile::tempdir().unwrap();
    let scene = repository("assets/scenes/showcase.rib").display().to_string();
    let options = ["--size", "8x6", "--spp", "4", "--backend", "rpu", "--seed", "3"];
    run(folder.path(), &[&["render", &scene, "-o", "a.exr"], &options[..]].concat());
    run(folder.path(), &[&["render", &scene, "-o", "b.exr", "--part", "2/2"], &options[..]].concat());
    let image: serde_json::Value = serde_json::from_str(&run(folder.path(), &["info", "a.exr", "--json"])).unwrap();
    let record = &image["record"];
    assert_eq!((&record["backend"], &record["seed"], &record["samples"]), (&"rpu".into(), &3.into(), &4.into()));
    assert_eq!(record["scene"], "showcase.rib");
    assert!(image["layers"]["variance"].is_array(), "{image}");
    let text = run(folder.path(), &["info", "b.exr"]);
    assert!(text.contains("part        tile 2 of 2x1\n") && text.contains("pixels      4,0,8,6\n"), "{text}");
    assert_fails(folder.path(), &["info", "c.exr"], 2, "c.exr: no such file");
}

#[test]
fn wrong_parts_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let scene = repository("assets/scenes/showcase.rib").display().to_string();
    let render = |out: &str, more: &[&str]| {
        [&["render", &scene, "-o", out, "--size", "8x6", "--spp", "4", "--backend", "rpu"], more].concat().join(" ")
    };
    let fails = |command: &str, status: i32, message: &str| {
        assert_fails(folder.path(), &command.split(' ').collect::<Vec<_>>(), status, message);
    };
    let renders = |command: &str| drop(run(folder.path(), &command.split(' ').collect::<Vec<_>>()));
    fails(&render("a.png", &["--part", "1/2"]), 2, "a part is an .exr file");
    fails(&render("a.exr", &["--part", "3/2"]), 2, "the shares are numbered from 1 to 2: there is no 3");
    fails(&render("a.exr", &["--part", "samples:1/5"]), 2, "4 samples per pixel cannot be divided into 5 shares");
    fails(&render("a.exr", &["--part", "1/9x1"]), 2, "the image of 8x6 pixels cannot be divided into 9x1 tiles");
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is written");
    renders(&render("a.exr", &["--part", "1/2"]));
    fails("merge a.exr -o out.exr", 2, "error: tile 2 of 2x1 is missing");
    fails("merge a.exr -o a.exr", 2, "`a.exr` is one of the parts; name another file");
    renders(&render("b.exr", &["--part", "2/2", "--seed", "1"]));
    fails("merge a.exr b.exr -o out.exr", 2, "`b.exr` does not belong to `a.exr`: it was rendered with seed 1");
    renders(&render("b.exr", &["--part", "2/2", "--layers", "N"]));
    fails("merge a.exr b.exr -o out.exr", 2, "`b.exr` does not belong to `a.exr`: it was rendered with the options");
    renders(&render("whole.exr", &[]));
    fails("merge a.exr whole.exr -o out.exr", 2, "`whole.exr`: it is not a part of an image");
    assert!(!folder.path().join("out.exr").exists());
}

#[test]
fn a_part_with_other_layers_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let scene = repository("assets/scenes/showcase.rib").display().to_string();
    let render = |more: &[&str]| {
        let args = ["render", &scene, "-o", "a.exr", "--size", "8x6", "--part", "1/2", "--backend", "rpu", "--reuse"];
        let output = shadewright(folder.path(), &[&args[..], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    assert!(render(&[]).contains("wrote a.exr") && render(&[]).contains("kept a.exr"));
    assert!(render(&["--layers", "N"]).contains("wrote a.exr"));
    assert!(run(folder.path(), &["info", "a.exr"]).contains("N"));
}

#[test]
fn shaders_print_once_however_an_image_is_divided() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("says.sl"), "surface says() { printf(\"%f\\n\", u); Oi = 1; Ci = 1; }").unwrap();
    let scene = "Format 4 2 1\nPixelSamples 2 1\nProjection \"orthographic\"\nWorldBegin\nSurface \"says\"\n\
                 Patch \"bilinear\" \"P\" [-2 2 1  2 2 1  -2 -2 1  2 -2 1]\nWorldEnd\n";
    fs::write(folder.path().join("says.rib"), scene).unwrap();
    let lines = |more: &[&str]| {
        let printed = run(folder.path(), &[&["render", "says.rib", "-o", "a.exr", "--backend", "rpu"], more].concat());
        printed.lines().count()
    };
    let all = lines(&[]);
    let parts =
        ["tiles:1/2x1,samples:1/2", "tiles:1/2x1,samples:2/2", "tiles:2/2x1,samples:1/2", "tiles:2/2x1,samples:2/2"];
    assert!(all > 0);
    assert_eq!(parts.map(|part| lines(&["--part", part])).iter().sum::<usize>(), all);
}

#[test]
#[cfg(unix)]
fn a_part_of_a_scene_whose_name_is_no_text_renders() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"n\xff.rib");
    fs::write(folder.path().join(name), MOVING).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_shadewright"));
    command.current_dir(folder.path()).arg("render").arg(name);
    let output = command.args(["-o", "a.exr", "--part", "1/2", "--spp", "1", "--backend", "rpu"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_backend_that_is_not_there_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let part = ["render", "-o", "a.exr", "--part", "1/2", "--backend", "gpu", "--adapter", "no such adapter"];
    assert_fails(folder.path(), &part, 3, "no such adapter");
    assert!(!folder.path().join("a.exr").exists());
}
