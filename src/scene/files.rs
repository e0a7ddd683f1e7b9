//! Reading the files of a scene: where they are looked for, which may be read at all, and how large
//! they may be.
//!
//! A scene is untrusted input. It may read regular files in its own folder and in the folders that
//! the user allows, wherever links lead; everything else is refused. A search path says where to
//! look and permits nothing: the scene names it. Gzip is recognized by its first bytes.
//!
//! [`FileAccess`] is the gate: whatever a scene, or a shader of it, names is read by its methods
//! alone. The functions [`read`] and [`read_noting`] are for files that the user names.

use flate2::bufread::MultiGzDecoder;
use shadewright_base::disk::{self, NotRegular};
use shadewright_base::text::log::FileLog;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Most bytes of one file, after decompression.
pub const MAX_FILE_BYTES: u64 = 2 << 30;

/// How many times larger than the file what is in it may be, and 16 MiB more. Scenes shrink to a
/// tenth; a file may be made to shrink to a thousandth.
pub const MAX_EXPANSION: u64 = 16;

/// Why a file cannot be read.
#[derive(Debug, Error)]
pub enum FileError {
    /// Not found in any folder.
    #[error("cannot find `{name}`")]
    Missing {
        /// The requested name.
        name: String,
        /// The folders that were searched.
        looked_in: Vec<PathBuf>,
    },
    /// Outside the folders that the scene may read.
    #[error("access to `{}` is not allowed", .path.display())]
    Forbidden {
        /// The file.
        path: PathBuf,
        /// The folder that it is in: where a link leads, not the link's own.
        folder: PathBuf,
    },
    /// It is a folder.
    #[error("`{}` is a folder, not a file", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// It is a device, a pipe or a socket.
    #[error("`{}` is not a regular file", .path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// There is nothing in it.
    #[error("`{}` is empty", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is larger than the limit.
    #[error("`{}` holds more than {limit} bytes, the most that one scene file may", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// It is compressed too well.
    #[error("`{}` expands to more than {limit} bytes", .path.display())]
    Expands {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system refused.
    #[error("cannot read `{}`: {cause}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error that the system reports.
        cause: std::io::Error,
    },
}

impl FileError {
    /// Returns hints on what the user can do about it, one line each.
    pub fn hints(&self) -> Vec<String> {
        match self {
            FileError::Missing { looked_in, .. } => {
                hints_of_places(looked_in.iter(), |dir| format!("looked in {}", show_folder(dir)))
            }
            FileError::Forbidden { folder, .. } => vec![
                "a scene may read only from its own folder".to_string(),
                format!("to allow it: --allow-read {}", show_folder(folder)),
            ],
            FileError::Expands { .. } => vec!["decompress it first, if you trust it".to_string()],
            FileError::Folder { .. } => vec!["name a .rib, .gltf, .glb, .obj or .ply file in it".to_string()],
            _ => Vec::new(),
        }
    }
}

/// Most places of one message.
const MAX_PLACES: usize = 8;

/// A hint for each place where something was looked for: the first few, and how many more there are.
pub fn hints_of_places<T>(places: impl ExactSizeIterator<Item = T>, hint: impl Fn(T) -> String) -> Vec<String> {
    let more = places.len().saturating_sub(MAX_PLACES);
    let mut hints: Vec<String> = places.take(MAX_PLACES).map(hint).collect();
    hints.extend((more > 0).then(|| format!("and in {more} more")));
    hints
}

fn show_folder(dir: &Path) -> String {
    if dir.as_os_str().is_empty() { ".".to_string() } else { dir.display().to_string() }
}

/// The folders that one scene may read from.
#[derive(Clone, Debug, Default)]
pub struct FileAccess {
    /// The scene's own folder; `None` for a built-in scene.
    pub base: Option<PathBuf>,
    /// Folders that the user allows.
    pub allowed: Vec<PathBuf>,
}

impl FileAccess {
    /// Finds a file that the scene names: beside the file that names it (`beside`), then in
    /// `search`. Paths without the file are recorded in `log`.
    ///
    /// # Errors
    ///
    /// When it is nowhere, or outside the scene's folder and the allowed folders.
    ///
    /// An absolute path, or one with backslashes, that is missing is looked for by its ends, the
    /// longest first: `C:\\a\\b.tif` as `a/b.tif` and `b.tif`.
    pub fn find(
        &self,
        name: &str,
        beside: Option<&Path>,
        search: &[PathBuf],
        log: &mut FileLog,
    ) -> Result<PathBuf, FileError> {
        let missing = match self.find_as_named(name, beside, search, log) {
            Err(missing @ FileError::Missing { .. }) => missing,
            found => return found,
        };
        // Only the last folders of another machine's path may be here.
        for shorter in paths_from_elsewhere(name) {
            if let Ok(path) = self.find_as_named(&shorter, beside, search, log) {
                return Ok(path);
            }
        }
        Err(missing)
    }

    fn find_as_named(
        &self,
        name: &str,
        beside: Option<&Path>,
        search: &[PathBuf],
        log: &mut FileLog,
    ) -> Result<PathBuf, FileError> {
        let folders: Vec<&Path> =
            beside.into_iter().chain(self.base.as_deref()).chain(search.iter().map(PathBuf::as_path)).collect();
        let mut looked_in: Vec<PathBuf> = Vec::new();
        for folder in &folders {
            // Joining an absolute name gives that name.
            let path = folder.join(name);
            if path.exists() {
                return self.permit(path);
            }
            log.note_missing(&path);
            let place = if Path::new(name).is_absolute() { Path::new("/") } else { folder };
            if !looked_in.iter().any(|p| p == place) {
                looked_in.push(place.to_path_buf());
            }
        }
        Err(FileError::Missing { name: name.to_string(), looked_in })
    }

    /// The same access, and that to more folders which the user allows.
    pub fn with_allowed(&self, folders: &[PathBuf]) -> Self {
        let allowed = self.allowed.iter().chain(folders).cloned().collect();
        Self { base: self.base.clone(), allowed }
    }

    /// Reads a whole file that the scene names, as [`read_noting`] does.
    ///
    /// # Errors
    /// The errors of [`read`], and when it lies where the scene may not read.
    pub fn read(&self, path: &Path, limit: u64, log: &mut FileLog) -> Result<Vec<u8>, FileError> {
        read_noting(&self.permit(path.to_path_buf())?, limit, log)
    }

    /// Opens a file that the scene names.
    ///
    /// # Errors
    /// The errors of [`FileAccess::read`], but not that it is empty or too large.
    pub fn open(&self, path: &Path) -> Result<File, FileError> {
        let path = self.permit(path.to_path_buf())?;
        disk::open(&path).map_err(|cause| failed(&path, u64::MAX, cause))
    }

    /// A path that is there, where the scene may read it.
    ///
    /// # Errors
    /// When it lies elsewhere, its links followed.
    pub fn permit(&self, path: PathBuf) -> Result<PathBuf, FileError> {
        let real = path.canonicalize().map_err(|cause| FileError::Io { path: path.clone(), cause })?;
        if self.permits(&real) {
            return Ok(path);
        }
        let [named, folder] = [&path, &real].map(|path| path.parent().unwrap_or(Path::new("")));
        let is_link = named.canonicalize().is_ok_and(|named| named != folder);
        let folder = if is_link { folder } else { named }.to_path_buf();
        Err(FileError::Forbidden { path, folder })
    }

    /// True if a folder that is there lies where the scene may not read.
    pub fn forbids_folder(&self, folder: &Path) -> bool {
        folder.canonicalize().is_ok_and(|real| !self.permits(&real))
    }

    fn permits(&self, real: &Path) -> bool {
        self.base
            .iter()
            .chain(&self.allowed)
            .any(|root| disk::or_current(root).canonicalize().is_ok_and(|root| real.starts_with(root)))
    }
}

/// The ends of a path that another machine may have written, with slashes, the longest first; none
/// of one that is relative and has slashes only.
fn paths_from_elsewhere(name: &str) -> Vec<String> {
    let slashed = name.replace('\\', "/");
    let has_drive = slashed.as_bytes().get(1) == Some(&b':');
    if !has_drive && slashed == name && !name.starts_with('/') {
        return Vec::new();
    }
    let path = if has_drive { &slashed[2..] } else { &slashed[..] };
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    (0..parts.len()).map(|first| parts[first..].join("/")).collect()
}

/// Reads a whole regular file that the user names, decompressed when it is gzip'd.
///
/// # Errors
///
/// When there is no such file, when it is no regular file, is empty or larger than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    read_noting(path, limit, &mut FileLog::default())
}

/// [`read`], which records the file in `log`.
///
/// # Errors
///
/// The errors of [`read`].
pub fn read_noting(path: &Path, limit: u64, log: &mut FileLog) -> Result<Vec<u8>, FileError> {
    let raw = read_raw(path, limit);
    match &raw {
        Ok(bytes) => log.note(path, bytes),
        Err(_) => log.note_missing(path),
    }
    let mut bytes = raw?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let io = |cause| FileError::Io { path: path.to_path_buf(), cause };
        let most = limit.min(expanded(bytes.len() as u64));
        let mut out = Vec::new();
        MultiGzDecoder::new(bytes.as_slice()).take(most + 1).read_to_end(&mut out).map_err(io)?;
        if most < limit && out.len() as u64 > most {
            return Err(FileError::Expands { path: path.to_path_buf(), limit: most });
        }
        bytes = out;
    }
    if bytes.len() as u64 > limit {
        return Err(FileError::TooLarge { path: path.to_path_buf(), limit });
    }
    if bytes.is_empty() {
        return Err(FileError::Empty { path: path.to_path_buf() });
    }
    Ok(bytes)
}

/// Most bytes that so many compressed ones may hold.
pub fn expanded(bytes: u64) -> u64 {
    MAX_EXPANSION * bytes.saturating_add(1 << 20)
}

/// The bytes that a file takes on the disk, where it holds so many decompressed.
pub fn bytes_on_disk(path: &Path, decompressed: usize) -> usize {
    std::fs::metadata(path).map_or(decompressed, |meta| decompressed.min(meta.len() as usize))
}

/// The raw bytes of a regular file, at most `limit`.
fn read_raw(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    disk::read(path, limit).map_err(|cause| failed(path, limit, cause))
}

/// The error of a file that cannot be opened or read.
fn failed(path: &Path, limit: u64, cause: io::Error) -> FileError {
    let path = path.to_path_buf();
    match cause.kind() {
        ErrorKind::NotFound => {
            let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
            FileError::Missing { name: path.display().to_string(), looked_in: vec![folder] }
        }
        ErrorKind::IsADirectory => FileError::Folder { path },
        ErrorKind::FileTooLarge => FileError::TooLarge { path, limit },
        _ if NotRegular::is_cause_of(&cause) => FileError::NotRegular { path },
        _ => FileError::Io { path, cause },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_path_of_another_machine_is_looked_for_by_its_ends() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("maps")).unwrap();
        std::fs::write(dir.path().join("maps/wood.tif"), "x").unwrap();
        let access = FileAccess { base: Some(dir.path().to_path_buf()), allowed: Vec::new() };
        let find = |name: &str| access.find(name, None, &[], &mut FileLog::default());
        for name in [r"D:\show\maps\wood.tif", "/usr/show/maps/wood.tif", r"..\maps\wood.tif", "maps/wood.tif"] {
            assert!(find(name).is_ok_and(|path| path.ends_with("maps/wood.tif")), "{name}");
        }
        for name in ["show/maps/wood.tif", "/usr/show/wood.tif", ""] {
            assert!(find(name).is_err() || name.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_message_names_the_first_places_and_counts_the_others() {
        let hints = |count: usize| hints_of_places(0..count, |i| i.to_string());
        assert_eq!(hints(MAX_PLACES).last().map(String::as_str), Some("7"));
        assert_eq!(hints(MAX_PLACES + 3)[MAX_PLACES - 1..], ["7", "and in 3 more"]);
    }

    #[test]
    fn gzip_is_recognized_by_its_content_and_bounded_when_unpacked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rib");
        std::fs::write(&path, gzip(&[b' '; 100_000])).unwrap();
        assert_eq!(read(&path, 100_000).unwrap().len(), 100_000);
        assert!(matches!(read(&path, 99_999), Err(FileError::TooLarge { .. })));
        std::fs::write(&path, &gzip(b"Sphere")[..12]).unwrap();
        assert!(matches!(read(&path, 100), Err(FileError::Io { .. })));
    }

    #[test]
    fn a_file_that_expands_a_thousandfold_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bomb.rib.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let spaces = vec![b' '; 1 << 20];
        (0..160).for_each(|_| std::io::Write::write_all(&mut encoder, &spaces).unwrap());
        std::fs::write(&path, encoder.finish().unwrap()).unwrap();
        let error = read(&path, MAX_FILE_BYTES).unwrap_err();
        assert!(matches!(error, FileError::Expands { limit, .. } if limit < 120 << 20), "{error}");
    }

    #[test]
    fn folders_empty_and_missing_files_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(read(dir.path(), 9), Err(FileError::Folder { .. })));
        assert!(matches!(read(&dir.path().join("no"), 9), Err(FileError::Missing { .. })));
        std::fs::write(dir.path().join("e"), "").unwrap();
        assert!(matches!(read(&dir.path().join("e"), 9), Err(FileError::Empty { .. })));
    }

    #[test]
    fn a_scene_reads_under_its_own_folder_and_allowed_folders_only() {
        let dir = tempfile::tempdir().unwrap();
        let at = |p: &str| dir.path().join(p);
        for d in ["scene/parts", "library", "other"] {
            std::fs::create_dir_all(at(d)).unwrap();
        }
        for f in ["scene/parts/a.rib", "library/b.rib", "other/c.rib"] {
            std::fs::write(at(f), "x").unwrap();
        }
        let mut access = FileAccess { base: Some(at("scene")), allowed: vec![] };
        let search = [at("library")];
        let find = |access: &FileAccess, name: &str| access.find(name, None, &search, &mut FileLog::default());
        assert!(find(&access, "parts/a.rib").is_ok());
        for name in ["b.rib", at("library/b.rib").to_str().unwrap()] {
            assert!(
                matches!(find(&access, name), Err(FileError::Forbidden { .. })),
                "{name}: the scene named the path"
            );
        }
        assert!(matches!(find(&access, "../other/c.rib"), Err(FileError::Forbidden { .. })));
        assert!(matches!(find(&access, at("other/c.rib").to_str().unwrap()), Err(FileError::Forbidden { .. })));
        match find(&access, "d.rib") {
            Err(FileError::Missing { looked_in, .. }) => assert_eq!(looked_in, [at("scene"), at("library")]),
            other => panic!("{other:?}"),
        }
        access.allowed.extend([at("other"), at("library")]);
        assert!(find(&access, "../other/c.rib").is_ok());
        assert!(find(&access, "b.rib").is_ok());
    }
}
