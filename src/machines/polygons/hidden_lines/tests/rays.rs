//! Hidden parts against rays: points of each line, and a ray from the eye to each of them past all
//! polygons of the model in world space. Nothing of the hardware is used but its lines.

use super::super::config::Config;
use super::super::host::{Host, Line};
use super::super::scenes::{Quad, cube, cubes, loose, model, roof, sphere};
use super::super::visibility::{Part, evaluate, visible};
use crate::polygons::model::{Model, Polygon, View};
use glam::{DVec3, Mat4, Vec3};

/// Points of each line.
const POINTS: u32 = 50;

/// True if a polygon is between the eye and a point, and within the volume.
fn is_between(polygon: &Polygon, eye: DVec3, point: DVec3) -> bool {
    let corners: Vec<DVec3> = polygon.corners().iter().map(|c| c.as_dvec3()).collect();
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    let direction = point - eye;
    let t = normal.dot(corners[0] - eye) / normal.dot(direction);
    // Points of a polygon are not behind it, though its corners are rounded; the volume begins at a depth of 0.5.
    let is_in_plane = normal.dot(point - corners[0]).abs() < 1e-5 * normal.length();
    if is_in_plane || !(t > 0.0 && t < 1.0 && t * direction.z > 0.5) {
        return false;
    }
    let hit = eye + t * direction;
    let around = corners.iter().zip(corners.iter().cycle().skip(1));
    let sides: Vec<f64> = around.map(|(&a, &b)| normal.dot((b - a).cross(hit - a))).collect();
    sides.iter().all(|&side| side >= 0.0)
}

/// Points that were compared, and those that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Compared {
    points: u64,
    hidden: u64,
    wrong: u64,
}

/// Compares hidden parts with rays, at points that are at least `margin` pixels from the ends of parts.
fn compare(model: &Model, host: &Host, parts: &[Vec<Part>], margin: f64) -> Compared {
    let from_clip = model.view.to_clip.as_dmat4().inverse();
    let eye = model.view.eye.as_dvec3();
    let mut compared = Compared::default();
    for (line, parts) in host.lines.iter().zip(parts) {
        let [from, to] = line.ends;
        let length = (to - from).truncate().length() * 100.0;
        for k in 0..POINTS {
            let t = (f64::from(k) + 0.5) / f64::from(POINTS);
            let is_near = |end: f64| (t - end).abs() * length < margin;
            if is_near(0.0) || is_near(1.0) || parts.iter().flatten().any(|&end| is_near(end)) {
                continue;
            }
            let point = from_clip.project_point3(from.lerp(to, t));
            let is_hidden = model.polygons.iter().any(|polygon| is_between(polygon, eye, point));
            let found = parts.iter().any(|part| part[0] <= t && t <= part[1]);
            compared.points += 1;
            compared.hidden += u64::from(is_hidden);
            compared.wrong += u64::from(found != is_hidden);
        }
    }
    compared
}

fn compared(quads: &[(u32, Quad)], text: &str, margin: f64) -> Compared {
    let config = Config::parse(text).expect("a configuration");
    let model = model(quads);
    let host = Host::new(&model, &config).expect("a small scene");
    let parts = evaluate(&host.segments, &host.planes, host.space.format, &|_| ());
    compare(&model, &host, &parts, margin)
}

/// Loose polygons, large and small, and cubes.
fn scenes() -> Vec<Vec<(u32, Quad)>> {
    let mut scenes: Vec<Vec<(u32, Quad)>> = Vec::new();
    for seed in 0..3 {
        scenes.push(loose(100, 3.0, seed));
        scenes.push(loose(25, 12.0, 100 + seed));
        scenes.push(cubes(30, 1.2, 200 + seed));
    }
    scenes
}

#[test]
fn no_point_away_from_the_ends_of_parts_is_wrong() {
    let mut all = Compared::default();
    for quads in scenes() {
        let one = compared(&quads, "[drawing]\nedges = \"all\"", 0.05);
        assert_eq!(one.wrong, 0, "{one:?}");
        all.points += one.points;
        all.hidden += one.hidden;
    }
    assert!(all.points > 100_000 && all.hidden > all.points / 4, "{all:?}");
}

#[test]
fn a_sixteenth_of_a_pixel_is_what_sixteen_bits_cost() {
    let mut all = Compared::default();
    for quads in scenes() {
        let one = compared(&quads, "[numbers]\nbits = 16", 0.0625);
        all.points += one.points;
        all.wrong += one.wrong;
    }
    assert!(all.wrong * 2000 < all.points, "{all:?}");
}

#[test]
fn faces_do_not_hide_the_edges_of_their_neighbors() {
    for bits in [0, 16] {
        let text = format!("[drawing]\nedges = \"all\"\n[numbers]\nbits = {bits}");
        for quads in [roof(0.5), roof(0.01), cube(0, [0.3, 0.4, 4.0], 1.0)] {
            let one = compared(&quads, &text, 0.05);
            assert_eq!(one.wrong, 0, "{bits} bits: {one:?}");
        }
    }
}

/// The length in pixels of what is visible of a model's lines.
fn visible_length(model: &Model, text: &str) -> f64 {
    let config = Config::parse(text).expect("a configuration");
    let host = Host::new(model, &config).expect("a small scene");
    let parts = evaluate(&host.segments, &host.planes, host.space.format, &|_| ());
    let length = |(line, parts): (&Line, &Vec<Part>)| {
        let share: f64 = visible(parts).map(|part| part[1] - part[0]).sum();
        100.0 * (line.ends[1] - line.ends[0]).truncate().length() * share
    };
    host.lines.iter().zip(&parts).map(length).sum()
}

#[test]
fn the_outline_of_a_sphere_is_whole() {
    // A circle of about a quarter in the plane at a distance of 1, 100 pixels wide.
    let sphere = model(&sphere(48));
    let exact = visible_length(&sphere, "");
    let sixteen = visible_length(&sphere, "[numbers]\nbits = 16");
    let expected = std::f64::consts::TAU * 100.0 / 4.0;
    assert!((0.99..1.12).contains(&(exact / expected)), "{exact} {expected}");
    assert!((sixteen - exact).abs() < 0.5, "{sixteen} {exact}");
}

#[test]
fn the_outline_of_a_sphere_in_a_parallel_projection_is_its_circumference() {
    let mut sphere = model(&sphere(96));
    // Four units wide, from 1 to 9 away: 50 pixels a unit.
    let to_clip = Mat4::from_scale(Vec3::new(0.5, 0.5, 0.125)) * Mat4::from_translation(Vec3::new(0.0, 0.0, -1.0));
    sphere.view = View { to_clip, eye: Vec3::new(0.0, 0.0, -1e6), ..sphere.view };
    let expected = std::f64::consts::TAU * 50.0;
    for bits in [0, 16] {
        let length = visible_length(&sphere, &format!("[numbers]\nbits = {bits}"));
        assert!((0.99..1.12).contains(&(length / expected)), "{bits} bits: {length} {expected}");
    }
}
