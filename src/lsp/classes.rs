//! What an editor shows of RTSL: the classes of a document, their methods and variables, and the renderer's state that these read and set.

use super::client::Client;
use super::hover::{comment_above, shortened, shown};
use super::snapshot::Snapshot;
use crate::lang::Language;
use crate::lang::rtsl::Rtsl;
use crate::lang::rtsl::ast::{Ast, Class, Function, Keeping, TypeName, Variable};
use crate::lang::rtsl::state::{self, Interface, Method};
use crate::lang::scan::RawKind;
use crate::text::source::Span;
use lsp_types::{DocumentSymbol, Hover, Position, SymbolKind};

/// The hover at a position.
pub fn hover(snapshot: &Snapshot, ast: &Ast, position: Position, client: &Client) -> Option<Hover> {
    let offset = snapshot.offset(position);
    let here = |s: Span| (s.start as usize..=s.end as usize).contains(&offset);
    let token = snapshot.tokens.iter().rev().find(|t| t.kind == RawKind::Word && here(t.span))?;
    let (code, text) = described(snapshot, ast, &token.text, token.span.start)?;
    Some(shown(snapshot, Rtsl.id(), &code, &text, token.span, client))
}

/// Code and what there is to say about a name at a place.
fn described(snapshot: &Snapshot, ast: &Ast, name: &str, at: u32) -> Option<(String, String)> {
    if let Some(variable) = state::find(name) {
        let list = |may: &dyn Fn(Method) -> bool| {
            let methods: Vec<&str> = Method::ALL.into_iter().filter(|m| may(*m)).map(Method::name).collect();
            if methods.len() == Method::ALL.len() { "all methods".to_string() } else { methods.join(", ") }
        };
        let mut text = variable.meaning.to_string();
        for (word, methods) in [
            ("Read in", list(&|m| variable.is_read_in(m) && !variable.is_written_in(m))),
            ("Set in", list(&|m| variable.is_written_in(m))),
        ] {
            if !methods.is_empty() {
                text += &format!("\n\n{word}: {methods}.");
            }
        }
        return Some((format!("{} {name}", variable.ty), text));
    }
    if let Some(interface) = Interface::named(name) {
        let methods: Vec<String> = interface.methods().map(|m| format!("void {}()", m.name())).collect();
        return Some((methods.join("\n"), "An interface: a class of it has some of these methods.".to_string()));
    }
    if let Some(class) = ast.classes.iter().find(|c| *c.name.name == *name) {
        return Some((heading(class), comment_above(snapshot, whole_line(snapshot, class.name.span))));
    }
    let around = ast.classes.iter().rev().find(|c| c.name.span.start <= at);
    let own = lineage(ast, around);
    if let Some(function) = own.iter().flat_map(|c| &c.methods).chain(&ast.functions).find(|f| *f.name.name == *name) {
        return Some((head(snapshot, function), comment_above(snapshot, function.span)));
    }
    let variable = own.iter().flat_map(|c| &c.variables).chain(&ast.constants).find(|v| *v.name.name == *name)?;
    Some((declaration(snapshot, variable), String::new()))
}

/// A class, then those that it comes from, as far as they are in the document.
fn lineage<'a>(ast: &'a Ast, class: Option<&'a Class>) -> Vec<&'a Class> {
    let mut all: Vec<&Class> = Vec::new();
    let mut next = class;
    while let Some(class) = next.filter(|c| !all.iter().any(|known| known.name == c.name)) {
        all.push(class);
        next = class.bases.iter().find_map(|b| ast.classes.iter().find(|c| c.name.name == b.name));
    }
    all
}

/// A place from the start of its line on.
fn whole_line(snapshot: &Snapshot, span: Span) -> Span {
    let before = snapshot.sources.get(span.file).and_then(|f| f.text.get(..span.start as usize)).unwrap_or_default();
    Span { start: before.rfind('\n').map_or(0, |end| end as u32 + 1), ..span }
}

fn heading(class: &Class) -> String {
    let bases: Vec<&str> = class.bases.iter().map(|b| &*b.name).collect();
    format!("class {} : {};", class.name.name, bases.join(", "))
}

/// A function up to its statements.
fn head(snapshot: &Snapshot, function: &Function) -> String {
    let text = snapshot.source(function.span);
    shortened(text.split(['{', ';']).next().unwrap_or_default().trim_end())
}

/// The name of a type, as it is written.
fn type_word<'a>(snapshot: &'a Snapshot, ty: &TypeName) -> &'a str {
    snapshot.source(ty.span).split_whitespace().next().unwrap_or_default()
}

fn declaration(snapshot: &Snapshot, variable: &Variable) -> String {
    let keeping = match variable.keeping {
        Keeping::Const => "const ",
        Keeping::Public => "public ",
        Keeping::Private => "private ",
        Keeping::Scratch => "scratch ",
        Keeping::Local => "",
    };
    let unit = if variable.unit { "unit " } else { "" };
    format!("{keeping}{unit}{} {}", type_word(snapshot, &variable.ty), variable.name.name)
}

/// The outline: functions before the first class, then the classes with their variables and methods.
pub fn outline(snapshot: &Snapshot, ast: &Ast) -> Vec<DocumentSymbol> {
    let here = |span: Span| span.file == snapshot.file;
    let function = |f: &Function, kind| {
        let detail = type_word(snapshot, &f.result).to_string();
        snapshot.symbol(&f.name.name, detail, kind, [f.span, f.name.span])
    };
    let functions = ast.functions.iter().filter(|f| here(f.span) && here(f.name.span));
    let mut all: Vec<DocumentSymbol> = functions.map(|f| function(f, SymbolKind::FUNCTION)).collect();
    for class in ast.classes.iter().filter(|c| here(c.name.span)) {
        let place = class.name.span;
        let bases: Vec<&str> = class.bases.iter().map(|b| &*b.name).collect();
        let variables = class.variables.iter().filter(|v| here(v.name.span)).map(|v| {
            let place = v.name.span;
            snapshot.symbol(&v.name.name, type_word(snapshot, &v.ty).to_string(), SymbolKind::FIELD, [place, place])
        });
        let methods = class.methods.iter().filter(|f| here(f.span) && here(f.name.span));
        let children = variables.chain(methods.map(|f| function(f, SymbolKind::METHOD))).collect();
        let symbol = snapshot.symbol(&class.name.name, bases.join(", "), SymbolKind::CLASS, [place, place]);
        all.push(DocumentSymbol { children: Some(children), ..symbol });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::tests::{client, marked_as};
    use super::*;
    use lsp_types::HoverContents;

    fn shown(text: &str) -> Option<String> {
        let (snapshot, position) = marked_as("untitled:a.rtsl", text);
        let ast = snapshot.classes.as_ref().expect("a document of RTSL");
        match hover(&snapshot, ast, position, &client())?.contents {
            HoverContents::Markup(m) => Some(m.value),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_renderers_state_is_explained() {
        let text = shown("class A : rt_Material; void shade() { rt_SampleColor = color(rt_|HitDistance); }");
        let text = text.expect("a variable of the renderer");
        assert!(text.starts_with("```rtsl\nfloat rt_HitDistance\n```\nHow far"), "{text}");
        assert!(text.contains("Set in: generateRay."), "{text}");
        let text = shown("class A : rt_|Light; void illumination() { }").expect("an interface");
        assert!(text.starts_with("```rtsl\nvoid illumination()\n```"), "{text}");
    }

    #[test]
    fn classes_methods_and_variables_show_their_heads_and_comments() {
        let text = |marked: &str| {
            let all = "float half_of(float x) { return x / 2.; }\n// A base.\nclass A : rt_Texture;\nprivate unit vec3 axis;\n// Twice.\nfloat twice(float x) { return 2. * x; }\nclass B : A;\nvoid lookup() { rt_FloatTextureValue = twice(half_of(axis.x)); }";
            shown(&all.replacen(&marked.replace('|', ""), marked, 1))
        };
        assert_eq!(text("class |A").as_deref(), Some("```rtsl\nclass A : rt_Texture;\n```\nA base."));
        assert_eq!(text("class B : |A").as_deref(), Some("```rtsl\nclass A : rt_Texture;\n```\nA base."));
        assert_eq!(text("tw|ice(half").as_deref(), Some("```rtsl\nfloat twice(float x)\n```\nTwice."));
        assert_eq!(text("|half_of(axis").as_deref(), Some("```rtsl\nfloat half_of(float x)\n```"));
        assert_eq!(text("(|axis").as_deref(), Some("```rtsl\nprivate unit vec3 axis\n```"));
        assert_eq!(text("|return x"), None);
    }

    #[test]
    fn mistakes_are_told_and_the_outline_has_what_can_be_read() {
        let (snapshot, _) = marked_as(
            "untitled:a.rtsl",
            "class A : rt_Material; public color c; void shade() { rt_SampleColor = d; }|",
        );
        let said: Vec<&str> = snapshot.analysis.diagnostics.iter().map(|d| &*d.message).collect();
        assert!(said.len() == 1 && said[0].contains('d'), "{said:?}");
        let symbols = outline(&snapshot, snapshot.classes.as_ref().expect("classes"));
        let names: Vec<&str> = symbols[0].children.iter().flatten().map(|s| &*s.name).collect();
        assert_eq!((&*symbols[0].name, &names[..]), ("A", &["c", "shade"][..]));
    }
}
