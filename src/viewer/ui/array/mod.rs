//! The ray tracing array at work: nodes, rays in flight, and the image as the frame buffer has it.
//!
//! Asks for a simulation and plays the one that the model has. The position in it is the panel's own
//! state.

mod legend;
mod mesh;
#[cfg(test)]
mod tests;
mod transport;

use super::image::displayed::{Texture, image};
use crate::array::run::{SIDES, WIDTHS};
use crate::array::{ArrayPhase, ArrayRequest, ArrayRun, FrameBuffer};
use crate::model::{Action, Model};
use egui::{Button, Color32, ComboBox, DragValue, Rect, RichText, Sense, Ui, pos2, vec2};
use mesh::Heat;
use shadewright_machines::array::mapping::Mapping;
use std::sync::Arc;
use transport::Transport;

/// Pixels of the view in a pixel of the image, for the squares behind transparent ones.
const MAGNIFIED: u32 = 4;

/// Width of the legend, in points.
const LEGEND: f32 = 250.0;

/// The panel.
#[derive(Default)]
pub struct ArrayPanel {
    /// The settings of the next simulation.
    request: ArrayRequest,
    /// The simulation that is shown; with another one from the model, time begins again.
    run: Option<Arc<ArrayRun>>,
    transport: Transport,
    heat: Heat,
    frame: FrameBuffer,
    texture: Option<Texture>,
}

impl ArrayPanel {
    /// Shows it.
    pub fn show(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        ui.add_space(4.0);
        ui.horizontal_wrapped(|ui| self.request(ui, model, actions));
        if let Some(failure) = &model.array.failure {
            ui.label(RichText::new(failure).color(super::error_color(ui)));
        }
        self.take(model);
        let Some(run) = self.run.clone() else {
            ui.weak("Run simulates the scene on the array, and shows its rays in flight.");
            return;
        };
        if let Some(note) = note(model, &run) {
            ui.weak(note);
        }
        self.transport.show(ui, &run.playback);
        ui.separator();
        ui.horizontal_top(|ui| self.array(ui, &run));
    }

    /// Shows the settings of the next simulation, and the button that starts it.
    fn request(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        let request = &mut self.request;
        let nodes = |side: u16| format!("{side}×{side}");
        let label = ui.label("Nodes");
        let shown = ComboBox::from_id_salt("nodes").selected_text(nodes(request.side)).width(64.0).show_ui(ui, |ui| {
            for side in SIDES {
                ui.selectable_value(&mut request.side, side, nodes(side));
            }
        });
        shown.response.labelled_by(label.id);
        let label = ui.label("Mapping");
        let shown = ComboBox::from_id_salt("mapping").selected_text(mapping_name(request.mapping)).width(64.0);
        let shown = shown.show_ui(ui, |ui| {
            for mapping in [Mapping::Plain, Mapping::Skew, Mapping::Torus] {
                ui.selectable_value(&mut request.mapping, mapping, mapping_name(mapping));
            }
        });
        shown.response.labelled_by(label.id).on_hover_text("How layers of space are laid over the nodes");
        let label = ui.label("Image");
        let width = DragValue::new(&mut request.width).range(WIDTHS).suffix(" pixels wide");
        ui.add(width).labelled_by(label.id).on_hover_text("One sample a pixel, in the shape of the view");
        let waits = model.array.asked.is_some();
        if ui.add_enabled(!waits && model.view().is_some(), Button::new("Run")).clicked() {
            actions.push(Action::Simulate(*request));
        }
        if waits {
            ui.spinner();
            ui.label(match model.array.stage {
                None => "waiting".to_string(),
                Some(ArrayPhase::Rays(done)) => format!("tracing the rays: {:.0} %", 100.0 * done),
                Some(ArrayPhase::Array) => "simulating the array".to_string(),
                Some(ArrayPhase::Index) => "indexing the trace".to_string(),
            });
        }
    }

    /// Takes the model's simulation, from its start if it is another one.
    fn take(&mut self, model: &Model) {
        let is_same = match (&self.run, &model.array.run) {
            (Some(shown), Some(run)) => Arc::ptr_eq(shown, run),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            self.run.clone_from(&model.array.run);
            self.frame = FrameBuffer::default();
            self.transport = self.run.as_ref().map(|run| Transport::new(&run.playback)).unwrap_or_default();
        }
    }

    /// The nodes, the image, and the numbers.
    fn array(&mut self, ui: &mut Ui, run: &ArrayRun) {
        let cursor = self.transport.cursor();
        let state = cursor.state(&run.playback);
        let [width, height] = [(ui.available_width() - LEGEND).max(120.0), ui.available_height().max(40.0)];
        let side = height.min(0.6 * width);
        mesh::show(ui, side, run, &state, cursor.time(), self.heat);
        if self.frame.seek(&run.contributions, cursor.position()) || self.texture.is_none() {
            let look = crate::develop::Look::default();
            let developed = image(&self.frame.image(&run.contributions), look, MAGNIFIED);
            Texture::put(&mut self.texture, ui.ctx(), "array", developed);
        }
        let format = run.view.format;
        let aspect = format.frame_aspect();
        let wide = (width - side).max(40.0).min(height * aspect);
        let (place, response) = ui.allocate_exact_size(vec2(wide, wide / aspect), Sense::hover());
        if let Some(texture) = &mut self.texture {
            texture.set_sharp(true);
            let all = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            texture.paint(ui.painter(), place, all, Color32::WHITE);
        }
        let (done, size) = (self.frame.results(), format!("{}×{}", format.width, format.height));
        response.on_hover_text(format!("The frame buffer: {size} pixels, {done} results"));
        ui.vertical(|ui| {
            mesh::heat(ui, &mut self.heat);
            legend::show(ui, run, &state);
        });
    }
}

/// A mapping's name.
fn mapping_name(mapping: Mapping) -> &'static str {
    match mapping {
        Mapping::Plain => "plain",
        Mapping::Skew => "skewed",
        Mapping::Torus => "torus",
    }
}

/// Returns the facts about a simulation to know before it is believed.
fn note(model: &Model, run: &ArrayRun) -> Option<String> {
    let mut notes = Vec::new();
    if model.state.as_ref().is_some_and(|state| state.version != run.state) {
        notes.push("The scene has changed since.".to_string());
    } else if model.view().is_some_and(|view| view.camera != run.view.camera) {
        notes.push("The view has changed since.".to_string());
    }
    if let Some(why) = &run.why_answers {
        notes.push(format!("Rays return to their pixel's node, which shades: {why}."));
    }
    if run.playback.left_out() > 0 {
        let (kept, total) = (run.playback.events().len(), run.statistics.total);
        notes.push(format!("Only the first {kept} events are kept, of {total:.0} µs in all."));
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}
