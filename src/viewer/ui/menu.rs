//! The menu bar.

use super::files::{FileDialog, Purpose};
use super::shortcuts::{Operation, keys_of, perform};
use super::{Chrome, source_name};
use crate::camera::FOV_RANGE;
use crate::model::{Action, Comparison, Model, Resolution};
use crate::settings::{Panel, Theme};
use egui::{Button, MenuBar};
use shadewright_project::{Source, rib};
use shadewright_render::Backend;
use shadewright_scene::builtin;
use std::path::{Path, PathBuf};

/// Shows it.
pub fn show(ui: &mut egui::Ui, model: &Model, chrome: &mut Chrome, actions: &mut Vec<Action>) {
    MenuBar::new().ui(ui, |ui| {
        ui.menu_button("File", |ui| file(ui, model, chrome, actions));
        ui.menu_button("View", |ui| view(ui, model, chrome, actions));
        ui.menu_button("Camera", |ui| camera(ui, model, chrome, actions));
        ui.menu_button("Help", |ui| {
            operation(ui, "Keys and pointer", Operation::Help, model, chrome, actions);
        });
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.add(egui::Label::new(egui::RichText::new(source_name(&model.source)).weak()).truncate());
        });
    });
}

/// An entry that does what a shortcut does, too.
fn operation(
    ui: &mut egui::Ui,
    text: &str,
    what: Operation,
    model: &Model,
    chrome: &mut Chrome,
    actions: &mut Vec<Action>,
) {
    let keys = keys_of(ui.ctx(), what);
    if ui.add(Button::new(text).shortcut_text(keys)).clicked() {
        perform(what, model, chrome, actions);
        ui.close();
    }
}

fn file(ui: &mut egui::Ui, model: &Model, chrome: &mut Chrome, actions: &mut Vec<Action>) {
    operation(ui, "Open…", Operation::Open, model, chrome, actions);
    ui.menu_button("Open recent", |ui| {
        if chrome.settings.recent.is_empty() {
            ui.weak("No scene was opened yet.");
        }
        for path in &chrome.settings.recent {
            if ui.button(path.display().to_string()).clicked() {
                actions.push(Action::Open(Source::File(path.clone())));
                ui.close();
            }
        }
    });
    ui.menu_button("Built-in scenes", |ui| {
        for (name, _) in builtin::SCENES {
            if ui.button(*name).clicked() {
                actions.push(Action::Open(Source::BuiltIn((*name).to_string())));
                ui.close();
            }
        }
    });
    operation(ui, "Reload", Operation::Reload, model, chrome, actions);
    ui.separator();
    operation(ui, "Save image…", Operation::SaveImage, model, chrome, actions);
    ui.separator();
    operation(ui, "Quit", Operation::Quit, model, chrome, actions);
}

fn view(ui: &mut egui::Ui, model: &Model, chrome: &mut Chrome, actions: &mut Vec<Action>) {
    for panel in Panel::ALL {
        let mut shown = chrome.settings.shows(panel);
        let keys = keys_of(ui.ctx(), Operation::Panel(panel));
        if ui.checkbox(&mut shown, panel.name()).on_hover_text(keys).changed() {
            chrome.settings.toggle(panel);
        }
    }
    ui.separator();
    ui.menu_button("Image", |ui| {
        for backend in Backend::INTERACTIVE {
            operation(ui, backend.label(), Operation::Show(backend), model, chrome, actions);
        }
        for comparison in Comparison::ALL.into_iter().filter(|c| *c != Comparison::Single) {
            operation(ui, comparison.name(), Operation::Compare(comparison), model, chrome, actions);
        }
    });
    ui.menu_button("Resolution", |ui| {
        for resolution in Resolution::ALL {
            if ui.radio(model.display.resolution == resolution, resolution.name()).clicked() {
                let mut display = model.display;
                display.resolution = resolution;
                actions.push(Action::SetDisplay(display));
            }
        }
    });
    ui.menu_button("Samples per pixel", |ui| {
        let choices = [None, Some(1), Some(4), Some(16), Some(64), Some(256)];
        for samples in choices {
            let text = samples.map_or_else(|| "as the scene sets".to_string(), |n: u32| n.to_string());
            if ui.radio(model.samples == samples, text).clicked() {
                actions.push(Action::SetSamples(samples));
            }
        }
    });
    ui.separator();
    operation(ui, "New device for the window", Operation::RenewDevice, model, chrome, actions);
    ui.menu_button("Colors", |ui| {
        for (theme, name) in [(Theme::System, "As the system"), (Theme::Light, "Light"), (Theme::Dark, "Dark")] {
            if ui.radio(chrome.settings.theme == theme, name).clicked() {
                chrome.settings.theme = theme;
                ui.ctx().set_theme(theme);
            }
        }
    });
    ui.menu_button("Size of the interface", |ui| {
        for percent in [75, 100, 125, 150, 200] {
            let zoom = percent as f32 / 100.0;
            if ui.radio((chrome.settings.zoom - zoom).abs() < 1.0e-3, format!("{percent} %")).clicked() {
                chrome.settings.zoom = zoom;
                ui.ctx().set_zoom_factor(zoom);
            }
        }
    });
}

fn camera(ui: &mut egui::Ui, model: &Model, chrome: &mut Chrome, actions: &mut Vec<Action>) {
    operation(ui, "Frame all", Operation::FrameAll, model, chrome, actions);
    operation(ui, "The scene's camera", Operation::SceneCamera, model, chrome, actions);
    let Some(view) = model.view() else { return };
    if let Some(mut fov) = model.navigation().and_then(|n| n.fov()) {
        ui.horizontal(|ui| {
            ui.label("Field of view");
            let value = egui::DragValue::new(&mut fov).range(FOV_RANGE).suffix("°").speed(0.2);
            if ui.add(value).changed() {
                actions.push(Action::SetFov(fov));
            }
        });
    }
    if model.state.as_ref().is_some_and(|state| state.displaced_triangles > 0) {
        let cut = ui.button("Dice displaced surfaces again");
        if cut.on_hover_text("for the current view, until the scene is reloaded").clicked() {
            actions.push(Action::CutForView);
            ui.close();
        }
    }
    ui.separator();
    if ui.button("Copy as RIB").clicked() {
        let text = rib::camera_rib(&view);
        actions.push(Action::Copy(text, "copied the camera as RIB".to_string()));
        ui.close();
    }
    if ui.button("Save as RIB…").clicked() {
        let text = rib::camera_rib(&view);
        let folder = folder(model, chrome);
        chrome.dialog = Some(FileDialog::new(Purpose::SaveText(text), &folder, "camera.rib"));
        ui.close();
    }
}

/// The folder that dialogs begin in: that of the scene, or of the latest one, or the process's own.
pub fn folder(model: &Model, chrome: &Chrome) -> PathBuf {
    let scene = match &model.source {
        Source::File(path) => Some(path.as_path()),
        Source::BuiltIn(_) => chrome.settings.recent.first().map(PathBuf::as_path),
    };
    let folder = scene.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
