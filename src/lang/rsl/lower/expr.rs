//! Expressions.

use super::super::check::{self, Resolution};
use super::super::globals::Space;
use super::super::matrices;
use super::super::program::Callee;
use super::*;

/// Size up to which an expression without calls is computed always rather than skipped by a jump.
const CHEAP: usize = 12;

/// Most candidates that an error lists.
const MAX_LISTED: usize = 8;

impl<'a> Body<'_, 'a> {
    fn ast(&self) -> &'a Ast {
        self.cx.program.ast
    }

    fn span(&self, e: ExprId) -> Span {
        self.ast().expr(e).span
    }

    fn constant(&mut self, c: Const, ty: RslType) -> Typed {
        Typed { value: self.b.constant(c), ty, class: Class::Constant }
    }

    /// An expression for its effect.
    pub(super) fn effect(&mut self, e: ExprId) -> Lower<()> {
        self.value(e, None).map(|_| ())
    }

    /// The value of `e` as a truth value.
    pub(super) fn condition(&mut self, e: ExprId) -> Lower<Value> {
        let v = self.value(e, None)?;
        if !check::condition(v.ty) {
            let d = Diagnostic::error(format!("a condition is a comparison or a float, not a {}", v.ty));
            return self.error(d.at(self.span(e), format!("this is a {}", v.ty)));
        }
        Ok(self.convert(v, RslType::Bool).value)
    }

    /// The value of `e` converted to `ty`, as assignments, parameters and `return` convert.
    pub(super) fn value_as(&mut self, e: ExprId, ty: RslType) -> Lower<Typed> {
        let v = self.value(e, Some(ty))?;
        if v.ty.conversion(ty).is_none() {
            let mut d = Diagnostic::error(format!("expected {}, found {}", article(ty), article(v.ty)))
                .at(self.span(e), format!("this is {}", article(v.ty)));
            if v.ty.casts_to(ty) {
                d = d.hint(format!("a cast says that it is meant: `{ty} (…)`"));
            } else if v.ty.is_triple() && ty == RslType::Float {
                d = d.hint("`comp(…, 0)` or `xcomp(…)` takes one component, `length(…)` the length");
            }
            return self.error(d);
        }
        Ok(self.convert(v, ty))
    }

    /// Converts between types that [`RslType::conversion`] joins.
    fn convert(&mut self, v: Typed, ty: RslType) -> Typed {
        let value = match (v.ty, ty) {
            (RslType::Float, t) if t.is_triple() => self.b.op_as(Op::Splat, &[v.value], Type::Vec3),
            (RslType::Float, RslType::Matrix) => matrices::diagonal(&mut self.b, v.value),
            (RslType::Bool, RslType::Float) => {
                let (one, zero) = (self.b.f32(1.0), self.b.f32(0.0));
                self.b.op(Op::Select, &[v.value, one, zero])
            }
            (RslType::Float, RslType::Bool) => {
                let zero = self.b.f32(0.0);
                self.b.op(Op::Ne, &[v.value, zero])
            }
            _ => v.value,
        };
        Typed { value, ty, class: v.class }
    }

    /// The value of `e` where type `wanted` is wanted; it may have another type.
    fn value(&mut self, e: ExprId, wanted: Option<RslType>) -> Lower<Typed> {
        let expr = self.ast().expr(e);
        self.at(expr.span);
        match &expr.kind {
            ExprKind::Number(x) => Ok(self.constant(Const::F32(*x), RslType::Float)),
            ExprKind::String(s) => Ok(self.constant(Const::String(s.clone()), RslType::String)),
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Unary(op, a) => self.unary(*op, *a, wanted, expr.span),
            ExprKind::Binary(..) => self.chain(e, wanted),
            ExprKind::Ternary(c, a, b) => self.ternary(*c, *a, *b, wanted, expr.span),
            ExprKind::Tuple(list) => self.tuple(e, list, wanted),
            ExprKind::Cast(ty, space, inner) => self.cast(*ty, space.as_ref(), *inner, expr.span),
            ExprKind::Assign(op, target, value) => self.assignment(*op, target, *value, expr.span),
            ExprKind::Call(f, args) => self.call(e, f, args, wanted),
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Lower<Typed> {
        match self.scopes.find(name).cloned() {
            Some(var) => Ok(Typed { value: self.b.read(var.storage), ty: var.ty, class: var.class }),
            None if name == "PI" => Ok(self.constant(Const::F32(std::f32::consts::PI), RslType::Float)),
            None => self.unknown_name(name, span),
        }
    }

    fn unary(&mut self, op: UnaryOp, a: ExprId, wanted: Option<RslType>, span: Span) -> Lower<Typed> {
        if op == UnaryOp::Not {
            let value = self.condition(a)?;
            self.at(span);
            return Ok(Typed { value: self.b.op(Op::Not, &[value]), ty: RslType::Bool, class: Class::Varying });
        }
        let v = self.value(a, wanted)?;
        if v.ty != RslType::Float && !v.ty.is_triple() {
            let d = Diagnostic::error(format!("`-` cannot be applied to {}", article(v.ty)));
            return self.error(d.at(span, format!("this is {}", article(v.ty))));
        }
        self.at(span);
        Ok(Typed { value: self.b.op(Op::Neg, &[v.value]), ..v })
    }

    fn tuple(&mut self, e: ExprId, list: &[ExprId], wanted: Option<RslType>) -> Lower<Typed> {
        let ty = wanted.filter(|w| w.is_triple()).unwrap_or(RslType::Vector);
        let mut class = Class::Constant;
        let mut values = Vec::new();
        for &part in list {
            let v = self.value_as(part, RslType::Float);
            values.push(v.map(|v| {
                class = class.max(v.class);
                v.value
            }));
        }
        let values = values.into_iter().collect::<Lower<Vec<_>>>()?;
        self.at(self.span(e));
        if values.len() == 16 {
            return Ok(Typed { value: matrices::of_numbers(&mut self.b, &values), ty: RslType::Matrix, class });
        }
        Ok(Typed { value: self.b.op(Op::Compose, &values), ty, class })
    }

    // --- operators ---

    /// A chain of operators, from the left, without recursion: it may be very long.
    fn chain(&mut self, e: ExprId, wanted: Option<RslType>) -> Lower<Typed> {
        let (first, links) = check::chain(self.ast(), e);
        let wants = self.checker.chain_wants(&self.scopes, &links, wanted);
        let mut left = self.value(first, wants.first)?;
        for (&(whole, op, right), &want) in links.iter().zip(&wants.links) {
            if matches!(op, BinaryOp::And | BinaryOp::Or) && check::condition(left.ty) && !self.is_cheap(right) {
                left = self.short_circuit(op, left, right)?;
                continue;
            }
            let right = self.value(right, check::right_want(op, want, left.ty))?;
            self.at(self.span(whole));
            left = self.binary(op, left, right, self.span(whole))?;
        }
        Ok(left)
    }

    /// Whether `e` may be computed in vain: it is small and calls nothing and changes nothing.
    fn is_cheap(&self, e: ExprId) -> bool {
        let mut list = vec![e];
        let mut seen = 0;
        while let Some(e) = list.pop() {
            seen += 1;
            let kind = &self.ast().expr(e).kind;
            if seen > CHEAP || matches!(kind, ExprKind::Call(..) | ExprKind::Assign(..)) {
                return false;
            }
            kind.for_each_child(|c| list.push(c));
        }
        true
    }

    fn short_circuit(&mut self, op: BinaryOp, left: Typed, right: ExprId) -> Lower<Typed> {
        let left = self.convert(left, RslType::Bool);
        let result = self.b.variable(Type::Bool);
        self.b.write(result, left.value);
        let (more, end) = (self.b.block(), self.b.block());
        match op {
            BinaryOp::And => self.b.branch(left.value, more, end),
            _ => self.b.branch(left.value, end, more),
        }
        self.b.seal(more);
        self.b.switch_to(more);
        let value = self.condition(right);
        if let Ok(value) = value {
            self.b.write(result, value);
        }
        self.b.jump(end, Vec::new());
        self.b.seal(end);
        self.b.switch_to(end);
        value?;
        Ok(Typed { value: self.b.read(result), ty: RslType::Bool, class: Class::Varying })
    }

    fn binary(&mut self, op: BinaryOp, l: Typed, r: Typed, span: Span) -> Lower<Typed> {
        let Some(ty) = check::binary_type(op, l.ty, r.ty) else {
            return self.no_operator(op, l.ty, r.ty, span);
        };
        let class = l.class.max(r.class);
        let value = match op {
            _ if ty == RslType::Matrix => self.matrix_product(op, l, r),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => self.arithmetic(op, l, r),
            BinaryOp::Dot | BinaryOp::Cross => {
                let [a, b] = [l, r].map(|v| self.convert(v, RslType::Vector).value);
                self.b.op(if op == BinaryOp::Dot { Op::Dot } else { Op::Cross }, &[a, b])
            }
            BinaryOp::Lt => self.b.op(Op::Lt, &[l.value, r.value]),
            BinaryOp::Le => self.b.op(Op::Le, &[l.value, r.value]),
            BinaryOp::Gt => self.b.op(Op::Lt, &[r.value, l.value]),
            BinaryOp::Ge => self.b.op(Op::Le, &[r.value, l.value]),
            BinaryOp::Eq | BinaryOp::Ne => self.equality(op, l, r),
            BinaryOp::And | BinaryOp::Or => {
                let [a, b] = [l, r].map(|v| self.convert(v, RslType::Bool).value);
                self.b.op(if op == BinaryOp::And { Op::And } else { Op::Or }, &[a, b])
            }
        };
        Ok(Typed { value, ty, class })
    }

    fn arithmetic(&mut self, op: BinaryOp, l: Typed, r: Typed) -> Value {
        let wide = l.ty.is_triple() || r.ty.is_triple();
        // a / b is a · (1 / b): one reciprocal even where b becomes a triple.
        let right = if op == BinaryOp::Div { self.b.op(Op::Rcp, &[r.value]) } else { r.value };
        let widen = |body: &mut Self, value: Value, ty: RslType| match ty {
            RslType::Float if wide => body.b.op_as(Op::Splat, &[value], Type::Vec3),
            _ => value,
        };
        let left = widen(self, l.value, l.ty);
        let right = widen(self, right, r.ty);
        let op = match op {
            BinaryOp::Add => Op::Add,
            BinaryOp::Sub => Op::Sub,
            _ => Op::Mul,
        };
        self.b.op(op, &[left, right])
    }

    /// A product or quotient with a matrix in it: `a / b` is a times the inverse of b.
    fn matrix_product(&mut self, op: BinaryOp, l: Typed, r: Typed) -> Value {
        let b = &mut self.b;
        let right = match (op, r.ty) {
            (BinaryOp::Div, RslType::Matrix) => matrices::inverse(b, r.value),
            (BinaryOp::Div, _) => b.op(Op::Rcp, &[r.value]),
            _ => r.value,
        };
        match (l.ty, r.ty) {
            (RslType::Matrix, RslType::Matrix) => matrices::product(b, l.value, right),
            (RslType::Matrix, _) => matrices::times(b, l.value, right),
            _ => matrices::times(b, right, l.value),
        }
    }

    fn equality(&mut self, op: BinaryOp, l: Typed, r: Typed) -> Value {
        let ty = check::joined(l.ty, r.ty).unwrap_or(l.ty);
        let [a, b] = [l, r].map(|v| self.convert(v, ty).value);
        let equal = match ty {
            RslType::Float if op == BinaryOp::Ne => return self.b.op(Op::Ne, &[a, b]),
            RslType::Float => self.b.op(Op::Eq, &[a, b]),
            t if t.is_triple() => {
                let [x, y, z] = [0, 1, 2].map(|lane| {
                    let [a, b] = [a, b].map(|v| self.b.op(Op::Extract(lane), &[v]));
                    self.b.op(Op::Eq, &[a, b])
                });
                let xy = self.b.op(Op::And, &[x, y]);
                self.b.op(Op::And, &[xy, z])
            }
            RslType::Matrix => matrices::equal(&mut self.b, a, b),
            _ => self.b.op(Op::IEq, &[a, b]),
        };
        if op == BinaryOp::Ne { self.b.op(Op::Not, &[equal]) } else { equal }
    }

    fn no_operator<T>(&mut self, op: BinaryOp, l: RslType, r: RslType, span: Span) -> Lower<T> {
        let message = format!("`{}` cannot join {} and {}", op.symbol(), article(l), article(r));
        let mut d = Diagnostic::error(message).at(span, "these do not go together");
        let compares = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
        if l == RslType::Matrix || r == RslType::Matrix {
            d = d.hint("matrices can be multiplied, divided and tested for equality; `transform` applies one");
        } else if compares && (l.is_triple() || r.is_triple()) {
            d = d.hint("compare lengths or components");
        } else if l.is_triple() && r.is_triple() {
            d = d.hint(format!("a cast says what is meant: `{l} (…)`"));
        }
        self.error(d)
    }

    fn ternary(
        &mut self,
        condition: ExprId,
        a: ExprId,
        b: ExprId,
        wanted: Option<RslType>,
        span: Span,
    ) -> Lower<Typed> {
        let test = self.condition(condition);
        let (want_a, want_b) = self.checker.branch_wants(&self.scopes, a, b, wanted);
        let cheap = self.is_cheap(a) && self.is_cheap(b);
        let types = (self.checker.type_of(&self.scopes, a, want_a), self.checker.type_of(&self.scopes, b, want_b));
        let (Some(left), Some(right)) = types else {
            // One of them has an error: this finds and reports it.
            self.value(a, want_a)?;
            self.value(b, want_b)?;
            return Err(Poison);
        };
        let Some(ty) = check::joined(left, right) else {
            let message = format!("`?:` cannot choose between {} and {}", article(left), article(right));
            return self.error(Diagnostic::error(message).at(span, "the two values need one type"));
        };
        let test = test?;
        if cheap {
            let x = self.value(a, want_a)?;
            let y = self.value(b, want_b)?;
            self.at(span);
            let class = x.class.max(y.class).max(Class::Uniform);
            let [x, y] = [x, y].map(|v| self.convert(v, ty).value);
            return Ok(Typed { value: self.b.op(Op::Select, &[test, x, y]), ty, class });
        }
        let Some(ir) = ty.ir() else {
            let d = Diagnostic::error("`?:` needs values").at(span, "these have none");
            return self.error(d.hint("`if` chooses between statements"));
        };
        let result = self.b.variable(ir);
        let (yes, no, end) = (self.b.block(), self.b.block(), self.b.block());
        self.b.branch(test, yes, no);
        let mut class = Class::Uniform;
        let mut failed = false;
        for (block, e, want) in [(yes, a, want_a), (no, b, want_b)] {
            self.b.seal(block);
            self.b.switch_to(block);
            match self.value(e, want) {
                Ok(v) => {
                    class = class.max(v.class);
                    let v = self.convert(v, ty);
                    self.b.write(result, v.value);
                }
                Err(Poison) => failed = true,
            }
            self.b.jump(end, Vec::new());
        }
        self.b.seal(end);
        self.b.switch_to(end);
        if failed {
            return Err(Poison);
        }
        Ok(Typed { value: self.b.read(result), ty, class })
    }

    // --- casts ---

    fn cast(&mut self, ty: RslType, space: Option<&Ident>, inner: ExprId, span: Span) -> Lower<Typed> {
        let v = self.value(inner, Some(ty))?;
        if !v.ty.casts_to(ty) {
            let message = format!("{} cannot become {}", article(v.ty), article(ty));
            return self.error(Diagnostic::error(message).at(span, "in this cast"));
        }
        self.at(span);
        let v = if v.ty.is_triple() && ty.is_triple() { Typed { ty, ..v } } else { self.convert(v, ty) };
        let Some(space) = space else { return Ok(v) };
        match ty {
            RslType::Color if &*space.name == "rgb" => Ok(v),
            t if t.is_spatial() => self.place_in_space(v, space),
            _ => {
                let message = format!("{ty} in the space \"{}\" is not supported yet", space.name);
                self.error(Diagnostic::error(message).at(space.span, "this space"))
            }
        }
    }

    /// A point, vector or normal given in a named space, in the current one.
    fn place_in_space(&mut self, v: Typed, space: &Ident) -> Lower<Typed> {
        let axes = match globals::space(&space.name) {
            Some(Space::Current) => return Ok(v),
            Some(Space::Input(names)) => {
                let mut axes = Vec::new();
                for name in names {
                    let Some(var) = self.scopes.globals.get(name).cloned() else {
                        let d = Diagnostic::error(format!("there is no \"{}\" space here", space.name));
                        return self.error(d.at(space.span, "this space"));
                    };
                    axes.push(self.b.read(var.storage));
                }
                axes
            }
            Some(Space::Camera) => (2..6).map(|k| self.uniform_triple(k)).collect(),
            None => {
                let d = Diagnostic::error(format!("the coordinate system \"{}\" is not supported yet", space.name))
                    .at(space.span, "not known here")
                    .hint("known are \"current\", \"world\", \"shader\", \"object\" and \"camera\"");
                return self.error(d);
            }
        };
        let class = v.class.max(Class::Uniform);
        if v.ty == RslType::Normal {
            return Ok(Typed {
                value: matrices::normal(&mut self.b, [axes[0], axes[1], axes[2]], v.value),
                class,
                ..v
            });
        }
        let [x, y, z] = [(0, axes[0]), (1, axes[1]), (2, axes[2])].map(|(lane, axis)| {
            let part = self.b.op(Op::Extract(lane), &[v.value]);
            let part = self.b.op_as(Op::Splat, &[part], Type::Vec3);
            self.b.op(Op::Mul, &[part, axis])
        });
        let sum = self.b.op(Op::Add, &[x, y]);
        let mut sum = self.b.op(Op::Add, &[sum, z]);
        if v.ty == RslType::Point {
            sum = self.b.op(Op::Add, &[sum, axes[3]]);
        }
        Ok(Typed { value: sum, ty: v.ty, class })
    }

    /// The first three components of a program constant.
    fn uniform_triple(&mut self, k: u32) -> Value {
        let vector = self.b.op(Op::Uniform(k), &[]);
        let parts = [0, 1, 2].map(|lane| self.b.op(Op::Extract(lane), &[vector]));
        self.b.op(Op::Compose, &parts)
    }

    // --- assignments ---

    /// Refuses a value that may differ from point to point for a variable declared `uniform`.
    pub(super) fn check_class(&mut self, name: &str, var: &Var, value: Typed, span: Span) -> Lower<()> {
        if !var.strict || value.class != Class::Varying {
            return Ok(());
        }
        let mut d = Diagnostic::error(format!("a varying value cannot go to the uniform variable `{name}`"))
            .at(span, "this value may differ from point to point");
        if let Some(declared) = var.declared {
            d = d.also(declared, "declared `uniform` here");
        }
        self.error(d.hint(format!("declare `{name}` as `varying`")))
    }

    fn assignment(&mut self, op: Option<BinaryOp>, target: &Ident, e: ExprId, span: Span) -> Lower<Typed> {
        let Some(var) = self.scopes.find(&target.name).cloned() else {
            let _: Lower<Typed> = self.value(e, None);
            return self.unknown_name(&target.name, target.span);
        };
        let value = match op {
            None => self.value_as(e, var.ty)?,
            Some(op) => {
                let right = self.value(e, Some(var.ty))?;
                self.at(span);
                let left = Typed { value: self.b.read(var.storage), ty: var.ty, class: var.class };
                let v = self.binary(op, left, right, span)?;
                if v.ty.conversion(var.ty).is_none() {
                    let d = Diagnostic::error(format!("expected {}, found {}", article(var.ty), article(v.ty)));
                    return self.error(d.at(span, format!("this gives {}", article(v.ty))));
                }
                self.convert(v, var.ty)
            }
        };
        self.check_class(&target.name, &var, value, span)?;
        self.at(span);
        self.assign(&target.name, var.storage, value.value);
        Ok(value)
    }

    // --- calls ---

    fn call(&mut self, e: ExprId, f: &Ident, args: &[ExprId], wanted: Option<RslType>) -> Lower<Typed> {
        if let Some(special) = self.special_call(f, args) {
            return special;
        }
        let callee = match self.checker.resolve(&self.scopes, e, wanted) {
            Resolution::Callee(callee) => callee,
            other => return self.report_call(other, f, args),
        };
        self.cx.note(|notes| notes.call(f.span, callee));
        let program = self.cx.program;
        let params = program.params(callee, args.len()).unwrap_or_default();
        let mut values = Vec::new();
        let mut written: Vec<(Ident, Var)> = Vec::new();
        let mut class = Class::Constant;
        for (&arg, &(ty, output)) in args.iter().zip(&params) {
            let v = if output { self.output_argument(arg, f, &mut written) } else { self.value_as(arg, ty) }?;
            class = class.max(v.class);
            values.push(v.value);
        }
        self.at(self.span(e));
        let result = program.result(callee);
        let mut results = match callee {
            Callee::Builtin(b) => (b.emit)(&mut self.b, &values),
            Callee::Function(i) => {
                let info = &program.functions[i];
                let inputs = info.effects.inputs();
                if !inputs.is_empty() {
                    class = Class::Varying;
                }
                for name in inputs {
                    values.push(self.hidden_input(name, f)?);
                }
                let mut types: Vec<Type> = result.ir().into_iter().collect();
                let outputs = params.iter().filter(|p| p.1).map(|p| p.0);
                let globals = info.effects.writes.iter().filter_map(|g| globals::find(g)).map(|g| g.ty);
                types.extend(outputs.chain(globals).filter_map(RslType::ir));
                if info.library {
                    self.cx.needed.insert(i);
                }
                let mut results = self.b.call(info.ir_name.clone(), values, &types);
                let outside = results.split_off(results.len() - info.effects.writes.len());
                for (name, value) in info.effects.writes.iter().zip(outside) {
                    if let Some(var) = self.scopes.globals.get(name).cloned() {
                        self.assign(name, var.storage, value);
                    }
                }
                results
            }
        };
        let value = if result == RslType::Void { Value(u32::MAX) } else { results.remove(0) };
        for ((name, var), changed) in written.into_iter().zip(results) {
            self.check_class(&name.name, &var, Typed { value: changed, ty: var.ty, class }, name.span)?;
            self.assign(&name.name, var.storage, changed);
        }
        Ok(Typed { value, ty: result, class })
    }

    /// An argument that the function changes: it must be a variable.
    fn output_argument(&mut self, arg: ExprId, f: &Ident, written: &mut Vec<(Ident, Var)>) -> Lower<Typed> {
        let span = self.span(arg);
        let ExprKind::Name(name) = &self.ast().expr(arg).kind else {
            let d = Diagnostic::error(format!("`{}` changes this argument, so it must be a variable", f.name));
            return self.error(d.at(span, "not a variable"));
        };
        let Some(var) = self.scopes.find(name).cloned() else { return self.unknown_name(name, span) };
        let value = Typed { value: self.b.read(var.storage), ty: var.ty, class: var.class };
        written.push((Ident { name: name.clone(), span }, var));
        Ok(value)
    }

    /// The value here of a predefined variable that a called function uses.
    fn hidden_input(&mut self, name: &'static str, f: &Ident) -> Lower<Value> {
        if let Some(var) = self.scopes.globals.get(name).cloned() {
            return Ok(self.b.read(var.storage));
        }
        if name == "N" && self.shader == Some(ShaderKind::Volume) {
            return Ok(self.no_normal());
        }
        let place = self.shader.map_or("here".to_string(), |k| format!("in {} shaders", k.name()));
        let mut d = Diagnostic::error(format!("`{}` uses `{name}`, which there is not {place}", f.name))
            .at(f.span, "called here");
        if matches!(name, "L" | "Cl") {
            d = d.hint("call it inside of `illuminance`");
        }
        self.error(d)
    }

    /// Calls a function of the standard library that the compiler itself needs, with float arguments.
    pub(super) fn call_library(&mut self, name: &str, args: &[Value], span: Span) -> Lower<Value> {
        let program = self.cx.program;
        let floats = |c: &Callee| {
            program.result(*c) == RslType::Float
                && program.params(*c, args.len()).is_some_and(|p| p.iter().all(|p| *p == (RslType::Float, false)))
        };
        match program.callees(name, true).into_iter().find(floats) {
            Some(Callee::Builtin(b)) => Ok((b.emit)(&mut self.b, args)[0]),
            Some(Callee::Function(i)) => {
                self.cx.needed.insert(i);
                Ok(self.b.call(program.functions[i].ir_name.clone(), args.to_vec(), &[Type::F32])[0])
            }
            None => {
                self.error(Diagnostic::error(format!("the standard library lacks `{name}`")).at(span, "needed here"))
            }
        }
    }

    /// Calls that the compiler treats on their own: program constants (in the library) and changes of coordinate system.
    fn special_call(&mut self, f: &Ident, args: &[ExprId]) -> Option<Lower<Typed>> {
        let number = |e: &ExprId| match self.ast().expr(*e).kind {
            ExprKind::Number(x) => Some(x as u32),
            _ => None,
        };
        let numbers: Option<Vec<u32>> = args.iter().map(number).collect();
        match (&*f.name, numbers.as_deref()) {
            ("__uniform_float", Some(&[k, lane])) => {
                let vector = self.b.op(Op::Uniform(k), &[]);
                let value = self.b.op(Op::Extract(lane.min(3) as u8), &[vector]);
                Some(Ok(Typed { value, ty: RslType::Float, class: Class::Uniform }))
            }
            ("__uniform_color", Some(&[k])) => {
                Some(Ok(Typed { value: self.uniform_triple(k), ty: RslType::Color, class: Class::Uniform }))
            }
            ("transform" | "vtransform" | "ntransform", _) if matches!(args.len(), 2 | 3) => {
                Some(self.transform(f, args))
            }
            _ => None,
        }
    }

    /// `transform("from", "to", p)`, `transform("to", p)`, `transform(matrix, p)` and their relatives for vectors and normals.
    fn transform(&mut self, f: &Ident, args: &[ExprId]) -> Lower<Typed> {
        let ty = check::special_result(&f.name).ok_or(Poison)?;
        if let [m, v] = *args
            && self.checker.type_of(&self.scopes, m, None) == Some(RslType::Matrix)
        {
            let m = self.value_as(m, RslType::Matrix)?;
            let v = self.value_as(v, ty)?;
            self.at(f.span);
            let value = matrices::transform(&mut self.b, m.value, v.value, ty);
            return Ok(Typed { value, ty, class: m.class.max(v.class) });
        }
        let (last, spaces) = args.split_last().ok_or(Poison)?;
        let mut names = Vec::new();
        for &e in spaces {
            let ExprKind::String(name) = &self.ast().expr(e).kind else {
                let d = Diagnostic::error("a coordinate system named by anything but a constant is not supported yet");
                return self.error(d.at(self.span(e), "not a constant"));
            };
            names.push(Ident { name: name.clone(), span: self.span(e) });
        }
        let to = &names[names.len() - 1];
        if globals::space(&to.name) != Some(Space::Current) {
            let d = Diagnostic::error(format!("transforming to the space \"{}\" is not supported yet", to.name));
            return self.error(d.at(to.span, "this space").hint("\"current\" and \"world\" are"));
        }
        let v = self.value_as(*last, ty)?;
        self.at(f.span);
        match names.as_slice() {
            [from, _] => self.place_in_space(v, from),
            _ => Ok(v),
        }
    }

    /// Reports why a call means nothing.
    fn report_call<T>(&mut self, resolution: Resolution, f: &Ident, args: &[ExprId]) -> Lower<T> {
        // An argument with an error of its own explains the rest.
        let before = self.cx.diags.error_count();
        let types: Vec<Option<RslType>> = args.iter().map(|a| self.checker.type_of(&self.scopes, *a, None)).collect();
        for (&a, _) in args.iter().zip(&types).filter(|(_, t)| t.is_none()) {
            let _: Lower<Typed> = self.value(a, None);
        }
        if self.cx.diags.error_count() > before {
            return Err(Poison);
        }
        let words: Vec<&str> = types.iter().map(|t| t.map_or("?", RslType::name)).collect();
        let given = words.join(", ");
        let (message, label, candidates) = match resolution {
            Resolution::NoMatch(list) => {
                (format!("no function `{}` takes ({given})", f.name), "these arguments fit none", list)
            }
            Resolution::Tie(list) => {
                (format!("the call of `{}` with ({given}) is ambiguous", f.name), "several fit equally well", list)
            }
            Resolution::BadArgument => {
                (format!("no function `{}` takes ({given})", f.name), "these arguments fit none", Vec::new())
            }
            _ if self.cx.broken => return Err(Poison),
            _ => {
                let d = Diagnostic::error(format!("unknown function `{}`", f.name)).at(f.span, "not defined");
                let program = self.cx.program;
                let guess = closest(&f.name, program.callable_names());
                return self.error(match guess {
                    Some(guess) => d.hint(format!("did you mean `{guess}`?")),
                    None => d,
                });
            }
        };
        let mut d = Diagnostic::error(message).at(f.span, label);
        for &c in candidates.iter().take(MAX_LISTED) {
            d = d.hint(format!("there is {}", self.cx.program.describe(c)));
        }
        if candidates.len() > MAX_LISTED {
            d = d.hint(format!("and {} more", candidates.len() - MAX_LISTED));
        }
        self.error(d)
    }
}

/// The type's name as a sentence has it.
fn article(ty: RslType) -> String {
    match ty {
        RslType::Void => "no value".to_string(),
        _ => format!("a {ty}"),
    }
}
