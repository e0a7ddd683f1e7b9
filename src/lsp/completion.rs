//! Completion: what may be written at the cursor.
//!
//! Everything that the place allows is offered, nearest first, and the editor filters by what is typed already. Names come from the compiler's notes, the kind of place from
//! tokens alone, so that it works in text that does not parse.

use super::client::Client;
use super::cursor::{Cursor, Place, cursor};
use super::hover::{self, Description};
use super::snapshot::Snapshot;
use super::symbol::shader_at;
use crate::lang::preprocess::{DIRECTIVES, MacroDefinition};
use crate::lang::rsl::analysis::{KEYWORDS, Role, SHADER_WORDS, Signature, predefined};
use crate::lang::rsl::{RslType, ShaderKind, reference};
use lsp_types::{CompletionItem, CompletionItemKind, InsertTextFormat, Position};
use std::collections::BTreeMap;

/// How near a suggestion is: the order in which suggestions are listed.
#[derive(Clone, Copy)]
enum Rank {
    Local,
    OwnFunction,
    Predefined,
    Function,
    Keyword,
    Macro,
}

/// Words that may stand among the parameters of a definition, besides types.
const QUALIFIERS: [&str; 3] = ["output", "uniform", "varying"];

/// Statements with the places to fill in.
const SNIPPETS: [(&str, &str); 6] = [
    ("if", "if (${1:condition}) {\n\t$0\n}"),
    ("for", "for (${1:i} = 0; $1 < ${2:n}; $1 += 1) {\n\t$0\n}"),
    ("while", "while (${1:condition}) {\n\t$0\n}"),
    ("illuminance", "illuminance (${1:P}, ${2:N}, ${3:PI / 2}) {\n\t$0\n}"),
    ("illuminate", "illuminate (${1:from}) {\n\t$0\n}"),
    ("solar", "solar (${1:axis}, ${2:0}) {\n\t$0\n}"),
];

/// All suggestions at a position, nearest first; none in RTSL.
pub fn completion(snapshot: &Snapshot, position: Position, client: &Client) -> Vec<CompletionItem> {
    if snapshot.classes.is_some() {
        return Vec::new();
    }
    let offset = snapshot.offset(position);
    let Cursor { place, .. } = cursor(snapshot.text(), &snapshot.tokens, offset);
    let mut list = List { snapshot, client, items: Vec::new() };
    match place {
        Place::Text => {}
        Place::Directive => DIRECTIVES.iter().for_each(|d| list.word(d, "")),
        Place::DirectiveArgument => list.macros(offset),
        Place::Top => {
            SHADER_WORDS.iter().filter_map(|(word, kind)| Some((word, (*kind)?))).for_each(|w| list.shader(w.0, w.1));
            list.types();
            list.word("void", reference::keyword("void").unwrap_or_default());
            list.macros(offset);
        }
        Place::Parameters => {
            list.types();
            QUALIFIERS.iter().for_each(|q| list.word(q, reference::keyword(q).unwrap_or_default()));
            list.functions();
            list.macros(offset);
        }
        Place::Body => {
            let shader = shader_at(snapshot, offset);
            list.variables(offset, shader);
            list.functions();
            KEYWORDS.iter().filter(|k| is_allowed(k, shader)).for_each(|k| list.keyword(k));
            list.macros(offset);
        }
    }
    list.items
}

/// Whether a statement may stand in that kind of shader.
fn is_allowed(keyword: &str, shader: Option<ShaderKind>) -> bool {
    match keyword {
        "illuminance" => !matches!(shader, Some(ShaderKind::Light | ShaderKind::Imager)),
        "illuminate" | "solar" => shader == Some(ShaderKind::Light),
        "output" | "void" => false,
        "extern" => shader.is_none(),
        _ => true,
    }
}

struct List<'a> {
    snapshot: &'a Snapshot,
    client: &'a Client,
    items: Vec<CompletionItem>,
}

impl List<'_> {
    fn push(
        &mut self,
        name: &str,
        kind: CompletionItemKind,
        rank: Rank,
        described: Description,
    ) -> &mut CompletionItem {
        self.items.push(CompletionItem {
            label: name.to_string(),
            kind: Some(kind),
            detail: described.code.lines().next().filter(|l| *l != name).map(str::to_string),
            documentation: (!described.text.is_empty()).then(|| self.client.documentation(described.text)),
            sort_text: Some(format!("{}{name}", rank as u8)),
            ..CompletionItem::default()
        });
        let last = self.items.len() - 1;
        &mut self.items[last]
    }

    fn word(&mut self, word: &str, text: &str) {
        let described = Description { code: String::new(), text: text.to_string() };
        self.push(word, CompletionItemKind::KEYWORD, Rank::Keyword, described);
    }

    fn types(&mut self) {
        RslType::DECLARABLE.iter().for_each(|t| self.word(t.name(), reference::keyword(t.name()).unwrap_or_default()));
    }

    /// Makes the last suggestion one with places to fill in, if the client knows such.
    fn snippet(&mut self, text: &str) {
        if let Some(item) = self.items.last_mut().filter(|_| self.client.snippets) {
            item.insert_text = Some(text.to_string());
            item.insert_text_format = Some(InsertTextFormat::SNIPPET);
        }
    }

    fn keyword(&mut self, word: &str) {
        self.word(word, reference::keyword(word).unwrap_or_default());
        if let Some((_, snippet)) = SNIPPETS.iter().find(|s| s.0 == word) {
            self.snippet(snippet);
        }
    }

    fn shader(&mut self, word: &str, kind: ShaderKind) {
        self.word(word, reference::shader(kind));
        self.snippet(&format!("{word} ${{1:name}}(${{2:float x = 1}}) {{\n\t$0\n}}"));
    }

    fn variables(&mut self, offset: usize, shader: Option<ShaderKind>) {
        let snapshot = self.snapshot;
        let declared = snapshot.analysis.visible(snapshot.file, offset as u32);
        for v in &declared {
            let kind = match v.role {
                Role::Parameter | Role::Output => CompletionItemKind::PROPERTY,
                Role::Local | Role::Light => CompletionItemKind::VARIABLE,
            };
            self.push(&v.name, kind, Rank::Local, hover::variable(snapshot, v));
        }
        for p in predefined(shader).filter(|p| !declared.iter().any(|v| *v.name == *p.name)) {
            let text = reference::variable(p.name, shader).unwrap_or_default();
            let described = Description { code: format!("{} {}", p.ty, p.name), text };
            self.push(p.name, CompletionItemKind::CONSTANT, Rank::Predefined, described);
        }
    }

    fn functions(&mut self) {
        let snapshot = self.snapshot;
        for (name, overloads) in &snapshot.analysis.functions {
            let own = overloads.iter().any(|s| s.declared.is_some());
            let rank = if own { Rank::OwnFunction } else { Rank::Function };
            let described = hover::function(snapshot, &overloads.iter().collect::<Vec<&Signature>>());
            let item = self.push(name, CompletionItemKind::FUNCTION, rank, described);
            if let Some(detail) = item.detail.as_mut().filter(|_| overloads.len() > 1) {
                *detail += &format!(" (+{})", overloads.len() - 1);
            }
            let takes_any = overloads.iter().any(|s| !s.params.is_empty());
            self.snippet(&if takes_any { format!("{name}($0)") } else { format!("{name}()") });
        }
    }

    /// The macros that are defined before the cursor, the last of each name.
    fn macros(&mut self, offset: usize) {
        let file = self.snapshot.file;
        let before = |m: &&MacroDefinition| m.place.is_none_or(|p| p.file != file || (p.start as usize) < offset);
        let macros: BTreeMap<&str, &str> =
            self.snapshot.analysis.macros.iter().filter(before).map(|m| (&*m.name, &*m.text)).collect();
        for (name, text) in macros {
            let described = Description { code: format!("#define {text}"), text: String::new() };
            self.push(name, CompletionItemKind::CONSTANT, Rank::Macro, described);
        }
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
