//! Persistent settings of the viewer: theme, panels, window size, recent scenes.
//!
//! [`Settings`] is plain data, kept as JSON in the user's configuration folder. A file that is
//! missing, damaged or of another version gives the defaults; failing to write it is never an error
//! worth stopping for.

use super::model::Display;
use serde::{Deserialize, Serialize};
use shadewright_image::file as image_file;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of recent scenes.
const MOST_RECENT: usize = 12;

/// Where to keep settings instead of the user's configuration folder; empty to keep none.
pub const CONFIG_VARIABLE: &str = "SHADEWRIGHT_CONFIG";

/// The color theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Theme {
    /// Follows the system.
    #[default]
    System,
    /// Dark text on light.
    Light,
    /// Light text on dark.
    Dark,
}

/// A part of the window that can be shown or hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Panel {
    /// Shaders, lights and options with their parameters.
    Parameters,
    /// The pixel inspector.
    Inspector,
    /// A shader's source, IR, assembly and WGSL.
    Program,
    /// The timings.
    Timings,
    /// The simulated ray tracing array.
    Array,
}

impl Panel {
    /// All of them, in the order of the menu.
    pub const ALL: [Panel; 5] = [Panel::Parameters, Panel::Inspector, Panel::Program, Panel::Timings, Panel::Array];

    /// The name in the menu.
    pub fn name(self) -> &'static str {
        match self {
            Panel::Parameters => "Parameters",
            Panel::Inspector => "Inspector",
            Panel::Program => "Program",
            Panel::Timings => "Timings",
            Panel::Array => "Array",
        }
    }
}

/// All settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The colors.
    pub theme: Theme,
    /// Factor on the size of the interface.
    pub zoom: f32,
    /// The panels that are shown.
    pub panels: Vec<Panel>,
    /// Width and height of the window, in points.
    pub window: [f32; 2],
    /// Recent scenes, the latest first.
    pub recent: Vec<PathBuf>,
    /// Width or height of panels that were resized, in points.
    pub sizes: BTreeMap<Panel, f32>,
    /// How images are shown.
    pub display: Display,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            zoom: 1.0,
            panels: vec![Panel::Parameters],
            window: [1280.0, 800.0],
            recent: Vec::new(),
            sizes: BTreeMap::new(),
            display: Display::default(),
        }
    }
}

/// Most bytes of a file of settings.
const MAX_BYTES: u64 = 16 << 20;

impl Settings {
    /// The file of the settings; `None` where there is no place for it.
    pub fn usual_file() -> Option<PathBuf> {
        match std::env::var_os(CONFIG_VARIABLE) {
            Some(folder) if folder.is_empty() => None,
            Some(folder) => Some(PathBuf::from(folder).join("viewer.json")),
            None => {
                let folders = directories::ProjectDirs::from("", "", "shadewright")?;
                Some(folders.config_dir().join("viewer.json"))
            }
        }
    }

    /// Reads a file of settings; missing or invalid values get their defaults.
    pub fn read(file: &Path) -> Self {
        let text =
            shadewright_base::disk::read(file, MAX_BYTES).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.unwrap_or_default();
        let mut settings: Settings = serde_json::from_str(&text).unwrap_or_default();
        settings.zoom = if settings.zoom.is_finite() { settings.zoom.clamp(0.5, 3.0) } else { 1.0 };
        settings.window = settings.window.map(|side| if side.is_finite() { side.clamp(200.0, 8192.0) } else { 800.0 });
        settings.sizes.retain(|_, size| (50.0..=4096.0).contains(size));
        settings.recent.truncate(MOST_RECENT);
        settings
    }

    /// Writes the file; a reader finds the old one or the new one, never half of it.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn write(&self, file: &Path) -> Result<(), String> {
        let folder = file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
        let text = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        image_file::write_bytes(file, text.as_bytes()).map_err(|e| e.to_string())
    }

    /// Puts a scene at the head of the list.
    pub fn remember(&mut self, scene: &Path) {
        let scene = std::path::absolute(scene).unwrap_or_else(|_| scene.to_path_buf());
        self.recent.retain(|known| *known != scene);
        self.recent.insert(0, scene);
        self.recent.truncate(MOST_RECENT);
    }

    /// True if a panel is shown.
    pub fn shows(&self, panel: Panel) -> bool {
        self.panels.contains(&panel)
    }

    /// Shows or hides a panel.
    pub fn toggle(&mut self, panel: Panel) {
        if self.shows(panel) {
            self.panels.retain(|shown| *shown != panel);
        } else {
            self.panels.push(panel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/viewer.json");
        let mut settings = Settings { theme: Theme::Dark, zoom: 1.5, ..Settings::default() };
        settings.toggle(Panel::Timings);
        settings.remember(Path::new("/scenes/a.rib"));
        settings.write(&file).unwrap();
        assert_eq!(Settings::read(&file), settings);
    }

    #[test]
    fn a_damaged_file_gives_the_defaults_and_wild_numbers_are_tamed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("viewer.json");
        assert_eq!(Settings::read(&file), Settings::default());
        std::fs::write(&file, "{ not json").unwrap();
        assert_eq!(Settings::read(&file), Settings::default());
        std::fs::write(&file, r#"{ "zoom": 1e30, "window": [1, 1e9], "unknown": 3 }"#).unwrap();
        let read = Settings::read(&file);
        assert_eq!((read.zoom, read.window), (3.0, [200.0, 8192.0]));
    }

    #[test]
    fn the_latest_scene_is_first_and_stands_once() {
        let mut settings = Settings::default();
        for name in ["/a", "/b", "/a"] {
            settings.remember(Path::new(name));
        }
        assert_eq!(settings.recent, [PathBuf::from("/a"), PathBuf::from("/b")]);
        (0..100).for_each(|i| settings.remember(Path::new(&format!("/{i}"))));
        assert_eq!(settings.recent.len(), MOST_RECENT);
    }
}
