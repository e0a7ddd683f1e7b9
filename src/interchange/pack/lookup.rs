//! Paths within a packed folder: with slashes, relative to it, without `.` and `..`. Nothing here
//! reads a file.

/// Where a name leads from a folder of the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackedPath {
    /// To this packed file.
    File(String),
    /// To no packed file.
    Nothing,
    /// Out of the packed folder, before any file is found.
    Outside,
}

/// True if a name is a path from a root or a drive.
pub fn is_absolute(name: &str) -> bool {
    name.starts_with(['/', '\\']) || name.as_bytes().get(1) == Some(&b':')
}

/// The path of a folder that a relative name means, where that is the same whatever else is there;
/// `None` for others.
pub fn plain_folder(name: &str) -> Option<String> {
    join("", name).filter(|_| !name.split('/').any(|part| part == ".."))
}

/// The path to which a name leads from a folder; `None` where it leaves the pack.
pub fn join(folder: &str, name: &str) -> Option<String> {
    if is_absolute(name) {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The folder of a path; empty for the packed folder itself.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name by which a file finds a path beside it.
pub fn relative(from_folder: &str, path: &str) -> String {
    let from: Vec<&str> = from_folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = path.split('/').collect();
    let common = from.iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.len() - common);
    up.chain(to[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// True if a name leads into a folder and out of it again: both must exist for that.
fn turns_back(name: &str) -> bool {
    let parts = name.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.skip_while(|part| *part == "..").any(|part| part == "..")
}

/// Finds the file of a name in folders, as [`shadewright_scene::FileAccess::find`] looks for it.
/// `is_file` and `is_folder` are for paths of the pack.
pub fn find<'a>(
    name: &str,
    folders: impl IntoIterator<Item = &'a str> + Clone,
    is_file: impl Fn(&str) -> bool,
    is_folder: impl Fn(&str) -> bool,
) -> PackedPath {
    // Backslashes are those of another machine: there they are separators, and here the ends of such
    // a path are looked for.
    let slashed = name.replace('\\', "/");
    if turns_back(&slashed) {
        return PackedPath::Outside;
    }
    let parts: Vec<&str> = slashed.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let tails = (1..parts.len()).filter(|_| slashed != name).map(|first| parts[first..].join("/"));
    for name in std::iter::once(slashed.clone()).chain(tails) {
        for folder in folders.clone() {
            match join(folder, &name) {
                None => return PackedPath::Outside,
                Some(path) if is_file(&path) && (!name.starts_with("..") || is_folder(folder)) => {
                    return PackedPath::File(path);
                }
                Some(_) => {}
            }
        }
    }
    PackedPath::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_join_folders_and_cannot_leave_the_pack() {
        let found = |folder, name| join(folder, name);
        assert_eq!(found("", "a/./b.tx").as_deref(), Some("a/b.tx"));
        assert_eq!(found("a/b", "../c.tx").as_deref(), Some("a/c.tx"));
        assert_eq!(found("a", "../../c.tx"), None);
        assert_eq!(found("a", "/c.tx"), None);
        assert_eq!(found("a", "C:/c.tx"), None);
    }

    #[test]
    fn a_relative_name_leads_back_to_its_path() {
        for (folder, path, name) in [
            ("", "a/b.rib", "a/b.rib"),
            ("a", "a/b.rib", "b.rib"),
            ("a/b", "c.rib", "../../c.rib"),
            ("a/b", "a/c/d.rib", "../c/d.rib"),
            ("a/b", "a/b/c/d.rib", "c/d.rib"),
            ("b.rib", "b.rib", "../b.rib"),
        ] {
            assert_eq!(relative(folder, path), name);
            assert_eq!(join(folder, name).as_deref(), Some(path));
        }
    }

    #[test]
    fn the_first_folder_that_has_the_name_wins() {
        let packed = ["maps/wood.tx", "wood.tx", "maps/a/b.tx"];
        let is_folder = |folder: &str| ["", "maps", "maps/a"].contains(&folder);
        let find = |name: &str, folders: &[&str]| {
            find(name, folders.iter().copied(), |path| packed.contains(&path), is_folder)
        };
        assert_eq!(find("wood.tx", &["", "maps"]), PackedPath::File("wood.tx".into()));
        assert_eq!(find("wood.tx", &["maps", ""]), PackedPath::File("maps/wood.tx".into()));
        assert_eq!(find("b.tx", &["", "maps"]), PackedPath::Nothing);
        assert_eq!(find("../wood.tx", &["maps"]), PackedPath::File("wood.tx".into()));
        assert_eq!(find("../wood.tx", &["none", "maps"]), PackedPath::File("wood.tx".into()));
        assert_eq!(find("../wood.tx", &["none"]), PackedPath::Nothing);
        assert_eq!(find("../wood.tx", &["", "maps"]), PackedPath::Outside);
        assert_eq!(find("none/../wood.tx", &[""]), PackedPath::Outside);
        assert_eq!(find(r"show\a\b.tx", &["", "maps"]), PackedPath::File("maps/a/b.tx".into()));
        assert_eq!(find(r"D:\maps\wood.tx", &[""]), PackedPath::Outside);
    }
}
