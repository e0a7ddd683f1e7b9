//! A document as it was at one moment, with all that the compiler knows about it.

use super::text::{Encoding, Lines};
use crate::lang::preprocess::MAX_FILE;
use crate::lang::rsl::analysis::{Analysis, analyse};
use crate::lang::rsl::{Options, nothing_defined};
use crate::lang::rtsl::{self, ast::Ast};
use crate::lang::{Naming, registry};
use crate::lang::scan::{RawToken, scan};
use crate::text::diagnostics::{Diagnostic, Diagnostics};
use crate::text::source::{FileId, SourceMap, Span};
use lsp_types::{DocumentSymbol, Position, Range, SymbolKind, Uri};
use std::path::Path;
use std::sync::Arc;

/// An analysed text.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The document.
    pub uri: Uri,
    /// The text and all files that it includes.
    pub sources: SourceMap,
    /// The text, in `sources`.
    pub file: FileId,
    /// What the compiler found. Of RTSL there are diagnostics only.
    pub analysis: Analysis,
    /// The classes of a document of RTSL.
    pub classes: Option<Ast>,
    /// The text's tokens before preprocessing.
    pub tokens: Vec<RawToken>,
    text: Arc<str>,
    lines: Lines,
    encoding: Encoding,
}

impl Snapshot {
    /// Analyses a document's text that is, or will be, saved as `path`. A text longer than an included file may be is not looked into.
    pub fn new(uri: Uri, path: Option<&Path>, text: Arc<str>, options: &Options, encoding: Encoding) -> Self {
        let name = path.map_or_else(|| uri.as_str().to_string(), |p| p.display().to_string());
        let mut sources = SourceMap::new();
        let file = sources.add(name.as_str(), path, text.clone());
        let language = registry::of_path(Path::new(&name));
        let too_long = text.len() as u64 > MAX_FILE;
        let mut classes = None;
        let mut analysis = match too_long {
            true => Analysis::default(),
            false if language.is_some_and(|l| l.naming() == Naming::Qualified) => {
                let (ast, diagnostics) = rtsl::analyse(&mut sources, file, &options.preprocess);
                classes = Some(ast);
                Analysis { diagnostics, ..Analysis::default() }
            }
            false => analyse(&mut sources, file, options),
        };
        if too_long {
            let message = format!("this file is larger than {} MiB, and is not looked into", MAX_FILE >> 20);
            analysis.diagnostics.push(Diagnostic::error(message).at(Span::new(file, 0, 0), ""));
        } else if classes.is_none() && analysis.definitions.is_empty() && !analysis.diagnostics.has_errors() && language.is_some() {
            analysis.diagnostics.push(nothing_defined(file));
        }
        let tokens = if too_long { Vec::new() } else { scan(file, &text, &mut Diagnostics::new()) };
        let lines = Lines::new(&text);
        Self { uri, sources, file, analysis, classes, tokens, text, lines, encoding }
    }

    /// The document's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte of the document at a position.
    pub fn offset(&self, position: Position) -> usize {
        self.lines.offset(&self.text, position, self.encoding)
    }

    /// Where in its file something stands.
    pub fn range(&self, span: Span) -> Range {
        let bytes = span.start as usize..span.end as usize;
        match self.sources.get(span.file) {
            Some(f) if span.file != self.file => Lines::new(&f.text).range(&f.text, bytes, self.encoding),
            _ => self.lines.range(&self.text, bytes, self.encoding),
        }
    }

    /// A symbol with the place of all of it and of its name.
    pub fn symbol(&self, name: &str, detail: String, kind: SymbolKind, [whole, place]: [Span; 2]) -> DocumentSymbol {
        #[allow(deprecated, reason = "the type has a field that the protocol calls deprecated, and no constructor")]
        DocumentSymbol {
            name: name.to_string(),
            detail: (!detail.is_empty()).then_some(detail),
            kind,
            tags: None,
            deprecated: None,
            range: self.range(whole),
            selection_range: self.range(place),
            children: None,
        }
    }

    /// The text at a place.
    pub fn source(&self, span: Span) -> &str {
        let file = self.sources.get(span.file);
        file.and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or_default()
    }
}
