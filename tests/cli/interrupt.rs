//! Renders that are interrupted: they leave the image so far, and go on where `--resume` names a
//! file.

use crate::common::work::until_worked;
use crate::common::{shadewright, stderr};
use shadewright::image::{Image, file as image_file};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A scene that begins to be drawn soon after the start: a ball within another.
const SCENE: &str = "Projection \"perspective\" \"fov\" [40]\nTranslate 0 0 4\nWorldBegin\nSphere 1 -1 1 360\nSphere 5 -5 5 360\nWorldEnd\n";

/// The same in light that paths find.
const PATHS: &str = "Projection \"perspective\" \"fov\" [40]\nIntegrator \"path\" \"p\"\nTranslate 0 0 4\nWorldBegin\nSurface \"pbr.rtsl:Glass\"\nSphere 1 -1 1 360\nSurface \"pbr.rtsl:Lambert\"\nSphere 5 -5 5 360\nSurface \"pbr.rtsl:Emitter\" \"color radiance\" [9 9 9] \"float one_sided\" [0]\nPolygon \"P\" [-1 2 -1 1 2 -1 1 2 1 -1 2 1]\nWorldEnd\n";

/// A folder with a scene.
fn folder(scene: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("scene.rib"), scene).expect("the folder can be written");
    folder
}

/// The arguments of a render of the scene into a file.
fn render<'a>(out: &'a str, size: &'a str, samples: &'a str) -> Vec<&'a str> {
    vec!["scene.rib", "--render", out, "--size", size, "--spp", samples, "--backend", "rpu"]
}

/// Starts the program.
fn start(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_shadewright"))
        .args(args)
        .current_dir(folder)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program was built with the tests")
}

/// Runs the program, and interrupts it when it has worked for so long.
fn interrupted(folder: &Path, args: &[&str], signal: &str, after: Duration) -> Output {
    let mut child = start(folder, args);
    if !until_worked(&mut child, after).has_ended {
        let number = child.id().to_string();
        Command::new("kill").args([signal, &number]).stderr(Stdio::null()).status().expect("there is `kill`");
    }
    child.wait_with_output().expect("it ends")
}

/// A render that takes long enough to be interrupted, and no longer.
struct Timed {
    /// Samples a pixel.
    samples: String,
    /// How long it works to its first sample.
    begin: Duration,
    /// How long it works as a whole.
    end: Duration,
}

impl Timed {
    /// Finds one, and leaves its image in `whole.exr`.
    fn find(folder: &Path) -> Self {
        let work = |samples: u32| {
            let mut child = start(folder, &render("whole.exr", "24x18", &samples.to_string()));
            let work = until_worked(&mut child, Duration::MAX).time;
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", stderr(&output));
            work
        };
        let begin = work(1);
        let sizes = (6..16).map(|n| 1 << n);
        let works = sizes.map(|samples| (samples, work(samples)));
        let long_enough = works.into_iter().find(|(_, end)| *end > begin + Duration::from_millis(700));
        let (samples, end) = long_enough.expect("so many samples are work");
        Self { samples: samples.to_string(), begin, end }
    }

    /// Interrupts it, with its samples kept in `film`, when it has some, but not all.
    fn interrupt(&self, folder: &Path, signal: &str) {
        let [mut low, mut high] = [self.begin, self.end];
        for _ in 0..12 {
            let after = (low + high) / 2;
            let args = [render("out.exr", "24x18", &self.samples), vec!["--resume", "film"]].concat();
            let output = interrupted(folder, &args, signal, after);
            match output.status.code() {
                Some(0) => (low, high) = (low.min(after / 2), after),
                Some(130) if folder.join("film").exists() => {
                    let said = stderr(&output);
                    let so_many = format!(" of {} samples", self.samples);
                    assert!(said.contains("interrupted after ") && said.contains(&so_many), "{said}");
                    assert!(said.contains("`out.exr` has the image so far"), "{said}");
                    return;
                }
                // It had not begun.
                _ => (low, high) = (after, high.max(2 * after)),
            }
        }
        panic!("no render could be interrupted");
    }
}

#[test]
fn a_render_that_was_interrupted_goes_on_to_the_same_bits() {
    goes_on_to_the_same_bits(SCENE, &["-INT", "-TERM"]);
}

#[test]
fn a_render_of_paths_that_was_interrupted_goes_on_to_the_same_bits() {
    goes_on_to_the_same_bits(PATHS, &["-INT"]);
}

fn goes_on_to_the_same_bits(scene: &str, signals: &[&str]) {
    let folder = folder(scene);
    let render_of = Timed::find(folder.path());
    let whole = fs::read(folder.path().join("whole.exr")).expect("an image");
    for signal in signals {
        render_of.interrupt(folder.path(), signal);
        let so_far = image_file::read(&folder.path().join("out.exr")).expect("an image");
        assert!(so_far.is_opaque(), "every pixel has samples");
        let args = [render("out.exr", "24x18", &render_of.samples), vec!["--resume", "film"]].concat();
        let output = shadewright(folder.path(), &args);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(!folder.path().join("film").exists(), "the image is complete");
        let resumed = fs::read(folder.path().join("out.exr")).expect("an image");
        assert!(resumed == whole, "{signal}: the images differ");
    }
}

#[test]
fn a_render_ends_when_its_error_is_small_enough() {
    let folder = folder(SCENE);
    let with = |out, samples, more: &[&'static str]| {
        let output =
            shadewright(folder.path(), &[&render(out, "24x18", samples)[..], &["--pattern", "sobol"], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        image_file::read(&folder.path().join(out)).expect("an image")
    };
    // Any error is good enough: 15 samples are the fewest for an estimate. They are summed in the
    // batches of 64 samples, so sums are rounded otherwise.
    let [few, fifteen, all] =
        [with("few.exr", "64", &["--target-error", "1000"]), with("15.exr", "15", &[]), with("all.exr", "64", &[])];
    let values = |image: &Image| image.rgba.iter().flatten().copied().collect::<Vec<f32>>();
    let close = |(a, b): (f32, f32)| (a - b).abs() <= 1e-6 * a.abs().max(1e-3);
    assert!(values(&few).into_iter().zip(values(&fifteen)).all(close) && few != all);
    assert!(with("none.exr", "64", &["--target-error", "0"]) == all);
    let output = shadewright(folder.path(), &[&render("no.exr", "24x18", "64")[..], &["--target-error", "1"]].concat());
    assert!(stderr(&output).contains("--target-error needs --pattern sobol"), "{}", stderr(&output));
}

#[test]
fn samples_of_another_image_are_refused() {
    let folder = folder(SCENE);
    let render_of = Timed::find(folder.path());
    render_of.interrupt(folder.path(), "-INT");
    let samples = render_of.samples;
    fs::write(folder.path().join("text"), "nothing of that kind").expect("the folder can be written");
    let other = (samples.parse::<u32>().expect("a number") + 1).to_string();
    let of_scene = [&render("no.png", "24x18", &samples)[1..], &["--resume", "film"]].concat();
    for (args, expected) in [
        (
            [render("no.png", "25x18", &samples), vec!["--resume", "film"]].concat(),
            "24x18 pixels large, and the image 25x18",
        ),
        ([render("no.png", "24x18", &other), vec!["--resume", "film"]].concat(), "with other options"),
        ([render("no.png", "24x18", &samples), vec!["--resume", "text"]].concat(), "not a checkpoint of shadewright"),
        (of_scene, "of another scene"),
    ] {
        let output = shadewright(folder.path(), &args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
        assert!(folder.path().join("film").exists() && !folder.path().join("no.png").exists());
    }
}
