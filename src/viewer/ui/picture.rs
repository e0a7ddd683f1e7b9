//! The picture, and moving in it.

use super::status::Pointed;
use crate::project::Source;
use crate::viewer::develop::{Look, develop};
use crate::viewer::engine::Shown;
use crate::viewer::model::{Action, Model};
use egui::{Color32, ColorImage, PointerButton, Pos2, Rect, Sense, TextureHandle, TextureOptions, Vec2};
use std::sync::Arc;

/// Notches of the wheel in a point of scrolling.
const NOTCHES_PER_POINT: f32 = 1.0 / 40.0;

/// The view of the picture.
#[derive(Default)]
pub struct PictureView {
    developed: Option<Developed>,
    pointed: Option<Pointed>,
}

/// A picture on the device that draws the window.
struct Developed {
    of: Arc<Shown>,
    look: Look,
    texture: TextureHandle,
}

impl PictureView {
    /// The pixel under the pointer.
    pub fn pointed(&self) -> Option<Pointed> {
        self.pointed
    }

    /// Shows the picture in all of the space that is left.
    pub fn show(&mut self, ui: &mut egui::Ui, model: &Model, actions: &mut Vec<Action>) {
        let (space, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        let scale = ui.ctx().pixels_per_point();
        actions.push(Action::SetRoom([space.width() * scale, space.height() * scale].map(|side| side.max(0.0) as u32)));
        self.pointed = None;
        let Some(shown) = model.shown() else {
            nothing_yet(ui, space, model);
            return;
        };
        let format = shown.view.format;
        let size = Vec2::new(format.width as f32 * format.pixel_aspect, format.height as f32) / scale;
        let size = size * (space.width() / size.x).min(space.height() / size.y).min(1.0);
        let place = Rect::from_center_size(space.center(), size);
        let texture = self.texture(ui.ctx(), shown, model.display.look);
        // A coarse picture may reach beyond the border.
        let covered = |pixels: u32, blocks: u32| pixels as f32 / (blocks * shown.step).max(1) as f32;
        let end = Pos2::new(covered(format.width, shown.picture.width), covered(format.height, shown.picture.height));
        ui.painter_at(space).image(texture, place, Rect::from_min_max(Pos2::ZERO, end), Color32::WHITE);
        self.pointed = response.hover_pos().and_then(|at| pointed(shown, place, at));
        navigate(ui, &response, place, actions);
        if response.clicked()
            && let Some(Pointed { pixel, .. }) = self.pointed
        {
            actions.push(Action::Pick(pixel, 0));
        }
    }

    fn texture(&mut self, context: &egui::Context, shown: &Arc<Shown>, look: Look) -> egui::TextureId {
        let known = self.developed.as_ref().is_some_and(|d| Arc::ptr_eq(&d.of, shown) && d.look == look);
        if !known {
            let codes = develop(&shown.picture, look, shown.step);
            let size = [shown.picture.width as usize, shown.picture.height as usize];
            let image =
                ColorImage::new(size, codes.into_iter().map(|[r, g, b, _]| Color32::from_rgb(r, g, b)).collect());
            let texture = context.load_texture("picture", image, TextureOptions::LINEAR);
            self.developed = Some(Developed { of: shown.clone(), look, texture });
        }
        self.developed.as_ref().map_or_else(egui::TextureId::default, |d| d.texture.id())
    }
}

/// The pixel of the view at a point of the screen, with its value.
fn pointed(shown: &Shown, place: Rect, at: Pos2) -> Option<Pointed> {
    if !place.contains(at) {
        return None;
    }
    let format = shown.view.format;
    let share = (at - place.min) / place.size();
    let pixel = [share.x * format.width as f32, share.y * format.height as f32].map(|x| x.max(0.0) as u32);
    let pixel = [pixel[0].min(format.width - 1), pixel[1].min(format.height - 1)];
    let [x, y] = pixel.map(|p| p / shown.step);
    let value = shown.picture.rgba.get(y as usize * shown.picture.width as usize + x as usize).copied()?;
    Some(Pointed { pixel, value })
}

/// Moves the camera by dragging and scrolling.
fn navigate(ui: &egui::Ui, response: &egui::Response, place: Rect, actions: &mut Vec<Action>) {
    let by = response.drag_delta() / place.height().max(1.0);
    let by = glam::Vec2::new(by.x, by.y);
    let shift = ui.input(|input| input.modifiers.shift);
    if by != glam::Vec2::ZERO {
        if response.dragged_by(PointerButton::Middle) || response.dragged_by(PointerButton::Primary) && shift {
            actions.push(Action::Pan(by));
        } else if response.dragged_by(PointerButton::Primary) {
            actions.push(Action::Orbit(by));
        } else if response.dragged_by(PointerButton::Secondary) {
            actions.push(Action::LookAround(by));
        }
    }
    if response.hovered() {
        let notches = ui.input(|input| input.smooth_scroll_delta().y) * NOTCHES_PER_POINT;
        if notches != 0.0 {
            actions.push(Action::Dolly(notches));
        }
    }
}

/// What stands where no picture is yet.
fn nothing_yet(ui: &mut egui::Ui, space: Rect, model: &Model) {
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(space));
    child.centered_and_justified(|ui| {
        let text = match (&model.failure, &model.state, &model.source) {
            (Some(_), None, _) => {
                "This scene cannot be shown yet.\nMend it and save it, or open another (Ctrl+O).".to_string()
            }
            (_, Some(_), _) => "Drawing…".to_string(),
            (None, None, Source::File(path)) => format!("Reading {}…", path.display()),
            (None, None, Source::BuiltIn(name)) => format!("Reading {name}…"),
        };
        ui.weak(text);
    });
}
