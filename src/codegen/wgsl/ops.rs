//! One naga expression, or a few, for each IR operation that computes a value.

use super::Error;
use super::code::{Code, Expr};
use naga::{BinaryOperator as Bin, Expression, MathFunction as Math, ScalarKind, SwizzleComponent as Sw};
use shadewright_ir::{Const, Op, Type};

/// A constant.
pub(super) fn constant(code: &mut Code, c: &Const) -> Result<Expr, Error> {
    let literal = |l| Expression::Literal(l);
    Ok(match c {
        Const::Bool(b) => code.expr(literal(naga::Literal::Bool(*b))),
        Const::I32(i) => code.expr(literal(naga::Literal::I32(*i))),
        Const::F32(x) => float(code, *x)?,
        Const::U32(_) | Const::Ref(_) | Const::String(_) => code.u32(c.bits()[0]),
        Const::Mat4(_) => return Err(Error::Unsupported("matrices".into())),
        Const::Vec2(_) | Const::Vec3(_) | Const::Vec4(_) => {
            let parts = c.floats().unwrap_or(&[]).iter().map(|&x| float(code, x)).collect::<Result<_, _>>()?;
            compose(code, c.ty(), parts)?
        }
    })
}

/// WGSL has literals for finite numbers, and tools differ on subnormal ones and −0.
fn float(code: &mut Code, x: f32) -> Result<Expr, Error> {
    if x.is_normal() || x.to_bits() == 0 {
        return Ok(code.f32(x));
    }
    let bits = code.u32(x.to_bits());
    code.ask("float_from_bits", vec![bits])
}

/// A vector of its components; a scalar stays what it is.
pub(super) fn compose(code: &mut Code, ty: Type, components: Vec<Expr>) -> Result<Expr, Error> {
    if let ([one], Type::F32) = (components.as_slice(), ty) {
        return Ok(*one);
    }
    let ty = code.kit.ty(ty)?;
    Ok(code.expr(Expression::Compose { ty, components }))
}

/// A scalar in every component of a float type.
fn splat(code: &mut Code, value: Expr, ty: Type) -> Expr {
    use naga::VectorSize::*;
    let size = match ty {
        Type::Vec2 => Bi,
        Type::Vec3 => Tri,
        Type::Vec4 => Quad,
        _ => return value,
    };
    code.expr(Expression::Splat { size, value })
}

fn filled(code: &mut Code, x: f32, ty: Type) -> Expr {
    let x = code.f32(x);
    splat(code, x, ty)
}

/// A pure operation; `types` are those of the operands. The result's type is `ty`.
pub(super) fn pure(code: &mut Code, op: &Op, args: &[Expr], types: &[Type], ty: Type) -> Result<Expr, Error> {
    let wrong = || Error::Internal(format!("`{}` has operands {types:?}", op.name()));
    Ok(match (op, args) {
        (Op::Neg, &[a]) => code.negate(a),
        (Op::Abs, &[a]) => code.math(Math::Abs, a),
        (Op::Floor, &[a]) => code.math(Math::Floor, a),
        (Op::Add, &[a, b]) => code.binary(Bin::Add, a, b),
        (Op::Sub, &[a, b]) => code.binary(Bin::Subtract, a, b),
        (Op::Mul, &[a, b]) => code.binary(Bin::Multiply, a, b),
        (Op::Rcp, &[a]) => reciprocal(code, a, ty),
        (Op::Rsq, &[a]) => {
            let root = code.math(Math::Sqrt, a);
            reciprocal(code, root, ty)
        }
        (Op::Sqrt, &[a]) => {
            let root = code.math(Math::Sqrt, a);
            let rsq = reciprocal(code, root, ty);
            let value = reciprocal(code, rsq, ty);
            let zero = filled(code, 0.0, ty);
            let is_zero = code.binary(Bin::Equal, a, zero);
            code.select(is_zero, zero, value)
        }
        (Op::Frac, &[a]) => {
            let whole = code.math(Math::Floor, a);
            code.binary(Bin::Subtract, a, whole)
        }
        (Op::Min, &[a, b]) => {
            let less = code.binary(Bin::Less, b, a);
            code.select(less, b, a)
        }
        (Op::Max, &[a, b]) => {
            let less = code.binary(Bin::Less, a, b);
            code.select(less, b, a)
        }
        (Op::Sat, &[a]) => {
            let (zero, one) = (filled(code, 0.0, ty), filled(code, 1.0, ty));
            let positive = code.binary(Bin::Greater, a, zero);
            let small = code.binary(Bin::Less, a, one);
            let upper = code.select(small, a, one);
            code.select(positive, upper, zero)
        }
        (Op::Dot, &[a, b]) => {
            let lanes = types.first().and_then(|t| t.lanes()).ok_or_else(wrong)?;
            let products = code.binary(Bin::Multiply, a, b);
            let mut sum = code.component(products, 0);
            for i in 1..lanes {
                let next = code.component(products, i);
                sum = code.binary(Bin::Add, sum, next);
            }
            sum
        }
        (Op::Cross, &[a, b]) => {
            let (yzx, zxy) = ([Sw::Y, Sw::Z, Sw::X], [Sw::Z, Sw::X, Sw::Y]);
            let (a1, b1) = (code.swizzle3(a, yzx), code.swizzle3(b, zxy));
            let (a2, b2) = (code.swizzle3(a, zxy), code.swizzle3(b, yzx));
            let (first, second) = (code.binary(Bin::Multiply, a1, b1), code.binary(Bin::Multiply, a2, b2));
            code.binary(Bin::Subtract, first, second)
        }
        (Op::Compose, parts) => compose(code, ty, parts.to_vec())?,
        (Op::Splat, &[a]) => splat(code, a, ty),
        (Op::Extract(_), &[a]) if types == [Type::F32] => a,
        (Op::Extract(i), &[a]) => code.component(a, (*i).into()),
        (Op::Insert(i), &[a, x]) => {
            let lanes = ty.lanes().ok_or_else(wrong)?;
            let parts = (0..lanes).map(|l| if l == u32::from(*i) { x } else { code.component(a, l) }).collect();
            compose(code, ty, parts)?
        }
        (Op::Lt, &[a, b]) => difference(code, a, b, Bin::Less),
        (Op::Le, &[a, b]) => difference(code, b, a, Bin::GreaterEqual),
        (Op::Eq, &[a, b]) => difference(code, a, b, Bin::Equal),
        (Op::Ne, &[a, b]) => {
            let equal = difference(code, a, b, Bin::Equal);
            code.not(equal)
        }
        (Op::IAdd, &[a, b]) => code.binary(Bin::Add, a, b),
        (Op::ISub, &[a, b]) => code.binary(Bin::Subtract, a, b),
        (Op::IMul, &[a, b]) => code.binary(Bin::Multiply, a, b),
        (Op::IAnd, &[a, b]) => code.binary(Bin::And, a, b),
        (Op::IOr, &[a, b]) => code.binary(Bin::InclusiveOr, a, b),
        (Op::IXor, &[a, b]) => code.binary(Bin::ExclusiveOr, a, b),
        (Op::IShl, &[a, b]) => shift(code, Bin::ShiftLeft, a, b, types),
        (Op::IShr, &[a, b]) => shift(code, Bin::ShiftRight, a, b, types),
        (Op::IReverse, &[a]) => code.math(Math::ReverseBits, a),
        (Op::ILt, &[a, b]) => code.binary(Bin::Less, a, b),
        (Op::IEq, &[a, b]) => code.binary(Bin::Equal, a, b),
        (Op::Not, &[a]) => code.not(a),
        (Op::And, &[a, b]) => code.binary(Bin::LogicalAnd, a, b),
        (Op::Or, &[a, b]) => code.binary(Bin::LogicalOr, a, b),
        (Op::Select, &[c, a, b]) => code.select(c, a, b),
        (Op::ToInt, &[a]) => to_int(code, a, ty),
        (Op::ToFloat, &[a]) => code.convert(a, ScalarKind::Float),
        (Op::Bitcast, &[a]) => {
            let from = *types.first().ok_or_else(wrong)?;
            bitcast(code, a, from, ty)
        }
        (Op::Load(offset), &[address]) => {
            let offset = code.u32(*offset);
            code.ask("load_vector", vec![address, offset])?
        }
        _ => return Err(wrong()),
    })
}

fn reciprocal(code: &mut Code, a: Expr, ty: Type) -> Expr {
    let one = filled(code, 1.0, ty);
    code.binary(Bin::Divide, one, a)
}

/// `a − b ? 0`. The difference of two numbers is below 0 where one is below the other, and an
/// infinity compares with a finite number as their difference does with 0: then they are compared
/// themselves.
fn difference(code: &mut Code, a: Expr, b: Expr, compare: Bin) -> Expr {
    let is_finite = |expr: Expr| match code.func.expressions[expr] {
        Expression::Literal(naga::Literal::F32(x)) => x.is_finite(),
        _ => false,
    };
    if compare == Bin::Less || is_finite(a) || is_finite(b) {
        return code.binary(compare, a, b);
    }
    let difference = code.binary(Bin::Subtract, a, b);
    let zero = code.f32(0.0);
    code.binary(compare, difference, zero)
}

fn shift(code: &mut Code, op: Bin, a: Expr, b: Expr, types: &[Type]) -> Expr {
    // Amounts are `u32` in WGSL whatever is shifted.
    let b = if types.get(1) == Some(&Type::I32) { code.bitcast(b, ScalarKind::Uint) } else { b };
    let mask = code.u32(31);
    let amount = code.binary(Bin::And, b, mask);
    code.binary(op, a, amount)
}

/// Truncation that saturates, with NaN to 0: the conversion itself sees only numbers in range.
fn to_int(code: &mut Code, x: Expr, ty: Type) -> Expr {
    let (kind, low, high, limit, max) = match ty {
        // The largest floats below the limits.
        Type::I32 => {
            (ScalarKind::Sint, -2_147_483_648.0, 2_147_483_520.0, 2_147_483_648.0, naga::Literal::I32(i32::MAX))
        }
        _ => (ScalarKind::Uint, 0.0, 4_294_967_040.0, 4_294_967_296.0, naga::Literal::U32(u32::MAX)),
    };
    let (low, high, limit) = (code.f32(low), code.f32(high), code.f32(limit));
    let above = code.binary(Bin::Greater, x, low);
    let lower = code.select(above, x, low);
    let below = code.binary(Bin::Less, lower, high);
    let clamped = code.select(below, lower, high);
    let whole = code.convert(clamped, kind);
    let max = code.expr(Expression::Literal(max));
    let over = code.binary(Bin::GreaterEqual, x, limit);
    let saturated = code.select(over, max, whole);
    let number = code.binary(Bin::Equal, x, x);
    let zero = code.expr(Expression::Literal(match ty {
        Type::I32 => naga::Literal::I32(0),
        _ => naga::Literal::U32(0),
    }));
    code.select(number, saturated, zero)
}

fn kind(ty: Type) -> ScalarKind {
    match ty {
        Type::I32 => ScalarKind::Sint,
        Type::F32 => ScalarKind::Float,
        _ => ScalarKind::Uint,
    }
}

fn bitcast(code: &mut Code, a: Expr, from: Type, to: Type) -> Expr {
    let (a, from) = match from {
        Type::Bool => {
            let (one, zero) = (code.u32(1), code.u32(0));
            (code.select(a, one, zero), Type::U32)
        }
        from => (a, from),
    };
    if kind(from) == kind(to) { a } else { code.bitcast(a, kind(to)) }
}

/// The 32-bit patterns of a value.
pub(super) fn words(code: &mut Code, value: Expr, ty: Type) -> Vec<Expr> {
    match ty.lanes() {
        None | Some(1) => vec![bitcast(code, value, ty, Type::U32)],
        Some(lanes) => (0..lanes)
            .map(|i| {
                let part = code.component(value, i);
                code.bitcast(part, ScalarKind::Uint)
            })
            .collect(),
    }
}

/// The value of 32-bit patterns.
pub(super) fn from_words(code: &mut Code, words: &[Expr], ty: Type) -> Result<Expr, Error> {
    Ok(match (ty, words) {
        (Type::Bool, &[word]) => {
            let zero = code.u32(0);
            code.expr(Expression::Binary { op: Bin::NotEqual, left: word, right: zero })
        }
        (ty, &[word]) => bitcast(code, word, Type::U32, ty),
        (ty, words) => {
            let parts = words.iter().map(|&w| code.bitcast(w, ScalarKind::Float)).collect();
            compose(code, ty, parts)?
        }
    })
}
