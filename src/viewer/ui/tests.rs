//! The interface as a user meets it, without a window: `egui_kittest` shows the panels on models
//! made by hand.

use super::{Chrome, Panels, set_style, show};
use crate::model::tests::{loaded, shown};
use crate::model::{Action, Comparison, Display, Model};
use crate::settings::{Panel, Settings};
use crate::workers::Event;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::{SourceMap, Span};
use shadewright_project::{Failure, Source};
use shadewright_render::Backend;
use shadewright_scene::ParamValue;
use std::sync::Arc;

/// The interface, what it shows, and what it asked for.
struct Fixture {
    model: Model,
    chrome: Chrome,
    panels: Panels,
    asked: Vec<Action>,
}

fn stage(model: Model, size: [f32; 2]) -> Harness<'static, Fixture> {
    let stage =
        Fixture { model, chrome: Chrome::new(Settings::default()), panels: Panels::default(), asked: Vec::new() };
    let harness = Harness::builder().with_size(size).build_ui_state(
        |ui, stage: &mut Fixture| {
            let mut actions = Vec::new();
            show(ui, &stage.model, &mut stage.chrome, &mut stage.panels, &mut actions);
            for action in actions {
                stage.model.apply(action.clone());
                if !matches!(action, Action::SetRoom(_)) {
                    stage.asked.push(action);
                }
            }
        },
        stage,
    );
    set_style(&harness.ctx);
    harness
}

fn failure() -> Arc<Failure> {
    let mut sources = SourceMap::new();
    let file = sources.add("red.sl", None, "surface red() {\n  Ci = foo;\n}\n");
    let error = Diagnostic::error("unknown name `foo`").at(Span::new(file, 23, 26), "not declared");
    Arc::new(Failure { diagnostics: error.into(), sources })
}

#[test]
fn errors_stand_over_the_image_with_their_source_and_go_when_the_scene_is_mended() {
    let mut model = loaded();
    let image = shown(&model, Backend::RPU, 1);
    model.handle(Event::Image(image));
    model.handle(Event::Broken(failure()));
    let mut harness = stage(model, [900.0, 600.0]);
    harness.run();
    assert!(harness.query_by_label_contains("1 error: the last good image is shown").is_some());
    assert!(harness.query_by_label_contains("red.sl:2:8").is_some());
    let state = harness.state().model.state.clone().unwrap();
    harness.state_mut().model.handle(Event::Loaded(state));
    harness.run();
    assert!(harness.query_by_label_contains("1 error").is_none());
}

#[test]
fn a_scene_that_never_loaded_says_what_to_do() {
    let mut model = Model::new(Source::File("broken.rib".into()), Display::default());
    model.handle(Event::Broken(failure()));
    let mut harness = stage(model, [900.0, 600.0]);
    harness.run();
    assert!(harness.query_by_label_contains("Fix it and save it").is_some());
}

#[test]
fn a_failed_back_end_can_be_tried_again() {
    let mut model = loaded();
    model.handle(Event::BackendFailed(Backend::GPU, "the device was lost: unplugged".into()));
    let mut harness = stage(model, [900.0, 600.0]);
    harness.run();
    assert!(harness.query_by_label_contains("the device was lost: unplugged").is_some());
    harness.get_by_label("Try again").click();
    harness.run();
    assert!(harness.state().asked.contains(&Action::Retry(Backend::GPU)));
}

#[test]
fn parameters_have_their_names_and_edits_ask_for_the_value() {
    let mut harness = stage(loaded(), [1000.0, 700.0]);
    harness.run();
    for name in ["Ka", "Kd", "Ks", "roughness", "specularcolor"] {
        assert!(harness.query_all_by_label(name).next().is_some(), "{name}");
    }
    // Ka, Kd, Ks and roughness are sliders, in this order.
    harness.get_all_by_role(Role::Slider).nth(2).expect("a slider for Ks").focus();
    harness.run();
    harness.key_press(egui::Key::ArrowRight);
    harness.run();
    let asked = harness.state().asked.iter().find_map(|action| match action {
        Action::SetParameter(_, name, Some(ParamValue::Float(value))) => Some((name.as_str(), value[0])),
        _ => None,
    });
    let (name, value) = asked.expect("an edit");
    assert_eq!(name, "Ks");
    assert!(value > 0.25 && value <= 1.0, "{value}");
}

#[test]
fn keys_and_toolbar_choose_what_is_compared() {
    let mut harness = stage(loaded(), [900.0, 600.0]);
    harness.run();
    harness.key_press(egui::Key::Num3);
    harness.run();
    assert_eq!(harness.state().model.display.comparison, Comparison::Split);
    harness.get_by_label("GPU").click();
    harness.run();
    let display = harness.state().model.display;
    assert_eq!((display.backend, display.comparison), (Backend::GPU, Comparison::Single));
}

#[test]
fn the_question_mark_lists_the_keys() {
    let mut harness = stage(loaded(), [900.0, 700.0]);
    harness.run();
    harness.key_press(egui::Key::Questionmark);
    harness.run();
    assert!(harness.query_by_label_contains("look through the scene's camera").is_some());
}

#[test]
fn a_window_too_small_for_panels_keeps_the_image() {
    let mut model = loaded();
    let image = shown(&model, Backend::RPU, 1);
    model.handle(Event::Image(image));
    let mut harness = stage(model, [300.0, 200.0]);
    harness.state_mut().chrome.settings.panels = Panel::ALL.to_vec();
    harness.run();
    assert!(harness.query_by_label("Ks").is_none());
    let format = harness.state().model.format().unwrap();
    assert!(format.width >= 280, "{format:?}");
}

#[test]
fn menus_open_dialogs_and_scenes() {
    let mut harness = stage(loaded(), [900.0, 600.0]);
    harness.run();
    harness.get_by_label("File").click();
    harness.run();
    harness.get_by_label_contains("Open…").click();
    harness.run();
    assert!(harness.query_by_label("Open a scene").is_some());
    harness.key_press(egui::Key::Escape);
    harness.run();
    assert!(harness.query_by_label("Open a scene").is_none());
}
