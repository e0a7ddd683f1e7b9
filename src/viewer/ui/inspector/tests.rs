//! The panel as a user meets it, on a sample of a small scene.

use super::*;
use crate::model::Display;
use crate::workers::Diverged;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use shadewright_project::View;
use shadewright_project::probe::testing::{mirror, stepped};

struct Fixture {
    model: Model,
    panel: InspectorPanel,
    asked: Vec<Action>,
}

fn stage(picked: Option<Picked>) -> Harness<'static, Fixture> {
    let mut model = Model::new(shadewright_project::Source::BuiltIn("none".to_string()), Display::default());
    model.picked = picked;
    let stage = Fixture { model, panel: InspectorPanel::default(), asked: Vec::new() };
    let mut harness = Harness::builder()
        .with_size([420.0, 760.0])
        .with_max_steps(60)
        .build_ui_state(|ui, stage: &mut Fixture| stage.panel.show(ui, &stage.model, &mut stage.asked), stage);
    harness.run();
    harness
}

fn picked(probe: Probe) -> Picked {
    let scene = shadewright_scene::Scene::empty("none");
    let view = View { camera: scene.camera, format: scene.format };
    let (pixel, sample) = (probe.sample.pixel, probe.sample.number);
    let known = Probed { pixel, sample, state: 1, view, result: Ok(probe) };
    Picked { pixel, sample, size: [400, 200], waiting: false, known: Some(Arc::new(known)) }
}

fn has(harness: &Harness<'_, Fixture>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

fn click(harness: &mut Harness<'_, Fixture>, label: &str) {
    harness.get_by_label(label).click();
    harness.run();
}

#[test]
fn without_a_pixel_it_says_what_to_do() {
    assert!(has(&stage(None), "Click a pixel"));
}

#[test]
fn the_surface_shows_object_shader_and_parameters() {
    let harness = stage(Some(picked(stepped())));
    for text in ["Pixel 4, 4", "wall (#0)", "stepped", "\"hello\"", "Variables at the hit"] {
        assert!(has(&harness, text), "{text}");
    }
}

#[test]
fn steps_go_forwards_and_backwards_into_calls_and_out() {
    let mut harness = stage(Some(picked(stepped())));
    click(&mut harness, "Steps");
    assert!(has(&harness, "surface stepped, line 6"));
    for _ in 0..3 {
        click(&mut harness, "▶");
    }
    assert!(has(&harness, "surface stepped, line 8"));
    click(&mut harness, "↘");
    assert!(has(&harness, "function twice, line 2") && has(&harness, "surface stepped, line 8"));
    click(&mut harness, "↗");
    assert!(has(&harness, "surface stepped, line 9") && has(&harness, "→ false"));
    click(&mut harness, "◀");
    assert!(has(&harness, "surface stepped, line 8"));
    click(&mut harness, "▶|");
    assert!(has(&harness, "surface stepped, line 14"));
    harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::F10);
    harness.run();
    assert!(has(&harness, "surface stepped, line 13"));
    harness.key_press(egui::Key::F10);
    harness.run();
    assert!(has(&harness, "surface stepped, line 14"));
}

#[test]
fn a_ray_of_the_tree_is_chosen_for_its_surface() {
    let mut harness = stage(Some(picked(mirror())));
    click(&mut harness, "Rays (3)");
    assert!(has(&harness, "shadow to pointlight 1: visible"));
    let reflected = "reflected: hits back #1, triangle 0";
    click(&mut harness, reflected);
    click(&mut harness, "Surface");
    assert!(has(&harness, "back (#1)"));
    click(&mut harness, "Step through its shader");
    assert!(has(&harness, "surface lit, line 1"));
}

#[test]
fn another_sample_of_the_pixel_can_be_asked_for_and_the_pixel_let_go() {
    let mut harness = stage(Some(picked(stepped())));
    click(&mut harness, "×");
    assert_eq!(harness.state().asked, [Action::Unpick]);
}

#[test]
fn a_sample_that_cannot_be_followed_says_why() {
    let mut failed = picked(stepped());
    let known = failed.known.take().map(|k| Probed { result: Err("there is no sample 9".to_string()), ..(*k).clone() });
    failed.known = known.map(Arc::new);
    assert!(has(&stage(Some(failed)), "there is no sample 9"));
}

#[test]
fn where_the_back_ends_differ_is_shown_as_soon_as_it_is_known() {
    let mut harness = stage(Some(picked(stepped())));
    assert!(!has(&harness, "Divergence"), "nobody asked");
    harness.state_mut().model.apply(Action::Diverge([4, 4]));
    harness.run_steps(3);
    assert!(has(&harness, "Following the pixel's samples"));
    let view = harness.state().model.picked.as_ref().and_then(|p| p.known.as_ref()).expect("a probe").view.clone();
    let divergence = shadewright_project::probe::diverge::testing::found();
    let text = divergence.text();
    let found = Diverged { pixel: [4, 4], state: 1, view, result: Ok((divergence, text.clone())) };
    harness.state_mut().model.divergence.found = Some(Arc::new(found));
    harness.run();
    for shown in ["a and b differ", "variable   x", "Copy"] {
        assert!(has(&harness, shown), "{shown}");
    }
    click(&mut harness, "Copy");
    assert!(matches!(&harness.state().asked[..], [Action::Copy(copied, _)] if *copied == text));
    click(&mut harness, "Surface");
    assert!(has(&harness, "wall (#0)"));
    click(&mut harness, "Divergence");
    assert!(has(&harness, "a and b differ"));
    harness.state_mut().model.apply(Action::Unpick);
    harness.run();
    assert!(!has(&harness, "Divergence"));
}
