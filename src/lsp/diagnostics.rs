//! The compiler's messages as the protocol wants them, sorted by the file in which they are shown.

use super::client::Client;
use super::documents::Locate;
use super::snapshot::Snapshot;
use lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location};
use shadewright_base::text::diagnostics::{self, Label, Severity};
use shadewright_base::text::source::{FileId, Span};
use shadewright_lang::preprocess::Include;
use std::collections::BTreeMap;

/// Messages by the URI of the file that they are about.
pub type ByFile = BTreeMap<String, Vec<Diagnostic>>;

/// All messages of a document. One about an included file is shown there; the `#include` that leads
/// there says so.
pub fn for_snapshot(snapshot: &Snapshot, client: &Client, locate: &Locate<'_>) -> ByFile {
    let own = &snapshot.uri;
    let mut files = ByFile::from([(own.as_str().to_string(), Vec::new())]);
    let mut elsewhere: BTreeMap<u32, Vec<(Span, Diagnostic, Location)>> = BTreeMap::new();
    for d in snapshot.diagnostics.iter() {
        let primary = d.labels.iter().find(|l| l.primary).or(d.labels.first());
        let place = primary.map_or(Span::new(snapshot.text.file, 0, 0), |l| l.span);
        let shown = convert(snapshot, d, place, client, locate);
        let location = locate.location(snapshot, place).filter(|_| place.file != snapshot.text.file);
        let Some(location) = location else {
            files.entry(own.as_str().to_string()).or_default().push(shown);
            continue;
        };
        files.entry(location.uri.as_str().to_string()).or_default().push(shown.clone());
        if let Some(include) = include_of(snapshot, place.file) {
            elsewhere.entry(include.place.start).or_default().push((include.place, shown, location));
        }
    }
    for list in elsewhere.into_values() {
        files.entry(own.as_str().to_string()).or_default().extend(at_include(snapshot, &list, client));
    }
    files
}

/// The `#include` of the document itself through which a file was read.
fn include_of(snapshot: &Snapshot, mut file: FileId) -> Option<&Include> {
    // A file includes only files that come later, so this ends.
    loop {
        let include = snapshot.includes().iter().find(|i| i.file == file)?;
        if include.place.file == snapshot.text.file {
            return Some(include);
        }
        file = include.place.file;
    }
}

/// One message for all those about a file and what it includes.
fn at_include(snapshot: &Snapshot, list: &[(Span, Diagnostic, Location)], client: &Client) -> Option<Diagnostic> {
    let worst = list.iter().min_by_key(|d| (d.1.severity != Some(DiagnosticSeverity::ERROR)) as u8)?;
    let first = worst.1.message.lines().next().unwrap_or_default();
    let more = match list.len() - 1 {
        0 => String::new(),
        n => format!(" (and {n} more)"),
    };
    let related = list.iter().map(|(_, d, location)| DiagnosticRelatedInformation {
        location: location.clone(),
        message: d.message.lines().next().unwrap_or_default().to_string(),
    });
    Some(Diagnostic {
        range: snapshot.range(worst.0),
        severity: worst.1.severity,
        source: worst.1.source.clone(),
        message: format!("in the included file: {first}{more}"),
        related_information: client.related_information.then(|| related.collect()),
        ..Diagnostic::default()
    })
}

fn convert(
    snapshot: &Snapshot,
    d: &diagnostics::Diagnostic,
    place: Span,
    client: &Client,
    locate: &Locate<'_>,
) -> Diagnostic {
    let mut message = d.message.clone();
    let mut related = Vec::new();
    for label in d.labels.iter().filter(|l| !l.message.is_empty()) {
        match relation(snapshot, label, place, client, locate) {
            Some(relation) => related.push(relation),
            None if label.span == place => message += &format!("\n{}", label.message),
            None => message += &format!("\n{}: {}", snapshot.text.sources.describe(label.span), label.message),
        }
    }
    d.hints.iter().for_each(|h| message += &format!("\nhint: {h}"));
    Diagnostic {
        range: snapshot.range(place),
        severity: Some(match d.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        source: Some("shadewright".to_string()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

/// A label as a place beside the message, where it is another place and the client shows such.
fn relation(
    snapshot: &Snapshot,
    label: &Label,
    place: Span,
    client: &Client,
    locate: &Locate<'_>,
) -> Option<DiagnosticRelatedInformation> {
    if label.span == place || !client.related_information {
        return None;
    }
    let location = locate.location(snapshot, label.span)?;
    Some(DiagnosticRelatedInformation { location, message: label.message.clone() })
}
