//! glTF, OBJ with its materials, and PLY files that ask for much memory.

use crate::memory::{Case, Files};
use std::fmt::Write;

const GLTF: &str = "glTF";
const OBJ: &str = "OBJ";
const PLY: &str = "PLY";

const CHECK_GLTF: &[&str] = &["check", "s.gltf"];
const CHECK_OBJ: &[&str] = &["check", "m.obj"];
const CHECK_PLY: &[&str] = &["check", "m.ply"];

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for i in 0..count {
        _ = write!(text, "{}{}", if i == 0 { "" } else { "," }, item(i));
    }
    text
}

/// A glTF document of a triangle of three corners (accessor 0), whose JSON has these lists besides;
/// a list in `more` takes the place of the usual one of its name.
fn document(more: &[(&str, String)]) -> Files {
    let mut bytes: Vec<u8> =
        [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].into_iter().flat_map(f32::to_le_bytes).collect();
    bytes.extend([0u16, 1, 2].repeat(1000).into_iter().flat_map(u16::to_le_bytes));
    let corners = r#"{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}"#;
    let indices = r#"{"bufferView":1,"componentType":5123,"count":3000,"type":"SCALAR"}"#;
    let usual = [
        ("scenes", r#"{"nodes":[0]}"#.to_string()),
        ("nodes", r#"{"mesh":0}"#.to_string()),
        ("meshes", r#"{"primitives":[{"attributes":{"POSITION":0}}]}"#.to_string()),
        ("accessors", format!("{corners},{indices}")),
        ("bufferViews", r#"{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":6000}"#.to_string()),
        ("buffers", r#"{"uri":"s.bin","byteLength":6036}"#.to_string()),
    ];
    let mut json = r#"{"asset":{"version":"2.0"}"#.to_string();
    for (name, items) in usual.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name)).chain(more) {
        _ = write!(json, r#","{name}":[{items}]"#);
    }
    vec![("s.gltf", (json + "}").into_bytes()), ("s.bin", bytes)]
}

fn gltf(what: &'static str, files: fn(usize) -> Files) -> Case {
    Case::checked(GLTF, what, files).with(CHECK_GLTF)
}

fn obj(what: &'static str, files: fn(usize) -> Files) -> Case {
    Case::checked(OBJ, what, files).with(CHECK_OBJ)
}

fn ply(what: &'static str, files: fn(usize) -> Files) -> Case {
    Case::checked(PLY, what, files).with(CHECK_PLY)
}

const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n";

/// An OBJ file of lines, after those of four corners.
fn lines(bytes: usize, line: impl Fn(usize) -> String) -> Files {
    let mut text = CORNERS.to_string();
    for i in 0.. {
        if text.len() >= bytes {
            break;
        }
        text += &line(i);
    }
    vec![("m.obj", (text + "f 1 2 3\n").into_bytes())]
}

fn ply_file(header: &str, body: &[u8]) -> Files {
    vec![("m.ply", [format!("ply\n{header}end_header\n").as_bytes(), body].concat())]
}

/// The vertices of a triangle, with what the header says of them.
const PLY_VERTICES: &str =
    "format binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";

fn ply_corners() -> Vec<u8> {
    [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].into_iter().flat_map(f32::to_le_bytes).collect()
}

/// All cases.
pub fn cases() -> Vec<Case> {
    vec![
        gltf("nodes", |n| {
            let count = n / 18;
            document(&[
                ("nodes", list(count.max(1), |_| r#"{"mesh":0}"#.to_string())),
                ("scenes", format!(r#"{{"nodes":[{}]}}"#, list(count.max(1), |i| i.to_string()))),
            ])
        }),
        gltf("a chain of nodes", |n| {
            let count = n / 40 + 1;
            let node = |i: usize| match i + 1 < count {
                true => format!(r#"{{"mesh":0,"children":[{}]}}"#, i + 1),
                false => r#"{"mesh":0}"#.to_string(),
            };
            document(&[("nodes", list(count, node))])
        }),
        gltf("primitives of one large mesh", |n| {
            let part = r#"{"attributes":{"POSITION":0},"indices":1}"#;
            document(&[("meshes", format!(r#"{{"primitives":[{}]}}"#, list((n / 42).max(1), |_| part.to_string())))])
        }),
        gltf("meshes of overlapping accessors", |n| {
            let count = (n / 160).max(1);
            let corners =
                r#"{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}"#;
            let indices = |_| r#"{"bufferView":1,"componentType":5123,"count":3000,"type":"SCALAR"}"#.to_string();
            let mesh =
                |i: usize| format!(r#"{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":{}}}]}}"#, i + 1);
            document(&[
                ("accessors", format!("{corners},{}", list(count, indices))),
                ("meshes", list(count, mesh)),
                ("nodes", list(count, |i| format!(r#"{{"mesh":{i}}}"#))),
                ("scenes", format!(r#"{{"nodes":[{}]}}"#, list(count, |i| i.to_string()))),
            ])
        }),
        gltf("materials", |n| {
            let count = (n / 200).max(1);
            let material =
                |i: usize| format!(r#"{{"pbrMetallicRoughness":{{"baseColorFactor":[0.{i},0,0,1]}},"name":"m{i}"}}"#);
            let part = |i: usize| format!(r#"{{"attributes":{{"POSITION":0}},"material":{i}}}"#);
            document(&[
                ("materials", list(count, material)),
                ("meshes", format!(r#"{{"primitives":[{}]}}"#, list(count, part))),
            ])
        }),
        gltf("long names of materials and nodes", |n| {
            let long = "n".repeat(n / 4);
            let nodes = list((n / 24).max(1), |_| r#"{"mesh":0}"#.to_string());
            let all = list((n / 24).max(1), |i| i.to_string());
            document(&[
                ("nodes", nodes),
                ("scenes", format!(r#"{{"nodes":[{all}]}}"#)),
                ("meshes", format!(r#"{{"name":"{long}","primitives":[{{"attributes":{{"POSITION":0}}}}]}}"#)),
            ])
        }),
        gltf("lights", |n| {
            let count = (n / 110).max(1);
            let json = |items: String| format!(r#"{{"lights":[{items}]}}"#);
            let light = |_| r#"{"type":"point","intensity":10}"#.to_string();
            let node = |i: usize| format!(r#"{{"extensions":{{"KHR_lights_punctual":{{"light":{i}}}}}}}"#);
            let mut files = document(&[
                ("nodes", format!(r#"{{"mesh":0}},{}"#, list(count, node))),
                ("scenes", format!(r#"{{"nodes":[{}]}}"#, list(count + 1, |i| i.to_string()))),
            ]);
            let text = String::from_utf8(std::mem::take(&mut files[0].1)).expect("text");
            let lights = json(list(count, light));
            let all = text.replacen(
                r#"{"asset""#,
                &format!(r#"{{"extensions":{{"KHR_lights_punctual":{lights}}},"extensionsUsed":["KHR_lights_punctual"],"asset""#),
                1,
            );
            files[0].1 = all.into_bytes();
            files
        }),
        gltf("channels of an animation", |n| {
            let count = (n / 120).max(1);
            let channel = |i: usize| format!(r#"{{"sampler":{i},"target":{{"node":0,"path":"translation"}}}}"#);
            let sampler = |_| r#"{"input":1,"output":0}"#.to_string();
            let animation =
                format!(r#"{{"channels":[{}],"samplers":[{}]}}"#, list(count, channel), list(count, sampler));
            document(&[("animations", animation)])
        }),
        gltf("morph targets", |n| {
            let target = r#"{"POSITION":0}"#;
            let targets = list((n / 16).max(1), |_| target.to_string());
            let part = format!(r#"{{"attributes":{{"POSITION":0}},"targets":[{targets}]}}"#);
            document(&[("meshes", format!(r#"{{"primitives":[{part}]}}"#))])
        }),
        gltf("sparse accessors", |n| {
            let count = (n / 240).max(1);
            let sparse = |_| {
                r#"{"componentType":5126,"count":100000,"type":"VEC3","sparse":{"count":1,"indices":{"bufferView":1,"componentType":5123},"values":{"bufferView":0}}}"#.to_string()
            };
            let corners =
                r#"{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}"#;
            let part = |i: usize| format!(r#"{{"attributes":{{"POSITION":{}}}}}"#, i + 1);
            document(&[
                ("accessors", format!("{corners},{}", list(count, sparse))),
                ("meshes", format!(r#"{{"primitives":[{{"attributes":{{"POSITION":0}}}},{}]}}"#, list(count, part))),
            ])
        }),
        gltf("joints of a skin", |n| {
            let count = (n / 12).max(1);
            document(&[
                ("skins", format!(r#"{{"joints":[{}]}}"#, list(count, |_| "0".to_string()))),
                ("nodes", r#"{"mesh":0,"skin":0}"#.to_string()),
            ])
        }),
        gltf("names of extensions", |n| document(&[("extensionsUsed", list(n / 14, |i| format!("\"EXT_x{i}\"")))])),
        gltf("extras within each other", |n| {
            let deep = n / 8;
            document(&[("x", format!("{}{}", "[".repeat(deep), "]".repeat(deep)))])
        }),
        gltf("images", |n| {
            let count = (n / 150).max(1);
            let pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
            document(&[
                ("images", list(count, |_| format!(r#"{{"uri":"{pixel}"}}"#))),
                ("textures", list(count, |i| format!(r#"{{"source":{i}}}"#))),
                (
                    "materials",
                    list(count, |i| format!(r#"{{"pbrMetallicRoughness":{{"baseColorTexture":{{"index":{i}}}}}}}"#)),
                ),
                (
                    "meshes",
                    format!(
                        r#"{{"primitives":[{}]}}"#,
                        list(count, |i| { format!(r#"{{"attributes":{{"POSITION":0}},"material":{i}}}"#) })
                    ),
                ),
            ])
        }),
        obj("triangles of three corners", |n| lines(n, |_| "f 1 2 3\n".to_string())),
        obj("triangles of one corner each", |n| lines(n, |_| "f 1 1 1\n".to_string())),
        obj("vertices", |n| lines(n, |i| format!("v {i} 0 0\n"))),
        obj("texture coordinates", |n| lines(n, |_| "vt 0 0\n".to_string())),
        obj("a polygon", |n| {
            let count = n / 24;
            let points: String = (0..count).map(|i| format!("v {} {} 0\n", i, (i * i) % 7919)).collect();
            let face: String = (1..=count).map(|i| format!(" {i}")).collect();
            vec![("m.obj", format!("{CORNERS}{points}f 1 2 3\nf{face}\n").into_bytes())]
        }),
        obj("a polygon of one corner", |n| {
            vec![("m.obj", format!("{CORNERS}f 1 2 3\nf{}\n", " 1".repeat(n / 2)).into_bytes())]
        }),
        obj("groups", |n| lines(n, |i| format!("g g{i}\nf 1 2 3\n"))),
        obj("objects", |n| lines(n, |i| format!("o o{i}\nf 1 2 3\n"))),
        obj("materials that are missing", |n| lines(n, |i| format!("usemtl m{i}\nf 1 2 3\n"))),
        obj("corners with their own normals", |n| {
            lines(n, |i| format!("vn 0 {i} 1\nf 1//{} 2//{} 3//{}\n", i + 1, i + 1, i + 1))
        }),
        obj("materials", |n| {
            let count = n / 60;
            let mtl: String = (0..count).map(|i| format!("newmtl m{i}\nKd 0.{i} 0 0\n")).collect();
            let faces: String = (0..count).map(|i| format!("usemtl m{i}\nf 1 2 3\n")).collect();
            vec![
                ("m.obj", format!("mtllib m.mtl\n{CORNERS}f 1 2 3\n{faces}").into_bytes()),
                ("m.mtl", mtl.into_bytes()),
            ]
        }),
        obj("libraries of materials", |n| lines(n, |i| format!("mtllib m{i}.mtl\n"))),
        ply("vertices and triangles", |n| {
            let triangles = (n / 13).max(1);
            let header = format!("{PLY_VERTICES}element face {triangles}\nproperty list uchar int vertex_indices\n");
            let face = [&[3u8][..], &0i32.to_le_bytes(), &1i32.to_le_bytes(), &2i32.to_le_bytes()].concat();
            ply_file(&header, &[ply_corners(), face.repeat(triangles)].concat())
        }),
        ply("triangles of bytes", |n| {
            let triangles = (n / 4).max(1);
            let header = format!("{PLY_VERTICES}element face {triangles}\nproperty list uchar uchar vertex_indices\n");
            ply_file(&header, &[ply_corners(), [3u8, 0, 1, 2].repeat(triangles)].concat())
        }),
        ply("a polygon of bytes", |n| {
            let lists = (n / 60_000).max(1);
            let header = format!("{PLY_VERTICES}element face {lists}\nproperty list ushort uchar vertex_indices\n");
            let face = [&60_000u16.to_le_bytes()[..], &[0u8, 1, 2].repeat(20_000)].concat();
            ply_file(&header, &[ply_corners(), face.repeat(lists)].concat())
        }),
        ply("properties", |n| {
            let properties: String = (0..n / 40).map(|i| format!("property uchar p{i}\n")).collect();
            let header = format!("{PLY_VERTICES}{properties}element face 1\nproperty list uchar int vertex_indices\n");
            let row = [&[0u8; 12][..], &vec![0; n / 40]].concat();
            let face = [&[3u8][..], &0i32.to_le_bytes(), &1i32.to_le_bytes(), &2i32.to_le_bytes()].concat();
            ply_file(&header, &[row.repeat(3), face].concat())
        }),
        ply("elements", |n| {
            let elements: String = (0..n / 36).map(|i| format!("element e{i} 0\nproperty uchar p\n")).collect();
            let header = format!("{PLY_VERTICES}{elements}element face 1\nproperty list uchar int vertex_indices\n");
            let face = [&[3u8][..], &0i32.to_le_bytes(), &1i32.to_le_bytes(), &2i32.to_le_bytes()].concat();
            ply_file(&header, &[ply_corners(), face].concat())
        }),
    ]
}
