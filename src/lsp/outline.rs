//! The outline of a document: its shaders and functions with their parameters, and its macros.

use super::classes;
use super::snapshot::Snapshot;
use crate::lang::rsl::ast::Definition;
use crate::text::source::Span;
use lsp_types::{DocumentSymbol, SymbolKind};

/// The outline, in the order of the text.
pub fn outline(snapshot: &Snapshot) -> Vec<DocumentSymbol> {
    if let Some(ast) = &snapshot.classes {
        return classes::outline(snapshot, ast);
    }
    let here = |s: Span| s.file == snapshot.file;
    let definitions = snapshot.analysis.definitions.iter().filter(|d| here(d.span) && here(d.name.span));
    let mut all: Vec<(u32, DocumentSymbol)> = definitions.map(|d| (d.span.start, definition(snapshot, d))).collect();
    for m in &snapshot.analysis.macros {
        if let Some(place) = m.place.filter(|p| here(*p)) {
            all.push((place.start, snapshot.symbol(&m.name, String::new(), SymbolKind::CONSTANT, [place, place])));
        }
    }
    all.sort_by_key(|s| s.0);
    all.into_iter().map(|s| s.1).collect()
}

fn definition(snapshot: &Snapshot, d: &Definition) -> DocumentSymbol {
    let (kind, detail) = match d.shader {
        Some(kind) => (SymbolKind::CLASS, kind.name().to_string()),
        None => (SymbolKind::FUNCTION, d.result.to_string()),
    };
    let params = d.params.iter().filter(|p| p.name.span.file == snapshot.file);
    let params = params.map(|p| {
        let place = p.name.span;
        snapshot.symbol(&p.name.name, p.ty.to_string(), SymbolKind::PROPERTY, [place, place])
    });
    let children = Some(params.collect());
    DocumentSymbol { children, ..snapshot.symbol(&d.name.name, detail, kind, [d.span.to(d.name.span), d.name.span]) }
}
