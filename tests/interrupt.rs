//! Renders that are interrupted: they leave the picture so far, and go on where `--resume` names a file.
#![cfg(unix)]

mod common;

use common::{shadewright, stderr};
use shadewright::render::image_file;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The arguments of a render of the built-in scene into a file.
fn render<'a>(out: &'a str, size: &'a str, samples: &'a str) -> Vec<&'a str> {
    vec!["--render", out, "--size", size, "--spp", samples, "--backend", "rpu"]
}

/// Runs the program, and interrupts it after a while.
fn interrupted(folder: &Path, args: &[&str], signal: &str, after: Duration) -> Output {
    let child = Command::new(env!("CARGO_BIN_EXE_shadewright"))
        .args(args)
        .current_dir(folder)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program was built with the tests");
    sleep(after);
    let number = child.id().to_string();
    Command::new("kill").args([signal, &number]).stderr(Stdio::null()).status().expect("there is `kill`");
    child.wait_with_output().expect("it ends")
}

/// Interrupts a render that keeps its samples in `film` when it has some, but not all: how many samples a pixel it was to have.
fn interrupted_midway(folder: &Path, signal: &str) -> String {
    let (mut samples, mut after) = (256u32, Duration::from_millis(500));
    for _ in 0..12 {
        let count = samples.to_string();
        let args = [render("out.exr", "24x18", &count), vec!["--resume", "film"]].concat();
        let output = interrupted(folder, &args, signal, after);
        match output.status.code() {
            Some(0) => samples = (samples * 2).min(65536),
            Some(130) if folder.join("film").exists() => {
                let said = stderr(&output);
                assert!(
                    said.contains("interrupted after ") && said.contains(&format!(" of {count} samples")),
                    "{said}"
                );
                assert!(said.contains("`out.exr` has the picture so far"), "{said}");
                return count;
            }
            // It had not begun.
            _ => after *= 2,
        }
    }
    panic!("no render could be interrupted");
}

#[test]
fn a_render_that_was_interrupted_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    for signal in ["-INT", "-TERM"] {
        let samples = interrupted_midway(folder.path(), signal);
        let so_far = image_file::read(&folder.path().join("out.exr")).expect("a picture");
        assert!(so_far.is_opaque(), "every pixel has samples");
        let args = [render("out.exr", "24x18", &samples), vec!["--resume", "film"]].concat();
        let output = shadewright(folder.path(), &args);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(!folder.path().join("film").exists(), "the picture is complete");
        let output = shadewright(folder.path(), &render("whole.exr", "24x18", &samples));
        assert!(output.status.success(), "{}", stderr(&output));
        let [resumed, whole] =
            ["out.exr", "whole.exr"].map(|name| fs::read(folder.path().join(name)).expect("a picture"));
        assert!(resumed == whole, "{signal}: the pictures differ");
    }
}

#[test]
fn a_render_ends_when_its_error_is_small_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let with = |out, samples, more: &[&'static str]| {
        let output =
            shadewright(folder.path(), &[&render(out, "24x18", samples)[..], &["--pattern", "sobol"], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read(folder.path().join(out)).expect("a picture")
    };
    // Any error is good enough: 15 samples are the fewest that tell it.
    let few = with("few.exr", "64", &["--target-error", "1000"]);
    assert!(few == with("fifteen.exr", "15", &[]) && few != with("all.exr", "64", &[]));
    assert!(with("none.exr", "64", &["--target-error", "0"]) == with("all.exr", "64", &[]));
    let output = shadewright(folder.path(), &[&render("no.exr", "24x18", "64")[..], &["--target-error", "1"]].concat());
    assert!(stderr(&output).contains("--target-error needs --pattern sobol"), "{}", stderr(&output));
}

#[test]
fn samples_of_another_picture_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let samples = interrupted_midway(folder.path(), "-INT");
    fs::write(folder.path().join("text"), "nothing of that kind").expect("the folder can be written");
    let other = (samples.parse::<u32>().expect("a number") + 1).to_string();
    let scene = "Projection \"perspective\" \"fov\" [40]\nTranslate 0 0 4\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n";
    fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
    let of_scene = [vec!["scene.rib"], render("no.png", "24x18", &samples), vec!["--resume", "film"]].concat();
    for (args, expected) in [
        (
            [render("no.png", "25x18", &samples), vec!["--resume", "film"]].concat(),
            "24x18 pixels large, and the picture 25x18",
        ),
        ([render("no.png", "24x18", &other), vec!["--resume", "film"]].concat(), "with other options"),
        ([render("no.png", "24x18", &samples), vec!["--resume", "text"]].concat(), "no film of this program"),
        (of_scene, "of another scene"),
    ] {
        let output = shadewright(folder.path(), &args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
        assert!(folder.path().join("film").exists() && !folder.path().join("no.png").exists());
    }
}
