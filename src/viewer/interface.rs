//! The interface: the model, the worker threads and the panels, combined every frame.
//!
//! A frame handles the worker threads' events, shows the panels, and performs the actions they
//! return. The model handles most actions; the clipboard, files and the window are handled here.

use super::model::{Action, Model, Notice};
use super::settings::{Panel, Settings};
use super::ui::{self, Chrome, Panels};
use super::workers::{Command, Workers};
use super::{ViewerOptions, workers};
use shadewright_image::file as image_file;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The interface of one window.
pub struct Interface {
    model: Model,
    workers: Workers,
    chrome: Chrome,
    panels: Panels,
    /// True if the worker threads time kernels: while the timings panel is open.
    times_kernels: bool,
    /// Where the settings are kept.
    file: Option<PathBuf>,
}

impl Interface {
    /// Starts the worker threads. They call `wake` when they have events.
    pub fn new(options: ViewerOptions, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        let file = Settings::usual_file();
        let settings = file.as_deref().map(Settings::read).unwrap_or_default();
        let mut display = settings.display;
        display.backend = options.backend.unwrap_or(display.backend);
        let workers = Workers::start(workers::WorkerOptions::from(&options), wake);
        let mut model = Model::new(options.source, display);
        if let Some(samples) = options.samples {
            model.apply(Action::SetSamples(Some(samples)));
        }
        Self { model, workers, chrome: Chrome::new(settings), panels: Panels::default(), times_kernels: false, file }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.chrome.settings
    }

    /// The window's title.
    pub fn title(&self) -> String {
        format!("{} - Shadewright", ui::source_name(&self.model.source))
    }

    /// True if the user asked to quit.
    pub fn wants_to_close(&self) -> bool {
        self.chrome.close
    }

    /// True if the user has asked for another device for the window since this was asked last.
    pub fn wants_another_device(&mut self) -> bool {
        std::mem::take(&mut self.chrome.renew_device)
    }

    /// Sets up a new context for the window: fonts, colors, size. Drops the textures of the
    /// previous context.
    pub fn set_up(&mut self, context: &egui::Context) {
        context.set_theme(self.chrome.settings.theme);
        context.set_zoom_factor(self.chrome.settings.zoom);
        ui::set_style(context);
        self.panels = Panels::default();
    }

    /// One frame.
    pub fn show(&mut self, ui: &mut egui::Ui) {
        for event in self.workers.poll() {
            self.model.handle(event);
        }
        let mut actions = Vec::new();
        ui::show(ui, &self.model, &mut self.chrome, &mut self.panels, &mut actions);
        for action in actions {
            self.carry_out(ui.ctx(), action);
        }
        let times_kernels = self.chrome.settings.shows(Panel::Timings);
        if times_kernels != self.times_kernels {
            self.times_kernels = times_kernels;
            self.workers.send(Command::TimeKernels(times_kernels));
        }
        for command in self.model.commands.drain(..) {
            self.workers.send(command);
        }
    }

    /// Records a frame's time, from events to submission.
    pub fn frame_took(&mut self, time: Duration) {
        self.model.frames.push(time);
    }

    /// Remembers the window's size, in points.
    pub fn window_resized(&mut self, size: [f32; 2]) {
        self.chrome.settings.window = size;
    }

    /// The window has another device, because its first one failed.
    pub fn window_device_failed(&mut self, why: &str) {
        self.notify(format!("{why}; the window has a new one"), true);
    }

    /// Writes the settings.
    pub fn close(&mut self) {
        self.chrome.settings.display = self.model.display;
        if let Some(file) = &self.file {
            // The window is closed, so a failure cannot be shown; the next window opens with
            // defaults.
            let _ = self.chrome.settings.write(file);
        }
    }

    fn notify(&mut self, text: String, is_error: bool) {
        self.model.apply(Action::Notify(Notice { text, is_error }));
    }

    fn carry_out(&mut self, context: &egui::Context, action: Action) {
        match action {
            Action::Copy(text, what) => {
                context.copy_text(text);
                self.notify(what, false);
            }
            Action::SaveText(path, text) => {
                let saved = image_file::write_bytes(&path, text.as_bytes());
                self.saved(&path, saved.map_err(|e| e.to_string()));
            }
            Action::SaveImage(path) => {
                let saved = match self.model.shown() {
                    Some(shown) => image_file::write(&path, &shown.image).map_err(|e| e.to_string()),
                    None => Err("no image yet".to_string()),
                };
                self.saved(&path, saved);
            }
            Action::Open(source) => {
                if let shadewright_project::Source::File(path) = &source {
                    self.chrome.settings.remember(path);
                }
                self.model.apply(Action::Open(source));
            }
            action => self.model.apply(action),
        }
    }

    fn saved(&mut self, path: &Path, result: Result<(), String>) {
        match result {
            Ok(()) => self.notify(format!("saved {}", path.display()), false),
            Err(error) => self.notify(format!("could not save {}: {error}", path.display()), true),
        }
    }
}
