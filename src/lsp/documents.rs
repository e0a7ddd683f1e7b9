//! The open documents, and the diagnostics last sent for each.
//!
//! Analyzes lazily: a change only marks what it may affect, and [`Documents::refresh`] or a request
//! brings it up to date. The text of an open document replaces the file on disk, also where another
//! document includes it.

use super::client::Client;
use super::diagnostics::{self, ByFile};
use super::snapshot::Snapshot;
use super::text::edited;
use super::uri;
use lsp_types::{Diagnostic, Location, TextDocumentContentChangeEvent, Uri};
use shadewright_base::text::source::Span;
use shadewright_lang::FrontEndOptions;
use shadewright_lang::preprocess::PreprocessOptions;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// An open document.
#[derive(Debug)]
struct Document {
    uri: Uri,
    version: i32,
    path: Option<PathBuf>,
    /// The path without links, by which includes are compared.
    canonical: Option<PathBuf>,
    text: Arc<str>,
    /// `None` while it must be analyzed again.
    snapshot: Option<Snapshot>,
    /// True if the text of this version was reported on.
    reported: bool,
}

/// Diagnostics to send: for a file, with the version of its text if it is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The file.
    pub uri: Uri,
    /// The version of the text.
    pub version: Option<i32>,
    /// All that there is to say about it; nothing clears what was said before.
    pub diagnostics: Vec<Diagnostic>,
}

/// All open documents, by URI.
#[derive(Debug, Default)]
pub struct Documents {
    open: BTreeMap<String, Document>,
    sent: ByFile,
    /// True if something happened since the last [`Documents::refresh`].
    changed: bool,
    options: PreprocessOptions,
    client: Client,
}

/// Finds the URIs of files: that of the editor for those that are open.
#[derive(Clone, Debug, Default)]
pub struct Locate<'a> {
    open: HashMap<&'a Path, &'a Uri>,
}

impl Locate<'_> {
    /// The location of a span; `None` for text that is part of this program.
    pub fn location(&self, snapshot: &Snapshot, span: Span) -> Option<Location> {
        let range = snapshot.range(span);
        if span.file == snapshot.text.file {
            return Some(Location { uri: snapshot.uri.clone(), range });
        }
        let path = snapshot.text.sources.get(span.file)?.path.as_deref()?;
        let canonical = path.canonicalize().ok();
        let known = canonical.as_deref().and_then(|c| self.open.get(c)).map(|u| (*u).clone());
        let has_detours = path.components().any(|c| c == std::path::Component::ParentDir);
        let plain = canonical.as_deref().filter(|_| has_detours).unwrap_or(path);
        Some(Location { uri: known.or_else(|| uri::from_path(plain))?, range })
    }
}

impl Documents {
    /// None open yet.
    pub fn new(options: PreprocessOptions, client: Client) -> Self {
        Self { options, client, ..Self::default() }
    }

    /// A document was opened.
    pub fn open(&mut self, uri: Uri, version: i32, text: String) {
        let path = uri::to_path(&uri);
        let canonical = path.as_deref().and_then(|p| p.canonicalize().ok());
        let key = uri.as_str().to_string();
        let document = Document { uri, version, path, canonical, text: text.into(), snapshot: None, reported: false };
        self.open.insert(key.clone(), document);
        self.touched(&key);
    }

    /// A document was edited; edits of one that is not open are ignored.
    pub fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let encoding = self.client.encoding;
        let Some(document) = self.open.get_mut(uri.as_str()) else { return };
        for c in changes {
            document.text = edited(&document.text, c.range, &c.text, encoding).into();
        }
        document.version = version;
        document.snapshot = None;
        document.reported = false;
        self.touched(uri.as_str());
    }

    /// A document was closed: what counts is the file on disk again.
    pub fn close(&mut self, uri: &Uri) {
        self.touched(uri.as_str());
        self.open.remove(uri.as_str());
    }

    /// Files may have changed on disk: everything is analyzed again.
    pub fn invalidate_all(&mut self) {
        self.changed = true;
        for document in self.open.values_mut() {
            document.canonical = document.path.as_deref().and_then(|p| p.canonicalize().ok());
            document.snapshot = None;
        }
    }

    /// True if [`Self::refresh`] has work to do.
    pub fn is_stale(&self) -> bool {
        self.changed
    }

    /// A document is not what it was: those that include it must be analyzed again.
    fn touched(&mut self, document: &str) {
        self.changed = true;
        let Some(path) = self.open.get(document).and_then(|d| d.canonical.clone()) else { return };
        let stale: Vec<String> =
            self.open.iter().filter(|(_, d)| d.includes().contains(&path)).map(|(key, _)| key.clone()).collect();
        for key in stale {
            if let Some(document) = self.open.get_mut(&key) {
                document.snapshot = None;
            }
        }
    }

    /// The state of an open document, brought up to date.
    pub fn snapshot(&mut self, uri: &Uri) -> Option<&Snapshot> {
        self.analyze(uri);
        self.analyzed(uri)
    }

    /// The state of an open document, if [`Self::analyze`] brought it up to date.
    pub fn analyzed(&self, uri: &Uri) -> Option<&Snapshot> {
        self.open.get(uri.as_str())?.snapshot.as_ref()
    }

    /// How to find the URIs of files.
    pub fn locate(&self) -> Locate<'_> {
        Locate { open: self.open.values().filter_map(|d| Some((d.canonical.as_deref()?, &d.uri))).collect() }
    }

    /// Brings an open document up to date.
    pub fn analyze(&mut self, uri: &Uri) {
        let key = uri.as_str();
        if self.open.get(key).is_none_or(|d| d.snapshot.is_some()) {
            return;
        }
        let texts = self.open.values().filter_map(|d| Some((d.canonical.clone()?, d.text.clone())));
        let preprocess = PreprocessOptions { unsaved: texts.collect(), ..self.options.clone() };
        let options = FrontEndOptions { preprocess, ..FrontEndOptions::default() };
        if let Some(d) = self.open.get_mut(key) {
            let (uri, text) = (d.uri.clone(), d.text.clone());
            d.snapshot = Some(Snapshot::new(uri, d.path.as_deref(), text, &options, self.client.encoding));
        }
    }

    /// Brings everything up to date, and gives what changed in the diagnostics. Every version of an
    /// open document is reported on once.
    ///
    /// A document that another open one includes is judged only as a part of that one: alone it may
    /// lack what precedes it there.
    pub fn refresh(&mut self) -> Vec<Report> {
        let open: Vec<Uri> = self.open.values().map(|d| d.uri.clone()).collect();
        open.iter().for_each(|uri| self.analyze(uri));
        self.changed = false;
        let mut all = ByFile::new();
        let included: HashSet<PathBuf> = self.open.values().flat_map(Document::includes).collect();
        let locate = self.locate();
        for d in self.open.values() {
            all.entry(d.uri.as_str().to_string()).or_default();
            let Some(snapshot) = &d.snapshot else { continue };
            if d.canonical.as_ref().is_some_and(|c| included.contains(c)) {
                continue;
            }
            for (file, list) in diagnostics::for_snapshot(snapshot, &self.client, &locate) {
                let known = all.entry(file).or_default();
                for diagnostic in list {
                    if !known.contains(&diagnostic) {
                        known.push(diagnostic);
                    }
                }
            }
        }
        let mut reports = Vec::new();
        let gone = self.sent.keys().filter(|k| !all.contains_key(*k)).map(|k| (k.clone(), Vec::new()));
        for (key, diagnostics) in all.iter().map(|(k, d)| (k.clone(), d.clone())).chain(gone) {
            let document = self.open.get(&key);
            let unchanged = self.sent.get(&key) == Some(&diagnostics);
            if unchanged && document.is_none_or(|d| d.reported) {
                continue;
            }
            let uri = document.map(|d| d.uri.clone()).or_else(|| Uri::from_str(&key).ok());
            let version = document.map(|d| d.version);
            reports.extend(uri.map(|uri| Report { uri, version, diagnostics }));
        }
        self.open.values_mut().for_each(|d| d.reported = true);
        self.sent = all;
        reports
    }
}

impl Document {
    /// The files that the document includes, without links.
    fn includes(&self) -> HashSet<PathBuf> {
        let Some(snapshot) = &self.snapshot else { return HashSet::new() };
        let files = snapshot.includes().iter().filter_map(|i| snapshot.text.sources.get(i.file)?.path.as_deref());
        files.filter_map(|p| p.canonicalize().ok()).collect()
    }
}
