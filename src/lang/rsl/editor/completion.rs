//! Completion: what may be written at an offset.
//!
//! Everything that the place allows is offered, and the editor filters by what is typed already.
//! Names come from the analysis, the kind of place from tokens alone, so that it works in text that
//! does not parse.

use super::View;
use super::cursor::{Cursor, CursorContext, cursor};
use super::hover::{self, Description};
use super::symbol::shader_at;
use crate::editor::{Completion, CompletionKind};
use crate::preprocess::{DIRECTIVES, MacroDefinition};
use crate::rsl::analysis::{KEYWORDS, Role, SHADER_WORDS, Signature, predefined};
use crate::rsl::reference;
use crate::types::SourceType;
use shadewright_ir::abi::ShaderKind;
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

/// All completions at an offset.
pub fn completion(view: View<'_>, offset: usize) -> Vec<Completion> {
    let Cursor { place, .. } = cursor(view.text(), &view.tokens, offset);
    let mut list = List { view, items: Vec::new() };
    match place {
        CursorContext::Text => {}
        CursorContext::Directive => DIRECTIVES.iter().for_each(|d| list.word(d, "")),
        CursorContext::DirectiveArgument => list.macros(offset),
        CursorContext::Top => {
            SHADER_WORDS.iter().filter_map(|(word, kind)| Some((word, (*kind)?))).for_each(|w| list.shader(w.0, w.1));
            list.types();
            list.word("void", reference::keyword("void").unwrap_or_default());
            list.macros(offset);
        }
        CursorContext::Parameters => {
            list.types();
            QUALIFIERS.iter().for_each(|q| list.word(q, reference::keyword(q).unwrap_or_default()));
            list.functions();
            list.macros(offset);
        }
        CursorContext::Body => {
            let shader = shader_at(view, offset);
            list.variables(offset, shader);
            list.functions();
            KEYWORDS.iter().filter(|k| is_allowed(k, shader)).for_each(|k| list.keyword(k));
            list.macros(offset);
        }
    }
    list.items
}

/// True if a statement may stand in that kind of shader.
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
    view: View<'a>,
    items: Vec<Completion>,
}

impl List<'_> {
    fn push(&mut self, name: &str, kind: CompletionKind, rank: Rank, described: Description) -> &mut Completion {
        self.items.push(Completion {
            name: name.to_string(),
            kind,
            detail: described.code.lines().next().filter(|l| *l != name).map(str::to_string),
            text: described.text,
            rank: rank as u8,
            snippet: None,
        });
        let last = self.items.len() - 1;
        &mut self.items[last]
    }

    fn word(&mut self, word: &str, text: &str) {
        let described = Description { code: String::new(), text: text.to_string() };
        self.push(word, CompletionKind::Keyword, Rank::Keyword, described);
    }

    fn types(&mut self) {
        SourceType::DECLARABLE
            .iter()
            .for_each(|t| self.word(t.name(), reference::keyword(t.name()).unwrap_or_default()));
    }

    /// Makes the last completion one with places to fill in.
    fn snippet(&mut self, text: &str) {
        self.items.iter_mut().last().into_iter().for_each(|item| item.snippet = Some(text.to_string()));
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
        let view = self.view;
        let declared = view.analysis.visible(view.file, offset as u32);
        for v in &declared {
            let kind = match v.role {
                Role::Parameter | Role::Output => CompletionKind::Parameter,
                Role::Local | Role::Light => CompletionKind::Variable,
            };
            self.push(&v.name, kind, Rank::Local, hover::variable(view, v));
        }
        for p in predefined(shader).filter(|p| !declared.iter().any(|v| *v.name == *p.name)) {
            let text = reference::variable(p.name, shader).unwrap_or_default();
            let described = Description { code: format!("{} {}", p.ty, p.name), text };
            self.push(p.name, CompletionKind::Constant, Rank::Predefined, described);
        }
    }

    fn functions(&mut self) {
        let view = self.view;
        for (name, overloads) in &view.analysis.functions {
            let own = overloads.iter().any(|s| s.declared.is_some());
            let rank = if own { Rank::OwnFunction } else { Rank::Function };
            let described = hover::function(view, &overloads.iter().collect::<Vec<&Signature>>());
            let item = self.push(name, CompletionKind::Function, rank, described);
            if let Some(detail) = item.detail.as_mut().filter(|_| overloads.len() > 1) {
                *detail += &format!(" (+{})", overloads.len() - 1);
            }
            let takes_any = overloads.iter().any(|s| !s.params.is_empty());
            self.snippet(&if takes_any { format!("{name}($0)") } else { format!("{name}()") });
        }
    }

    /// The macros that are defined before the cursor, the last of each name.
    fn macros(&mut self, offset: usize) {
        let file = self.view.file;
        let before = |m: &&MacroDefinition| m.place.is_none_or(|p| p.file != file || (p.start as usize) < offset);
        let macros: BTreeMap<&str, &str> =
            self.view.analysis.macros.iter().filter(before).map(|m| (&*m.name, &*m.text)).collect();
        for (name, text) in macros {
            let described = Description { code: format!("#define {text}"), text: String::new() };
            self.push(name, CompletionKind::Constant, Rank::Macro, described);
        }
    }
}
