//! The ray-tracing hardware as a user meets it: the command line, its reports, images and errors.

use crate::common::{repository, shadewright, stderr};
use serde_json::Value;
use shadewright::image::{Image, file as image_file};
use std::path::Path;

const CUBES: &str = "assets/machines/cubes-83.rib";
const MIRRORS: &str = "assets/scenes/mirrors.rib";

/// The report of a model as JSON.
fn report(scene: &str, model: &str, more: &[&str]) -> Value {
    let scene = repository(scene);
    let scene = scene.to_string_lossy();
    let fixed = ["simulate", &*scene, "--model", model, "--size", "24x24", "--json"];
    let output = shadewright(Path::new("."), &[&fixed, more].concat());
    assert!(output.status.success(), "{model}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn number(report: &Value, path: &str) -> f64 {
    let value = path.split('.').fold(report, |value, key| &value[key]);
    value.as_f64().unwrap_or_else(|| panic!("no `{path}` in {report}"))
}

#[test]
fn every_model_renders_the_image_of_the_rpu() {
    let models = ["rtp", "rtp-grid", "rtp-boxes", "rtp-octree", "rtp-bvh", "pipeline", "array"];
    for scene in [CUBES, MIRRORS] {
        for model in models {
            let report = report(scene, model, &["--check", "rpu", "--metric", "rmse", "--threshold", "0.02"]);
            assert_eq!(report["check"]["verdict"]["passed"], Value::Bool(true), "{scene} {model}: {}", report["check"]);
        }
    }
}

/// A root of 12 bits accepts points many sizes away from a polygon: quadrilaterals of curved surfaces
/// are stored as triangles, which need none.
#[test]
fn curved_surfaces_have_no_hits_far_from_their_polygons() {
    for scene in ["assets/scenes/shapes.rib", "assets/scenes/solids.rib"] {
        let report = report(scene, "rtp", &["--check", "rpu", "--metric", "rmse", "--threshold", "0.03"]);
        assert_eq!(report["check"]["verdict"]["passed"], Value::Bool(true), "{scene}: {}", report["check"]);
    }
}

/// Quadrics, net volumes and general polygons are the hardware's own, and the image is that of the RPU but for
/// a pixel at an edge.
#[test]
fn surfaces_are_intersected_by_the_hardware() {
    for model in ["rtp", "rtp-grid", "rtp-boxes", "rtp-octree", "rtp-bvh", "pipeline", "array"] {
        let report =
            report("assets/rtsl/polygons.rib", model, &["--check", "rpu", "--metric", "rmse", "--threshold", "0.003"]);
        assert_eq!(report["check"]["verdict"]["passed"], Value::Bool(true), "{model}: {}", report["check"]);
        assert_eq!(number(&report, "scene.surfaces"), 9.0, "{model}");
        assert!(report["notes"].to_string().contains("left out: nothing"), "{model}: {}", report["notes"]);
    }
}

/// The comparison with the intersection shader does not depend on where a primitive is, how thin or
/// how small in its box.
#[test]
fn flat_and_small_surfaces_far_away_are_held() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["polygons.rtsl", "quadrics.rtsl"] {
        let library = repository("assets/rtsl").join(file);
        std::fs::copy(library, folder.path().join(file)).expect("it can be copied");
    }
    let mut scene = String::from("Projection \"perspective\" \"fov\" [40]\nWorldBegin\nSurface \"matte\"\n");
    for number in 0..24 {
        let turn = number * 37;
        scene += &format!(
            "AttributeBegin Translate {} {} 20 Rotate {turn} 1 2 3 Scale .05 .05 .05\n",
            number % 6 - 3,
            number / 6 - 2
        );
        scene += match number % 3 {
            0 => "Geometry \"polygons.rtsl:Polygon\" \"int count\" [4] \"point[4] corners\" [0 0 0 2 1 0 0 2 0 .5 1 0]",
            1 => {
                "Geometry \"polygons.rtsl:Quadrilateral\" \"point p00\" [0 0 0] \"point p10\" [1 0 0] \"point p11\" [1 1 0] \"point p01\" [0 1 0]"
            }
            _ => {
                "Geometry \"quadrics.rtsl:Quadric\" \"float[10] coefficients\" [1 0 0 0 1 0 0 1 0 -1] \"point from\" [-8 -8 -8] \"point to\" [8 8 8]"
            }
        };
        scene += "\nAttributeEnd\n";
    }
    scene += "WorldEnd\n";
    let path = folder.path().join("scene.rib");
    std::fs::write(&path, scene).expect("it can be written");
    let report = report(&path.to_string_lossy(), "rtp-grid", &[]);
    assert!(report["notes"].to_string().contains("left out: nothing"), "{}", report["notes"]);
    assert_eq!((number(&report, "scene.polygons"), number(&report, "scene.surfaces")), (8.0, 16.0));
}

#[test]
fn a_class_that_bears_the_name_of_a_quadric_and_is_none_stays_with_the_host() {
    let folder = tempfile::tempdir().expect("a folder");
    let class = "class Quadric : rt_Primitive;
        void constructor(float coefficients[10], vec3 from, vec3 to) {}
        void intersect() { hit(-rt_RayOrigin.z / rt_RayDirection.z); }
        void computeNormal() { rt_GeometricNormal = vec3(0., 0., -1.); }
        void computeBounds() { rt_BoundMin = vec3(-0.5); rt_BoundMax = vec3(0.5); }";
    let scene = "Projection \"perspective\" \"fov\" [40]
        Translate 0 0 4
        WorldBegin
        Surface \"constant\"
        Geometry \"quadrics.rtsl:Quadric\" \"float[10] coefficients\" [1 0 0 0 1 0 0 1 0 -1] \"point from\" [-1 -1 -1] \"point to\" [1 1 1]
        WorldEnd";
    std::fs::write(folder.path().join("quadrics.rtsl"), class).expect("it can be written");
    let path = folder.path().join("scene.rib");
    std::fs::write(&path, scene).expect("it can be written");
    let report = report(&path.to_string_lossy(), "rtp", &["--check", "rpu", "--metric", "max", "--threshold", "0.001"]);
    assert!(report["scene"]["surfaces"].is_null(), "{}", report["scene"]);
    assert!(report["notes"].to_string().contains("1 not hit as the intersector"), "{}", report["notes"]);
    assert_eq!(report["check"]["verdict"]["passed"], Value::Bool(true), "{}", report["check"]);
}

#[test]
fn options_of_other_models_are_refused() {
    let scene = repository(CUBES);
    let scene = scene.to_string_lossy();
    let cases: [&[&str]; 9] = [
        &["--check", "rpu"],
        &["--frames", "1..3"],
        &["--adapter", "any"],
        &["--model", "rtp", "--frames", "1..3"],
        &["--model", "rtp", "--schedule", "wavefront", "--check", "rpu"],
        &["--model", "array", "--traversal", "while-while"],
        &["--model", "pixelflow", "--sweep"],
        &["--model", "rtp", "--cells", "4"],
        &["--model", "array", "--format", "f24"],
    ];
    for more in cases {
        let output = shadewright(Path::new("."), &[&["simulate", &*scene, "--size", "8x8"], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", stderr(&output));
    }
}

#[test]
fn the_peripheral_has_its_published_numbers() {
    let report = report(CUBES, "rtp", &[]);
    assert_eq!(number(&report, "scene.polygons"), 498.0);
    assert_eq!(number(&report, "hardware.operations"), 54.0);
    assert_eq!(number(&report, "hardware.stages"), 17.0);
    assert!((number(&report, "hardware.latency_us") - 5.6).abs() < 0.1);
    assert!((number(&report, "hardware.megaflops") - 162.0).abs() < 1e-9);
    // Every vision ray meets every polygon.
    let tests = number(&report, "rays.tests_per_ray");
    assert!(tests > 300.0 && tests <= 498.0, "{tests}");
}

#[test]
fn a_sweep_of_the_grid_has_a_minimum_inside() {
    let folder = tempfile::tempdir().expect("a folder");
    let charts = folder.path().to_string_lossy();
    let report = report(CUBES, "rtp-grid", &["--sweep", "--charts", &charts]);
    let sweep = report["sweep"].as_array().expect("a table");
    let time = |row: &Value| row["ray_us"].as_f64().expect("a time");
    let best = sweep.iter().map(time).fold(f64::INFINITY, f64::min);
    let [first, last] = [sweep.first(), sweep.last()].map(|row| time(row.expect("a row")));
    assert!(best * 5.0 < first && best < last, "{first} {best} {last}");
    for name in ["grid-time", "grid-cells", "grid-tests"] {
        let svg = std::fs::read_to_string(folder.path().join(format!("{name}.svg"))).expect("a chart");
        assert!(svg.starts_with("<svg") && svg.contains("</svg>"), "{name}");
    }
}

#[test]
fn an_array_ends_by_itself_and_its_heat_map_has_a_pixel_a_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let heat = folder.path().join("heat.png");
    let more = ["--nodes", "4x3", "--mapping", "torus", "--heatmap", &heat.to_string_lossy()];
    let report = report(MIRRORS, "array", &more);
    let notes = report["notes"].to_string();
    assert!(notes.contains("announced the end"), "{notes}");
    assert_eq!(number(&report, "hardware.nodes"), 12.0);
    let Image { width, height, .. } = image_file::read(&heat).expect("an image");
    assert_eq!((width, height), (4, 3));
}

#[test]
fn an_array_whose_nodes_have_too_little_memory_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("small.toml");
    std::fs::write(&config, "node.memory_bytes = 30000\n").expect("it can be written");
    let small = report(CUBES, "array", &["--config", &config.to_string_lossy()]);
    let nodes = number(&small, "hardware.too_small");
    let note = format!("The scene does not fit: {nodes} of 64 nodes need more than the 30000 bytes");
    assert!(nodes > 0.0 && small["notes"].to_string().contains(&note), "{}", small["notes"]);
    assert!(!report(CUBES, "array", &[])["notes"].to_string().contains("does not fit"));
}

#[test]
fn a_scene_larger_than_the_memory_is_paged_and_swapped() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("small.toml");
    std::fs::write(&config, "[memory]\npolygons = 200\nsubvolumes = 4\n").expect("it can be written");
    let report = report(CUBES, "rtp-grid", &["--config", &config.to_string_lossy()]);
    let rows = report["capacity"].as_array().expect("a table");
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["loads"].as_f64().expect("a number") >= 8.0), "{rows:?}");
    assert!(number(&report, "swapped_rays.spilled") > 0.0);
}

#[test]
fn a_benchmark_prints_the_study_of_the_array_and_the_comparison() {
    let folder = tempfile::tempdir().expect("a folder");
    let charts = folder.path().to_string_lossy();
    let (scene, adapter) = (repository(CUBES), "none has this name");
    let fixed = ["bench", "ray-machines", &*scene.to_string_lossy(), "--size", "16x16", "--adapter", adapter];
    let run = |more: &[&str]| {
        let output = shadewright(Path::new("."), &[&fixed, more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        output.stdout
    };
    let text = String::from_utf8(run(&["--charts", &charts])).expect("text");
    assert!(text.contains("by memory bandwidth, as published") && text.contains("\n  torus  "), "{text}");
    assert!(folder.path().join("sizes.svg").exists());
    let report: Value = serde_json::from_slice(&run(&["--json"])).expect("JSON");
    for (table, rows) in [("bandwidth", 6), ("mappings", 3), ("sizes", 6)] {
        assert_eq!(report["array"][table].as_array().map(Vec::len), Some(rows), "{table}");
    }
    assert_eq!(number(&report["array"]["bandwidth"][0], "nodes_100_plain"), 2.5);
    assert!(report["cubes-83"].is_object() && report["estimate"].is_object());
}

#[test]
fn what_a_model_cannot_do_is_an_error_with_a_hint() {
    let scene = repository(CUBES);
    let scene = scene.to_string_lossy();
    let folder = tempfile::tempdir().expect("a folder");
    let dying = folder.path().join("dying.toml");
    std::fs::write(&dying, "faults.deaths = [[5, 3, 100]]\n").expect("it can be written");
    let dying = dying.to_string_lossy();
    let few = folder.path().join("few.toml");
    std::fs::write(&few, "node.buffers = 1\n").expect("it can be written");
    let few = few.to_string_lossy();
    let cases: [(&[&str], &str); 8] = [
        (&["--model", "array", "--config", &few], "error: the ray tracing array cannot render this: `node.buffers`"),
        (&["--model", "rtp", "--sampler", "adaptive", "--sampler-threshold", "1.5"], "must be from 0 to 1"),
        (&["--model", "array", "--config", &dying, "--nodes", "4x4"], "faults.deaths (column)"),
        (&["--model", "array", "--config", &dying, "--sweep"], "faults.deaths (column)"),
        (&["--model", "rtp", "--sweep"], "rtp-grid"),
        (&["--model", "rtp", "--nodes", "4x4"], "--model array"),
        (&["--model", "array", "--nodes", "64x64"], "1024"),
        (&["--model", "rtp", "--check", "abacus"], "abacus"),
    ];
    for (more, part) in cases {
        let output = shadewright(Path::new("."), &[&["simulate", &*scene, "--size", "8x8"], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{more:?}: {}", stderr(&output));
    }
    for model in ["rtp", "pipeline", "array"] {
        let output = shadewright(Path::new("."), &["simulate", "--model", model, "--print-config"]);
        assert!(output.status.success() && output.stdout.starts_with(b"# The ray tracing"), "{model}");
    }
}
