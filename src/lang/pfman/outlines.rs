//! Outlines of functions and shaders for debuggers.

use super::ast::{Stmt, StmtKind};
use super::tree::{Function, Origin};
use super::types::Scalar;
use crate::outline::{Declared, Outline, Statement, StatementKind};
use crate::types::SourceType;
use shadewright_base::text::source::Span;

/// The type that a debugger shows values of; `None` for arrays that it does not.
fn shown(dims: &[u32], scalar: Scalar) -> Option<SourceType> {
    match (dims, scalar) {
        ([], _) => Some(SourceType::Float),
        ([3], Scalar::Float) => Some(SourceType::Vector),
        _ => None,
    }
}

/// The outline of a function that the file defines.
pub fn outline(f: &Function) -> Option<Outline> {
    let (declaration, body) = (&f.declaration, f.body.as_ref()?);
    let extent = declaration.name.span.to(declaration.end);
    let declared: Vec<(bool, Declared)> = body
        .variables
        .iter()
        .filter_map(|v| {
            let ty = shown(v.ty.dims(), v.ty.scalar())?;
            let scope = if matches!(v.origin, Origin::Local) { v.scope } else { extent };
            let declared = Declared { name: v.name.clone(), ty, place: v.declared?, scope };
            Some((matches!(v.origin, Origin::Parameter(_)), declared))
        })
        .collect();
    let params = declared.iter().filter(|d| d.0).count();
    let (first, rest): (Vec<_>, Vec<_>) = declared.into_iter().partition(|d| d.0);
    let mut statements = Vec::new();
    let mut work: Vec<&Stmt> = declaration.body.iter().flatten().rev().collect();
    while let Some(s) = work.pop() {
        let kind = match &s.kind {
            StmtKind::Block(_) | StmtKind::Break | StmtKind::Continue => None,
            StmtKind::Declare(list) if list.iter().all(|v| v.init.is_none()) => None,
            StmtKind::Declare(_) | StmtKind::Expr(_) | StmtKind::Return(_) => Some(StatementKind::Plain),
            StmtKind::Illuminance(..) => Some(StatementKind::Lights),
            StmtKind::If(..) | StmtKind::While(..) | StmtKind::Do { .. } | StmtKind::For { .. } => {
                Some(StatementKind::Condition)
            }
        };
        let children = s.children();
        if let Some(kind) = kind {
            // What stands before the statements inside.
            let end = children.first().map_or(s.span.end, |c| c.span.start.max(s.span.start));
            statements.push(Statement { span: Span { end, ..s.span }, kind });
        }
        work.extend(children.into_iter().rev());
    }
    statements.push(Statement { span: declaration.end, kind: StatementKind::End });
    let variables = first.into_iter().chain(rest).map(|d| d.1).collect();
    let result = shown(declaration.result.dims(), declaration.result.scalar()).unwrap_or(SourceType::Void);
    Some(Outline {
        name: declaration.name.name.clone(),
        place: declaration.name.span,
        extent,
        shader: declaration.shader,
        light: None,
        result: if declaration.shader.is_some() { SourceType::Void } else { result },
        library: false,
        params,
        variables,
        statements,
    })
}
