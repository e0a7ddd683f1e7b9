//! The outline of a definition: where its statements and variables stand in the text, for people
//! who look at a program as it runs.
//!
//! Taken from the syntax tree alone. A debugger joins it with the IR by places: an instruction
//! belongs to the innermost statement around the start of its span, and a `debug` instruction names
//! the variable of that name whose scope holds it.

use super::ast::{Ast, Decl, Definition, ShaderKind, Stmt, StmtKind};
use super::globals;
use super::types::RslType;
use super::{LightKind, light_kind};
use crate::text::source::Span;
use std::sync::Arc;

/// A function or a shader as its text shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Its name in the source.
    pub name: Arc<str>,
    /// The place of that name, which is also that of the IR function.
    pub place: Span,
    /// From its name to the brace that ends it.
    pub extent: Span,
    /// For a shader, which kind.
    pub shader: Option<ShaderKind>,
    /// For a light, how it shines.
    pub light: Option<LightKind>,
    /// The type of a function's value; `Void` for shaders.
    pub result: RslType,
    /// Whether it belongs to the standard library.
    pub library: bool,
    /// Number of declared parameters, which are the first variables.
    pub params: usize,
    /// Declared parameters, then the variables of its statements.
    pub variables: Vec<Declared>,
    /// Statements, and conditions and steps of those that hold others.
    pub statements: Vec<Statement>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: RslType,
    /// Where it is declared.
    pub place: Span,
    /// Where it can be named, unless another one hides it.
    pub scope: Span,
}

/// A place at which a program can be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its text, without the statements inside.
    pub span: Span,
    /// What it is.
    pub kind: StatementKind,
}

/// What a [`Statement`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// Computes something.
    Plain,
    /// Chooses the way: the condition of `if`, `while` or `for`.
    Condition,
    /// `illuminance`, `illuminate` or `solar` with its arguments, which runs its body for lights,
    /// or where light falls.
    Lights,
    /// The closing brace.
    End,
}

/// The type of a predefined variable, such as `P`.
pub fn predefined(name: &str) -> Option<RslType> {
    globals::find(name).map(|g| g.ty)
}

impl Outline {
    /// Of a definition.
    pub fn of(ast: &Ast, definition: &Definition, library: bool) -> Self {
        let extent = definition.name.span.to(definition.end);
        let mut outline = Outline {
            name: definition.name.name.clone(),
            place: definition.name.span,
            extent,
            shader: definition.shader,
            light: light_kind(definition),
            result: definition.result,
            library,
            params: definition.params.len(),
            variables: Vec::new(),
            statements: Vec::new(),
        };
        outline.declare(&definition.params, extent);
        // Statements with the scope that they stand in.
        let mut work: Vec<(&Stmt, Span)> = definition.body.iter().rev().map(|s| (s, extent)).collect();
        while let Some((s, scope)) = work.pop() {
            outline.statement(ast, s, scope);
            let own = match s.kind {
                StmtKind::Block(_) | StmtKind::For { .. } => Some(s.span),
                _ => None,
            };
            work.extend(s.children().into_iter().rev().map(|c| (c, own.unwrap_or(c.span))));
        }
        outline.statements.push(Statement { span: definition.end, kind: StatementKind::End });
        outline
    }

    /// What it is and its name, for people: `surface marble`.
    pub fn title(&self) -> String {
        let kind = self.shader.map_or("function", ShaderKind::name);
        format!("{kind} {}", self.name)
    }

    fn declare(&mut self, decls: &[Decl], scope: Span) {
        let declared = decls.iter().filter(|d| !d.external);
        self.variables.extend(declared.map(|d| Declared {
            name: d.name.name.clone(),
            ty: d.ty,
            place: d.name.span,
            scope,
        }));
    }

    fn statement(&mut self, ast: &Ast, s: &Stmt, scope: Span) {
        let mut add = |span, kind| self.statements.push(Statement { span, kind });
        match &s.kind {
            StmtKind::Declare(decls) => {
                if decls.iter().any(|d| d.init.is_some()) {
                    add(s.span, StatementKind::Plain);
                }
                self.declare(decls, scope);
            }
            StmtKind::Expr(_) | StmtKind::Return(_) => add(s.span, StatementKind::Plain),
            StmtKind::If(arms, _) => arms.iter().for_each(|(e, _)| add(ast.expr(*e).span, StatementKind::Condition)),
            StmtKind::While(e, _) => add(ast.expr(*e).span, StatementKind::Condition),
            StmtKind::For { condition, step, .. } => {
                condition.iter().for_each(|e| add(ast.expr(*e).span, StatementKind::Condition));
                step.iter().for_each(|e| add(ast.expr(*e).span, StatementKind::Plain));
            }
            StmtKind::Gather(_, body, _) => {
                let header = Span { end: body.span.start.max(s.span.start), ..s.span };
                add(header, StatementKind::Plain);
            }
            StmtKind::Illuminance(_, body) | StmtKind::Illuminate(_, body) | StmtKind::Solar(_, body) => {
                let header = Span { end: body.span.start.max(s.span.start), ..s.span };
                add(header, StatementKind::Lights);
                if matches!(s.kind, StmtKind::Illuminance(..)) {
                    let of_light = |name: &str, ty| Declared { name: name.into(), ty, place: header, scope: body.span };
                    self.variables.extend([of_light("L", RslType::Vector), of_light("Cl", RslType::Color)]);
                }
            }
            StmtKind::Block(_) | StmtKind::Break(_) | StmtKind::Continue(_) => {}
        }
    }

    /// The number of the statement that text at `at` belongs to.
    pub fn statement_at(&self, at: Span) -> Option<usize> {
        let all = self.statements.iter().enumerate();
        let around = all.filter(|(_, s)| s.kind != StatementKind::End && holds(s.span, at));
        around.min_by_key(|(_, s)| s.span.end - s.span.start).map(|(i, _)| i)
    }

    /// The number of the variable that `name` means at a place; `None` where it is not one that the
    /// text declares.
    pub fn variable_at(&self, name: &str, at: Span) -> Option<usize> {
        let named = self.variables.iter().enumerate().filter(|(_, v)| *v.name == *name && holds(v.scope, at));
        named.min_by_key(|(_, v)| v.scope.end - v.scope.start).map(|(i, _)| i)
    }
}

/// Whether `at` starts within `span`.
pub fn holds(span: Span, at: Span) -> bool {
    span.file == at.file && (span.start..span.end).contains(&at.start)
}

#[cfg(test)]
mod tests {
    use super::super::{Options, parse};
    use super::*;
    use crate::text::source::SourceMap;

    const SOURCE: &str = "surface s(float k = 1)
{
    float x = k, y;
    color c;
    if (x > 0 && k > 0) { float x = 2; c = x; } else c = 0;
    for (y = 0; y < 3; y += 1)
        illuminance (P, N, PI / 2) Ci += Cl;
}";

    fn outline() -> (Outline, SourceMap) {
        let mut sources = SourceMap::new();
        let file = sources.add("s.sl", None, SOURCE);
        let (ast, diags) = parse(&mut sources, file, &Options::default());
        assert!(!diags.has_errors());
        (Outline::of(&ast, &ast.definitions[0], false), sources)
    }

    fn place(text: &str) -> Span {
        let at = SOURCE.find(text).expect("it is there");
        Span::new(crate::text::source::FileId(0), at, at + 1)
    }

    #[test]
    fn statements_are_the_places_at_which_something_is_computed() {
        let (outline, _) = outline();
        let texts: Vec<(&str, StatementKind)> = outline
            .statements
            .iter()
            .map(|s| (SOURCE[s.span.start as usize..s.span.end as usize].trim_end(), s.kind))
            .collect();
        use StatementKind::{Condition, End, Lights, Plain};
        let expected = [
            ("float x = k, y;", Plain),
            ("x > 0 && k > 0", Condition),
            ("float x = 2;", Plain),
            ("c = x;", Plain),
            ("c = 0;", Plain),
            ("y < 3", Condition),
            ("y += 1", Plain),
            ("y = 0;", Plain),
            ("illuminance (P, N, PI / 2)", Lights),
            ("Ci += Cl;", Plain),
            ("}", End),
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_place_belongs_to_the_innermost_statement_and_a_name_to_the_innermost_variable() {
        let (outline, _) = outline();
        let text = |at: &str| outline.statement_at(place(at)).map(|i| outline.statements[i].span.start);
        assert_eq!(text("k > 0)"), Some(place("x > 0").start));
        assert_eq!(text("Cl;"), Some(place("Ci +=").start));
        assert_eq!(text("surface"), None);
        let x = |at: &str| outline.variable_at("x", place(at)).map(|i| outline.variables[i].place.start);
        assert_eq!(x("x > 0"), Some(place("x = k").start));
        assert_eq!(x("x; }"), Some(place("x = 2").start));
        assert_eq!(x("c = 0"), Some(place("x = k").start));
        assert!(outline.variable_at("Cl", place("Cl;")).is_some());
        assert_eq!(outline.variable_at("Cl", place("y += 1")), None);
        assert_eq!(outline.variable_at("P", place("P, N")), None);
        assert_eq!(predefined("P"), Some(RslType::Point));
    }
}
