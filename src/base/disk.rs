//! Opening files by their names: regular ones alone, and without waiting.
//!
//! A name may lead to a pipe that nobody writes to, or to a device that never ends. Every file that
//! the program reads is opened here: it is asked what it is before, because opening some devices
//! has an effect, and again once it is open, because it may be another one by then.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::Path;

/// The cause of an error: the name is that of a device, a pipe, a socket, or where links are not
/// followed that of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotRegular;

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not a regular file")
    }
}

impl std::error::Error for NotRegular {}

impl NotRegular {
    /// True if an error has this cause.
    pub fn is_cause_of(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|cause| cause.is::<Self>())
    }
}

/// A folder by a name that the system understands: an empty one is the current folder.
pub fn or_current(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Opens a regular file to read it.
///
/// # Errors
/// When it is missing or a folder, the system refuses, or it is no regular file ([`NotRegular`]).
pub fn open(path: &Path) -> io::Result<File> {
    check(&fs::metadata(path)?)?;
    opened(path, OpenOptions::new().read(true), 0)
}

/// Opens a file that the program keeps for itself, which is never a link: where another could have
/// put a link, it would lead anywhere. The options may create it.
///
/// # Errors
/// The errors of [`open`].
pub fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(meta) => check(&meta)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    #[cfg(unix)]
    let flags = libc::O_NOFOLLOW;
    #[cfg(not(unix))]
    let flags = 0;
    opened(path, options, flags)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// The errors of [`open`], and when it is longer.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    all(open(path)?, limit)
}

/// [`read`] of a file that the program keeps for itself.
///
/// # Errors
/// The errors of [`open_own`], and when it is longer.
pub fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    all(open_own(path, OpenOptions::new().read(true))?, limit)
}

/// The first bytes of a regular file, fewer where it ends.
///
/// # Errors
/// The errors of [`open`].
pub fn start(path: &Path, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Locks a folder for this process until the file is dropped; `None` where the system cannot.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] where another process has locked it, and when it cannot be opened.
pub fn lock_folder(path: &Path) -> io::Result<Option<File>> {
    if cfg!(not(unix)) {
        return Ok(None);
    }
    let folder = File::open(path)?;
    Ok(lock(&folder)?.then_some(folder))
}

/// Locks an open file or folder for this process until it is closed; `false` where the file system
/// has no locks, as some of networks.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] where another process has locked it.
pub fn lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Err(TryLockError::Error(_)) => Ok(false),
    }
}

fn opened(path: &Path, options: &mut OpenOptions, flags: i32) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags | libc::O_NONBLOCK | libc::O_NOCTTY);
    #[cfg(not(unix))]
    let _ = flags;
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(meta: &Metadata) -> io::Result<()> {
    if meta.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if meta.is_file() { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, NotRegular)) }
}

fn all(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"));
    if length > limit {
        return Err(too_long());
    }
    let mut bytes = Vec::with_capacity(length as usize + 1);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_long()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "abc").unwrap();
        assert_eq!(read(&path, 3).unwrap(), b"abc");
        assert_eq!(read(&path, 2).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(start(&path, 2).unwrap(), b"ab");
        assert_eq!(open(&dir.path().join("b")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(open(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    #[cfg(unix)]
    fn pipes_devices_and_sockets_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &socket, &link, Path::new("/dev/zero"), Path::new("/dev/null")] {
            assert!(NotRegular::is_cause_of(&open(path).unwrap_err()), "{}", path.display());
            assert!(open_own(path, OpenOptions::new().append(true).create(true)).is_err(), "{}", path.display());
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_has_one_lock() {
        let dir = tempfile::tempdir().unwrap();
        let lock = lock_folder(dir.path()).unwrap();
        assert_eq!(lock_folder(dir.path()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(lock);
        assert!(lock_folder(dir.path()).unwrap().is_some());
    }

    #[test]
    #[cfg(unix)]
    fn a_file_of_the_programs_own_is_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, dangling] = ["file", "link", "dangling"].map(|name| dir.path().join(name));
        fs::write(&file, "abc").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        std::os::unix::fs::symlink(dir.path().join("new"), &dangling).unwrap();
        assert_eq!(read(&link, 9).unwrap(), b"abc");
        assert!(NotRegular::is_cause_of(&read_own(&link, 9).unwrap_err()));
        assert!(open_own(&dangling, OpenOptions::new().append(true).create(true)).is_err());
        assert!(!dir.path().join("new").exists());
        assert_eq!(read_own(&file, 9).unwrap(), b"abc");
    }
}
