//! The syntactic context of an offset, from tokens alone.
//!
//! Completion and signature help are requested while the text around the cursor does not parse.
//! Brackets, semicolons and the words before them suffice to find whether the cursor is in a
//! comment, between definitions, among parameters or statements, in which kind of shader, and in
//! the arguments of which call.

use crate::rsl::analysis::shader_kind;
use shadewright_base::scan::{RawKind, RawToken};
use shadewright_base::text::source::Span;
use shadewright_ir::abi::ShaderKind;
use std::sync::Arc;

/// The kind of text around the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorContext {
    /// Within a comment or a string.
    Text,
    /// Directly after the `#` of a directive.
    Directive,
    /// In the rest of a directive's line.
    DirectiveArgument,
    /// Between definitions.
    Top,
    /// Among the parameters of a definition.
    Parameters,
    /// Among statements.
    Body,
}

/// A call whose arguments are being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The function's name.
    pub name: Arc<str>,
    /// The place of that name.
    pub span: Span,
    /// Which argument the cursor is in, from 0.
    pub argument: usize,
}

/// The surroundings of a cursor, as tokens show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The kind of text.
    pub place: CursorContext,
    /// The kind of shader, within one.
    pub shader: Option<ShaderKind>,
    /// The innermost call around it.
    pub call: Option<OpenCall>,
}

/// Looks at the tokens before `offset`. A word that ends there is still being written and counts
/// for nothing.
pub fn cursor(text: &str, tokens: &[RawToken], offset: usize) -> Cursor {
    let mut state = ScanState::default();
    let mut gap = 0;
    for t in tokens {
        let (start, end) = (t.span.start as usize, t.span.end as usize);
        let touches = if t.kind == RawKind::Word { end >= offset } else { end > offset };
        if start >= offset || touches {
            let in_string = t.kind == RawKind::String && start < offset;
            return state.finish(in_string || (start >= offset && ends_in_comment(&text[gap..offset])));
        }
        state.token(t);
        gap = end;
    }
    let rest = text.get(gap..offset).unwrap_or_default();
    state.finish(ends_in_comment(rest))
}

/// True if text that holds only blanks and comments ends within a comment.
fn ends_in_comment(mut gap: &str) -> bool {
    while let Some(start) = gap.find("//").into_iter().chain(gap.find("/*")).min() {
        let body = &gap[start + 2..];
        let end = if gap[start..].starts_with("//") { body.find('\n') } else { body.find("*/").map(|e| e + 1) };
        match end {
            Some(end) => gap = &body[end + 1..],
            None => return true,
        }
    }
    false
}

struct Paren {
    name: Option<(Arc<str>, Span)>,
    commas: usize,
}

#[derive(Default)]
struct ScanState<'a> {
    braces: usize,
    parens: Vec<Paren>,
    shader: Option<ShaderKind>,
    line_empty: bool,
    started: bool,
    /// Tokens of a directive's line so far, `#` included; 0 outside of one.
    directive: usize,
    previous: Option<&'a RawToken>,
}

impl<'a> ScanState<'a> {
    fn token(&mut self, t: &'a RawToken) {
        let first_of_line = self.line_empty || !self.started;
        self.started = true;
        self.line_empty = t.kind == RawKind::Newline;
        if t.kind == RawKind::Newline {
            self.directive = 0;
            return;
        }
        if self.directive > 0 || (first_of_line && t.is_punct("#")) {
            self.directive += 1;
            return;
        }
        self.structure(t);
        self.previous = Some(t);
    }

    fn structure(&mut self, t: &'a RawToken) {
        let word_before = self.previous.filter(|p| p.kind == RawKind::Word);
        match (t.kind, &*t.text) {
            (RawKind::Word, _) if self.braces == 0 && self.parens.is_empty() => {
                self.shader = word_before.and_then(|p| shader_kind(&p.text));
            }
            (RawKind::Punct, "(") => {
                self.parens.push(Paren { name: word_before.map(|p| (p.text.clone(), p.span)), commas: 0 });
            }
            (RawKind::Punct, ")") => {
                self.parens.pop();
            }
            (RawKind::Punct, ",") => {
                if let Some(p) = self.parens.last_mut() {
                    p.commas += 1;
                }
            }
            // A statement ends: brackets that are open before it were forgotten, but for those of
            // `for`.
            (RawKind::Punct, ";") if self.braces > 0 => {
                let keep = self.parens.iter().rposition(|p| p.name.as_ref().is_some_and(|n| &*n.0 == "for"));
                self.parens.truncate(keep.map_or(0, |k| k + 1));
            }
            (RawKind::Punct, "{") => {
                self.parens.clear();
                self.braces += 1;
            }
            (RawKind::Punct, "}") => {
                self.parens.clear();
                self.braces = self.braces.saturating_sub(1);
                if self.braces == 0 {
                    self.shader = None;
                }
            }
            _ => {}
        }
    }

    fn finish(self, in_text: bool) -> Cursor {
        let place = match self.directive {
            _ if in_text => CursorContext::Text,
            1 => CursorContext::Directive,
            2.. => CursorContext::DirectiveArgument,
            0 if self.braces > 0 => CursorContext::Body,
            0 if !self.parens.is_empty() => CursorContext::Parameters,
            0 => CursorContext::Top,
        };
        let call = self.parens.last().filter(|_| place == CursorContext::Body);
        let call = call.and_then(|p| {
            let (name, span) = p.name.clone()?;
            Some(OpenCall { name, span, argument: p.commas })
        });
        Cursor { place, shader: self.shader, call }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::scan::scan;
    use shadewright_base::text::diagnostics::Diagnostics;
    use shadewright_base::text::source::FileId;

    /// The cursor at the `|` of a text.
    fn at(text: &str) -> Cursor {
        let offset = text.find('|').expect("a mark");
        let text = text.replacen('|', "", 1);
        cursor(&text, &scan(FileId(0), &text, &mut Diagnostics::new()), offset)
    }

    fn call(text: &str) -> Option<(String, usize)> {
        at(text).call.map(|c| (c.name.to_string(), c.argument))
    }

    #[test]
    fn places_are_told_apart() {
        for (text, place) in [
            ("|", CursorContext::Top),
            ("surf|", CursorContext::Top),
            ("surface s(|", CursorContext::Parameters),
            ("surface s(float x = 1; |", CursorContext::Parameters),
            ("surface s() { |", CursorContext::Body),
            ("surface s() { if (x) { y } |", CursorContext::Body),
            ("surface s() { } |", CursorContext::Top),
            ("#|", CursorContext::Directive),
            ("x\n# de|", CursorContext::Directive),
            ("#ifdef A|", CursorContext::DirectiveArgument),
            ("#define A {\n|", CursorContext::Top),
            ("// com|ment", CursorContext::Text),
            ("/* a // */ |", CursorContext::Top),
            ("// a /* \n|", CursorContext::Top),
            ("/* com|ment", CursorContext::Text),
            ("/* a */ // b |", CursorContext::Text),
            ("surface s() { point \"wor|ld\"", CursorContext::Text),
            ("surface s() { point \"world\"|", CursorContext::Body),
            ("surface s() { a = b /| c", CursorContext::Body),
        ] {
            assert_eq!(at(text).place, place, "{text}");
        }
    }

    #[test]
    fn the_kind_of_shader_is_that_of_the_word_before_its_name() {
        assert_eq!(at("float f() { |").shader, None);
        assert_eq!(at("surface s() { |").shader, Some(ShaderKind::Surface));
        assert_eq!(at("surface s() { } lightsource l(float x) { |").shader, Some(ShaderKind::Light));
        assert_eq!(at("imager i() { } |").shader, None);
    }

    #[test]
    fn the_innermost_open_call_is_found_in_text_that_does_not_parse() {
        let body = |text: &str| call(&format!("surface s() {{ {text}"));
        assert_eq!(body("Ci = mix(a, |"), Some(("mix".into(), 1)));
        assert_eq!(body("Ci = mix(a, noise(P)|"), Some(("mix".into(), 1)));
        assert_eq!(body("Ci = mix(a, noise(|P)"), Some(("noise".into(), 0)));
        assert_eq!(body("Ci = mix(a, (1, 2|"), None, "a bracket of its own");
        assert_eq!(body("Ci = mix(a; Oi = |"), None, "the statement ended");
        assert_eq!(body("for (i = 0; i < max(1, |"), Some(("max".into(), 1)));
    }
}
