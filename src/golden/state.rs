//! The state that a run leaves for the next one: what each image was made from, and its outcome.
//!
//! The state is never needed: where it is missing or damaged, everything is rendered again. A lock
//! keeps two runs from sharing a folder.
//!
//! The folder may come from somebody else, with a repository or the cache of a CI system. So a file
//! of it is read as any other input: a state that names anything but a folder of an image is
//! damaged, and nothing is read, written or removed through a link.

use super::images::Shown;
use super::outcome::{Outcome, is_id};
use serde::{Deserialize, Serialize};
use shadewright_base::cache::KeyHasher;
use shadewright_base::disk;
use shadewright_base::text::log::{content_of, listing_of};
use shadewright_image::file::{ImageFileError, replace_bytes};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use thiserror::Error;

/// Name of the state's file.
const STATE: &str = "state.txt";

/// Name of the file that is locked while a run lasts.
const LOCK: &str = "lock";

/// Name of the file that hides a folder from version control.
const IGNORE: &str = ".gitignore";

/// Name of the report, where nobody names another.
pub const REPORT: &str = "report.html";

/// Name of the folder with one folder for each image.
const RESULTS: &str = "results";

/// Name of the render in its folder.
const RENDER: &str = "render.exr";

/// Name of the file with the images that the report shows.
const SHOWN: &str = "shown.json";

/// The beginning of the file; the number changes with the form of what follows.
const HEAD: &str = "shadewright golden 1";

/// Most bytes of a file of the state.
const MAX_BYTES: u64 = 1 << 30;

/// Why a folder cannot be used.
#[derive(Debug, Error)]
pub enum StateError {
    /// It has other files.
    #[error("{}: the folder has other files; name an empty one or one that does not exist", .0.display())]
    NotOurs(PathBuf),
    /// It, or something that runs keep in it, is a link, or another kind of file than runs make.
    #[error(
        "{}: a link, or not what runs keep there: links are not followed; delete it, or name another folder",
        .0.display()
    )]
    Foreign(PathBuf),
    /// Another process uses it.
    #[error("{}: another run uses this folder; wait for it, or name another", .0.display())]
    Locked(PathBuf),
    /// The system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] ImageFileError),
}

/// The record that is kept of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The name of the image.
    pub name: String,
    /// A hash of what is not in files: the command, the device, the program.
    pub subject: String,
    /// The files that the render depends on, relative to the list's folder, with the hashes of their
    /// content; none for those that were missing.
    pub files: Vec<(String, Option<String>)>,
    /// The size and time of the render's file.
    pub stamp: Stamp,
    /// A hash of the render's content.
    pub content: String,
    /// A hash of what was compared, and how.
    pub judged: String,
    /// The outcome.
    pub outcome: Outcome,
}

/// Size and time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: u64,
}

impl Stamp {
    /// That of a regular file that runs keep; `None` where there is none.
    pub fn read(path: &Path) -> Option<Self> {
        let meta = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
        let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        Some(Self { bytes: meta.len(), modified: u64::try_from(modified).ok()? })
    }
}

/// The hash of a file's content as 16 digits, or of the names of files where the path is one of a
/// folder's, written `folder/*.sl`; `None` where there is no file.
pub fn content(path: &Path) -> Option<String> {
    let extension = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("*."));
    let hash = match (extension, path.parent()) {
        (Some(extension), Some(folder)) => Some(listing_of(folder, extension)),
        _ => content_of(path),
    };
    hash.map(|hash| format!("{hash:016x}"))
}

/// Hashes of files, each computed once.
#[derive(Debug, Default)]
pub struct Contents(Mutex<HashMap<PathBuf, Option<String>>>);

impl Contents {
    /// The hash of a file's content; `None` where there is none.
    pub fn digest(&self, path: &Path) -> Option<String> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path) {
            return known.clone();
        }
        let hash = content(path);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), hash.clone());
        hash
    }
}

/// The contents of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Saved {
    /// The list or folder of scenes.
    source: String,
    records: BTreeMap<String, Record>,
}

/// The state that was found where a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreviousState {
    /// No state.
    Nothing,
    /// The state of the last run.
    Last,
    /// A state that cannot be read.
    Damaged,
    /// The state of other scenes, which lie there.
    Other(String),
}

/// The folder of a run's output: a folder for each image.
#[derive(Clone, Debug)]
pub struct Output(PathBuf);

impl Output {
    /// In a folder.
    pub fn new(folder: &Path) -> Self {
        Self(folder.to_path_buf())
    }

    /// The folder of an image.
    pub fn folder_of(&self, id: &str) -> PathBuf {
        self.0.join(RESULTS).join(id)
    }

    /// The file of a render.
    pub fn render_of(&self, id: &str) -> PathBuf {
        self.folder_of(id).join(RENDER)
    }

    /// True if a file, by its path without links, is one that runs keep here. The report is none.
    pub fn owns(&self, file: &Path) -> bool {
        let Some(inside) = self.0.canonicalize().ok().and_then(|own| Some(file.strip_prefix(own).ok()?.to_path_buf()))
        else {
            return false;
        };
        [STATE, LOCK, IGNORE].iter().any(|name| inside == Path::new(name)) || inside.starts_with(RESULTS)
    }

    /// Removes the folder of an image, and all in it; a link in its place is removed, and what it
    /// leads to stays.
    fn remove(&self, id: &str) -> io::Result<()> {
        let folder = self.folder_of(id);
        let is_ours = is_id(id) && is_folder(&self.0.join(RESULTS))?;
        let removed = match fs::symlink_metadata(&folder) {
            _ if !is_ours => return Err(io::Error::other("it is not the folder of an image")),
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(&folder),
            Ok(_) => fs::remove_file(&folder),
            Err(error) => Err(error),
        };
        removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
    }

    /// Empties the folder of an image.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn clear(&self, id: &str) -> Result<(), StateError> {
        let folder = self.folder_of(id);
        self.remove(id)
            .and_then(|()| fs::create_dir(&folder))
            .map_err(|source| StateError::Io { path: folder.clone(), source })
    }

    /// True if the folder of an image is there, and is no link.
    fn has(&self, id: &str) -> bool {
        is_id(id) && is_folder(&self.folder_of(id)).unwrap_or(false)
    }

    /// Keeps the images that the report shows of an image; what cannot be written is made again.
    pub fn put_shown(&self, id: &str, shown: &[Shown]) {
        if let Ok(text) = serde_json::to_string(shown) {
            let file = self.folder_of(id).join(SHOWN);
            let _ = replace_bytes(&file, format!("{}\n{text}\n", head(&text)).as_bytes());
        }
    }

    /// The images that the report shows of an image, if they were kept.
    pub fn shown(&self, id: &str) -> Option<Vec<Shown>> {
        serde_json::from_str(&checked(&self.folder_of(id).join(SHOWN))??).ok()
    }

    /// Forgets the images that the report shows of an image.
    pub fn remove_shown(&self, id: &str) {
        let _ = fs::remove_file(self.folder_of(id).join(SHOWN));
    }
}

/// The state of a run, in the folder of its output.
#[derive(Debug)]
pub struct Store {
    output: Output,
    saved: Saved,
    found: PreviousState,
    /// Locked while the run lasts.
    _lock: File,
}

impl Store {
    /// Opens or makes a folder for a run of a list or a folder of scenes. One that is made is hidden
    /// from version control.
    ///
    /// # Errors
    /// When it has files of others, another process uses it, or the system refuses.
    pub fn open(folder: &Path, source: &Path) -> Result<Self, StateError> {
        let failed = |source| StateError::Io { path: folder.to_path_buf(), source };
        let state = folder.join(STATE);
        // What is named is taken as it is: a link that came with the folder would lead elsewhere.
        for (path, is_kind) in [
            (folder.to_path_buf(), fs::Metadata::is_dir as fn(&fs::Metadata) -> bool),
            (folder.join(RESULTS), fs::Metadata::is_dir),
            (state.clone(), fs::Metadata::is_file),
            (folder.join(LOCK), fs::Metadata::is_file),
            (folder.join(IGNORE), fs::Metadata::is_file),
            (folder.join(REPORT), fs::Metadata::is_file),
        ] {
            if fs::symlink_metadata(&path).is_ok_and(|meta| !is_kind(&meta)) {
                return Err(StateError::Foreign(path));
            }
        }
        let is_new = match fs::read_dir(folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => true,
            Err(e) => return Err(failed(e)),
        };
        if !is_new && !state.exists() {
            return Err(StateError::NotOurs(folder.to_path_buf()));
        }
        fs::create_dir_all(folder.join(RESULTS)).map_err(failed)?;
        if is_new {
            replace_bytes(&folder.join(IGNORE), b"*\n")?;
        }
        let lock = disk::open_own(&folder.join(LOCK), OpenOptions::new().create(true).append(true)).map_err(failed)?;
        disk::lock(&lock).map_err(|_| StateError::Locked(folder.to_path_buf()))?;
        let source = source.canonicalize().unwrap_or_else(|_| source.to_path_buf()).display().to_string();
        let (mut saved, mut found) = match load(&state) {
            Some(Some(saved)) => (saved, PreviousState::Last),
            Some(None) => (Saved::default(), PreviousState::Damaged),
            None => (Saved::default(), PreviousState::Nothing),
        };
        if found == PreviousState::Last && saved.source != source {
            found = PreviousState::Other(saved.source);
            saved = Saved { source: String::new(), ..saved };
            let output = Output::new(folder);
            saved.records.keys().for_each(|id| drop(output.remove(id)));
            saved.records.clear();
        }
        saved.source = source;
        let store = Self { output: Output::new(folder), saved, found, _lock: lock };
        store.save()?;
        Ok(store)
    }

    /// The state that was found in the folder.
    pub fn found(&self) -> &PreviousState {
        &self.found
    }

    /// The folders of the images.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The files that renders have depended on, relative to the list's folder.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self.saved.records.values().flat_map(|record| &record.files);
        files.map(|(path, _)| Path::new(path))
    }

    /// The record of an image, if nothing that it was made from has changed.
    pub fn kept(&self, id: &str, subject: &str, base: &Path, contents: &Contents) -> Option<&Record> {
        let record = self.saved.records.get(id)?;
        let is_same = |(path, hash): &(String, Option<String>)| contents.digest(&base.join(path)) == *hash;
        let unchanged = record.subject == subject
            && self.output.has(id)
            && Stamp::read(&self.output.render_of(id)) == Some(record.stamp)
            && record.files.iter().all(is_same);
        unchanged.then_some(record)
    }

    /// Keeps what is known of an image.
    pub fn put(&mut self, id: &str, record: Option<Record>) {
        match record {
            Some(record) => drop(self.saved.records.insert(id.to_string(), record)),
            None => drop(self.saved.records.remove(id)),
        }
    }

    /// Forgets images of other names, with their folders.
    pub fn retain(&mut self, is_known: impl Fn(&str) -> bool) {
        let output = &self.output;
        self.saved.records.retain(|id, record| {
            let keep = is_known(&record.name);
            if !keep {
                drop(output.remove(id));
            }
            keep
        });
    }

    /// Writes the state.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn save(&self) -> Result<(), StateError> {
        let path = self.output.0.join(STATE);
        let failed = |e: serde_json::Error| StateError::Io { path: path.clone(), source: e.into() };
        let text = serde_json::to_string(&self.saved).map_err(failed)?;
        replace_bytes(&path, format!("{}\n{text}\n", head(&text)).as_bytes())?;
        Ok(())
    }
}

/// The first line before a text.
fn head(text: &str) -> String {
    let mut hasher = KeyHasher::new(HEAD);
    hasher.text(text);
    format!("{HEAD} {}", hasher.finish())
}

/// The text of a file after its first line: `None` where there is no file, `Some(None)` where it is
/// damaged.
fn checked(path: &Path) -> Option<Option<String>> {
    let bytes = match disk::read_own(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => return Some(None),
    };
    let Ok(text) = String::from_utf8(bytes) else { return Some(None) };
    let good = text.split_once('\n').filter(|(first, rest)| *first == head(rest.trim_end_matches('\n')));
    Some(good.map(|(_, rest)| rest.trim_end_matches('\n').to_string()))
}

fn load(path: &Path) -> Option<Option<Saved>> {
    let saved = checked(path)?.and_then(|text| serde_json::from_str::<Saved>(&text).ok());
    Some(saved.filter(|saved| saved.records.keys().all(|id| is_id(id))))
}

/// True if a path is a folder, and no link to one.
fn is_folder(path: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(path)?.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Cause;

    fn record(folder: &Path, store: &Store) -> Record {
        fs::create_dir_all(store.output().folder_of("a-rpu")).expect("a folder");
        fs::write(store.output().render_of("a-rpu"), "image").expect("a file");
        let hash = |name: &str| (name.to_string(), content(&folder.join(name)));
        Record {
            name: "a".to_string(),
            subject: "subject".to_string(),
            files: vec![hash("a.rib"), hash("missing.sl")],
            stamp: Stamp::read(&store.output().render_of("a-rpu")).expect("a file"),
            content: String::new(),
            judged: String::new(),
            outcome: Outcome::error(Cause::Scene, "", "", 0.5),
        }
    }

    /// A folder of scenes with a state of one image.
    fn saved() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("a.rib"), "scene").expect("a file");
        let out = dir.path().join("out");
        let mut store = Store::open(&out, dir.path()).expect("a new folder");
        assert_eq!(store.found(), &PreviousState::Nothing);
        let record = record(dir.path(), &store);
        store.put("a-rpu", Some(record));
        store.save().expect("it can be written");
        (dir, out)
    }

    fn is_kept(store: &Store, folder: &Path, subject: &str) -> bool {
        store.kept("a-rpu", subject, folder, &Contents::default()).is_some()
    }

    #[test]
    fn a_record_is_kept_until_something_changes_that_it_was_made_from() {
        let (dir, out) = saved();
        let folder = dir.path();
        let open = || Store::open(&out, folder).expect("our folder");
        assert!(is_kept(&open(), folder, "subject"));
        assert_eq!(open().found(), &PreviousState::Last);
        assert!(!is_kept(&open(), folder, "another device"));
        fs::write(folder.join("a.rib"), "changed").expect("a file");
        assert!(!is_kept(&open(), folder, "subject"));
        fs::write(folder.join("a.rib"), "scene").expect("a file");
        assert!(is_kept(&open(), folder, "subject"));
        fs::write(folder.join("missing.sl"), "it appears").expect("a file");
        assert!(!is_kept(&open(), folder, "subject"));
        fs::remove_file(folder.join("missing.sl")).expect("a file");
        let render = open().output().render_of("a-rpu");
        fs::write(render, "another image").expect("a file");
        assert!(!is_kept(&open(), folder, "subject"));
    }

    #[test]
    fn a_damaged_state_keeps_nothing_and_is_no_error() {
        let (dir, out) = saved();
        let state = out.join(STATE);
        let text = fs::read_to_string(&state).expect("a file");
        for damaged in [text.replace("0.5", "0.6"), text[..text.len() / 2].to_string(), String::new(), "\u{0}".into()] {
            fs::write(&state, damaged).expect("a file");
            let store = Store::open(&out, dir.path()).expect("our folder");
            assert_eq!(store.found(), &PreviousState::Damaged);
            assert!(!is_kept(&store, dir.path(), "subject"));
        }
    }

    #[test]
    fn a_folder_of_others_or_of_another_run_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("thesis.txt"), "").expect("a file");
        assert!(matches!(Store::open(dir.path(), dir.path()), Err(StateError::NotOurs(_))));
        let out = dir.path().join("out");
        let first = Store::open(&out, dir.path()).expect("a new folder");
        assert!(matches!(Store::open(&out, dir.path()), Err(StateError::Locked(_))));
        drop(first);
        assert_eq!(fs::read_to_string(out.join(".gitignore")).expect("a file"), "*\n");
        assert_eq!(Store::open(&out, dir.path()).expect("our folder").found(), &PreviousState::Last);
    }

    #[test]
    fn other_scenes_take_the_place_of_a_state() {
        let (dir, out) = saved();
        let store = Store::open(&out, &dir.path().join("a.rib")).expect("our folder");
        assert!(
            matches!(store.found(), PreviousState::Other(path) if path.ends_with(&*dir.path().file_name().unwrap().to_string_lossy()))
        );
        assert!(!store.output().folder_of("a-rpu").exists());
    }
}
