//! Signature help: the parameters of the call that is being written.

use super::client::Client;
use super::snapshot::Snapshot;
use lsp_types::{ParameterInformation, ParameterLabel, Position, SignatureHelp, SignatureInformation};
use shadewright_lang::editor::Signature;

/// Help for the innermost call around a position.
pub fn signature_help(snapshot: &Snapshot, position: Position, client: &Client) -> Option<SignatureHelp> {
    let found = snapshot.document.as_ref()?.signatures(&snapshot.text, snapshot.offset(position))?;
    // The first that takes as many arguments as there are so far.
    let fits = |s: &Signature| s.variadic || s.places.len() > found.argument;
    let active = found.list.iter().position(fits).unwrap_or(0);
    let chosen = found.list.get(active)?;
    let last = chosen.places.len().saturating_sub(1);
    let parameter = if chosen.variadic { found.argument.min(last) } else { found.argument };
    Some(SignatureHelp {
        signatures: found.list.into_iter().map(|s| information(s, client)).collect(),
        active_signature: Some(active as u32),
        active_parameter: Some(parameter as u32),
    })
}

fn information(s: Signature, client: &Client) -> SignatureInformation {
    // Types and names are ASCII, so bytes are UTF-16 units too.
    let parameter = |[start, end]: [u32; 2]| match client.label_offsets {
        true => ParameterLabel::LabelOffsets([start, end]),
        false => ParameterLabel::Simple(s.label[start as usize..end as usize].to_string()),
    };
    let parameters = s.places.iter().map(|p| ParameterInformation { label: parameter(*p), documentation: None });
    SignatureInformation {
        parameters: Some(parameters.collect()),
        documentation: (!s.text.is_empty()).then(|| client.documentation(s.text.clone())),
        label: s.label,
        active_parameter: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{client, marked};
    use super::*;

    /// Label of the active signature and text of the active parameter.
    fn active(text: &str) -> Option<(String, String)> {
        let (snapshot, position) = marked(text);
        let help = signature_help(&snapshot, position, &client())?;
        let signature = help.signatures.into_iter().nth(help.active_signature? as usize)?;
        let parameter = signature.parameters?.into_iter().nth(help.active_parameter? as usize);
        let place = match parameter?.label {
            ParameterLabel::LabelOffsets([start, end]) => signature.label[start as usize..end as usize].to_string(),
            ParameterLabel::Simple(text) => text,
        };
        Some((signature.label, place))
    }

    #[track_caller]
    fn shows(text: &str, label: &str, parameter: &str) {
        assert_eq!(active(text), Some((label.to_string(), parameter.to_string())), "{text}");
    }

    #[test]
    fn the_parameter_that_is_being_written_is_told() {
        shows("surface s() { Ci = mix(Cs, |", "float mix(float a, float b, float t)", "float b");
        shows(
            "surface s() { Ci = faceforward(N, I, |",
            "normal faceforward(normal n, vector i, normal reference)",
            "normal reference",
        );
        shows("surface s() { Ci = max(1, 2, 3, |", "float max(float, float, …)", "float");
        shows(
            "surface s() { illuminance (P, |",
            "illuminance (point position, vector axis, float angle)",
            "vector axis",
        );
        shows(
            "surface s() { Ci = filterstep(0, |",
            "float filterstep(float, float, float, \"filter\" string = \"catmull-rom\", \"width\" float = 1)",
            "float",
        );
        shows(
            "float f(float x; output color c) { return 1; }\nsurface s() { Ci = f(1, |) }",
            "float f(float x, output color c)",
            "output color c",
        );
    }

    #[test]
    fn where_no_call_is_open_there_is_no_help() {
        for text in ["surface s(|", "surface s() { Ci = (|", "surface s() { nowhere(|", "surface s() { // mix(|"] {
            assert_eq!(active(text), None, "{text}");
        }
    }
}
