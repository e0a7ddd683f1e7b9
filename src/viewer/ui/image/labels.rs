//! Labels over the image: back end, progress, state.

use crate::model::{Comparison, Model};
use crate::workers::Shown;
use egui::{Align2, Color32, FontSelection, Label, Rect, RichText, Ui, Vec2, WidgetText, vec2};
use shadewright_render::Backend;

/// The background of words over the image, and their color: the same in light and dark, because
/// the image is.
const BEHIND: Color32 = Color32::from_black_alpha(170);
const TEXT: Color32 = Color32::from_gray(240);
const PADDING: Vec2 = vec2(6.0, 3.0);

/// Writes a few words in a corner or the middle of a part of the image.
pub fn tag(ui: &mut Ui, part: Rect, corner: Align2, text: &str) {
    let room = part.shrink(4.0);
    if room.width() < 24.0 || room.height() < 12.0 {
        return;
    }
    let words: WidgetText = RichText::new(text).color(TEXT).into();
    let wrap = Some(egui::TextWrapMode::Wrap);
    let most = (room.width() - 2.0 * PADDING.x).max(1.0);
    let galley = words.into_galley(ui, wrap, most, FontSelection::Default);
    let place = corner.align_size_within_rect(galley.size() + 2.0 * PADDING, room);
    ui.painter().with_clip_rect(part).rect_filled(place, 3.0, BEHIND);
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(place.shrink2(PADDING)));
    child.set_clip_rect(part.intersect(ui.clip_rect()));
    child.add(Label::new(galley).selectable(false));
}

/// A thin line at the foot of a part of the image, as long as the share of the samples that are
/// drawn; nothing of a finished image.
pub fn progress(ui: &Ui, part: Rect, shown: &Shown) {
    if shown.is_finished() {
        return;
    }
    let share = if shown.step > 1 { 0.0 } else { shown.samples as f32 / shown.wanted.max(1) as f32 };
    let foot = Rect::from_min_max(part.left_bottom() - vec2(0.0, 3.0), part.right_bottom());
    let painter = ui.painter().with_clip_rect(part);
    painter.rect_filled(foot, 0.0, BEHIND);
    let done = Rect::from_min_size(foot.min, vec2(foot.width() * share, foot.height()));
    painter.rect_filled(done, 0.0, ui.visuals().selection.bg_fill);
}

/// Why the image that is shown alone is not the chosen back end's of the scene as it is; nothing
/// when it is.
pub fn why_another(model: &Model, shown: &Shown) -> Option<String> {
    let chosen = model.display.backend;
    let is = model.backend(chosen);
    let name = chosen.title();
    if model.display.comparison != Comparison::Single {
        return None;
    }
    if shown.backend == chosen {
        return is.preparing.then(|| format!("{name}: compiling. This is its last image."));
    }
    let other = shown.backend.title();
    Some(match (&is.failure, is.preparing) {
        (Some(_), _) => format!("{name}: failed. This is the {other}'s image."),
        (None, true) => format!("{name}: compiling. This is the {other}'s image."),
        (None, false) => format!("{name}: rendering. This is the {other}'s image."),
    })
}

/// Describes what a back end is doing that has no image to show.
pub fn why_nothing(model: &Model, backend: Backend) -> String {
    let (is, name) = (model.backend(backend), backend.title());
    match (&is.failure, is.preparing) {
        (Some(_), _) => format!("The {name} cannot render this."),
        (None, true) => format!("The {name} is compiling…"),
        (None, false) => format!("Waiting for the {name}'s image…"),
    }
}

/// True if an image shows the latest scene from where the camera is now.
pub fn is_current(model: &Model, shown: &Shown) -> bool {
    model.state.as_ref().is_some_and(|state| state.version == shown.state)
        && model.view().as_ref().is_none_or(|view| *view == shown.view)
}
