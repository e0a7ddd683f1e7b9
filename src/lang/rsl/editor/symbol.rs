//! The meaning of the name at an offset.

use super::View;
use super::cursor::cursor;
use crate::preprocess::{Include, MacroDefinition};
use crate::rsl::analysis::{KEYWORDS, Predefined, Signature, Variable, find_predefined, shader_kind};
use crate::rsl::ast::Definition;
use shadewright_base::scan::{RawKind, RawToken};
use shadewright_base::text::source::Span;
use shadewright_ir::abi::ShaderKind;

/// A meaning.
#[derive(Clone, Debug)]
pub enum Symbol<'a> {
    /// A parameter or a variable.
    Variable(&'a Variable),
    /// A predefined variable, in this kind of shader.
    Predefined(Predefined, Option<ShaderKind>),
    /// A function that is called: the overload that the compiler takes, or all that have the name
    /// where it takes none.
    Call(Vec<&'a Signature>),
    /// The name of a definition where it is defined.
    Definition(&'a Definition),
    /// A macro.
    Macro(&'a MacroDefinition),
    /// The file of an `#include`.
    Include(&'a Include),
    /// A word of the language.
    Keyword(&'static str),
    /// A word that starts a shader.
    Shader(ShaderKind),
}

/// The meaning of the name at a byte of the document, with its span.
pub fn at<'a>(view: View<'a>, offset: usize) -> Option<(Symbol<'a>, Span)> {
    let analysis = view.analysis;
    let here = |s: Span| s.file == view.file && (s.start as usize..=s.end as usize).contains(&offset);
    if let Some(include) = analysis.includes.iter().find(|i| here(i.place)) {
        return Some((Symbol::Include(include), include.place));
    }
    let index = view.tokens.iter().rposition(|t| t.kind == RawKind::Word && here(t.span))?;
    let token = &view.tokens[index];
    Some((meaning(view, index, token)?, token.span))
}

fn meaning<'a>(view: View<'a>, index: usize, token: &RawToken) -> Option<Symbol<'a>> {
    let analysis = view.analysis;
    let (name, start) = (&*token.text, token.span.start);
    if let Some(&i) = analysis.macro_uses.get(&token.span) {
        return Some(Symbol::Macro(&analysis.macros[i]));
    }
    if is_in_directive(view, index) {
        let named = || analysis.macros.iter().filter(|m| *m.name == *name);
        return named().find(|m| m.place == Some(token.span)).or_else(|| named().next_back()).map(Symbol::Macro);
    }
    if let Some(definition) = analysis.definitions.iter().find(|d| d.name.span == token.span) {
        return Some(Symbol::Definition(definition));
    }
    if let Some(signature) = analysis.calls.get(&token.span) {
        return Some(Symbol::Call(vec![signature]));
    }
    if let Some(word) = KEYWORDS.iter().find(|k| **k == name) {
        return Some(Symbol::Keyword(word));
    }
    let next = view.tokens.get(index + 1);
    if let Some(kind) = shader_kind(name).filter(|_| next.is_some_and(|t| t.kind == RawKind::Word)) {
        return Some(Symbol::Shader(kind));
    }
    let overloads = || analysis.functions.get(name).map(|list| Symbol::Call(list.iter().collect()));
    if next.is_some_and(|t| t.is_punct("(")) {
        return overloads();
    }
    if let Some(variable) = analysis.variable(view.file, start, name) {
        return Some(Symbol::Variable(variable));
    }
    let kind = shader_at(view, start as usize);
    find_predefined(name, kind).map(|p| Symbol::Predefined(p, kind)).or_else(overloads)
}

/// The kind of shader around a byte of the document.
pub fn shader_at(view: View<'_>, offset: usize) -> Option<ShaderKind> {
    match view.analysis.definition(view.file, offset as u32) {
        Some(definition) => definition.shader,
        None => cursor(view.text(), &view.tokens, offset).shader,
    }
}

/// True if a token is on the line of a directive.
fn is_in_directive(view: View<'_>, index: usize) -> bool {
    let line = view.tokens[..index].iter().rposition(|t| t.kind == RawKind::Newline).map_or(0, |n| n + 1);
    view.tokens[line].is_punct("#")
}

/// Where the thing at an offset is defined.
pub fn definition(view: View<'_>, offset: usize) -> Vec<Span> {
    let Some((symbol, _)) = at(view, offset) else { return Vec::new() };
    match symbol {
        Symbol::Variable(v) => v.declared.into_iter().collect(),
        Symbol::Call(signatures) => signatures.iter().filter_map(|s| s.declared).collect(),
        Symbol::Definition(d) => vec![d.name.span],
        Symbol::Macro(m) => m.place.into_iter().collect(),
        Symbol::Include(i) => vec![Span::new(i.file, 0, 0)],
        Symbol::Predefined(..) | Symbol::Keyword(_) | Symbol::Shader(_) => Vec::new(),
    }
}
