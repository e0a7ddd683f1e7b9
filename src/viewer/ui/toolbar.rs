//! The toolbar: back end, comparison, exposure, magnification.

use super::image::ImageView;
use super::shortcuts::{Operation, keys_of};
use crate::develop::{Look, ToneMap};
use crate::model::{Action, Comparison, Display, Model};
use egui::{ComboBox, DragValue};
use shadewright_render::Backend;

/// The range of exposures, in stops.
const STOPS: std::ops::RangeInclusive<f32> = -12.0..=12.0;

/// Shows them, on as many lines as they need.
pub fn show(ui: &mut egui::Ui, model: &Model, image: &mut ImageView, actions: &mut Vec<Action>) {
    let mut display = model.display;
    ui.horizontal_wrapped(|ui| {
        for backend in Backend::INTERACTIVE {
            let chosen = display.comparison == Comparison::Single && display.backend == backend;
            let keys = keys_of(ui.ctx(), Operation::Show(backend));
            let hint = format!("Show the {}'s image ({keys})", backend.title());
            if ui.selectable_label(chosen, backend.label()).on_hover_text(hint).clicked() {
                display = Display { backend, comparison: Comparison::Single, ..display };
            }
        }
        ui.separator();
        for comparison in Comparison::ALL.into_iter().filter(|c| *c != Comparison::Single) {
            let keys = keys_of(ui.ctx(), Operation::Compare(comparison));
            let hint = match comparison {
                Comparison::Split => "GPU left, RPU right of a divider",
                Comparison::Blink => "GPU and RPU alternating",
                _ => "Where the GPU and the RPU differ",
            };
            let label = ui.selectable_label(display.comparison == comparison, comparison.name());
            if label.on_hover_text(format!("{hint} ({keys})")).clicked() {
                display.comparison = comparison;
            }
        }
        ui.separator();
        let exposure = ui.label("Exposure");
        let stops = DragValue::new(&mut display.look.stops).range(STOPS).speed(0.02).suffix(" stops").max_decimals(2);
        ui.add(stops).labelled_by(exposure.id).on_hover_text("Drag, or click and type. One stop doubles the exposure.");
        let curve = ComboBox::from_id_salt("tone map").selected_text(display.look.tone_map.name()).width(80.0);
        let shown = curve.show_ui(ui, |ui| {
            for curve in ToneMap::ALL {
                ui.selectable_value(&mut display.look.tone_map, curve, curve.name());
            }
        });
        shown.response.labelled_by(exposure.id).on_hover_text("Tone mapping of values above 1");
        if display.look != Look::default() && ui.small_button("Reset").on_hover_text("As it is in a file").clicked() {
            display.look = Look::default();
        }
        if let Some(times) = image.magnification() {
            ui.separator();
            ui.label(if times < 10.0 { format!("{times:.1}×") } else { format!("{times:.0}×") });
            let hint = "Shows all of the image again (Ctrl+double click). Ctrl+wheel magnifies, Ctrl+drag moves.";
            if ui.button("Fit").on_hover_text(hint).clicked() {
                image.fit();
            }
        }
    });
    if display != model.display {
        actions.push(Action::SetDisplay(display));
    }
}
