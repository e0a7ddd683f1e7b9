//! Retained objects: what a definition keeps, what an instance brings, and what is wrong with
//! either.

use super::{errors, scene, warnings};
use crate::{MeshSpace, Object, Scene};
use glam::Vec3;
use std::sync::Arc;

/// A triangle in z = 0 whose geometric normal is +z.
const TRIANGLE: &str = "Polygon \"P\" [0 0 0 1 0 0 0 1 0]";

/// A world that defines object 1 and continues with `requests`.
fn with_object(definition: &str, requests: &str) -> Scene {
    scene(&format!("WorldBegin ObjectBegin 1 {definition} ObjectEnd {requests} WorldEnd"))
}

/// `with_object` of spheres with too many triangles to be written out.
fn spheres(requests: &str) -> Scene {
    with_object(&"Sphere 1 -1 1 360 ".repeat(10), requests)
}

#[test]
fn a_definition_shows_nothing_and_an_instance_shows_it_where_it_stands() {
    let s = with_object(
        &format!("Translate 0 0 5 {TRIANGLE}"),
        "Translate 1 0 0 ObjectInstance 1 Scale 2 2 2 ObjectInstance 1",
    );
    let first = |i: usize| s.objects[i].bounds().unwrap().0;
    assert_eq!((s.objects.len(), first(0), first(1)), (2, Vec3::new(1.0, 0.0, 5.0), Vec3::new(1.0, 0.0, 10.0)));
    let after = with_object(&format!("Translate 0 0 5 {TRIANGLE}"), TRIANGLE);
    assert_eq!((after.objects.len(), after.objects[0].mesh.positions[0]), (1, Vec3::ZERO));
}

#[test]
fn instances_share_one_mesh() {
    let s = spheres("ObjectInstance 1 Translate 3 0 0 ObjectInstance 1");
    assert!(s.has_instances());
    assert!(Arc::ptr_eq(&s.objects[0].mesh, &s.objects[1].mesh));
    let (low, high) = s.bounds().unwrap();
    assert!((low - Vec3::NEG_ONE).length() < 0.01 && (high - Vec3::new(4.0, 1.0, 1.0)).length() < 0.01);
    assert_eq!(s.triangle_count(), 2 * s.objects[0].mesh.triangles.len());
}

#[test]
fn attributes_are_those_of_the_instance() {
    let text = "WorldBegin Color [1 0 0] Sides 1 Surface \"matte\" ObjectBegin \"thing\" Sphere 1 -1 1 360 ObjectEnd\n\
                Color [0 1 0] Opacity [0 0 1] Sides 2 Surface \"plastic\" Attribute \"identifier\" \"name\" [\"second\"]\n\
                ObjectInstance \"thing\" WorldEnd";
    let s = scene(text);
    let o = &s.objects[0];
    assert_eq!((o.color, o.opacity, o.sides, &*o.name), (Vec3::Y, Vec3::Z, 2, "second"));
    assert_eq!(s.shader_instances[o.surface.unwrap().0 as usize].shader, "plastic");
}

#[test]
fn colors_that_a_primitive_brings_stay_with_it() {
    let red = "\"constant color Cs\" [1 0 0]";
    let s = with_object(&format!("{TRIANGLE} {TRIANGLE} {red} {TRIANGLE} {red}"), "Color [0 1 0] ObjectInstance 1");
    let colors: Vec<_> = s.objects.iter().map(|o| (o.color, o.mesh.triangle_colors.clone())).collect();
    assert_eq!(colors, [(Vec3::Y, vec![]), (Vec3::Y, vec![Vec3::X; 2])]);
}

#[test]
fn an_object_of_many_primitives_is_one_mesh() {
    let many = format!("{TRIANGLE} Translate 0 0 1 Sphere 1 -1 1 360 ").repeat(20);
    assert_eq!(with_object(&many, "ObjectInstance 1").objects.len(), 1);
}

#[test]
fn little_geometry_and_geometry_used_once_is_written_out() {
    let spaces = |s: &Scene| s.objects.iter().map(|o| o.mesh_space).collect::<Vec<_>>();
    let small = with_object(TRIANGLE, "ObjectInstance 1 Translate 1 0 0 ObjectInstance 1");
    assert_eq!(spaces(&small), [MeshSpace::World; 2]);
    assert_eq!(small.objects[1].mesh.positions[0], Vec3::X);
    assert_eq!(small.objects[1].object_to_world.w_axis.truncate(), Vec3::X);
    assert_eq!(spaces(&spheres("ObjectInstance 1")), [MeshSpace::World]);
    assert_eq!(spaces(&spheres("ObjectInstance 1 ObjectInstance 1")), [MeshSpace::Object; 2]);
}

#[test]
fn writing_out_every_instance_changes_no_place() {
    let mut s = spheres("Rotate 30 1 2 3 Scale 1 2 -3 ObjectInstance 1 Translate 3 0 0 ObjectInstance 1");
    let o = s.objects[1].clone();
    s.flatten().unwrap();
    assert!(!s.has_instances());
    let place = o.object_to_world.transform_point3(o.mesh.positions[7]);
    assert_eq!(s.objects[1].mesh.positions[7], place);
}

#[test]
fn an_instance_is_turned_by_the_orientation_where_it_stands() {
    // The camera's space is left-handed and so is the object's: `lh` is `outside`, but for a
    // mirrored instance.
    for (requests, z) in [
        ("", 1.0),
        ("ReverseOrientation", -1.0),
        ("Orientation \"inside\"", -1.0),
        ("Orientation \"lh\"", 1.0),
        ("Orientation \"rh\"", -1.0),
        ("Scale -1 1 1", 1.0),
        ("Scale -1 1 1 Orientation \"lh\"", -1.0),
    ] {
        let s = with_object(TRIANGLE, &format!("{requests} ObjectInstance 1"));
        let o = &s.objects[0];
        assert_eq!((o.mesh.scaled_normal(0).z.signum(), o.mesh.normals[0].z), (z, z), "{requests}");
    }
    let given =
        with_object(&format!("{TRIANGLE} \"constant normal N\" [0 0 1]"), "Orientation \"inside\" ObjectInstance 1");
    assert_eq!(given.objects[0].mesh.normals[0], Vec3::Z);
    let twice = with_object(&format!("ReverseOrientation {TRIANGLE}"), "ReverseOrientation ObjectInstance 1");
    assert_eq!(twice.objects[0].mesh.scaled_normal(0), Vec3::Z);
}

#[test]
fn an_object_may_be_defined_before_the_world_and_again() {
    let text = format!(
        "ObjectBegin 1 Sphere 1 -1 1 360 ObjectEnd ObjectBegin 1 {TRIANGLE} ObjectEnd\n\
         WorldBegin Translate 2 0 0 ObjectInstance 1 WorldEnd"
    );
    let s = scene(&text);
    assert_eq!((s.triangle_count(), s.objects[0].mesh.positions[0]), (1, Vec3::new(2.0, 0.0, 0.0)));
}

#[test]
fn instances_within_objects_are_of_one_level_and_share_their_meshes() {
    // A row of two triangles, the second turned inside out; a second row, mirrored, beside one more
    // triangle.
    let text = format!(
        "WorldBegin ObjectBegin 1 {TRIANGLE} ObjectEnd\n\
         ObjectBegin 2 ObjectInstance 1 Translate 2 0 0 ReverseOrientation ObjectInstance 1 ObjectEnd\n\
         ObjectBegin 3 ObjectInstance 2 Translate 0 5 0 Scale 1 -1 1 ObjectInstance 2 {TRIANGLE} ObjectEnd\n\
         Color [1 0 0] Translate 0 0 7 ObjectInstance 3 WorldEnd"
    );
    let objects = scene(&text).objects;
    let place = |o: &Object| (o.bounds().unwrap().0, o.mesh.scaled_normal(0).z);
    let at = |x: f32, y: f32| Vec3::new(x, y, 7.0);
    let found: Vec<_> = objects.iter().map(place).collect();
    // The lowest corners: those that are mirrored reach from 5 down to 4.
    assert_eq!(
        found,
        [(at(0.0, 0.0), 1.0), (at(2.0, 0.0), -1.0), (at(0.0, 4.0), 1.0), (at(2.0, 4.0), -1.0), (at(0.0, 4.0), 1.0)]
    );
    assert!(objects.iter().all(|o| o.color == Vec3::X));
}

#[test]
fn objects_that_multiply_end_in_an_error() {
    let level = |i: u32| {
        let ten = format!("ObjectInstance {} ", i - 1).repeat(10);
        format!("ObjectBegin {i} {ten} ObjectEnd\n")
    };
    let levels: String = (1..=8).map(level).collect();
    let shown = errors(&format!("WorldBegin ObjectBegin 0 {TRIANGLE} ObjectEnd {levels} ObjectInstance 8 WorldEnd"));
    assert!(shown.contains("more than 1048576 instances"), "{shown}");
}

#[test]
fn attributes_in_a_definition_are_ignored_and_said_to_be() {
    let text = format!(
        "WorldBegin ObjectBegin 1 Color [1 0 0] Color [0 1 0] Sides 1 {TRIANGLE} ObjectEnd ObjectInstance 1 WorldEnd"
    );
    let shown = warnings(&text);
    assert_eq!(shown.matches("`Color` in an object's definition is ignored").count(), 1, "{shown}");
    assert!(shown.contains("`Sides` in an object's definition is ignored"), "{shown}");
    let empty = warnings(&format!("WorldBegin ObjectBegin 1 ObjectEnd {TRIANGLE} WorldEnd"));
    assert!(empty.contains("the object 1 is empty"), "{empty}");
}

#[test]
fn what_has_no_place_in_a_definition_is_an_error() {
    let bad = |definition: &str| errors(&format!("WorldBegin ObjectBegin 1 {definition} ObjectEnd WorldEnd"));
    assert!(bad("LightSource \"ambientlight\" 1").contains("`LightSource` cannot stand in an object's definition"));
    assert!(bad("ObjectInstance 1").contains("no object has the handle 1"), "it is not there yet");
    assert!(bad("ObjectBegin 2").contains("`ObjectBegin` cannot stand in an object's definition"));
    assert!(bad("WorldEnd").contains("`WorldEnd` cannot close `ObjectBegin`"));
    assert!(errors("WorldBegin ObjectBegin 1 Sphere 1 -1 1 360").contains("`ObjectBegin` is never closed"));
}

#[test]
fn an_instance_of_nothing_or_nowhere_is_an_error_that_points_to_it() {
    let unknown = errors(&format!("WorldBegin ObjectBegin 4 {TRIANGLE} ObjectEnd\nObjectInstance 5 WorldEnd"));
    assert!(unknown.contains("ObjectInstance: no object has the handle 5"), "{unknown}");
    assert!(unknown.contains("scene.rib:2:1") && unknown.contains("hint: there are: 4"), "{unknown}");
    let flat = errors(&format!("WorldBegin ObjectBegin 4 {TRIANGLE} ObjectEnd Scale 1 0 1\nObjectInstance 4 WorldEnd"));
    assert!(flat.contains("ObjectInstance: the transform cannot be inverted"), "{flat}");
    assert!(flat.contains("scene.rib:2:1"), "{flat}");
    let far = errors(&format!(
        "WorldBegin ObjectBegin 4 {TRIANGLE} ObjectEnd Scale 1e30 1e30 1e30 Scale 1e30 1 1\nObjectInstance 4 WorldEnd"
    ));
    assert!(far.contains("the object has no finite place in the world"), "{far}");
    assert_eq!(scene(&format!("ObjectBegin 4 {TRIANGLE} ObjectEnd ObjectInstance 4")).objects.len(), 1);
}
