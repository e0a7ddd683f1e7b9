//! Hover: what the thing under the pointer is.

use super::classes;
use super::client::Client;
use super::snapshot::Snapshot;
use super::symbol::{self, Symbol};
use crate::lang::rsl::analysis::{Parameter, Role, Signature, Variable, class_word};
use crate::lang::rsl::ast::Definition;
use crate::lang::Language;
use crate::lang::rsl::{Rsl, ShaderKind, reference};
use crate::text::source::Span;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

/// Longest declaration that is shown, in bytes.
const MAX_SHOWN: usize = 2000;

/// Code and what there is to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Declarations, as they are written in the language.
    pub code: String,
    /// Sentences; may be empty.
    pub text: String,
}

/// The hover at a position.
pub fn hover(snapshot: &Snapshot, position: Position, client: &Client) -> Option<Hover> {
    if let Some(ast) = &snapshot.classes {
        return classes::hover(snapshot, ast, position, client);
    }
    let (symbol, span) = symbol::at(snapshot, snapshot.offset(position))?;
    let Description { code, text } = describe(snapshot, &symbol);
    Some(shown(snapshot, Rsl.id(), &code, &text, span, client))
}

/// Code in a language and what there is to say about it, as the hover over a place.
pub fn shown(snapshot: &Snapshot, language: &str, code: &str, text: &str, span: Span, client: &Client) -> Hover {
    let value = match client.markdown_hover {
        true if code.is_empty() => text.to_string(),
        true => format!("```{language}\n{code}\n```\n{text}").trim_end().to_string(),
        false => format!("{code}\n{text}").trim().to_string(),
    };
    let kind = if client.markdown_hover { MarkupKind::Markdown } else { MarkupKind::PlainText };
    let contents = HoverContents::Markup(MarkupContent { kind, value });
    Hover { contents, range: Some(snapshot.range(span)) }
}

fn describe(snapshot: &Snapshot, symbol: &Symbol<'_>) -> Description {
    match symbol {
        Symbol::Variable(v) => variable(snapshot, v),
        Symbol::Predefined(p, kind) => Description {
            code: format!("{} {}", p.ty, p.name),
            text: reference::variable(p.name, *kind).unwrap_or_default(),
        },
        Symbol::Call(signatures) => function(snapshot, signatures),
        Symbol::Definition(d) => definition(snapshot, d),
        Symbol::Macro(m) => Description {
            code: format!("#define {}", shortened(&m.text)),
            text: if m.place.is_none() { "Defined by the editor's settings.".to_string() } else { String::new() },
        },
        Symbol::Include(i) => {
            let file = snapshot.sources.get(i.file);
            Description { code: String::new(), text: file.map(|f| f.name.clone()).unwrap_or_default() }
        }
        Symbol::Keyword(word) => {
            let forms = reference::LIGHT_STATEMENTS.iter().filter(|s| s.0 == *word).flat_map(|s| s.1);
            let code: Vec<String> = forms.map(|f| format!("{word} ({})", f.join(", "))).collect();
            let code = if code.is_empty() { word.to_string() } else { code.join("\n") };
            Description { code, text: reference::keyword(word).unwrap_or_default().to_string() }
        }
        Symbol::Shader(kind) => {
            Description { code: kind.name().to_string(), text: reference::shader(*kind).to_string() }
        }
    }
}

/// A variable's declaration.
pub fn variable(snapshot: &Snapshot, v: &Variable) -> Description {
    let role = if v.role == Role::Output { "output " } else { "" };
    let init = v.init.map(|i| format!(" = {}", shortened(snapshot.source(i)))).unwrap_or_default();
    let text = match v.role {
        Role::Parameter => "Parameter.".to_string(),
        Role::Output => "Output parameter.".to_string(),
        Role::Local => String::new(),
        Role::Light => reference::variable(&v.name, Some(ShaderKind::Surface)).unwrap_or_default(),
    };
    Description { code: format!("{role}{} {} {}{init}", class_word(v.class), v.ty, v.name), text }
}

/// Functions of one name.
pub fn function(snapshot: &Snapshot, signatures: &[&Signature]) -> Description {
    let own = signatures.iter().filter_map(|s| s.declared);
    let own: Vec<&Definition> =
        own.filter_map(|place| snapshot.analysis.definitions.iter().find(|d| d.name.span == place)).collect();
    if let [only] = own[..] {
        return definition(snapshot, only);
    }
    let code: Vec<String> = signatures.iter().map(|s| label(s).0).collect();
    let name = signatures.first().map(|s| &*s.name).unwrap_or_default();
    let text = if own.is_empty() { reference::function(name).unwrap_or_default() } else { "" };
    Description { code: code.join("\n"), text: text.to_string() }
}

/// A shader or function of the user: what stands before its statements, and the comment above it.
pub fn definition(snapshot: &Snapshot, d: &Definition) -> Description {
    let head = Span { end: d.open.start.max(d.span.start), ..d.span };
    let head = match head.file == d.open.file {
        true => snapshot.source(head),
        false => &d.name.name,
    };
    Description { code: shortened(head.trim_end()), text: comment_above(snapshot, d.span) }
}

/// The comment in front of a place.
pub fn comment_above(snapshot: &Snapshot, span: Span) -> String {
    let Some(file) = snapshot.sources.get(span.file) else { return String::new() };
    let Some(above) = file.text.get(..span.start as usize) else { return String::new() };
    let above = above.trim_end();
    let lines: Vec<&str> = match above.strip_suffix("*/") {
        Some(inside) => match inside.rfind("/*") {
            Some(start) => inside[start + 2..].lines().collect(),
            None => Vec::new(),
        },
        None => {
            let mut lines: Vec<&str> = above.lines().rev().map_while(|l| l.trim_start().strip_prefix("//")).collect();
            lines.reverse();
            lines
        }
    };
    let lines: Vec<&str> = lines.iter().map(|l| l.trim().trim_start_matches('*').trim()).collect();
    shortened(lines.join("\n").trim())
}

/// A signature as it is written, with the place of each parameter in it.
pub fn label(s: &Signature) -> (String, Vec<[u32; 2]>) {
    let params = s.params.iter().map(parameter);
    let (mut text, places) = joined(format!("{} {}(", s.result, s.name), params);
    text += if s.variadic { ", …" } else { "" };
    s.options.iter().for_each(|o| text += &format!(", {o}"));
    (text + ")", places)
}

/// `text` with parameters behind it, and the place of each.
pub fn joined(mut text: String, params: impl Iterator<Item = String>) -> (String, Vec<[u32; 2]>) {
    let mut places = Vec::new();
    for (i, p) in params.enumerate() {
        text += if i == 0 { "" } else { ", " };
        let start = text.len() as u32;
        text += &p;
        places.push([start, text.len() as u32]);
    }
    (text, places)
}

fn parameter(p: &Parameter) -> String {
    let output = if p.output { "output " } else { "" };
    match &p.name {
        Some(name) => format!("{output}{} {name}", p.ty),
        None => format!("{output}{}", p.ty),
    }
}

/// A text of no more than [`MAX_SHOWN`] letters.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{client, marked};
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let (snapshot, position) = marked(text);
        match hover(&snapshot, position, &client())?.contents {
            HoverContents::Markup(m) => Some(m.value),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn says(text: &str, expected: &str) {
        assert_eq!(shown(text).as_deref(), Some(expected));
    }

    #[test]
    fn variables_show_their_storage_type_and_first_value() {
        says("surface s(float Kd = 0.5 * 2) { Ci = |Kd; }", "```rsl\nuniform float Kd = 0.5 * 2\n```\nParameter.");
        says("surface s(float |Kd = 1) { Ci = Kd; }", "```rsl\nuniform float Kd = 1\n```\nParameter.");
        says("surface s() { uniform color c; Ci = c|; }", "```rsl\nuniform color c\n```");
        says("float f(output point p) { p| = 1; return 1; }", "```rsl\noutput varying point p\n```\nOutput parameter.");
    }

    #[test]
    fn predefined_variables_mean_what_they_do_in_that_shader() {
        says("surface s() { Ci = Cs * P|; }", "```rsl\npoint P\n```\nThe point that is shaded.");
        says("light l() { Cl = |P; }", "```rsl\npoint P\n```\nThe position of the light.");
        assert_eq!(shown("surface s() { Ci = |Cl; }"), None, "a surface has none outside of `illuminance`");
        let inside = shown("surface s() { illuminance (P) Ci = |Cl; }");
        assert!(
            inside.is_some_and(|t| t.contains("varying color Cl") && t.contains("black where the light is blocked"))
        );
    }

    #[test]
    fn functions_show_their_head_and_the_comment_above() {
        let text = "/* Twice x.\n * Exactly. */\nfloat twice(float x;\n  float y) { return 2 * x; }\nsurface s() { Ci = |twice(1, 2); }";
        says(text, "```rsl\nfloat twice(float x;\n  float y)\n```\nTwice x.\nExactly.");
        says(
            "// The\n// red one.\nsurface |red(color c = (1, 0, 0)) { Ci = c; }",
            "```rsl\nsurface red(color c = (1, 0, 0))\n```\nThe\nred one.",
        );
    }

    #[test]
    fn built_in_functions_show_the_overload_that_is_meant() {
        let sentence = reference::function("clamp").expect("it has one");
        says(
            "surface s() { Ci = |clamp(Cs, color 0, color 1); }",
            &format!("```rsl\ncolor clamp(color x, color low, color high)\n```\n{sentence}"),
        );
        let all = shown("surface s() { Ci = |clamp(Cs); }").expect("the name is known");
        assert_eq!(all.lines().filter(|l| l.contains("clamp(")).count(), 5, "{all}");
    }

    #[test]
    fn macros_show_their_definition_where_they_are_used_tested_and_defined() {
        let code = "```rsl\n#define SQ(x) ((x) * (x))\n```";
        for text in [
            "#define SQ(x) ((x) * (x))\nsurface s() { Ci = S|Q(2); }",
            "#define SQ(x) ((x) * (x))\n#ifdef |SQ\n#endif\n",
            "#define |SQ(x) ((x) * (x))\n",
        ] {
            says(text, code);
        }
    }

    #[test]
    fn words_of_the_language_are_explained() {
        assert!(
            shown("surface s() { |illuminance (P) Ci = Cl; }")
                .is_some_and(|t| t.contains("illuminance (point position, vector axis, float angle)"))
        );
        assert!(shown("sur|face s() { }").is_some_and(|t| t.contains("surface shader")));
        assert_eq!(shown("surface s() { Ci = 1|; } // P"), None);
        assert_eq!(shown("surface s() { } // |P"), None, "a comment means nothing");
    }
}
