//! Queries of other shaders and of the scene (`option`, `attribute`, `surface`, …) in methods of a
//! class.
//!
//! Only a shader itself can query, so the shader of a class queries before it calls the methods and
//! keeps the answer in two more variables of the class: the value, and whether there is one. In
//! place of the query a method calls a function that reads them.

use super::super::queries::Source;
use super::*;
use crate::globals;
use shadewright_ir::abi::QuerySource;

/// A query that a method asks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    /// Who is asked.
    source: QuerySource,
    /// The name of the value that is asked for.
    name: Arc<str>,
    /// The type of the value.
    ty: SourceType,
    /// Where it is asked first.
    span: Span,
}

impl Query {
    /// The variable of the class that holds the value.
    fn value(&self) -> Arc<str> {
        queries::value_input(self.source, self.ty, &self.name, 0).into()
    }

    /// The variable of the class that holds whether there is one, and, after the name of the class,
    /// the function for the query.
    fn found(&self) -> Arc<str> {
        queries::found_input(self.source, self.ty, &self.name).into()
    }
}

impl Flattening<'_> {
    /// The function for a query in a method; `None` for other calls.
    pub(super) fn query(&mut self, f: &Ident, args: &[ExprId]) -> Option<Ident> {
        let Some(Source::Input(source)) = queries::source(&f.name) else { return None };
        if self.defined.contains(&f.name) {
            return None;
        }
        let (&[name, variable], true) = (args, self.is_in_method()) else { return None };
        let ExprKind::String(name) = self.ast.expr(name).kind.clone() else { return None };
        let ty = self.type_at(&self.ast.place(variable)?)?;
        let query = Query { source, name, ty, span: f.span };
        let class = self.class.as_mut()?;
        let full = class.method(&Ident { name: query.found(), span: f.span });
        if !class.queries.iter().any(|q| q.found() == query.found()) {
            class.queries.push(query);
        }
        Some(full)
    }

    /// The declared type of a variable, or of a member of one that holds a struct.
    fn type_at(&self, place: &LValue) -> Option<SourceType> {
        let declared = match place.members.last() {
            Some(member) => self.shapes[self.owner(place)?].member(&member.name.name)?.binding.ty,
            None => self.lookup(&place.name.name).and_then(|b| b.ty),
        };
        declared.or_else(|| globals::find(&place.name.name).map(|g| g.ty)).filter(|_| place.indices.is_empty())
    }

    /// The variables in which the shader of a class keeps the answer to a query.
    pub(super) fn answer_variables(&mut self, q: &Query) -> Vec<Decl> {
        let span = q.span;
        let word = Ident { name: q.source.word().into(), span };
        let name = self.add(ExprKind::String(q.name.clone()), span);
        let value = self.add(ExprKind::Name(q.value()), span);
        let ask = self.add(ExprKind::Call(word, vec![name, value]), span);
        let variable = |name, ty, init| Decl { init, ..Decl::variable(Ident { name, span }, ty) };
        vec![variable(q.value(), q.ty, None), variable(q.found(), SourceType::Float, Some(ask))]
    }

    /// The function for a query: it sets its variable to the value, if there is one, and returns
    /// whether there is.
    pub(super) fn answer(&mut self, class: &str, q: &Query) -> Definition {
        const GIVEN: &str = "given";
        let span = q.span;
        let found = self.add(ExprKind::Name(q.found()), span);
        let value = self.add(ExprKind::Name(q.value()), span);
        let given = Ident { name: GIVEN.into(), span };
        let give = self.add(ExprKind::Assign(None, LValue::variable(given.clone()), value), span);
        let give = Stmt { kind: StmtKind::Expr(give), span };
        let body = vec![
            Stmt { kind: StmtKind::If(vec![(found, give)], None), span },
            Stmt { kind: StmtKind::Return(Some(found)), span },
        ];
        let param = Decl { output: true, ..Decl::variable(given, q.ty) };
        Definition {
            span,
            name: Ident { name: format!("{class}.{}", q.found()).into(), span },
            shader: None,
            light: None,
            result: SourceType::Float,
            structure: None,
            params: vec![param],
            captured: 0,
            open: span,
            body,
            end: span,
        }
    }
}
