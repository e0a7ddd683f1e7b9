//! Writes a packed folder: built in a temporary folder beside it, which takes its place when it is
//! complete. Files that an earlier pack holds already are linked from there, and not written again.

use super::manifest::Manifest;
use super::sha256::Sha256;
use super::{MANIFEST, PackError};
use shadewright_base::disk;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Bytes that are copied at a time.
const CHUNK: usize = 1 << 18;

/// Where a pack is written.
#[derive(Debug)]
pub struct Target {
    /// The folder, absolute and without links.
    folder: PathBuf,
    /// The manifest of the pack that it holds now.
    earlier: Option<Manifest>,
}

/// The result of writing a file.
#[derive(Clone, Debug)]
pub struct Written {
    /// The number of bytes in the file.
    pub bytes: u64,
    /// Their hash.
    pub sha256: String,
    /// True if the earlier pack had the same file.
    pub kept: bool,
}

impl Target {
    /// Checks that a pack of a scene can be written to a folder.
    ///
    /// # Errors
    /// A folder that is the scene's own or lies in it, one that holds anything but an earlier pack of
    /// the scene, and one whose parent does not exist.
    pub fn new(out: &Path, scene: &Path) -> Result<Self, PackError> {
        let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // `.` and `..` have no name of their own.
        let named = || Some(parent.canonicalize().ok()?.join(out.file_name()?));
        let folder = out.canonicalize().ok().or_else(named);
        let folder =
            folder.ok_or_else(|| PackError::NoParent { out: out.to_path_buf(), parent: parent.to_path_buf() })?;
        let own = scene.parent().filter(|own| !own.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if own.canonicalize().is_ok_and(|own| folder.starts_with(own)) {
            return Err(PackError::Inside { out: out.to_path_buf(), folder: own.to_path_buf() });
        }
        if folder.exists() && !folder.is_dir() {
            return Err(PackError::NoFolder { out: out.to_path_buf() });
        }
        let is_empty = fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none());
        let earlier = Manifest::read(&folder);
        match &earlier {
            _ if is_empty => {}
            None => return Err(PackError::NoPack { out: out.to_path_buf() }),
            Some(earlier) if earlier.original != super::manifest::shown(&super::places::absolute(scene)) => {
                return Err(PackError::OtherPack { out: out.to_path_buf(), original: earlier.original.clone() });
            }
            Some(_) => {}
        }
        Ok(Self { folder, earlier })
    }

    /// True if a file lies in the folder.
    pub fn holds(&self, real: &Path) -> bool {
        real.starts_with(&self.folder)
    }

    /// A temporary folder beside it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn stage(&self) -> Result<StagedPack<'_>, PackError> {
        let parent = self.folder.parent().unwrap_or(Path::new("/"));
        let mut name = OsString::from(".");
        name.push(self.folder.file_name().unwrap_or_default());
        name.push(".");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&name);
        #[cfg(unix)]
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        // As for every folder, the user's mask takes away from these.
        #[cfg(unix)]
        builder.permissions(permissions);
        let folder = builder.tempdir_in(parent).map_err(|source| write_error(&self.folder, source))?;
        Ok(StagedPack { target: self, folder })
    }
}

/// A pack that is being built.
#[derive(Debug)]
pub struct StagedPack<'t> {
    target: &'t Target,
    folder: TempDir,
}

impl StagedPack<'_> {
    /// The temporary folder of the pack.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Adds a file with these bytes.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<Written, PackError> {
        let mut hash = Sha256::new();
        hash.write(bytes);
        let sha256 = hash.finish();
        let target = self.place(path)?;
        let kept = self.link(path, bytes.len() as u64, &sha256, &target);
        if !kept {
            fs::write(&target, bytes).map_err(|source| write_error(&target, source))?;
        }
        Ok(Written { bytes: bytes.len() as u64, sha256, kept })
    }

    /// Adds a copy of a file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn copy(&self, path: &str, source: &Path) -> Result<Written, PackError> {
        let target = self.place(path)?;
        if self.earlier(path).is_some() {
            let (bytes, sha256) =
                hashed(source, &mut io::sink()).map_err(|error| copy_error(source, &target, error))?;
            if self.link(path, bytes, &sha256, &target) {
                return Ok(Written { bytes, sha256, kept: true });
            }
        }
        let mut file = File::create(&target).map_err(|error| write_error(&target, error))?;
        let (bytes, sha256) = hashed(source, &mut file).map_err(|error| copy_error(source, &target, error))?;
        Ok(Written { bytes, sha256, kept: false })
    }

    /// The earlier pack's file at a path.
    fn earlier(&self, path: &str) -> Option<PathBuf> {
        let is_packed = self.target.earlier.as_ref()?.files.iter().any(|file| file.path == path);
        let file = self.target.folder.join(path);
        // A folder may be a link by now, to files of others.
        let is_packed = is_packed && file.canonicalize().is_ok_and(|real| self.target.holds(&real));
        (is_packed && fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file())).then_some(file)
    }

    /// Links the earlier pack's file, if it has these bytes.
    fn link(&self, path: &str, bytes: u64, sha256: &str, target: &Path) -> bool {
        let Some(file) = self.earlier(path) else { return false };
        let is_as_long = fs::metadata(&file).is_ok_and(|meta| meta.len() == bytes);
        let is_same = || hashed(&file, &mut io::sink()).is_ok_and(|(_, found)| found == sha256);
        // Some file systems have no links: the file is written again there.
        is_as_long && is_same() && fs::hard_link(&file, target).is_ok()
    }

    /// The path of a file, whose folders are made.
    fn place(&self, path: &str) -> Result<PathBuf, PackError> {
        let target = self.folder().join(path);
        let folder = target.parent().unwrap_or(self.folder());
        fs::create_dir_all(folder).map_err(|source| write_error(folder, source))?;
        Ok(target)
    }

    /// Adds the manifest, and what the folder holds that was not packed, such as images that were
    /// rendered there; then takes the folder's place.
    ///
    /// # Errors
    /// When the system refuses, or such a file is where a packed one goes. The folder is as it was
    /// then.
    pub fn finish(self, manifest: &Manifest) -> Result<PathBuf, PackError> {
        let own = self.folder().join(MANIFEST);
        fs::write(&own, manifest.encode()).map_err(|source| write_error(&own, source))?;
        let Target { folder: target, earlier } = self.target;
        if let Some(earlier) = earlier {
            let packed = earlier.files.iter().map(|file| target.join(&file.path)).chain([target.join(MANIFEST)]);
            self.keep_others(target, &packed.collect())?;
        }
        let staged = self.folder.keep();
        let failed = |source| {
            // Nothing of it is needed.
            let _ = fs::remove_dir_all(&staged);
            Err(write_error(target, source))
        };
        if !target.exists() {
            return fs::rename(&staged, target).map_or_else(failed, |()| Ok(target.clone()));
        }
        let mut name = staged.clone().into_os_string();
        name.push(".old");
        let old = PathBuf::from(name);
        if let Err(error) = fs::rename(target, &old) {
            return failed(error);
        }
        if let Err(error) = fs::rename(&staged, target) {
            // The old folder goes back; if even that fails, its name says what it is.
            let _ = fs::rename(&old, target);
            return failed(error);
        }
        // Who holds a file of it open keeps that file.
        let _ = fs::remove_dir_all(&old);
        Ok(target.clone())
    }

    /// Links what a folder holds beside packed files.
    fn keep_others(&self, folder: &Path, packed: &BTreeSet<PathBuf>) -> Result<(), PackError> {
        let read = |source| PackError::Read { path: folder.to_path_buf(), source };
        for entry in fs::read_dir(folder).map_err(read)? {
            let path = entry.map_err(read)?.path();
            if packed.contains(&path) {
                continue;
            }
            let meta = fs::symlink_metadata(&path).map_err(read)?;
            if meta.is_dir() {
                self.keep_others(&path, packed)?;
                continue;
            }
            let below = path.strip_prefix(&self.target.folder).unwrap_or(&path);
            let place = self.folder().join(below);
            if fs::symlink_metadata(&place).is_ok() {
                return Err(PackError::Taken { path });
            }
            if let Some(folder) = place.parent() {
                fs::create_dir_all(folder).map_err(|source| write_error(folder, source))?;
            }
            let linked = fs::hard_link(&path, &place);
            let copied = |error| if meta.is_file() { fs::copy(&path, &place).map(drop) } else { Err(error) };
            linked.or_else(copied).map_err(|source| write_error(&path, source))?;
        }
        Ok(())
    }
}

/// Copies a file's bytes; gives their number and hash.
fn hashed(path: &Path, out: &mut dyn Write) -> io::Result<(u64, String)> {
    let mut file = disk::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((bytes, hash.finish())),
            n => {
                hash.write(&buffer[..n]);
                out.write_all(&buffer[..n])?;
                bytes += n as u64;
            }
        }
    }
}

fn write_error(path: &Path, source: io::Error) -> PackError {
    PackError::Write { path: path.to_path_buf(), source }
}

fn copy_error(from: &Path, to: &Path, source: io::Error) -> PackError {
    PackError::Copy { path: from.to_path_buf(), to: to.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a scene's folder in it, and the scene's path.
    fn scene() -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("in/sub")).expect("folders");
        let scene = dir.path().join("in/scene.rib");
        fs::write(&scene, "x").expect("a file");
        (dir, scene)
    }

    fn manifest(scene: &Path, files: &[&str]) -> Manifest {
        let mut manifest = Manifest::new("scene.rib", scene);
        manifest.files = files
            .iter()
            .map(|path| super::super::manifest::File {
                path: path.to_string(),
                original: String::new(),
                bytes: 0,
                sha256: String::new(),
                rewritten: false,
            })
            .collect();
        manifest
    }

    /// Packs files that hold their own names, and `more`.
    fn pack(out: &Path, scene: &Path, files: &[(&str, &str)]) -> Result<Vec<bool>, PackError> {
        let target = Target::new(out, scene)?;
        let stage = target.stage()?;
        let written = files.iter().map(|(path, text)| stage.write(path, text.as_bytes()).map(|w| w.kept));
        let kept = written.collect::<Result<_, _>>()?;
        let names: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        stage.finish(&manifest(scene, &names))?;
        Ok(kept)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_second_pack_writes_only_what_changed_and_drops_what_is_no_more() {
        let (dir, scene) = scene();
        let out = dir.path().join("out");
        assert_eq!(pack(&out, &scene, &[("a/b.rib", "1"), ("c.tx", "2"), ("d.tx", "3")]).ok(), Some(vec![false; 3]));
        fs::write(out.join("image.png"), "mine").expect("a file");
        fs::write(out.join("a/e.tx"), "mine").expect("a file");
        let modified = |path: &str| fs::metadata(out.join(path)).and_then(|meta| meta.modified()).expect("a file");
        let before = modified("a/b.rib");
        assert_eq!(pack(&out, &scene, &[("a/b.rib", "1"), ("c.tx", "4")]).ok(), Some(vec![true, false]));
        assert_eq!(names(&out), ["a", "c.tx", "image.png", MANIFEST]);
        assert_eq!(names(&out.join("a")), ["b.rib", "e.tx"]);
        assert_eq!((modified("a/b.rib"), fs::read_to_string(out.join("c.tx")).ok()), (before, Some("4".to_string())));
        assert_eq!(names(dir.path()), ["in", "out"], "no temporary folder is left");
    }

    #[test]
    fn a_packed_file_that_was_edited_is_written_again() {
        let (dir, scene) = scene();
        let out = dir.path().join("out");
        pack(&out, &scene, &[("a.rib", "1")]).expect("a pack");
        fs::write(out.join("a.rib"), "2").expect("a file");
        assert_eq!(pack(&out, &scene, &[("a.rib", "1")]).ok(), Some(vec![false]));
        assert_eq!(fs::read_to_string(out.join("a.rib")).ok().as_deref(), Some("1"));
    }

    #[test]
    fn folders_that_are_no_pack_of_the_scene_are_refused() {
        let (dir, scene) = scene();
        let at = |name: &str| dir.path().join(name);
        let refused = |out: &Path| Target::new(out, &scene).err();
        assert!(matches!(refused(&at("in")), Some(PackError::Inside { .. })));
        assert!(matches!(refused(&at("in/sub/out")), Some(PackError::NoParent { .. } | PackError::Inside { .. })));
        assert!(matches!(refused(&at("in/sub")), Some(PackError::Inside { .. })));
        assert!(matches!(refused(&at("none/out")), Some(PackError::NoParent { .. })));
        assert!(matches!(refused(dir.path()), Some(PackError::NoPack { .. })));
        assert!(matches!(refused(&scene), Some(PackError::Inside { .. } | PackError::NoFolder { .. })));
        fs::create_dir(at("empty")).expect("a folder");
        assert!(refused(&at("empty")).is_none());
        let other = at("other.rib");
        pack(&at("out"), &other, &[("other.rib", "")]).expect_err("its own folder");
        fs::create_dir(at("elsewhere")).expect("a folder");
        pack(&at("out"), &at("elsewhere/other.rib"), &[("other.rib", "")]).expect("a pack");
        assert!(matches!(refused(&at("out")), Some(PackError::OtherPack { .. })));
    }

    #[test]
    fn a_file_of_the_users_is_not_replaced() {
        let (dir, scene) = scene();
        let out = dir.path().join("out");
        pack(&out, &scene, &[("a.rib", "1")]).expect("a pack");
        fs::write(out.join("b.rib"), "mine").expect("a file");
        let error = pack(&out, &scene, &[("a.rib", "1"), ("b.rib", "2")]).expect_err("a file is in the way");
        assert!(matches!(error, PackError::Taken { .. }), "{error}");
        assert_eq!(fs::read_to_string(out.join("b.rib")).ok().as_deref(), Some("mine"));
        assert_eq!(names(dir.path()), ["in", "out"]);
    }
}
