//! Listings: lines of text with their source lines.
//!
//! Plain data. Equal lines of one shader lie in memory once, because most passes change few of
//! them.

use shadewright_base::text::source::FileId;
use std::collections::HashSet;
use std::sync::Arc;

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// The file.
    pub file: FileId,
    /// The line, from 1.
    pub line: u32,
}

/// A line of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// The text.
    pub text: String,
    /// The lines of the shader's files that it comes from: the innermost first, then those that
    /// call what was inlined there.
    pub places: Vec<SourceLine>,
}

/// A line where it stands.
#[derive(Clone, Debug)]
pub struct Row {
    /// The line.
    pub line: Arc<Line>,
    /// True if it is another than in the listing before.
    pub changed: bool,
}

/// A text.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The lines of the text.
    pub rows: Vec<Row>,
    /// Characters of the longest.
    pub width: usize,
}

impl Listing {
    /// A listing of lines that nothing is known about the changes of.
    pub fn new(lines: Vec<Arc<Line>>) -> Self {
        let rows = lines.into_iter().map(|line| Row { line, changed: false });
        Self::from_rows(rows.collect())
    }

    /// A listing whose changed lines are those that `before` does not have.
    pub fn after(before: &Listing, lines: Vec<Arc<Line>>) -> Self {
        let known: HashSet<&Line> = before.rows.iter().map(|row| &*row.line).collect();
        let rows = lines.into_iter().map(|line| Row { changed: !known.contains(&*line), line });
        Self::from_rows(rows.collect())
    }

    fn from_rows(rows: Vec<Row>) -> Self {
        let width = rows.iter().map(|row| row.line.text.chars().count()).max().unwrap_or(0);
        Self { rows, width }
    }

    /// The first line that comes from a place.
    pub fn first_of(&self, place: SourceLine) -> Option<usize> {
        self.rows.iter().position(|row| row.line.places.contains(&place))
    }

    /// True if both have the same lines.
    pub fn is_same(&self, lines: &[Arc<Line>]) -> bool {
        self.rows.len() == lines.len() && self.rows.iter().zip(lines).all(|(row, line)| row.line == *line)
    }
}

/// Makes lines, equal ones once.
#[derive(Debug, Default)]
pub(super) struct Interner {
    known: HashSet<Arc<Line>>,
}

impl Interner {
    /// The line with that text.
    pub fn line(&mut self, text: String, places: Vec<SourceLine>) -> Arc<Line> {
        let line = Line { text, places };
        if let Some(known) = self.known.get(&line) {
            return known.clone();
        }
        let line = Arc::new(line);
        self.known.insert(line.clone());
        line
    }
}
