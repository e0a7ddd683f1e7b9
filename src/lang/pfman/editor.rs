//! pfman for editors: the functions and shaders of a text, their variables, and what is built in.

use super::ast::{Ast, Function};
use super::tree::File;
use super::{builtins, globals, lexer, parser};
use crate::editor::{Completion, CompletionKind, Document, Hover, Symbol, SymbolKind, Text, shortened};
use crate::language::FrontEndOptions;
use crate::preprocess::Include;
use crate::types::StorageClass;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap, Span};

/// The syntax tree of a text, what it means, and all that the compiler reports of it.
#[derive(Clone, Debug)]
pub struct Analysis {
    ast: Ast,
    file: File,
    diagnostics: Diagnostics,
    includes: Vec<Include>,
}

impl Analysis {
    /// Analyzes a text as far as it can be read.
    pub fn new(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Self {
        let (preprocessed, ast, mut diagnostics) = super::read(sources, file, options);
        let broken = diagnostics.has_errors();
        let tree = super::checked(sources, &ast, &options.host, broken, &mut diagnostics)
            .map(|checked| checked.0)
            .unwrap_or_default();
        Self { ast, file: tree, diagnostics, includes: preprocessed.includes }
    }

    /// The definition around a place.
    fn around(&self, offset: usize) -> Option<&super::tree::Function> {
        let holds = |f: &&super::tree::Function| {
            (f.declaration.span.start as usize..=f.declaration.span.end as usize).contains(&offset)
        };
        self.file.functions.iter().filter(|f| f.body.is_some()).find(holds)
    }

    /// The variable that a name means at a place, as it is declared, and where.
    fn variable(&self, name: &str, offset: usize) -> Option<(String, Option<Span>)> {
        let body = self.around(offset)?.body.as_ref()?;
        let holds = |s: Span| (s.start as usize..=s.end as usize).contains(&offset);
        let found = body.variables.iter().filter(|v| *v.name == *name && holds(v.scope));
        let variable = found.min_by_key(|v| v.scope.end - v.scope.start)?;
        Some((declaration(&variable.name, &variable.ty.to_string(), variable.class), variable.declared))
    }
}

fn declaration(name: &str, ty: &str, class: StorageClass) -> String {
    let class = if class == StorageClass::Varying { "varying" } else { "uniform" };
    // Lengths follow the name, as in C.
    let (ty, lengths) = ty.split_at(ty.find('[').unwrap_or(ty.len()));
    format!("{class} {ty} {name}{lengths}")
}

/// A function up to its statements.
fn head(text: &Text, f: &Function) -> String {
    let source = text.source(f.span);
    shortened(source.split(['{', ';']).next().unwrap_or_default().trim_end())
}

impl Document for Analysis {
    fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    fn includes(&self) -> &[Include] {
        &self.includes
    }

    fn outline(&self, text: &Text) -> Vec<Symbol> {
        let own = self.ast.functions.iter().filter(|f| f.span.file == text.file && f.body.is_some());
        own.map(|f| {
            let symbol = |name: &str, detail: String, kind, whole, place| Symbol {
                name: name.to_string(),
                detail,
                kind,
                whole,
                place,
                children: Vec::new(),
            };
            let params = f
                .params
                .iter()
                .map(|p| symbol(&p.name.name, p.ty.to_string(), SymbolKind::Parameter, p.name.span, p.name.span));
            let (detail, kind) = match f.shader {
                Some(kind) => (kind.name().to_string(), SymbolKind::Class),
                None => (f.result.to_string(), SymbolKind::Function),
            };
            Symbol { children: params.collect(), ..symbol(&f.name.name, detail, kind, f.span, f.name.span) }
        })
        .collect()
    }

    fn hover(&self, text: &Text, offset: usize) -> Option<Hover> {
        let token = text.word_at(offset)?;
        let name = &*token.text;
        let hover = |code: String, said: String| Some(Hover { code, text: said, span: token.span });
        if let Some((code, declared)) = self.variable(name, offset) {
            let about = globals::find(name, None).filter(|_| declared.is_none()).map_or("", |n| n.about);
            return hover(code, about.to_string());
        }
        let functions = || self.ast.functions.iter().filter(|f| *f.name.name == *name);
        if let Some(f) = functions().find(|f| f.body.is_some()).or_else(|| functions().next()) {
            let code: Vec<String> = functions().filter(|f| f.body.is_some()).map(|f| head(text, f)).collect();
            let code = if code.is_empty() { head(text, f) } else { code.join("\n") };
            return hover(code, text.comment_above(f.span));
        }
        if let Some((_, ty)) = self.ast.typedefs.iter().find(|(n, _)| *n.name == *name) {
            return hover(format!("typedef {ty} {name}"), String::new());
        }
        let rows: Vec<String> = builtins::by_name(name).map(builtins::Builtin::describe).collect();
        if let Some(row) = builtins::by_name(name).next() {
            return hover(rows.join("\n"), row.about.to_string());
        }
        if let Some(known) = globals::find(name, None) {
            return hover(declaration(name, &known.ty().to_string(), StorageClass::Varying), known.about.to_string());
        }
        let ty = parser::predefined(name)?;
        hover(format!("typedef {ty} {name}"), "a type of the headers".to_string())
    }

    fn definition(&self, text: &Text, offset: usize) -> Vec<Span> {
        let Some(token) = text.word_at(offset) else { return Vec::new() };
        if let Some((_, declared)) = self.variable(&token.text, offset) {
            return declared.into_iter().collect();
        }
        let functions = self.ast.functions.iter().filter(|f| f.name.name == token.text && f.body.is_some());
        let types = self.ast.typedefs.iter().filter(|(name, _)| name.name == token.text);
        functions.map(|f| f.name.span).chain(types.map(|(name, _)| name.span)).collect()
    }

    fn completion(&self, _: &Text, offset: usize) -> Vec<Completion> {
        let one = |name: &str, kind, detail: Option<String>, about: &str, rank| Completion {
            name: name.to_string(),
            kind,
            detail,
            text: about.to_string(),
            rank,
            snippet: None,
        };
        let mut all = Vec::new();
        let around = self.around(offset);
        for variable in around.and_then(|f| f.body.as_ref()).into_iter().flat_map(|b| &b.variables) {
            if variable.declared.is_some()
                && (variable.scope.start as usize..=variable.scope.end as usize).contains(&offset)
            {
                let detail = declaration(&variable.name, &variable.ty.to_string(), variable.class);
                all.push(one(&variable.name, CompletionKind::Variable, Some(detail), "", 0));
            }
        }
        for f in self.ast.functions.iter().filter(|f| f.shader.is_none()) {
            all.push(one(&f.name.name, CompletionKind::Function, Some(f.result.to_string()), "", 1));
        }
        for (name, ty) in &self.ast.typedefs {
            all.push(one(&name.name, CompletionKind::Keyword, Some(ty.to_string()), "", 2));
        }
        let kind = around.and_then(|f| f.declaration.shader);
        for name in globals::all().filter(|n| kind.is_none_or(|kind| n.in_kind(kind))) {
            all.push(one(name.name, CompletionKind::Constant, Some(name.ty().to_string()), name.about, 2));
        }
        for row in &builtins::ROWS {
            all.push(one(row.name, CompletionKind::Function, Some(row.describe()), row.about, 3));
        }
        all.extend(lexer::KEYWORDS.iter().map(|word| one(word, CompletionKind::Keyword, None, "", 4)));
        all.dedup_by(|a, b| a.name == b.name && a.kind == b.kind);
        all
    }
}
