//! File watching: calls back when files have changed.
//!
//! Takes a set of paths, of existing files and of missing ones, and calls back after one of them
//! was written, created, replaced or removed. The operating system's notifications for their
//! folders make it fast; polling the files' times once a second makes it reliable where those fail:
//! on file systems that send none, and for folders that are removed and created again. It does not
//! know what the files are for.
//!
//! Editors write a file twice, rename another one over it, or leave it empty for a moment. So a
//! change is reported once nothing more has happened for a few milliseconds, and files that have
//! vanished or are empty get longer to come back.

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// How soon changes are reported.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// How long nothing may happen before a change is reported.
    quiet: Duration,
    /// How long a file that was there may be gone or empty before that is reported.
    grace: Duration,
    /// How long changes may continue before they are reported all the same.
    patience: Duration,
}

/// Too short for a person to notice, and longer than what an editor does between two writes.
const PACE: Pace =
    Pace { quiet: Duration::from_millis(10), grace: Duration::from_millis(100), patience: Duration::from_secs(2) };
/// How often the files' times are polled.
const POLL: Duration = Duration::from_secs(1);

/// Watches files on a thread of its own, which ends with it.
#[derive(Debug)]
pub struct Watcher {
    messages: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

enum Message {
    /// These are the files to watch.
    Files(BTreeSet<PathBuf>),
    /// Something happened to these; to any, where the list is empty.
    Touched(Vec<PathBuf>),
    Stop,
}

impl Watcher {
    /// Watches nothing yet. `wake` is called on the watcher's thread; it should not take long.
    pub fn new(wake: impl Fn() + Send + 'static) -> Self {
        Self::start(wake, true, PACE)
    }

    /// `notified` is whether the system is asked for notifications.
    fn start(wake: impl Fn() + Send + 'static, notified: bool, pace: Pace) -> Self {
        let (messages, receiver) = channel();
        let events = messages.clone();
        let thread = std::thread::spawn(move || {
            let on_event = move |event: notify::Result<notify::Event>| {
                // An unknown event counts as any; the thread may have ended.
                let touched = event.map_or(Some(Vec::new()), touched);
                touched.into_iter().for_each(|paths| drop(events.send(Message::Touched(paths))));
            };
            let system = if notified { notify::recommended_watcher(on_event).ok() } else { None };
            let (folders, files, aliases) = Default::default();
            Watch { pace, system, folders, files, aliases }.run(&receiver, &wake);
        });
        Self { messages, thread: Some(thread) }
    }

    /// Watches these files, and no others. `wake` is called once if there are new ones among them,
    /// which may have changed just before.
    pub fn watch(&self, files: impl IntoIterator<Item = PathBuf>) {
        // The thread ends only when this is dropped.
        let _ = self.messages.send(Message::Files(files.into_iter().collect()));
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The files of an event; `None` of a mere read.
fn touched(event: notify::Event) -> Option<Vec<PathBuf>> {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Some(event.paths),
        EventKind::Access(_) => None,
        _ if event.need_rescan() => Some(Vec::new()),
        _ => Some(event.paths),
    }
}

/// The metadata that distinguishes versions of a file; `None` of one that is not there.
type Stamp = Option<(u64, Option<SystemTime>, u64)>;

fn stamp(path: &Path) -> Stamp {
    let meta = fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok(), number(&meta)))
}

/// The number of a file or folder in its file system, where that has one.
#[cfg(unix)]
fn number(meta: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn number(_meta: &fs::Metadata) -> u64 {
    0
}

/// The state of the thread.
struct Watch {
    pace: Pace,
    /// The system's notifications; none where it has none to give.
    system: Option<RecommendedWatcher>,
    /// Folders that are watched, with their numbers.
    folders: BTreeMap<PathBuf, u64>,
    /// The files, as they were when last polled.
    files: BTreeMap<PathBuf, Stamp>,
    /// The files as the system names them.
    aliases: BTreeSet<PathBuf>,
}

impl Watch {
    fn run(&mut self, messages: &Receiver<Message>, wake: &dyn Fn()) {
        let mut next_poll = Instant::now() + POLL;
        loop {
            let changed = match messages.recv_timeout(next_poll.saturating_duration_since(Instant::now())) {
                Ok(Message::Files(files)) => self.set_files(files),
                Ok(Message::Touched(paths)) => self.concerns(&paths),
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    next_poll = Instant::now() + POLL;
                    self.watch_folders();
                    self.files.iter().any(|(path, old)| stamp(path) != *old)
                }
            };
            if changed {
                if !self.settle(messages) {
                    return;
                }
                wake();
            }
        }
    }

    /// Waits until nothing happens any more. Says whether to continue.
    fn settle(&mut self, messages: &Receiver<Message>) -> bool {
        let begin = Instant::now();
        let mut quiet_since = begin;
        let mut was_one_missing = false;
        loop {
            let wait = self.pace.quiet.saturating_sub(quiet_since.elapsed());
            match messages.recv_timeout(wait) {
                Ok(Message::Files(files)) => drop(self.set_files(files)),
                Ok(Message::Touched(paths)) if self.concerns(&paths) => quiet_since = Instant::now(),
                Ok(Message::Touched(_)) => {}
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => {
                    // One that has just come back is seen before the system reports it.
                    let is_one_missing = begin.elapsed() < self.pace.grace && self.is_one_missing();
                    if !is_one_missing && !was_one_missing {
                        break;
                    }
                    was_one_missing = is_one_missing;
                    quiet_since = Instant::now();
                }
            }
            if begin.elapsed() > self.pace.patience {
                break;
            }
        }
        self.watch_folders();
        self.files.iter_mut().for_each(|(path, old)| *old = stamp(path));
        true
    }

    /// True if a file that had something in it is gone or empty.
    fn is_one_missing(&self) -> bool {
        let has_content = |stamp: &Stamp| stamp.is_some_and(|(bytes, ..)| bytes > 0);
        self.files.iter().any(|(path, old)| has_content(old) && !has_content(&stamp(path)))
    }

    /// True if an event that names these paths is about one of the files.
    fn concerns(&self, paths: &[PathBuf]) -> bool {
        paths.is_empty() || paths.iter().any(|path| self.aliases.contains(path) || self.folders.contains_key(path))
    }

    /// Watches these files. Says whether some are new.
    fn set_files(&mut self, files: BTreeSet<PathBuf>) -> bool {
        let new = files.iter().any(|path| !self.files.contains_key(path));
        let known = std::mem::take(&mut self.files);
        let seen = |path: PathBuf| {
            let stamp = known.get(&path).copied().unwrap_or_else(|| stamp(&path));
            (path, stamp)
        };
        self.files = files.into_iter().map(seen).collect();
        self.watch_folders();
        new
    }

    /// Watches the folders that the files are in, as they are now.
    fn watch_folders(&mut self) {
        self.aliases.clear();
        for path in self.files.keys() {
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let named = folder.canonicalize().ok().zip(path.file_name()).map(|(folder, name)| folder.join(name));
            // A link is written where it leads.
            self.aliases.extend(named.into_iter().chain(path.canonicalize().ok()));
        }
        let Some(system) = &mut self.system else { return };
        let folders: BTreeSet<&Path> = self.aliases.iter().filter_map(|path| path.parent()).collect();
        let mut watched = BTreeMap::new();
        for folder in folders {
            let Ok(meta) = fs::metadata(folder) else { continue };
            if self.folders.get(folder) == Some(&number(&meta)) {
                watched.insert(folder.to_path_buf(), number(&meta));
                continue;
            }
            // A watch of a folder that was there before under this name, if any, is of no use.
            let _ = system.unwatch(folder);
            // Where it cannot be watched, its files' times are polled all the same.
            if system.watch(folder, RecursiveMode::NonRecursive).is_ok() {
                watched.insert(folder.to_path_buf(), number(&meta));
            }
        }
        for folder in self.folders.keys().filter(|folder| !watched.contains_key(*folder)) {
            let _ = system.unwatch(folder);
        }
        self.folders = watched;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long a test waits for what must come.
    const LONG: Duration = Duration::from_secs(30);
    /// How long it waits for what must not.
    const SHORT: Duration = Duration::from_secs(1);
    /// A busy machine may let a thread wait between two writes of a file, which shall be one change
    /// all the same.
    const SLOW: Pace = Pace { quiet: Duration::from_millis(250), grace: LONG, patience: LONG };

    struct Scene {
        dir: tempfile::TempDir,
        watcher: Watcher,
        wakes: Receiver<()>,
    }

    impl Scene {
        /// Watches files in a folder of their own; those of the list are there.
        fn new(files: &[&str]) -> Self {
            Self::start(files, true, SLOW)
        }

        fn start(files: &[&str], notified: bool, pace: Pace) -> Self {
            let dir = tempfile::tempdir().unwrap();
            for name in files {
                fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
                fs::write(dir.path().join(name), "text").unwrap();
            }
            let (sender, wakes) = channel();
            let watcher = Watcher::start(move || sender.send(()).unwrap(), notified, pace);
            let scene = Self { dir, watcher, wakes };
            scene.watch(files);
            scene
        }

        fn path(&self, name: &str) -> PathBuf {
            self.dir.path().join(name)
        }

        fn watch(&self, names: &[&str]) {
            self.watcher.watch(names.iter().map(|name| self.path(name)));
            self.expect();
        }

        fn expect(&self) {
            self.wakes.recv_timeout(LONG).expect("the watcher reports a change");
        }

        fn expect_none(&self) {
            assert!(self.wakes.recv_timeout(SHORT).is_err(), "nothing has changed");
        }
    }

    #[test]
    fn a_file_that_is_written_or_renamed_over_is_told_and_its_neighbors_are_not() {
        let scene = Scene::new(&["a.sl"]);
        scene.expect_none();
        fs::write(scene.path("a.sl"), "other").unwrap();
        scene.expect();
        fs::write(scene.path("b.sl"), "other").unwrap();
        fs::read(scene.path("a.sl")).unwrap();
        scene.expect_none();
        fs::rename(scene.path("b.sl"), scene.path("a.sl")).unwrap();
        scene.expect();
    }

    #[test]
    fn several_writes_in_a_row_are_told_once() {
        let scene = Scene::new(&["a.sl", "b.sl"]);
        for text in ["", "t", "te", "tex"] {
            fs::write(scene.path("a.sl"), text).unwrap();
            fs::write(scene.path("b.sl"), text).unwrap();
        }
        scene.expect();
        scene.expect_none();
    }

    #[test]
    fn a_file_that_is_empty_for_a_moment_is_told_when_it_is_full_again() {
        let scene = Scene::new(&["a.sl"]);
        let file = fs::File::create(scene.path("a.sl")).unwrap();
        std::thread::sleep(SLOW.quiet * 2);
        std::io::Write::write_all(&mut &file, b"again").unwrap();
        scene.expect();
        assert_eq!(fs::read(scene.path("a.sl")).unwrap(), b"again");
        scene.expect_none();
    }

    #[test]
    fn a_file_that_stays_empty_or_is_removed_is_told() {
        let scene = Scene::start(&["a.sl"], true, PACE);
        fs::write(scene.path("a.sl"), "").unwrap();
        scene.expect();
        fs::remove_file(scene.path("a.sl")).unwrap();
        scene.expect();
    }

    #[test]
    fn a_missing_file_is_told_when_it_comes_even_with_its_folder() {
        let scene = Scene::new(&["a.sl"]);
        scene.watch(&["a.sl", "b.sl", "parts/c.sl"]);
        fs::write(scene.path("b.sl"), "text").unwrap();
        scene.expect();
        fs::create_dir(scene.path("parts")).unwrap();
        fs::write(scene.path("parts/c.sl"), "text").unwrap();
        scene.expect();
        fs::write(scene.path("parts/c.sl"), "other text").unwrap();
        scene.expect();
    }

    #[test]
    fn a_folder_that_is_removed_and_made_again_is_still_watched() {
        let scene = Scene::start(&["parts/a.sl"], true, PACE);
        fs::remove_dir_all(scene.path("parts")).unwrap();
        scene.expect();
        fs::create_dir(scene.path("parts")).unwrap();
        fs::write(scene.path("parts/a.sl"), "other").unwrap();
        scene.expect();
        fs::write(scene.path("parts/a.sl"), "third time").unwrap();
        scene.expect();
    }

    #[test]
    fn without_notifications_the_files_times_tell() {
        let scene = Scene::start(&["a.sl"], false, SLOW);
        fs::write(scene.path("a.sl"), "another text").unwrap();
        scene.expect();
        scene.expect_none();
    }

    #[cfg(unix)]
    #[test]
    fn a_file_behind_a_link_is_told() {
        let scene = Scene::new(&["far/a.sl"]);
        std::os::unix::fs::symlink(scene.path("far/a.sl"), scene.path("link.sl")).unwrap();
        scene.watch(&["link.sl"]);
        fs::write(scene.path("far/a.sl"), "other").unwrap();
        scene.expect();
    }
}
