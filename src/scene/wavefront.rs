//! Scenes of Wavefront OBJ files with materials: an object for each material, with a surface of the
//! standard shader `mtl`, or of a class with its parameters where paths are traced.
//!
//! `meshfile` reads the mesh and the library; this module finds the files that they name, as the
//! scene may read them, and reports what is missing.

use super::files::{self, FileError};
use super::framing::{self, Handedness, Lit};
use super::meshfile::mtl::{self, Map, Material};
use super::meshfile::{MaterialNames, NO_MATERIAL};
use super::{HitMode, Integrator, MeshSpace, Object, ObjectAttributes, OpenOptions, ParamValue};
use super::{Scene, ShaderRole, TextureSource, Visibility};
use glam::{Mat4, Vec2, Vec3};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::log::FileLog;
use shadewright_geometry::{Mesh, tangents};
use shadewright_image::Reading;
use shadewright_texture::Wrap;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The shader.
const SHADER: &str = "mtl";
/// The class that takes its place where paths are traced.
const CLASS: &str = "pbr.rtsl:Mtl";
/// Parameters of the shader that are called otherwise in the class.
const IN_CLASS: [(&str, &str); 9] = [
    ("Kd", "diffuse"),
    ("Ks", "specular"),
    ("Ns", "power"),
    ("Ke", "emissive"),
    ("d", "dissolve"),
    ("map_Kd", "diffuseImage"),
    ("map_Ke", "emissiveImage"),
    ("map_d", "dissolveImage"),
    ("norm", "normalImage"),
];
/// Diffuse reflectance of a material that has neither a color nor a texture.
const GRAY: f32 = 0.8;

/// Adds the objects of a mesh whose triangles have these materials, with a camera and lights.
pub(super) fn add(
    mut scene: Scene,
    mesh: &Mesh,
    materials: &MaterialNames,
    options: &OpenOptions,
    warnings: &mut Diagnostics,
    log: &mut FileLog,
) -> Scene {
    let known = libraries(&scene, &materials.libraries, warnings, log);
    let (low, high) = mesh.bounds().unwrap_or((Vec3::ZERO, Vec3::ZERO));
    let view = framing::look_at(&mut scene, low, high, Handedness::Right);
    let traces_paths = options.integrator == Some(Integrator::Path);
    framing::light(&mut scene, 0.5 * (low + high), view, if traces_paths { Lit::TRACED } else { Lit::PLAIN });
    for (number, triangles) in groups(&materials.of_triangle) {
        let part = part_of(mesh, &triangles);
        let name = materials.names.get(number as usize);
        let Some(material) = name.and_then(|name| known.get(name)) else {
            if let Some(name) = name.filter(|_| !known.is_empty()) {
                let said = format!("`{}`: there is no material `{name}`: the default surface is shown", scene.name);
                warnings.push(Diagnostic::warning(said));
            }
            framing::add_plain(&mut scene, part);
            continue;
        };
        let maker = Maker { scene: &mut scene, material, traces_paths, warnings, log, params: Vec::new() };
        maker.add(part);
    }
    scene
}

/// The materials of the libraries that a file names, by their names; the first of a name counts.
fn libraries(
    scene: &Scene,
    names: &[String],
    warnings: &mut Diagnostics,
    log: &mut FileLog,
) -> HashMap<String, Material> {
    let mut known = HashMap::new();
    for name in names {
        let files = match find(scene, name, log) {
            Ok(path) => vec![Ok(path)],
            // A statement may name several files.
            Err(_) if name.contains(char::is_whitespace) => {
                name.split_whitespace().map(|name| find(scene, name, log)).collect()
            }
            Err(error) => vec![Err(error)],
        };
        for file in files {
            let read = file.and_then(|path| {
                let bytes = scene.access.read(&path, files::MAX_FILE_BYTES, log)?;
                Ok(mtl::read(&bytes, &path.display().to_string()))
            });
            match read {
                Ok(library) => {
                    library.warnings.into_iter().for_each(|w| warnings.push(w));
                    for material in library.materials {
                        known.entry(material.name.clone()).or_insert(material);
                    }
                }
                Err(error) => {
                    let said = format!("`{}`: its materials cannot be read: {error}", scene.name);
                    let warning = error.hints().into_iter().fold(Diagnostic::warning(said), Diagnostic::hint);
                    warnings.push(warning.hint("the default surface is shown"));
                }
            }
        }
    }
    known
}

/// Finds a file, or where a path of another machine leads nowhere, the file of its name beside the
/// mesh.
fn find(scene: &Scene, name: &str, log: &mut FileLog) -> Result<PathBuf, FileError> {
    let name = name.replace('\\', "/");
    let access = &scene.access;
    access.find(&name, None, &[], log).or_else(|error| {
        let alone = Path::new(&name).file_name().and_then(|n| n.to_str()).filter(|alone| *alone != name);
        alone.and_then(|alone| access.find(alone, None, &[], log).ok()).ok_or(error)
    })
}

/// The triangles of each material, by its number, in the order in which materials occur.
fn groups(of_triangle: &[u32]) -> Vec<(u32, Vec<u32>)> {
    let mut numbers: HashMap<u32, usize> = HashMap::new();
    let mut groups: Vec<(u32, Vec<u32>)> = Vec::new();
    for (triangle, &material) in of_triangle.iter().enumerate() {
        let group = *numbers.entry(material).or_insert_with(|| {
            groups.push((material, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(triangle as u32);
    }
    groups
}

/// Some triangles of a mesh, with the vertices that they use.
fn part_of(mesh: &Mesh, triangles: &[u32]) -> Mesh {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut used: Vec<u32> = Vec::new();
    let mut number = |vertex: u32| {
        *numbers.entry(vertex).or_insert_with(|| {
            used.push(vertex);
            used.len() as u32 - 1
        })
    };
    let corners: Vec<[u32; 3]> = triangles.iter().map(|&t| mesh.triangles[t as usize].map(&mut number)).collect();
    fn keep_used<T: Copy>(values: &[T], used: &[u32]) -> Vec<T> {
        if values.is_empty() { Vec::new() } else { used.iter().map(|&i| values[i as usize]).collect() }
    }
    Mesh {
        positions: keep_used(&mesh.positions, &used),
        normals: keep_used(&mesh.normals, &used),
        st: keep_used(&mesh.st, &used),
        vertex_colors: keep_used(&mesh.vertex_colors, &used),
        triangles: corners,
        ..Mesh::default()
    }
}

/// A material on its way to an object.
struct Maker<'a> {
    scene: &'a mut Scene,
    material: &'a Material,
    traces_paths: bool,
    warnings: &'a mut Diagnostics,
    log: &'a mut FileLog,
    params: Vec<(String, ParamValue)>,
}

impl Maker<'_> {
    /// Adds the object of a material.
    fn add(mut self, mut mesh: Mesh) {
        let material = self.material;
        let has_diffuse_map = self.map("map_Kd", material.diffuse_map.as_ref(), Reading::OpaqueColor);
        let unset = Vec3::splat(if has_diffuse_map { 1.0 } else { GRAY });
        self.param("Kd", ParamValue::Color(vec![material.diffuse.unwrap_or(unset)]));
        self.param("Ks", ParamValue::Color(vec![material.specular]));
        self.float("Ns", material.exponent);
        self.param("Ke", ParamValue::Color(vec![material.emission]));
        self.map("map_Ke", material.emission_map.as_ref(), Reading::OpaqueColor);
        self.float("d", material.opacity);
        let has_opacity_map = self.map("map_d", material.opacity_map.as_ref(), Reading::DataAlpha);
        let file = |map: &Option<Map>| map.as_ref().map(|map| map.file.clone());
        if has_opacity_map && file(&material.opacity_map) == file(&material.diffuse_map) {
            self.float("alphaOnly", 1.0);
        }
        if !self.traces_paths {
            self.float("illum", material.model as f32);
        }
        let has_normal_map = self.map("norm", material.normal_map.as_ref(), Reading::Data);
        // The first texture says where all are looked up. The second coordinate rises upwards.
        let maps = [&material.diffuse_map, &material.opacity_map, &material.normal_map, &material.emission_map];
        let ([x, y], [u, v]) =
            maps.into_iter().flatten().next().map_or(([1.0; 2], [0.0; 2]), |map| (map.scale, map.offset));
        mesh.st.iter_mut().for_each(|st| *st = Vec2::new(x * st.x + u, 1.0 - (y * st.y + v)));
        if has_normal_map && !mesh.st.is_empty() {
            let uv = mesh.st.clone();
            tangents::add_frames(&mut mesh, &uv, ["tangent", "bitangent"]);
        }
        let shader = match self.traces_paths {
            true => {
                let own = |name: String| {
                    IN_CLASS.iter().find(|(shader, _)| *shader == name).map_or(name, |(_, class)| class.to_string())
                };
                let params = self.params.into_iter().map(|(name, value)| (own(name), value)).collect();
                self.scene.add_shader(ShaderRole::Surface, CLASS, params)
            }
            false => self.scene.add_shader(ShaderRole::Surface, SHADER, self.params),
        };
        let hit_mode = if material.opacity < 1.0 || has_opacity_map { HitMode::Shader } else { HitMode::Opaque };
        let visibility = Visibility { hit_mode: Some(hit_mode), ..Visibility::default() };
        self.scene.objects.push(Object {
            name: material.name.as_str().into(),
            surface: Some(shader),
            attributes: Arc::new(ObjectAttributes { visibility, ..ObjectAttributes::default() }),
            lights: (0..self.scene.lights.len() as u32).collect(),
            sides: 2,
            color: Vec3::ONE,
            opacity: Vec3::ONE,
            mesh: Arc::new(mesh),
            mesh_space: MeshSpace::World,
            procedural: None,
            solid: None,
            object_to_world: Mat4::IDENTITY,
            span: None,
        });
    }

    /// Adds a texture; whether it is there.
    fn map(&mut self, param: &str, map: Option<&Map>, reading: Reading) -> bool {
        let Some(map) = map else { return false };
        let path = match find(self.scene, &map.file, self.log) {
            Ok(path) => path,
            Err(error) => {
                let said = format!("the material `{}`: {param}: {error}", self.material.name);
                let warning = error.hints().into_iter().fold(Diagnostic::warning(said), Diagnostic::hint);
                self.warnings.push(warning.hint("it is shown without this texture"));
                return false;
            }
        };
        let folder = self.scene.access.base.clone().unwrap_or_default();
        let file = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
        let wrap = if map.clamp { Wrap::Clamp } else { Wrap::Periodic };
        let used_as = match reading {
            Reading::Data => "data",
            Reading::DataAlpha => "data and alpha",
            _ => "color",
        };
        let name = format!("{file} as {used_as}{}", if map.clamp { ", clamped" } else { "" });
        self.scene.textures.insert(name.clone(), TextureSource::Image { file, wraps: [wrap; 2], reading });
        self.param(param, ParamValue::String(vec![name]));
        true
    }

    fn float(&mut self, name: &str, value: f32) {
        self.param(name, ParamValue::Float(vec![value]));
    }

    fn param(&mut self, name: &str, value: ParamValue) {
        self.params.push((name.to_string(), value));
    }
}

/// True if a mesh file asks for materials.
pub(super) fn has_materials(materials: &MaterialNames) -> bool {
    !materials.libraries.is_empty() && materials.of_triangle.iter().any(|&number| number != NO_MATERIAL)
}
