//! The outline of a document, as its language gives it.

use super::snapshot::Snapshot;
use lsp_types::{self as lsp, DocumentSymbol};
use shadewright_lang::editor::{Symbol, SymbolKind};

/// The outline, in the order of the text.
pub fn outline(snapshot: &Snapshot) -> Vec<DocumentSymbol> {
    let symbols = snapshot.document.as_ref().map_or(Vec::new(), |document| document.outline(&snapshot.text));
    symbols.into_iter().map(|symbol| converted(snapshot, symbol)).collect()
}

fn converted(snapshot: &Snapshot, symbol: Symbol) -> DocumentSymbol {
    let children = symbol.children.into_iter().map(|child| converted(snapshot, child)).collect();
    #[allow(deprecated, reason = "the type has a field that the protocol calls deprecated, and no constructor")]
    DocumentSymbol {
        name: symbol.name,
        detail: (!symbol.detail.is_empty()).then_some(symbol.detail),
        kind: match symbol.kind {
            SymbolKind::Class => lsp::SymbolKind::CLASS,
            SymbolKind::Function => lsp::SymbolKind::FUNCTION,
            SymbolKind::Method => lsp::SymbolKind::METHOD,
            SymbolKind::Parameter => lsp::SymbolKind::PROPERTY,
            SymbolKind::Field => lsp::SymbolKind::FIELD,
            SymbolKind::Macro => lsp::SymbolKind::CONSTANT,
        },
        tags: None,
        deprecated: None,
        range: snapshot.range(symbol.whole),
        selection_range: snapshot.range(symbol.place),
        children: Some(children),
    }
}
