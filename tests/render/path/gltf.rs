//! Scenes of glTF whose surfaces light each other.

use super::{compared_on, drawn_as, mean};
use serde_json::{Value, json};
use shadewright::image::Image;
use shadewright::scene::{Integrator, OpenOptions};
use std::fs;
use tempfile::TempDir;

/// A floor, a lamp over it out of the camera's sight, and a sheet between them; `sheet` is the
/// sheet's material.
fn folder(lamp: [f32; 3], sheet: Option<Value>) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let square = |half: f32, y: f32| [[-half, y, half], [half, y, half], [half, y, -half], [-half, y, -half]];
    // The lamp's front is below.
    let below = |half: f32, y: f32| [[-half, y, -half], [half, y, -half], [half, y, half], [-half, y, half]];
    let places = [square(2.0, 0.0), below(0.5, 2.0), square(1.0, 1.0)].concat();
    let mut bytes: Vec<u8> = places.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let uv = [[0.0f32, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
    bytes.extend(uv.iter().flatten().flat_map(|x| x.to_le_bytes()));
    bytes.extend([0u16, 1, 2, 0, 2, 3].iter().flat_map(|x| x.to_le_bytes()));
    fs::write(folder.path().join("data.bin"), &bytes).expect("the folder can be written");
    image::RgbaImage::from_fn(8, 8, |x, _| image::Rgba([255, 255, 255, if x < 4 { 255 } else { 0 }]))
        .save(folder.path().join("half.png"))
        .expect("the folder can be written");
    let accessor = |view: u32, offset: u32, count: u32, ty: &str, component: u32| json!({ "bufferView": view, "byteOffset": offset, "count": count, "type": ty, "componentType": component });
    let place = |number: u32| {
        let mut own = accessor(0, number * 48, 4, "VEC3", 5126);
        let corners = &places[number as usize * 4..][..4];
        let bound = |f: fn(f32, f32) -> f32| -> Vec<f32> {
            (0..3).map(|k| corners.iter().map(|c| c[k]).reduce(f).unwrap_or(0.0)).collect()
        };
        own["min"] = json!(bound(f32::min));
        own["max"] = json!(bound(f32::max));
        own
    };
    let mesh = |number: u32| json!({ "primitives": [{ "attributes": { "POSITION": number, "TEXCOORD_0": 3 }, "indices": 4, "material": number }] });
    let floor = json!({ "pbrMetallicRoughness": { "baseColorFactor": [0.8, 0.8, 0.8, 1], "metallicFactor": 0, "roughnessFactor": 1 } });
    let shows_sheet = sheet.is_some();
    let document = json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": ["KHR_materials_emissive_strength", "KHR_lights_punctual"],
        "extensions": { "KHR_lights_punctual": { "lights": [{ "type": "directional", "intensity": 0.0001 }] } },
        "buffers": [{ "uri": "data.bin", "byteLength": bytes.len() }],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": 144 },
            { "buffer": 0, "byteOffset": 144, "byteLength": 32 },
            { "buffer": 0, "byteOffset": 176, "byteLength": 12 }
        ],
        "accessors": [place(0), place(1), place(2), accessor(1, 0, 4, "VEC2", 5126), accessor(2, 0, 6, "SCALAR", 5123)],
        "images": [{ "uri": "half.png" }],
        "textures": [{ "source": 0 }],
        "materials": [
            floor,
            { "pbrMetallicRoughness": { "baseColorFactor": [0, 0, 0, 1] }, "emissiveFactor": lamp, "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 5.0 } } },
            sheet.unwrap_or(json!({}))
        ],
        "meshes": [mesh(0), mesh(1), mesh(2)],
        "cameras": [{ "type": "perspective", "perspective": { "yfov": 0.5, "aspectRatio": 1, "znear": 0.1 } }],
        "nodes": [
            { "mesh": 0 },
            { "mesh": 1 },
            { "mesh": 2 },
            { "camera": 0, "translation": [0, 0.5, 5] },
            { "extensions": { "KHR_lights_punctual": { "light": 0 } } }
        ],
        "scenes": [{ "nodes": if shows_sheet { vec![0, 1, 2, 3, 4] } else { vec![0, 1, 3, 4] } }],
        "scene": 0
    });
    fs::write(folder.path().join("scene.gltf"), document.to_string()).expect("the folder can be written");
    folder
}

fn image(folder: &TempDir, integrator: Integrator) -> Image {
    let options = OpenOptions { integrator: Some(integrator), size: Some((20, 20)), ..OpenOptions::default() };
    drawn_as(&folder.path().join("scene.gltf"), &options, 36, [0]).remove(0)
}

/// The mean of green.
fn green(folder: &TempDir, integrator: Integrator) -> f64 {
    mean(&image(folder, integrator))[1]
}

/// A light of so many lux on a floor, by each integrator.
#[test]
fn lights_are_as_bright_as_without_paths() {
    let folder = folder([0.0; 3], None);
    let path = folder.path().join("scene.gltf");
    let mut scene: Value = serde_json::from_slice(&fs::read(&path).expect("it was written")).expect("it is JSON");
    scene["extensions"]["KHR_lights_punctual"]["lights"][0]["intensity"] = json!(3.0);
    // Light and camera look down, with the lamp out of their way.
    for node in [3, 4] {
        scene["nodes"][node]["rotation"] = json!([-0.5_f32.sqrt(), 0, 0, 0.5_f32.sqrt()]);
    }
    scene["nodes"][3]["translation"] = json!([0, 1.5, 0]);
    scene["nodes"][1]["translation"] = json!([10, 0, 0]);
    fs::write(&path, scene.to_string()).expect("the folder can be written");
    let [shaded, followed] = [Integrator::Whitted, Integrator::Path].map(|integrator| green(&folder, integrator));
    // Measured: 0.74304 and 0.74303, without noise, as a delta light is all that there is.
    assert!((shaded - 0.743).abs() < 1e-3 && (followed - shaded).abs() < 1e-3, "{shaded} and {followed}");
}

/// The lights and the background that a scene without lights gets.
#[test]
fn default_lights_are_as_bright_as_without_paths() {
    let folder = folder([0.0; 3], None);
    let path = folder.path().join("scene.gltf");
    let mut scene: Value = serde_json::from_slice(&fs::read(&path).expect("it was written")).expect("it is JSON");
    let fields = scene.as_object_mut().expect("an object");
    fields.remove("extensions");
    fields.remove("cameras");
    scene["nodes"] = json!([{ "mesh": 0 }]);
    scene["scenes"] = json!([{ "nodes": [0] }]);
    fs::write(&path, scene.to_string()).expect("the folder can be written");
    let [shaded, followed] = [Integrator::Whitted, Integrator::Path].map(|integrator| {
        let image = image(&folder, integrator);
        f64::from(image.rgba[(image.height / 2 * image.width + image.width / 2) as usize][1])
    });
    assert!((followed / shaded - 1.0).abs() < 0.03, "{shaded} and {followed}");
}

#[test]
fn surfaces_that_shine_light_others_and_sheets_stop_light_as_far_as_they_are_there() {
    let lamp = [1.0, 1.0, 1.0];
    let bare = green(&folder(lamp, None), Integrator::Path);
    // Measured: 0.029155; without the lamp 0, as is the light of 0.0001 lux from behind the floor.
    assert!((bare - 0.02916).abs() < 1e-3, "{bare}");
    let dark = green(&folder([0.0; 3], None), Integrator::Path);
    assert!((0.0..1e-6).contains(&dark), "{dark} without a lamp");
    let shaded = green(&folder(lamp, None), Integrator::Whitted);
    assert!((0.0..1e-6).contains(&shaded), "the shader in RSL follows no light: {shaded}");
    let sheet = |mode: &str, alpha: f32| json!({ "alphaMode": mode, "doubleSided": true, "pbrMetallicRoughness": { "baseColorFactor": [0, 0, 0, alpha], "metallicFactor": 0, "roughnessFactor": 1 } });
    let with = |sheet: Value| green(&folder(lamp, Some(sheet)), Integrator::Path) / bare;
    let [whole, cut, none] =
        [("OPAQUE", 0.2), ("MASK", 0.6), ("MASK", 0.4)].map(|(mode, alpha)| with(sheet(mode, alpha)));
    let half = with(sheet("BLEND", 0.5));
    // Measured: 0.05831 for both, as they take the same paths.
    assert!((whole - 0.0583).abs() < 0.005 && (cut - whole).abs() < 1e-6, "{whole} and {cut}");
    // Measured: 1 - 1.6e-7.
    assert!((none - 1.0).abs() < 1e-5, "what is cut away is not there: {none}");
    // 0.529 is expected; chance decides whether a path passes.
    assert!((half - 0.5 * (1.0 + whole)).abs() < 0.02, "{half} between {whole} and 1");
}

#[test]
fn both_back_ends_see_the_same_images() {
    let image = json!({ "index": 0 });
    let sheet = json!({ "doubleSided": true, "pbrMetallicRoughness": { "baseColorTexture": image, "metallicRoughnessTexture": image }, "normalTexture": image });
    let folder = folder([1.0, 0.5, 0.2], Some(sheet));
    compared_on("wavefront", &folder.path().join("scene.gltf"), &["--integrator", "path"]);
}

/// A software driver takes a minute for the megakernel of a material that is cut away by an image.
#[test]
fn both_back_ends_cut_away_the_same() {
    let sheet = json!({ "alphaMode": "MASK", "doubleSided": true, "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "metallicFactor": 0.5 } });
    let folder = folder([1.0, 0.5, 0.2], Some(sheet));
    compared_on("wavefront", &folder.path().join("scene.gltf"), &["--integrator", "path"]);
}

#[test]
fn images_say_what_is_cut_away() {
    let sheet = json!({ "alphaMode": "MASK", "doubleSided": true, "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "metallicRoughnessTexture": { "index": 0 }, "metallicFactor": 0.5 }, "normalTexture": { "index": 0, "scale": 0.3 } });
    let folder = folder([1.0, 0.5, 0.2], Some(sheet));
    let drawn = image(&folder, Integrator::Path);
    let rows = drawn.rgba.chunks(drawn.width as usize);
    let sides: [f32; 2] = rows.fold([0.0; 2], |sums, row| {
        let half = row.len() / 2;
        [
            sums[0] + row[..half].iter().map(|p| p[1]).sum::<f32>(),
            sums[1] + row[half..].iter().map(|p| p[1]).sum::<f32>(),
        ]
    });
    assert!(sides[0] != sides[1] && sides.iter().all(|s| *s > 0.0), "{sides:?}");
}
