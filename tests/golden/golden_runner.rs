//! `shadewright golden` as its users meet it: first runs, failures, blessing, and what goes wrong.

use crate::common::{shadewright, stderr};
use serde_json::Value;
use shadewright::image::file as image_file;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A second back end that renders scenes of one color as the first does: a GPU where there is one.
const SECOND: &str = if cfg!(feature = "gpu") { "gpu" } else { "rpu-f24" };

/// A surface of one color.
const PAINT: &str = "surface paint() { Ci = color(0.25, 0.5, 0.75); Oi = 1; }";

/// A scene that a surface fills.
fn scene(surface: &str) -> String {
    format!(
        "Format 8 6 1\nPixelSamples 1 1\nProjection \"orthographic\"\nWorldBegin\nSurface \"{surface}\"\n\
         Patch \"bilinear\" \"P\" [-2 2 1  2 2 1  -2 -2 1  2 -2 1]\nWorldEnd\n"
    )
}

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    files.iter().for_each(|(name, text)| write(dir.path(), name, text));
    dir
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("the folder can be written");
}

/// The status and the output of a run of the runner.
struct Run {
    status: i32,
    output: String,
    errors: String,
}

fn run(folder: &Path, args: &[&str]) -> Run {
    let output = shadewright(folder, &[&["golden"], args].concat());
    from_output(&output)
}

fn from_output(output: &Output) -> Run {
    Run {
        status: output.status.code().expect("it ends by itself"),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        errors: stderr(output),
    }
}

/// The status and the results of a run, by name and back end.
fn results(folder: &Path, args: &[&str]) -> (i32, Value) {
    let run = run(folder, &[args, &["--json"]].concat());
    let document = serde_json::from_str(&run.output).unwrap_or_else(|e| panic!("{e}: {}{}", run.output, run.errors));
    (run.status, document)
}

/// `name backend status`, with `=` where nothing was rendered, in alphabetical order.
fn lines(document: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let images = document["images"].as_array().expect("images").iter();
    let line = |image: &Value| {
        let same = if image["unchanged"] == true { "=" } else { "" };
        let backend = if image["backend"] == SECOND { "second".to_string() } else { text(&image["backend"]) };
        format!("{} {backend} {same}{}", text(&image["name"]), text(&image["status"]))
    };
    let mut lines: Vec<String> = images.map(line).collect();
    lines.sort();
    lines.join(", ")
}

#[test]
fn a_folder_goes_from_its_first_run_to_a_change_that_is_blessed() {
    let dir =
        folder(&[("scenes/a.rib", &scene("paint")), ("scenes/b.rib", &scene("matte")), ("scenes/paint.sl", PAINT)]);
    let at = dir.path();
    // Nothing to compare with: the renders are there to be looked at.
    let backends = format!("rpu,{SECOND}");
    let first = run(at, &["scenes", "--backend", &backends]);
    assert_eq!(first.status, 1, "{}{}", first.output, first.errors);
    assert!(
        first.output.contains("new      a  rpu")
            && first.output.contains("there is no reference yet: `references/a.exr`")
    );
    assert!(first.output.contains("4 new, ") && first.output.contains("report: golden-report/report.html"));
    assert!(
        first.errors.contains("nothing to compare with") && first.errors.contains("shadewright golden scenes --bless")
    );
    assert!(
        at.join(format!("golden-report/results/a-{SECOND}/render.exr")).is_file()
            && at.join("golden-report/.gitignore").is_file()
    );
    assert!(!at.join("scenes/references").exists(), "nothing is written beside the scenes");

    // The first back end's render is the reference of all.
    let (status, blessed) = results(at, &["scenes", "--backend", &backends, "--bless"]);
    assert_eq!(
        (status, lines(&blessed)),
        (0, "a rpu =blessed, a second =passed, b rpu =blessed, b second =passed".to_string())
    );
    let reference = |name: &str| fs::read(at.join(format!("scenes/references/{name}.exr"))).expect("a reference");
    assert_eq!(reference("a"), fs::read(at.join("golden-report/results/a-rpu/render.exr")).expect("a render"));

    let again = run(at, &["scenes"]);
    assert_eq!(again.status, 0, "{}", again.errors);
    assert!(again.output.contains("2 passed (all unchanged: nothing was rendered)"), "{}", again.output);

    // A change of a shader is a change of the scenes that use it.
    write(at, "scenes/paint.sl", &PAINT.replace("0.25", "0.5"));
    let (status, failed) = results(at, &["scenes"]);
    assert_eq!((status, lines(&failed)), (1, "a rpu failed, b rpu =passed".to_string()));
    let reason = failed["images"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("FLIP mean is ") && reason.contains("must be below 0.01"), "{reason}");
    assert_eq!(failed["images"][0]["verdict"]["passed"], false);

    // A failure stays one until something changes.
    let (status, still) = results(at, &["scenes"]);
    assert_eq!((status, lines(&still)), (1, "a rpu =failed, b rpu =passed".to_string()));
    let before = [reference("a"), reference("b")];
    let one = run(at, &["scenes", "--only", "a", "--bless"]);
    assert_eq!(one.status, 0, "{}", one.errors);
    assert!(one.output.contains("replaced `scenes/references/a.exr`; before, FLIP mean is "), "{}", one.output);
    assert!(reference("a") != before[0] && reference("b") == before[1]);

    // A state that cannot be read is no error: everything is rendered again.
    write(at, "golden-report/state.txt", "damaged");
    let (status, all) = results(at, &["scenes"]);
    assert_eq!((status, lines(&all)), (0, "a rpu passed, b rpu passed".to_string()));
    assert!(all["notes"][0].as_str().is_some_and(|note| note.contains("the state of the last run is damaged")));
    let (_, forced) = results(at, &["scenes", "--force", "--only", "b"]);
    assert_eq!(lines(&forced), "b rpu passed");
}

#[test]
fn every_file_that_a_render_read_or_looked_for_makes_it_stale() {
    let textured = "surface cloth() { Ci = texture(\"cloth.tif\"); Oi = 1; }";
    let body = scene("paint").replace("WorldEnd", "ReadArchive \"part.rib\"\nWorldEnd");
    let dir = folder(&[
        ("a.rib", &body),
        ("part.rib", "Sphere 0.1 -0.1 0.1 360\n"),
        ("paint.sl", "#include \"colors.h\"\nsurface paint() { Ci = COLOR; Oi = 1; }"),
        ("colors.h", "#define COLOR color(1, 0, 0)\n"),
        ("cloth.rib", &scene("cloth")),
        ("cloth.sl", textured),
        ("golden.toml", "[[scene]]\nfile = \"*.rib\"\nexclude = \"part.rib\"\n"),
    ]);
    let at = dir.path();
    let stale = || {
        let (_, document) = results(at, &["."]);
        lines(&document)
            .split(", ")
            .filter(|line| !line.contains('='))
            .map(|line| line[..line.find(' ').unwrap()].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(stale(), ["a", "cloth"]);
    assert_eq!(stale(), [""; 0]);
    for (file, text) in [("part.rib", "Sphere 0.2 -0.2 0.2 360\n"), ("colors.h", "#define COLOR color(0, 1, 0)\n")] {
        write(at, file, text);
        assert_eq!(stale(), ["a"], "{file}");
    }
    // A shader may be found in a file of another name: the first that defines it.
    fs::rename(at.join("cloth.sl"), at.join("textiles.sl")).expect("one file system");
    assert_eq!(stale(), ["cloth"]);
    write(at, "cotton.sl", "surface cloth() { Ci = 1; Oi = 1; }");
    assert_eq!(stale(), ["cloth"]);
    fs::remove_file(at.join("cotton.sl")).expect("a file");
    assert_eq!(stale(), ["cloth"]);
    // The texture is missing so far.
    let image = shadewright::image::Image::new(1, 1, vec![[0.5; 4]]).expect("a pixel");
    image_file::write(&at.join("texture.png"), &image).expect("an image");
    fs::rename(at.join("texture.png"), at.join("cloth.tif")).expect("one file system");
    assert_eq!(stale(), ["cloth"]);
    assert_eq!(stale(), [""; 0]);
    write(at, "golden.toml", "options = [\"--seed\", \"3\"]\n[[scene]]\nfile = \"cloth.rib\"\n");
    assert_eq!(stale(), ["cloth"]);
}

#[test]
fn a_render_lists_the_files_that_it_depends_on() {
    let dir = folder(&[("a.rib", &scene("paint")), ("paint.sl", PAINT)]);
    let output = shadewright(dir.path(), &["render", "a.rib", "-o", "a.exr", "--backend", "rpu", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let files = document["files"].as_array().expect("files");
    let content = |name: &str| files.iter().find(|file| file["path"] == name).map(|file| file["content"].clone());
    assert!(content("a.rib").is_some_and(|hash| hash.as_str().is_some_and(|hash| hash.len() == 16)), "{files:?}");
    assert!(content("paint.sl").is_some_and(|hash| hash.is_string()), "{files:?}");
}

#[test]
fn an_error_in_one_scene_is_reported_and_the_others_go_on() {
    let dir = folder(&[
        ("good.rib", &scene("paint")),
        ("bad.rib", &scene("nosuch")),
        ("wrong.rib", &scene("wrong")),
        ("paint.sl", PAINT),
        ("wrong.sl", "surface wrong() {\n  Ci = colors;\n}"),
    ]);
    let at = dir.path();
    run(at, &[".", "--bless"]);
    let args = [".", "--junit", "results.xml", "--annotations", "github", "--backend", "rpu"];
    let result = run(at, &args);
    assert_eq!(result.status, 2, "{}", result.errors);
    assert!(
        result.output.contains("error    bad    rpu") && result.output.contains("passed   good   rpu"),
        "{}",
        result.output
    );
    assert!(
        result.errors.contains("--> wrong.sl:2:8") && result.errors.contains("2 |   Ci = colors;"),
        "{}",
        result.errors
    );
    let annotation = "::error file=wrong.sl,line=2,col=8,title=wrong error on rpu::";
    assert!(result.errors.lines().any(|line| line.starts_with(annotation)), "{}", result.errors);
    // A strict parser reads the document.
    let script = "import sys, xml.etree.ElementTree as tree\n\
        root = tree.parse('results.xml').getroot()\n\
        suite = root.find('testsuite')\n\
        print(root.tag, suite.get('name'), suite.get('tests'), suite.get('failures'), suite.get('errors'))\n\
        for case in suite: print(case.get('name'), float(case.get('time')) >= 0, [child.tag for child in case])\n\
        print('color' in suite[2].find('system-err').text if suite[2].get('name') != 'good' else True)\n";
    let output = Command::new("python3").args(["-c", script]).current_dir(at).output().expect("python3 is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = "testsuites . on rpu 3 0 2\nbad True ['error', 'system-err']\nwrong True ['error', 'system-err']\n\
        good True ['system-out']\nTrue\n";
    assert_eq!(text, expected);
    let page = fs::read_to_string(at.join("golden-report/report.html")).expect("a report");
    assert!(page.contains("wrong.sl:2:8") && page.contains("2 errors"));
}

#[test]
fn annotations_come_by_themselves_on_github_and_can_be_switched_off() {
    let dir = folder(&[("sub/a.rib", &scene("matte"))]);
    let on_github = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_shadewright"))
            .args([&["golden", "sub"], args].concat())
            .envs([("GITHUB_ACTIONS", "true"), ("SHADEWRIGHT_CACHE", "")])
            .env("GITHUB_WORKSPACE", dir.path())
            .current_dir(dir.path())
            .output()
            .expect("the program was built with the tests");
        from_output(&output)
    };
    assert!(on_github(&[]).errors.contains("::error file=sub/a.rib,title=a new on rpu::there is no reference yet"));
    assert!(!on_github(&["--annotations", "none"]).errors.contains("::error"));
}

#[test]
#[cfg(feature = "gpu")]
fn a_device_that_is_missing_fails_its_images_and_no_others() {
    let list = "backends = [\"rpu\"]\n[[scene]]\nfile = \"a.rib\"\n\
        [[scene]]\nfile = \"a.rib\"\nname = \"on-another\"\nbackends = [\"gpu\"]\noptions = [\"--adapter\", \"no such adapter\"]\n";
    let dir = folder(&[("a.rib", &scene("matte")), ("golden.toml", list)]);
    run(dir.path(), &[".", "--only", "a", "--bless"]);
    let (status, document) = results(dir.path(), &["."]);
    assert_eq!((status, lines(&document)), (3, "a rpu =passed, on-another second error".to_string()));
    let image = &document["images"][0];
    assert_eq!(image["cause"], "device");
    assert!(image["reason"].as_str().is_some_and(|reason| reason.contains("no such adapter")), "{image}");
}

#[test]
fn references_of_another_size_or_damaged_ones_fail_and_can_be_replaced() {
    let dir =
        folder(&[("a.rib", &scene("matte")), ("b.rib", &scene("matte")), ("golden.toml", "tolerance = \"exact\"\n")]);
    let at = dir.path();
    fs::create_dir(at.join("references")).expect("a folder");
    write(at, "references/b.png", "no image");
    let output = shadewright(at, &["render", "a.rib", "-o", "references/a.png", "--size", "4x4", "--backend", "rpu"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (status, document) = results(at, &["."]);
    assert_eq!((status, lines(&document)), (2, "a rpu failed, b rpu error".to_string()));
    let reason = |i: usize| document["images"][i]["reason"].as_str().unwrap_or_default().to_string();
    assert!(reason(0).contains("the reference cannot be read") && document["images"][0]["cause"] == "reference");
    assert_eq!(reason(1), "the reference has 4 × 4 pixels, the render 8 × 6");
    // Exact is about the bits of a file like the reference.
    assert_eq!(results(at, &[".", "--bless"]).0, 0);
    let (status, document) = results(at, &["."]);
    assert_eq!((status, lines(&document)), (0, "a rpu =passed, b rpu =passed".to_string()));
    let blessed = image_file::read(&at.join("references/a.png")).expect("a PNG file");
    assert_eq!((blessed.width, blessed.height), (8, 6));
}

#[test]
fn a_render_with_pixels_that_are_not_finite_does_not_become_a_reference() {
    let nan = "surface nan() { Ci = color(1, 1, 1) / (xcomp(P) - xcomp(P)) ; Oi = 1; }";
    let dir = folder(&[("a.rib", &scene("nan")), ("nan.sl", nan)]);
    let result = run(dir.path(), &[".", "--bless"]);
    assert_eq!(result.status, 1, "{}", result.output);
    assert!(
        result.errors.contains("not blessed: a on rpu: 48 pixels of the render are NaN or infinite"),
        "{}",
        result.errors
    );
    assert!(!dir.path().join("references").exists());
}

/// A scene with empty pixels, and others that colors of 8 bits round.
fn ball(samples: u32) -> String {
    format!(
        "Format 8 6 1\nPixelSamples {samples} {samples}\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 4\n\
         WorldBegin\nSurface \"matte\"\nColor [0.31 0.02 0.77]\nSphere 0.8 -0.8 0.8 360\nWorldEnd\n"
    )
}

#[test]
fn a_render_that_would_fail_against_itself_does_not_become_a_reference() {
    let dark = scene("paint").replace("WorldBegin", "WorldBegin\nColor [0.013 0.011 0.5]").replace("paint", "matte");
    let mut list = String::new();
    for (name, file, extension, tolerance) in [
        ("hdr", "ball", "hdr", "\"default\""),
        ("ppm", "ball", "ppm", "\"exact\""),
        ("z-png", "ball", "png", "{ metric = \"z\" }"),
        ("z-few", "few", "exr", "{ metric = \"z\" }"),
        ("good-png", "ball", "png", "\"default\""),
        ("good-pnm", "dark", "pnm", "\"default\""),
        ("good-hdr", "dark", "hdr", "{ metric = \"rmse\", threshold = 0 }"),
    ] {
        list += &format!(
            "[[scene]]\nfile = \"{file}.rib\"\nname = \"{name}\"\nreference = \"references/{{name}}.{extension}\"\n\
             tolerance = {tolerance}\n"
        );
    }
    let dir = folder(&[("ball.rib", &ball(4)), ("few.rib", &ball(2)), ("dark.rib", &dark), ("golden.toml", &list)]);
    let at = dir.path();
    // What is there stays.
    write(at, "references/hdr.hdr", "no image");
    let (status, document) = results(at, &[".", "--bless"]);
    let expected = "good-hdr rpu blessed, good-png rpu blessed, good-pnm rpu blessed, hdr rpu error, ppm rpu error, \
                    z-few rpu error, z-png rpu error";
    assert_eq!((status, lines(&document)), (2, expected.to_string()), "{document}");
    for (i, parts) in [
        &["the reference is RGB, the render RGB with alpha", "make the reference an .exr file"][..],
        &["the reference is RGB, the render RGB with alpha", "`references/ppm.ppm`"],
        &["the reference has no variances", "make the reference an .exr file"],
        &["the render has no variances", "16 samples per pixel or more"],
    ]
    .iter()
    .enumerate()
    {
        let reason = document["images"][i]["reason"].as_str().unwrap_or_default();
        assert!(parts.iter().all(|part| reason.contains(part)) && reason.starts_with("not blessed: "), "{reason}");
    }
    assert_eq!(fs::read_to_string(at.join("references/hdr.hdr")).expect("a file"), "no image");
    assert_eq!(fs::read_dir(at.join("references")).expect("a folder").count(), 4);
    fs::remove_file(at.join("references/hdr.hdr")).expect("a file");
    // A reference does not help a render without variances.
    fs::copy(at.join("golden-report/results/z-few-rpu/render.exr"), at.join("references/z-few.exr")).expect("a file");
    let (status, document) = results(at, &["."]);
    let expected = "good-hdr rpu =passed, good-png rpu =passed, good-pnm rpu =passed, hdr rpu =new, ppm rpu =new, \
                    z-few rpu =error, z-png rpu =new";
    assert_eq!((status, lines(&document)), (2, expected.to_string()), "{document}");
    let reason = document["images"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("the render has no variances"), "{reason}");
}

#[test]
fn outputs_replace_no_input_and_no_state() {
    let dir = folder(&[("a.rib", &scene("paint")), ("paint.sl", PAINT), ("references/a.exr", "no image")]);
    let at = dir.path();
    run(at, &["."]);
    for (link, target) in [
        ("scene.html", "a.rib"),
        ("reference.html", "references/a.exr"),
        ("shader.html", "paint.sl"),
        ("state.html", "golden-report/state.txt"),
        ("one.html", "both.html"),
        ("one.xml", "both.html"),
    ] {
        std::os::unix::fs::symlink(target, at.join(link)).expect("a link");
    }
    write(at, "both.html", "old");
    let state = fs::read_to_string(at.join("golden-report/state.txt")).expect("a state");
    for (args, expected) in [
        (&["--report", "a.rib"][..], "--report: `a.rib` must be a file with the extension .html"),
        (&["--junit", "a.html"], "--junit: `a.html` must be a file with the extension .xml"),
        (&["--report", "scene.html"], "--report: `scene.html` is a scene"),
        (&["--report", "reference.html"], "`reference.html` is a reference"),
        (&["--report", "shader.html"], "`shader.html` is a file that a scene reads"),
        (&["--report", "state.html"], "`state.html` is of the state of the runs"),
        (&["--junit", "golden-report/results/a-rpu/x.xml"], "x.xml` is of the state of the runs"),
        (&["--report", "one.html", "--junit", "one.xml"], "--junit: `one.xml` is the report"),
    ] {
        let result = run(at, &[&["."], args].concat());
        assert!(result.status == 2 && result.errors.contains(expected), "{args:?}: {}", result.errors);
    }
    let text = |name: &str| fs::read_to_string(at.join(name)).expect("a file");
    assert_eq!((text("a.rib"), text("paint.sl")), (scene("paint"), PAINT.to_string()));
    assert_eq!((text("references/a.exr"), text("both.html")), ("no image".to_string(), "old".to_string()));
    assert_eq!(text("golden-report/state.txt"), state);
    // Both may lie beside the state.
    let args = [".", "--report", "golden-report/r.html", "--junit", "golden-report/r.xml"];
    assert_eq!(run(at, &args).status, 2, "the reference cannot be read");
    assert!(text("golden-report/r.html").contains("<html") && text("golden-report/r.xml").contains("<testsuites"));
}

#[test]
fn a_scene_whose_name_is_not_unicode_is_an_error_and_the_others_go_on() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = folder(&[("a.rib", &scene("matte"))]);
    let at = dir.path();
    fs::write(at.join(std::ffi::OsStr::from_bytes(b"b\xff.rib")), scene("matte")).expect("a file");
    let (status, document) = results(at, &[".", "--bless"]);
    assert_eq!((status, lines(&document)), (2, "a rpu blessed, b\\xFF.rib rpu error".to_string()));
    let reason = document["images"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("not Unicode") && reason.contains("rename the file"), "{reason}");
    assert_eq!(run(at, &["."]).status, 2);
    assert_eq!(fs::read_dir(at.join("references")).expect("a folder").count(), 1);
}

#[test]
fn a_frame_that_is_a_shadow_map_is_named_as_one_and_rendered_every_time() {
    let map = ball(1).replace("WorldBegin", "Display \"z.z\" \"zfile\" \"z\"\nWorldBegin");
    let film =
        format!("FrameBegin 1\n{map}MakeShadow \"z.z\" \"z.shd\"\nFrameEnd\nFrameBegin 2\n{}FrameEnd\n", ball(1));
    let dir = folder(&[("film.rib", &film)]);
    let at = dir.path();
    let reason = |document: &Value| document["images"][0]["reason"].as_str().unwrap_or_default().to_string();
    let (status, document) = results(at, &["."]);
    assert_eq!((status, lines(&document)), (2, "film rpu error".to_string()));
    assert!(reason(&document).contains("the scene has several frames"), "{document}");
    write(at, "golden.toml", "[[scene]]\nfile = \"film.rib\"\nframes = [1, 2]\n");
    for (run, same) in [(1, ""), (2, "=")] {
        let (status, document) = results(at, &["."]);
        let expected = format!("film.0001 rpu error, film.0002 rpu {same}new");
        assert_eq!((status, lines(&document)), (2, expected), "run {run}");
        assert_eq!(reason(&document), "frame 1 is a shadow map; leave it out of `frames`");
    }
}

#[test]
fn info_prints_every_image_that_it_can_read_and_an_error_for_each_other() {
    let dir = folder(&[("bad.exr", "no image")]);
    let image = shadewright::image::Image::new(1, 1, vec![[0.5; 4]]).expect("a pixel");
    image_file::write(&dir.path().join("a.exr"), &image).expect("an image");
    let files = ["info", "bad.exr", "a.exr", "gone.exr"];
    let result = from_output(&shadewright(dir.path(), &files));
    assert_eq!(result.status, 2);
    assert!(
        result.output.contains("file        a.exr") && result.output.contains("size        1x1"),
        "{}",
        result.output
    );
    let errors: Vec<&str> = result.errors.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(errors.len() == 2 && errors[0].contains("bad.exr") && errors[1].contains("gone.exr"), "{}", result.errors);
    let result = from_output(&shadewright(dir.path(), &[&files[..], &["--json"]].concat()));
    let document: Value = serde_json::from_str(&result.output).expect("JSON");
    assert_eq!((result.status, &document[0]["file"], document[1].is_null()), (2, &"a.exr".into(), true));
}

#[test]
fn noise_of_other_random_numbers_is_within_the_metric_z() {
    let ball = |radius: &str| {
        format!(
            "Format 12 9 1\nPixelSamples 4 4\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 4\nWorldBegin\n\
             Sphere {radius} -{radius} {radius} 360\n\
             Patch \"bilinear\" \"P\" [-3 -0.8 3  3 -0.8 3  -3 -0.8 -3  3 -0.8 -3]\nWorldEnd\n"
        )
    };
    let dir = folder(&[("a.rib", &ball("0.8"))]);
    let at = dir.path();
    let run = |tolerance: &str, seed: u32, args: &[&str]| {
        let options = format!("options = [\"--integrator\", \"ao\", \"--seed\", \"{seed}\"]\n");
        write(at, "golden.toml", &format!("tolerance = {tolerance}\n{options}"));
        results(at, &[&["."], args].concat())
    };
    let z = "{ metric = \"z\" }";
    assert_eq!(run(z, 0, &["--bless"]).0, 0);
    let (status, document) = run(z, 5, &[]);
    assert_eq!((status, lines(&document)), (0, "a rpu passed".to_string()));
    let p = &document["images"][0]["report"]["significance"]["p"];
    assert!(p.as_f64().is_some_and(|p| p > 0.01), "{document}");
    assert_eq!(run("\"exact\"", 5, &[]).0, 1, "the noise is another");
    write(at, "a.rib", &ball("0.7"));
    let (status, document) = run(z, 5, &[]);
    let reason = document["images"][0]["reason"].as_str().unwrap_or_default();
    assert!(status == 1 && reason.starts_with("p of the z test is "), "{reason}");
    let page = fs::read_to_string(at.join("golden-report/report.html")).expect("a report");
    assert!(page.contains("data-kind=\"significance\"") && page.contains("Test of the means"));
}

#[test]
fn frames_are_images_of_their_own_and_a_scene_with_several_asks_for_them() {
    let frame = |n: u32| format!("FrameBegin {n}\n{}FrameEnd\n", scene("matte"));
    let both = format!("{}{}", frame(1), frame(2));
    let dir = folder(&[("film.rib", &both)]);
    let at = dir.path();
    let (status, document) = results(at, &["."]);
    assert_eq!((status, lines(&document)), (2, "film rpu error".to_string()));
    assert!(document["images"][0]["reason"].as_str().is_some_and(|reason| reason.contains("`frames`")), "{document}");
    write(at, "golden.toml", "[[scene]]\nfile = \"film.rib\"\nframes = \"1..2\"\n");
    let (status, document) = results(at, &[".", "--bless"]);
    assert_eq!((status, lines(&document)), (0, "film.0001 rpu blessed, film.0002 rpu blessed".to_string()));
    assert!(at.join("references/film.0002.exr").is_file());
}

#[test]
fn references_that_are_left_over_are_named_and_renders_of_removed_scenes_go() {
    let dir = folder(&[("a.rib", &scene("matte")), ("b.rib", &scene("matte"))]);
    let at = dir.path();
    run(at, &[".", "--bless"]);
    fs::remove_file(at.join("b.rib")).expect("a file");
    let result = run(at, &["."]);
    assert_eq!(result.status, 0, "{}", result.errors);
    assert!(result.errors.contains("warning: `./references/b.exr` is the reference of no image"), "{}", result.errors);
    assert!(!at.join("golden-report/results/b-rpu").exists() && at.join("references/b.exr").exists());
}

#[test]
fn mistakes_on_the_command_line_and_in_lists_say_what_to_do() {
    let dir = folder(&[
        ("a.rib", &scene("matte")),
        ("empty/notes.txt", ""),
        (
            "wrong.toml",
            "backends = [\"rpu\"]\noptions = [\"--spp\", \"4\", \"--sise\", \"8x8\"]\n\n[[scene]]\nfile = \"a.rib\"\ntolerence = \"exact\"\n",
        ),
    ]);
    for (args, expected) in [
        (&["nowhere"][..], &["no folder or list `nowhere`", "looked for"][..]),
        (&["empty"], &["there are no scenes in `empty`", "golden.toml"]),
        (&["a.rib"], &["`a.rib` is no folder and no list", "shadewright golden . --only a"]),
        (&["wrong.toml"], &["unknown key `tolerence`", "wrong.toml:6:1", "did you mean `tolerance`?"]),
        (&[".", "--only", "b"], &["no image matches `b`", "did you mean `a`?"]),
        (&[".", "--only", "[a"], &["`[` without `]`"]),
        (&[".", "--backend", "cpu"], &["invalid value 'cpu' for '--backend <BACKEND>'", "gpu, rpu"]),
        (&[".", "--out", "empty"], &["empty: the folder has other files"]),
        (&[".", "--junit", "nowhere/x.xml"], &["the folder nowhere does not exist"]),
    ] {
        let result = run(dir.path(), args);
        assert_eq!(result.status, 2, "{args:?}");
        for part in expected {
            assert!(result.errors.contains(part), "{args:?}: {}", result.errors);
        }
    }
    write(dir.path(), "wrong.toml", "options = [\"--spp\", \"4\", \"--sise\", \"8x8\"]\n[[scene]]\nfile = \"a.rib\"\n");
    let errors = run(dir.path(), &["wrong.toml"]).errors;
    for part in ["unexpected argument '--sise' found", "wrong.toml:1:26", "'--size'"] {
        assert!(errors.contains(part), "{errors}");
    }
}

/// A scene that takes minutes to render.
fn slow() -> String {
    scene("matte").replace("Format 8 6 1\nPixelSamples 1 1", "Format 640 480 1\nPixelSamples 200 200")
}

/// Starts the runner in a folder.
fn start(folder: &Path, args: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_shadewright"))
        .args([&["golden"], args].concat())
        .env("SHADEWRIGHT_CACHE", "")
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program was built with the tests")
}

/// The processes whose parent is this one.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    // Threads start processes, too.
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let of_tasks = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let all: Vec<String> = of_tasks.chain([text]).collect();
    all.iter().flat_map(|text| text.split_whitespace()).filter_map(|number| number.parse().ok()).collect()
}

/// Waits until something is there.
#[cfg(target_os = "linux")]
fn wait_for<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "it never comes");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
fn signal(name: &str, process: u32) {
    let status = Command::new("kill").args([name, &process.to_string()]).status().expect("there is `kill`");
    assert!(status.success());
}

#[test]
#[cfg(target_os = "linux")]
fn a_render_that_crashes_or_takes_too_long_is_one_result() {
    let dir = folder(&[("a.rib", &scene("matte")), ("slow.rib", &slow())]);
    let at = dir.path();
    run(at, &[".", "--only", "a", "--bless"]);
    let (status, document) = results(at, &[".", "--timeout", "1"]);
    assert_eq!((status, lines(&document)), (3, "a rpu =passed, slow rpu error".to_string()));
    assert_eq!(
        (&document["images"][0]["cause"], &document["images"][0]["reason"]),
        (&"timeout".into(), &"it took longer than 1 s (--timeout)".into())
    );

    let runner = start(at, &[".", "--json"]);
    let render = wait_for(|| children(runner.id()).first().copied());
    signal("-ABRT", render);
    let output = runner.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["images"][0]["cause"], "crash");
    assert!(document["images"][0]["reason"].as_str().is_some_and(|reason| reason.contains("signal: 6")), "{document}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupted_run_keeps_what_is_done_and_leaves_no_process() {
    let dir = folder(&[("a.rib", &scene("matte")), ("slow.rib", &slow())]);
    let at = dir.path();
    let mut runner = start(at, &[".", "--jobs", "2"]);
    let slow = wait_for(|| {
        children(runner.id()).first().copied().filter(|_| at.join("golden-report/results/slow-rpu").exists())
    });
    // The line of the first image.
    let mut line = String::new();
    let printed = runner.stdout.take().expect("it is piped");
    BufReader::new(printed).read_line(&mut line).expect("a line");
    assert!(line.starts_with("new      a"), "{line}");
    signal("-TERM", runner.id());
    let output = runner.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(stderr(&output).contains("interrupted: 1 of 2 images are done"), "{}", stderr(&output));
    let is_there = Path::new(&format!("/proc/{slow}")).exists();
    assert!(!is_there, "no render is left");
    let (status, document) = results(at, &[".", "--only", "a"]);
    assert_eq!((status, lines(&document)), (1, "a rpu =new".to_string()));
    // JSON has what is done.
    let runner = start(at, &[".", "--jobs", "1", "--json"]);
    wait_for(|| children(runner.id()).first().copied());
    signal("-INT", runner.id());
    let output = runner.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((lines(&document).as_str(), &document["interrupted"]), ("a rpu =new", &true.into()));
    assert_eq!((&document["passed"], &document["report"]), (&false.into(), &Value::Null));
}
