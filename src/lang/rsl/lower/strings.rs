//! `concat`, `format` and `match`: strings that are known before a program runs.
//!
//! A string is known when it is made of constants, of parameters of the shader that are never
//! assigned, and of variables that hold such a string. One of constants alone is a constant; any
//! other becomes a named input of the core, `string.0`, `string.1`, …, which the linker evaluates for
//! each instance.

use super::super::coshader_calls::Call;
use super::super::program::Callee;
use super::*;
use crate::strings::StringExpr;
use shadewright_ir::abi::Input;

/// The functions that make strings, or numbers from them.
pub const STRING_FUNCTIONS: [&str; 3] = ["concat", "format", "match"];

impl Body<'_, '_> {
    /// The value of a call of one of [`STRING_FUNCTIONS`].
    pub(super) fn string_call(&mut self, f: &Ident, args: &[ExprId]) -> Lower<Typed> {
        let (least, ty) = match &*f.name {
            "match" => (2, SourceType::Float),
            "format" => (1, SourceType::String),
            _ => (2, SourceType::String),
        };
        if args.len() < least || (ty == SourceType::Float && args.len() > 2) {
            let d = Diagnostic::error(format!("`{}` takes {least} arguments, not {}", f.name, args.len()));
            return self.error(d.at(f.span, "called here"));
        }
        for (i, &e) in args.iter().enumerate().filter(|(i, _)| *i == 0 || &*f.name != "format") {
            let given = self.checker.type_of(&self.scopes, e, Some(SourceType::String));
            if given != Some(SourceType::String) {
                self.value_as(e, SourceType::String)?;
                let d = Diagnostic::error(format!("argument {} of `{}` is not a string", i + 1, f.name));
                return self.error(d.at(self.span(e), "this one"));
            }
        }
        let mut parts = Vec::new();
        for &e in args {
            let Some(part) = self.known_string(e) else {
                let nothing = if ty == SourceType::Float { "0" } else { "the empty string" };
                let message =
                    format!("`{}` needs arguments that an instance determines: its result is {nothing}", f.name);
                let d = Diagnostic::warning(message).at(self.span(e), "known at run time only");
                let d = d.hint("use constants, parameters of the shader, and variables that are not assigned in branches and loops");
                if !self.is_inlined {
                    self.cx.report(d);
                }
                for &e in args {
                    let _: Lower<Typed> = self.value(e, None);
                }
                let zero = Const::zero(ty.ir().unwrap_or(Type::String));
                return Ok(self.constant(zero, ty));
            };
            parts.push(part);
        }
        let made = made_by(&f.name, parts);
        self.at(f.span);
        if let Some((pattern, why)) = made.invalid_pattern(&|_| None) {
            let d = Diagnostic::error(format!("the pattern \"{pattern}\" is not a regular expression: {why}"));
            return self.error(d.at(f.span, "matched here").hint("patterns are POSIX extended regular expressions"));
        }
        Ok(self.made(made, ty))
    }

    /// A string or number that an instance determines: a constant, or an input of the shader.
    pub(super) fn made(&mut self, made: StringExpr, ty: SourceType) -> Typed {
        if let Some(value) = made.value(&|_| None) {
            return self.constant(value, ty);
        }
        let number = self.strings.iter().position(|(known, _)| *known == made).unwrap_or_else(|| {
            let name = Input::String(self.strings.len()).to_string();
            let value = self.b.implicit_param(name, ty.ir().unwrap_or(Type::String));
            self.strings.push((made, value));
            self.strings.len() - 1
        });
        Typed { value: self.strings[number].1, ty, class: StorageClass::Uniform }
    }

    /// The string or number of an expression that an instance determines.
    pub(super) fn known_string(&self, e: ExprId) -> Option<StringExpr> {
        match &self.cx.program.ast.expr(e).kind {
            ExprKind::String(string) => Some(StringExpr::Literal(string.clone())),
            ExprKind::Number(x) => Some(StringExpr::Number(*x)),
            ExprKind::Unary(UnaryOp::Neg, a) => match self.known_string(*a)? {
                StringExpr::Number(x) => Some(StringExpr::Number(-x)),
                _ => None,
            },
            ExprKind::Tuple(parts) => {
                match parts.iter().map(|p| self.known_string(*p)).collect::<Option<Vec<_>>>()?[..] {
                    [StringExpr::Number(x), StringExpr::Number(y), StringExpr::Number(z)] => {
                        Some(StringExpr::Triple([x, y, z]))
                    }
                    _ => None,
                }
            }
            ExprKind::Cast(ty, None, a) => match self.known_string(*a)? {
                StringExpr::Number(x) if ty.is_triple() => Some(StringExpr::Triple([x; 3])),
                made if ty.ir() == Some(made.ty()) => Some(made),
                _ => None,
            },
            ExprKind::Name(name) => self.scopes.find(name)?.text.clone(),
            ExprKind::Call(f, args) if STRING_FUNCTIONS.contains(&&*f.name) => {
                let parts = args.iter().map(|a| self.known_string(*a)).collect::<Option<_>>()?;
                made_by(&f.name, parts).simplified()
            }
            _ => None,
        }
    }
}

/// The assignments that are statements of the body itself, or of blocks in it.
fn assigned_in_order(ast: &Ast, body: &[Stmt]) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut statements: Vec<&Stmt> = body.iter().collect();
    while let Some(s) = statements.pop() {
        match &s.kind {
            StmtKind::Expr(e) if matches!(ast.expr(*e).kind, ExprKind::Assign(..)) => found.push(*e),
            StmtKind::Block(list) => statements.extend(list),
            _ => {}
        }
    }
    found
}

fn made_by(function: &str, parts: Vec<StringExpr>) -> StringExpr {
    match function {
        "concat" => StringExpr::Concat(parts),
        "format" => StringExpr::Format(parts),
        _ => StringExpr::Match(parts),
    }
}

/// The names of variables whose values are not known from the statements before a use: those that
/// something is assigned to in branches, loops and expressions, and what calls may write. A
/// statement of the body itself that assigns a value is no such change.
pub(super) fn changed(program: &Program<'_>, body: &[Stmt]) -> BTreeSet<Arc<str>> {
    let ast = program.ast;
    let mut names = BTreeSet::new();
    let mut statements: Vec<&Stmt> = body.iter().collect();
    let mut exprs = Vec::new();
    while let Some(s) = statements.pop() {
        statements.extend(s.children());
        exprs.extend(s.exprs());
    }
    let in_order: BTreeSet<ExprId> = assigned_in_order(ast, body).into_iter().collect();
    while let Some(e) = exprs.pop() {
        let kind = &ast.expr(e).kind;
        match kind {
            ExprKind::Assign(None, place, _) if place.indices.is_empty() && in_order.contains(&e) => {}
            ExprKind::Assign(_, place, _) => {
                names.insert(place.name.name.clone());
            }
            ExprKind::Call(f, args) => {
                let callees = program.callees(&f.name, false);
                for callee in &callees {
                    if let Callee::Function(i) = callee {
                        let written = program.definition(*i).captured().iter().filter(|d| d.output);
                        names.extend(written.map(|d| d.name.name.clone()));
                    }
                }
                let is_written = Call::parse(&f.name).is_some_and(|(call, _)| call.writes()) || *f.name == *"texture3d";
                if is_written || callees.iter().any(|c| program.writes_arguments(*c)) {
                    names.extend(args.iter().filter_map(|a| match &ast.expr(*a).kind {
                        ExprKind::Name(name) => Some(name.clone()),
                        _ => None,
                    }));
                }
            }
            _ => {}
        }
        kind.for_each_child(|c| exprs.push(c));
    }
    names
}
