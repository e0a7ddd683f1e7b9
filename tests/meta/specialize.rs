//! Tests of the benchmark of specialized programs: its interiors, its report, its page.

#[path = "../../benches/specialize/interiors/mod.rs"]
mod interiors;
#[path = "../../benches/specialize/report/mod.rs"]
mod report;

use super::common;
use clap::Parser;
use interiors::material::Material;
use interiors::{INTERIORS, Room, textures, write};
use report::{shading, tables};
use serde_json::{Value, json};
use shadewright::scene::{OpenOptions, open};
use shadewright::text::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Most triangles of a room.
const MOST_TRIANGLES: usize = 60_000;

/// The command line of the benchmark.
#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    options: report::ReportOptions,
    #[command(flatten)]
    common: common::Common,
}

/// The report of the benchmark with these arguments, or its error.
fn measured(args: &[&str]) -> Result<Value, String> {
    let line = Line::try_parse_from([&["specialize"], args].concat()).map_err(|e| e.to_string())?;
    report::run(&line.options, line.common.json).map_err(|e| e.to_string())
}

/// The report with the fewest frames.
fn least(args: &[&str]) -> Value {
    let least = ["--json", "--runs", "1", "--spp", "1", "--size", "8x6", "--batch", "4096"];
    measured(&[&least, args].concat()).expect("it is measured")
}

/// All files below a folder, with their bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).expect("a readable file"));
        }
    }
    found
}

#[test]
fn rooms_have_as_many_materials_as_the_table_says() {
    for interior in INTERIORS {
        let room = (interior.build)();
        assert_eq!(room.materials.len(), interior.materials, "{}", interior.name);
        let used: BTreeSet<_> = room.parts.iter().map(|part| part.material).collect();
        assert_eq!(used.len(), interior.materials, "{}: a material without a part", interior.name);
        let distinct: BTreeSet<_> = room.materials.iter().map(Material::to_string).collect();
        assert_eq!(distinct.len(), interior.materials, "{}: two materials are the same", interior.name);
    }
}

#[test]
fn a_room_has_the_same_bytes_every_time() {
    let room = INTERIORS.iter().find(|interior| interior.name == "dining-room").expect("a room");
    let written = || {
        let folder = tempfile::tempdir().expect("a folder");
        write(room, folder.path()).expect("the folder can be written");
        let relative = |path: &Path| path.strip_prefix(folder.path()).expect("it lies there").to_path_buf();
        files(folder.path()).into_iter().map(|(path, bytes)| (relative(&path), bytes)).collect::<Vec<_>>()
    };
    let first = written();
    assert!(first.len() > 5);
    assert!(first == written());
}

#[test]
fn every_image_is_read_by_some_room() {
    let rooms: Vec<Room> = INTERIORS.iter().map(|interior| (interior.build)()).collect();
    let read: Vec<&str> = rooms.iter().flat_map(|room| room.materials.iter().flat_map(Material::images)).collect();
    for texture in textures::TEXTURES {
        assert!(read.contains(&texture.name), "{}", texture.name);
    }
}

#[test]
fn every_image_has_more_than_one_color_and_the_same_texels_every_time() {
    for texture in textures::TEXTURES {
        let image = textures::image(texture.name).expect("it is in the table");
        assert!(image.rgba.iter().any(|c| *c != image.rgba[0]), "{}", texture.name);
        assert!(image.rgba.iter().flatten().all(|c| (0.0..=1.0).contains(c)), "{}", texture.name);
        assert_eq!(Some(image), textures::image(texture.name));
    }
    assert_eq!(textures::image("no such image"), None);
}

#[test]
fn interiors_are_written_and_link_without_a_message_and_have_few_triangles() {
    let folder = tempfile::tempdir().expect("a folder");
    let rooms = folder.path().join("rooms");
    let written = measured(&["--write", &rooms.to_string_lossy()]).expect("they are written");
    let paths: Vec<&str> = written.as_array().expect("paths").iter().filter_map(Value::as_str).collect();
    assert_eq!(paths.len(), INTERIORS.len());
    for path in paths {
        let job = common::scene_job(Path::new(path), (32, 24)).expect(path);
        assert!(job.program.diagnostics.is_empty(), "{}", job.program.diagnostics.render(&job.program.sources));
        let mut sources = SourceMap::new();
        let opened = open(Path::new(path), &OpenOptions::default(), &mut sources).expect(path);
        assert!(opened.diagnostics.is_empty(), "{path}: {}", opened.diagnostics.render(&sources));
        let triangles = opened.scene.triangle_count();
        assert!((1_000..MOST_TRIANGLES).contains(&triangles), "{path}: {triangles}");
    }
}

#[test]
fn specialized_programs_are_measured_on_an_engine_with_a_page_of_plots() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page");
    let scene = ["--scene", "bedroom", "--backend", "interpreter", "--specialize", "types", "--specialize", "all"];
    let report = least(&[&scene[..], &["--out", &page.to_string_lossy()]].concat());
    assert_eq!(report["modes"], json!(["types", "all"]));
    let scene = &report["scenes"][0];
    assert_eq!((scene["scene"].as_str(), scene["materials"].as_u64()), (Some("bedroom"), Some(1)), "{scene:#}");
    assert!(
        scene["frames"]
            .as_array()
            .is_some_and(|frames| frames.len() == 2 && frames.iter().all(|f| f["ms"].is_number()))
    );
    assert!(scene["specialized"]["blocks"].is_number() && scene["sorted"]["types"].is_null(), "{scene:#}");
    let batches = report["shading"].as_array().expect("a list");
    assert!(
        batches.len() == 2
            && batches.iter().all(|batch| batch["cases"].as_array().is_some_and(|cases| cases.len() == 6))
    );
    let costs = report["compile"].as_array().expect("a list");
    assert_eq!(costs.len(), 2);
    let size = |cost: &Value| cost["rpu_instructions"].as_u64();
    assert!(costs.iter().all(|cost| cost["total_ms"].is_number() && size(cost) > Some(0)), "{costs:#?}");
    assert!(size(&costs[1]) < size(&costs[0]), "{costs:#?}");
    let text = fs::read_to_string(page.join("index.html")).expect("a page");
    assert!(text.contains("<svg ") && text.contains("bedroom") && text.ends_with("</html>\n"));
    for plot in ["specialized", "frames-interpreter", "shading-interpreter-4096", "compile-time", "code-size"] {
        let svg = fs::read_to_string(page.join(format!("{plot}.svg"))).expect(plot);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{plot}");
    }
}

#[test]
fn a_gpu_has_an_order_besides() {
    let scene = ["--scene", "bedroom", "--backend", "gpu", "--only", "scenes", "--specialize", "types"];
    let report = least(&[&scene[..], &["--megakernel-sections", "0"]].concat());
    let scene = &report["scenes"][0];
    assert!(scene["sorted"]["types"].is_number() && scene["wavefront"]["types"].is_null(), "{scene:#}");
    assert!(scene["sections"]["types"].as_u64() > Some(0), "{scene:#}");
    assert_eq!(report["compile"], json!([]));
}

#[test]
fn wrong_names_are_refused_with_those_that_there_are() {
    let wrong = [
        (["--scene", "cellar"], "there are bedroom, staircase"),
        (["--backend", "abacus"], "interpreter"),
        (["--specialize", "everything"], "types"),
        (["--size", "0x5"], "at least one pixel"),
    ];
    for (args, hint) in wrong {
        let message = measured(&args).expect_err("it is wrong");
        assert!(message.contains(hint), "{message}");
    }
}

#[test]
fn each_case_has_a_quarter_of_the_quads() {
    let side = shading::SIDE;
    for layout in [5, 6] {
        let mut counts = [0u32; 4];
        (0..side * side).for_each(|k| {
            let case = shading::case(layout, k % side, k / side).expect("a case of the shader");
            counts[case as usize] += 1;
        });
        assert!(counts.iter().all(|n| *n == side * side / 4), "{layout}: {counts:?}");
    }
    assert_eq!(shading::case(0, 3, 4), None);
    assert_eq!([1, 2, 3, 4].map(|layout| shading::case(layout, 5, 6)), [Some(0), Some(1), Some(2), Some(3)]);
}

#[test]
fn sorted_quads_have_the_case_of_their_quarter() {
    let corners = [(0, 0), (63, 0), (0, 63), (63, 63)].map(|(i, j)| shading::case(5, i, j));
    assert_eq!(corners, [Some(0), Some(1), Some(2), Some(3)]);
}

#[test]
fn means_are_geometric_and_leave_out_what_is_missing() {
    assert_eq!(tables::mean([0.5, 2.0].into_iter()), Some(1.0));
    assert_eq!(tables::mean(std::iter::empty()), None);
}

#[test]
fn cells_have_dashes_where_there_is_nothing() {
    use tables::{number, ratio};
    assert_eq!((ratio(&json!(1.254)), ratio(&Value::Null)), ("1.25x".to_string(), "-".to_string()));
    assert_eq!(
        (number(&json!(12)), number(&json!(1.26)), number(&Value::Null)),
        ("12".into(), "1.3".into(), "-".into())
    );
}

/// Meshes of the furniture.
mod meshes {
    use super::interiors::mesh::{Mesh, ball, blanket, block, curtain, cushion, cylinder, rod, sheet, vessel};
    use glam::Vec3;

    fn shapes() -> [Mesh; 8] {
        [
            block(1.0, 2.0, 3.0),
            cushion(0.5, 0.2, 0.5),
            cylinder(0.1, 1.0),
            ball(0.3),
            vessel(0.3, |t| 0.1 + 0.05 * t),
            curtain(2.0, 2.0, 9.0, 0.05),
            rod([0.0, 0.0, 0.0], [1.0, 1.0, 0.0], 0.02),
            blanket(1.6, 2.0, 0.5, 0.3),
        ]
    }

    #[test]
    fn every_vertex_has_a_position_a_unit_normal_and_a_place() {
        for mesh in shapes() {
            assert_eq!(mesh.points.len(), mesh.normals.len());
            assert_eq!(mesh.points.len(), mesh.places.len());
            assert!(mesh.points.iter().all(|p| p.is_finite()));
            assert!(mesh.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3));
            assert!(mesh.faces.iter().flatten().all(|&i| (i as usize) < mesh.points.len()));
        }
    }

    #[test]
    fn faces_are_wound_about_the_normals_of_their_vertices() {
        // The last is a blanket, whose corners are folded.
        for (i, mesh) in shapes().into_iter().take(7).enumerate() {
            for face in &mesh.faces {
                let [a, b, c] = [0, 1, 2].map(|k| mesh.points[face[k] as usize]);
                let (winding, normal) = ((b - a).cross(c - b), mesh.normals[face[1] as usize]);
                assert!(winding.dot(normal) > 0.0, "shape {i}: {winding} {normal}");
            }
        }
    }

    #[test]
    fn a_sheet_faces_along_the_cross_product_of_its_sides() {
        let floor = sheet([0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]);
        assert_eq!(floor.normals[0], Vec3::NEG_Y);
        assert_eq!(floor.triangles(), 2);
    }

    #[test]
    fn a_box_stands_on_the_floor_with_normals_that_point_outwards() {
        let mesh = block(1.0, 2.0, 3.0);
        let middle = Vec3::new(0.0, 1.0, 0.0);
        assert!(mesh.points.iter().zip(&mesh.normals).all(|(p, n)| (*p - middle).dot(*n) > 0.0));
        assert_eq!(mesh.points.iter().map(|p| p.y).fold(f32::INFINITY, f32::min), 0.0);
    }
}
