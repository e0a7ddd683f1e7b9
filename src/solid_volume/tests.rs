//! Volumes against closed forms.

use super::*;
use shadewright_base::text::source::SourceMap;
use shadewright_scene::{OpenOptions, open_bytes};
use std::f64::consts::PI;

/// A cube from −1 to 1 whose faces all face out, or in.
const CUBE: &str = "PointsPolygons [4 4 4 4 4 4] [0 3 2 1 4 5 6 7 0 1 5 4 2 3 7 6 1 2 6 5 0 4 7 3]\n\
    \"P\" [-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1]\n";
/// A closed cylinder of radius 0.5 from −2 to 2, whose disks face the same way.
const ROD: &str = "Cylinder 0.5 -2 2 360 Disk -2 0.5 360 Disk 2 0.5 360\n";

fn solid(operation: &str, requests: &str) -> String {
    format!("SolidBegin \"{operation}\"\n{requests}\nSolidEnd\n")
}

/// The volumes of the bodies of requests inside a world.
fn volumes(requests: &str) -> Vec<Volume> {
    // A large image, so that quadrics are diced finely.
    let head = "Format 1600 1200 1 Projection \"perspective\" \"fov\" [40] Translate 0 0 5 WorldBegin\n";
    let text = format!("{head}{requests}\nWorldEnd");
    let mut sources = SourceMap::new();
    let opened = open_bytes("test.rib", text.into_bytes(), &OpenOptions::default(), &mut sources);
    let scene = opened.unwrap_or_else(|errors| panic!("{}", errors.render(&sources))).scene;
    let measured = bodies(&scene).into_iter().map(|body| measure(&body, &scene, &Axis::ALL, 4096).unwrap());
    measured.collect()
}

/// The volume of the only body of requests, which is closed, with both numbers near to the expected
/// one.
fn check(requests: &str, expected: f64, tolerance: f64) {
    let found = volumes(requests);
    let [volume] = found.as_slice() else { panic!("{requests}: {} bodies", found.len()) };
    assert!(volume.is_closed(), "{requests}: {volume:?}");
    let exact = volume.exact.unwrap();
    assert!((exact - expected).abs() < tolerance * expected, "{requests}: exactly {exact}, not {expected}");
    let estimate = volume.estimate;
    assert!((estimate - exact).abs() < 4e-3 * exact, "{requests}: by rays {estimate}, not {exact}");
    assert!((estimate - exact).abs() < volume.error.unwrap() + 1e-5 * exact, "{requests}: {volume:?}");
}

#[test]
fn a_sphere_and_a_torus_have_the_volumes_of_their_closed_forms() {
    check("Sphere 1 -1 1 360", 4.0 / 3.0 * PI, 1e-3);
    check("Scale 1 2 3 Sphere 1 -1 1 360", 8.0 * PI, 1e-3);
    check("Torus 1 0.25 0 360 360", 2.0 * PI * PI / 16.0, 2e-3);
}

#[test]
fn rays_find_the_volume_of_a_cube_to_rounding() {
    check(CUBE, 8.0, 1e-6);
    let volume = &volumes(CUBE)[0];
    assert!((volume.estimate - 8.0).abs() < 1e-4, "{volume:?}");
    assert_eq!(volume.rasters.len(), 3);
}

#[test]
fn a_mesh_that_faces_inward_encloses_as_much() {
    check(&format!("Orientation \"inside\" {CUBE}"), 8.0, 1e-6);
    check(&format!("Scale -1 1 1 {CUBE}"), 8.0, 1e-6);
}

#[test]
fn the_pieces_of_a_drilled_cube_enclose_one_volume() {
    let drilled = solid("difference", &(solid("primitive", CUBE) + &solid("primitive", ROD)));
    check(&drilled, 8.0 - 2.0 * PI * 0.25, 1e-3);
}

#[test]
fn a_ball_within_another_is_a_cavity_and_a_ball_within_that_is_full() {
    let ball = |radius: f64| solid("primitive", &format!("Sphere {radius} -{radius} {radius} 360"));
    let hollow = solid("difference", &(ball(1.0) + &ball(0.8)));
    check(&hollow, 4.0 / 3.0 * PI * (1.0 - 0.512), 3e-3);
    check(&solid("union", &(hollow + &ball(0.5))), 4.0 / 3.0 * PI * (1.0 - 0.512 + 0.125), 3e-3);
}

#[test]
fn faces_of_negative_volume_make_a_hole_in_a_mesh() {
    // One mesh of a cube, and of a smaller one whose faces face in.
    let faces = "0 3 2 1 4 5 6 7 0 1 5 4 2 3 7 6 1 2 6 5 0 4 7 3 8 9 10 11 12 15 14 13 8 12 13 9 10 14 15 11 9 13 14 10 8 11 15 12";
    let corners = |s: f64| {
        format!(
            "-{s} -{s} -{s} {s} -{s} -{s} {s} {s} -{s} -{s} {s} -{s} -{s} -{s} {s} {s} -{s} {s} {s} {s} {s} -{s} {s} {s}"
        )
    };
    let mesh = format!("PointsPolygons [{}] [{faces}] \"P\" [{} {}]", "4 ".repeat(12), corners(1.0), corners(0.5));
    check(&mesh, 7.0, 1e-5);
}

#[test]
fn overlaps_count_once_by_rays_and_twice_by_the_divergence_theorem() {
    let faces = "0 3 2 1 4 5 6 7 0 1 5 4 2 3 7 6 1 2 6 5 0 4 7 3 8 11 10 9 12 13 14 15 8 9 13 12 10 11 15 14 9 10 14 13 8 12 15 11";
    let corners = |x: f64| format!("{x} 0 0 {0} 0 0 {0} 2 0 {x} 2 0 {x} 0 2 {0} 0 2 {0} 2 2 {x} 2 2", x + 2.0);
    let mesh = format!("PointsPolygons [{}] [{faces}] \"P\" [{} {}]", "4 ".repeat(12), corners(0.0), corners(1.0));
    let volume = &volumes(&mesh)[0];
    assert!((volume.exact.unwrap() - 16.0).abs() < 1e-5, "{volume:?}");
    assert!((volume.estimate - 12.0).abs() < 0.05, "{volume:?}");
}

#[test]
fn a_surface_with_a_hole_is_not_closed() {
    let found = volumes("Cylinder 0.5 -1 1 360");
    assert!(!found[0].is_closed() && found[0].open_edges > 0 && found[0].exact.is_none(), "{:?}", found[0]);
    // Rays along the axis meet nothing, those across it pass both walls.
    assert!(found[0].rasters[2].volume == 0.0);
}

#[test]
fn solids_are_bodies_of_their_pieces_and_instances_of_their_own() {
    let drilled = solid("difference", &(solid("primitive", CUBE) + &solid("primitive", ROD)));
    let retained =
        format!("ObjectBegin 1 {CUBE} ObjectEnd AttributeBegin Scale 0.5 0.5 0.5 ObjectInstance 1 AttributeEnd");
    let found =
        volumes(&format!("{drilled} {retained} Attribute \"identifier\" \"name\" [\"ball\"] Sphere 1 -1 1 360"));
    let names: Vec<&str> = found.iter().map(|volume| volume.name.as_str()).collect();
    assert_eq!(names, ["solid 1 (PointsPolygons, Cylinder)", "ObjectInstance", "ball"]);
    assert!((found[1].exact.unwrap() - 1.0).abs() < 1e-6);
}
