//! The image: one back end's, or both side by side, alternately or as their difference; magnified to
//! its pixels; and the gestures that move the camera.
//!
//! Work that takes long, developing and comparing images, runs on other threads ([`worker`]); a
//! frame of the interface uploads what is ready and paints textures.

mod difference;
pub(super) mod displayed;
mod framing;
mod gestures;
mod labels;
mod pixels;
#[cfg(test)]
mod tests;
mod worker;

use super::status::Pointed;
use crate::develop::Look;
use crate::model::{Action, Comparison, Display, Model};
use crate::workers::Shown;
use difference::Difference;
use displayed::DisplayedImage;
use egui::{Align2, Color32, Context, CursorIcon, Order, Rect, Sense, Stroke, Ui, Vec2, vec2};
use framing::{Framing, Placement, SHARP};
use shadewright_project::Source;
use shadewright_render::Backend;
use std::sync::Arc;
use std::time::Duration;

/// For how long each back end's image is shown when they are shown alternately.
const BLINK: f64 = 0.5;

/// For how long an image may be out of date before a word is said about it. An orbit is always a
/// little behind.
const PATIENCE: f64 = 0.4;

/// Width of what can be grabbed of the divider, in points.
const GRIP: f32 = 12.0;

/// The tint of an image behind a message.
const DIMMED: Color32 = Color32::from_gray(70);

/// The view of the image.
#[derive(Default)]
pub struct ImageView {
    framing: Framing,
    prints: [DisplayedImage; Backend::INTERACTIVE.len()],
    difference: Difference,
    /// Where the image was in the last frame.
    placement: Option<Placement>,
    /// Since when the image has not been that of the latest scene and view, in seconds of egui's
    /// clock.
    outdated_since: Option<f64>,
    /// The pixel at which the new pivot is, until it is known what was hit there.
    pivot: Option<[u32; 2]>,
}

impl ImageView {
    /// How many times as large as fitted the image is; `None` of a fitted one.
    pub fn magnification(&self) -> Option<f32> {
        self.placement.filter(|_| self.framing.is_magnified()).map(|placement| placement.magnification())
    }

    /// Fits the image into its space again.
    pub fn fit(&mut self) {
        self.framing = Framing::default();
    }

    /// The pixel under the pointer, with its values on the back ends that are looked at.
    pub fn pointed(&self, context: &Context, model: &Model) -> Option<Pointed> {
        let at = context.pointer_hover_pos()?;
        if context.layer_id_at(at).is_some_and(|layer| layer.order != Order::Background) {
            return None;
        }
        let (placement, shown) = (self.placement.as_ref()?, model.shown()?);
        let pixel = placement.pixel_at(at)?;
        let comparison = model.display.comparison;
        let values = Backend::INTERACTIVE.map(|backend| {
            let is_looked_at = comparison != Comparison::Single || shown.backend == backend;
            value(model.backend(backend).shown.as_ref().filter(|_| is_looked_at)?, placement, pixel)
        });
        let flip = self.difference.flip_at(pixel).filter(|_| comparison == Comparison::Difference);
        Some(Pointed { pixel, values, flip })
    }

    /// Shows the image in all of the space that is left.
    pub fn show(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        let (space, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        let pixels_per_point = ui.ctx().pixels_per_point();
        let room = [space.width(), space.height()].map(|side| (side * pixels_per_point).max(0.0) as u32);
        actions.push(Action::SetRoom(room));
        for (backend, print) in Backend::INTERACTIVE.into_iter().zip(&mut self.prints) {
            if model.backend(backend).shown.is_none() {
                print.clear();
                self.difference.clear();
            }
        }
        let Some(shown) = model.shown() else {
            self.placement = None;
            nothing_yet(ui, space, model);
            return;
        };
        // An image that was drawn for another size is stretched until the next one is there.
        let format = model.format().unwrap_or(shown.view.format);
        let placement = self.framing.place(space, pixels_per_point, format, model.display.resolution);
        self.placement = Some(placement);
        let visible = placement.visible();
        match model.display.comparison {
            Comparison::Single => self.backend(ui, model, shown.backend, visible),
            Comparison::Split => self.split(ui, model, visible, actions),
            Comparison::Blink => {
                let time = ui.input(|input| input.time) / BLINK;
                let backend = Backend::INTERACTIVE[time as usize % Backend::INTERACTIVE.len()];
                self.backend(ui, model, backend, visible);
                labels::tag(ui, visible, Align2::LEFT_TOP, backend.title());
                ui.ctx().request_repaint_after(Duration::from_secs_f64((1.0 - time.fract()) * BLINK));
            }
            Comparison::Difference => self.differences(ui, model, shown.backend, visible),
        }
        self.note(ui, model, shown, visible);
        let painter = ui.painter_at(visible);
        if let Some(pixel) = gestures::picked(model) {
            pixels::cross(&painter, &placement, pixel);
        }
        if let Some(pixel) = response.hover_pos().and_then(|at| placement.pixel_at(at)) {
            pixels::frame(&painter, &placement, pixel);
        }
        let double_clicked = gestures::take(ui, &response, &placement, &mut self.framing, model, actions);
        self.pivot = double_clicked.or_else(|| gestures::pivot(model, self.pivot?, actions));
    }

    /// Shows a back end's image within a part of the place.
    fn backend(&mut self, ui: &mut Ui, model: &Model, backend: Backend, part: Rect) {
        let Some(shown) = &model.backend(backend).shown else {
            labels::tag(ui, part, Align2::CENTER_CENTER, &labels::why_nothing(model, backend));
            return;
        };
        let look = model.display.look;
        self.paint(ui, shown, look, part, Color32::WHITE);
        if let (Some(placement), Some((painted, look))) = (&self.placement, self.prints[backend.index()].shows())
            && painted.view.format == placement.format
        {
            pixels::values(&ui.painter_at(part), placement, &painted.image, painted.step, look);
        }
        labels::progress(ui, part, shown);
    }

    /// Paints an image, developed as far as it is.
    fn paint(&mut self, ui: &Ui, shown: &Arc<Shown>, look: Look, part: Rect, tint: Color32) {
        let Some(placement) = &self.placement else { return };
        let sharp = self.framing.is_magnified() && placement.scale >= SHARP;
        let print = &mut self.prints[shown.backend.index()];
        print.update(ui.ctx(), shown, look, sharp);
        print.paint(&ui.painter_at(part), placement.rect, tint);
    }

    /// Shows the GPU's image left and the RPU's right of a divider that can be dragged.
    fn split(&mut self, ui: &mut Ui, model: &Model, visible: Rect, actions: &mut Vec<Action>) {
        let display = model.display;
        let x = visible.left() + display.divider.clamp(0.0, 1.0) * visible.width();
        let x = self.placement.map_or(x, |placement| placement.snap(x));
        let left = Rect::from_min_max(visible.min, egui::pos2(x, visible.bottom()));
        let right = Rect::from_min_max(egui::pos2(x, visible.top()), visible.max);
        self.backend(ui, model, Backend::GPU, left);
        self.backend(ui, model, Backend::RPU, right);
        labels::tag(ui, left, Align2::LEFT_TOP, Backend::GPU.title());
        labels::tag(ui, right, Align2::RIGHT_TOP, Backend::RPU.title());
        let grip = Rect::from_center_size(egui::pos2(x, visible.center().y), vec2(GRIP, visible.height()));
        let handle = ui.interact(grip, ui.make_persistent_id("divider"), Sense::click_and_drag());
        let handle = handle.on_hover_and_drag_cursor(CursorIcon::ResizeHorizontal);
        divider(ui, x, visible, handle.hovered() || handle.dragged());
        let wanted = if handle.double_clicked() {
            Some(0.5)
        } else {
            let at = handle.interact_pointer_pos().filter(|_| handle.dragged());
            at.map(|at| ((at.x - visible.left()) / visible.width().max(1.0)).clamp(0.0, 1.0))
        };
        if let Some(divider) = wanted.filter(|wanted| *wanted != display.divider) {
            actions.push(Action::SetDisplay(Display { divider, ..display }));
        }
    }

    /// Shows where the images differ, or over a dimmed image what there is to wait for.
    fn differences(&mut self, ui: &mut Ui, model: &Model, backend: Backend, visible: Rect) {
        let Some(placement) = self.placement else { return };
        let sharp = self.framing.is_magnified() && placement.scale >= SHARP;
        match self.difference.update(ui.ctx(), model, sharp) {
            Ok(()) => {
                self.difference.paint(&ui.painter_at(visible), placement.rect);
                self.difference.metrics(ui, visible);
            }
            Err(message) => {
                if let Some(shown) = &model.backend(backend).shown {
                    self.paint(ui, shown, model.display.look, visible, DIMMED);
                }
                labels::tag(ui, visible, Align2::CENTER_CENTER, &message);
            }
        }
        for backend in Backend::INTERACTIVE {
            if let Some(shown) = &model.backend(backend).shown {
                labels::progress(ui, visible, shown);
            }
        }
    }

    /// Says so when the image is another back end's, or has been out of date for a while.
    fn note(&mut self, ui: &mut Ui, model: &Model, shown: &Shown, visible: Rect) {
        let now = ui.input(|input| input.time);
        let waits = self.outdated_since.filter(|_| !labels::is_current(model, shown));
        self.outdated_since = (!labels::is_current(model, shown)).then(|| waits.unwrap_or(now));
        let left = self.outdated_since.map(|since| since + PATIENCE - now);
        let another = labels::why_another(model, shown);
        if let Some(text) = another {
            labels::tag(ui, visible, Align2::RIGHT_TOP, &text);
        } else if let Some(left) = left {
            if left <= 0.0 {
                labels::tag(ui, visible, Align2::RIGHT_BOTTOM, "drawing…");
            } else {
                ui.ctx().request_repaint_after(Duration::from_secs_f64(left));
            }
        }
    }
}

/// The value of a pixel of the place: that of the block it lies in, of a coarse image or one that
/// was drawn for another size.
fn value(shown: &Shown, placement: &Placement, [x, y]: [u32; 2]) -> Option<[f32; 4]> {
    let along = |x: u32, of: u32, pixels: u32| {
        let scaled = (u64::from(x) * u64::from(pixels) / u64::from(of.max(1))) as u32;
        scaled / shown.step.max(1)
    };
    let format = shown.view.format;
    let (x, y) = (along(x, placement.format.width, format.width), along(y, placement.format.height, format.height));
    let index = y as usize * shown.image.width as usize + x as usize;
    shown.image.rgba.get(index).copied().filter(|_| x < shown.image.width)
}

/// Draws the divider with its handle.
fn divider(ui: &Ui, x: f32, visible: Rect, is_held: bool) {
    let painter = ui.painter_at(visible.expand2(vec2(GRIP, 0.0)));
    let color = if is_held { ui.visuals().selection.bg_fill } else { Color32::from_gray(230) };
    painter.vline(x, visible.y_range(), Stroke::new(3.0, Color32::from_black_alpha(140)));
    painter.vline(x, visible.y_range(), Stroke::new(1.0, color));
    let handle = Rect::from_center_size(egui::pos2(x, visible.center().y), Vec2::new(10.0, 36.0));
    painter.rect(handle, 4.0, color, Stroke::new(1.0, Color32::from_black_alpha(140)), egui::StrokeKind::Outside);
    for offset in [-2.0, 2.0] {
        let lines = Stroke::new(1.0, Color32::from_gray(90));
        painter.vline(x + offset, handle.shrink2(vec2(0.0, 10.0)).y_range(), lines);
    }
}

/// Shows a text where no image is yet.
fn nothing_yet(ui: &mut Ui, space: Rect, model: &Model) {
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(space));
    child.centered_and_justified(|ui| {
        let text = match (&model.failure, &model.state, &model.source) {
            (Some(_), None, _) => {
                "This scene cannot be shown yet.\nFix it and save it, or open another (Ctrl+O).".to_string()
            }
            (_, Some(_), _) => labels::why_nothing(model, model.display.backend),
            (None, None, Source::File(path)) => format!("Reading {}…", path.display()),
            (None, None, Source::BuiltIn(name)) => format!("Reading {name}…"),
        };
        ui.weak(text);
    });
}
