//! Source files and positions in them.

use super::log::FileLog;
use crate::disk;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Index of a file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A range of bytes in one source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of `start..end` bytes in `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end as u32 }
    }

    /// Number of bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// True if it covers nothing.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The smallest span that covers both; `self` when the other lies in another file.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One file's text, kept for excerpts.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name shown to a user: a path as they wrote it, or `<built-in NAME>`.
    pub name: String,
    /// Where it lies, when it is a file.
    pub path: Option<PathBuf>,
    /// The text.
    pub text: Arc<str>,
    line_starts: Arc<[u32]>,
}

/// A position as a person counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// The text of a file's bytes, [`tidied`]: UTF-8 where they are that, else Latin-1, as old shaders
/// and scenes are.
pub fn decode(bytes: &[u8]) -> String {
    String::from_utf8(tidied(bytes.to_vec())).unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect())
}

/// A text file's bytes without what systems leave at its ends, the byte order mark of UTF-8 and the
/// Ctrl-Z of DOS, and with lines that all end in `\n`: those of old Macintosh files end in `\r`
/// alone. `\r`s before a `\n` stay, so positions do.
pub fn tidied(mut bytes: Vec<u8>) -> Vec<u8> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    const CTRL_Z: u8 = 0x1a;
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    while bytes.last() == Some(&CTRL_Z) {
        bytes.pop();
    }
    if bytes.contains(&b'\r') {
        let mut before_end = false;
        for b in bytes.iter_mut().rev() {
            match *b {
                b'\n' => before_end = true,
                b'\r' if !before_end => *b = b'\n',
                b'\r' => {}
                _ => before_end = false,
            }
        }
    }
    bytes
}

/// All files that a compilation or a scene has read.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    // A box: errors carry a map, and results stay small.
    log: Box<FileLog>,
    /// The files that there are, where the disk does not matter any more.
    closed: Option<Arc<FileLog>>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file. One whose path is known takes the old one's place: a map that serves for a long
    /// time grows with the number of files, not with how often they are saved.
    pub fn add(&mut self, name: impl Into<String>, path: Option<&Path>, text: impl Into<Arc<str>>) -> FileId {
        let text: Arc<str> = text.into();
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i as u32 + 1)).collect();
        let file = SourceFile { name: name.into(), path: path.map(Path::to_path_buf), text, line_starts: starts };
        match self
            .files
            .iter()
            .position(|f| f.name == file.name && f.path == file.path && (f.path.is_some() || f.text == file.text))
        {
            Some(known) => {
                self.files[known] = file;
                FileId(known as u32)
            }
            None => {
                self.files.push(file);
                FileId(self.files.len() as u32 - 1)
            }
        }
    }

    /// The file `id`, if this map made it.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// From now on there are the files that `files` lists, as this map holds them, whatever
    /// becomes of the disk.
    pub fn close(&mut self, files: Arc<FileLog>) {
        self.closed = Some(files);
    }

    /// True if the disk still counts.
    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    /// True if there is a file, which [`SourceMap::held`] gives where the map is closed. One that
    /// is not is noted.
    pub fn has_file(&mut self, path: &Path) -> bool {
        let there = match &self.closed {
            Some(files) => files.was_read(path),
            None => path.is_file(),
        };
        if !there {
            self.log.note_missing(path);
        }
        there
    }

    /// The files in a folder whose names end in `.extension`, in the order of their names: those
    /// that this map holds where it is closed.
    pub fn list(&self, folder: &Path, extension: &str) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = match &self.closed {
            Some(files) => files.paths().filter(|p| p.parent() == Some(folder)).map(Path::to_path_buf).collect(),
            None => {
                let entries = std::fs::read_dir(disk::or_current(folder)).into_iter().flatten().flatten();
                entries.map(|entry| folder.join(entry.file_name())).collect()
            }
        };
        paths.retain(|p| p.extension().is_some_and(|e| e == extension));
        paths.sort_unstable();
        paths
    }

    /// The text of a file, where the map is closed.
    pub fn held(&self, path: &Path) -> Option<FileId> {
        self.closed.as_ref()?;
        self.files.iter().position(|f| f.path.as_deref() == Some(path)).map(|i| FileId(i as u32))
    }

    /// The files of the disk that were read or looked for since [`SourceMap::take_log`], meshes
    /// among them.
    pub fn log(&mut self) -> &mut FileLog {
        &mut self.log
    }

    /// The files of the disk that were read or looked for, of which nothing is known from then on.
    pub fn take_log(&mut self) -> FileLog {
        *std::mem::take(&mut self.log)
    }

    /// All files, in the order they were added.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Line and column where `span` starts.
    pub fn position(&self, span: Span) -> Option<LineColumn> {
        self.get(span.file).map(|f| f.position(span.start))
    }

    /// `file:line:column` of `span`, for messages on one line.
    pub fn describe(&self, span: Span) -> String {
        match self.get(span.file) {
            Some(f) => {
                let p = f.position(span.start);
                format!("{}:{}:{}", f.name, p.line, p.column)
            }
            None => "<unknown>".to_string(),
        }
    }
}

impl SourceFile {
    /// The line of a byte offset, from 0; offsets past the end give the last.
    pub fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|&start| start as usize <= offset).max(1) - 1
    }

    /// The bytes of a line, from 0, with its end; none past the last.
    pub fn line(&self, line: usize) -> Range<usize> {
        let start = |line: usize| self.line_starts.get(line).map_or(self.text.len(), |&start| start as usize);
        start(line)..start(line + 1)
    }

    /// The text of a line, from 0, without its end; none past the last.
    pub fn line_text(&self, line: usize) -> Option<&str> {
        self.text[self.line(line)].lines().next()
    }

    /// Line and column of a byte offset; offsets past the end give the end.
    pub fn position(&self, offset: u32) -> LineColumn {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|&s| s <= offset).max(1) - 1;
        let start = self.line_starts[line] as usize;
        let column = self.text.get(start..offset as usize).map_or(0, |s| s.chars().count());
        LineColumn { line: line as u32 + 1, column: column as u32 + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf_8_are_read_as_latin_1() {
        assert_eq!(decode("é".as_bytes()), "é");
        assert_eq!(decode(b"caf\xe9"), "café");
    }

    #[test]
    fn what_systems_leave_in_a_text_is_tidied_up() {
        assert_eq!(decode(b"\xef\xbb\xbfa\xef\xbb\xbf\x1a\x1a"), "a\u{feff}");
        assert_eq!(decode(b"\x1aa"), "\u{1a}a");
        assert_eq!(decode(b"a\rb\r\rc\xe9\r"), "a\nb\n\nc\u{e9}\n");
        assert_eq!(decode(b"a\r\nb\r\r\nc\rd\n"), "a\r\nb\r\r\nc\nd\n");
    }

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut map = SourceMap::new();
        let f = map.add("a.sl", None, "é = 1;\nx");
        let at = |o| map.position(Span::new(f, o, o)).map(|p| (p.line, p.column));
        assert_eq!(at(0), Some((1, 1)));
        assert_eq!(at(3), Some((1, 3)));
        assert_eq!(at(8), Some((2, 1)));
        assert_eq!(at(99), Some((2, 2)));
    }
}
