//! The log of files that a result depends on, to detect later changes.
//!
//! Every read of a file, and every lookup that fails, is recorded in the [`FileLog`] of the
//! [`super::source::SourceMap`]. A log does not know what the files mean.

use crate::disk;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files with their content hashes at the time of reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLog {
    seen: BTreeMap<PathBuf, Sight>,
    /// How many of them were missing when they were recorded.
    missing: usize,
    /// Folders that were searched for files of an extension, with the hashes of the names.
    listed: BTreeMap<(PathBuf, String), u64>,
}

/// The recorded state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sight {
    /// The hash of its bytes; `None` where no file could be read.
    content: Option<u64>,
    /// File metadata, and the time of the query.
    stamp: Option<(Stamp, SystemTime)>,
}

/// Metadata that usually changes when a file is written or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: SystemTime,
    /// Which file it is and when its status changed; zeros where the system does not report them.
    identity: [i64; 3],
}

/// Two writes within this time may leave the same stamp: file systems count in steps of up to two
/// seconds (FAT).
const STEP: Duration = Duration::from_secs(2);

/// Most files of a log that are missing: each name in a scene may be looked for in many folders.
const MAX_MISSING: usize = 1 << 20;

impl FileLog {
    /// Records a file's content. The first record of a file stays.
    pub fn note(&mut self, path: &Path, bytes: &[u8]) {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        self.insert(path, Sight { content: Some(hasher.finish()), stamp: stamp_of(path) });
    }

    /// Records that a file does not exist, of the first [`MAX_MISSING`] such files.
    pub fn note_missing(&mut self, path: &Path) {
        if self.missing < MAX_MISSING {
            self.insert(path, Sight { content: None, stamp: None });
        }
    }

    /// Records that a folder was searched for files whose names end in `.extension`.
    pub fn note_listing(&mut self, folder: &Path, extension: &str) {
        let key = (folder.to_path_buf(), extension.to_string());
        self.listed.entry(key).or_insert_with(|| listing_of(folder, extension));
    }

    fn insert(&mut self, path: &Path, sight: Sight) {
        if !self.seen.contains_key(path) {
            self.put(path, sight);
        }
    }

    fn put(&mut self, path: &Path, sight: Sight) {
        self.missing += usize::from(sight.content.is_none());
        let old = self.seen.insert(path.to_path_buf(), sight);
        self.missing -= usize::from(old.is_some_and(|old| old.content.is_none()));
    }

    /// Adds all records of another log.
    pub fn extend(&mut self, other: &FileLog) {
        for (path, sight) in &other.seen {
            match sight.content {
                Some(_) => self.insert(path, sight.clone()),
                None => self.note_missing(path),
            }
        }
        for (key, hash) in &other.listed {
            self.listed.entry(key.clone()).or_insert(*hash);
        }
    }

    /// Adds all records of another log, replacing existing ones.
    pub fn replace(&mut self, other: &FileLog) {
        other.seen.iter().for_each(|(path, sight)| self.put(path, sight.clone()));
        self.listed.extend(other.listed.iter().map(|(key, hash)| (key.clone(), *hash)));
    }

    /// True if the file was there.
    pub fn was_read(&self, path: &Path) -> bool {
        self.seen.get(path).is_some_and(|sight| sight.content.is_some())
    }

    /// All files, including missing ones.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.seen.keys().map(PathBuf::as_path)
    }

    /// All files with the hash of their bytes, as [`content_of`] computes it; `None` for those that
    /// are missing.
    pub fn contents(&self) -> impl Iterator<Item = (&Path, Option<u64>)> {
        self.seen.iter().map(|(path, sight)| (path.as_path(), sight.content))
    }

    /// The folders that were searched, each with an extension and a hash of the names, as
    /// [`listing_of`] computes it.
    pub fn listings(&self) -> impl Iterator<Item = (&Path, &str, u64)> {
        self.listed.iter().map(|((folder, extension), hash)| (folder.as_path(), extension.as_str(), *hash))
    }

    /// The files that changed, disappeared or appeared, and the folders that were searched where other
    /// files are found now.
    ///
    /// A file whose size and times are those noted is not read again, unless it was written so
    /// recently that they could be the same by chance.
    pub fn changed(&mut self) -> Vec<PathBuf> {
        let files = self.seen.iter_mut().filter_map(|(path, sight)| sight.has_changed(path).then(|| path.clone()));
        let lists = self.listed.iter_mut().filter_map(|((folder, extension), hash)| {
            let now = listing_of(folder, extension);
            (std::mem::replace(hash, now) != now).then(|| folder.clone())
        });
        files.chain(lists).collect()
    }
}

impl Sight {
    fn has_changed(&mut self, path: &Path) -> bool {
        let now = stamp_of(path);
        if let (Some((old, seen)), Some((new, _))) = (self.stamp, now)
            && old == new
            && seen.duration_since(old.modified).is_ok_and(|age| age > STEP)
        {
            return false;
        }
        if self.content != content_of(path) {
            return true;
        }
        self.stamp = now;
        false
    }
}

fn stamp_of(path: &Path) -> Option<(Stamp, SystemTime)> {
    let asked = SystemTime::now();
    let meta = fs::metadata(path).ok()?;
    Some((Stamp { bytes: meta.len(), modified: meta.modified().ok()?, identity: identity(&meta) }, asked))
}

#[cfg(unix)]
fn identity(meta: &Metadata) -> [i64; 3] {
    use std::os::unix::fs::MetadataExt;
    [meta.ino() as i64, meta.ctime(), meta.ctime_nsec()]
}

#[cfg(not(unix))]
fn identity(_meta: &Metadata) -> [i64; 3] {
    [0; 3]
}

/// Most bytes of a file of which there is a hash: more than any reader takes.
const MAX_BYTES: u64 = (2 << 30) + 1;

/// The hash of a regular file's bytes; `None` where there is none to be read. The algorithm is the
/// same in all processes of one build.
pub fn content_of(path: &Path) -> Option<u64> {
    let file = disk::open(path).ok()?;
    if file.metadata().ok()?.len() > MAX_BYTES {
        return None;
    }
    let mut file = file.take(MAX_BYTES);
    let mut hasher = DefaultHasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finish()),
            n => hasher.write(&buffer[..n]),
        }
    }
}

/// The hash of the names in a folder that end in `.extension`. The algorithm is the same in all
/// processes of one build.
pub fn listing_of(folder: &Path, extension: &str) -> u64 {
    let names = fs::read_dir(disk::or_current(folder))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()));
    let mut names: Vec<PathBuf> = names.filter(|name| name.extension().is_some_and(|e| e == extension)).collect();
    names.sort_unstable();
    let mut hasher = DefaultHasher::new();
    names.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_changed_when_its_bytes_have_whatever_its_times_say() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sl");
        fs::write(&path, "one").unwrap();
        let mut log = FileLog::default();
        log.note(&path, b"one");
        assert_eq!(log.changed(), Vec::<PathBuf>::new());
        fs::write(&path, "two").unwrap();
        assert_eq!(log.changed(), std::slice::from_ref(&path));
        fs::write(&path, "one").unwrap();
        assert_eq!(log.changed(), Vec::<PathBuf>::new());
        fs::remove_file(&path).unwrap();
        assert_eq!(log.changed(), [path]);
    }

    #[test]
    fn an_old_file_is_read_again_only_when_its_times_differ() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sl");
        let old = SystemTime::now() - Duration::from_secs(60);
        fs::write(&path, "one").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        let mut log = FileLog::default();
        // The bytes are not those of the file: only its stamp says that it did not change.
        log.note(&path, b"another");
        assert_eq!(log.changed(), Vec::<PathBuf>::new());
        fs::File::options().write(true).open(&path).unwrap().set_modified(old + STEP).unwrap();
        assert_eq!(log.changed(), [path]);
    }

    #[test]
    fn a_missing_file_has_changed_once_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sl");
        let mut log = FileLog::default();
        log.note_missing(&path);
        assert_eq!(log.changed(), Vec::<PathBuf>::new());
        fs::create_dir(&path).unwrap();
        assert_eq!(log.changed(), Vec::<PathBuf>::new(), "a folder is no file");
        fs::remove_dir(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert_eq!(log.changed(), [path]);
    }

    #[test]
    fn a_log_has_so_many_missing_files_and_all_that_were_read() {
        let mut log = FileLog { missing: MAX_MISSING - 1, ..FileLog::default() };
        let mut other = FileLog::default();
        ["a", "b", "c"].iter().for_each(|name| other.note_missing(Path::new(name)));
        other.note(Path::new("d"), b"read");
        log.extend(&other);
        assert_eq!(log.paths().collect::<Vec<_>>(), [Path::new("a"), Path::new("d")]);
        log.note(Path::new("e"), b"read");
        log.note_missing(Path::new("f"));
        assert_eq!(log.paths().count(), 3);
        // One that is there now makes room for another.
        let mut found = FileLog::default();
        found.note(Path::new("a"), b"read");
        log.replace(&found);
        log.note_missing(Path::new("f"));
        assert_eq!(log.paths().count(), 4);
    }

    #[test]
    fn a_folder_that_was_searched_has_changed_once_another_file_is_found_there() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.sl"), "one").unwrap();
        let mut log = FileLog::default();
        log.note_listing(dir.path(), "sl");
        fs::write(dir.path().join("b.txt"), "").unwrap();
        fs::write(dir.path().join("a.sl"), "two").unwrap();
        assert_eq!(log.changed(), Vec::<PathBuf>::new());
        fs::write(dir.path().join("b.sl"), "").unwrap();
        assert_eq!(log.changed(), [dir.path()]);
        assert_eq!(log.changed(), Vec::<PathBuf>::new());
        fs::remove_file(dir.path().join("a.sl")).unwrap();
        assert_eq!(log.changed(), [dir.path()]);
    }
}
