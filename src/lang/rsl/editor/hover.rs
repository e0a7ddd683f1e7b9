//! Hover: the declaration of the name at an offset and its documentation.

use super::View;
use super::symbol::{self, Symbol};
use crate::editor::{Hover, shortened};
use crate::rsl::analysis::{Parameter, Role, Signature, Variable, storage_class};
use crate::rsl::ast::Definition;
use crate::rsl::{ShaderKind, reference};
use shadewright_base::text::source::Span;

/// Code and what there is to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Declarations, as they are written in the language.
    pub code: String,
    /// Sentences; may be empty.
    pub text: String,
}

/// The hover at an offset.
pub fn hover(view: View<'_>, offset: usize) -> Option<Hover> {
    let (symbol, span) = symbol::at(view, offset)?;
    let Description { code, text } = describe(view, &symbol);
    Some(Hover { code, text, span })
}

fn describe(view: View<'_>, symbol: &Symbol<'_>) -> Description {
    match symbol {
        Symbol::Variable(v) => variable(view, v),
        Symbol::Predefined(p, kind) => Description {
            code: format!("{} {}", p.ty, p.name),
            text: reference::variable(p.name, *kind).unwrap_or_default(),
        },
        Symbol::Call(signatures) => function(view, signatures),
        Symbol::Definition(d) => definition(view, d),
        Symbol::Macro(m) => Description {
            code: format!("#define {}", shortened(&m.text)),
            text: if m.place.is_none() { "Defined by the editor's settings.".to_string() } else { String::new() },
        },
        Symbol::Include(i) => {
            let file = view.sources.get(i.file);
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
pub fn variable(view: View<'_>, v: &Variable) -> Description {
    let role = if v.role == Role::Output { "output " } else { "" };
    let init = v.init.map(|i| format!(" = {}", shortened(view.source(i)))).unwrap_or_default();
    let text = match v.role {
        Role::Parameter => "Parameter.".to_string(),
        Role::Output => "Output parameter.".to_string(),
        Role::Local => String::new(),
        Role::Light => reference::variable(&v.name, Some(ShaderKind::Surface)).unwrap_or_default(),
    };
    Description { code: format!("{role}{} {} {}{init}", storage_class(v.class), v.ty, v.name), text }
}

/// Functions of one name.
pub fn function(view: View<'_>, signatures: &[&Signature]) -> Description {
    let own = signatures.iter().filter_map(|s| s.declared);
    let own: Vec<&Definition> =
        own.filter_map(|place| view.analysis.definitions.iter().find(|d| d.name.span == place)).collect();
    if let [only] = own[..] {
        return definition(view, only);
    }
    let code: Vec<String> = signatures.iter().map(|s| label(s).0).collect();
    let name = signatures.first().map(|s| &*s.name).unwrap_or_default();
    let text = if own.is_empty() { reference::function(name).unwrap_or_default() } else { "" };
    Description { code: code.join("\n"), text: text.to_string() }
}

/// A shader or function of the user: its head, and the comment above it.
pub fn definition(view: View<'_>, d: &Definition) -> Description {
    let head = Span { end: d.open.start.max(d.span.start), ..d.span };
    let head = match head.file == d.open.file {
        true => view.source(head),
        false => &d.name.name,
    };
    Description { code: shortened(head.trim_end()), text: view.comment_above(d.span) }
}

/// A signature as it is written, with the place of each parameter in it.
pub fn label(s: &Signature) -> (String, Vec<[u32; 2]>) {
    let params = s.params.iter().map(parameter);
    let (mut text, places) = joined(format!("{} {}(", s.result, s.name), params);
    text += if s.variadic { ", …" } else { "" };
    s.options.iter().for_each(|o| text += &format!(", {o}"));
    (text + ")", places)
}

/// `text` with parameters appended, and the range of each.
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
