//! A cache of results on disk, found by what they were computed from.
//!
//! [`DiskCache`] keeps blobs of bytes by [`Key`]s, which are hashes of content, in one folder with a
//! bounded size. It is never needed: what is missing, damaged or cannot be written is computed
//! again, and no error is reported. Files are written whole and renamed, so processes may share a
//! folder.

use crate::disk;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The bytes that the files of a cache may take together by default: 256 MiB.
pub const DEFAULT_LIMIT: u64 = 256 << 20;

/// Extension of the files.
const EXTENSION: &str = "cached";

/// The size of the head of a file in bytes: a hash of what follows.
const HEAD: usize = 16;

/// A hash of content of 128 bits. The algorithm is the same in all processes of one build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

/// 32 hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Computes a [`Key`] of all that is written to it.
#[derive(Clone, Debug)]
pub struct KeyHasher([DefaultHasher; 2]);

impl KeyHasher {
    /// A hasher for results of one kind, of which `kind` is the name.
    pub fn new(kind: &str) -> Self {
        // A standard hasher without keys gives the same number in every process; different
        // beginnings make two of them.
        let mut hasher = Self([DefaultHasher::new(), DefaultHasher::new()]);
        hasher.0[1].write_u8(1);
        hasher.text(kind);
        hasher
    }

    /// Adds a text, which ends where it ends.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Adds bytes, which end where they end.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.iter_mut().for_each(|hasher| hasher.write(bytes));
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.0.iter_mut().for_each(|hasher| hasher.write_u64(number));
    }

    /// The key of what was added.
    pub fn finish(&self) -> Key {
        let [low, high] = [0, 1].map(|i| self.0[i].finish());
        Key(u128::from(high) << 64 | u128::from(low))
    }
}

/// A folder of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskCache {
    folder: PathBuf,
    limit: u64,
    /// The text that distinguishes builds of the program, whose results may differ.
    build: String,
}

impl DiskCache {
    /// A cache in a folder, which is made when something is kept. `limit` is the bytes that it may
    /// take; `build` distinguishes programs that compute other results.
    pub fn new(folder: impl Into<PathBuf>, limit: u64, build: impl Into<String>) -> Self {
        Self { folder: folder.into(), limit, build: build.into() }
    }

    /// The folder of the cache.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, key: Key) -> PathBuf {
        let mut hasher = KeyHasher::new(&self.build);
        hasher.number(key.0 as u64);
        hasher.number((key.0 >> 64) as u64);
        self.folder.join(format!("{}.{EXTENSION}", hasher.finish()))
    }

    /// The result that was kept for a key.
    pub fn get(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut bytes = disk::read_own(&path, self.limit).ok()?;
        let (head, content) = bytes.split_at_checked(HEAD)?;
        if head != checksum(content) {
            return None;
        }
        // What was used last is kept longest.
        if let Ok(file) = disk::open_own(&path, OpenOptions::new().write(true)) {
            let _ = file.set_modified(SystemTime::now());
        }
        bytes.drain(..HEAD);
        Some(bytes)
    }

    /// Keeps a result, and removes those that were used longest ago where there are too many.
    pub fn put(&self, key: Key, content: &[u8]) {
        if (content.len() + HEAD) as u64 > self.limit {
            return;
        }
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&self.folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(&checksum(content))?;
            file.write_all(content)?;
            file.persist(self.path(key))?;
            Ok(())
        };
        if write().is_ok() {
            self.trim();
        }
    }

    fn trim(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let meta = fs::symlink_metadata(&path).ok()?;
                let is_ours = meta.is_file() && path.extension().is_some_and(|e| e == EXTENSION);
                is_ours.then_some((meta.modified().ok()?, meta.len(), path))
            })
            .collect();
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        files.sort();
        for (_, size, path) in files {
            if total <= self.limit {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= size;
            }
        }
    }
}

fn checksum(content: &[u8]) -> [u8; HEAD] {
    let mut hasher = KeyHasher::new("content");
    hasher.number(content.len() as u64);
    hasher.0.iter_mut().for_each(|h| h.write(content));
    hasher.finish().0.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn key(text: &str) -> Key {
        let mut hasher = KeyHasher::new("test");
        hasher.text(text);
        hasher.finish()
    }

    #[test]
    fn what_is_kept_is_found_by_the_same_build_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = DiskCache::new(folder.path().join("made"), 1000, "1");
        assert_eq!(cache.get(key("a")), None);
        cache.put(key("a"), b"first");
        cache.put(key("b"), b"");
        assert_eq!(cache.get(key("a")), Some(b"first".to_vec()));
        assert_eq!(cache.get(key("b")), Some(Vec::new()));
        assert_eq!(cache.get(key("c")), None);
        assert_eq!(DiskCache::new(cache.folder(), 1000, "2").get(key("a")), None);
    }

    #[test]
    fn a_damaged_file_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = DiskCache::new(folder.path(), 1000, "1");
        cache.put(key("a"), b"content");
        let path = cache.path(key("a"));
        let mut bytes = fs::read(&path).expect("a file");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&path, &bytes).expect("a file");
        assert_eq!(cache.get(key("a")), None);
        fs::write(&path, b"short").expect("a file");
        assert_eq!(cache.get(key("a")), None);
    }

    #[test]
    fn the_size_is_bounded_and_what_was_used_last_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = DiskCache::new(folder.path(), 300, "1");
        let age = |name: &str, seconds: u64| {
            let file = File::options().write(true).open(cache.path(key(name))).expect("a file");
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).expect("a time");
        };
        cache.put(key("a"), &[1; 100]);
        age("a", 1);
        cache.put(key("b"), &[2; 100]);
        age("b", 2);
        assert!(cache.get(key("a")).is_some());
        cache.put(key("c"), &[3; 100]);
        assert!(cache.get(key("b")).is_none());
        assert!(cache.get(key("a")).is_some() && cache.get(key("c")).is_some());
        cache.put(key("large"), &[4; 300]);
        assert!(cache.get(key("large")).is_none() && cache.get(key("a")).is_some());
    }
}
