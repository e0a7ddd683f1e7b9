//! The nodes of a scene and what they hold: objects, lights and the camera, at their places in the
//! world (glTF 2.0, §3.5).
//!
//! Nodes form trees: one that is reached twice is an error, so the walk ends, however the numbers
//! go round. The meshes of nodes that show the same one are shared.

use super::accessor::Elements;
use super::animation::Pose;
use super::deform::{self, Deform};
use super::document::Document;
use super::material::{self, Material};
use super::{Making, camera, light, mesh};
use crate::{MAX_INSTANCES, MeshSpace, Object};
use glam::{Mat4, Quat, Vec3};
use gltf::json::accessor::Type;
use gltf::json::scene::{Node, Scene as JsonScene};
use gltf::json::{Index, Path as Place};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::Mesh;
use std::collections::HashMap;
use std::sync::Arc;

/// A primitive as it was read: `None` where it shows no surface.
type Part = Option<(Arc<Mesh>, usize)>;

/// The state of a walk over the nodes.
struct Walk<'a> {
    pose: &'a Pose,
    /// The transforms of all nodes to the world.
    worlds: Vec<Mat4>,
    /// The primitives of each mesh that nothing deforms.
    meshes: HashMap<usize, Vec<Part>>,
    /// The names of meshes that objects have.
    names: HashMap<usize, Arc<str>>,
    /// Materials, and by their numbers in the document where they are among these.
    materials: Vec<Material>,
    material_numbers: HashMap<Option<usize>, usize>,
}

/// Adds what the document's default scene shows, in a pose. What is wrong with a node is a problem
/// of the making.
///
/// # Errors
/// When there is no such scene, or its nodes form no trees.
pub fn add_all(
    document: &Document<'_>,
    pose: &Pose,
    size: Option<(u32, u32)>,
    making: &mut Making,
) -> Result<(), Diagnostic> {
    let mut order = Vec::new();
    let mut worlds = vec![None; document.root.nodes.len()];
    place_all(document, pose, roots(document)?, &mut worlds, &mut order)?;
    let shown = order.len();
    // Joints may lie outside of the scene.
    let others: Vec<usize> = (0..worlds.len()).filter(|&i| worlds[i].is_none()).collect();
    for number in others {
        if worlds[number].is_none() {
            let place = Place::new().field("nodes");
            // What is wrong there is not shown.
            place_all(document, pose, vec![(Index::new(number as u32), place)], &mut worlds, &mut order).ok();
        }
    }
    order.truncate(shown);
    let worlds = worlds.into_iter().map(|world| world.unwrap_or(Mat4::IDENTITY)).collect();
    let mut walk = Walk {
        pose,
        worlds,
        meshes: HashMap::new(),
        names: HashMap::new(),
        materials: Vec::new(),
        material_numbers: HashMap::new(),
    };
    for number in order {
        let place = Place::new().field("nodes").index(number);
        walk.add(document, number, &place, size, making);
    }
    Ok(())
}

/// Finds the transforms of nodes and all below them, parents before children.
fn place_all(
    document: &Document<'_>,
    pose: &Pose,
    roots: Vec<(Index<Node>, Place)>,
    worlds: &mut [Option<Mat4>],
    order: &mut Vec<usize>,
) -> Result<(), Diagnostic> {
    let mut stack: Vec<(Index<Node>, Place, Mat4)> =
        roots.into_iter().rev().map(|(index, place)| (index, place, Mat4::IDENTITY)).collect();
    while let Some((index, place, parent)) = stack.pop() {
        let (number, node) = (index.value(), document.get(index, &place)?);
        let to_world = parent * pose.transform(number, node);
        if worlds[number].replace(to_world).is_some() {
            return Err(document
                .error(&place, format_args!("nodes[{number}] is reached twice"))
                .hint("nodes form trees: each is a child of one other at most"));
        }
        order.push(number);
        let own = Place::new().field("nodes").index(number);
        let children = node.children.as_deref().unwrap_or_default().iter().enumerate().rev();
        stack.extend(children.map(|(i, child)| (*child, own.field("children").index(i), to_world)));
    }
    Ok(())
}

/// The nodes that the default scene begins with: those of the first one where none is named, all
/// that have no parent where there are no scenes.
fn roots(document: &Document<'_>) -> Result<Vec<(Index<Node>, Place)>, Diagnostic> {
    let root = &document.root;
    let chosen = match root.scene {
        Some(index) => Some((document.get(index, &Place::new().field("scene"))?, index)),
        None => root.scenes.first().map(|scene| (scene, Index::<JsonScene>::new(0))),
    };
    if let Some((scene, index)) = chosen {
        let place = Place::new().field("scenes").index(index.value()).field("nodes");
        let nodes = scene.nodes.iter().enumerate();
        return Ok(nodes.map(|(i, node)| (*node, place.index(i))).collect());
    }
    let mut has_parent = vec![false; root.nodes.len()];
    for child in root.nodes.iter().filter_map(|n| n.children.as_ref()).flatten() {
        if let Some(flag) = has_parent.get_mut(child.value()) {
            *flag = true;
        }
    }
    let orphans = (0..root.nodes.len()).filter(|&i| !has_parent[i]);
    Ok(orphans.map(|i| (Index::new(i as u32), Place::new().field("nodes"))).collect())
}

/// The transforms of the copies of a node's mesh (`EXT_mesh_gpu_instancing`), from the node's space;
/// `None` where it has no such extension.
///
/// # Errors
/// When its accessors cannot be read.
fn instances(document: &Document<'_>, node: &Node, place: &Place) -> Result<Option<Vec<Mat4>>, Diagnostic> {
    const NAME: &str = "EXT_mesh_gpu_instancing";
    let Some(json) = node.extensions.as_ref().and_then(|e| e.others.get(NAME)) else { return Ok(None) };
    let place = place.field("extensions").field(NAME).field("attributes");
    let open = |name: &str, ty: Type| -> Result<Option<Elements<'_>>, Diagnostic> {
        let Some(index) = json.pointer(&format!("/attributes/{name}")) else { return Ok(None) };
        let place = place.field(name);
        let index = index.as_u64().and_then(|i| u32::try_from(i).ok());
        let index = index.ok_or_else(|| document.error(&place, "it is no accessor's number"))?;
        Elements::open(document, Index::new(index), &place, &[ty]).map(Some)
    };
    let translations = open("TRANSLATION", Type::Vec3)?;
    let rotations = open("ROTATION", Type::Vec4)?;
    let scales = open("SCALE", Type::Vec3)?;
    let all = [&translations, &rotations, &scales];
    let count = all.into_iter().flatten().map(Elements::len).min().unwrap_or(0);
    if all.into_iter().flatten().any(|e| e.len() != count) {
        return Err(document.error(&place, "its accessors have different numbers of elements"));
    }
    let one = |i: usize| {
        let translation = translations.as_ref().map_or(Vec3::ZERO, |e| Vec3::from_array(e.floats(i)));
        let rotation = rotations.as_ref().map_or(Quat::IDENTITY, |e| Quat::from_array(e.floats(i)));
        let scale = scales.as_ref().map_or(Vec3::ONE, |e| Vec3::from_array(e.floats(i)));
        let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { Quat::IDENTITY };
        Mat4::from_scale_rotation_translation(scale, rotation, translation)
    };
    Ok(Some((0..count.min(MAX_INSTANCES)).map(one).collect()))
}

impl Walk<'_> {
    /// Adds what a node holds.
    fn add(
        &mut self,
        document: &Document<'_>,
        number: usize,
        place: &Place,
        size: Option<(u32, u32)>,
        making: &mut Making,
    ) {
        let (node, to_world) = (&document.root.nodes[number], self.worlds[number]);
        if let Some(index) = node.camera.filter(|_| !making.has_camera) {
            match camera::read(document, index, &place.field("camera"), to_world, size) {
                Ok((camera, format)) => {
                    making.scene.coordinate_systems.insert("camera".to_string(), camera.camera_to_world());
                    (making.scene.camera, making.scene.format) = (camera, format);
                    making.has_camera = true;
                }
                Err(error) => making.problem(error),
            }
        }
        if let Some(light) = node.extensions.as_ref().and_then(|e| e.khr_lights_punctual.as_ref()) {
            let place = place.field("extensions").field("KHR_lights_punctual").field("light");
            light::add(document, light.light, &place, to_world, making).unwrap_or_else(|e| making.problem(e));
        }
        if let Some(index) = node.mesh {
            self.show(document, number, index, place, making).unwrap_or_else(|error| making.problem(error));
        }
    }

    /// Adds the mesh of a node.
    fn show(
        &mut self,
        document: &Document<'_>,
        number: usize,
        index: Index<gltf::json::mesh::Mesh>,
        place: &Place,
        making: &mut Making,
    ) -> Result<(), Diagnostic> {
        let (node, to_world) = (&document.root.nodes[number], self.worlds[number]);
        let json = document.get(index, &place.field("mesh"))?;
        let deform = self.deform(document, number, json, place, making);
        let parts = match self.meshes.get(&index.value()).filter(|_| deform.is_none()) {
            Some(parts) => parts.clone(),
            None => {
                let own = Place::new().field("meshes").index(index.value()).field("primitives");
                let mut parts = Vec::new();
                for (i, primitive) in json.primitives.iter().enumerate() {
                    match self.part(document, primitive, &own.index(i), &deform, making) {
                        Ok(part) => parts.push(part),
                        Err(error) => making.problem(error.hint("the primitive is left out")),
                    }
                }
                if deform.is_none() {
                    self.meshes.insert(index.value(), parts.clone());
                }
                parts
            }
        };
        let [own, shared] = [&node.name, &json.name].map(|name| name.as_deref().filter(|name| !name.is_empty()));
        let name: Arc<str> = match (own, shared) {
            (Some(name), _) => name.into(),
            (None, Some(name)) => self.names.entry(index.value()).or_insert_with(|| name.into()).clone(),
            (None, None) => place.to_string().into(),
        };
        // Joints give places in the world, whatever the node's.
        let is_skinned = deform.joints.is_some();
        let copies = match instances(document, node, place) {
            Ok(copies) => copies.unwrap_or_else(|| vec![Mat4::IDENTITY]),
            Err(error) => {
                making.problem(error.hint("the mesh is shown once"));
                vec![Mat4::IDENTITY]
            }
        };
        for copy in copies {
            let object_to_world = if is_skinned { Mat4::IDENTITY } else { to_world * copy };
            for (mesh, material) in parts.iter().flatten() {
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
                    mesh_space: if is_skinned { MeshSpace::World } else { MeshSpace::Object },
                    procedural: None,
                    solid: None,
                    object_to_world,
                    span: None,
                };
                if let Err(reason) = object.check_placement() {
                    making.warn(document.warning(place, format_args!("it is not shown: {reason}")));
                    break;
                }
                if making.scene.objects.len() >= MAX_INSTANCES {
                    return Err(document.error(place, format_args!("the scene has more than {MAX_INSTANCES} objects")));
                }
                making.scene.objects.push(object);
            }
        }
        Ok(())
    }

    /// How a node deforms its mesh; a skin that is wrong is none.
    fn deform(
        &self,
        document: &Document<'_>,
        number: usize,
        json: &gltf::json::mesh::Mesh,
        place: &Place,
        making: &mut Making,
    ) -> Deform {
        let node = &document.root.nodes[number];
        let weights = self.pose.weights(number).or(node.weights.as_deref()).or(json.weights.as_deref());
        let mut deform = Deform { weights: weights.unwrap_or_default().to_vec(), joints: None };
        if deform.weights.iter().any(|w| !w.is_finite()) {
            making.problem(document.error(&place.field("weights"), "they are not finite numbers"));
            deform.weights.clear();
        }
        if let Some(index) = node.skin {
            match deform::joints(document, index, &place.field("skin"), &self.worlds) {
                Ok(joints) => deform.joints = Some(joints),
                Err(error) => making.problem(error.hint("the mesh keeps its bind pose")),
            }
        }
        deform
    }

    /// Reads a primitive and its material.
    fn part(
        &mut self,
        document: &Document<'_>,
        primitive: &gltf::json::mesh::Primitive,
        place: &Place,
        deform: &Deform,
        making: &mut Making,
    ) -> Result<Part, Diagnostic> {
        let key = primitive.material.map(|m| m.value());
        let number = match self.material_numbers.get(&key) {
            Some(&number) => number,
            None => {
                let material = material::add(document, primitive.material, &place.field("material"), making);
                self.materials.push(material);
                self.material_numbers.insert(key, self.materials.len() - 1);
                self.materials.len() - 1
            }
        };
        let read = mesh::read(document, primitive, place, &self.materials[number], deform, making)?;
        Ok(read.map(|mesh| (Arc::new(mesh), number)))
    }
}
