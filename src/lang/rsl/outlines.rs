//! Outlines of definitions, from the syntax tree.

use super::ast::{Ast, Decl, Definition, Stmt, StmtKind};
use super::light_kind;
use crate::outline::{Declared, Outline, Statement, StatementKind};
use crate::types::SourceType;
use shadewright_base::text::source::Span;

/// The outline of a definition.
pub fn outline(ast: &Ast, definition: &Definition, library: bool) -> Outline {
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
    declare(&mut outline, &definition.params, extent);
    // Statements with the scope that they stand in.
    let mut work: Vec<(&Stmt, Span)> = definition.body.iter().rev().map(|s| (s, extent)).collect();
    while let Some((s, scope)) = work.pop() {
        statement(&mut outline, ast, s, scope);
        let own = match s.kind {
            StmtKind::Block(_) | StmtKind::For { .. } => Some(s.span),
            _ => None,
        };
        work.extend(s.children().into_iter().rev().map(|c| (c, own.unwrap_or(c.span))));
    }
    outline.statements.push(Statement { span: definition.end, kind: StatementKind::End });
    outline
}

fn declare(outline: &mut Outline, decls: &[Decl], scope: Span) {
    let declared = decls.iter().filter(|d| !d.external);
    outline.variables.extend(declared.map(|d| Declared {
        name: d.name.name.clone(),
        ty: d.ty,
        place: d.name.span,
        scope,
    }));
}

fn statement(outline: &mut Outline, ast: &Ast, s: &Stmt, scope: Span) {
    let mut add = |span, kind| outline.statements.push(Statement { span, kind });
    match &s.kind {
        StmtKind::Declare(decls) => {
            if decls.iter().any(|d| d.init.is_some()) {
                add(s.span, StatementKind::Plain);
            }
            declare(outline, decls, scope);
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
                outline.variables.extend([of_light("L", SourceType::Vector), of_light("Cl", SourceType::Color)]);
            }
        }
        StmtKind::Block(_) | StmtKind::Break(_) | StmtKind::Continue(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FrontEndOptions, parse};
    use super::*;
    use shadewright_base::text::source::SourceMap;

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
        let (ast, diags) = parse(&mut sources, file, &FrontEndOptions::default());
        assert!(!diags.has_errors());
        (super::outline(&ast, &ast.definitions[0], false), sources)
    }

    fn place(text: &str) -> Span {
        let at = SOURCE.find(text).expect("it is there");
        Span::new(shadewright_base::text::source::FileId(0), at, at + 1)
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
    }
}
