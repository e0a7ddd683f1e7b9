//! A version of a document, with all that its language knows about it.

use super::text::{Encoding, Lines};
use lsp_types::{Position, Range, Uri};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{SourceMap, Span};
use shadewright_lang::editor::{Document, Text};
use shadewright_lang::preprocess::{Include, MAX_FILE};
use shadewright_lang::{FrontEndOptions, Language, registry};
use std::path::Path;
use std::sync::Arc;

/// An analyzed text.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The document.
    pub uri: Uri,
    /// The text and all files that it includes.
    pub text: Text,
    /// The language of the document.
    pub language: &'static dyn Language,
    /// The language's analysis of the document; none of a text that is too long.
    pub document: Option<Arc<dyn Document>>,
    /// All errors and warnings.
    pub diagnostics: Diagnostics,
    lines: Lines,
    encoding: Encoding,
}

impl Snapshot {
    /// Analyzes a document's text that is, or will be, saved as `path`. A text longer than an
    /// included file may be is not analyzed.
    pub fn new(uri: Uri, path: Option<&Path>, text: Arc<str>, options: &FrontEndOptions, encoding: Encoding) -> Self {
        let name = path.map_or_else(|| uri.as_str().to_string(), |p| p.display().to_string());
        let mut sources = SourceMap::new();
        let file = sources.add(name.as_str(), path, text.clone());
        let language = registry::for_path(Path::new(&name)).unwrap_or(registry::DEFAULT);
        let lines = Lines::new(&text);
        if text.len() as u64 > MAX_FILE {
            let message = format!("this file is larger than {} MiB and is not analyzed", MAX_FILE >> 20);
            let diagnostics = Diagnostic::error(message).at(Span::new(file, 0, 0), "").into();
            let text = Text::opaque(sources, file);
            return Self { uri, text, language, document: None, diagnostics, lines, encoding };
        }
        let document = language.analyze(&mut sources, file, options);
        let diagnostics = document.diagnostics().clone();
        let text = Text::new(sources, file);
        Self { uri, text, language, document: Some(document), diagnostics, lines, encoding }
    }

    /// The files that were included.
    pub fn includes(&self) -> &[Include] {
        self.document.as_ref().map_or(&[], |document| document.includes())
    }

    /// The byte of the document at a position.
    pub fn offset(&self, position: Position) -> usize {
        self.lines.offset(self.text.text(), position, self.encoding)
    }

    /// The range of a span in its file.
    pub fn range(&self, span: Span) -> Range {
        let bytes = span.start as usize..span.end as usize;
        match self.text.sources.get(span.file) {
            Some(f) if span.file != self.text.file => Lines::new(&f.text).range(&f.text, bytes, self.encoding),
            _ => self.lines.range(self.text.text(), bytes, self.encoding),
        }
    }
}
