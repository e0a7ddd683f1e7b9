//! `shadewright pack`: a packed folder renders alone to the same bits, wherever it is moved, with the
//! originals gone; what cannot be packed is reported.

use crate::common::{pixels, repository, shadewright, stderr};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// The camera and the light of scenes that are made here.
const HEAD: &str = "Format 24 18 1\nPixelSamples 1 1\nProjection \"perspective\" \"fov\" [40]\n\
    LightSource \"ambientlight\" 1\nTranslate 0 0 4\n";

/// A surface that shows a texture as it is.
const FLAT: &str = "surface flat(string map = \"\") { Ci = texture(map, s, t); Oi = 1; }\n";

/// A folder for scenes (`in`) and what is made of them.
struct Workspace(TempDir);

impl Workspace {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        fs::create_dir_all(place.at("in")).expect("a folder");
        files.iter().for_each(|(path, text)| place.write(path, text));
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, bytes).expect("a file");
    }

    /// An image of two colors.
    fn image(&self, path: &str, [a, b]: [[u8; 3]; 2]) {
        self.write(path, [&b"P6 2 2 255 "[..], &a, &b, &b, &a].concat());
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Runs the program, which succeeds.
    #[track_caller]
    fn run(&self, args: &[&str]) -> Output {
        let output = shadewright(self.0.path(), args);
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert!(output.status.success(), "{args:?}: {said}");
        output
    }

    /// Runs the program, which refuses: the message.
    #[track_caller]
    fn refuses(&self, args: &[&str]) -> String {
        let output = shadewright(self.0.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        stderr(&output)
    }

    /// Renders a scene on the RPU: the image's pixels, as bits.
    #[track_caller]
    fn render(&self, scene: &str, more: &[&str]) -> Vec<[u32; 4]> {
        self.run(&[&["render", scene, "--backend", "rpu", "-o", "image.exr"], more].concat());
        let image = pixels(&self.at("image.exr"));
        fs::remove_file(self.at("image.exr")).expect("the image can be removed");
        image
    }

    /// Packs a scene: the summary.
    #[track_caller]
    fn pack(&self, scene: &str, more: &[&str]) -> Value {
        let output = self.run(&[&["pack", scene, "-o", "packed", "--json"], more].concat());
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Packs a scene of the folder `in`, moves the pack, takes away the originals, and renders both:
    /// the images have the same bits. `options` are for the original alone, `render` for both.
    #[track_caller]
    fn renders_alone(&self, scene: &str, options: &[&str], render: &[&str]) -> Value {
        let before = self.render(&format!("in/{scene}"), &[options, render].concat());
        let packed = self.pack(&format!("in/{scene}"), options);
        let alone = Self(tempfile::tempdir().expect("a folder"));
        fs::rename(self.at("packed"), alone.at("moved to a folder")).expect("the pack can be moved");
        fs::rename(self.at("in"), self.at("away")).expect("the originals can be moved");
        let name = Path::new(scene).file_name().and_then(|name| name.to_str()).expect("a name");
        let after = alone.render(&format!("moved to a folder/{name}"), render);
        assert!(before == after, "the images differ: {packed:#}");
        fs::rename(self.at("away"), self.at("in")).expect("the originals can be moved");
        fs::rename(alone.at("moved to a folder"), self.at("packed")).expect("the pack can be moved");
        assert_eq!((&packed["errors"], &packed["warnings"]), (&0.into(), &0.into()), "{packed:#}");
        packed
    }
}

/// The paths of packed files.
fn paths(packed: &Value) -> Vec<&str> {
    let files = packed["files"].as_array().expect("a list");
    let mut paths: Vec<&str> = files.iter().filter_map(|file| file["path"].as_str()).collect();
    paths.sort_unstable();
    paths
}

/// The paths of packed files with other strings in them.
fn rewritten(packed: &Value) -> Vec<&str> {
    let files = packed["files"].as_array().expect("a list");
    let mut paths: Vec<&str> =
        files.iter().filter(|file| file["rewritten"] == true).filter_map(|file| file["path"].as_str()).collect();
    paths.sort_unstable();
    paths
}

/// A request for a ball with a shader.
fn ball(shader: &str, map: &str) -> String {
    format!("AttributeBegin\nSurface \"{shader}\" \"string map\" [\"{map}\"]\nSphere 0.6 -0.6 0.6 360\nAttributeEnd\n")
}

fn gzip(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

const RED: [[u8; 3]; 2] = [[255, 40, 30], [120, 20, 90]];
const GREEN: [[u8; 3]; 2] = [[40, 230, 30], [10, 120, 190]];
const BLUE: [[u8; 3]; 2] = [[60, 40, 240], [250, 220, 90]];
const GRAY: [[u8; 3]; 2] = [[90, 90, 90], [220, 210, 200]];

/// Every way to name a file: along search paths, absolute, with `..`, by shaders alone, with spaces
/// and backslashes, in archives of archives, compressed, in headers of headers.
#[test]
fn a_scene_of_many_folders_renders_alone() {
    let place = Workspace::new(&[
        ("in/scene/my shaders/parts/a.h", "#include \"b.h\"\n#include <light.h>\n"),
        ("in/scene/my shaders/parts/b.h", "#include \"../../../lib/inc/scale.h\"\n"),
        ("in/lib/inc/scale.h", "#define SCALE 0.9\n"),
        ("in/lib/inc/light.h", "#define LIT(c) (SCALE * (c) * ambient())\n"),
        (
            "in/scene/my shaders/lit.sl",
            "#include \"parts/a.h\"\nsurface lit(string map = \"\") { Ci = LIT(texture(map, s, t)); Oi = 1; }\n",
        ),
        (
            "in/scene/made.sl",
            "surface made(string map = \"\"; float n = 3;) { Ci = texture(format(\"tile_%d.ppm\", n), s, t); Oi = 1; }\n",
        ),
        ("in/scene/flat.sl", FLAT),
    ]);
    let root = place.at("in").canonicalize().expect("a folder").display().to_string();
    let absolute =
        format!("surface own(string map = \"\") {{ Ci = texture(\"{root}/extra/own.ppm\", s, t); Oi = 1; }}\n");
    place.write("in/scene/own.sl", absolute);
    for (path, colors) in [
        ("in/scene/maps/wood.ppm", RED),
        ("in/lib/maps/wood.ppm", GREEN),
        ("in/lib/maps/sky.ppm", BLUE),
        ("in/scene/maps/two words.ppm", GRAY),
        ("in/extra/own.ppm", BLUE),
        ("in/scene/maps/tile_3.ppm", GREEN),
    ] {
        place.image(path, colors);
    }
    let scene = format!(
        "##RenderMan RIB-Structure 1.1\n# Caf\u{e9}\n{HEAD}\
        Option \"searchpath\" \"string texture\" [\"maps:{root}/lib/maps:&\"] \"string shader\" [\"my shaders:@\"]\n\
        Option \"searchpath\" \"string archive\" [\"parts:../lib\"]\nWorldBegin\nTranslate -0.8 -0.8 0\n\
        ReadArchive \"one.rib\"\nTranslate 0 0.8 0\nReadArchive \"{root}/scene/parts/two.rib.gz\"\n\
        Translate 0 0.8 0\nReadArchive \"../lib/three.rib\"\nTranslate 0.8 0 0\nReadArchive \"parts\\\\deep\\\\four.rib\"\n\
        Translate 0 -0.8 0\nIfBegin \"1 > 2\"\nReadArchive \"never.rib\"\nIfEnd\nWorldEnd\n"
    );
    place.write("in/scene/scene.rib", &scene);
    let one = ball("lit", "wood.ppm") + "Procedural \"DelayedReadArchive\" [\"deep/five.rib\"] [-1 1 -1 1 -1 1]\n";
    place.write("in/scene/parts/one.rib", one);
    place.write("in/scene/parts/two.rib.gz", gzip(&ball("flat", &format!("{root}/lib/maps/wood.ppm"))));
    place.write("in/lib/three.rib", ball("own", "") + &ball("flat", "../../extra/own.ppm"));
    place.write("in/scene/parts/deep/four.rib", ball("made", "") + "Translate 0.6 0 0\n" + &ball("flat", "sky.ppm"));
    place.write("in/scene/parts/deep/five.rib", "Translate 0 1.4 0\nReadArchive \"../../parts/six.rib\"\n");
    place.write("in/scene/parts/six.rib", ball("../scene/my shaders/lit.slo", "two words.ppm"));
    place.write("in/scene/parts/never.rib", "Sphere 1 -1 1 360\n");
    let options = ["-I", "in/lib/inc", "--allow-read", "in/lib", "--allow-read", "in/extra"];
    let packed = place.renders_alone("scene/scene.rib", &options, &[]);
    let expected = [
        "external/extra/own.ppm",
        "external/inc/light.h",
        "external/inc/scale.h",
        "external/lib/maps/sky.ppm",
        "external/lib/maps/wood.ppm",
        "external/lib/three.rib",
        "flat.sl",
        "made.sl",
        "maps/tile_3.ppm",
        "maps/two words.ppm",
        "maps/wood.ppm",
        "my shaders/lit.sl",
        "my shaders/parts/a.h",
        "my shaders/parts/b.h",
        "own.sl",
        "parts/deep/five.rib",
        "parts/deep/four.rib",
        "parts/never.rib",
        "parts/one.rib",
        "parts/six.rib",
        "parts/two.rib.gz",
        "scene.rib",
    ];
    assert_eq!(paths(&packed), expected);
    let expected =
        ["external/lib/three.rib", "my shaders/parts/b.h", "own.sl", "parts/six.rib", "parts/two.rib.gz", "scene.rib"];
    assert_eq!(rewritten(&packed), expected);
    let first = "Option \"searchpath\" \"string shader\" [\"external/inc:&\"]\n";
    let expected = scene
        .replace("Format", &format!("{first}Format"))
        .replace(&format!("maps:{root}/lib/maps:&"), "maps:external/lib/maps:&")
        .replace("\"my shaders:@\"", "\"external/inc:my shaders:@\"")
        .replace("parts:../lib", "parts:external/lib")
        .replace(&format!("{root}/scene/parts"), "parts")
        .replace("../lib/three.rib", "external/lib/three.rib");
    assert_eq!(place.read("packed/scene.rib"), expected, "all else stays as it is");
    assert_eq!(packed["options"], Value::Array(Vec::new()), "the packed scene needs no options");
}

#[test]
fn scenes_of_the_repository_render_alone() {
    let render = ["--size", "24x18", "--spp", "1"];
    for scene in ["assets/gallery/agate.rib", "assets/scenes/textures.rib", "assets/pfman/languages.rib"] {
        let place = Workspace::new(&[]);
        let scene = repository(scene);
        let scene = scene.to_str().expect("a path");
        let before = place.render(scene, &render);
        let packed = place.pack(scene, &[]);
        assert_eq!(packed["errors"], 0, "{packed:#}");
        let name = Path::new(scene).file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(rewritten(&packed).is_empty(), "{scene}: everything lies in its folder");
        assert!(before == place.render(&format!("packed/{name}"), &render), "{scene}");
    }
}

/// Frames have search paths, archives and textures of their own, and use the shadow maps and images
/// of earlier ones.
#[test]
fn every_frame_of_a_scene_renders_alone() {
    let place = Workspace::new(&[("in/flat.sl", FLAT), ("in/two.sl", &FLAT.replace("flat", "two"))]);
    place.image("in/1/a.ppm", RED);
    place.image("in/2/a.ppm", GREEN);
    place.image("in/lib/a.ppm", BLUE);
    place.image("in/only2.ppm", GRAY);
    let root = place.at("in").canonicalize().expect("a folder").display().to_string();
    place.write("in/ball.rib", ball("flat", "a.ppm"));
    place.write("in/two.rib", ball("two", &format!("{root}/only2.ppm")));
    let scene = format!(
        "FrameBegin 1\n{HEAD}Display \"first.tif\" \"file\" \"rgba\"\nOption \"searchpath\" \"texture\" [\"1\"]\n\
        WorldBegin\nReadArchive \"ball.rib\"\nWorldEnd\nFrameEnd\n\
        FrameBegin 2\n{HEAD}Display \"second.tif\" \"file\" \"rgba\"\nOption \"searchpath\" \"texture\" [\"2\"]\n\
        MakeTexture \"first.tif\" \"first.tx\" \"clamp\" \"clamp\" \"box\" 1 1\n\
        WorldBegin\nReadArchive \"ball.rib\"\nTranslate 1 0 0\nIfBegin \"$Frame == 2\"\nReadArchive \"two.rib\"\nIfEnd\n\
        Translate -2 0 0\nSurface \"flat\" \"map\" [\"first.tx\"]\nSphere 0.6 -0.6 0.6 360\nWorldEnd\nFrameEnd\n"
    );
    place.write("in/scene.rib", scene);
    let render = |place: &Workspace, scene: &str| {
        place.run(&["render", scene, "--backend", "rpu", "-o", "f.#.exr"]);
        ["f.1.exr", "f.2.exr"].map(|name| pixels(&place.at(name)))
    };
    let before = render(&place, "in/scene.rib");
    assert!(before[0] != before[1]);
    let packed = place.pack("in/scene.rib", &[]);
    assert_eq!((&packed["errors"], &packed["warnings"]), (&0.into(), &0.into()), "{packed:#}");
    fs::rename(place.at("in"), place.at("away")).expect("the originals can be moved");
    assert!(before == render(&place, "packed/scene.rib"));
    assert_eq!(rewritten(&packed), ["two.rib"]);
    let expected = ["1/a.ppm", "2/a.ppm", "ball.rib", "flat.sl", "only2.ppm", "scene.rib", "two.rib", "two.sl"];
    assert_eq!(paths(&packed), expected, "not the texture that no search path leads to");
}

#[test]
fn frames_that_are_not_read_have_their_files_too() {
    let place = Workspace::new(&[("in/flat.sl", FLAT)]);
    place.image("in/a.ppm", RED);
    place.image("in/x/b.ppm", GREEN);
    let frame = |number, path, map| {
        format!(
            "FrameBegin {number}\n{HEAD}Option \"searchpath\" \"texture\" [\"{path}\"]\nWorldBegin\n{}WorldEnd\nFrameEnd\n",
            ball("flat", map)
        )
    };
    place.write("in/scene.rib", frame(1, ".", "a.ppm") + &frame(2, "x", "b.ppm"));
    let packed = place.pack("in/scene.rib", &["--frames", "1"]);
    assert_eq!(paths(&packed), ["a.ppm", "flat.sl", "scene.rib", "x/b.ppm"]);
}

#[test]
fn a_name_that_is_another_file_in_each_frame_is_reported() {
    let place = Workspace::new(&[("in/scene/flat.sl", FLAT), ("in/scene/p/q/x", ""), ("in/scene/r/s/x", "")]);
    place.image("in/scene/p/a.ppm", RED);
    place.image("in/scene/r/a.ppm", GREEN);
    let frame = |number, path| {
        format!(
            "FrameBegin {number}\n{HEAD}Option \"searchpath\" \"texture\" [\"{path}\"]\nWorldBegin\n{}WorldEnd\nFrameEnd\n",
            ball("flat", "../a.ppm")
        )
    };
    place.write("in/scene/scene.rib", frame(1, "p/q") + &frame(2, "r/s"));
    let packed = place.pack("in/scene/scene.rib", &[]);
    let said = packed["diagnostics"].to_string();
    for part in ["the texture `../a.ppm` is another file in other frames", "does not find", "r/a.ppm"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = place.refuses(&["pack", "in/scene/scene.rib", "-o", "none", "--frames", "7..9"]);
    assert!(said.contains("the scene has no frame from 7 to 9"), "{said}");
}

#[test]
fn a_gltf_scene_has_its_buffers_and_images() {
    let place = Workspace::new(&[]);
    let points: [f32; 9] = [-1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 0.0];
    let buffer: Vec<u8> = points.iter().chain(&[0.0, 0.0, 1.0, 0.0, 0.5, 1.0]).flat_map(|x| x.to_le_bytes()).collect();
    place.write("in/lib/tri angle.bin", &buffer);
    fs::create_dir_all(place.at("in/scene/maps")).expect("a folder");
    fs::copy(repository("assets/images/cost.png"), place.at("in/scene/maps/a b.png")).expect("an image");
    fs::copy(repository("assets/images/giant.png"), place.at("in/lib/c.png")).expect("an image");
    let json = r#"{ "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
      "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
      "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}, "emissiveTexture": {"index": 1}, "emissiveFactor": [1, 1, 1]}],
      "textures": [{"source": 0}, {"source": 1}], "images": [{"uri": "maps/a%20b.png"}, {"uri": "..\/lib\/c.png"}],
      "buffers": [{"uri": "../lib/tri%20angle.bin", "byteLength": 60}],
      "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24}],
      "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [-1, -1, 0], "max": [1, 1, 0]},
        {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"}] }"#;
    place.write("in/scene/still.gltf", json);
    let options = ["--allow-read", "in/lib"];
    let render = ["--size", "24x18", "--spp", "1"];
    let packed = place.renders_alone("scene/still.gltf", &options, &render);
    assert_eq!(paths(&packed), ["external/lib/c.png", "external/lib/tri angle.bin", "maps/a b.png", "still.gltf"]);
    let expected = json
        .replace("\"..\\/lib\\/c.png\"", "\"external/lib/c.png\"")
        .replace("../lib/tri%20angle.bin", "external/lib/tri%20angle.bin");
    assert_eq!(place.read("packed/still.gltf"), expected);
    // The same in one file: only the images are others.
    let json = json.replace("\"uri\": \"../lib/tri%20angle.bin\", ", "") + &" ".repeat((4 - json.len() % 4) % 4);
    let json = format!("{json}{}", " ".repeat((4 - json.len() % 4) % 4));
    let length = 12 + 8 + json.len() + 8 + buffer.len();
    let chunk = |bytes: &[u8], kind: &[u8]| [&(bytes.len() as u32).to_le_bytes(), kind, bytes].concat();
    let head = [&b"glTF"[..], &2u32.to_le_bytes(), &(length as u32).to_le_bytes()].concat();
    place.write("in/scene/still.glb", [head, chunk(json.as_bytes(), b"JSON"), chunk(&buffer, b"BIN\0")].concat());
    fs::remove_dir_all(place.at("packed")).expect("a pack");
    let packed = place.renders_alone("scene/still.glb", &options, &render);
    assert_eq!(paths(&packed), ["external/lib/c.png", "maps/a b.png", "still.glb"]);
}

#[test]
fn a_mesh_has_its_materials_and_textures() {
    let place = Workspace::new(&[
        (
            "in/scene/mesh.obj",
            "mtllib ..\\lib\\parts.mtl\nmtllib own.mtl none.mtl\nv -1 -1 0\nv 1 -1 0\nv 0 1 0\nv 2 1 0\n\
            vt 0 0\nvt 1 0\nvt 0.5 1\nusemtl a\nf 1/1 2/2 3/3\nusemtl b\nf 2/1 4/2 3/3\n",
        ),
        ("in/lib/parts.mtl", "newmtl a\nmap_Kd -s 2 2 2 ../lib/my wood.ppm # wood\nmap_Ke sky.ppm\n"),
        ("in/scene/own.mtl", "newmtl b\nmap_Kd maps/a.ppm\nmap_Kd none.ppm\nmap_Kd C:\\maps\\a.ppm\n"),
    ]);
    place.image("in/lib/my wood.ppm", RED);
    place.image("in/scene/sky.ppm", BLUE);
    place.image("in/scene/maps/a.ppm", GREEN);
    let render = ["--size", "24x18", "--spp", "1"];
    let before = place.render("in/scene/mesh.obj", &[&["--allow-read", "in/lib"], &render[..]].concat());
    let packed = place.pack("in/scene/mesh.obj", &["--allow-read", "in/lib"]);
    let expected =
        ["external/lib/my wood.ppm", "external/lib/parts.mtl", "maps/a.ppm", "mesh.obj", "own.mtl", "sky.ppm"];
    assert_eq!(paths(&packed), expected);
    fs::rename(place.at("in"), place.at("away")).expect("the originals can be moved");
    assert!(before == place.render("packed/mesh.obj", &render));
    assert!(place.read("packed/mesh.obj").starts_with("mtllib external/lib/parts.mtl\nmtllib own.mtl none.mtl\nv "));
    let library = "newmtl a\nmap_Kd -s 2 2 2 external/lib/my wood.ppm # wood\nmap_Ke sky.ppm\n";
    assert_eq!(place.read("packed/external/lib/parts.mtl"), library);
}

/// `bytes` of binary RIB: a string with its length, requests defined.
#[test]
fn binary_and_compressed_scenes_stay_so_unless_a_name_changes() {
    let place = Workspace::new(&[("in/scene/flat.sl", FLAT)]);
    place.image("in/scene/a.ppm", RED);
    place.image("in/lib/b.ppm", GREEN);
    let binary = |map: &str| {
        let mut bytes = b"AttributeBegin Surface \xa0\x04flat \x93map[".to_vec();
        bytes.extend([0o240, map.len() as u8]);
        bytes.extend(map.as_bytes());
        bytes.extend(b"] Sphere \xa4\x3f\x19\x99\x9a -0.6 0.6 \x81\x01\x68 AttributeEnd\n");
        bytes
    };
    let scene = format!(
        "{HEAD}WorldBegin\nReadArchive \"a.rib\"\nTranslate 1 0 0\nReadArchive \"b.rib\"\nTranslate -2 0 0\nReadArchive \"c.rib\"\nWorldEnd\n"
    );
    place.write("in/scene/scene.rib.gz", gzip(&scene));
    place.write("in/scene/a.rib", binary("a.ppm"));
    place.write("in/scene/b.rib", binary("../lib/b.ppm"));
    place.write("in/scene/c.rib", gzip(&ball("flat", "a.ppm")));
    let packed = place.renders_alone("scene/scene.rib.gz", &["--allow-read", "in/lib"], &[]);
    assert_eq!(rewritten(&packed), ["b.rib"], "and that is text now");
    let text = place.read("packed/b.rib");
    assert!(text.contains("\"external/lib/b.ppm\"") && text.contains("Surface"), "{text}");
    for file in ["scene.rib.gz", "a.rib", "c.rib"] {
        let [original, copy] =
            ["in/scene", "packed"].map(|folder| fs::read(place.at(&format!("{folder}/{file}"))).ok());
        assert_eq!(original, copy, "{file}");
    }
}

#[test]
fn texts_in_other_encodings_keep_their_bytes() {
    let place = Workspace::new(&[]);
    place.image("in/lib/b.ppm", GREEN);
    let shader =
        |name: &str| [b"/* caf\xe9 */ ", &FLAT.replace("flat(string map = \"\")", name).into_bytes()[..]].concat();
    place.write("in/scene/flat.sl", shader("flat(string map = \"../lib/b.ppm\")"));
    let mut scene = b"# caf\xe9 \xff\r\n".to_vec();
    scene.extend(HEAD.replace('\n', "\r\n").as_bytes());
    scene.extend(b"WorldBegin\rSurface \"flat\" # \xe9\rSphere 1 -1 1 360\r\n");
    scene.extend(b"Translate 1 0 0 Surface \"flat\" \"map\" [\"../lib/b.ppm\"] Sphere 1 -1 1 360 WorldEnd\x1a");
    place.write("in/scene/scene.rib", &scene);
    place.renders_alone("scene/scene.rib", &["--allow-read", "in/lib"], &[]);
    let packed = fs::read(place.at("packed/scene.rib")).expect("the scene");
    let expected = String::from_utf8_lossy(&scene).replace("../lib/b.ppm", "external/lib/b.ppm");
    assert_eq!(String::from_utf8_lossy(&packed), expected);
    assert!(packed.starts_with(b"# caf\xe9 \xff\r\n"));
    let packed = fs::read(place.at("packed/flat.sl")).expect("the shader");
    assert_eq!(packed, shader("flat(string map = \"external/lib/b.ppm\")"));
}

#[test]
#[cfg(unix)]
fn links_are_followed_and_a_texture_is_copied_once() {
    use std::os::unix::fs::symlink;
    let place = Workspace::new(&[("in/scene/flat.sl", FLAT)]);
    place.image("in/lib/v3.ppm", RED);
    place.write(
        "in/scene/scene.rib",
        format!(
            "{HEAD}WorldBegin\n{}{}{}WorldEnd\n",
            ball("flat", "wood.ppm"),
            "Translate 1 0 0\n".to_string() + &ball("flat", "linked/v3.ppm"),
            "Translate -2 0 0\n".to_string() + &ball("flat", "../lib/v3.ppm")
        ),
    );
    symlink("../lib/v3.ppm", place.at("in/scene/wood.ppm")).expect("a link");
    symlink("../lib", place.at("in/scene/linked")).expect("a link");
    let packed = place.renders_alone("scene/scene.rib", &["--allow-read", "in/lib"], &[]);
    let textures: Vec<&str> = paths(&packed).into_iter().filter(|path| path.ends_with(".ppm")).collect();
    assert_eq!(textures.len(), 1, "{textures:?}");
    assert!(fs::symlink_metadata(place.at("packed").join(textures[0])).expect("a file").is_file());
    let text = place.read("packed/scene.rib");
    assert_eq!(text.matches(textures[0]).count(), 3, "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_differ_in_case_only_become_others() {
    let place = Workspace::new(&[("in/flat.sl", FLAT)]);
    place.image("in/Wood.ppm", RED);
    place.image("in/wood.ppm", GREEN);
    let scene = format!(
        "{HEAD}WorldBegin\n{}Translate 1 0 0\n{}WorldEnd\n",
        ball("flat", "Wood.ppm"),
        ball("flat", "wood.ppm")
    );
    place.write("in/scene.rib", scene);
    let packed = place.renders_alone("scene.rib", &[], &[]);
    assert_eq!(paths(&packed), ["Wood.ppm", "flat.sl", "scene.rib", "wood-2.ppm"]);
}

#[test]
fn shaders_by_paths_and_in_files_of_other_names_are_found() {
    let class = "class Glow : rt_Material;\npublic color tint = color(1.0);\nvoid shade() { rt_SampleColor = tint; }\n";
    let place = Workspace::new(&[
        ("in/lib/glow.rtsl", class),
        ("in/scene/all.sl", &(FLAT.replace("flat", "other") + "light gone() {}\n")),
        ("in/scene/unused.sl", "surface nobody() {}\n"),
        (
            "in/lib/eye.sl",
            "color look(point p) { return trace(point(p[0] - 0.5, 0.5 - p[1], -4), vector(0, 0, 1)); }\n",
        ),
    ]);
    place.image("in/scene/a.ppm", RED);
    let scene = format!(
        "{HEAD}Projection \"eye.sl:look\"\nWorldBegin\n{}Translate 1 0 0\n\
        Surface \"../lib/glow.rtsl:Glow\" \"color tint\" [0.2 0.9 0.4]\nSphere 0.5 -0.5 0.5 360\nWorldEnd\n",
        ball("other", "a.ppm")
    );
    place.write("in/scene/scene.rib", scene);
    let packed = place.renders_alone("scene/scene.rib", &["-I", "in/lib", "--allow-read", "in/lib"], &[]);
    let expected = ["a.ppm", "all.sl", "external/lib/eye.sl", "external/lib/glow.rtsl", "scene.rib"];
    assert_eq!(paths(&packed), expected);
}

/// Names that shaders or programs make cannot be changed: each is reported where it is made.
#[test]
fn names_that_are_made_elsewhere_are_reported() {
    let place = Workspace::new(&[(
        "in/scene/made.sl",
        "surface made(string folder = \"\")\n{\n    Ci = texture(concat(folder, \"/a.ppm\"), s, t); Oi = 1;\n}\n",
    )]);
    place.image("in/lib/a.ppm", RED);
    let scene = |folder: &str| {
        format!(
            "{HEAD}WorldBegin\nSurface \"made\" \"string folder\" [\"{folder}\"]\nSphere 1 -1 1 360\n\
            Procedural \"RunProgram\" [\"grow --tall\" \"1\"] [0 1 0 1 0 1]\nWorldEnd\n"
        )
    };
    place.write("in/scene/scene.rib", scene("../lib"));
    let output = place.run(&["pack", "in/scene/scene.rib", "-o", "packed", "--allow-read", "in/lib"]);
    let said = stderr(&output);
    for part in [
        "the packed scene does not find",
        "in/scene/made.sl:3:18",
        "what the program `grow --tall` makes",
        "in/scene/scene.rib:9:26",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let args = ["pack", "in/scene/scene.rib", "-o", "strict", "--allow-read", "in/lib", "--strict"];
    place.refuses(&args);
    let never =
        format!("{HEAD}WorldBegin\nSphere 1 -1 1 360\nIfBegin \"0\"\nReadArchive \"none.rib\"\nIfEnd\nWorldEnd\n");
    place.write("in/scene/never.rib", never);
    let said = place.refuses(&["pack", "in/scene/never.rib", "-o", "strict", "--strict"]);
    assert!(said.contains("would not be complete"), "{said}");
    assert!(!place.at("strict").exists());
}

#[test]
fn what_is_missing_or_not_allowed_is_reported_and_the_rest_is_packed() {
    let place = Workspace::new(&[("in/scene/flat.sl", FLAT), ("in/secret.rib", "Sphere 1 -1 1 360\n")]);
    place.image("in/scene/a.ppm", RED);
    place.write(
        "in/scene/scene.rib",
        format!(
            "{HEAD}WorldBegin\n{}ReadArchive \"none.rib\"\nReadArchive \"../secret.rib\"\n{}\
        IfBegin \"0\"\nReadArchive \"never.rib\"\nIfEnd\nWorldEnd\n",
            ball("flat", "a.ppm"),
            ball("flat", "none.ppm")
        ),
    );
    let packed = place.pack("in/scene/scene.rib", &[]);
    assert_eq!(paths(&packed), ["a.ppm", "flat.sl", "scene.rib"]);
    assert_eq!((&packed["errors"], &packed["warnings"]), (&2.into(), &2.into()), "{packed:#}");
    let missing: Vec<_> =
        packed["missing"].as_array().expect("a list").iter().map(|m| (&m["name"], &m["line"])).collect();
    assert_eq!(
        format!("{missing:?}"),
        r#"[(String("none.rib"), Number(11)), (String("../secret.rib"), Number(12)), (String("never.rib"), Number(18))]"#
    );
    let manifest: Value = serde_json::from_str(&place.read("packed/shadewright-pack.json")).expect("JSON");
    assert_eq!(manifest["missing"], packed["missing"]);
    assert_eq!(manifest["messages"].as_array().map(Vec::len), Some(4));
    let said = place.refuses(&["pack", "in/scene/scene.rib", "-o", "strict", "--strict"]);
    assert!(said.contains("cannot find `none.rib`"), "{said}");
    assert!(!place.at("strict").exists());
}

#[test]
fn hostile_archives_end() {
    let place = Workspace::new(&[("in/self.rib", "ReadArchive \"self.rib\"\nSphere 1 -1 1 360\n")]);
    place.write(
        "in/twice.rib",
        format!("{HEAD}WorldBegin\nReadArchive \"self.rib\"\nReadArchive \"0.rib\"\nWorldEnd\n"),
    );
    for n in 0..12 {
        place.write(&format!("in/{n}.rib"), format!("ReadArchive \"{}.rib\"\n", n + 1).repeat(2));
    }
    place.write("in/12.rib", "Sphere 0.1 -0.1 0.1 360\n");
    let packed = place.pack("in/twice.rib", &[]);
    assert_eq!(paths(&packed).len(), 15);
    let said = packed["diagnostics"].to_string();
    assert!(said.contains("reads itself, directly or through others"), "{said}");
    let many = format!("{HEAD}WorldBegin\n{}WorldEnd\n", "ReadArchive \"12.rib\"\n".repeat(10_001));
    place.write("in/many.rib", many);
    let said = place.refuses(&["pack", "in/many.rib", "-o", "many"]);
    assert!(said.contains("more than 10000 archives"), "{said}");
}

#[test]
fn a_pack_is_updated_and_no_other_folder_is_replaced() {
    let place = Workspace::new(&[("in/flat.sl", FLAT), ("other/scene.rib", "WorldBegin WorldEnd")]);
    place.image("in/a.ppm", RED);
    place.write("in/scene.rib", format!("{HEAD}WorldBegin\n{}WorldEnd\n", ball("flat", "a.ppm")));
    let listed = String::from_utf8(place.run(&["pack", "in/scene.rib", "-o", "packed", "--dry-run"]).stdout);
    assert!(listed.as_deref().is_ok_and(|text| text.contains("a.ppm") && text.contains("would pack 3 files")));
    assert!(!place.at("packed").exists());
    assert_eq!(place.pack("in/scene.rib", &[])["unchanged"], 0);
    place.write("packed/image.png", "an image that was rendered here");
    place.image("in/a.ppm", GREEN);
    let said = String::from_utf8(place.run(&["pack", "in/scene.rib", "-o", "packed"]).stdout).expect("text");
    assert!(said.contains("packed 3 files") && said.contains("1 of them written, 2 unchanged"), "{said}");
    assert!(place.at("packed/image.png").exists());
    assert_eq!(fs::read(place.at("packed/a.ppm")).ok(), fs::read(place.at("in/a.ppm")).ok());
    for (out, why) in [
        ("in", "lies in the scene's folder"),
        ("in/packed", "lies in the scene's folder"),
        ("other", "is not empty, and no pack"),
        ("none/packed", "does not exist; create it first"),
        ("other/scene.rib", "is a file"),
    ] {
        let said = place.refuses(&["pack", "in/scene.rib", "-o", out]);
        assert!(said.contains(why), "{out}: {said}");
    }
    place.write("in/second.rib", format!("{HEAD}WorldBegin\nSphere 1 -1 1 360\nWorldEnd\n"));
    let said = place.refuses(&["pack", "in/second.rib", "-o", "packed"]);
    assert!(said.contains("is a pack of") && said.contains("scene.rib"), "{said}");
    let names = fs::read_dir(place.0.path()).expect("a folder").flatten().map(|entry| entry.file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().starts_with('.')).count(), 0, "no temporary folder is left");
}

/// The library function, which other programs and commands call.
#[test]
fn an_interrupted_pack_leaves_nothing() {
    use shadewright::pack::{PackError, PackOptions, Step, Watch, pack};
    use std::ops::ControlFlow;
    let place = Workspace::new(&[("in/scene.rib", &format!("{HEAD}WorldBegin\nSphere 1 -1 1 360\nWorldEnd\n"))]);
    let [scene, out] = ["in/scene.rib", "packed"].map(|path| place.at(path));
    let until = |last: fn(Step) -> bool| {
        pack(
            &scene,
            &out,
            &PackOptions::default(),
            Watch(&|step| match last(step) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }),
        )
    };
    for last in [
        |step| matches!(step, Step::Reading { .. }),
        |step| matches!(step, Step::Copying { .. }),
        |step| matches!(step, Step::Verifying { .. }),
    ] {
        assert!(matches!(until(last), Err(PackError::Interrupted)));
        let names = fs::read_dir(place.0.path()).expect("a folder").flatten().map(|entry| entry.file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["in"]);
    }
    let packed = until(|_| false).expect("a pack");
    assert_eq!((packed.scene, packed.kept), (out.join("scene.rib"), 0));
}
