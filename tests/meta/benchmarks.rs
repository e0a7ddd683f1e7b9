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
#[path = "specialize.rs"]
mod specialize;
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
    let all = tables::lines::count_classes(&|_| true).expect("all classes compile");
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
