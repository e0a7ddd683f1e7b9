//! Pointer gestures over the image: camera navigation, magnification, picking.

use super::framing::{Framing, Placement};
use crate::model::{Action, Comparison, Model};
use egui::{PointerButton, Response, Ui};
use glam::Vec2;

/// Notches of the wheel in a point of scrolling.
const NOTCHES_PER_POINT: f32 = 1.0 / 40.0;

/// The pixel that was picked.
pub fn picked(model: &Model) -> Option<[u32; 2]> {
    model.picked_pixel()
}

/// Makes what was hit at a pixel the pivot, as soon as that is known. Gives the pixel back as long
/// as it is not.
pub fn pivot(model: &Model, pixel: [u32; 2], actions: &mut Vec<Action>) -> Option<[u32; 2]> {
    let picked = model.picked.as_ref().filter(|p| p.pixel == pixel)?;
    if picked.waiting {
        return Some(pixel);
    }
    let hit = picked.known.as_ref().and_then(|k| k.result.as_ref().ok()).and_then(|p| p.first_hit());
    actions.extend(hit.and_then(|h| h.triple("P")).map(|point| Action::SetPivot(point.into())));
    None
}

/// Takes the gestures of a frame. Gives the pixel that was double clicked: what is there is to be
/// the pivot.
pub fn take(
    ui: &Ui,
    response: &Response,
    placement: &Placement,
    framing: &mut Framing,
    model: &Model,
    actions: &mut Vec<Action>,
) -> Option<[u32; 2]> {
    let (shift, control) = ui.input(|input| (input.modifiers.shift, input.modifiers.command));
    let way = response.drag_delta();
    let by = way / placement.rect.height().max(1.0);
    let by = Vec2::new(by.x, by.y);
    let primary = response.dragged_by(PointerButton::Primary);
    if by != Vec2::ZERO {
        if primary && control {
            framing.shift(way, placement);
        } else if response.dragged_by(PointerButton::Middle) || primary && shift {
            actions.push(Action::Pan(by));
        } else if primary {
            actions.push(Action::Orbit(by));
        } else if response.dragged_by(PointerButton::Secondary) {
            actions.push(Action::LookAround(by));
        }
    }
    // Also over the divider, which lies on the image.
    if let Some(at) = ui.input(|input| input.pointer.hover_pos()).filter(|_| ui.rect_contains_pointer(response.rect)) {
        let (scroll, factor) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        if factor != 1.0 {
            framing.magnify(factor, at, placement);
        } else if scroll != 0.0 {
            actions.push(Action::Dolly(scroll * NOTCHES_PER_POINT));
        }
    }
    if control && response.double_clicked() {
        *framing = Framing::default();
    }
    let at = response.interact_pointer_pos().filter(|_| response.clicked() && !control);
    let pixel = at.and_then(|at| placement.pixel_at(at)).filter(|_| model.view().is_some())?;
    let again = response.double_clicked() && picked(model) == Some(pixel);
    if !again {
        actions.push(Action::Pick(pixel, 0));
        // Who looks at differences wants to know where they come from.
        if model.display.comparison == Comparison::Difference {
            actions.push(Action::Diverge(pixel));
        }
    }
    response.double_clicked().then_some(pixel)
}
