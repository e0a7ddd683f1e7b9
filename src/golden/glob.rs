//! Patterns of paths and names.
//!
//! | pattern | matches |
//! |---|---|
//! | `*` | any characters but `/`; at the start of a file's name no `.` |
//! | `?` | one character but `/` |
//! | `[a-z]`, `[!a-z]` | one of these characters, one of the others |
//! | `**` between slashes | any number of folders |
//!
//! Matching takes time in proportion to the lengths of pattern and name, whatever the pattern.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Most files that a pattern matches.
const MAX_FILES: usize = 10_000;

/// Most entries of folders that are looked at for one pattern.
const MAX_ENTRIES: usize = 1_000_000;

/// Most folders below one another that `**` enters.
const MAX_DEPTH: usize = 64;

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GlobError {
    /// A set of characters does not end.
    #[error("`[` without `]` in the pattern `{0}`")]
    OpenSet(String),
    /// It matches too much.
    #[error("the pattern `{0}` matches more than {MAX_FILES} files, or searches too many folders")]
    TooMany(String),
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    segments: Vec<Segment>,
}

/// The part between two slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// `**`
    Folders,
    Name(Vec<Part>),
}

/// A part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Character(char),
    /// `?`
    One,
    /// `*`
    Any,
    Set {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Part {
    /// True if it is this one character.
    fn is(&self, c: char) -> bool {
        match self {
            Part::Character(own) => *own == c,
            Part::One => true,
            Part::Any => false,
            Part::Set { is_negated, ranges } => ranges.iter().any(|(a, b)| (*a..=*b).contains(&c)) != *is_negated,
        }
    }
}

/// True if a sequence matches a pattern in which some elements (`is_any`) stand for any number of
/// the sequence's: the last of these alone is ever tried again, because what an earlier one could
/// take, the last one can take, too.
fn matches<P, T>(pattern: &[P], sequence: &[T], is_any: impl Fn(&P) -> bool, is: impl Fn(&P, &T) -> bool) -> bool {
    let (mut p, mut s) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while s < sequence.len() {
        match pattern.get(p) {
            Some(part) if is_any(part) => {
                last = Some((p, s));
                p += 1;
            }
            Some(part) if is(part, &sequence[s]) => (p, s) = (p + 1, s + 1),
            _ => {
                let Some((any, from)) = last else { return false };
                last = Some((any, from + 1));
                (p, s) = (any + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(is_any)
}

impl Segment {
    fn read(text: &str) -> Option<Self> {
        if text == "**" {
            return Some(Segment::Folders);
        }
        let mut parts = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            parts.push(match c {
                '?' => Part::One,
                '*' if parts.last() == Some(&Part::Any) => continue,
                '*' => Part::Any,
                '[' => set(&mut rest)?,
                c => Part::Character(c),
            });
        }
        Some(Segment::Name(parts))
    }

    /// True if a name is one that this segment describes.
    fn is(&self, name: &str) -> bool {
        let Segment::Name(parts) = self else { return false };
        let name: Vec<char> = name.chars().collect();
        matches(parts, &name, |part| *part == Part::Any, |part, c| part.is(*c))
    }

    /// The name, if there is only one.
    fn literal(&self) -> Option<String> {
        let Segment::Name(parts) = self else { return None };
        let character = |part: &Part| match part {
            Part::Character(c) => Some(*c),
            _ => None,
        };
        parts.iter().map(character).collect()
    }

    /// True if it is one of a file of a folder: hidden files have to be asked for.
    fn is_entry(&self, name: &str) -> bool {
        let asks = matches!(self, Segment::Name(parts) if parts.first() == Some(&Part::Character('.')));
        (asks || !name.starts_with('.')) && self.is(name)
    }
}

/// The rest of a set of characters after its `[`.
fn set(rest: &mut std::str::Chars<'_>) -> Option<Part> {
    let is_negated = rest.as_str().starts_with(['!', '^']);
    if is_negated {
        rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        let first = rest.next()?;
        // A bracket that comes first is one of the set.
        if first == ']' && !ranges.is_empty() {
            return Some(Part::Set { is_negated, ranges });
        }
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) if last != ']' => {
                ranges.push((first, last));
                *rest = ahead;
            }
            _ => ranges.push((first, first)),
        }
    }
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`GlobError::OpenSet`].
    pub fn new(text: &str) -> Result<Self, GlobError> {
        let segments: Option<Vec<Segment>> = text.split('/').map(Segment::read).collect();
        let segments = segments.ok_or_else(|| GlobError::OpenSet(text.to_string()))?;
        Ok(Self { text: text.to_string(), segments })
    }

    /// True if it matches a path or name as a whole, or, where it has no slash, the last part of
    /// it.
    pub fn matches(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        let is_any = |segment: &Segment| *segment == Segment::Folders;
        let is = |segment: &Segment, part: &&str| segment.is(part);
        match (&self.segments[..], parts.last()) {
            ([only], Some(last)) if *only != Segment::Folders && only.is(last) => true,
            _ => matches(&self.segments, &parts, is_any, is),
        }
    }

    /// The files that it matches, relative to `folder` as the pattern is, in the order of their
    /// names. A file whose name is the pattern itself is the only match. Links to files count;
    /// `**` does not enter folders by links.
    ///
    /// # Errors
    /// [`GlobError::TooMany`].
    pub fn files(&self, folder: &Path) -> Result<Vec<PathBuf>, GlobError> {
        if folder.join(&self.text).is_file() {
            return Ok(vec![self.text.clone().into()]);
        }
        let mut search = Search { pattern: self, folder, found: Vec::new(), entries: 0 };
        search.enter(PathBuf::new(), &self.segments, 0)?;
        let mut found = search.found;
        found.sort();
        found.dedup();
        Ok(found)
    }
}

/// A search for the files of a pattern.
struct Search<'a> {
    pattern: &'a Pattern,
    folder: &'a Path,
    found: Vec<PathBuf>,
    entries: usize,
}

impl Search<'_> {
    /// Finds what the segments match below a folder.
    fn enter(&mut self, at: PathBuf, segments: &[Segment], depth: usize) -> Result<(), GlobError> {
        let [segment, rest @ ..] = segments else { return Ok(()) };
        if let Some(name) = segment.literal() {
            // An empty first segment is the root.
            let next = if name.is_empty() && at.as_os_str().is_empty() { PathBuf::from("/") } else { at.join(name) };
            return self.take(next, rest, depth);
        }
        if *segment == Segment::Folders {
            self.enter(at.clone(), rest, depth)?;
            if depth == MAX_DEPTH {
                return Ok(());
            }
            for (name, is_folder) in self.list(&at)? {
                if is_folder && !name.to_string_lossy().starts_with('.') {
                    self.enter(at.join(name), segments, depth + 1)?;
                }
            }
            return Ok(());
        }
        for (name, _) in self.list(&at)? {
            if segment.is_entry(&name.to_string_lossy()) {
                self.take(at.join(name), rest, depth)?;
            }
        }
        Ok(())
    }

    /// A path that has matched so far.
    fn take(&mut self, path: PathBuf, rest: &[Segment], depth: usize) -> Result<(), GlobError> {
        if !rest.is_empty() {
            return self.enter(path, rest, depth);
        }
        if self.folder.join(&path).is_file() {
            if self.found.len() == MAX_FILES {
                return Err(GlobError::TooMany(self.pattern.text.clone()));
            }
            self.found.push(path);
        }
        Ok(())
    }

    /// The entries of a folder, and whether they are folders themselves; none where it cannot be
    /// read. In names, what is not Unicode matches as U+FFFD, a character that only wildcards match.
    fn list(&mut self, at: &Path) -> Result<Vec<(OsString, bool)>, GlobError> {
        let mut names = Vec::new();
        // `.` where both are empty.
        let folder = Path::new(".").join(self.folder).join(at);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(GlobError::TooMany(self.pattern.text.clone()));
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            names.push((entry.file_name(), is_folder));
        }
        names.sort();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(pattern: &str, path: &str) -> bool {
        Pattern::new(pattern).expect("a pattern").matches(path)
    }

    #[test]
    fn a_star_stays_within_a_segment_and_two_cross_folders() {
        for (pattern, path) in [
            ("*.rib", "a.rib"),
            ("a*b*c", "aXXbYYbZc"),
            ("scenes/*", "scenes/glass"),
            ("**/glass", "scenes/deep/glass"),
            ("**/glass", "glass"),
            ("a/**/b", "a/b"),
            ("a/**/b", "a/x/y/b"),
            ("**", "a/b/c"),
            ("?[a-c][!x]", "qbz"),
            ("[]]", "]"),
            ("[a-]", "-"),
            ("a**b", "axb"),
        ] {
            assert!(is(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("*.rib", "a.rib2"),
            ("scenes/*", "scenes/deep/glass"),
            ("?", ""),
            ("[!a]", "a"),
            ("a/**/b", "a/xb"),
            ("*/b", "b"),
        ] {
            assert!(!is(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_without_a_slash_matches_the_last_part_of_a_name() {
        assert!(is("glass", "scenes/glass") && is("gl*", "scenes/glass") && is("scenes/glass", "scenes/glass"));
        assert!(!is("glass", "glass/scenes") && !is("scenes", "scenes/glass"));
    }

    #[test]
    fn a_set_that_does_not_end_is_refused() {
        assert_eq!(Pattern::new("a[b").unwrap_err(), GlobError::OpenSet("a[b".into()));
        assert_eq!(Pattern::new("a[]").unwrap_err(), GlobError::OpenSet("a[]".into()));
    }

    #[test]
    fn many_stars_cost_no_more_than_few() {
        let name = "a".repeat(2000);
        assert!(!is(&("*a".repeat(500) + "b"), &name));
        assert!(!is(&("**/".repeat(500) + "b"), &"a/".repeat(2000)));
    }

    #[test]
    fn files_are_found_in_the_order_of_their_names() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["b.rib", "a.rib", ".hidden.rib", "sub/c.rib", "sub/deep/d.rib", "a.png", "x[1].rib"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "").expect("a file");
        }
        let found = |pattern: &str| -> Vec<String> {
            let files = Pattern::new(pattern).expect("a pattern").files(dir.path()).expect("few files");
            files.iter().map(|path| path.display().to_string().replace('\\', "/")).collect()
        };
        assert_eq!(found("*.rib"), ["a.rib", "b.rib", "x[1].rib"]);
        assert_eq!(found("**/*.rib"), ["a.rib", "b.rib", "sub/c.rib", "sub/deep/d.rib", "x[1].rib"]);
        assert_eq!(found("sub/../*.png"), ["sub/../a.png"]);
        assert_eq!(found("x[1].rib"), ["x[1].rib"]);
        assert_eq!(found(".h*"), [".hidden.rib"]);
        assert_eq!(found("sub"), [""; 0]);
        let absolute = dir.path().join("sub/*.rib").display().to_string();
        assert_eq!(found(&absolute).len(), 1);
    }
}
