//! `shadewright convert`: scenes in other formats show the same image, wherever their files are moved
//! to, and what cannot be kept is reported.

use crate::common::{pixels, shadewright, stderr};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// A scene of everything that has a place of its own in RIB: spaces, kinds of lights, instances,
/// attributes, ribbons, an imager, two lights of one handle.
const SCENE: &str = r#"
Option "user" "float tint" [0.5]
Format 40 30 1
PixelSamples 1 1
PixelFilter "gaussian" 2 2
Exposure 1.2 1
Clipping 0.5 1e38
DepthOfField 8 0.5 5
Projection "perspective" "fov" [40]
LightSource "pointlight" "k" "intensity" [20] "from" [1 1 0]
Imager "background" "color background" [0.1 0.2 0.3]
Rotate 20 1 0 0
Translate 0 0 5
WorldBegin
CoordinateSystem "stage"
LightSource "distantlight" 1 "intensity" [0.5] "from" [0 1 0] "to" [0.3 0 0.1]
AttributeBegin
Rotate 30 0 1 0
Attribute "light" "string shadows" ["off"]
LightSource "spotlight" 1 "intensity" [10] "from" [2 2 -2] "to" [0 0 0]
Surface "speckled" "float scale" [3]
Color [1 0.5 0.2]
Sphere 1 -1 1 360
Illuminate 1 0
Translate 1.5 0 0
Surface "matte"
Opacity [0.5 0.5 0.5]
Sides 1
Attribute "visibility" "int transmission" [0]
Torus 0.5 0.2 0 360 360
AttributeEnd
AttributeBegin
AreaLightSource "pointlight" "area" "intensity" [3]
Translate -2 1 0
Sphere 0.3 -0.3 0.3 360
AttributeEnd
Curves "linear" [2 2] "nonperiodic" "P" [-1 -1 -1 1 -1 -1 -1 -1.2 -1 1 -1.1 -1] "constantwidth" [0.1]
ObjectBegin 1
PointsPolygons [4 3] [0 1 2 3 3 2 4] "P" [0 0 0 1 0 0 1 1 0 0 1 0 0.5 2 0] "uniform color Cs" [1 0 0 0 1 0]
ObjectEnd
Translate 0 1.5 0
Scale 0.5 1 1
ObjectInstance 1
WorldEnd
"#;

/// A shader that looks at every space, and includes a header.
const SHADER: &str = r#"
#include "parts/scale.h"
surface speckled(float scale = 1; string map = "dots.ppm")
{
    float tint = 1;
    option("user:tint", tint);
    point q = SCALED(transform("object", P)) + 0.1 * transform("shader", P) + 0.01 * transform("stage", P);
    normal n = faceforward(normalize(N), I);
    color dots = texture(map, s, t);
    Ci = Os * (tint * Cs * dots * (0.3 + 0.7 * noise(q)) * diffuse(n) + 0.05);
    Oi = Os;
}
"#;

/// A folder with the scene, its shader in one folder and its image.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("in/lib/parts")).expect("folders");
    fs::create_dir_all(at("out")).expect("a folder");
    let text = format!("Option \"searchpath\" \"string shader\" [\"lib\"]\n{SCENE}");
    fs::write(at("in/scene.rib"), text).expect("a file");
    fs::write(at("in/lib/speckled.sl"), SHADER).expect("a file");
    fs::write(at("in/lib/parts/scale.h"), "#define SCALED(p) (scale * (p))\n").expect("a file");
    fs::write(at("in/dots.ppm"), b"P6 2 1 255 \xff\x80\x20\x30\x90\xff").expect("a file");
    folder
}

fn asset(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets").join(name).display().to_string()
}

/// Runs the program, which succeeds.
#[track_caller]
fn succeeds(folder: &Path, args: &[&str]) -> Output {
    let output = shadewright(folder, args);
    assert!(output.status.success(), "{args:?}: {}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
    output
}

/// Runs the program, which refuses: the message.
#[track_caller]
fn refuses(folder: &Path, args: &[&str]) -> String {
    let output = shadewright(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
    stderr(&output)
}

/// Converts a scene and compares: the summary.
#[track_caller]
fn checked(folder: &Path, from: &str, to: &str, more: &[&str]) -> Value {
    let args = [&["convert", from, to, "--check", "--size", "32x24", "--spp", "1", "--json"], more].concat();
    let output = succeeds(folder, &args);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Converts a scene to RIB, whose image is equal to the last bit.
#[track_caller]
fn goes_to_rib(folder: &Path, from: &str, to: &str) -> Value {
    let summary = checked(folder, from, to, &["--metric", "max", "--threshold", "0"]);
    assert_eq!(summary["report"]["max_linear"], 0.0, "{from}");
    assert_eq!(summary["losses"], 0, "{from}");
    summary
}

#[test]
fn rib_goes_to_rib_bit_for_bit_and_its_folder_can_be_moved() {
    let folder = folder();
    let at = folder.path();
    goes_to_rib(at, "in/scene.rib", "out/copy.rib");
    for name in ["copy_shaders/speckled.sl", "copy_shaders/parts/scale.h", "copy_textures/dots.ppm"] {
        assert!(at.join("out").join(name).is_file(), "{name}");
    }
    succeeds(at, &["render", "in/scene.rib", "-o", "before.exr", "--backend", "rpu"]);
    fs::rename(at.join("in"), at.join("gone")).expect("a folder");
    fs::rename(at.join("out"), at.join("elsewhere")).expect("a folder");
    let after = succeeds(at, &["render", "elsewhere/copy.rib", "-o", "after.exr", "--backend", "rpu"]);
    assert_eq!(stderr(&after).matches("warning").count(), 0, "{}", stderr(&after));
    assert_eq!(pixels(&at.join("before.exr")), pixels(&at.join("after.exr")));
    // What was written is written again as it is.
    succeeds(at, &["convert", "elsewhere/copy.rib", "elsewhere/again.rib"]);
    goes_to_rib(at, "elsewhere/again.rib", "elsewhere/third.rib");
    let text = |name: &str| fs::read_to_string(at.join("elsewhere").join(name)).expect("RIB");
    let (again, third) = (text("again.rib").replace("again_", "third_"), text("third.rib"));
    let differing = again.lines().zip(third.lines()).find(|(a, b)| a != b);
    assert_eq!((differing, again.lines().count()), (None, third.lines().count()));
}

#[test]
fn shaders_that_compute_in_camera_space_still_do() {
    let folder = folder();
    let text = fs::read_to_string(folder.path().join("in/scene.rib")).expect("RIB");
    let text = format!("Option \"shading\" \"string current\" [\"camera\"]\n{text}");
    fs::write(folder.path().join("in/scene.rib"), text).expect("a file");
    goes_to_rib(folder.path(), "in/scene.rib", "out/copy.rib");
}

#[test]
fn scenes_of_all_languages_go_to_rib_bit_for_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in [
        "scenes/instances.rib",
        "scenes/primvars.rib",
        "scenes/textures.rib",
        "scenes/displaced.rib",
        "rtsl/primitives.rib",
        "pfman/languages.rib",
    ] {
        goes_to_rib(folder.path(), &asset(name), "copy.rib");
    }
    goes_to_rib(folder.path(), "glass", "built_in.rib");
}

#[test]
fn gltf_goes_through_rib_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    goes_to_rib(at, &asset("scenes/still.gltf"), "still.rib");
    let summary = checked(at, "still.rib", "back.gltf", &[]);
    assert_eq!(summary["losses"], 0, "{summary}");
    let files: Vec<_> = summary["files"].as_array().expect("a list").iter().map(|file| &file["path"]).collect();
    assert!(files.contains(&&Value::from("back.bin")), "{files:?}");
    // A binary file needs no other.
    checked(at, "back.gltf", "alone.glb", &[]);
    fs::create_dir(at.join("elsewhere")).expect("a folder");
    fs::rename(at.join("alone.glb"), at.join("elsewhere/alone.glb")).expect("a file");
    let summary = checked(at, "elsewhere/alone.glb", "elsewhere/from_glb.rib", &[]);
    assert_eq!(summary["report"]["max_linear"], 0.0);
}

#[test]
fn meshes_with_materials_go_to_gltf() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let mesh = "mtllib m.mtl\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n\
        usemtl wall\nf 1/1 2/2 3/3 4/4\nusemtl red\nf 1 2 5\n";
    fs::write(at.join("m.obj"), mesh).expect("a file");
    let materials = "newmtl wall\nKd 1 1 1\nmap_Kd wall.ppm\nillum 1\nnewmtl red\nKd 0.8 0.1 0.1\nillum 1\n";
    fs::write(at.join("m.mtl"), materials).expect("a file");
    fs::write(at.join("wall.ppm"), b"P6 1 2 255 \x40\xff\x80\xc0\x90\x20").expect("a file");
    for out in ["mesh.gltf", "mesh.glb"] {
        let summary = checked(at, "m.obj", out, &[]);
        assert_eq!(summary["verdict"]["passed"], true, "{summary}");
    }
    goes_to_rib(at, "m.obj", "mesh.rib");
    // An image that is replaced is an image of the scene itself, once it is in the same folder.
    assert!(at.join("mesh_textures/wall.ppm").is_file());
    checked(at, "mesh.gltf", "mesh2.gltf", &[]);
}

#[test]
fn well_known_shaders_become_similar_materials_and_others_are_reported() {
    let folder = folder();
    let at = folder.path();
    let scene = "Format 32 24 1\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 5\nWorldBegin\n\
        LightSource \"distantlight\" 1 \"intensity\" [1] \"from\" [1 2 -1] \"to\" [0 0 0]\n\
        AttributeBegin\nSurface \"matte\"\nColor [0.9 0.4 0.2]\nSphere 1 -1 1 360\nAttributeEnd\n\
        AttributeBegin\nSurface \"constant\"\nColor [0.2 0.4 0.8]\nTranslate 2 0 0\nSphere 0.5 -0.5 0.5 360\nAttributeEnd\n";
    fs::write(at.join("in/known.rib"), format!("{scene}WorldEnd\n")).expect("a file");
    let summary = checked(at, "in/known.rib", "out/known.glb", &[]);
    assert_eq!(summary["losses"], 1, "matte alone loses something: {summary}");

    let unknown = "Option \"searchpath\" \"string shader\" [\"lib\"]\n".to_string()
        + scene
        + "Surface \"speckled\"\nAtmosphere \"fog\"\nTranslate -2 0 0\nSphere 0.5 -0.5 0.5 360\nWorldEnd\n";
    fs::write(at.join("in/unknown.rib"), unknown).expect("a file");
    let output = succeeds(at, &["convert", "in/unknown.rib", "out/unknown.gltf"]);
    let message = stderr(&output);
    assert!(message.contains("surface `speckled`: it becomes a similar material of glTF"), "{message}");
    assert!(message.contains("volume `fog`: glTF has no atmosphere shaders"), "{message}");

    let message = refuses(at, &["convert", "in/unknown.rib", "out/strict.gltf", "--strict"]);
    assert!(message.contains("3 losses, and no file is written"), "{message}");
    let written: Vec<_> =
        fs::read_dir(at.join("out")).expect("a folder").map(|e| e.expect("a file").file_name()).collect();
    assert!(written.iter().all(|name| !name.to_string_lossy().starts_with("strict")), "{written:?}");
}

#[test]
fn scenes_that_differ_fail_the_check() {
    let folder = folder();
    let args = ["convert", "in/scene.rib", "out/scene.glb", "--check", "--size", "24x18", "--spp", "1"];
    let output = shadewright(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("wrote out/scene.glb") && shown.contains("FAIL"), "{shown}");
}

#[test]
fn a_missing_texture_is_reported_and_the_rest_is_written() {
    let folder = folder();
    fs::remove_file(folder.path().join("in/dots.ppm")).expect("a file");
    let output = succeeds(folder.path(), &["convert", "in/scene.rib", "out/copy.rib"]);
    assert!(stderr(&output).contains("there is no texture `dots.ppm`: it is black"), "{}", stderr(&output));
    assert!(!folder.path().join("out/copy_textures").exists());
}

#[test]
fn files_of_the_scene_are_not_replaced_and_formats_go_by_extension() {
    let folder = folder();
    let at = folder.path();
    let before = fs::read(at.join("in/scene.rib")).expect("a file");
    let message = refuses(at, &["convert", "in/scene.rib", "in/../in/scene.rib"]);
    assert!(message.contains("the scene reads this file, which would be replaced; choose another name"), "{message}");
    assert_eq!(fs::read(at.join("in/scene.rib")).expect("a file"), before);
    let message = refuses(at, &["convert", "in/scene.rib", "out/scene.usd"]);
    assert!(message.contains("no scene format has this extension; use one of .rib .gltf .glb"), "{message}");
    let message = refuses(at, &["convert", "in/scene.rib", "nowhere/scene.rib"]);
    assert!(message.contains("the folder nowhere does not exist; create it first"), "{message}");
    let message = refuses(at, &["convert", "in/scen.rib", "out/scene.rib"]);
    assert!(message.contains("no file `in/scen.rib`") && message.contains("there is `scene.rib`"), "{message}");
    // An image of another scene with the same name keeps its place.
    fs::create_dir(at.join("in/scene2_textures")).expect("a folder");
    fs::rename(at.join("in/dots.ppm"), at.join("in/scene2_textures/dots.ppm")).expect("a file");
    fs::write(at.join("in/dots.ppm"), b"P6 1 1 255 \x00\x00\x00").expect("a file");
    let text = String::from_utf8(before).expect("RIB");
    let use_both = text
        .replace("\"float scale\" [3]", "\"string map\" [\"scene2_textures/dots.ppm\"]")
        .replace("Surface \"matte\"", "Surface \"speckled\" \"string map\" [\"dots.ppm\"]");
    fs::write(at.join("in/scene.rib"), use_both).expect("a file");
    goes_to_rib(at, "in/scene.rib", "in/scene2.rib");
    assert_eq!(fs::read(at.join("in/scene2_textures/dots.ppm")).expect("a file").len(), 17);
}
