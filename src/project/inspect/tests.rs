//! The compiled forms of a small shader, line by line.

use super::{Inspection, Listing, SourceLine, prepare};
use crate::{self as project, InstanceId, Outcome, Project, ProjectState, Source};
use shadewright_base::text::source::FileId;
use shadewright_rpu::engine;
use std::sync::Arc;

const SHADER: &str = "\
#include \"tint.h\"
surface striped(float frequency = 4) {
  color tinted = tint(noise(frequency * P));
  if (xcomp(P) > 0)
    tinted = mix(tinted, color(1, 0.5, 0), 0.25);
  Oi = Os;
  Ci = Oi * tinted * (ambient() + diffuse(normalize(N)));
}
";
const INCLUDED: &str = "color tint(float x) {\n  return color(x, x * x, sqrt(x));\n}\n";
const SCENE: &str = r#"
    Format 40 20 1
    Projection "perspective" "fov" [40]
    Translate 0 0 5
    WorldBegin
    LightSource "pointlight" 1 "point from" [0 4 -4] "intensity" [20]
    Surface "striped"
    Sphere 1 -1 1 360
    Surface "matte"
    Translate 2 0 0
    Sphere 0.5 -0.5 0.5 360
    WorldEnd
"#;

fn state() -> Arc<ProjectState> {
    state_of(SCENE)
}

fn state_of(scene: &str) -> Arc<ProjectState> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("striped.sl", SHADER);
    write("dented.sl", "displacement dented(float depth = 0.1) {\n  P -= depth * noise(9 * P) * normalize(N);\n}\n");
    write("tint.h", INCLUDED);
    write("scene.rib", scene);
    match Project::new(Source::File(folder.path().join("scene.rib")), project::ProjectOptions::default()).refresh() {
        Outcome::Ready(state) => state,
        Outcome::Broken(failure) => panic!("{}", failure.render()),
        Outcome::Unchanged => panic!("nothing was read"),
    }
}

fn instance(state: &ProjectState, shader: &str) -> InstanceId {
    state.parameters.instances.iter().find(|i| i.shader == shader).expect("an instance").id
}

/// Inspects a shader; returns the inspection, and the shader's file.
fn inspected(state: &ProjectState, shader: &str) -> (Inspection, FileId) {
    let prepared = prepare(state, instance(state, shader)).unwrap_or_else(|e| panic!("{e}"));
    let cost = prepared.measure(state, &state.view(), 100_000);
    let inspection = prepared.inspection(Some(cost));
    let file = inspection.listings.source.rows[1].line.places[0].file;
    (inspection, file)
}

/// The lines that come from a line of a file.
fn from(listing: &Listing, file: FileId, line: u32) -> Vec<&str> {
    let place = SourceLine { file, line };
    let rows = listing.rows.iter().map(|row| &row.line);
    rows.filter(|line| line.places.contains(&place)).map(|line| line.text.as_str()).collect()
}

#[test]
fn a_source_line_has_its_instructions_in_every_form() {
    let state = state();
    let (inspection, file) = inspected(&state, "striped");
    let listings = &inspection.listings;
    assert!(from(&listings.source, file, 2)[0].starts_with("surface striped"));
    let end = &listings.stages.last().unwrap().listing;
    let rpu = listings.rpu.as_ref().unwrap();
    for line in [3, 7] {
        assert!(!from(end, file, line).is_empty() && !from(rpu, file, line).is_empty(), "line {line}");
    }
    match &listings.native {
        Ok(native) => {
            for line in [3, 7] {
                assert!(from(native, file, line).iter().any(|text| text.contains("mm")), "line {line}");
            }
        }
        Err(reason) => assert!(engine::available().all(|engine| engine.name != "native"), "{reason}"),
    }
    // What was inlined from the included file has a line there, and comes from the line that calls
    // it.
    let included = listings.source.rows.iter().find(|row| row.line.text.contains("sqrt")).unwrap();
    let root = end.rows.iter().find(|row| row.line.places.first() == included.line.places.first()).unwrap();
    assert!(root.line.places.contains(&SourceLine { file, line: 3 }), "{:?}", root.line);
}

#[cfg(feature = "gpu")]
#[test]
fn most_lines_of_the_kernels_have_a_place() {
    let state = state();
    let (inspection, file) = inspected(&state, "striped");
    let wgsl = inspection.listings.wgsl.as_ref().unwrap();
    let is_statement = |text: &str| text.starts_with(' ') && text.trim().len() > 1 && !text.trim().starts_with("var ");
    let statements: Vec<_> = wgsl.rows.iter().filter(|row| is_statement(&row.line.text)).collect();
    let placed = statements.iter().filter(|row| !row.line.places.is_empty()).count();
    assert!(placed * 3 > statements.len() * 2, "{placed} of {}", statements.len());
    assert!(from(wgsl, file, 3).iter().any(|text| text.contains("floor(")), "the noise: {:?}", from(wgsl, file, 3));
    assert!(from(wgsl, file, 4).iter().any(|text| text.contains("if (")), "{:?}", from(wgsl, file, 4));
    assert!(from(wgsl, file, 5).iter().all(|text| text.contains("0.25f")), "{:?}", from(wgsl, file, 5));
}

#[test]
fn passes_mark_what_they_change() {
    let state = state();
    let (inspection, _) = inspected(&state, "striped");
    let stages = &inspection.listings.stages;
    assert!(stages.len() > 4);
    assert_eq!(
        (stages[0].name.as_str(), stages.last().unwrap().name.as_str()),
        ("before the first pass", "in the end")
    );
    let changed = |stage: usize| stages[stage].listing.rows.iter().filter(|row| row.changed).count();
    assert_eq!(changed(0), 0);
    assert!((1..stages.len() - 1).all(|stage| changed(stage) < stages[stage].listing.rows.len()));
    let text = |stage: usize| stages[stage].listing.rows.iter().map(|row| row.line.text.as_str()).collect::<String>();
    assert!(text(0).contains("call") && text(0).contains("tint"), "{}", text(0));
    assert!(!text(stages.len() - 1).contains("tint"), "it is inlined");
}

#[test]
fn only_the_chosen_shader_is_listed() {
    let state = state();
    let (striped, file) = inspected(&state, "striped");
    let (matte, _) = inspected(&state, "matte");
    let end = |inspection: &Inspection| inspection.listings.stages.last().unwrap().listing.clone();
    assert!(!from(&end(&striped), file, 3).is_empty());
    assert!(from(&end(&matte), file, 3).is_empty());
    assert!(end(&matte).rows.len() < end(&striped).rows.len());
}

#[test]
fn a_shader_that_has_moved_meshes_is_listed_and_costs_the_image_nothing() {
    let bound = "Attribute \"displacementbound\" \"float sphere\" [0.1] Displacement \"dented\" Surface \"striped\"";
    let state = state_of(&SCENE.replace("Surface \"striped\"", bound));
    assert!(state.displaced_triangles > 0);
    let (inspection, file) = inspected(&state, "dented");
    let rpu = inspection.listings.rpu.as_ref().unwrap();
    assert!(!from(rpu, file, 2).is_empty(), "{rpu:?}");
    assert_eq!(inspection.cost.unwrap().unwrap().total, 0);
    let (inspection, file) = inspected(&state, "striped");
    assert!(!from(inspection.listings.rpu.as_ref().unwrap(), file, 3).is_empty());
    let dented = &state.parameters.instance(instance(&state, "dented")).unwrap().params[0];
    assert!(!dented.dynamic);
}

#[test]
fn a_large_view_costs_as_much_a_pixel_as_a_small_one() {
    let state = state();
    let prepared = prepare(&state, instance(&state, "striped")).unwrap_or_else(|e| panic!("{e}"));
    let mut view = state.view();
    let small = prepared.measure(&state, &view, 100_000).unwrap().per_pixel();
    (view.format.width, view.format.height) = (400, 200);
    let large = prepared.measure(&state, &view, 100_000).unwrap();
    assert_eq!(large.size, [64, 32]);
    assert!((0.5..2.0).contains(&(large.per_pixel() / small)), "{} and {small}", large.per_pixel());
}

#[test]
fn the_cost_of_the_lines_is_part_of_the_images() {
    let state = state();
    let (inspection, file) = inspected(&state, "striped");
    let cost = inspection.cost.unwrap().unwrap();
    assert_eq!(cost.size, [40, 20]);
    let noise = cost.share(SourceLine { file, line: 3 });
    assert!(noise > cost.share(SourceLine { file, line: 6 }), "{cost:?}");
    assert!(noise > 0.0 && cost.shader_share() > noise && cost.shader_share() < 1.0, "{cost:?}");
}
