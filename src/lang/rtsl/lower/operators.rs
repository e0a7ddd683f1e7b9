//! Operators between two values (GLSL 1.20, §5.9).

use super::super::ast::BinaryOp;
use super::super::matrices;
use super::super::types::{BasicType, Scalar};
use super::*;
use crate::integers::quotient;

impl Body<'_> {
    /// `l op r`, for all operators but `&&` and `||`.
    pub(super) fn binary(&mut self, op: BinaryOp, l: Typed, r: Typed, span: Span) -> Lower<Typed> {
        use BinaryOp::*;
        let result = match op {
            Add | Sub | Mul | Div => self.arithmetic(op, &l, &r),
            Rem | Shl | Shr | BitAnd | BitXor | BitOr => self.integers(op, &l, &r),
            Lt | Gt | Le | Ge => self.ordered(op, &l, &r),
            Eq | Ne => self.equality(op == Eq, &l, &r),
            And | Or | Xor => (l.ty == Type::BOOL && r.ty == Type::BOOL).then(|| {
                let same = self.b.ieq(l.parts[0], r.parts[0]);
                Typed { ty: Type::BOOL, parts: vec![self.b.not(same)], known: None }
            }),
        };
        if let Some(result) = result {
            return Ok(result);
        }
        let (a, b) = (self.describe(&l.ty), self.describe(&r.ty));
        let d = Diagnostic::error(format!("no operator `{}` for `{a}` and `{b}`", op.symbol()))
            .at(span, "operands of these types");
        let is_color = |t: &Type| *t == Type::COLOR;
        let d = match op {
            Lt | Gt | Le | Ge if a == b => {
                d.hint("vectors are compared by `lessThan` and its like, or by `all(…)` of them")
            }
            _ if is_color(&l.ty) != is_color(&r.ty) => d.hint("`color(v)` converts red, green and blue to a color"),
            _ => d,
        };
        self.error(d)
    }

    /// Both as integers or both as floats; `None` where one is neither.
    fn numbers(&mut self, l: &Typed, r: &Typed) -> Option<(Typed, Typed, Scalar)> {
        let kind = |t: &Typed| t.ty.basic().and_then(BasicType::scalar).filter(|s| *s != Scalar::Bool);
        let (a, b) = (kind(l)?, kind(r)?);
        if a == b {
            return Some((l.clone(), r.clone(), a));
        }
        let float = |body: &mut Self, t: &Typed| {
            let to = match t.ty.basic()? {
                BasicType::Scalar(_) => Type::FLOAT,
                BasicType::Vector(_, n) => Type::floats(n),
                _ => t.ty.clone(),
            };
            body.converted(t.clone(), &to)
        };
        Some((float(self, l)?, float(self, r)?, Scalar::Float))
    }

    fn arithmetic(&mut self, op: BinaryOp, l: &Typed, r: &Typed) -> Option<Typed> {
        let (l, r, scalar) = self.numbers(l, r)?;
        let (a, b) = (l.ty.basic()?, r.ty.basic()?);
        if op == BinaryOp::Mul
            && let Some(product) = matrices::product(&mut self.b, (a, &l.parts), (b, &r.parts))
        {
            return Some(Typed { ty: Type::Basic(product.0), parts: product.1, known: None });
        }
        if let (Scalar::Int, Some(x), Some(y)) = (scalar, l.known, r.known)
            && let Some(known) = Self::folded(op, x, y)
        {
            return Some(self.int(known));
        }
        let (ty, l, r) = match (a, b) {
            (a, b) if a == b => (a, l.parts.clone(), r.parts.clone()),
            (BasicType::Scalar(_), wide) if wide != BasicType::Void => {
                let spread = self.spread(l.parts[0], &r.parts);
                (wide, spread, r.parts.clone())
            }
            (wide, BasicType::Scalar(_)) => {
                let spread = self.spread(r.parts[0], &l.parts);
                (wide, l.parts.clone(), spread)
            }
            _ => return None,
        };
        let pairs = l.into_iter().zip(r);
        let parts = pairs.map(|(x, y)| {
            if scalar == Scalar::Int { self.integer_operator(op, x, y) } else { self.float_operator(op, x, y) }
        });
        Some(Typed { ty: Type::Basic(ty), parts: parts.collect(), known: None })
    }

    /// A scalar as often, and as wide, as others are.
    fn spread(&mut self, x: Value, like: &[Value]) -> Vec<Value> {
        let types: Vec<ir::Type> = like.iter().map(|&v| self.b.ty(v)).collect();
        let wide = |body: &mut Self, ty: ir::Type| match ty.lanes() {
            Some(n) if n > 1 => body.b.splat(x, ty),
            _ => x,
        };
        types.into_iter().map(|ty| wide(self, ty)).collect()
    }

    fn float_operator(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        match op {
            BinaryOp::Add => self.b.add(x, y),
            BinaryOp::Sub => self.b.sub(x, y),
            BinaryOp::Mul => self.b.mul(x, y),
            _ => {
                let inverse = self.b.rcp(y);
                self.b.mul(x, inverse)
            }
        }
    }

    fn integer_operator(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        match op {
            BinaryOp::Add => self.b.iadd(x, y),
            BinaryOp::Sub => self.b.isub(x, y),
            BinaryOp::Mul => self.b.imul(x, y),
            _ => quotient(&mut self.b, x, y),
        }
    }

    /// The constant result of two constants, where there is one.
    fn folded(op: BinaryOp, x: i32, y: i32) -> Option<i32> {
        match op {
            BinaryOp::Add => Some(x.wrapping_add(y)),
            BinaryOp::Sub => Some(x.wrapping_sub(y)),
            BinaryOp::Mul => Some(x.wrapping_mul(y)),
            BinaryOp::Div => (y != 0).then(|| x.wrapping_div(y)),
            _ => None,
        }
    }

    fn integers(&mut self, op: BinaryOp, l: &Typed, r: &Typed) -> Option<Typed> {
        let (a, b) = (l.ty.basic()?, r.ty.basic()?);
        if a.scalar() != Some(Scalar::Int) || b.scalar() != Some(Scalar::Int) {
            return None;
        }
        let (ty, l, r) = match (a, b) {
            (a, b) if a == b => (a, l.parts.clone(), r.parts.clone()),
            (BasicType::Scalar(_), wide) => (wide, vec![l.parts[0]; r.parts.len()], r.parts.clone()),
            (wide, BasicType::Scalar(_)) => (wide, l.parts.clone(), vec![r.parts[0]; l.parts.len()]),
            _ => return None,
        };
        let one = |body: &mut Self, (x, y): (Value, Value)| match op {
            BinaryOp::Shl => body.b.ishl(x, y),
            BinaryOp::Shr => body.b.ishr(x, y),
            BinaryOp::BitAnd => body.b.iand(x, y),
            BinaryOp::BitXor => body.b.ixor(x, y),
            BinaryOp::BitOr => body.b.ior(x, y),
            _ => {
                let quotient = quotient(&mut body.b, x, y);
                let product = body.b.imul(quotient, y);
                body.b.isub(x, product)
            }
        };
        let parts = l.into_iter().zip(r).map(|pair| one(self, pair)).collect();
        Some(Typed { ty: Type::Basic(ty), parts, known: None })
    }

    fn ordered(&mut self, op: BinaryOp, l: &Typed, r: &Typed) -> Option<Typed> {
        let (l, r, scalar) = self.numbers(l, r)?;
        let is_number = |t: &Typed| matches!(t.ty.basic(), Some(BasicType::Scalar(_)));
        if !is_number(&l) || !is_number(&r) {
            return None;
        }
        let value = self.compared(op, l.parts[0], r.parts[0], scalar);
        Some(Typed { ty: Type::BOOL, parts: vec![value], known: None })
    }

    /// A comparison of two numbers.
    pub(in super::super) fn compared(&mut self, op: BinaryOp, x: Value, y: Value, scalar: Scalar) -> Value {
        let (x, y) = if matches!(op, BinaryOp::Gt | BinaryOp::Ge) { (y, x) } else { (x, y) };
        let strict = matches!(op, BinaryOp::Lt | BinaryOp::Gt);
        match (scalar, strict) {
            (Scalar::Float, true) => self.b.lt(x, y),
            (Scalar::Float, false) => self.b.le(x, y),
            (_, true) => self.b.ilt(x, y),
            (_, false) => {
                let more = self.b.ilt(y, x);
                self.b.not(more)
            }
        }
    }

    /// True if two numbers are equal.
    pub(in super::super) fn equal(&mut self, x: Value, y: Value) -> Value {
        let op = if self.b.ty(x) == ir::Type::F32 { Op::Eq } else { Op::IEq };
        self.b.op(op, &[x, y])
    }

    fn equality(&mut self, wanted: bool, l: &Typed, r: &Typed) -> Option<Typed> {
        let (l, r) = match (&l.ty, &r.ty) {
            (Type::Object(a), Type::Object(b)) => {
                let related = self.file().refers(*a, *b) || self.file().refers(*b, *a);
                related.then(|| (l.clone(), r.clone()))?
            }
            (a, b) if a == b => (l.clone(), r.clone()),
            _ => {
                let (l, r, _) = self.numbers(l, r)?;
                (l.ty == r.ty).then_some((l, r))?
            }
        };
        if let ([x], [y]) = (&l.parts[..], &r.parts[..])
            && [[x, y], [y, x]].iter().any(|[x, y]| self.written.contains(x) && self.empty.contains(y))
        {
            let differ = self.b.bool(!wanted);
            return Some(Typed { ty: Type::BOOL, parts: vec![differ], known: None });
        }
        let (xs, ys) = (self.components(&l), self.components(&r));
        let mut all = None;
        for (x, y) in xs.into_iter().zip(ys) {
            let same = self.equal(x, y);
            all = Some(all.map_or(same, |all| self.b.and(all, same)));
        }
        let all = all?;
        let value = if wanted { all } else { self.b.not(all) };
        Some(Typed { ty: Type::BOOL, parts: vec![value], known: None })
    }
}
