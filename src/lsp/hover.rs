//! Hover: what the name under the pointer means.

use super::client::Client;
use super::snapshot::Snapshot;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

/// The hover at a position.
pub fn hover(snapshot: &Snapshot, position: Position, client: &Client) -> Option<Hover> {
    let hover = snapshot.document.as_ref()?.hover(&snapshot.text, snapshot.offset(position))?;
    let (code, text) = (hover.code, hover.text);
    let value = match client.markdown_hover {
        true if code.is_empty() => text,
        true => format!("```{}\n{code}\n```\n{text}", snapshot.language.id()).trim_end().to_string(),
        false => format!("{code}\n{text}").trim().to_string(),
    };
    let kind = if client.markdown_hover { MarkupKind::Markdown } else { MarkupKind::PlainText };
    let contents = HoverContents::Markup(MarkupContent { kind, value });
    Some(Hover { contents, range: Some(snapshot.range(hover.span)) })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{client, marked};
    use super::*;
    use shadewright_lang::rsl::reference;

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
