//! Expands macros: the body is executed with names of its own.

use super::Executor;
use super::blocks::{Datum, Key};
use crate::language::ast::{Expr, Ident, Macro};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_base::tokens::Parse;

impl<'a> Executor<'a> {
    /// Calls a macro; what its results name.
    pub(super) fn expand(&mut self, definition: &'a Macro, arguments: &'a [Expr], span: Span) -> Parse<Vec<Datum>> {
        let arguments = self.expressions(arguments)?;
        let expected = definition.parameters.len();
        if arguments.len() != expected {
            let given = arguments.len();
            let message =
                format!("the macro `{}` is called with {given} arguments; it has {expected}", definition.name.name);
            let d = Diagnostic::error(message).at(span, "this call").also(definition.name.span, "the macro");
            return self.fail(d);
        }
        let globals: Vec<(&Ident, Option<Datum>)> = definition
            .globals
            .iter()
            .map(|name| {
                let key = self.key(&name.name);
                (name, self.lookup(key, self.here))
            })
            .collect();
        let (caller, since) = (self.scope, self.journal.len());
        let exits = std::mem::take(&mut self.exits);
        self.scope = self.scopes;
        self.scopes += 1;
        self.calls.push(span);
        for (name, datum) in definition.parameters.iter().zip(arguments) {
            self.assign(&name.name, datum);
        }
        for (name, datum) in globals {
            if let Some(datum) = datum {
                let key = self.key(&name.name);
                self.define(key, datum);
            }
        }
        self.statement(&definition.body);
        let results = self.returned(&definition.results);
        let changed = self.returned(&definition.changed);
        let inner = std::mem::replace(&mut self.scope, caller);
        self.exits = exits;
        self.calls.pop();
        let assigned = self.journal.split_off(since);
        self.journal.extend(assigned.into_iter().filter(|key| !matches!(key, Key::Name(scope, _) if *scope == inner)));
        for (name, datum) in definition.changed.iter().zip(changed?) {
            self.assign(&name.name, datum);
        }
        results
    }

    fn returned(&mut self, names: &[Ident]) -> Parse<Vec<Datum>> {
        names.iter().map(|name| self.variable(&name.name, name.span)).collect()
    }
}
