//! The bounds of `docs/security.md` that no other file of tests reaches: each one passed by a
//! little gives a message and status 2, and no memory is taken for what is beyond; and a promise
//! about names. Those of images, geometry and parameters are in `tests/cli/hostile.rs`, those of memory
//! in `tests/cli/memory/mod.rs`, others beside the code that keeps them.

use crate::common::{shadewright, stderr};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const SPHERE: &str = "WorldBegin Sphere 1 -1 1 360 WorldEnd";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// A file of so many bytes without content: it takes no room on the disk.
fn sparse(folder: &Path, name: &str, bytes: u64) {
    File::create(folder.join(name)).and_then(|file| file.set_len(bytes)).expect("a sparse file");
}

/// Runs the program, which must refuse its input for this reason.
#[track_caller]
fn refused(folder: &TempDir, args: &[&str], reason: &str) {
    let output = shadewright(folder.path(), args);
    let messages = stderr(&output);
    assert!(output.status.code() == Some(2) && messages.contains(reason), "{args:?} {}: {messages}", output.status);
}

#[test]
fn a_file_beyond_two_gibibytes_is_not_read() {
    let folder = folder(&[("archive.rib", "WorldBegin ReadArchive \"large.rib\" Sphere 1 -1 1 360 WorldEnd")]);
    for name in ["large.rib", "large.obj", "large.ply", "large.gltf", "large.glb"] {
        sparse(folder.path(), name, (2 << 30) + 1);
        refused(&folder, &["check", name], "holds more than 2147483648 bytes");
    }
    refused(&folder, &["check", "archive.rib"], "holds more than 2147483648 bytes");
}

#[test]
fn an_included_file_has_at_most_16_mebibytes() {
    let folder = folder(&[("s.sl", "#include \"large.h\"\nsurface s() { Ci = 1; }")]);
    sparse(folder.path(), "large.h", (16 << 20) + 1);
    refused(&folder, &["compile", "s.sl"], "is larger than 16 MiB");
}

#[test]
fn at_most_64_files_include_each_other() {
    let folder = folder(&[("s.sl", "#include \"h0.h\"\nsurface s() { Ci = 1; }"), ("h64.h", "")]);
    for n in 0..64 {
        fs::write(folder.path().join(format!("h{n}.h")), format!("#include \"h{}.h\"\n", n + 1)).expect("a file");
    }
    refused(&folder, &["compile", "s.sl"], "more than 64 files include each other");
}

#[test]
fn macros_make_at_most_a_million_tokens() {
    let tenfold: String = (1..7).map(|n| format!("#define M{n} {}\n", format!("M{} ", n - 1).repeat(10))).collect();
    let source = format!("#define M0 x\n{tenfold}surface s() {{ M6 M6; }}");
    let folder = folder(&[("s.sl", &source)]);
    refused(&folder, &["compile", "s.sl"], "macros expand to more than 1000000 tokens");
}

#[test]
fn a_rendered_image_has_at_most_2_to_the_28_pixels() {
    let folder = folder(&[("s.rib", SPHERE)]);
    for size in ["16385x1", "1x16385", "4294967295x4294967295"] {
        refused(&folder, &["render", "s.rib", "-o", "s.png", "--size", size], "16384 pixels");
    }
}

#[test]
fn the_name_of_a_display_chooses_no_path() {
    let folder = folder(&[("victim.exr", "1")]);
    let place = folder.path().display();
    let scene = format!(
        "Display \"victim.exr\" \"file\" \"rgba\" Display \"+{place}/victim.exr\" \"openexr\" \"N\"\n\
         Display \"+new.exr\" \"openexr\" \"N\" Display \"+{place}/new.exr\" \"openexr\" \"N\"\n{SPHERE}"
    );
    fs::write(folder.path().join("s.rib"), scene).expect("a file");
    let args = ["render", "s.rib", "-o", "out.exr", "--backend", "rpu", "--size", "8x6", "--spp", "1"];
    let output = shadewright(folder.path(), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let entries = fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    assert_eq!(names, ["out.exr", "s.rib", "victim.exr"]);
    assert_eq!(fs::read(folder.path().join("victim.exr")).expect("a file"), b"1");
}

#[test]
fn a_configuration_has_at_most_a_mebibyte() {
    let folder = folder(&[("s.rib", SPHERE)]);
    sparse(folder.path(), "large.toml", (1 << 20) + 1);
    refused(&folder, &["simulate", "s.rib", "--config", "large.toml"], "holds more than 1048576 bytes");
}

#[test]
fn a_message_to_the_language_server_has_at_most_32_mebibytes() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_shadewright"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built with the tests");
    let header = format!("Content-Length: {}\r\n\r\n", (32 << 20) + 1);
    // The server may have answered and left before the pipe is closed.
    let _ = server.stdin.take().expect("a pipe").write_all(header.as_bytes());
    let output = server.wait_with_output().expect("the server ends");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("33554432 is the limit"), "{answer}");
}
