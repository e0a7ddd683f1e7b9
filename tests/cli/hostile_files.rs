//! Files that lead elsewhere, never end, or have names made to harm: what `docs/security.md` promises of
//! reading, writing, running and printing holds.

use crate::common::{shadewright, stderr};
use serde_json::{Value, json};
use shadewright::cache::KeyHasher;
use shadewright::text::visible::is_hidden;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The text in files that no scene may read.
const SECRET: &str = "S3CRETW0RD";

/// A folder with files; folders in their names are made.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    files.iter().for_each(|(name, text)| put(dir.path(), name, text));
    dir
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("the folder can be written");
}

/// A scene that a surface fills; `more` stands before the surface.
fn scene(surface: &str, more: &str) -> String {
    format!(
        "Format 8 6 1\nPixelSamples 1 1\nProjection \"orthographic\"\n{more}\nWorldBegin\nSurface {surface}\n\
         Patch \"bilinear\" \"P\" [-2 2 1  2 2 1  -2 -2 1  2 -2 1]\nWorldEnd\n"
    )
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(output)
}

/// Runs the program, which must end by itself and not panic: its status, and what it said.
fn run(folder: &Path, args: &[&str]) -> (i32, String) {
    // A program that waits for a pipe would wait for ever.
    let words = ["-k", "1", "300", env!("CARGO_BIN_EXE_shadewright")];
    let output = Command::new("timeout").args(words).args(args).current_dir(folder).output().expect("a program");
    let said = said(&output);
    let status = output.status.code().unwrap_or_else(|| panic!("{args:?} was killed: {said}"));
    assert!(status != 124 && status != 137, "{args:?} does not end: {said}");
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    (status, said)
}

/// All regular files below a folder, by their paths from there.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path().strip_prefix(folder).expect("it is below").to_path_buf());
            }
        }
    }
    files.sort();
    files
}

// --- what golden removes and writes ---

/// A state of golden images whose records have these names.
fn state(source: &str, ids: &[&str]) -> String {
    let outcome = json!({ "status": "passed", "reason": "", "cause": null, "render": null, "failed_after": 0.0,
        "messages": "", "numbers": [], "details": "", "comparison": null });
    let record = json!({ "name": "gone", "subject": "x", "files": [], "stamp": { "bytes": 1, "modified": 1 },
        "content": "0", "judged": "0", "outcome": outcome });
    let records: serde_json::Map<String, Value> = ids.iter().map(|id| (id.to_string(), record.clone())).collect();
    let body = json!({ "source": source, "records": records }).to_string();
    let mut hasher = KeyHasher::new("shadewright golden 1");
    hasher.text(&body);
    format!("shadewright golden 1 {}\n{body}\n", hasher.finish())
}

#[test]
fn golden_removes_folders_of_images_alone_whatever_a_state_names() {
    let dir = folder(&[("scenes/a.rib", &scene("\"constant\"", "")), ("victim/precious", "1")]);
    let at = dir.path();
    let source = at.join("scenes").canonicalize().expect("a folder").display().to_string();
    let absolute = at.join("victim").display().to_string();
    let names =
        ["../../victim", "../../../victim", &absolute, "..", ".", "", "a/../../../victim", "x/y", "A", ".hidden"];
    for name in names {
        // The records of other scenes are removed, and those of images that are gone.
        for source in [&*source, "/elsewhere"] {
            put(at, "golden-report/results/x/y/kept", "1");
            put(at, "golden-report/state.txt", &state(source, &[name, "b-rpu"]));
            let (status, said) = run(at, &["golden", "scenes"]);
            assert!(status == 1 && said.contains("1 new"), "{name}: {said}");
            assert!(at.join("victim/precious").is_file(), "{name} of {source}");
            assert!(at.join("golden-report/results/x/y/kept").is_file(), "{name} of {source}");
            assert!(said.contains("the state of the last run is damaged"), "{name}: {said}");
        }
    }
    // What the runner itself makes is removed.
    put(at, "golden-report/results/b-rpu/render.exr", "1");
    put(at, "golden-report/state.txt", &state(&source, &["b-rpu"]));
    run(at, &["golden", "scenes"]);
    assert!(!at.join("golden-report/results/b-rpu").exists());
}

#[test]
fn golden_follows_no_links_in_the_folder_of_its_report() {
    for (name, target) in [
        ("golden-report", "victim"),
        ("golden-report/results", "victim"),
        ("golden-report/state.txt", "victim/precious"),
        ("golden-report/lock", "victim/precious"),
        ("golden-report/lock", "victim/new"),
        ("golden-report/.gitignore", "victim/precious"),
        ("golden-report/report.html", "victim/precious"),
    ] {
        let files = [("scenes/a.rib", &*scene("\"constant\"", "")), ("victim/precious", "1"), ("victim/a-rpu/b", "2")];
        let dir = folder(&files);
        let at = dir.path();
        if name == "golden-report" {
            put(at, "victim/state.txt", "");
        } else {
            put(at, "golden-report/state.txt", "");
        }
        let _ = fs::remove_file(at.join(name));
        symlink(at.join(target), at.join(name)).expect("a link");
        if !at.join("golden-report/state.txt").exists() {
            put(at, "golden-report/state.txt", "");
        }
        let before = files_below(&at.join("victim"));
        let (status, said) = run(at, &["golden", "scenes"]);
        assert!(status == 2 && said.contains("links are not followed"), "{name}: {status} {said}");
        assert_eq!(files_below(&at.join("victim")), before, "{name}");
        assert_eq!(fs::read(at.join("victim/precious")).expect("a file"), b"1", "{name}");
    }
}

#[test]
fn links_among_the_folders_of_images_are_replaced() {
    let dir = folder(&[("scenes/a.rib", &scene("\"constant\"", "")), ("victim/shown.json", "1")]);
    let at = dir.path();
    assert_eq!(run(at, &["golden", "scenes"]).0, 1);
    let own = at.join("golden-report/results/a-rpu");
    // A render that has not changed, with a link in the place of its folder or of a file of it.
    fs::copy(own.join("render.exr"), at.join("victim/render.exr")).expect("a file");
    fs::remove_dir_all(&own).expect("a folder");
    symlink(at.join("victim"), &own).expect("a link");
    run(at, &["golden", "scenes"]);
    assert!(fs::symlink_metadata(&own).expect("a folder").is_dir());
    fs::remove_file(own.join("shown.json")).expect("a file");
    symlink(at.join("victim/shown.json"), own.join("shown.json")).expect("a link");
    run(at, &["golden", "scenes"]);
    assert_eq!(fs::read(at.join("victim/shown.json")).expect("a file"), b"1");
    assert_eq!(files_below(&at.join("victim")).len(), 2);
}

#[test]
fn blessing_writes_no_reference_through_a_link() {
    let dir = folder(&[("scenes/a.rib", &scene("\"constant\"", "")), ("victim/precious", "1"), ("other/keep", "")]);
    let at = dir.path();
    fs::create_dir(at.join("scenes/references")).expect("a folder");
    symlink(at.join("victim/precious"), at.join("scenes/references/a.exr")).expect("a link");
    let (status, said) = run(at, &["golden", "scenes", "--bless"]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(fs::read(at.join("victim/precious")).expect("a file"), b"1");
    assert!(fs::symlink_metadata(at.join("scenes/references/a.exr")).expect("a file").is_file());
    fs::remove_dir_all(at.join("scenes/references")).expect("a folder");
    symlink(at.join("other"), at.join("scenes/references")).expect("a link");
    let (status, said) = run(at, &["golden", "scenes", "--bless"]);
    assert!(status == 2 && said.contains("outside of the list's folder"), "{status} {said}");
    assert_eq!(files_below(&at.join("other")), [PathBuf::from("keep")]);
}

// --- what a scene reads ---

/// Scenes that name a file, with the name that is a link to a secret.
fn scenes_of_links() -> Vec<(&'static str, String, &'static str)> {
    let plain = |more: &str| scene("\"constant\"", more);
    let named = |surface: &str| scene(surface, "");
    let with = |statement: &str| plain("").replace("WorldBegin", &format!("WorldBegin\n{statement}"));
    vec![
        ("a.rib", named("\"leak\""), "leak.sl"),
        ("a.rib", named("\"sub/leak\""), "sub/leak.sl"),
        ("a.rib", scene("\"leak\"", "Option \"searchpath\" \"shader\" [\"sub:&\"]"), "sub/leak.sl"),
        ("a.rib", named("\"other\""), "leak.sl"),
        ("a.rib", named("\"leak.rtsl:Leak\""), "leak.rtsl"),
        ("a.rib", named("\"sub/leak.rtsl:Leak\""), "sub/leak.rtsl"),
        ("a.rib", named("\"leak.pfman:leak\""), "leak.pfman"),
        ("a.rib", plain("Imager \"leak\""), "leak.sl"),
        ("a.rib", plain("Displacement \"leak\""), "leak.sl"),
        ("a.rib", with("LightSource \"leak\" 1"), "leak.sl"),
        ("a.rib", with("Atmosphere \"leak\""), "leak.sl"),
        ("a.rib", with("Interior \"leak\""), "leak.sl"),
        ("a.rib", with("Shader \"leak\" \"x\""), "leak.sl"),
        ("a.rib", plain("Projection \"leak.rtsl:Leak\""), "leak.rtsl"),
        ("a.rib", with("Geometry \"leak.rtsl:Leak\""), "leak.rtsl"),
        ("a.rib", with("ReadArchive \"leak.rib\""), "leak.rib"),
        ("a.rib", with("ReadArchive \"leak.obj\""), "leak.obj"),
        ("a.rib", with("ReadArchive \"leak.ply\""), "leak.ply"),
        ("a.rib", with("Procedural \"DelayedReadArchive\" [\"leak.rib\"] [-1 1 -1 1 -1 1]"), "leak.rib"),
        ("a.rib", named("\"paintedplastic\" \"texturename\" [\"leak.tif\"]"), "leak.tif"),
        ("a.rib", named("\"paintedplastic\" \"texturename\" [\"leak.ptc\"]"), "leak.ptc"),
        ("a.rib", plain("MakeTexture \"leak.tif\" \"x.tex\" \"periodic\" \"periodic\" \"box\" 1 1"), "leak.tif"),
        ("a.obj", "mtllib leak.mtl\nusemtl x\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".into(), "leak.mtl"),
        ("a.gltf", gltf("leak.bin", "data:,"), "leak.bin"),
        ("a.gltf", gltf(TRIANGLE, "leak.png"), "leak.png"),
    ]
}

const TRIANGLE: &str = "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";

fn gltf(buffer: &str, image: &str) -> String {
    json!({ "asset": { "version": "2.0" }, "buffers": [{ "byteLength": 36, "uri": buffer }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }], "images": [{ "uri": image }], "textures": [{ "source": 0 }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": [0, 0, 0], "max": [1, 1, 0] }],
        "materials": [{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "material": 0 }] }],
        "nodes": [{ "mesh": 0 }], "scenes": [{ "nodes": [0] }], "scene": 0 })
    .to_string()
}

/// A text that readers of each kind would quote, or take.
fn secret_for(link: &str) -> String {
    let extension = Path::new(link).extension().and_then(|e| e.to_str()).unwrap_or_default();
    match extension {
        "sl" => format!("surface other() {{ Ci = {SECRET}; }}\nsurface leak() {{ Ci = {SECRET}; }}\n"),
        "rtsl" => format!("class Leak : rt_Material {{ void shade() {{ {SECRET} }} }};\n"),
        "rib" => format!("Sides {SECRET}\nSphere 1 -1 1 360\nSurface \"{SECRET}\"\n"),
        "obj" | "mtl" => format!("v {SECRET}\nnewmtl {SECRET}\nmap_Kd {SECRET}\n"),
        _ => format!("{SECRET}\n").repeat(40),
    }
}

#[test]
fn nothing_behind_a_link_is_read_shown_or_copied_whatever_names_it() {
    for (file, text, link) in scenes_of_links() {
        let dir = folder(&[
            (&format!("scene/{file}"), &text),
            ("scene/sub/empty", ""),
            ("outside/secret", &secret_for(link)),
        ]);
        let at = dir.path();
        symlink(at.join("outside/secret"), at.join("scene").join(link)).expect("a link");
        let scene = format!("scene/{file}");
        let (pack, convert) = (["pack", &scene, "-o", "packed"], ["convert", &scene, "converted/a.rib"]);
        fs::create_dir(at.join("converted")).expect("a folder");
        for args in [&["check", &scene][..], &["check", &scene, "--json"], &pack, &convert] {
            let (_, said) = run(at, args);
            assert!(!said.contains(SECRET), "{args:?} of {link}: {said}");
        }
        for folder in ["packed", "converted"] {
            for file in files_below(&at.join(folder)) {
                let bytes = fs::read(at.join(folder).join(&file)).expect("a file");
                // Names of packed scenes stay; what is behind them does not come.
                assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{folder}/{} has {link}", file.display());
            }
        }
    }
}

#[test]
fn a_header_behind_a_link_is_not_read() {
    let header = format!("float f() {{ {SECRET} }}\n");
    let files = [
        ("scene/a.rib", &*scene("\"paint\"", "")),
        ("scene/paint.sl", "#include \"leak.h\"\nsurface paint() { Ci = 1; }\n"),
        ("outside/leak.h", &header),
    ];
    let dir = folder(&files);
    let at = dir.path();
    symlink(at.join("outside/leak.h"), at.join("scene/leak.h")).expect("a link");
    for args in
        [&["check", "scene/a.rib"][..], &["compile", "scene/paint.sl"], &["pack", "scene/a.rib", "-o", "packed"]]
    {
        let (_, said) = run(at, args);
        assert!(!said.contains(SECRET), "{args:?}: {said}");
    }
    assert!(!at.join("packed/leak.h").exists());
}

#[test]
fn links_into_folders_that_the_user_allows_are_followed() {
    let paint = "#include \"half.h\"\nsurface paint() { Ci = HALF; Oi = 1; }\n";
    let files = [
        ("scene/a.rib", &*scene("\"paint\"", "")),
        ("library/paint.sl", paint),
        ("library/half.h", "#define HALF 0.5\n"),
    ];
    let dir = folder(&files);
    let at = dir.path();
    for name in ["paint.sl", "half.h"] {
        symlink(at.join("library").join(name), at.join("scene").join(name)).expect("a link");
    }
    let (status, said) = run(at, &["check", "scene/a.rib"]);
    assert!(status == 2 && said.contains("is not allowed") && said.contains("--allow-read"), "{status} {said}");
    for option in ["--allow-read", "-I"] {
        let (status, said) = run(at, &["check", "scene/a.rib", option, "library"]);
        assert_eq!(status, 0, "{option}: {said}");
        let out = format!("packed{option}");
        let (status, said) = run(at, &["pack", "scene/a.rib", option, "library", "-o", &out]);
        assert_eq!(status, 0, "{option}: {said}");
        assert_eq!(run(at, &["check", &format!("{out}/a.rib")]).0, 0, "{option}");
    }
    // A link within the scene's folder is as good as a file.
    put(at, "own/a.rib", &scene("\"paint\"", ""));
    put(at, "own/real/paint.sl", "surface paint() { Ci = 0.5; Oi = 1; }\n");
    symlink("real/paint.sl", at.join("own/paint.sl")).expect("a link");
    assert_eq!(run(at, &["check", "own/a.rib"]).0, 0);
}

// --- pipes and devices ---

/// Replaces a file by a pipe to which nobody writes.
fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().expect("a program").success());
}

#[test]
fn a_pipe_in_the_place_of_a_file_that_a_scene_names_is_no_file() {
    for (file, text, name) in scenes_of_links() {
        let dir = folder(&[(&format!("scene/{file}"), &text), ("scene/sub/empty", "")]);
        let at = dir.path();
        pipe(&at.join("scene").join(name));
        let scene = format!("scene/{file}");
        for args in [&["check", &scene][..], &["pack", &scene, "-o", "packed"], &["convert", &scene, "a.rib"]] {
            run(at, args);
        }
    }
    let dir = folder(&[
        ("a.rib", &scene("\"paint\"", "")),
        ("paint.sl", "#include \"pipe.h\"\nsurface paint() { Ci = 1; }\n"),
    ]);
    pipe(&dir.path().join("pipe.h"));
    run(dir.path(), &["check", "a.rib"]);
}

#[test]
fn a_pipe_or_a_device_that_the_user_names_is_refused() {
    let dir = folder(&[("a.rib", &scene("\"constant\"", "")), ("a.rpuasm", "ret\n")]);
    let at = dir.path();
    let kinds = [
        "rib", "gltf", "glb", "obj", "ply", "exr", "png", "hdr", "pnm", "toml", "sl", "rtsl", "pfman", "si", "mem",
        "rays", "rpuasm",
    ];
    let render = ["render", "a.rib", "-o", "a.exr", "--backend", "rpu"];
    fs::create_dir(at.join("parts")).expect("a folder");
    assert_eq!(run(at, &[&render[..], &["--part", "1/2"]].concat()).0, 0);
    for kind in kinds {
        pipe(&at.join(format!("pipe.{kind}")));
    }
    let with = |more: &[&'static str]| [&render[..], more].concat();
    for args in [
        vec!["check", "pipe.rib"],
        vec!["check", "pipe.gltf"],
        vec!["check", "pipe.glb"],
        vec!["check", "pipe.obj"],
        vec!["check", "pipe.ply"],
        vec!["check", "/dev/zero"],
        vec!["merge", "pipe.exr", "-o", "b.exr"],
        vec!["merge", "a.exr", "pipe.exr", "-o", "b.exr"],
        vec!["merge", "a.exr", "/dev/zero", "-o", "b.exr"],
        vec!["info", "pipe.exr"],
        vec!["info", "pipe.png"],
        vec!["diff", "pipe.exr", "a.exr"],
        vec!["diff", "a.exr", "pipe.png"],
        vec!["diff", "pipe.hdr", "pipe.pnm"],
        vec!["golden", "pipe.toml"],
        vec!["compile", "pipe.sl"],
        vec!["compile", "pipe.rtsl"],
        vec!["compile", "pipe.pfman"],
        vec!["silicon", "pipe.si"],
        vec!["run", "pipe.rpuasm"],
        vec!["run", "a.rpuasm", "--memory", "pipe.mem"],
        vec!["simulate", "a.rib", "--config", "pipe.toml"],
        vec!["bench", "rays", "--rays", "pipe.rays"],
        with(&["--resume", "pipe.mem"]),
        with(&["--compare", "pipe.exr"]),
        vec!["render", "a.rib", "-o", "pipe.exr", "--backend", "rpu"],
        vec!["pack", "pipe.rib", "-o", "packed"],
        vec!["convert", "pipe.rib", "b.rib"],
    ] {
        let (status, said) = run(at, &args);
        assert!(status != 0, "{args:?}: {said}");
    }
    // A part that is a pipe is rendered again.
    fs::remove_file(at.join("pipe.exr")).expect("a file");
    pipe(&at.join("parts/a.exr"));
    run(at, &["render", "a.rib", "-o", "parts/a.exr", "--part", "1/2", "--reuse", "--backend", "rpu"]);
}

#[test]
fn pipes_among_the_files_of_golden_images_do_not_hold_a_run_up() {
    let dir = folder(&[("scenes/a.rib", &scene("\"constant\"", "")), ("scenes/references/keep", "")]);
    let at = dir.path();
    pipe(&at.join("scenes/references/a.exr"));
    run(at, &["golden", "scenes"]);
    for name in ["state.txt", "lock", "results/a-rpu/shown.json", "results/a-rpu/render.exr"] {
        pipe(&at.join("golden-report").join(name));
        run(at, &["golden", "scenes"]);
        let _ = fs::remove_file(at.join("golden-report").join(name));
        if name == "state.txt" {
            fs::remove_dir_all(at.join("golden-report")).expect("a folder");
            run(at, &["golden", "scenes"]);
        }
    }
    pipe(&at.join("scenes/golden.toml"));
    run(at, &["golden", "scenes"]);
}

#[test]
fn a_cache_whose_entries_are_links_pipes_or_folders_is_one_without_them() {
    let dir = folder(&[("a.rib", &scene("\"matte\"", "")), ("victim", "1")]);
    let at = dir.path();
    let render = || {
        let mut command = Command::new("timeout");
        command.args(["300", env!("CARGO_BIN_EXE_shadewright"), "render", "a.rib", "-o", "a.exr", "--backend", "rpu"]);
        let output = command.current_dir(at).env("SHADEWRIGHT_CACHE", at.join("cache")).output().expect("a program");
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read(at.join("a.exr")).expect("an image")
    };
    let image = render();
    let entries = files_below(&at.join("cache"));
    assert!(!entries.is_empty(), "programs are cached");
    for replace in [
        (|path| pipe(path)) as fn(&Path),
        |path| symlink("/dev/zero", path).expect("a link"),
        |path| symlink(path.parent().and_then(Path::parent).expect("a folder").join("victim"), path).expect("a link"),
        |path| fs::create_dir(path).expect("a folder"),
    ] {
        for entry in &entries {
            let path = at.join("cache").join(entry);
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir(&path);
            replace(&path);
        }
        assert!(render() == image);
        assert_eq!(fs::read(at.join("victim")).expect("a file"), b"1");
    }
}

// --- the terminal ---

#[test]
fn what_files_say_reaches_the_terminal_as_text() {
    let hostile = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\u{202e}\u{2066}\u{200f}\u{61c}\r";
    let name = "n\u{1b}[2J\u{202e}\nerror: x";
    let files = [
        ("a.rib", scene(&format!("\"{hostile}\""), "")),
        ("b.rib", scene("\"bad\"", &format!("Frobnicate \"{hostile}\" # {hostile}"))),
        ("bad.sl", format!("surface bad() {{ Ci = \"{hostile}\" + wrong{hostile}; }}")),
        ("c.toml", format!("x = \"{hostile}\" y")),
        ("d.rib", scene("\"says\"", "")),
        ("says.sl", format!("surface says() {{ printf(\"{hostile}\\nopenjd_fail: x\\nerror: y\"); Ci = 1; Oi = 1; }}")),
        ("e.si", format!("a:= \"{hostile}\"; wrong{hostile}")),
        ("g.gltf", gltf(&format!("{hostile}.bin"), &format!("{hostile}.png"))),
        ("h.obj", format!("mtllib {hostile}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf {hostile}\n")),
        ("i.rpuasm", format!("wrong{hostile}\n")),
        (&format!("{name}.rib"), scene("\"bad\"", "")),
        (&format!("{name}.sl"), format!("surface {hostile}")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let dir = folder(&files);
    let at = dir.path();
    let named = [format!("{name}.rib"), format!("{name}.sl")];
    for args in [
        &["check", "a.rib"][..],
        &["check", "b.rib"],
        &["check", "b.rib", "--json"],
        &["compile", "bad.sl"],
        &["simulate", "b.rib", "--config", "c.toml"],
        &["golden", "c.toml"],
        &["render", "d.rib", "-o", "d.exr", "--backend", "rpu"],
        &["render", "d.rib", "-o", "d.exr", "--backend", "rpu", "--json"],
        &["silicon", "e.si"],
        &["check", "g.gltf"],
        &["check", "h.obj"],
        &["run", "i.rpuasm"],
        &["check", &named[0]],
        &["check", &named[0], "--json"],
        &["compile", &named[1]],
        &["pack", "a.rib", "-o", "../packed\u{1b}[2J"],
    ] {
        let (_, said) = run(at, args);
        assert!(!said.contains(is_hidden), "{args:?}: {said:?}");
        assert!(!said.lines().any(|line| line.starts_with("openjd_") || line == "error: y"), "{args:?}: {said}");
    }
    let json = shadewright(at, &["check", "b.rib", "--json"]);
    serde_json::from_slice::<Value>(&json.stdout).expect("JSON");
}

// --- packs, converted scenes, jobs ---

#[test]
fn a_pack_has_names_that_every_system_has_and_renders_the_same() {
    let main = scene("\"paint\"", "ReadArchive \"con.rib\"\nReadArchive \"a?/nul.rib\"\nReadArchive \"dot./b .rib\"");
    let files = [
        ("scene/a.rib", &*main),
        ("scene/con.rib", "# 1\nReadArchive \"deep/aux.rib\""),
        ("scene/deep/aux.rib", "# 2"),
        ("scene/a?/nul.rib", "# 3"),
        ("scene/a:/nul.rib", "# 4"),
        ("scene/dot./b .rib", "ReadArchive \"a:/nul.rib\""),
        ("scene/paint.sl", "#include \"lpt1.h\"\nsurface paint() { Ci = HALF; Oi = 1; }\n"),
        ("scene/lpt1.h", "#define HALF 0.5\n"),
    ];
    let dir = folder(&files);
    let at = dir.path();
    let (status, said) = run(at, &["pack", "scene/a.rib", "-o", "packed", "--strict"]);
    assert_eq!(status, 0, "{said}");
    let names: Vec<String> = files_below(&at.join("packed")).iter().map(|path| path.display().to_string()).collect();
    for part in names.iter().flat_map(|name| name.split('/')) {
        assert_eq!(shadewright::text::file_names::portable(part), part, "{names:?}");
    }
    let lower: std::collections::BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
    assert_eq!((lower.len(), names.len()), (9, 9), "{names:?}");
    for folder in ["scene", "packed"] {
        let (status, said) =
            run(at, &["render", &format!("{folder}/a.rib"), "-o", &format!("{folder}.exr"), "--backend", "rpu"]);
        assert_eq!(status, 0, "{said}");
    }
    assert_eq!(run(at, &["diff", "scene.exr", "packed.exr", "--metric", "max", "--threshold", "0"]).0, 0);
}

#[test]
fn images_of_a_converted_scene_have_names_that_every_system_has() {
    let names = ["con.ppm", "a?b.ppm", "A:B.PPM"];
    let patch = "Patch \"bilinear\" \"P\" [-2 2 1  2 2 1  -2 -2 1  2 -2 1]";
    let textured = |name: &&str| format!("Surface \"paintedplastic\" \"texturename\" [\"{name}\"] {patch}\n");
    let all: String = names.iter().map(textured).collect();
    let rib = scene("\"constant\"", "").replace("WorldEnd", &format!("{all}WorldEnd"));
    let dir = folder(&[("scene/a.rib", &*rib)]);
    let at = dir.path();
    for (number, name) in names.iter().enumerate() {
        put(at, &format!("scene/{name}"), &format!("P3 1 1 255 {number} 0 0\n"));
    }
    fs::create_dir(at.join("converted")).expect("a folder");
    let (status, said) = run(at, &["convert", "scene/a.rib", "converted/a.rib"]);
    assert_eq!(status, 0, "{said}");
    let files = files_below(&at.join("converted"));
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    for part in names.iter().flat_map(|name| name.split('/')) {
        assert_eq!(shadewright::text::file_names::portable(part), part, "{names:?}");
    }
    let images: std::collections::BTreeSet<String> =
        names.iter().map(|name| name.to_lowercase()).filter(|name| name.ends_with(".ppm")).collect();
    assert_eq!(images.len(), 3, "{names:?}");
}

#[test]
fn a_folder_has_the_job_of_one_scene() {
    let dir = folder(&[
        ("one/a.rib", &scene("\"constant\"", "")),
        ("two/b.rib", &scene("\"matte\"", "")),
        ("three/a.rib", &scene("\"matte\"", "")),
    ]);
    let at = dir.path();
    fs::create_dir(at.join("job")).expect("a folder");
    let farm =
        |scene: &str, more: &[&str]| run(at, &[&["farm", scene, "-o", "job", "--scheduler", "slurm"], more].concat());
    assert_eq!(farm("one/a.rib", &["--spp", "4"]).0, 0);
    let job = || {
        let files = files_below(&at.join("job"));
        files.iter().map(|file| fs::read(at.join("job").join(file)).expect("a file")).collect::<Vec<_>>()
    };
    let before = job();
    assert_eq!(farm("one/a.rib", &["--spp", "4"]).0, 0, "the same job again");
    for (scene, more) in [
        ("two/b.rib", &["--spp", "4"][..]),
        ("three/a.rib", &["--spp", "4"]),
        ("one/a.rib", &["--spp", "8"]),
        ("one/a.rib", &["--spp", "4", "--size", "4x4"]),
        ("one/a.rib", &["--spp", "4", "--image", "c.exr"]),
        ("one/a.rib", &["--spp", "4", "--", "--seed", "1"]),
    ] {
        let (status, said) = farm(scene, more);
        assert!(
            status == 2 && (said.contains("has a job with") || said.contains("is a pack of")),
            "{scene} {more:?}: {said}"
        );
        assert!(job() == before, "{scene} {more:?}");
    }
    let (status, said) = farm("one/a.rib", &["--spp", "4", "--tiles", "2x1"]);
    assert!(status == 0 && said.contains("the job that was there is replaced"), "{said}");
    // A link among the files is replaced.
    put(at, "victim", "1");
    fs::remove_file(at.join("job/settings.sh")).expect("a file");
    symlink(at.join("victim"), at.join("job/settings.sh")).expect("a link");
    assert_eq!(farm("one/a.rib", &["--spp", "4"]).0, 0);
    assert_eq!(fs::read(at.join("victim")).expect("a file"), b"1");
}

#[test]
fn two_jobs_that_are_written_at_once_into_one_folder_do_not_mix() {
    let dir = folder(&[("one/a.rib", &scene("\"constant\"", "")), ("two/b.rib", &scene("\"matte\"", ""))]);
    let at = dir.path();
    fs::create_dir(at.join("job")).expect("a folder");
    let start = |scene: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shadewright"));
        command.args(["farm", scene, "-o", "job", "--scheduler", "slurm"]).current_dir(at);
        command.stderr(std::process::Stdio::null()).spawn().expect("the program was built with the tests")
    };
    let both = ["one/a.rib", "two/b.rib"].map(start);
    let statuses = both.map(|mut child| child.wait().expect("it ends").success());
    assert_eq!(statuses.iter().filter(|good| **good).count(), 1, "{statuses:?}");
    let record = fs::read_to_string(at.join("job/farm.json")).expect("a record");
    let own = if statuses[0] { "a.rib" } else { "b.rib" };
    assert!(record.contains(own) && at.join("job/scene").join(own).is_file(), "{record}");
    assert_eq!(fs::read_dir(at.join("job/scene")).expect("a folder").count(), 2, "the scene and its manifest");
}

// --- parts ---

#[test]
fn a_part_gives_no_permissions_to_the_scene_that_merge_reads() {
    let run_program = "Procedural \"RunProgram\" [\"touch ran\" \"x\"] [-1 1 -1 1 -1 1]";
    let rib = scene("\"constant\"", "Imager \"background\" \"color background\" [1 0 0]")
        .replace("WorldEnd", &format!("{run_program}\nWorldEnd"));
    let dir = folder(&[("a.rib", &rib)]);
    let at = dir.path();
    let render =
        ["render", "a.rib", "-o", "parts/1.exr", "--part", "1/1", "--backend", "rpu", "--allow-run", "--lenient"];
    fs::create_dir(at.join("parts")).expect("a folder");
    let (status, said) = run(at, &render);
    assert!(status == 0 && at.join("ran").exists(), "{said}");
    fs::remove_file(at.join("ran")).expect("a file");
    run(at, &["merge", "parts", "-o", "out.exr"]);
    assert!(!at.join("ran").exists(), "a part may not run programs");
    let (status, said) = run(at, &["merge", "parts", "-o", "out.exr", "--allow-run"]);
    assert!(status == 0 && at.join("ran").exists(), "{said}");
}

#[test]
fn a_part_gives_no_folders_to_the_scene_that_merge_reads() {
    let rib = scene("\"paint\"", "Imager \"background\" \"color background\" [1 0 0]");
    let dir = folder(&[("scene/a.rib", &rib), ("library/paint.sl", "surface paint() { Ci = 0.5; Oi = 1; }\n")]);
    let at = dir.path();
    fs::create_dir(at.join("parts")).expect("a folder");
    symlink(at.join("library/paint.sl"), at.join("scene/paint.sl")).expect("a link");
    for option in ["--allow-read", "-I"] {
        let render = ["render", "scene/a.rib", "-o", "parts/1.exr", "--part", "1/1", "--backend", "rpu"];
        let (status, said) = run(at, &[&render[..], &[option, "library"]].concat());
        assert_eq!(status, 0, "{option}: {said}");
        let merge = ["merge", "parts", "-o", "out.exr"];
        let (status, said) = run(at, &merge);
        assert!(status == 2 && !at.join("out.exr").exists(), "{option}: {status} {said}");
        let (status, said) = run(at, &[&merge[..], &[option, "library"]].concat());
        assert_eq!(status, 0, "{option}: {said}");
        fs::remove_file(at.join("out.exr")).expect("a file");
    }
}

// --- circuits ---

#[test]
fn a_chip_of_any_name_is_a_module_that_icarus_takes() {
    let text = "a:= asyncSerIn(16, 0);\nb:= asyncSerIn(16, 0);\nc:= asyncSerOut(16, 0);\nsum:= 0;\nDO {\n  \
                \"dbg%s%d\\n$finish; \" sum;\n  sum:= sum + a.get * b.get;\n  c.put(sum)\n}\n";
    for name in ["logic", "wire", "uwire", "always_ff", "bool", "9 lives", "a-b", "\\esc ", "$finish", "é"] {
        let dir = folder(&[(&format!("{name}.si"), text)]);
        let at = dir.path();
        for (emit, out) in [("verilog", "chip.v"), ("testbench", "bench.v")] {
            let (status, said) = run(at, &["silicon", &format!("{name}.si"), "--emit", emit, "-o", out]);
            assert_eq!(status, 0, "{name}: {said}");
            assert!(!fs::read_to_string(at.join(out)).expect("a file").contains("dbg"), "{name}");
        }
        for language in ["-g2001", "-g2012"] {
            let mut icarus = Command::new("iverilog");
            icarus.args([language, "-o", "bench", "chip.v", "bench.v"]).current_dir(at);
            let output = icarus.output().expect("Icarus Verilog (on Debian: iverilog)");
            assert!(output.status.success(), "{name} {language}: {}", said(&output));
        }
        let yosys = Command::new("yosys")
            .args(["-q", "-p", "read_verilog -sv chip.v; hierarchy -auto-top"])
            .current_dir(at)
            .output();
        let output = yosys.expect("Yosys (on Debian: yosys)");
        assert!(output.status.success(), "{name}: {}", said(&output));
    }
}
