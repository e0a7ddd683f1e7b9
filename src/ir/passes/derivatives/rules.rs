//! The derivatives of operations by the chain rule (Griewank & Walther 2008, table 3.4).

use crate::emitter::Emitter;
use crate::{Const, Inst, Op, Type, Value};

/// The derivatives of a value by u and by v.
pub(super) type Shadow = [Value; 2];

/// Writes the derivatives of an instruction's one result. `given` has the derivatives of its
/// operands, `None` where an operand does not change; one at least does.
pub(super) fn shadow(e: &mut Emitter<'_>, inst: &Inst, given: &[Option<Shadow>]) -> Shadow {
    [0, 1].map(|k| direction(e, inst, &given.iter().map(|s| s.map(|s| s[k])).collect::<Vec<_>>()))
}

/// The derivative in one direction.
fn direction(e: &mut Emitter<'_>, inst: &Inst, d: &[Option<Value>]) -> Value {
    let (args, result) = (&inst.args, inst.results[0]);
    let ty = e.ty(result);
    match &inst.op {
        Op::Add => sum(e, d[0], d[1], ty),
        Op::Sub => match (d[0], d[1]) {
            (Some(a), Some(b)) => e.op(Op::Sub, &[a, b], ty),
            (None, Some(b)) => e.op(Op::Neg, &[b], ty),
            (a, None) => or_zero(e, a, ty),
        },
        Op::Mul | Op::Dot | Op::Cross => {
            let left = d[0].map(|a| e.op(inst.op.clone(), &[a, args[1]], ty));
            let right = d[1].map(|b| e.op(inst.op.clone(), &[args[0], b], ty));
            sum(e, left, right, ty)
        }
        // −1/a² = −r².
        Op::Rcp => {
            let square = e.op(Op::Mul, &[result, result], ty);
            let slope = e.op(Op::Neg, &[square], ty);
            times(e, slope, d[0], ty)
        }
        // −½·a^(−3/2) = −½·r³.
        Op::Rsq => {
            let square = e.op(Op::Mul, &[result, result], ty);
            let cube = e.op(Op::Mul, &[square, result], ty);
            let half = constant(e, -0.5, ty);
            let slope = e.op(Op::Mul, &[half, cube], ty);
            times(e, slope, d[0], ty)
        }
        // ½/√a; the root's infinite slope at 0 counts as 0.
        Op::Sqrt => componentwise(e, &[result, d[0].unwrap_or(result)], ty, |e, a, into| {
            let (half, zero) = (e.constant(Const::F32(0.5)), e.constant(Const::F32(0.0)));
            let inverse = e.op(Op::Rcp, &[a[0]], Type::F32);
            let slope = e.op(Op::Mul, &[half, inverse], Type::F32);
            let change = e.op(Op::Mul, &[slope, a[1]], Type::F32);
            let is_zero = e.op(Op::Eq, &[a[0], zero], Type::Bool);
            e.scalar(Op::Select, &[is_zero, zero, change], into);
        }),
        Op::Abs => componentwise(e, &[args[0], d[0].unwrap_or(args[0])], ty, |e, a, into| {
            let zero = e.constant(Const::F32(0.0));
            let negative = e.op(Op::Lt, &[a[0], zero], Type::Bool);
            let turned = e.op(Op::Neg, &[a[1]], Type::F32);
            e.scalar(Op::Select, &[negative, turned, a[1]], into);
        }),
        // Inside of the interval, and at its ends, the value is the operand.
        Op::Sat => componentwise(e, &[args[0], result, d[0].unwrap_or(result)], ty, |e, a, into| {
            let zero = e.constant(Const::F32(0.0));
            let inside = e.op(Op::Eq, &[a[0], a[1]], Type::Bool);
            e.scalar(Op::Select, &[inside, a[2], zero], into);
        }),
        Op::Min | Op::Max => {
            let max = inst.op == Op::Max;
            let (a, b) = (or_zero(e, d[0], ty), or_zero(e, d[1], ty));
            componentwise(e, &[args[0], args[1], a, b], ty, move |e, a, into| {
                let (less, than) = if max { (a[0], a[1]) } else { (a[1], a[0]) };
                let second = e.op(Op::Lt, &[less, than], Type::Bool);
                e.scalar(Op::Select, &[second, a[3], a[2]], into);
            })
        }
        Op::Select => {
            let (a, b) = (or_zero(e, d[1], ty), or_zero(e, d[2], ty));
            e.op(Op::Select, &[args[0], a, b], ty)
        }
        // What is linear is its own derivative: negation, fractions, and vectors put together and
        // taken apart.
        op => {
            let parts: Vec<Value> = d
                .iter()
                .zip(args)
                .map(|(&d, &a)| {
                    let ty = e.ty(a);
                    or_zero(e, d, ty)
                })
                .collect();
            match op {
                Op::Frac => parts[0],
                op => e.op(op.clone(), &parts, ty),
            }
        }
    }
}

fn constant(e: &mut Emitter<'_>, x: f32, ty: Type) -> Value {
    let value = e.constant(Const::F32(x));
    if ty == Type::F32 { value } else { e.op(Op::Splat, &[value], ty) }
}

/// The derivative, or 0.
pub(super) fn or_zero(e: &mut Emitter<'_>, d: Option<Value>, ty: Type) -> Value {
    d.unwrap_or_else(|| e.constant(Const::zero(ty)))
}

fn sum(e: &mut Emitter<'_>, a: Option<Value>, b: Option<Value>, ty: Type) -> Value {
    match (a, b) {
        (Some(a), Some(b)) => e.op(Op::Add, &[a, b], ty),
        (one, other) => or_zero(e, one.or(other), ty),
    }
}

fn times(e: &mut Emitter<'_>, slope: Value, d: Option<Value>, ty: Type) -> Value {
    let d = or_zero(e, d, ty);
    e.op(Op::Mul, &[slope, d], ty)
}

fn componentwise(
    e: &mut Emitter<'_>,
    args: &[Value],
    ty: Type,
    each: impl Fn(&mut Emitter<'_>, &[Value], Option<Value>),
) -> Value {
    let result = e.new_value(ty);
    e.componentwise(args, result, each);
    result
}
