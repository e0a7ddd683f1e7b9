//! RSL for editors: [`crate::editor`] over [`super::analysis`].

mod completion;
mod cursor;
mod hover;
mod signature;
mod symbol;

use super::analysis::{self, Analysis};
use super::ast::Definition;
use super::nothing_defined;
use crate::editor::{Completion, Document, Hover, Signatures, Symbol, SymbolKind, Text};
use crate::language::FrontEndOptions;
use crate::preprocess::Include;
use crate::registry;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap, Span};
use std::ops::Deref;
use std::path::Path;

/// Analyzes a text. One that is named as a file to compile, rather than to include, must define
/// something.
pub fn analyze(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Analysis {
    let mut analysis = analysis::analyze(sources, file, options);
    let is_shader = sources.get(file).is_some_and(|f| registry::for_path(Path::new(&f.name)).is_some());
    if is_shader && analysis.definitions.is_empty() && !analysis.diagnostics.has_errors() {
        analysis.diagnostics.push(nothing_defined(file));
    }
    analysis
}

/// A text with its analysis.
#[derive(Clone, Copy)]
struct View<'a> {
    text: &'a Text,
    analysis: &'a Analysis,
}

impl<'a> Deref for View<'a> {
    type Target = Text;

    fn deref(&self) -> &Text {
        self.text
    }
}

impl Document for Analysis {
    fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    fn includes(&self) -> &[Include] {
        &self.includes
    }

    /// The shaders and functions with their parameters, and the macros.
    fn outline(&self, text: &Text) -> Vec<Symbol> {
        let here = |s: Span| s.file == text.file;
        let definitions = self.definitions.iter().filter(|d| here(d.span) && here(d.name.span));
        let macros = self.macros.iter().filter_map(|m| {
            let place = m.place.filter(|p| here(*p))?;
            let (name, kind) = (m.name.to_string(), SymbolKind::Macro);
            Some(Symbol { name, detail: String::new(), kind, whole: place, place, children: Vec::new() })
        });
        let mut all: Vec<(u32, Symbol)> =
            definitions.map(|d| (d.span.start, outlined(text, d))).chain(macros.map(|m| (m.place.start, m))).collect();
        all.sort_by_key(|s| s.0);
        all.into_iter().map(|s| s.1).collect()
    }

    fn hover(&self, text: &Text, offset: usize) -> Option<Hover> {
        hover::hover(View { text, analysis: self }, offset)
    }

    fn definition(&self, text: &Text, offset: usize) -> Vec<Span> {
        symbol::definition(View { text, analysis: self }, offset)
    }

    fn completion(&self, text: &Text, offset: usize) -> Vec<Completion> {
        completion::completion(View { text, analysis: self }, offset)
    }

    fn signatures(&self, text: &Text, offset: usize) -> Option<Signatures> {
        signature::signatures(View { text, analysis: self }, offset)
    }
}

fn outlined(text: &Text, d: &Definition) -> Symbol {
    let (kind, detail) = match d.shader {
        Some(kind) => (SymbolKind::Class, kind.name().to_string()),
        None => (SymbolKind::Function, d.result.to_string()),
    };
    let params = d.params.iter().filter(|p| p.name.span.file == text.file).map(|p| {
        let (name, detail, place) = (p.name.name.to_string(), p.ty.to_string(), p.name.span);
        Symbol { name, detail, kind: SymbolKind::Parameter, whole: place, place, children: Vec::new() }
    });
    let (whole, place) = (d.span.to(d.name.span), d.name.span);
    Symbol { name: d.name.name.to_string(), detail, kind, whole, place, children: params.collect() }
}
