//! Baking: what one frame writes with `bake3d` and `bake`, the next reads with `texture3d` and
//! `texture`, on both back ends.

use crate::common::{shadewright, stderr};
use glam::Vec3;
use shadewright::image::Image;
use shadewright::image::file;
use shadewright::pointcloud::{Channel, ChannelType, Point, PointCloud, ply};
use std::fs;
use std::path::{Path, PathBuf};

/// The back ends.
const BACKENDS: [&str; 2] = ["rpu", "gpu"];

fn folder() -> PathBuf {
    crate::common::repository("tests/baking")
}

/// Renders a scene of the folder into `dir`, and gives its frames.
fn frames(scene: &str, dir: &Path, more: &[&str]) -> [Image; 2] {
    let out = dir.join("out.exr");
    let args = ["render", scene, "-o", out.to_str().expect("a path")];
    let output = shadewright(&folder(), &[&args, more].concat());
    assert_eq!(output.status.code(), Some(0), "{scene}: {}", stderr(&output));
    ["out.0001.exr", "out.0002.exr"].map(|name| file::read(&dir.join(name)).unwrap_or_else(|e| panic!("{e}")))
}

/// The root of the mean square of the differences, and the largest one away from edges: where the
/// pixels around are covered, too.
fn differences(a: &Image, b: &Image) -> (f32, f32) {
    let (width, height) = (a.width as usize, a.height as usize);
    let (mut squares, mut largest) = (0.0f32, 0.0f32);
    for (at, (x, y)) in a.rgba.iter().zip(&b.rgba).enumerate() {
        let differs = (0..3).map(|c| (x[c] - y[c]).abs()).fold(0.0, f32::max);
        squares += differs * differs;
        let (column, row) = (at % width, at / width);
        let around = |dx: usize, dy: usize| (column + dx).checked_sub(1).zip((row + dy).checked_sub(1));
        let covered = (0..9).all(|i| {
            let Some((x, y)) = around(i % 3, i / 3).filter(|&(x, y)| x < width && y < height) else { return false };
            a.rgba[y * width + x][3] == 1.0
        });
        if covered {
            largest = largest.max(differs);
        }
    }
    ((squares / (width * height) as f32).sqrt(), largest)
}

#[test]
fn what_a_frame_bakes_into_a_point_cloud_the_next_one_reads() {
    for backend in BACKENDS {
        let dir = tempfile::tempdir().expect("a folder");
        let [direct, read] = frames("cloud.rib", dir.path(), &["--backend", backend]);
        let (error, largest) = differences(&direct, &read);
        // Measured: an error of 0.012 to 0.016, and 0.21 at the most, at the sphere's edge before the
        // plane.
        assert!(error < 0.02 && largest < 0.25, "{backend}: {error} {largest}");
        let cloud = PointCloud::decode(&fs::read(dir.path().join("cloud.ptc")).expect("a file")).expect("a cloud");
        let names: Vec<&str> = cloud.channels.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["_pattern", "_height"], "the list of channels counts");
        for (number, point) in cloud.points.iter().enumerate() {
            assert_eq!(cloud.values_of(number)[3], point.position[1]);
            assert!(point.radius > 0.0 && point.radius < 0.2);
        }
    }
}

#[test]
fn what_a_frame_bakes_into_a_texture_the_next_one_shows() {
    for backend in BACKENDS {
        let dir = tempfile::tempdir().expect("a folder");
        let [direct, read] = frames("texture.rib", dir.path(), &["--backend", backend]);
        let (error, largest) = differences(&direct, &read);
        assert!(error < 0.01 && largest < 0.05, "{backend}: {error} {largest}");
        assert!(fs::read_to_string(dir.path().join("map.bake")).expect("a text").starts_with("# s t value\n"));
    }
}

#[test]
fn occlusion_is_that_of_a_point_cloud_where_it_has_it() {
    for backend in BACKENDS {
        let dir = tempfile::tempdir().expect("a folder");
        let [direct, read] = frames("occlusion.rib", dir.path(), &["--backend", backend]);
        let (error, largest) = differences(&direct, &read);
        assert!(error < 0.01 && largest < 1e-5, "{backend}: {error} {largest}");
    }
}

#[test]
fn the_files_are_the_same_at_any_number_of_threads_and_nearly_so_on_both_back_ends() {
    let bytes = |more: &[&str]| {
        let dir = tempfile::tempdir().expect("a folder");
        frames("cloud.rib", dir.path(), more);
        fs::read(dir.path().join("cloud.ptc")).expect("a file")
    };
    let one = bytes(&["--backend", "rpu", "--threads", "1"]);
    assert!(one == bytes(&["--backend", "rpu", "--threads", "2"]), "the bytes differ");
    let [rpu, gpu] = [one, bytes(&["--backend", "gpu"])].map(|b| PointCloud::decode(&b).expect("a cloud"));
    assert_eq!(rpu.points.len(), gpu.points.len());
    let furthest = rpu.values.iter().zip(&gpu.values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(furthest < 1e-4, "{furthest}");
}

#[test]
fn a_scene_of_its_own_reads_the_files_beside_it() {
    let dir = tempfile::tempdir().expect("a folder");
    for name in ["reads.sl", "bakes.sl", "cloud.rib"] {
        fs::copy(folder().join(name), dir.path().join(name)).expect("a copy");
    }
    let render = |frame: &str| {
        let args = ["render", "cloud.rib", "-o", "out.exr", "--backend", "rpu", "--frames", frame];
        let output = shadewright(dir.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    let missing = render("2");
    assert!(missing.contains("there is no point cloud `cloud.ptc`: no point is found"), "{missing}");
    let written = render("1");
    assert!(written.contains("wrote ./cloud.ptc, "), "{written}");
    let read = render("2");
    assert!(!read.contains("warning"), "{read}");
    // A file of PRMan is neither read nor replaced.
    fs::write(dir.path().join("cloud.ptc"), [0x89, 0x50, 0, 1, 2, 3]).expect("a file");
    let foreign = render("2");
    assert!(foreign.contains("the binary point clouds of PRMan have no published format"), "{foreign}");
    let kept = render("1");
    assert!(kept.contains("`cloud.ptc`") && kept.contains("is no file that a scene baked"), "{kept}");
    assert_eq!(fs::read(dir.path().join("cloud.ptc")).expect("a file").len(), 6);
}

/// Points in a flat box, with a number and a color each.
fn points(count: u32) -> PointCloud {
    let channel = |name: &str, ty| Channel { name: name.to_string(), ty };
    let channels = vec![channel("_tint", ChannelType::Color), channel("_id", ChannelType::Float)];
    let mut cloud = PointCloud { channels, ..PointCloud::default() };
    for i in 0..count {
        // A lattice of irrational steps, from -1 to 1.
        let random = |k: u32| {
            let root = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0_f64][k as usize].sqrt();
            (2.0 * (f64::from(i) * root).fract() - 1.0) as f32
        };
        let position = [random(0), random(1), 0.2 * random(2)];
        let normal = Vec3::new(random(3), random(4), random(5)).normalize_or(Vec3::X).to_array();
        cloud.push(Point { position, normal, radius: 0.03 + 0.02 * random(6) }, &[random(7), 0.0, 0.0, i as f32]);
    }
    cloud
}

/// The settings of a row of `gathers.sl`.
struct Asked {
    cone: Option<(Vec3, f32)>,
    limit: fn(f32) -> f32,
    count: usize,
    is_kept: fn(f32) -> bool,
}

/// The pixel that the shader shows of the points around a place.
fn gathered(cloud: &PointCloud, place: Vec3, asked: &Asked) -> [f32; 3] {
    let offset = |i: usize| Vec3::from(cloud.points[i].position) - place;
    let is_near = |&i: &usize| {
        let (d, radius) = (offset(i), cloud.points[i].radius);
        let is_inside = asked.cone.is_none_or(|(axis, angle)| {
            // The distance from the cone, of which the sphere may touch a side or the apex.
            let off = d.angle_between(axis) - angle;
            off <= 0.0
                || if off < std::f32::consts::FRAC_PI_2 {
                    d.length() * off.sin() <= radius
                } else {
                    d.length() <= radius
                }
        });
        is_inside && d.length() <= (asked.limit)(radius)
    };
    let mut near: Vec<usize> = (0..cloud.points.len()).filter(is_near).collect();
    near.sort_by(|&a, &b| offset(a).length_squared().total_cmp(&offset(b).length_squared()));
    near.retain(|&i| (asked.is_kept)(cloud.values_of(i)[3]));
    near.truncate(asked.count);
    let (mut order, mut others) = (0.0, 0.0);
    for &i in &near {
        let point = cloud.points[i];
        order = (3.0 * order + cloud.values_of(i)[3]) % 61.0;
        others += offset(i).length() + cloud.values_of(i)[0] + point.normal[1] + point.radius;
    }
    [order, near.len() as f32, others / near.len().max(1) as f32]
}

#[test]
fn gather_loops_over_the_points_of_a_cloud_nearest_first() {
    let dir = tempfile::tempdir().expect("a folder");
    for name in ["gathers.sl", "gathers.rib"] {
        fs::copy(folder().join(name), dir.path().join(name)).expect("a copy");
    }
    let cloud = points(700);
    fs::write(dir.path().join("points.ply"), ply::encode(&cloud)).expect("a file");
    let all = |_: f32| true;
    let rows = [
        Asked { cone: Some((Vec3::Y, std::f32::consts::FRAC_PI_2)), limit: |r| 5.0 * r, count: 4, is_kept: all },
        Asked { cone: None, limit: |r| 0.25 + r, count: 40, is_kept: all },
        Asked { cone: None, limit: |_| 0.2, count: 1000, is_kept: all },
        Asked { cone: None, limit: |_| -1.0, count: 0, is_kept: all },
        Asked { cone: Some((Vec3::X, 0.5)), limit: |r| 0.5 + r, count: 20, is_kept: all },
        Asked { cone: None, limit: |r| 1.0 + r, count: 30, is_kept: |id| id % 2.0 == 0.0 },
        Asked { cone: None, limit: |_| -1.0, count: 0, is_kept: all },
        Asked { cone: None, limit: |_| 0.4, count: 1000, is_kept: all },
    ];
    for backend in BACKENDS {
        let output = shadewright(dir.path(), &["render", "gathers.rib", "-o", "out.exr", "--backend", backend]);
        assert_eq!(output.status.code(), Some(0), "{backend}: {}", stderr(&output));
        let image = file::read(&dir.path().join("out.exr")).expect("an image");
        for (row, asked) in rows.iter().enumerate() {
            for column in 0..8 {
                let place = Vec3::new(column as f32 / 4.0 - 0.9, 0.05, 0.02);
                let mut expected = gathered(&cloud, place, asked);
                match row {
                    3 => expected[2] = 2.0,
                    6 => expected[2] = 3.0,
                    _ => assert!(expected[1] > 0.0 || column > 4, "row {row}, column {column}: no point is near"),
                }
                // The camera looks along -z: its x runs against that of the world.
                let pixel = image.rgba[(7 - row) * 8 + 7 - column];
                let is_close = (0..3).all(|i| (pixel[i] - expected[i]).abs() <= if i < 2 { 0.0 } else { 2e-3 });
                assert!(is_close, "{backend}, row {row}, column {column}: {pixel:?}, expected {expected:?}");
            }
        }
    }
}
