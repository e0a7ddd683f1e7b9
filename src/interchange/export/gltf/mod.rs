//! glTF 2.0: a scene as nodes, meshes, metallic-roughness materials and punctual lights (Khronos,
//! "glTF 2.0 Specification").
//!
//! World space is right-handed in glTF: a scene whose world is left-handed as its camera sees it is
//! mirrored at the plane z = 0, which no image shows. What the program's own glTF reader made is
//! written so that it makes the same again; other materials and lights become similar ones
//! ([`approximate`], [`lights`]). What glTF has no place for, and this program does, lies in the scene's
//! `extras` ([`extras`]); the rest is reported.
//!
//! [`buffer`] packs numbers and images, [`meshes`] makes primitives, [`materials`] materials,
//! [`camera`] the camera.

mod approximate;
mod buffer;
mod camera;
mod extras;
mod lights;
mod materials;
mod meshes;
mod textures;

use super::assets::{Assets, Copied};
use super::losses::Losses;
use super::rib::number as number_text;
use super::{ExportError, Format, OutputFile};
use buffer::Buffer;
use glam::{Mat4, Vec3};
use meshes::Meshes;
use serde_json::{Map, Value, json};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_scene::{Scene, Visibility};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The files of a scene in glTF: images and the buffer, then the document; or one file.
pub(super) fn files(
    scene: &Scene,
    assets: &Assets,
    out: &Path,
    format: Format,
    losses: &mut Losses,
) -> Result<Vec<OutputFile>, ExportError> {
    let is_mirrored = scene.camera.world_to_camera.determinant() > 0.0;
    let flip = if is_mirrored { Mat4::from_scale(Vec3::new(1.0, 1.0, -1.0)) } else { Mat4::IDENTITY };
    let name = out.with_extension("bin").file_name().map(|name| name.to_string_lossy().into_owned());
    let mut writer = Writer {
        buffer_name: name.filter(|_| format == Format::Gltf),
        scene,
        assets,
        losses,
        embeds: format == Format::Glb,
        flip,
        buffer: Buffer::default(),
        lists: BTreeMap::new(),
        extensions: BTreeSet::new(),
        nodes: Vec::new(),
    };
    let document = writer.document();
    let Writer { buffer, .. } = writer;
    if format == Format::Glb {
        let bytes = buffer::container(out, document, buffer)?;
        return Ok(vec![OutputFile { path: out.to_path_buf(), bytes }]);
    }
    let used = used_images(&document);
    let images: Vec<&Copied> = assets.images.values().filter(|copy| used.contains(&uri(&copy.name))).collect();
    let mut files: Vec<OutputFile> = assets.files(out, images).collect();
    if !buffer.bytes.is_empty() {
        files.push(OutputFile { path: out.with_extension("bin"), bytes: buffer.bytes });
    }
    let text = format!("{document:#}\n");
    files.push(OutputFile { path: out.to_path_buf(), bytes: text.into_bytes() });
    Ok(files)
}

/// The URIs of a document's images.
fn used_images(document: &Value) -> BTreeSet<String> {
    let images = document["images"].as_array().into_iter().flatten();
    images.filter_map(|image| image["uri"].as_str()).map(str::to_string).collect()
}

/// A scene on its way to a document.
struct Writer<'a> {
    scene: &'a Scene,
    assets: &'a Assets,
    losses: &'a mut Losses,
    /// The buffer's file beside the document; `None` where both are in one.
    buffer_name: Option<String>,
    /// True if images lie in the buffer.
    embeds: bool,
    /// From the scene's space to the document's.
    flip: Mat4,
    buffer: Buffer,
    /// The document's lists by their names.
    lists: BTreeMap<&'static str, Vec<Value>>,
    /// The extensions that it uses.
    extensions: BTreeSet<&'static str>,
    /// The scene's nodes.
    nodes: Vec<Value>,
}

impl Writer<'_> {
    fn document(&mut self) -> Value {
        self.camera();
        self.lights();
        self.objects();
        let extras = self.extras();
        let mut document = Map::new();
        document.insert("asset".into(), json!({ "version": "2.0", "generator": "Shadewright" }));
        let nodes = std::mem::take(&mut self.nodes);
        document.insert("scene".into(), 0.into());
        let shown: Vec<usize> = (0..nodes.len()).collect();
        document.insert("scenes".into(), json!([{ "nodes": shown, "extras": { extras::KEY: extras } }]));
        document.insert("nodes".into(), nodes.into());
        let mut lists = std::mem::take(&mut self.lists);
        if let Some(lights) = lists.remove("lights") {
            document.insert("extensions".into(), json!({ "KHR_lights_punctual": { "lights": lights } }));
        }
        document.extend(lists.into_iter().map(|(name, list)| (name.to_string(), list.into())));
        self.buffer.describe(&mut document);
        if let (Some(name), Some(buffers)) = (&self.buffer_name, document.get_mut("buffers")) {
            buffers[0]["uri"] = uri(name).into();
        }
        if !self.extensions.is_empty() {
            document.insert("extensionsUsed".into(), json!(self.extensions));
        }
        document.into()
    }

    /// Adds an item to a list of the document, once; gives its number.
    fn add(&mut self, list: &'static str, item: Value) -> usize {
        let items = self.lists.entry(list).or_default();
        items.iter().position(|known| *known == item).unwrap_or_else(|| {
            items.push(item);
            items.len() - 1
        })
    }

    /// Adds the document's nodes for objects.
    fn objects(&mut self) {
        let scene = self.scene;
        let mut meshes = Meshes::default();
        for object in &scene.objects {
            self.losses_of(object);
            if object.procedural.is_some() {
                let hint = "it is left out; glTF has triangles only";
                self.losses.report_object(object, "a procedural primitive has no form in glTF", hint);
                continue;
            }
            let material = self.material(object);
            let (mesh, matrix) = meshes.write(self, object, &material);
            let mut node = json!({ "name": *object.name, "mesh": mesh });
            if matrix != Mat4::IDENTITY {
                node["matrix"] = numbers(&matrix.to_cols_array());
            }
            self.nodes.push(node);
        }
    }

    /// Reports attributes of an object that are not kept.
    fn losses_of(&mut self, object: &shadewright_scene::Object) {
        let scene = self.scene;
        let own = &object.attributes;
        let shaders = [
            (own.displacement, "displacement", "the surface is not displaced"),
            (own.atmosphere, "atmosphere", "there is none"),
            (own.interior, "interior volume", "there is none"),
            (own.exterior, "exterior volume", "there is none"),
        ];
        for (id, what, hint) in shaders {
            if let Some(id) = id {
                let shader = &scene.shader_instances[id.0 as usize];
                self.losses.report_shader(shader, &format!("glTF has no {what} shaders"), hint);
            }
        }
        let seen = Visibility { hit_mode: None, ..own.visibility };
        if seen != Visibility::default() {
            self.losses.report_object(object, "ray visibility is not kept", "all rays see it");
        }
        if object.lights.len() != scene.lights.len() {
            let warning = Diagnostic::warning("lights are not kept from single objects");
            self.losses.lose(warning.hint("in glTF every light illuminates every object"));
        }
    }
}

/// A number in few digits.
fn number(x: f32) -> Value {
    number_text(x).parse::<f64>().unwrap_or_default().into()
}

/// A list of numbers.
fn numbers(values: &[f32]) -> Value {
    values.iter().map(|&x| number(x)).collect()
}

/// A relative path as a URI (RFC 3986): bytes that have a meaning there are escaped.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => out.push(byte.into()),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}
