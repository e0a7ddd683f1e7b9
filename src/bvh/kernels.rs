//! The hand-written kernels of `wgsl/`: built into the program, and reloaded when edited while it
//! runs.
//!
//! A [`Kernel`] is a file of that folder. Its text is the one that the program was built with,
//! until a [`Folder`] that watches the files takes over another; [`version`] then rises, and who
//! has made pipelines opens the device again. It knows names and sources, not what they mean.

use shadewright_base::disk;
use shadewright_base::text::log::FileLog;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// A file in `wgsl/`.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    name: &'static str,
    built_in: &'static str,
}

/// Name and text of files in `wgsl/`.
macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/wgsl/", $name)))),+]
    };
}

/// Every file in `wgsl/`.
const BUILT_IN: &[(&str, &str)] = built_in!(
    "batch.wgsl",
    "lanes_single.wgsl",
    "lanes_subgroup.wgsl",
    "refill.wgsl",
    "schedule.wgsl",
    "section/intersections.wgsl",
    "section/megakernel.wgsl",
    "section/megakernel_rays.wgsl",
    "section/placed_hits.wgsl",
    "section/plain_hits.wgsl",
    "section/procedural_kind.wgsl",
    "section/steps.wgsl",
    "section/wavefront.wgsl",
    "traverse/answer.wgsl",
    "traverse/binary.wgsl",
    "traverse/compressed.wgsl",
    "traverse/if_if.wgsl",
    "traverse/measure_memory.wgsl",
    "traverse/one_level.wgsl",
    "traverse/one_ray.wgsl",
    "traverse/pages_private.wgsl",
    "traverse/pages_workgroup.wgsl",
    "traverse/pass.wgsl",
    "traverse/persistent_subgroup.wgsl",
    "traverse/persistent_workgroup.wgsl",
    "traverse/procedural.wgsl",
    "traverse/ray_box.wgsl",
    "traverse/ray_triangle.wgsl",
    "traverse/speculative.wgsl",
    "traverse/stack.wgsl",
    "traverse/staged.wgsl",
    "traverse/staged_pages_private.wgsl",
    "traverse/staged_pages_workgroup.wgsl",
    "traverse/table_buffer.wgsl",
    "traverse/table_texture.wgsl",
    "traverse/two_levels.wgsl",
    "traverse/upper.wgsl",
    "traverse/vote_none.wgsl",
    "traverse/vote_subgroup.wgsl",
    "traverse/while_while.wgsl",
    "traverse/wide.wgsl",
);

/// The texts that were edited since the program started.
struct Edited {
    version: u64,
    texts: BTreeMap<String, Arc<str>>,
}

static EDITED: RwLock<Edited> = RwLock::new(Edited { version: 0, texts: BTreeMap::new() });

impl Kernel {
    /// The file of that path in the folder, with `/` between the parts.
    ///
    /// # Panics
    ///
    /// When there is none: in a constant, that is an error of the compiler.
    pub const fn named(name: &str) -> Self {
        let mut row = 0;
        while row < BUILT_IN.len() {
            if is_equal(BUILT_IN[row].0, name) {
                return Self { name: BUILT_IN[row].0, built_in: BUILT_IN[row].1 };
            }
            row += 1;
        }
        panic!("no file in `wgsl/` has this name, or `BUILT_IN` does not list it");
    }

    /// The text as it is now.
    pub fn text(self) -> Cow<'static, str> {
        let edited = EDITED.read().unwrap_or_else(PoisonError::into_inner);
        edited.texts.get(self.name).map_or(Cow::Borrowed(self.built_in), |text| Cow::Owned(text.to_string()))
    }
}

/// `==` of strings, which constants cannot use.
const fn is_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The texts of several kernels, one after the other.
pub fn join(kernels: &[Kernel]) -> String {
    kernels.iter().map(|kernel| kernel.text()).collect()
}

/// Rises whenever a text changes.
pub fn version() -> u64 {
    EDITED.read().unwrap_or_else(PoisonError::into_inner).version
}

/// Most bytes of a kernel.
const MAX_BYTES: u64 = 1 << 20;

/// A folder of kernels that are edited.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    files: FileLog,
}

impl Folder {
    /// The one that `SHADEWRIGHT_KERNELS` names, else that of the sources that this program was
    /// built from, where they are still there.
    pub fn usual() -> Option<Self> {
        match std::env::var_os("SHADEWRIGHT_KERNELS") {
            Some(folder) => Self::at(Path::new(&folder)),
            None => Self::checkout(),
        }
    }

    fn checkout() -> Option<Self> {
        // The one beside this file is a link to it.
        Self::at(&fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/wgsl")).ok()?)
    }

    /// A folder, as its files are now: only what changes from now on is taken over, as the program
    /// may be older than they are.
    pub fn at(path: &Path) -> Option<Self> {
        if !path.is_dir() {
            return None;
        }
        let mut files = FileLog::default();
        for file in files_in(path) {
            read(&file, &mut files);
        }
        Some(Self { path: path.to_path_buf(), files })
    }

    /// The files in the folder.
    pub fn files(&self) -> &FileLog {
        &self.files
    }

    /// Takes over the texts that have changed. Gives their files.
    pub fn refresh(&mut self) -> Vec<PathBuf> {
        let changed = self.files.changed();
        for file in &changed {
            // One that is gone for a while keeps its last text.
            let mut files = FileLog::default();
            let text = read(file, &mut files);
            self.files.replace(&files);
            if let Some((text, name)) = text.zip(self.name_of(file)) {
                let mut edited = EDITED.write().unwrap_or_else(PoisonError::into_inner);
                edited.version += 1;
                edited.texts.insert(name, text.into());
            }
        }
        changed
    }

    fn name_of(&self, file: &Path) -> Option<String> {
        let parts: Vec<_> = file.strip_prefix(&self.path).ok()?.iter().map(|part| part.to_string_lossy()).collect();
        Some(parts.join("/"))
    }
}

/// The files of a folder and of those in it.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let inner = folders.iter().flat_map(|folder| files_in(folder));
    files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "wgsl")).chain(inner).collect()
}

fn read(file: &Path, files: &mut FileLog) -> Option<String> {
    let Ok(bytes) = disk::read(file, MAX_BYTES) else {
        files.note_missing(file);
        return None;
    };
    files.note(file, &bytes);
    // Editors empty a file before they write it.
    if bytes.is_empty() { None } else { String::from_utf8(bytes).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_kernel_has_its_built_in_text_until_its_file_changes() {
        const KERNEL: Kernel = Kernel { name: "none/walk.wgsl", built_in: "built in" };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("none/walk.wgsl");
        fs::create_dir(dir.path().join("none")).unwrap();
        fs::write(&path, "of another time").unwrap();
        let mut folder = Folder::at(dir.path()).unwrap();
        assert_eq!((folder.refresh(), KERNEL.text().as_ref()), (vec![], "built in"));
        let before = version();
        fs::write(&path, "edited").unwrap();
        assert_eq!((folder.refresh(), KERNEL.text().as_ref()), (vec![path.clone()], "edited"));
        assert!(version() > before);
        assert_eq!(folder.refresh(), Vec::<PathBuf>::new());
        fs::remove_file(&path).unwrap();
        assert_eq!((folder.refresh(), KERNEL.text().as_ref()), (vec![path], "edited"));
        assert_eq!(join(&[KERNEL, KERNEL]), "editededited");
    }

    #[test]
    fn the_checkout_has_the_kernels_that_the_program_was_built_with() {
        let folder = Folder::checkout().expect("tests run in a checkout");
        let names: Vec<_> = folder.files().paths().filter_map(|path| folder.name_of(path)).collect();
        assert_eq!(names.len(), folder.files().paths().count());
        assert_eq!(
            BTreeSet::from_iter(names.iter().map(String::as_str)),
            BUILT_IN.iter().map(|(name, _)| *name).collect()
        );
    }
}
