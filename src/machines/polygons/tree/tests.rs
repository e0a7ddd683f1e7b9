//! Whole images, against an exact z-buffer of the same polygons and colors.

use super::config::Config;
use super::processors::instructions::Phase;
use super::simulate::{Simulation, TreeError, simulate};
use crate::polygons::model::{Light, Model, Polygon, View};
use crate::polygons::screen::{ScreenPolygon, screen_polygons};
use glam::{DVec3, Mat4, Vec3};
use shadewright_base::random::{hash, unit};

/// A perspective projection from 1 to 9 in front of the eye.
fn view(size: [u32; 2]) -> View {
    let scale = 9.0 / 8.0;
    let to_clip = Mat4::from_cols_array_2d(&[
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, scale, 1.0],
        [0.0, 0.0, -scale, 0.0],
    ]);
    View { to_clip, eye: Vec3::ZERO, size }
}

fn model(polygons: Vec<Polygon>, size: [u32; 2]) -> Model {
    Model {
        polygons,
        ambient: Vec3::splat(0.2),
        lights: vec![Light { direction: Vec3::new(0.0, 0.6, -0.8), color: Vec3::splat(0.7) }],
        view: view(size),
        background: Vec3::new(0.1, 0.2, 0.3),
        left_out: Vec::new(),
    }
}

/// Random triangles, some of which reach out of the visible volume, or through one another.
fn triangles(count: u32, extent: f32) -> Vec<Polygon> {
    let number = |k: u32, j: u32| unit(hash(k * 64 + j + 1));
    let point = |k: u32, j: u32| Vec3::from_array([0, 1, 2].map(|c| 2.0 * number(k, j + c) - 1.0));
    let triangle = |k: u32| {
        let depth = 1.5 + 6.0 * number(k, 0);
        let middle = Vec3::new(depth, depth, 1.0) * point(k, 1) * Vec3::new(1.0, 1.0, 0.0) + depth * Vec3::Z;
        let corners = [4, 7, 10].map(|j| middle + extent * point(k, j));
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
        let normal = if normal.dot(corners[0]) > 0.0 { -normal } else { normal };
        let color = |j: u32| Vec3::from_array([0, 1, 2].map(|c| number(k, j + c)));
        Polygon {
            corners: [corners[0], corners[1], corners[2], corners[2]],
            count: 3,
            normals: [normal; 4],
            reflectance: color(13),
            colors: [color(16), color(19), color(22), color(22)],
            object: k,
        }
    };
    (0..count).map(triangle).collect()
}

/// A surface of small quadrilaterals before a large one, that share their edges.
fn mesh(side: u32) -> Vec<Polygon> {
    let at = |i: u32, j: u32| {
        let [u, v] = [i, j].map(|k| 2.0 * k as f32 / side as f32 - 1.0);
        Vec3::new(2.0 * u, 2.0 * v, 2.5 + 0.4 * (u * v))
    };
    let color = |i: u32, j: u32| Vec3::new(i as f32 / side as f32, j as f32 / side as f32, 0.5);
    let quad = |k: u32| {
        let (i, j) = (k % side, k / side);
        let around = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
        Polygon {
            corners: around.map(|(i, j)| at(i, j)),
            count: 4,
            normals: [Vec3::NEG_Z; 4],
            reflectance: Vec3::ONE,
            colors: around.map(|(i, j)| color(i, j)),
            object: 0,
        }
    };
    (0..side * side).map(quad).collect()
}

fn run(model: &Model, text: &str) -> Simulation {
    let text = format!("{text}\n[study]\nsweep = false\ncapacity = false");
    simulate(model, &Config::parse(&text).expect("settings"), &|_| {}).expect("it fits")
}

/// The polygon's depth and color where a scan line of samples crosses it, as Gouraud shading has
/// it: along the edges, then along the line.
fn across(polygon: &ScreenPolygon, y: f64) -> Option<[(f64, f64, DVec3); 2]> {
    let around = polygon.vertices.iter().zip(polygon.vertices.iter().cycle().skip(1));
    let mut crossings: Vec<(f64, f64, DVec3)> = Vec::new();
    for (a, b) in around {
        let (from, to) = (a.position, b.position);
        if (from.y <= y) != (to.y <= y) {
            let t = (y - from.y) / (to.y - from.y);
            crossings.push((from.x + t * (to.x - from.x), from.z + t * (to.z - from.z), a.color.lerp(b.color, t)));
        }
    }
    crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some([*crossings.first()?, *crossings.last()?])
}

/// An exact z-buffer of a model's polygons.
fn reference(model: &Model) -> Vec<[f32; 3]> {
    let [width, height] = model.view.size;
    let mut image = vec![model.background.to_array(); (width * height) as usize];
    let mut depths = vec![f64::MAX; image.len()];
    for polygon in screen_polygons(model, |p, k| p.colors[k]) {
        for row in 0..height {
            let y = 1.0 - 2.0 * (f64::from(row) + 0.5) / f64::from(height);
            let Some([left, right]) = across(&polygon, y) else { continue };
            for column in 0..width {
                let x = 2.0 * (f64::from(column) + 0.5) / f64::from(width) - 1.0;
                if x < left.0 || x > right.0 {
                    continue;
                }
                let t = if right.0 > left.0 { (x - left.0) / (right.0 - left.0) } else { 0.0 };
                let z = left.1 + t * (right.1 - left.1);
                let at = (row * width + column) as usize;
                if z < depths[at] {
                    depths[at] = z;
                    image[at] = left.2.lerp(right.2, t).as_vec3().to_array();
                }
            }
        }
    }
    image
}

/// The root mean square difference, and the share of pixels without a similar one of the other
/// image within a pixel of them.
fn difference(found: &Simulation, expected: &[[f32; 3]]) -> (f64, f64) {
    let (width, height) = (found.image.width as i64, found.image.height as i64);
    let apart = |a: &[f32; 4], b: &[f32; 3]| (0..3).map(|c| f64::from(a[c] - b[c]).powi(2)).sum::<f64>() / 3.0;
    let mut sum = 0.0;
    let mut lonely = 0;
    for (at, pixel) in (0..).zip(&found.image.rgba) {
        sum += apart(pixel, &expected[at as usize]);
        let (x, y) = (at % width, at / width);
        let near = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (x + dx, y + dy)));
        let mut near = near.filter(|&(x, y)| (0..width).contains(&x) && (0..height).contains(&y));
        lonely += u32::from(!near.any(|(x, y)| apart(pixel, &expected[(y * width + x) as usize]) < 0.01));
    }
    let pixels = (width * height) as f64;
    ((sum / pixels).sqrt(), f64::from(lonely) / pixels)
}

/// The share of pixels that differ although the other image has no edge within a pixel of them.
fn wrong_inside(found: &Simulation, expected: &[[f32; 3]]) -> f64 {
    let (width, height) = (found.image.width as i64, found.image.height as i64);
    let apart = |a: &[f32], b: &[f32; 3]| (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
    let mut wrong = 0;
    for (x, y) in (1..height - 1).flat_map(|y| (1..width - 1).map(move |x| (x, y))) {
        let at = |dx: i64, dy: i64| &expected[((y + dy) * width + x + dx) as usize];
        let near = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        let is_inside = near.clone().all(|(dx, dy)| apart(at(dx, dy), at(0, 0)) < 0.04);
        let pixel = &found.image.rgba[(y * width + x) as usize];
        wrong += u32::from(is_inside && apart(pixel, at(0, 0)) > 0.04);
    }
    f64::from(wrong) / (width * height) as f64
}

#[test]
fn images_are_those_of_a_z_buffer_but_for_edges_within_a_pixel() {
    for split in [0, 2, 5] {
        let model = model(triangles(60, 1.6), [192, 160]);
        let found = run(&model, &format!("[tree]\nsplit = {split}"));
        let (rmse, lonely) = difference(&found, &reference(&model));
        assert!(lonely < 0.004, "{split} levels: {lonely} of the pixels are like none beside them");
        assert!(rmse < 0.05, "{split} levels: {rmse}");
        let inside = wrong_inside(&found, &reference(&model));
        assert!(inside < 0.001, "{split} levels: {inside} of the pixels are wrong and not at edges");
    }
}

#[test]
fn a_mesh_has_no_cracks() {
    let model = model(mesh(12), [200, 200]);
    let found = run(&model, "");
    let inside = |k: usize| (40..160).contains(&(k % 200)) && (40..160).contains(&(k / 200));
    let holes = (0..40_000).filter(|&k| inside(k) && found.image.rgba[k][3] < 1.0).count();
    assert_eq!(holes, 0);
    let (rmse, lonely) = difference(&found, &reference(&model));
    assert!(rmse < 0.03 && lonely < 1e-4, "{rmse} {lonely}");
}

#[test]
fn groups_give_the_image_of_one_tree() {
    let model = model(triangles(120, 1.0), [128, 128]);
    let one = run(&model, "");
    let many = run(&model, "[tree]\nleaves = 16");
    assert_eq!((one.groups.len(), many.groups.len()), (1, 8));
    assert!(many.stored > 0 && many.time() > one.time());
    let expected: Vec<[f32; 3]> = one.image.rgba.iter().map(|p| [p[0], p[1], p[2]]).collect();
    let (rmse, lonely) = difference(&many, &expected);
    assert!(rmse < 0.005 && lonely < 0.001, "{rmse} {lonely}");
}

#[test]
fn more_samples_bring_the_image_nearer_to_a_finer_one() {
    let fine = model(triangles(40, 1.6), [512, 512]);
    let exact = reference(&fine);
    // The mean of 8 by 8 exact samples.
    let coarse = |k: usize| {
        let (x, y) = (k % 64, k / 64);
        let of = |c: usize| (0..64).map(|s| exact[(8 * y + s / 8) * 512 + 8 * x + s % 8][c]).sum::<f32>() / 64.0;
        [of(0), of(1), of(2)]
    };
    let expected: Vec<[f32; 3]> = (0..64 * 64).map(coarse).collect();
    let model = model(triangles(40, 1.6), [64, 64]);
    let rmse = |samples: &str| difference(&run(&model, &format!("[image]\nsamples = {samples}")), &expected).0;
    let [plain, wide, both] = [rmse("[1, 1]"), rmse("[4, 1]"), rmse("[4, 4]")];
    assert!(wide < plain && both < 0.7 * wide, "{plain} {wide} {both}");
}

#[test]
fn hardware_lighting_is_that_of_the_host() {
    let mut model = model(triangles(50, 1.2), [96, 96]);
    let lit = run(&model, "[image]\nshading = \"hardware\"");
    let (ambient, lights) = (model.ambient, model.lights.clone());
    for polygon in &mut model.polygons {
        let light = |n: Vec3| lights.iter().fold(ambient, |sum, l| sum + l.color * n.dot(l.direction).max(0.0));
        polygon.colors = polygon.normals.map(|n| light(n) * polygon.reflectance);
    }
    let (rmse, _) = difference(&lit, &reference(&model));
    assert!(rmse < 0.05, "{rmse}");
    assert!(lit.program.count(Phase::Color) > run(&model, "").program.count(Phase::Color));
    // Constant normals: interpolated and lit at each pixel they give the same.
    let normals = run(&model, "[image]\nshading = \"hardware\"\n[segments]\nnormals = true");
    let expected: Vec<[f32; 3]> = lit.image.rgba.iter().map(|p| [p[0], p[1], p[2]]).collect();
    assert!(difference(&normals, &expected).0 < 0.01);
}

#[test]
fn normals_in_the_stream_find_a_highlight_between_the_corners() {
    let mut quad = mesh(1)[0];
    quad.normals = [[-0.8, 0.0], [0.8, 0.0], [0.8, 0.0], [-0.8, 0.0]].map(|[x, y]| Vec3::new(x, y, -0.6));
    let mut model = model(vec![quad], [64, 64]);
    model.lights[0].direction = Vec3::NEG_Z;
    let middle = |text: &str| run(&model, text).image.rgba[32 * 64 + 32][0];
    let gouraud = middle("[image]\nshading = \"hardware\"");
    let phong = middle("[image]\nshading = \"hardware\"\n[segments]\nnormals = true");
    assert!((gouraud - 0.62).abs() < 0.01, "{gouraud}");
    assert!((phong - 0.9).abs() < 0.01, "{phong}");
}

#[test]
fn texture_coordinates_are_clipped_and_interpolated_with_the_polygon() {
    let mut quad = mesh(1)[0];
    quad.corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| Vec3::new(x, y, 1.5) * 2.0);
    quad.colors = [Vec3::ONE; 4];
    let model = model(vec![quad], [240, 240]);
    let ramp = run(&model, "[segments]\ntexture = \"ramp\"");
    // The square covers the middle two thirds: u + v is 1 in the middle, 0 below left.
    let at = |x: usize, y: usize| ramp.image.rgba[y * 240 + x][0];
    assert!((at(120, 120) - 0.5).abs() < 0.02, "{}", at(120, 120));
    assert!(at(45, 195) < 0.06 && at(195, 45) > 0.94, "{} {}", at(45, 195), at(195, 45));
    let plain = run(&model, "");
    assert!(ramp.program.len() > plain.program.len());
    // A checker has squares of two brightnesses.
    let checker = run(&model, "[segments]\ntexture = \"checker\"");
    let values: Vec<u32> = (40..200).map(|x| (checker.image.rgba[118 * 240 + x][0] * 100.0) as u32).collect();
    assert_eq!(values.windows(2).filter(|p| p[0] != p[1]).count(), 7, "{values:?}");
}

#[test]
fn a_common_pipeline_leaves_no_leaf_idle_and_a_bucket_sort_needs_fewer() {
    let mut polygons = triangles(200, 0.4);
    // Half of them are behind the eye.
    for polygon in polygons.iter_mut().step_by(2) {
        polygon.corners = polygon.corners.map(|c| -c);
    }
    let model = model(polygons, [128, 128]);
    let array = run(&model, "");
    let pipeline = run(&model, "[front]\nkind = \"pipeline\"");
    let sorted = run(&model, "[front]\nkind = \"pipeline\"\nbucket-sort = true");
    assert!(array.used_leaves() < 0.5 && pipeline.used_leaves() == 1.0, "{}", array.used_leaves());
    assert_eq!(pipeline.polygons[0], array.polygons[1]);
    assert!(2 * sorted.shape.leaves < pipeline.shape.leaves, "{} {}", sorted.shape.leaves, pipeline.shape.leaves);
    for other in [&pipeline, &sorted] {
        let expected: Vec<[f32; 3]> = array.image.rgba.iter().map(|p| [p[0], p[1], p[2]]).collect();
        let (rmse, lonely) = difference(other, &expected);
        assert!(rmse < 0.005 && lonely < 0.001, "{rmse} {lonely}");
    }
}

#[test]
fn twelve_bits_of_depth_do_not_separate_what_sixteen_do() {
    let at = |z: f32, color: Vec3| {
        let mut quad = mesh(1)[0];
        quad.corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| Vec3::new(x * z, y * z, z));
        quad.colors = [color; 4];
        quad
    };
    let [near, far] = [at(5.0, Vec3::X), at(5.001, Vec3::Z)];
    let red = |polygons: Vec<Polygon>, bits: u32| {
        let found = run(&model(polygons, [8, 8]), &format!("[segments]\ndepth-bits = {bits}"));
        found.image.rgba.iter().all(|p| p[0] > 0.9)
    };
    assert!(red(vec![near, far], 16) && red(vec![far, near], 16));
    assert!(!red(vec![near, far], 12) || !red(vec![far, near], 12));
}

#[test]
fn culling_takes_the_polygons_of_one_orientation() {
    let model = model(triangles(100, 0.5), [64, 64]);
    let count = |cull: &str| run(&model, &format!("[front]\nkind = \"pipeline\"\ncull = \"{cull}\"")).polygons[0];
    let [all, left, right] = ["none", "clockwise", "counter-clockwise"].map(count);
    assert_eq!(left + right, all);
    assert!(left > 10 && right > 10);
}

#[test]
fn deeper_splits_miss_fewer_lines() {
    let model = model(triangles(500, 0.4), [256, 256]);
    let config = Config::parse("[display]\nrate = 60\n[study]\ncapacity = false").expect("settings");
    let simulation = simulate(&model, &config, &|_| {}).expect("it fits");
    let missed: Vec<u64> = simulation.sweep.iter().map(|s| s.summary.missed).collect();
    assert!(missed[0] > 100, "{missed:?}");
    assert!(missed[6] < missed[0] / 4, "{missed:?}");
}

#[test]
fn polygons_of_a_line_in_one_subtree_make_it_a_bottleneck() {
    // A mesh row by row: in the order of the scene, a line's polygons are side by side in the tree.
    let model = model(mesh(32), [64, 64]);
    let time = |spread: &str| run(&model, &format!("[display]\nrate = 900\n[tree]\nspread = \"{spread}\"")).time();
    let [order, random, cells] = ["order", "random", "cells"].map(time);
    assert!(3 * random < 2 * order && 3 * cells < 2 * order, "{order} {random} {cells}");
}

#[test]
fn pixel_converters_of_normals_have_more_to_do() {
    let of = |text: &str| super::shade::operations(&Config::parse(text).expect("settings"), 1);
    let normals = "[image]\nshading = \"hardware\"\n[segments]\nnormals = true";
    assert_eq!([of(""), of(normals), of("[segments]\ntexture = \"ramp\"")], [3, 26, 8]);
}

#[test]
fn a_report_has_all_sections_and_charts() {
    let model = model(triangles(30, 1.0), [32, 32]);
    let config = Config::default();
    let found = simulate(&model, &config, &|_| {}).expect("it fits");
    let report = super::report(&found, &model, &config);
    assert_eq!((report.sections.len(), report.charts.len()), (11, 3));
    let text = report.text();
    for part in ["perspective division", "scan converters", "intersecting", "missed lines", "4500 x 4200"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn nothing_to_show_is_the_background() {
    let found = run(&model(Vec::new(), [16, 8]), "");
    assert!(found.image.rgba.iter().all(|p| *p == [0.1, 0.2, 0.3, 1.0]));
    let behind = triangles(3, 0.1).into_iter().map(|p| Polygon { corners: p.corners.map(|c| -c), ..p });
    let found = run(&model(behind.collect(), [16, 8]), "");
    assert!(found.image.rgba.iter().all(|p| *p == [0.1, 0.2, 0.3, 1.0]));
}

#[test]
fn corners_that_are_no_numbers_and_images_too_large_do_no_harm() {
    let mut polygons = triangles(3, 1.0);
    polygons[0].corners[1] = Vec3::NAN;
    polygons[1].corners[2] = Vec3::splat(f32::INFINITY);
    polygons[2].colors[0] = Vec3::splat(f32::NAN);
    run(&model(polygons, [16, 16]), "");
    let large = simulate(&model(Vec::new(), [5000, 16]), &Config::default(), &|_| {});
    assert!(matches!(large, Err(TreeError::Size { .. })));
    let many = Config::parse("[image]\nsamples = [1, 16]").expect("settings");
    assert!(simulate(&model(Vec::new(), [16, 300]), &many, &|_| {}).is_err());
}
