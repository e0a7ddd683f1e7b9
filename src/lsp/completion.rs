//! Completion: what may be written at the cursor.

use super::client::Client;
use super::snapshot::Snapshot;
use lsp_types::{CompletionItem, CompletionItemKind, InsertTextFormat, Position};
use shadewright_lang::editor::{Completion, CompletionKind};

/// All completions at a position, nearest first.
pub fn completion(snapshot: &Snapshot, position: Position, client: &Client) -> Vec<CompletionItem> {
    let Some(document) = &snapshot.document else { return Vec::new() };
    let items = document.completion(&snapshot.text, snapshot.offset(position));
    items.into_iter().map(|item| converted(item, client)).collect()
}

fn converted(item: Completion, client: &Client) -> CompletionItem {
    let snippet = item.snippet.filter(|_| client.snippets);
    CompletionItem {
        sort_text: Some(format!("{}{}", item.rank, item.name)),
        label: item.name,
        kind: Some(match item.kind {
            CompletionKind::Keyword => CompletionItemKind::KEYWORD,
            CompletionKind::Parameter => CompletionItemKind::PROPERTY,
            CompletionKind::Variable => CompletionItemKind::VARIABLE,
            CompletionKind::Constant => CompletionItemKind::CONSTANT,
            CompletionKind::Function => CompletionItemKind::FUNCTION,
        }),
        detail: item.detail,
        documentation: (!item.text.is_empty()).then(|| client.documentation(item.text)),
        insert_text_format: snippet.is_some().then_some(InsertTextFormat::SNIPPET),
        insert_text: snippet,
        ..CompletionItem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{client, marked};
    use super::*;

    fn items(text: &str, client: &Client) -> Vec<CompletionItem> {
        let (snapshot, position) = marked(text);
        let mut items = completion(&snapshot, position, client);
        items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
        items
    }

    fn names(text: &str) -> Vec<String> {
        items(text, &client()).into_iter().map(|i| i.label).collect()
    }

    #[track_caller]
    fn offers(text: &str, wanted: &[&str], unwanted: &[&str]) {
        let names = names(text);
        for n in wanted {
            assert_eq!(names.iter().filter(|m| m == n).count(), 1, "{n} in {text}: {names:?}");
        }
        for n in unwanted {
            assert!(!names.iter().any(|m| m == n), "{n} in {text}");
        }
    }

    #[test]
    fn a_statement_may_use_what_is_visible_in_that_shader() {
        let own = "float mine(float x) { return x; }\n";
        let surface = format!("{own}surface s(float Kd = 1) {{ {{ float hidden; }} float a; Ci = |");
        offers(
            &surface,
            &["Kd", "a", "mine", "N", "PI", "mix", "transform", "illuminance", "float"],
            &["hidden", "Ps", "Cl", "solar", "__trace", "space.shader.x"],
        );
        offers("light l() { |", &["Ps", "solar", "illuminate"], &["Cs", "illuminance"]);
        offers("surface s() { illuminance (P) { Ci += | } }", &["Cl", "L", "Cs"], &["Ps"]);
        offers("float f() { | }", &["extern", "Cs", "Ps", "illuminance"], &["solar"]);
    }

    #[test]
    fn names_near_come_first() {
        let names = names("float mine(float x) { return x; }\nsurface s(float Kd = 1) { float a; Ci = |");
        let places: Vec<_> = ["Kd", "mine", "N", "mix", "while"].map(|n| names.iter().position(|m| m == n)).into();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}");
    }

    #[test]
    fn every_other_place_has_its_own_words() {
        offers(
            "|",
            &["surface", "light", "volume", "displacement", "imager", "float", "void"],
            &["mix", "if", "projection", "N"],
        );
        offers("surface s(|", &["uniform", "output", "color"], &["if", "while"]);
        offers("#|", &["define", "include", "ifdef"], &["float"]);
        offers("#define A 1\n#define B 2\n#ifdef |", &["A", "B"], &["float"]);
        offers("#define A 1\nsurface s() { |\n#define B 2\n}", &["A"], &["B"]);
        for text in ["// |", "/* | */", "surface s() { point \"|\" }"] {
            assert_eq!(names(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn snippets_and_formatted_text_are_for_those_who_know_them() {
        let find = |client: &Client, name: &str| {
            let found = items("surface s() { |", client).into_iter().find(|i| i.label == name);
            found.expect("it is offered")
        };
        let loops = find(&client(), "illuminance");
        assert!(loops.insert_text_format == Some(InsertTextFormat::SNIPPET) && loops.documentation.is_some());
        assert_eq!(find(&client(), "mix").insert_text.as_deref(), Some("mix($0)"));
        let plain = Client::default();
        for name in ["illuminance", "mix"] {
            let item = find(&plain, name);
            assert!(item.insert_text.is_none() && item.insert_text_format.is_none(), "{item:?}");
        }
        assert_eq!(find(&plain, "mix").detail.as_deref(), Some("float mix(float a, float b, float t) (+5)"));
    }
}
