//! The panels. Each shows a part of the model and returns user actions; none changes the model,
//! waits, or touches files, except that a file dialog lists folders.
//!
//! [`show`] puts them together: menus and tools above, parameters left, inspector right, program,
//! timings and array below, the image in what remains, messages over it. In a small window the image
//! wins: what would leave it too little is not shown, and menus and keys do the same.

mod array;
mod errors;
mod files;
mod image;
mod inspector;
mod menu;
mod parameters;
mod program;
mod shortcuts;
mod status;
mod timings;
mod toolbar;

#[cfg(test)]
mod tests;

use super::model::{Action, Model};
use super::settings::{Panel, Settings};
use egui::Color32;
use files::FileDialog;
use shadewright_project::Source;

/// State of the interface outside the model.
#[derive(Debug)]
pub struct Chrome {
    /// The persistent settings.
    pub settings: Settings,
    /// True if the user asked to quit.
    pub close: bool,
    /// True if the user wants another device for the window.
    pub renew_device: bool,
    /// The file dialog, while it is open.
    dialog: Option<FileDialog>,
    /// True if the list of shortcuts is shown.
    help: bool,
}

impl Chrome {
    /// With what was remembered.
    pub fn new(settings: Settings) -> Self {
        Self { settings, close: false, renew_device: false, dialog: None, help: false }
    }
}

/// The panels' own state: textures, what is folded, scrolled or typed.
#[derive(Default)]
pub struct Panels {
    image: image::ImageView,
    parameters: parameters::ParametersPanel,
    inspector: inspector::InspectorPanel,
    program: program::ProgramPanel,
    timings: timings::TimingsPanel,
    array: array::ArrayPanel,
    errors: errors::ErrorOverlay,
}

/// Width of the window, in points, from which panels stand beside the image.
const WIDE: f32 = 620.0;
/// Height of the window, in points, from which panels stand below the image.
const HIGH: f32 = 420.0;

/// Shows everything.
pub fn show(ui: &mut egui::Ui, model: &Model, chrome: &mut Chrome, panels: &mut Panels, actions: &mut Vec<Action>) {
    shortcuts::handle(ui.ctx(), model, chrome, actions);
    accept_dropped_files(ui.ctx(), actions);
    let size = ui.available_size();
    egui::Panel::top("menu").show(ui, |ui| menu::show(ui, model, chrome, actions));
    let (wide, high) = (size.x >= WIDE, size.y >= HIGH);
    if wide || high {
        egui::Panel::top("tools").show(ui, |ui| toolbar::show(ui, model, &mut panels.image, actions));
        egui::Panel::bottom("status").show(ui, |ui| status::show(ui, model, panels.image.pointed(ui.ctx(), model)));
    }
    let shown = |chrome: &Chrome, panel: Panel, fits: bool| fits && chrome.settings.shows(panel);
    if shown(chrome, Panel::Timings, high) {
        side(egui::Panel::bottom("timings"), chrome, Panel::Timings, 180.0, ui, |ui| panels.timings.show(ui, model));
    }
    if shown(chrome, Panel::Array, high) {
        side(egui::Panel::bottom("array"), chrome, Panel::Array, 380.0, ui, |ui| panels.array.show(ui, model, actions));
    }
    if shown(chrome, Panel::Program, high) {
        side(egui::Panel::bottom("program"), chrome, Panel::Program, 260.0, ui, |ui| {
            panels.program.show(ui, model, actions);
        });
    }
    if shown(chrome, Panel::Parameters, wide) {
        side(egui::Panel::left("parameters"), chrome, Panel::Parameters, 400.0, ui, |ui| {
            panels.parameters.show(ui, model, actions);
        });
    }
    if shown(chrome, Panel::Inspector, wide) {
        side(egui::Panel::right("inspector"), chrome, Panel::Inspector, 380.0, ui, |ui| {
            panels.inspector.show(ui, model, actions);
        });
    }
    egui::CentralPanel::no_frame().show(ui, |ui| {
        panels.image.show(ui, model, actions);
        // Who picks a pixel wants to know what it is made of.
        let picks = actions.iter().any(|action| matches!(action, Action::Pick(..)));
        if picks && wide && !chrome.settings.shows(Panel::Inspector) {
            chrome.settings.toggle(Panel::Inspector);
        }
        panels.errors.show(ui, model, actions);
    });
    if let Some(dialog) = &mut chrome.dialog {
        match dialog.show(ui.ctx()) {
            files::Answer::Open => {}
            files::Answer::Canceled => chrome.dialog = None,
            files::Answer::Chosen(path) => {
                actions.push(dialog.action(path));
                chrome.dialog = None;
            }
        }
    }
    if chrome.help {
        shortcuts::show(ui.ctx(), &mut chrome.help);
    }
}

/// A panel beside the image, whose size is remembered.
fn side(
    panel: egui::Panel,
    chrome: &mut Chrome,
    which: Panel,
    usual: f32,
    ui: &mut egui::Ui,
    contents: impl FnOnce(&mut egui::Ui),
) {
    let size = chrome.settings.sizes.get(&which).copied().unwrap_or(usual);
    let vertical = matches!(which, Panel::Timings | Panel::Program | Panel::Array);
    let most = if vertical { ui.available_height() } else { ui.available_width() } * 0.6;
    let shown = panel.resizable(true).default_size(size.min(most)).max_size(most).show(ui, |ui| {
        // The panel keeps the size that it was given, whatever its contents need: what does not fit
        // is cut off.
        let place = ui.available_rect_before_wrap();
        let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(place));
        inside.shrink_clip_rect(place);
        contents(&mut inside);
        ui.take_available_space();
    });
    let rect = shown.response.rect;
    chrome.settings.sizes.insert(which, if vertical { rect.height() } else { rect.width() });
}

/// Opens the last of the files that were dropped on the window.
fn accept_dropped_files(context: &egui::Context, actions: &mut Vec<Action>) {
    let dropped = context.input(|input| input.raw.dropped_files.last().map(|file| file.path().to_path_buf()));
    actions.extend(dropped.map(|path| Action::Open(Source::File(path))));
}

/// A scene's name for people.
pub fn source_name(source: &Source) -> String {
    match source {
        Source::BuiltIn(name) => format!("{name} (built in)"),
        Source::File(path) => {
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
        }
    }
}

/// Spacing and text sizes of the whole interface.
pub fn set_style(context: &egui::Context) {
    context.all_styles_mut(|style| {
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
        style.spacing.slider_width = 120.0;
        style.interaction.selectable_labels = false;
    });
}

/// The color of what went wrong.
fn error_color(ui: &egui::Ui) -> Color32 {
    ui.visuals().error_fg_color
}
