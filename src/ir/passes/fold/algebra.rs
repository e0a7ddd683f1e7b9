//! Simplifications by the laws of arithmetic, where some operands are constants or equal.
//!
//! *Exact* rules change no bit. The others hold for finite numbers and may change the sign of a
//! zero or lose a NaN or infinity, as in Węgrzanowski 2006, §6.3; each says so.

use crate::passes::rewrite::{Definitions, Rewrite};
use crate::{Const, Op, Type, Value};

/// A simpler way to compute `op args`, if there is one.
pub(super) fn simplify(defs: &Definitions, op: &Op, args: &[Value], ty: Type) -> Option<Rewrite> {
    match (op, args) {
        (_, [a, b]) if is_commutative(op) => {
            commutative(defs, op, *a, *b, ty).or_else(|| commutative(defs, op, *b, *a, ty))
        }
        (Op::Min | Op::Max, [a, b]) => clamp(defs, op, *a, *b),
        (_, [a]) => unary(defs, op, *a),
        (_, [a, b]) => ordered(defs, op, *a, *b, ty),
        (Op::Select, [c, a, b]) => select(defs, *c, *a, *b, ty),
        _ => None,
    }
}

/// True if operands may change places without changing a bit.
pub(in crate::passes) fn is_commutative(op: &Op) -> bool {
    matches!(
        op,
        Op::Add
            | Op::Mul
            | Op::Dot
            | Op::Eq
            | Op::Ne
            | Op::IAdd
            | Op::IMul
            | Op::IAnd
            | Op::IOr
            | Op::IXor
            | Op::IEq
            | Op::And
            | Op::Or
    )
}

fn value(v: Value) -> Option<Rewrite> {
    Some(Rewrite::Value(v))
}

fn constant(c: Const) -> Option<Rewrite> {
    Some(Rewrite::Inst(Op::Const(c), vec![]))
}

fn inst<const N: usize>(op: Op, args: [Value; N]) -> Option<Rewrite> {
    Some(Rewrite::Inst(op, args.to_vec()))
}

/// True if a value is a constant whose float components all equal `x` (a zero of either sign for
/// 0).
fn is_float(defs: &Definitions, v: Value, x: f32) -> bool {
    defs.constant(v).and_then(Const::floats).is_some_and(|f| f.iter().all(|&y| y == x))
}

/// True if a value is an integer constant, as 32 bits.
fn is_integer(defs: &Definitions, v: Value, bits: u32) -> bool {
    match defs.constant(v) {
        Some(Const::I32(i)) => *i as u32 == bits,
        Some(Const::U32(u)) => *u == bits,
        _ => false,
    }
}

fn truth(defs: &Definitions, v: Value) -> Option<bool> {
    match defs.constant(v) {
        Some(Const::Bool(b)) => Some(*b),
        _ => None,
    }
}

/// The operand of a value that `op` computes from one.
fn operand(defs: &Definitions, v: Value, op: &Op) -> Option<Value> {
    defs.args_of(v, op).and_then(|a| a.first().copied())
}

/// Rules for `a op b` that hold for `b op a` as well.
fn commutative(defs: &Definitions, op: &Op, a: Value, b: Value, ty: Type) -> Option<Rewrite> {
    match op {
        // Exact for −0; for +0, x = −0 gives −0 instead of +0.
        Op::Add if is_float(defs, b, 0.0) => value(a),
        // Exact: the difference is defined as the sum with the negated operand.
        Op::Add => operand(defs, b, &Op::Neg).and_then(|b| inst(Op::Sub, [a, b])),
        // Exact.
        Op::Mul if is_float(defs, b, 1.0) => value(a),
        Op::Mul if is_float(defs, b, -1.0) => inst(Op::Neg, [a]),
        // Loses NaN, infinities and the sign of the zero.
        Op::Mul if is_float(defs, b, 0.0) => constant(Const::zero(ty)),
        // Exact: signs cancel.
        Op::Mul => {
            let (a, b) = (operand(defs, a, &Op::Neg)?, operand(defs, b, &Op::Neg)?);
            inst(Op::Mul, [a, b])
        }
        // Loses NaN, infinities and the sign of the zero.
        Op::Dot if is_float(defs, b, 0.0) => constant(Const::F32(0.0)),

        // All exact from here on.
        Op::IAdd | Op::IOr | Op::IXor if is_integer(defs, b, 0) => value(a),
        Op::IXor if a == b => constant(Const::zero(ty)),
        Op::IOr | Op::IAnd | Op::And | Op::Or if a == b => value(a),
        Op::IMul if is_integer(defs, b, 1) => value(a),
        Op::IMul | Op::IAnd if is_integer(defs, b, 0) => constant(Const::zero(ty)),
        Op::IAnd if is_integer(defs, b, u32::MAX) => value(a),
        Op::IOr if is_integer(defs, b, u32::MAX) => value(b),
        Op::IEq if a == b => constant(Const::Bool(true)),
        Op::IEq => match truth(defs, b)? {
            true => value(a),
            false => inst(Op::Not, [a]),
        },
        Op::And => {
            if truth(defs, b)? {
                value(a)
            } else {
                constant(Const::Bool(false))
            }
        }
        Op::Or => {
            if truth(defs, b)? {
                constant(Const::Bool(true))
            } else {
                value(a)
            }
        }
        _ => None,
    }
}

/// `min` and `max`: clamps to the unit interval become `sat`.
fn clamp(defs: &Definitions, op: &Op, a: Value, b: Value) -> Option<Rewrite> {
    if a == b {
        return value(a);
    }
    let (limit, inner, inner_limit) = match op {
        Op::Min => (1.0, Op::Max, 0.0),
        _ => (0.0, Op::Min, 1.0),
    };
    for (bound, x) in [(a, b), (b, a)] {
        if !is_float(defs, bound, limit) {
            continue;
        }
        // Saturated values lie within the bounds already; exact, as `sat` never gives −0.
        if defs.args_of(x, &Op::Sat).is_some() {
            return value(x);
        }
        // NaN may give 0 where the clamp gave 1, and −0 becomes +0.
        if let Some(&[p, q]) = defs.args_of(x, &inner) {
            if is_float(defs, p, inner_limit) {
                return inst(Op::Sat, [q]);
            }
            if is_float(defs, q, inner_limit) {
                return inst(Op::Sat, [p]);
            }
        }
    }
    None
}

/// All exact.
fn unary(defs: &Definitions, op: &Op, a: Value) -> Option<Rewrite> {
    let (inner, args) = defs.get(a)?;
    match (op, inner) {
        (Op::Neg, Op::Neg) | (Op::Not, Op::Not) => value(args[0]),
        (Op::Abs, Op::Neg | Op::Abs) => inst(Op::Abs, [args[0]]),
        (Op::Abs | Op::Sat, Op::Sat) | (Op::Floor, Op::Floor) => value(a),
        _ => None,
    }
}

fn ordered(defs: &Definitions, op: &Op, a: Value, b: Value, ty: Type) -> Option<Rewrite> {
    match op {
        // Exact for +0; for −0, x = −0 gives −0 instead of +0.
        Op::Sub if is_float(defs, b, 0.0) => value(a),
        // Exact for −0; for +0, x = 0 gives −0 instead of +0.
        Op::Sub if is_float(defs, a, 0.0) => inst(Op::Neg, [b]),
        // Exact.
        Op::Sub => operand(defs, b, &Op::Neg).and_then(|b| inst(Op::Add, [a, b])),

        // All exact from here on.
        Op::ISub | Op::IShl | Op::IShr if is_integer(defs, b, 0) => value(a),
        Op::ISub if a == b => constant(Const::zero(ty)),
        Op::IShl | Op::IShr if is_integer(defs, a, 0) => value(a),
        Op::ILt if a == b => constant(Const::Bool(false)),
        _ => None,
    }
}

/// True if `v` is the minimum or maximum of `x` and a constant.
fn limits(defs: &Definitions, v: Value, op: &Op, x: Value, limit: f32) -> bool {
    matches!(defs.args_of(v, op), Some(&[a, b]) if a == x && is_float(defs, b, limit) || b == x && is_float(defs, a, limit))
}

/// All exact but for what is said.
fn select(defs: &Definitions, c: Value, a: Value, b: Value, ty: Type) -> Option<Rewrite> {
    if let Some(c) = truth(defs, c) {
        return value(if c { a } else { b });
    }
    if let Some(c) = operand(defs, c, &Op::Not) {
        return inst(Op::Select, [c, b, a]);
    }
    match (ty, truth(defs, a), truth(defs, b)) {
        (Type::Bool, Some(true), Some(false)) => value(c),
        (Type::Bool, Some(false), Some(true)) => inst(Op::Not, [c]),
        (Type::Bool, Some(true), None) => inst(Op::Or, [c, b]),
        (Type::Bool, None, Some(false)) => inst(Op::And, [c, a]),
        // `p < q ? q : p` and `p < q ? p : q` are the definitions of `max p, q` and `min q, p`.
        (Type::F32, ..) => match defs.args_of(c, &Op::Lt) {
            Some(&[p, q]) if (p, q) == (b, a) => inst(Op::Max, [p, q]),
            Some(&[p, q]) if (p, q) == (a, b) => inst(Op::Min, [q, p]),
            // `1 < q ? 1 : max q, 0` and `p < 0 ? 0 : min p, 1`. NaN gives 0 where the choice gave
            // NaN, and −0 becomes +0.
            Some(&[p, q]) if p == a && is_float(defs, p, 1.0) && limits(defs, b, &Op::Max, q, 0.0) => {
                inst(Op::Sat, [q])
            }
            Some(&[p, q]) if q == a && is_float(defs, q, 0.0) && limits(defs, b, &Op::Min, p, 1.0) => {
                inst(Op::Sat, [p])
            }
            _ => None,
        },
        _ => None,
    }
}
