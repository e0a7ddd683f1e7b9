//! RTSL for editors: the classes of a text, their methods and variables, and the renderer's state
//! that these read and set.

use super::ast::{Ast, ClassDecl, Function, Qualifier, TypeName, Variable};
use super::state::{self, Interface, Method};
use crate::editor::{Document, Hover, Symbol, SymbolKind, Text, shortened};
use crate::preprocess::Include;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::Span;

/// The syntax tree of a text and all that the compiler reports of it.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The classes and functions.
    pub ast: Ast,
    /// All errors and warnings.
    pub diagnostics: Diagnostics,
}

impl Document for Analysis {
    fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    fn includes(&self) -> &[Include] {
        &[]
    }

    fn outline(&self, text: &Text) -> Vec<Symbol> {
        outline(text, &self.ast)
    }

    fn hover(&self, text: &Text, offset: usize) -> Option<Hover> {
        let token = text.word_at(offset)?;
        let (code, said) = described(text, &self.ast, &token.text, token.span.start)?;
        Some(Hover { code, text: said, span: token.span })
    }
}

/// Code and what there is to say about a name at a place.
fn described(text: &Text, ast: &Ast, name: &str, at: u32) -> Option<(String, String)> {
    if let Some(variable) = state::find(name) {
        let list = |may: &dyn Fn(Method) -> bool| {
            let methods: Vec<&str> = Method::ALL.into_iter().filter(|m| may(*m)).map(Method::name).collect();
            if methods.len() == Method::ALL.len() { "all methods".to_string() } else { methods.join(", ") }
        };
        let mut said = variable.meaning.to_string();
        for (word, methods) in [
            ("Read in", list(&|m| variable.is_read_in(m) && !variable.is_written_in(m))),
            ("Set in", list(&|m| variable.is_written_in(m))),
        ] {
            if !methods.is_empty() {
                said += &format!("\n\n{word}: {methods}.");
            }
        }
        return Some((format!("{} {name}", variable.ty), said));
    }
    if let Some(interface) = Interface::named(name) {
        let methods: Vec<String> = interface.methods().map(|m| format!("void {}()", m.name())).collect();
        return Some((methods.join("\n"), "An interface: a class of it has some of these methods.".to_string()));
    }
    if let Some(class) = ast.classes.iter().find(|c| *c.name.name == *name) {
        return Some((heading(class), text.comment_above(whole_line(text, class.name.span))));
    }
    let around = ast.classes.iter().rev().find(|c| c.name.span.start <= at);
    let own = lineage(ast, around);
    if let Some(function) = own.iter().flat_map(|c| &c.methods).chain(&ast.functions).find(|f| *f.name.name == *name) {
        return Some((head(text, function), text.comment_above(function.span)));
    }
    let variable = own.iter().flat_map(|c| &c.variables).chain(&ast.constants).find(|v| *v.name.name == *name)?;
    Some((declaration(text, variable), String::new()))
}

/// A class, then its base classes, as far as they are in the document.
fn lineage<'a>(ast: &'a Ast, class: Option<&'a ClassDecl>) -> Vec<&'a ClassDecl> {
    let mut all: Vec<&ClassDecl> = Vec::new();
    let mut next = class;
    while let Some(class) = next.filter(|c| !all.iter().any(|known| known.name == c.name)) {
        all.push(class);
        next = class.bases.iter().find_map(|b| ast.classes.iter().find(|c| c.name.name == b.name));
    }
    all
}

/// A place from the start of its line on.
fn whole_line(text: &Text, span: Span) -> Span {
    let before = text.sources.get(span.file).and_then(|f| f.text.get(..span.start as usize)).unwrap_or_default();
    Span { start: before.rfind('\n').map_or(0, |end| end as u32 + 1), ..span }
}

fn heading(class: &ClassDecl) -> String {
    let bases: Vec<&str> = class.bases.iter().map(|b| &*b.name).collect();
    format!("class {} : {};", class.name.name, bases.join(", "))
}

/// A function up to its statements.
fn head(text: &Text, function: &Function) -> String {
    let source = text.source(function.span);
    shortened(source.split(['{', ';']).next().unwrap_or_default().trim_end())
}

/// The name of a type, as it is written.
fn type_word<'a>(text: &'a Text, ty: &TypeName) -> &'a str {
    text.source(ty.span).split_whitespace().next().unwrap_or_default()
}

fn declaration(text: &Text, variable: &Variable) -> String {
    let qualifier = match variable.qualifier {
        Qualifier::Const => "const ",
        Qualifier::Public => "public ",
        Qualifier::Private => "private ",
        Qualifier::Scratch => "scratch ",
        Qualifier::Local => "",
    };
    let unit = if variable.unit { "unit " } else { "" };
    format!("{qualifier}{unit}{} {}", type_word(text, &variable.ty), variable.name.name)
}

/// The outline: functions before the first class, then the classes with their variables and
/// methods.
fn outline(text: &Text, ast: &Ast) -> Vec<Symbol> {
    let here = |span: Span| span.file == text.file;
    let symbol = |name: &str, detail: &str, kind, whole: Span, place: Span| {
        let (name, detail) = (name.to_string(), detail.to_string());
        Symbol { name, detail, kind, whole, place, children: Vec::new() }
    };
    let function = |f: &Function, kind| symbol(&f.name.name, type_word(text, &f.result), kind, f.span, f.name.span);
    let functions = ast.functions.iter().filter(|f| here(f.span) && here(f.name.span));
    let mut all: Vec<Symbol> = functions.map(|f| function(f, SymbolKind::Function)).collect();
    for class in ast.classes.iter().filter(|c| here(c.name.span)) {
        let place = class.name.span;
        let bases: Vec<&str> = class.bases.iter().map(|b| &*b.name).collect();
        let variables = class
            .variables
            .iter()
            .filter(|v| here(v.name.span))
            .map(|v| symbol(&v.name.name, type_word(text, &v.ty), SymbolKind::Field, v.name.span, v.name.span));
        let methods = class.methods.iter().filter(|f| here(f.span) && here(f.name.span));
        let children = variables.chain(methods.map(|f| function(f, SymbolKind::Method))).collect();
        all.push(Symbol { children, ..symbol(&class.name.name, &bases.join(", "), SymbolKind::Class, place, place) });
    }
    all
}
