//! The log of files that a result depends on, to detect later changes.
//!
//! Every read of a file, and every lookup that fails, is recorded in the [`FileLog`] of the
//! [`super::source::SourceMap`]. A log does not know what the files mean.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files with their content hashes at the time of reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLog {
    seen: BTreeMap<PathBuf, Sight>,
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

impl FileLog {
    /// Records a file's content. The first record of a file stays.
    pub fn note(&mut self, path: &Path, bytes: &[u8]) {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        self.insert(path, Sight { content: Some(hasher.finish()), stamp: stamp_of(path) });
    }

    /// Records that a file does not exist.
    pub fn note_missing(&mut self, path: &Path) {
        self.insert(path, Sight { content: None, stamp: None });
    }

    fn insert(&mut self, path: &Path, sight: Sight) {
        if !self.seen.contains_key(path) {
            self.seen.insert(path.to_path_buf(), sight);
        }
    }

    /// Adds all records of another log.
    pub fn extend(&mut self, other: &FileLog) {
        for (path, sight) in &other.seen {
            self.insert(path, sight.clone());
        }
    }

    /// Adds all records of another log, replacing existing ones.
    pub fn replace(&mut self, other: &FileLog) {
        self.seen.extend(other.seen.iter().map(|(path, sight)| (path.clone(), sight.clone())));
    }

    /// Whether the file was there.
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

    /// The files that changed, disappeared or appeared.
    ///
    /// A file whose size and times are those noted is not read again, unless it was written so
    /// recently that they could be the same by chance.
    pub fn changed(&mut self) -> Vec<PathBuf> {
        let changed = self.seen.iter_mut().filter_map(|(path, sight)| sight.has_changed(path).then(|| path.clone()));
        changed.collect()
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

/// The hash of a regular file's bytes; `None` where there is none to be read. The algorithm is the
/// same in all processes of one build.
pub fn content_of(path: &Path) -> Option<u64> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = fs::File::open(path).ok()?;
    let mut hasher = DefaultHasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finish()),
            n => hasher.write(&buffer[..n]),
        }
    }
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
}
