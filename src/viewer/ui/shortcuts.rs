//! Keyboard shortcuts: one table for handling and for the help.

use super::Chrome;
use super::files::{FileDialog, Purpose};
use super::menu;
use crate::camera::Flight;
use crate::model::{Action, Comparison, Display, Model};
use crate::settings::Panel;
use egui::{Key, KeyboardShortcut, Modifiers};
use glam::Vec3;
use shadewright_render::Backend;

/// The operation of a shortcut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The dialog that opens a scene.
    Open,
    /// The dialog that saves the image.
    SaveImage,
    /// Reloads everything.
    Reload,
    /// Gives up the device that draws the window, for another.
    RenewDevice,
    /// Leaves.
    Quit,
    /// Frames the whole scene.
    FrameAll,
    /// Resets to the scene's camera.
    SceneCamera,
    /// Shows a back end's image alone.
    Show(Backend),
    /// Shows two images in this way.
    Compare(Comparison),
    /// Shows or hides a panel.
    Panel(Panel),
    /// Lets go of the picked pixel.
    Unpick,
    /// Shows or hides the list of shortcuts.
    Help,
}

const fn key(key: Key, operation: Operation, what: &'static str) -> (KeyboardShortcut, Operation, &'static str) {
    (KeyboardShortcut::new(Modifiers::NONE, key), operation, what)
}

const fn command(key: Key, operation: Operation, what: &'static str) -> (KeyboardShortcut, Operation, &'static str) {
    (KeyboardShortcut::new(Modifiers::COMMAND, key), operation, what)
}

/// The shortcuts: keys, what they do, and how the help says it.
pub const SHORTCUTS: &[(KeyboardShortcut, Operation, &str)] = &[
    (
        KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::R),
        Operation::RenewDevice,
        "renew the window's device",
    ),
    command(Key::O, Operation::Open, "open a scene"),
    command(Key::S, Operation::SaveImage, "save the image"),
    command(Key::R, Operation::Reload, "reload everything"),
    command(Key::Q, Operation::Quit, "quit"),
    key(Key::F, Operation::FrameAll, "frame all"),
    key(Key::Home, Operation::SceneCamera, "look through the scene's camera"),
    key(Key::Num1, Operation::Show(Backend::GPU), "the GPU's image"),
    key(Key::Num2, Operation::Show(Backend::RPU), "the RPU's image"),
    key(Key::Num3, Operation::Compare(Comparison::Split), "both, split by a divider"),
    key(Key::Num4, Operation::Compare(Comparison::Blink), "both, alternating"),
    key(Key::Num5, Operation::Compare(Comparison::Difference), "where they differ"),
    key(Key::F5, Operation::Panel(Panel::Parameters), "parameters"),
    key(Key::F6, Operation::Panel(Panel::Inspector), "inspector"),
    key(Key::F7, Operation::Panel(Panel::Program), "program"),
    key(Key::F8, Operation::Panel(Panel::Timings), "timings"),
    key(Key::F9, Operation::Panel(Panel::Array), "array"),
    key(Key::Escape, Operation::Unpick, "clear the picked pixel"),
    key(Key::Questionmark, Operation::Help, "this list"),
];

/// The gestures of the pointer and of held keys, for the help.
const GESTURES: &[(&str, &str)] = &[
    ("drag", "orbit"),
    ("Shift+drag, middle drag", "pan"),
    ("right drag", "look around"),
    ("wheel", "dolly"),
    ("W A S D, E Q", "fly: forward, left, back, right, up, down"),
    ("click", "pick a pixel"),
    ("Ctrl+wheel", "magnify the image to its pixels"),
    ("Ctrl+drag", "move the magnified image"),
    ("F10, F11, F12", "inspector: next step, into calls, out of this one; Shift: backwards"),
    ("Space, Left, Right", "array: play or pause, event before, next event; Shift: a hundredth of the time"),
    ("drop a file", "open it"),
];

/// Keys that fly while they are held, and where to.
const FLIGHT: [(Key, Vec3); 6] = [
    (Key::D, Vec3::X),
    (Key::A, Vec3::NEG_X),
    (Key::E, Vec3::Y),
    (Key::Q, Vec3::NEG_Y),
    (Key::W, Vec3::Z),
    (Key::S, Vec3::NEG_Z),
];

/// Handles the keys of this frame, unless a text field has the focus.
pub fn handle(context: &egui::Context, model: &Model, chrome: &mut Chrome, actions: &mut Vec<Action>) {
    if context.egui_wants_keyboard_input() || chrome.dialog.is_some() {
        return;
    }
    // Those with modifiers first: without them a key may mean something else.
    for (shortcut, operation, _) in SHORTCUTS {
        // Shift makes the request mark on most keyboards.
        let shifted = *operation == Operation::Help && context.input(|input| input.key_pressed(Key::Questionmark));
        if shifted || context.input_mut(|input| input.consume_shortcut(shortcut)) {
            perform(*operation, model, chrome, actions);
        }
    }
    let (way, seconds) = context.input(|input| {
        let held = |key: Key| input.modifiers.is_none() && input.key_down(key);
        (FLIGHT.iter().filter(|(key, _)| held(*key)).map(|(_, way)| *way).sum::<Vec3>(), input.stable_dt)
    });
    if way != Vec3::ZERO {
        actions.push(Action::Fly(Flight(way), seconds));
        context.request_repaint();
    }
}

/// Does what a shortcut or a menu says.
pub fn perform(operation: Operation, model: &Model, chrome: &mut Chrome, actions: &mut Vec<Action>) {
    match operation {
        Operation::Open => chrome.dialog = Some(FileDialog::new(Purpose::OpenScene, &menu::folder(model, chrome), "")),
        Operation::SaveImage => {
            let folder = menu::folder(model, chrome);
            chrome.dialog = Some(FileDialog::new(Purpose::SaveImage, &folder, "image.png"));
        }
        Operation::Reload => actions.push(Action::Reload),
        Operation::RenewDevice => chrome.renew_device = true,
        Operation::Quit => chrome.close = true,
        Operation::FrameAll => actions.push(Action::FrameAll),
        Operation::SceneCamera => actions.push(Action::SceneCamera),
        Operation::Show(backend) => {
            actions.push(Action::SetDisplay(Display { backend, comparison: Comparison::Single, ..model.display }));
        }
        Operation::Compare(comparison) => actions.push(Action::SetDisplay(Display { comparison, ..model.display })),
        Operation::Panel(panel) => chrome.settings.toggle(panel),
        Operation::Unpick => {
            if chrome.help {
                chrome.help = false;
            } else {
                actions.push(Action::Unpick);
            }
        }
        Operation::Help => chrome.help = !chrome.help,
    }
}

/// The keys of a operation, for menus and hints; empty where there are none.
pub fn keys_of(context: &egui::Context, operation: Operation) -> String {
    let found = SHORTCUTS.iter().find(|(_, of, _)| *of == operation);
    found.map_or_else(String::new, |(shortcut, ..)| context.format_shortcut(shortcut))
}

/// The list of shortcuts.
pub fn show(context: &egui::Context, open: &mut bool) {
    let most = context.content_rect().height() - 80.0;
    let window = egui::Window::new("Keys and pointer").open(open).collapsible(false).resizable(false);
    window.anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0]).show(context, |ui| {
        egui::ScrollArea::vertical().max_height(most).min_scrolled_height(most).show(ui, |ui| {
            egui::Grid::new("shortcuts").num_columns(2).spacing([24.0, 4.0]).show(ui, |ui| {
                let keys = SHORTCUTS.iter().map(|(keys, _, what)| (ui.ctx().format_shortcut(keys), *what));
                let keys: Vec<_> = keys.collect();
                for (keys, what) in GESTURES.iter().map(|(keys, what)| ((*keys).to_string(), *what)).chain(keys) {
                    ui.strong(keys);
                    ui.label(what);
                    ui.end_row();
                }
            });
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_shortcuts_have_the_same_keys_and_none_is_a_key_that_flies() {
        for (i, (shortcut, ..)) in SHORTCUTS.iter().enumerate() {
            assert!(SHORTCUTS[..i].iter().all(|(other, ..)| other != shortcut), "{shortcut:?}");
            let flies = FLIGHT.iter().any(|(key, _)| *key == shortcut.logical_key);
            assert!(!(flies && shortcut.modifiers.is_none()), "{shortcut:?}");
        }
    }
}
