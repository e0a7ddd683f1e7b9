//! The cache of compiled programs on disk.

use shadewright::cache::{DEFAULT_LIMIT, DiskCache};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// The environment variable of the cache's folder; empty for no cache.
const CACHE_VARIABLE: &str = "SHADEWRIGHT_CACHE";

/// The user's cache; `None` where there is no place for it, or the user wants none.
pub fn usual() -> Option<DiskCache> {
    let folder = match std::env::var_os(CACHE_VARIABLE) {
        Some(folder) if folder.is_empty() => return None,
        Some(folder) => PathBuf::from(folder),
        None => directories::ProjectDirs::from("", "", "shadewright")?.cache_dir().join("programs"),
    };
    Some(DiskCache::new(folder, DEFAULT_LIMIT, build()?))
}

/// The key that tells this build of the program from others, whose compiler may differ.
fn build() -> Option<String> {
    let file = std::fs::metadata(std::env::current_exe().ok()?).ok()?;
    let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", env!("CARGO_PKG_VERSION"), file.len(), modified.as_nanos()))
}
