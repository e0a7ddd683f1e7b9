//! glTF documents as programs write them, and what is said about those that are wrong.

use super::super::{Integrator, MeshSpace, OpenOptions, Opened, ParamValue, Projection, Scene, TextureSource, open};
use glam::{Vec2, Vec3};
use serde_json::{Value, json};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::SourceMap;
use shadewright_image::Reading;
use shadewright_texture::Wrap;
use std::path::Path;

/// A document of one triangle (0,0,0), (2,0,0), (0,2,0) with texture coordinates, and its buffer.
fn triangle() -> (Value, Vec<u8>) {
    let mut data: Vec<u8> =
        [0.0f32, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    data.extend([0.0f32, 0.0, 1.0, 0.0, 0.0, 1.0].iter().flat_map(|x| x.to_le_bytes()));
    data.extend([0u16, 1, 2].iter().flat_map(|x| x.to_le_bytes()));
    let document = json!({
        "asset": { "version": "2.0" },
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "TEXCOORD_0": 1 }, "indices": 2, "material": 0 }] }],
        "materials": [{}],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2" },
            { "bufferView": 2, "componentType": 5123, "count": 3, "type": "SCALAR" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": 36 },
            { "buffer": 0, "byteOffset": 36, "byteLength": 24 },
            { "buffer": 0, "byteOffset": 60, "byteLength": 6 },
        ],
        "buffers": [{ "byteLength": 66, "uri": "data.bin" }],
    });
    (document, data)
}

/// [`triangle`] with changes: values at JSON pointers, which are made where they are missing.
fn changed(changes: &[(&str, Value)]) -> (Value, Vec<u8>) {
    let (mut document, data) = triangle();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match document.pointer_mut(parent).unwrap() {
            Value::Object(map) => drop(map.insert(key.to_string(), value.clone())),
            Value::Array(list) if key == "-" => list.push(value.clone()),
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value.clone(),
            _ => panic!("{pointer}"),
        }
    }
    (document, data)
}

/// Opens a document that lies beside its buffer.
fn opened_with((document, data): &(Value, Vec<u8>), options: &OpenOptions) -> Result<Opened, Diagnostics> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gltf");
    std::fs::write(&path, document.to_string()).unwrap();
    std::fs::write(folder.path().join("data.bin"), data).unwrap();
    std::fs::create_dir(folder.path().join("maps")).unwrap();
    std::fs::write(folder.path().join("maps/wood grain.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    open(&path, options, &mut SourceMap::new())
}

/// The scene of a document that must be right and give no warning.
fn scene(document: &(Value, Vec<u8>)) -> Scene {
    let opened = opened_with(document, &OpenOptions::default());
    let opened = opened.unwrap_or_else(|e| panic!("{}", e.render(&SourceMap::new())));
    assert!(opened.diagnostics.is_empty(), "{}", opened.diagnostics.render(&SourceMap::new()));
    opened.scene
}

fn scene_of(changes: &[(&str, Value)]) -> Scene {
    scene(&changed(changes))
}

fn warnings(changes: &[(&str, Value)]) -> String {
    let opened = opened_with(&changed(changes), &OpenOptions::default());
    opened.unwrap_or_else(|e| panic!("{}", e.render(&SourceMap::new()))).diagnostics.render(&SourceMap::new())
}

fn errors(changes: &[(&str, Value)]) -> String {
    match opened_with(&changed(changes), &OpenOptions::default()) {
        Ok(_) => panic!("no error with {changes:?}"),
        Err(errors) => errors.render(&SourceMap::new()),
    }
}

fn param<'a>(scene: &'a Scene, shader: usize, name: &str) -> Option<&'a ParamValue> {
    scene.shader_instances[shader].params.iter().find(|p| p.0 == name).map(|p| &p.1)
}

#[test]
fn a_triangle_without_normals_is_flat_and_gets_a_camera_and_lights() {
    let scene = scene_of(&[]);
    let object = &scene.objects[0];
    assert_eq!(object.mesh.positions, [Vec3::ZERO, 2.0 * Vec3::X, 2.0 * Vec3::Y]);
    assert_eq!((object.mesh.normals[0], object.sides, object.lights.len()), (Vec3::Z, 1, 3));
    assert_eq!(scene.shader_instances[object.surface.unwrap().0 as usize].shader, "gltf");
    assert!(scene.camera.world_to_camera.transform_point3(Vec3::new(0.5, 0.5, 0.0)).z > 0.0);
}

#[test]
fn binary_files_hold_their_buffer() {
    let (mut document, data) = triangle();
    document["buffers"][0].as_object_mut().unwrap().remove("uri");
    let text = document.to_string();
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((12 + 8 + text.len() as u32 + 8 + data.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", text.as_bytes()), (b"BIN\0", &data)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.glb");
    std::fs::write(&path, &file).unwrap();
    let opened = open(&path, &OpenOptions::default(), &mut SourceMap::new()).unwrap();
    assert_eq!(opened.scene.triangle_count(), 1);
}

/// [`triangle`] with compressed indices.
fn compressed() -> (Value, Vec<u8>) {
    let (mut document, mut data) = triangle();
    // The indices 0, 1 and 2.
    data.extend([209, 0, 4, 4, 0, 0, 0, 0]);
    let compressed =
        json!({ "buffer": 0, "byteOffset": 66, "byteLength": 8, "byteStride": 2, "count": 3, "mode": "INDICES" });
    document["extensionsUsed"] = json!(["EXT_meshopt_compression"]);
    document["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    document["buffers"] = json!([
        { "byteLength": 74, "uri": "data.bin" },
        { "byteLength": 6, "extensions": { "EXT_meshopt_compression": { "fallback": true } } },
    ]);
    document["bufferViews"][2] =
        json!({ "buffer": 1, "byteLength": 6, "extensions": { "EXT_meshopt_compression": compressed } });
    (document, data)
}

#[test]
fn compressed_buffer_views_are_decoded() {
    let file = compressed();
    assert_eq!(scene(&file).triangle_count(), 1);
    let (mut document, data) = file;
    for (field, value, what) in [
        ("count", json!(4), "its elements have another size than the buffer view"),
        ("byteLength", json!(7), "the stream cannot be decoded: its length is wrong"),
        ("byteOffset", json!(70), "it takes 8 bytes from number 70 on, and buffers[0] has 74"),
        ("mode", json!("CORNERS"), "unknown variant `CORNERS`"),
    ] {
        let pointer = format!("/bufferViews/2/extensions/EXT_meshopt_compression/{field}");
        let kept = std::mem::replace(document.pointer_mut(&pointer).unwrap(), value);
        let said = opened_with(&(document.clone(), data.clone()), &OpenOptions::default()).unwrap_err();
        let said = said.render(&SourceMap::new());
        let place = "bufferViews[2].extensions.EXT_meshopt_compression";
        assert!(said.contains(place) && said.contains(what), "`{what}` is not in {said}");
        *document.pointer_mut(&pointer).unwrap() = kept;
    }
}

#[test]
fn compressed_meshes_expand_to_at_most_16_times_their_size_and_16_mebibytes() {
    let (mut document, data) = compressed();
    let most = 16 * (data.len() + (1 << 20));
    for (bytes, what) in [(most, "the stream cannot be decoded"), (most + 2, "to more than 16 times their bytes")] {
        document["bufferViews"][2]["byteLength"] = json!(bytes);
        document["bufferViews"][2]["extensions"]["EXT_meshopt_compression"]["count"] = json!(bytes / 2);
        let said = opened_with(&(document.clone(), data.clone()), &OpenOptions::default()).unwrap_err();
        let said = said.render(&SourceMap::new());
        assert!(said.contains(what), "`{what}` is not in {said}");
    }
}

#[test]
fn strips_and_fans_turn_every_triangle_the_same_way() {
    // The corners of a square: of a strip row by row, of a fan round it.
    for (mode, points) in [(5, [[0, 0], [1, 0], [0, 1], [1, 1]]), (6, [[0, 0], [1, 0], [1, 1], [0, 1]])] {
        let data: Vec<u8> =
            points.iter().flat_map(|[x, y]| [*x as f32, *y as f32, 0.0]).flat_map(|v| v.to_le_bytes()).collect();
        let (mut document, _) = changed(&[
            ("/meshes/0/primitives/0", json!({ "attributes": { "POSITION": 0 }, "mode": mode })),
            ("/accessors/0/count", json!(4)),
            ("/bufferViews/0/byteLength", json!(48)),
            ("/buffers/0/byteLength", json!(48)),
        ]);
        document["bufferViews"].as_array_mut().unwrap().truncate(1);
        let scene = scene(&(document, data));
        let mesh = &scene.objects[0].mesh;
        assert_eq!(mesh.triangles.len(), 2);
        assert!((0..2).all(|t| mesh.scaled_normal(t) == Vec3::Z), "mode {mode}");
    }
}

#[test]
fn nodes_place_their_meshes_and_a_mirror_turns_nothing_inside_out() {
    let scene = scene_of(&[
        ("/nodes/0", json!({ "translation": [0, 0, 5], "children": [1, 2] })),
        ("/nodes/-", json!({ "mesh": 0, "scale": [-1, 1, 1], "name": "mirrored" })),
        (
            "/nodes/-",
            json!({ "mesh": 0, "rotation": [0, 0, std::f32::consts::FRAC_1_SQRT_2, std::f32::consts::FRAC_1_SQRT_2] }),
        ),
    ]);
    let [mirrored, turned] = &scene.objects[..] else { panic!("{} objects", scene.objects.len()) };
    assert_eq!((&*mirrored.name, &*turned.name), ("mirrored", "nodes[2]"));
    assert_eq!(mirrored.mesh.positions[1], Vec3::new(-2.0, 0.0, 5.0));
    assert!(mirrored.mesh.scaled_normal(0).z > 0.0);
    assert!(turned.mesh.positions[1].distance(Vec3::new(0.0, 2.0, 5.0)) < 1e-6);
}

#[test]
fn large_meshes_that_several_nodes_show_are_shared() {
    let count = 60_000;
    let (mut document, mut data) = changed(&[
        ("/nodes/0/translation", json!([1, 0, 0])),
        ("/nodes/-", json!({ "mesh": 0 })),
        ("/scenes/0/nodes", json!([0, 1])),
    ]);
    data.truncate(60);
    data.extend([0u16, 1, 2].repeat(count).iter().flat_map(|x| x.to_le_bytes()));
    document["accessors"][2]["count"] = json!(3 * count);
    document["bufferViews"][2]["byteLength"] = json!(6 * count);
    document["buffers"][0]["byteLength"] = json!(data.len());
    let scene = scene(&(document, data));
    assert!(std::sync::Arc::ptr_eq(&scene.objects[0].mesh, &scene.objects[1].mesh));
    assert_eq!(scene.objects[0].mesh_space, MeshSpace::Object);
}

#[test]
fn whole_numbers_with_gaps_between_them_and_replaced_elements_are_read() {
    // Positions as normalized shorts 8 bytes apart; the second is replaced by the third's value.
    let mut data: Vec<u8> = Vec::new();
    for p in [[0i16, 0, 0, 99], [-32767, 0, 0, 99], [0, 32767, 0, 99], [32767, 0, 0, 0]] {
        data.extend(p.iter().flat_map(|x| x.to_le_bytes()));
    }
    data.push(1);
    let document = json!({
        "asset": { "version": "2.0" },
        "extensionsRequired": ["KHR_mesh_quantization"], "extensionsUsed": ["KHR_mesh_quantization"],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{
            "bufferView": 0, "componentType": 5122, "normalized": true, "count": 3, "type": "VEC3",
            "sparse": {
                "count": 1,
                "indices": { "bufferView": 1, "byteOffset": 8, "componentType": 5121 },
                "values": { "bufferView": 1 },
            },
        }],
        "bufferViews": [
            { "buffer": 0, "byteLength": 24, "byteStride": 8 },
            { "buffer": 0, "byteOffset": 24, "byteLength": 9 },
        ],
        "buffers": [{ "byteLength": 33, "uri": "data.bin" }],
    });
    assert_eq!(scene(&(document, data)).objects[0].mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
}

#[test]
fn a_primitive_keeps_only_the_vertices_that_it_uses() {
    let (mut document, mut data) = triangle();
    data[60..66].copy_from_slice(&[2, 0, 0, 0, 2, 0]);
    document["accessors"][2]["count"] = json!(2);
    document["meshes"][0]["primitives"].as_array_mut().unwrap().push(json!({ "attributes": { "POSITION": 0 } }));
    let scene = scene(&(document, data));
    // The first has too few indices for a triangle.
    assert_eq!(scene.objects.len(), 1);
    let many = scene_of(&[("/meshes/0/primitives/0/mode", json!(4))]);
    assert_eq!(many.objects[0].mesh.positions.len(), 3);
}

#[test]
fn a_camera_looks_along_its_negative_z_and_its_angle_is_that_of_the_height() {
    let yfov = 1.0f32;
    let camera =
        json!({ "type": "perspective", "perspective": { "yfov": yfov, "aspectRatio": 0.5, "znear": 0.1, "zfar": 50 } });
    let changes = [
        ("/cameras", json!([camera])),
        ("/nodes/-", json!({ "camera": 0, "translation": [0, 0, 4], "scale": [3, 3, 3] })),
        ("/scenes/0/nodes", json!([0, 1])),
    ];
    let scene = scene_of(&changes);
    assert_eq!((scene.format.width, scene.format.height), (240, 480));
    let at = scene.camera.world_to_camera.transform_point3(Vec3::new(1.0, 2.0, 0.0));
    assert!(at.distance(Vec3::new(1.0, 2.0, 4.0)) < 1e-5, "{at}");
    let frame = scene.camera_frame();
    assert!(
        (frame.half_height - (0.5 * yfov).tan()).abs() < 1e-5
            && (frame.half_width - 0.5 * frame.half_height).abs() < 1e-6
    );
    assert_eq!((scene.camera.near, scene.camera.far), (0.1, 50.0));
    // A size that the user gives keeps the height.
    let options = OpenOptions { size: Some((300, 100)), ..OpenOptions::default() };
    let scene = opened_with(&changed(&changes), &options).unwrap().scene;
    assert!((scene.camera_frame().half_height - (0.5 * yfov).tan()).abs() < 1e-5);
}

#[test]
fn an_orthographic_camera_shows_twice_its_magnification() {
    let camera = json!({ "type": "orthographic", "orthographic": { "xmag": 3, "ymag": 1.5, "znear": 0, "zfar": 9 } });
    let scene = scene_of(&[("/cameras", json!([camera])), ("/nodes/0/camera", json!(0))]);
    assert_eq!(scene.camera.projection, Projection::Orthographic);
    let frame = scene.camera_frame();
    assert_eq!((scene.format.width, frame.half_width, frame.half_height), (960, 3.0, 1.5));
}

#[test]
fn lights_shine_from_their_nodes_and_replace_those_that_a_scene_gets() {
    let lights = json!([
        { "type": "directional", "intensity": 3 },
        { "type": "spot", "color": [1, 0.5, 0], "range": 7, "spot": { "innerConeAngle": 0.1, "outerConeAngle": 0.2 } },
        { "type": "point" },
    ]);
    let light =
        |i: u32, z: f32| json!({ "translation": [0, 0, z], "extensions": { "KHR_lights_punctual": { "light": i } } });
    let scene = scene_of(&[
        ("/extensionsUsed", json!(["KHR_lights_punctual"])),
        ("/extensions", json!({ "KHR_lights_punctual": { "lights": lights } })),
        ("/nodes/0/children", json!([1, 2, 3])),
        ("/nodes/-", light(0, 1.0)),
        ("/nodes/-", light(1, 2.0)),
        ("/nodes/-", light(2, 3.0)),
    ]);
    assert_eq!((scene.lights.len(), scene.objects[0].lights.len(), scene.background), (3, 3, [0.0; 4]));
    let shader = |i: usize| scene.lights[i].shader.0 as usize;
    let names: Vec<_> = (0..3).map(|i| scene.shader_instances[shader(i)].shader.as_str()).collect();
    assert_eq!(names, ["distantlight", "gltflight", "gltflight"]);
    let point = |v: Vec3| Some(ParamValue::Point(vec![v]));
    let float = |v: f32| Some(ParamValue::Float(vec![v]));
    assert_eq!(param(&scene, shader(1), "from").cloned(), point(2.0 * Vec3::Z));
    assert_eq!(param(&scene, shader(1), "to").cloned(), point(Vec3::Z));
    assert_eq!(param(&scene, shader(1), "range").cloned(), float(7.0));
    assert_eq!(param(&scene, shader(1), "outerConeAngle").cloned(), float(0.2));
    assert_eq!(param(&scene, shader(0), "intensity").cloned(), float(3.0));
}

#[test]
fn a_scene_lit_by_the_sun_is_exposed_for_it_and_says_so() {
    let changes = [
        (
            "/extensions",
            json!({ "KHR_lights_punctual": { "lights": [{ "type": "directional", "intensity": 31416 }] } }),
        ),
        ("/nodes/0/extensions", json!({ "KHR_lights_punctual": { "light": 0 } })),
    ];
    let opened = opened_with(&changed(&changes), &OpenOptions::default()).unwrap();
    assert!((opened.scene.film.exposure.gain - 1e-4).abs() < 1e-8);
    let said = warnings(&changes);
    assert!(said.contains("about 31416 lux") && said.contains("10000 candela"), "{said}");
}

/// Textures for every use, all of one image.
fn textured() -> Vec<(&'static str, Value)> {
    let transform = json!({ "KHR_texture_transform": { "scale": [2, 2], "texCoord": 0 } });
    vec![
        ("/extensionsUsed", json!(["KHR_texture_transform"])),
        ("/images", json!([{ "uri": "maps/wood%20grain.png" }])),
        ("/samplers", json!([{ "wrapS": 33071 }])),
        ("/textures", json!([{ "source": 0, "sampler": 0 }])),
        (
            "/materials/0",
            json!({
                "alphaMode": "BLEND",
                "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "metallicRoughnessTexture": { "index": 0 } },
                "normalTexture": { "index": 0, "scale": 0.5, "texCoord": 1, "extensions": transform },
            }),
        ),
    ]
}

#[test]
fn textures_are_read_as_their_use_asks() {
    let scene = scene_of(&textured());
    let wraps = [Wrap::Clamp, Wrap::Periodic];
    let file = "maps/wood grain.png".to_string();
    for (parameter, reading) in [("baseColor", Reading::ColorAlpha), ("normal", Reading::Data)] {
        let Some(ParamValue::String(name)) = param(&scene, 0, &format!("{parameter}Texture")) else {
            panic!("{parameter}")
        };
        assert_eq!(scene.texture(&name[0]), TextureSource::Image { file: file.clone(), wraps, reading });
    }
}

#[test]
fn a_texture_with_a_transform_has_coordinates_of_its_own_and_a_normal_map_tangents() {
    let scene = scene_of(&textured());
    let number = |name: &str| param(&scene, 0, name).cloned();
    assert_eq!(number("metallicRoughnessTexCoord"), Some(ParamValue::Float(vec![0.0])));
    assert_eq!(number("normalTexCoord"), Some(ParamValue::Float(vec![1.0])));
    let mesh = &scene.objects[0].mesh;
    assert_eq!(mesh.st, [Vec2::ZERO, Vec2::X, Vec2::Y]);
    let variable = |name: &str| mesh.primvars.iter().find(|v| &*v.kind.name == name).unwrap();
    assert_eq!(variable("texcoord1").numbers(1), [2.0, 0.0]);
    assert_eq!(variable("tangent").numbers(0), [1.0, 0.0, 0.0]);
    // The second coordinate rises along y here, so up in the image is down.
    assert_eq!(variable("bitangent").numbers(0), [0.0, -1.0, 0.0]);
}

#[test]
fn images_within_the_file_are_kept_once() {
    let mut changes = textured();
    changes[1].1 = json!([{ "bufferView": 2, "mimeType": "image/png", "name": "grain" }]);
    let scene = scene_of(&changes);
    assert_eq!(scene.embedded.values().map(|b| b.to_vec()).collect::<Vec<_>>(), [[0, 0, 1, 0, 2, 0]]);
    assert!(scene.textures.keys().all(|name| name.starts_with("grain, textures[0]")));
}

#[test]
fn what_is_not_read_is_warned_about() {
    let says = |changes: &[(&str, Value)], what: &str| {
        let said = warnings(changes);
        assert!(said.contains(what), "`{what}` is not in {said}");
    };
    says(
        &[("/extensionsUsed", json!(["KHR_materials_dispersion"]))],
        "KHR_materials_dispersion, which is not supported",
    );
    says(&[("/nodes/0/skin", json!(0))], "nodes[0].skin: there is no number 0");
    says(&[("/nodes/0/camera", json!(0))], "nodes[0].camera: there is no number 0");
    says(&[("/meshes/0/primitives/0/material", json!(1))], "primitives[0].material: there is no number 1");
    says(&[("/materials/0/alphaMode", json!("GLASS"))], "materials[0].alphaMode: unknown value");
    let emissive = ("/materials/0/emissiveTexture", json!({ "index": 0 }));
    says(&[emissive], "materials[0].emissiveTexture.index: there is no number 0");
    let draco = json!(["KHR_draco_mesh_compression"]);
    let uses = [("/extensionsRequired", draco.clone()), ("/extensionsUsed", draco)];
    says(&uses, "needs the extension KHR_draco_mesh_compression");
    says(
        &[("/meshes/0/primitives/-", json!({ "attributes": { "POSITION": 7 } }))],
        "primitives[1].attributes.POSITION: there is no number 7",
    );
    says(
        &[("/nodes/0/scale", json!([0, 1, 1])), ("/nodes/-", json!({ "mesh": 0 })), ("/scenes/0/nodes", json!([0, 1]))],
        "nodes[0]: it is not shown",
    );
    says(&[("/meshes/0/primitives/-", json!({ "attributes": { "POSITION": 0 }, "mode": 1 }))], "lines are not shown");
    let mut changes = textured();
    changes[1].1 = json!([{ "uri": "gone.png" }]);
    says(&changes, "images[0].uri: cannot find `gone.png`");
    changes[1].1 = json!([{ "uri": "data.bin" }]);
    says(&changes, "images[0]: unknown image format");
    let mut changes = textured();
    changes.push(("/materials/0/normalTexture/texCoord", json!(3)));
    changes.push(("/materials/0/normalTexture/extensions", json!({})));
    says(&changes, "TEXCOORD_3");
}

#[test]
fn every_number_that_leads_nowhere_is_an_error_with_its_place() {
    let fails = |changes: &[(&str, Value)], what: &str| {
        let said = errors(changes);
        assert!(said.contains("m.gltf") && said.contains(what), "`{what}` is not in {said}");
    };
    fails(&[("/scene", json!(7))], "scene: there is no number 7");
    fails(&[("/scenes/0/nodes", json!([9]))], "scenes[0].nodes[0]: there is no number 9");
    fails(&[("/nodes/0/children", json!([0]))], "nodes[0] is reached twice");
    fails(&[("/nodes/0/children", json!([4]))], "nodes[0].children[0]: there is no number 4");
    fails(&[("/nodes/0/mesh", json!(2))], "nodes[0].mesh: there is no number 2");
    fails(
        &[("/meshes/0/primitives/0/attributes/POSITION", json!(99))],
        "meshes[0].primitives[0].attributes.POSITION: there is no number 99",
    );
    fails(&[("/meshes/0/primitives/0/attributes", json!({}))], "meshes[0].primitives[0]: it has no attribute POSITION");
    fails(&[("/meshes/0/primitives/0/attributes/NORMAL", json!(1))], "attributes.NORMAL: accessors[1] is of a type");
    fails(&[("/meshes/0/primitives/0/indices", json!(0))], "primitives[0].indices: accessors[0] is of a type");
    fails(&[("/accessors/0/count", json!(2))], "there is no vertex 2: there are 2");
    fails(&[("/accessors/1/count", json!(2))], "attributes.TEXCOORD_0: it has 2 values, and there are 3 positions");
    fails(&[("/accessors/0/count", json!(4))], "accessors[0]: it needs 48 bytes, and bufferViews[0] has 36");
    fails(&[("/accessors/0/count", json!(u64::MAX))], "accessors[0]: its elements overlap, or there are too many");
    fails(&[("/accessors/0/byteOffset", json!(u64::MAX))], "accessors[0]: its elements overlap, or there are too many");
    fails(&[("/accessors/0/componentType", json!(1))], "accessors[0]: unknown type");
    fails(&[("/bufferViews/0/byteStride", json!(4))], "accessors[0]: its elements overlap");
    fails(&[("/bufferViews/0/byteOffset", json!(u64::MAX))], "bufferViews[0]: it takes 36 bytes");
    fails(&[("/bufferViews/0/buffer", json!(1))], "bufferViews[0].buffer: there is no number 1");
    fails(&[("/buffers/0/byteLength", json!(67))], "buffers[0]: it says that it has 67 bytes, and has 66");
    fails(&[("/buffers/0/byteLength", json!(1u64 << 40))], "buffers[0]: with it the buffers hold more than");
    fails(&[("/buffers/0/uri", json!("http://example.org/a.bin"))], "buffers[0].uri: it is no file's name");
    fails(&[("/buffers/0/uri", json!("nowhere.bin"))], "buffers[0].uri: cannot find `nowhere.bin`");
    fails(&[("/buffers/0/uri", json!("/proc/cpuinfo"))], "is not allowed");
    fails(&[("/asset/version", json!("1.0"))], "version 1.0");
    fails(&[("/scenes/0/nodes", json!([]))], "shows no triangles");
    fails(
        &[("/accessors/2/componentType", json!(5126)), ("/accessors/2/count", json!(1))],
        "indices are whole numbers",
    );
    fails(&[("/accessors/0", json!({ "componentType": 5126, "type": "VEC3", "count": 1u64 << 40 }))], "and no data");
}

/// [`triangle`] with a second joint-like node and what `more` adds to the buffer, as accessors from
/// 3 on with their types.
fn extended(more: &[(&str, Vec<f32>)]) -> (Value, Vec<u8>) {
    let (mut document, mut data) = triangle();
    data.extend([0; 2]);
    for (ty, values) in more {
        let width = ["SCALAR", "VEC2", "VEC3", "VEC4"].iter().position(|t| t == ty).map_or(16, |i| i + 1);
        let view = document["bufferViews"].as_array().unwrap().len();
        document["bufferViews"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "buffer": 0, "byteOffset": data.len(), "byteLength": 4 * values.len() }));
        document["accessors"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "bufferView": view, "componentType": 5126, "count": values.len() / width, "type": ty }));
        data.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    }
    document["buffers"][0]["byteLength"] = json!(data.len());
    (document, data)
}

fn at_time(document: &(Value, Vec<u8>), seconds: Option<f32>) -> Opened {
    let options = OpenOptions { seconds, ..OpenOptions::default() };
    let opened = opened_with(document, &options).unwrap_or_else(|e| panic!("{}", e.render(&SourceMap::new())));
    assert!(opened.diagnostics.is_empty(), "{}", opened.diagnostics.render(&SourceMap::new()));
    opened
}

#[test]
fn nodes_move_along_their_tracks_and_hold_the_ends() {
    let values = |v: &[f32]| v.to_vec();
    let half = 0.5f32.sqrt();
    let (mut document, data) = extended(&[
        ("SCALAR", values(&[1.0, 3.0])),
        ("VEC3", values(&[0.0, 0.0, 0.0, 4.0, 0.0, 0.0])),
        ("VEC4", values(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half])),
        // Each key with its tangents before and after.
        ("VEC3", [[0.0f32; 3], [1.0; 3], [2.0; 3], [0.0; 3], [3.0; 3], [0.0; 3]].concat()),
    ]);
    let channel = |sampler: u32, path: &str| json!({ "sampler": sampler, "target": { "node": 0, "path": path } });
    let sampler = |output: u32, how: &str| json!({ "input": 3, "output": output, "interpolation": how });
    document["animations"] = json!([
        {
            "channels": [channel(0, "translation"), channel(1, "rotation"), channel(2, "scale")],
            "samplers": [sampler(4, "LINEAR"), sampler(5, "LINEAR"), sampler(6, "CUBICSPLINE")],
        },
        { "name": "jump", "channels": [channel(0, "translation")], "samplers": [sampler(4, "STEP")] },
    ]);
    let file = (document, data);
    let place = |seconds: Option<f32>| at_time(&file, seconds).scene.objects[0].object_to_world;
    assert_eq!(place(None), glam::Mat4::IDENTITY);
    assert!(place(Some(0.0)).abs_diff_eq(glam::Mat4::IDENTITY, 1e-6));
    let middle = place(Some(2.0));
    assert!(middle.w_axis.truncate().abs_diff_eq(Vec3::new(2.0, 0.0, 0.0), 1e-6), "{middle}");
    // Hermite's spline in the middle: half of both ends, and an eighth of a tangent of 2 a second.
    let turned = 2.5 * Vec3::new(half, half, 0.0);
    assert!(middle.transform_vector3(Vec3::X).abs_diff_eq(turned, 1e-5), "{middle}");
    assert!(place(Some(9.0)).w_axis.truncate().abs_diff_eq(4.0 * Vec3::X, 1e-6));
    let options =
        OpenOptions { animation: Some("jump".to_string()), frame: Some(20), fps: Some(10.0), ..OpenOptions::default() };
    let opened = opened_with(&file, &options).unwrap();
    assert_eq!(opened.scene.objects[0].object_to_world, glam::Mat4::IDENTITY);
    assert_eq!(opened.frames.last(), Some(&30));
    let wrong = OpenOptions { animation: Some("walk".to_string()), ..OpenOptions::default() };
    let said = opened_with(&file, &wrong).unwrap().diagnostics.render(&SourceMap::new());
    assert!(said.contains("there is no animation `walk`") && said.contains("there are: 0, jump"), "{said}");
}

#[test]
fn morph_targets_move_vertices_by_their_weights() {
    let (mut document, data) = extended(&[
        ("VEC3", vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]),
        ("SCALAR", vec![0.0, 1.0]),
        ("SCALAR", vec![0.0, 1.0]),
    ]);
    document["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": 3 }]);
    document["meshes"][0]["weights"] = json!([0.5]);
    document["animations"] = json!([{
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
        "samplers": [{ "input": 4, "output": 5 }],
    }]);
    let file = (document, data);
    let heights = |seconds: Option<f32>| -> Vec<f32> {
        at_time(&file, seconds).scene.objects[0].mesh.positions.iter().map(|p| p.z).collect()
    };
    assert_eq!(heights(None), [0.5, 0.0, 1.0]);
    assert_eq!(heights(Some(0.25)), [0.25, 0.0, 0.5]);
}

#[test]
fn skins_move_vertices_with_their_joints() {
    let identity = glam::Mat4::IDENTITY.to_cols_array();
    let lowered = glam::Mat4::from_translation(-Vec3::Y).to_cols_array();
    let (mut document, data) = extended(&[
        ("VEC4", vec![1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]),
        ("MAT4", [identity, lowered].concat()),
    ]);
    // Joint 0 moves nothing, joint 1 is at (0, 1, 5). Joints are bytes: of the first vertex 0 and 1.
    document["nodes"] = json!([{ "mesh": 0, "skin": 0, "translation": [7, 7, 7] }, {}, { "translation": [0, 1, 5] }]);
    document["scenes"][0]["nodes"] = json!([0, 1, 2]);
    document["skins"] = json!([{ "joints": [1, 2], "inverseBindMatrices": 4 }]);
    let mut data = data;
    let offset = data.len();
    data.extend([[0u8, 1, 0, 0]; 3].concat());
    document["buffers"][0]["byteLength"] = json!(data.len());
    let view = document["bufferViews"].as_array().unwrap().len();
    document["bufferViews"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "buffer": 0, "byteOffset": offset, "byteLength": 12 }));
    document["accessors"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "bufferView": view, "componentType": 5121, "count": 3, "type": "VEC4" }));
    let attributes = &mut document["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_0"] = json!(5);
    attributes["WEIGHTS_0"] = json!(3);
    let file = (document, data);
    let opened = at_time(&file, None);
    let object = &opened.scene.objects[0];
    // The node's own place does not count, and weights add up to one.
    assert_eq!(object.mesh.positions, [Vec3::ZERO, Vec3::new(2.0, 0.0, 2.5), Vec3::new(0.0, 2.0, 5.0)]);
    assert_eq!((object.mesh_space, object.object_to_world), (MeshSpace::World, glam::Mat4::IDENTITY));
    let mut wrong = file;
    wrong.0["skins"][0]["joints"] = json!([1]);
    let opened = opened_with(&wrong, &OpenOptions::default()).unwrap_err().render(&SourceMap::new());
    assert!(opened.contains("vertex 1 names joint 1, and there are 1"), "{opened}");
}

#[test]
fn copies_of_a_mesh_share_it() {
    let (mut document, data) =
        extended(&[("VEC3", vec![1.0, 0.0, 0.0, 0.0, 3.0, 0.0]), ("VEC3", vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0])]);
    document["extensionsUsed"] = json!(["EXT_mesh_gpu_instancing"]);
    document["nodes"][0]["translation"] = json!([0, 0, 1]);
    document["nodes"][0]["extensions"] =
        json!({ "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": 3, "SCALE": 4 } } });
    let scene = scene(&(document, data));
    let places: Vec<Vec3> = scene.objects.iter().map(|o| o.object_to_world.transform_point3(Vec3::X)).collect();
    assert_eq!(places, [Vec3::new(2.0, 0.0, 1.0), Vec3::new(2.0, 3.0, 1.0)]);
}

#[test]
fn errors_of_several_nodes_are_told_together() {
    let said = errors(&[
        ("/nodes/0", json!({ "mesh": 5 })),
        ("/nodes/-", json!({ "camera": 6 })),
        ("/scenes/0/nodes", json!([0, 1])),
    ]);
    assert!(said.contains("nodes[0].mesh") && said.contains("nodes[1].camera"), "{said}");
}

#[test]
fn a_file_that_is_no_json_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gltf");
    std::fs::write(&path, "{ \"asset\": { \"version\": \"2.0\" }, }").unwrap();
    let said = open(&path, &OpenOptions::default(), &mut SourceMap::new()).unwrap_err().render(&SourceMap::new());
    assert!(said.contains("is not a usable glTF file") && said.contains("line 1 column"), "{said}");
}

/// All places of a document that hold a number, a text or a list.
fn places(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_string());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, v)| places(v, &format!("{here}/{key}"), all)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| places(v, &format!("{here}/{i}"), all)),
        _ => {}
    }
}

#[test]
fn no_change_of_a_document_brings_the_reader_down() {
    let text = include_str!("../../../assets/scenes/still.gltf");
    let document: Value = serde_json::from_str(text).unwrap();
    let mut all = Vec::new();
    places(&document, "", &mut all);
    let strange = [
        json!(0),
        json!(1),
        json!(-1),
        json!(1e30),
        json!(u32::MAX),
        json!(u64::MAX),
        json!([]),
        json!({}),
        json!("VEC4"),
        Value::Null,
    ];
    let mut read = 0;
    for (i, place) in all.iter().enumerate().skip(1) {
        let mut broken = document.clone();
        *broken.pointer_mut(place).unwrap() = strange[i % strange.len()].clone();
        let bytes = broken.to_string().into_bytes();
        let path = Path::new("m.gltf");
        let opened = super::read(&bytes, "m.gltf", path, &OpenOptions::default(), &mut SourceMap::new());
        read += usize::from(opened.is_ok());
    }
    // Many changes make another scene, many make none.
    assert!((all.len() / 20..all.len() * 19 / 20).contains(&read), "{read} of {}", all.len());
}

/// The parameters of the shader of a material with these extensions.
fn extended_material(extensions: Value, integrator: Integrator) -> (String, Vec<(String, ParamValue)>, u8) {
    let document = changed(&[("/materials/0/extensions", extensions)]);
    let options = OpenOptions { integrator: Some(integrator), ..OpenOptions::default() };
    let opened = opened_with(&document, &options).unwrap_or_else(|e| panic!("{}", e.render(&SourceMap::new())));
    assert!(opened.diagnostics.is_empty(), "{}", opened.diagnostics.render(&SourceMap::new()));
    let object = &opened.scene.objects[0];
    let instance = &opened.scene.shader_instances[object.surface.unwrap().0 as usize];
    (instance.shader.name().to_string(), instance.params.clone(), object.sides)
}

#[test]
fn extensions_that_change_nothing_keep_the_shader() {
    let nothing = json!({
        "KHR_materials_clearcoat": { "clearcoatRoughnessFactor": 0.5 },
        "KHR_materials_ior": { "ior": 1.5 },
        "KHR_materials_iridescence": {},
        "KHR_materials_sheen": { "sheenRoughnessFactor": 0.5 },
        "KHR_materials_specular": { "specularFactor": 1 },
        "KHR_materials_volume": { "thicknessFactor": 1 },
    });
    assert_eq!(extended_material(nothing.clone(), Integrator::Whitted).0, "gltf");
    assert_eq!(extended_material(nothing, Integrator::Path).0, "GltfScene");
}

#[test]
fn extensions_become_parameters_of_their_names() {
    let extensions = json!({
        "KHR_materials_clearcoat": { "clearcoatFactor": 0.5 },
        "KHR_materials_transmission": { "transmissionFactor": 0.25 },
        "KHR_materials_volume": { "thicknessFactor": 1, "attenuationDistance": 3, "attenuationColor": [0.5, 0.25, 1] },
    });
    for integrator in [Integrator::Whitted, Integrator::Path] {
        let (shader, params, sides) = extended_material(extensions.clone(), integrator);
        let param = |name: &str| params.iter().find(|p| p.0 == name).map(|p| p.1.clone());
        // Rays inside meet the back of a volume.
        assert_eq!((shader.as_str(), sides), ("GltfLayered", 2));
        let on = Some(ParamValue::String(vec!["on".to_string()]));
        assert_eq!((param("clearcoat"), param("volume"), param("sheen")), (on.clone(), on, None));
        assert_eq!(param("clearcoatFactor"), Some(ParamValue::Float(vec![0.5])));
        assert_eq!(param("attenuationDistance"), Some(ParamValue::Float(vec![3.0])));
        assert_eq!(param("attenuationColor"), Some(ParamValue::Color(vec![Vec3::new(0.5, 0.25, 1.0)])));
        // Without paths lights are in lux.
        let irradiance = (integrator == Integrator::Whitted).then(|| ParamValue::Float(vec![1.0]));
        assert_eq!(param("irradiance"), irradiance);
    }
}

#[test]
fn specular_glossiness_takes_the_place_of_the_base() {
    let extensions = json!({
        "KHR_materials_ior": { "ior": 1.2 },
        "KHR_materials_specular": { "specularFactor": 0.5 },
        "KHR_materials_pbrSpecularGlossiness": {
            "diffuseFactor": [0.5, 0.25, 0.125, 0.75], "specularFactor": [0.25, 0.5, 1], "glossinessFactor": 0.625,
        },
    });
    for integrator in [Integrator::Whitted, Integrator::Path] {
        let (shader, params, _) = extended_material(extensions.clone(), integrator);
        assert_eq!(shader, "GltfLayered");
        let of = |name: &str| params.iter().filter(|p| p.0 == name).map(|p| p.1.clone()).collect::<Vec<_>>();
        assert_eq!(of("baseColorFactor"), [ParamValue::Color(vec![Vec3::new(0.5, 0.25, 0.125)])]);
        assert_eq!(of("specularColorFactor"), [ParamValue::Color(vec![Vec3::new(0.25, 0.5, 1.0)])]);
        for (name, value) in
            [("baseColorAlpha", 0.75), ("glossinessFactor", 0.625), ("metallicFactor", 0.0), ("ior", 0.0)]
        {
            assert_eq!(of(name), [ParamValue::Float(vec![value])], "{name}");
        }
        assert_eq!(of("specularGlossiness"), [ParamValue::String(vec!["on".to_string()])]);
        assert!(of("roughnessFactor").is_empty() && of("specularFactor").is_empty());
    }
}

#[test]
fn wrong_extensions_are_reported_with_their_place() {
    let says = |extensions: Value, what: &str| {
        let said = warnings(&[("/materials/0/extensions", extensions)]);
        assert!(said.contains(what), "`{what}` is not in {said}");
    };
    says(json!({ "KHR_materials_ior": 1.4 }), "materials[0].extensions.KHR_materials_ior: it is no object");
    says(json!({ "KHR_materials_ior": { "ior": 0.5 } }), "KHR_materials_ior.ior: the index of refraction is 0, or");
    says(
        json!({ "KHR_materials_sheen": { "sheenColorFactor": [1, 2] } }),
        "KHR_materials_sheen.sheenColorFactor: it is not a list of three finite numbers",
    );
    says(
        json!({ "KHR_materials_clearcoat": { "clearcoatFactor": 1, "clearcoatTexture": { "index": 9 } } }),
        "KHR_materials_clearcoat.clearcoatTexture.index: there is no number 9",
    );
    says(
        json!({ "KHR_materials_pbrSpecularGlossiness": { "diffuseFactor": [1, 1, 1] } }),
        "diffuseFactor: it is not a list of four finite numbers",
    );
    says(
        json!({ "KHR_materials_clearcoat": { "clearcoatFactor": "much" } }),
        "clearcoatFactor: it is not a finite number",
    );
}

#[test]
fn an_extension_that_is_needed_and_unknown_is_an_error_where_reading_is_strict() {
    let dispersion = json!(["KHR_materials_dispersion"]);
    let document = changed(&[("/extensionsRequired", dispersion.clone()), ("/extensionsUsed", dispersion)]);
    let lenient = opened_with(&document, &OpenOptions::default()).unwrap().diagnostics.render(&SourceMap::new());
    assert_eq!(lenient.matches("KHR_materials_dispersion").count(), 1, "{lenient}");
    let options = OpenOptions { strict: true, ..OpenOptions::default() };
    let said = opened_with(&document, &options).unwrap_err().render(&SourceMap::new());
    assert!(said.contains("needs the extension KHR_materials_dispersion"), "{said}");
}

#[test]
fn the_extras_of_an_export_set_what_gltf_has_no_place_for() {
    let extras = json!({ "shadewright": {
        "format": [64, 32],
        "pixelSamples": [3, 2],
        "background": [0.1, 0.2, 0.3, 1],
        "exposure": [2, 1],
        "ambientLights": [[0.5, 0.25, 0.125]],
        "maxDepth": 3,
    } });
    let scene = opened_with(&changed(&[("/scenes/0/extras", extras)]), &OpenOptions::default()).unwrap().scene;
    assert_eq!((scene.pixel_samples, scene.background, scene.max_depth), ([3, 2], [0.1, 0.2, 0.3, 1.0], 3));
    assert_eq!(scene.film.exposure.gain, 2.0);
    // The lights are those of the file and no others.
    let names: Vec<_> =
        scene.shader_instances.iter().map(|i| i.shader.as_str()).filter(|n| n.ends_with("light")).collect();
    assert_eq!((names, scene.lights.len()), (vec!["ambientlight"], 1));

    let other = json!({ "someone": "else", "list": [1] });
    let scene = opened_with(&changed(&[("/scenes/0/extras", other)]), &OpenOptions::default()).unwrap().scene;
    assert!(scene.lights.len() > 1, "lights of its own are added");
    for wrong in [json!({ "format": [0, 32] }), json!({ "maxDepth": 5000 }), json!({ "exposure": "bright" })] {
        let document = changed(&[("/scenes/0/extras", json!({ "shadewright": wrong }))]);
        let opened = opened_with(&document, &OpenOptions::default()).unwrap();
        let messages = opened.diagnostics.render(&SourceMap::new());
        assert!(messages.contains("scenes[0].extras.shadewright: ") && messages.contains("passed over"), "{messages}");
    }
}
