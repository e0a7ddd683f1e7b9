//! The panel as a user meets it, on a simulation of a sphere.

use super::*;
use crate::array::tests::sphere;
use crate::model::tests::loaded;
use egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

struct Fixture {
    model: Model,
    panel: ArrayPanel,
    asked: Vec<Action>,
}

fn stage(run: Option<ArrayRun>) -> Harness<'static, Fixture> {
    let mut model = loaded();
    model.array.run = run.map(Arc::new);
    let stage = Fixture { model, panel: ArrayPanel::default(), asked: Vec::new() };
    let mut harness = Harness::builder()
        .with_size([1000.0, 420.0])
        .build_ui_state(|ui, stage: &mut Fixture| stage.panel.show(ui, &stage.model, &mut stage.asked), stage);
    harness.run();
    harness
}

fn has(harness: &Harness<'_, Fixture>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

fn press(harness: &mut Harness<'_, Fixture>, key: Key) {
    harness.key_press(key);
    harness.step();
}

fn time(harness: &Harness<'_, Fixture>) -> u64 {
    harness.state().panel.transport.cursor().time()
}

#[test]
fn run_asks_for_a_simulation_and_shows_how_far_it_is_and_why_it_fails() {
    let mut harness = stage(None);
    assert!(has(&harness, "Run simulates the scene"));
    harness.get_by_label("Run").click();
    harness.run();
    let request = ArrayRequest::default();
    assert_eq!(harness.state().asked, [Action::Simulate(request)]);
    harness.state_mut().model.array.asked = Some(request);
    harness.state_mut().model.array.stage = Some(super::ArrayPhase::Rays(0.25));
    harness.run_steps(2);
    assert!(has(&harness, "tracing the rays: 25 %"));
    harness.state_mut().model.array = Default::default();
    harness.state_mut().model.array.failure = Some("too many generations".into());
    harness.run();
    assert!(has(&harness, "too many generations"));
}

#[test]
fn a_simulation_is_stepped_played_and_scrubbed() {
    let mut harness = stage(Some(sphere(3, Mapping::Skew, 16)));
    let count = harness.state().panel.run.as_ref().map_or(0, |run| run.playback.events().len());
    assert!(has(&harness, &format!("event 0 of {count}: the start")));
    press(&mut harness, Key::ArrowRight);
    assert!(has(&harness, &format!("event 1 of {count}: new")));
    harness.get_by_label("▶").click();
    harness.run();
    assert!(has(&harness, &format!("event 2 of {count}")));
    press(&mut harness, Key::ArrowLeft);
    assert!(has(&harness, &format!("event 1 of {count}")));
    let before = time(&harness);
    press(&mut harness, Key::Space);
    harness.run_steps(3);
    let playing = time(&harness);
    assert!(playing > before && harness.query_by_label("Pause").is_some());
    press(&mut harness, Key::Space);
    let paused = time(&harness);
    harness.run();
    assert_eq!(time(&harness), paused);
    harness.get_by_label("▶|").click();
    harness.run();
    assert!(has(&harness, &format!("event {count} of {count}")));
    let slider = harness.get_all_by_role(egui::accesskit::Role::Slider).last().expect("a slider for the time");
    slider.focus();
    harness.run();
    let end = time(&harness);
    harness.key_press(Key::ArrowLeft);
    harness.run();
    assert!(time(&harness) < end, "the slider has the focus, and moves the time");
}

#[test]
fn nodes_show_their_numbers_under_the_pointer() {
    let mut harness = stage(Some(sphere(2, Mapping::Plain, 16)));
    harness.get_by_label("▶|").click();
    harness.run();
    assert!(has(&harness, "the end was announced"));
    harness.hover_at(pos2(60.0, 200.0));
    harness.run_steps(8);
    assert!(has(&harness, "Node 0, 0") && has(&harness, "polygons tested"));
}

#[test]
fn another_simulation_begins_at_its_start() {
    let mut harness = stage(Some(sphere(2, Mapping::Plain, 8)));
    harness.get_by_label("▶|").click();
    harness.run();
    assert!(time(&harness) > 0);
    harness.state_mut().model.array.run = Some(Arc::new(sphere(3, Mapping::Plain, 8)));
    harness.run();
    assert_eq!(time(&harness), 0);
}
