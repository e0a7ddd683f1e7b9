//! Signature help: the signatures of the call that is being written.

use super::View;
use super::cursor::{OpenCall, cursor};
use super::hover::{function, joined, label};
use crate::editor::{Signature, Signatures};
use crate::rsl::reference;

/// The signatures of the innermost call around an offset.
pub fn signatures(view: View<'_>, offset: usize) -> Option<Signatures> {
    let call = cursor(view.text(), &view.tokens, offset).call?;
    Some(Signatures { list: call_signatures(view, &call), argument: call.argument })
}

fn call_signatures(view: View<'_>, call: &OpenCall) -> Vec<Signature> {
    if let Some((word, forms)) = reference::LIGHT_STATEMENTS.iter().find(|s| *s.0 == *call.name) {
        let text = reference::keyword(word).unwrap_or_default();
        return forms.iter().map(|params| statement(word, params, text)).collect();
    }
    let overloads = view.analysis.functions.get(&call.name).map_or(&[][..], Vec::as_slice);
    let show = |s| {
        let (label, places) = label(s);
        Signature { label, places, variadic: s.variadic, text: function(view, &[s]).text }
    };
    overloads.iter().map(show).collect()
}

fn statement(word: &str, params: &[&str], text: &str) -> Signature {
    let (label, places) = joined(format!("{word} ("), params.iter().map(|p| p.to_string()));
    Signature { label: label + ")", places, variadic: false, text: text.to_string() }
}
