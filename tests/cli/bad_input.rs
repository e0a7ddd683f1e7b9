//! Wrong input ends in a message that names the place and the way out. Where a scene is read strictly,
//! it ends in exit status 2 and no file.

use crate::common::{shadewright, stderr};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A scene that renders, to be broken.
fn scene(body: &str) -> String {
    format!("Format 16 12 1\nProjection \"perspective\" \"fov\" [40]\nWorldBegin\n{body}\nWorldEnd\n")
}

const SPHERE: &str = "Translate 0 0 5\nSphere 1 -1 1 360";

/// Renders `args` in a folder with `files` and checks the outcome; returns the message.
fn refused(files: &[(&str, &[u8])], args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let out = "out.png";
    let mut all = args.to_vec();
    if !all.contains(&"--render") {
        all.extend(["--render", out]);
    }
    all.extend(["--backend", "rpu", "--strict"]);
    let output = shadewright(folder.path(), &all);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(!folder.path().join(out).exists(), "an image was left behind: {text}");
    assert!(!text.contains("panicked"), "{text}");
    assert!(!text.trim().is_empty(), "a message is owed");
    text
}

fn refused_scene(text: &str) -> String {
    refused(&[("s.rib", text.as_bytes())], &["s.rib"])
}

fn refused_shader(source: &str) -> String {
    let text = scene(&format!("Surface \"mine\"\n{SPHERE}"));
    refused(&[("s.rib", text.as_bytes()), ("mine.sl", source.as_bytes())], &["s.rib"])
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn the_scene_that_the_others_break_renders() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.rib"), scene(SPHERE)).unwrap();
    let output = shadewright(folder.path(), &["s.rib", "--render", "out.png", "--backend", "rpu"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(folder.path().join("out.png").exists());
}

#[test]
fn a_missing_scene_says_where_it_was_looked_for() {
    says(&refused(&[], &["nowhere.rib"]), &["nowhere.rib"]);
}

#[test]
fn a_directory_is_not_a_scene() {
    says(&refused(&[], &["."]), &["folder"]);
}

#[test]
fn an_empty_scene_file_is_refused() {
    says(&refused_scene(""), &["s.rib", "empty"]);
}

#[test]
fn a_damaged_gltf_scene_is_refused_with_the_place() {
    let text = fs::read_to_string(crate::common::repository("assets/scenes/still.gltf")).unwrap();
    let refused = |text: &str| refused(&[("s.gltf", text.as_bytes())], &["s.gltf"]);
    says(&refused(&text[..text.len() / 2]), &["s.gltf", "not a usable glTF file", "line"]);
    says(&refused(&text.replace("\"2.0\"", "\"1.0\"")), &["asset", "version 1.0"]);
}

#[test]
fn a_binary_gltf_scene_that_is_cut_off_is_refused() {
    says(&refused(&[("s.glb", b"glTF\x02\0\0\0\xff\0\0\0")], &["s.glb"]), &["s.glb", "cut off"]);
}

#[test]
fn binary_noise_is_refused() {
    let noise: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    says(&refused(&[("s.rib", &noise)], &["s.rib"]), &["s.rib"]);
}

#[test]
fn noise_in_a_mesh_file_is_refused() {
    for name in ["m.ply", "m.obj"] {
        says(&refused(&[(name, &[0x80; 300])], &[name]), &[name]);
    }
}

#[test]
fn an_unclosed_block_names_where_it_was_opened() {
    says(&refused_scene("WorldBegin\nAttributeBegin\nSphere 1 -1 1 360\n"), &["s.rib:", "AttributeBegin"]);
}

#[test]
fn a_missing_shader_says_where_it_was_looked_for() {
    says(&refused_scene(&scene(&format!("Surface \"nosuch\"\n{SPHERE}"))), &["nosuch", "s.rib:4"]);
}

#[test]
fn a_co_shader_must_be_a_class_of_its_file() {
    says(
        &refused_scene(&scene(&format!("Shader \"nosuch\" \"a\"\n{SPHERE}"))),
        &["there is no class `nosuch`", "s.rib:4"],
    );
    let text = scene(&format!("Shader \"plastic\" \"a\"\n{SPHERE}"));
    says(
        &refused_scene(&text),
        &["the file of `plastic` defines no class of that name", "s.rib:4", "co-shaders are classes"],
    );
}

#[test]
fn a_method_that_takes_other_arguments_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("Shader \"layer\" \"a\" \"float wight\" [2]\nSurface \"asks\"\n{SPHERE}");
    fs::write(folder.path().join("s.rib"), scene(&text)).unwrap();
    let class = "class layer(float weight = 1) { public color eval(float x; normal n) { return x; } }";
    fs::write(folder.path().join("layer.sl"), class).unwrap();
    let asks = "surface asks() { shader a = getshader(\"a\"); Ci = a->eval(color (1, 0, 0)); Ci += a->nothing(); }";
    fs::write(folder.path().join("asks.sl"), asks).unwrap();
    let output = shadewright(folder.path(), &["s.rib", "--render", "out.png", "--backend", "rpu"]);
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("warning: ").count(), 2, "{text}");
    says(&text, &["no co-shader's method `eval` takes (color) for a color", "there is eval(float x, normal n)"]);
    says(&text, &["shader `layer` has no parameter `wight`", "`layer` has: weight"]);
}

#[test]
fn a_damaged_texture_says_which_and_where_it_is_named() {
    let text = scene(&format!("Surface \"paintedplastic\" \"texturename\" [\"s.rib\"]\n{SPHERE}"));
    says(&refused_scene(&text), &["s.rib:4", "texture `s.rib` cannot be read", "unknown image format"]);
}

#[test]
fn a_missing_texture_is_a_warning_that_says_where_it_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let text = scene(&format!("Surface \"paintedplastic\" \"texturename\" [\"nowhere.tx\"]\n{SPHERE}"));
    fs::write(folder.path().join("s.rib"), text).unwrap();
    let output = shadewright(folder.path(), &["s.rib", "--render", "out.png", "--backend", "rpu"]);
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("warning: ").count(), 1, "{text}");
    says(&text, &["nowhere.tx", "s.rib:4", "looked in"]);
}

#[test]
fn coordinates_that_are_not_finite_are_refused() {
    for bad in ["nan", "inf", "1e400"] {
        let text = scene(&format!("Polygon \"P\" [0 0 5 1 0 5 1 {bad} 5]"));
        says(&refused_scene(&text), &["s.rib:4"]);
    }
}

#[test]
fn triangles_without_area_are_skipped_with_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    let flat = "PointsPolygons [3 3 3] [0 1 2 0 0 1 1 1 1] \"P\" [-1 -1 5 1 -1 5 0 1 5]";
    fs::write(folder.path().join("s.rib"), scene(flat)).unwrap();
    let output = shadewright(folder.path(), &["s.rib", "--render", "out.png", "--backend", "rpu"]);
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("warning: ").count(), 1, "{text}");
    says(&text, &["area"]);
}

#[test]
fn a_hundred_thousand_nested_blocks_are_refused() {
    let text = format!("WorldBegin\n{}", "AttributeBegin\n".repeat(100_000));
    says(&refused_scene(&text), &["AttributeBegin"]);
}

#[test]
fn a_hundred_thousand_nested_parentheses_are_refused() {
    let source = format!("surface mine() {{ Ci = {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    says(&refused_shader(&source), &["mine.sl:1"]);
}

#[test]
fn type_errors_and_unknown_functions_are_reported_together() {
    let text = refused_shader("surface mine() {\n  float x = \"text\";\n  Ci = nosuchfunction(x);\n}\n");
    says(&text, &["mine.sl:2", "mine.sl:3", "nosuchfunction"]);
}

#[test]
fn a_function_that_always_calls_itself_is_refused() {
    let text = refused_shader("float f(float x) { return f(x + 1); }\nsurface mine() { Ci = f(1); }\n");
    says(&text, &["mine.sl:1", "f"]);
}

#[test]
fn an_include_cycle_is_refused() {
    let text = scene(&format!("Surface \"mine\"\n{SPHERE}"));
    let files: [(&str, &[u8]); 3] = [
        ("s.rib", text.as_bytes()),
        ("mine.sl", b"#include \"a.h\"\nsurface mine() { Ci = 1; }\n"),
        ("a.h", b"#include \"a.h\"\n"),
    ];
    says(&refused(&files, &["s.rib"]), &["a.h", "include"]);
}

#[test]
fn an_output_folder_that_does_not_exist_is_named() {
    let text = scene(SPHERE);
    says(&refused(&[("s.rib", text.as_bytes())], &["s.rib", "--render", "no/such/out.png"]), &["no/such"]);
}

#[test]
fn sizes_of_nothing_and_of_too_much_are_refused() {
    for size in ["0x10", "10x0", "100000x100000"] {
        let text = scene(SPHERE);
        says(
            &refused(&[("s.rib", text.as_bytes())], &["s.rib", "--size", size]),
            &[size.split_once('x').map_or("", |(w, _)| w), "16384 pixels"],
        );
    }
}

#[test]
fn an_unknown_image_format_lists_those_there_are() {
    let text = scene(SPHERE);
    says(&refused(&[("s.rib", text.as_bytes())], &["s.rib", "--render", "out.gif"]), &["png", "exr"]);
}

/// A shader that never ends is stopped by its budget, with its source line, on a back end.
fn endless(backend: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.rib"), scene(&format!("Surface \"mine\"\n{SPHERE}"))).unwrap();
    let source = "surface mine() {\n  float x = 0;\n  while (x < 1) {\n    x = x * 0.5;\n  }\n  Ci = x;\n}\n";
    fs::write(folder.path().join("mine.sl"), source).unwrap();
    let args = ["s.rib", "--render", "out.png", "--backend", backend, "--budget", "20000"];
    let output = shadewright(folder.path(), &args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    says(&text, &["mine.sl:", "20000"]);
    assert!(!folder.path().join("out.png").exists());
}

#[test]
fn a_shader_that_never_ends_is_stopped_on_the_rpu() {
    endless("rpu");
}

#[test]
fn a_shader_that_never_ends_is_stopped_on_the_gpu() {
    endless("gpu");
}

#[test]
fn a_shader_that_never_ends_is_stopped_without_being_told_a_budget() {
    for backend in ["rpu", "gpu"] {
        let (status, text) =
            renders_with("surface mine() {\n  float i;\n  for (;;) { i += 1; }\n  Ci = i;\n}\n", backend);
        assert_eq!(status, Some(2), "{backend}: {text}");
        says(&text, &["mine.sl:3", "--budget"]);
    }
}

/// Renders a sphere whose shader calls itself `n` deep on a back end; the exit status and the
/// message.
fn recursion(backend: &str, n: &str) -> (Option<i32>, String) {
    let function = "float f(float n) {\n  if (n <= 0) return 0;\n  return 1 + f(n - 1);\n}\n";
    renders_with(&format!("{function}surface mine() {{ Ci = f({n}) / 100; }}\n"), backend)
}

/// Renders a sphere with the shader `mine` on a back end; the exit status and the message.
fn renders_with(source: &str, backend: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.rib"), scene(&format!("Surface \"mine\"\n{SPHERE}"))).unwrap();
    fs::write(folder.path().join("mine.sl"), source).unwrap();
    let output = shadewright(folder.path(), &["s.rib", "--render", "out.png", "--backend", backend]);
    assert_eq!(output.status.success(), folder.path().join("out.png").exists());
    (output.status.code(), stderr(&output))
}

#[test]
fn a_function_that_calls_itself_a_hundred_deep_renders_on_both_back_ends() {
    for backend in ["rpu", "gpu"] {
        let (status, text) = recursion(backend, "100");
        assert_eq!(status, Some(0), "{backend}: {text}");
    }
}

#[test]
fn a_function_that_calls_itself_without_end_is_refused_on_both_back_ends() {
    for backend in ["rpu", "gpu"] {
        let (status, text) = recursion(backend, "1e9");
        assert_eq!(status, Some(2), "{backend}: {text}");
        says(&text, &["mine.sl:3", "recursion"]);
    }
}

#[test]
fn options_that_cannot_be_meant_are_refused() {
    let text = scene(SPHERE);
    let files: [(&str, &[u8]); 1] = [("s.rib", text.as_bytes())];
    says(&refused(&files, &["s.rib", "--adapter", "some"]), &["--adapter", "--backend rpu"]);
    says(&refused(&files, &["s.rib", "--schedule", "megakernel"]), &["--schedule", "--backend rpu"]);
    says(&refused(&files, &["s.rib", "--threads", "9999"]), &["--threads", "1024"]);
    says(&refused(&files, &["s.rib", "--metric", "psnr"]), &["--compare <REF>"]);
    says(&refused(&files, &["s.rib", "--metric", "psnr", "--compare", "a.png"]), &["--threshold"]);
    says(&refused(&files, &["s.rib", "--crop", "-1,0,3,3"]), &["X0,Y0,X1,Y1"]);
    says(&refused(&files, &["s.rib", "--passes", "nonsense"]), &["nonsense", "inline"]);
}

#[test]
fn a_scene_reads_nothing_outside_its_folders() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("other.rib");
    fs::write(&secret, SPHERE).unwrap();
    let text = scene(&format!("ReadArchive \"{}\"", secret.display()));
    says(&refused_scene(&text), &["--allow-read"]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.rib"), &text).unwrap();
    let allowed = outside.path().to_string_lossy().into_owned();
    let args = ["s.rib", "--render", "out.png", "--backend", "rpu", "--allow-read", &allowed];
    let output = shadewright(folder.path(), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(Path::new(&folder.path().join("out.png")).exists());
}

/// The program, with both of its outputs in pipes.
fn piped(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shadewright"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let mut child = piped(&["compile", "plastic", "--emit", "rpu"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(141));
}

#[test]
fn who_reads_no_messages_gets_the_status_and_no_panic() {
    let mut child = piped(&["no such scene.rib", "--render", "out.png"]);
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("the program ends").code(), Some(2));
}
