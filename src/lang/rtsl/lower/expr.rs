//! Expressions.

use super::super::ast::{BinaryOp, ExprKind, UnaryOp};
use super::super::types::{BasicType, Scalar};
use super::*;
use shadewright_base::text::diagnostics::closest;

/// Numbers that the language names (RTSL §3.2).
const CONSTANTS: [(&str, f32); 3] =
    [("PI", std::f32::consts::PI), ("FLT_MIN", f32::MIN_POSITIVE), ("FLT_MAX", f32::MAX)];

/// Whole numbers that it names.
const INTEGERS: [(&str, i32); 2] = [("INT_MIN", i32::MIN), ("INT_MAX", i32::MAX)];

/// The names of the language's constants.
pub(super) fn constant_names() -> impl Iterator<Item = &'static str> {
    CONSTANTS.iter().map(|c| c.0).chain(INTEGERS.iter().map(|c| c.0))
}

impl<'a> Body<'a> {
    /// The value of an expression.
    pub(super) fn value(&mut self, e: ExprId) -> Lower<Typed> {
        let span = self.file().ast.expr(e).span;
        self.deeper(span, |body| body.value_here(e))
    }

    fn value_here(&mut self, e: ExprId) -> Lower<Typed> {
        if self.is_too_large {
            return Err(Poison);
        }
        if self.b.function().values.len() > MAX_VALUES {
            self.is_too_large = true;
            let span = self.file().ast.expr(e).span;
            let d = Diagnostic::error("this method is too large after inlining")
                .at(span, format!("more than {MAX_VALUES} values here"));
            return self.error(d.hint("functions are inlined: call large ones in fewer places, or in loops"));
        }
        let file = self.file();
        let expr = file.ast.expr(e);
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(x) => Ok(self.int(*x as i32)),
            ExprKind::Float(x) => Ok(self.float(*x)),
            ExprKind::Bool(x) => {
                let value = self.b.bool(*x);
                Ok(Typed { ty: Type::BOOL, parts: vec![value], known: None })
            }
            ExprKind::String(string) => {
                let value = self.b.constant(Const::String(string.clone()));
                if string.is_empty() {
                    self.empty.insert(value);
                }
                Ok(Typed { ty: Type::STRING, parts: vec![value], known: None })
            }
            ExprKind::Null => Ok(self.handle(None, &Type::Object(Reference::Null))),
            ExprKind::This => match (self.top().object, self.top().class) {
                (Some(object), Some(class)) => Ok(self.handle(Some(object), &Type::Object(Reference::Class(class)))),
                _ => self.error(Diagnostic::error("`this` outside of a method").at(span, "not in a method")),
            },
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Unary(op, a) => {
                let value = self.value(*a)?;
                self.at(span);
                self.unary(*op, value, span)
            }
            ExprKind::Step { place, up, before } => {
                let target = self.place(*place, true)?;
                let old = self.read(&target);
                let one = self.int(1);
                let op = if *up { BinaryOp::Add } else { BinaryOp::Sub };
                let new = self.binary(op, old.clone(), one, span)?;
                self.write(&target, Typed { known: None, ..new.clone() });
                Ok(Typed { known: None, ..if *before { new } else { old } })
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), l, r) => self.logical(*op == BinaryOp::And, *l, *r),
            ExprKind::Binary(..) => self.chain(e),
            ExprKind::Ternary(c, a, b) => self.ternary(*c, *a, *b, span),
            ExprKind::Assign(op, place, e) => {
                let target = self.place(*place, true)?;
                let value = match op {
                    None => self.value(*e)?,
                    Some(op) => {
                        let right = self.value(*e)?;
                        let old = self.read(&target);
                        self.at(span);
                        self.binary(*op, old, right, span)?
                    }
                };
                let value = self.fitted(value, &target.ty, file.ast.expr(*e).span)?;
                self.at(span);
                self.write(&target, Typed { known: None, ..value.clone() });
                Ok(Typed { known: None, ..value })
            }
            ExprKind::Sequence(a, b) => {
                self.value(*a)?;
                self.value(*b)
            }
            ExprKind::Index(of, index) => {
                if self.is_place(e) {
                    let place = self.place(e, false)?;
                    return Ok(self.read(&place));
                }
                let value = self.value(*of)?;
                let number = self.value(*index)?;
                self.element_of(value, number, file.ast.expr(*index).span)
            }
            ExprKind::Member(of, name) => {
                if self.is_place(e) {
                    let whole = matches!(file.ast.expr(*of).kind, ExprKind::This) || !self.is_object(*of)?;
                    if whole {
                        let place = self.place(e, false)?;
                        return Ok(self.read(&place));
                    }
                }
                let value = self.value(*of)?;
                match value.ty {
                    Type::Object(reference) => self.field_of(value, reference, name),
                    _ => self.member_of(value, name),
                }
            }
            ExprKind::Call(name, args) => self.call_expr(name, args, span),
            ExprKind::Construct(ty, args) => self.construct(ty, args, span),
            ExprKind::Method(of, name, args) => self.method_call(*of, name, args, span),
        }
    }

    /// True if an expression is a variable or a part of one.
    fn is_place(&self, e: ExprId) -> bool {
        let ast = &self.file().ast;
        let mut at = e;
        loop {
            match &ast.expr(at).kind {
                ExprKind::Name(name) => return self.is_variable(name),
                ExprKind::This => return true,
                ExprKind::Index(of, _) | ExprKind::Member(of, _) => at = *of,
                _ => return false,
            }
        }
    }

    /// True if a place is a reference to an object.
    fn is_object(&mut self, e: ExprId) -> Lower<bool> {
        match self.file().ast.expr(e).kind {
            ExprKind::This => Ok(true),
            _ => Ok(matches!(self.place(e, false)?.ty, Type::Object(_))),
        }
    }

    pub(super) fn int(&mut self, x: i32) -> Typed {
        Typed { ty: Type::INT, parts: vec![self.b.i32(x)], known: Some(x) }
    }

    fn name(&mut self, name: &Arc<str>, span: Span) -> Lower<Typed> {
        if self.is_variable(name) {
            let known = self.known_local(name);
            let place = self.named(name, span, false)?;
            let value = self.read(&place);
            return Ok(Typed { known, ..value });
        }
        if let Some(&(_, x)) = CONSTANTS.iter().find(|c| c.0 == &**name) {
            return Ok(self.float(x));
        }
        if let Some(&(_, x)) = INTEGERS.iter().find(|c| c.0 == &**name) {
            return Ok(self.int(x));
        }
        let file = self.file();
        if let Some(v) = file.ast.constants.iter().find(|c| c.name.name == *name) {
            return self.file_constant(v);
        }
        self.unknown_name(name, span)
    }

    /// The value of a constant before the first class.
    fn file_constant(&mut self, v: &'a super::super::ast::Variable) -> Lower<Typed> {
        let file = self.file();
        let Some(init) = v.init else {
            let d = Diagnostic::error(format!("the constant `{}` has no initial value", v.name.name));
            return self.error(d.at(v.name.span, "a `const` variable is initialized where it is declared"));
        };
        if self.frames.len() > MAX_CALLS {
            let d = Diagnostic::error(format!("the constant `{}` depends on itself", v.name.name));
            return self.error(d.at(v.name.span, "declared here"));
        }
        self.frames.push(self.frame(file, None, None, None, Role::Constructor));
        let value = self.type_of_name(&v.ty).and_then(|ty| self.value_as(init, &ty));
        self.frames.pop();
        value
    }

    fn known_local(&self, name: &str) -> Option<i32> {
        let frame = self.top();
        let local = frame.scopes.iter().rev().find_map(|s| s.get(name)).cloned();
        local.or_else(|| self.field(frame.object?, name))?.known
    }

    /// The value of an expression as one of a type.
    pub(super) fn value_as(&mut self, e: ExprId, ty: &Type) -> Lower<Typed> {
        let value = self.value(e)?;
        let span = self.file().ast.expr(e).span;
        self.fitted(value, ty, span)
    }

    /// The value as one of a type, or an error.
    pub(super) fn fitted(&mut self, value: Typed, ty: &Type, span: Span) -> Lower<Typed> {
        let given = value.ty.clone();
        if let Some(value) = self.converted(value, ty) {
            return Ok(value);
        }
        let d = Diagnostic::error(format!("expected `{}`, found `{}`", self.describe(ty), self.describe(&given)));
        let d = d.at(span, format!("expected `{}`", self.describe(ty)));
        self.error(match (given.basic(), ty.basic()) {
            (Some(a), Some(b)) if ![a, b].iter().any(|t| matches!(t, BasicType::Void | BasicType::String)) => {
                d.hint(format!("`{}(…)` converts it", self.describe(ty)))
            }
            _ => d,
        })
    }

    /// A condition.
    pub(super) fn condition(&mut self, e: ExprId) -> Lower<Value> {
        let value = self.value(e)?;
        if value.ty == Type::BOOL {
            return Ok(value.parts[0]);
        }
        let span = self.file().ast.expr(e).span;
        let d = Diagnostic::error(format!("a condition must be a `bool`, not a `{}`", self.describe(&value.ty)));
        let d = d.at(span, "tested here");
        let hint = match value.ty.basic() {
            Some(BasicType::Vector(Scalar::Bool, _)) => "`all(…)` or `any(…)` reduces several to one",
            _ => "compare it: `x != 0.0`",
        };
        self.error(d.hint(hint))
    }

    /// True if computing an expression changes nothing and takes little, so that it may be computed
    /// where it is not needed.
    fn is_simple(&self, e: ExprId) -> bool {
        let ast = &self.file().ast;
        let mut work = vec![e];
        let mut count = 0;
        while let Some(e) = work.pop() {
            count += 1;
            let kind = &ast.expr(e).kind;
            let acts = matches!(kind, ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Method(..));
            let calls = matches!(kind, ExprKind::Call(name, _) if !super::super::builtins::is_simple(&name.name)
                || !self.file().functions(self.top().class, &name.name).is_empty());
            if acts || calls || count > 16 {
                return false;
            }
            kind.for_each_child(|c| work.push(c));
        }
        true
    }

    /// `a && b`, `a || b`: the second is computed only where it counts.
    fn logical(&mut self, is_and: bool, l: ExprId, r: ExprId) -> Lower<Typed> {
        let left = self.condition(l)?;
        let value = if self.is_simple(r) {
            let right = self.condition(r)?;
            self.b.op(if is_and { Op::And } else { Op::Or }, &[left, right])
        } else {
            let result = self.b.variable(ir::Type::Bool);
            self.b.write(result, left);
            let need = if is_and { left } else { self.b.not(left) };
            self.branches(
                need,
                |body| {
                    let right = body.condition(r)?;
                    body.b.write(result, right);
                    Ok(())
                },
                |_| Ok(()),
            )?;
            self.b.read(result)
        };
        Ok(Typed { ty: Type::BOOL, parts: vec![value], known: None })
    }

    fn ternary(&mut self, c: ExprId, a: ExprId, b: ExprId, span: Span) -> Lower<Typed> {
        let condition = self.condition(c)?;
        if self.is_simple(a) && self.is_simple(b) {
            let (x, y) = (self.value(a)?, self.value(b)?);
            let ty = self.common(&x.ty, &y.ty, span)?;
            let (x, y) = (self.fitted(x, &ty, span)?, self.fitted(y, &ty, span)?);
            let parts = x.parts.iter().zip(&y.parts).map(|(&x, &y)| self.b.select(condition, x, y)).collect();
            return Ok(Typed { ty, parts, known: None });
        }
        let (yes, no, end) = (self.b.block(), self.b.block(), self.b.block());
        self.b.branch(condition, yes, no);
        self.b.seal(yes);
        self.b.seal(no);
        self.b.switch_to(yes);
        let x = self.value(a)?;
        let after_yes = self.b.current();
        self.b.switch_to(no);
        let y = self.value(b)?;
        let after_no = self.b.current();
        let ty = self.common(&x.ty, &y.ty, span)?;
        self.b.switch_to(after_yes);
        let result = self.new_local(ty.clone(), span);
        let x = self.fitted(x, &ty, span)?;
        self.write_local(&result, x);
        self.b.jump(end, Vec::new());
        self.b.switch_to(after_no);
        let y = self.fitted(y, &ty, span)?;
        self.write_local(&result, y);
        self.b.jump(end, Vec::new());
        self.b.enter(end);
        Ok(self.read_local(&result))
    }

    /// The type to which both of two values become.
    fn common(&mut self, a: &Type, b: &Type, span: Span) -> Lower<Type> {
        if self.conversion(b, a).is_some() {
            return Ok(a.clone());
        }
        if self.conversion(a, b).is_some() {
            return Ok(b.clone());
        }
        let d = Diagnostic::error(format!(
            "operands of different types: `{}` and `{}`",
            self.describe(a),
            self.describe(b)
        ));
        self.error(d.at(span, "no common type"))
    }

    /// A left-leaning chain of operators, without recursion.
    fn chain(&mut self, e: ExprId) -> Lower<Typed> {
        let ast = &self.file().ast;
        let mut links = Vec::new();
        let mut at = e;
        while let ExprKind::Binary(op, l, r) = &ast.expr(at).kind {
            if matches!(op, BinaryOp::And | BinaryOp::Or) {
                break;
            }
            links.push((*op, *r, ast.expr(at).span));
            at = *l;
        }
        let mut left = self.value(at)?;
        for (op, right, span) in links.into_iter().rev() {
            let right = self.value(right)?;
            self.at(span);
            left = self.binary(op, left, right, span)?;
        }
        Ok(left)
    }

    fn unary(&mut self, op: UnaryOp, value: Typed, span: Span) -> Lower<Typed> {
        let scalar = value.ty.basic().and_then(BasicType::scalar);
        let parts = match (op, scalar) {
            (UnaryOp::Neg, Some(Scalar::Float)) => value.parts.iter().map(|&x| self.b.neg(x)).collect(),
            (UnaryOp::Neg, Some(Scalar::Int)) => {
                if let Some(x) = value.known {
                    return Ok(self.int(x.wrapping_neg()));
                }
                let zero = self.b.i32(0);
                value.parts.iter().map(|&x| self.b.isub(zero, x)).collect()
            }
            (UnaryOp::Not, Some(Scalar::Bool)) if value.ty == Type::BOOL => {
                vec![self.b.not(value.parts[0])]
            }
            (UnaryOp::Complement, Some(Scalar::Int)) => {
                let ones = self.b.i32(-1);
                value.parts.iter().map(|&x| self.b.ixor(x, ones)).collect()
            }
            _ => {
                let sign = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::Complement => "~",
                };
                let d = Diagnostic::error(format!("no operator `{sign}` for `{}`", self.describe(&value.ty)));
                let d = d.at(span, "operand of this type");
                let d = if op == UnaryOp::Not { d.hint("`not(v)` is for vectors of `bool`") } else { d };
                return self.error(d);
            }
        };
        Ok(Typed { parts, known: None, ..value })
    }

    /// A public variable of an object that a reference refers to.
    fn field_of(&mut self, value: Typed, reference: Reference, name: &Ident) -> Lower<Typed> {
        let file = self.file();
        let Reference::Class(class) = reference else {
            let d = Diagnostic::error(format!("the variables of a `{}` are not known", self.describe(&value.ty)));
            return self.error(
                d.at(name.span, "its class is not known").hint("declare the reference with the name of its class"),
            );
        };
        let number = (0..file.classes[class].variables.len()).find(|&i| file.variable(class, i).name.name == name.name);
        let Some(variable) = number.map(|i| file.variable(class, i)) else {
            let d = Diagnostic::error(format!("`{}` has no variable `{}`", file.class_name(class), name.name));
            return self.error(d.at(name.span, "not declared"));
        };
        if !matches!(variable.qualifier, Qualifier::Public | Qualifier::Const) {
            let d = Diagnostic::error(format!(
                "the variable `{}` of `{}` is not public",
                name.name,
                file.class_name(class)
            ));
            return self
                .error(d.at(name.span, "a variable of another object").also(variable.name.span, "declared here"));
        }
        let ty = self.type_of_name(&variable.ty)?;
        let candidates = self.candidates(&value);
        let mut result = self.zero(&ty);
        for number in candidates {
            let Some(field) = self.field(number, &name.name) else { continue };
            let own = self.read_local(&field);
            let this = self.b.u32(number as u32 + 1);
            let is_it = self.b.ieq(value.parts[0], this);
            let parts = own.parts.iter().zip(&result.parts);
            let parts = parts.map(|(&x, &y)| self.b.select(is_it, x, y)).collect::<Vec<_>>();
            result = Typed { ty: ty.clone(), parts, known: None };
        }
        Ok(result)
    }

    /// Reports that no variable has that name.
    pub(super) fn unknown_name<T>(&mut self, name: &str, span: Span) -> Lower<T> {
        let frame = self.top();
        let d = Diagnostic::error(format!("unknown variable `{name}`")).at(span, "not declared");
        let mut names: Vec<&str> = frame.scopes.iter().flat_map(|s| s.keys()).map(|n| &**n).collect();
        let file = frame.file;
        if let Some(class) = frame.class {
            names.extend((0..file.classes[class].variables.len()).map(|i| &*file.variable(class, i).name.name));
        }
        state::VARIABLES.iter().map(|v| v.name).chain(constant_names()).for_each(|name| names.push(name));
        let guess = closest(name, names);
        let with_prefix = format!("rt_{name}");
        let d = match guess {
            Some(guess) => d.hint(format!("did you mean `{guess}`?")),
            None if state::find(&with_prefix).is_some() => d.hint(format!("did you mean `{with_prefix}`?")),
            None => d,
        };
        self.error(d)
    }
}
