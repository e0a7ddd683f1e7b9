//! The first value at which the back ends differ, of a pixel of the difference image.

use crate::model::{Action, Model, Picked};
use egui::{Label, RichText, ScrollArea, Ui};

/// Shows what was found of the pixel that was asked for.
pub fn show(ui: &mut Ui, model: &Model, picked: &Picked, actions: &mut Vec<Action>) {
    let Some(found) = &model.divergence.found else {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label("Following the pixel's samples on the evaluator, the GPU and the RPU…");
        });
        ui.weak("A software driver takes a while to compile the code that records values.");
        return;
    };
    let is_old = model.state.as_ref().is_some_and(|state| state.version != found.state)
        || model.view().is_some_and(|view| view != found.view);
    ui.horizontal(|ui| {
        if is_old {
            ui.weak("The scene or the view has changed since.");
        }
        if let Some(pixel) = model.picked_pixel().filter(|_| is_old)
            && ui.small_button("Look again").clicked()
        {
            actions.push(Action::Diverge(pixel));
        }
    });
    match &found.result {
        Err(message) => {
            ui.label(RichText::new(message).color(super::super::error_color(ui)));
        }
        Ok((divergence, text)) => {
            ui.label(RichText::new(divergence.verdict()).strong());
            ui.horizontal(|ui| {
                if ui.small_button("Copy").on_hover_text("Copy the report").clicked() {
                    actions.push(Action::Copy(text.clone(), "The report is on the clipboard".to_string()));
                }
                let sample = divergence.sample;
                if picked.sample != sample
                    && ui.small_button(format!("Step through sample {sample}")).clicked()
                    && let Some(pixel) = model.picked_pixel()
                {
                    actions.push(Action::Pick(pixel, sample));
                }
            });
            ScrollArea::both().id_salt("divergence").auto_shrink(false).show(ui, |ui| {
                ui.add(Label::new(RichText::new(text).monospace()).extend());
            });
        }
    }
}
