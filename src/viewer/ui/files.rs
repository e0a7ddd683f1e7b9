//! Choosing a file: a folder's contents, a line for the name.
//!
//! The window has its own file dialog, which looks the same on every system and needs no desktop
//! service.

use crate::model::Action;
use egui::{Align2, Key, RichText, ScrollArea};
use shadewright_project::Source;
use std::path::{Path, PathBuf};

/// The purpose for which a file is chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// Showing a scene.
    OpenScene,
    /// Writing the image.
    SaveImage,
    /// Writing this text.
    SaveText(String),
}

/// The result of a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is still open.
    Open,
    /// It was closed.
    Canceled,
    /// A file was chosen.
    Chosen(PathBuf),
}

/// Most entries of a folder that are listed.
const MOST_ENTRIES: usize = 5000;

/// Ends of the names of files that can be opened.
const SCENES: [&str; 6] = [".rib", ".rib.gz", ".gltf", ".glb", ".obj", ".ply"];

/// A dialog.
#[derive(Debug)]
pub struct FileDialog {
    purpose: Purpose,
    folder: PathBuf,
    name: String,
    entries: Vec<Entry>,
    /// Why the folder cannot be listed, or the name not be taken.
    error: Option<String>,
    /// True if the line for the name is to have the keyboard.
    fresh: bool,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// False sorts first: folders.
    is_file: bool,
    name: String,
}

impl FileDialog {
    /// Opens it in a folder, with a name to begin with.
    pub fn new(purpose: Purpose, folder: &Path, name: &str) -> Self {
        let mut dialog = Self {
            purpose,
            folder: PathBuf::new(),
            name: name.to_string(),
            entries: Vec::new(),
            error: None,
            fresh: true,
        };
        dialog.enter(folder);
        dialog
    }

    /// Returns the action on the file that was chosen.
    pub fn action(&self, path: PathBuf) -> Action {
        match &self.purpose {
            Purpose::OpenScene => Action::Open(Source::File(path)),
            Purpose::SaveImage => Action::SaveImage(path),
            Purpose::SaveText(text) => Action::SaveText(path, text.clone()),
        }
    }

    /// Shows it over everything else.
    pub fn show(&mut self, context: &egui::Context) -> Answer {
        let title = match self.purpose {
            Purpose::OpenScene => "Open a scene",
            Purpose::SaveImage => "Save the image",
            Purpose::SaveText(_) => "Save",
        };
        let mut answer = Answer::Open;
        let screen = context.content_rect().size();
        let window = egui::Window::new(title)
            .collapsible(false)
            .anchor(Align2::CENTER_CENTER, [0.0, 0.0])
            .fixed_size([(screen.x - 60.0).clamp(160.0, 520.0), (screen.y - 120.0).clamp(60.0, 360.0)]);
        window.show(context, |ui| answer = self.contents(ui));
        if context.input(|input| input.key_pressed(Key::Escape)) {
            answer = Answer::Canceled;
        }
        answer
    }

    fn contents(&mut self, ui: &mut egui::Ui) -> Answer {
        let mut answer = Answer::Open;
        ui.horizontal(|ui| {
            if ui.button("Up").on_hover_text("The folder above").clicked()
                && let Some(above) = self.folder.parent().map(Path::to_path_buf)
            {
                self.enter(&above);
            }
            ui.add(egui::Label::new(self.folder.display().to_string()).truncate());
        });
        let mut clicked = None;
        let height = (ui.available_height() - 64.0).max(40.0);
        let row = ui.text_style_height(&egui::TextStyle::Button) + 4.0;
        ScrollArea::vertical().auto_shrink(false).max_height(height).show_rows(
            ui,
            row,
            self.entries.len(),
            |ui, rows| {
                for entry in &self.entries[rows] {
                    let shown = if entry.is_file { entry.name.clone() } else { format!("{}/", entry.name) };
                    let label = ui.selectable_label(entry.is_file && self.name == entry.name, shown);
                    if label.clicked() || label.double_clicked() {
                        clicked = Some((entry.name.clone(), entry.is_file, label.double_clicked()));
                    }
                }
            },
        );
        if let Some((name, is_file, twice)) = clicked {
            if is_file {
                self.name = name;
                if twice {
                    answer = self.choose();
                }
            } else {
                let folder = self.folder.join(name);
                self.enter(&folder);
            }
        }
        if let Some(error) = &self.error {
            ui.label(RichText::new(error).color(super::error_color(ui)));
        }
        ui.horizontal(|ui| {
            let verb = if self.purpose == Purpose::OpenScene { "Open" } else { "Save" };
            let hint = if self.purpose == Purpose::OpenScene {
                "a .rib, .gltf, .glb, .obj or .ply file"
            } else {
                "name of the file"
            };
            let width = (ui.available_width() - 130.0).max(60.0);
            let line = ui.add(egui::TextEdit::singleline(&mut self.name).hint_text(hint).desired_width(width));
            if std::mem::take(&mut self.fresh) {
                line.request_focus();
            }
            let entered = line.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            if ui.button(verb).clicked() || entered {
                answer = self.choose();
            }
            if ui.button("Cancel").clicked() {
                answer = Answer::Canceled;
            }
        });
        answer
    }

    /// Takes the name that is written, a path from the folder or a whole one. A folder is entered.
    fn choose(&mut self) -> Answer {
        let path = self.folder.join(self.name.trim());
        if path.is_dir() {
            self.name.clear();
            self.enter(&path);
            return Answer::Open;
        }
        let missing = match self.purpose {
            Purpose::OpenScene => !path.is_file(),
            _ => !path.parent().is_some_and(Path::is_dir),
        };
        if missing {
            self.error = Some(format!("there is no {}", path.display()));
            return Answer::Open;
        }
        Answer::Chosen(path)
    }

    fn enter(&mut self, folder: &Path) {
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        match self.list(&absolute) {
            Ok(entries) => {
                self.entries = entries;
                self.error = None;
            }
            Err(error) => {
                self.entries.clear();
                self.error = Some(format!("cannot read this folder: {error}"));
            }
        }
        self.folder = absolute;
    }

    /// Folders, and files of the kind that is wanted; hidden ones are left out.
    fn list(&self, folder: &Path) -> std::io::Result<Vec<Entry>> {
        let wanted = |name: &str| self.purpose != Purpose::OpenScene || SCENES.iter().any(|end| name.ends_with(end));
        let entries = std::fs::read_dir(folder)?.flatten().filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_file = !entry.path().is_dir();
            (!name.starts_with('.') && (!is_file || wanted(&name))).then_some(Entry { is_file, name })
        });
        let mut entries: Vec<Entry> = entries.take(MOST_ENTRIES).collect();
        entries.sort();
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_lists_its_folders_first_and_then_the_scenes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("zoo")).unwrap();
        for name in ["b.rib", "a.ply", "notes.txt", ".hidden.rib"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let dialog = FileDialog::new(Purpose::OpenScene, folder.path(), "");
        let names: Vec<&str> = dialog.entries.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["zoo", "a.ply", "b.rib"]);
        let all = FileDialog::new(Purpose::SaveImage, folder.path(), "");
        assert!(all.entries.iter().any(|e| e.name == "notes.txt"));
    }

    #[test]
    fn a_name_is_taken_when_it_is_there_and_a_folder_is_entered() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("zoo")).unwrap();
        std::fs::write(folder.path().join("zoo/a.rib"), "").unwrap();
        let mut dialog = FileDialog::new(Purpose::OpenScene, folder.path(), "nothing.rib");
        assert_eq!(dialog.choose(), Answer::Open);
        assert!(dialog.error.is_some());
        dialog.name = "zoo".to_string();
        assert_eq!(dialog.choose(), Answer::Open);
        dialog.name = "a.rib".to_string();
        let path = folder.path().join("zoo/a.rib");
        assert_eq!(dialog.choose(), Answer::Chosen(path.clone()));
        assert_eq!(dialog.action(path.clone()), Action::Open(Source::File(path)));
    }

    #[test]
    fn a_file_is_saved_under_a_new_name_in_a_folder_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut dialog = FileDialog::new(Purpose::SaveText("x".into()), folder.path(), "new.rib");
        let path = folder.path().join("new.rib");
        assert_eq!(dialog.choose(), Answer::Chosen(path.clone()));
        assert_eq!(dialog.action(path.clone()), Action::SaveText(path, "x".into()));
        dialog.name = "missing/new.rib".to_string();
        assert_eq!(dialog.choose(), Answer::Open);
    }
}
