//! The polygon hardware as a user meets it: the command line, its reports, images, line
//! drawings and errors.

use crate::common::{repository, shadewright, stderr};
use serde_json::Value;
use shadewright::image::file as image_file;
use std::path::Path;
use std::process::Output;

const CUBES: &str = "assets/machines/cubes-83.rib";
const DEPTH_BUFFERS: [&str; 5] = ["fuchs", "parke", "hybrid", "pixel-planes", "demetrescu"];

fn simulate(scene: &str, model: &str, more: &[&str]) -> Output {
    let scene = repository(scene);
    let scene = scene.to_string_lossy();
    let fixed = ["simulate", &*scene, "--model", model, "--size", "64x64", "--json"];
    shadewright(Path::new("."), &[&fixed, more].concat())
}

/// The report of a model as JSON.
fn report(scene: &str, model: &str, more: &[&str]) -> Value {
    let output = simulate(scene, model, more);
    assert!(output.status.success(), "{model}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn number(report: &Value, path: &str) -> f64 {
    let value = path.split('.').fold(report, |value, key| &value[key]);
    value.as_f64().unwrap_or_else(|| panic!("no `{path}` in {report}"))
}

/// With one color a polygon, only pixels at edges may differ: vertices are rounded to 1/256 of a
/// pixel, or edges to 2⁻¹⁴.
#[test]
fn hardware_with_depth_buffers_shows_what_the_ray_tracer_sees() {
    for model in DEPTH_BUFFERS {
        let more = ["--interpolation", "constant", "--check", "rpu", "--metric", "rmse", "--threshold", "0.01"];
        let report = report(CUBES, model, &more);
        assert_eq!(report["check"]["verdict"]["passed"], Value::Bool(true), "{model}: {}", report["check"]);
    }
}

/// The tree rounds vertices to scan lines and to 12 bits, so that edges move by up to half a pixel;
/// four samples down and across halve that.
#[test]
fn the_scan_line_tree_shows_what_the_ray_tracer_sees_but_for_edges() {
    let error = |more: &[&str]| {
        let judge = ["--interpolation", "constant", "--check", "rpu", "--metric", "rmse", "--threshold", "0.15"];
        let report = report(CUBES, "scan-line-tree", &[&judge, more].concat());
        number(&report, "check.report.rmse")
    };
    let (one, many) = (error(&[]), error(&["--spp", "16"]));
    assert!(one < 0.12 && many < 0.5 * one, "{one} and {many}");
}

/// The hardware's own lighting, for scenes lit from far away, is that of the shaders.
#[test]
fn the_lighting_of_the_tree_is_that_of_matte_surfaces() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = |colors: &str| {
        let out = folder.path().join(format!("{colors}.exr"));
        let more = ["--colors", colors, "--shadows", "off", "--out", &*out.to_string_lossy()];
        report(CUBES, "scan-line-tree", &more);
        image_file::read(&out).expect("an image")
    };
    let (shaders, own) = (image("shaders"), image("machine"));
    let pairs = shaders.rgba.iter().zip(&own.rgba);
    let different = pairs.filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| (a - b).abs() > 0.01)).count();
    assert!(different < 20, "{different} of 4096 pixels");
}

#[test]
fn published_numbers_stand_beside_measured_ones() {
    let tree = report(CUBES, "scan-line-tree", &[]);
    assert_eq!(tree["published"]["front.instructions"], Value::from(3652), "{}", tree["published"]);
    let planes = report(CUBES, "pixel-planes", &[]);
    assert_eq!(number(&planes, "hardware.chips_512"), 512.0);
    assert!((number(&planes, "hardware.rate") - 30_000.0).abs() < 1500.0, "{}", planes["hardware"]);
    let lines = report(CUBES, "hidden-line", &[]);
    assert!(!lines["published"].as_object().expect("an object").is_empty());
}

#[test]
fn sizes_are_swept_and_charted() {
    let folder = tempfile::tempdir().expect("a folder");
    let charts = folder.path().to_string_lossy().into_owned();
    let report = report(CUBES, "fuchs", &["--sweep", "--charts", &charts]);
    assert_eq!(report["sweep"].as_array().map(Vec::len), Some(11));
    assert!(folder.path().join("processors.svg").is_file());
    assert_eq!(report["designs"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_line_drawing_is_written_as_svg_and_as_an_image() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = repository(CUBES);
    let scene = scene.to_string_lossy();
    let draw = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let out = out.to_string_lossy().into_owned();
        let fixed = [&*scene, "--render", &out, "--model", "hidden-line", "--size", "160x160"];
        let output = shadewright(Path::new("."), &[&fixed, more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::read(&out).expect("it is written")
    };
    let svg = String::from_utf8(draw("cubes.svg", &[])).expect("text");
    assert!(svg.starts_with("<svg") && svg.contains("viewBox=\"0 0 160 160\"") && svg.ends_with("</svg>\n"), "{svg}");
    assert_eq!(svg, String::from_utf8(draw("again.svg", &["--threads", "1"])).expect("text"));
    let dashed = String::from_utf8(draw("dashed.svg", &["--hidden-lines", "dashed"])).expect("text");
    assert!(dashed.contains("stroke-dasharray") && dashed.len() > svg.len() && !svg.contains("stroke-dasharray"));
    draw("cubes.png", &[]);
    let image = image_file::read(&folder.path().join("cubes.png")).expect("an image");
    let dark = image.rgba.iter().filter(|pixel| pixel[1] < 0.3).count();
    assert!((500..8000).contains(&dark), "{dark} dark pixels");
}

#[test]
fn images_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    for model in ["scan-line-tree", "hybrid", "pixel-planes", "demetrescu", "hidden-line"] {
        let image = |threads: &str| {
            let out = folder.path().join(format!("{threads}.exr"));
            let output = simulate(CUBES, model, &["--threads", threads, "--out", &out.to_string_lossy()]);
            assert!(output.status.success(), "{}", stderr(&output));
            (output.stdout, std::fs::read(&out).expect("an image"))
        };
        assert!(image("1") == image("3"), "{model}");
    }
}

#[test]
fn what_a_model_cannot_do_is_refused() {
    let cases: [(&str, &[&str], &str); 11] = [
        ("fuchs", &["--cells", "4"], "--cells is for --model rtp-grid"),
        ("fuchs", &["--spp", "3"], "1, 4, 9, 16"),
        ("hidden-line", &["--check", "rpu"], "line drawing"),
        ("hidden-line", &["--spp", "4"], "--spp"),
        ("scan-line-tree", &["--edges", "all"], "line drawings"),
        ("parke", &["--crop", "0,0,4,4"], "--crop"),
        ("fuchs", &["--charts", "/tmp/none"], "--sweep"),
        ("hidden-line", &["--charts", "/tmp/none"], "no charts"),
        ("hidden-line", &["--interpolation", "smooth"], "--interpolation"),
        ("hidden-line", &["--stroke-width", "1e9"], "1000 pixels"),
        ("rtp", &["--colors", "hardware"], "polygon hardware"),
    ];
    for (model, more, expected) in cases {
        let output = simulate(CUBES, model, more);
        assert_eq!(output.status.code(), Some(2), "{model} {more:?}");
        assert!(stderr(&output).contains(expected), "{model} {more:?}: {}", stderr(&output));
    }
    let scene = repository(CUBES);
    let scene = scene.to_string_lossy();
    let wide = ["simulate", &*scene, "--model", "scan-line-tree", "--size", "5000x10"];
    assert!(stderr(&shadewright(Path::new("."), &wide)).contains("4096"));
    let large = ["simulate", &*scene, "--model", "fuchs", "--size", "4096x4096", "--spp", "256"];
    assert!(stderr(&shadewright(Path::new("."), &large)).contains("smaller --size"));
    let plain = ["--render", "/tmp/none.png", "--edges", "all"];
    let plain = shadewright(Path::new("."), &[&[&*scene][..], &plain].concat());
    assert!(stderr(&plain).contains("--model <MODEL>"), "{}", stderr(&plain));
    for (more, hint) in [(&["--model", "rtp"][..], "possible values: scan-line-tree"), (&[], "--model hidden-line")] {
        let output = shadewright(Path::new("."), &[&[&*scene, "--render", "/tmp/none.svg"], more].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(hint), "{}", stderr(&output));
    }
}

/// A ground that reaches behind the eye and far away hides nothing that is near; windows of the image,
/// transparency, motion and holdouts are noted.
#[test]
fn scenes_of_other_people_are_shown_with_notes() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = folder.path().join("scene.rib");
    let text = "Projection \"perspective\" \"fov\" [50] CropWindow 0 .5 0 .5 WorldBegin
        LightSource \"distantlight\" 1 \"from\" [1 3 -2] LightSource \"ambientlight\" 2 \"intensity\" [.3]
        Surface \"matte\" Color [.4 .6 .3]
        Polygon \"P\" [-10000 -1 -10000 10000 -1 -10000 10000 -1 10000 -10000 -1 10000]
        AttributeBegin Color [1 0 0] Opacity [.3 .3 .3] Translate 0 0 5 Sphere 1 -1 1 360 AttributeEnd
        AttributeBegin Matte 1 Translate 2 0 8 Sphere .5 -.5 .5 360 AttributeEnd
        WorldEnd\n";
    std::fs::write(&scene, text).expect("it can be written");
    let scene = scene.to_string_lossy();
    let out = folder.path().join("out.exr");
    let more = ["--out", &*out.to_string_lossy(), "--check", "rpu", "--metric", "rmse", "--threshold", "0.05"];
    let found = report(&scene, "fuchs", &more);
    assert_eq!(found["check"]["verdict"]["passed"], Value::Bool(true), "{}", found["check"]);
    let notes = found["notes"].to_string();
    for note in ["crop window", "transparency of 1 objects", "1 objects are holdouts"] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let image = image_file::read(&out).expect("an image");
    let middle = image.rgba[32 * 64 + 32];
    assert!(middle[0] > 0.2 && middle[0] > 8.0 * middle[1], "the sphere is not in the middle: {middle:?}");
    let ground = image.rgba[60 * 64 + 5];
    assert!(ground[1] > 0.1, "there is no ground: {ground:?}");
}

/// Cameras that are shaders have no matrix; scenes without polygons have an image all the same.
#[test]
fn odd_scenes_are_shown_or_refused_with_a_reason() {
    let output = simulate("assets/rtsl/primitives.rib", "hidden-line", &[]);
    let code = output.status.code();
    assert!(code == Some(0) || code == Some(2), "{}", stderr(&output));
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty.rib");
    std::fs::write(&empty, "Projection \"perspective\" WorldBegin WorldEnd\n").expect("it can be written");
    for model in ["scan-line-tree", "hidden-line"].iter().chain(&DEPTH_BUFFERS) {
        report(&empty.to_string_lossy(), model, &[]);
    }
}
