//! The error overlay: errors of the scene and its shaders as source excerpts, and failures of back
//! ends. Errors disappear when their cause does.

use crate::model::{Action, Model};
use egui::{Align2, Frame, RichText, ScrollArea};
use shadewright_project::Failure;
use shadewright_render::Backend;
use std::sync::Arc;

/// The overlay. It keeps the rendered text of the errors that it shows.
#[derive(Default)]
pub struct ErrorOverlay {
    rendered: Option<(Arc<Failure>, String)>,
}

/// Most characters of messages that are shown.
const MOST_CHARACTERS: usize = 20_000;

impl ErrorOverlay {
    /// Shows what is wrong, if anything, at the foot of the space that is left.
    pub fn show(&mut self, ui: &mut egui::Ui, model: &Model, actions: &mut Vec<Action>) {
        let failed: Vec<(Backend, &str)> = Backend::INTERACTIVE
            .into_iter()
            .filter_map(|backend| Some((backend, model.backend(backend).failure.as_deref()?)))
            .collect();
        if model.failure.is_none() && failed.is_empty() {
            self.rendered = None;
            return;
        }
        let space = ui.max_rect();
        let area = egui::Area::new(egui::Id::unique("errors"))
            .pivot(Align2::LEFT_BOTTOM)
            .fixed_pos(space.left_bottom())
            .constrain_to(space);
        area.show(ui.ctx(), |ui| {
            let frame = Frame::popup(ui.style()).stroke((1.0, super::error_color(ui)));
            frame.show(ui, |ui| {
                ui.set_width((space.width() - 16.0).max(80.0));
                if let Some(failure) = &model.failure {
                    self.errors(ui, failure, model.state.is_some(), space.height() * 0.6);
                }
                for (backend, message) in failed {
                    self.failed_backend(ui, backend, message, actions);
                }
            });
        });
    }

    fn errors(&mut self, ui: &mut egui::Ui, failure: &Arc<Failure>, has_image: bool, height: f32) {
        let is_rendered = self.rendered.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, failure));
        if !is_rendered {
            let text: String = failure.render().trim_end().chars().take(MOST_CHARACTERS).collect();
            self.rendered = Some((failure.clone(), text));
        }
        let count = failure.diagnostics.error_count();
        let errors = if count == 1 { "1 error".to_string() } else { format!("{count} errors") };
        let rest = if has_image { "the last good image is shown" } else { "fix the file and save it, or open another" };
        ui.label(RichText::new(format!("{errors}: {rest}")).strong().color(super::error_color(ui)));
        if let Some((_, text)) = &self.rendered {
            ScrollArea::both().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
                let text = RichText::new(text).monospace();
                ui.add(egui::Label::new(text).wrap_mode(egui::TextWrapMode::Extend).selectable(true));
            });
        }
    }

    fn failed_backend(&self, ui: &mut egui::Ui, backend: Backend, message: &str, actions: &mut Vec<Action>) {
        ui.label(
            RichText::new(format!("The {} cannot render this", backend.title())).strong().color(super::error_color(ui)),
        );
        ui.label(RichText::new(message).monospace());
        ui.horizontal(|ui| {
            if ui.button("Try again").clicked() {
                actions.push(Action::Retry(backend));
            }
        });
    }
}
