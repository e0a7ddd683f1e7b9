//! `--stats`: where the time of a render went, as lines and as JSON.

use serde_json::Value;

const RENDER: [&str; 7] = ["--size", "16x12", "--spp", "2", "--render", "image.png", "--stats"];

fn json(extra: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let output = crate::common::shadewright(folder.path(), &[&RENDER[..], &["--json"], extra].concat());
    assert!(output.status.success(), "{}", crate::common::stderr(&output));
    serde_json::from_slice(&output.stdout).expect("one JSON document on standard output")
}

/// The names in a list of named things.
fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|x| x["name"].as_str().expect("a name")).collect()
}

#[test]
fn the_gpus_kernels_are_listed_with_times_that_add_up() {
    let document = json(&["--backend", "gpu", "--schedule", "wavefront"]);
    let stats = &document["stats"];
    assert_eq!(names(&stats["phases"]), ["open", "compile", "tree", "render", "write"]);
    let kernels = &stats["render"]["kernels"];
    assert_eq!(kernels["state"], "measured");
    let listed = kernels["kernels"].as_array().expect("a list");
    for name in ["traversal", "sort", "film and refill", "@camera"] {
        assert!(names(&kernels["kernels"]).contains(&name), "{name}");
    }
    let ms = |value: &Value| value.as_f64().expect("milliseconds");
    assert!(listed.iter().all(|k| 0.0 <= ms(&k["longest_ms"]) && ms(&k["longest_ms"]) <= ms(&k["ms"])));
    let phases = stats["phases"].as_array().expect("a list");
    let render = phases.iter().find(|phase| phase["name"] == "render").expect("a phase");
    let device: f64 = listed.iter().map(|kernel| ms(&kernel["ms"])).sum();
    assert!(0.0 < device && device <= ms(&render["ms"]), "{device} ms of {render}");
}

#[test]
fn the_rpu_has_phases_and_no_kernels() {
    let document = json(&["--backend", "rpu"]);
    assert_eq!(names(&document["stats"]["render"]["phases"]), ["code", "blocks"]);
    assert_eq!(document["stats"]["render"]["kernels"]["state"], "none");
}

#[test]
fn displacement_is_a_phase_where_something_is_displaced() {
    let scene = crate::common::repository("assets/scenes/displaced.rib");
    let document = json(&["--backend", "rpu", scene.to_str().expect("text")]);
    let stats = &document["stats"];
    assert_eq!(names(&stats["phases"]), ["open", "displace", "compile", "tree", "render", "write"]);
    assert!(stats["displaced_triangles"].as_u64().is_some_and(|n| n > 100), "{stats}");
    assert_eq!(stats["displaced_triangles"], stats["triangles"]);
}

#[test]
fn a_comparison_and_the_statistics_are_one_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = folder.path().join("reference.png");
    let reference = image.to_str().expect("text");
    let first = crate::common::shadewright(
        folder.path(),
        &["--size", "16x12", "--spp", "2", "--backend", "rpu", "--render", reference],
    );
    assert!(first.status.success(), "{}", crate::common::stderr(&first));
    let document = json(&["--backend", "rpu", "--compare", reference]);
    assert_eq!(document["verdict"]["passed"], true);
    assert!(document["report"].is_object() && document["stats"].is_object());
}

#[test]
fn the_lines_go_to_standard_error_and_end_with_a_table_of_kernels() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = crate::common::shadewright(
        folder.path(),
        &[&RENDER[..], &["--backend", "gpu", "--schedule", "wavefront"]].concat(),
    );
    let text = crate::common::stderr(&output);
    assert!(output.stdout.is_empty() && text.contains("      time   share    longest dispatches  kernel\n"), "{text}");
    assert!(text.trim_end().ends_with("ms idle between submissions"), "{text}");
}
