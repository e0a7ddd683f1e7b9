//! Where files go in a packed folder.
//!
//! A file below the scene's folder keeps its path from there. Files of other folders go below
//! `external`, in a folder for each one that the user allows. So most names lead to the same file as
//! before, whoever looks for them: also those that shaders make. No two files share a path. A part of a
//! path that some systems do not have is another one like it ([`portable`]).

use super::MANIFEST;
use shadewright_base::text::file_names::portable;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// A file and its path in the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The path in the pack.
    pub path: String,
    /// The file that is copied.
    pub source: PathBuf,
    /// The same file without links.
    pub real: PathBuf,
}

/// A folder whose files keep their paths relative to it.
#[derive(Clone, Debug)]
struct Root {
    /// As it is named, absolute.
    named: PathBuf,
    /// Without links.
    real: PathBuf,
    /// The path in the pack.
    packed: String,
}

/// The files of a pack.
#[derive(Debug)]
pub struct Places {
    /// The scene's folder, then the others, each before the folders that hold it.
    roots: Vec<Root>,
    external: String,
    files: Vec<Placed>,
    by_path: HashMap<String, usize>,
    /// Folders that hold some of them.
    folders: HashSet<String>,
    /// Paths in lower case: a pack may be moved to a system that takes no notice of case.
    by_lower_case: HashMap<String, usize>,
    /// Files whose paths others have already, by these paths and the files.
    moved: HashMap<(String, PathBuf), usize>,
    /// Files that are copied once, however many links lead to them.
    shared: HashMap<PathBuf, usize>,
}

impl Places {
    /// Places of a scene's files, which lie below its own folder (`base`) and the others.
    pub fn new(base: &Path, others: &[PathBuf]) -> Self {
        let mut numbers = std::iter::once(String::new()).chain((2..).map(|n| format!("-{n}")));
        let is_free = |name: &String| std::fs::symlink_metadata(or_here(base).join(name)).is_err();
        let external = numbers.find_map(|n| Some(format!("external{n}")).filter(is_free)).unwrap_or_default();
        let own = Root { named: absolute(base), real: real(base), packed: String::new() };
        let mut roots: Vec<Root> = Vec::new();
        for folder in others {
            let (named, real) = (absolute(folder), real(folder));
            if roots.iter().any(|root| root.named == named) {
                continue;
            }
            let label = label_of(&named);
            let taken = |label: &str| roots.iter().any(|root| root.packed == format!("{external}/{label}"));
            let mut labels = std::iter::once(label.clone()).chain((2..).map(|n| format!("{label}-{n}")));
            let label = labels.find(|label| !taken(label)).unwrap_or_default();
            roots.push(Root { named, real, packed: format!("{external}/{label}") });
        }
        roots.sort_by_key(|root| std::cmp::Reverse(root.named.components().count()));
        roots.insert(0, own);
        let (files, by_path, folders, by_lower_case, moved, shared) = Default::default();
        Self { roots, external, files, by_path, folders, by_lower_case, moved, shared }
    }

    /// All files, in the order in which they were added.
    pub fn files(&self) -> &[Placed] {
        &self.files
    }

    /// A file by its number.
    pub fn get(&self, number: usize) -> &Placed {
        &self.files[number]
    }

    /// The number of the file at a path of the pack.
    pub fn at(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// True if files are below a folder of the pack.
    pub fn has_folder(&self, folder: &str) -> bool {
        folder.is_empty() || self.folders.contains(folder)
    }

    /// The path of the pack that mirrors a file or a folder which exists; `None` where it lies in none
    /// of the folders.
    pub fn mirror(&self, path: &Path) -> Option<String> {
        let parts: Vec<String> =
            self.mirror_exactly(path)?.split('/').map(|part| portable(part).into_owned()).collect();
        // The folder of the scene itself has no parts.
        Some(if parts == ["_"] { String::new() } else { parts.join("/") })
    }

    /// [`Places::mirror`] with names as they are, which some systems may not have.
    fn mirror_exactly(&self, path: &Path) -> Option<String> {
        let named = absolute(path);
        let real = path.canonicalize().ok()?;
        // `link/..` is another folder than the one that holds the link.
        let is_plain = named.canonicalize().is_ok_and(|found| found == real);
        let by_name = self.roots.iter().filter(|_| is_plain).find_map(|root| below(&root.packed, &named, &root.named));
        by_name.or_else(|| self.roots.iter().find_map(|root| below(&root.packed, &real, &root.real)))
    }

    /// Adds a file at the path that mirrors its own: one that finds others by where it lies, or is
    /// found by its name alone.
    pub fn add_exact(&mut self, path: &Path) -> Option<usize> {
        let wanted = self.mirror(path).unwrap_or_else(|| self.elsewhere(path));
        self.add_at(wanted, path)
    }

    /// Adds a file at the path that mirrors its own, whatever systems have such a name: one whose name
    /// is computed.
    pub fn add_as_named(&mut self, path: &Path) -> Option<usize> {
        let wanted = self.mirror_exactly(path).unwrap_or_else(|| self.elsewhere(path));
        self.add_at(wanted, path)
    }

    fn add_at(&mut self, wanted: String, path: &Path) -> Option<usize> {
        let real = path.canonicalize().ok().filter(|real| real.is_file())?;
        let is_taken = match self.by_path.get(&wanted) {
            Some(&known) if self.files[known].real == real => return Some(known),
            Some(_) => true,
            None => wanted.eq_ignore_ascii_case(MANIFEST),
        };
        if !is_taken {
            return Some(self.insert(wanted, path, real));
        }
        let key = (wanted, real);
        if let Some(&known) = self.moved.get(&key) {
            return Some(known);
        }
        let free = self.free(&key.0);
        let number = self.insert(free, path, key.1.clone());
        self.moved.insert(key, number);
        Some(number)
    }

    /// Adds a file that only its bytes matter of. It is copied once, whatever links lead to it.
    pub fn add(&mut self, path: &Path) -> Option<usize> {
        let real = path.canonicalize().ok().filter(|real| real.is_file())?;
        if let Some(&known) = self.shared.get(&real) {
            return Some(known);
        }
        let wanted = self.mirror(path).unwrap_or_else(|| self.elsewhere(path));
        let number = match self.by_path.get(&wanted) {
            Some(&known) if self.files[known].real == real => known,
            _ => {
                let free = self.free(&wanted);
                self.insert(free, path, real.clone())
            }
        };
        self.shared.insert(real, number);
        Some(number)
    }

    /// Files whose paths differ from another's in case only.
    pub fn alike(&self) -> impl Iterator<Item = (&Placed, &Placed)> {
        let first = |file: &Placed| self.by_lower_case.get(&file.path.to_lowercase()).map(|&i| &self.files[i]);
        self.files.iter().filter_map(move |file| Some((first(file)?, file))).filter(|(a, b)| a.path != b.path)
    }

    /// Files with names that some systems do not have.
    pub fn foreign(&self) -> impl Iterator<Item = &Placed> {
        self.files.iter().filter(|file| file.path.split('/').any(|part| portable(part) != part))
    }

    fn elsewhere(&self, path: &Path) -> String {
        let name = path.file_name().map_or_else(|| "file".into(), |name| name.to_string_lossy());
        format!("{}/other/{}", self.external, portable(&name))
    }

    /// A path like the wanted one that no file has, in any case of its letters.
    fn free(&self, wanted: &str) -> String {
        let is_free = |path: &String| {
            let lower = path.to_lowercase();
            !self.by_lower_case.contains_key(&lower) && lower != MANIFEST.to_lowercase()
        };
        let (folder, name) = wanted.rsplit_once('/').map_or((String::new(), wanted), |(f, n)| (format!("{f}/"), n));
        let (stem, extension) = name.split_once('.').map_or((name, String::new()), |(s, e)| (s, format!(".{e}")));
        let others = (2..).map(|number| format!("{folder}{stem}-{number}{extension}"));
        std::iter::once(wanted.to_string()).chain(others).find(is_free).unwrap_or_default()
    }

    fn insert(&mut self, path: String, source: &Path, real: PathBuf) -> usize {
        let number = self.files.len();
        self.folders.extend(path.match_indices('/').map(|(end, _)| path[..end].to_string()));
        self.by_path.insert(path.clone(), number);
        self.by_lower_case.entry(path.to_lowercase()).or_insert(number);
        self.files.push(Placed { path, source: source.to_path_buf(), real });
        number
    }
}

/// The path that mirrors one below a folder.
fn below(packed: &str, path: &Path, folder: &Path) -> Option<String> {
    let rest = path.strip_prefix(folder).ok()?;
    let parts = rest.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let first = (!packed.is_empty()).then(|| packed.to_string());
    Some(first.into_iter().chain(parts).collect::<Vec<_>>().join("/"))
}

/// The name of a folder for files of another one: of letters that every system has.
fn label_of(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let label: String = name.chars().map(plain).collect();
    if label.trim_matches('.').is_empty() { "folder".to_string() } else { portable(&label).into_owned() }
}

fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

fn real(folder: &Path) -> PathBuf {
    or_here(folder).canonicalize().unwrap_or_else(|_| absolute(folder))
}

/// An absolute path without `.` and `..`, whatever is a link in it.
pub fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(or_here(path)).unwrap_or_else(|_| path.to_path_buf());
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, file).expect("a file");
        }
        dir
    }

    #[test]
    fn files_keep_their_paths_below_the_folders_that_hold_them() {
        let dir = folder(&["scene/maps/a.tx", "lib/a.tx", "lib/deep/b.tx", "show/lib/a.tx"]);
        let at = |path: &str| dir.path().join(path);
        let mut places = Places::new(&at("scene"), &[at("lib"), at("show/lib"), at("lib/deep"), at("lib")]);
        let mut add = |path: &str| {
            let number = places.add(&at(path)).expect("a file");
            places.get(number).path.clone()
        };
        assert_eq!(add("scene/maps/../maps/a.tx"), "maps/a.tx");
        assert_eq!(add("lib/a.tx"), "external/lib/a.tx");
        assert_eq!(add("lib/deep/b.tx"), "external/deep/b.tx");
        assert_eq!(add("show/lib/a.tx"), "external/lib-2/a.tx");
        assert_eq!(add("scene/maps/a.tx"), "maps/a.tx");
        assert_eq!(places.files().len(), 4);
    }

    #[test]
    fn no_file_takes_the_place_of_another() {
        let dir = folder(&["scene/external/a.tx", "scene/shadewright-pack.json", "lib/a.tx"]);
        let at = |path: &str| dir.path().join(path);
        let mut places = Places::new(&at("scene"), &[at("lib")]);
        let paths = ["scene/external/a.tx", "scene/shadewright-pack.json", "lib/a.tx"].map(|path| {
            let number = places.add_exact(&at(path)).expect("a file");
            places.get(number).path.clone()
        });
        assert_eq!(paths, ["external/a.tx", "shadewright-pack-2.json", "external-2/lib/a.tx"]);
        assert_eq!(places.add(&at("scene/none.tx")), None);
        assert_eq!(places.add(&at("scene")), None);
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_and_what_they_lead_to_is_copied_once() {
        let dir = folder(&["scene/maps/a.tx", "lib/b.tx", "Scene2/x.tx"]);
        let at = |path: &str| dir.path().join(path);
        std::os::unix::fs::symlink(at("scene/maps/a.tx"), at("scene/link.tx")).expect("a link");
        std::os::unix::fs::symlink(at("lib"), at("scene/linked")).expect("a link");
        let mut places = Places::new(&at("scene"), &[at("lib")]);
        let first = places.add(&at("scene/link.tx"));
        assert_eq!(places.get(first.expect("a file")).path, "link.tx");
        assert_eq!(places.add(&at("scene/maps/a.tx")), first);
        let exact = places.add_exact(&at("scene/maps/a.tx")).expect("a file");
        assert_eq!(places.get(exact).path, "maps/a.tx");
        assert_eq!(places.mirror(&at("scene/linked/b.tx")).as_deref(), Some("linked/b.tx"));
        // Not `scene/maps/a.tx`, which the name without `..` would be.
        assert_eq!(places.mirror(&at("scene/linked/../lib/b.tx")).as_deref(), Some("external/lib/b.tx"));
    }

    // Elsewhere the two files may be one.
    #[cfg(target_os = "linux")]
    #[test]
    fn paths_that_differ_in_case_only_are_found() {
        let dir = folder(&["Wood.tx", "wood.tx"]);
        let mut places = Places::new(dir.path(), &[]);
        let number = ["Wood.tx", "wood.tx"].map(|name| places.add(&dir.path().join(name)).expect("a file"));
        assert_eq!(number.map(|n| places.get(n).path.clone()), ["Wood.tx", "wood-2.tx"]);
        assert_eq!(places.alike().count(), 0);
        places.add_exact(&dir.path().join("wood.tx"));
        assert_eq!(places.alike().count(), 1);
    }
}
