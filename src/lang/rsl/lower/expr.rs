//! Expressions.

use super::super::check;
use super::super::matrices;
use super::arrays::NO_VALUE;
use super::*;

/// Size up to which an expression without calls is computed always rather than skipped by a jump.
const CHEAP: usize = 12;

impl<'a> Body<'_, 'a> {
    pub(super) fn ast(&self) -> &'a Ast {
        self.cx.program.ast
    }

    pub(super) fn span(&self, e: ExprId) -> Span {
        self.ast().expr(e).span
    }

    pub(super) fn constant(&mut self, c: Const, ty: SourceType) -> Typed {
        Typed { value: self.b.constant(c), ty, class: StorageClass::Constant }
    }

    /// An expression for its effect.
    pub(super) fn effect(&mut self, e: ExprId) -> Lower<()> {
        self.value(e, None).map(|_| ())
    }

    /// The value of `e` as a truth value.
    pub(super) fn condition(&mut self, e: ExprId) -> Lower<Value> {
        self.truth(e).map(|v| v.value)
    }

    /// The value of `e` as a truth value, with its class.
    fn truth(&mut self, e: ExprId) -> Lower<Typed> {
        let v = self.value(e, None)?;
        if !check::condition(v.ty) {
            let d = Diagnostic::error(format!("a condition must be a comparison or a float, not a {}", v.ty));
            return self.error(d.at(self.span(e), format!("this is a {}", v.ty)));
        }
        Ok(self.convert(v, SourceType::Bool))
    }

    /// The value of `e` converted to `ty`, as assignments, parameters and `return` convert.
    pub(super) fn value_as(&mut self, e: ExprId, ty: SourceType) -> Lower<Typed> {
        let mut v = self.value(e, Some(ty))?;
        if mixes_color(v.ty, ty) {
            self.warn_of_mixing(v.ty, ty, self.span(e));
            v.ty = ty;
        }
        if v.ty.conversion(ty).is_none() {
            let mut d = Diagnostic::error(format!("expected {}, found {}", article(ty), article(v.ty)))
                .at(self.span(e), format!("this is {}", article(v.ty)));
            if v.ty.casts_to(ty) {
                d = d.hint(format!("a cast converts it: `{ty} (…)`"));
            } else if v.ty.is_triple() && ty == SourceType::Float {
                d = d.hint("`comp(…, 0)` or `xcomp(…)` takes one component, `length(…)` the length");
            }
            return self.error(d);
        }
        Ok(self.convert(v, ty))
    }

    /// Converts between types that [`SourceType::conversion`] joins.
    pub(super) fn convert(&mut self, v: Typed, ty: SourceType) -> Typed {
        let value = match (v.ty, ty) {
            (SourceType::Float, t) if t.is_triple() => self.b.splat(v.value, Type::Vec3),
            (SourceType::Float, SourceType::Matrix) => matrices::diagonal(&mut self.b, v.value),
            (SourceType::Bool, SourceType::Float) => {
                let (one, zero) = (self.b.f32(1.0), self.b.f32(0.0));
                self.b.select(v.value, one, zero)
            }
            (SourceType::Float, SourceType::Bool) => {
                let zero = self.b.f32(0.0);
                self.b.ne(v.value, zero)
            }
            _ => v.value,
        };
        Typed { value, ty, class: v.class }
    }

    /// The value of `e` where type `wanted` is wanted; it may have another type.
    pub(super) fn value(&mut self, e: ExprId, wanted: Option<SourceType>) -> Lower<Typed> {
        let expr = self.ast().expr(e);
        self.at(expr.span);
        match &expr.kind {
            ExprKind::Number(x) => Ok(self.constant(Const::F32(*x), SourceType::Float)),
            ExprKind::String(s) => Ok(self.constant(Const::String(s.clone()), SourceType::String)),
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Unary(op, a) => self.unary(*op, *a, wanted, expr.span),
            ExprKind::Binary(..) => self.chain(e, wanted),
            ExprKind::Ternary(c, a, b) => self.ternary(*c, *a, *b, wanted, expr.span),
            ExprKind::Tuple(list) => self.tuple(e, list, wanted),
            ExprKind::Cast(ty, space, inner) => self.cast(*ty, space.as_ref(), *inner, expr.span),
            ExprKind::Assign(op, target, value) => self.assignment(*op, target, *value, expr.span),
            ExprKind::Index(place) => {
                self.warn_of_component(&place.name.name, expr.span);
                let place = self.place(place)?;
                Ok(self.read_place(&place))
            }
            ExprKind::Channel(..) => self.no_channel(expr.span),
            ExprKind::Array(_) => {
                let d = Diagnostic::error("a list in braces can only initialize an array");
                self.error(d.at(expr.span, "not an initial value"))
            }
            ExprKind::Call(f, args) => self.call(e, f, args, wanted),
            // What is left of these when structs and classes are flattened had an error.
            ExprKind::Method(..) => Err(Poison),
        }
    }

    pub(super) fn name(&mut self, name: &str, span: Span) -> Lower<Typed> {
        match self.scopes.find(name).cloned() {
            Some(var) if var.slot.is_some() => Ok(Typed { value: NO_VALUE, ty: var.ty, class: var.class }),
            Some(var) if var.absent => {
                self.warn_of_absent(name, span);
                Ok(Typed { value: self.b.read(var.storage), ty: var.ty, class: var.class })
            }
            Some(var) => Ok(Typed { value: self.b.read(var.storage), ty: var.ty, class: var.class }),
            None if name == "PI" => Ok(self.constant(Const::F32(std::f32::consts::PI), SourceType::Float)),
            None => self.unknown_name(name, span),
        }
    }

    fn unary(&mut self, op: UnaryOp, a: ExprId, wanted: Option<SourceType>, span: Span) -> Lower<Typed> {
        if op == UnaryOp::Not {
            let v = self.truth(a)?;
            self.at(span);
            return Ok(Typed { value: self.b.not(v.value), ..v });
        }
        let v = self.value(a, wanted)?;
        let v = self.number(v);
        if v.ty == SourceType::Matrix {
            self.at(span);
            let minus_one = self.b.f32(-1.0);
            return Ok(Typed { value: matrices::times(&mut self.b, v.value, minus_one), ..v });
        }
        if v.ty != SourceType::Float && !v.ty.is_triple() {
            let d = Diagnostic::error(format!("no operator `-` for `{}`", v.ty));
            return self.error(d.at(span, format!("this is {}", article(v.ty))));
        }
        self.at(span);
        Ok(Typed { value: self.b.neg(v.value), ..v })
    }

    /// A truth value as the number 1 or 0; any other as it is.
    fn number(&mut self, v: Typed) -> Typed {
        if v.ty == SourceType::Bool { self.convert(v, SourceType::Float) } else { v }
    }

    fn tuple(&mut self, e: ExprId, list: &[ExprId], wanted: Option<SourceType>) -> Lower<Typed> {
        let ty = wanted.filter(|w| w.is_triple()).unwrap_or(SourceType::Vector);
        let mut class = StorageClass::Constant;
        let mut values = Vec::new();
        for &part in list {
            let v = self.value_as(part, SourceType::Float);
            values.push(v.map(|v| {
                class = class.max(v.class);
                v.value
            }));
        }
        let values = values.into_iter().collect::<Lower<Vec<_>>>()?;
        self.at(self.span(e));
        if values.len() == 16 {
            return Ok(Typed { value: matrices::from_numbers(&mut self.b, &values), ty: SourceType::Matrix, class });
        }
        Ok(Typed { value: self.b.compose(&values), ty, class })
    }

    // --- operators ---

    /// A chain of operators, from the left, without recursion: it may be very long.
    fn chain(&mut self, e: ExprId, wanted: Option<SourceType>) -> Lower<Typed> {
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

    /// True if `e` may be computed in vain: it is small and calls nothing and changes nothing.
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
        let left = self.convert(left, SourceType::Bool);
        let result = self.b.variable_with(left.value);
        let is_open = match op {
            BinaryOp::And => Condition::Holds(left.value),
            _ => Condition::Fails(left.value),
        };
        let mut more = Err(Poison);
        self.if_then(is_open, |l| {
            more = l.truth(right);
            if let Ok(v) = &more {
                l.b.write(result, v.value);
            }
        });
        let class = left.class.max(more?.class);
        Ok(Typed { value: self.b.read(result), ty: SourceType::Bool, class })
    }

    fn binary(&mut self, op: BinaryOp, l: Typed, r: Typed, span: Span) -> Lower<Typed> {
        let Some(ty) = check::binary_type(op, l.ty, r.ty) else {
            return self.no_operator(op, l.ty, r.ty, span);
        };
        if op.is_arithmetic() && mixes_color(l.ty, r.ty) {
            self.warn_of_mixing(l.ty, r.ty, span);
        }
        let class = l.class.max(r.class);
        let [l, r] = if op.is_arithmetic() { [l, r].map(|v| self.number(v)) } else { [l, r] };
        let value = match op {
            BinaryOp::Add | BinaryOp::Sub if ty == SourceType::Matrix => {
                let op = if op == BinaryOp::Add { Op::Add } else { Op::Sub };
                matrices::componentwise(&mut self.b, op, l.value, r.value)
            }
            _ if ty == SourceType::Matrix => self.matrix_product(op, l, r),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => self.arithmetic(op, l, r),
            BinaryOp::Dot | BinaryOp::Cross => {
                let [a, b] = [l, r].map(|v| self.convert(v, SourceType::Vector).value);
                self.b.op(if op == BinaryOp::Dot { Op::Dot } else { Op::Cross }, &[a, b])
            }
            BinaryOp::Lt => self.ordering(Op::Lt, l, r),
            BinaryOp::Le => self.ordering(Op::Le, l, r),
            BinaryOp::Gt => self.ordering(Op::Lt, r, l),
            BinaryOp::Ge => self.ordering(Op::Le, r, l),
            BinaryOp::Eq | BinaryOp::Ne => self.equality(op, l, r),
            BinaryOp::And | BinaryOp::Or => {
                let [a, b] = [l, r].map(|v| self.convert(v, SourceType::Bool).value);
                self.b.op(if op == BinaryOp::And { Op::And } else { Op::Or }, &[a, b])
            }
        };
        Ok(Typed { value, ty, class })
    }

    /// Warns of a color that meets a point, vector or normal without a cast: other compilers accept
    /// it.
    fn warn_of_mixing(&mut self, from: SourceType, to: SourceType, span: Span) {
        let message = format!("{} and {} are mixed without a cast", article(from), article(to));
        let color = if from == SourceType::Color { to } else { SourceType::Color };
        let d = Diagnostic::warning(message).at(span, "component by component");
        self.cx.report(d.hint(format!("a cast says so: `{color} (…)`")));
    }

    fn arithmetic(&mut self, op: BinaryOp, l: Typed, r: Typed) -> Value {
        let wide = l.ty.is_triple() || r.ty.is_triple();
        // a / b is a · (1 / b): one reciprocal even where b becomes a triple.
        let right = if op == BinaryOp::Div { self.b.rcp(r.value) } else { r.value };
        let widen = |body: &mut Self, value: Value, ty: SourceType| match ty {
            SourceType::Float if wide => body.b.splat(value, Type::Vec3),
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
            (BinaryOp::Div, SourceType::Matrix) => matrices::inverse(b, r.value),
            (BinaryOp::Div, _) => b.rcp(r.value),
            _ => r.value,
        };
        match (l.ty, r.ty) {
            (SourceType::Matrix, SourceType::Matrix) => matrices::product(b, l.value, right),
            (SourceType::Matrix, _) => matrices::times(b, l.value, right),
            _ => matrices::times(b, right, l.value),
        }
    }

    /// A comparison of floats, or of all components of colors, points and their like.
    fn ordering(&mut self, op: Op, l: Typed, r: Typed) -> Value {
        let ty = check::joined(l.ty, r.ty).unwrap_or(l.ty);
        if !ty.is_triple() {
            return self.b.op(op, &[l.value, r.value]);
        }
        let [a, b] = [l, r].map(|v| self.convert(v, ty).value);
        self.in_all_components(&op, a, b)
    }

    /// True if a comparison holds for all three components.
    fn in_all_components(&mut self, op: &Op, a: Value, b: Value) -> Value {
        let [x, y, z] = [0, 1, 2].map(|lane| {
            let [a, b] = [a, b].map(|v| self.b.extract(v, lane));
            self.b.op(op.clone(), &[a, b])
        });
        let xy = self.b.and(x, y);
        self.b.and(xy, z)
    }

    fn equality(&mut self, op: BinaryOp, l: Typed, r: Typed) -> Value {
        let ty = check::joined(l.ty, r.ty).unwrap_or(l.ty);
        let [a, b] = [l, r].map(|v| self.convert(v, ty).value);
        let equal = match ty {
            SourceType::Float if op == BinaryOp::Ne => return self.b.ne(a, b),
            SourceType::Float => self.b.eq(a, b),
            t if t.is_triple() => self.in_all_components(&Op::Eq, a, b),
            SourceType::Matrix => matrices::equal(&mut self.b, a, b),
            _ => self.b.ieq(a, b),
        };
        if op == BinaryOp::Ne { self.b.not(equal) } else { equal }
    }

    fn no_operator<T>(&mut self, op: BinaryOp, l: SourceType, r: SourceType, span: Span) -> Lower<T> {
        let message = format!("no operator `{}` for `{l}` and `{r}`", op.symbol());
        let mut d = Diagnostic::error(message).at(span, "operands of these types");
        let compares = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
        if l == SourceType::Matrix || r == SourceType::Matrix {
            d = d.hint("`transform` applies a matrix to a point");
        } else if compares && (l.is_triple() || r.is_triple()) {
            d = d.hint("compare lengths or components, or cast both to one type");
        } else if l.is_triple() && r.is_triple() {
            d = d.hint(format!("a cast makes them of one type: `{l} (…)`"));
        }
        self.error(d)
    }

    fn ternary(
        &mut self,
        condition: ExprId,
        a: ExprId,
        b: ExprId,
        wanted: Option<SourceType>,
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
            let message = format!("`?:` needs two values of one type, not {} and {}", article(left), article(right));
            return self.error(Diagnostic::error(message).at(span, "values of different types"));
        };
        let test = test?;
        if cheap {
            let x = self.value(a, want_a)?;
            let y = self.value(b, want_b)?;
            self.at(span);
            let class = x.class.max(y.class).max(StorageClass::Uniform);
            let [x, y] = [x, y].map(|v| self.convert(v, ty).value);
            return Ok(Typed { value: self.b.select(test, x, y), ty, class });
        }
        if ty.ir().is_none() {
            let d = Diagnostic::error("`?:` needs values").at(span, "no values");
            return self.error(d.hint("`if` chooses between statements"));
        }
        let side = |l: &mut Self, e, want| l.value(e, want).map(|v| l.convert(v, ty));
        let (value, class) = self.one_of(test, |l| side(l, a, want_a), |l| side(l, b, want_b))?;
        Ok(Typed { value, ty, class: class.max(StorageClass::Uniform) })
    }

    /// The value of one of two expressions of one type, where a condition holds that of the first,
    /// and the class of both.
    pub(super) fn one_of(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> Lower<Typed>,
        otherwise: impl FnOnce(&mut Self) -> Lower<Typed>,
    ) -> Lower<(Value, StorageClass)> {
        let (mut first, mut second) = (Err(Poison), Err(Poison));
        let kept = |result: Lower<Typed>, class: &mut Lower<StorageClass>| {
            let Ok(typed) = result else { return Vec::new() };
            *class = Ok(typed.class);
            vec![typed.value]
        };
        let values = self.if_else_values(condition, |l| kept(then(l), &mut first), |l| kept(otherwise(l), &mut second));
        let class = first?.max(second?);
        values.first().map(|&value| (value, class)).ok_or(Poison)
    }

    // --- assignments ---

    /// Warns once of a variable declared `uniform` that gets a value that may differ from point to
    /// point, and makes it varying: other compilers accept many of these, and nothing depends on
    /// the word.
    pub(super) fn widen_class(&mut self, name: &str, var: &Var, class: StorageClass, span: Span) {
        if !var.strict || class != StorageClass::Varying {
            return;
        }
        match self.scopes.find_mut(name) {
            Some(known) if known.strict => (known.strict, known.class) = (false, class),
            // An earlier assignment has widened it.
            _ => return,
        }
        let message = format!("a varying value is assigned to the uniform variable `{name}`: it becomes varying");
        let mut d = Diagnostic::warning(message).at(span, "this value may differ from point to point");
        if let Some(declared) = var.declared {
            d = d.also(declared, "declared `uniform` here");
        }
        self.cx.report(d.hint(format!("declare `{name}` as `varying`")));
    }

    fn assignment(&mut self, op: Option<BinaryOp>, target: &LValue, e: ExprId, span: Span) -> Lower<Typed> {
        if self.scopes.find(&target.name.name).is_none() {
            let _: Lower<Typed> = self.value(e, None);
        }
        let place = self.place(target)?;
        let name = &target.name.name;
        if place.ty.is_array() {
            if op.is_some() {
                let d = Diagnostic::error(format!("compound assignment to the array `{name}`: assign to its elements"));
                return self.error(d.at(span, "the whole array"));
            }
            let (values, class) = self.values_as(e, place.ty)?;
            self.widen_class(name, &place.var, class, span);
            self.at(span);
            self.write_all(&place, &values);
            return Ok(Typed { value: NO_VALUE, ty: place.ty, class });
        }
        let value = match op {
            None => self.value_as(e, place.ty)?,
            Some(op) => {
                let right = self.value(e, Some(place.ty))?;
                self.at(span);
                let left = self.read_place(&place);
                let mut v = self.binary(op, left, right, span)?;
                if mixes_color(v.ty, place.ty) {
                    v.ty = place.ty;
                }
                if v.ty.conversion(place.ty).is_none() {
                    let d = Diagnostic::error(format!("expected {}, found {}", article(place.ty), article(v.ty)));
                    return self.error(d.at(span, format!("this gives {}", article(v.ty))));
                }
                self.convert(v, place.ty)
            }
        };
        self.widen_class(name, &place.var, value.class.max(place.class), span);
        self.at(span);
        self.write_place(&place, value.value);
        let is_known = op.is_none() && target.indices.is_empty() && !self.changed.contains(name);
        let known = if is_known && place.ty != SourceType::Color { self.known_string(e) } else { None };
        if let Some(var) = self.scopes.find_mut(name) {
            var.text =
                known.filter(|known| place.ty.ir() == Some(known.ty()) || matches!(known, StringExpr::Parameter(_)));
        }
        Ok(value)
    }
}

/// True if one of the types is color, and the other one of points or directions.
fn mixes_color(a: SourceType, b: SourceType) -> bool {
    a == SourceType::Color && b.is_spatial() || b == SourceType::Color && a.is_spatial()
}

/// The type's name as a sentence has it.
pub(super) fn article(ty: SourceType) -> String {
    match ty {
        SourceType::Void => "no value".to_string(),
        _ => format!("a {ty}"),
    }
}
