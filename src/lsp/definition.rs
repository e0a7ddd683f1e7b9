//! Go to definition.
//!
//! Functions of the standard library are explained on hover but lead nowhere: their text is part of the program, not a file that an editor could open.

use super::documents::Locate;
use super::snapshot::Snapshot;
use super::symbol::{self, Symbol};
use crate::text::source::Span;
use lsp_types::{Location, Position};

/// Where the thing at a position is defined.
pub fn definition(snapshot: &Snapshot, position: Position, locate: &Locate<'_>) -> Vec<Location> {
    let Some((symbol, _)) = symbol::at(snapshot, snapshot.offset(position)) else { return Vec::new() };
    let places: Vec<Span> = match symbol {
        Symbol::Variable(v) => v.declared.into_iter().collect(),
        Symbol::Call(signatures) => signatures.iter().filter_map(|s| s.declared).collect(),
        Symbol::Definition(d) => vec![d.name.span],
        Symbol::Macro(m) => m.place.into_iter().collect(),
        Symbol::Include(i) => vec![Span::new(i.file, 0, 0)],
        Symbol::Predefined(..) | Symbol::Keyword(_) | Symbol::Shader(_) => Vec::new(),
    };
    places.into_iter().filter_map(|place| locate.location(snapshot, place)).collect()
}
