//! The command line as a user meets it: ways to write a render, what it prints, help, completions,
//! and messages about wrong usage.

use crate::common::{shadewright, stderr};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const SCENE: &str = "\
Format 16 12 1
PixelSamples 1 1
Projection \"perspective\" \"fov\" [40]
WorldBegin
Translate 0 0 3
Sphere 1 -1 1 360
WorldEnd
";

/// A folder with `scene.rib`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("scene.rib"), SCENE).expect("the folder can be written");
    folder
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs the program, which succeeds.
#[track_caller]
fn succeeds(folder: &Path, args: &[&str]) -> Output {
    let output = shadewright(folder, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    output
}

/// Runs the program, which refuses its arguments: the message.
#[track_caller]
fn refuses(folder: &Path, args: &[&str]) -> String {
    let output = shadewright(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
    stderr(&output)
}

#[test]
fn the_ways_to_write_a_render_give_the_same_image() {
    let folder = folder();
    let ways: [&[&str]; 5] = [
        &["scene.rib", "--render", "0.png"],
        &["scene.rib", "-o", "1.png"],
        &["render", "scene.rib", "-o", "2.png"],
        &["render", "scene.rib", "--out", "3.png"],
        &["render", "--out=4.png", "scene.rib"],
    ];
    let images = ways.iter().enumerate().map(|(number, way)| {
        succeeds(folder.path(), &[way, &["--backend", "rpu"][..]].concat());
        fs::read(folder.path().join(format!("{number}.png"))).expect("an image")
    });
    let images: Vec<_> = images.collect();
    assert!(images.windows(2).all(|pair| pair[0] == pair[1]));
    let missing = refuses(folder.path(), &["render", "scene.rib"]);
    assert!(missing.contains("--out <OUT>"), "{missing}");
}

#[test]
fn every_output_has_a_short_option() {
    let folder = folder();
    succeeds(folder.path(), &["depth", "scene.rib", "-o", "depth.exr"]);
    succeeds(folder.path(), &["compile", "plastic", "--emit", "rpubin", "-o", "plastic.rpubin"]);
    let color = "color f(point p) { return color(1, 0, 0); }";
    succeeds(folder.path(), &["run", color, "f", "--on", "eval", "--image", "4x4", "-o", "a.png"]);
    succeeds(folder.path(), &["diff", "a.png", "a.png", "-o", "difference.png"]);
    succeeds(folder.path(), &["simulate", "scene.rib", "--size", "8x8", "-o", "simulated.png"]);
    succeeds(folder.path(), &["compare", "scene.rib", "--between", "rpu,rpu", "-o", "compared.png"]);
    for file in ["depth.exr", "plastic.rpubin", "difference.png", "simulated.png", "compared.png"] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
}

#[test]
fn a_render_ends_with_one_line_on_standard_error() {
    let folder = folder();
    let output = succeeds(folder.path(), &["render", "scene.rib", "-o", "box.png", "--spp", "4", "--backend", "rpu"]);
    let text = stderr(&output);
    assert!(text.starts_with("wrote box.png, 16×12, 4 spp, ") && text.contains(" s on the RPU (CPU, "), "{text}");
    assert_eq!((text.lines().count(), output.stdout.len()), (1, 0), "{text}");
}

#[test]
fn with_json_a_render_prints_one_object() {
    let folder = folder();
    let args = ["render", "scene.rib", "-o", "box.png", "--spp", "4", "--backend", "rpu", "--json"];
    let output = succeeds(folder.path(), &args);
    assert_eq!(stderr(&output), "");
    let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(object["path"], "box.png");
    assert_eq!([&object["width"], &object["height"], &object["spp"]], [16, 12, 4]);
    assert_eq!(object["backend"], "rpu");
    assert!(object["seconds"].is_f64() && object["engine"].is_string() && object["stats"].is_null(), "{object}");
}

#[test]
fn the_adaptive_sampler_reports_its_samples_and_refuses_options_of_the_uniform_one() {
    fn adaptive<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["render", "scene.rib", "-o", "box.png", "--backend", "rpu", "--sampler", "adaptive"], more].concat()
    }
    let folder = folder();
    let object = |more: &[&str]| -> Value {
        let output = succeeds(folder.path(), &adaptive(&[&["--json", "--stats"], more].concat()));
        serde_json::from_slice(&output.stdout).expect("one JSON document")
    };
    let found = object(&[]);
    let sampler = &found["stats"]["sampler"];
    let samples = sampler["samples"].as_u64().expect("a count");
    // More than the corners, and fewer than the deepest lattice.
    assert!((17 * 13 + 1..(16 * 4 + 1) * (12 * 4 + 1)).contains(&samples), "{sampler}");
    let mean = samples as f64 / (16.0 * 12.0);
    assert!((found["spp"].as_f64().expect("a mean") - mean).abs() < 1e-3, "{found}");
    assert!(sampler["subdivided_pixels"].as_u64().is_some_and(|n| n > 0 && n < 16 * 12), "{sampler}");
    assert!(sampler["most_samples_per_pixel"].as_u64().is_some_and(|n| n > 9 && n <= 25), "{sampler}");
    let whole = object(&["--sampler-depth", "0"]);
    assert_eq!(whole["stats"]["sampler"]["samples"], 17 * 13);
    let text = stderr(&succeeds(folder.path(), &adaptive(&["--sampler-threshold", "0.3", "--stats"])));
    assert!(text.contains(" spp on average (") && text.contains("\nsamples        "), "{text}");
    for (more, expected) in [
        (&["--spp", "4"][..], "--spp"),
        (&["--pattern", "sobol"], "--pattern"),
        (&["--seed", "1"], "--seed"),
        (&["--target-error", "0.1"], "--target-error"),
        (&["--resume", "file"], "--resume"),
        (&["--watch"], "--watch"),
        (&["--layers", "N"], "--layers"),
        (&["--integrator", "path"], "the path integrator needs many random samples"),
    ] {
        let text = refuses(folder.path(), &adaptive(more));
        assert!(text.starts_with("error: --sampler adaptive ") && text.contains(expected), "{more:?}: {text}");
    }
    let text = refuses(folder.path(), &["render", "scene.rib", "-o", "box.png", "--sampler-depth", "2"]);
    let message = "error: --sampler-threshold and --sampler-depth are options of --sampler adaptive: add it\n";
    assert!(text.starts_with(message), "{text}");
}

#[test]
fn frames_print_a_line_each() {
    let folder = folder();
    let animation = format!("FrameBegin 1\n{SCENE}FrameEnd\nFrameBegin 2\n{SCENE}FrameEnd\n");
    fs::write(folder.path().join("two.rib"), animation).expect("the folder can be written");
    let args = ["render", "two.rib", "-o", "f.png", "--frames", "1..2", "--backend", "rpu", "--json"];
    let text = stdout(&succeeds(folder.path(), &args));
    let paths: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["path"].clone()).collect();
    assert_eq!(paths, ["f.0001.png", "f.0002.png"]);
}

#[test]
fn a_short_help_and_a_long_one() {
    let folder = folder();
    let [short, long] = ["-h", "--help"].map(|option| stdout(&succeeds(folder.path(), &[option])));
    let options = |text: &str| text.lines().filter(|line| line.trim_start().starts_with('-')).count();
    assert!(options(&short) <= 13 && options(&long) > 30, "{short}");
    for title in ["Output:", "Camera and film:", "Sampling:", "Backend:", "Comparison:", "Diagnostics:"] {
        assert!(long.contains(&format!("\n{title}\n")), "{title}");
    }
    assert!(long.contains("  130  interrupted"), "{long}");
}

#[test]
fn solid_volume_prints_a_line_for_each_object_and_warns_of_open_ones() {
    let folder = folder();
    fs::write(
        folder.path().join("two.rib"),
        SCENE.replace("WorldEnd", "Attribute \"identifier\" \"name\" [\"tube\"] Cylinder 1 -1 1 360\nWorldEnd"),
    )
    .expect("the folder can be written");
    let output = succeeds(folder.path(), &["solid-volume", "two.rib", "--rays", "1024"]);
    let (table, warnings) = (stdout(&output), stderr(&output));
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((lines.len(), lines[1][0], lines[2][0]), (3, "Sphere", "tube"), "{table}");
    assert_eq!((lines[1].last(), lines[2].last()), (Some(&"yes"), Some(&"no")), "{table}");
    assert!(warnings.contains("tube: not closed") && !warnings.contains("Sphere: not closed"), "{warnings}");
    let json = stdout(&succeeds(folder.path(), &["solid-volume", "two.rib", "--axis", "y", "--json"]));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let volumes = json["volumes"].as_array().expect("a list");
    assert_eq!([&volumes[0]["closed"], &volumes[1]["closed"]], [true, false], "{json:#}");
    assert_eq!((&volumes[0]["rasters"][0]["axis"], &volumes[0]["error"]), (&"y".into(), &Value::Null));
    let [exact, estimate] = ["exact", "estimate"].map(|name| volumes[0][name].as_f64().expect("a number"));
    assert!((exact - estimate).abs() < 1e-3 * exact && (exact - 4.18879).abs() < 0.1, "{exact} {estimate}");
    assert!(refuses(folder.path(), &["solid-volume", "none.rib"]).contains("no file `none.rib`"));
}

#[test]
fn old_names_keep_working_with_a_note() {
    let folder = folder();
    let said = |args: &[&str]| stderr(&succeeds(folder.path(), args));
    let note = "note: the command `volume` is now `solid-volume`";
    assert!(said(&["volume", "scene.rib", "--rays", "1024"]).contains(note));
    let note = "note: `--frames` of `depth` is now `--frame`\n";
    assert_eq!(said(&["depth", "scene.rib", "-o", "a.exr", "--frames", "1"]), note);
    assert_eq!(said(&["depth", "scene.rib", "-o", "a.exr", "--frame", "1"]), "");
    let note = "note: `--strict-math` is now `--math exact`\n";
    assert!(said(&["render", "scene.rib", "-o", "a.png", "--backend", "rpu", "--strict-math"]).starts_with(note));
    let golden = shadewright(folder.path(), &["golden", ".", "--machine", "rpu"]);
    assert!(stderr(&golden).starts_with("note: `--machine` of `golden` is now `--backend`\n"), "{}", stderr(&golden));
}

#[test]
fn options_without_effect_are_refused() {
    let folder = folder();
    let cases: [(&[&str], &str); 6] = [
        (&["solid-volume", "scene.rib", "--integrator", "path"], "unexpected argument '--integrator'"),
        (&["depth", "scene.rib", "-o", "a.exr", "--spp", "4"], "unexpected argument '--spp'"),
        (&["compare", "scene.rib", "--engine", "auto"], "unexpected argument '--engine'"),
        (&["probe", "scene.rib", "1,1", "--schedule", "auto"], "--diverge <A,B>"),
        (&["scene.rib", "--crop", "0,0,1,1"], "--render <OUT>"),
        (&["depth", "scene.rib", "-o", "a.exr", "--frame", "1..2"], "invalid value '1..2' for '--frame <N>'"),
    ];
    for (args, expected) in cases {
        let text = refuses(folder.path(), args);
        assert!(text.contains(expected), "{args:?}: {text}");
    }
}

#[test]
fn completions_and_manual_pages() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = stdout(&succeeds(folder.path(), &["completions", shell]));
        assert!(script.contains("shadewright") && script.contains("integrator"), "{shell}");
    }
    assert!(stdout(&succeeds(folder.path(), &["man"])).contains(".TH shadewright 1"));
    succeeds(folder.path(), &["man", "-o", "pages"]);
    for page in ["shadewright.1", "shadewright-render.1", "shadewright-compile.1"] {
        assert!(folder.path().join("pages").join(page).exists(), "{page}");
    }
}

#[test]
fn a_subcommand_with_a_typing_error_gets_a_suggestion() {
    let folder = folder();
    for args in [&["rendre", "scene.rib"][..], &["rendre"], &["rendre", "--emit", "rpu"]] {
        let text = refuses(folder.path(), args);
        assert_eq!(text, "error: no file or subcommand `rendre`; did you mean `render`?\n");
    }
}

#[test]
fn one_scene_is_rendered_at_a_time() {
    let folder = folder();
    fs::write(folder.path().join("b.rib"), SCENE).expect("the folder can be written");
    for args in [&["scene.rib", "b.rib"][..], &["render", "scene.rib", "b.rib", "-o", "a.png"]] {
        let text = refuses(folder.path(), args);
        assert!(text.starts_with("error: one scene is rendered at a time: remove `b.rib`"), "{text}");
    }
    let other = refuses(folder.path(), &["diff", "a.png", "b.png", "c.png"]);
    assert!(other.contains("unexpected argument 'c.png'"), "{other}");
}

#[test]
fn a_missing_scene_says_where_it_was_looked_for() {
    let folder = folder();
    let path = folder.path().canonicalize().expect("a folder").join("scnee.rib");
    for args in [&["scnee.rib", "-o", "a.png"][..], &["render", "scnee.rib", "-o", "a.png"], &["compare", "scnee.rib"]]
    {
        let text = refuses(folder.path(), args);
        assert!(text.starts_with("error: no file ") && text.contains("`scnee.rib`"), "{text}");
        assert!(text.contains(&format!("looked for {}; there is `scene.rib`", path.display())), "{text}");
    }
    let text = refuses(folder.path(), &["simulate", "none/scene.rib"]);
    assert!(text.contains("there is no folder"), "{text}");
}

#[cfg(feature = "gpu")]
#[test]
fn drivers_print_no_messages_of_their_own() {
    let folder = folder();
    let devices = Command::new(env!("CARGO_BIN_EXE_shadewright"))
        .arg("devices")
        .env_remove("XDG_RUNTIME_DIR")
        .current_dir(folder.path())
        .output()
        .expect("the program was built with the tests");
    assert!(devices.status.success() && stdout(&devices).contains("RPU (CPU)"), "{}", stdout(&devices));
    assert_eq!(stderr(&devices), "");
}
