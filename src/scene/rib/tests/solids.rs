//! Solids that are cut by one another.

use super::{errors, scene, warnings, world};
use crate::Object;
use glam::Vec3;

/// A cube from 0 to 1.
const CUBE: &str = "PointsPolygons [4 4 4 4 4 4] [0 3 2 1 4 5 6 7 0 1 5 4 2 3 7 6 1 2 6 5 0 4 7 3]\n\
    \"P\" [0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1]";

fn solid(requests: &str) -> String {
    format!("SolidBegin \"primitive\" {requests} SolidEnd\n")
}

fn volume(objects: &[Object]) -> f64 {
    let of = |o: &Object| {
        let corners = |i| o.mesh.corners(i).map(Vec3::as_dvec3);
        (0..o.mesh.triangles.len()).map(corners).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum::<f64>()
    };
    objects.iter().map(of).sum::<f64>().abs()
}

/// The objects of requests inside a world.
fn objects(requests: &str) -> Vec<Object> {
    scene(&format!("WorldBegin\n{requests}\nWorldEnd")).objects
}

#[test]
fn two_cubes_are_joined_and_cut() {
    let two = solid(CUBE) + &solid(&format!("Translate 0.5 0.5 0.5 {CUBE}"));
    for (operation, expected) in [("union", 1.875), ("intersection", 0.125), ("difference", 0.875)] {
        let found = volume(&objects(&format!("SolidBegin \"{operation}\" {two} SolidEnd")));
        assert!((found - expected).abs() < 1e-5, "{operation}: {found} is not {expected}");
    }
}

#[test]
fn every_piece_keeps_its_surface_and_color() {
    let two = solid(&format!("Surface \"plastic\" Color [1 0 0] {CUBE}"))
        + &solid(&format!("Surface \"matte\" Color [0 0 1] Translate 0.5 0.5 0.5 {CUBE}"));
    let s = scene(&format!("WorldBegin SolidBegin \"difference\" {two} SolidEnd WorldEnd"));
    let named = |o: &Object| (s.shader_instances[o.surface.unwrap().0 as usize].shader.to_string(), o.color);
    let found: Vec<_> = s.objects.iter().map(named).collect();
    assert_eq!(found, [("plastic".to_string(), Vec3::X), ("matte".to_string(), Vec3::Z)]);
}

#[test]
fn primitive_variables_go_along_to_what_is_left() {
    // The height of each corner, and the number of each face: the last looks along -x.
    let variables = "\"varying float height\" [0 0 0 0 1 1 1 1] \"uniform float face\" [0 1 2 3 4 5]";
    let two = solid(&format!("{CUBE} {variables}")) + &solid(&format!("Translate 0.5 0.5 0.5 {CUBE}"));
    let pieces = objects(&format!("SolidBegin \"difference\" {two} SolidEnd"));
    let mesh = &pieces[0].mesh;
    let variable = |name| mesh.primvars.iter().find(|v| &*v.kind.name == name).unwrap();
    let (height, face) = (variable("height"), variable("face"));
    for (i, triangle) in mesh.triangles.iter().enumerate() {
        for vertex in triangle.map(|v| v as usize) {
            let z = mesh.positions[vertex].z;
            assert!((height.numbers(vertex)[0] - z).abs() < 1e-6, "{:?} at {z}", height.numbers(vertex));
        }
        let looks_back = mesh.corners(i).iter().all(|p| p.x == 0.0);
        assert_eq!(face.numbers(i)[0] == 5.0, looks_back, "triangle {i}");
    }
    assert!(pieces[1].mesh.primvars.is_empty());
}

#[test]
fn quadrics_are_solids_and_operations_nest() {
    // A ball with a hole through it: of a sphere of radius 1 a cylinder of radius 0.6 leaves 4/3 π
    // · 0.8³, where only the dicing is missing.
    let ball = solid("Sphere 1 -1 1 360");
    let rod = solid("Cylinder 0.6 -2 2 360 Disk -2 0.6 360 TransformBegin Disk 2 0.6 360 TransformEnd");
    let ring = objects(&format!("SolidBegin \"difference\" {ball}{rod} SolidEnd"));
    let expected = 4.0 / 3.0 * std::f64::consts::PI * 0.8f64.powi(3);
    assert!((volume(&ring) / expected - 1.0).abs() < 0.03, "{} is not {expected}", volume(&ring));
    let whole = objects(&format!(
        "SolidBegin \"union\" SolidBegin \"difference\" {ball}{rod} SolidEnd SolidBegin \"intersection\" {ball}{rod} SolidEnd SolidEnd"
    ));
    let expected = volume(&objects(&ball));
    assert!((volume(&whole) / expected - 1.0).abs() < 1e-3, "{} is not {expected}", volume(&whole));
}

#[test]
fn rims_of_quadrics_meet_wherever_they_are_seen_from() {
    // Close to the camera and askew: a disk is far smaller on the image than the rod that it
    // closes.
    let view = "Projection \"perspective\" \"fov\" [60] Translate 0 0 3 Rotate 40 1 1 0 WorldBegin";
    // Disks look along +z, and pieces keep facing as their surfaces do: those at the bottom are
    // turned around.
    let bottom = |disk: &str| format!("AttributeBegin ReverseOrientation Disk {disk} 360 AttributeEnd ");
    let third = std::f64::consts::FRAC_PI_3;
    for (primitives, expected) in [
        (bottom("-2 0.5") + "Cylinder 0.5 -2 2 360 Disk 2 0.5 360", third * 3.0),
        (bottom("0 0.5") + "Cone 2 0.5 360", third * 0.5),
        ("Sphere 1 -1 0 360 Disk 0 1 360".to_string(), third * 2.0),
        // A ball between two heights: π (r² z - z³/3) between -1/2 and 1/2.
        (bottom("-0.5 0.8660254") + "Sphere 1 -0.5 0.5 360 Disk 0.5 0.8660254 360", third * 2.75),
        ("Paraboloid 1 0 2 360 Disk 2 1 360".to_string(), third * 3.0),
        (bottom("0 0.5") + "Hyperboloid 0.5 0 0 0.5 0 2 360 Disk 2 0.5 360", third * 1.5),
        ("Torus 1 0.25 0 360 360".to_string(), third * 0.375 * std::f64::consts::PI),
    ] {
        let s = scene(&format!("{view} SolidBegin \"union\" {} SolidEnd WorldEnd", solid(&primitives)));
        let found = volume(&s.objects);
        assert!((found / expected - 1.0).abs() < 0.01, "{primitives}: {found} is not {expected}");
    }
}

#[test]
fn what_is_not_closed_is_shown_whole_with_a_warning() {
    let text = format!("SolidBegin \"difference\" {}{} SolidEnd", solid(CUBE), solid("Sphere 1 0 1 360"));
    let shown = warnings(&format!("WorldBegin\n{text}\nWorldEnd"));
    assert!(shown.contains("no CSG for this solid: its surfaces do not close"), "{shown}");
    assert!(shown.contains("scene.rib:4:1"), "the line of the open one: {shown}");
    assert_eq!(shown.matches("warning").count(), 1, "{shown}");
}

#[test]
fn solids_that_make_no_sense_are_refused() {
    assert!(errors("WorldBegin SolidBegin \"minus\" SolidEnd WorldEnd").contains("no operation `minus` on solids"));
    let beside = errors(&format!("WorldBegin SolidBegin \"union\" {CUBE} SolidEnd WorldEnd"));
    assert!(beside.contains("geometry stands beside the solids of an operation"), "{beside}");
}

#[test]
fn a_primitive_by_itself_stays_what_it_is() {
    let s = world(&solid("Sphere 1 -1 1 360"));
    assert_eq!(s.objects.len(), 2);
    assert!((volume(&s.objects[..1]) / (4.0 / 3.0 * std::f64::consts::PI) - 1.0).abs() < 0.05);
}
