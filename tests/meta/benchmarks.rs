//! Tests that the benchmarks compare like with like: routines in plain Rust compute the bits of the
//! RPU, and the shaders and variants of the compiler's run.

#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "../../benches/compiler/length.rs"]
#[allow(dead_code, reason = "the benchmark measures longer shaders than compile here")]
mod length;
#[path = "../../benches/rpu/shading/mod.rs"]
#[allow(dead_code, reason = "the benchmark measures what is only compared here")]
mod shading;
#[path = "../../benches/rtsl/tables/mod.rs"]
mod tables;
#[path = "../../benches/compiler/variants.rs"]
mod variants;

use common::shaders;
use serde_json::Value;
use shading::plain::{Branchy, Noisy, Textured};
use std::collections::HashSet;
use std::path::Path;
use tables::{materials, primitives};

#[test]
fn shaders_of_the_compilers_benchmark_compile() {
    let Value::Array(rows) = length::length(2, None, true).expect("they compile") else { panic!("no rows") };
    assert_eq!(rows.len(), 5);
}

#[test]
fn shaders_in_plain_rust_compute_the_bits_of_the_rpu() {
    let memory = shading::memory();
    shading::assert_agreement::<Noisy>(&memory);
    shading::assert_agreement::<Branchy>(&memory);
    shading::assert_agreement::<Textured>(&memory);
}

#[test]
fn primitives_in_plain_rust_compute_the_bits_of_the_rpu() {
    tables::assert_agreement::<primitives::Sphere>();
    tables::assert_agreement::<primitives::BilinearPatch>();
    tables::assert_agreement::<primitives::SuperEllipsoid>();
}

#[test]
fn materials_in_plain_rust_compute_the_bits_of_the_rpu() {
    tables::assert_agreement::<materials::Glass>();
    tables::assert_agreement::<materials::Lambert>();
    tables::assert_agreement::<materials::Phong>();
    tables::assert_agreement::<materials::Velvet>();
    tables::assert_agreement::<materials::Ward>();
}

#[test]
fn the_tables_of_rtsl_have_the_classes_that_are_named() {
    let report = tables::tables(Some("Sphere"), 16, true).expect("it runs");
    assert_eq!(report["primitives"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["materials"].as_array().map(Vec::len), Some(0));
    assert!(report["primitives"][0]["streaming"]["rpu_64_over_rpu_1"].as_f64() > Some(1.0), "{report:#}");
}

#[test]
fn every_class_of_the_table_has_lines_on_both_back_ends() {
    let all = tables::lines::of_classes(&|_| true).expect("all classes compile");
    assert_eq!(all.len(), tables::lines::CLASSES.len());
    for lines in all.iter().map(tables::lines::Lines::json) {
        let [rtsl, wgsl, rpu] = ["rtsl", "wgsl", "rpu"].map(|key| lines[key].as_u64());
        assert!(rtsl > Some(0) && wgsl > Some(0) && rpu > Some(0), "{lines}");
        assert!(lines["name"] != "Sphere" || rtsl > Some(20) && rpu > rtsl, "{lines}");
    }
}

fn rows(report: &Value) -> &[Value] {
    report["variants"].as_array().expect("a list of variants")
}

fn failures(report: &Value) -> usize {
    rows(report).iter().filter(|row| row["failures"].as_array().is_none_or(|list| !list.is_empty())).count()
}

#[test]
fn every_pass_is_removed_once_and_the_surface_of_the_thesis_needs_some() {
    let report = variants::passes(Some("thesis depth"), true).expect("it runs");
    let passes = shadewright::ir::passes::PASSES.len() + shadewright::codegen::rpu::Passes::NAMES.len();
    assert_eq!((rows(&report).len(), failures(&report)), (1 + passes, 0), "{report:#}");
    assert_eq!(rows(&report)[0]["cycles"]["mean_percent"], 0.0);
    let without = |name: &str| rows(&report).iter().find(|row| row["name"] == name).expect("a variant");
    assert!(without("-pair")["instructions"]["mean_percent"].as_f64() > Some(0.0), "{report:#}");
    assert!(without("-inline")["cycles"]["mean_percent"].as_f64() > Some(0.0), "{report:#}");
}

#[test]
fn calling_conventions_and_inlining_policies_are_compared_with_the_default() {
    for compare in [variants::conventions, variants::inlining] {
        let report = compare(Some("thesis lit"), true).expect("it runs");
        assert_eq!((rows(&report).len(), failures(&report)), (3, 0), "{report:#}");
        assert_eq!(rows(&report)[0]["redundant"], true, "the first is compared with itself");
    }
}

#[test]
fn a_name_that_no_subject_has_is_refused() {
    assert!(variants::passes(Some("no such thing"), true).is_err());
}

#[test]
fn generated_shaders_differ_in_their_operations() {
    let body = |n| shaders::shader(n).lines().skip(3).collect::<Vec<_>>().join("\n");
    assert_eq!((0..96).map(body).collect::<HashSet<String>>().len(), 96);
}

#[test]
fn the_generated_scene_has_a_surface_entry_for_each_shader() {
    let folder = tempfile::tempdir().expect("a folder");
    shaders::write_scene(folder.path(), 96).expect("the folder can be written");
    let job = common::scene_job(&folder.path().join("made.rib"), (32, 24)).expect("the scene links");
    assert_eq!(job.program.surface_entries, 96);
}

#[test]
fn procedural_meshes_have_names() {
    use common::meshes::triangles;
    for name in ["sheet:200", "clutter:200"] {
        assert!(triangles(Path::new(name)).is_ok_and(|t| (200..900).contains(&t.len())), "{name}");
    }
    for name in ["sheet:", "clutter:0", "clutter:-1", "sheet:99999999999", "C:\\bunny.ply"] {
        assert!(triangles(Path::new(name)).is_err(), "{name}");
    }
}

/// Runs the program in a folder.
fn shadewright(folder: &Path, args: &[&str]) -> std::process::Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_shadewright"));
    command.args(args).current_dir(folder).output().expect("the program was built with the tests")
}

#[test]
fn interiors_are_written_and_link_without_a_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = shadewright(folder.path(), &["bench", "specialize", "--write", "rooms"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let paths = String::from_utf8(written.stdout).expect("paths");
    let paths: Vec<&str> = paths.lines().collect();
    assert_eq!(paths.len(), shadewright::scene::interiors::INTERIORS.len());
    for path in paths {
        let job = common::scene_job(&folder.path().join(path), (32, 24)).expect(path);
        assert!(job.program.diagnostics.is_empty(), "{}", job.program.diagnostics.render(&job.program.sources));
    }
}

/// `bench specialize` with the fewest frames: the report.
fn specialize(folder: &Path, args: &[&str]) -> Value {
    let least = ["bench", "specialize", "--json", "--runs", "1", "--spp", "1", "--size", "8x6", "--batch", "4096"];
    let output = shadewright(folder, &[&least, args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn specialized_programs_are_measured_on_an_engine_with_a_page_of_plots() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = [
        "--scene",
        "bedroom",
        "--backend",
        "interpreter",
        "--specialize",
        "types",
        "--specialize",
        "all",
        "--out",
        "page",
    ];
    let report = specialize(folder.path(), &args);
    assert_eq!(report["modes"], serde_json::json!(["types", "all"]));
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
    let page = std::fs::read_to_string(folder.path().join("page/index.html")).expect("a page");
    assert!(page.contains("<svg ") && page.contains("bedroom") && page.ends_with("</html>\n"));
    for plot in ["specialized", "frames-interpreter", "shading-interpreter-4096", "compile-time", "code-size"] {
        let svg = std::fs::read_to_string(folder.path().join(format!("page/{plot}.svg"))).expect(plot);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{plot}");
    }
}

#[test]
fn a_gpu_has_an_order_besides() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = [
        "--scene",
        "bedroom",
        "--backend",
        "gpu",
        "--only",
        "scenes",
        "--specialize",
        "types",
        "--megakernel-sections",
        "0",
    ];
    let report = specialize(folder.path(), &args);
    let scene = &report["scenes"][0];
    assert!(scene["sorted"]["types"].is_number() && scene["wavefront"]["types"].is_null(), "{scene:#}");
    assert!(scene["sections"]["types"].as_u64() > Some(0), "{scene:#}");
    assert_eq!(report["compile"], serde_json::json!([]));
}

#[test]
fn wrong_names_are_refused_with_those_that_there_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = [
        (["--scene", "cellar"], "there are bedroom, staircase"),
        (["--backend", "abacus"], "interpreter"),
        (["--specialize", "everything"], "types"),
        (["--size", "0x5"], "at least one pixel"),
    ];
    for (args, hint) in wrong {
        let output = shadewright(folder.path(), &[&["bench", "specialize"], &args[..]].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(hint), "{message}");
    }
}
