//! The types of all intermediate results as text: what loses nothing, and what is kept of it (Olano
//! 1998, figure 4.8).

use super::tree::{Body, Function, LValue, NodeId, NodeKind, Statement, StatementKind};
use super::types::Scalar;
use crate::language::FrontEndOptions;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::{FileId, SourceMap, Span};
use std::fmt::Write as _;

/// A line of the listing.
struct Row {
    place: String,
    code: String,
    exact: String,
    kept: String,
    bytes: u32,
}

/// The listing of a file.
///
/// # Errors
/// All errors of the file.
pub fn listing(sources: &mut SourceMap, file: FileId, options: &FrontEndOptions) -> Result<String, Diagnostics> {
    let (_, ast, mut diags) = super::read(sources, file, options);
    let (tree, _) = super::checked(sources, &ast, &options.host, diags.has_errors(), &mut diags)?;
    if diags.has_errors() {
        return Err(diags);
    }
    let mut text = String::new();
    for function in tree.functions.iter().filter(|f| f.body.is_some()) {
        let rows = rows(sources, function);
        let kind = function.declaration.shader.map_or("function", |kind| kind.name());
        let _ = writeln!(text, "{kind} {}", function.declaration.name.name);
        let width = |of: fn(&Row) -> &str| rows.iter().map(|r| of(r).chars().count()).max().unwrap_or(0);
        let (place, code, exact) = (width(|r| &r.place), width(|r| &r.code), width(|r| &r.exact));
        for row in &rows {
            let bytes = if row.bytes == 1 { "byte" } else { "bytes" };
            let _ = writeln!(
                text,
                "  {:place$}  {:code$}  {:exact$}  {}, {} {bytes}",
                row.place, row.code, row.exact, row.kept, row.bytes
            );
        }
    }
    Ok(text)
}

/// The intermediate results of a function, in the order in which they are made.
fn rows(sources: &SourceMap, function: &Function) -> Vec<Row> {
    let Some(body) = &function.body else { return Vec::new() };
    let mut nodes = Vec::new();
    body.statements.iter().for_each(|s| visit_statement(body, s, &mut nodes));
    let mut rows = Vec::new();
    for id in nodes {
        let node = body.node(id);
        let is_result = matches!(
            node.kind,
            NodeKind::Binary(..)
                | NodeKind::Contract(..)
                | NodeKind::Negate(_)
                | NodeKind::Choose(..)
                | NodeKind::Convert(_)
                | NodeKind::Assign(..)
                | NodeKind::Step { .. }
                | NodeKind::Builtin(..)
                | NodeKind::Call(..)
                | NodeKind::Inverse(_)
                | NodeKind::Wedge(..)
        );
        // Truth values are no numbers that anybody sizes.
        if is_result && node.ty.count() > 0 && node.ty.scalar() != Scalar::Bool {
            rows.push(Row {
                place: place(sources, node.span),
                code: code(sources, node.span),
                exact: node.exact.to_string(),
                kept: node.ty.to_string(),
                bytes: node.ty.bytes(),
            });
        }
    }
    rows
}

fn place(sources: &SourceMap, span: Span) -> String {
    sources.position(span).map_or_else(String::new, |p| format!("{}:{}", p.line, p.column))
}

/// The text of an expression, in a line.
fn code(sources: &SourceMap, span: Span) -> String {
    let text = sources.get(span.file).and_then(|f| f.text.get(span.start as usize..span.end as usize));
    let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn visit_statement(body: &Body, s: &Statement, out: &mut Vec<NodeId>) {
    let mut add = |id: Option<NodeId>| id.into_iter().for_each(|id| visit_node(body, id, out));
    match &s.kind {
        StatementKind::Declare(_, init) => add(*init),
        StatementKind::Expr(e) => add(Some(*e)),
        StatementKind::Return(e) => add(*e),
        StatementKind::Block(list) => list.iter().for_each(|s| visit_statement(body, s, out)),
        StatementKind::If(arms, last) => {
            for (condition, s) in arms {
                visit_node(body, *condition, out);
                visit_statement(body, s, out);
            }
            last.iter().for_each(|s| visit_statement(body, s, out));
        }
        StatementKind::Loop { condition, step, body: inner, .. } => {
            add(*condition);
            visit_statement(body, inner, out);
            step.iter().for_each(|id| visit_node(body, *id, out));
        }
        StatementKind::Illuminance { position, cone, body: inner } => {
            add(*position);
            cone.iter().for_each(|(axis, angle)| [*axis, *angle].into_iter().for_each(|id| add(Some(id))));
            visit_statement(body, inner, out);
        }
        StatementKind::Break | StatementKind::Continue => {}
    }
}

/// An expression after those that it is made of.
fn visit_node(body: &Body, id: NodeId, out: &mut Vec<NodeId>) {
    let mut add = |id: &NodeId| visit_node(body, *id, out);
    let of_place = |place: &LValue, add: &mut dyn FnMut(&NodeId)| place.indices.iter().for_each(add);
    match &body.node(id).kind {
        NodeKind::Constant(_) | NodeKind::Variable(_) | NodeKind::Texture(_) | NodeKind::Text(_) | NodeKind::Old => {}
        NodeKind::Array(list) => list.iter().for_each(add),
        NodeKind::Index(array, list) => {
            add(array);
            list.iter().for_each(add);
        }
        NodeKind::Convert(a) | NodeKind::Negate(a) | NodeKind::Not(a) | NodeKind::Inverse(a) => add(a),
        NodeKind::Binary(_, a, b)
        | NodeKind::Contract(a, b)
        | NodeKind::Wedge(a, b)
        | NodeKind::Logical(_, a, b)
        | NodeKind::Sequence(a, b) => [a, b].into_iter().for_each(add),
        NodeKind::Choose(a, b, c) => [a, b, c].into_iter().for_each(add),
        NodeKind::Assign(place, value) => {
            of_place(place, &mut add);
            add(value);
        }
        NodeKind::Step { place, new, .. } => {
            of_place(place, &mut add);
            add(new);
        }
        NodeKind::Call(_, args, _) | NodeKind::Builtin(_, args) => args.iter().for_each(add),
    }
    out.push(id);
}
