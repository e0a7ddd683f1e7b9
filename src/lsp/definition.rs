//! Go to definition.

use super::documents::Locate;
use super::snapshot::Snapshot;
use lsp_types::{Location, Position};

/// Where the thing at a position is defined.
pub fn definition(snapshot: &Snapshot, position: Position, locate: &Locate<'_>) -> Vec<Location> {
    let Some(document) = &snapshot.document else { return Vec::new() };
    let places = document.definition(&snapshot.text, snapshot.offset(position));
    places.into_iter().filter_map(|place| locate.location(snapshot, place)).collect()
}
