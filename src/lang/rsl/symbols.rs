//! The symbols that lowering records for editors: the scope of each variable, and the callee of
//! each call.
//!
//! Lowering fills it as it walks the tree, so that an editor sees names as the compiler does. A
//! plain compilation records none.

use super::program::Callee;
use crate::types::{SourceType, StorageClass};
use shadewright_base::text::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// The role of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A parameter.
    Parameter,
    /// An output parameter.
    Output,
    /// A variable of a block.
    Local,
    /// A variable that `illuminance` provides about the light: `L`, `Cl`.
    Light,
}

/// A variable that text can name.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: Arc<str>,
    /// The type.
    pub ty: SourceType,
    /// The storage class.
    pub class: StorageClass,
    /// The role.
    pub role: Role,
    /// The name's place in the declaration, if it has one.
    pub declared: Option<Span>,
    /// The place of the default or first value.
    pub init: Option<Span>,
    /// The text in which the name means this variable, unless a later entry that is visible there
    /// too hides it.
    pub visible: Span,
}

/// The notes on the definitions of one file and of what it includes.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// Variables, each after those that it shadows.
    pub variables: Vec<Variable>,
    /// The callees that calls mean, by the place of the function's name.
    pub calls: HashMap<Span, Callee>,
    open: Vec<Span>,
}

impl Symbols {
    /// A scope begins that reaches over `place`.
    pub fn enter(&mut self, place: Span) {
        self.open.push(place);
    }

    /// The innermost scope ends.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// A variable is declared in the innermost scope: visible from the end of `variable.visible` to
    /// that of the scope. A parameter, which stands before the scope of its function, is visible in
    /// all of it.
    pub fn declare(&mut self, variable: Variable) {
        let Some(&scope) = self.open.last() else { return };
        let visible = match scope.file == variable.visible.file {
            true => Span { start: variable.visible.end.max(scope.start), ..scope },
            false => scope,
        };
        self.variables.push(Variable { visible, ..variable });
    }

    /// A body of `illuminance` has this variable.
    pub fn light(&mut self, name: &str, ty: SourceType, body: Span) {
        self.variables.push(Variable {
            name: name.into(),
            ty,
            class: StorageClass::Varying,
            role: Role::Light,
            declared: None,
            init: None,
            visible: body,
        });
    }

    /// A call of the function named at `name` means `callee`.
    pub fn call(&mut self, name: Span, callee: Callee) {
        self.calls.insert(name, callee);
    }
}
