//! The nodes of a scene and what they hold: objects, lights and the camera, at their places in the
//! world (glTF 2.0, §3.5).
//!
//! Nodes form trees: one that is reached twice is an error, so the walk ends, however the numbers
//! go round. The meshes of nodes that show the same one are shared.

use super::document::Document;
use super::material::{self, Material};
use super::{Making, camera, light, mesh};
use crate::geometry::Mesh;
use crate::scene::{MAX_INSTANCES, MeshSpace, Object};
use crate::text::diagnostics::Diagnostic;
use glam::{Mat4, Quat, Vec3};
use gltf::json::scene::{Node, Scene as JsonScene};
use gltf::json::{Index, Path as Place};
use std::collections::HashMap;
use std::sync::Arc;

/// Most errors that are reported at once.
const MAX_ERRORS: usize = 20;

/// A primitive as it was read: `None` where it shows no surface.
type Part = Option<(Arc<Mesh>, usize)>;

/// What the walk has met.
#[derive(Default)]
struct Walk {
    /// The primitives of each mesh.
    meshes: HashMap<usize, Vec<Part>>,
    /// Materials, and by their numbers in the document where they are among these.
    materials: Vec<Material>,
    material_numbers: HashMap<Option<usize>, usize>,
}

/// Adds what the document's default scene shows; errors go to the remarks.
pub fn add_all(document: &Document<'_>, size: Option<(u32, u32)>, making: &mut Making) -> Result<(), Diagnostic> {
    let mut stack: Vec<(Index<Node>, Place, Mat4)> = roots(document)?;
    stack.reverse();
    let mut seen = vec![false; document.root.nodes.len()];
    let mut walk = Walk::default();
    while let Some((index, place, parent)) = stack.pop() {
        let node = document.get(index, &place)?;
        if std::mem::replace(&mut seen[index.value()], true) {
            return Err(document
                .error(&place, format_args!("nodes[{}] is reached twice", index.value()))
                .hint("nodes form trees: each is a child of one other at most"));
        }
        let own = Place::new().field("nodes").index(index.value());
        let to_world = parent * local_transform(node);
        if let Err(error) = walk.add(document, node, &own, to_world, size, making) {
            making.remarks.push(error);
            if making.remarks.error_count() >= MAX_ERRORS {
                return Ok(());
            }
        }
        let children = node.children.as_deref().unwrap_or_default().iter().enumerate().rev();
        stack.extend(children.map(|(i, child)| (*child, own.field("children").index(i), to_world)));
    }
    Ok(())
}

/// The nodes that the default scene begins with: those of the first one where none is named, all
/// that have no parent where there are no scenes.
fn roots(document: &Document<'_>) -> Result<Vec<(Index<Node>, Place, Mat4)>, Diagnostic> {
    let root = &document.root;
    let chosen = match root.scene {
        Some(index) => Some((document.get(index, &Place::new().field("scene"))?, index)),
        None => root.scenes.first().map(|scene| (scene, Index::<JsonScene>::new(0))),
    };
    if let Some((scene, index)) = chosen {
        let place = Place::new().field("scenes").index(index.value()).field("nodes");
        let nodes = scene.nodes.iter().enumerate();
        return Ok(nodes.map(|(i, node)| (*node, place.index(i), Mat4::IDENTITY)).collect());
    }
    let mut has_parent = vec![false; root.nodes.len()];
    for child in root.nodes.iter().filter_map(|n| n.children.as_ref()).flatten() {
        if let Some(flag) = has_parent.get_mut(child.value()) {
            *flag = true;
        }
    }
    let orphans = (0..root.nodes.len()).filter(|&i| !has_parent[i]);
    Ok(orphans.map(|i| (Index::new(i as u32), Place::new().field("nodes"), Mat4::IDENTITY)).collect())
}

/// A node's own transform; a rotation of length zero counts as none.
fn local_transform(node: &Node) -> Mat4 {
    if let Some(matrix) = &node.matrix {
        return Mat4::from_cols_array(matrix);
    }
    let rotation = node.rotation.map_or(Quat::IDENTITY, |r| Quat::from_array(r.0));
    let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { Quat::IDENTITY };
    let scale = node.scale.map_or(Vec3::ONE, Vec3::from_array);
    let translation = node.translation.map_or(Vec3::ZERO, Vec3::from_array);
    Mat4::from_scale_rotation_translation(scale, rotation, translation)
}

impl Walk {
    /// Adds what a node holds.
    fn add(
        &mut self,
        document: &Document<'_>,
        node: &Node,
        place: &Place,
        to_world: Mat4,
        size: Option<(u32, u32)>,
        making: &mut Making,
    ) -> Result<(), Diagnostic> {
        if let Some(index) = node.camera.filter(|_| !making.has_camera) {
            let (camera, format) = camera::read(document, index, &place.field("camera"), to_world, size)?;
            making.scene.coordinate_systems.insert("camera".to_string(), camera.camera_to_world());
            (making.scene.camera, making.scene.format) = (camera, format);
            making.has_camera = true;
        }
        if let Some(light) = node.extensions.as_ref().and_then(|e| e.khr_lights_punctual.as_ref()) {
            let place = place.field("extensions").field("KHR_lights_punctual").field("light");
            light::add(document, light.light, &place, to_world, making)?;
        }
        let Some(index) = node.mesh else { return Ok(()) };
        let place_of_mesh = place.field("mesh");
        let json = document.get(index, &place_of_mesh)?;
        if node.skin.is_some() {
            making.warn(document.warning(place, "skins are not supported: the mesh keeps its bind pose"));
        }
        if node.weights.is_some() || json.weights.as_ref().is_some_and(|w| w.iter().any(|&w| w != 0.0)) {
            making.warn(document.warning(place, "morph targets are not supported: the mesh keeps its base shape"));
        }
        if !self.meshes.contains_key(&index.value()) {
            let own = Place::new().field("meshes").index(index.value()).field("primitives");
            let mut parts = Vec::new();
            let mut failure = None;
            for (i, primitive) in json.primitives.iter().enumerate() {
                match self.part(document, primitive, &own.index(i), making) {
                    Ok(part) => parts.push(part),
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            self.meshes.insert(index.value(), parts);
            if let Some(error) = failure {
                return Err(error);
            }
        }
        let name = [&node.name, &json.name].into_iter().flatten().find(|n| !n.is_empty());
        let name = name.cloned().unwrap_or_else(|| place.to_string());
        for (mesh, material) in self.meshes[&index.value()].iter().flatten() {
            let material = &self.materials[*material];
            let object = Object {
                name: name.clone(),
                surface: Some(material.shader),
                attributes: material.attributes.clone(),
                lights: Arc::default(),
                sides: material.sides,
                color: Vec3::ONE,
                opacity: Vec3::ONE,
                mesh: mesh.clone(),
                mesh_space: MeshSpace::Object,
                procedural: None,
                object_to_world: to_world,
                span: None,
            };
            if let Err(reason) = object.check_placement() {
                making.warn(document.warning(place, format_args!("it is not shown: {reason}")));
                return Ok(());
            }
            if making.scene.objects.len() >= MAX_INSTANCES {
                return Err(document.error(place, format_args!("the scene has more than {MAX_INSTANCES} objects")));
            }
            making.scene.objects.push(object);
        }
        Ok(())
    }

    /// Reads a primitive and its material.
    fn part(
        &mut self,
        document: &Document<'_>,
        primitive: &gltf::json::mesh::Primitive,
        place: &Place,
        making: &mut Making,
    ) -> Result<Part, Diagnostic> {
        let number = match self.material_numbers.get(&primitive.material.map(|m| m.value())) {
            Some(&number) => number,
            None => {
                let material = material::add(document, primitive.material, &place.field("material"), making)?;
                self.materials.push(material);
                self.material_numbers.insert(primitive.material.map(|m| m.value()), self.materials.len() - 1);
                self.materials.len() - 1
            }
        };
        let read = mesh::read(document, primitive, place, &self.materials[number], making)?;
        Ok(read.map(|mesh| (Arc::new(mesh), number)))
    }
}
