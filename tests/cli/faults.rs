//! Failures on a farm: tasks that are killed, run twice, out of order or on another engine; parts
//! that are missing, damaged or of another image; a full disk. Each time the joined image has the
//! bits of the image rendered at once, or an error names the part.

use crate::common::work::until_worked;
use crate::common::{shadewright, stderr};
use shadewright::image::file as image_file;
use shadewright::render::part::PartFile;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// Two spheres and a light: all but the corners have samples that differ.
const SCENE: &str = "Projection \"perspective\" \"fov\" [40]\nTranslate 0 0 4\nWorldBegin\n\
    LightSource \"pointlight\" 1 \"intensity\" [20] \"point from\" [-3 3 -3]\nSphere 1 -1 1 360\n\
    Translate 1 0.5 0\nSphere 0.7 -0.7 0.7 360\nWorldEnd\n";

/// Options that all renders have.
const OPTIONS: [&str; 6] = ["--size", "24x18", "--spp", "8", "--backend", "rpu"];

/// The parts: tiles and shares of the samples.
const PARTS: [&str; 4] =
    ["tiles:1/2x1,samples:1/2", "tiles:1/2x1,samples:2/2", "tiles:2/2x1,samples:1/2", "tiles:2/2x1,samples:2/2"];

/// The name of a part in messages.
fn called(part: usize) -> String {
    format!("tile {} of 2x1, samples {} of 2", part / 2 + 1, part % 2 + 1)
}

fn file(part: usize) -> String {
    format!("part{part}.exr")
}

/// The arguments that render a part.
fn render(part: usize) -> Vec<String> {
    let mut args: Vec<String> = ["render", "scene.rib", "-o"].map(String::from).into();
    args.extend([file(part), "--part".to_string(), PARTS[part].to_string()]);
    args.extend(OPTIONS.map(String::from));
    args
}

fn run<S: AsRef<str>>(folder: &Path, args: &[S]) -> Output {
    shadewright(folder, &args.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

#[track_caller]
fn succeeds<S: AsRef<str>>(folder: &Path, args: &[S]) {
    let output = run(folder, args);
    let words: Vec<_> = args.iter().map(AsRef::as_ref).collect();
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
}

/// A farm that has rendered: the scene, its parts, and the image rendered at once. Each test works in
/// a copy.
fn rendered() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("scene.rib"), SCENE).expect("the folder can be written");
            let whole = [&["render", "scene.rib", "-o", "whole.exr"][..], &OPTIONS].concat();
            succeeds(folder.path(), &whole);
            (0..PARTS.len()).for_each(|part| succeeds(folder.path(), &render(part)));
            folder
        })
        .path()
}

/// A copy of it, with these parts.
fn farm(parts: &[usize]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["scene.rib", "whole.exr"].map(String::from).into_iter().chain(parts.iter().map(|&part| file(part)));
    for name in files {
        fs::copy(rendered().join(&name), folder.path().join(&name)).expect("the farm has rendered it");
    }
    folder
}

const ALL: [usize; 4] = [0, 1, 2, 3];

/// Joins files to `joined.exr`.
fn merge<S: AsRef<str>>(folder: &Path, files: &[S]) -> Output {
    let mut args = vec!["merge", "-o", "joined.exr"];
    args.extend(files.iter().map(AsRef::as_ref));
    shadewright(folder, &args)
}

fn names() -> Vec<String> {
    ALL.map(file).into()
}

/// The bits of an image's pixels.
fn bits(path: &Path) -> Vec<[u32; 4]> {
    let image = image_file::read(path).expect("an image");
    image.rgba.iter().map(|pixel| pixel.map(f32::to_bits)).collect()
}

/// Asserts that the joined image is the one rendered at once.
#[track_caller]
fn is_whole(folder: &Path, output: &Output) {
    assert!(output.status.success(), "{}", stderr(output));
    assert!(bits(&folder.join("joined.exr")) == bits(&folder.join("whole.exr")), "the images differ");
}

/// Asserts that a merge is refused with all of these texts, and leaves no image.
#[track_caller]
fn is_refused(folder: &Path, output: &Output, expected: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for text in expected {
        assert!(said.contains(text), "`{text}` is not in: {said}");
    }
    assert!(!folder.join("joined.exr").exists(), "{said}");
}

/// Files of a folder that are neither given ones nor hidden.
fn visible(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

/// Begins to render a part.
fn begin(folder: &Path, part: usize) -> Child {
    Command::new(env!("CARGO_BIN_EXE_shadewright"))
        .args(render(part))
        .env("SHADEWRIGHT_CACHE", "")
        .current_dir(folder)
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built with the tests")
}

#[test]
fn a_task_that_is_killed_at_any_time_leaves_no_part_and_runs_again_to_the_same_bytes() {
    let folder = farm(&ALL);
    let part = folder.path().join(file(2));
    succeeds(folder.path(), &render(2));
    let expected = fs::read(&part).expect("a part");
    fs::remove_file(&part).expect("the part");
    // Some before the scene is read, some while it renders, perhaps some after.
    for milliseconds in [0, 10, 20, 60, 150, 400] {
        let mut task = begin(folder.path(), 2);
        until_worked(&mut task, Duration::from_millis(milliseconds));
        // SIGKILL. The task may have ended before.
        let _ = task.kill();
        task.wait().expect("it ends");
        if let Ok(bytes) = fs::read(&part) {
            assert!(bytes == expected, "after {milliseconds} ms of work there is another part");
            fs::remove_file(&part).expect("the part");
        }
        assert_eq!(visible(folder.path()), ["part0.exr", "part1.exr", "part3.exr", "scene.rib", "whole.exr"]);
    }
    succeeds(folder.path(), &render(2));
    assert!(fs::read(&part).expect("a part") == expected, "the parts differ");
    // What the killed tasks left is no part.
    is_whole(folder.path(), &merge(folder.path(), &["."]));
}

#[test]
fn a_task_that_runs_twice_at_once_writes_one_part() {
    let folder = farm(&[0, 1, 3]);
    let mut tasks = [0; 3].map(|_| begin(folder.path(), 2));
    for task in &mut tasks {
        assert!(task.wait().expect("it ends").success());
    }
    let files = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(files, 6, "the scene, the image and four parts");
    is_whole(folder.path(), &merge(folder.path(), &names()));
}

#[test]
fn parts_join_in_any_order() {
    let folder = farm(&ALL);
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
        is_whole(folder.path(), &merge(folder.path(), &order.map(file)));
    }
    is_whole(folder.path(), &merge(folder.path(), &["."]));
}

#[test]
fn a_part_that_is_there_twice_counts_once() {
    let folder = farm(&ALL);
    fs::copy(folder.path().join(file(1)), folder.path().join("again.exr")).expect("a copy");
    is_whole(folder.path(), &merge(folder.path(), &["."]));
}

#[test]
fn a_part_from_another_processor_joins() {
    let folder = farm(&[0, 1, 3]);
    // The interpreter runs on any processor, with any number of threads.
    succeeds(
        folder.path(),
        &[render(2), ["--engine", "interpreter", "--threads", "1"].map(String::from).into()].concat(),
    );
    is_whole(folder.path(), &merge(folder.path(), &names()));
}

#[cfg(feature = "gpu")]
#[test]
fn a_part_from_a_gpu_among_parts_from_the_rpu_is_named() {
    let folder = farm(&[0, 1, 3]);
    crate::common::adapter();
    let on_gpu: Vec<_> = render(2).into_iter().map(|arg| if arg == "rpu" { "gpu".to_string() } else { arg }).collect();
    succeeds(folder.path(), &on_gpu);
    is_refused(folder.path(), &merge(folder.path(), &names()), &["part2.exr", "backend"]);
}

#[test]
fn parts_of_a_lost_node_are_named() {
    for missing in ALL {
        let rest: Vec<_> = ALL.into_iter().filter(|&part| part != missing).collect();
        let folder = farm(&rest);
        is_refused(folder.path(), &merge(folder.path(), &["."]), &[&format!("{} is missing", called(missing))]);
    }
    let folder = farm(&[1]);
    let missing = [0, 2, 3].map(|part| format!("{} is missing", called(part)));
    is_refused(folder.path(), &merge(folder.path(), &["."]), &missing.each_ref().map(String::as_str));
}

#[test]
fn a_part_that_is_cut_short_is_named() {
    let folder = farm(&ALL);
    let path = folder.path().join(file(1));
    let whole = fs::read(&path).expect("a part");
    let lengths = (0..24).map(|n| whole.len() * n / 24).chain([1, 7, 64, whole.len() - 1]);
    for length in lengths {
        fs::write(&path, &whole[..length]).expect("the folder can be written");
        is_refused(folder.path(), &merge(folder.path(), &names()), &["part1.exr"]);
    }
}

#[test]
fn a_part_with_a_flipped_bit_is_named_or_has_the_same_samples() {
    let folder = farm(&ALL);
    let path = folder.path().join(file(1));
    let whole = fs::read(&path).expect("a part");
    let mut refused = 0;
    for n in 0..64 {
        let mut bytes = whole.clone();
        let at = (whole.len() - 1) * n / 63;
        bytes[at] ^= 1 << (n % 8);
        fs::write(&path, &bytes).expect("the folder can be written");
        let output = merge(folder.path(), &names());
        if output.status.success() {
            is_whole(folder.path(), &output);
            fs::remove_file(folder.path().join("joined.exr")).expect("the image");
        } else {
            is_refused(folder.path(), &output, &["part1.exr"]);
            refused += 1;
        }
    }
    assert!(refused > 32, "most bytes are samples, and {refused} of 64 flips were found");
}

#[test]
fn a_part_of_another_image_is_named() {
    let folder = farm(&ALL);
    let with = |change: &[(&str, &str)]| {
        let changed = |arg: String| match change.iter().find(|(from, _)| *from == arg) {
            Some((_, to)) => (*to).to_string(),
            None => arg,
        };
        render(1).into_iter().map(changed).collect::<Vec<_>>()
    };
    let more = |options: &[&str]| [render(1), options.iter().map(|s| (*s).to_string()).collect()].concat();
    let other = SCENE.replace("Sphere 1 -1", "Sphere 0.9 -0.9");
    fs::create_dir(folder.path().join("other")).expect("a folder");
    fs::write(folder.path().join("other/scene.rib"), other).expect("the folder can be written");
    for (args, reason) in [
        (with(&[("scene.rib", "other/scene.rib")]), "scene"),
        (with(&[("24x18", "26x18")]), "size"),
        (with(&[("8", "9")]), "samples"),
        (with(&[(PARTS[1], "tiles:1/1x2,samples:2/2")]), "tiles"),
        (more(&["--seed", "7"]), "seed"),
        (more(&["--pattern", "sobol"]), "pattern"),
        (more(&["--integrator", "normals"]), "integrator"),
    ] {
        succeeds(folder.path(), &args);
        is_refused(folder.path(), &merge(folder.path(), &names()), &["part1.exr", reason]);
    }
}

#[test]
fn a_part_of_another_version_is_named() {
    let folder = farm(&ALL);
    let path = folder.path().join(file(1));
    let mut part = PartFile::decode(&mut Cursor::new(fs::read(&path).expect("a part"))).expect("a part");
    part.record.record.version = "0.0.1".to_string();
    fs::write(&path, part.encode().expect("a part")).expect("the folder can be written");
    is_refused(folder.path(), &merge(folder.path(), &names()), &["part1.exr", "version"]);
}

#[test]
fn a_bit_that_is_flipped_anywhere_in_the_only_part_of_an_image_is_found() {
    let folder = farm(&[]);
    let out = ["render", "scene.rib", "-o", "part0.exr", "--part", "1/1"];
    succeeds(folder.path(), &[&out[..], &OPTIONS].concat());
    let bytes = fs::read(folder.path().join(file(0))).expect("a part");
    let part = PartFile::decode(&mut Cursor::new(&bytes)).expect("a part");
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << (at % 8);
        // Bytes that are neither samples nor record may be flipped to the same part.
        let found = PartFile::decode(&mut Cursor::new(bytes)).ok();
        assert!(found.is_none_or(|found| found == part), "byte {at}");
    }
}

#[test]
fn files_that_are_no_parts_are_named_or_left_out() {
    let folder = farm(&ALL);
    fs::write(folder.path().join("text.exr"), "nothing of that kind").expect("the folder can be written");
    for foreign in ["text.exr", "whole.exr", "scene.rib", "nowhere.exr"] {
        let files = [names(), vec![foreign.to_string()]].concat();
        is_refused(folder.path(), &merge(folder.path(), &files), &[foreign]);
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_part_and_keeps_the_image_that_was_there() {
    let folder = farm(&[0, 1, 3]);
    // A limit on the size of files fails writes as a full disk does, and needs no privileges.
    let limited = |args: &[String]| {
        let output = Command::new("bash")
            .args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_shadewright")])
            .args(args)
            .env("SHADEWRIGHT_CACHE", "")
            .current_dir(folder.path())
            .output();
        output.expect("there is bash")
    };
    let before = fs::read_dir(folder.path()).expect("a folder").count();
    let output = limited(&render(2));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("part2.exr"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), before, "a file is left");
    succeeds(folder.path(), &render(2));
    is_whole(folder.path(), &merge(folder.path(), &names()));
    let image = fs::read(folder.path().join("joined.exr")).expect("an image");
    let joining = [vec!["merge".to_string(), "-o".to_string(), "joined.exr".to_string()], names()].concat();
    let output = limited(&joining);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("joined.exr"), "{}", stderr(&output));
    assert!(fs::read(folder.path().join("joined.exr")).expect("an image") == image);
}
