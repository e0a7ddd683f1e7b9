//! Files made to harm: each costs a message, at most [`MAX_MEMORY`], and nothing else. What they
//! attack is in `docs/security.md`.

use crate::common::peak::{MAX_MEMORY, Run, measured};
use crate::common::stderr;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn put(dir: &TempDir, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(dir.path().join(name), bytes).expect("a file");
}

/// Runs the program, which must not panic, be killed, take more than [`MAX_MEMORY`], or say more
/// than a few pages. Gives its status and what it said on both streams.
fn run(dir: &TempDir, args: &[&str]) -> (i32, String) {
    let Run { status, said, peak, .. } = measured(dir.path(), args);
    let status = status.unwrap_or_else(|| panic!("{args:?} was killed: {said}"));
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    assert!(said.len() < 64 << 10, "{args:?} says {} bytes", said.len());
    assert!(peak < MAX_MEMORY, "{args:?} took {} MiB", peak >> 20);
    (status, said)
}

#[track_caller]
fn refused(dir: &TempDir, args: &[&str], why: &str) {
    let (status, said) = run(dir, args);
    assert!(status == 2 && said.contains(why), "{args:?} ends with {status}: {said}");
}

/// Zeros of so many MiB, compressed.
fn zeros(mebibytes: usize, level: Compression) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), level);
    let block = vec![0; 1 << 20];
    (0..mebibytes).for_each(|_| encoder.write_all(&block).expect("memory"));
    encoder.finish().expect("memory")
}

fn png(width: u32, height: u32, profile: &[u8], data: &[u8]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8], body: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(body);
        file.extend((body.len() as u32).to_be_bytes());
        file.extend(kind);
        file.extend(body);
        file.extend(crc.sum().to_be_bytes());
    };
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    chunk(b"IHDR", &[&size[..], &[8, 2, 0, 0, 0]].concat());
    if !profile.is_empty() {
        chunk(b"iCCP", &[b"x\0\0", profile].concat());
    }
    chunk(b"IDAT", data);
    chunk(b"IEND", b"");
    file
}

#[test]
fn macros_and_strings_that_double_are_bounded() {
    let dir = folder();
    let macros: String = (1..44).map(|n| format!("#define M{n}(a) M{}(J(a))\n", n - 1)).collect();
    put(
        &dir,
        "paste.sl",
        format!("#define J(a) a##a\n#define M0(a) J(a)\n{macros}surface paste() {{ M43(abcdefgh); }}"),
    );
    refused(&dir, &["compile", "paste.sl"], "a token of more than 64 KiB");
    let doublings = "n = concat(n, n); ".repeat(40);
    put(
        &dir,
        "concat.sl",
        format!("surface concats() {{ string n = \"0123456789abcdef\"; {doublings}Ci = texture(n); }}"),
    );
    run(&dir, &["compile", "concat.sl", "--emit", "rpu"]);
    for n in 0..30 {
        put(&dir, &format!("h{n}.h"), format!("#include \"h{}.h\"\n", n + 1).repeat(2));
    }
    put(&dir, "h30.h", "");
    put(&dir, "headers.sl", "#include \"h0.h\"\nsurface headers() { Ci = 1; }");
    refused(&dir, &["compile", "headers.sl"], "included more than 10000 times");
}

#[test]
fn shaders_of_many_parameters_and_functions_compile() {
    let dir = folder();
    let params: Vec<String> = (0..20_000).map(|i| format!("float p{i} = {i}")).collect();
    put(&dir, "many.sl", format!("surface many({}) {{ Ci = p1; }}", params[..8000].join("; ")));
    assert_eq!(run(&dir, &["compile", "many.sl", "--emit", "rpu", "-o", "many.rpuasm"]).0, 0);
    put(&dir, "more.sl", format!("surface more({}) {{ Ci = p1; }}", params.join("; ")));
    refused(&dir, &["compile", "more.sl", "--emit", "rpu"], "a shader has more than 8192 parameters");
    let functions: String = (0..30_000).map(|i| format!("float f{i}(float x) {{ return x + {i}; }}\n")).collect();
    put(&dir, "functions.sl", format!("{functions}surface functions() {{ Ci = f1(u); }}"));
    assert_eq!(run(&dir, &["compile", "functions.sl", "--emit", "rpu", "-o", "functions.rpuasm"]).0, 0);
}

#[test]
fn a_scene_reads_nothing_outside_its_folder_and_no_message_shows_it() {
    let dir = folder();
    fs::create_dir(dir.path().join("scene")).expect("a folder");
    put(&dir, "secret", "treasure:x:0:0:under the tree:/root:/bin/sh\n");
    put(&dir, "scene/secret.sl", "");
    let outside = dir.path().display().to_string();
    for (path, request) in [
        ("archive", "ReadArchive \"secret\""),
        ("archive", "Procedural \"DelayedReadArchive\" [\"secret\"] [0 1 0 1 0 1]"),
        ("shader", "Surface \"secret.rtsl:A\""),
        ("texture", "Surface \"paintedplastic\" \"texturename\" [\"secret\"]"),
    ] {
        put(
            &dir,
            "scene/s.rib",
            format!(
                "Option \"searchpath\" \"string {path}\" [\"{outside}\"] WorldBegin {request} Sphere 1 -1 1 360 WorldEnd"
            ),
        );
        let (_, said) = run(&dir, &["check", "scene/s.rib"]);
        assert!(said.contains("lies outside the scene's folder"), "{request}: {said}");
        assert!(!said.contains("treasure"), "{request}: {said}");
    }
    let (status, said) = run(&dir, &["check", "secret"]);
    assert!(status == 2 && said.contains("holds no RIB request") && !said.contains("treasure"), "{said}");
    // A link leads where it leads.
    std::os::unix::fs::symlink(dir.path().join("secret"), dir.path().join("scene/link")).expect("a link");
    put(&dir, "scene/s.rib", "WorldBegin ReadArchive \"link\" Sphere 1 -1 1 360 WorldEnd");
    let (_, said) = run(&dir, &["check", "scene/s.rib"]);
    assert!(said.contains("is not allowed") && !said.contains("treasure"), "{said}");
}

#[test]
fn compressed_files_do_not_inflate_beyond_their_limit() {
    let dir = folder();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let spaces = vec![b' '; 1 << 20];
    (0..256).for_each(|_| encoder.write_all(&spaces).expect("memory"));
    let member = encoder.finish().expect("memory");
    put(&dir, "one.rib", &member);
    refused(&dir, &["check", "one.rib"], "expands to more than");
    put(&dir, "many.rib", member.repeat((10 << 20) / member.len()));
    refused(&dir, &["check", "many.rib"], "expands to more than");
}

#[test]
fn images_are_refused_by_their_headers() {
    let dir = folder();
    put(&dir, "many.png", png(16384, 16384, &[], &zeros(16, Compression::fast())));
    refused(&dir, &["diff", "many.png", "many.png"], "--max-pixels raises the limit");
    let flat = zeros(0, Compression::fast());
    put(&dir, "profile.png", png(1, 1, &zeros(1024, Compression::fast()), &flat));
    run(&dir, &["diff", "profile.png", "profile.png"]);
    put(
        &dir,
        "textured.rib",
        "WorldBegin Surface \"paintedplastic\" \"texturename\" [\"many.png\"] Sphere 1 -1 1 360 WorldEnd",
    );
    let (_, said) = run(&dir, &["check", "textured.rib"]);
    assert!(said.contains("pixels"), "{said}");
}

#[test]
fn buffers_that_name_one_file_share_its_bytes() {
    let dir = folder();
    put(&dir, "b.bin", vec![0; 9_000_000]);
    let buffers = vec![r#"{"byteLength": 9000000, "uri": "b.bin"}"#; 400].join(",");
    let views: Vec<String> = (0..400).map(|i| format!(r#"{{"buffer": {i}, "byteLength": 36}}"#)).collect();
    let gltf = format!(
        r#"{{"asset": {{"version": "2.0"}}, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}}}]}}], "buffers": [{buffers}],
        "bufferViews": [{}], "accessors": [{{"bufferView": 399, "componentType": 5126, "count": 3, "type": "VEC3"}}]}}"#,
        views.join(",")
    );
    put(&dir, "shared.gltf", gltf);
    let (_, said) = run(&dir, &["check", "shared.gltf"]);
    assert!(!said.contains("the most that a scene may"), "{said}");
}

#[test]
fn many_large_textures_are_shrunk_one_after_the_other() {
    let dir = folder();
    let pixels = zeros(48, Compression::fast());
    let mut scene = "Format 16 12 1 WorldBegin Translate 0 0 20\n".to_string();
    for i in 0..12 {
        put(&dir, &format!("{i}.png"), png(4096, 4080, &[], &pixels));
        scene +=
            &format!("Surface \"paintedplastic\" \"texturename\" [\"{i}.png\"] Translate 1 0 0 Sphere 1 -1 1 360\n");
    }
    put(&dir, "textures.rib", scene + "WorldEnd");
    let (status, said) = run(&dir, &["render", "textures.rib", "-o", "textures.exr", "--backend", "rpu", "--spp", "1"]);
    assert!(status == 0 && said.contains("all textures together are too large"), "{said}");
}

#[test]
fn geometry_that_asks_for_too_much_is_bounded() {
    let dir = folder();
    put(
        &dir,
        "waves.sl",
        "displacement waves() { P += 0.1 * sin(20 * xcomp(P)) * normalize(N); N = calculatenormal(P); }",
    );
    put(
        &dir,
        "dicing.rib",
        "Format 16 12 1 ShadingRate 1e-30 Projection \"perspective\" Translate 0 0 4 WorldBegin\n\
         Displacement \"waves\" Sphere 1 -1 1 360 WorldEnd",
    );
    let (status, said) = run(&dir, &["render", "dicing.rib", "-o", "dicing.exr", "--backend", "rpu", "--spp", "1"]);
    assert!(status == 0 && said.contains("triangles"), "{said}");
    let angles = (0..65_536).map(|i| f64::from(i) * std::f64::consts::TAU / 65_536.0);
    let star: String = angles
        .enumerate()
        .map(|(i, a)| (if i % 2 == 0 { 1.0 } else { 0.5 }, a))
        .map(|(r, a)| format!("v {} {} 0\n", r * a.cos(), r * a.sin()))
        .collect();
    let face: String = (1..=65_536).map(|i| format!(" {i}")).collect();
    put(&dir, "star.obj", format!("{star}f{face}\n"));
    let (_, said) = run(&dir, &["check", "star.obj"]);
    assert!(said.contains("a face is a concave polygon of 65536 vertices"), "{said}");
    let gltf = r#"{"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 4294967296}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}]}"#;
    put(&dir, "wrap.gltf", gltf);
    let (_, said) = run(&dir, &["check", "wrap.gltf"]);
    assert!(said.contains("4294967295"), "an index does not wrap: {said}");
}

const CAMERA: &str = "Format 64 48 1 Projection \"perspective\" \"fov\" 40 Translate 0 0 5\n\
    Option \"shading\" \"string current\" [\"world\"] WorldBegin LightSource \"distantlight\" 1\n";

/// Renders a scene, which ends well, and gives what is said.
#[track_caller]
fn rendered(dir: &TempDir, scene: &str, more: &[&str]) -> String {
    put(dir, "s.rib", format!("{CAMERA}{scene}\nWorldEnd"));
    let args = [&["render", "s.rib", "-o", "s.exr", "--backend", "rpu", "--spp", "1"], more].concat();
    let (status, said) = run(dir, &args);
    assert_eq!(status, 0, "{said}");
    said
}

#[test]
fn curved_surfaces_are_diced_more_coarsely_where_they_would_be_too_many_triangles() {
    let dir = folder();
    let coarse = "curved surfaces are diced";
    let large = "Sphere 10 -10 10 360\n".repeat(20_000);
    let said = rendered(&dir, &large, &[]);
    assert!(said.contains("more than 42") && said.contains(coarse) && said.contains("--max-triangles"), "{said}");
    let strict = ["render", "s.rib", "-o", "s.exr", "--backend", "rpu", "--spp", "1", "--strict"];
    refused(&dir, &strict, "with it the scene has more than 42");
    let cube = "\"P\" [0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1]";
    for shape in [
        "Disk 0 1 360",
        "Patch \"bilinear\" \"P\" [0 0 0  1 0 0  0 1 0  1 1 5]",
        "Curves \"cubic\" [4] \"nonperiodic\" \"P\" [0 0 0 1 0 0 2 9 0 3 0 0] \"constantwidth\" [1]",
        "Points \"P\" [0 1 0]",
        "Blobby 1 [1001 0] [1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1] [\"\"]",
        &format!(
            "SubdivisionMesh \"catmull-clark\" [4 4 4 4 4 4] [0 1 3 2 4 6 7 5 0 4 5 1 2 3 7 6 0 2 6 4 1 5 7 3] {cube}"
        ),
    ] {
        let said = rendered(&dir, &format!("{shape}\n").repeat(20), &["--max-triangles", "2000"]);
        assert!(said.contains(coarse) && !said.contains("left out"), "{shape}: {said}");
    }
    let said = rendered(&dir, &large[..20_000], &["--max-triangles", "0"]);
    assert!(said.contains("128 times as coarsely") && said.contains("it is left out"), "{said}");
}

#[test]
fn what_is_used_again_and_again_does_not_take_memory_each_time() {
    let dir = folder();
    let corners = "\"P\" [0 0 0 1 0 0 0 1 0 0 0 1]";
    let faces =
        |count: usize| format!("PointsPolygons [{}] [{}] {corners}\n", "3 ".repeat(count), "0 1 2 ".repeat(count));
    let object = format!("ObjectBegin 1 {} ObjectEnd\n", faces(16));
    let said = rendered(&dir, &(object + &"ObjectInstance 1\n".repeat(400_000)), &[]);
    assert!(!said.contains("left out"), "{said}");
    let archive = format!("ArchiveBegin \"a\" {} ArchiveEnd\n", faces(200_000));
    let said = rendered(&dir, &(archive + &"ReadArchive \"a\"\n".repeat(60)), &[]);
    assert!(said.contains("with it the scene has more than 43") && said.contains("it is left out"), "{said}");
    let primitive = r#"{"attributes": {"POSITION": 0}, "indices": 1}"#;
    let indices: Vec<u8> = [0u16, 1, 2].repeat(60_000).into_iter().flat_map(u16::to_le_bytes).collect();
    let places = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    put(&dir, "s.bin", [&places.map(f32::to_le_bytes).concat()[..], &indices].concat());
    let gltf = format!(
        r#"{{"asset": {{"version": "2.0"}}, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0}}],
        "meshes": [{{"primitives": [{}]}}], "buffers": [{{"uri": "s.bin", "byteLength": {}}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 36}}, {{"buffer": 0, "byteOffset": 36, "byteLength": {}}}],
        "accessors": [
            {{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}},
            {{"bufferView": 1, "componentType": 5123, "count": 180000, "type": "SCALAR"}}]}}"#,
        vec![primitive; 200].join(", "),
        36 + indices.len(),
        indices.len(),
    );
    put(&dir, "s.gltf", gltf);
    let args = ["render", "s.gltf", "-o", "s.exr", "--backend", "rpu", "--spp", "1", "--size", "64x48"];
    let (status, said) = run(&dir, &args);
    assert!(status == 0 && said.contains("with it the scene has more than 42"), "{said}");
}

#[test]
fn displaced_surfaces_share_the_room_with_all_others() {
    let dir = folder();
    put(&dir, "waves.sl", "displacement waves() { P += 0.1 * sin(20 * xcomp(P)) * normalize(N); }");
    let displaced = "AttributeBegin Displacement \"waves\" ShadingRate 1e-6 Sphere 1 -1 1 360 AttributeEnd\n";
    let said = rendered(&dir, &(displaced.to_string() + &"Sphere 9 -9 9 360\n".repeat(800)), &[]);
    assert!(said.contains("displaced objects would have more than"), "{said}");
}

#[test]
fn messages_are_counted_and_cut() {
    let dir = folder();
    put(
        &dir,
        "missing.rib",
        format!("WorldBegin {} Sphere 1 -1 1 360 WorldEnd", "Surface \"nowhere\"\n".repeat(20_000)),
    );
    run(&dir, &["check", "missing.rib"]);
    put(
        &dir,
        "condition.rib",
        format!("IfBegin \"{}\" IfEnd WorldBegin Sphere 1 -1 1 360 WorldEnd", "(".repeat(200_000)),
    );
    let (_, said) = run(&dir, &["check", "condition.rib"]);
    assert!(said.len() < 16 << 10, "{} bytes", said.len());
}

const SPHERE: &str = "Format 200 150 1 Projection \"perspective\" \"fov\" 40 Translate 0 0 4 WorldBegin\n\
    LightSource \"pointlight\" 1 \"from\" [2 2 -4] \"intensity\" 20 Surface \"plastic\" Sphere 1 -1 1 360 WorldEnd";

#[test]
fn checkpoints_are_checked_before_rendering() {
    let dir = folder();
    put(&dir, "s.rib", SPHERE);
    let render = |more: &[&'static str]| [&["render", "s.rib", "-o", "s.exr", "--backend", "rpu"], more].concat();
    refused(&dir, &render(&["--resume", "missing/film"]), "does not exist");
    refused(&dir, &render(&["--resume", "s.exr"]), "is the image itself");
    refused(&dir, &render(&["--resume", "./s.exr"]), "is the image itself");
    let made = Command::new("mkfifo").arg(dir.path().join("pipe")).status().expect("a program");
    assert!(made.success());
    refused(&dir, &render(&["--resume", "pipe"]), "is not a regular file");
    refused(&dir, &render(&["--resume", "/dev/zero"]), "is not a regular file");
    refused(&dir, &["simulate", "s.rib", "--config", "/dev/zero"], "is not a regular file");
    assert!(!dir.path().join("s.exr").exists());
}

#[test]
fn a_file_that_is_replaced_keeps_its_permissions_and_a_read_only_one_is_not() {
    let dir = folder();
    put(&dir, "s.rib", SPHERE);
    put(&dir, "s.png", "before");
    let path = dir.path().join("s.png");
    let render = ["render", "s.rib", "-o", "s.png", "--backend", "rpu", "--size", "16x12"];
    let set = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("one's own file");
    set(0o444);
    refused(&dir, &render, "the file is read-only");
    assert_eq!(fs::read(&path).expect("a file"), b"before");
    set(0o600);
    assert_eq!(run(&dir, &render).0, 0);
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_file_that_may_not_grow_leaves_nothing_behind() {
    let dir = folder();
    put(&dir, "s.rib", SPHERE);
    let program = env!("CARGO_BIN_EXE_shadewright");
    let command = format!("ulimit -f 8; exec {program} render s.rib -o s.exr --backend rpu --spp 1");
    let output: Output = Command::new("sh").args(["-c", &command]).current_dir(dir.path()).output().expect("a shell");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot be written"), "{said}");
    let names: Vec<_> = fs::read_dir(dir.path()).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
    assert_eq!(names, ["s.rib"]);
}

#[test]
fn pixels_that_are_no_numbers_are_counted() {
    let dir = folder();
    put(&dir, "nan.sl", "surface nan() { float zero = u - u; Ci = color(zero / zero, 0, 0); Oi = 1; }");
    put(&dir, "s.rib", SPHERE.replace("plastic", "nan"));
    let (status, said) = run(&dir, &["render", "s.rib", "-o", "s.exr", "--backend", "rpu", "--spp", "1"]);
    assert!(status == 0 && said.contains("pixels are NaN or infinite"), "{said}");
}

#[test]
fn tiles_of_a_file_are_in_one_order_at_any_number_of_threads() {
    let dir = folder();
    put(&dir, "s.rib", SPHERE);
    let render = |out: &Path, threads: &str| {
        let out = out.to_str().expect("a path");
        let args = ["render", "s.rib", "-o", out, "--backend", "rpu", "--spp", "1", "--threads", threads];
        assert_eq!(run(&dir, &args).0, 0);
    };
    let first = dir.path().join("first.exr");
    render(&first, "1");
    for threads in ["2", "3", "8"] {
        let other = dir.path().join("other.exr");
        render(&other, threads);
        assert!(fs::read(&first).expect("a file") == fs::read(&other).expect("a file"), "{threads} threads");
    }
}
