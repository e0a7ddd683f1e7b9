//! Diagnostics: errors and warnings with source excerpts.
//!
//! A [`Diagnostic`] has a message, labeled places in the source, and hints. It is plain data;
//! [`render`] draws it as source excerpts. A stage collects all it can find in one run in
//! [`Diagnostics`].

use super::source::{FileId, SourceFile, SourceMap, Span};
use super::visible::visible_in_line;
use codespan_reporting::diagnostic as cs;
use codespan_reporting::files::{Error as FilesError, Files};
use codespan_reporting::term;
use std::collections::BTreeMap;
use std::ops::Range;

/// The severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; work continues.
    Warning,
    /// The input cannot be used.
    Error,
}

impl Severity {
    /// The word for several.
    fn plural(self) -> &'static str {
        match self {
            Severity::Warning => "warnings",
            Severity::Error => "errors",
        }
    }
}

/// A labeled span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// The label text; may be empty.
    pub message: String,
    /// True if this is the place of the error itself.
    pub primary: bool,
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The message, in one line.
    pub message: String,
    /// Places, the primary one first.
    pub labels: Vec<Label>,
    /// Hints: how to fix it, or further information; one line each.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), labels: Vec::new(), hints: Vec::new() }
    }

    /// The error of two different strings that programs cannot distinguish: they know strings by
    /// identifiers of 32 bits.
    pub fn colliding_strings(first: &str, second: &str) -> Self {
        let message = format!("the strings \"{first}\" and \"{second}\" have the same identifier: they would be equal");
        Self::error(message).hint("change one of them")
    }

    /// A warning without a place yet.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// True if it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The same as a warning, about a part that is left out.
    pub fn into_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// Adds the place of the error with a remark.
    pub fn at(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into(), primary: true });
        self
    }

    /// Adds a related place with a remark.
    pub fn also(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into(), primary: false });
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Cuts each text to [`MAX_TEXT`] bytes.
    fn cut(&mut self) {
        let labels = self.labels.iter_mut().map(|label| &mut label.message);
        for text in labels.chain(&mut self.hints).chain([&mut self.message]).filter(|text| text.len() > MAX_TEXT) {
            text.truncate(text.floor_char_boundary(MAX_TEXT));
            text.push('…');
        }
    }
}

/// Most bytes of a message, a label or a hint: names and values that they quote come from files.
const MAX_TEXT: usize = 4000;

/// Diagnostics of the same message that are kept in full; of the rest only the number is.
pub const MAX_ALIKE: usize = 5;

/// Most diagnostics that are kept; of the rest only the number is.
const MAX_KEPT: usize = 1024;

/// The messages of one run, in the order they were found.
///
/// Diagnostics that differ in nothing but their places are kept [`MAX_ALIKE`] times and counted from
/// then on, so that a fault that a file repeats a thousand times takes a few lines. After
/// [`MAX_KEPT`] all are counted.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// By message and severity: the positions in the list of those that are kept, and the number of
    /// the others.
    alike: BTreeMap<(Severity, String), (Vec<usize>, usize)>,
    /// The numbers of those that are not kept, nor any with their messages.
    others: BTreeMap<Severity, usize>,
}

impl Diagnostics {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one; an exact repetition is dropped. Texts that quote the input at length are cut.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.cut();
        let key = (diagnostic.severity, diagnostic.message.clone());
        if self.list.len() >= MAX_KEPT && !self.alike.contains_key(&key) {
            *self.others.entry(key.0).or_default() += 1;
            return;
        }
        let (kept, more) = self.alike.entry(key).or_default();
        if kept.iter().any(|&i| self.list[i] == diagnostic) {
            return;
        }
        if kept.len() >= MAX_ALIKE || self.list.len() >= MAX_KEPT {
            *more += 1;
            return;
        }
        kept.push(self.list.len());
        self.list.push(diagnostic);
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: Diagnostics) {
        for d in other.list {
            self.push(d);
        }
        for (key, (_, more)) in other.alike {
            if more > 0 {
                self.alike.entry(key).or_default().1 += more;
            }
        }
        for (severity, count) in other.others {
            *self.others.entry(severity).or_default() += count;
        }
    }

    /// True if any is an error.
    pub fn has_errors(&self) -> bool {
        let is_error = |severity: &Severity| *severity == Severity::Error;
        self.alike.keys().map(|(severity, _)| severity).chain(self.others.keys()).any(is_error)
    }

    /// Number of errors, those that are only counted included.
    pub fn error_count(&self) -> usize {
        self.count(Severity::Error)
    }

    /// Number of warnings, those that are only counted included.
    pub fn warning_count(&self) -> usize {
        self.count(Severity::Warning)
    }

    fn count(&self, severity: Severity) -> usize {
        let alike = self.alike.iter().filter(|((of, _), _)| *of == severity);
        alike.map(|(_, (kept, more))| kept.len() + more).sum::<usize>() + self.others.get(&severity).unwrap_or(&0)
    }

    /// True if there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The messages that are kept.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// The number of diagnostics that are counted after this one: those with its message, if it is
    /// the last of them that is kept.
    pub fn more_like(&self, diagnostic: &Diagnostic) -> usize {
        let Some((kept, more)) = self.alike.get(&(diagnostic.severity, diagnostic.message.clone())) else { return 0 };
        let is_last = kept.last().is_some_and(|&last| self.list[last] == *diagnostic);
        if is_last { *more } else { 0 }
    }

    /// All messages as source excerpts.
    pub fn render(&self, sources: &SourceMap) -> String {
        let one = |d: &Diagnostic| match self.more_like(d) {
            0 => render(d, sources),
            more => format!("{}  ({more} more like this)\n\n", render(d, sources)),
        };
        let others = self.others.iter().map(|(severity, count)| format!("{count} more {}\n\n", severity.plural()));
        self.list.iter().map(one).chain(others).collect()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(d: Diagnostic) -> Self {
        let mut diagnostics = Self::new();
        diagnostics.push(d);
        diagnostics
    }
}

/// The candidate most like `name`, when one is near enough to be what was meant: at most a third of
/// its letters differ (Damerau–Levenshtein distance, adjacent swaps counted once).
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.len().min(64) / 3).max(1);
    let near = candidates.into_iter().filter(|c| c.len().abs_diff(name.len()) <= limit);
    let ranked = near.map(|c| (distance(name.as_bytes(), c.as_bytes()), c));
    ranked.filter(|(d, _)| *d <= limit).min().map(|(_, c)| c)
}

fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = (a[i - 1] != b[j - 1]) as usize;
                let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

/// Longest source line that is shown, in bytes.
const MAX_LINE: usize = 400;

/// A diagnostic about a line too long to show: its places, without excerpts.
fn render_without_excerpts(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let word = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
    let mut text = format!("{word}: {}\n", diagnostic.message);
    for label in &diagnostic.labels {
        let place = sources.describe(label.span);
        text += &format!("  --> {}: {}\n", visible_in_line(&place), label.message);
    }
    diagnostic.hints.iter().for_each(|h| text += &format!("  = hint: {h}\n"));
    text + "\n"
}

/// True if the line at `span` is longer than [`MAX_LINE`].
fn is_on_long_line(span: Span, sources: &SourceMap) -> bool {
    let Some(text) = sources.get(span.file).map(|f| f.text.as_bytes()) else { return false };
    let at = (span.start as usize).min(text.len());
    let before = text[..at].iter().rev().take(MAX_LINE).take_while(|c| **c != b'\n').count();
    let after = text[at..].iter().take(MAX_LINE).take_while(|c| **c != b'\n').count();
    before + after >= MAX_LINE
}

/// Draws a diagnostic as plain text with source excerpts. Characters that a terminal would obey are
/// escapes ([`super::visible`]), and so are the ends of lines within a text of the diagnostic.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let shown = |text: &String| visible_in_line(text).into_owned();
    let labels = diagnostic.labels.iter().map(|label| Label { message: shown(&label.message), ..label.clone() });
    let diagnostic = Diagnostic {
        severity: diagnostic.severity,
        message: shown(&diagnostic.message),
        labels: labels.collect(),
        hints: diagnostic.hints.iter().map(shown).collect(),
    };
    draw(&diagnostic, sources)
}

fn draw(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    if diagnostic.labels.iter().any(|l| is_on_long_line(l.span, sources)) {
        return render_without_excerpts(diagnostic, sources);
    }
    let excerpts = Excerpts::new(diagnostic, sources);
    let severity = match diagnostic.severity {
        Severity::Error => cs::Severity::Error,
        Severity::Warning => cs::Severity::Warning,
    };
    let labels = diagnostic.labels.iter().filter_map(|l| {
        let style = if l.primary { cs::LabelStyle::Primary } else { cs::LabelStyle::Secondary };
        let excerpt = excerpts.0.get(&l.span.file)?;
        let (start, end) = (excerpt.shown(l.span.start as usize), excerpt.shown(l.span.end as usize));
        Some(cs::Label::new(style, l.span.file, start..end.max(start)).with_message(l.message.clone()))
    });
    let notes = diagnostic.hints.iter().map(|h| format!("hint: {h}")).collect();
    let report = cs::Diagnostic::new(severity)
        .with_message(diagnostic.message.clone())
        .with_labels(labels.collect())
        .with_notes(notes);
    let config =
        term::Config { chars: term::Chars::ascii(), before_label_lines: 0, after_label_lines: 0, ..Default::default() };
    term::emit_into_string(&config, &excerpts, &report).unwrap_or_else(|_| format!("{}\n", diagnostic.message))
}

/// The lines of a file from the first label to the last, as they are shown.
struct Excerpt<'a> {
    file: &'a SourceFile,
    /// The first line, from 0.
    first: usize,
    text: String,
    /// Where each line starts in the text, and where the last one ends.
    starts: Vec<usize>,
}

impl<'a> Excerpt<'a> {
    fn new(file: &'a SourceFile, first: usize, last: usize) -> Self {
        let (mut text, mut starts) = (String::new(), vec![0]);
        for line in first..=last {
            let line = &file.text[file.line(line)];
            text += &visible_in_line(content(line));
            text += if line.ends_with('\n') { "\n" } else { "" };
            starts.push(text.len());
        }
        Self { file, first, text, starts }
    }

    /// Where a byte of the file is in the text.
    fn shown(&self, offset: usize) -> usize {
        let line = self.file.line_of(offset);
        let range = self.file.line(line);
        let content = content(&self.file.text[range.clone()]);
        let before = content.floor_char_boundary(offset.saturating_sub(range.start).min(content.len()));
        let start = self.starts.get(line.saturating_sub(self.first)).copied().unwrap_or(self.text.len());
        start + visible_in_line(&content[..before]).len()
    }

    /// The column, from 1, in the file, of a place in the text.
    fn column(&self, line: usize, shown: usize) -> usize {
        let mut at = self.starts[line - self.first];
        let chars = content(&self.file.text[self.file.line(line)]).chars();
        let before = chars.take_while(|c| {
            let is_before = at < shown;
            at += visible_in_line(c.encode_utf8(&mut [0; 4])).len();
            is_before
        });
        before.count() + 1
    }
}

/// A line without its end.
fn content(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

/// The excerpts of the files that a diagnostic names.
struct Excerpts<'a>(BTreeMap<FileId, Excerpt<'a>>);

impl<'a> Excerpts<'a> {
    fn new(diagnostic: &Diagnostic, sources: &'a SourceMap) -> Self {
        let mut lines: BTreeMap<FileId, (usize, usize)> = BTreeMap::new();
        for span in diagnostic.labels.iter().map(|label| label.span) {
            let Some(file) = sources.get(span.file) else { continue };
            let (start, end) = (file.line_of(span.start as usize), file.line_of(span.end.max(span.start) as usize));
            let (first, last) = lines.entry(span.file).or_insert((start, end));
            (*first, *last) = (start.min(*first), end.max(*last));
        }
        let excerpt = |(id, (first, last))| Some((id, Excerpt::new(sources.get(id)?, first, last)));
        Self(lines.into_iter().filter_map(excerpt).collect())
    }

    fn get(&self, id: FileId) -> Result<&Excerpt<'a>, FilesError> {
        self.0.get(&id).ok_or(FilesError::FileMissing)
    }
}

impl<'a> Files<'a> for Excerpts<'_> {
    type FileId = FileId;
    type Name = String;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<String, FilesError> {
        Ok(visible_in_line(&self.get(id)?.file.name).into_owned())
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, FilesError> {
        Ok(&self.get(id)?.text)
    }

    fn line_index(&'a self, id: FileId, byte_index: usize) -> Result<usize, FilesError> {
        let Excerpt { first, starts, .. } = self.get(id)?;
        let lines = &starts[..starts.len() - 1];
        Ok(first + lines.partition_point(|&start| start <= byte_index).max(1) - 1)
    }

    fn column_number(&'a self, id: FileId, line_index: usize, byte_index: usize) -> Result<usize, FilesError> {
        Ok(self.get(id)?.column(line_index, byte_index))
    }

    fn line_range(&'a self, id: FileId, line_index: usize) -> Result<Range<usize>, FilesError> {
        let Excerpt { first, starts, .. } = self.get(id)?;
        let max = first + starts.len() - 2;
        let line = line_index.checked_sub(*first).filter(|line| line + 1 < starts.len());
        let line = line.ok_or(FilesError::LineTooLarge { given: line_index, max })?;
        Ok(starts[line]..starts[line + 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_megabyte_is_not_shown() {
        let mut map = SourceMap::new();
        let f = map.add("m.sl", None, "(".repeat(1 << 20));
        let text = render(&Diagnostic::error("too deep").at(Span::new(f, 300, 301), "here").hint("less"), &map);
        assert_eq!(text, "error: too deep\n  --> m.sl:1:301: here\n  = hint: less\n\n");
    }

    #[test]
    fn a_text_that_quotes_much_is_cut() {
        let mut all = Diagnostics::new();
        let long = "é".repeat(100_000);
        all.push(Diagnostic::error(&long).hint(&long));
        let kept = all.iter().next().expect("one");
        assert!(kept.message.ends_with("é…") && kept.message.len() <= MAX_TEXT + 3, "{}", kept.message.len());
        assert!(kept.hints[0].len() <= MAX_TEXT + 3);
    }

    #[test]
    fn after_very_many_different_messages_the_others_are_counted() {
        let mut all = Diagnostics::new();
        (0..MAX_KEPT + 10).for_each(|i| all.push(Diagnostic::warning(format!("{i}"))));
        assert!(!all.has_errors());
        (0..3).for_each(|i| all.push(Diagnostic::error(format!("error {i}"))));
        assert_eq!(all.iter().count(), MAX_KEPT);
        assert!(all.has_errors());
        assert_eq!((all.warning_count(), all.error_count()), (MAX_KEPT + 10, 3));
        let text = all.render(&SourceMap::new());
        assert!(text.contains("10 more warnings") && text.contains("3 more errors"), "{}", &text[text.len() - 200..]);
        let mut both = Diagnostics::new();
        both.extend(all);
        assert_eq!((both.warning_count(), both.error_count()), (MAX_KEPT + 10, 3));
    }

    #[test]
    fn diagnostics_that_differ_in_their_places_alone_are_counted() {
        let mut map = SourceMap::new();
        let f = map.add("m.sl", None, " ".repeat(100));
        let at = |i| Diagnostic::error("unknown name `foo`").at(Span::new(f, i, i + 1), "here");
        let mut all = Diagnostics::new();
        all.push(at(0));
        all.push(at(0));
        assert_eq!(all.error_count(), 1, "an exact repetition");
        (0..50).for_each(|i| all.push(at(i)));
        all.push(Diagnostic::warning("another"));
        assert_eq!((all.error_count(), all.warning_count(), all.iter().count()), (50, 1, MAX_ALIKE + 1));
        let text = all.render(&map);
        assert_eq!(text.matches("unknown name").count(), MAX_ALIKE);
        assert_eq!(text.matches("(45 more like this)").count(), 1, "{text}");
        let mut both = Diagnostics::new();
        both.extend(all.clone());
        both.extend(all);
        assert_eq!(both.error_count(), 95, "the first five are repetitions");
    }

    #[test]
    fn what_a_terminal_obeys_is_an_escape_below_which_labels_stand() {
        let mut map = SourceMap::new();
        let f = map.add("m\u{202e}\n.sl", None, "first\r\n\u{1b}[2J\0 x = \u{202e}y;\r\n");
        let x = map.get(f).and_then(|file| file.text.find('x')).expect("it is there");
        let d = Diagnostic::error("wrong \u{7}\nerror: more").at(Span::new(f, x, x + 1), "here\u{9b}").hint("\u{2066}");
        let text = render(&d, &map);
        assert!(text.starts_with("error: wrong \\u{7}\\u{a}error: more\n"), "{text}");
        assert!(text.contains("m\\u{202e}\\u{a}.sl:2:7\n"), "{text}");
        assert!(!text.contains(super::super::visible::is_hidden), "{text:?}");
        let lines: Vec<&str> = text.lines().collect();
        let source = lines.iter().position(|line| line.contains("u{1b}[2J\\u{0} x = \\u{202e}y;")).expect("a line");
        assert_eq!(lines[source].find("x ="), lines[source + 1].find("^ here\\u{9b}"), "{text}");
    }

    #[test]
    fn labels_of_several_lines_and_at_the_end_of_a_file_are_shown() {
        let mut map = SourceMap::new();
        let f = map.add("m.sl", None, "a\nb(\nc\nd)\ne\n");
        let text =
            render(&Diagnostic::error("wrong").at(Span::new(f, 2, 8), "here").also(Span::new(f, 11, 11), "end"), &map);
        assert!(text.contains("m.sl:2:1") && text.contains("2 | / b(") && text.contains("here"), "{text}");
        assert!(text.contains("end"), "{text}");
    }

    #[test]
    fn the_closest_name_is_near_or_none() {
        let names = ["faceforward", "normalize", "noise"];
        assert_eq!(closest("normalizes", names), Some("normalize"));
        assert_eq!(closest("faecforward", names), Some("faceforward"));
        assert_eq!(closest("zebra", names), None);
    }

    #[test]
    fn a_diagnostic_shows_its_source_line_label_and_hint() {
        let mut map = SourceMap::new();
        let f = map.add("m.sl", None, "surface s() {\n  Ci = foo;\n}\n");
        let d = Diagnostic::error("unknown name `foo`").at(Span::new(f, 21, 24), "not declared").hint("declare it");
        let text = render(&d, &map);
        assert!(text.contains("error: unknown name `foo`"), "{text}");
        assert!(text.contains("m.sl:2:8"), "{text}");
        assert!(text.contains("^^^ not declared"), "{text}");
        assert!(text.contains("hint: declare it"), "{text}");
    }
}
